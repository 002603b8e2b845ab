import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from spacy_crf.corpora import files
from spacy_crf.corpora.files import read_blocks, read_lines
from spacy_crf.corpora.reader import find_files, pick_format

Write = Callable[[str, str | bytes], Path]
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


def test_folder_with_nothing_to_read(write: Write, tmp_path: Path) -> None:
    write("notes.md", "")
    with pytest.raises(ValueError, match=r"CRF503.*\.conllu"):
        find_files(tmp_path, None)


def test_lines_keep_what_is_not_a_line_end(write: Write) -> None:
    path = write("a.txt", b"\xef\xbb\xbfa\r\n" + "b\u2028c\x85d\u00a0e\nlast".encode())
    assert list(read_lines(path)) == ["a", "b\u2028c\x85d\u00a0e", "last"]


def test_blocks_know_their_lines(write: Write) -> None:
    path = write("a.txt", "\n \t\na\nb\n\r\n\u00a0\nc\n")
    assert list(read_blocks(path)) == [(3, ["a", "b"]), (7, ["c"])]


def test_gzip_is_recognised_by_content(write: Write) -> None:
    assert list(read_lines(write("a.txt", gzip.compress(b"a\nb\n")))) == ["a", "b"]
    assert list(read_lines(write("a.txt.gz", "not compressed\n"))) == ["not compressed"]


def test_cut_off_gzip(write: Write) -> None:
    content = gzip.compress(b"".join(b"word%d O\n" % i for i in range(1000)))
    path = write("a.txt.gz", content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"CRF505.*a\.txt\.gz"):
        list(read_lines(path))


@pytest.mark.parametrize("chunk_size", [1, 7, 1 << 18])
def test_bad_byte_is_reported_with_its_line(write: Write, monkeypatch: pytest.MonkeyPatch, chunk_size: int) -> None:
    monkeypatch.setattr(files, "CHUNK_SIZE", chunk_size)
    path = write("a.txt", "é\nb\n\n".encode() + b"caf\xe9 O\nd\n")
    with pytest.raises(ValueError, match=r"CRF504.*a\.txt, line 4:"):
        list(read_lines(path))


@pytest.mark.parametrize("chunk_size", [3, 4, 5])
def test_pieces_do_not_break_lines(write: Write, monkeypatch: pytest.MonkeyPatch, chunk_size: int) -> None:
    monkeypatch.setattr(files, "CHUNK_SIZE", chunk_size)
    path = write("a.txt", b"\xef\xbb\xbf" + "äöü\r\n\r\nb\n\nc".encode())
    assert list(read_lines(path)) == ["äöü", "", "b", "", "c"]
