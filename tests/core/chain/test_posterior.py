"""Decoding from marginals against enumeration."""

import numpy as np
import pytest
from helpers.strategies import build, chain_batches, unpacked
from hypothesis import given

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.viterbi import posterior_decode, viterbi


def decode(potentials):
    return posterior_decode(potentials, node_marginals(forward_backward(potentials)))


@given(chain_batches())
def test_the_path_is_allowed_and_none_has_more_right_labels(case):
    potentials, chains = case
    decoded = decode(potentials)
    for labels, score, chain in zip(unpacked(potentials, decoded.labels), decoded.scores, chains):
        marginals = chain.node_marginals()
        rewards = [sum(marginals[t, label] for t, label in enumerate(path)) for path, _ in chain.ranked()]
        assert score == pytest.approx(max(rewards), abs=1e-9)
        assert sum(marginals[range(chain.length), labels]) == pytest.approx(max(rewards), abs=1e-9)
        assert chain.score(tuple(labels.tolist())) > -np.inf


@pytest.mark.parametrize("conditioned", [False, True])
def test_the_three_ways_of_decoding_differ(conditioned):
    """0 0 is the best sequence (0.4); at each unit 1 (0.6) and 0 (0.4) are, but 1 0 is not allowed; 1 1 is (0.3)."""
    with np.errstate(divide="ignore"):
        pairs = np.log([[0.4, 0.0, 0.0], [0.0, 0.3, 0.3], [0.0, 0.0, 0.0]])
    matrices = np.stack([np.full((3, 3), 9.0), pairs] if conditioned else [pairs])
    groups = np.array([0, 1]) if conditioned else np.zeros(2, int)
    potentials, _ = build(pack(np.array([2])), np.zeros((2, 3)), matrices, groups, *np.zeros((2, 3)), conditioned)
    assert viterbi(potentials).labels.tolist() == [0, 0]
    assert node_marginals(forward_backward(potentials)).argmax(axis=1).tolist() == [1, 0]
    decoded = decode(potentials)
    assert decoded.labels.tolist() == [1, 1]
    assert decoded.scores[0] == pytest.approx(0.9)


def test_labels_that_emissions_forbid_are_not_taken():
    """Label 9 is impossible in the middle; by way of it, the likeliest first (0: 0.6) and last (9: 0.4) could meet."""
    matrices = np.full((3, 10, 10), -np.inf)
    for label in range(1, 5):
        matrices[1, 0, label], matrices[2, label, label] = np.log(0.15), 0.0
        matrices[1, label, label + 4], matrices[2, label + 4, 9] = np.log(0.1), 0.0
    matrices[1, 0, 9] = matrices[2, 9, 9] = 0.0
    emissions = np.zeros((3, 10))
    emissions[1, 9] = -np.inf
    potentials, _ = build(pack(np.array([3])), emissions, matrices, np.arange(3), *np.zeros((2, 10)), True)
    decoded = decode(potentials)
    assert decoded.labels.tolist() == [0, 1, 1]
    assert decoded.scores[0] == pytest.approx(0.9)
