"""`frequency_tagger`: labels of a word by how often it had them, the lower bound for taggers."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from ...core.gold import Gold
from ...pipe.dictionary.counts import CountTable, Data
from .baseline import FrequencyTagger, LexiconSettings, count_words, estimate_lexicon
from .component import ComparisonTagger, Target
from .counting import CountingEstimator, Words
from .settings import ASSIGNS, DEFAULT_CONFIG, LEXICON_CONFIG, SCORE_WEIGHTS


class FrequencyEstimator(CountingEstimator[CountTable, FrequencyTagger]):
    """Counts words with their labels; neighbours count for nothing. settings (LexiconSettings): of probabilities."""

    def __init__(self, settings: LexiconSettings):
        super().__init__("doc")
        self.settings = settings

    def count(self, sequences: Words, gold: Gold) -> CountTable:
        return count_words(sequences, gold)

    def estimate(self, counts: CountTable) -> FrequencyTagger:
        return estimate_lexicon(counts, self.settings)

    def read_counts(self, data: Data) -> tuple[CountTable, int]:
        counts = CountTable.from_data(data)
        return counts, counts.n_labels


@Language.factory(
    "frequency_tagger",
    assigns=ASSIGNS,
    default_config={**DEFAULT_CONFIG, **LEXICON_CONFIG},
    default_score_weights=SCORE_WEIGHTS,
)
def make_frequency_tagger(
    nlp: Language,
    name: str,
    target: Target,
    overwrite: bool,
    marginals: str | None,
    gold_tags: str,
    smoothing: float,
    suffix_length: int,
    cutoff: float,
    theta: float | None,
    scorer: Callable[..., dict[str, Any]] | None,
) -> ComparisonTagger:
    """Construct a relative-frequency tagger.

    target (str): "tag" (token.tag) or "pos" (token.pos).
    overwrite (bool): whether to replace annotation that is there already.
    marginals (str | None): name of a Doc and Token extension that takes the probabilities of all tags.
    gold_tags (str): name of the custom token attribute with weighted gold, a dict from tag to weight; each tag counts
        by its share. Tokens without have the gold of the target.
    smoothing (float): the suffixes of a known word weigh as much as so many occurrences of it.
    suffix_length (int): of the longest suffixes that unknown words go by.
    cutoff (float): suffixes are those of words that occur at most so often; 0 gives all unknown words the prior.
    theta (float | None): weight of the next shorter suffix; null takes, with TnT, the standard deviation of the prior.
        For text in free spelling give more, such as 1.
    scorer (Callable | None): how it is evaluated.
    RETURNS (ComparisonTagger): the component.
    """
    estimator = FrequencyEstimator(LexiconSettings(smoothing, suffix_length, cutoff, theta))
    settings = {"overwrite": overwrite, "marginals": marginals, "gold_tags": gold_tags}
    return ComparisonTagger(nlp.vocab, name, estimator, target=target, settings=settings, scorer=scorer)
