"""Span probabilities against enumeration of all legal sequences."""

import numpy as np
import pytest
from helpers.strategies import build
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.distribution import ChainDistribution
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.spans import bounded_spans, covered_spans, exact_spans, likely_spans, span_probabilities
from spacy_crf.core.labels import TagSet


def random_tagger(scheme, lengths, seed, scale=2.0):
    tags = TagSet.of_spans(("PER", "LOC") if scheme == "BIO" else ("PER",), scheme)
    allowed, starts, ends = tags.legal()
    rng = np.random.default_rng(seed)
    emissions = rng.normal(0, scale, (sum(lengths), len(tags)))
    matrices = np.where(allowed, rng.normal(0, scale, allowed.shape), -np.inf)[None]
    start = np.where(starts, 0.0, -np.inf)
    end = np.where(ends, 0.0, -np.inf)
    potentials, chains = build(
        pack(np.array(lengths)), emissions, matrices, np.zeros(len(emissions), int), start, end, False
    )
    return tags, potentials, chains


@given(st.sampled_from(["BIO", "BILUO"]), st.integers(0, 10_000))
def test_exact_and_covered_equal_enumeration(scheme, seed):
    lengths = [4, 3]
    tags, potentials, chains = random_tagger(scheme, lengths, seed)
    messages = forward_backward(potentials)
    events = [
        (sequence, first, end, label)
        for sequence, length in enumerate(lengths)
        for first in range(length)
        for end in range(first + 1, length + 1)
        for label in tags.span_labels
    ]
    offsets = [0, 4]
    firsts = np.array([offsets[s] + first for s, first, _, _ in events])
    stops = np.array([offsets[s] + end for s, _, end, _ in events])
    labels = [label for *_, label in events]
    queries = exact_spans(tags, firsts, stops, labels), covered_spans(tags, firsts, stops, labels)
    exact, covered, bounded = span_probabilities(messages, *queries, bounded_spans(tags, firsts, stops))
    for number, (sequence, first, end, label) in enumerate(events):
        wanted = tags.tag_span(first, end, label)
        members = tags.members(label)

        def is_span(path, first=first, end=end, wanted=wanted, label=label):
            same = [tags.tags[tag] for tag in path[first:end]] == wanted
            return same and not (end < len(path) and tags.tags[path[end]] in (f"I-{label}", f"L-{label}"))

        def is_covered(path, first=first, end=end, members=members):
            return all(members[tag] for tag in path[first:end])

        assert exact[number] == pytest.approx(chains[sequence].probability(is_span), abs=1e-9)
        same = (firsts == firsts[number]) & (stops == stops[number])
        assert bounded[number] == pytest.approx(exact[same].sum(), abs=1e-9)
        assert covered[number] == pytest.approx(chains[sequence].probability(is_covered), abs=1e-9)


def test_probabilities_of_spans_that_underflow_in_linear_space():
    tags, potentials, (chain,) = random_tagger("BIO", [5], 1, scale=400.0)
    messages = forward_backward(potentials)
    firsts, ends = np.array([1]), np.array([3])
    ((exact,),) = span_probabilities(messages, exact_spans(tags, firsts, ends, ["PER"]))

    def is_span(path):
        return [tags.tags[t] for t in path[1:3]] == ["B-PER", "I-PER"] and tags.tags[path[3]] != "I-PER"

    assert exact == pytest.approx(chain.probability(is_span), abs=1e-12)


def test_spans_in_several_chunks_are_the_same(monkeypatch):
    tags, potentials, _ = random_tagger("BIO", [6, 5], 2)
    messages, firsts = forward_backward(potentials), np.array([0, 1, 2, 3, 4, 6, 7, 8, 9])
    query = bounded_spans(tags, firsts, firsts + 2)
    (whole,) = span_probabilities(messages, query)
    monkeypatch.setattr("spacy_crf.core.chain.spans.CHUNK", 2 * len(tags) ** 2)
    np.testing.assert_allclose(span_probabilities(messages, query)[0], whole, rtol=1e-12)


@given(st.integers(0, 10_000), st.sampled_from([2.0, 300.0]))
def test_maximal_runs_equal_enumeration(seed, scale):
    lengths, tags = [4, 0, 3], TagSet(("A", "O", "B"), "none")
    rng = np.random.default_rng(seed)
    matrices, none = rng.normal(0, scale, (1, 3, 3)), np.zeros(3)
    emissions = rng.normal(0, scale, (7, 3))
    potentials, chains = build(pack(np.array(lengths)), emissions, matrices, np.zeros(7, int), none, none, False)
    places = [
        (s, first, end) for s in (0, 2) for first in range(lengths[s]) for end in range(first + 1, lengths[s] + 1)
    ]
    events = [(*place, label) for place in places for label in "AB"]
    offsets = [0, 4, 4]
    firsts, stops = (np.array([offsets[event[0]] + event[k] for event in events]) for k in (1, 2))
    exact, covered = span_probabilities(
        forward_backward(potentials),
        exact_spans(tags, firsts, stops, [event[3] for event in events]),
        covered_spans(tags, firsts, stops, [event[3] for event in events]),
    )
    for number, (sequence, first, end, label) in enumerate(events):
        own = tags.number[label]

        def is_inside(path, first=first, end=end, own=own):
            return set(path[first:end]) == {own}

        def is_run(path, first=first, end=end, own=own):
            beside = [*path[max(first - 1, 0) : first], *path[end : end + 1]]
            return set(path[first:end]) == {own} and own not in beside

        assert exact[number] == pytest.approx(chains[sequence].probability(is_run), abs=1e-9)
        assert covered[number] == pytest.approx(chains[sequence].probability(is_inside), abs=1e-9)


@given(st.sampled_from(["BIO", "BILUO", "none"]), st.integers(0, 10_000), st.sampled_from([0.001, 0.1, 0.4]))
def test_likely_spans_are_all_that_are_likely(scheme, seed, least):
    lengths, longest = [5, 0, 4], 3
    if scheme == "none":
        tags, zeros = TagSet(("A", "O", "B"), "none"), np.zeros(3)
        rng = np.random.default_rng(seed)
        scores, matrices = rng.normal(0, 2, (9, 3)), rng.normal(0, 2, (1, 3, 3))
        potentials, _ = build(pack(np.array(lengths)), scores, matrices, np.zeros(9, int), zeros, zeros, False)
    else:
        tags, potentials, _ = random_tagger(scheme, lengths, seed)
    places = [
        (first, end, label)
        for start, length in ((0, 5), (5, 4))
        for first in range(start, start + length)
        for end in range(first + 1, min(first + longest, start + length) + 1)
        for label in (tags.span_labels if scheme != "none" else "AB")
    ]
    firsts, ends = (np.array([place[k] for place in places]) for k in (0, 1))
    chains = ChainDistribution(potentials)
    (exact,) = chains.spans(exact_spans(tags, firsts, ends, [label for *_, label in places]))
    expected = {place: p for place, p in zip(places, exact.tolist()) if p >= least}
    found = likely_spans(chains, tags, np.array(lengths), least, longest)
    told = dict(zip(zip(found.firsts.tolist(), found.ends.tolist(), found.labels), found.probabilities.tolist()))
    assert told == pytest.approx(expected) and list(told) == sorted(told, key=lambda place: (place[0], -told[place]))
