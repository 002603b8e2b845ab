"""The same data and settings give CRFsuite's optimum, weights, decisions and log."""

import random

import pytest

from spacy_crf.estimator import CRF

TIGHT = {"epsilon": 1e-7, "delta": 1e-9}
SETTINGS = [
    {"c2": 0.3},
    {"c1": 0.2, "c2": 0.05},
    {"c2": 0.5, "all_possible_states": True, "all_possible_transitions": True},
    {"c2": 0.3, "min_freq": 6},
    {"c2": 0.3, "min_freq": 6.5, "all_possible_states": True, "all_possible_transitions": True},
]
NAMES = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
}


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def both(request, data, train_crfsuite):
    """Our estimator, and trainer and tagger of CRFsuite; the first sequences are the dev data of both."""
    (X, y), dev = data, slice(0, 25)
    ours = CRF(**request.param, **TIGHT).fit(X, y, X[dev], y[dev])
    theirs = {NAMES.get(name, name): value for name, value in request.param.items()}
    trainer, tagger, _ = train_crfsuite("lbfgs", {**theirs, **TIGHT}, X, y, X[dev], y[dev])
    return ours, trainer, tagger


def test_the_objective_at_the_optimum(both):
    ours, trainer, _ = both
    assert ours.objective_ == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-5)
    assert ours.training_log_.last_iteration["loss"] == ours.objective_


def test_the_weights(both):
    ours, trainer, tagger = both
    info = tagger.info()
    assert ours.training_log_.featgen_num_features == trainer.logparser.featgen_num_features
    for mine, theirs in ((ours.state_features_, info.state_features), (ours.transition_features_, info.transitions)):
        assert mine.keys() >= theirs.keys()
        for pair, weight in mine.items():
            assert weight == pytest.approx(theirs.get(pair, 0.0), abs=5e-3)
    assert ours.classes_ == tagger.labels()
    assert set(ours.attributes_) == set(info.attributes) and ours.num_attributes_ == len(info.attributes)
    assert ours.transitions_[1, 2] == ours.transition_features_[ours.classes_[1], ours.classes_[2]]


def test_the_decisions(both, data):
    ours, _, tagger = both
    X, y = data
    for items, labels, marginals in zip(X[:20], ours.predict(X), ours.predict_marginals(X)):
        assert labels == tagger.tag(items) == ours.predict_single(items)
        for position, (row, single) in enumerate(zip(marginals, ours.predict_marginals_single(items), strict=True)):
            assert row == pytest.approx(single)
            for label, probability in row.items():
                assert probability == pytest.approx(tagger.marginal(label, position), abs=1e-3)
    tokens = [(a, b) for found, gold in zip(ours.predict(X), y) for a, b in zip(found, gold)]
    assert ours.score(X, y) == sum(a == b for a, b in tokens) / len(tokens)


def test_the_log_on_dev_data(both):
    ours, trainer, _ = both
    mine, theirs = ours.training_log_.last_iteration, trainer.logparser.last_iteration
    assert mine["feature_norm"] == pytest.approx(theirs["feature_norm"], rel=5e-3)
    for name in ("item_accuracy", "instance_accuracy"):
        assert mine[name] == theirs[name]
    for name in ("avg_precision", "avg_recall", "avg_f1"):
        assert mine[name] == pytest.approx(theirs[name], abs=1e-5)
    for label, score in theirs["scores"].items():
        assert mine["scores"][label] == pytest.approx(score, abs=1e-4)
    assert [entry["num"] for entry in ours.training_log_.iterations] == list(range(1, mine["num"] + 1))
    losses = [entry["loss"] for entry in ours.training_log_.iterations]
    assert all(after < before * (1 + 1e-6) for before, after in zip(losses, losses[1:]))


def test_lists_of_strings(data, strings, train_crfsuite):
    """Where the spelling shows templates, features that others imply are scored once: the optimum stays the same."""
    y = data[1]
    ours = CRF(c2=0.3, **TIGHT).fit(strings, y)
    trainer, tagger, _ = train_crfsuite("lbfgs", {"c2": 0.3, **TIGHT}, strings, y)
    assert ours.objective_ == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-5)
    assert ours.state_features_ == pytest.approx(tagger.info().state_features, abs=5e-3)
    assert ours.predict(strings) == list(map(tagger.tag, strings))


@pytest.mark.parametrize("min_freq", [0, 1.5])
@pytest.mark.parametrize("all_states", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_values_below_0(min_freq, all_states, seed, train_crfsuite):
    """Pairs whose values sum to less than the threshold have no weight, be it 0."""
    rng = random.Random(seed)
    signs = [[rng.choice([-1, 1]) for _ in range(4)] for _ in range(30)]
    X = [[{"v": sign + rng.gauss(0, 1), "u": rng.gauss(0, 1), "z": 0.0, "b": -0.1} for sign in own] for own in signs]
    y = [["P" if sign > 0 else "N" for sign in own] for own in signs]
    ours = CRF(c2=0.1, min_freq=min_freq, all_possible_states=all_states, **TIGHT).fit(X, y)
    params = {"feature.minfreq": min_freq, "feature.possible_states": all_states, "c2": 0.1, **TIGHT}
    trainer, tagger, _ = train_crfsuite("lbfgs", params, X, y)
    assert ours.training_log_.featgen_num_features == trainer.logparser.featgen_num_features
    assert ours.objective_ == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-5)
    assert ours.state_features_ == pytest.approx(tagger.info().state_features, abs=1e-3)


@pytest.mark.parametrize("c1, c2", [(0.0, 1.0), (1.0, 0.0), (1.0, 0.1), (0.1, 1.0), (5.0, 0.01)])
def test_attributes_that_one_item_has(c1, c2, data, train_crfsuite):
    """Those that occur nowhere else are learned as one: see `core.learn.basis`."""
    rng, tight = random.Random(2), {"epsilon": 1e-8, "delta": 1e-12, "period": 50}
    own = [{f"{name}{number}": True for name in "ab"} for number in range(40)]
    X = [[item | (own.pop() if own and rng.random() < 0.1 else {}) for item in sequence] for sequence in data[0]]
    ours = CRF(c1=c1, c2=c2, **tight).fit(X, data[1])
    trainer, tagger, _ = train_crfsuite("lbfgs", {"c1": c1, "c2": c2, **tight}, X, data[1])
    assert ours.objective_ == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-5)
    expected = tagger.info().state_features
    for pair in ours.state_features_.keys() | expected.keys():
        assert ours.state_features_.get(pair, 0.0) == pytest.approx(expected.get(pair, 0.0), abs=1e-2)
    assert len(ours.state_features_) == pytest.approx(len(expected), abs=2)
    assert not own


def test_l1_leaves_out_what_has_no_weight(data):
    X, y = data
    few = CRF(c1=5.0, c2=0.0).fit(X, y)
    assert 0 < len(few.state_features_) < len(CRF(c2=0.3).fit(X, y).state_features_) / 2
    assert set(few.attributes_) == {attribute for attribute, _ in few.state_features_}
