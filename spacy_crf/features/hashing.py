"""64-bit ids of strings, and their mixing in numpy."""

from collections.abc import Sequence

import numpy as np
from spacy.strings import get_string_id

from ..core.arrays import Hashes

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


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
