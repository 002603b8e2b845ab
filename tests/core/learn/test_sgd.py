"""Stochastic gradient descent against the same steps on plain vectors, and as a start for L-BFGS."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.objectives import plain_loss

from spacy_crf.core.chain.potentials import NoPathError
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn.batches import FlatFinder, cut_batches
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.learn.lbfgs import LBFGS, OWLQN, DivergedError
from spacy_crf.core.learn.sgd import SGD, Descent, StepSizeSearch, calibrate

QUICK = StepSizeSearch(candidates=3)
LENGTHS = (3, 1, 0, 4, 2, 3, 5, 2, 6, 1, 4, 4)


@pytest.mark.parametrize("c1, c2", [(0.0, 0.3), (0.2, 0.3), (0.2, 0.0)])
@pytest.mark.parametrize("edges,masks,values", [(False, True, False), (True, False, True)])
def test_an_epoch_takes_the_steps_of_the_definition(make_problem, edges, masks, values, c1, c2):
    problem = make_problem(1, ("known", "set"), edges, masks=masks, values=values, lengths=LENGTHS, density=0.4)
    shuffled = np.random.default_rng(0).permutation(len(problem.layout.state_cells))
    layout = replace(problem.layout, state_cells=problem.layout.state_cells[shuffled])
    batches = cut_batches(problem.corpus, FlatFinder(layout), 5)
    assert len(batches) > 4 and sum(len(batch.sequences) for batch in batches) == 11
    descent, expected = Descent(problem.flat.copy(), c1, c2, 11), problem.flat.copy()
    eta, taken, losses, strides = 0.3, 7, 0.0, 0.0
    value = descent.epoch(batches, eta, taken)
    for batch in batches:
        step = eta / (1 + 2 * c2 / 11 * eta * taken)
        taken += len(batch.sequences)
        expected *= (eta / (1 + 2 * c2 / 11 * eta * taken)) / step
        loss, gradient = plain_loss(problem.corpus.take(batch.sequences), layout, expected)
        expected -= step * gradient
        losses, strides = losses + loss, strides + step * len(batch.sequences)
    threshold = strides * c1 / 11
    expected = np.sign(expected) * np.maximum(np.abs(expected) - threshold, 0)
    np.testing.assert_allclose(descent.flat, expected, atol=1e-5)
    assert value == pytest.approx(losses + c1 * np.abs(expected).sum() + c2 * expected @ expected, rel=1e-5)
    assert (descent.flat == 0).any() == (c1 > 0)


def test_single_steps_shrink_weights_as_crfsuite_does(make_problem):
    """With one sequence at a time, each step multiplies weights by 1 - eta lambda, up to the second order."""
    problem = make_problem(2, ("known",), lengths=(1,) * 10)
    batches = cut_batches(problem.corpus, FlatFinder(problem.layout), 1)
    descent = Descent(np.zeros(problem.layout.size), 0.0, 0.5, 10)
    unused = np.setdiff1d(np.arange(problem.layout.size), np.concatenate([batch.weights for batch in batches]))
    descent.flat[unused] = 1.0
    descent.epoch(batches, 0.01, 0)
    shrunk = np.prod([1 - 0.1 * descent.rate(0.01, taken) for taken in range(10)])
    assert len(unused) and np.allclose(descent.flat[unused], shrunk, rtol=1e-5)


@pytest.mark.parametrize("edges", [False, True])
def test_the_loss_is_the_objective(make_problem, edges):
    problem = make_problem(3, edges=edges, lengths=LENGTHS)
    batches = cut_batches(problem.corpus, FlatFinder(problem.layout), 5)
    descent = Descent(problem.flat.copy(), 0.2, 0.3, 11)
    loss, _ = plain_loss(problem.corpus, problem.layout, problem.flat)
    penalty = 0.2 * np.abs(problem.flat).sum() + 0.3 * problem.flat @ problem.flat
    assert descent.loss(batches) == pytest.approx(loss + penalty, rel=1e-5)
    np.testing.assert_array_equal(descent.flat, problem.flat)


def optimum(problem, c2, c1=0.0, start=None):
    objective = FullBatchObjective(problem.corpus, problem.layout, c2, n_threads=1, dtype=np.float64)
    x = objective.basis.start(np.zeros(problem.layout.size) if start is None else start)
    stops = {"period": 0, "epsilon": 1e-8}
    scaled = c1 * objective.basis.l1_scales
    optimizer = OWLQN(objective, x, c1=scaled, **stops) if c1 else LBFGS(objective, x, **stops)
    optimizer.run(3000)
    return optimizer, objective.basis.finish(optimizer.x)


@pytest.fixture(scope="module")
def problem(make_problem):
    """Gold that mostly follows from the features."""
    rng = np.random.default_rng(4)
    problem = make_problem(4, ("known",), lengths=tuple(rng.integers(1, 7, 80)), density=0.6, own=1)
    labels = (problem.table @ rng.normal(size=(problem.table.shape[1], 3))).argmax(axis=1)
    return replace(problem, corpus=replace(problem.corpus, gold=Gold.known(labels, 3)))


def test_it_comes_close_to_the_optimum(problem):
    best, flat = optimum(problem, 0.5)
    sgd = SGD(problem.corpus, problem.layout, np.zeros(problem.layout.size), 0.5, period=0)
    assert sgd.run(60) == sgd.epochs == 60
    loss, _ = plain_loss(problem.corpus, problem.layout, sgd.flat)
    assert best.value <= loss + 0.5 * sgd.flat @ sgd.flat < best.value * 1.01
    assert np.corrcoef(sgd.flat, flat)[0, 1] > 0.99


@pytest.mark.parametrize("c1, c2", [(0.0, 0.5), (0.3, 0.1)])
def test_a_warm_start_is_lower_and_ends_at_the_same_optimum(problem, c1, c2):
    cold, flat = optimum(problem, c2, c1)
    sgd = SGD(problem.corpus, problem.layout, np.zeros(problem.layout.size), c2, c1=c1, period=0)
    assert sgd.run(5) == 5
    start = sgd.flat
    objective = FullBatchObjective(problem.corpus, problem.layout, c2, n_threads=1)
    values = [objective(objective.basis.start(x))[0] + c1 * np.abs(x).sum() for x in (start, np.zeros(len(start)))]
    assert values[0] - cold.value < 0.2 * (values[1] - cold.value)
    warm, again = optimum(problem, c2, c1, start)
    assert warm.value == pytest.approx(cold.value, rel=1e-7)
    np.testing.assert_allclose(again, flat, atol=1e-3)
    assert (start == 0).any() == (c1 > 0)


def test_seeds_decide_every_byte_and_runs_add_up(problem):
    def run(seed, *epochs):
        sgd = SGD(problem.corpus, problem.layout, np.zeros(problem.layout.size), 0.5, seed, calibration=QUICK)
        assert [sgd.run(n) for n in epochs] == list(epochs)
        return sgd.flat.tobytes(), sgd.values, sgd.eta

    assert run(1, 5) == run(1, 2, 0, 3)
    assert run(1, 5)[0] != run(2, 5)[0]


def test_the_weights_are_those_of_the_best_epoch_and_the_start_is_left_alone(problem):
    start = np.zeros(problem.layout.size)
    wild = StepSizeSearch(eta=3.0, max_trials=1)
    sgd = SGD(problem.corpus, problem.layout, start, 0.5, period=0, calibration=wild)
    sgd.run(1)
    first = sgd.flat
    for _ in range(10):
        sgd.run(1)
        assert (sgd.flat is first) == (sgd.values[-1] >= min(sgd.values[:-1]))
        first = sgd.flat
    assert sgd.value == min(sgd.values) and sgd.eta == 3.0 and not start.any()


def test_it_stops_for_lack_of_improvement_over_the_period(problem):
    sgd = SGD(problem.corpus, problem.layout, np.zeros(problem.layout.size), 0.5, period=3, delta=0.01)
    assert sgd.run(500) == sgd.epochs < 500
    assert "0.01 of its value over 3 epochs" in sgd.reason and sgd.run(3) == 0
    gains = [(before - after) / after for before, after in zip(sgd.values, sgd.values[3:])]
    assert gains[-1] < 0.01 <= min(gains[:-1])


class Bowl:
    """In place of a `Descent`: an epoch from any start ends at a loss that depends on the step size alone."""

    tried: list[float] = []  # noqa: RUF012

    def __init__(self, flat, c1, c2, n_sequences):
        self.flat, self.c1, self.c2, self.n_sequences = flat, c1, c2, n_sequences

    def loss(self, batches):
        return self.flat[0]

    def epoch(self, batches, eta):
        Bowl.tried.append(eta)
        self.flat[0] = 9.0 + abs(np.log2(eta / 0.8)) / 4 if eta < 3 else np.nan


@pytest.mark.parametrize(
    "settings, tried",
    [
        ({}, [0.1, 0.2, 0.4, 0.8, 1.6, 0.05]),
        ({"candidates": 2}, [0.1, 0.2, 0.05]),
        ({"max_trials": 3}, [0.1, 0.2, 0.4]),
        ({"rate": 8.0}, [0.1, 0.8, 6.4, 0.0125]),
        ({"eta": 1.6}, [1.6, 3.2, 0.8, 0.4]),
        ({"eta": 12.8}, [12.8, 6.4, 3.2, 1.6, 0.8, 0.4]),
    ],
)
def test_step_sizes_rise_while_they_help_and_fall_then(monkeypatch, settings, tried):
    Bowl.tried.clear()
    monkeypatch.setattr("spacy_crf.core.learn.sgd.Descent", Bowl)
    best = calibrate(Bowl(np.full(1, 10.0), 0.0, 1.0, 1), [], StepSizeSearch(**settings))
    assert Bowl.tried == pytest.approx(tried)
    assert best == pytest.approx(min(Bowl.tried, key=lambda eta: abs(np.log2(eta / 0.8)) if eta < 3 else np.inf))


def test_step_sizes_that_overflow_are_survived_in_trials_only(problem):
    size = problem.layout.size
    sgd = SGD(problem.corpus, problem.layout, np.zeros(size), 0.5, calibration=StepSizeSearch(eta=1e30, rate=1e3))
    assert sgd.eta < 1e10 and sgd.run(1) == 1
    with pytest.raises(ValueError, match=r"CRF(201|102)"):
        bad = SGD(
            problem.corpus, problem.layout, np.zeros(size), 0.5, calibration=StepSizeSearch(eta=1e60, max_trials=1)
        )
        bad.run(3)
    assert issubclass(DivergedError, ValueError)


@pytest.mark.parametrize("lengths", [(), (0, 0)])
def test_an_empty_corpus_is_harmless(make_problem, lengths):
    empty = make_problem(7, lengths=lengths, edges=True)
    sgd = SGD(empty.corpus, empty.layout, empty.flat * 0, 0.5, period=0)
    sgd.run(2)
    flat = sgd.flat
    assert flat.shape == empty.flat.shape and not flat.any()


def test_gold_that_the_masks_forbid_names_the_sequence_of_the_corpus(make_problem):
    problem = make_problem(8, masks=True, lengths=(1, 2, 5, 3))
    gold = Gold.known(np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]), 3)
    corpus = EncodedCorpus(problem.corpus.lengths, problem.corpus.features, gold)
    with pytest.raises(NoPathError) as caught:
        SGD(corpus, problem.layout, problem.flat, 0.5)
    assert caught.value.sequences == [3]
