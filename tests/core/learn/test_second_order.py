"""The objective of trigram weights: against enumeration, central differences, and a brute-force optimum."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.objectives import differences
from helpers.oracle import TrigramChain

from spacy_crf.core.chain.potentials import NoPathError
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn import second_order
from spacy_crf.core.learn.blocks import cut
from spacy_crf.core.learn.second_order import TrigramObjective, trigram_optimizer
from spacy_crf.core.trigrams import Pruning, Trigrams, TrigramWeights, seen_trigrams

C2 = 0.3
KINDS = [("known",), ("unknown",), ("set",), ("distribution",), ("known", "unknown", "set", "distribution"), ("open",)]
ALL = Pruning(0.0, 3)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Small corpora in several blocks."""
    monkeypatch.setattr(second_order, "cut", lambda corpus: cut(corpus, 6))


def objective_of(problem, trigrams, pruning=ALL, **settings):
    fixed = {"c2": C2, "n_threads": 1, "dtype": np.float64, **settings}
    known = TrigramWeights(trigrams, np.zeros(len(trigrams)), pruning)
    return TrigramObjective(problem.corpus, replace(problem.weights, trigrams=known), **fixed)


def some_trigrams(seed=0, n_labels=3):
    rng = np.random.default_rng(seed)
    trigrams = Trigrams(n_labels, np.flatnonzero(rng.random((n_labels + 1) ** 3) < 0.6))
    return trigrams, rng.normal(size=len(trigrams))


def enumerated(problem, trigrams, weights):
    size = trigrams.n_labels + 1
    cells = trigrams.cells.tolist()
    known = {(c // size**2 - 1, c // size % size - 1, c % size - 1): w for c, w in zip(cells, weights)}
    return problem.loss(lambda chain: TrigramChain(chain, known)) + C2 * weights @ weights


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("masks", [False, True])
def test_the_value_equals_enumeration(make_problem, kinds, edges, masks):
    problem = make_problem(1, kinds, edges, masks=masks, lengths=(3, 1, 0, 4, 2, 3, 5))
    trigrams, weights = some_trigrams()
    value, _ = objective_of(problem, trigrams)(weights)
    assert value == pytest.approx(enumerated(problem, trigrams, weights), rel=1e-7)


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("pruning", [ALL, Pruning(0.2, 2)], ids=["all labels", "pruned"])
def test_the_gradient_equals_central_differences(make_problem, kinds, pruning):
    problem = make_problem(2, kinds, edges=True, masks=True)
    trigrams, weights = some_trigrams(1)
    objective = objective_of(problem, trigrams, pruning)
    expected = differences(lambda x: objective(x)[0], weights)
    np.testing.assert_allclose(objective(weights)[1], expected, atol=1e-6)


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_gold_is_among_the_candidates_however_improbable(make_problem, kinds):
    problem = make_problem(3, kinds, masks=True)
    trigrams, weights = some_trigrams()
    hostile = replace(problem, flat=20 * problem.flat)
    value, gradient = objective_of(hostile, trigrams, Pruning(0.9, 1))(weights)
    assert np.isfinite(value) and value >= C2 * weights @ weights and np.isfinite(gradient).all()


@pytest.mark.parametrize("c1", [0.0, 0.5])
def test_the_optimizer_reaches_the_optimum(make_problem, c1):
    problem = make_problem(4, ("known",))
    trigrams = Trigrams(3, seen_trigrams(problem.corpus.gold, problem.corpus.lengths, 3))
    objective = objective_of(problem, trigrams)
    optimizer = trigram_optimizer(objective, c1, period=0, epsilon=1e-7)
    optimizer.run(200)
    assert optimizer.reason is not None
    rng = np.random.default_rng(0)
    for _ in range(20):
        there = optimizer.x + rng.normal(0, 0.01, len(trigrams))
        assert objective(there)[0] + c1 * np.abs(there).sum() > optimizer.value
    assert (optimizer.x == 0).any() == (c1 > 0)


def test_the_number_of_threads_changes_no_bit(make_problem):
    problem = make_problem(5, edges=True)
    trigrams, weights = some_trigrams()
    values = [objective_of(problem, trigrams, n_threads=n, dtype=np.float32)(weights) for n in (1, 2, 3)]
    assert all(value == values[0][0] and (gradient == values[0][1]).all() for value, gradient in values)


def test_gold_that_is_forbidden_names_its_sequence(make_problem):
    problem = make_problem(6, ("known",), masks=True, lengths=(2, 3, 2))
    labels = problem.gold.argmax(axis=1)
    labels[[2, 3]] = (1, 2)  # the transition that the masks forbid
    corpus = replace(problem.corpus, gold=Gold.known(labels, 3))
    with pytest.raises(NoPathError) as raised:
        objective_of(replace(problem, corpus=corpus), some_trigrams()[0])
    assert raised.value.sequences == [1]
