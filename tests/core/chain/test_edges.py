"""Conditioned transitions as columns are those of the matrices, and inference over them is the same."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.oracle import Chain
from helpers.strategies import unpacked
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.edges import EdgePotentials, EdgeTable
from spacy_crf.core.chain.forward import forward_backward, log_partition
from spacy_crf.core.chain.marginals import edge_marginals, node_marginals, sequence_entropies
from spacy_crf.core.chain.potentials import ChainPotentials, NonFiniteError
from spacy_crf.core.chain.viterbi import posterior_decode, viterbi
from spacy_crf.core.sparse import from_columns

N_LABELS, N_FEATURES = 4, 6


def as_matrices(potentials):
    """The same with a complete matrix for each unit."""
    return replace(potentials, edges=EdgePotentials(potentials.edges.matrices, np.arange(potentials.batch.n_units)))


@st.composite
def tables(draw, dtype=np.float64, scale=3.0):
    """(dense weights, the shared matrix, their table): few cells have a weight, some transitions are forbidden."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = np.zeros((N_FEATURES, N_LABELS * N_LABELS), dtype=dtype)
    cells = rng.permutation(weights.size)[: draw(st.integers(0, 6))]
    weights.reshape(-1)[cells] = rng.normal(0, scale, len(cells))
    transitions = rng.normal(0, scale, (N_LABELS, N_LABELS)).astype(dtype)
    forbidden = rng.random(transitions.shape) < draw(st.sampled_from([0.0, 0.3]))
    forbidden[0, 0] = False
    transitions[forbidden] = -np.inf
    table = EdgeTable.of(weights, transitions)
    assert table is not None
    return weights, transitions, table


@st.composite
def chains(draw, most=4, scale=3.0):
    """(ChainPotentials over columns, Chains): units have no edge feature, one or two."""
    _, transitions, table = draw(tables(scale=scale))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    batch = pack(np.array(lengths))
    columns = rng.integers(-1, N_FEATURES, (batch.n_units, 2)).astype(np.int32)
    emissions = rng.normal(0, scale, (batch.n_units, N_LABELS))
    start, end = rng.normal(0, scale, (2, N_LABELS))
    edges = table.look_up(from_columns(columns, N_FEATURES))
    potentials = ChainPotentials(batch, emissions, transitions, start, end, edges)
    parts = zip(unpacked(potentials, emissions), unpacked(potentials, edges.matrices))
    return potentials, [Chain(scores, list(matrices), start, end) for scores, matrices in parts]


@given(tables(np.float32), st.integers(0, 2**32 - 1))
def test_columns_are_the_sums_of_weights_to_the_last_bit(table, seed):
    weights, transitions, known = table
    rng = np.random.default_rng(seed)
    features = from_columns(rng.integers(-1, N_FEATURES, (30, 3)).astype(np.int32), N_FEATURES)
    expected = np.tile(transitions.reshape(-1), (30, 1))
    features.times(weights, out=expected)
    np.testing.assert_array_equal(known.look_up(features).matrices, expected.reshape(30, N_LABELS, N_LABELS))


@given(chains())
def test_best_paths_and_marginals_equal_enumeration(case):
    potentials, by_sequence = case
    decoded, messages = viterbi(potentials), forward_backward(potentials)
    np.testing.assert_allclose(messages.log_z, [c.log_z() if c.length else 0.0 for c in by_sequence], atol=1e-9)
    ours = zip(unpacked(potentials, decoded.labels), unpacked(potentials, node_marginals(messages)), by_sequence)
    for labels, marginals, chain in ours:
        if chain.length:
            assert chain.score(labels.tolist()) == pytest.approx(chain.best_score())
            np.testing.assert_allclose(marginals, chain.node_marginals(), atol=1e-9)


@given(chains(most=40), st.sampled_from([1.0, 0.5]))
def test_all_is_as_with_matrices(case, temperature):
    potentials, _ = case
    ours, theirs = (each.tempered(temperature) for each in (potentials, as_matrices(potentials)))
    np.testing.assert_array_equal(viterbi(ours).labels, viterbi(theirs).labels)
    np.testing.assert_array_equal(viterbi(ours).scores, viterbi(theirs).scores)
    np.testing.assert_allclose(log_partition(ours), log_partition(theirs), atol=1e-9)
    ours, theirs = forward_backward(ours), forward_backward(theirs)
    inner = np.arange(len(potentials.batch.first_rows), potentials.batch.n_units)
    np.testing.assert_allclose(node_marginals(ours), node_marginals(theirs), atol=1e-10)
    np.testing.assert_allclose(edge_marginals(ours, inner), edge_marginals(theirs, inner), atol=1e-10)
    np.testing.assert_allclose(sequence_entropies(ours), sequence_entropies(theirs), atol=1e-8)
    paths = (posterior_decode(each.potentials, node_marginals(each)).labels for each in (ours, theirs))
    np.testing.assert_array_equal(*paths)


@given(chains(most=20, scale=400.0))
def test_scores_that_scaling_cannot_hold(case):
    potentials, _ = case
    ours, theirs = forward_backward(potentials), forward_backward(as_matrices(potentials))
    np.testing.assert_allclose(ours.log_z, theirs.log_z, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(node_marginals(ours), node_marginals(theirs), atol=1e-6)


def test_a_selection_has_its_own_transitions():
    rng = np.random.default_rng(0)
    weights = np.zeros((N_FEATURES, N_LABELS * N_LABELS))
    weights[rng.integers(0, N_FEATURES, 6), rng.integers(0, weights.shape[1], 6)] = 5.0
    table = EdgeTable.of(weights, np.zeros((N_LABELS, N_LABELS)))
    batch = pack(np.array([3, 1, 4]))
    edges = table.look_up(from_columns(rng.integers(0, N_FEATURES, (8, 2)).astype(np.int32), N_FEATURES))
    zeros = np.zeros(N_LABELS)
    part, rows = ChainPotentials(
        batch, np.zeros((8, N_LABELS)), table.columns[:N_LABELS].T, zeros, zeros, edges
    ).select(np.array([2, 0]))
    np.testing.assert_array_equal(part.edges.matrices, edges.matrices[rows])


def test_many_weights_are_left_to_matrices():
    assert EdgeTable.of(np.ones((N_FEATURES, N_LABELS * N_LABELS)), np.zeros((N_LABELS, N_LABELS))) is None


def test_weights_that_are_no_numbers_are_found():
    weights = np.zeros((N_FEATURES, N_LABELS * N_LABELS))
    weights[2, 3] = np.nan
    table = EdgeTable.of(weights, np.zeros((N_LABELS, N_LABELS)))
    zeros = np.zeros(N_LABELS)
    edges = table.look_up(from_columns(np.array([[2], [1]], dtype=np.int32), N_FEATURES))
    with pytest.raises(NonFiniteError, match="edges"):
        viterbi(ChainPotentials(pack(np.array([2])), np.zeros((2, N_LABELS)), np.zeros((4, 4)), zeros, zeros, edges))
