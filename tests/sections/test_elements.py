"""Elements as spans with exact characters, and gold labels of units."""

import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span

from spacy_crf.sections.segment import Kind, LayoutUnit
from spacy_crf.sections.spans import Elements, cover, labels_of_units, read_elements, write_elements

NLP = spacy.blank("en")


def units_of(*bounds: tuple[int, int], kind: Kind = Kind.TEXT) -> list[LayoutUnit]:
    return [LayoutUnit(start, end, kind) for start, end in bounds]


def test_round_trip() -> None:
    doc = NLP.make_doc("1.De zaak")
    elements = Elements.of([(0, 2, "NR"), (2, 9, "SECTION_TITLE")])
    write_elements(doc, "elements", elements, {"probabilities": [1.0, 0.5]})
    found = read_elements(doc, "elements")
    assert found is not None
    assert (found.starts.tolist(), found.ends.tolist(), found.labels) == ([0, 2], [2, 9], ["NR", "SECTION_TITLE"])
    assert read_elements(Doc(NLP.vocab).from_bytes(doc.to_bytes()), "elements") is not None
    assert read_elements(NLP.make_doc("x"), "elements") is None


def test_spans_of_another_tool_are_gold_as_well() -> None:
    doc = NLP.make_doc("2. The facts")
    doc.spans["elements"] = [Span(doc, 1, 3, "SECTION_TITLE"), Span(doc, 0, 1, "NR")]
    found = read_elements(doc, "elements")
    assert found is not None and found.labels == ["NR", "SECTION_TITLE"]


@given(st.text("ab .\n1", min_size=1, max_size=20), st.data())
def test_covering_tokens_hold_the_characters(text: str, data: st.DataObject) -> None:
    doc = NLP.make_doc(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    elements = Elements.of([(start, end, "X")])
    (first,), (last,) = cover(doc, elements.starts, elements.ends)
    span = doc[first:last]
    assert span.start_char <= start and len(span) >= 1
    assert end <= span.start_char + len(span.text_with_ws)
    assert len(span) == 1 or (doc[first].idx + len(doc[first].text_with_ws) > start and doc[last - 1].idx < end)


def test_gold_of_units() -> None:
    elements = Elements.of([(0, 2, "NR"), (3, 9, "TITLE"), (12, 20, "TEXT")])
    bounds = [(0, 2), (3, 5), (5, 9), (9, 10), (10, 13), (19, 25), (25, 30)]
    assert labels_of_units(units_of(*bounds), elements, "B") == ["NR", "TITLE", "TITLE", None, "TEXT", "TEXT", None]
    for blank in ((9, 10), (elements.starts[0], elements.starts[0] + 1)):  # outside of elements, and in one
        assert labels_of_units(units_of(blank, kind=Kind.NEWLINE), elements, "B") == ["B"]
    assert labels_of_units([], elements, "B") == []
    assert labels_of_units(units_of((0, 1)), Elements.of([]), "B") == [None]


def test_spans_that_were_replaced_count_as_they_stand() -> None:
    doc = NLP.make_doc("1.De zaak is af")
    write_elements(doc, "elements", Elements.of([(0, 2, "NR"), (2, 7, "TITLE"), (8, 15, "TEXT")]), {})
    doc.spans["elements"][2] = Span(doc, len(doc) - 1, len(doc), "TITLE")
    found = read_elements(doc, "elements")
    assert found is not None
    assert (found.starts.tolist(), found.ends.tolist()) == ([0, 2, 13], [2, 7, 15])
    assert found.labels == ["NR", "TITLE", "TITLE"]
