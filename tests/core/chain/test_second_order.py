"""Second-order chains against enumeration, and against first-order ones where trigrams weigh nothing."""

import numpy as np
import pytest
from helpers.oracle import TrigramChain
from helpers.strategies import chain_batches, second_order_batches, unpacked
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.lattice import best_path, lattice_marginals
from spacy_crf.core.chain.marginals import node_marginals, path_entropies
from spacy_crf.core.chain.potentials import ChainPotentials, NoPathError
from spacy_crf.core.chain.second_order import candidates, checked_marginals, pair_states
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.trigrams import Pruning, Trigrams


def every_label(potentials: ChainPotentials) -> np.ndarray:
    return np.ones(potentials.emissions.shape, dtype=bool)


@st.composite
def masked_cases(draw):
    """A second-order batch with candidates, among them a path, and the chains without all other labels."""
    potentials, trigrams, weights, chains = draw(second_order_batches())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    allowed = rng.random(potentials.emissions.shape) < draw(st.sampled_from([0.2, 0.6, 1.0]))
    allowed |= viterbi(potentials).labels[:, None] == np.arange(potentials.n_labels)
    chains = [chain.clamped(mask) for chain, mask in zip(chains, unpacked(potentials, allowed))]
    states = pair_states(potentials.batch, allowed, trigrams)
    return potentials, states, states.weighted(states.lattice(potentials), weights), chains


@given(masked_cases())
def test_log_z_marginals_and_entropies_equal_enumeration(case):
    potentials, states, lattice, chains = case
    found = lattice_marginals(lattice)
    np.testing.assert_allclose(found.log_z, [chain.log_z() for chain in chains], rtol=1e-12, atol=1e-9)
    for own, chain in zip(unpacked(potentials, states.node_marginals(found.states)), chains):
        np.testing.assert_allclose(own, chain.node_marginals(), atol=1e-9)
    np.testing.assert_allclose(path_entropies(lattice, found), [chain.entropy() for chain in chains], atol=1e-7)


@given(masked_cases())
def test_expected_trigrams_equal_enumeration(case):
    _, states, lattice, chains = case
    found = lattice_marginals(lattice)
    by_trigram = [list(chain.expected_trigrams().values()) for chain in chains]
    np.testing.assert_allclose(states.trigram_counts(found), np.sum(by_trigram, axis=0), atol=1e-9)


@given(masked_cases())
def test_the_best_path_is_the_best_of_all(case):
    potentials, _, lattice, chains = case
    labels, scores = best_path(lattice)
    for path, score, chain in zip(unpacked(potentials, labels), scores, chains):
        if chain.length:
            assert score == pytest.approx(chain.best_score(), rel=1e-12, abs=1e-9)
            assert chain.score(tuple(path)) == pytest.approx(score, rel=1e-12, abs=1e-9)


@given(chain_batches(), st.booleans())
def test_without_weights_it_is_the_first_order_chain(case, has_trigrams):
    potentials, _ = case
    size = (potentials.n_labels + 1) ** 3
    trigrams = Trigrams(potentials.n_labels, np.arange(size)) if has_trigrams else Trigrams.none(potentials.n_labels)
    states = pair_states(potentials.batch, every_label(potentials), trigrams)
    lattice = states.weighted(states.lattice(potentials), np.zeros(len(trigrams)))
    found, messages = lattice_marginals(lattice), forward_backward(potentials)
    decoded = viterbi(potentials)
    np.testing.assert_allclose(found.log_z, messages.log_z, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(states.node_marginals(found.states), node_marginals(messages), atol=1e-9)
    labels, scores = best_path(lattice)
    np.testing.assert_allclose(scores, decoded.scores, rtol=1e-12, atol=1e-9)
    assert labels.tolist() == decoded.labels.tolist()


def test_ties_are_broken_by_the_smaller_label():
    batch = pack(np.array([3, 1]))
    zeros = ChainPotentials(batch, np.zeros((4, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    states = pair_states(batch, every_label(zeros), Trigrams.none(3))
    assert best_path(states.weighted(states.lattice(zeros), np.zeros(0)))[0].tolist() == [0, 0, 0, 0]


@given(second_order_batches(masks=False, min_length=1), st.floats(0.1, 10))
def test_a_temperature_divides_all_scores(case, temperature):
    potentials, trigrams, weights, chains = case
    states = pair_states(potentials.batch, every_label(potentials), trigrams)
    found = lattice_marginals(states.weighted(states.lattice(potentials), weights).tempered(temperature))
    for chain, log_z in zip(chains, found.log_z):
        cooled = [score / temperature for _, score in chain.paths()]
        assert log_z == pytest.approx(np.logaddexp.reduce(cooled), rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_long_sequences_and_extreme_scores(scale):
    rng, batch = np.random.default_rng(0), pack(np.array([5000, 3, 0]))
    emissions, transitions = rng.normal(0, scale, (5003, 3)), rng.normal(0, scale, (3, 3))
    potentials = ChainPotentials(batch, emissions, transitions, np.zeros(3), np.zeros(3))
    trigrams = Trigrams(3, np.arange(64))
    states = pair_states(batch, every_label(potentials), trigrams)
    lattice = states.weighted(states.lattice(potentials), rng.normal(0, scale, 64))
    found = lattice_marginals(lattice)
    assert np.isfinite(found.log_z).all() and (found.log_z[:2] >= best_path(lattice)[1][:2] - 1e-6).all()
    np.testing.assert_allclose(states.node_marginals(found.states).sum(axis=1), 1, atol=1e-9)


def test_a_batch_of_nothing():
    batch = pack(np.array([0, 0]))
    empty = ChainPotentials(batch, np.zeros((0, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    states = pair_states(batch, every_label(empty), Trigrams(2, np.arange(27)))
    found = lattice_marginals(states.weighted(states.lattice(empty), np.ones(27)))
    assert found.log_z.tolist() == [0, 0] and states.trigram_counts(found).tolist() == [0] * 27
    assert best_path(states.weighted(states.lattice(empty), np.ones(27)))[0].tolist() == []


def test_candidates_without_a_path_are_an_error_that_names_the_sequence():
    batch = pack(np.array([1, 2]))
    transitions = np.array([[-np.inf, 0.0], [0.0, 0.0]])
    potentials = ChainPotentials(batch, np.zeros((3, 2)), transitions, np.zeros(2), np.zeros(2))
    states = pair_states(batch, np.tile([True, False], (3, 1)), Trigrams.none(2))
    with pytest.raises(NoPathError) as raised:
        checked_marginals(states.weighted(states.lattice(potentials), np.zeros(0)))
    assert raised.value.sequences == [1]
    found = lattice_marginals(states.weighted(states.lattice(potentials), np.zeros(0)))
    assert np.isneginf(found.log_z[1]) and found.states.sum() == 1


@given(second_order_batches(), st.sampled_from([0.0, 0.05, 0.3, 0.9]), st.integers(1, 4))
def test_candidates_are_probable_few_and_leave_a_path(case, threshold, limit):
    potentials, trigrams, weights, _ = case
    pruning = Pruning(threshold, limit)
    chosen, marginals = candidates(potentials, pruning), node_marginals(forward_backward(potentials))
    best = viterbi(potentials).labels[:, None] == np.arange(potentials.n_labels)
    assert (chosen | ~best).all() and (chosen.sum(axis=1) <= limit + 1).all()
    assert (marginals[chosen & ~best] >= threshold).all()
    left_out = ~chosen & (marginals >= threshold) & (marginals > 0)
    assert (chosen.sum(axis=1)[left_out.any(axis=1)] >= limit).all()
    states = pair_states(potentials.batch, chosen, trigrams)
    lattice = states.weighted(states.lattice(potentials), weights)
    assert np.isfinite(lattice_marginals(lattice).log_z).all()


@pytest.mark.parametrize("threshold,limit", [(-0.1, 2), (1.0, 2), (np.nan, 2), (0.1, 0)])
def test_pruning_refuses_what_has_no_meaning(threshold, limit):
    with pytest.raises(ValueError, match=r"\[CRF1"):
        Pruning(threshold, limit)


@given(second_order_batches(masks=False), st.integers(0, 2**32 - 1))
def test_fixed_gold_is_scored_as_its_expected_score(case, seed):
    potentials, trigrams, weights, chains = case
    gold = np.random.default_rng(seed).dirichlet(np.ones(potentials.n_labels), potentials.batch.n_units)
    states = pair_states(potentials.batch, every_label(potentials), trigrams)
    lattice, target = states.weighted(states.lattice(potentials), weights), states.fixed(gold)
    score = target.states @ lattice.scores + target.arcs @ lattice.weights
    expected = sum(expected_score(chain, own) for chain, own in zip(chains, unpacked(potentials, gold)))
    assert score == pytest.approx(expected, rel=1e-9, abs=1e-9)


def expected_score(chain: TrigramChain, gold: np.ndarray) -> float:
    return sum(score * np.prod(gold[range(len(path)), path]) for path, score in chain.paths())


def test_float32_scores_do_as_well():
    rng, batch = np.random.default_rng(0), pack(np.array([4, 2]))
    scores = [rng.normal(size=shape).astype(np.float32) for shape in ((6, 3), (3, 3), (3,), (3,))]
    potentials = ChainPotentials(batch, *scores)
    trigrams, weights = Trigrams(3, np.arange(64)), rng.normal(size=64).astype(np.float32)
    states = pair_states(batch, every_label(potentials), trigrams)
    low, high = (
        lattice_marginals(states.weighted(states.lattice(p), weights))
        for p in (potentials, potentials.astype(np.float64))
    )
    np.testing.assert_allclose(low.log_z, high.log_z, rtol=1e-6)
