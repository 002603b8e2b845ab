"""Chains with few arcs against the general recursions, which are held against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain import arcs as module
from spacy_crf.core.chain.arcs import Arcs, arc_marginals, arc_viterbi
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.potentials import ChainPotentials, NoPathError
from spacy_crf.core.chain.viterbi import viterbi

LENGTHS = np.array([3, 0, 5, 1, 5])


def sparse_chain(seed: int, n_labels: int = 6, share: float = 0.4) -> ChainPotentials:
    """Scores with forbidden transitions, starts and labels; from each label one may stay there, so that paths exist."""
    rng = np.random.default_rng(seed)
    transitions = np.where(rng.random((n_labels, n_labels)) < share, rng.normal(0, 2, (n_labels, n_labels)), -np.inf)
    np.fill_diagonal(transitions, rng.normal(0, 1, n_labels))
    emissions = rng.normal(0, 3, (int(LENGTHS.sum()), n_labels))
    emissions[rng.random(emissions.shape) < 0.1] = -np.inf
    emissions[:, 0] = rng.normal(0, 1, len(emissions))
    start, end = rng.normal(0, 1, (2, n_labels))
    start[-1] = -np.inf
    return ChainPotentials(pack(LENGTHS), emissions, transitions, start, end)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2, 0.8]))
def test_marginals_and_paths_are_those_of_the_general_chain(seed: int, share: float) -> None:
    chain = sparse_chain(seed, share=share)
    arcs = Arcs.of_transitions(chain.transitions)
    np.testing.assert_allclose(arc_marginals(chain, arcs), node_marginals(forward_backward(chain)), atol=1e-12)
    found, expected = arc_viterbi(chain, arcs), viterbi(chain)
    assert found.labels.tolist() == expected.labels.tolist()
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12)


def test_sequences_are_compared_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = sparse_chain(3)
    arcs = Arcs.of_transitions(chain.transitions)
    whole = arc_viterbi(chain, arcs).labels.tolist()
    monkeypatch.setattr(module, "CHUNK", 1)
    assert arc_viterbi(chain, arcs).labels.tolist() == whole


def test_sequences_without_a_path_are_named() -> None:
    chain = sparse_chain(1)
    row = chain.batch.rows[4]  # the second unit of the third sequence
    chain.emissions[row] = -np.inf
    arcs = Arcs.of_transitions(chain.transitions)
    for decode in (arc_viterbi, arc_marginals):
        with pytest.raises(NoPathError) as caught:
            decode(chain, arcs)
        assert "2" in str(caught.value)


def test_labels_that_nothing_leads_to() -> None:
    transitions = np.full((3, 3), -np.inf)
    transitions[:, 1] = 0.0
    chain = ChainPotentials(pack(np.array([2])), np.zeros((2, 3)), transitions, np.zeros(3), np.zeros(3))
    arcs = Arcs.of_transitions(transitions)
    np.testing.assert_allclose(arc_marginals(chain, arcs), [[1 / 3] * 3, [0, 1, 0]])
    assert arc_viterbi(chain, arcs).labels.tolist() == viterbi(chain).labels.tolist()


def test_nothing_to_tag() -> None:
    chain = ChainPotentials(pack(np.array([0, 0])), np.zeros((0, 2)), np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    arcs = Arcs.of_transitions(chain.transitions)
    assert arc_marginals(chain, arcs).shape == (0, 2) and arc_viterbi(chain, arcs).labels.shape == (0,)
