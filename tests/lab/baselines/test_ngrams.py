"""Counts of label n-grams against loops, and interpolation against figures worked out by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import UNKNOWN, Gold
from spacy_crf.lab.baselines.grams import LabelGrams, count_grams, interpolation_weights, join
from spacy_crf.pipe.dictionary.counts import Shares, gold_shares


def count(labels: list[int], lengths: list[int], n_labels: int) -> LabelGrams:
    return count_grams(gold_shares(Gold.known(np.array(labels), n_labels)), np.array(lengths), n_labels)


def as_counters(grams: LabelGrams) -> list[Counter]:
    """Counts by tuples of labels, the boundary being -1."""
    size = grams.n_labels + 1
    trigrams = np.zeros(size**3)
    trigrams[grams.trigrams] = grams.trigram_counts
    tables = [grams.unigrams, grams.bigrams, trigrams.reshape(size, size, size)]
    return [
        Counter({tuple(t if t < size - 1 else -1 for t in cell): table[cell] for cell in zip(*np.nonzero(table))})
        for table in tables
    ]


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_counts_equal_those_of_loops(make_tagged, plain_grams, seed, n_labels):
    tagged = make_tagged(seed, n_labels=n_labels)
    found = as_counters(count_grams(gold_shares(tagged.gold), tagged.lengths, n_labels))
    for table, expected in zip(found, plain_grams(tagged, 3).counts):
        assert table == pytest.approx(dict(expected), rel=1e-6)


def test_bigrams_by_hand():
    """0 1 0 and 0: the boundary is followed by 0 twice, 0 by 1 once and by the end twice, 1 by 0."""
    grams = count([0, 1, 0, 0], [3, 0, 1], 2)
    assert grams.unigrams.tolist() == [3, 1, 2]
    assert grams.bigrams.tolist() == [[0, 1, 2], [1, 0, 0], [2, 0, 0]]
    assert as_counters(grams)[2] == {
        (-1, -1, 0): 2,
        (-1, 0, 1): 1,
        (0, 1, 0): 1,
        (1, 0, -1): 1,
        (-1, 0, -1): 1,
    }


def test_nothing_is_counted_across_units_that_are_unknown():
    grams = count([0, UNKNOWN, 1], [3], 2)
    assert grams.unigrams.tolist() == [1, 1, 1]
    assert grams.bigrams.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert as_counters(grams)[2] == {(-1, -1, 0): 1}


def test_sets_count_by_the_product_of_their_shares():
    gold = Gold.weighted(np.array([[1, 1, 0], [0.25, 0.0, 0.75]]))
    grams = count_grams(gold_shares(gold), np.array([2]), 3)
    assert grams.bigrams[0, :3].tolist() == [0.125, 0, 0.375] == grams.bigrams[1, :3].tolist()
    assert grams.bigrams[:, 3].tolist() == [0.25, 0, 0.75, 0]
    assert grams.trigram_counts.sum() == pytest.approx(3)


def test_join_takes_every_context_with_every_outcome_of_the_same_unit():
    contexts = Shares(np.array([0, 2, 2, 5]), np.array([7, 8, 9, 7]), np.array([1.0, 0.5, 0.5, 1.0]))
    outcomes = Shares(np.array([1, 2, 2]), np.array([0, 1, 2]), np.array([1.0, 0.25, 0.75]))
    joined = join(contexts, outcomes, 10)
    assert joined.units.tolist() == [2] * 4
    assert joined.labels.tolist() == [81, 82, 91, 92]
    assert joined.weights.tolist() == [0.125, 0.375, 0.125, 0.375]


def test_deleted_interpolation_by_hand():
    """Seven times 0 1 0, each once left out.

    0 at the beginning and after 1 is foretold by bigrams and trigrams alike (6 of 6, the unigram 13 of 27); 1 and the
    end after 0 by the bigram at 6 of 13 (unigrams: 6 of 27), by the trigram at 6 of 6.
    """
    grams = count([0, 1, 0] * 7, [3] * 7, 2)
    np.testing.assert_allclose(interpolation_weights(grams, 2), [1 / 29, 28 / 29, 0])
    np.testing.assert_allclose(interpolation_weights(grams, 3), [1 / 29, 14 / 29, 14 / 29])


@given(st.integers(0, 10_000), st.sampled_from([2, 3]))
def test_weights_equal_those_of_loops(make_tagged, plain_grams, seed, order):
    # whole counts: the votes of nearly equal fractions would turn on rounding
    tagged = make_tagged(seed, kinds=("known", "unknown"), lengths=(6, 1, 8, 2, 7))
    weights = interpolation_weights(count_grams(gold_shares(tagged.gold), tagged.lengths, 3), order)
    np.testing.assert_allclose(weights, plain_grams(tagged, order).weights, rtol=1e-12)


def test_what_was_seen_once_votes_for_no_context():
    assert interpolation_weights(count([0, 1], [2], 2), 3).tolist() == [1, 0, 0]


def test_unigrams_have_a_vote_in_any_case():
    """Ten times 0 1: every bigram foretells as well as its trigram, and better than the unigram."""
    np.testing.assert_allclose(interpolation_weights(count([0, 1] * 10, [2] * 10, 2), 3), [1 / 31, 30 / 31, 0])


def test_stored_counts_are_the_same(make_tagged, stored):
    tagged = make_tagged(5)
    grams = count_grams(gold_shares(tagged.gold), tagged.lengths, 3)
    assert as_counters(LabelGrams(**stored(grams.to_data()))) == as_counters(grams)
