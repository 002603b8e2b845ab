"""Suffix back-off against the formula, read off a list of words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.lab.baselines.lexicon import LexiconSettings, fit_suffixes, log_likelihoods
from spacy_crf.pipe.dictionary.counts import CountTable

WORD = st.text("abA", min_size=0, max_size=4)
LEXICON = st.lists(st.tuples(WORD, st.integers(0, 2), st.sampled_from([0.5, 1.0, 2.0])), min_size=1, max_size=12)


def table(entries) -> CountTable:
    labels = np.array([label for _, label, _ in entries], dtype=np.intp)
    return CountTable.build([word for word, _, _ in entries], labels, np.array([n for _, _, n in entries], float), 3)


class PlainSuffixes:
    """The same estimates, computed anew from all entries for each suffix."""

    def __init__(self, entries, length, cutoff, theta):
        self.length, self.theta = length, theta
        totals = {word: sum(n for other, _, n in entries if other == word) for word, _, _ in entries}
        self.rare = [(word, label, n) for word, label, n in entries if totals[word] <= cutoff]
        counts = np.array([sum(n for _, label, n in entries if label == t) for t in range(3)])
        self.prior = counts / counts.sum()

    def __call__(self, word) -> np.ndarray:
        estimate = self.prior
        for length in range(min(self.length, len(word)) + 1):
            counts = np.zeros(3)
            for other, label, n in self.rare:
                if other[:1].isupper() == word[:1].isupper() and len(other) >= length:
                    counts[label] += n * other.endswith(word[len(word) - length :])
            if not counts.any():
                break
            estimate = (counts / counts.sum() + self.theta * estimate) / (1 + self.theta)
        return estimate


@given(LEXICON, st.lists(WORD, max_size=8), st.integers(0, 4), st.sampled_from([0, 1, 2.5, 100]), st.floats(0, 2))
def test_posteriors_equal_the_formula(entries, words, length, cutoff, theta):
    plain = PlainSuffixes(entries, length, cutoff, theta)
    posteriors = fit_suffixes(table(entries), LexiconSettings(1.0, length, cutoff, theta)).posteriors(words)
    assert posteriors.shape == (len(words), 3)
    for word, row in zip(words, posteriors):
        np.testing.assert_allclose(row, plain(word), rtol=1e-12, atol=1e-12)
        assert row.sum() == pytest.approx(1)


def test_two_steps_by_hand():
    """Of the words in -en two are verbs (1), of those in -n one more is a noun (0)."""
    model = fit_suffixes(
        table([("gen", 1, 1), ("sen", 1, 1), ("man", 0, 1), ("dat", 2, 1)]), LexiconSettings(theta=0.5)
    )
    prior = np.array([1, 2, 1]) / 4
    root = (prior + 0.5 * prior) / 1.5
    n = (np.array([1, 2, 0]) / 3 + 0.5 * root) / 1.5
    en = (np.array([0, 1, 0]) + 0.5 * n) / 1.5
    np.testing.assert_allclose(model.posteriors(["hen", "hun"]), [en, n])


def test_capitalised_words_are_like_capitalised_words():
    model = fit_suffixes(table([("Hagen", 0, 3), ("sagen", 1, 3)]), LexiconSettings(theta=0.1))
    proper, verb = model.posteriors(["Wagen", "wagen"])
    assert proper.argmax() == 0 and verb.argmax() == 1


def test_frequent_words_tell_nothing_of_unknown_ones():
    entries = [("dat", 2, 11), ("rat", 0, 1), ("gat", 0, 1)]
    assert fit_suffixes(table(entries), LexiconSettings()).posteriors(["hat"]).argmax() == 0
    assert fit_suffixes(table(entries), LexiconSettings(cutoff=11)).posteriors(["hat"]).argmax() == 2


def test_without_suffixes_the_labels_of_rare_words_are_left_and_without_rare_words_the_prior():
    entries = [("dat", 2, 20), ("rat", 0, 3), ("gat", 1, 1)]
    rare = fit_suffixes(table(entries), LexiconSettings(suffix_length=0, theta=0.0))
    np.testing.assert_allclose(rare.posteriors(["xyz", ""]), [[0.75, 0.25, 0]] * 2)
    np.testing.assert_allclose(rare.posteriors(["Xyz"]), [[3 / 24, 1 / 24, 20 / 24]])
    prior = fit_suffixes(table(entries), LexiconSettings(cutoff=0))
    np.testing.assert_allclose(prior.posteriors(["rat", "xyz"]), [[3 / 24, 1 / 24, 20 / 24]] * 2)


def test_theta_is_the_standard_deviation_of_the_labels_that_occur():
    assert fit_suffixes(table([("a", 0, 3), ("b", 1, 1)]), LexiconSettings()).theta == pytest.approx(
        np.sqrt(2 * 0.25**2)
    )
    assert fit_suffixes(table([("a", 0, 3)]), LexiconSettings()).theta == 0


@given(LEXICON, st.lists(WORD, min_size=1, max_size=5))
def test_bayes_rule_leads_back(entries, words):
    model = fit_suffixes(table(entries), LexiconSettings())
    posteriors = model.posteriors(words)
    scores = log_likelihoods(posteriors, model.prior)
    assert (scores < np.inf).all()
    np.testing.assert_array_equal(np.isneginf(scores), posteriors == 0)
    np.testing.assert_allclose(np.exp(scores) * model.prior, posteriors, rtol=1e-12)


def test_settings_out_of_their_range_are_named():
    with pytest.raises(ValueError, match="CRF108.*suffix_length.*-1"):
        fit_suffixes(table([("a", 0, 1)]), LexiconSettings(suffix_length=-1))
    with pytest.raises(ValueError, match="CRF833.*theta is -0.1"):
        fit_suffixes(table([("a", 0, 1)]), LexiconSettings(theta=-0.1))
    with pytest.raises(ValueError, match="CRF833.*cutoff is nan"):
        fit_suffixes(table([("a", 0, 1)]), LexiconSettings(cutoff=float("nan")))
