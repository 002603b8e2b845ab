"""64-bit mixing of feature hashes in numpy, and an open-addressing table from hashes to numbers."""

import numpy as np

from ..core.types import Hashes, Indices, Ints

ABSENT = np.uint64(0)  # the key of "no feature here"
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)
_CHUNK = 1 << 18  # keys added at a time: sorting them in search of repetitions is three times faster than all at once


def mix(key: Hashes, value: Hashes) -> Hashes:
    """Combine keys with values, order mattering: multiply and fold. O(N).

    key ((N,)), value ((N,)): hashes.
    RETURNS ((N,)): hashes whose low bits depend on every bit of both.
    """
    mixed = key * _MULTIPLIER
    mixed ^= value
    mixed *= _MULTIPLIER
    mixed ^= mixed >> _SHIFT
    mixed *= _MULTIPLIER
    mixed ^= mixed >> _SHIFT
    return mixed


class HashTable:
    """Numbers the distinct keys it is given, in the order in which they come.

    Linear probing over a table at most half full, all keys at once: three to four rounds of array operations.
    """

    def __init__(self, keys: Hashes | None = None):
        self.keys: Hashes = np.zeros(0, dtype=np.uint64)
        self._allocate(1 << 10)
        if keys is not None:
            self.add(keys)

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: Hashes) -> Ints:
        """Numbers of keys, -1 for unknown and absent ones. O(N) expected.

        keys (any shape): hashes.
        RETURNS (same shape): int32 numbers.
        """
        flat = keys.reshape(-1)
        slots = (flat & self._mask).astype(np.intp)
        held = self._slots[slots]
        hit = held == flat  # an absent key hits an empty slot, whose number is -1
        numbers = np.where(hit, self._numbers[slots], np.int32(-1))
        pending = np.flatnonzero(~hit & (held != ABSENT))
        slots = slots[pending]
        while len(pending):
            slots = (slots + 1) & int(self._mask)
            held = self._slots[slots]
            hit = held == flat[pending]
            numbers[pending[hit]] = self._numbers[slots[hit]]
            going = ~hit & (held != ABSENT)
            pending, slots = pending[going], slots[going]
        return numbers.reshape(keys.shape)

    def add(self, keys: Hashes) -> Indices:
        """Number the keys that are new, by first occurrence.

        RETURNS ((m,)): positions (in the flattened keys) of the first occurrence of each new key, ascending.
        """
        flat = keys.reshape(-1)
        firsts = [low + self._add(flat[low : low + _CHUNK]) for low in range(0, len(flat), _CHUNK)]
        return np.concatenate([np.zeros(0, dtype=np.intp), *firsts])

    def _add(self, keys: Hashes) -> Indices:
        unknown = np.flatnonzero((self.find(keys) < 0) & (keys != ABSENT))
        firsts = unknown[np.sort(np.unique(keys[unknown], return_index=True)[1])]
        if not len(firsts):
            return firsts
        self.keys = np.concatenate([self.keys, keys[firsts]])
        if 2 * len(self.keys) > len(self._slots):
            self._allocate(1 << (2 * len(self.keys)).bit_length())
            self._insert(self.keys, 0)
        else:
            self._insert(keys[firsts], len(self.keys) - len(firsts))
        return firsts

    def _allocate(self, size: int) -> None:
        self._mask = np.uint64(size - 1)
        self._slots: Hashes = np.zeros(size, dtype=np.uint64)
        self._numbers: Ints = np.full(size, -1, dtype=np.int32)

    def _insert(self, keys: Hashes, first: int) -> None:
        """Place distinct new keys: in each round, the first claimant of each free slot gets it."""
        numbers = np.arange(first, first + len(keys), dtype=np.int32)
        slots = (keys & self._mask).astype(np.intp)
        while len(keys):
            free = np.flatnonzero(self._slots[slots] == ABSENT)
            self._numbers[slots[free[::-1]]] = free[::-1]  # the last write, hence the first claimant, stays
            won = free[self._numbers[slots[free]] == free]
            self._slots[slots[won]] = keys[won]
            self._numbers[slots[won]] = numbers[won]
            left = np.ones(len(keys), dtype=bool)
            left[won] = False
            keys, numbers = keys[left], numbers[left]
            slots = (slots[left] + 1) & int(self._mask)
