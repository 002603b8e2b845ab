"""`make matrix`: the wheel of the library under the versions that it allows; docs/compatibility.md has what came out.

Each cell installs the wheel in an environment of its own and runs a part of the tests that takes a minute: saved
pipelines say the same, what users name is there, integer programmes are solved, each component is trained. A Python
that is not there is left out.

    make matrix                             # all cells
    make matrix NOX="--python 3.13"         # those of one Python
    make matrix NOX="--session 'matrix(3.8.0 with numpy 1)'"
"""

from pathlib import Path

import nox

nox.options.download_python = "never"

ROOT = Path(__file__).parent
TESTS = [
    "tests/contract/test_saved_models.py",
    "tests/contract/test_surface.py",
    "tests/core/constraints/test_ilp.py",
]
TRAINED = ("crf_tagger", "set_valued_tagger", "constrained_ner", "section_parser", "punctuation_restorer")
SHORT = {"training.max_steps": 1, "training.eval_frequency": 1, "corpora.train.limit": 4, "corpora.dev.limit": 4}


def cell(name: str, python: str, *versions: str) -> object:
    """One environment: newest versions of all that is not named."""
    return nox.param(python, versions, id=name)


CELLS = [
    cell("3.8.0 with numpy 1", "3.11", "spacy==3.8.0", "numpy==1.26.*", "pulp==3.0.*"),
    cell("3.8.1 with numpy 1", "3.11", "spacy==3.8.1", "numpy==1.26.*", "scipy==1.11.*"),
    cell("3.8.2 with numpy 2", "3.11", "spacy==3.8.2"),
    cell("3.8.7", "3.11", "spacy==3.8.7"),
    cell("3.8.11", "3.11", "spacy==3.8.11"),
    cell("3.8.13", "3.11", "spacy==3.8.13"),
    cell("newest", "3.11"),
    cell("newest with numpy 1", "3.11", "numpy==1.26.*"),
    cell("newest with PuLP 4", "3.11", "pulp>=4.0.0a1"),
    cell("3.8.0 on 3.12", "3.12", "spacy==3.8.0", "numpy==1.26.*"),
    cell("3.8.7 on 3.12", "3.12", "spacy==3.8.7"),
    cell("newest on 3.12", "3.12"),
    cell("3.8.7 on 3.13", "3.13", "spacy==3.8.7"),
    cell("newest on 3.13", "3.13"),
]


@nox.session(venv_backend="uv", reuse_venv=False)
@nox.parametrize("python,versions", CELLS)
def matrix(session: nox.Session, versions: tuple[str, ...]) -> None:
    (wheel,) = (ROOT / "output" / "dist").glob("*.whl")
    binary = [part for name in ("numpy", "scipy", "spacy", "thinc") for part in ("--only-binary", name)]
    session.install(f"{wheel}[solver]", "pytest", "hypothesis", *versions, *binary)
    where = "import spacy_crf; assert 'site-packages' in spacy_crf.__file__, spacy_crf.__file__"
    session.run("python", "-I", "-c", where)
    session.run("pytest", "-q", "-p", "no:cacheprovider", "--examples", "5", "-W", "default", *TESTS)
    for name in TRAINED:
        output = str(Path(session.create_tmp(), name))
        short = [f"--{key}={value}" for key, value in SHORT.items()]
        session.run("python", "-I", "-m", "spacy", "train", f"configs/{name}.cfg", "--output", output, *short)
