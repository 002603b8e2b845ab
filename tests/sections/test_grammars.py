"""Grammars that come with the library, and files."""

from pathlib import Path

import pytest

from spacy_crf.sections import grammars


@pytest.mark.parametrize("name", grammars.known())
def test_grammars_are_read_by_name(name: str) -> None:
    assert grammars.read(name).start == "Document"


def test_the_names_are_those_of_the_code() -> None:
    assert grammars.known() == [grammars.THESIS, grammars.THESIS_CODE]


def test_a_file_is_read_and_its_faults_are_named(tmp_path: Path) -> None:
    path = tmp_path / "own.grammar"
    path.write_text("\ufeff%start A\n%terminals é\nA -> é\n", encoding="utf8")
    assert grammars.read(path).terminals == ("é",)
    path.write_text("%start A\nA -> b\n", encoding="utf8")
    with pytest.raises(ValueError, match=r"CRF942.*own\.grammar, line 2.*'b'"):
        grammars.read(str(path))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00A")
    for source in ("other", tmp_path / "binary", tmp_path):
        with pytest.raises(ValueError, match=r"CRF950.*grammar.*thesis, thesis_code"):
            grammars.read(source)
