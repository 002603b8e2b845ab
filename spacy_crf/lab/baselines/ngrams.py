"""Counts of label n-grams with the boundaries of sequences, and weights to interpolate them (Brants 2000, TnT).

A sequence t1 .. tT is read as # # t1 .. tT #, where # is a boundary. Every label and the last boundary are outcomes;
what is before them is their context. The boundary has the number L.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ...core.arrays import Bools, Doubles, Indices
from ...pipe.dictionary.counts import Data, Shares, sum_by_cell


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
        """The sum of counts of the same labels. O(n log n)."""
        cells = np.concatenate([part.trigrams for part in parts])
        counts = np.concatenate([part.trigram_counts for part in parts])
        unigrams = np.sum([part.unigrams for part in parts], axis=0)
        return cls(unigrams, np.sum([part.bigrams for part in parts], axis=0), *sum_by_cell(cells, counts))

    def to_data(self) -> Data:
        """Arrays that can be stored."""
        return {
            "unigrams": self.unigrams,
            "bigrams": self.bigrams,
            "trigrams": self.trigrams,
            "trigram_counts": self.trigram_counts,
        }

    @classmethod
    def from_data(cls, data: Data) -> Self:
        """The inverse of `to_data`."""
        return cls(data["unigrams"], data["bigrams"], data["trigrams"], data["trigram_counts"])


def count_grams(shares: Shares, lengths: Indices, n_labels: int) -> LabelGrams:
    """Count n-grams of gold labels. O(N) where one label is right, O(a^3) for three units with a labels each.

    An n-gram counts by the product of its labels' shares; with a unit that is unknown it does not count at all.

    shares (Shares): gold of all units. lengths ((B,)): of the sequences; empty ones do not count. n_labels (int): L.
    RETURNS (LabelGrams): the counts.
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
    """Every context of a unit with every outcome there: cells `context * n_outcomes + outcome`. O(result).

    contexts (Shares): what is before each unit, as numbers. outcomes (Shares): what the unit is.
    """
    reach = int(max(contexts.units.max(initial=0), outcomes.units.max(initial=0))) + 1
    counts = np.bincount(outcomes.units, minlength=reach)
    firsts = np.cumsum(counts) - counts
    repeats = counts[contexts.units]
    left = np.repeat(np.arange(len(repeats)), repeats)
    within = np.arange(len(left)) - (np.cumsum(repeats) - repeats)[left]
    right = firsts[contexts.units[left]] + within
    cells = contexts.labels[left] * n_outcomes + outcomes.labels[right]
    return Shares(contexts.units[left], cells, contexts.weights[left] * outcomes.weights[right])


def interpolation_weights(grams: LabelGrams, order: int) -> Doubles:
    """Weights of unigrams, bigrams and trigrams by deleted interpolation (Brants 2000, figure 1). O(n).

    Each n-gram votes, as often as it occurs, for the length of context that would have foretold it best had it itself
    not been seen; among equals for the shorter one. The unigrams have a vote in any case, so that no label that
    occurs is ever impossible.

    order (int): 2 leaves out trigrams, whose weight is then 0.
    RETURNS ((3,)): weights that sum to 1.
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
    """Relative frequencies but for one occurrence; 0 where nothing is left."""
    totals = np.broadcast_to(totals, counts.shape)
    return np.divide(np.maximum(counts - 1, 0), totals - 1, out=np.zeros(counts.shape), where=totals > 1)


def _pad(shares: Shares, lengths: Indices, boundary: int) -> tuple[Shares, Bools]:
    """Gold with two boundaries before each sequence and one behind, and which positions are outcomes."""
    n_sequences = len(lengths)
    padded_lengths = lengths + 3
    firsts = np.cumsum(padded_lengths) - padded_lengths
    position = np.arange(int(lengths.sum())) + 3 * np.repeat(np.arange(n_sequences), lengths) + 2
    boundaries = np.concatenate([firsts, firsts + 1, firsts + padded_lengths - 1])
    units = np.concatenate([position[shares.units], boundaries])
    order = np.argsort(units, kind="stable")
    labels = np.concatenate([shares.labels, np.full(len(boundaries), boundary, dtype=np.intp)])
    weights = np.concatenate([shares.weights, np.ones(len(boundaries))])
    is_outcome = np.ones(int(padded_lengths.sum()), dtype=bool)
    is_outcome[boundaries[: 2 * n_sequences]] = False
    return Shares(units[order], labels[order], weights[order]), is_outcome
