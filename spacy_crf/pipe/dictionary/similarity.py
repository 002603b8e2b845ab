"""How similar labels are, by the words that have them."""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Doubles, Segments
from .counts import CountTable


@dataclass(frozen=True)
class SimilarPair:
    """Two labels, `first` below `second`, and their similarity."""

    similarity: float
    first: int
    second: int


def ruzicka(words: CountTable) -> Doubles:
    """Ruzicka similarity of labels: sum_w min(f(w, s), f(w, t)) / sum_w max(f(w, s), f(w, t)).

    Equation 6.1 of Heid, Set-Valued Prediction for Part-of-Speech Tagging (2020): the weighted Jaccard similarity of
    the bags of words that labels were seen with. Words with a count of infinity, which somebody has entered, are left
    out.

    words (CountTable): counts f.
    RETURNS ((L, L)): symmetric, in [0, 1]; 1 on the diagonal, and 0 for labels that were not seen. O(sum_w k_w^2) for
        words with k_w labels.
    """
    n, entries = words.n_labels, Segments(np.diff(words.ends))
    owners = entries.owners
    counts = np.where(np.isfinite(words.totals())[owners], words.counts, 0.0)
    # each pair of entries of the same word, both ways
    pairs = Segments(entries.lengths[owners])
    first, second = pairs.owners, pairs.at(words.ends[owners])
    cells = words.labels[first] * n + words.labels[second]
    shared = np.bincount(cells, np.minimum(counts[first], counts[second]), n * n).reshape(n, n)
    totals = np.diag(shared)
    either = totals[:, None] + totals - shared  # max(a, b) = a + b - min(a, b)
    return np.asarray(np.divide(shared, either, out=np.zeros((n, n)), where=either > 0))


def similar_pairs(words: CountTable, least: float = 0.0) -> list[SimilarPair]:
    """Pairs of labels that share words, the most similar first: proposals for expansion rules.

    words (CountTable): counts. least (float): similarity that a pair must have; those that share nothing are left out.
    RETURNS (list[SimilarPair]): equal ones by their labels.
    """
    similarities = ruzicka(words)
    first, second = np.nonzero(np.triu((similarities >= least) & (similarities > 0), 1))
    values = similarities[first, second]
    order = np.lexsort((second, first, -values))
    return [SimilarPair(float(values[k]), int(first[k]), int(second[k])) for k in order]
