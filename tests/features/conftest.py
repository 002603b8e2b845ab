import pytest
import spacy
from spacy.tokens import Token


@pytest.fixture(scope="session")
def vocab():
    return spacy.blank("en").vocab


@pytest.fixture(scope="module")
def clue():
    """A registered token extension."""
    Token.set_extension("clue", default=None)
    yield "clue"
    Token.remove_extension("clue")
