"""Measures of fields: counted a second time in plain Python, over lists of labels, and worked out by hand."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import Indices
from spacy_crf.core.scores import LabelCounts
from spacy_crf.lab.fields import LabelledToken, score_fields, segment_counts, token_counts

N_LABELS = 4
Pairs = list[tuple[int, int]]  # gold and predicted label of each token of a document

labels = st.integers(0, N_LABELS - 2)  # the last label never occurs
all_pairs = st.lists(st.tuples(labels, labels), max_size=12)


def sides(pairs: Pairs) -> tuple[Indices, Indices]:
    tokens = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return tokens[:, 0], tokens[:, 1]


def segments(pairs: Pairs, side: int) -> set[tuple[int, int, int]]:
    """Start, end and label of each maximal run."""
    found, start = set(), 0
    for label, run in itertools.groupby(pair[side] for pair in pairs):
        end = start + len(list(run))
        found.add((start, end, label))
        start = end
    return found


def by_label(items: set[tuple[int, int, int]]) -> list[int]:
    return [sum(item[-1] == label for item in items) for label in range(N_LABELS)]


@given(all_pairs)
def test_tokens(pairs: Pairs) -> None:
    counts = token_counts(*sides(pairs), N_LABELS)
    assert counts.gold.tolist() == [sum(gold == label for gold, _ in pairs) for label in range(N_LABELS)]
    assert counts.predicted.tolist() == [sum(found == label for _, found in pairs) for label in range(N_LABELS)]
    assert counts.right.tolist() == [pairs.count((label, label)) for label in range(N_LABELS)]
    accuracy = sum(gold == found for gold, found in pairs) / len(pairs) if pairs else 0.0
    assert counts.micro_f == pytest.approx(accuracy)


@given(all_pairs)
def test_segments(pairs: Pairs) -> None:
    counts = segment_counts(*sides(pairs), N_LABELS)
    gold, found = segments(pairs, 0), segments(pairs, 1)
    assert counts.gold.tolist() == by_label(gold)
    assert counts.predicted.tolist() == by_label(found)
    assert counts.right.tolist() == by_label(gold & found)
    both = len(gold) + len(found)
    assert counts.micro_f == pytest.approx(2 * len(gold & found) / both if both else 0.0)


@given(st.lists(st.lists(st.tuples(labels, labels, st.booleans()), max_size=6), max_size=5))
def test_documents_with_every_token_right_and_with_every_word_right(tokens: list[list[tuple[int, int, bool]]]) -> None:
    documents = [[LabelledToken(str(gold), str(own), is_word) for gold, own, is_word in one] for one in tokens]
    scores = score_fields(documents, "x")
    for suffix, chosen in (("", (True, False)), ("_words", (True,))):
        kept = [[token for token in one if token.is_word in chosen] for one in documents]
        right = [all(token.gold == token.predicted for token in one) for one in kept if one]
        assert scores.get(f"x_whole{suffix}") == (sum(right) / len(right) if right else None)
        alike = [token.gold == token.predicted for one in kept for token in one]
        assert scores.get(f"x_micro_f{suffix}") == (pytest.approx(sum(alike) / len(alike)) if alike else None)


def test_segments_do_not_cross_documents() -> None:
    assert score_fields([document("A A", "A A"), document("A", "A")], "tag")["tag_segment_f"] == 1
    # of four gold segments and three predicted ones, two are right
    scores = score_fields([document("A B", "A A"), document("A", "A"), document("B", "B")], "tag")
    assert scores["tag_segment_f"] == pytest.approx(2 * 2 / (4 + 3))


# labels: half found, never predicted, predicted only, absent
COUNTS = LabelCounts(np.array([2, 0, 0, 0]), np.array([2, 0, 3, 0]), np.array([4, 1, 0, 0]))


def test_labels_that_are_never_predicted_never_gold_or_absent() -> None:
    assert COUNTS.precision.tolist() == [1, 0, 0, 0]
    assert COUNTS.recall.tolist() == [0.5, 0, 0, 0]
    assert COUNTS.f.tolist() == [float(Fraction(2, 3)), 0, 0, 0]
    assert COUNTS.occurs.tolist() == [True, True, True, False]


def test_averages() -> None:
    assert COUNTS.macro().f == pytest.approx(2 / 9)
    assert COUNTS.macro(np.array([True, True, False, True])).f == pytest.approx(1 / 3)
    assert COUNTS.macro() == pytest.approx((1 / 3, 0.5 / 3, 2 / 9))
    assert COUNTS.weighted == pytest.approx((4 / 5, 0.5 * 4 / 5, 2 / 3 * 4 / 5))
    assert COUNTS.micro_f == pytest.approx(2 * 2 / (5 + 5))


def test_averages_of_nothing() -> None:
    nothing = LabelCounts(*np.zeros((3, N_LABELS), dtype=np.intp))
    assert (nothing.macro().f, nothing.weighted.f, nothing.micro_f) == (0, 0, 0)
    assert COUNTS.macro(np.array([False, False, False, True])).f == 0


def document(gold: str, predicted: str, marks: str = "") -> list[LabelledToken]:
    """Labels of one letter each; "." for a token without gold. marks: the places of punctuation, as digits."""
    pairs = zip(gold.split(), predicted.split(), strict=True)
    return [LabelledToken(None if a == "." else a, b, str(place) not in marks) for place, (a, b) in enumerate(pairs)]


def test_each_figure_has_its_own_name() -> None:
    scores = score_fields([document("A A B NOTE", "A A B B"), document("C . A", "C B A")], "tag")
    f = {"A": 1.0, "B": 2 / 3, "C": 1.0, "NOTE": 0.0}
    assert {name: value for name, value in scores.items() if not name.endswith("_words")} == pytest.approx(
        {
            "tag_micro_f": 5 / 6,
            "tag_macro_p": (1 + 1 / 2 + 1 + 0) / 4,
            "tag_macro_r": (1 + 1 + 1 + 0) / 4,
            "tag_macro_f": sum(f.values()) / 4,
            "tag_macro_f_without_NOTE": (f["A"] + f["B"] + f["C"]) / 3,
            "tag_weighted_p": (3 + 1 / 2 + 1) / 6,
            "tag_weighted_r": 5 / 6,
            "tag_weighted_f": (3 * f["A"] + f["B"] + f["C"]) / 6,
            "tag_segment_f": 2 * 3 / (5 + 4),  # A of the first, C and A of the second document
            "tag_whole": 1 / 2,
        }
    )


def test_without_punctuation() -> None:
    scores = score_fields([document("A A B", "A B B", marks="1"), document("A", "B", marks="0")], "tag")
    assert scores["tag_micro_f"] == pytest.approx(1 / 2)
    assert scores["tag_micro_f_words"] == scores["tag_whole_words"] == scores["tag_segment_f_words"] == 1
    assert scores["tag_whole"] == 0
    assert "tag_macro_f_without_NOTE" not in scores


def test_marks_alone_have_no_measures_of_words() -> None:
    assert not [name for name in score_fields([document("A", "A", marks="0")], "tag") if name.endswith("_words")]


def test_nothing_without_gold() -> None:
    assert score_fields([document(". .", "A B"), []], "tag") == {}
