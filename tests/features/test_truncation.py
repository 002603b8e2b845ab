"""Sequences whose text goes on before or behind them."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_crf.core.sparse import ABSENT
from spacy_crf.features.columns import TRUNCATED, ColumnReader
from spacy_crf.features.extract import FeatureExtractor
from spacy_crf.features.hashing import string_hash
from spacy_crf.features.resources import Resources
from spacy_crf.features.templates import parse_templates

WORDS = ["one", "two", "three", "four"]
TEMPLATES = ["BOS", "EOS", "LOWER[-1]", "LOWER[1]", "LOWER[2]|BIAS"]


def columns_of(sides: list[list[bool] | None], padding: bool = True):
    vocab = spacy.blank("xx").vocab
    docs = []
    for both in sides:
        docs.append(Doc(vocab, words=WORDS))
        if both is not None:
            docs[-1].user_data[TRUNCATED] = both
    extractor = FeatureExtractor(parse_templates(TEMPLATES), Resources(), "doc", padding)
    columns = extractor.read(docs, vocab)
    return columns, extractor.keys(columns, extractor.state_templates).keys


@pytest.mark.parametrize("padding", [True, False])
def test_an_open_side_has_no_start_no_end_and_nothing_outside(padding: bool) -> None:
    _, closed = columns_of([None], padding)
    _, keys = columns_of([[True, True], None, [True, False], [False, True]], padding)
    both, none, left, right = (keys[:, 4 * k : 4 * k + 4] for k in range(4))
    np.testing.assert_array_equal(none, closed)
    expected = closed.copy()
    expected[[0, 2], 0] = ABSENT
    np.testing.assert_array_equal(left, expected)
    expected[1, 3] = expected[3, 3] = ABSENT
    expected[4, 2:] = ABSENT
    np.testing.assert_array_equal(both, expected)
    expected[[0, 2], 0] = closed[[0, 2], 0]
    np.testing.assert_array_equal(right, expected)


def test_sides_go_with_the_parts_of_a_batch() -> None:
    columns, _ = columns_of([[True, False], None, [False, True]])
    parts = columns.split(3)
    assert [part.truncated.tolist() for part in parts] == [[[True, False]], [[False, False]], [[False, True]]]


def test_the_inner_sequences_of_an_open_doc_are_closed() -> None:
    vocab = spacy.blank("xx").vocab
    doc = Doc(vocab, words=WORDS, sent_starts=[True, False, True, False])
    doc.user_data[TRUNCATED] = [True, True]
    columns = ColumnReader([], Resources(), "auto").read([doc, Doc(vocab)], vocab)
    assert columns.truncated.tolist() == [[True, False], [False, True]]
    assert string_hash("BOS-1") != ABSENT
