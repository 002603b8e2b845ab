"""What Docs say of the documents that they are parts of: their names, by which they belong together, and what was made
of their texts.

A reader that prepares texts says so in an attribute of the Docs; a component that is trained on them keeps what it has
to know of it. So no setting says it twice, and none can be forgotten.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, Literal, TypedDict

import numpy as np
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.training import Example

from ..core.arrays import Bools, Hashes, Indices, distinct
from .extensions import read_value, register, stored_values, user_data, write_value
from .gold import GOLD_POS, best_tag, read_gold_tags

DOC_NAME = "doc_name"
TEXT_SETTINGS = "text_settings"
REMOVED_MARKS = "removed_marks"  # of tokens: the signs beside them that a reader has left out, with spaces between
# key of `doc.user_data`: whether a Doc is cut out of a longer text that goes on before and behind it: [before, behind]
TRUNCATED = "spacy_crf.open"
Punctuation = Literal["gold", "context", "removed"]
AS_IT_IS: tuple[Punctuation, bool] = ("gold", False)


def register_doc_name() -> None:
    """Make `doc._.doc_name` available, which is "" for a Doc without a name."""
    register(Doc, DOC_NAME, default="")


def read_doc_name(doc: Doc) -> str:
    """The name of the document that a Doc is, or is a part of; "" if it has none."""
    return str(read_value(doc, DOC_NAME) or "")


def write_doc_name(doc: Doc, name: str) -> Doc:
    """Give a Doc the name of the document that it is, or is a part of, and return it."""
    write_value(doc, DOC_NAME, name)
    return doc


def number_documents(names: Iterable[str]) -> Indices:
    """((D,)): numbers of the documents that Docs are, or are parts of, by their names; "" is a document of its own."""
    owners: Iterable[str | int] = (name or k for k, name in enumerate(names))
    return distinct(owners)[1]


def document_numbers(examples: Iterable[Example]) -> Indices:
    """((D,)): the same for examples whose references are of one document, by their names."""
    return number_documents(read_doc_name(example.reference) for example in examples)


def dealt_units(examples: Sequence[Example], folds: int) -> Indices:
    """((E,)): numbers of what is dealt to folds: documents, or examples one by one where there are fewer documents."""
    documents = document_numbers(examples)
    return np.arange(len(examples)) if len(np.unique(documents)) < folds else documents


# -- how their texts were prepared --------------------------------------------------------------------------------


def write_text_settings(doc: Doc, settings: Mapping[str, Any]) -> None:
    """Say of a Doc how its text was prepared: the settings of `spacy_crf.HistoricalText.v1`."""
    register(Doc, TEXT_SETTINGS)
    write_value(doc, TEXT_SETTINGS, dict(settings))


def copy_truncated(doc: Doc, other: Doc, *, first: bool = True, last: bool = True) -> None:
    """Note that another Doc goes on as this one does. first, last (bool): whether it has its first and last token."""
    if TRUNCATED in user_data(doc):
        before, behind = user_data(doc)[TRUNCATED]
        user_data(other)[TRUNCATED] = [before and first, behind and last]


@lru_cache(maxsize=10_000)
def has_signs_only(word: str) -> bool:
    """Whether a word consists of punctuation marks and symbols (Unicode's categories P and S)."""
    return all(unicodedata.category(character)[0] in "PS" for character in word)


def preparation_of(doc: Doc) -> tuple[Punctuation, bool] | None:
    """Return how punctuation was treated in the text of a Doc, and whether sequences end behind it; None where nothing
    says so."""
    text = read_value(doc, TEXT_SETTINGS)
    return None if text is None else (text["punctuation"], bool(text["cut_at_punctuation"]))


class StoredPreparation(TypedDict):
    """What `Preparation` is in a file."""

    punctuation: Punctuation
    cuts: bool
    words: list[str]


@dataclass(frozen=True)
class Preparation:
    """How punctuation was treated in the texts of training.

    punctuation (str): "gold", "context" or "removed": unless it is "gold", nothing is known of its labels.
    cuts (bool): whether sequences end behind it. words (tuple[str, ...]): words of signs alone that are no punctuation.
    """

    punctuation: Punctuation
    cuts: bool
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, references: Iterable[Doc]) -> "Preparation | None":
        """The preparation of gold Docs of training; None where punctuation was left as it is, which one Doc tells."""
        docs = iter(references)
        first = next(docs, None)
        way = None if first is None else preparation_of(first)
        if first is None or way is None or way == AS_IT_IS:
            return None
        text = read_value(first, TEXT_SETTINGS)
        if "words" in text:  # a component has told it
            return cls(*way, tuple(text["words"]))
        tags = text["punctuation_tags"] or ()
        if way == ("gold", True) and not tags:
            return cls("gold", True)
        return cls(*way, _other_words(chain([first], docs), tags))

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None) -> "Preparation | None":
        """What `to_data` gave; None for None."""
        return None if data is None else cls(data["punctuation"], data["cuts"], tuple(data["words"]))

    def to_data(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {**asdict(self), "words": list(self.words)}

    def to_settings(self) -> dict[str, Any]:
        """What Docs tell of it, see `write_text_settings`."""
        return {"punctuation": self.punctuation, "cut_at_punctuation": self.cuts, "words": list(self.words)}

    @cached_property
    def _exceptions(self) -> frozenset[str]:
        return frozenset(self.words)

    def marks(self, orths: Hashes, strings: StringStore) -> Bools:
        """((N,)): whether words are punctuation."""
        words, places = distinct_words(orths, strings)
        return np.array([has_signs_only(word) and word not in self._exceptions for word in words], dtype=bool)[places]


def distinct_words(orths: Hashes, strings: StringStore) -> tuple[list[str], Indices]:
    """The texts of distinct word forms, and ((N,)) the place of each form among them."""
    distinct, places = np.unique(orths, return_inverse=True)
    return [strings[orth] for orth in distinct.tolist()], places


def _other_words(docs: Iterable[Doc], tags: Iterable[str]) -> tuple[str, ...]:
    """Words of signs alone that have gold tags, and mostly others than these, those that were left out among them."""
    counts: Counter[str] = Counter()
    for doc in docs:
        counts.subtract(chain.from_iterable(marks.split() for marks in stored_values(doc, REMOVED_MARKS) if marks))
        for token, best in zip(doc, _gold_tags(doc)):
            if has_signs_only(token.text):
                counts[token.text] += 1 if best and best not in tags else -1
    return tuple(sorted(word for word, count in counts.items() if count > 0))


def _gold_tags(doc: Doc) -> list[str]:
    """The best gold tag of each token, "" for none: parts of speech where the gold is about these."""
    rows = read_gold_tags(doc)
    if not any(rows) and any(pos_rows := read_gold_tags(doc, GOLD_POS)):
        return [best_tag(row) or token.pos_ for row, token in zip(pos_rows, doc)]
    return [best_tag(row) or token.tag_ for row, token in zip(rows, doc)]
