"""The relative-frequency tagger against frequencies counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import UNKNOWN, Gold
from spacy_crf.lab.baselines.lexicon import FrequencyTagger, LexiconSettings, count_words, estimate_lexicon
from spacy_crf.pipe.dictionary.counts import CountTable

SEQUENCES = [["dat", "hus", "dat"], ["hus"], [], ["dat"]]
LABELS = Gold.known(np.array([0, 1, 2, 1, 0]), 3)


def fit(sequences: list[list[str]], gold: Gold, settings: LexiconSettings | None = None) -> FrequencyTagger:
    return estimate_lexicon(count_words(sequences, gold), settings or LexiconSettings())


def test_known_words_have_their_relative_frequencies():
    tagger = fit(SEQUENCES, LABELS, LexiconSettings(smoothing=0))
    np.testing.assert_allclose(tagger.posteriors(["hus", "dat"]), [[0, 1, 0], [2 / 3, 0, 1 / 3]])
    assert (tagger.words.find(["hus", "Hus"]) >= 0).tolist() == [True, False]


def test_smoothing_is_worth_so_many_occurrences():
    tagger = fit(SEQUENCES, LABELS, LexiconSettings(smoothing=2))
    suffix = tagger.suffixes.posteriors(["dat"])[0]
    np.testing.assert_allclose(tagger.posteriors(["dat"])[0], (np.array([2, 0, 1]) + 2 * suffix) / 5)


@pytest.mark.parametrize("smoothing", [0, 1])
def test_unknown_words_go_by_their_suffix_or_have_the_prior(smoothing):
    by_suffix = fit(SEQUENCES, LABELS, LexiconSettings(smoothing=smoothing))
    np.testing.assert_allclose(by_suffix.posteriors(["mus"]), by_suffix.suffixes.posteriors(["mus"]))
    assert by_suffix.posteriors(["mus"]).argmax() == 1
    as_in_the_thesis = fit(SEQUENCES, LABELS, LexiconSettings(smoothing=smoothing, cutoff=0))
    np.testing.assert_allclose(as_in_the_thesis.posteriors(["mus"]), [[0.4, 0.4, 0.2]])


def test_sets_and_distributions_count_by_their_shares():
    weights = np.array([[1, 1, 0], [0.25, 0, 0.75], [1, 1, 1], [0, 0, 1]])
    tagger = fit([["a", "a", "a"], ["b"]], Gold.weighted(weights), LexiconSettings(smoothing=0))
    np.testing.assert_allclose(tagger.posteriors(["a"]), [[0.375, 0.25, 0.375]])
    np.testing.assert_allclose(tagger.prior, [0.25, 0.5 / 3, 1.75 / 3])


def test_words_without_gold_stay_unknown():
    tagger = fit([["a", "b"]], Gold.known(np.array([0, UNKNOWN]), 2), LexiconSettings(smoothing=0))
    assert (tagger.words.find(["a", "b"]) >= 0).tolist() == [True, False]


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 3.0]))
def test_marginals_are_distributions_of_each_word_alone(make_tagged, seed, smoothing):
    tagged, other = make_tagged(seed), make_tagged(seed + 1)
    tagger = fit(tagged.sequences, tagged.gold, LexiconSettings(smoothing=smoothing))
    marginals = tagger.marginals(other.sequences)
    assert marginals.shape == (15, 3) and (marginals >= 0).all()
    np.testing.assert_allclose(marginals.sum(axis=1), 1)
    assert not marginals[:, tagger.prior == 0].any()
    words = [word for sequence in other.sequences for word in sequence]
    for word, row in zip(words, marginals):
        np.testing.assert_array_equal(tagger.posteriors([word])[0], row)
    assert tagger.decode(other.sequences).tolist() == [row.argmax() for row in marginals]


def test_nothing_to_tag():
    tagger = fit(SEQUENCES, LABELS)
    for nothing in ([], [[], []]):
        assert tagger.marginals(nothing).shape == (0, 3)
        assert tagger.decode(nothing).shape == (0,)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_counts_of_parts_add_up_and_can_be_stored(make_tagged, stored, seed, n_parts):
    parts = [make_tagged(seed + part, kinds=("known", "distribution")) for part in range(n_parts)]
    tables = [CountTable.from_data(stored(count_words(part.sequences, part.gold).to_data())) for part in parts]
    settings = LexiconSettings(smoothing=0.7)
    added = estimate_lexicon(CountTable.merged(tables), settings)
    sequences = [words for part in parts for words in part.sequences]
    gold = np.vstack([part.weights for part in parts])
    whole = fit(sequences, Gold.weighted(gold), settings)
    others = make_tagged(seed + 10).sequences
    np.testing.assert_allclose(added.marginals(others), whole.marginals(others), rtol=1e-9, atol=1e-12)


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="CRF832.*4 words.*5 units"):
        fit(SEQUENCES[:3], LABELS)
    with pytest.raises(ValueError, match="CRF833.*smoothing is -1"):
        fit(SEQUENCES, LABELS, LexiconSettings(smoothing=-1))
    with pytest.raises(ValueError, match="CRF831"):
        fit([["a"]], Gold.known(np.array([UNKNOWN]), 3))
