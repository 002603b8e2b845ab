"""What a tag dictionary makes of gold documents: counts of their words, and how often it allows what is right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..annotation.gold_tags import GOLD_TAGS
from ..core.arrays import Bools
from ..core.gold import Gold
from ..core.labels import TagSet
from ..pipe.dictionary.block import Fold
from ..pipe.dictionary.counts import CountTable, gold_shares
from ..pipe.dictionary.tag_dictionary import TagDictionary, count_words
from .gold import Weights, gold_weights, to_gold


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
class Coverage:
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


def coverage(dictionary: TagDictionary, words: TaggedWords, tags: TagSet) -> Coverage:
    """Compare a dictionary with gold.

    words (TaggedWords): of documents that it was not made from. tags (TagSet): names of its labels.
    RAISES (ValueError): where there is no gold.
    """
    shares = gold_shares(words.gold(tags))
    sets = dictionary.valid(words.texts).sets
    n = len(words.texts)
    hits = np.bincount(shares.units, shares.weights * sets[shares.units, shares.labels], n)
    has_gold = np.bincount(shares.units, minlength=n) > 0
    totals = np.append(dictionary.words.totals(), 0.0)[dictionary.find(words.texts)]
    known, hits, sizes = (totals >= dictionary.min_count)[has_gold], hits[has_gold], sets.sum(axis=1)[has_gold]
    return Coverage(
        known=float(known.mean()),
        valid=float(hits.mean()),
        valid_known=_mean(hits, known),
        valid_others=_mean(hits, ~known),
        size=float(sizes.mean()),
        size_known=_mean(sizes, known),
    )


def _mean(values: Sequence[float] | np.ndarray, chosen: Bools) -> float | None:
    return float(np.asarray(values)[chosen].mean()) if chosen.any() else None
