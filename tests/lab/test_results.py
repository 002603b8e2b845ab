"""Means, tables of tags and comparisons, worked out by hand."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacy_crf.lab.measures import Findings
from spacy_crf.lab.results import (
    DocumentScores,
    PartResult,
    SystemResult,
    average_curves,
    average_labels,
    compare,
    document_means,
    frequency_correlation,
    pooled_by_draw,
    sum_confusions,
    summarise,
    tag_rows,
)
from spacy_crf.lab.statistics import bootstrap, resampled_t_test, wilcoxon

CONFUSIONS = Counter({("A", "A"): 8, ("A", "B"): 2, ("B", "B"): 3, ("B", "C"): 1})


def part(name: str, acc: float, docs: dict[str, tuple[int, float]] | None = None, **changed: Any) -> PartResult:
    documents = [DocumentScores(key, tokens, {"acc": score}) for key, (tokens, score) in (docs or {}).items()]
    found = PartResult(name, name, "", 1.0, 80, 20, 3, 0.1, {"acc": acc}, documents, Findings(), 1.0)
    return replace(found, **changed)


def test_spreads() -> None:
    tests = [part("a", 0.5), part("b", 0.7), part("c", 0.9, found=Findings({"more": 0.25}))]
    found = summarise(tests)
    acc = found["acc"]
    assert (acc.mean, acc.deviation, acc.least, acc.greatest, acc.n) == pytest.approx((0.7, 0.2, 0.5, 0.9, 3))
    assert (found["more"].mean, found["more"].deviation, found["more"].n) == (0.25, None, 1)
    assert acc.interval is None and acc.corrected is None
    told = resampled_t_test(np.array([0.5, 0.7, 0.9]), 20 / 80)
    assert summarise(tests, kind="kfold")["acc"].corrected == (told.low, told.high)
    assert summarise(tests[:1], kind="kfold")["acc"].corrected is None
    assert summarise(tests, kind="cross-domain")["acc"].corrected is not None  # training parts overlap
    assert summarise(tests, kind="in-domain")["acc"].corrected is None


def test_labels_are_averaged_over_the_parts_that_have_them() -> None:
    rows = [{"f_per_type": {"B": {"f": 0.5}, "A": {"f": 0.2}}}, {"f_per_type": {"B": {"f": 0.7}}}]
    found = average_labels([part("x", 1.0, found=Findings(by_label=row)) for row in rows])["f_per_type"]
    assert {label: (own["f"].mean, own["f"].n) for label, own in found.items()} == {"A": (0.2, 1), "B": (0.6, 2)}
    assert list(found) == ["A", "B"]


def test_documents_tested_several_times_count_once() -> None:
    second = part("b", 25 / 35, {"x": (30, 0.8), "z": (5, 0.2)}, draw=1)
    tests = [part("a", 0.5, {"x": (10, 0.4), "y": (10, 0.6)}), second]
    means = document_means(tests, "acc")
    assert means == {"x": (pytest.approx(0.7), 20), "y": (0.6, 10), "z": (0.2, 5)}
    interval = summarise(tests, seed=4)["acc"].interval
    assert interval == bootstrap(np.array([0.7, 0.6, 0.2]), np.array([20.0, 10, 5]), seed=4)


def test_a_document_that_folds_divide_weighs_as_a_whole() -> None:
    folds = [part("a", 0.5, {"x": (10, 0.4), "y": (10, 0.6)}), part("b", 0.8, {"x": (30, 0.8)})]
    again = [replace(one, draw=1) for one in folds]
    for tests in (folds, [*folds, *again]):
        assert document_means(tests, "acc") == {"x": (pytest.approx(0.7), 40), "y": (0.6, 10)}
        interval = summarise(tests)["acc"].interval
        assert interval is not None and interval.mean == pytest.approx((10 * 0.4 + 10 * 0.6 + 30 * 0.8) / 50)


def test_only_means_of_documents_have_an_interval_over_documents() -> None:
    alike = [part("a", 0.5, {"x": (10, 0.0), "y": (90, 1.0)})]  # a share of documents, not of tokens
    assert document_means(alike, "acc") == {"x": (0.0, 1), "y": (1.0, 1)}
    assert summarise(alike)["acc"].interval == bootstrap(np.array([0.0, 1.0]), np.ones(2))
    f = [part("a", 0.8, {"x": (10, 0.0), "y": (90, 1.0)})]
    assert document_means(f, "acc") == {} and summarise(f)["acc"].interval is None


def test_parts_with_nothing_to_judge_have_no_mean() -> None:
    judged = part("a", 0.5, {"x": (10, 0.0), "y": (90, 1.0)})
    assert document_means([judged, replace(part("b", 0.0, {"z": (5, 0.0)}), scores={})], "acc").keys() == {"x", "y"}


def test_tags_are_pooled_over_the_parts_of_a_draw() -> None:
    halves = [Counter({("A", "A"): 1}), Counter({("A", "B"): 1, ("B", "B"): 2}), Counter({("A", "A"): 2})]
    tests = [part("x", 1.0, found=Findings(confusions=own), draw=draw) for own, draw in zip(halves, (0, 0, 1))]
    found = pooled_by_draw(tests)["A"]
    assert found["recall"].mean == pytest.approx((0.5 + 1) / 2)  # 1 of 2 in the first draw, 2 of 2 in the second
    assert found["recall"].deviation == pytest.approx(0.5 / 2**0.5)
    assert found["f05"].mean == pytest.approx((1.25 * 1 * 0.5 / (0.25 + 0.5) + 1) / 2)
    assert pooled_by_draw([part("x", 1.0)]) == {}


def test_tags() -> None:
    rows = tag_rows(CONFUSIONS)
    assert [(row.tag, row.gold, row.predicted, row.right) for row in rows] == [
        ("A", 10, 8, 8),
        ("B", 4, 5, 3),
        ("C", 0, 1, 0),
    ]
    assert (rows[0].precision, rows[0].recall, rows[0].f) == pytest.approx((1.0, 0.8, 16 / 18))
    assert (rows[2].precision, rows[2].recall, rows[2].f) == (0.0, 0.0, 0.0)
    twice = [part("a", 0.5, found=Findings(confusions=CONFUSIONS))] * 2
    assert sum_confusions(twice)["A", "B"] == 4


def test_frequent_tags_and_their_accuracy() -> None:
    confusions = Counter({("A", "A"): 30, ("B", "B"): 20, ("B", "A"): 20, ("C", "C"): 5, ("C", "A"): 15, ("D", "A"): 9})
    found = Findings(confusions=confusions, frequencies=Counter(A=100, B=60, C=10, D=500))
    expected = np.corrcoef([100, 60, 10], [1.0, 0.5, 0.25])[0, 1]
    assert frequency_correlation([part("a", 0.5, found=found)]) == pytest.approx(expected)
    assert frequency_correlation([part("a", 0.5)]) is None


def test_curves() -> None:
    tests = [
        part(name, 0.5, found=Findings(curves={"u by b": {1.0: y, 2.0: 2 * y}})) for name, y in (("a", 1.0), ("b", 3.0))
    ]
    points = average_curves(tests)["u by b"]
    assert {x: (point.mean, point.deviation) for x, point in points.items()} == {
        1.0: (2.0, pytest.approx(2**0.5)),
        2.0: (4.0, pytest.approx(2 * 2**0.5)),
    }


def system(name: str, scores: list[float], **changed: Any) -> SystemResult:
    docs = [{f"d{i}": (10 * (i + 1), score)} for i, score in enumerate(scores)]
    tests = [part(f"fold {i}", score, own, **changed) for i, (score, own) in enumerate(zip(scores, docs))]
    return SystemResult(name, "tagger", tests)


def test_a_comparison_is_paired() -> None:
    first, second = [0.9, 0.8, 0.7, 0.9], [0.85, 0.7, 0.72, 0.8]
    differences = np.array(first) - np.array(second)
    (found,) = compare(system("one", first), system("two", second), "kfold", seed=3)
    assert (found.first, found.second, found.score) == ("one", "two", "acc")
    assert found.mean == pytest.approx(differences.mean()) and found.mean == found.to_data()["mean"]
    assert found.ranks == wilcoxon(differences)
    assert found.resampled == resampled_t_test(differences, 20 / 80)
    assert found.interval == bootstrap(differences, np.array([10.0, 20, 30, 40]), seed=3)


def test_separate_documents_have_no_resampled_test_and_draws_are_averaged() -> None:
    one = SystemResult("one", "tagger", [part("x", 0.9), part("x", 0.7), part("y", 0.5)])
    two = SystemResult("two", "tagger", [part("x", 0.6), part("x", 0.6), part("y", 0.6)])
    (found,) = compare(one, two, "in-domain")
    assert found.resampled is None and found.interval is None
    assert found.ranks == wilcoxon(np.array([0.2, -0.1]))


def test_groups_are_compared_apart_and_only_in_scores_that_both_have() -> None:
    ours = [part("a", 0.9, fraction=0.5), part("b", 0.8, fraction=1.0, scores={"acc": 0.8, "more": 0.1})]
    theirs = [part("a", 0.5, fraction=0.5), part("b", 0.6, fraction=1.0)]
    found = compare(SystemResult("one", "t", ours), SystemResult("two", "t", theirs), "curve")
    assert [(one.fraction, one.score, round(one.mean, 6)) for one in found] == [(0.5, "acc", 0.4), (1.0, "acc", 0.2)]


def test_systems_are_compared_where_both_have_a_score() -> None:
    first, second = system("one", [0.9, 0.8, 0.7, 0.9]), system("two", [0.85, 0.7, 0.72, 0.8])
    second.tests[1] = replace(second.tests[1], scores={}, documents=[])
    (found,) = compare(first, second, "kfold")
    assert (found.first_mean, found.second_mean) == pytest.approx((2.5 / 3, 2.37 / 3))
    assert found.resampled and found.resampled.n == 3 and found.interval and found.interval.documents == 3
