"""Grammars that come with the library."""

import pytest

from spacy_crf import grammars


@pytest.mark.parametrize("name", [grammars.THESIS, grammars.THESIS_CODE])
def test_grammars_are_read_by_name(name: str) -> None:
    assert grammars.read(name).start == "Document"


def test_other_names_are_no_files() -> None:
    with pytest.raises(FileNotFoundError):
        grammars.read("other")
