"""The tiny corpus as a file."""

from pathlib import Path

import pytest
import spacy
from helpers.tagged import EXTENSION, make_examples
from spacy.tokens import DocBin, Token


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny corpus as .spacy."""
    Token.set_extension(EXTENSION, default=None, force=True)
    path = tmp_path_factory.mktemp("corpus") / "tiny.spacy"
    nlp = spacy.blank("en")
    DocBin(docs=[example.reference for example in make_examples(nlp)], store_user_data=True).to_disk(path)
    return path
