"""The citation corpus that comes with the project, read by a checker of its own."""

import re
from collections import Counter

import pytest
from helpers.paths import ROOT

CORPUS = ROOT / "corpus" / "constrained_ner"
LABELS = {
    "AUTHOR",
    "BOOKTITLE",
    "DATE",
    "EDITOR",
    "INSTITUTION",
    "JOURNAL",
    "LOCATION",
    "NOTE",
    "PAGES",
    "PUBLISHER",
    "TECH",
    "TITLE",
    "VOLUME",
}
MIN_TRAIN, MIN_DEV = 12, 5
# Notation in which opening marks end no segment, and closing ones begin none.
OPENING, CLOSING = "([“‘„«", ",.;:)]”»"

Reference = list[tuple[str, str]]


class Malformed(ValueError):
    """A line that is not a sequence of `<field> text </field>`."""


def parse(line: str) -> Reference:
    """The segments of a line, label and text. A stack of one: segments do not nest, and no text is outside."""
    segments: Reference = []
    label: str | None = None
    words: list[str] = []
    for piece in line.split():
        tag = re.fullmatch(r"<(/?)([a-z]+)>", piece)
        if tag is None:
            if label is None or "<" in piece or ">" in piece:
                raise Malformed(f"{piece!r} in {line!r}")
            words.append(piece)
        elif not tag[1] and label is None:
            label = tag[2]
        elif tag[1] and tag[2] == label and words:
            segments.append((label.upper(), " ".join(words)))
            label, words = None, []
        else:
            raise Malformed(f"{piece!r} in {line!r}")
    if label is not None or not segments:
        raise Malformed(f"unfinished: {line!r}")
    return segments


def read(part: str) -> dict[str, list[Reference]]:
    """References by style."""
    return {
        path.stem: [parse(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in sorted((CORPUS / part).glob("*.txt"))
    }


def flatten(styles: dict[str, list[Reference]]) -> list[Reference]:
    return [reference for references in styles.values() for reference in references]


def key(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def text_of(reference: Reference) -> str:
    return " ".join(text for _, text in reference)


TRAIN, DEV = read("train"), read("dev")
ALL = flatten(TRAIN) + flatten(DEV)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "no tags",
        "<author> A. </author> stray",
        "<author> A.",
        "<author> A. </title>",
        "<author> <title> A. </title> </author>",
        "<author> </author>",
        "</author> A.",
        "<author> A. <http://a.example> </author>",
    ],
)
def test_checker_refuses_malformed_lines(line: str) -> None:
    with pytest.raises(Malformed):
        parse(line)


def test_size_and_split() -> None:
    assert set(TRAIN) == set(DEV)
    assert len(ALL) >= 300
    assert 0.13 <= len(flatten(DEV)) / len(ALL) <= 0.18
    # Styles that are rare in training, to see what is learned of the fields beyond their layout.
    assert [style for style in TRAIN if len(TRAIN[style]) < len(DEV[style])] == ["catalogue", "chemistry", "french"]


@pytest.mark.parametrize("styles, minimum", [(TRAIN, MIN_TRAIN), (DEV, MIN_DEV)], ids=["train", "dev"])
def test_each_label_is_used(styles: dict[str, list[Reference]], minimum: int) -> None:
    counts = Counter(label for reference in flatten(styles) for label, _ in reference)
    assert set(counts) == LABELS
    assert min(counts.values()) >= minimum


def test_neighbouring_segments_differ() -> None:
    merged = [
        reference
        for reference in ALL
        if any(left == right for (left, _), (right, _) in zip(reference, reference[1:], strict=False))
    ]
    assert merged == []


def test_punctuation_is_on_the_side_it_belongs_to() -> None:
    misplaced = [
        (label, text) for reference in ALL for label, text in reference if text[0] in CLOSING or text[-1] in OPENING
    ]
    assert misplaced == []


def test_dates_are_dates_and_pages_are_pages() -> None:
    dates = {text for reference in ALL for label, text in reference if label == "DATE"}
    # Figures that a bad scan turned into letters are counted as figures.
    assert {text for text in dates if not re.search(r"[0-9lO]{3}|[Oo]ctober|n\. ?d\.|[1-9] June", text)} == set()
    pages = {text for reference in ALL for label, text in reference if label == "PAGES"}
    assert {text for text in pages if not re.search(r"\d|\b[ivxl]+\b", text)} == set()


def test_references_and_titles_are_unique() -> None:
    references = Counter(key(text_of(reference)) for reference in ALL)
    titles = Counter(key(text) for reference in ALL for label, text in reference if label == "TITLE")
    assert [text for text, count in (references + titles).items() if count > 1] == []


def test_identifiers_lead_nowhere() -> None:
    """DOIs have the prefix for examples, hosts the reserved domain, and preprints a month that does not exist."""
    text = "\n".join(map(text_of, ALL)) + (CORPUS / "bibliography.txt").read_text(encoding="utf-8")
    assert set(re.findall(r"\b10\.\d+(?=/)", text)) == {"10.5555"}
    hosts = re.findall(r"(?:://|www\.)([^\s/]+)", text)
    assert {host for host in hosts if not re.search(r"\.example(\.org)?\.?$|^doi\.org$", host)} == set()
    assert {month for month in re.findall(r"\b\d\d(\d\d)\.\d{5}\b", text) if int(month) <= 12} == set()


def test_readme_has_the_counts() -> None:
    readme = (CORPUS.parent / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \|(?: [^|]* \|)?? (\d+) \|(?: [\d,]+ \|)? (\d+) \|", readme, re.MULTILINE)
    found = {name: (int(train), int(dev)) for name, train, dev in rows}
    labels = [Counter(label for reference in flatten(styles) for label, _ in reference) for styles in (TRAIN, DEV)]
    expected = {label: (labels[0][label], labels[1][label]) for label in LABELS}
    expected |= {style: (len(TRAIN[style]), len(DEV[style])) for style in TRAIN}
    assert {name: found.get(name) for name in expected} == expected


def read_bibliography() -> tuple[list[str], list[tuple[int, int, str, str]]]:
    """The lines of the pasted text, and first line (from 1), last line, marker and joined text of each reference."""
    lines = (CORPUS / "bibliography.txt").read_text(encoding="utf-8").splitlines()
    header, *rows = (CORPUS / "bibliography.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["first_line", "last_line", "marker", "reference"]
    cells = [row.split("\t") for row in rows]
    return lines, [(int(first), int(last), marker, text) for first, last, marker, text in cells]


def test_lines_of_the_bibliography_belong_to_one_reference() -> None:
    lines, gold = read_bibliography()
    assert len(gold) >= 20
    covered = [number for first, last, _, _ in gold for number in range(first, last + 1)]
    assert covered == sorted(set(covered))
    left = {line for number, line in enumerate(lines, 1) if number not in covered}
    assert left == {"", "References to Chapter 1", "References to Chapter 2", "References to Chapter 3"}


def test_bibliography_is_its_gold_but_for_line_breaks() -> None:
    lines, gold = read_bibliography()
    for first, last, marker, text in gold:
        assert not lines[first - 1].startswith(" ")
        joined = " ".join(line.strip() for line in lines[first - 1 : last])
        assert joined.startswith(marker)
        assert key(joined.removeprefix(marker)) == key(text)


def test_bibliography_has_three_ways_of_numbering() -> None:
    lines, gold = read_bibliography()
    kinds = Counter(re.sub(r"\d+", "1", marker) for _, _, marker, _ in gold)
    assert kinds == {"[1]": 8, "1.": 8, "": 8}
    starts = {first for first, *_ in gold}
    # What looks like the number of a reference, or like its end, and is neither.
    assert any(re.match(r"\s*\d+\. ", line) for number, line in enumerate(lines, 1) if number not in starts)
