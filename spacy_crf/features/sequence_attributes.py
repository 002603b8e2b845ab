"""Attributes of tokens of a reference that depend on their whole sequence: its clause, quotation marks, what is before.

References are punctuated lists of fields, so that most of what tells a field apart is not beside the token. A clause
ends at a comma, semicolon or colon, a period only where a sentence does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from spacy.strings import StringStore

from ..core.arrays import Bools, Hashes, Indices, Segments, cached_property
from ..core.sparse import ABSENT
from .hashing import string_hash, string_hashes
from .templates import FLAGS, Attribute
from .word_classes import HAS, PARTS, class_names, load_abbreviations, word_classes

Values = tuple[Hashes, dict[int, str]]  # of units or parts, and the strings behind them
COUNT_LIMIT = 3  # of BEFORE and AFTER
NUMBER_LIMIT, LENGTH_LIMIT, PLACE_LIMIT = 8, 9, 3
OPENING = 4  # tokens
BETWEEN = "+"
_COMMAS, _ENDS, _STOP, _GOES_ON = ",;:", "?!", ".", ",;:)]"
# a low and a high quotation mark may each open and close; those that are alike on both sides take turns
_OPENING, _CLOSING, _EITHER = "“„«", "”»", '"'
_OPENING_BRACKETS, _CLOSING_BRACKETS = "([{", ")]}"
_BACKQUOTE, _APOSTROPHE = "`", "'"


@dataclass(frozen=True)
class SequenceTokens:
    """Tokens of B sequences, one after the other: ids ((N,)) of words, of their lower-cased forms and classes, whether
    white space follows ((N,)), lengths ((B,)); and where sentences and clauses end."""

    orths: Hashes
    lowers: Hashes
    classes: Hashes
    is_lower: Bools
    spaces: Bools
    lengths: Indices
    strings: StringStore

    @cached_property
    def _segments(self) -> Segments:
        return Segments(self.lengths)

    @property
    def sequences(self) -> Indices:
        return self._segments.owners

    @cached_property
    def firsts(self) -> Indices:
        """((N,)): the first token of the sequence of each token."""
        return self._segments.firsts[self.sequences]

    @cached_property
    def is_word(self) -> Bools:
        """((N,)): words and numbers, as against marks."""
        return np.isin(self.classes, _hashes(word_classes()))

    def is_any(self, marks: Sequence[str]) -> Bools:
        return np.isin(self.orths, string_hashes(list(marks)))

    @cached_property
    def is_first(self) -> Bools:
        return self._segments.positions == 0

    @cached_property
    def is_last(self) -> Bools:
        return np.append(self.is_first, True)[1:]

    def before_any(self, flags: Bools) -> Bools:
        """((N,)): tokens of which the next one, in the same sequence, has a flag."""
        return np.append(flags, False)[1:] & ~self.is_last

    def behind_any(self, flags: Bools) -> Bools:
        """((N,)): tokens of which the one before, in the same sequence, has a flag."""
        return np.append(False, flags)[:-1] & ~self.is_first

    @cached_property
    def _parts(self) -> dict[str, "PartAttributes"]:
        return {}

    def column(self, attribute: Attribute) -> tuple[Hashes, dict[int, str] | None]:
        """((N,)): values of an attribute, and the strings behind them unless the vocabulary has these."""
        name = attribute.name
        if name in PARTS:
            if name not in self._parts:
                self._parts[name] = PartAttributes(self, self.clauses if name == "CLAUSE" else self.periods)
            return self._parts[name].column(attribute.key, attribute.number)
        if name in FLAGS:
            inside = self.in_quotes() if name == "IN_QUOTES" else self.in_brackets()
            return _numbered(inside.astype(np.intp), "")
        return _numbered(self.count(attribute.key, name == "AFTER"), "")

    def class_name(self, key: int) -> str:
        """Return the class of words behind an id; a mark is its own."""
        return _names_of_classes().get(key) or self.strings[key]

    @cached_property
    def periods(self) -> Bools:
        """((N,)): tokens that end a sentence: "?", "!" and ".", unless that belongs to an initial or an abbreviation,
        or the text goes on behind it as within a sentence."""
        stops = self.is_any(_STOP) & (self.spaces | self.is_last)
        shortens = (self.classes == string_hash("initial")) | np.isin(self.lowers, _hashes(tuple(load_abbreviations())))
        goes_on = self.is_lower | self.is_any(_GOES_ON)
        return self.is_any(_ENDS) | (stops & ~self.behind_any(shortens) & ~self.before_any(goes_on))

    @cached_property
    def clauses(self) -> Bools:
        """((N,)): tokens that end a clause: those that end a sentence, and commas, colons and semicolons before white
        space."""
        return self.periods | (self.is_any(_COMMAS) & (self.spaces | self.is_last))

    def in_quotes(self) -> Bools:
        """((N,)): tokens between quotation marks, and these."""
        either = self.is_any(_EITHER)
        earlier: Indices = np.cumsum(either) - either
        starts_even = np.asarray((earlier - earlier[self.firsts]) % 2 == 0, dtype=np.bool_)
        opening = self.is_any(_OPENING) | self._doubled(_BACKQUOTE) | (either & starts_even)
        closing = self.is_any(_CLOSING) | self._doubled(_APOSTROPHE) | (either & ~starts_even)
        return self._inside(opening, closing)

    def in_brackets(self) -> Bools:
        """((N,)): tokens between brackets, and these."""
        return self._inside(self.is_any(_OPENING_BRACKETS), self.is_any(_CLOSING_BRACKETS))

    def _doubled(self, mark: str) -> Bools:
        """((N,)): the first of two equal marks that stand for one, as LaTeX spells quotation marks."""
        same = self.is_any(mark)
        return same & self.before_any(same) & ~self.spaces

    def _inside(self, opening: Bools, closing: Bools) -> Bools:
        """((N,)): tokens behind which something is open, and those that close it; others close nothing."""
        steps = opening.astype(np.intp) - closing
        total = np.cumsum(steps)
        level = total - (total - steps)[self.firsts]
        # each sequence lies below all before, so that the running minimum starts anew
        drop = self.sequences * (2 * len(steps) + 1)
        lowest = np.minimum(np.minimum.accumulate(level - drop) + drop, 0)
        is_open = np.asarray(level > lowest, dtype=np.bool_)
        return is_open | self.behind_any(is_open)

    def count(self, name: str, after: bool) -> Indices:
        """((N,)): how many tokens of a class come before, or after, each token, up to COUNT_LIMIT."""
        found = self.classes == string_hash(name)
        seen = np.cumsum(found) - found
        counts = seen - seen[self.firsts]
        if after:
            totals = np.bincount(self.sequences, found, len(self.lengths)).astype(np.intp)
            counts = totals[self.sequences] - counts - found
        return np.minimum(counts, COUNT_LIMIT)


class PartAttributes:
    """Attributes of the clause or sentence a token is in, and of those beside it, for sequences cut into C parts."""

    def __init__(self, tokens: SequenceTokens, ends: Bools):
        self._tokens = tokens
        starts = tokens.is_first | tokens.behind_any(ends)
        self._bounds = np.append(np.flatnonzero(starts), len(ends))
        self._part: Indices = np.cumsum(starts) - 1
        self._sequence = tokens.sequences[self._bounds[:-1]]

    def column(self, what: str, offset: int) -> tuple[Hashes, dict[int, str] | None]:
        """((N,)): values of one of PART_ATTRIBUTES, or of "has" and a class of words, in the part at an offset, and the
        strings behind them unless the vocabulary has these."""
        if what == "place":
            return _numbered(np.minimum(np.arange(len(self._part)) - self._bounds[self._part], PLACE_LIMIT))
        if what in ("first", "last"):
            return self._at(self._word(what), offset), None
        if what.startswith(HAS):
            held = (self._classes & _class_bits()[string_hash(what.removeprefix(HAS))]) != 0
            return self._at(np.where(held, np.uint64(string_hash("1")), ABSENT), offset), {string_hash("1"): "1"}
        values, strings = self._described(what)
        return self._at(values, offset), strings

    def _described(self, what: str) -> Values:
        if what == "classes":
            return self._class_sets()
        if what == "opening":
            return self._openings()
        order = np.arange(len(self._sequence))
        if what == "length":
            lengths = np.bincount(self._part[self._tokens.is_word], minlength=len(order))
            return _numbered(np.minimum(lengths, LENGTH_LIMIT))
        if what == "number":
            numbers = order - np.searchsorted(self._sequence, self._sequence)
        else:
            numbers = np.searchsorted(self._sequence, self._sequence, side="right") - 1 - order
        return _numbered(np.minimum(numbers, NUMBER_LIMIT))

    def _at(self, values: Hashes, offset: int) -> Hashes:
        """((N,)): values of parts at an offset from that of each token, nothing outside of the sequence."""
        if not len(values):
            return values
        wanted = np.arange(len(values)) + offset
        inside = (wanted >= 0) & (wanted < len(values))
        wanted = np.clip(wanted, 0, len(values) - 1)
        inside &= self._sequence[wanted] == self._sequence
        shifted: Hashes = np.where(inside, values[wanted], ABSENT)[self._part]
        return shifted

    def _word(self, which: str) -> Hashes:
        """((C,)): the first or last word, in lower case; nothing for a part without words."""
        words = np.flatnonzero(self._tokens.is_word)
        values = np.zeros(len(self._sequence), dtype=np.uint64)
        order = words[::-1] if which == "first" else words  # what is written last stays
        values[self._part[order]] = self._tokens.lowers[order]
        return values

    @cached_property
    def _classes(self) -> Indices:
        """((C,)): the classes of words in a part, as bits."""
        distinct, where = np.unique(self._tokens.classes, return_inverse=True)
        bits = np.array([_class_bits().get(key, 0) for key in distinct.tolist()], dtype=np.intp)[where]
        return np.bitwise_or.reduceat(bits, self._bounds[:-1]) if len(bits) else bits

    def _class_sets(self) -> Values:
        distinct, where = np.unique(self._classes, return_inverse=True)
        names = class_names()
        found = ([name for bit, name in enumerate(names) if mask >> bit & 1] for mask in distinct.tolist())
        return _values([BETWEEN.join(each) or "none" for each in found], where)

    def _openings(self) -> Values:
        """((C,)): classes of the first tokens of parts."""
        places = self._bounds[:-1, None] + np.arange(OPENING)
        inside = places < self._bounds[1:, None]
        heads = np.where(inside, self._tokens.classes[np.minimum(places, len(self._part) - 1)], ABSENT)
        distinct, where = np.unique(heads, axis=0, return_inverse=True)
        texts = [BETWEEN.join(self._tokens.class_name(key) for key in row if key) for row in distinct.tolist()]
        return _values(texts, where.reshape(-1))


def _numbered(numbers: Indices, zero: str = "0") -> Values:
    """Return small numbers as values. zero (str): the value of 0; "" for none."""
    return _values([zero, *map(str, range(1, int(numbers.max(initial=0)) + 1))], numbers)


def _values(texts: list[str], where: Indices) -> Values:
    hashes = string_hashes(texts)
    return hashes[where], dict(zip(hashes.tolist(), texts))


@cache
def _hashes(texts: tuple[str, ...]) -> Hashes:
    return string_hashes(texts)


@cache
def _names_of_classes() -> dict[int, str]:
    return {string_hash(name): name for name in word_classes()}


@cache
def _class_bits() -> dict[int, int]:
    """Return the bit of each class of `class_names`, by the id of its name."""
    return {string_hash(name): 1 << number for number, name in enumerate(class_names())}
