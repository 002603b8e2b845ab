"""64-bit ids of strings, their mixing in numpy, and an open-addressing table from hashes to numbers."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from spacy.strings import get_string_id

from ..core.arrays import Hashes, Indices, Ints

ABSENT = np.uint64(0)  # the key of "no feature here"
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
FREE = 4  # slots for each key, at least
_CHUNK = 1 << 18  # keys added at a time: sorting them in search of repetitions is three times faster than all at once


def string_hash(value: str) -> int:
    """Return the id of a string in every StringStore; 0 for the empty one. Symbols of spaCy (NOUN, but also the word
    "mark") have small ids of their own, not the hash of their letters."""
    return get_string_id(value)


def string_hashes(values: Sequence[str]) -> Hashes:
    """((N,)): ids of strings, many of which may be the same."""
    known = {value: get_string_id(value) for value in set(values)}
    return np.fromiter(map(known.__getitem__, values), dtype=np.uint64, count=len(values))


def mix(key: Hashes, value: Hashes) -> Hashes:
    """Combine keys with values, order mattering: multiply and fold. O(N); low bits depend on every bit of both."""
    mixed = key * _MULTIPLIER
    mixed ^= value
    mixed *= _MULTIPLIER
    mixed ^= mixed >> _SHIFT
    mixed *= _MULTIPLIER
    mixed ^= mixed >> _SHIFT
    return mixed


class HashTable:
    """Numbers the distinct keys it is given, in the order in which they come.

    Linear probing over a table at most a quarter full, all keys at once: a few rounds of array operations. Rounds cost
    more than slots: half full, a look-up takes a third longer.
    """

    def __init__(self, keys: Hashes | None = None):
        self._held: Hashes = np.zeros(1, dtype=np.uint64)  # ends in ABSENT: what number -1 holds
        self._allocate(1 << 10)
        if keys is not None:
            self.add(keys)

    @classmethod
    def of_distinct(cls, keys: Hashes) -> Self:
        """Number keys (F,) in less than half of the time that `add` takes, if they are distinct and none is absent."""
        table = cls()
        table._held = np.append(keys, ABSENT)
        table._allocate(1 << max(10, (FREE * len(keys)).bit_length()))
        table._insert(keys, 0)
        is_right = not (keys == ABSENT).any() and bool((table.find(keys) == np.arange(len(keys))).all())
        return table if is_right else cls(keys)

    def __len__(self) -> int:
        return len(self._held) - 1

    @property
    def keys(self) -> Hashes:
        """((F,)): the keys by number."""
        return self._held[:-1]

    def find(self, keys: Hashes) -> Ints:
        """Numbers (int32) of keys in any shape, -1 for unknown and absent ones. O(N) expected."""
        flat = keys.reshape(-1)
        # `take` with a mode is about three times faster than indexing, which checks the bounds of what is in range
        slots = (flat & self._mask).view(np.intp)
        numbers = self._numbers.take(slots, mode="clip")
        pending = self._elsewhere(numbers, flat)
        slots, wanted = slots.take(pending), flat.take(pending)
        while len(pending):
            slots += 1
            slots &= int(self._mask)
            found = self._numbers.take(slots, mode="clip")
            numbers[pending] = found
            going = self._elsewhere(found, wanted)
            pending, slots, wanted = pending.take(going), slots.take(going), wanted.take(going)
        return numbers.reshape(keys.shape)

    def _elsewhere(self, numbers: Ints, wanted: Hashes) -> Indices:
        """Positions where a slot holds another key than the one looked for."""
        return np.flatnonzero((self._held.take(numbers, mode="wrap") != wanted) & (numbers >= 0))

    def add(self, keys: Hashes) -> Indices:
        """Number the keys that are new, and return the positions, in the flattened keys, of their first occurrences."""
        flat = keys.reshape(-1)
        firsts = [low + self._add(flat[low : low + _CHUNK]) for low in range(0, len(flat), _CHUNK)]
        return np.concatenate([np.zeros(0, dtype=np.intp), *firsts])

    def _add(self, keys: Hashes) -> Indices:
        unknown = np.flatnonzero((self.find(keys) < 0) & (keys != ABSENT))
        firsts = unknown[np.sort(np.unique(keys[unknown], return_index=True)[1])]
        if not len(firsts):
            return firsts
        self._held = np.concatenate([self.keys, keys[firsts], self._held[-1:]])
        if FREE * len(self) > len(self._numbers):
            self._allocate(1 << (FREE * len(self)).bit_length())
            self._insert(self.keys, 0)
        else:
            self._insert(keys[firsts], len(self) - len(firsts))
        return firsts

    def _allocate(self, size: int) -> None:
        self._mask = np.uint64(size - 1)
        self._numbers: Ints = np.full(size, -1, dtype=np.int32)

    def _insert(self, keys: Hashes, first: int) -> None:
        """Place distinct new keys: in each round, the first claimant of each free slot gets it."""
        numbers = np.arange(first, first + len(keys), dtype=np.int32)
        slots = (keys & self._mask).astype(np.intp)
        while len(numbers):
            free = np.flatnonzero(self._numbers[slots] < 0)
            self._numbers[slots[free[::-1]]] = numbers[free[::-1]]  # the last write, hence the first claimant, stays
            left = self._numbers[slots] != numbers
            numbers, slots = numbers[left], (slots[left] + 1) & int(self._mask)
