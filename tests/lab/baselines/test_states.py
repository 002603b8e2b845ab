"""Chains of n-gram models against the probabilities of label sequences."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import Gold
from spacy_crf.lab.baselines.grams import StateSpace, count_grams, interpolation_weights, state_space
from spacy_crf.pipe.dictionary.counts import gold_shares


def space_of(tagged, order, min_count=1.0, weights=None) -> StateSpace:
    grams = count_grams(gold_shares(tagged.gold), tagged.lengths, tagged.n_labels)
    return state_space(grams, interpolation_weights(grams, order) if weights is None else weights, min_count)


def state_paths(space: StateSpace, labels: tuple[int, ...]) -> list[float]:
    """Probabilities of all paths of states with the given labels that are possible at all."""
    choices = [np.flatnonzero(space.labels == label) for label in labels]
    scores = [
        space.start[path[0]]
        + sum(space.transitions[before, after] for before, after in itertools.pairwise(path))
        + space.end[path[-1]]
        for path in itertools.product(*choices)
    ]
    return [float(np.exp(score)) for score in scores if score > -np.inf]


@given(st.integers(0, 10_000), st.sampled_from([2, 3]), st.sampled_from([0.0, 1.0, 1.6]))
def test_a_sequence_of_labels_is_one_path_with_its_probability(make_tagged, plain_grams, seed, order, min_count):
    tagged = make_tagged(seed, kinds=("known", "known", "unknown"))
    space, plain = space_of(tagged, order, min_count), plain_grams(tagged, order, min_count)
    for length in (1, 2, 3):
        for labels in itertools.product(range(3), repeat=length):
            expected = plain.path(labels)
            paths = state_paths(space, labels)
            assert len(paths) == (expected > 0)
            assert sum(paths) == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 10_000), st.sampled_from([2, 3]))
def test_each_state_goes_somewhere_with_probability_one(make_tagged, seed, order):
    space = space_of(make_tagged(seed), order)
    np.testing.assert_allclose(np.exp(space.transitions).sum(axis=1) + np.exp(space.end), 1)
    assert (np.diff(space.labels) >= 0).all()
    # every label that occurs may follow every state
    occurring = np.isfinite(space.transitions).any(axis=0)
    for label in set(space.labels[occurring].tolist()):
        assert np.isfinite(space.transitions[:, space.labels == label]).sum(axis=1).tolist() == [1] * len(space.labels)


def test_states_are_labels_and_the_pairs_that_were_seen(make_tagged):
    tagged = make_tagged(0)
    tagged.sequences, tagged.weights = [["a"] * 4, ["a"] * 2], np.eye(3)[[0, 1, 1, 0, 0, 1]]
    # pairs: # 0 twice, 0 1 twice, 1 1 and 1 0 once
    weights = np.array([0.2, 0.3, 0.5])
    assert space_of(tagged, 3, 1.0, weights).labels.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert space_of(tagged, 3, 2.0, weights).labels.tolist() == [0, 0, 1, 1, 2]
    assert space_of(tagged, 3, 3.0, weights).labels.tolist() == [0, 1, 2]
    assert space_of(tagged, 2).labels.tolist() == [0, 1, 2]


def test_states_lead_back_to_labels():
    space = StateSpace(np.array([0, 0, 1, 2, 2]), np.zeros((5, 5)), np.zeros(5), np.zeros(5), 3)
    states = np.array([[4, 0], [2, -1]], dtype=np.int32)
    assert space.to_labels(states).tolist() == [[2, 0], [1, -1]]
    assert space.label_marginals(np.array([[0.1, 0.2, 0.3, 0.4, 0.0]])).tolist() == [pytest.approx([0.3, 0.3, 0.4])]
    assert space.label_marginals(np.zeros((0, 5))).shape == (0, 3)


def test_one_label():
    gold = Gold.known(np.array([0, 0]), 1)
    grams = count_grams(gold_shares(gold), np.array([2]), 1)
    space = state_space(grams, np.array([0.5, 0.25, 0.25]))
    np.testing.assert_allclose(np.exp(space.transitions).sum(axis=1) + np.exp(space.end), 1)
