"""Tests and intervals against scipy, enumeration, values worked out by hand, and simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spacy_crf.lab.statistics import bootstrap, pearson, resampled_t_test, wilcoxon

# Heid, Table 2.2: signed ranks -1 -2 3 4 -5 6 7 8 9 10
RANKED = np.array([-0.01, 0.09, 0.03, 0.1, -0.05, 0.04, -0.02, 0.07, 0.08, 0.06])
values = st.lists(st.integers(-6, 6), min_size=1, max_size=9).map(lambda own: np.array(own, dtype=np.float64))


def enumerate_tails(differences: np.ndarray) -> tuple[float, float]:
    """Probabilities of a sum of positive ranks at least, and at most, as great, over all signs."""
    kept = differences[differences != 0]
    ranks = stats.rankdata(np.abs(kept))
    seen = ranks[kept > 0].sum()
    sums = np.array([ranks[np.array(signs, dtype=bool)].sum() for signs in product([False, True], repeat=len(ranks))])
    return float((sums >= seen - 1e-9).mean()), float((sums <= seen + 1e-9).mean())


@given(values)
def test_wilcoxon_is_exact_with_ties_and_zeros(differences: np.ndarray) -> None:
    above, below = enumerate_tails(differences)
    assert wilcoxon(differences, "greater").p == pytest.approx(above)
    assert wilcoxon(differences, "less").p == pytest.approx(below)
    found = wilcoxon(differences)
    assert found.p == pytest.approx(min(1.0, 2 * min(above, below)))
    assert found.positive + found.negative == pytest.approx(found.n * (found.n + 1) / 2)


def test_wilcoxon_of_the_thesis() -> None:
    found = wilcoxon(RANKED)
    assert (found.positive, found.negative, found.positive - found.negative) == (47, 8, 39)
    assert found.p == pytest.approx(0.048828125) == stats.wilcoxon(RANKED).pvalue
    assert wilcoxon(RANKED, "greater").p == pytest.approx(found.p / 2)


def test_critical_values_for_ten_differences() -> None:
    """33, which tables give for .05, is one-sided (.053, to be exact); two-sided it is 39."""
    ranks = np.arange(1.0, 11.0)
    of_sum = {}
    for negative in ([8], [9], [1, 10]):
        differences = np.where(np.isin(ranks, negative), -ranks, ranks)
        of_sum[int(differences.sum())] = wilcoxon(differences).p, wilcoxon(differences, "greater").p
    assert of_sum[33] == pytest.approx((0.10546875, 0.052734375))
    assert of_sum[39][0] < 0.05 < of_sum[37][0]


@pytest.mark.parametrize("n", [12, 40, 60, 61, 200])
def test_wilcoxon_of_many_differences(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.15, 1.0, n)
    method = "exact" if n <= 60 else "asymptotic"
    for alternative in ("two-sided", "greater", "less"):
        expected = stats.wilcoxon(differences, alternative=alternative, method=method, correction=True).pvalue
        assert wilcoxon(differences, alternative).p == pytest.approx(expected, rel=1e-9)  # type: ignore[arg-type]


def test_differences_that_rounding_alone_parts_are_ties() -> None:
    differences = np.array([0.9, 0.7, 0.6, 0.5, 0.8, 0.3]) - np.array([0.8, 0.8, 0.5, 0.6, 0.7, 0.2])
    assert len(set(np.abs(differences))) > 1
    assert wilcoxon(differences) == wilcoxon(np.sign(differences))
    assert wilcoxon(100 * differences).p == wilcoxon(differences).p == 0.6875


def test_rounding_is_no_difference() -> None:
    noise = np.full(5, 0.1 + 0.2) - 0.3
    assert noise.all()
    assert wilcoxon(noise).n == 0
    assert resampled_t_test(noise, 0.25).p == 1
    assert resampled_t_test(np.array([0.9, 0.8, 0.7]) - np.array([0.8, 0.7, 0.6]), 0.25).p == 0


def test_wilcoxon_without_differences() -> None:
    assert wilcoxon(np.zeros(5)).p == 1.0 and wilcoxon(np.zeros(5)).n == 0


def test_the_corrected_t_test_by_hand() -> None:
    # mean 2, variance 1, variance of the mean 1 (1/3 + 1/2) = 5/6, t = 2 / sqrt(5/6) = 2.19089
    found = resampled_t_test(np.array([1.0, 2.0, 3.0]), 0.5)
    assert found.mean == 2 and found.t == pytest.approx(2.190890230020664)
    assert found.p == pytest.approx(2 * stats.t.sf(2.190890230020664, 2))
    reach = 4.302652729911275 * (5 / 6) ** 0.5
    assert (found.low, found.high) == pytest.approx((2 - reach, 2 + reach))


def test_without_correction_it_is_students() -> None:
    differences = np.random.default_rng(0).normal(0.3, 1.0, 12)
    expected = stats.ttest_1samp(differences, 0.0)
    found = resampled_t_test(differences, 0.0)
    assert (found.t, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_differences_that_do_not_vary() -> None:
    assert resampled_t_test(np.zeros(3), 0.25).p == 1.0
    always = resampled_t_test(np.full(3, 0.5), 0.25)
    assert always.p == 0.0 and always.t == np.inf and always.low == always.high == 0.5


def test_the_correction_keeps_the_level_where_students_test_does_not() -> None:
    """Systems that are equally good: random test parts of one sample, drawn again and again."""
    generator = np.random.default_rng(1)
    corrected, plain, trials = 0, 0, 400
    for _ in range(trials):
        data = generator.normal(size=60)
        values = np.array([data[generator.permutation(60)[48:]].mean() for _ in range(15)])
        corrected += resampled_t_test(values, 12 / 48).p < 0.05
        plain += resampled_t_test(values, 0.0).p < 0.05
    assert plain / trials > 0.2 and corrected / trials < 0.08


def test_the_bootstrap_of_equal_weights_is_that_of_scipy() -> None:
    data = np.random.default_rng(5).normal(0.8, 0.1, 40)
    found = bootstrap(data, np.ones(40))
    expected = stats.bootstrap((data,), np.mean, method="percentile", random_state=0).confidence_interval
    assert found.mean == pytest.approx(data.mean()) and found.documents == 40
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.003)


def test_the_bootstrap_by_hand() -> None:
    # two documents: both the first (1/4), both the second (1/4), one each (1/2)
    found = bootstrap(np.array([0.0, 1.0]), np.array([1.0, 3.0]), level=0.4)
    assert (found.mean, found.low, found.high) == (0.75, 0.75, 0.75)
    assert (bootstrap(np.array([0.0, 1.0]), np.array([1.0, 3.0])).low, found.documents) == (0.0, 2)
    assert bootstrap(RANKED, np.ones(10), seed=1) == bootstrap(RANKED, np.ones(10), seed=1)
    assert bootstrap(RANKED, np.ones(10), seed=1) != bootstrap(RANKED, np.ones(10), seed=2)


def test_pearson() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.normal(size=(2, 20))
    assert pearson(first, second) == pytest.approx(stats.pearsonr(first, second).statistic)
    assert pearson(first[:1], second[:1]) is None and pearson(np.ones(3), first[:3]) is None


def test_what_cannot_be_tested() -> None:
    with pytest.raises(ValueError, match="CRF619"):
        resampled_t_test(np.ones(1), 0.5)
    with pytest.raises(ValueError, match="CRF618"):
        wilcoxon(np.ones(2), "unequal")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="CRF620"):
        bootstrap(np.zeros(0), np.zeros(0))
    for call in (wilcoxon, lambda own: resampled_t_test(own, 0.1), lambda own: bootstrap(own, np.ones(2))):
        with pytest.raises(ValueError, match="CRF102"):
            call(np.array([1.0, np.nan]))


def test_the_bootstrap_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap(RANKED, np.ones(10), draws=100)
    monkeypatch.setattr("spacy_crf.lab.statistics.CELLS", 25)
    assert bootstrap(RANKED, np.ones(10), draws=100) == whole
