"""The K best label sequences against enumeration."""

import numpy as np
import pytest
from helpers.oracle import Chain, log_space_reference
from helpers.strategies import build, chain_batches, unpacked
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.forward import log_partition
from spacy_crf.core.chain.paths import ABSENT, nbest
from spacy_crf.core.chain.potentials import ChainPotentials, NonFiniteError, NoPathError
from spacy_crf.core.chain.viterbi import viterbi


def paths_of(potentials, found, sequence) -> list[tuple[int, ...]]:
    """The paths of one sequence."""
    by_rank = [unpacked(potentials, labels)[sequence] for labels in found.labels]
    return [tuple(labels.tolist()) for labels in by_rank[: found.counts[sequence]]]


@given(chain_batches(), st.integers(1, 12))
def test_paths_scores_and_probabilities_equal_enumeration(case, k):
    potentials, chains = case
    found = nbest(potentials, k)
    probabilities = np.exp(found.scores - log_partition(potentials)[:, None])
    assert found.labels.shape == (k, potentials.batch.n_units)
    for sequence, chain in enumerate(chains):
        expected = chain.ranked()[:k]
        assert found.counts[sequence] == len(expected)
        assert paths_of(potentials, found, sequence) == [path for path, _ in expected]
        scores = [score for _, score in expected] + [-np.inf] * (k - len(expected))
        np.testing.assert_allclose(found.scores[sequence], scores, rtol=1e-9, atol=1e-9)
        exact = np.exp(np.array(scores) - chain.log_z())
        np.testing.assert_allclose(probabilities[sequence], exact, rtol=1e-7, atol=1e-12)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 20), st.booleans(), st.integers(0, 10_000))
def test_ties_leave_nothing_out_and_nothing_twice(length, n_labels, k, conditioned, seed):
    """Scores that are whole numbers add up without rounding, so that many are equal."""
    rng = np.random.default_rng(seed)
    matrices = rng.integers(0, 2, (2, n_labels, n_labels)).astype(float)
    emissions = rng.integers(0, 2, (2 * length, n_labels)).astype(float)
    groups = rng.integers(0, 2, 2 * length) * conditioned
    potentials, chains = build(
        pack(np.array([length, length])), emissions, matrices, groups, *np.zeros((2, n_labels)), conditioned
    )
    found = nbest(potentials, k)
    for sequence, chain in enumerate(chains):
        paths = paths_of(potentials, found, sequence)
        assert len(set(paths)) == len(paths)
        assert [chain.score(path) for path in paths] == [score for _, score in chain.ranked()[:k]]
        assert found.scores[sequence, : len(paths)].tolist() == [chain.score(path) for path in paths]
        assert paths[0] == chain.ranked()[0][0]


@given(chain_batches(), st.sampled_from([np.float32, np.float64]))
def test_one_is_viterbi_and_fewer_are_the_beginning_of_more(case, dtype):
    potentials = case[0].astype(dtype)
    best, more = viterbi(potentials), nbest(potentials, 7)
    for k in (1, 2, 6):
        fewer = nbest(potentials, k)
        assert fewer.labels.tolist() == more.labels[:k].tolist()
        assert fewer.scores.tolist() == more.scores[:, :k].tolist()
        assert fewer.labels[0].tolist() == best.labels.tolist()
        np.testing.assert_allclose(fewer.scores[:, 0], best.scores, rtol=1e-6)


@pytest.mark.parametrize("conditioned", [False, True])
def test_scores_are_those_of_the_paths_in_long_chains(conditioned):
    rng = np.random.default_rng(1)
    lengths = [40, 1, 17, 0, 40, 300]
    n, n_labels, k = sum(lengths), 6, 9
    emissions, matrices = rng.normal(0, 3, (n, n_labels)), rng.normal(0, 3, (2, n_labels, n_labels))
    matrices[:, rng.random((n_labels, n_labels)) < 0.3] = -np.inf
    matrices[:, range(n_labels), range(n_labels)] = 0.0
    emissions[rng.random(emissions.shape) < 0.2] = -np.inf
    emissions[:, 0] = 0.0
    groups = rng.integers(0, 2, n) * conditioned
    potentials, chains = build(
        pack(np.array(lengths)), emissions, matrices, groups, *rng.normal(0, 1, (2, n_labels)), conditioned
    )
    found = nbest(potentials, k)
    assert (np.diff(found.scores[[0, 2, 4, 5]], axis=1) <= 0).all()
    for sequence, chain in enumerate(chains):
        paths = paths_of(potentials, found, sequence)
        assert len(set(paths)) == len(paths) == found.counts[sequence]
        for path, score in zip(paths, found.scores[sequence]):
            assert chain.score(path) == pytest.approx(score, rel=1e-9, abs=1e-9)
        if chain.length > 1:
            assert found.scores[sequence, 0] == pytest.approx(log_space_reference(chain)[2], rel=1e-12)


def test_sequences_with_fewer_paths_say_so():
    zeros = np.zeros(3)
    matrices = np.full((1, 3, 3), -np.inf)
    matrices[0, 0] = 0.0  # only 0 may be followed
    potentials, _ = build(pack(np.array([2, 0, 1])), np.zeros((3, 3)), matrices, np.zeros(3, int), zeros, zeros, False)
    found = nbest(potentials, 4)
    assert found.counts.tolist() == [3, 1, 3]
    assert unpacked(potentials, found.labels[3])[0].tolist() == [ABSENT, ABSENT]
    assert np.isneginf(found.scores).tolist() == [[False] * 3 + [True], [False] + [True] * 3, [False] * 3 + [True]]
    probabilities = np.exp(found.scores - log_partition(potentials)[:, None])
    np.testing.assert_allclose(probabilities, [[1 / 3] * 3 + [0], [1, 0, 0, 0], [1 / 3] * 3 + [0]])


def test_all_paths_have_probability_one_at_extreme_scores():
    rng = np.random.default_rng(2)
    chain = Chain(rng.uniform(-1e4, 1e4, (3, 3)), [np.zeros((3, 3))] * 3, np.zeros(3), np.zeros(3))
    potentials, _ = build(
        pack(np.array([3])), chain.emissions, np.zeros((1, 3, 3)), np.zeros(3, int), chain.start, chain.end, False
    )
    found = nbest(potentials, 27)
    assert found.counts.tolist() == [27]
    assert np.exp(found.scores - log_partition(potentials)[:, None]).sum() == pytest.approx(1)


def test_errors_are_those_of_viterbi():
    batch = pack(np.array([2, 3]))
    emissions = np.zeros((5, 2))
    emissions[batch.rows[1]] = -np.inf
    zeros = np.zeros(2)
    with pytest.raises(NoPathError, match=r"CRF103.*\[0\]") as caught:
        nbest(ChainPotentials(batch, emissions, np.zeros((2, 2)), zeros, zeros), 3)
    assert caught.value.sequences == [0]
    emissions[batch.rows[1]] = np.nan
    with pytest.raises(NonFiniteError, match="CRF102"):
        nbest(ChainPotentials(batch, emissions, np.zeros((2, 2)), zeros, zeros), 3)
    with pytest.raises(ValueError, match=r"CRF108.*k must be .* 1, got 0"):
        nbest(ChainPotentials(batch, np.zeros((5, 2)), np.zeros((2, 2)), zeros, zeros), 0)


def test_nothing_to_do():
    empty = ChainPotentials(pack(np.array([0, 0])), np.zeros((0, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    found = nbest(empty, 2)
    assert found.labels.shape == (2, 0)
    assert found.counts.tolist() == [1, 1]
    assert found.scores.tolist() == [[0.0, -np.inf]] * 2
