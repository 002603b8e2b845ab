"""Reports on gold documents: what tag sets save an annotator, and what a tag dictionary makes of their words."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..annotation.gold import GOLD_TAGS
from ..core.arrays import Bools, Doubles
from ..core.errors import CRFError
from ..core.gold import Gold
from ..core.labels import TagSet
from ..core.sets.measures import (
    StratifiedCoverage,
    best_label_error,
    classwise_error,
    coverage_by_group,
    coverage_by_label,
    coverage_by_size,
    has_gold,
    ml_acc,
    set_measures,
)
from ..pipe.dictionary.block import Fold
from ..pipe.dictionary.counts import CountTable, gold_shares
from ..pipe.dictionary.tag_dictionary import TagDictionary, count_words
from ..pipe.probabilities import GivesSets
from .errors import TagSetErrors
from .gold import Weights, gold_weights, set_table, to_gold
from .rules import target_coverage, utility_values


@dataclass(frozen=True)
class SetReport:
    """Measures of sets over the tokens with gold of documents that the tagger has annotated.

    tokens (int): with gold. labels (int): that the tagger knows; sizes and ml-util compare only for equal numbers.
    unknown_words (float | None): share of tokens whose form the training data lack.
    ml_acc (float | None): of the best tags. ml_acc_known, ml_acc_unknown (float | None): of known and unknown words.
    ml_util, coverage, size (float): of the sets, by the tagger's utility.
    singletons (float): share of tokens with one tag. singletons_right (float | None): their ml-acc.
    target (float): what CovGap is measured from: the coverage that the tagger's method aims at, or `coverage` itself
        where it aims at none.
    gap_tags, gap_documents (float): CovGap, the mean distance of the coverage of a gold tag, or of a document, from
        the target (Ding et al. 2023). Each tag counts the same, rare ones too, whose coverage is mostly chance.
    ece (float): expected calibration error of the most probable tags, in ten bins of equal width.
    classwise_ece (float): mean over tags of the calibration error of their probabilities.
    by_size (StratifiedCoverage): coverage of the sets of each size.
    """

    tokens: int
    labels: int
    unknown_words: float | None
    ml_acc: float | None
    ml_acc_known: float | None
    ml_acc_unknown: float | None
    ml_util: float
    coverage: float
    size: float
    singletons: float
    singletons_right: float | None
    target: float
    gap_tags: float
    gap_documents: float
    ece: float
    classwise_ece: float
    by_size: StratifiedCoverage


def report_sets(tagger: GivesSets, examples: Iterable[Example], words: Collection[str] = ()) -> SetReport:
    """Measure the sets of documents.

    Tags that the tagger does not know have a probability of 0.

    tagger (GivesSets): the component.
    examples (Iterable[Example]): `predicted` as the tagger has annotated it.
    words (Collection[str]): forms of the training data; empty if they are not known.
    RETURNS (SetReport): all measures.
    RAISES (ValueError): where no token has gold.
    """
    examples, known = list(examples), list(tagger.labels)
    settings = tagger.cfg["tag_set"], tagger.cfg["gold_tags"]
    table = set_table(examples, known, tagger.target, *settings)
    with_gold = has_gold(table.weights)
    if not with_gold.any():
        raise CRFError(TagSetErrors.CRF638)
    weights, chosen, best = table.weights[with_gold], table.members[with_gold], table.best[with_gold]
    is_known = np.array([token.text in words for eg in examples for token in eg.predicted], dtype=bool)[with_gold]
    right, single = ml_acc(weights, best), chosen.sum(axis=1) == 1
    g = np.pad(utility_values(tagger.cfg, len(known)), (0, weights.shape[1] - len(known)))
    measures = set_measures(weights, chosen, g)
    target = target_coverage(tagger.name, tagger.cfg)
    level = 1 - (measures.coverage if target is None else target)
    documents = np.repeat(np.arange(len(examples)), [len(example.predicted) for example in examples])[with_gold]
    marginals = _probabilities(tagger, examples, weights.shape[1])[with_gold]
    return SetReport(
        tokens=len(weights),
        labels=len(known),
        unknown_words=float((~is_known).mean()) if words else None,
        ml_acc=_mean(right, np.ones(len(right), dtype=bool)),
        ml_acc_known=_mean(right, is_known) if words else None,
        ml_acc_unknown=_mean(right, ~is_known) if words else None,
        ml_util=measures.ml_util,
        coverage=measures.coverage,
        size=measures.size,
        singletons=measures.singletons,
        singletons_right=_mean(right, single),
        target=1 - level,
        gap_tags=coverage_by_label(weights, chosen).gap(level),
        gap_documents=coverage_by_group(weights, chosen, documents).gap(level),
        ece=best_label_error(marginals, weights),
        classwise_ece=classwise_error(marginals, weights),
        by_size=coverage_by_size(weights, chosen),
    )


def _probabilities(tagger: GivesSets, examples: Sequence[Example], width: int) -> Doubles:
    """((N, width)): probabilities of the tagger's tags that documents hold, and zeros for other tags."""
    found = np.zeros((sum(len(example.predicted) for example in examples), width))
    low = 0
    for example in examples:
        stored = example.predicted._.get(tagger.tag_probs)
        values = np.asarray(stored["values"]) if stored else np.zeros((0, len(tagger.labels)))
        found[low : low + len(values), : values.shape[1]] = values
        low += len(example.predicted)
    return found


def _mean(values: Doubles, chosen: Bools) -> float | None:
    return float(values[chosen].mean()) if chosen.any() else None


# -- dictionaries -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaggedWords:
    """Tokens of documents: their texts, and their gold tags with weights; nothing where there is no gold."""

    texts: list[str]
    rows: list[Weights]

    @classmethod
    def of(cls, docs: Iterable[Doc], target: str, extension: str = GOLD_TAGS) -> "TaggedWords":
        """Read gold documents.

        target (str): "tag" or "pos". extension (str): custom attribute with weighted gold, where tokens have it.
        """
        found = cls([], [])
        for doc in docs:
            found.texts.extend(token.text for token in doc)
            found.rows.extend(gold_weights(Example(doc, doc), target, extension))
        return found

    @property
    def tags(self) -> TagSet:
        """The tags that occur."""
        return TagSet(tuple(sorted({tag for row in self.rows for tag in row})), "none")

    def gold(self, tags: TagSet) -> Gold:
        """Their gold, apart from tags that a tag set lacks."""
        known = [{tag: weight for tag, weight in row.items() if tag in tags.number} for row in self.rows]
        return to_gold(known, tags, "soft")

    def count(self, tags: TagSet, fold: Fold) -> CountTable:
        """How often each word has each tag."""
        return count_words(self.texts, self.gold(tags), fold)


@dataclass(frozen=True)
class DictionaryCoverage:
    """How a dictionary does on the tokens with gold of documents.

    known (float): share of tokens whose word was seen often enough. valid (float): of the gold of all tokens, what is
    valid for its word. valid_known, valid_others (float | None): of these tokens. size (float): mean number of tags
    that a token may have. size_known (float | None): of tokens of known words.
    """

    known: float
    valid: float
    valid_known: float | None
    valid_others: float | None
    size: float
    size_known: float | None


def dictionary_coverage(dictionary: TagDictionary, words: TaggedWords, tags: TagSet) -> DictionaryCoverage:
    """Compare a dictionary with gold.

    words (TaggedWords): of documents that it was not made from. tags (TagSet): names of its labels.
    RAISES (ValueError): where there is no gold.
    """
    shares = gold_shares(words.gold(tags))
    sets = dictionary.valid(words.texts).sets
    n = len(words.texts)
    valid_weights = shares.weights * sets[shares.units, shares.labels]
    has_gold = np.bincount(shares.units, minlength=n) > 0
    totals = np.append(dictionary.words.totals(), 0.0)[dictionary.find(words.texts)]
    known, sizes = (totals >= dictionary.min_count)[has_gold], sets.sum(axis=1, dtype=np.float64)[has_gold]
    hits = np.asarray(np.bincount(shares.units, valid_weights, n), dtype=np.float64)[has_gold]
    return DictionaryCoverage(
        known=float(known.mean()),
        valid=float(hits.mean()),
        valid_known=_mean(hits, known),
        valid_others=_mean(hits, ~known),
        size=float(sizes.mean()),
        size_known=_mean(sizes, known),
    )
