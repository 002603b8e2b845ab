"""How far apart documents are: Jensen-Shannon distance of the distributions of their words or character n-grams.

The thesis (6.9.2) prunes by meta-data, which it does not define; the words themselves need none.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from ...core.arrays import Doubles

Grams = Literal["characters", "words"]


def count_grams(words: Iterable[str], grams: Grams = "characters", size: int = 3) -> Counter[str]:
    """N-grams of a document, in lower case.

    words (Iterable[str]): its tokens. grams (str): "characters" of each word between blanks, which mark its ends, so
        that spellings of one word share most of theirs; or whole "words", of which `size` is not asked.
    size (int): characters of an n-gram; a word with fewer is one.
    """
    counts: Counter[str] = Counter()
    for word, times in Counter(word.lower() for word in words).items():
        text = f" {word} "
        pieces = [word] if grams == "words" else [text[i : i + size] for i in range(max(1, len(text) - size + 1))]
        for piece in pieces:
            counts[piece] += times
    return counts


def jensen_shannon(counts: Sequence[Counter[str]]) -> Doubles:
    """Distances of all pairs of documents. O(D^2 V) for V n-grams.

    The square root of the Jensen-Shannon divergence to base 2, a metric (Endres and Schindelin 2003): 0 for equal
    distributions, 1 for documents that share nothing.

    counts (Sequence[Counter]): of the D documents; one without n-grams is at distance 1 from all others.
    RETURNS ((D, D)): distances.
    """
    number = {gram: column for column, gram in enumerate(sorted({gram for each in counts for gram in each}))}
    shares = np.zeros((len(counts), len(number)))
    for row, each in enumerate(counts):
        shares[row, [number[gram] for gram in each]] = list(each.values())
    totals = shares.sum(axis=1, keepdims=True)
    np.divide(shares, totals, out=shares, where=totals > 0)
    entropies = _entropy(shares)
    distances = np.zeros((len(counts), len(counts)))
    for row, own in enumerate(shares):
        divergences = _entropy((own + shares) / 2) - (entropies[row] + entropies) / 2
        distances[row] = np.sqrt(np.clip(divergences, 0.0, 1.0))
    empty = ~(totals[:, 0] > 0)
    distances[empty], distances[:, empty] = 1.0, 1.0
    np.fill_diagonal(distances, 0.0)
    return distances


def _entropy(shares: Doubles) -> Doubles:
    """((D,)): of each row, in bits."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))
