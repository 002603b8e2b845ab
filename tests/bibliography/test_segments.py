"""Fields of a Doc, from tags, entities, spans and token extensions."""

import pytest
import spacy
from spacy.tokens import Doc, Span, Token

from spacy_crf.bibliography.segments import read_segments

WORDS = ["K.", "Lund", ".", "On", "ropes", ".", "?", "1999", "2000"]
SPACES = [True, False, True, True, False, True, True, True, False]
BOUNDS = [(0, 3, "AUTHOR"), (3, 6, "TITLE"), (7, 8, "DATE"), (8, 9, "DATE")]
FIELDS = [("AUTHOR", "K. Lund."), ("TITLE", "On ropes."), ("", "?"), ("DATE", "1999"), ("DATE", "2000")]
EXTENSION = "crf_test_field"


@pytest.fixture
def doc():
    Token.set_extension(EXTENSION, default=None)
    doc = Doc(spacy.blank("en").vocab, words=WORDS, spaces=SPACES)
    spans = [Span(doc, start, end, label=label) for start, end, label in BOUNDS]
    doc.set_ents(spans)
    doc.spans["sc"] = [*spans, Span(doc, 4, 5, label="NOTE")]
    for start, end, label in BOUNDS:
        for place in range(start, end):
            doc[place].tag_ = f"{'I' if place > start else 'B'}-{label}"
            doc[place]._.set(EXTENSION, label)
    doc[6].tag_ = "O"
    yield doc
    Token.remove_extension(EXTENSION)


@pytest.mark.parametrize("target", ["ent", "spans", "tag"])
def test_spans_and_bio_tags(doc: Doc, target: str) -> None:
    assert read_segments(doc, target) == FIELDS


def test_neighbours_of_the_same_plain_tag_are_one_field(doc: Doc) -> None:
    assert read_segments(doc, EXTENSION) == [*FIELDS[:3], ("DATE", "1999 2000")]


def test_without_labels_all_is_between_fields() -> None:
    doc = Doc(spacy.blank("en").vocab, words=WORDS, spaces=SPACES)
    for target in ("ent", "spans", "tag", "pos"):
        assert read_segments(doc, target) == [("", "K. Lund. On ropes. ? 1999 2000")]
    assert read_segments(Doc(doc.vocab), "ent") == []


@pytest.mark.parametrize(
    "before, accessed, expected",
    [
        ("a.example/boats,", "Accessed July 31, 2020.", "Accessed July 31, 2020."),
        ("a.example/boats", "Accessed: 06.01.2023.", "Accessed: 06.01.2023."),
        ("Web.", "viewed 3 May 2019", "viewed 3 May 2019"),
        ("Ropes last", "retrieved May 1786", None),  # in a text
        ("Ropes, ", "visited 1786", None),
    ],
)
def test_the_day_of_access_is_no_date_of_publication(before: str, accessed: str, expected: str | None) -> None:
    words = f"{before} {accessed}".split()
    doc = Doc(spacy.blank("en").vocab, words=words)
    doc.set_ents([Span(doc, len(words) - 1, len(words), label="DATE")])  # the year alone
    found = dict(read_segments(doc))
    assert found.get("ACCESSED") == expected and ("DATE" in found) == (expected is None)


@pytest.mark.parametrize("edition", ["3. Aufl.", "2., neubearb. und erw. Auflage", "2., neu bearbeitete Aufl."])
def test_editions_in_german_are_no_part_of_a_title(edition: str) -> None:
    words = f"Das Recht der Boote, {edition} 2016".split()
    doc = Doc(spacy.blank("de").vocab, words=words)
    doc.set_ents([Span(doc, 0, len(words) - 1, label="TITLE")])
    assert read_segments(doc)[:2] == [("TITLE", "Das Recht der Boote,"), ("EDITION", edition)]
