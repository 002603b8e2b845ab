"""`crf punctuate`: a filter for the shell."""

import gzip
import re
from functools import partial
from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke
from helpers.punctuated import BARE, FULL, trained

from spacy_crf.punctuation.cli import read_opening
from spacy_crf.punctuation.subtitles import is_subtitles


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    trained(folder).to_disk(folder / "restorer")
    return folder / "restorer"


run = partial(invoke, "punctuate")


def test_a_file_a_compressed_file_and_standard_input(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "bare.txt"
    path.write_text(BARE + "\n", encoding="utf8")
    (tmp_path / "bare.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
    for source, data in ((path, None), (tmp_path / "bare.txt.gz", None), ("-", path.read_bytes())):
        result = run(model, source, data=data)
        assert result.exit_code == 0, result.output
        assert result.stdout == FULL + "\n"


def test_a_byte_order_mark_is_no_part_of_the_first_word(model: Path) -> None:
    for data in (BARE, "yes", "why"):
        plain = run(model, "-", data=data.encode()).stdout
        assert run(model, "-", data=f"\ufeff{data}".encode()).stdout == f"\ufeff{plain}"


def test_white_space_and_lines_stay(model: Path) -> None:
    bare = BARE.replace(" said that", "\n\n  said that").replace("the mill", "the\tmill")
    full = FULL.replace(" said that", "\n\n  said that").replace("the mill", "the\tmill")
    assert run(model, "-", data=bare.encode()).stdout == full


def test_each_line_may_be_a_text(model: Path) -> None:
    result = run(model, "-", "--unit", "line", data=f"{BARE}\n\n{BARE}".encode())
    assert result.stdout == f"{FULL}\n\n{FULL}"


@pytest.mark.parametrize("dash", ["- ", "– ", "—", "  - ", "-- "])
@pytest.mark.parametrize("options", [[], ["--keep"], ["--lag", "0"]])
def test_dashes_that_begin_lines_stay(model: Path, dash: str, options: list[str]) -> None:
    """They are those of speakers and lists, not the mark of the line before."""
    bare = BARE.replace(" she said", f"\n{dash}she said")
    full = FULL.replace(" She said", f"\n{dash}She said")
    found = run(model, "-", *options, data=f"{bare}\n\n{dash}yes\n".encode()).stdout
    assert found.replace("Yes", "yes").startswith(f"{full.removesuffix('.')}")
    assert [line.partition(dash)[0].strip() for line in found.split("\n")[1:4]] == ["", "", ""]
    assert "".join(filter(str.isalpha, found)).lower() == "".join(filter(str.isalpha, f"{bare}yes")).lower()


def test_arrows_stay(model: Path) -> None:
    found = run(model, "-", data=b"well --> what <-- did ---> she say").stdout
    assert [sign for sign in found.split() if "--" in sign] == ["-->", "<--", "--->"]


SUBTITLES = """WEBVTT

NOTE well what did she say

1
00:01.000 --> 00:02.000 line:0
<v Ann>well what did
SHE: she say [door]

00:03.000 --> 00:04.000
- she said &nbsp;that <i>the mill</i> was sold
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_of_subtitles_all_but_what_is_spoken_stays(model: Path, tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.vtt"
    path.write_bytes(SUBTITLES.replace("\n", end).encode())
    note, spoken = SUBTITLES.split("1\n", 1)
    for bare, full in (("well what", "Well, what"), ("say [", "say? ["), ("- she", "- She"), ("sold", "sold.")):
        spoken = spoken.replace(bare, full)
    expected = f"{note}1\n{spoken}"
    assert run(model, path).stdout_bytes.decode() == expected.replace("\n", end)
    assert run(model, "-", data=path.read_bytes()).stdout_bytes.decode() == expected.replace("\n", end)
    result = run(model, path, "--unit", "line")
    assert result.exit_code == 1 and "[CRF993]" in result.output


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    "text, expected",
    [(SUBTITLES, True), ("\n\n1\n00:00:01,000 --> 00:00:02,000\nhi\n", True), (BARE, False), ("", False)],
)
def test_subtitles_are_known_whatever_a_pipe_hands_over_first(text: str, expected: bool, size: int) -> None:
    pieces = iter([text[at : at + size] for at in range(0, len(text), size)] or [""])
    opening = read_opening(pieces)
    assert is_subtitles(opening) == expected and opening + "".join(pieces) == text


def test_long_subtitles_have_each_word_in_its_place(model: Path) -> None:
    stamp = "00:00:01,000 --> 00:00:02,000"
    bare = "".join(f"{number}\n{stamp}\n{BARE}\n\n" for number in range(400))
    out = run(model, "-", data=bare.encode()).stdout
    lines = [(line, was) for line, was in zip(out.split("\n"), bare.split("\n"), strict=True) if was != BARE]
    assert all(line == was for line, was in lines)
    assert re.sub("[.,?]", "", out).lower() == re.sub("[.,?]", "", bare)


def test_bytes_that_are_no_utf8_stay(model: Path) -> None:
    data = b"well what did she say \xff\xfe she said th\xe9 mill was sold"
    out = run(model, "-", data=data).stdout_bytes
    assert b"\xff\xfe" in out and b"th\xe9 mill" in out


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_in_utf16_is_refused(model: Path, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "wide.srt"
    data = f"1\n00:00:01,000 --> 00:00:02,000\n{BARE}\n"
    path.write_bytes(("" if encoding == "utf-16" else "\ufeff").encode(encoding) + data.encode(encoding))
    result = run(model, path)
    assert result.exit_code == 1 and "CRF504" in result.stderr and "wide.srt" in result.stderr and not result.stdout


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"PK\x03\x04\x14\x00 word/document.xml well", "Word"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + b"well", "Word"),
        (b"%PDF-1.7\n%well", "PDF"),
        (b"{\\rtf1\\ansi well what}", "RTF"),
        (b"\xef\xbb\xbf<!-- well -->\n<!DOCTYPE html>\n<p>well what", "HTML"),
        (b'<html lang="en"><p>well what', "HTML"),
        (b"RIFF\x24\x08\x00\x00WAVE", "binary"),
        (BARE.encode("utf-16-le"), "binary"),
    ],
)
def test_documents_and_binary_files_are_refused(model: Path, tmp_path: Path, content: bytes, name: str) -> None:
    path, output = tmp_path / "talk", tmp_path / "out.txt"
    path.write_bytes(content)
    output.write_text("older\n", encoding="utf8")
    result = run(model, path, "--output", output)
    assert result.exit_code == 1 and "CRF994" in result.stderr and name in result.stderr
    assert output.read_text(encoding="utf8") == "older\n"
    assert run(model, path, "--format", "text").exit_code == 0


@pytest.mark.parametrize("content", ['{"segments": [{"text": "well"},', '{"words": []}'])
def test_a_transcript_that_cannot_be_read_leaves_the_output(model: Path, tmp_path: Path, content: str) -> None:
    path, output = tmp_path / "talk.json", tmp_path / "out.json"
    path.write_text(content, encoding="utf8")
    output.write_text("older\n", encoding="utf8")
    assert run(model, path, "--output", output).exit_code == 1
    assert output.read_text(encoding="utf8") == "older\n"


def test_a_text_that_breaks_off_leaves_the_output(model: Path, tmp_path: Path) -> None:
    """What had been restored of it was written over what was there, and looked like a whole text."""
    words = [f"{BARE} {number}" for number in range(8_000)]
    packed = gzip.compress(" ".join(words).encode())
    path, output = tmp_path / "talk.gz", tmp_path / "out.txt"
    path.write_bytes(packed[: len(packed) // 2])
    output.write_text("older\n", encoding="utf8")
    result = run(model, path, "--output", output)
    assert result.exit_code == 1 and "CRF505" in result.stderr
    assert output.read_text(encoding="utf8") == "older\n"
    assert sorted(tmp_path.iterdir()) == [output, path]


def test_an_output_is_packed_where_its_name_says_so(model: Path, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text(BARE, encoding="utf8")
    plain = run(model, tmp_path / "talk.txt").stdout
    assert run(model, tmp_path / "talk.txt", "--output", tmp_path / "out.gz").exit_code == 0
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).decode() == plain


def test_a_long_text_of_one_line(model: Path) -> None:
    text = " ".join([BARE] * 400)  # more than two blocks
    out = run(model, "-", data=text.encode()).stdout
    assert [word.strip(".,?").lower() for word in out.split()] == text.split()
    assert out.count("?") > 350 and "\n" not in out


def test_marks_that_are_there_are_kept_on_request(model: Path) -> None:
    result = run(model, "-", "--keep", data=b"well; what, did she say")
    assert result.stdout.startswith("Well; what, did she say")


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\n "])
def test_nothing_to_punctuate(model: Path, data: bytes) -> None:
    assert run(model, "-", data=data).stdout_bytes == data


def test_what_goes_wrong(model: Path, tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    for arguments in ((tmp_path / "blank", "-"), (tmp_path / "none", "-"), (model, tmp_path / "none.txt")):
        result = run(*arguments, data=b"so")
        assert result.exit_code == 1 and "Nothing was punctuated" in result.stderr
    assert "CRF602" in run(tmp_path / "blank", "-", data=b"").stderr
    (tmp_path / "cut.gz").write_bytes(gzip.compress(BARE.encode())[:-9])
    cut = run(model, tmp_path / "cut.gz")
    assert cut.exit_code == 1 and "CRF505" in cut.stderr and "cut.gz" in cut.stderr
    assert "CRF985" in run(model, "-", "--lag", "-1", data=b"").stderr
