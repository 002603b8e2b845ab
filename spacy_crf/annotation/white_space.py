"""Docs without the tokens that are white space, and what is found there told of the tokens of the whole Doc.

spaCy makes tokens of line breaks, and of all spaces but one between words. Texts of training seldom have them: a chain
that takes them for words knows nothing of them, and less of the words beside them.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np
from spacy.attrs import ENT_IOB, IDS, IS_SPACE, ORTH, SENT_START, SPACY
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from thinc.types import Ints2d

from ..core.arrays import Bools, Indices
from .extensions import (
    copy_document_values,
    copy_values,
    custom_names,
    note_whole,
    read_result,
    read_value,
    result_names,
    stored_names,
    stored_values,
)
from .gold import PARTIAL

NAMES = ("SENT_START", "TAG", "POS", "MORPH", "LEMMA", "DEP", "NORM", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
ATTRIBUTES = [IDS[name] for name in NAMES]
INSIDE, BEGINS = 1, 3  # values of ENT_IOB
COLUMN_NAMES = ("tags", "columns")  # in results: lists that are not about tokens

T = TypeVar("T")


def is_white_space(doc: Doc) -> Bools:
    """((n,)): which tokens are white space."""
    return np.asarray(doc.to_array(IS_SPACE), dtype=bool).reshape(len(doc))


@dataclass(frozen=True)
class Places:
    """Where the words of a Doc, all tokens but some, stand among its tokens.

    words ((w,)): their numbers as tokens. n_tokens (int): of the Doc.
    """

    words: Indices
    n_tokens: int

    @classmethod
    def of(cls, doc: Doc) -> "Places":
        """The places of the tokens that are no white space."""
        return cls.beside(is_white_space(doc))

    @classmethod
    def beside(cls, left_out: Bools) -> "Places":
        """The places of all tokens but those left out ((n,))."""
        return cls(np.flatnonzero(~left_out), len(left_out))

    def spread(self, values: np.ndarray[Any, Any], none: Any) -> np.ndarray[Any, Any]:
        """((n, ..)): values ((w, ..)) of words as values of tokens. none (Any): of the other tokens."""
        found = np.full((self.n_tokens, *values.shape[1:]), none, dtype=values.dtype)
        found[self.words] = values
        return found

    def spread_list(self, values: Sequence[T], none: T) -> list[T]:
        """A list of w values of words as values of tokens, see `spread`."""
        found = [copy(none) for _ in range(self.n_tokens)]
        for token, value in zip(self.words.tolist(), values):
            found[token] = value
        return found

    def tokens_of(self, start: int, end: int) -> tuple[int, int]:
        """The bounds of a span of words as tokens."""
        return int(self.words[start]), int(self.words[end - 1]) + 1

    def words_of(self, start: int, end: int) -> tuple[int, int]:
        """The bounds of the words in a span of tokens, equal ones where there are none."""
        first, behind = np.searchsorted(self.words, (start, end)).tolist()
        return first, behind

    def sequence(self, start: int, end: int) -> tuple[slice, "Places"]:
        """The tokens of a sequence of words, and its places among these: with the white space behind it, the first
        sequence of a Doc also with that before it."""
        first = 0 if start == 0 else int(self.words[start])
        behind = self.n_tokens if end == len(self.words) else int(self.words[end])
        return slice(first, behind), Places(self.words[start:end] - first, behind - first)

    def spread_sequence(self, told: dict[str, Any]) -> dict[str, Any]:
        """What is told of a sequence of words from "start" to "end", and perhaps of its "labels" (several lists), as
        told of tokens; white space has no label."""
        tokens, inside = self.sequence(told["start"], told["end"])
        found = {**told, "start": tokens.start, "end": tokens.stop}
        if "labels" in told:
            found["labels"] = [inside.spread_list(labels, "") for labels in told["labels"]]
        return found

    def gather(self, told: Any) -> Any:
        """What a result tells of the tokens, by their places, as told of the words alone."""
        if isinstance(told, list) and all(isinstance(one, dict) for one in told):  # of sequences, or single tokens
            return list(map(self.gather, told))
        if isinstance(told, list):
            return [told[word] for word in self.words.tolist()] if len(told) == self.n_tokens else told
        if not isinstance(told, dict):
            return told
        if "token" in told:
            return {**told, "token": self.words_of(told["token"], self.n_tokens)[0]}
        if "start" not in told:
            return {key: value if key in COLUMN_NAMES else self.gather(value) for key, value in told.items()}
        start, end = self.words_of(told["start"], told["end"])
        found, inside = {**told, "start": start, "end": end}, (self.words[start:end] - told["start"]).tolist()
        if "labels" in told:
            found["labels"] = [[labels[token] for token in inside] for labels in told["labels"]]
        return found


def leave_out(doc: Doc, places: Places) -> Doc:
    """Make a Doc of the words alone, with what features and gold read; the Doc itself if it has no other tokens.

    Heads, ids and custom attributes of spans, and results that speak of tokens by their places are left out; what
    computes custom attributes of tokens is asked of the whole Doc.
    """
    words = places.words
    if len(words) == len(doc):
        return doc
    orths, spaces = doc.to_array([ORTH, SPACY])[words].T
    is_spaced = spaces.astype(bool) | (np.diff(words, append=words[-1:] + 1) > 1)
    unknown = doc.has_unknown_spaces
    found = Doc(doc.vocab, words=orths.tolist(), spaces=None if unknown else is_spaced.tolist())
    if len(words):
        found.from_array(ATTRIBUTES, cast(Ints2d, _annotation(doc, words)))
    for key, group in doc.spans.items():
        bounds = ((*places.words_of(span.start, span.end), span) for span in group)
        spans = [Span(found, first, end, span.label, span.kb_id) for first, end, span in bounds if first < end]
        found.spans[key] = SpanGroup(found, name=key, spans=spans)
    if len(doc.tensor) == len(doc):
        found.tensor = doc.tensor[words]
    found.cats = dict(doc.cats)
    copy_document_values(doc, found)
    for name in stored_names(doc):
        copy_values(doc, found, [name], _origins(doc, name, words.tolist()))
    note_whole(found, doc, words.tolist())
    return found


def _origins(doc: Doc, name: str, words: list[int]) -> list[int]:
    """The tokens whose values words get: their own, but where a span, by its BIO tags, begins in white space."""
    if not name.startswith(PARTIAL):
        return words
    tags, found = [tag or "" for tag in stored_values(doc, name)], list[int]()
    for before, word in pairwise([-1, *words]):
        begins = (token for token in range(before + 1, word) if tags[token][:2] == "B-")
        first = next(begins, word)
        found.append(first if tags[word] == f"I-{tags[first][2:]}" else word)
    return found


def _annotation(doc: Doc, words: Indices) -> np.ndarray[Any, Any]:
    """((w, A)): `ATTRIBUTES` of the words; a sentence or an entity that begins in white space begins at its word."""
    table = doc.to_array(ATTRIBUTES)
    starts, iob = (ATTRIBUTES.index(name) for name in (SENT_START, ENT_IOB))
    sentences, entities = np.cumsum(table[:, starts] == 1)[words], np.cumsum(table[:, iob] == BEGINS)[words]
    table = table[words]
    table[1:, starts][np.diff(sentences) > 0] = 1
    is_inside = table[:, iob] == INSIDE
    table[is_inside & (np.diff(entities, prepend=0) > 0), iob] = BEGINS
    return table


def values_by_words(doc: Doc, places: Places) -> dict[str, Any]:
    """The values of custom attributes that a Doc has stored of itself, by name; results as told of the words alone.

    RAISES (ValueError): if the Doc has other tokens than those that a result speaks of.
    """
    results, names = result_names(doc), custom_names(doc)
    values = {name: read_value(doc, name) for name in names if name not in results}
    values |= {name: places.gather(read_result(doc, name)) for name in names if name in results}
    return {name: values[name] for name in names if values[name] is not None}


def white_space(doc: Doc) -> Doc:
    """Make a Doc of the tokens that are white space, as `leave_out` does."""
    return leave_out(doc, Places.beside(~is_white_space(doc)))


def word_docs(docs: Iterable[Doc]) -> list[Doc]:
    """Docs without the tokens that are white space; those that have none as they are."""
    return [leave_out(doc, Places.of(doc)) for doc in docs]


def word_examples(examples: Iterable[Example]) -> list[Example]:
    """Examples without the tokens that are white space on both sides; those that have none as they are."""
    found = []
    for example in examples:
        predicted, reference = word_docs([example.predicted, example.reference])
        is_same = predicted is example.predicted and reference is example.reference
        found.append(example if is_same else Example(predicted, reference))
    return found
