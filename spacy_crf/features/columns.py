"""Reads Docs into columns: one array of hashes for each attribute that the templates ask for.

This is the only place that reads attributes of tokens.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from spacy.attrs import IDS, LOWER, ORTH, SENT_START
from spacy.parts_of_speech import NAMES as POS_NAMES
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..core.types import Floats, Hashes, Indices
from ..errors import Errors
from .attributes import Attribute, string_hash
from .lexemes import LexemeColumns
from .lists import WordList, value_hashes

SequenceMode = Literal["auto", "doc", "sents"]
_PRESENT = np.uint64(string_hash("1"))


@dataclass(frozen=True)
class Column:
    """Values of one attribute.

    hashes ((N,)): 0 where a unit has none.
    numbers ((N,) | None): real values, for attributes that have them.
    strings (dict[int, str]): strings behind hashes that are not in the vocabulary's store.
    """

    hashes: Hashes
    numbers: Floats | None = None
    strings: dict[int, str] | None = None


@dataclass(frozen=True)
class Columns:
    """A batch of Docs as columns.

    doc_lengths ((D,)): tokens of each Doc.
    lengths ((B,)): units of each sequence; sequences do not cross Docs.
    orths ((N,)): word forms.
    by_attribute (dict[Attribute, Column]): what the templates need.
    """

    doc_lengths: Indices
    lengths: Indices
    orths: Hashes
    by_attribute: dict[Attribute, Column]

    def split(self, n_parts: int) -> list["Columns"]:
        """Cut into so many runs of whole Docs with about the same number of units."""
        if n_parts <= 1:
            return [self]
        doc_ends = np.cumsum(self.doc_lengths)
        targets = np.arange(1, n_parts) * len(self.orths) // n_parts
        cuts = [0, *np.searchsorted(doc_ends, targets).tolist(), len(doc_ends)]
        return [self._run(first, last) for first, last in itertools.pairwise(cuts) if first < last]

    def _run(self, first: int, last: int) -> "Columns":
        lengths = self.doc_lengths[first:last]
        low = int(self.doc_lengths[:first].sum())
        units = slice(low, low + int(lengths.sum()))
        sequence_ends = np.cumsum(self.lengths)
        inside = (sequence_ends > units.start) & (sequence_ends <= units.stop)
        columns = {
            attribute: Column(c.hashes[units], None if c.numbers is None else c.numbers[units], c.strings)
            for attribute, c in self.by_attribute.items()
        }
        return Columns(lengths, self.lengths[inside], self.orths[units], columns)


class ColumnReader:
    """Reads the attributes that a set of templates needs.

    attributes (list[Attribute]): distinct attributes.
    lists (dict[str, WordList]): word lists by name.
    sequence (str): "auto" (sentences where a Doc has sentence starts, else the Doc), "doc", "sents".
    """

    def __init__(self, attributes: list[Attribute], lists: dict[str, WordList], sequence: SequenceMode):
        self.lists, self.sequence = lists, sequence
        self._lexical = LexemeColumns([attribute for attribute in attributes if attribute.is_lexical])
        self._other = [attribute for attribute in attributes if not attribute.is_lexical]
        self._annotated = [a for a in self._other if a.is_annotation and a.name != "_"]
        self._ids = [ORTH, SENT_START, LOWER, *(IDS[attribute.name] for attribute in self._annotated)]

    def read(self, docs: Sequence[Doc], vocab: Vocab) -> Columns:
        """Columns of a batch. One call into each Doc; the rest is array work.

        RAISES (ValueError): for sequence = "sents" and a Doc without boundaries, or a bad extension value.
        """
        doc_lengths = np.array([len(doc) for doc in docs], dtype=np.intp)
        arrays = [doc.to_array(self._ids) for doc in docs]
        table = np.concatenate([np.zeros((0, len(self._ids)), dtype=np.uint64), *arrays])
        orths = np.ascontiguousarray(table[:, 0])
        lengths = self._sequences(docs, doc_lengths, table[:, 1].astype(np.int64))
        columns = {a: Column(hashes) for a, hashes in self._lexical.gather(orths, vocab).items()}
        for number, attribute in enumerate(self._annotated, 3):
            columns[attribute] = Column(_annotation(attribute, np.ascontiguousarray(table[:, number])))
        for attribute in self._other:
            if attribute.name == "_":
                columns[attribute] = _extension(attribute.key, docs)
            elif attribute.name == "LIST":
                columns[attribute] = self._listed(attribute, table[:, 2], doc_lengths)
            elif not attribute.is_annotation:
                columns[attribute] = _positional(attribute, lengths)
        return Columns(doc_lengths, lengths, orths, columns)

    def _sequences(self, docs: Sequence[Doc], doc_lengths: Indices, sent_starts: Indices) -> Indices:
        """((B,)): lengths of the sequences, from sentence starts and Doc boundaries."""
        starts = np.zeros(len(sent_starts), dtype=bool)
        if self.sequence != "doc":
            starts = sent_starts == 1
        if self.sequence == "sents":
            for doc in docs:
                if len(doc) > 1 and not doc.has_annotation("SENT_START"):
                    raise ValueError(Errors.CRF311.format(document=describe(doc)))
        firsts = np.cumsum(doc_lengths) - doc_lengths
        starts[firsts[doc_lengths > 0]] = True
        return np.diff(np.append(np.flatnonzero(starts), len(starts)))

    def _listed(self, attribute: Attribute, lowers: Hashes, doc_lengths: Indices) -> Column:
        numbers, values = self.lists[attribute.key].match(np.ascontiguousarray(lowers), doc_lengths)
        strings = {string_hash(cut): cut for cut in (v[: attribute.number or None] for v in values) if cut}
        return Column(value_hashes(numbers, values, attribute.number), strings=strings)


def describe(doc: Doc) -> str:
    """How messages name a Doc: the beginning of its text."""
    text = doc.text.replace("\n", " ")
    return text if len(text) <= 40 else f"{text[:37]}..."


def _annotation(attribute: Attribute, ids: Hashes) -> Hashes:
    """Hashes of annotation: string ids as they are, enumerations through their names, which outlive versions."""
    if attribute.name == "POS":
        distinct, where = np.unique(ids, return_inverse=True)
        names = [string_hash(POS_NAMES[int(number)]) for number in distinct]
        return np.array(names, dtype=np.uint64)[where]
    if attribute.name == "SPACY":
        return np.where(ids > 0, _PRESENT, np.uint64(0))
    return ids


def _positional(attribute: Attribute, lengths: Indices) -> Column:
    n_units = int(lengths.sum())
    ends = np.cumsum(lengths)
    hashes = np.zeros(n_units, dtype=np.uint64)
    if attribute.name == "BIAS":
        hashes[:] = _PRESENT
    elif attribute.name == "BOS":
        hashes[(ends - lengths)[lengths > 0]] = _PRESENT
    elif attribute.name == "EOS":
        hashes[ends[lengths > 0] - 1] = _PRESENT
    else:
        position = np.arange(n_units) - np.repeat(ends - lengths, lengths)
        part = attribute.number * position // np.repeat(lengths, lengths)
        names = [str(number) for number in range(attribute.number)]
        hashes = np.array([string_hash(name) for name in names], dtype=np.uint64)[part]
        return Column(hashes, strings={string_hash(name): name for name in names})
    return Column(hashes)


def _extension(name: str, docs: Sequence[Doc]) -> Column:
    """Values of a custom extension: strings and numbers as categories, floats as real values, True as a flag."""
    hashes, numbers, strings = [], [], {}
    has_numbers = False
    for doc in docs:
        for token in doc:
            value = token._.get(name)
            text, number = _category(name, value, token, doc)
            has_numbers |= isinstance(value, float)
            hashes.append(string_hash(text))
            numbers.append(number)
            strings[hashes[-1]] = text
    reals = np.array(numbers, dtype=np.float32) if has_numbers else None
    return Column(np.array(hashes, dtype=np.uint64), reals, strings)


def _category(name: str, value: object, token: Token, doc: Doc) -> tuple[str, float]:
    """String and real value of an extension's value; the empty string where there is none."""
    if value is None or value is False:
        return "", 1.0
    if value is True:
        return "1", 1.0
    if isinstance(value, str | int):
        return str(value), 1.0
    if isinstance(value, float) and np.isfinite(value):
        return "value" if value else "", float(value)
    raise ValueError(
        Errors.CRF308.format(extension=name, value=value, token=token.i, text=token.text, document=describe(doc))
    )
