"""Label probabilities of unknown words from their suffixes (Brants 2000, TnT, section 2.3; after Samuelsson 1993).

Words that are rare in training are taken to be like those that were not seen at all. Longer suffixes tell more but
were seen less, so that each is smoothed by the next shorter one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.arrays import Doubles
from ...core.errors import CoreErrors, CRFError
from ...pipe.dictionary.counts import CountTable, check_amount

CAPITALISED, OTHER = "A", "a"


@dataclass(frozen=True)
class SuffixModel:
    """p(label | suffix), capitalised words and others apart.

    table (CountTable): labels of rare words by suffix; a key is the mark of its case and the suffix.
    prior ((L,)): relative frequencies of the labels among all words.
    theta (float): weight of the next shorter suffix.
    length (int): of the longest suffixes.
    """

    table: CountTable
    prior: Doubles
    theta: float
    length: int

    def posteriors(self, words: Sequence[str]) -> Doubles:
        """p(label | word) as for words that were never seen. O(n L length).

        Successive abstraction: from the prior over the empty suffix to the longest one known,
        p(t | s) = (f(s, t) / f(s) + theta p(t | s without its first letter)) / (1 + theta).

        words (Sequence[str]): n words.
        RETURNS ((n, L)): rows sum to 1.
        """
        posteriors = np.tile(self.prior, (len(words), 1))
        going = list(range(len(words)))
        for length in range(self.length + 1):
            going = [number for number in going if len(words[number]) >= length]
            rows = self.table.find([suffix_key(words[number], length) for number in going])
            # where a suffix was not seen, no longer one was
            going = [number for number, row in zip(going, rows) if row >= 0]
            if not going:
                break
            counts = self.table.dense(rows[rows >= 0])
            shares = counts / counts.sum(axis=1, keepdims=True)
            posteriors[going] = (shares + self.theta * posteriors[going]) / (1 + self.theta)
        return posteriors


def fit_suffixes(words: CountTable, length: int = 10, cutoff: float = 10, theta: float | None = None) -> SuffixModel:
    """Count the suffixes of rare words. O(V length).

    words (CountTable): how often each word was seen with each label.
    length (int): of the longest suffixes; 0 leaves the labels of rare words, by case.
    cutoff (float): words seen more often are not rare; 0 leaves the prior for all unknown words.
    theta (float | None): weight of the next shorter suffix; None takes, with TnT, the standard deviation of the prior
        over the labels that occur. That trusts the longest suffix: for text in free spelling give more, such as 1.
    RETURNS (SuffixModel): the model.
    RAISES (ValueError): for a setting out of its range.
    """
    check_suffix_settings(length, cutoff, theta)
    counts = np.bincount(words.labels, weights=words.counts, minlength=words.n_labels)
    prior = counts / words.counts.sum()
    if theta is None:
        occurring = prior[prior > 0]
        theta = float(occurring.std(ddof=1)) if len(occurring) > 1 else 0.0
    return SuffixModel(_count_suffixes(words, length, cutoff), prior, theta, length)


def check_suffix_settings(length: int, cutoff: float, theta: float | None) -> None:
    """Raise a coded error for a setting of `fit_suffixes` that is out of its range."""
    if length < 0:
        raise CRFError(CoreErrors.CRF108.format(name="suffix length", least=0, value=length))
    for name, value in (("cutoff", cutoff), ("theta", theta)):
        if value is not None:
            check_amount(name, value)


def suffix_key(word: str, length: int) -> str:
    """The suffix of a word that has at least so many letters, marked by the case of the word."""
    return (CAPITALISED if word[:1].isupper() else OTHER) + word[len(word) - length :]


def log_likelihoods(posteriors: Doubles, prior: Doubles) -> Doubles:
    """log p(word | label) + constant of the word, by Bayes' rule; -inf for what is impossible. O(n L).

    posteriors ((n, L)): p(label | word). prior ((L,)): p(label).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log(posteriors) - np.log(prior)
    return np.asarray(np.where(posteriors > 0, scores, -np.inf), dtype=np.float64)


def _count_suffixes(words: CountTable, length: int, cutoff: float) -> CountTable:
    owners, suffixes = [], []
    for row in np.flatnonzero(words.totals() <= cutoff):
        word = words.keys[row]
        keys = [suffix_key(word, n) for n in range(min(length, len(word)) + 1)]
        suffixes += keys
        owners += [row] * len(keys)
    found = words.pairs(np.array(owners, dtype=np.intp))
    return CountTable.build([suffixes[n] for n in found.units], found.labels, found.weights, words.n_labels)
