"""What pyproject.toml cannot say: a package that is built takes the configs along, which stand beside it."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithConfigs(build_py):
    """Builds the package with the folder `configs` inside it; editable installs find it where it is."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree("configs", Path(self.build_lib, "spacy_crf", "configs"), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithConfigs})
