"""Entropies and other measures of uncertainty against enumeration."""

import math

import numpy as np
from helpers.strategies import build, chain_batches, unpacked
from hypothesis import given

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import expected_scores, node_marginals, sequence_entropies, token_entropies
from spacy_crf.core.chain.potentials import ChainPotentials


@given(chain_batches())
def test_sequence_entropies_equal_enumeration(case):
    potentials, chains = case
    messages = forward_backward(potentials)
    np.testing.assert_allclose(sequence_entropies(messages), [chain.entropy() for chain in chains], atol=1e-9)


@given(chain_batches(span=1e4))
def test_expected_scores_equal_enumeration_for_any_scores(case):
    """Scores of 1e4 are computed in log space, some of them or all."""
    potentials, chains = case
    expected = []
    for chain in chains:
        log_z = chain.log_z()
        expected.append(math.fsum(math.exp(score - log_z) * score for _, score in chain.ranked()))
    np.testing.assert_allclose(expected_scores(forward_backward(potentials)), expected, rtol=1e-9, atol=1e-8)


@given(chain_batches())
def test_token_entropies_equal_enumeration(case):
    potentials, chains = case
    entropies = token_entropies(node_marginals(forward_backward(potentials)))
    for ours, chain in zip(unpacked(potentials, entropies), chains):
        expected = [-sum(p * math.log(p) for p in row if p > 0) for row in chain.node_marginals()]
        np.testing.assert_allclose(ours, expected, atol=1e-7)


def test_uniform_chains_have_the_greatest_entropy_and_certain_ones_none():
    batch = pack(np.array([3, 0, 2]))
    uniform = ChainPotentials(batch, np.full((5, 4), 7.0), np.zeros((4, 4)), np.zeros(4), np.zeros(4))
    messages = forward_backward(uniform)
    np.testing.assert_allclose(sequence_entropies(messages), np.array([3, 0, 2]) * math.log(4))
    np.testing.assert_allclose(token_entropies(node_marginals(messages)), math.log(4))
    emissions = np.full((5, 4), -np.inf)
    emissions[:, 2] = 1.0
    certain = ChainPotentials(batch, emissions, np.zeros((4, 4)), np.zeros(4), np.zeros(4))
    messages = forward_backward(certain)
    assert sequence_entropies(messages).tolist() == [0, 0, 0]
    assert token_entropies(node_marginals(messages)).tolist() == [0] * 5


def test_one_sequence_in_log_space_leaves_the_others_alone():
    rng = np.random.default_rng(3)
    emissions = rng.normal(0, 1, (9, 3))
    emissions[3:6] *= 1e4
    groups = rng.integers(0, 2, 9)
    for conditioned in (False, True):
        potentials, chains = build(
            pack(np.array([3, 3, 3])), emissions, rng.normal(0, 1, (2, 3, 3)), groups * conditioned,
            *np.zeros((2, 3)), conditioned,
        )  # fmt: skip
        messages = forward_backward(potentials)
        assert messages.redone is not None and messages.redone.potentials.batch.n_sequences == 1
        np.testing.assert_allclose(sequence_entropies(messages), [chain.entropy() for chain in chains], atol=1e-8)
