"""Files are read as bytes, text, lines and blocks, packed or not, and bombs are refused before they go off."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.fixtures import Write
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf import CRFError
from spacy_crf.reading import files
from spacy_crf.reading.files import (
    check_text,
    open_binary,
    open_written,
    read_blocks,
    read_bytes,
    read_lines,
    read_text,
    write_whole,
)


def test_lines_keep_what_is_not_a_line_end(write: Write) -> None:
    path = write("a.txt", b"\xef\xbb\xbfa\r\n" + "b\u2028c\x85d\u00a0e\nlast".encode())
    assert list(read_lines(path)) == ["a", "b\u2028c\x85d\u00a0e", "last"]


def test_lines_of_files_that_know_only_cr(write: Write) -> None:
    assert list(read_lines(write("a.txt", "a\tB\r\rb\tC\r"))) == ["a\tB", "", "b\tC"]
    assert list(read_lines(write("b.txt", "a\rb\n"))) == ["a\rb"]


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


@pytest.mark.parametrize("encoding, said", [("iso2022_jp", "船は港を出た。"), ("iso2022_kr", "배가 항구를 떠났다.")])
def test_other_writing_in_bytes_of_ascii_is_refused(write: Write, encoding: str, said: str) -> None:
    with pytest.raises(CRFError, match=r"CRF504.*a\.txt, line [12]: .*ISO-2022"):
        list(read_lines(write("a.txt", f"ok O\n{said} O\n".encode(encoding))))
    assert list(read_lines(write("b.txt", b"\x1b[1mbold\x1b[0m costs $5\n")))


@pytest.mark.parametrize("chunk_size", [3, 4, 5])
def test_pieces_do_not_break_lines(write: Write, monkeypatch: pytest.MonkeyPatch, chunk_size: int) -> None:
    monkeypatch.setattr(files, "CHUNK_SIZE", chunk_size)
    path = write("a.txt", b"\xef\xbb\xbf" + "äöü\r\n\r\nb\n\nc".encode())
    assert list(read_lines(path)) == ["äöü", "", "b", "", "c"]


@pytest.mark.parametrize("read", [read_bytes, read_text, lambda path: list(read_lines(path))])
def test_a_bomb_is_refused_early(write: Write, read: Callable[[Path], object]) -> None:
    path = write("a.gz", gzip.compress(b"\n" * (files.FREE_SIZE + files.MIB)))
    assert path.stat().st_size < files.MIB
    with pytest.raises(CRFError, match=r"CRF570.*a\.gz"):
        read(path)


def test_what_packs_well_is_no_bomb(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE_SIZE", 1000)
    lines = [f"word{number % 977} NOUN O" for number in range(100_000)]
    assert list(read_lines(write("a.gz", gzip.compress("\n".join(lines).encode())))) == lines


def test_reading_stops_soon_after_the_limit(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE_SIZE", 1 << 20)
    path = write("a.gz", gzip.compress(b" " * (64 << 20)))
    taken = 0
    with pytest.raises(CRFError, match="CRF570"), open_binary(path) as file_:
        while piece := file_.read(1 << 16):
            taken += len(piece)
    assert taken < max(files.FREE_SIZE, files.MOST_EXPANSION * path.stat().st_size) + (1 << 20)


def test_a_file_that_is_taken_in_whole_has_a_limit(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    assert len(read_bytes(write("a.txt", "a" * 1000))) == 1000
    with pytest.raises(CRFError, match=r"CRF571.*a\.txt"):
        read_bytes(write("a.txt", "a" * 1001))


def test_a_line_has_a_limit(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [len(line) for line in read_lines(write("a.txt", "a" * 10_000_000 + "\nb"))] == [10_000_000, 1]
    monkeypatch.setattr(files, "CHUNK_SIZE", 10)
    monkeypatch.setattr(files, "LONGEST_LINE", 100)
    with pytest.raises(CRFError, match=r"CRF572.*a\.txt"):
        list(read_lines(write("a.txt", "a" * 1000)))


def test_text_has_one_kind_of_line_end(write: Write) -> None:
    assert read_text(write("a.txt", b"\xef\xbb\xbfa\r\nb\rc\n\xc2\x85")) == "a\nb\nc\n\x85"
    with pytest.raises(CRFError, match=r"CRF504.*line 2"):
        read_text(write("a.txt", b"a\n\xff"))


def test_lone_surrogates_are_named() -> None:
    assert check_text("a\U0001f600", "here") == "a\U0001f600"
    with pytest.raises(CRFError, match=r"CRF573.*here.*U\+D83D"):
        check_text("a\ud83d", "here")


@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 255))
def test_damaged_gzip_is_a_coded_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, at: int, by: int
) -> None:
    packed = bytearray(gzip.compress(content))
    packed[at % len(packed)] ^= by
    path = tmp_path_factory.getbasetemp() / "damaged.gz"
    path.write_bytes(packed[: len(packed) - at // 50])
    try:
        read_bytes(path)
    except CRFError as error:
        assert error.code == "CRF505"


def test_files_are_written_as_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "a.txt").chmod(0o600)
    (tmp_path / "link").symlink_to("a.txt")
    write_whole(tmp_path / "link", "\u00e9\n")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a.txt").read_bytes() == b"\xc3\xa9\n"
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o600
    write_whole(Path(os.devnull), "new")
    assert not Path(os.devnull).is_file()


def test_a_pipe_that_has_a_path_is_written(tmp_path: Path) -> None:
    """As /dev/stdout before a bar, and what a shell makes of `>(gzip)`."""
    reader, writer = os.pipe()
    if not (path := Path(f"/dev/fd/{writer}")).exists():
        pytest.skip("there are no such paths")
    write_whole(path, "new\n")
    os.close(writer)
    with open(reader, "rb") as piped:
        assert piped.read() == b"new\n"


def test_two_processes_may_write_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_written(path := tmp_path / "a.txt") as file_:
        file_.write(b"one")
        monkeypatch.setattr(os, "getpid", lambda: -1)  # another one
        write_whole(path, "two")
    assert path.read_text() == "one" and os.listdir(tmp_path) == ["a.txt"]


def test_files_that_are_protected_against_writing_stay(tmp_path: Path) -> None:
    (path := tmp_path / "a.txt").write_text("old")
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        pytest.skip("who runs this test may write to all files")
    with pytest.raises(PermissionError, match=r"a\.txt"):
        write_whole(path, "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]


def test_files_are_packed_by_their_name(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.gz", "new\n")
    with open_written(tmp_path / "b.gz") as file_:
        file_.write(b"new\n")
    assert [gzip.decompress((tmp_path / name).read_bytes()) for name in ("a.gz", "b.gz")] == [b"new\n"] * 2
