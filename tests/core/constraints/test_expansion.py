"""Chains under constraints are what enumeration says of them: Z, marginals, best labellings."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers.constrained_chains import CONSTRAINTS, TAGS, by_sequence, objectives, problems, random_chain
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.spans import SpanQuery
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.constraints.distribution import ConstrainedDistribution, ConstrainedPaths
from spacy_crf.core.constraints.expansion import expand
from spacy_crf.core.constraints.joint import JointAutomaton
from spacy_crf.core.constraints.labelling import Fields, UnitPredicates
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.errors import CRFError
from spacy_crf.core.threads import run_parallel


def expanded(case, **settings):
    potentials, _, constraints, tags, predicates = case
    automaton, batch = JointAutomaton(constraints, Fields(tags)), potentials.batch
    symbols = automaton.read_all(batch.segments, predicates.at(batch.rows))[batch.units]
    return expand(forward_backward(potentials.astype(np.float64)), automaton, symbols, **settings)


def distribution(case, temperature=1.0):
    potentials, _, constraints, tags, predicates = case
    own = predicates.at(potentials.batch.rows)
    return ConstrainedDistribution(potentials, temperature, constraints=constraints, tags=tags, predicates=own)


def enumerated(case):
    """For each sequence its labellings and their objectives."""
    potentials, chains, constraints, tags, predicates = case
    for chain, own in zip(chains, by_sequence(potentials, predicates)):
        yield objectives(chain, constraints, Fields(tags), own) if chain.length else {(): 0.0}


@settings(max_examples=300, deadline=None)
@given(problems())
def test_z_and_marginals_are_those_of_all_labellings(case):
    potentials = case[0]
    found, batch = expanded(case, tolerance=0), potentials.batch
    nodes = found.counts.nodes[batch.rows]
    log_z = forward_backward(potentials.astype(np.float64)).log_z
    for number, (values, own) in enumerate(zip(enumerated(case), batch.segments.slices())):
        paths, scores = list(values), np.array(list(values.values()))
        weights = np.exp(scores - log_z[number])
        assert found.shares[number] == pytest.approx(weights.sum(), rel=1e-9, abs=1e-300)
        if weights.sum() > 0:
            expected = np.zeros((own.stop - own.start, potentials.n_labels))
            for path, weight in zip(paths, weights / weights.sum()):
                expected[np.arange(len(path)), list(path)] += weight
            assert nodes[own] == pytest.approx(expected, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(problems(), st.sampled_from([1e-6, 1e-2, 0.3]), st.sampled_from([2, 4096]))
def test_what_is_left_out_is_known(case, tolerance, width):
    exact, found = expanded(case, tolerance=0), expanded(case, tolerance=tolerance, width=width)
    whole = found.shares > 0
    assert (found.shares <= exact.shares + 1e-9).all()
    assert (exact.shares <= found.shares + found.lost + 1e-9)[whole].all()
    assert found.counts.nodes.sum(axis=1) == pytest.approx(1)


@settings(max_examples=150, deadline=None)
@given(problems(), st.sampled_from([0.7, 1.0, 3.0]))
def test_labellings_spans_and_entropies_are_those_of_all_labellings(case, temperature):
    potentials, found = case[0], distribution(case, temperature)
    batch, log_z, missing = potentials.batch, found.log_z, found.missing
    lists, entropies = found.n_best(3), found.entropies
    allowed = np.ones((batch.n_units, potentials.n_labels), dtype=bool)
    rows, best = np.arange(0, batch.n_units, 2), found.best()
    allowed[rows] = False
    allowed[rows, best[rows]] = True
    given = found.log_probability(allowed)
    for number, (values, own) in enumerate(zip(enumerated(case), batch.segments.slices())):
        scores = np.array(list(values.values())) / temperature
        if not np.isfinite(scores).any():
            assert missing[number] == 1
            continue
        assert missing[number] < 1e-4
        weights = np.exp(scores - log_z[number])
        assert weights.sum() == pytest.approx(1, rel=1e-3)
        best = np.sort(weights)[::-1][: len(lists[number].probabilities)]
        assert lists[number].probabilities == pytest.approx(best, abs=1e-4)
        assert given[number] == pytest.approx(log_share(values, weights, allowed[own]), abs=0.01)
        positive = weights[weights > 0]
        assert entropies[number] == pytest.approx(-(positive * np.log(positive)).sum(), abs=0.01)
        if own.stop > own.start:
            for first, end in {(0, own.stop - own.start), (0, 1), (own.stop - own.start - 1, own.stop - own.start)}:
                check_spans(found, potentials.n_labels, list(values), weights, own.start, first, end)


def log_share(paths, weights, allowed):
    """Log probability of the labellings whose labels are all among some ((T, L))."""
    holds = [allowed[np.arange(len(path)), list(path)].all() for path in paths]
    return np.log(weights[np.array(holds)].sum())


def check_spans(found, n_labels, paths, weights, start, first, end):
    """Compare an event about the labels at first..end-1 and beside with the labellings for which it is true."""
    rng = np.random.default_rng(first + 7 * end)
    opening, inner, closing, after, before = rng.random((5, 1, n_labels)) < 0.6
    places = np.array([start + first]), np.array([start + end])
    (value,) = found.spans(SpanQuery(*places, opening, inner, closing, after, before))
    expected = 0.0
    for path, weight in zip(paths, weights):
        own = path[first:end]
        holds = opening[0, own[0]] and closing[0, own[-1]] and all(inner[0, label] for label in own[1:-1])
        holds = holds and (end == len(path) or after[0, path[end]]) and (first == 0 or before[0, path[first - 1]])
        expected += weight * holds
    assert value[0] == pytest.approx(expected, abs=1e-3)


@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(0, 2**32 - 1))
def test_the_gradient_of_constrained_training_is_that_of_its_loss(case, seed):
    potentials, _, constraints, tags, predicates = case
    rng, batch = np.random.default_rng(seed), potentials.batch
    potentials = potentials.astype(np.float64)
    gold = viterbi(potentials).labels  # a path that the chain allows
    joint, own = JointAutomaton(constraints, Fields(tags)), predicates.at(batch.rows)
    paths = ConstrainedPaths(joint, batch.lengths, gold[batch.rows], own, tolerance=0)

    def loss(shift):
        chains = replace(potentials, emissions=potentials.emissions + shift)
        messages = forward_backward(chains)
        counts, added = paths.expect(messages)
        score = float(shift[np.arange(len(gold)), gold].sum())
        return float(messages.log_z.sum()) - score + added, counts.nodes

    step = rng.normal(0, 1, potentials.emissions.shape)
    size = 1e-5
    numeric = (loss(size * step)[0] - loss(-size * step)[0]) / (2 * size)
    gradient = loss(0 * step)[1] - np.eye(potentials.n_labels)[gold]
    assert float((gradient * step).sum()) == pytest.approx(numeric, rel=1e-4, abs=1e-5)


@settings(max_examples=100, deadline=None)
@given(problems())
def test_the_loss_of_constrained_training_is_that_of_gold_among_all_labellings(case):
    potentials, _, constraints, tags, predicates = case
    batch, potentials = potentials.batch, potentials.astype(np.float64)
    gold, messages = viterbi(potentials), forward_backward(potentials)
    joint, own = JointAutomaton(constraints, Fields(tags)), predicates.at(batch.rows)
    _, added = ConstrainedPaths(joint, batch.lengths, gold.labels[batch.rows], own, tolerance=0).expect(messages)
    expected = 0.0
    for number, (values, rows) in enumerate(zip(enumerated(case), batch.segments.split(batch.rows))):
        path, score = tuple(gold.labels[rows].tolist()), gold.scores[number]
        if path and np.isfinite(values[path]):  # else it is learned without constraints
            expected += np.logaddexp.reduce(list(values.values())) - values[path]
        else:
            expected += messages.log_z[number] - score
    assert float(messages.log_z.sum() - gold.scores.sum()) + added == pytest.approx(expected, rel=1e-6, abs=1e-6)


def shares(messages, joint, symbols, _):
    return expand(messages, joint, symbols).shares


def test_many_threads_share_an_automaton():
    constraints = [*parse_all(["at_most(A, 1) each cost=1.0", "excludes(B, C) each cost=0.5"]), *CONSTRAINTS]
    chain = random_chain(np.random.default_rng(0), [30, 25, 20], 3)
    messages, joint = forward_backward(chain), JointAutomaton(constraints, Fields(TAGS))
    symbols = joint.read_all(chain.batch.segments, UnitPredicates(75))[chain.batch.units]
    alone = expand(messages, joint, symbols).shares
    for _ in range(5):
        joint = JointAutomaton(constraints, Fields(TAGS))
        joint.read_all(chain.batch.segments, UnitPredicates(75))
        found = run_parallel(partial(shares, messages, joint, symbols), range(4), 4)
        assert all(np.allclose(one, alone) for one in found)


def test_what_only_a_chain_can_tell_is_refused():
    chain, none = random_chain(np.random.default_rng(0), [3, 2], 3), UnitPredicates(5)
    found = ConstrainedDistribution(chain, constraints=CONSTRAINTS, tags=TAGS, predicates=none)
    with pytest.raises(CRFError, match="CRF162"):
        found.sample(1, np.random.default_rng(0))
    with pytest.raises(CRFError, match="CRF162"):
        found.without(np.zeros(5, dtype=bool))


def test_sequences_that_are_selected_keep_their_probabilities():
    chain, none = random_chain(np.random.default_rng(0), [3, 6, 2], 3), UnitPredicates(11)
    found = ConstrainedDistribution(chain, constraints=CONSTRAINTS, tags=TAGS, predicates=none)
    part = found.select(np.array([2, 0]))
    assert part.log_z == pytest.approx(found.log_z[[2, 0]], abs=1e-3)
    assert part.marginals == pytest.approx(found.marginals[[9, 10, 0, 1, 2]], abs=1e-3)
