"""What chains say, of order 1 and 2, against enumeration: one template for both."""

import math
from collections import Counter

import numpy as np
import pytest
from helpers.oracle import Chain
from helpers.strategies import chain_batches, second_order_batches, unpacked
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import Segments, pack
from spacy_crf.core.chain import distribution as module
from spacy_crf.core.chain.distribution import (
    ChainDistribution,
    PartialDistribution,
    SecondOrderDistribution,
    distribution,
)
from spacy_crf.core.chain.evidence import ImpossibleEvidenceError
from spacy_crf.core.chain.potentials import ChainPotentials, NonFiniteError, NoPathError
from spacy_crf.core.chain.second_order import candidates
from spacy_crf.core.chain.spans import SpanQuery
from spacy_crf.core.labels import UNKNOWN
from spacy_crf.core.trigrams import Pruning, Trigrams, TrigramWeights
from spacy_crf.core.weights import ChainWeights, Layout

EVERY_LABEL = Pruning(0.0, 100)


@st.composite
def first_order(draw):
    potentials, chains = draw(chain_batches())
    return ChainDistribution(potentials), chains


@st.composite
def second_order(draw):
    potentials, trigrams, weights, chains = draw(second_order_batches())
    known = TrigramWeights(trigrams, weights, EVERY_LABEL)
    return SecondOrderDistribution(potentials, trigrams=known, name="tagger"), chains


both = st.one_of(first_order(), second_order())


def by_sequence(found, values):
    """Rows of the units of each sequence."""
    return Segments(found.chains.batch.lengths).split(values)


@given(both)
def test_probabilities_equal_enumeration(case):
    found, chains = case
    np.testing.assert_allclose(found.log_z, [chain.log_z() for chain in chains], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(found.entropies, [chain.entropy() for chain in chains], atol=1e-7)
    for own, chain in zip(by_sequence(found, found.marginals), chains):
        np.testing.assert_allclose(own, chain.node_marginals(), atol=1e-9)


@given(second_order_batches(), st.sampled_from([0.05, 0.3, 0.9]), st.integers(1, 3), st.sampled_from([0.5, 1.0]))
def test_labels_that_are_pruned_keep_what_the_first_order_gives_them(case, threshold, limit, temperature):
    potentials, trigrams, weights, chains = case
    pruning = Pruning(threshold, limit)
    found = SecondOrderDistribution(
        potentials, temperature, trigrams=TrigramWeights(trigrams, weights, pruning), name="tagger"
    )
    kept = candidates(potentials, pruning)
    first_order = unpacked(potentials, ChainDistribution(potentials, temperature).marginals[potentials.batch.units])
    for own, first, mask, chain in zip(
        by_sequence(found, found.marginals), first_order, unpacked(potentials, kept), chains
    ):
        clamped = chain.clamped(mask)
        paths = [(path, score / temperature) for path, score in clamped.paths() if score > -np.inf]
        log_z = np.logaddexp.reduce([score for _, score in paths])
        expected = np.where(mask, 0.0, first)
        share = 1 - expected.sum(axis=1)
        for path, score in paths:
            for t, label in enumerate(path):
                expected[t, label] += share[t] * np.exp(score - log_z)
        np.testing.assert_allclose(own, expected, atol=1e-7)
        np.testing.assert_allclose(own.sum(axis=1), 1, atol=1e-9)


@given(both)
def test_the_best_labelling_and_the_one_with_most_right_labels(case):
    found, chains = case
    paths = zip(by_sequence(found, found.best()), by_sequence(found, found.posterior_best()), found.best_scores, chains)
    for best, posterior, score, chain in paths:
        marginals = chain.node_marginals()
        assert chain.score(tuple(best.tolist())) == pytest.approx(chain.best_score(), abs=1e-9) == score
        expected = [sum(marginals[t, label] for t, label in enumerate(path)) for path, _ in chain.ranked()]
        assert sum(marginals[range(chain.length), posterior]) == pytest.approx(max(expected), abs=1e-9)


@given(both, st.sampled_from([0.4, 1.0, 3.0]))
def test_a_temperature_changes_probabilities_and_not_the_best(case, temperature):
    found, chains = case
    cooled = found.at(temperature)
    assert np.array_equal(cooled.best(), found.best())
    for log_z, chain in zip(cooled.log_z, chains):
        scores = [score / temperature for _, score in chain.paths()]
        assert log_z == pytest.approx(np.logaddexp.reduce(scores), rel=1e-9, abs=1e-9)


@given(both, st.integers(0, 2**32 - 1))
def test_conditioning_leaves_the_paths_that_agree(case, seed):
    found, chains = case
    rng = np.random.default_rng(seed)
    allowed = rng.random(found.marginals.shape) < 0.6
    allowed[np.arange(len(allowed)), found.best()] = True
    conditioned, rows = found.given(allowed), by_sequence(found, allowed)
    assert found.given(None) is found
    clamped = [chain.clamped(own) for chain, own in zip(chains, rows)]
    np.testing.assert_allclose(conditioned.log_z, [chain.log_z() for chain in clamped], rtol=1e-12, atol=1e-9)
    for own, chain in zip(by_sequence(found, conditioned.marginals), clamped):
        np.testing.assert_allclose(own, chain.node_marginals(), atol=1e-9)


@given(both, st.integers(0, 2**32 - 1))
def test_the_probability_of_given_labels(case, seed):
    found, chains = case
    rng = np.random.default_rng(seed)
    allowed = rng.random(found.marginals.shape) < 0.6
    allowed[np.arange(len(allowed)), found.best()] = True
    expected = [
        math.log(chain.probability(lambda path, own=own: all(own[t, label] for t, label in enumerate(path))))
        for chain, own in zip(chains, by_sequence(found, allowed))
    ]
    np.testing.assert_allclose(found.log_probability(allowed), expected, atol=1e-9)


@given(both, st.integers(1, 9), st.sampled_from([0.5, 1.0, 2.0]))
def test_the_best_labellings_of_each_sequence(case, k, temperature):
    found, chains = case
    found = found.at(temperature)
    for paths, length, chain in zip(found.n_best(k), found.chains.batch.lengths, chains):
        probabilities = probabilities_of(chain, temperature)
        expected = sorted(probabilities.values(), reverse=True)[:k]
        assert paths.labels.shape == (len(expected), length)
        np.testing.assert_allclose(paths.probabilities, expected, atol=1e-9)
        own = list(map(tuple, paths.labels.tolist()))
        np.testing.assert_allclose([probabilities[path] for path in own], expected, atol=1e-9)
        assert len(set(own)) == len(own)


def probabilities_of(chain, temperature: float = 1.0) -> dict[tuple[int, ...], float]:
    scores = {path: score / temperature for path, score in chain.paths() if score > -math.inf}
    log_z = np.logaddexp.reduce(list(scores.values()))
    return {path: math.exp(score - log_z) for path, score in scores.items()}


@given(
    first_order(),
    st.integers(1, 6),
    st.sampled_from([0.5, 1.0]),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 1 << 22]),
)
def test_labellings_that_differ_in_hidden_units_alone_are_one(case, k, temperature, seed, cells):
    found, chains = case
    hidden = np.random.default_rng(seed).random(found.chains.batch.n_units) < 0.5
    partial = PartialDistribution(found.at(temperature), hidden)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CELLS", cells)
        listed, entropies, best = partial.n_best(k), partial.entropies, partial.best()
    assert np.array_equal(best, np.concatenate([paths.labels[0] for paths in listed]))
    for paths, entropy, own, chain in zip(listed, entropies, found.chains.batch.segments.split(hidden), chains):
        sums = Counter()
        for path, probability in probabilities_of(chain, temperature).items():
            sums[tuple(UNKNOWN if out else label for label, out in zip(path, own))] += probability
        assert entropy == pytest.approx(-sum(p * math.log(p) for p in sums.values() if p), abs=1e-7)
        expected = [probability for _, probability in sums.most_common(k)]
        np.testing.assert_allclose(paths.probabilities, expected, atol=1e-9)
        read = list(map(tuple, paths.labels.tolist()))
        np.testing.assert_allclose([sums[path] for path in read], expected, atol=1e-9)
        assert len(set(read)) == len(read)


@given(second_order(), st.integers(1, 6), st.sampled_from([0.5, 1.0]), st.integers(0, 2**32 - 1))
def test_labellings_of_order_2_without_hidden_units_have_exact_probabilities(case, k, temperature, seed):
    found, chains = case
    hidden = np.random.default_rng(seed).random(found.chains.batch.n_units) < 0.5
    listed = PartialDistribution(found.at(temperature), hidden).n_best(k)
    for paths, own, chain in zip(listed, found.chains.batch.segments.split(hidden), chains):
        sums, whole = Counter(), probabilities_of(chain, temperature)
        for path, probability in whole.items():
            sums[tuple(UNKNOWN if out else label for label, out in zip(path, own))] += probability
        read = list(map(tuple, paths.labels.tolist()))
        assert len(set(read)) == len(read) == min(k, len(sums))
        np.testing.assert_allclose(paths.probabilities, [sums[path] for path in read], atol=1e-9)
        assert (np.diff(paths.probabilities) <= 0).all()
        if k == len(sums):
            np.testing.assert_allclose(paths.probabilities, [p for _, p in sums.most_common(k)], atol=1e-9)


@given(both, st.integers(0, 99))
def test_the_labels_that_are_right_most_often_where_some_are_hidden(case, seed):
    found, chains = case
    hidden = np.random.default_rng(seed).random(found.chains.batch.n_units) < 0.5
    labels = by_sequence(found, PartialDistribution(found, hidden).posterior_best())
    for chosen, own, chain in zip(labels, by_sequence(found, hidden), chains):
        marginals = np.where(own[:, None], 0.0, chain.node_marginals())
        expected = max(sum(marginals[range(len(own)), path]) for path in probabilities_of(chain))
        assert (chosen[own] == UNKNOWN).all()
        assert sum(marginals[range(len(own)), chosen]) == pytest.approx(expected, abs=1e-9)


def test_hidden_units_are_summed_out_where_products_underflow():
    rng, far = np.random.default_rng(3), np.array([[0.0, -900.0], [-900.0, -1800.0]])
    chains = ChainPotentials(pack(np.array([4, 3])), rng.normal(size=(7, 2)) * 500, far, np.zeros(2), np.zeros(2))
    hidden = np.array([False, True, True, False, True, False, True])
    left = ChainDistribution(chains).without(hidden)
    np.testing.assert_allclose(left.log_z, ChainDistribution(chains).log_z, rtol=1e-12)
    first, expected = Chain(unpacked(chains, chains.emissions)[0], [far] * 4, np.zeros(2), np.zeros(2)), {}
    for path, score in first.paths():
        expected[path[0], path[-1]] = np.logaddexp(expected.get((path[0], path[-1]), -math.inf), score)
    scores = left.chains.emissions[left.chains.batch.rows][:2]
    matrix = left.chains.edges.matrices[left.chains.edges.groups[left.chains.batch.rows[1]]]
    for (a, b), score in expected.items():
        assert scores[0, a] + matrix[a, b] + scores[1, b] == pytest.approx(score, rel=1e-12)


def test_sequences_without_a_labelling_are_named_where_units_are_hidden():
    chains = some_chains()
    chains.emissions[chains.batch.rows[4]] = -np.inf
    with pytest.raises(NoPathError) as raised:
        PartialDistribution(ChainDistribution(chains), np.arange(9) % 2 == 0).n_best(2)
    assert raised.value.sequences == [2]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("ask", ["best", "n_best"])
def test_scores_without_a_meaning_are_named_where_units_are_hidden(value, ask):
    chains = some_chains()
    chains.emissions[chains.batch.rows[4]] = value
    partial = PartialDistribution(ChainDistribution(chains), np.arange(9) % 2 == 0)
    with pytest.raises(NonFiniteError) as raised:
        partial.best() if ask == "best" else partial.n_best(2)
    assert raised.value.sequences == [2]


def test_no_sequences_have_no_labellings_where_units_are_hidden():
    partial = PartialDistribution(ChainDistribution(some_chains(lengths=())), np.zeros(0, dtype=bool))
    assert len(partial.best()) == len(partial.entropies) == len(partial.n_best(2)) == 0


def some_chains(seed=0, lengths=(3, 0, 5, 1), n_labels=3) -> ChainPotentials:
    rng, batch = np.random.default_rng(seed), pack(np.array(lengths))
    return ChainPotentials(
        batch, rng.normal(size=(sum(lengths), n_labels)), *(rng.normal(size=s) for s in ((3, 3), 3, 3))
    )


def test_samples_are_labellings_in_the_order_of_the_units():
    found = ChainDistribution(some_chains())
    drawn = found.sample(4000, np.random.default_rng(0))
    shares = (drawn[:, :, None] == np.arange(3)).mean(axis=0)
    np.testing.assert_allclose(shares, found.marginals, atol=0.04)


def test_spans_are_counted_in_units_as_given():
    found = ChainDistribution(some_chains())
    units, every = np.arange(9), np.ones((9, 3), dtype=bool)
    labels = np.zeros((9, 3), dtype=bool)
    labels[:, 1] = True
    (probabilities,) = found.spans(SpanQuery(units, units + 1, labels, labels, labels, every))
    np.testing.assert_allclose(probabilities, found.marginals[:, 1], atol=1e-12)


def test_results_are_computed_once():
    found = ChainDistribution(some_chains())
    assert found.messages is found.messages and found.log_z is found.log_z
    np.testing.assert_allclose(ChainDistribution(some_chains()).log_z, found.messages.log_z, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_labels_that_cannot_be_are_an_error_that_names_the_sequence(order):
    chains, known = some_chains(), TrigramWeights(Trigrams(3, np.arange(64)), np.zeros(64), EVERY_LABEL)
    weights = ChainWeights(Layout.empty(3, True), np.zeros(6), trigrams=known if order == 2 else None)
    allowed = np.ones((9, 3), dtype=bool)
    allowed[4] = False
    with pytest.raises(ImpossibleEvidenceError) as raised:
        distribution(chains, weights).given(allowed)
    assert raised.value.sequences == [2]


def test_only_learned_trigrams_make_a_chain_of_order_2():
    weights = ChainWeights(Layout.empty(3, True), np.zeros(6))
    none = TrigramWeights(Trigrams.none(3), np.zeros(0), EVERY_LABEL)
    some = TrigramWeights(Trigrams(3, np.arange(64)), np.ones(64), EVERY_LABEL)
    kinds = [
        type(distribution(some_chains(), ChainWeights(weights.layout, weights.flat, trigrams=t)))
        for t in (None, none, some)
    ]
    assert kinds == [ChainDistribution, ChainDistribution, SecondOrderDistribution]


@pytest.mark.parametrize(
    "ask",
    [
        lambda found: PartialDistribution(found, np.arange(9) < 1).entropies,
        lambda found: found.sample(1, np.random.default_rng(0)),
        lambda found: found.spans(),
        lambda found: found.messages,
    ],
)
def test_what_order_2_does_not_give_is_refused_by_name(ask):
    known = TrigramWeights(Trigrams(3, np.arange(64)), np.ones(64), EVERY_LABEL)
    with pytest.raises(ValueError, match=r"\[CRF436\] Component 'tagger'"):
        ask(SecondOrderDistribution(some_chains(), trigrams=known, name="tagger"))


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.inf, np.nan])
def test_temperatures_are_positive_and_finite(temperature):
    with pytest.raises(ValueError, match="CRF110"):
        _ = ChainDistribution(some_chains()).at(temperature).marginals
