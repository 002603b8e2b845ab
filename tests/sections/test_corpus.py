"""The corpus of sections that comes with the project, read by a checker of its own."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from xml.etree import ElementTree

import pytest
from helpers.paths import ROOT

CORPUS = ROOT / "corpus"
SPLITS = ("train", "dev", "test")
GENRES = {"judgment": "nl", "contract": "en", "statute": "en", "report": "en", "minutes": "en", "manual": "en"}
GENRES["by-laws"] = "en"
LEAVES = {"nr", "title", "text"}
FORMATTING = {"b", "i", "u", "h1", "h2", "h3", "h4", "h5", "h6"}
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
MIN_LINES, MAX_LINES = 25, 120
# Shorter ones may well be in two documents: "en", "Beslissing", "in conventie".
SHARED_TITLE_WORDS, SHARED_TEXT_WORDS = 4, 6


class Malformed(ValueError):
    """A document that is not in the format of the corpus."""


@dataclass
class Section:
    """A section with its own leaves (label, text), those of the sections in it left out."""

    virtual: bool
    number: str | None
    leaves: list[tuple[str, str]] = field(default_factory=list)
    sections: list["Section"] = field(default_factory=list)

    def walk(self) -> Iterator["Section"]:
        """All sections below this one, not itself."""
        for section in self.sections:
            yield section
            yield from section.walk()

    def all_leaves(self) -> Iterator[tuple[str, str]]:
        """Its leaves and those of the sections in it. Sections follow all leaves of their own."""
        yield from self.leaves
        for section in self.sections:
            yield from section.all_leaves()


@dataclass
class Document:
    """A document: what its root says, its text, and the root as a section."""

    name: str
    language: str | None
    genre: str | None
    text: str
    body: Section


def parse(name: str, xml: str) -> Document:
    """Read a document and check everything that the format demands of it."""
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise Malformed(f"{name}: {error}") from error
    if root.tag != "document" or set(root.attrib) != {LANGUAGE, "genre", "title"}:
        raise Malformed(f"{name}: root {root.tag} {sorted(root.attrib)}")
    text = "".join(root.itertext())
    if not (text.startswith("\n") and text.endswith("\n")):
        raise Malformed(f"{name}: no newline behind the start tag of the root or before its end tag")
    body = Section(False, None)
    _read(name, root, body)
    for section in body.walk():
        _check_heading(name, section)
    return Document(name, root.get(LANGUAGE), root.get("genre"), text[1:-1], body)


def _read(name: str, element: ElementTree.Element, section: Section) -> None:
    """Read the children of an element, the root, a section or formatting, into the section that it is in."""
    _check_white(name, element.text)
    for child in element:
        if child.tag == "section":
            section.sections.append(_read_section(name, child))
        elif child.tag in LEAVES:
            section.leaves.append((child.tag, _read_leaf(name, child)))
            if section.sections:
                raise Malformed(f"{name}: text behind the end of a section: {section.leaves[-1]}")
        elif child.tag in FORMATTING and not child.attrib:
            _read(name, child, section)
        else:
            raise Malformed(f"{name}: element {child.tag} {child.attrib}")
        _check_white(name, child.tail)


def _read_section(name: str, element: ElementTree.Element) -> Section:
    if element.attrib and (set(element.attrib) != {"virtual", "number"} or element.get("virtual") != "true"):
        raise Malformed(f"{name}: section with {element.attrib}")
    section = Section(bool(element.attrib), element.get("number"))
    _read(name, element, section)
    return section


def _read_leaf(name: str, element: ElementTree.Element) -> str:
    unknown = {inner.tag for inner in element.iterfind(".//*")} - FORMATTING
    text = "".join(element.itertext())
    if unknown or element.attrib:
        raise Malformed(f"{name}: {sorted(unknown)} {element.attrib} in {element.tag}")
    if not text or text != text.strip() or "\n" in text:
        raise Malformed(f"{name}: a leaf is a stretch of one line without white space around it: {text!r}")
    return text


def _check_white(name: str, text: str | None) -> None:
    if text and not text.isspace():
        raise Malformed(f"{name}: outside of leaves: {text!r}")


def _check_heading(name: str, section: Section) -> None:
    """A heading is a numbering, a title of one or more lines, or both; a virtual section has none and no text."""
    labels = [label for label, _ in section.leaves]
    if section.virtual:
        numbers = [child.leaves[0][1] for child in section.sections if child.leaves]
        if labels or not numbers or not all(number.startswith(f"{section.number}.") for number in numbers):
            raise Malformed(f"{name}: virtual section {section.number} with {labels}, {numbers}")
    elif re.fullmatch("(nr( title)*|title( title)*)( text)*", " ".join(labels)) is None:
        raise Malformed(f"{name}: section of {labels}")


def documents(split: str) -> list[Document]:
    folder = CORPUS / "section_parser" / split
    return [parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.xml"))]


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[Document]]:
    return {split: documents(split) for split in SPLITS}


def lines(document: Document) -> int:
    return sum(1 for line in document.text.split("\n") if line.strip())


def words(text: str) -> tuple[str, ...]:
    """Words of at least two characters, so that "U I T S P R A A K" has none."""
    return tuple(re.findall(r"\w{2,}", text.lower()))


def is_mixed(document: Document) -> bool:
    """Whether some of its headings have no number."""
    return any(section.leaves and section.leaves[0][0] == "title" for section in document.body.walk())


def depth(section: Section) -> int:
    return max((1 + depth(child) for child in section.sections), default=0)


GOOD = "<section><nr>1.</nr> <title>On <i>x</i></title>\n<text>y</text>\n<section><nr>1.1</nr></section></section>"
VIRTUAL = '<section virtual="true" number="3"><section><nr>3.1</nr> <text>y</text></section></section>'


def wrap(content: str) -> str:
    return f'<document xml:lang="en" genre="report" title="x">\n{content}\n</document>'


def test_reader_reads() -> None:
    document = parse("x", wrap(GOOD + VIRTUAL))
    assert document.text == "1. On x\ny\n1.13.1 y"
    first, second = document.body.sections
    assert first.leaves == [("nr", "1."), ("title", "On x"), ("text", "y")]
    assert (second.virtual, second.number, second.leaves) == (True, "3", [])
    assert depth(document.body) == 2 and len(list(document.body.walk())) == 4


@pytest.mark.parametrize(
    "content",
    [
        "<section><nr>1.</nr>",
        "<p>x</p>",
        "outside",
        "<section><text>no heading</text></section>",
        "<section><nr>1.</nr> <nr>2.</nr></section>",
        "<section><title>x</title> <nr>2.</nr></section>",
        "<section><nr>1.</nr><text>x</text> outside</section>",
        "<section><nr>1.</nr></section><text>behind</text>",
        "<text>a<text>b</text></text>",
        "<text> x</text>",
        "<text>x\ny</text>",
        "<text></text>",
        '<section level="1"><nr>1.</nr></section>',
        VIRTUAL.replace('number="3"', 'number="4"'),
        '<section virtual="true" number="3"><nr>3</nr></section>',
    ],
)
def test_reader_refuses_what_is_not_in_the_format(content: str) -> None:
    with pytest.raises(Malformed):
        parse("x", wrap(content))


@pytest.mark.parametrize(
    "xml", ["<doc>\n\n</doc>", wrap(GOOD).replace(' genre="report"', ""), wrap("").replace("\n", "")]
)
def test_reader_refuses_other_roots(xml: str) -> None:
    with pytest.raises(Malformed):
        parse("x", xml)


def test_documents_have_a_genre_its_language_and_a_fair_length(corpus: dict[str, list[Document]]) -> None:
    for document in (document for split in SPLITS for document in corpus[split]):
        assert GENRES.get(document.genre or "") == document.language, document.name
        assert document.name.startswith((document.genre or "").replace("-", "")), document.name
        assert MIN_LINES <= lines(document) <= MAX_LINES, document.name
        assert "\t" not in document.text and not re.search(r" \n", document.text), document.name


def test_no_text_is_in_two_splits(corpus: dict[str, list[Document]]) -> None:
    texts: dict[str, set[tuple[str, ...]]] = {split: set() for split in SPLITS}
    for split in SPLITS:
        for document in corpus[split]:
            for label, text in document.body.all_leaves():
                found = words(text)
                if len(found) >= (SHARED_TITLE_WORDS if label == "title" else SHARED_TEXT_WORDS):
                    texts[split].add(found)
            for section in document.body.walk():
                found = words(" ".join(text for label, text in section.all_leaves() if label == "text"))
                if len(found) >= SHARED_TEXT_WORDS:
                    texts[split].add(found)
    for one, other in combinations(SPLITS, 2):
        assert not texts[one] & texts[other], (one, other)


def test_names_are_unique(corpus: dict[str, list[Document]]) -> None:
    names = Counter(document.name for split in SPLITS for document in corpus[split])
    assert max(names.values()) == 1


def tables(columns: int) -> dict[str, list[int]]:
    """Rows of those tables of the README's part about this corpus that have so many columns."""
    part = (CORPUS / "README.md").read_text(encoding="utf-8").split("\n## section_parser/\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"]
    kept = [row for row in rows if len(row) == columns and re.fullmatch(r"[0-9,]+", row[1])]
    return {row[0]: [int(cell.replace(",", "")) for cell in row[1:]] for row in kept}


def test_counts_are_those_of_the_readme(corpus: dict[str, list[Document]]) -> None:
    rows: dict[str, list[int]] = {}
    for genre in GENRES:
        row = rows[genre] = []
        for split in SPLITS:
            of_genre = [document for document in corpus[split] if document.genre == genre]
            row += [len(of_genre), sum(map(lines, of_genre)), sum(len(list(d.body.walk())) for d in of_genre)]
    rows["**all**"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    assert tables(columns=10) == rows


def test_contents_are_those_of_the_readme(corpus: dict[str, list[Document]]) -> None:
    everything = [corpus[split] for split in SPLITS]
    assert tables(columns=4) == {
        "leaves `nr`": [count_leaves(found, "nr") for found in everything],
        "leaves `title`": [count_leaves(found, "title") for found in everything],
        "leaves `text`": [count_leaves(found, "text") for found in everything],
        "virtual sections": [sum(s.virtual for d in found for s in d.body.walk()) for found in everything],
        "levels of sections, at most": [max(depth(d.body) for d in found) for found in everything],
        "documents in which some headings have no number": [sum(map(is_mixed, found)) for found in everything],
        "documents without a section": [sum(not d.body.sections for d in found) for found in everything],
    }


def count_leaves(found: list[Document], wanted: str) -> int:
    return sum(label == wanted for document in found for label, _ in document.body.all_leaves())


def test_corpus_is_as_large_and_as_mixed_as_it_should_be(corpus: dict[str, list[Document]]) -> None:
    everything = [document for split in SPLITS for document in corpus[split]]
    assert len(everything) >= 44 and len(corpus["test"]) >= 15
    assert sum(document.genre == "judgment" for document in everything) >= 14
    assert sum(map(is_mixed, everything)) >= 0.4 * len(everything)
