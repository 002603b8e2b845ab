"""Fixtures for tests of readers."""

from collections.abc import Iterator

import pytest
from helpers.fixtures import predictions
from spacy.tokens import Token

__all__ = ["extension", "predictions"]


@pytest.fixture
def extension() -> Iterator[str]:
    """The name of a custom token attribute that is gone after the test."""
    name = "corpora_test_value"
    yield name
    if Token.has_extension(name):
        Token.remove_extension(name)
