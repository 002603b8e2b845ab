"""`hmm_tagger`: a hidden Markov model of order 2 or 3, after TnT."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from ...core.gold import Gold
from ...features.block import SequenceMode
from ...pipe.dictionary.counts import Data
from ...pipe.settings import Decode
from .baseline import LexiconSettings
from .component import ComparisonTagger, Target
from .counting import CountingEstimator, Words
from .hmm import HMM, HMMCounts, HMMSettings, estimate_hmm
from .settings import ASSIGNS, DEFAULT_CONFIG, LEXICON_CONFIG, SCORE_WEIGHTS, SEQUENCE_CONFIG


class HMMEstimator(CountingEstimator[HMMCounts, HMM]):
    """Counts words and n-grams of labels, those of both orders. settings (HMMSettings): of probabilities."""

    def __init__(self, sequence: SequenceMode, settings: HMMSettings):
        super().__init__(sequence)
        self.settings = settings

    def count(self, sequences: Words, gold: Gold) -> HMMCounts:
        return HMMCounts.of_text(sequences, gold)

    def estimate(self, counts: HMMCounts) -> HMM:
        return estimate_hmm(counts, self.settings)

    def read_counts(self, data: Data) -> tuple[HMMCounts, int]:
        counts = HMMCounts.from_data(data)
        return counts, counts.words.n_labels


@Language.factory(
    "hmm_tagger",
    assigns=ASSIGNS,
    default_config={**DEFAULT_CONFIG, **SEQUENCE_CONFIG, "order": 2, "min_count": 1.0, **LEXICON_CONFIG},
    default_score_weights=SCORE_WEIGHTS,
)
def make_hmm_tagger(
    nlp: Language,
    name: str,
    target: Target,
    sequence: SequenceMode,
    overwrite: bool,
    decode: Decode,
    marginals: str | None,
    gold_tags: str,
    order: int,
    min_count: float,
    smoothing: float,
    suffix_length: int,
    cutoff: float,
    theta: float | None,
    scorer: Callable[..., dict[str, Any]] | None,
) -> ComparisonTagger:
    """Construct a tagger with a hidden Markov model.

    target, overwrite, marginals, gold_tags, smoothing, suffix_length, cutoff, theta, scorer: as for frequency_tagger.
    sequence (str): "auto" (sentences where the Doc has sentence starts, else the Doc), "doc" or "sents".
    decode (str): "viterbi" for the most probable sequence, "posterior" for the most probable tag of each token.
    order (int): 2 conditions a tag on the one before, 3 on the two before.
    min_count (float): at order 3, pairs of tags that occur less often have no trigrams; tagging takes time and memory
        by the square, and in proportion to the number, of the pairs.
    RETURNS (ComparisonTagger): the component.
    """
    lexicon = LexiconSettings(smoothing, suffix_length, cutoff, theta)
    estimator = HMMEstimator(sequence, HMMSettings(order, min_count, lexicon))
    settings = {"overwrite": overwrite, "decode": decode, "marginals": marginals, "gold_tags": gold_tags}
    return ComparisonTagger(nlp.vocab, name, estimator, target=target, settings=settings, scorer=scorer)
