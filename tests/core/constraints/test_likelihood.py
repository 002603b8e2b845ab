"""Costs of the greatest conditional likelihood."""

import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.constrained_chains import CONSTRAINTS, TAGS, part

from spacy_crf.core.chain.paths import nbest
from spacy_crf.core.constraints.costs import charged, choices_of, likely_costs, loss_and_gradient
from spacy_crf.core.constraints.labelling import Fields, Labelling
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.constraints.problem import violations


def test_the_loss_is_that_of_the_lists_one_by_one_and_its_gradient_that_of_finite_differences():
    own, costs = part(0, 6), np.array([0.7, 0.2, 0.4, 0.1])
    choices = choices_of([own], CONSTRAINTS, TAGS, 8, [])
    best, batch, expected = nbest(own.potentials, 8), own.potentials.batch, 0.0
    for sequence, (gold, predicates) in enumerate(own.paths()):
        rows = np.flatnonzero(batch.row_sequences == sequence)
        paths = best.labels[: best.counts[sequence], rows]
        broken = [violations(CONSTRAINTS, Labelling(path.tolist(), Fields(TAGS), predicates)) for path in paths]
        scores = np.array([s - sum(costs[r] * n for r, n in b.items()) for s, b in zip(best.scores[sequence], broken)])
        hits = (paths == gold).sum(axis=1)
        right = np.exp(scores[hits == hits.max()]).sum()
        expected -= math.log(right / np.exp(scores).sum())
    loss, gradient = loss_and_gradient(choices, costs)
    assert loss == pytest.approx(expected)
    for place in range(4):
        low, high = (loss_and_gradient(choices, costs + step * np.eye(4)[place])[0] for step in (-1e-5, 1e-5))
        assert gradient[place] == pytest.approx((high - low) / 2e-5, abs=1e-6)


def test_costs_are_a_minimum_under_the_prior_and_none_is_below_0():
    parts = [part(1), part(2)]
    costs = likely_costs(parts, CONSTRAINTS, TAGS, strength=0.5, paths=10)
    choices = choices_of(parts, CONSTRAINTS, TAGS, 10, [])

    def objective(values):
        return loss_and_gradient(choices, values)[0] + 0.5 * float(values @ values)

    assert (costs >= 0).all() and costs.any()
    for place in range(4):
        for step in (-0.05, 0.05):
            other = np.maximum(costs + step * np.eye(4)[place], 0)
            assert objective(other) >= objective(costs) - 1e-6


def test_costs_put_held_out_sequences_right_and_shrink_under_a_strong_prior():
    parts, others = [part(seed) for seed in (2, 3)], part(4, 40)
    costs = likely_costs(parts, CONSTRAINTS, TAGS)
    free = charged(CONSTRAINTS, np.zeros(4))
    assert others.right_units(charged(CONSTRAINTS, costs), TAGS) > others.right_units(free, TAGS)
    assert likely_costs(parts, CONSTRAINTS, TAGS, strength=1e5).max() < 1e-3


def test_what_the_chain_keeps_by_itself_costs_nothing():
    costs = likely_costs([part(5, flips=0.0)], parse_all(["at_most(A, 9)", "starts_with(C)"]), TAGS)
    assert costs[0] == 0 and costs[1] < 0.1


def test_given_constraints_are_in_force():
    own, given = part(6), replace(CONSTRAINTS[0], cost=math.inf)
    alone, beside = (likely_costs([own], CONSTRAINTS[:1], TAGS, given=others) for others in ([], [given]))
    assert alone[0] > 0 and beside[0] == 0  # nothing breaks it any more
    soft = choices_of([own], [], TAGS, 5, [replace(given, cost=0.5)])
    hard, free = (choices_of([own], [], TAGS, 5, others) for others in ([given], []))
    assert len(hard.scores) < len(free.scores) == len(soft.scores)
    assert set(np.round(free.scores - soft.scores, 9)) == {0.0, 0.5}


def test_nothing_to_learn_from():
    assert likely_costs([], CONSTRAINTS, TAGS).tolist() == [0, 0, 0, 0]
    assert likely_costs([part(0, 3)], [], TAGS).tolist() == []
