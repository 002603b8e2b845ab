"""Attributes of the clause a token is in, and of the clauses beside it.

A clause ends at a comma, semicolon or colon, a period only where a sentence does: see `SequenceView`.
"""

from functools import cached_property

import numpy as np

from ..core.arrays import Bools, Hashes, Indices
from .attributes import HAS, PARTS, Attribute, string_hash, string_hashes
from .hashing import ABSENT
from .structure import SequenceView, class_bits
from .word_classes import class_names

NUMBER_LIMIT, LENGTH_LIMIT, PLACE_LIMIT = 8, 9, 3
OPENING = 4  # tokens
BETWEEN = "+"


class Structure:
    """Attributes of tokens that depend on their whole sequence.

    view (SequenceView): the tokens.
    """

    def __init__(self, view: SequenceView):
        self._view = view
        self._parts: dict[str, Parts] = {}

    def column(self, attribute: Attribute) -> tuple[Hashes, dict[int, str] | None]:
        """((N,)): values of an attribute, and the strings behind them unless the vocabulary has these."""
        view = self._view
        if attribute.name in PARTS:
            if attribute.name not in self._parts:
                self._parts[attribute.name] = Parts(view, view.clauses if attribute.name == "CLAUSE" else view.periods)
            return self._parts[attribute.name].column(attribute.key, attribute.number)
        if attribute.name == "IN_QUOTES":
            return _counted(view.in_quotes().astype(np.intp))
        if attribute.name == "IN_BRACKETS":
            return _counted(view.in_brackets().astype(np.intp))
        return _counted(
            view.count_before(attribute.key) if attribute.name == "BEFORE" else view.count_after(attribute.key)
        )


class Parts:
    """Sequences cut into C parts.

    view (SequenceView): the tokens. ends ((N,)): tokens that a part ends with; a sequence ends one in any case.
    """

    def __init__(self, view: SequenceView, ends: Bools):
        self.view = view
        starts = view.is_first | view.behind_any(ends)
        self._bounds = np.append(np.flatnonzero(starts), len(ends))
        self.part: Indices = np.cumsum(starts) - 1
        self._sequence = view.sequences[self._bounds[:-1]]
        self._strings: dict[int, str] = {}

    def column(self, what: str, offset: int) -> tuple[Hashes, dict[int, str] | None]:
        """Values of an attribute for all tokens, and the strings behind them unless the vocabulary has these.

        what (str): one of PART_ATTRIBUTES, or "has" and a class of words. offset (int): of the part to look at.
        """
        if what == "place":
            return _named(np.minimum(np.arange(len(self.part)) - self._bounds[self.part], PLACE_LIMIT))
        if what in ("first", "last"):
            return self._at(self._word(what), offset), None
        if what.startswith(HAS):
            held = (self._classes & class_bits()[string_hash(what.removeprefix(HAS))]) != 0
            return self._at(np.where(held, np.uint64(string_hash("1")), ABSENT), offset), {string_hash("1"): "1"}
        values, strings = self._described(what)
        return self._at(values, offset), strings

    def _described(self, what: str) -> tuple[Hashes, dict[int, str]]:
        """((C,)): values of parts."""
        if what == "classes":
            return self._class_sets()
        if what == "opening":
            return self._openings()
        numbers = {"number": self._number, "back": self._back, "length": self._length}[what]()
        return _named(numbers)

    def _at(self, values: Hashes, offset: int) -> Hashes:
        """((N,)): values of parts at an offset from that of each token, nothing outside of the sequence."""
        if not len(values):
            return values
        wanted = np.arange(len(values)) + offset
        inside = (wanted >= 0) & (wanted < len(values))
        wanted = np.clip(wanted, 0, len(values) - 1)
        inside &= self._sequence[wanted] == self._sequence
        shifted: Hashes = np.where(inside, values[wanted], ABSENT)[self.part]
        return shifted

    def _word(self, which: str) -> Hashes:
        """((C,)): the first or last word, in lower case; nothing for a part without words."""
        words = np.flatnonzero(self.view.is_word)
        values = np.zeros(len(self._sequence), dtype=np.uint64)
        order = words[::-1] if which == "first" else words  # what is written last stays
        values[self.part[order]] = self.view.lowers[order]
        return values

    def _number(self) -> Indices:
        order = np.arange(len(self._sequence))
        firsts = np.searchsorted(self._sequence, self._sequence)
        return np.minimum(order - firsts, NUMBER_LIMIT)

    def _back(self) -> Indices:
        order = np.arange(len(self._sequence))
        behind = np.searchsorted(self._sequence, self._sequence, side="right")
        return np.minimum(behind - 1 - order, NUMBER_LIMIT)

    def _length(self) -> Indices:
        counts = np.bincount(self.part[self.view.is_word], minlength=len(self._sequence))
        return np.minimum(counts, LENGTH_LIMIT)

    @cached_property
    def _classes(self) -> Indices:
        """((C,)): the classes of words in a part, as bits."""
        distinct, where = np.unique(self.view.classes, return_inverse=True)
        bits = np.array([class_bits().get(key, 0) for key in distinct.tolist()], dtype=np.intp)[where]
        return np.bitwise_or.reduceat(bits, self._bounds[:-1]) if len(bits) else bits

    def _class_sets(self) -> tuple[Hashes, dict[int, str]]:
        distinct, where = np.unique(self._classes, return_inverse=True)
        names = class_names()
        texts = [
            BETWEEN.join(name for bit, name in enumerate(names) if mask >> bit & 1) or "none"
            for mask in distinct.tolist()
        ]
        return _spelt(texts, where)

    def _openings(self) -> tuple[Hashes, dict[int, str]]:
        """The classes of the first tokens of a part."""
        places = self._bounds[:-1, None] + np.arange(OPENING)
        inside = places < self._bounds[1:, None]
        heads = np.where(inside, self.view.classes[np.minimum(places, len(self.part) - 1)], ABSENT)
        distinct, where = np.unique(heads, axis=0, return_inverse=True)
        texts = [BETWEEN.join(self.view.class_name(key) for key in row if key) for row in distinct.tolist()]
        return _spelt(texts, where.reshape(-1))


def _counted(numbers: Indices) -> tuple[Hashes, dict[int, str]]:
    """Small numbers as values; 0 is none."""
    return _spelt(["", *(str(number) for number in range(1, int(numbers.max(initial=0)) + 1))], numbers)


def _named(numbers: Indices) -> tuple[Hashes, dict[int, str]]:
    """Small numbers as values."""
    texts = [str(number) for number in range(int(numbers.max(initial=0)) + 1)]
    return _spelt(texts, numbers)


def _spelt(texts: list[str], where: Indices) -> tuple[Hashes, dict[int, str]]:
    hashes = string_hashes(texts)
    return hashes[where], dict(zip(hashes.tolist(), texts))
