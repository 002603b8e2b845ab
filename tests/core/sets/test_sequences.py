"""Sets of sequences against enumeration of all of them."""

import numpy as np
import pytest
from helpers.strategies import chain_batches
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.distribution import ChainDistribution
from spacy_crf.core.chain.potentials import ChainPotentials, NoPathError
from spacy_crf.core.sets.predict import smallest_sequence_sets, smallest_set

CLOSE = 1e-7


def ranked(chain) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """All paths, best first, and their probabilities."""
    if not chain.length:
        return [()], np.ones(1)
    found, log_z = chain.ranked(), chain.log_z()
    return [path for path, _ in found], np.exp([score - log_z for _, score in found])


def is_beginning(chosen, paths, probabilities) -> bool:
    """Whether a set has the best paths, with their probabilities and mass."""
    size = len(chosen.probabilities)
    return (
        [tuple(path) for path in chosen.paths.tolist()] == paths[:size]
        and np.allclose(chosen.probabilities, probabilities[:size], rtol=1e-7, atol=1e-12)
        and chosen.mass == pytest.approx(probabilities[:size].sum())
        and chosen.mass <= 1
    )


@settings(max_examples=60)
@given(chain_batches(max_labels=3), st.sampled_from([0.01, 0.5, 0.8, 0.9, 0.99, 1.0]), st.sampled_from([1, 3, 20, 300]))
def test_smallest_sets_equal_enumeration(case, level, cap):
    potentials, chains = case
    found = smallest_sequence_sets(ChainDistribution(potentials), level, cap)
    assert len(found) == len(chains)
    for chain, chosen in zip(chains, found):
        paths, probabilities = ranked(chain)
        assert is_beginning(chosen, paths, probabilities)
        masses, size = np.cumsum(probabilities), len(chosen.paths)
        if chosen.complete:
            assert chosen.mass >= level * (1 - CLOSE) and (size == 1 or masses[size - 2] < level)
        else:
            assert size == cap and chosen.mass < level
        if cap >= len(paths):
            assert chosen.complete


def lists(*probabilities: float) -> tuple[np.ndarray, np.ndarray]:
    paths = np.arange(len(probabilities) * 2, dtype=np.int32).reshape(-1, 2)
    return paths, np.array(probabilities)


def test_levels_by_hand():
    paths, each = lists(0.5, 0.2, 0.1)
    assert [len(smallest_set(paths, each, level).paths) for level in (0.4, 0.5, 0.6, 0.8)] == [1, 1, 2, 3]
    short = smallest_set(paths, each, 0.9)
    assert not short.complete and short.mass == pytest.approx(0.8) and len(short.paths) == 3
    assert smallest_set(paths, each, 0.9, exhausted=True).complete
    assert smallest_set(paths, each, 0.8).complete


def random_chains(lengths: list[int], n_labels: int = 3, scale: float = 1.0) -> ChainPotentials:
    rng = np.random.default_rng(5)
    emissions = rng.normal(0, scale, (sum(lengths), n_labels))
    return ChainPotentials(
        pack(np.array(lengths, dtype=np.intp)),
        emissions,
        rng.normal(0, scale, (n_labels, n_labels)),
        np.zeros(n_labels),
        np.zeros(n_labels),
    )


def distribution(lengths: list[int]) -> ChainDistribution:
    return ChainDistribution(random_chains(lengths))


def test_more_paths_are_asked_for_only_where_they_are_needed(monkeypatch):
    asked = []

    def counted(found, k):
        asked.append((found.n_sequences, k))
        return original(found, k)

    original = ChainDistribution.n_best
    monkeypatch.setattr(ChainDistribution, "n_best", counted)
    potentials = random_chains([6, 1, 0, 3, 14], scale=1.2)
    found = smallest_sequence_sets(ChainDistribution(potentials), 0.9, cap=100)
    assert [k for _, k in asked] == [4, 16, 64, 100][: len(asked)] and len(asked) > 2
    assert asked[0][0] == 5 and 1 < asked[1][0] < 5 and asked[-1] == (1, 100)
    needed = [len(chosen.paths) for chosen in found]
    assert [n for n, _ in asked] == [sum(need > k for need in needed) for k in (0, 4, 16, 64)][: len(asked)]


def test_the_cap_bites_in_long_sequences_and_says_so():
    potentials = random_chains([345, 2], n_labels=5, scale=0.3)
    long, short = smallest_sequence_sets(ChainDistribution(potentials), 0.9, cap=32)
    assert not long.complete and len(long.paths) == 32 and 0 < long.mass < 0.9
    assert short.complete and short.mass >= 0.9 and long.paths.shape == (32, 345)


def test_empty_sequences_and_no_sequences():
    chosen = smallest_sequence_sets(distribution([0]), 1.0)[0]
    assert chosen.paths.shape == (1, 0) and chosen.mass == 1 and chosen.complete
    assert smallest_sequence_sets(distribution([]), 0.5) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smallest_set(*lists(0.5), 0.0), r"CRF806.*0\.0.*\(0, 1\]"),
        (lambda: smallest_sequence_sets(distribution([]), 1.1), "CRF806"),
        (lambda: smallest_set(lists(0.5)[0][:0], np.zeros(0), 0.5), "CRF811.*0 paths"),
        (lambda: smallest_set(lists(0.5)[0], np.zeros(2), 0.5), "CRF811.*1 paths and 2 prob.*as many"),
        (lambda: smallest_set(*lists(0.2, 0.5), 0.5), "CRF811.*descend"),
        (lambda: smallest_set(lists(0.5)[0], np.array([-0.1]), 0.5), "CRF811.*from 0"),
        (lambda: smallest_sequence_sets(distribution([2]), 0.5, cap=0), "CRF108.*cap"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_sequence_without_a_path_is_named():
    potentials = random_chains([2, 3])
    potentials.emissions[potentials.batch.rows[3]] = -np.inf
    with pytest.raises(NoPathError, match="CRF103") as caught:
        smallest_sequence_sets(ChainDistribution(potentials), 0.5)
    assert caught.value.sequences == [1]
