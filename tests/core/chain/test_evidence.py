"""Conditioning on given labels against enumeration of the sequences that agree with them."""

import itertools

import numpy as np
import pytest
from helpers.strategies import chain_batches, unpacked
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.edges import EdgeColumns, EdgePotentials
from spacy_crf.core.chain.evidence import ImpossibleEvidenceError, allowed_labels, condition, log_evidence
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.paths import nbest, sample
from spacy_crf.core.chain.potentials import ChainPotentials, NoPathError
from spacy_crf.core.chain.viterbi import viterbi


@st.composite
def given_sets(draw):
    """(ChainPotentials, chains, allowed (N, L)): evidence that a possible path agrees with."""
    potentials, chains = draw(chain_batches())
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    path = sample(potentials, 1, rng)[0]
    allowed = rng.random(potentials.emissions.shape) < draw(st.sampled_from([0.0, 0.4, 1.0]))
    allowed[np.arange(len(path)), path] = True
    return potentials, chains, allowed


@given(given_sets())
def test_inference_is_that_of_the_sequences_that_agree(case):
    potentials, chains, allowed = case
    clamped = condition(potentials, allowed)
    messages, decoded, best = forward_backward(clamped), viterbi(clamped), nbest(clamped, 3)
    log_probabilities = log_evidence(potentials, allowed)
    own = zip(chains, unpacked(potentials, allowed), unpacked(potentials, node_marginals(messages)))
    for sequence, (chain, sets, marginals) in enumerate(own):
        expected = chain.clamped(sets)
        assert messages.log_z[sequence] == pytest.approx(expected.log_z() if chain.length else 0.0, abs=1e-8)
        np.testing.assert_allclose(marginals, expected.node_marginals(), atol=1e-8)
        scores = [score for _, score in expected.ranked()[:3]]
        assert decoded.scores[sequence] == pytest.approx(scores[0])
        np.testing.assert_allclose(best.scores[sequence, : len(scores)], scores)
        share = np.log(chain.probability(lambda path, sets=sets: all(sets[range(len(path)), path])))
        assert log_probabilities[sequence] == pytest.approx(share, abs=1e-8)


def test_labels_become_sets():
    assert allowed_labels(np.array([1, -1]), 3).tolist() == [[False, True, False], [True, True, True]]
    with pytest.raises(ValueError, match="CRF107"):
        allowed_labels(np.array([0, 3]), 3)


def test_free_labels_change_nothing():
    rng = np.random.default_rng(0)
    potentials = ChainPotentials(pack(np.array([2, 0])), rng.normal(0, 1, (2, 3)), np.zeros((3, 3)), *np.zeros((2, 3)))
    free = allowed_labels(np.full(2, -1), 3)
    assert condition(potentials, free).emissions.tolist() == potentials.emissions.tolist()
    np.testing.assert_allclose(log_evidence(potentials, free), 0, atol=1e-12)
    assert condition(potentials.astype(np.float32), free).emissions.dtype == np.float32


def test_impossible_evidence_names_the_sequence():
    batch = pack(np.array([1, 2, 2]))
    transitions = np.zeros((2, 2))
    transitions[1, 1] = -np.inf
    potentials = ChainPotentials(batch, np.zeros((5, 2)), transitions, np.zeros(2), np.zeros(2))
    given_labels = np.array([1, 0, 1, 1, 1])[batch.units]
    for function in (condition, log_evidence):
        with pytest.raises(ImpossibleEvidenceError, match=r"CRF109.*\[2\]") as caught:
            function(potentials, allowed_labels(given_labels, 2))
        assert caught.value.sequences == [2]
        assert isinstance(caught.value, NoPathError)
    with pytest.raises(ValueError, match="CRF101.*evidence"):
        condition(potentials, np.ones((5, 3), dtype=bool))


@pytest.mark.parametrize("form", ["none", "matrices", "columns"])
def test_sequences_that_evidence_blocks_are_those_without_a_labelling(form):
    rng = np.random.default_rng(7)
    found = set()
    for _ in range(60):
        batch = pack(rng.integers(0, 5, 11))
        transitions, start, end = (some_forbidden(rng, *shape) for shape in [(3, 3), (3,), (3,)])
        edges = edges_of(form, rng, batch.n_units, transitions)
        chains = ChainPotentials(batch, np.zeros((batch.n_units, 3)), transitions, start, end, edges)
        known = rng.random((batch.n_units, 3)) < 0.7
        blocked = [b for b in range(batch.n_sequences) if not has_labelling(chains, known, b)]
        found.update(blocked)
        if blocked:
            with pytest.raises(ImpossibleEvidenceError) as raised:
                condition(chains, known)
            assert raised.value.sequences == blocked
        else:
            condition(chains, known)
    assert found


def some_forbidden(rng, *shape):
    return np.where(rng.random(shape) < 0.4, -np.inf, rng.normal(size=shape))


def edges_of(form, rng, n_units, transitions):
    """Transitions of units: those of all, two matrices, or columns that are the shared ones or one of four others."""
    if form == "none":
        return None
    if form == "matrices":
        return EdgePotentials(some_forbidden(rng, 2, 3, 3), rng.integers(0, 2, n_units))
    numbers = np.where(rng.random((n_units, 3)) < 0.5, rng.integers(3, 7, (n_units, 3)), np.arange(3))
    return EdgeColumns(np.concatenate([transitions.T, some_forbidden(rng, 4, 3)]), numbers)


def has_labelling(chains, known, sequence):
    """Whether one of all labellings of a sequence is allowed."""
    rows = chains.batch.rows[chains.batch.segments.owners == sequence]
    for labels in itertools.product(range(chains.n_labels), repeat=len(rows)):
        score = sum(0.0 if known[row, label] else -np.inf for row, label in zip(rows, labels))
        if labels:
            score += chains.start[labels[0]] + chains.end[labels[-1]]
        for row, before, label in zip(rows[1:], labels, labels[1:]):
            matrix = chains.transitions if chains.edges is None else chains.edges.into(np.array([row]))[0]
            score += matrix[before, label]
        if score > -np.inf:
            return True
    return False
