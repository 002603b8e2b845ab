"""The relative-frequency tagger: labels of a word by how often it had them, without regard to its neighbours.

The lower bound for taggers in Heid's thesis on set-valued tagging (section 6.2), there with the prior for all unknown
words; here they go by their suffix (Brants 2000, TnT, section 2.3; after Samuelsson 1993). Words that are rare in
training are taken to be like those that were not seen at all; longer suffixes tell more but were seen less, so that
each is smoothed by the next shorter one. It also serves the hidden Markov model as its lexicon.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Doubles, Ints, Segments, distinct
from ...core.errors import require_count
from ...core.labels import Gold
from ...features.block import SequenceMode
from ...features.columns import Columns
from ...features.extract import FeatureExtractor
from ...features.resources import Resources
from ...pipe.dictionary.counts import CountTable, Data, check_amount, flatten, gold_shares
from ...pipe.dictionary.tag_dictionary import count_shares
from .component import Estimator

CAPITALISED, OTHER = "A", "a"


@dataclass(frozen=True)
class LexiconSettings:
    """How counts of words become probabilities of labels: see `block.FrequencySettings`.

    smoothing = 0 takes known words as they were seen, as TnT does; cutoff = 0 gives all unknown words the prior, as in
    the thesis. Without theta the longest suffix is trusted most.
    """

    smoothing: float = 1.0
    suffix_length: int = 10
    cutoff: float = 10
    theta: float | None = None

    def __post_init__(self) -> None:
        require_count(0, suffix_length=self.suffix_length)
        for name in ("smoothing", "cutoff", "theta"):
            value = getattr(self, name)
            if value is not None:
                check_amount(name, value)


@dataclass(frozen=True)
class SuffixModel:
    """p(label | suffix), capitalised words and others apart; see `fit_suffixes`.

    table (CountTable): labels of rare words by suffix; a key is the mark of its case and the suffix.
    prior ((L,)): relative frequencies of the labels among all words.
    """

    table: CountTable
    prior: Doubles
    theta: float
    length: int

    def posteriors(self, words: Sequence[str]) -> Doubles:
        """Return p(label | word) as for words that were never seen. O(n L length).

        Successive abstraction: from the prior over the empty suffix to the longest one known,
        p(t | s) = (f(s, t) / f(s) + theta p(t | s without its first letter)) / (1 + theta).
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


def fit_suffixes(words: CountTable, settings: LexiconSettings) -> SuffixModel:
    """Count the suffixes of rare words, and how often each label occurs at all. O(V length)."""
    prior = np.bincount(words.labels, weights=words.counts, minlength=words.n_labels) / words.counts.sum()
    theta, occurring = settings.theta, prior[prior > 0]
    if theta is None:
        theta = float(occurring.std(ddof=1)) if len(occurring) > 1 else 0.0
    length = settings.suffix_length
    return SuffixModel(_count_suffixes(words, length, settings.cutoff), prior, theta, length)


def suffix_key(word: str, length: int) -> str:
    """Return the suffix of a word that has at least so many letters, marked by the case of the word."""
    return (CAPITALISED if word[:1].isupper() else OTHER) + word[len(word) - length :]


def _count_suffixes(words: CountTable, length: int, cutoff: float) -> CountTable:
    owners, suffixes = [], []
    for row in np.flatnonzero(words.totals() <= cutoff):
        word = words.keys[row]
        keys = [suffix_key(word, n) for n in range(min(length, len(word)) + 1)]
        suffixes += keys
        owners += [row] * len(keys)
    found = words.pairs(np.array(owners, dtype=np.intp))
    return CountTable.build([suffixes[n] for n in found.units], found.labels, found.weights, words.n_labels)


@dataclass(frozen=True)
class FrequencyTagger:
    """p(label | word): relative frequencies of known words, smoothed by their suffixes, which unknown ones go by."""

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

    def posteriors(self, words: Sequence[str]) -> Doubles:
        """Return p(label | word) = (f(w, t) + smoothing p(t | suffix)) / (f(w) + smoothing): (n, L). O(n L)."""
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
        """Return p(label | word) ((N, L)) of the words of all sequences, one sequence after the other."""
        return self.posteriors(flatten(sequences)[0])

    def decode(self, sequences: Sequence[Sequence[str]]) -> Ints:
        """Return the most probable label of each unit ((N,)), the smaller index among equals."""
        return np.asarray(self.marginals(sequences).argmax(axis=1), dtype=np.int32)


def count_words(sequences: Sequence[Sequence[str]], gold: Gold) -> CountTable:
    """Count how often each word of some sequences has each label: one that is a set or a distribution by its shares."""
    words, _ = flatten(sequences, gold)
    return count_shares(words, gold_shares(gold), gold.weights.shape[1], "none")


def estimate_lexicon(words: CountTable, settings: LexiconSettings) -> FrequencyTagger:
    """Turn counts into probabilities. O(V length) for the suffixes."""
    return FrequencyTagger(words, fit_suffixes(words, settings), settings.smoothing)


def log_likelihoods(posteriors: Doubles, prior: Doubles) -> Doubles:
    """Return log p(word | label) + constant of the word ((n, L)), by Bayes' rule; -inf for what is impossible."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log(posteriors) - np.log(prior)
    return np.asarray(np.where(posteriors > 0, scores, -np.inf), dtype=np.float64)


# -- estimator ---------------------------------------------------------------------------------------------------


class CountingEstimator(Estimator):
    """Counts words and labels. The counts are what is stored: settings that turn them into probabilities may change.

    sequence (str): "auto", "doc" or "sents". counts (type): `CountTable`, or another class that counts so.
    count (Callable): makes counts of sequences of words and their gold.
    estimate (Callable): makes a model of counts and settings.
    """

    def __init__(
        self,
        sequence: SequenceMode,
        counts: Any,
        count: Callable[..., Any],
        estimate: Callable[..., Any],
        settings: Any,
    ):
        super().__init__(FeatureExtractor([], Resources(), sequence, True))
        self._kind, self._count, self._estimate = counts, count, estimate
        self.scored_by = {"sequence": sequence, "settings": settings}
        self._counts: list[Any] = []

    @property
    def has_learned(self) -> bool:
        return bool(self._counts)

    def reset(self, nlp: Language | None, references: Callable[[], Iterable[Doc]]) -> None:
        self._counts, self._model = [], None

    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        self._counts.append(self._count(*self.inputs(columns, vocab), gold))
        self._model = None

    def fit(self) -> Any:
        return self._estimate(self._total(), self.scored_by["settings"])

    def inputs(self, columns: Columns, vocab: Vocab) -> tuple[list[list[str]]]:
        words = [vocab.strings[orth] for orth in columns.orths.tolist()]
        return ([words[own] for own in Segments(columns.lengths).slices()],)

    def to_data(self) -> Data:
        return dict(self._total().to_data()) if self._counts else {}

    def from_data(self, data: Data) -> int | None:
        self._counts, self._model = [self._kind.from_data(data)] if data else [], None
        return int(self._counts[0].n_labels) if data else None

    def _total(self) -> Any:
        if len(self._counts) > 1:
            self._counts = [self._kind.merged(self._counts)]
        return self._counts[0]
