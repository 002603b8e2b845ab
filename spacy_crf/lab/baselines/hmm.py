"""Hidden Markov models of order 2 and 3: p(words, labels) = prod p(word | label) p(label | labels before).

After Brants (2000), TnT: interpolated n-grams of labels, relative frequencies of words, suffixes of unknown words.
An HMM is a chain whose potentials are log probabilities, so that all of `core.chain` works on it. Word probabilities
come from p(label | word) by Bayes' rule, up to a constant of each word, which changes no posterior; log_z is therefore
not the probability of the words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from ...core.arrays import Doubles, Floats, Ints, cached_property, pack
from ...core.chain.arcs import Arcs, arc_marginals, arc_viterbi
from ...core.chain.forward import forward_backward
from ...core.chain.marginals import node_marginals
from ...core.chain.potentials import ChainPotentials
from ...core.chain.viterbi import viterbi
from ...core.errors import CRFError
from ...core.labels import Gold
from ...pipe.dictionary.counts import CountTable, Data, check_amount, flatten, gold_shares
from ..errors import LabErrors
from .grams import LabelGrams, StateSpace, count_grams, interpolation_weights, state_space
from .lexicon import FrequencyTagger, LexiconSettings, count_words, estimate_lexicon, log_likelihoods

CELLS_PER_BLOCK = 1 << 21  # (units, states) floats of 16 MiB for each array of the forward-backward pass


@dataclass(frozen=True)
class HMMSettings:
    """How counts become a hidden Markov model: see `block.HMMTaggerSettings`."""

    order: int = 2
    min_count: float = 1.0
    lexicon: LexiconSettings = field(default_factory=LexiconSettings)

    def __post_init__(self) -> None:
        if self.order not in (2, 3):
            raise CRFError(LabErrors.CRF834.format(order=self.order))
        check_amount("min_count", self.min_count)


@dataclass(frozen=True)
class HMMCounts:
    """What a hidden Markov model of any order is estimated from. Counts of several texts add up."""

    words: CountTable
    grams: LabelGrams

    @property
    def n_labels(self) -> int:
        return self.words.n_labels

    @classmethod
    def of_text(cls, sequences: Sequence[Sequence[str]], gold: Gold) -> Self:
        """Count words and n-grams of labels; sets and distributions count by their shares, n-grams by the product."""
        words, lengths = count_words(sequences, gold), flatten(sequences)[1]
        return cls(words, count_grams(gold_shares(gold), lengths, words.n_labels))

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """Add counts of the same labels up."""
        return cls(CountTable.merged([p.words for p in parts]), LabelGrams.merged([p.grams for p in parts]))

    def to_data(self) -> Data:
        """Return arrays, lists and numbers that can be stored."""
        return {"words": self.words.to_data(), "grams": self.grams.to_data()}

    @classmethod
    def from_data(cls, data: Data) -> Self:
        """Restore from `to_data`."""
        words = CountTable.from_data(data["words"])
        return cls(words, LabelGrams.from_data(data["grams"], words.n_labels))


@dataclass(frozen=True)
class HMM:
    """A hidden Markov model over words.

    weights ((3,)): of unigrams, bigrams and trigrams; the last is 0 in a model of order 2.
    min_count (float): pairs of labels that occur less often have no trigrams.
    """

    lexicon: FrequencyTagger
    grams: LabelGrams
    weights: Doubles
    min_count: float

    @property
    def n_labels(self) -> int:
        return self.lexicon.n_labels

    @cached_property
    def states(self) -> StateSpace:
        """The chain: labels at order 2, contexts of one or two labels at order 3."""
        return state_space(self.grams, self.weights, self.min_count)

    @cached_property
    def _arcs(self) -> Arcs | None:
        """Transitions of a chain with pairs, each with L successors; None where all labels follow each other."""
        return Arcs.of_transitions(self.states.transitions) if len(self.states.labels) > self.n_labels else None

    def emissions(self, words: Sequence[str]) -> Doubles:
        """Return log p(word | label) + constant of the word ((n, L))."""
        return log_likelihoods(self.lexicon.posteriors(words), self.lexicon.prior)

    def potentials(self, sequences: Sequence[Sequence[str]]) -> ChainPotentials:
        """Return chains over the C states, which `states` turns back to labels. O(N C) memory."""
        words, lengths = flatten(sequences)
        batch, states = pack(lengths), self.states
        packed = self.emissions(words)[batch.units]
        return ChainPotentials(batch, packed[:, states.labels], states.transitions, states.start, states.end)

    def marginals(self, sequences: Sequence[Sequence[str]]) -> Floats:
        """Return p(label | all words of the sequence) ((N, L)). O(N C L) time, in blocks of bounded memory."""
        parts: list[Floats] = [np.zeros((0, self.n_labels))]
        for potentials in map(self.potentials, self._blocks(sequences)):
            if self._arcs is None:
                marginals = node_marginals(forward_backward(potentials))
            else:
                marginals = arc_marginals(potentials, self._arcs)
            parts.append(self.states.label_marginals(marginals)[potentials.batch.rows])
        return np.concatenate(parts)

    def decode(self, sequences: Sequence[Sequence[str]]) -> Ints:
        """Return labels ((N,)) of the most probable sequences. O(N C L)."""
        parts: list[Ints] = [np.zeros(0, dtype=np.int32)]
        for potentials in map(self.potentials, self._blocks(sequences)):
            decoded = viterbi(potentials) if self._arcs is None else arc_viterbi(potentials, self._arcs)
            parts.append(self.states.to_labels(decoded.labels)[potentials.batch.rows])
        return np.concatenate(parts)

    def _blocks(self, sequences: Sequence[Sequence[str]]) -> Iterator[Sequence[Sequence[str]]]:
        """Yield runs of sequences with a bounded number of scores: C may be thousands of states."""
        most, first, size = CELLS_PER_BLOCK // len(self.states.labels), 0, 0
        for number, words in enumerate(sequences):
            if size and size + len(words) > most:
                yield sequences[first:number]
                first, size = number, 0
            size += len(words)
        if size:
            yield sequences[first:]


def estimate_hmm(counts: HMMCounts, settings: HMMSettings) -> HMM:
    """Turn counts into probabilities."""
    lexicon = estimate_lexicon(counts.words, settings.lexicon)
    return HMM(lexicon, counts.grams, interpolation_weights(counts.grams, settings.order), settings.min_count)
