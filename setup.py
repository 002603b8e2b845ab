"""What pyproject.toml cannot say: a package that is built takes configs and corpora along, which stand beside it."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithExamples(build_py):
    """Builds the package with what `crf examples` writes inside it; editable installs find it where it is."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for name in ("configs", "corpus"):
                shutil.copytree(name, Path(self.build_lib, "spacy_crf", name), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithExamples})
