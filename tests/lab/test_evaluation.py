"""Labels that count as one."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_crf.core.errors import CRFError
from spacy_crf.lab.evaluation import read_labels, replace_labels

LABELS = {"JOURNAL": "CONTAINER", "BOOK": "CONTAINER"}


@pytest.fixture
def doc() -> Doc:
    doc = Doc(spacy.blank("xx").vocab, words=list("abcdef"), tags=["JOURNAL", "BOOK", "DATE", "DATE", "X", ""])
    bounds = [(0, 1, "JOURNAL"), (1, 2, "BOOK"), (2, 3, "DATE"), (3, 4, "DATE")]
    spans = [Span(doc, start, end, label=label) for start, end, label in bounds]
    doc.set_ents(spans, missing=[doc[4:5]], outside=[doc[5:6]])
    doc.spans["sc"] = spans
    return doc


def test_entities_that_touch_are_joined_where_their_labels_became_one(doc: Doc) -> None:
    replace_labels(doc, LABELS, "ent", "sc")
    assert [(ent.start, ent.end, ent.label_) for ent in doc.ents] == [
        (0, 2, "CONTAINER"),
        (2, 3, "DATE"),
        (3, 4, "DATE"),
    ]
    assert [token.ent_iob for token in doc[4:]] == [0, 2]


def test_groups_and_tags(doc: Doc) -> None:
    replace_labels(doc, LABELS, "spans", "sc")
    first = doc.spans["sc"][0]
    assert (first.start, first.end, first.label_) == (0, 2, "CONTAINER")
    replace_labels(doc, LABELS, "tag", "sc")
    assert [token.tag_ for token in doc] == ["CONTAINER", "CONTAINER", "DATE", "DATE", "X", ""]
    with pytest.raises(CRFError, match="CRF668"):
        replace_labels(doc, LABELS, "pos", "sc")


def test_labels_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text("# what counts\n\nJOURNAL\tCONTAINER\nBOOK\tCONTAINER\n", encoding="utf8")
    assert read_labels(path) == LABELS
    path.write_text("JOURNAL CONTAINER\n", encoding="utf8")
    with pytest.raises(CRFError, match="CRF669"):
        read_labels(path)
