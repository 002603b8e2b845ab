"""Label n-grams (Brants 2000, TnT), and the linear chains that they are.

A sequence t1 .. tT is read as # # t1 .. tT #, where # is a boundary. Every label and the last boundary are outcomes;
what is before them is their context. The boundary has the number L.

A state of the chain of trigrams is a pair of labels, or a single label where the pair was not seen: a pair without
examples has no trigrams of its own, hence the same probabilities whatever its first label is. A sequence of labels
is one path of states, so that the chain is exact with far fewer than L^2 states.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from ...core.arrays import Bools, Doubles, Floats, Indices, Ints, Segments, sum_by_cell
from ...core.stored import stored_floats, stored_integers
from ...pipe.dictionary.counts import Data, Shares


@dataclass(frozen=True)
class LabelGrams:
    """How often labels follow each other; M = L + 1 with the boundary.

    unigrams ((M,)): outcomes. bigrams ((M, M)): [context, outcome].
    trigrams ((n,)), trigram_counts ((n,)): cells `(first * M + second) * M + outcome` that occur, and their counts.
    """

    unigrams: Doubles
    bigrams: Doubles
    trigrams: Indices
    trigram_counts: Doubles

    @property
    def n_labels(self) -> int:
        return len(self.unigrams) - 1

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """Add counts of the same labels up. O(n log n)."""
        cells = np.concatenate([part.trigrams for part in parts])
        counts = np.concatenate([part.trigram_counts for part in parts])
        unigrams = np.sum([part.unigrams for part in parts], axis=0)
        return cls(unigrams, np.sum([part.bigrams for part in parts], axis=0), *sum_by_cell(cells, counts))

    def to_data(self) -> Data:
        """Return arrays that can be stored."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_data(cls, data: Data, n_labels: int) -> Self:
        """Restore from `to_data`."""
        size = n_labels + 1
        trigrams = stored_integers("trigrams", data["trigrams"], (None,), size**3).astype(np.intp, copy=False)
        if (np.diff(trigrams) <= 0).any():
            raise ValueError("trigrams are not ascending")
        shapes = {"unigrams": (size,), "bigrams": (size, size), "trigram_counts": trigrams.shape}
        counts = {name: stored_floats(name, data[name], shape, 0.0) for name, shape in shapes.items()}
        return cls(trigrams=trigrams, **counts)  # type: ignore[arg-type]


def count_grams(shares: Shares, lengths: Indices, n_labels: int) -> LabelGrams:
    """Count n-grams of gold labels. O(N) where one label is right, O(a^3) for three units with a labels each.

    An n-gram counts by the product of its labels' shares; with a unit that is unknown it does not count at all.
    """
    size = n_labels + 1
    padded, is_outcome = _pad(shares, lengths[lengths > 0], n_labels)
    outcomes = padded.where(is_outcome[padded.units])
    pairs = join(padded.shifted(), padded, size)
    triples = join(pairs.shifted(), outcomes, size)
    cells, counts = sum_by_cell(triples.labels, triples.weights)
    bigrams = pairs.where(is_outcome[pairs.units]).sums(size * size).reshape(size, size)
    return LabelGrams(outcomes.sums(size), bigrams, cells, counts)


def join(contexts: Shares, outcomes: Shares, n_outcomes: int) -> Shares:
    """Pair every context of a unit with every outcome there: cells `context * n_outcomes + outcome`. O(result)."""
    reach = int(max(contexts.units.max(initial=0), outcomes.units.max(initial=0))) + 1
    by_unit = Segments(np.bincount(outcomes.units, minlength=reach))
    left = Segments(by_unit.lengths[contexts.units]).owners
    right = by_unit.units(contexts.units)
    cells = contexts.labels[left] * n_outcomes + outcomes.labels[right]
    return Shares(contexts.units[left], cells, contexts.weights[left] * outcomes.weights[right])


def interpolation_weights(grams: LabelGrams, order: int) -> Doubles:
    """Return weights ((3,)) of unigrams, bigrams and trigrams by deleted interpolation (Brants 2000, figure 1). O(n).

    Each n-gram votes, as often as it occurs, for the length of context that would have foretold it best had it itself
    not been seen; among equals for the shorter one. The unigrams have a vote in any case, so that no label that
    occurs is ever impossible.

    order (int): 2 leaves out trigrams, whose weight is then 0.
    """
    size = len(grams.unigrams)
    if order == 2:
        second, outcome = np.nonzero(grams.bigrams)
        counts = grams.bigrams[second, outcome]
    else:
        context, outcome = np.divmod(grams.trigrams, size)
        second, counts = context % size, grams.trigram_counts
    ratios = [
        _without_one(grams.unigrams[outcome], grams.unigrams.sum()),
        _without_one(grams.bigrams[second, outcome], grams.bigrams.sum(axis=1)[second]),
    ]
    if order == 3:
        totals = np.bincount(context, weights=counts).astype(np.float64)
        ratios.append(_without_one(counts, totals[context]))
    votes = np.bincount(np.argmax(ratios, axis=0), weights=counts, minlength=3).astype(np.float64)
    votes[0] = max(votes[0], 1.0)
    return np.asarray(votes / votes.sum())


def _without_one(counts: Doubles, totals: Doubles) -> Doubles:
    """Return relative frequencies but for one occurrence; 0 where nothing is left."""
    totals = np.broadcast_to(totals, counts.shape)
    return np.divide(np.maximum(counts - 1, 0), totals - 1, out=np.zeros(counts.shape), where=totals > 1)


def _pad(shares: Shares, lengths: Indices, boundary: int) -> tuple[Shares, Bools]:
    """Put two boundaries before each sequence and one behind, and tell which positions are outcomes."""
    padded = Segments(lengths + 3)
    position = Segments(lengths).at(padded.firsts + 2)
    boundaries = np.concatenate([padded.firsts, padded.firsts + 1, padded.ends - 1])
    units = np.concatenate([position[shares.units], boundaries])
    order = np.argsort(units, kind="stable")
    labels = np.concatenate([shares.labels, np.full(len(boundaries), boundary, dtype=np.intp)])
    weights = np.concatenate([shares.weights, np.ones(len(boundaries))])
    is_outcome = padded.positions > 1
    return Shares(units[order], labels[order], weights[order]), is_outcome


# -- states ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StateSpace:
    """A chain of C states over L labels.

    labels ((C,)): the label of each state, ascending. n_labels (int): L.
    transitions ((C, C)), start ((C,)), end ((C,)): log probabilities.
    """

    labels: Indices
    transitions: Doubles
    start: Doubles
    end: Doubles
    n_labels: int

    def to_labels(self, states: Ints) -> Ints:
        """Return labels of states, in any shape; negative numbers, which stand for no state, stay."""
        return np.where(states < 0, states, self.labels[states]).astype(np.int32)

    def label_marginals(self, marginals: Floats) -> Floats:
        """Sum the marginals (N, C) of the states of each label: (N, L)."""
        return np.asarray(np.add.reduceat(marginals, np.searchsorted(self.labels, np.arange(self.n_labels)), axis=1))


def state_space(grams: LabelGrams, weights: Doubles, min_count: float = 1.0) -> StateSpace:
    """Return the chain of an interpolated n-gram model. O(C^2).

    p(t | a, b) = weights @ (relative frequencies of t, of t after b, of t after a and b). A context that was not seen
    has the frequencies of the next shorter one. With no weight on trigrams the states are the labels themselves.

    weights ((3,)): of unigrams, bigrams and trigrams.
    min_count (float): pairs of labels that occur less often count as not seen. C = L + the other pairs.
    """
    n_labels = grams.n_labels
    firsts, seconds = _pairs(grams, min_count) if weights[2] else (np.zeros(0, np.intp), np.zeros(0, np.intp))
    labels = np.concatenate([np.arange(n_labels), seconds])
    order = np.argsort(labels, kind="stable")
    place = np.argsort(order)
    # the state that a context reaches with an outcome: that of the pair where there is one
    reached = np.tile(place[:n_labels], (n_labels + 1, 1))
    reached[firsts, seconds] = place[n_labels:]
    single, pairs = _probabilities(grams, weights, firsts, seconds)
    with np.errstate(divide="ignore"):
        scores = np.log(np.vstack([single[:n_labels], pairs]))[order]
        first_scores = np.log(single[n_labels, :n_labels])
    transitions = np.full((len(labels), len(labels)), -np.inf)
    transitions[np.arange(len(labels))[:, None], reached[labels[order]]] = scores[:, :n_labels]
    start = np.full(len(labels), -np.inf)
    start[reached[n_labels]] = first_scores
    return StateSpace(labels[order], transitions, start, scores[:, n_labels].copy(), n_labels)


def _pairs(grams: LabelGrams, min_count: float) -> tuple[Indices, Indices]:
    """Return contexts of two that end in a label and occur often enough."""
    size = len(grams.unigrams)
    totals = np.bincount(grams.trigrams // size, weights=grams.trigram_counts, minlength=size * size)
    often = (totals > 0) & (totals >= min_count)
    firsts, seconds = np.nonzero(often.reshape(size, size)[:, :-1])
    return firsts, seconds


def _probabilities(grams: LabelGrams, weights: Doubles, firsts: Indices, seconds: Indices) -> tuple[Doubles, Doubles]:
    """Return probabilities of outcomes after one label or the boundary (M, M), and after each pair (n, M)."""
    size = len(grams.unigrams)
    unigrams = grams.unigrams / grams.unigrams.sum()
    totals = grams.bigrams.sum(axis=1, keepdims=True)
    bigrams = np.divide(grams.bigrams, totals, out=np.tile(unigrams, (size, 1)), where=totals > 0)
    # the boundary after itself has the frequencies of the boundary, so that it needs no pair
    single = weights[0] * unigrams + (weights[1] + weights[2]) * bigrams
    number = np.full(size * size, -1)
    number[firsts * size + seconds] = np.arange(len(firsts))
    context, outcome = np.divmod(grams.trigrams, size)
    kept = number[context] >= 0
    trigrams = np.zeros((len(firsts), size))
    trigrams[number[context[kept]], outcome[kept]] = grams.trigram_counts[kept]
    trigrams /= trigrams.sum(axis=1, keepdims=True)
    return single, weights[0] * unigrams + weights[1] * bigrams[seconds] + weights[2] * trigrams
