"""Label n-gram models as linear chains: states are contexts, and scores are log probabilities.

A state of the trigram model is a pair of labels, or a single label where the pair was not seen: a pair without
examples has no trigrams of its own, hence the same probabilities whatever its first label is. A sequence of labels
is one path of states, so that the chain is exact with far fewer than L^2 states.
"""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Doubles, Floats, Indices, Ints
from .ngrams import LabelGrams


@dataclass(frozen=True)
class StateSpace:
    """A chain of C states over L labels.

    labels ((C,)): the label of each state, ascending.
    transitions ((C, C)), start ((C,)), end ((C,)): log probabilities.
    n_labels (int): L.
    """

    labels: Indices
    transitions: Doubles
    start: Doubles
    end: Doubles
    n_labels: int

    def to_labels(self, states: Ints) -> Ints:
        """Labels of states, in any shape; negative numbers, which stand for no state, stay."""
        return np.where(states < 0, states, self.labels[states]).astype(np.int32)

    def label_marginals(self, marginals: Floats) -> Floats:
        """Sum the marginals (N, C) of the states of each label: (N, L)."""
        return np.asarray(np.add.reduceat(marginals, np.searchsorted(self.labels, np.arange(self.n_labels)), axis=1))


def state_space(grams: LabelGrams, weights: Doubles, min_count: float = 1.0) -> StateSpace:
    """The chain of an interpolated n-gram model. O(C^2).

    p(t | a, b) = weights @ (relative frequencies of t, of t after b, of t after a and b). A context that was not seen
    has the frequencies of the next shorter one. With no weight on trigrams the states are the labels themselves.

    grams (LabelGrams): counts. weights ((3,)): of unigrams, bigrams and trigrams.
    min_count (float): pairs of labels that occur less often count as not seen.
    RETURNS (StateSpace): C = L + pairs.
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
    """Contexts of two that end in a label and occur often enough."""
    size = len(grams.unigrams)
    totals = np.bincount(grams.trigrams // size, weights=grams.trigram_counts, minlength=size * size)
    often = (totals > 0) & (totals >= min_count)
    firsts, seconds = np.nonzero(often.reshape(size, size)[:, :-1])
    return firsts, seconds


def _probabilities(grams: LabelGrams, weights: Doubles, firsts: Indices, seconds: Indices) -> tuple[Doubles, Doubles]:
    """Probabilities of outcomes after one label or the boundary (M, M), and after each pair (n, M)."""
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
