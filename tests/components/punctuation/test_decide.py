"""Marks by thresholds."""

import numpy as np
import pytest

from spacy_crf.components.punctuation.decide import Thresholds, choose
from spacy_crf.punctuation.labels import LabelTable

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
