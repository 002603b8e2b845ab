"""Numbers features, and keeps the strings behind them for inspection."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from spacy.vocab import Vocab

from ..core.sparse import SparseRows, from_columns
from ..core.types import Hashes, Indices, Ints
from .attributes import string_hash
from .columns import Columns
from .extract import Keys, Windows, boundary
from .hashing import ABSENT, HashTable
from .templates import Atom, Template


@dataclass
class FeatureIndex:
    """Features of one kind (state or edge) by number.

    templates (list[Template]): in the order of the rows of `Keys`.
    min_count (int): features that occur less often get no number.
    """

    templates: list[Template]
    min_count: int = 1
    table: HashTable = field(default_factory=HashTable, repr=False)
    _template: list[Ints] = field(default_factory=list, repr=False)
    _atoms: list[Ints] = field(default_factory=list, repr=False)
    _values: dict[str, int] = field(default_factory=dict, repr=False)
    _rare: HashTable = field(default_factory=HashTable, repr=False)
    _rare_counts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32), repr=False)

    def __len__(self) -> int:
        return len(self.table)

    def encode(self, keys: Keys) -> SparseRows:
        """Sparse rows of the known features. O(N A)."""
        numbers = np.ascontiguousarray(self.table.find(keys.keys).T)
        return from_columns(numbers, len(self), None if keys.values is None else keys.values.T)

    def grow(self, keys: Keys, columns: Columns, vocab: Vocab, padding: bool) -> int:
        """Number the new features of a batch that occur often enough, counted over all calls.

        RETURNS (int): how many there were.
        """
        flat = keys.keys.reshape(-1)
        first = self._admit(flat)
        if len(first):
            self._name(first, columns, vocab, padding)
        return len(first)

    def name(self, number: int) -> str:
        """A feature as text: its template and the values, such as LOWER[-1]|LOWER[0]=new|york."""
        template = self.templates[int(np.concatenate(self._template)[number])]
        values = list(self._values)
        atoms = np.concatenate(self._atoms)[number][: len(template.atoms)]
        return f"{template}={'|'.join(values[atom] for atom in atoms)}"

    def names(self) -> list[str]:
        """All features as text, by number."""
        if not len(self):
            return []
        values = list(self._values)
        spelt = [str(template) for template in self.templates]
        sizes = [len(template.atoms) for template in self.templates]
        return [
            f"{spelt[t]}={'|'.join(values[a] for a in atoms[: sizes[t]])}"
            for t, atoms in zip(np.concatenate(self._template).tolist(), np.concatenate(self._atoms).tolist())
        ]

    def _admit(self, flat: Hashes) -> Indices:
        """Positions of the first occurrences of the keys that get numbers."""
        if self.min_count <= 1:
            return self.table.add(flat)
        unknown = np.flatnonzero((self.table.find(flat) < 0) & (flat != ABSENT))
        self._rare.add(flat[unknown])
        numbers = self._rare.find(flat[unknown])
        counts = np.bincount(numbers, minlength=len(self._rare)).astype(np.int32)
        counts[: len(self._rare_counts)] += self._rare_counts
        self._rare_counts = counts
        frequent = unknown[counts[numbers] >= self.min_count]
        return frequent[self.table.add(flat[frequent])]

    def _name(self, positions: Indices, columns: Columns, vocab: Vocab, padding: bool) -> None:
        """Remember template and values of new features from one occurrence each."""
        windows = Windows(columns, padding)
        template, unit = np.divmod(positions, windows.n_units)
        width = max(len(t.atoms) for t in self.templates)
        atoms = np.zeros((len(positions), width), dtype=np.int32)
        for number in np.unique(template).tolist():
            chosen = np.flatnonzero(template == number)
            for column, atom in enumerate(self.templates[number].atoms):
                atoms[chosen, column] = self._value_numbers(atom, unit[chosen], windows, vocab)
        self._template.append(template.astype(np.int32))
        self._atoms.append(atoms)

    def _value_numbers(self, atom: Atom, units: Indices, windows: Windows, vocab: Vocab) -> Ints:
        """Numbers of the strings of an atom at some units."""
        hashes = windows.hashes(atom)[units]
        distinct, firsts, where = np.unique(hashes, return_index=True, return_inverse=True)
        outside = windows.outside(atom.offset)[units[firsts]]
        numbers = []
        for key, unit, distance in zip(distinct.tolist(), units[firsts].tolist(), outside.tolist()):
            text = boundary(distance) if distance else _string(atom, key, unit + atom.offset, windows.columns, vocab)
            numbers.append(self._values.setdefault(text, len(self._values)))
        return np.array(numbers, dtype=np.int32)[where]

    def to_data(self) -> dict[str, Any]:
        """Everything as arrays and lists."""
        width = max((len(t.atoms) for t in self.templates), default=0)
        return {
            "keys": self.table.keys,
            "template": np.concatenate([np.zeros(0, np.int32), *self._template]),
            "atoms": np.concatenate([np.zeros((0, width), np.int32), *self._atoms]),
            "values": list(self._values),
        }

    def from_data(self, data: dict[str, Any]) -> "FeatureIndex":
        """Restore from `to_data`."""
        self.table = HashTable(np.asarray(data["keys"], dtype=np.uint64))
        self._template, self._atoms = [np.asarray(data["template"])], [np.asarray(data["atoms"])]
        self._values = {value: number for number, value in enumerate(data["values"])}
        return self


def _string(atom: Atom, key: int, unit: int, columns: Columns, vocab: Vocab) -> str:
    """The string behind a hash, from the vocabulary, the column, or the lexeme at the place."""
    if atom.attribute.is_lexical:
        return atom.attribute.lexical_string(vocab[int(columns.orths[unit])])
    known = columns.by_attribute[atom.attribute].strings
    if known is not None:
        return known[key]
    if key == string_hash("1"):
        return "1"
    return vocab.strings[key] if key in vocab.strings else str(key)
