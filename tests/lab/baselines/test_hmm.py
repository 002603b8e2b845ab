"""Hidden Markov models against enumeration of all label sequences."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.chain.forward import log_partition
from spacy_crf.core.chain.paths import nbest
from spacy_crf.core.labels import UNKNOWN, Gold
from spacy_crf.lab.baselines.hmm import HMM, HMMCounts, HMMSettings, estimate_hmm
from spacy_crf.lab.baselines.lexicon import LexiconSettings

PLAIN = HMMSettings(lexicon=LexiconSettings(smoothing=0))
ORDERS = st.sampled_from([2, 3])


def fit(sequences: list[list[str]], gold: Gold, settings: HMMSettings | None = None) -> HMM:
    return estimate_hmm(HMMCounts.of_text(sequences, gold), settings or HMMSettings())


def joint(model, plain, words) -> dict[tuple[int, ...], float]:
    """p(labels) prod p(label | word) / p(label) of every sequence of labels."""
    with np.errstate(invalid="ignore"):
        likelihoods = np.nan_to_num(model.lexicon.posteriors(words) / model.lexicon.prior)
    return {
        labels: plain.path(labels) * float(np.prod(likelihoods[range(len(words)), labels]))
        for labels in itertools.product(range(model.n_labels), repeat=len(words))
    }


@given(st.integers(0, 10_000), ORDERS, st.sampled_from([0.0, 1.0]))
def test_marginals_and_best_sequences_equal_enumeration(make_tagged, plain_grams, seed, order, smoothing):
    tagged = make_tagged(seed, kinds=("known", "known", "unknown"))
    sequences = make_tagged(seed + 1, lengths=(3, 0, 1, 4)).sequences
    model, plain = (
        fit(tagged.sequences, tagged.gold, HMMSettings(order, lexicon=LexiconSettings(smoothing))),
        plain_grams(tagged, order),
    )
    marginals, best = model.marginals(sequences), model.decode(sequences)
    ends = np.cumsum([len(words) for words in sequences])
    for words, end in zip(sequences, ends):
        if not words:
            continue
        paths = joint(model, plain, words)
        expected = np.zeros((len(words), 3))
        for labels, probability in paths.items():
            expected[range(len(words)), labels] += probability / sum(paths.values())
        rows = slice(end - len(words), end)
        np.testing.assert_allclose(marginals[rows], expected, rtol=1e-9, atol=1e-12)
        assert paths[tuple(best[rows].tolist())] == pytest.approx(max(paths.values()), rel=1e-9)


@given(st.integers(0, 10_000), ORDERS)
def test_best_paths_of_states_are_those_of_labels(make_tagged, plain_grams, seed, order):
    tagged, words = make_tagged(seed, kinds=("known",)), make_tagged(seed + 1, lengths=(3,)).sequences[0]
    model = fit(tagged.sequences, tagged.gold, HMMSettings(order))
    potentials = model.potentials([words])
    found = nbest(potentials, 30)
    probabilities = np.exp(found.scores - log_partition(potentials)[:, None])[0]
    paths = joint(model, plain_grams(tagged, order), words)
    total = sum(paths.values())
    for labels, probability in zip(model.states.to_labels(found.labels)[: found.counts[0]], probabilities):
        assert paths.pop(tuple(labels.tolist())) / total == pytest.approx(probability, rel=1e-7)
    assert not any(paths.values())


def test_without_smoothing_emissions_are_relative_frequencies():
    """p(w | t) = f(w, t) / f(t), but for a factor of each word."""
    sequences, labels = [["dat", "hus", "dat", "kind"], ["dat", "kind"]], np.array([0, 1, 2, 1, 0, 1])
    emissions = fit(sequences, Gold.known(labels, 3), PLAIN).emissions(["dat", "hus", "kind"])
    frequencies = np.array([[2 / 2, 0, 1 / 1], [0, 1 / 3, 0], [0, 2 / 3, 0]])
    np.testing.assert_array_equal(np.isneginf(emissions), frequencies == 0)
    found = np.exp(emissions)
    np.testing.assert_allclose(
        found / found.sum(axis=1, keepdims=True), frequencies / frequencies.sum(1, keepdims=True)
    )


@pytest.mark.parametrize("order", [2, 3])
def test_what_never_stood_together_still_has_a_path(order):
    """No label follows 1 in training, and each word has one label only."""
    model = fit(
        [["a", "b"]] * 3 + [["c"]],
        Gold.known(np.array([0, 1] * 3 + [2]), 3),
        HMMSettings(order, lexicon=LexiconSettings(0)),
    )
    np.testing.assert_allclose(model.marginals([["b", "b", "c", "a"]]), np.eye(3)[[1, 1, 2, 0]])
    assert model.decode([["b", "b", "c", "a"]]).tolist() == [1, 1, 2, 0]


def test_context_decides_where_the_word_does_not():
    sequences = [["de", "x"], ["he", "x"]] * 5
    model = fit(sequences, Gold.known(np.array([0, 2, 1, 3] * 5), 4))
    assert model.decode([["de", "x"], ["he", "x"]]).tolist() == [0, 2, 1, 3]
    assert model.lexicon.posteriors(["x"])[0, 2] == pytest.approx(model.lexicon.posteriors(["x"])[0, 3])


def test_order_three_sees_two_labels_back():
    """x is 3 where a stood two words before, and 4 where b did; m is the same in between."""
    sequences = [["a", "m", "x"], ["b", "m", "x"]] * 5
    gold = Gold.known(np.array([0, 2, 3, 1, 2, 4] * 5), 5)
    second, third = (fit(sequences, gold, HMMSettings(order)) for order in (2, 3))
    assert third.decode(sequences[:2]).tolist() == [0, 2, 3, 1, 2, 4]
    by_two = second.marginals(sequences[:1])[2]
    assert by_two[3] == pytest.approx(by_two[4])
    by_three = third.marginals(sequences[:1])[2]
    assert by_three[3] > 1.5 * by_three[4]


@given(st.integers(0, 10_000))
def test_order_three_with_no_pair_kept_still_is_a_distribution(make_tagged, plain_grams, seed):
    tagged = make_tagged(seed, kinds=("known",))
    model = fit(tagged.sequences, tagged.gold, HMMSettings(3, 100))
    assert len(model.states.labels) == 3
    words = tagged.sequences[0][:2]
    paths = joint(model, plain_grams(tagged, 3, 100), words)
    first = sum(p for labels, p in paths.items() if labels[0] == 0) / sum(paths.values())
    assert model.marginals([words])[0, 0] == pytest.approx(first, rel=1e-9)


def test_labels_without_an_example_are_never_given():
    model = fit([["a", "b"]], Gold.known(np.array([0, 2]), 4), HMMSettings(3))
    marginals = model.marginals([["a", "c", "b", "b"]])
    assert not marginals[:, [1, 3]].any()
    np.testing.assert_allclose(marginals.sum(axis=1), 1)


@given(st.integers(0, 10_000), ORDERS)
def test_any_gold_gives_distributions(make_tagged, seed, order):
    tagged = make_tagged(seed)
    marginals = fit(tagged.sequences, tagged.gold, HMMSettings(order)).marginals(make_tagged(seed + 1).sequences)
    np.testing.assert_allclose(marginals.sum(axis=1), 1)


@given(st.integers(0, 10_000), ORDERS, st.integers(1, 3))
def test_counts_of_parts_add_up_and_can_be_stored(make_tagged, stored, seed, order, n_parts):
    """Whole counts, so that no vote of the interpolation hangs on rounding."""
    parts = [make_tagged(seed + part, kinds=("known", "unknown")) for part in range(n_parts)]
    counts = [HMMCounts.from_data(stored(HMMCounts.of_text(part.sequences, part.gold).to_data())) for part in parts]
    settings = HMMSettings(order, 0.5)
    added = estimate_hmm(HMMCounts.merged(counts), settings)
    sequences = [words for part in parts for words in part.sequences]
    gold = np.vstack([part.weights for part in parts])
    whole = fit(sequences, Gold.weighted(gold), settings)
    others = make_tagged(seed + 10).sequences
    np.testing.assert_allclose(added.marginals(others), whole.marginals(others), rtol=1e-9, atol=1e-12)
    assert added.min_count == 0.5


def test_nothing_to_tag(make_tagged):
    tagged = make_tagged(1)
    model = fit(tagged.sequences, tagged.gold, HMMSettings(3))
    for nothing in ([], [[], []]):
        assert model.marginals(nothing).shape == (0, 3)
        assert model.decode(nothing).shape == (0,)


def test_errors_name_what_is_wrong():
    gold = Gold.known(np.array([0, 1]), 2)
    with pytest.raises(ValueError, match="CRF834.*order 4"):
        HMMSettings(4)
    with pytest.raises(ValueError, match="CRF833.*min_count is -1"):
        HMMSettings(3, -1)
    with pytest.raises(ValueError, match="CRF832"):
        fit([["a"]], gold)
    with pytest.raises(ValueError, match="CRF831"):
        fit([["a"]], Gold.known(np.array([UNKNOWN]), 2))
