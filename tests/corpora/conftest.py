from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Token

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("en")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the test's own folder and give its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def extension() -> Iterator[str]:
    """The name of a custom token attribute that is gone after the test."""
    name = "corpora_test_value"
    yield name
    if Token.has_extension(name):
        Token.remove_extension(name)
