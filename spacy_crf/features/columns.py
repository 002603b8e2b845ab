"""Docs as columns: one array of hashes for each attribute that the templates ask for.

This is the only place that reads attributes of tokens.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from spacy.attrs import IDS, IOB_STRINGS, IS_SPACE, LOWER, ORTH, SENT_START, SPACY
from spacy.parts_of_speech import NAMES as POS_NAMES
from spacy.strings import StringStore
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..annotation.documents import TRUNCATED
from ..annotation.extensions import attribute_tokens, shown_values
from ..core.arrays import Bools, Floats, Hashes, Indices, Segments
from ..core.errors import CRFError, excerpt
from ..core.sparse import ABSENT
from .block import SequenceMode
from .errors import FeatureErrors
from .hashing import string_hash, string_hashes
from .lexemes import LexemeColumns
from .resources import NOTHING, Lexicon, Resources
from .sequence_attributes import SequenceTokens
from .templates import FITTED, Attribute

_PRESENT = np.uint64(string_hash("1"))
# what attributes of sequences are told from, beside words and spaces
_OF_SEQUENCE = (Attribute("LOWER"), Attribute("WORD_CLASS"), Attribute("IS_LOWER"))
_GREATEST = float(np.finfo(np.float32).max)

# words ((N,)) behind which a sequence ends, whether or not a sentence does, given the strings of their vocabulary
EndsBehind: TypeAlias = Callable[[Hashes, StringStore], Bools]


@dataclass(frozen=True)
class Column:
    """Values of one attribute: hashes ((N,)), 0 where a unit has none, real values ((N,)) for attributes that have
    them, and the strings behind hashes that are not in the vocabulary's store."""

    hashes: Hashes
    numbers: Floats | None = None
    strings: dict[int, str] | None = None

    @classmethod
    def of_strings(cls, strings: list[str]) -> "Column":
        """Return a column with one unit for each string."""
        hashes = string_hashes(strings)
        return cls(hashes, strings=dict(zip(hashes.tolist(), strings)))

    def take(self, units: Indices | slice) -> "Column":
        """Return values of the given units, in the given order."""
        return Column(self.hashes[units], None if self.numbers is None else self.numbers[units], self.strings)


@dataclass(frozen=True)
class Columns:
    """A batch of Docs as columns.

    doc_lengths ((D,)): tokens of each Doc. lengths ((B,)): units of each sequence; sequences do not cross Docs.
    orths ((N,)): word forms. by_attribute (dict[Attribute, Column]): what the templates need.
    extra ((N,) | None): an attribute that was read along, as in `Doc.to_array`.
    vectors ((N, width) | None): of the tokens, for models that have them. lexicon (Lexicon): what was known of forms.
    truncated ((B, 2) | None): whether a sequence is cut out of a text that goes on before it and behind it; None for
        none. A truncated side is no start and no end, and positions outside of it have no value.
    vocab (Vocab): that knows the words: of the Docs, which need not be a component's own.
    has_white_space (bool): whether tokens are white space.
    """

    doc_lengths: Indices
    lengths: Indices
    orths: Hashes
    by_attribute: dict[Attribute, Column]
    extra: Hashes | None = None
    vectors: Floats | None = None
    lexicon: Lexicon = NOTHING
    truncated: Bools | None = None
    vocab: Vocab = field(default_factory=Vocab)
    has_white_space: bool = False

    def split(self, n_parts: int) -> list["Columns"]:
        """Cut into so many runs of whole Docs with about the same number of units."""
        if n_parts <= 1:
            return [self]
        doc_middles = np.cumsum(self.doc_lengths) - self.doc_lengths / 2
        targets = np.arange(1, n_parts) * len(self.orths) / n_parts
        cuts = [0, *np.searchsorted(doc_middles, targets).tolist(), len(self.doc_lengths)]
        return [self._run(first, last) for first, last in itertools.pairwise(cuts) if first < last]

    def _run(self, first: int, last: int) -> "Columns":
        lengths = self.doc_lengths[first:last]
        low = int(self.doc_lengths[:first].sum())
        units = slice(low, low + int(lengths.sum()))
        sequence_ends = np.cumsum(self.lengths)
        inside = (sequence_ends > units.start) & (sequence_ends <= units.stop)
        columns = {attribute: column.take(units) for attribute, column in self.by_attribute.items()}
        extra = None if self.extra is None else self.extra[units]
        vectors = None if self.vectors is None else self.vectors[units]
        cut = None if self.truncated is None else self.truncated[inside]
        own = lengths, self.lengths[inside], self.orths[units], columns, extra, vectors
        return Columns(*own, self.lexicon, cut, self.vocab)


class ColumnReader:
    """Reads the distinct attributes that a set of templates needs, apart from those that the component adds itself."""

    def __init__(self, attributes: list[Attribute], resources: Resources, sequence: SequenceMode):
        self.lists, self.lexicon, self.sequence = resources.lists, resources.lexicon, sequence
        self.ends_behind: EndsBehind | None = None
        lexical = [each for each in attributes if each.is_lexical]
        self._has_sequence_attributes = any(each.is_of_sequence for each in attributes)
        if self._has_sequence_attributes:
            lexical += [each for each in _OF_SEQUENCE if each not in lexical]
        self._lexical = LexemeColumns(lexical, resources.lexicon)
        self._other = [each for each in attributes if not (each.is_lexical or each.name in FITTED)]
        self._list_values = {
            a: Column.of_strings(self.lists[a.key].strings(a.number)) for a in self._other if a.name == "LIST"
        }
        self._annotation = {each: IDS[each.name] for each in self._other if each.is_annotation and each.name != "_"}
        self._ids: list[int | str] = [ORTH, SENT_START, IS_SPACE, *self._annotation.values()]
        self._ids += [LOWER] if self.lists else []  # word lists are matched by lower-cased words
        self._ids += [SPACY] if self._has_sequence_attributes and SPACY not in self._ids else []

    def read(self, docs: Sequence[Doc], vocab: Vocab, extra: int | None = None) -> Columns:
        """Return columns of a batch, with one more attribute of spaCy's (`extra`). One call into each Doc."""
        doc_lengths = np.array([len(doc) for doc in docs], dtype=np.intp)
        ids = self._ids if extra is None or extra in self._ids else [*self._ids, extra]
        arrays = [doc.to_array(ids) for doc in docs]
        table = np.concatenate([np.zeros((0, len(ids)), dtype=np.uint64), *arrays])
        values = {name: np.ascontiguousarray(column) for name, column in zip(ids, table.T)}
        return self._columns(docs, doc_lengths, values, vocab, None if extra is None else values[extra])

    def read_words(self, texts: Sequence[Sequence[str]], vocab: Vocab) -> Columns:
        """Return columns of texts that are words alone, as of Docs of these words with a space behind each, which no
        component has annotated."""
        orths = np.array([vocab.strings.add(word) for words in texts for word in words], dtype=np.uint64)
        values: dict[int | str, Hashes] = {name: np.zeros(len(orths), dtype=np.uint64) for name in self._ids}
        values[ORTH] = orths
        if LOWER in values:
            values[LOWER] = np.array([vocab[orth].lower for orth in orths.tolist()], dtype=np.uint64)
        if SPACY in values:
            values[SPACY] = np.ones(len(orths), dtype=np.uint64)
        lengths = np.array([len(words) for words in texts], dtype=np.intp)
        return self._columns((), lengths, values, vocab)

    def _columns(
        self,
        docs: Sequence[Doc],
        doc_lengths: Indices,
        values: dict[int | str, Hashes],
        vocab: Vocab,
        along: Hashes | None = None,
    ) -> Columns:
        lengths = self._sequences(docs, doc_lengths, values, vocab)
        truncated = _truncated(docs, doc_lengths, lengths)
        columns = {a: Column(hashes) for a, hashes in self._lexical.gather(values[ORTH], vocab).items()}
        of_sequence = self._of_sequence(values, columns, lengths, vocab) if self._has_sequence_attributes else None
        for attribute in self._other:
            if of_sequence is not None and attribute.is_of_sequence:
                hashes, strings = of_sequence.column(attribute)
                columns[attribute] = Column(hashes, strings=strings)
            elif attribute.name == "_":
                columns[attribute] = _extension(attribute.key, docs)
            elif attribute in self._annotation:
                columns[attribute] = _annotation(attribute, values[self._annotation[attribute]], vocab.strings)
            elif attribute.name == "LIST":
                found = self.lists[attribute.key].match(values[LOWER], doc_lengths)
                columns[attribute] = self._list_values[attribute].take(found)
            else:
                columns[attribute] = positional(attribute, lengths, truncated)
        told = self.lexicon, truncated, vocab, bool(values[IS_SPACE].any())
        return Columns(doc_lengths, lengths, values[ORTH], columns, along, None, *told)

    def _sequences(
        self, docs: Sequence[Doc], doc_lengths: Indices, values: dict[int | str, Hashes], vocab: Vocab
    ) -> Indices:
        """((B,)): lengths of the sequences, from sentence starts and Doc boundaries."""
        starts = (values[SENT_START] == 1) & (self.sequence != "doc")
        if self.ends_behind is not None and self.sequence != "doc":
            starts[1:] |= self.ends_behind(values[ORTH], vocab.strings)[:-1]
        if self.sequence == "sents":
            for doc in docs:
                if len(doc) > 1 and not doc.has_annotation("SENT_START"):
                    raise CRFError(FeatureErrors.CRF311.format(document=excerpt(doc.text)))
        starts[Segments(doc_lengths).openings] = True
        return np.diff(np.append(np.flatnonzero(starts), len(starts)))

    def _of_sequence(
        self, values: dict[int | str, Hashes], columns: dict[Attribute, Column], lengths: Indices, vocab: Vocab
    ) -> SequenceTokens:
        lowers, classes, is_lower = (columns[each].hashes for each in _OF_SEQUENCE)
        words = values[ORTH], lowers, classes, is_lower != ABSENT
        return SequenceTokens(*words, values[SPACY].astype(np.bool_), lengths, vocab.strings)


def _annotation(attribute: Attribute, ids: Hashes, store: StringStore) -> Column:
    """Return annotation: string ids as they are, enumerations through their names, which outlive versions."""
    if attribute.name == "POS" or attribute.number:
        distinct, where = np.unique(ids, return_inverse=True)
        strings = [(POS_NAMES if attribute.name == "POS" else store)[one] for one in distinct.tolist()]
        return Column.of_strings([string[: attribute.number or None] for string in strings]).take(where)
    names = {"ENT_IOB": list(IOB_STRINGS), "SPACY": ["", "1"]}.get(attribute.name)
    return Column(ids) if names is None else Column.of_strings(names).take(ids.astype(np.intp))


def positional(attribute: Attribute, lengths: Indices, truncated: Bools | None = None) -> Column:
    """Return the values of an attribute that depends on the place in sequences, some of them truncated, alone."""
    runs = Segments(lengths)
    is_cut = np.zeros((len(lengths), 2), dtype=bool) if truncated is None else truncated
    hashes = np.zeros(runs.n_units, dtype=np.uint64)
    if attribute.name == "BIAS":
        hashes[:] = _PRESENT
    elif attribute.name == "BOS":
        hashes[runs.firsts[(lengths > 0) & ~is_cut[:, 0]]] = _PRESENT
    elif attribute.name == "EOS":
        hashes[runs.ends[(lengths > 0) & ~is_cut[:, 1]] - 1] = _PRESENT
    else:
        part = attribute.number * runs.positions // np.repeat(lengths, lengths)
        return Column.of_strings([str(number) for number in range(attribute.number)]).take(part)
    return Column(hashes, strings={int(_PRESENT): "1"})


def _extension(name: str, docs: Sequence[Doc]) -> Column:
    """Read a custom extension: strings and whole numbers as categories, floats as real values, True as a flag."""
    hashes: list[int] = []
    numbers: list[float | None] = []
    strings: dict[int, str] = {}
    for doc in docs:
        for token, value in zip(attribute_tokens(doc), shown_values(doc, name)):
            text, number = _category(name, value, token)
            hashes.append(string_hash(text))
            numbers.append(number)
            strings[hashes[-1]] = text
    reals = None
    if any(number is not None for number in numbers):
        reals = np.array([1.0 if number is None else number for number in numbers], dtype=np.float32)
    return Column(np.array(hashes, dtype=np.uint64), reals, strings)


def _category(name: str, value: Any, token: Token) -> tuple[str, float | None]:
    """Return the string of an extension's value, empty where it has none, and its real value if it is a float."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value is False:
        return "", None
    if value is True:
        return "1", None
    if isinstance(value, str | int):
        return str(value), None
    if isinstance(value, float) and abs(value) <= _GREATEST:
        return "value" if value else "", value
    document = excerpt(token.doc.text)
    raise CRFError(
        FeatureErrors.CRF308.format(extension=name, value=value, token=token.i, text=token.text, document=document)
    )


def _truncated(docs: Sequence[Doc], doc_lengths: Indices, lengths: Indices) -> Bools | None:
    """((B, 2) | None): truncation of sequences: that of their Doc at its first and last sequence."""
    data = [cast(dict[Any, Any], doc.user_data) for doc in docs]
    if not any(TRUNCATED in found for found in data):
        return None
    sides = np.zeros((len(lengths), 2), dtype=bool)
    by_doc = Segments(lengths).within(Segments(doc_lengths))
    for found, own in zip(data, by_doc.slices()):
        if TRUNCATED in found and own.stop > own.start:
            sides[own.start, 0], sides[own.stop - 1, 1] = found[TRUNCATED]
    return sides
