"""Scores of items and sequences, beside those of sklearn-crfsuite."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf import CRFError, metrics

theirs = pytest.importorskip("sklearn_crfsuite.metrics")
LABELS = st.sampled_from("ABC")
PAIRS = st.lists(st.lists(st.tuples(LABELS, LABELS), max_size=4), min_size=1, max_size=6).filter(any)
CALLS = [
    ("flat_accuracy_score", {}),
    ("flat_precision_score", {"average": "macro", "zero_division": 0.0}),
    ("flat_recall_score", {"average": "weighted", "zero_division": 0.0}),
    ("flat_f1_score", {"average": "weighted", "labels": ["A", "B", "C"], "zero_division": 0.0}),
    ("flat_fbeta_score", {"beta": 2.0, "average": "micro"}),
    ("flat_classification_report", {"labels": ["A", "C"], "digits": 3, "zero_division": 0.0}),
]


@pytest.mark.parametrize(("name", "options"), CALLS)
@given(PAIRS)
def test_scores_of_items_are_those_of_the_peer(name, options, pairs):
    y = [[true for true, _ in pair] for pair in pairs], [[predicted for _, predicted in pair] for pair in pairs]
    assert getattr(metrics, name)(*y, **options) == getattr(theirs, name)(*y, **options)


@pytest.mark.parametrize(("name", "options"), CALLS)
def test_no_sequences_are_scored_as_by_the_peer(name, options):
    def ask(module):
        try:
            return getattr(module, name)([], [], **options)
        except ValueError as error:  # newer versions of scikit-learn want an item
            return str(error)

    assert ask(metrics) == ask(theirs)


def test_every_score_of_the_peer_is_there():
    names = {name for name in dir(theirs) if name.startswith("flat_") or name.endswith("_score")}
    assert names <= set(dir(metrics))


def test_scores_of_sequences():
    assert metrics.sequence_accuracy_score([], []) == 0
    assert metrics.sequence_accuracy_score([["A"], ["B"], []], [["A"], ["C"], ()]) == pytest.approx(2 / 3)
    y = [["A", "B"], ["B", "A"], ["A"]], [["A", "B"], ["B", "B"], ["A"]]
    assert metrics.sequence_accuracy_score(*y) == theirs.sequence_accuracy_score(*y) == pytest.approx(2 / 3)
    # the peer compares items where all sequences are of one length
    assert metrics.sequence_accuracy_score([["A", "B"], ["B", "A"]], [["A", "B"], ["B", "B"]]) == 0.5


@pytest.mark.parametrize(
    ("y_pred", "code"), [([["A"]], "CRF714"), ([["A"], ["A"]], "CRF702"), ([["B", "A"], ["A"]], "CRF702")]
)
@pytest.mark.parametrize("name", ["flat_accuracy_score", "sequence_accuracy_score"])
def test_labels_of_other_items_are_not_compared(name, y_pred, code):
    with pytest.raises(CRFError, match=code):
        getattr(metrics, name)([["A"], ["B", "A"]], y_pred)


@pytest.mark.parametrize(
    ("y_pred", "code"), [(None, "CRF715. y_pred is None"), (5, "CRF715"), ([["A"], None], "CRF703")]
)
@pytest.mark.parametrize("name", ["flat_f1_score", "sequence_accuracy_score"])
def test_what_is_no_list_of_sequences_is_told_by_name(name, y_pred, code):
    with pytest.raises(CRFError, match=code):
        getattr(metrics, name)([["A"], ["B", "A"]], y_pred)
