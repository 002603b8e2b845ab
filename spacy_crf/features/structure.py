"""What a token's place in a reference says of it: inside quotation marks, behind a year, in which clause.

References are punctuated lists of fields, so that most of what tells a field apart is not beside the token: its clause,
what the neighbouring clauses hold, and what has come before. See `SequenceView` for all that is needed of tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from spacy.strings import StringStore

from ..core.arrays import Bools, Hashes, Indices
from .attributes import string_hash, string_hashes
from .word_classes import class_names, load_abbreviations, word_classes

COUNT_LIMIT = 3  # of BEFORE and AFTER
_COMMAS, _ENDS, _STOP, _GOES_ON = ",;:", "?!", ".", ",;:)]"
# a low and a high quotation mark may each open and close; those that are alike on both sides take turns
_OPENING, _CLOSING, _EITHER = "“„«", "”»", '"'
_OPENING_BRACKETS, _CLOSING_BRACKETS = "([{", ")]}"
_BACKQUOTE, _APOSTROPHE = "`", "'"


@dataclass(frozen=True)
class SequenceView:
    """Tokens of B sequences, one after the other.

    orths, lowers, classes ((N,)): ids of the word, of its lower-cased form and of its class.
    is_lower, spaces ((N,)): whether it is in lower case, and whether white space follows.
    lengths ((B,)): tokens of each sequence. strings (StringStore): has the words.
    """

    orths: Hashes
    lowers: Hashes
    classes: Hashes
    is_lower: Bools
    spaces: Bools
    lengths: Indices
    strings: StringStore

    @cached_property
    def sequences(self) -> Indices:
        """((N,)): the sequence of each token."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def firsts(self) -> Indices:
        """((N,)): the first token of the sequence of each token."""
        return np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    @cached_property
    def is_word(self) -> Bools:
        """((N,)): words and numbers, as against marks."""
        return np.isin(self.classes, _hashes(word_classes()))

    def is_any(self, marks: Sequence[str]) -> Bools:
        """((N,)): tokens that are one of some marks."""
        return np.isin(self.orths, string_hashes(list(marks)))

    @cached_property
    def is_first(self) -> Bools:
        """((N,)): first tokens of sequences."""
        return np.asarray(np.arange(len(self.orths)) == self.firsts, dtype=np.bool_)

    @cached_property
    def is_last(self) -> Bools:
        """((N,)): last tokens of sequences."""
        flags = np.zeros(len(self.orths), dtype=np.bool_)
        flags[np.cumsum(self.lengths)[self.lengths > 0] - 1] = True
        return flags

    def before_any(self, flags: Bools) -> Bools:
        """((N,)): tokens of which the next one, in the same sequence, has a flag."""
        shifted = np.zeros(len(flags), dtype=np.bool_)
        shifted[:-1] = flags[1:]
        return shifted & ~self.is_last

    def behind_any(self, flags: Bools) -> Bools:
        """((N,)): tokens of which the one before, in the same sequence, has a flag."""
        shifted = np.zeros(len(flags), dtype=np.bool_)
        shifted[1:] = flags[:-1]
        return shifted & ~self.is_first

    def class_name(self, key: int) -> str:
        """The class of words behind an id; a mark is its own."""
        return _class_names().get(key) or self.strings[key]

    @cached_property
    def periods(self) -> Bools:
        """((N,)): tokens that end a sentence.

        They are "?", "!" and ".", unless that belongs to an initial or an abbreviation, or the text goes on behind it
        as within a sentence.
        """
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
        double_back = self._doubled(_BACKQUOTE)
        double_apostrophe = self._doubled(_APOSTROPHE)
        opening = self.is_any(_OPENING) | double_back | (either & starts_even)
        closing = self.is_any(_CLOSING) | double_apostrophe | (either & ~starts_even)
        return self._inside(opening, closing)

    def in_brackets(self) -> Bools:
        """((N,)): tokens between brackets, and these."""
        return self._inside(self.is_any(_OPENING_BRACKETS), self.is_any(_CLOSING_BRACKETS))

    def _doubled(self, mark: str) -> Bools:
        """((N,)): the first of two equal marks that stand for one, as LaTeX spells quotation marks."""
        same = self.is_any(mark)
        return same & self.before_any(same) & ~self.spaces

    def _inside(self, opening: Bools, closing: Bools) -> Bools:
        """((N,)): tokens behind which something is open, and those that close it.

        A closing mark without an opening one closes nothing.
        """
        steps = opening.astype(np.intp) - closing
        total = np.cumsum(steps)
        level = total - (total - steps)[self.firsts]
        # each sequence lies below all before, so that the running minimum starts anew
        drop = self.sequences * (2 * len(steps) + 1)
        lowest = np.minimum(np.minimum.accumulate(level - drop) + drop, 0)
        is_open = np.asarray(level > lowest, dtype=np.bool_)
        return is_open | self.behind_any(is_open)

    def count_before(self, name: str) -> Indices:
        """((N,)): how many tokens of a class come before each token, up to COUNT_LIMIT."""
        found = self.classes == string_hash(name)
        seen = np.cumsum(found) - found
        counts: Indices = np.minimum(seen - seen[self.firsts], COUNT_LIMIT)
        return counts

    def count_after(self, name: str) -> Indices:
        """((N,)): how many tokens of a class come after each token, up to COUNT_LIMIT."""
        found = self.classes == string_hash(name)
        totals = np.bincount(self.sequences, weights=found, minlength=len(self.lengths)).astype(np.intp)
        seen = np.cumsum(found)
        own = seen - (seen - found)[self.firsts]
        counts: Indices = np.minimum(totals[self.sequences] - own, COUNT_LIMIT)
        return counts


@cache
def _hashes(texts: tuple[str, ...]) -> Hashes:
    return string_hashes(texts)


@cache
def _class_names() -> dict[int, str]:
    return {string_hash(name): name for name in word_classes()}


@cache
def class_bits() -> dict[int, int]:
    """The bit of each class of `class_names`, by the id of its name."""
    return {string_hash(name): 1 << number for number, name in enumerate(class_names())}
