"""The corpus for punctuation that comes with the project, counted by a checker of its own."""

import re
from collections import Counter

import pytest
from helpers.paths import ROOT

CORPUS = ROOT / "corpus" / "punctuation_restorer"
MARKS = {
    ",": "comma",
    ".": "full stop",
    "?": "question mark",
    ";": "semicolon",
    "–": "dash",
    ":": "colon",
    "!": "exclamation mark",
    "...": "ellipsis",
}
CLOSING = "\"')"
# What ends a sentence. A dash does where the speaker breaks off.
FINAL = {".", "?", "!", "...", "–"}
ABBREVIATIONS = {"Dr.", "Mr.", "Mrs.", "Ms.", "No.", "Prof.", "Rev.", "Sgt.", "St.", "a.m.", "p.m."}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ALLOWED = set(LETTERS + LETTERS.upper() + "éë0123456789 .,?!;:–-'\"()&%£$\n")

Texts = dict[str, str]


def read(part: str) -> Texts:
    """The documents of a part by name, which is `genre_topic`."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((CORPUS / part).glob("*.txt"))}


def lines_of(texts: Texts) -> list[str]:
    return [line for text in texts.values() for line in text.split("\n") if line]


def paragraphs_of(texts: Texts) -> list[str]:
    return [paragraph for text in texts.values() for paragraph in text.rstrip("\n").split("\n\n")]


def mark_of(piece: str) -> str:
    """The mark at the end of a piece between spaces, closing quotes and brackets aside; empty if there is none."""
    piece = piece.rstrip(CLOSING)
    return "..." if piece.endswith("...") else piece[-1:] if piece[-1:] in MARKS else ""


def is_word(piece: str) -> bool:
    return any(character.isalnum() for character in piece)


def is_sentence(line: str) -> bool:
    return mark_of(line) in FINAL


def is_abbreviation(piece: str) -> bool:
    piece = piece.strip(CLOSING + "(")
    return piece in ABBREVIATIONS or re.fullmatch(r"[A-Z]\.", piece) is not None


def marks_of(line: str) -> list[str]:
    """The marks of a line. Inside a line the full stop of an abbreviation is part of the word."""
    *inner, last = line.split()
    marks = [mark_of(piece) for piece in inner if not is_abbreviation(piece)]
    return [mark for mark in [*marks, mark_of(last)] if mark]


def count_words(lines: list[str]) -> int:
    return sum(is_word(piece) for line in lines for piece in line.split())


def genres_of(texts: Texts) -> dict[str, Texts]:
    genres: dict[str, Texts] = {}
    for name, text in texts.items():
        genres.setdefault(name.split("_")[0], {})[name] = text
    return genres


def sizes_of(texts: Texts) -> tuple[int, int, int]:
    """Documents, sentences, words."""
    lines = lines_of(texts)
    return len(texts), sum(map(is_sentence, lines)), count_words(lines)


TRAIN, DEV = read("train"), read("dev")
ALL = TRAIN | DEV
LINES = lines_of(ALL)


@pytest.mark.parametrize(
    "piece, mark",
    [("done", ""), ("done.", "."), ('done."', "."), ("done...", "..."), ("(done),", ","), ('–"', "–"), ("7:30", "")],
)
def test_checker_sees_the_mark_after_a_word(piece: str, mark: str) -> None:
    assert mark_of(piece) == mark


def test_checker_leaves_abbreviations_alone() -> None:
    assert marks_of('"At 6 p.m., Mrs. J. Kent," he said – "at 6 p.m."') == [",", ",", "–", "."]


def test_size_and_split() -> None:
    assert len(ALL) == len(TRAIN) + len(DEV) >= 60
    assert sum(map(is_sentence, LINES)) >= 1300
    assert 0.18 <= count_words(lines_of(DEV)) / count_words(LINES) <= 0.22
    assert set(genres_of(TRAIN)) == set(genres_of(DEV))


def test_no_line_is_shared_between_train_and_dev() -> None:
    assert set(lines_of(TRAIN)) & set(lines_of(DEV)) == set()


def test_layout_is_lines_and_paragraphs() -> None:
    """One final line break, one blank line between paragraphs, single spaces, none at the ends of lines."""
    malformed = [
        name
        for name, text in ALL.items()
        if re.search(r"\A\s|\n\n\n|  |[^\S\n]$|^[^\S\n]|\n\n\Z", text, re.MULTILINE) or not text.endswith("\n")
    ]
    assert malformed == []


def test_characters_are_those_stated() -> None:
    assert {(name, character) for name, text in ALL.items() for character in set(text) - ALLOWED} == set()


def test_quotes_and_brackets_are_closed_in_their_paragraph() -> None:
    unbalanced = [
        paragraph
        for paragraph in paragraphs_of(ALL)
        if paragraph.count('"') % 2 or paragraph.count("(") != paragraph.count(")")
    ]
    assert unbalanced == []


def test_a_line_is_one_sentence() -> None:
    """Inside a line a full stop ends an abbreviation, and the word after `?`, `!` or `...` goes on in lower case,
    unless the mark ends a quotation."""
    inner = [(piece, after) for line in LINES for piece, after in zip(line.split(), line.split()[1:], strict=False)]
    assert {piece for piece, _ in inner if mark_of(piece) == "." and not is_abbreviation(piece)} == set()
    ended = {
        (piece, after) for piece, after in inner if mark_of(piece) in FINAL - {".", "–"} and not piece.endswith('"')
    }
    assert {(piece, after) for piece, after in ended if after.strip('"')[0].isupper()} == set()


def test_lines_that_are_no_sentence_are_short() -> None:
    """Headings, dates and signatures, and salutations, which end in a comma."""
    others = [line for line in LINES if not is_sentence(line)]
    assert {line for line in others if count_words([line]) > 7 or mark_of(line) not in {"", ","}} == set()


def test_lines_begin_with_a_capital_or_a_figure() -> None:
    first = {line: next(character for character in line if character.isalnum()) for line in LINES}
    assert {line for line, character in first.items() if character.islower()} == set()


def test_a_word_has_one_mark() -> None:
    """A dash stands alone between spaces, and not after another mark."""
    doubled = [line for line in LINES if re.search(r"[.,?!;:]\W*–|–\W*[.,?!;:]|[,;:?!]\W?[.,;:?!]", line)]
    assert doubled == []
    assert {piece for line in LINES for piece in line.split() if "–" in piece and is_word(piece)} == set()


@pytest.mark.parametrize("texts, minimum", [(ALL, 60), (DEV, 12)], ids=["all", "dev"])
def test_each_mark_is_used(texts: Texts, minimum: int) -> None:
    counts = Counter(mark for line in lines_of(texts) for mark in marks_of(line))
    assert set(counts) == set(MARKS)
    assert min(counts.values()) >= minimum


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


def test_readme_has_the_counts() -> None:
    readme = (CORPUS.parent / "README.md").read_text(encoding="utf-8")
    section = readme.split("## punctuation_restorer/")[1].split("\n## ")[0]
    rows = re.findall(r"^\| \**([a-z ]+?)\**(?: `[^`]+`)? \| ([\d,| ]+) \|$", section, re.MULTILINE)
    found = {name: tuple(map(number, cells.split(" | "))) for name, cells in rows}
    expected: dict[str, tuple[int, ...]] = {
        genre: sizes_of(texts) + sizes_of(genres_of(DEV)[genre]) for genre, texts in genres_of(TRAIN).items()
    }
    expected["all"] = sizes_of(TRAIN) + sizes_of(DEV)
    marks = [Counter(mark for line in lines_of(texts) for mark in marks_of(line)) for texts in (TRAIN, DEV)]
    expected |= {name: (marks[0][mark], marks[1][mark]) for mark, name in MARKS.items()}
    assert found == expected
    assert f"({sum(not is_sentence(line) for line in LINES)} lines)" in section
