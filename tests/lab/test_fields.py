"""Measures of fields, worked out by hand."""

import pytest

from spacy_crf.lab.fields import LabelledToken, score_fields


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
            "tag_macro_f": sum(f.values()) / 4,
            "tag_macro_f_without_NOTE": (f["A"] + f["B"] + f["C"]) / 3,
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
