"""Features in a fixed number of hash buckets (Weinberger et al. 2009): no table of keys that grows, and no strings."""

from typing import Any

import numpy as np
from spacy.vocab import Vocab

from ..core.arrays import Bools, Hashes
from ..core.sparse import SparseRows
from .columns import Columns
from .extract import Keys
from .hashing import ABSENT, HashTable
from .index import FeatureIndex
from .templates import Template


class BucketIndex(FeatureIndex):
    """Numbers buckets instead of features. Features that share a bucket share their weights.

    templates (list[Template]), min_count (int): as in `FeatureIndex`.
    n_buckets (int): how many there are.
    """

    separates_templates = False

    def __init__(self, templates: list[Template], min_count: int, n_buckets: int):
        super().__init__(templates, min_count)
        self.n_buckets = n_buckets

    def encode(self, keys: Keys) -> SparseRows:
        return super().encode(Keys(self._buckets(keys.keys), keys.values))

    def grow(self, keys: Keys, columns: Columns, vocab: Vocab, padding: bool) -> int:
        """Number the new buckets of a batch that are met often enough, counted over all calls."""
        return len(self._admit(self._buckets(keys.keys).reshape(-1)))

    def name(self, number: int) -> str:
        """A bucket as text: nothing is known of its features."""
        return f"bucket {int(self.table.keys[number]) - 1}"

    def names(self) -> list[str]:
        """All buckets as text, by number."""
        return [f"bucket {key - 1}" for key in self.table.keys.tolist()]

    def keep(self, chosen: Bools) -> "BucketIndex":
        """An index of some of the buckets, in the same order."""
        kept = BucketIndex(self.templates, self.min_count, self.n_buckets)
        return kept.from_data({"keys": self.table.keys[chosen]})

    def to_data(self) -> dict[str, Any]:
        return {"keys": self.table.keys}

    def from_data(self, data: dict[str, Any]) -> "BucketIndex":
        self.table = HashTable(np.asarray(data["keys"], dtype=np.uint64))
        return self

    def _buckets(self, keys: Hashes) -> Hashes:
        """Buckets of keys, from 1 on: 0 is the key of "no feature here"."""
        return np.where(keys == ABSENT, ABSENT, keys % np.uint64(self.n_buckets) + np.uint64(1))
