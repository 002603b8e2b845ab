"""Costs that are learned on held-out sequences."""

import numpy as np
from helpers.constrained_chains import CONSTRAINTS, TAGS, part, random_chain

from spacy_crf.core.constraints.costs import charged, decoded_violations, gold_violations, perceptron_costs
from spacy_crf.core.constraints.decision import MethodSettings
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.constraints.strategy import decode


def test_gold_and_its_violations_come_back_in_the_order_of_the_sequences():
    own = part(0)
    paths = [path.tolist() for path, _ in own.paths()]
    assert [len(path) for path in paths] == own.potentials.batch.lengths.tolist()
    assert all(path == sorted(path) for path in paths)
    table = gold_violations(own, CONSTRAINTS, TAGS)
    assert not table[:, 0].any() and not table[:, 2].any()
    assert table[:, 1].tolist() == [int(path[0] != 2) for path in paths]
    few = np.array([3, 0, 7])
    assert [path.tolist() for path, _ in own.select(few).paths()] == [paths[k] for k in few]
    assert (gold_violations(own.select(few), CONSTRAINTS, TAGS) == table[few]).all()


def test_decoded_violations_are_those_of_the_decisions():
    own, constraints = part(1), charged(CONSTRAINTS, np.array([1.0, 0.0, 0.5, 0.2]))
    table = decoded_violations(own, constraints, TAGS)
    decisions = decode(own.potentials, constraints, TAGS, own.predicates)
    assert [{int(k): int(row[k]) for k in np.flatnonzero(row)} for row in table] == [d.violated for d in decisions]
    right = sum((d.labels == path).sum() for d, (path, _) in zip(decisions, own.paths()))
    assert own.right_units(constraints, TAGS) == right


def test_costs_make_labellings_break_constraints_as_often_as_gold():
    parts, others = [part(seed) for seed in (2, 3)], part(4, 40)
    costs = perceptron_costs(parts, CONSTRAINTS, TAGS, epochs=8, step=0.2)
    assert (costs >= 0).all() and costs[0] > 0.3 and costs[2] > 0.3
    assert costs[1] < 0.3  # gold begins with anything
    gold = gold_violations(others, CONSTRAINTS, TAGS).sum(axis=0)
    before, after = (
        np.abs(decoded_violations(others, charged(CONSTRAINTS, own), TAGS).sum(axis=0) - gold).sum()
        for own in (np.zeros(4), costs)
    )
    assert after < before / 2
    free = charged(CONSTRAINTS, np.zeros(4))
    assert others.right_units(charged(CONSTRAINTS, costs), TAGS) > others.right_units(free, TAGS)


def test_what_the_chain_keeps_by_itself_costs_nothing():
    costs = perceptron_costs([part(5, flips=0.0)], parse_all(["at_most(A, 9)", "starts_with(C)"]), TAGS)
    assert costs[0] == 0 and costs[1] <= 0.1


def test_given_constraints_are_in_force_and_keep_their_costs():
    constraint = parse_all(["at_most(A, 1)"])
    alone = perceptron_costs([part(6)], constraint, TAGS)
    assert alone[0] > 0
    assert (
        perceptron_costs([part(6)], constraint, TAGS, given=constraint)[0] == 0
    )  # a hard one leaves nothing to pay for
    with_a_cost = perceptron_costs([part(6)], constraint, TAGS, given=parse_all(["at_most(A, 1) cost=0.5"]))
    assert 0 < with_a_cost[0] < alone[0]


def test_learning_is_repeatable_and_one_update_is_what_it_says():
    own = part(7)
    costs = perceptron_costs([own], CONSTRAINTS, TAGS, epochs=1, step=0.25, batch_size=1000)
    free = charged(CONSTRAINTS, np.zeros(4))
    difference = (decoded_violations(own, free, TAGS) - gold_violations(own, CONSTRAINTS, TAGS)).sum(axis=0)
    np.testing.assert_allclose(costs, np.maximum(0, 0.25 * difference))
    twice = (perceptron_costs([own], CONSTRAINTS, TAGS, epochs=2, batch_size=3) for _ in range(2))
    np.testing.assert_array_equal(*twice)


def test_without_sequences_or_constraints_there_is_nothing_to_learn():
    assert perceptron_costs([], CONSTRAINTS, TAGS).tolist() == [0] * 4
    assert perceptron_costs([part(8)], [], TAGS).tolist() == []


def test_decisions_tell_what_viterbi_breaks():
    chain = random_chain(np.random.default_rng(0), [6, 9, 7], 3)
    plain = decode(chain, charged(CONSTRAINTS, np.zeros(4)), TAGS)
    for method in ("auto", "viterbi"):
        found = decode(chain, charged(CONSTRAINTS, np.ones(4)), TAGS, settings=MethodSettings(method))
        assert [d.viterbi_violated for d in found] == [d.violated for d in plain]
