"""Conformal sets: exact laws of coverage over resampled calibration sets, small examples by hand, and invariances."""

import json

import numpy as np
import pytest
from helpers.set_oracles import p_values
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spacy_crf.core.sets.conformal import LAC, ConformalSets, Score, calibrate, finite_quantile

APS, RANDOM_APS = Score("aps"), Score("aps", randomised=True)
SCORES = [LAC, APS, RANDOM_APS, Score("raps", penalty=0.05, k_reg=1), Score("raps", True, 0.2, 2)]
CONDITIONS = ["marginal", "label", "group"]


class Sample:
    """Units with gold drawn from their own marginals, to a power: below 1, the model is too sure of itself."""

    def __init__(self, n: int, n_labels: int, seed: int, power: float = 1.0, n_groups: int = 3) -> None:
        rng = np.random.default_rng(seed)
        self.marginals = rng.dirichlet(np.full(n_labels, 0.5), n)
        truth = self.marginals**power / (self.marginals**power).sum(axis=1, keepdims=True)
        self.labels = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_labels - 1)
        self.weights = np.eye(n_labels)[self.labels]
        self.groups = rng.integers(0, n_groups, n) * 10
        self.uniforms = rng.random(n)
        self.ties = rng.random(n)

    def __getitem__(self, rows) -> "Sample":
        part = object.__new__(Sample)
        part.__dict__ = {name: values[rows] for name, values in self.__dict__.items()}
        return part

    def arguments(self, score: Score, condition: str) -> dict:
        groups = self.groups if condition == "group" else None
        return {"groups": groups, "uniforms": self.uniforms if score.randomised else None}

    def scores(self, score: Score = LAC, condition: str = "marginal"):
        return calibrate(self.marginals, self.weights, score, condition, **self.arguments(score, condition))

    def sets(self, found: ConformalSets) -> np.ndarray:
        return found.predict(self.marginals, **self.arguments(found.score, found.condition))

    def hits(self, found: ConformalSets) -> np.ndarray:
        return self.sets(found)[np.arange(len(self.labels)), self.labels]

    def p_values(self, scores, smoothed: bool = False) -> np.ndarray:
        arguments = self.arguments(scores.score, scores.condition)
        return p_values(scores, self.marginals, **arguments, ties=self.ties if smoothed else None)


def resampled(n: int, m: int, n_labels: int, times: int, seed: int, power: float = 1.0):
    """Independent pairs of n calibration units and m others."""
    pool = Sample(times * (n + m), n_labels, seed, power)
    for start in range(0, times * (n + m), n + m):
        yield pool[start : start + n], pool[start + n : start + n + m]


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """p-value of counts, with neighbours merged until each is expected 8 times or more."""
    expected = probabilities * counts.sum()
    cells = np.minimum(np.cumsum(expected) // 8, counts.sum() // 8 - 1)
    _, cells = np.unique(cells, return_inverse=True)
    return stats.chisquare(np.bincount(cells, counts), np.bincount(cells, expected)).pvalue


# --- scores


def test_scores_by_hand():
    marginals = np.array([[0.2, 0.5, 0.3]])
    assert LAC.of(marginals)[0] == pytest.approx([0.8, 0.5, 0.7])
    assert APS.of(marginals)[0] == pytest.approx([1.0, 0.5, 0.8])
    assert RANDOM_APS.of(marginals, np.array([0.5]))[0] == pytest.approx([0.9, 0.25, 0.65])
    raps = Score("raps", penalty=0.1, k_reg=1)
    assert raps.of(marginals)[0] == pytest.approx([1.0 + 0.2, 0.5, 0.8 + 0.1])


@pytest.mark.parametrize("score", SCORES)
def test_scores_grow_with_the_rank(score):
    marginals = np.random.default_rng(0).dirichlet(np.ones(6), 50)
    marginals[:5] = [0.25, 0.25, 0.0, 0.25, 0.25, 0.0]
    scores = score.of(marginals, np.linspace(0, 1, 50) if score.randomised else None)
    order = np.argsort(-marginals, axis=1, kind="stable")
    assert (np.diff(np.take_along_axis(scores, order, axis=1), axis=1) >= 0).all()


@pytest.mark.parametrize(
    "settings, name",
    [
        ({"kind": "hinge"}, "kind"),
        ({"kind": "lac", "randomised": True}, "randomised"),
        ({"kind": "aps", "penalty": 0.1}, "penalty"),
        ({"kind": "raps", "penalty": 0.0}, "penalty"),
        ({"kind": "lac", "k_reg": 2}, "k_reg"),
        ({"kind": "raps", "penalty": 0.1, "k_reg": -1}, "k_reg"),
    ],
)
def test_score_settings_must_go_together(settings, name):
    with pytest.raises(ValueError, match=f"CRF819.*{name}"):
        Score(**settings)


# --- quantiles


@given(st.integers(0, 60), st.integers(1, 999))
def test_quantile_is_the_smallest_score_with_enough_behind_it(n, thousandths):
    """The level as a fraction: (n + 1)(1 - level) must not go up a rank by rounding, as 10 x (1 - .7) does."""
    found = finite_quantile(np.arange(1.0, n + 1), thousandths / 1000)
    fitting = [rank for rank in range(1, n + 1) if 1000 * rank >= (n + 1) * (1000 - thousandths)]
    assert found == (fitting[0] if fitting else np.inf)


def test_sets_by_hand():
    """Nine units with scores .1 to .9: the quantile at level .2 is the 8th of them, at .1 the 9th, below it none."""
    marginals = np.array([[1 - s / 10, s / 10] for s in range(1, 10)])
    scores = calibrate(marginals, np.tile([1.0, 0.0], (9, 1)))
    assert scores.at(0.2).quantiles == pytest.approx([0.8])
    assert scores.at(0.1).quantiles == pytest.approx([0.9])
    new = np.array([[0.85, 0.15], [0.5, 0.5], [0.75, 0.25]])
    assert scores.at(0.2).predict(new).tolist() == [[True, False], [True, True], [True, True]]
    assert p_values(scores, new)[:, 1] == pytest.approx([0.2, 0.6, 0.3])
    assert p_values(scores, new, ties=np.zeros(3))[0] == pytest.approx([0.8, 0.1])


def test_too_few_units_for_a_level():
    scores = Sample(8, 3, 0).scores()
    with pytest.raises(ValueError, match=r"CRF818.*8 calibration tokens.*level 0\.1.*needs 9.*0\.1111"):
        scores.at(0.1)
    full = scores.at(0.1, fallback="full")
    assert full.quantiles == (np.inf,) and full.small == {0: 8}
    assert Sample(4, 3, 1).sets(full).all()
    assert scores.at(1 / 8).small == {}


# --- coverage


@pytest.mark.parametrize("score", [LAC, RANDOM_APS, Score("raps", True, 0.2, 2)])
def test_coverage_follows_the_beta_binomial_law(score):
    """Hits among m new units, over 1,000 calibration sets of n: the quantile has rank k, and scores do not tie."""
    n, m, level = 30, 20, 0.2
    k = 25  # ceil(31 x .8)
    hits = [
        new.hits(old.scores(score).at(level, allow_empty=True)).sum()
        for old, new in resampled(n, m, 4, times=1000, seed=1, power=0.5)
    ]
    law = stats.betabinom(m, k, n + 1 - k).pmf(np.arange(m + 1))
    assert chi_square(np.bincount(hits, minlength=m + 1), law) > 0.01
    wrong = stats.binom(m, 1 - level).pmf(np.arange(m + 1))
    assert chi_square(np.bincount(hits, minlength=m + 1), wrong) < 1e-6


def test_randomised_aps_hits_the_level_and_the_deterministic_one_covers_too_much():
    n, m, level, times = 59, 50, 0.2, 400
    means, sizes = {}, {}
    for score, allow_empty in ((RANDOM_APS, True), (APS, False)):
        hits, size = [], []
        for old, new in resampled(n, m, 4, times, seed=2):
            found = old.scores(score).at(level, allow_empty=allow_empty)
            hits.append(new.hits(found).mean())
            size.append(new.sets(found).sum(axis=1).mean())
        means[score], sizes[score] = np.mean(hits), np.mean(size)
    assert means[RANDOM_APS] == pytest.approx(1 - level, abs=0.012)  # 48 / 60 = .8, four standard errors
    assert means[APS] > 1 - level + 1 / (n + 1) + 0.01  # more than a set that may be empty can have
    assert sizes[APS] > sizes[RANDOM_APS] + 0.1


def test_class_conditional_coverage_holds_for_each_label_where_marginal_coverage_does_not():
    """Gold that is label 0 more often than the model thinks: label 2 suffers from a common quantile."""
    level, times = 0.2, 300
    hits = {"marginal": [[], [], []], "label": [[], [], []]}
    rng = np.random.default_rng(3)
    for _ in range(times):
        labels = rng.choice(3, 200, p=[0.7, 0.2, 0.1])
        logits = np.eye(3)[labels] * [2.5, 1.5, 0.3] + rng.normal(0, 1, (200, 3)) + [1.0, 0.0, -0.5]
        marginals = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        for condition, found in hits.items():
            sets = calibrate(marginals[:120], np.eye(3)[labels[:120]], condition=condition).at(level, allow_empty=True)
            covered = sets.predict(marginals[120:])[np.arange(80), labels[120:]]
            for label in range(3):
                found[label].extend(covered[labels[120:] == label])
    for label in range(3):
        assert 1 - level - 0.02 < np.mean(hits["label"][label]) < 1 - level + 0.1
    assert np.mean(hits["marginal"][2]) < 1 - level - 0.2


@pytest.mark.parametrize("score", SCORES)
def test_mondrian_is_marginal_within_each_group(score):
    old, new = Sample(300, 4, 4), Sample(100, 4, 5)
    sets = new.sets(old.scores(score, "group").at(0.1))
    usual = new.p_values(old.scores(score, "group"))
    for group in (0, 10, 20):
        within, here = old[old.groups == group].scores(score), new.groups == group
        np.testing.assert_array_equal(sets[here], new[here].sets(within.at(0.1)))
        np.testing.assert_array_equal(usual[here], new[here].p_values(within))


# --- p-values


def test_p_values_are_uniform():
    plain, smoothed = [], []
    for old, new in resampled(19, 1, 3, times=1000, seed=6, power=0.5):
        scores = old.scores(RANDOM_APS)
        plain.append(new.p_values(scores)[0, new.labels[0]])
        smoothed.append(new.p_values(scores, smoothed=True)[0, new.labels[0]])
    ranks = np.rint(np.array(plain) * 20).astype(int)
    np.testing.assert_allclose(ranks / 20, plain)
    assert stats.chisquare(np.bincount(ranks, minlength=21)[1:]).pvalue > 0.01
    assert stats.kstest(smoothed, "uniform").pvalue > 0.01


def test_smoothed_p_values_are_uniform_where_scores_tie():
    rng = np.random.default_rng(7)
    found = []
    for _ in range(1000):
        sure = rng.choice([0.6, 0.7, 0.9], 11)
        marginals = np.stack([sure, 1 - sure], axis=1)
        scores = calibrate(marginals[:10], np.tile([1.0, 0.0], (10, 1)))
        found.append(p_values(scores, marginals[10:], ties=rng.random(1))[0, 0])
    assert stats.kstest(found, "uniform").pvalue > 0.01


@given(st.integers(0, 2**32 - 1), st.sampled_from(SCORES), st.sampled_from(CONDITIONS), st.integers(1, 19))
def test_sets_are_the_labels_with_p_values_above_the_level(seed, score, condition, twentieths):
    """With ties, and with strata without units; pooling apart."""
    old, new = Sample(40, 4, seed), Sample(15, 4, seed + 1)
    old.marginals, new.marginals = old.marginals.round(1), new.marginals.round(1)
    level = twentieths / 20
    scores = old.scores(score, condition)
    sets = new.sets(scores.at(level, fallback="full", allow_empty=True))
    np.testing.assert_array_equal(sets, new.p_values(scores) > level + 1e-12)


# --- invariances


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(SCORES),
    st.sampled_from(CONDITIONS),
    st.sampled_from(["pooled", "full"]),
    st.booleans(),
)
def test_sets_are_nested_in_the_level(seed, score, condition, fallback, allow_empty):
    """Also where strata run out of units on the way and fall back on others."""
    scores, new = Sample(40, 5, seed).scores(score, condition), Sample(20, 5, seed + 1, n_groups=4)
    levels = [0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.9]
    wide, *others = (new.sets(scores.at(level, fallback, allow_empty)) for level in levels)
    for narrow in others:
        assert (narrow <= wide).all()
        wide = narrow


@pytest.mark.parametrize("condition", CONDITIONS)
def test_sets_that_may_not_be_empty_only_gain_the_most_probable_label(condition):
    old, new = Sample(200, 4, 8), Sample(100, 4, 9)
    scores = old.scores(APS, condition)
    bare, never_empty = (new.sets(scores.at(0.5, allow_empty=allowed)) for allowed in (True, False))
    assert not bare.any(axis=1).all()
    best = np.eye(4, dtype=bool)[new.marginals.argmax(axis=1)]
    np.testing.assert_array_equal(never_empty, bare | best)


def test_units_do_not_depend_on_their_batch():
    found, new = Sample(100, 4, 10).scores(RANDOM_APS).at(0.1), Sample(30, 4, 11)
    rows = [new[i : i + 1].sets(found)[0] for i in range(30)]
    np.testing.assert_array_equal(new.sets(found), rows)
    assert new[:0].sets(found).shape == (0, 4)


# --- gold with several labels, or none


def test_the_least_strange_of_the_best_gold_labels_counts():
    marginals = np.tile([0.1, 0.2, 0.3, 0.4], (4, 1))
    weights = np.array(
        [
            [0.0, 1.0, 1.0, 0.0],  # both right: .3 counts
            [0.66, 0.0, 0.0, 0.33],  # one more likely: .1
            [1 / 3, 1 / 3, 0.0, 1 / 3],  # open: .4
            [0.0, 0.0, 0.0, 0.0],  # no gold
        ]
    )
    assert calibrate(marginals, weights).samples[0] == pytest.approx([0.6, 0.7, 0.9])
    by_label = calibrate(marginals, weights, condition="label")
    assert [len(sample) for sample in by_label.samples] == [1, 0, 1, 1]


def test_groups_of_units_without_gold_are_not_calibrated():
    weights = np.array([[1.0, 0.0], [0.0, 0.0]])
    scores = calibrate(np.full((2, 2), 0.5), weights, condition="group", groups=np.array([3, 5]))
    assert scores.strata == (3,)


# --- strata that are too small


def test_small_strata_fall_back_and_are_told():
    """Label 1 has two units of high scores, label 2 has none."""
    marginals = np.array([[0.8, 0.1, 0.1]] * 18 + [[0.6, 0.2, 0.2], [0.9, 0.05, 0.05]])
    weights = np.eye(3)[[0] * 18 + [1, 1]]
    scores = calibrate(marginals, weights, condition="label")
    sets = scores.at(0.1)
    assert sets.quantiles == pytest.approx([0.2, 0.95, 0.8])  # own; its greatest; pooled: rank 19 of 20
    assert sets.small == {1: 2, 2: 0}
    assert "CRFW801" in sets.warning and "1 (n = 2), 2 (n = 0) fall back on" in sets.warning
    assert "Labels with n < 9 (here 2) fall back on the quantile of all tokens" in sets.promise
    full = scores.at(0.1, fallback="full")
    assert full.quantiles == pytest.approx([0.2, np.inf, np.inf]) and full.small == sets.small
    assert "let every label in" in full.warning and "(here 2) are in every set" in full.promise
    assert full.predict(np.array([[1.0, 0.0, 0.0]])).tolist() == [[True, True, True]]


def test_groups_that_calibration_did_not_see():
    old, new = Sample(100, 3, 12), Sample(50, 3, 13)
    scores = old.scores(LAC, "group")
    assert scores.strata == (0, 10, 20)
    for unseen in (-1, 5, 99):
        groups = np.full(50, unseen)
        pooled, full = (scores.at(0.1, fallback) for fallback in ("pooled", "full"))
        np.testing.assert_array_equal(pooled.predict(new.marginals, groups), new.sets(old.scores().at(0.1)))
        assert full.predict(new.marginals, groups).all()
        np.testing.assert_array_equal(p_values(scores, new.marginals, groups), 1.0)


def test_large_strata_need_no_warning():
    assert Sample(300, 3, 14).scores(LAC, "group").at(0.1).warning is None


# --- what is told and stored


def test_promises_name_level_condition_and_calibration_units():
    old = Sample(200, 3, 15)
    marginal, label, group = (old.scores(LAC, condition).at(0.05).promise for condition in CONDITIONS)
    assert marginal == (
        "A token's set holds its gold label with a probability of at least 95 % (marginal coverage, split conformal "
        "prediction with LAC at level 0.05, n = 200 calibration tokens), if tokens are exchangeable with these."
    )
    assert label.startswith("For each gold label, a token's set") and "class-conditional coverage" in label
    assert group.startswith("In each group, a token's set") and "Groups with n < 19 (here 0)" in group


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("fallback, level", [("pooled", 0.1), ("full", 0.005)])
def test_json_round_trip(condition, fallback, level):
    """At the smaller level all quantiles are infinite."""
    new = Sample(30, 4, 17)
    sets = Sample(100, 4, 16).scores(Score("raps", True, 0.1, 2), condition).at(level, fallback)
    read = ConformalSets.from_data(json.loads(json.dumps(sets.to_data(), allow_nan=False)))
    assert read == sets
    np.testing.assert_array_equal(new.sets(read), new.sets(sets))


# --- wrong input


def test_wrong_input():
    sample = Sample(20, 3, 18)
    marginals, weights = sample.marginals, sample.weights
    scores = calibrate(marginals, weights)
    for level in (0, 1, -0.1, 5, float("nan")):
        with pytest.raises(ValueError, match="CRF816"):
            scores.at(level)
    with pytest.raises(ValueError, match="CRF817"):
        calibrate(marginals, np.zeros_like(weights))
    with pytest.raises(ValueError, match="CRF817"):
        calibrate(marginals[:0], weights[:0])
    unknown = np.pad(np.zeros_like(weights), [(0, 0), (0, 1)], constant_values=1.0)
    with pytest.raises(ValueError, match="CRF817.*that the model knows"):
        calibrate(marginals, unknown, condition="label")
    with pytest.raises(ValueError, match="CRF819.*fallback"):
        scores.at(0.1, fallback="none")
    with pytest.raises(ValueError, match="CRF819.*condition"):
        calibrate(marginals, weights, condition="word")
    with pytest.raises(ValueError, match="CRF820.*'aps' wants"):
        calibrate(marginals, weights, RANDOM_APS)
    with pytest.raises(ValueError, match="CRF820.*'aps' takes no"):
        calibrate(marginals, weights, APS, uniforms=sample.uniforms)
    with pytest.raises(ValueError, match="CRF821.*'group' wants"):
        calibrate(marginals, weights, condition="group")
    with pytest.raises(ValueError, match="CRF821.*'marginal' takes no"):
        scores.at(0.1).predict(marginals, groups=sample.groups)
    for uniforms in (sample.uniforms + 1, np.full(20, np.nan)):
        with pytest.raises(ValueError, match="CRF822"):
            calibrate(marginals, weights, RANDOM_APS, uniforms=uniforms)


def test_wrong_shapes_and_numbers():
    sample = Sample(20, 3, 19)
    with pytest.raises(ValueError, match="CRF101.*weights"):
        calibrate(sample.marginals, sample.weights[:, :2])
    with pytest.raises(ValueError, match="CRF101.*uniforms"):
        calibrate(sample.marginals, sample.weights, RANDOM_APS, uniforms=sample.uniforms[:3])
    with pytest.raises(ValueError, match="CRF101.*groups"):
        calibrate(sample.marginals, sample.weights, condition="group", groups=sample.groups[:3])
    with pytest.raises(ValueError, match="CRF101.*marginals"):
        sample.scores(LAC, "label").at(0.5).predict(sample.marginals[:, :2])
    for score in (LAC, APS):
        with pytest.raises(ValueError, match="CRF102.*marginals"):
            calibrate(np.full((20, 3), np.nan), sample.weights, score)


@pytest.mark.parametrize("score", [LAC, APS], ids=lambda score: score.kind)
def test_gold_that_the_model_does_not_have_is_missed_by_any_set(score):
    calibration, new = Sample(2000, 5, 0), Sample(4000, 5, 1)
    rng = np.random.default_rng(2)
    lacking = [rng.random(len(part.labels)) < 0.04 for part in (calibration, new)]
    for part, missed in zip((calibration, new), lacking):
        part.weights = np.pad(part.weights, ((0, 0), (0, 2)))
        part.weights[missed] = np.eye(7)[5 + rng.integers(0, 2, missed.sum())]
    found = calibrate(calibration.marginals, calibration.weights, score)
    missed = int(lacking[0].sum())
    assert np.isinf(np.concatenate(found.samples)).sum() == missed
    sets = np.pad(found.at(0.1).predict(new.marginals), ((0, 0), (0, 2)))
    assert (sets & (new.weights > 0)).any(axis=1).mean() == pytest.approx(0.9, abs=0.015)
    smallest = (missed + 1) / 2001
    found.at(smallest + 1e-6)
    with pytest.raises(
        ValueError, match=f"CRF824.*{missed} are lost.*smallest level that can be had is {smallest:.4g}"
    ):
        found.at(smallest - 1e-3)


def test_where_the_model_does_not_have_gold_of_a_group_the_group_is_named():
    sample = Sample(600, 4, 0)
    weights = np.pad(sample.weights, ((0, 0), (0, 1)))
    weights[sample.groups == 10] = np.eye(5)[4]
    found = calibrate(sample.marginals, weights, LAC, "group", groups=sample.groups)
    with pytest.raises(ValueError, match="CRF824.*in the group 10"):
        found.at(0.1, "full")
    by_label = calibrate(sample.marginals, weights, LAC, "label")  # which promises nothing for other labels
    assert by_label.strata == (0, 1, 2, 3) and sum(map(len, by_label.samples)) == (sample.groups != 10).sum()
