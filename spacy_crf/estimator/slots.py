"""Which template each attribute string comes from: what lets the objective score implied features once."""

import re

import numpy as np

from ..core.arrays import Bools, Ints
from ..core.sparse import SparseRows

MOST_SLOTS = 64
_STEM = re.compile(r"[^=:]*[=:]?")  # "w[-1]|w[0]=new|york" has the stem "w[-1]|w[0]=", "-1:postag:NN" has "-1:"


def find_slots(attributes: list[str], features: SparseRows) -> Ints | None:
    """Slots of attributes, such that an item has at most one attribute of each slot.

    attributes (list[str]): the features by number.
    features (SparseRows): N items.
    RETURNS ((F,) | None): slot numbers; None where the strings do not show any. O(nnz).
    """
    if features.values is not None or not attributes:
        return None
    stems = _stems(attributes)
    slots = _number(stems)
    clashing = _clashing(slots, features)
    if clashing is None:
        return None
    if clashing.any():  # affixes of several lengths, or keys with two separators
        finer = [
            _finer(stem, string) if clashing[slot] else stem for stem, string, slot in zip(stems, attributes, slots)
        ]
        slots = _number(finer)
        clashing = _clashing(slots, features)
    return None if clashing is None or clashing.any() else slots


def _stems(strings: list[str]) -> list[str]:
    return [found[0] for found in map(_STEM.match, strings) if found]  # the pattern matches every string


def _finer(stem: str, attribute: str) -> str:
    rest = attribute[len(stem) :]
    inner = _stems([rest])[0]
    return f"{stem}{inner}" if inner != rest else f"{stem}{len(rest)}"


def _number(stems: list[str]) -> Ints:
    known = {stem: number for number, stem in enumerate(dict.fromkeys(stems))}
    return np.fromiter(map(known.__getitem__, stems), dtype=np.int32, count=len(stems))


def _clashing(slots: Ints, features: SparseRows) -> Bools | None:
    """For each slot, whether some item has two attributes of it; None for too many slots."""
    n_slots = int(slots.max()) + 1
    if n_slots > MOST_SLOTS:
        return None
    counts = np.bincount(
        features.row_numbers() * n_slots + slots[features.indices], minlength=features.n_rows * n_slots
    )
    return np.asarray((counts.reshape(-1, n_slots) > 1).any(axis=0))
