"""Fixtures that tests of several parts share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Token
from spacy.vocab import Vocab

Write = Callable[[str, str | bytes], Path]
TREE = """\
# text = It's on.
1\tIt\tit\tPRON\tPRP\tCase=Nom\t3\tnsubj\t_\tSpaceAfter=No
2\t's\tbe\tAUX\tVBZ\t_\t3\tcop\t_\t_
3\ton\ton\tADV\tRB\t_\t0\troot\t_\tSpaceAfter=No|NER=B-X
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_
"""
SET, PROBS = "crf_test_set", "crf_test_probs"  # of what a tagger predicts


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture(scope="session")
def vocab() -> Vocab:
    return spacy.blank("en").vocab


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's own folder and give its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture(scope="module")
def clue() -> Iterator[str]:
    """A registered token extension."""
    Token.set_extension("clue", default=None)
    yield "clue"
    Token.remove_extension("clue")


@pytest.fixture
def predictions() -> Iterator[None]:
    """Custom attributes of tokens for what a tagger predicts, which are gone after the test."""
    for name in (SET, PROBS):
        Token.set_extension(name, default=None, force=True)  # other tests leave theirs
    yield
    for name in (SET, PROBS):
        if Token.has_extension(name):
            Token.remove_extension(name)
