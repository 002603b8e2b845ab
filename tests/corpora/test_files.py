from pathlib import Path

import pytest
from helpers.fixtures import Write
from spacy.vocab import Vocab

from spacy_crf.core.errors import CRFWarning
from spacy_crf.corpora.formats import find_files, pick_format
from spacy_crf.corpora.reader import Corpus

TREE_LINE = "1\tHi\thi\tINTJ\tUH\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    "name, content, kind",
    [
        ("a.spacy", "", "spacy"),
        ("a.CONLLU", "", "conllu"),
        ("a.conllu.gz", "", "conllu"),
        ("a.conll", TREE_LINE, "conllu"),
        ("a.txt", "# newdoc\n\n" + TREE_LINE, "conllu"),
        ("a.unheard-of", TREE_LINE.replace("1", "1-2", 1), "conllu"),
        ("a.conll", TREE_LINE.replace("1", "one", 1), "columns"),
        ("a.iob", "Hi O\n", "columns"),
        ("a.tsv", "\n \n", "columns"),
    ],
)
def test_pick_format(write: Write, name: str, content: str, kind: str) -> None:
    assert pick_format(write(name, content)) == kind


def test_folder_is_searched_in_order_without_hidden_files(write: Write, tmp_path: Path) -> None:
    for name in ("b.conllu", "a/c.conll.gz", "a/b.spacy", ".hidden/x.conllu", "notes.md"):
        write(name, "")
    found = [file.relative_to(tmp_path).as_posix() for file in find_files(tmp_path, None)]
    assert found == ["a/b.spacy", "a/c.conll.gz", "b.conllu"]
    assert [file.name for file in find_files(tmp_path, "spacy")] == ["b.spacy"]


def test_vague_suffixes_count_only_on_their_own(write: Write, tmp_path: Path) -> None:
    write("LICENSE.txt", "")
    write("data.tsv", "")
    assert [file.name for file in find_files(tmp_path, None)] == ["LICENSE.txt", "data.tsv"]
    write("data.conllu", "")
    assert [file.name for file in find_files(tmp_path, None)] == ["data.conllu"]


def test_vague_suffixes_count_where_the_content_tells(write: Write, tmp_path: Path) -> None:
    rows = "# spacy_crf review 1\n# target = tag\n# columns = word, gold, best, probability, alternatives\n"
    write("a.conllu", TREE_LINE)
    write("b.tsv", rows + "\nHi\tUH\tUH\t0.5\t_\n")
    write("c.txt", TREE_LINE)
    write("LICENSE.txt", b"\xff\xfe no text in UTF-8")
    write("notes.tsv", "one\ttwo\n")
    assert [file.name for file in find_files(tmp_path, None)] == ["a.conllu", "b.tsv", "c.txt"]
    assert [file.name for file in find_files(tmp_path, "conllu")] == ["a.conllu", "c.txt"]
    with pytest.warns(CRFWarning, match=r"CRFW473.*: notes\.tsv\."):  # which may be a table of tags
        assert len(list(Corpus(tmp_path).read_docs(Vocab()))) == 3


@pytest.mark.parametrize("settings", [{"columns": ["word", "tag"]}, {"format": "conll2002"}])
def test_files_of_other_formats_are_told_where_one_is_named(write: Write, tmp_path: Path, settings: dict) -> None:
    for name, content in {"a.conll": "Hi O\n", "b.tsv": "Hi O\n", "c.conllu": TREE_LINE, "TypeSystem.xml": ""}.items():
        write(name, content)
    with pytest.warns(CRFWarning, match=r"CRFW473.*: b\.tsv, c\.conllu\."):
        assert len(list(Corpus(tmp_path, **settings).read_docs(Vocab()))) == 1


def test_folder_with_nothing_to_read(write: Write, tmp_path: Path) -> None:
    write("notes.md", "")
    with pytest.raises(ValueError, match=r"CRF503.*\.conllu"):
        find_files(tmp_path, None)
