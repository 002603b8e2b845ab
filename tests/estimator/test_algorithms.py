"""The algorithms that shuffle: as accurate as CRFsuite's, repeatable, and honouring their parameters."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.learn.sgd import SGD, StepSizeSearch
from spacy_crf.estimator import CRF

ALGORITHMS = {
    "l2sgd": {"c2": 0.3, "max_iterations": 8},
    "ap": {"max_iterations": 8},
    "pa": {"max_iterations": 8},
    "arow": {"max_iterations": 8},
}
pytestmark = pytest.mark.filterwarnings("ignore:.*CRFW701")


@pytest.fixture(scope="module")
def split(data, strings):
    """Training and test data: sequences of strings."""
    y = data[1]
    return strings[:80], y[:80], strings[80:], y[80:]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_accuracy_is_that_of_crfsuite(algorithm, split, train_crfsuite):
    X, y, X_test, y_test = split
    params = ALGORITHMS[algorithm]
    ours = [CRF(algorithm, random_state=seed, **params).fit(X, y).score(X_test, y_test) for seed in range(4)]
    theirs = []
    for _ in range(4):
        path = train_crfsuite(algorithm, params, X, y)[2]
        theirs.append(CRF.from_crfsuite(path).score(X_test, y_test))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=0.04)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_seeds(algorithm, split):
    X, y, *_ = split
    crf = CRF(algorithm, max_iterations=2)
    seeds = (None, 0, 1)
    first, again, other = (pickle.dumps(crf.set_params(random_state=seed).fit(X[:30], y[:30])._chain) for seed in seeds)
    assert first == again != other


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_log(algorithm, split):
    X, y, X_test, y_test = split
    crf = CRF(algorithm, max_iterations=4).fit(X, y, X_test, y_test)
    log = crf.training_log_
    assert [entry["num"] for entry in log.iterations] == [1, 2, 3, 4] and "max_iterations" in log.reason
    assert all(entry["loss"] > 0 and entry["time"] > 0 and entry["feature_norm"] > 0 for entry in log.iterations)
    if algorithm != "l2sgd":  # which keeps the best epoch
        assert log.last_iteration["item_accuracy_float"] == pytest.approx(crf.score(X_test, y_test))
    assert (crf.objective_ is None) == (algorithm != "l2sgd")


def test_l2sgd_approaches_the_optimum(split):
    X, y, *_ = split
    exact, stochastic = CRF(c2=0.3).fit(X, y), CRF("l2sgd", c2=0.3, delta=1e-4).fit(X, y)
    assert exact.objective_ < stochastic.objective_ < 1.04 * exact.objective_
    assert "improved by less" in stochastic.training_log_.reason


@pytest.mark.parametrize(
    ("algorithm", "name", "values", "others"),
    [
        ("l2sgd", "c2", [0.1, 1.0], {}),
        ("l2sgd", "calibration_eta", [0.1, 0.13], {}),
        ("l2sgd", "calibration_rate", [2.0, 1.7], {}),
        ("l2sgd", "calibration_candidates", [10, 1], {}),
        ("l2sgd", "calibration_max_trials", [20, 1], {}),
        ("pa", "pa_type", [0, 1, 2], {"c": 0.02}),
        ("pa", "c", [0.01, 1.0], {}),
        ("pa", "error_sensitive", [True, False], {}),
        ("pa", "averaging", [True, False], {}),
        ("arow", "variance", [1.0, 0.1], {}),
        ("arow", "gamma", [1.0, 0.1], {}),
        ("ap", "min_freq", [0, 3], {}),
        ("ap", "all_possible_states", [False, True], {}),
        ("ap", "all_possible_transitions", [False, True], {}),
    ],
)
def test_parameters_make_a_difference(algorithm, name, values, others, split):
    X, y, *_ = split
    found = [CRF(algorithm, max_iterations=2, **{name: value}, **others).fit(X[:12], y[:12]) for value in values]
    sizes = [crf.training_log_.featgen_num_features for crf in found]
    weights = [sorted(crf.state_features_.items()) for crf in found]
    assert len({str(part) for part in zip(sizes, weights)}) == len(values)


def test_calibration_takes_all_its_parameters(monkeypatch, split):
    seen = []

    class Recorded(SGD):
        def __post_init__(self):
            seen.append(self.calibration)
            super().__post_init__()

    monkeypatch.setattr("spacy_crf.estimator.training.SGD", Recorded)
    given = {"eta": 0.2, "rate": 1.5, "samples": 7, "candidates": 3, "max_trials": 4}
    CRF("l2sgd", max_iterations=1, **{f"calibration_{name}": value for name, value in given.items()}).fit(*split[:2])
    assert seen == [StepSizeSearch(**given)]


def test_delta_and_period_stop_l2sgd(split):
    X, y, *_ = split
    runs = [
        CRF("l2sgd", delta=delta, period=period).fit(X[:20], y[:20])
        for delta, period in ((0.5, 2), (0.02, 2), (0.02, 5))
    ]
    epochs = [len(run.training_log_.iterations) for run in runs]
    assert epochs == sorted(epochs) and len(set(epochs)) == 3


def test_epsilon_stops_the_online_algorithms(split):
    X, y, *_ = split
    for algorithm in ("ap", "pa", "arow"):
        crf = CRF(algorithm, epsilon=1e6).fit(X, y)
        assert len(crf.training_log_.iterations) == 1 and "epsilon" not in crf.training_log_.reason


@settings(max_examples=15)
@given(st.sampled_from(sorted(ALGORITHMS)), st.integers(0, 2**31))
def test_separable_data_are_learned(algorithm, seed):
    X = [[["a"], ["b"], ["c"]], [["c"], ["a"]], [["b"]], []] * 3
    y = [["A", "B", "C"], ["C", "A"], ["B"], []] * 3
    params = {"c2": 1e-3} if algorithm == "l2sgd" else {}
    assert CRF(algorithm, max_iterations=20, random_state=seed, **params).fit(X, y).predict(X) == y
