"""Samples against the probabilities of all label sequences."""

import math
from collections import Counter

import numpy as np
import pytest
from helpers.strategies import build, chain_batches, unpacked
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.paths import sample
from spacy_crf.core.chain.potentials import ChainPotentials, NonFiniteError, NoPathError


def chi_square(chain, drawn) -> tuple[float, int]:
    """Statistic and degrees of freedom; paths that are rarely expected share a cell."""
    log_z, n = chain.log_z(), len(drawn)
    expected = {path: n * math.exp(score - log_z) for path, score in chain.ranked()}
    counts = Counter(map(tuple, drawn.tolist()))
    assert set(counts) <= set(expected)
    common = [path for path, value in expected.items() if value >= 5]
    cells = [(counts[path], expected[path]) for path in common]
    rest = n - sum(value for _, value in cells)
    if rest >= 5:
        cells.append((n - sum(count for count, _ in cells), rest))
    return sum((count - value) ** 2 / value for count, value in cells), max(1, len(cells) - 1)


@settings(max_examples=30)
@given(chain_batches(max_length=4, max_labels=3, span=2.0), st.integers(0, 1000))
def test_sequences_come_in_proportion_to_their_probability(case, seed):
    potentials, chains = case
    drawn = sample(potentials, 2000, np.random.default_rng(seed))
    for own, chain in zip(unpacked(potentials, drawn.T), chains):
        if chain.length:
            statistic, freedom = chi_square(chain, own.T)
            assert statistic < freedom + 5 * math.sqrt(2 * freedom) + 6  # beyond one in 100,000


@given(chain_batches(span=1e4), st.integers(1, 6))
def test_only_allowed_sequences_are_drawn(case, n):
    potentials, chains = case
    for labels in sample(potentials, n, np.random.default_rng(0)):
        for path, chain in zip(unpacked(potentials, labels), chains):
            assert chain.score(tuple(path.tolist())) > -np.inf


@pytest.mark.parametrize("conditioned", [False, True])
@pytest.mark.parametrize("n_labels,n", [(3, 4000), (30, 20)])
def test_frequencies_are_the_marginals(conditioned, n_labels, n):
    rng = np.random.default_rng(4)
    lengths = [9, 0, 1, 5] * (8000 // (2 * n))
    size = sum(lengths)
    groups = rng.integers(0, 2, size) * conditioned
    emissions = np.tile(rng.normal(0, 1, (15, n_labels)), (size // 15, 1))
    potentials, _ = build(
        pack(np.array(lengths)), emissions, rng.normal(0, 1, (2, n_labels, n_labels)), groups, *np.zeros((2, n_labels)),
        conditioned,
    )  # fmt: skip
    drawn = sample(potentials, n, rng)
    marginals = node_marginals(forward_backward(potentials))
    frequencies = (drawn[:, :, None] == np.arange(n_labels)).mean(axis=(0,))
    np.testing.assert_allclose(frequencies.mean(axis=0), marginals.mean(axis=0), atol=0.01)
    assert abs(frequencies - marginals).max() < 5 * 0.5 / math.sqrt(n)


def test_sequences_redone_in_log_space():
    """A label 400 behind in the first half wins in the second, so that scaled messages have lost it."""
    emissions = np.zeros((40, 2))
    emissions[:20, 1], emissions[20:, 1] = -20.0, 20.05
    matrices = np.array([[[0.0, -np.inf], [-np.inf, 0.0]]])
    potentials, _ = build(pack(np.array([40])), emissions, matrices, np.zeros(40, int), *np.zeros((2, 2)), False)
    assert forward_backward(potentials).redone is not None
    drawn = sample(potentials, 4000, np.random.default_rng(1))
    assert (drawn == drawn[:, :1]).all()
    assert drawn[:, 0].mean() == pytest.approx(1 / (1 + math.exp(-1)), abs=0.04)


def test_steps_of_sequences_redone_in_log_space():
    """The last unit is decided by more than e^345, which is redone in log space; the first two are not."""
    rng = np.random.default_rng(8)
    emissions = rng.normal(0, 1, (3, 3))
    emissions[2, 1] = -400.0
    potentials, (chain,) = build(
        pack(np.array([3])), emissions, rng.normal(0, 2, (1, 3, 3)), np.zeros(3, int), *np.zeros((2, 3)), False
    )
    assert forward_backward(potentials).redone is not None
    statistic, freedom = chi_square(chain, sample(potentials, 4000, rng))
    assert statistic < freedom + 5 * math.sqrt(2 * freedom) + 6


class LowestPoints(np.random.Generator):
    """Gives the least number that a generator can give."""

    def random(self, size):
        return np.zeros(size)


def test_labels_without_weight_are_never_drawn():
    emissions = np.array([[-np.inf, -np.inf, 0.0, 0.0]])
    potentials = ChainPotentials(pack(np.array([1])), emissions, np.zeros((4, 4)), *np.zeros((2, 4)))
    assert sample(potentials, 1, LowestPoints(np.random.PCG64(0))).tolist() == [[2]]


def test_the_seed_decides():
    rng = np.random.default_rng(3)
    potentials = ChainPotentials(pack(np.array([4, 2])), rng.normal(0, 1, (6, 3)), np.zeros((3, 3)), *np.zeros((2, 3)))
    first, again, other = (sample(potentials, 50, np.random.default_rng(seed)).tolist() for seed in (7, 7, 8))
    assert first == again != other


def test_errors_and_nothing_to_do():
    batch, zeros, rng = pack(np.array([2, 3])), np.zeros(2), np.random.default_rng(0)
    emissions = np.zeros((5, 2))
    emissions[batch.rows[4]] = -np.inf
    with pytest.raises(NoPathError) as caught:
        sample(ChainPotentials(batch, emissions, np.zeros((2, 2)), zeros, zeros), 1, rng)
    assert caught.value.sequences == [1]
    with pytest.raises(NonFiniteError):
        sample(ChainPotentials(batch, emissions * np.nan, np.zeros((2, 2)), zeros, zeros), 1, rng)
    with pytest.raises(ValueError, match=r"CRF108.*n must be"):
        sample(ChainPotentials(batch, np.zeros((5, 2)), np.zeros((2, 2)), zeros, zeros), 0, rng)
    empty = ChainPotentials(pack(np.array([0])), np.zeros((0, 2)), np.zeros((2, 2)), zeros, zeros)
    assert sample(empty, 3, rng).shape == (3, 0)
