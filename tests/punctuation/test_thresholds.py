"""Marks by thresholds."""

import numpy as np
import pytest

from spacy_crf.punctuation.block import LabelScheme
from spacy_crf.punctuation.labels import LabelTable, Thresholds, choose, labels_beside_marks, settle_marks

LABELS = ["O|lower", "COMMA|lower", "COMMA|Title", "PERIOD|lower"]
ROW = [0.45, 0.1, 0.15, 0.3]


@pytest.mark.parametrize(
    "thresholds, label",
    [
        (Thresholds(0.5), "PERIOD|lower"),
        (Thresholds(0.6), "O|lower"),
        (Thresholds(0.5, {"PERIOD": 0.4}), "COMMA|Title"),
        (Thresholds(0.0, {"COMMA": 0.2}), "COMMA|Title"),
        (Thresholds(0.0, {"COMMA": 0.3}), "O|lower"),
        (Thresholds(0.0, {"COMMA": 0.2, "PERIOD": 0.2}), "PERIOD|lower"),
    ],
)
def test_labels(thresholds: Thresholds, label: str) -> None:
    table = LabelTable(LABELS)
    assert LABELS[choose(np.array([ROW, ROW]), table, thresholds)[1]] == label
    assert choose(np.zeros((0, 4)), table, thresholds).shape == (0,)


def test_no_label_without_a_mark() -> None:
    table = LabelTable(["COMMA", "PERIOD"])
    chosen = choose(np.array([[0.4, 0.6], [0.7, 0.3]]), table, Thresholds(0.0, {"COMMA": 0.8}))
    assert chosen.tolist() == [1, 0]


def test_settled_marks_leave_the_case_open() -> None:
    labels = ["O|lower", "O|Title", "O|lower|@QUESTION", "O|Title|@QUESTION", "QUESTION|lower", "PERIOD|lower"]
    table = LabelTable(labels)
    scheme = LabelScheme(["PERIOD", "QUESTION"], case=True, kinds=["QUESTION"])
    rows = labels_beside_marks(np.array([0, 5, 0, 1, 4, 0]), table, scheme)
    found = [[label for label, may in zip(labels, row) if may] for row in rows.tolist()]
    plain, asked = ["O|lower", "O|Title"], ["O|lower|@QUESTION", "O|Title|@QUESTION"]
    assert found == [plain, ["PERIOD|lower"], asked, asked, ["QUESTION|lower"], plain]
    assert labels_beside_marks(np.zeros(0, dtype=np.int32), table, scheme).shape == (0, len(labels))


def test_a_mark_in_a_sentence_of_an_unseen_kind_leaves_labels_without_one() -> None:
    labels = ["O|lower", "COMMA|lower", "O|lower|@QUESTION", "QUESTION|lower"]
    scheme = LabelScheme(["COMMA", "QUESTION"], case=True, kinds=["QUESTION"])
    table, tags = LabelTable(labels), np.array([1, 3])
    assert labels_beside_marks(tags, table, scheme).tolist() == [[False, False, True, False], [False] * 3 + [True]]
    without = LabelTable(["O|lower", "COMMA|lower", "QUESTION|lower"])
    assert labels_beside_marks(np.array([1, 2]), without, scheme).any(axis=1).tolist() == [False, True]


def test_the_last_sentence_of_a_text_that_goes_on_may_be_of_any_kind() -> None:
    table = LabelTable(["O|lower", "COMMA|lower", "O|lower|@QUESTION", "QUESTION|lower"])
    scheme = LabelScheme(["COMMA", "QUESTION"], case=True, kinds=["QUESTION"])
    tags = np.array([0, 3, 0])
    closed, still_open = (labels_beside_marks(tags, table, scheme, goes_on) for goes_on in (False, True))
    assert closed[2].tolist() == [True, False, False, False] and still_open[2].tolist() == [True, False, True, False]
    assert (closed[:2] == still_open[:2]).all()


def test_settled_marks_keep_the_case_that_training_has_seen_with_them() -> None:
    table = LabelTable(["O|lower", "O|Title", "COMMA|lower", "COMMA|Title", "PERIOD|lower"])
    tags = np.array([0, 1, 1, 3, 1], dtype=np.int32)
    settled = settle_marks(tags, ["COMMA", "COMMA", "PERIOD", None, "DASH"], table)
    assert [table.parsed[tag].mark for tag in settled.tolist()] == ["COMMA", "COMMA", "PERIOD", "COMMA", "O"]
    assert settled.tolist() == [2, 3, 4, 3, 1] and tags.tolist() == [0, 1, 1, 3, 1]
    assert settle_marks(tags, ["O", "O", None, "DASH", None], table).tolist() == [0, 1, 1, 1, 1]
