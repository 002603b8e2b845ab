"""The relative-frequency tagger: labels of a word by how often it had them, without regard to its neighbours.

The lower bound for taggers in Heid's thesis on set-valued tagging (section 6.2), there with the prior for all unknown
words; here they go by their suffix. It also serves the hidden Markov model as its lexicon.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.arrays import Bools, Doubles, Ints
from ...core.gold import Gold
from ...pipe.dictionary.counts import CountTable, check_amount, distinct, flatten, gold_shares
from .suffixes import SuffixModel, check_suffix_settings, fit_suffixes


@dataclass(frozen=True)
class LexiconSettings:
    """How counts of words become probabilities of labels.

    smoothing (float): the suffixes of a known word weigh as much as so many occurrences of it; 0 takes known words as
        they were seen, as TnT does.
    suffix_length (int), cutoff (float), theta (float | None): see `fit_suffixes`; cutoff = 0 gives all unknown words
        the prior, as in the thesis.
    RAISES (ValueError): for a setting out of its range.
    """

    smoothing: float = 1.0
    suffix_length: int = 10
    cutoff: float = 10
    theta: float | None = None

    def __post_init__(self) -> None:
        check_amount("smoothing", self.smoothing)
        check_suffix_settings(self.suffix_length, self.cutoff, self.theta)


@dataclass(frozen=True)
class FrequencyTagger:
    """p(label | word): relative frequencies of known words, suffixes of unknown ones.

    words (CountTable): how often each word was seen with each label.
    suffixes (SuffixModel): what is thought of a word that was never seen.
    smoothing (float): the suffixes of a known word weigh as much as so many occurrences of it.
    """

    words: CountTable
    suffixes: SuffixModel
    smoothing: float

    @property
    def n_labels(self) -> int:
        return self.words.n_labels

    @property
    def prior(self) -> Doubles:
        """((L,)): relative frequencies of the labels; 0 for those without an example, which are never given."""
        return self.suffixes.prior

    def known(self, words: Sequence[str]) -> Bools:
        """((n,)): whether each word was seen with a gold label."""
        return self.words.find(words) >= 0

    def posteriors(self, words: Sequence[str]) -> Doubles:
        """p(label | word) = (f(w, t) + smoothing p(t | suffix)) / (f(w) + smoothing). O(n L).

        words (Sequence[str]): n words, in any order.
        RETURNS ((n, L)): rows sum to 1.
        """
        types, places = distinct(words)
        rows = self.words.find(types)
        seen = np.flatnonzero(rows >= 0)
        if self.smoothing:
            posteriors = self.smoothing * self.suffixes.posteriors(types)
        else:
            posteriors = np.zeros((len(types), self.n_labels))
            unseen = np.flatnonzero(rows < 0)
            posteriors[unseen] = self.suffixes.posteriors([types[number] for number in unseen])
        posteriors[seen] += self.words.dense(rows[seen])
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        return posteriors[places]

    def marginals(self, sequences: Sequence[Sequence[str]]) -> Doubles:
        """p(label | word) of all units.

        sequences (Sequence[Sequence[str]]): the words of each sequence.
        RETURNS ((N, L)): one sequence after the other.
        """
        return self.posteriors(flatten(sequences)[0])

    def decode(self, sequences: Sequence[Sequence[str]]) -> Ints:
        """((N,)): the most probable label of each unit, the smaller index among equals."""
        return np.asarray(self.marginals(sequences).argmax(axis=1), dtype=np.int32)


def fit_baseline(
    sequences: Sequence[Sequence[str]], gold: Gold, settings: LexiconSettings | None = None
) -> FrequencyTagger:
    """Count words and suffixes.

    sequences (Sequence[Sequence[str]]): the words of each sequence.
    gold (Gold): of their N units; a unit that is a set or a distribution counts for each label by its share.
    settings (LexiconSettings | None): how counts become probabilities; None: as usual.
    RETURNS (FrequencyTagger): the tagger.
    RAISES (ValueError): for gold that does not fit the words, or no known gold.
    """
    return estimate_lexicon(count_words(sequences, gold), settings or LexiconSettings())


def count_words(sequences: Sequence[Sequence[str]], gold: Gold) -> CountTable:
    """How often each word has each label: `CountTable.merged` adds the counts of several texts up.

    sequences (Sequence[Sequence[str]]), gold (Gold): as for `fit_baseline`, with its errors.
    """
    words, _ = flatten(sequences, gold)
    shares = gold_shares(gold)
    keys = [words[unit] for unit in shares.units]
    return CountTable.build(keys, shares.labels, shares.weights, gold.weights.shape[1])


def estimate_lexicon(words: CountTable, settings: LexiconSettings) -> FrequencyTagger:
    """Turn counts into probabilities. O(V length) for the suffixes."""
    suffixes = fit_suffixes(words, settings.suffix_length, settings.cutoff, settings.theta)
    return FrequencyTagger(words, suffixes, settings.smoothing)
