"""What entry points name: the settings of the comparison taggers, and the readers and the logger of experiments.

A leaf: what does the work is imported where something is made or read.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from ..core.errors import CoreErrors, CRFError, require, require_numbers
from ..features.block import FeatureSettings, SequenceMode
from ..pipe.block import Decode, Scorer, Settings, component, fixed, nested, own_names

Reader = Callable[[Language], Iterable[Example]]
SELECTIONS: dict[str, Reader] = {}  # what an experiment holds at the moment, by key


# -- comparison taggers ------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class ComparisonSettings(Settings, ABC):
    """Settings of all comparison taggers.

    target (str): "tag" (token.tag) or "pos" (token.pos).
    overwrite (bool): whether to replace annotation that is there already.
    marginals (str | None): name of a Doc and Token extension that takes the probabilities of all tags.
    gold_tags (str): name of the custom token attribute with weighted gold, a dict from tag to weight; each tag counts
        by its share. Tokens without have the gold of the target.
    scorer (Callable | None): how it is evaluated.
    """

    target: Literal["tag", "pos"] = fixed("tag", shown=True)
    overwrite: bool = False
    marginals: str | None = None
    gold_tags: str = "gold_tags"
    scorer: Scorer = nested("scorers", "spacy_crf.tagger_scorer.v1")

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from own_names({"target": self.target, "marginals": self.marginals, "gold_tags": self.gold_tags})

    def told(self) -> Iterator[tuple[str, str]]:
        if self.marginals is not None:
            yield self.marginals, "marginals"

    @abstractmethod
    def estimator(self) -> Any:
        """Return the `Estimator` that learns."""

    def make(self, nlp: Language, name: str) -> Any:
        """Return the component."""
        from .baselines.component import ComparisonTagger

        self.check(name)
        return ComparisonTagger(nlp.vocab, name, self, self.estimator())


@dataclass(kw_only=True)
class FrequencySettings(ComparisonSettings):
    """Settings of `frequency_tagger`: labels of a word by how often it had them, the lower bound for taggers.

    smoothing (float): the suffixes of a known word weigh as much as so many occurrences of it.
    suffix_length (int): of the longest suffixes that unknown words go by.
    cutoff (float): suffixes are those of words that occur at most so often; 0 gives all unknown words the prior.
    theta (float | None): weight of the next shorter suffix; null takes, with TnT, the standard deviation of the prior.
        For text in free spelling give more, such as 1.
    """

    smoothing: float = fixed(1.0)
    suffix_length: int = fixed(10)
    cutoff: float = fixed(10)
    theta: float | None = fixed(None)

    def estimator(self) -> Any:
        from .baselines import lexicon

        how = lexicon.CountTable, lexicon.count_words, lexicon.estimate_lexicon
        return lexicon.CountingEstimator("doc", *how, self.lexicon())

    def lexicon(self) -> Any:
        """Return the settings of the probabilities of words."""
        from .baselines.lexicon import LexiconSettings

        return LexiconSettings(self.smoothing, self.suffix_length, self.cutoff, self.theta)


@dataclass(kw_only=True)
class SequenceSettings(ComparisonSettings):
    """Settings of the taggers that look at neighbours.

    sequence (str): "auto" (sentences where the Doc has sentence starts, else the Doc), "doc" or "sents".
    decode (str): "viterbi" for the most probable sequence, punctuation that is context included; "posterior" for the
        most probable tag of each token.
    """

    sequence: SequenceMode = fixed("auto")
    decode: Decode = "viterbi"


@dataclass(kw_only=True)
class HMMTaggerSettings(SequenceSettings, FrequencySettings):
    """Settings of `hmm_tagger`: a hidden Markov model, after TnT.

    order (int): 2 conditions a tag on the one before, 3 on the two before.
    min_count (float): at order 3, pairs of tags that occur less often have no trigrams; tagging takes time and memory
        by the square, and in proportion to the number, of the pairs.
    """

    order: int = fixed(2)
    min_count: float = fixed(1.0)

    def idle(self) -> Iterator[tuple[str, str]]:
        if self.order != 3:
            yield "min_count", "order = 3"

    def estimator(self) -> Any:
        from .baselines import hmm
        from .baselines.lexicon import CountingEstimator

        how = hmm.HMMCounts, hmm.HMMCounts.of_text, hmm.estimate_hmm
        settings = hmm.HMMSettings(self.order, self.min_count, self.lexicon())
        return CountingEstimator(self.sequence, *how, settings)


@dataclass(kw_only=True)
class MEMMSettings(SequenceSettings):
    """Settings of `memm_tagger`: a maximum-entropy Markov model over the features of a crf_tagger.

    features (FeatureSettings): as for crf_tagger, without edge templates.
    c2 (float): L2 penalty. max_iterations (int): of L-BFGS, which stops earlier where it improves no more.
    """

    features: FeatureSettings = nested("misc", "spacy_crf.Features.v1", templates=["@tagging"])
    c2: float = fixed(1.0)
    max_iterations: int = fixed(100)

    def estimator(self) -> Any:
        from .baselines.memm import MEMMEstimator

        return MEMMEstimator(self.features, self.sequence, self.c2, self.max_iterations)


def _make(nlp: Language, name: str, settings: ComparisonSettings) -> Any:
    return settings.make(nlp, name)


_registered: dict[str, Any] = {
    "assigns": ["token.tag", "token.pos"],
    "scores": {"crf_score": 1.0},
}
make_frequency_tagger = component("frequency_tagger", FrequencySettings, **_registered)(_make)
make_hmm_tagger = component("hmm_tagger", HMMTaggerSettings, **_registered)(_make)
make_memm_tagger = component("memm_tagger", MEMMSettings, **_registered)(_make)


# -- readers and logger of experiments ---------------------------------------------------------------------------


@registry.readers("spacy_crf.Fold.v1")
@dataclass(eq=False)
class FoldCorpus:
    """Reads the documents of a fold, or those outside of it. Readers with the same settings make the same folds.

    The documents are read once for each pipeline and kept in memory.

    corpus (Callable): the reader of all documents, the same number in the same order whenever it is called; an
        augmenter would put copies of a document into other folds.
    folds (int): number of folds, of about the same number of documents, drawn at random. Docs that bear the name of one
        document, such as its sentences, stay together, unless there are fewer documents than folds.
    fold (int): number of the fold, from 0.
    part (str): "held_out" for its documents, "train" for those of all other folds.
    seed (int): of the draw.
    RAISES (ValueError): for a number of folds below 2, or a fold that there is not.
    """

    corpus: Reader
    folds: int
    fold: int
    part: Literal["train", "held_out"]
    seed: int = 0

    def __post_init__(self) -> None:
        require_numbers(self)
        require(CoreErrors.CRF549, "corpus", self.corpus, callable(self.corpus), "a block with @readers")
        require(CoreErrors.CRF549, "folds", self.folds, self.folds >= 2, "at least 2")
        require(CoreErrors.CRF549, "fold", self.fold, 0 <= self.fold < self.folds, f"from 0 to {self.folds - 1}")
        require(CoreErrors.CRF549, "seed", self.seed, self.seed >= 0, "at least 0")
        self._read: tuple[Vocab, list[Example]] | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples of the part in the order of the corpus, each with a predicted side of its own.

        RAISES (ValueError): where there are fewer documents than folds.
        """
        if self._read is None or self._read[0] is not nlp.vocab:
            self._read = nlp.vocab, self._choose(list(self.corpus(nlp)))
        for example in self._read[1]:
            yield Example(example.predicted.copy(), example.reference)

    def _choose(self, examples: list[Example]) -> list[Example]:
        from ..annotation.documents import dealt_units
        from ..core.learn.penalty import deal
        from .errors import LabErrors

        units = dealt_units(examples, self.folds)
        found = len(np.unique(units))
        if found < self.folds:
            raise CRFError(LabErrors.CRF551.format(folds=self.folds, found=found))
        owners = deal(found, self.folds, np.random.default_rng(self.seed))[units].tolist()
        is_wanted = self.part == "held_out"
        return [example for owner, example in zip(owners, examples) if (owner == self.fold) == is_wanted]


@registry.readers("spacy_crf.Selection.v1")
def make_selection(key: str) -> Reader:
    """Return the examples that an experiment holds at the moment; of no use outside of one.

    key (str): as `documents.selected` gives it.
    """
    return SELECTIONS[key]


@registry.loggers("spacy_crf.trial_logger.v1")
def make_trial_logger() -> Callable[..., Any]:
    """Return a logger that hands each evaluation to the program that trains, see `training.setup_logger`."""
    from .training import setup_logger

    return setup_logger
