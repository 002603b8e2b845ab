"""Conformal sets against crepes and MAPIE: the same sets, p-values and measures on the same data."""

import numpy as np
import pytest
from crepes import ConformalClassifier
from crepes.extras import hinge
from helpers.set_oracles import p_values
from hypothesis import given
from hypothesis import strategies as st
from mapie.classification import SplitConformalClassifier
from mapie.metrics.classification import classification_coverage_score, classification_mean_width_score
from sklearn.base import BaseEstimator, ClassifierMixin

from spacy_crf.core.sets.conformal import LAC, Condition, Score, calibrate
from spacy_crf.core.sets.measures import set_measures

seeds = st.integers(0, 2**32 - 1)
levels = st.sampled_from([0.0531, 0.1037, 0.2093, 0.3711])  # no p-value is one of them, where crepes keeps labels


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are its input, for libraries that want one."""

    def __init__(self, n_labels: int = 2):
        self.classes_ = np.arange(n_labels)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return X.argmax(axis=1)


class Data:
    """Probabilities and labels of n calibration units, of which each label has some, and probabilities of new ones."""

    def __init__(self, seed: int, n: int = 80):
        rng = np.random.default_rng(seed)
        self.n_labels = int(rng.integers(3, 6))
        self.marginals, self.new = (rng.dirichlet(np.full(self.n_labels, 0.7), size) for size in (n, 30))
        drawn = (self.marginals.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=self.n_labels - 1)
        drawn[: self.n_labels] = np.arange(self.n_labels)
        self.labels, self.weights = drawn, np.eye(self.n_labels)[drawn]
        self.groups, self.new_groups = rng.integers(0, 2, n), rng.integers(0, 2, 30)


@given(seeds, levels, st.sampled_from(["marginal", "label", "group"]))
def test_sets_are_those_of_crepes(seed, level, condition: Condition):
    data = Data(seed)
    own = calibrate(data.marginals, data.weights, LAC, condition, data.groups if condition == "group" else None)
    scores, new = hinge(data.marginals, np.arange(data.n_labels), data.labels), hinge(data.new)
    if condition == "label":
        each = [ConformalClassifier().fit(scores[data.labels == label]) for label in range(data.n_labels)]
        columns = [one.predict_set(new, confidence=1 - level, smoothing=False)[:, k] for k, one in enumerate(each)]
        expected = np.stack(columns, axis=1)
    else:
        bins = (data.groups, data.new_groups) if condition == "group" else (None, None)
        theirs = ConformalClassifier().fit(scores, bins=bins[0])
        expected = theirs.predict_set(new, bins=bins[1], confidence=1 - level, smoothing=False)
    groups = data.new_groups if condition == "group" else None
    sets = own.at(level, "full", allow_empty=True).predict(data.new, groups)
    np.testing.assert_array_equal(sets, np.asarray(expected, dtype=bool))


@given(seeds)
def test_p_values_are_those_of_crepes(seed):
    data = Data(seed)
    theirs = ConformalClassifier().fit(hinge(data.marginals, np.arange(data.n_labels), data.labels))
    expected = theirs.predict_p(hinge(data.new), smoothing=False)
    np.testing.assert_allclose(p_values(calibrate(data.marginals, data.weights), data.new), expected, atol=1e-12)


@given(seeds, levels)
def test_sets_are_those_of_mapie(seed, level):
    data = Data(seed)
    mapie = SplitConformalClassifier(Given(data.n_labels), confidence_level=1 - level, conformity_score="lac")
    mapie.conformalize(data.marginals, data.labels)
    own = calibrate(data.marginals, data.weights).at(level, allow_empty=True)
    np.testing.assert_array_equal(own.predict(data.new), mapie.predict_set(data.new)[1][:, :, 0])


@given(seeds, levels)
def test_randomised_adaptive_sets_are_those_of_mapie(seed, level):
    data = Data(seed)
    settings = {"confidence_level": 1 - level, "conformity_score": "aps", "random_state": 7}
    mapie = SplitConformalClassifier(Given(data.n_labels), **settings)
    mapie.conformalize(data.marginals, data.labels)
    expected = mapie.predict_set(data.new, conformity_score_params={"include_last_label": "randomized"})[1][:, :, 0]
    # it takes away a share of the last probability, where we add the rest
    uniforms, for_new = (1 - np.random.RandomState(7).uniform(size=n) for n in (len(data.marginals), len(data.new)))
    own = calibrate(data.marginals, data.weights, Score("aps", randomised=True), uniforms=uniforms)
    np.testing.assert_array_equal(own.at(level, allow_empty=True).predict(data.new, uniforms=for_new), expected)


@given(seeds, levels)
def test_coverage_and_sizes_are_those_of_mapie(seed, level):
    data = Data(seed)
    sets = calibrate(data.marginals, data.weights).at(level).predict(data.marginals)
    found = set_measures(data.weights, sets, np.ones(data.n_labels))
    assert found.coverage == pytest.approx(classification_coverage_score(data.labels, sets[:, :, None])[0])
    assert found.size == pytest.approx(classification_mean_width_score(sets[:, :, None])[0])
