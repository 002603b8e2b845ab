"""Reports: what tag sets save an annotator, what a tag dictionary makes of words, and a tagged document as a page.

On the page, doubtful words are shaded, and probabilities appear on hover. It is one file without scripts, fonts or
other resources from elsewhere, so that it can be kept with the text.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..annotation.documents import number_documents, read_doc_name
from ..annotation.gold import GOLD_TAGS
from ..annotation.parts import Markup, notebook, page, table, words, words_of
from ..core.arrays import Bools, Doubles
from ..core.errors import CRFError
from ..core.labels import Gold, TagSet
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
from ..pipe.dictionary.counts import CountTable
from ..pipe.dictionary.tag_dictionary import TagDictionary, count_words
from ..pipe.probabilities import GivesSets
from .errors import TagSetErrors
from .gold import SetTable, Weights, gold_weights, known_tokens, to_gold
from .rules import target_coverage, utility_values


@dataclass(frozen=True)
class SetReport:
    """Measures of sets over the tokens with gold of documents that the tagger has annotated.

    tokens (int): with gold. labels (int): that the tagger knows; sizes and ml-util compare only for equal numbers.
    unknown_words (float | None): share of tokens whose form the training data lack.
    ml_acc (float | None): of the best tags. ml_acc_known, ml_acc_unknown (float | None): of known and unknown words.
    ml_acc_with_punctuation (float | None): of all tokens, where punctuation is context that is not scored.
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
    ml_acc_with_punctuation: float | None
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

    def rows(self) -> list[tuple[str, str]]:
        """The measures that are known, each with its name."""
        rows = [
            ("tokens with gold", f"{self.tokens:,}"),
            ("tags known to the tagger", f"{self.labels}"),
            ("unknown words", percent(self.unknown_words)),
            ("ml-acc of the best tag", percent(self.ml_acc)),
            ("  known words", percent(self.ml_acc_known)),
            ("  unknown words", percent(self.ml_acc_unknown)),
            ("  with punctuation", percent(self.ml_acc_with_punctuation)),
            ("ml-util of the sets", percent(self.ml_util)),
            ("coverage", percent(self.coverage)),
            ("mean size", f"{self.size:.2f}"),
            ("tokens with one tag", percent(self.singletons)),
            ("  ml-acc of these", percent(self.singletons_right)),
            (f"CovGap of tags, from {percent(self.target)}", percent(self.gap_tags)),
            ("CovGap of documents", percent(self.gap_documents)),
            ("calibration error (ECE)", percent(self.ece)),
            ("  classwise", percent(self.classwise_ece)),
        ]
        return [row for row in rows if row[1]]

    def sizes(self) -> list[tuple[int, int, float]]:
        """Sizes of sets, with numbers of tokens and coverages."""
        own = self.by_size
        return list(zip(own.strata.tolist(), own.counts.tolist(), own.coverages.tolist()))

    def size_rows(self) -> list[tuple[str, str, str]]:
        """Sizes, numbers and coverages as text."""
        return [(f"{size}", f"{count:,}", percent(coverage)) for size, count, coverage in self.sizes()]

    def _repr_html_(self) -> Markup:
        return notebook(table(self.rows()) + table(self.size_rows(), SIZES))


SIZES = ("tags", "tokens", "covered")  # the columns of `SetReport.size_rows`


def percent(share: float | None) -> str:
    """A share as text; "" for None."""
    return "" if share is None else f"{100 * share:.2f} %"


def report_sets(
    tagger: GivesSets, examples: Iterable[Example], words: Collection[str] = (), whole: Iterable[Example] | None = None
) -> SetReport:
    """Measure the sets of documents as annotated by the tagger; tags that it does not know have a probability of 0.

    words (Collection[str]): forms of the training data; empty if they are not known. whole (Iterable[Example] | None):
        the same with gold of punctuation too, where it is context.
    """
    examples, known = list(examples), list(tagger.labels)
    table = SetTable.of(tagger, examples)
    with_gold = has_gold(table.weights)
    if not with_gold.any():
        raise CRFError(TagSetErrors.CRF638)
    weights, chosen, best = table.weights[with_gold], table.members[with_gold], table.best[with_gold]
    is_known = known_tokens(examples, words)[with_gold]
    right, single = ml_acc(weights, best), chosen.sum(axis=1) == 1
    g = utility_values(tagger.cfg, len(known))
    measures = set_measures(weights, chosen, g)
    target = target_coverage(tagger.name, tagger.cfg)
    level = 1 - (measures.coverage if target is None else target)
    numbers = number_documents(read_doc_name(example.reference) for example in examples)
    documents = np.repeat(numbers, [len(example.predicted) for example in examples])[with_gold]
    marginals = stored_probabilities(tagger, examples, weights.shape[1])[with_gold]
    # tokens without a tag are a column as well
    is_tag = (np.arange(weights.shape[1]) < len(known)) | (weights > 0).any(axis=0)
    return SetReport(
        tokens=len(weights),
        labels=len(known),
        unknown_words=float((~is_known).mean()) if words else None,
        ml_acc=_mean(right, np.ones(len(right), dtype=bool)),
        ml_acc_known=_mean(right, is_known) if words else None,
        ml_acc_unknown=_mean(right, ~is_known) if words else None,
        ml_acc_with_punctuation=None if whole is None else _best_accuracy(tagger, whole),
        ml_util=measures.ml_util,
        coverage=measures.coverage,
        size=measures.size,
        singletons=measures.singletons,
        singletons_right=_mean(right, single),
        target=1 - level,
        gap_tags=coverage_by_label(weights, chosen).gap(level),
        gap_documents=coverage_by_group(weights, chosen, documents).gap(level),
        ece=best_label_error(marginals, weights),
        classwise_ece=classwise_error(marginals[:, is_tag], weights[:, is_tag]),
        by_size=coverage_by_size(weights, chosen),
    )


def _best_accuracy(tagger: GivesSets, examples: Iterable[Example]) -> float:
    """ml-acc of the best tags; a token without one is a miss."""
    table = SetTable.of(tagger, examples)
    return float(ml_acc(table.weights, table.best).mean())


def stored_probabilities(tagger: GivesSets, examples: Sequence[Example], width: int) -> Doubles:
    """((N, width)): probabilities of the tagger's tags that documents hold, and zeros for other tags.

    RAISES (ValueError): if another component has written its own in their place.
    """
    found = np.zeros((sum(len(example.predicted) for example in examples), width))
    low = 0
    for example in examples:
        stored = example.predicted._.get(tagger.tag_probs)
        if stored and list(stored["tags"]) != list(tagger.labels):
            raise CRFError(TagSetErrors.CRF555.format(name=tagger.name, attribute=tagger.tag_probs))
        values = np.reshape(stored["values"] if stored else [], (-1, len(tagger.labels)))  # a Doc may be empty
        found[low : low + len(values), : values.shape[1]] = values
        low += len(example.predicted)
    return found


def _mean(values: Doubles, chosen: Bools) -> float | None:
    return float(values[chosen].mean()) if chosen.any() else None


@dataclass(frozen=True)
class TaggedWords:
    """Tokens of documents: their texts, and their gold tags with weights; nothing where there is no gold."""

    texts: list[str]
    rows: list[Weights]

    @classmethod
    def of(cls, docs: Iterable[Doc], target: str, extension: str = GOLD_TAGS) -> "TaggedWords":
        """Read gold documents, weighted gold from a custom attribute where tokens have it."""
        found = cls([], [])
        for doc in docs:
            found.texts.extend(token.text for token in doc)
            found.rows.extend(gold_weights(Example(doc, doc), target, extension))
        return found

    @property
    def tags(self) -> TagSet:
        return TagSet(tuple(sorted({tag for row in self.rows for tag in row})), "none")

    def gold(self, tags: TagSet) -> Gold:
        """Their gold, apart from tags that a tag set lacks."""
        known = [{tag: weight for tag, weight in row.items() if tag in tags.number} for row in self.rows]
        return to_gold(known, tags, "soft")

    def count(self, tags: TagSet, fold: Fold) -> CountTable:
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
    """Compare a dictionary with gold of documents that it was not made from; tags that it lacks are never valid.

    tags (TagSet): names of its labels.
    """
    sets = dictionary.valid(words.texts).sets
    has_gold = np.array([bool(row) for row in words.rows], dtype=bool)
    if not has_gold.any():
        raise CRFError(TagSetErrors.CRF638)
    known, sizes = dictionary.know(words.texts)[has_gold], sets.sum(axis=1, dtype=np.float64)[has_gold]
    valid = [set(np.flatnonzero(own).tolist()) for own in sets[has_gold]]
    rows = [row for row in words.rows if row]
    hits = np.array(
        [
            sum(weight for tag, weight in row.items() if tags.number.get(tag) in own) / sum(row.values())
            for row, own in zip(rows, valid)
        ]
    )
    return DictionaryCoverage(
        known=float(known.mean()),
        valid=float(hits.mean()),
        valid_known=_mean(hits, known),
        valid_others=_mean(hits, ~known),
        size=float(sizes.mean()),
        size_known=_mean(sizes, known),
    )


def render_page(docs: Sequence[Doc], tag_set: str = "tag_set", tag_probs: str = "tag_probs") -> str:
    """An HTML page of Docs tagged with sets, below their first words."""
    tokens = list(chain.from_iterable(docs))
    n_open = sum(len(token._.get(tag_set) or ()) > 1 for token in tokens)
    share = f"{100 * n_open / len(tokens):.0f} %" if tokens else "none"
    heading = " ".join(token.text for token in tokens[:8])
    key = (
        f"{len(tokens):,} words; {n_open:,} with more than one tag ({share}). Doubtful"
        '<span class="scale"></span>certain. Hold the pointer over a word for the probabilities.'
    )
    sentences = (words(words_of(own, tag_set, tag_probs), own.doc.text) for doc in docs for own in _sentences(doc))
    return page(heading, f'<h1>{escape(heading)}</h1><p class="key">{key}</p>{"".join(sentences)}')


def _sentences(doc: Doc) -> list[Span]:
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]] if len(doc) else []
