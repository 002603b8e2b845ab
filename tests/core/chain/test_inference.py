"""Exact inference against brute force, and against plain log-space recursions where enumeration is too long."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.oracle import log_space_reference
from helpers.strategies import build, chain_batches, unpacked
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.edges import EdgePotentials
from spacy_crf.core.chain.forward import forward_backward, log_partition
from spacy_crf.core.chain.lattice import best_path
from spacy_crf.core.chain.marginals import edge_marginals, expected_transitions, node_marginals
from spacy_crf.core.chain.potentials import ChainPotentials, NonFiniteError, NoPathError
from spacy_crf.core.chain.viterbi import max_forward, prune, trace, viterbi


@given(chain_batches())
def test_log_z_equals_enumeration_from_both_ends(case):
    potentials, chains = case
    expected = [chain.log_z() if chain.length else 0.0 for chain in chains]
    np.testing.assert_allclose(forward_backward(potentials).log_z, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(log_partition(potentials), expected, rtol=1e-9, atol=1e-9)


@given(chain_batches())
def test_node_marginals_equal_enumeration(case):
    potentials, chains = case
    marginals = node_marginals(forward_backward(potentials))
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-12)
    for ours, chain in zip(unpacked(potentials, marginals), chains):
        np.testing.assert_allclose(ours, chain.node_marginals(), atol=1e-9)


@given(chain_batches(min_length=1))
def test_edge_marginals_equal_enumeration_and_sum_to_node_marginals(case):
    potentials, chains = case
    messages = forward_backward(potentials)
    inner = np.arange(len(potentials.batch.first_rows), potentials.batch.n_units)
    ours = np.zeros((potentials.batch.n_units, potentials.n_labels, potentials.n_labels))
    ours[inner] = edge_marginals(messages, inner)
    for matrices, chain in zip(unpacked(potentials, ours), chains):
        np.testing.assert_allclose(matrices, chain.edge_marginals(), atol=1e-9)
    nodes = node_marginals(messages)
    np.testing.assert_allclose(ours[inner].sum(axis=1), nodes[inner], atol=1e-9)
    before = potentials.batch.before[inner]
    np.testing.assert_allclose(ours[inner].sum(axis=2), nodes[before], atol=1e-9)


@given(chain_batches())
def test_expected_transitions_are_sums_of_edge_marginals(case):
    potentials, chains = case
    sums = expected_transitions(forward_backward(potentials))
    inner = [chain.edge_marginals()[1:] for chain in chains if chain.length > 1]
    total = np.sum([m.sum(axis=0) for m in inner], axis=0) if inner else np.zeros(sums.shape[-2:])
    if potentials.edges is None:
        np.testing.assert_allclose(sums, total, atol=1e-9)
        return
    np.testing.assert_allclose(sums.sum(axis=0), total, atol=1e-9)
    groups = np.split(potentials.edges.groups[potentials.batch.rows], np.cumsum(potentials.batch.lengths)[:-1])
    for g in range(len(sums)):
        by_hand = sum(
            chain.edge_marginals()[t]
            for chain, own in zip(chains, groups)
            for t in range(1, chain.length)
            if own[t] == g
        )
        np.testing.assert_allclose(sums[g], by_hand, atol=1e-9)


@given(chain_batches())
def test_viterbi_path_is_the_best_path(case):
    potentials, chains = case
    decoded = viterbi(potentials)
    for labels, score, chain in zip(unpacked(potentials, decoded.labels), decoded.scores, chains):
        if chain.length:
            assert score == pytest.approx(chain.best_score(), rel=1e-12, abs=1e-9)
            assert chain.score(tuple(labels)) == pytest.approx(score, rel=1e-12, abs=1e-9)


@given(st.integers(2, 12), st.sampled_from([0.0, 0.3, 1.0]), st.booleans(), st.integers(0, 10_000))
def test_pruning_dominated_labels_changes_nothing(n_labels, scale, masked, seed):
    """Decisive emissions and weak transitions: most labels are pruned; ties at scale 0 are broken alike."""
    rng = np.random.default_rng(seed)
    potentials, _ = random_case(rng, [9, 4, 1, 0, 9], n_labels, 3.0, False)
    transitions = rng.normal(0, scale, (n_labels, n_labels))
    if masked:
        transitions[0, 1:] = -np.inf
    potentials = replace(potentials, transitions=transitions, start=transitions[1], end=transitions[1])
    full = trace(potentials, max_forward(potentials))
    lattice = prune(potentials)
    if lattice is not None:
        labels, scores = best_path(lattice)
        assert labels.tolist() == full.labels.tolist()
        np.testing.assert_allclose(scores, full.scores, rtol=1e-12)


def test_short_texts_do_not_pay_for_pruning(monkeypatch):
    """Looking for dominated labels takes longer than a few units with all of theirs."""
    asked = []
    monkeypatch.setattr("spacy_crf.core.chain.viterbi.prune", lambda potentials: asked.append(potentials.batch.n_units))
    for lengths in ([12], [200, 200]):
        potentials, _ = random_case(np.random.default_rng(3), lengths, 40, 50.0, False)
        viterbi(potentials)
    assert asked == [400]


def test_pruning_is_worth_it_where_emissions_decide():
    rng = np.random.default_rng(1)
    potentials, _ = random_case(rng, [30, 20], 40, 50.0, False)
    weak = rng.normal(0, 0.5, (40, 40))
    calm = replace(potentials, transitions=weak, start=weak[0], end=weak[1])
    lattice = prune(calm)
    assert lattice is not None and len(lattice.origins) < 50 * 40 * 40 / 8
    assert prune(replace(potentials, transitions=rng.normal(0, 100, (40, 40)))) is None


def test_viterbi_ties_are_broken_by_the_smaller_label():
    batch = pack(np.array([3]))
    zeros = ChainPotentials(batch, np.zeros((3, 4)), np.zeros((4, 4)), np.zeros(4), np.zeros(4))
    assert viterbi(zeros).labels.tolist() == [0, 0, 0]


def random_case(rng, lengths, n_labels, scale, masked, conditioned=False):
    batch = pack(np.array(lengths))
    emissions = rng.uniform(-scale, scale, (sum(lengths), n_labels))
    matrices = rng.uniform(-scale, scale, (2, n_labels, n_labels))
    start, end = rng.uniform(-scale, scale, (2, n_labels))
    if masked:
        blocked = rng.random((n_labels, n_labels)) < 0.5
        np.fill_diagonal(blocked, False)
        matrices[:, blocked] = -np.inf
        emissions[rng.random(emissions.shape) < 0.2] = -np.inf
        emissions[:, 0] = rng.uniform(-scale, scale, len(emissions))
        start[0] = end[0] = 0.0
    groups = rng.integers(0, 2, sum(lengths))
    return build(batch, emissions, matrices, groups * conditioned, start, end, conditioned)


@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0, 1e4])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("conditioned", [False, True])
def test_any_scores_and_masks_agree_with_log_space(scale, masked, conditioned):
    rng = np.random.default_rng(7)
    potentials, chains = random_case(rng, [40, 1, 17, 0, 40], 5, scale, masked, conditioned)
    messages, decoded = forward_backward(potentials), viterbi(potentials)
    nodes = unpacked(potentials, node_marginals(messages))
    arrivals = np.zeros(5)
    for index, chain in enumerate(chains):
        if chain.length:
            log_z, marginals, best = log_space_reference(chain)
            assert messages.log_z[index] == pytest.approx(log_z, rel=1e-9)
            np.testing.assert_allclose(nodes[index], marginals, rtol=1e-6, atol=1e-12)
            assert decoded.scores[index] == pytest.approx(best, rel=1e-9)
            arrivals += marginals[1:].sum(axis=0)
    expected = expected_transitions(messages)
    if not conditioned:
        np.testing.assert_allclose(expected.sum(axis=0), arrivals, rtol=1e-6, atol=1e-9)


def test_a_weak_beginning_that_wins_in_the_end():
    """The best path loses 400 nats in the first half and wins 800 in the second: scaling alone would drop it."""
    n_labels, length = 2, 40
    emissions = np.zeros((length, n_labels))
    emissions[:20, 1] = -20.0
    emissions[20:, 1] = 40.0
    matrices = np.array([[[0.0, -np.inf], [-np.inf, 0.0]]])
    potentials, (chain,) = build(
        pack(np.array([length])), emissions, matrices, np.zeros(length, int), np.zeros(2), np.zeros(2), False
    )
    log_z, marginals, _ = log_space_reference(chain)
    messages = forward_backward(potentials)
    assert messages.redone is not None
    assert messages.log_z[0] == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(node_marginals(messages), marginals, rtol=1e-9)


def test_one_redone_sequence_leaves_the_others_alone():
    rng = np.random.default_rng(3)
    calm, calm_chains = random_case(rng, [6, 6], 3, 1.0, False)
    wild = random_case(rng, [6], 3, 1e4, False)[1][0]
    emissions = np.concatenate([calm_chains[0].emissions, wild.emissions, calm_chains[1].emissions])
    matrices = np.stack([calm_chains[0].matrices[0]])
    potentials, chains = build(
        pack(np.array([6, 6, 6])),
        emissions,
        matrices,
        np.zeros(18, int),
        calm_chains[0].start,
        calm_chains[0].end,
        False,
    )
    messages = forward_backward(potentials)
    nodes = unpacked(potentials, node_marginals(messages))
    assert messages.redone is not None and messages.redone.potentials.batch.n_sequences == 1
    for index, chain in enumerate(chains):
        np.testing.assert_allclose(nodes[index], chain.node_marginals(), atol=1e-9)
        assert messages.log_z[index] == pytest.approx(chain.log_z(), rel=1e-12)
    total = sum(chain.edge_marginals().sum(axis=0) for chain in chains)
    np.testing.assert_allclose(expected_transitions(messages), total, atol=1e-9)
    assert calm.batch.n_sequences == 2


@pytest.mark.parametrize("length", [5000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scale", [2.0, 1e4])
def test_long_chains(length, scale):
    rng = np.random.default_rng(length)
    potentials, (chain,) = random_case(rng, [length], 4, scale, True)
    log_z, marginals, best = log_space_reference(chain)
    messages = forward_backward(potentials)
    assert messages.log_z[0] == pytest.approx(log_z, rel=1e-9)
    np.testing.assert_allclose(node_marginals(messages), marginals, rtol=1e-6, atol=1e-9)
    assert viterbi(potentials).scores[0] == pytest.approx(best, rel=1e-9)


@given(chain_batches(span=5.0), st.integers(0, 2**32 - 1))
def test_float32_is_close(case, seed):
    potentials, chains = case
    single = potentials.astype(np.float32)
    messages = forward_backward(single)
    assert messages.alpha.dtype == np.float32
    expected = [chain.log_z() if chain.length else 0.0 for chain in chains]
    np.testing.assert_allclose(messages.log_z, expected, rtol=1e-4, atol=1e-4)
    double = node_marginals(forward_backward(potentials))
    np.testing.assert_allclose(node_marginals(messages), double, atol=1e-4)


def test_float32_underflow_is_redone():
    rng = np.random.default_rng(5)
    potentials, chains = random_case(rng, [30, 30], 4, 1e4, True)
    messages = forward_backward(potentials.astype(np.float32))
    for index, chain in enumerate(chains):
        assert messages.log_z[index] == pytest.approx(log_space_reference(chain)[0], rel=1e-5)


@pytest.mark.parametrize("scale", [10.0, 20.0, 30.0, 50.0, 80.0])
@pytest.mark.parametrize("conditioned", [False, True])
def test_float32_notices_what_it_lost(scale, conditioned):
    """Masks keep apart states that fall behind by e^88 and win in the end."""
    rng = np.random.default_rng(int(scale))
    for _ in range(30):
        potentials, _ = random_case(rng, [20, 12], 4, scale, True, conditioned)
        exact, single = forward_backward(potentials), forward_backward(potentials.astype(np.float32))
        np.testing.assert_allclose(single.log_z, exact.log_z, rtol=1e-5, atol=1e-5 * scale)
        np.testing.assert_allclose(log_partition(potentials.astype(np.float32)), exact.log_z, atol=1e-5 * scale)
        np.testing.assert_allclose(node_marginals(single), node_marginals(exact), atol=1e-4)
        np.testing.assert_allclose(expected_transitions(single), expected_transitions(exact), atol=1e-3)


def test_float32_leaves_ordinary_scores_to_the_scaled_recursion():
    rng = np.random.default_rng(5)
    potentials, _ = random_case(rng, [30] * 20, 4, 8.0, True)
    assert forward_backward(potentials.astype(np.float32)).redone is None


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_edge_marginals_in_any_order_and_twice(scale):
    potentials, _ = random_case(np.random.default_rng(2), [4, 3, 4], 3, scale, False)
    messages = forward_backward(potentials)
    assert (messages.redone is None) == (scale == 1.0)
    rows = np.array([7, 3, 7, 10, 3])
    expected = [edge_marginals(messages, np.array([row]))[0] for row in rows]
    np.testing.assert_allclose(edge_marginals(messages, rows), expected, atol=1e-12)


def test_no_legal_path_names_the_sequence():
    batch = pack(np.array([2, 3]))
    emissions = np.zeros((5, 2))
    emissions[batch.rows[1]] = -np.inf
    potentials = ChainPotentials(batch, emissions, np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    for inference in (forward_backward, log_partition, viterbi):
        with pytest.raises(NoPathError, match=r"CRF103.*\[0\]") as caught:
            inference(potentials)
        assert caught.value.sequences == [0]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite_scores_name_the_sequence(value):
    batch = pack(np.array([2, 3]))
    emissions = np.zeros((5, 2))
    emissions[batch.rows[3], 1] = value
    potentials = ChainPotentials(batch, emissions, np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    for inference in (forward_backward, viterbi):
        with pytest.raises(NonFiniteError, match="CRF102") as caught:
            inference(potentials)
        assert caught.value.sequences == [1]
    transitions = np.full((2, 2), value)
    with pytest.raises(NonFiniteError, match="transitions"):
        viterbi(ChainPotentials(batch, np.zeros((5, 2)), transitions, np.zeros(2), np.zeros(2)))


def test_wrong_shapes_are_named():
    batch = pack(np.array([2]))
    with pytest.raises(ValueError, match=r"CRF101.*transitions.*\(3, 3\)"):
        viterbi(ChainPotentials(batch, np.zeros((2, 3)), np.zeros((2, 2)), np.zeros(3), np.zeros(3)))

    matrices, groups = np.zeros((1, 3, 3)), np.zeros(2, dtype=int)
    for edges in (EdgePotentials(matrices[:, :2], groups), EdgePotentials(matrices, groups[:1])):
        with pytest.raises(ValueError, match=r"CRF101.*edge"):
            viterbi(ChainPotentials(batch, np.zeros((2, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros(3), edges))


def test_one_label_and_one_unit():
    for lengths in ([1], [3, 1, 0]):
        n = sum(lengths)
        sole = ChainPotentials(pack(np.array(lengths)), np.full((n, 1), 2.0), np.ones((1, 1)), np.ones(1), np.ones(1))
        scores = [2.0 * length + (length - 1) + 2 if length else 0.0 for length in lengths]
        np.testing.assert_allclose(forward_backward(sole).log_z, scores)
        np.testing.assert_allclose(viterbi(sole).scores, scores)
        np.testing.assert_array_equal(node_marginals(forward_backward(sole)), np.ones((n, 1)))


def test_nothing_to_do():
    empty = ChainPotentials(pack(np.array([0, 0])), np.zeros((0, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    messages = forward_backward(empty)
    assert messages.log_z.tolist() == viterbi(empty).scores.tolist() == [0.0, 0.0]
    assert node_marginals(messages).shape == (0, 3)
    assert expected_transitions(messages).sum() == 0


def test_a_long_sequence_alone_is_decoded_without_arcs():
    rng = np.random.default_rng(2)
    weak = rng.normal(0, 0.5, (40, 40))
    for lengths, has_arcs in (([600], False), ([600, 9], False), ([600, 600], True)):
        potentials, _ = random_case(rng, lengths, 40, 50.0, False)
        calm = replace(potentials, transitions=weak, start=weak[0], end=weak[1])
        assert (prune(calm) is not None) == has_arcs
        assert viterbi(calm).labels.tolist() == trace(calm, max_forward(calm)).labels.tolist()
