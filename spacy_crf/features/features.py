"""Everything between Docs and sparse rows: the extractor of one component, and its features by number."""

from typing import Any

import numpy as np

from ..core.arrays import Bools, Hashes, Indices, Ints, narrowed
from ..core.errors import CRFError
from ..core.sparse import ABSENT, HashTable, SparseRows, from_columns
from ..core.stored import stored_integers, stored_strings
from .block import FeatureSettings, SequenceMode
from .columns import Columns
from .errors import FeatureErrors
from .extract import FeatureExtractor, Keys, Windows, boundary, template_keys
from .hashing import string_hash, string_hashes
from .lexemes import WordForms, lexical_strings
from .resources import Resources
from .templates import Atom, Attribute, Template

LEARNED_WITH = "learned_with"  # where data have settings that have no effect on features that were learned


class FeatureIndex:
    """Features of one kind (state or edge), if they are not too rare, by number; templates as the rows of `Keys`."""

    separates_templates = True  # whether no feature belongs to two templates

    def __init__(self, templates: list[Template], min_count: int = 1):
        self.templates, self.min_count = templates, min_count
        self.table = HashTable()
        width = max((len(template.atoms) for template in templates), default=0)
        # of each feature: the number of its template, and those of its atoms' values
        self.slots: Ints = np.zeros(0, dtype=np.int32)
        self._atoms: Ints = np.zeros((0, width), dtype=np.int32)
        self._values = HashTable()
        self._strings: list[str] = []
        self._rare = HashTable()
        self._rare_counts: Indices = np.zeros(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.table)

    def encode(self, keys: Keys) -> SparseRows:
        """Return sparse rows of the known features. O(N A)."""
        numbers: Ints = np.empty(keys.keys.shape[::-1], dtype=np.int32)
        for template, own in enumerate(keys.keys):  # one by one: work arrays are larger than what is found
            numbers[:, template] = self.table.find(own)
        return from_columns(numbers, len(self), None if keys.values is None else keys.values.T)

    def grow(self, keys: Keys, columns: Columns, padding: bool, counted: Bools | None = None) -> int:
        """Number new features of a batch that occur often enough, counted over all calls; return how many.

        counted ((N,) | None): units that count; all without.
        """
        first = self._admit(keys.keys, counted)
        if len(first):
            self._describe(first, Windows(columns, padding))
        return len(first)

    def name(self, number: int) -> str:
        """Return a feature as text: its template and the values, such as LOWER[-1]|LOWER[0]=new|york."""
        template = self.templates[self.slots[number]]
        values = self._atoms[number, : len(template.atoms)].tolist()
        return f"{template}={'|'.join(self._strings[value] for value in values)}"

    def names(self) -> list[str]:
        return list(map(self.name, range(len(self))))

    def _admit(self, keys: Hashes, counted: Bools | None) -> Indices:
        """Number keys ((A, N)), and return the positions of their first occurrences, one template behind the other."""
        flat = keys.reshape(-1)
        if self.min_count <= 1:
            return self.table.add(flat)
        unknown = np.flatnonzero((self.table.find(flat) < 0) & (flat != ABSENT))
        if counted is not None:
            unknown = unknown[counted[unknown % len(counted)]]
        self._rare.add(flat[unknown])
        numbers = self._rare.find(flat[unknown])
        counts = np.bincount(numbers, minlength=len(self._rare))
        counts[: len(self._rare_counts)] += self._rare_counts
        self._rare_counts = counts
        frequent = unknown[counts[numbers] >= self.min_count]
        return frequent[self.table.add(flat[frequent])]

    def _describe(self, positions: Indices, windows: Windows) -> None:
        """Remember template and values of new features, each from one occurrence."""
        template, unit = np.divmod(positions, windows.n_units)
        atoms = np.zeros((len(positions), self._atoms.shape[1]), dtype=np.int32)
        for number in np.unique(template).tolist():
            chosen = np.flatnonzero(template == number)
            for column, atom in enumerate(self.templates[number].atoms):
                atoms[chosen, column] = self._value_numbers(atom, unit[chosen], windows)
        self.slots = np.concatenate([self.slots, template.astype(np.int32)])
        self._atoms = np.concatenate([self._atoms, atoms])

    def _number_strings(self) -> None:
        if len(self._values) < len(self._strings):  # restored from data, and growing again
            self._values.add(string_hashes(self._strings))

    def _value_numbers(self, atom: Atom, units: Indices, windows: Windows) -> Ints:
        """Number the values of an atom at some units. Equal strings have equal hashes, whatever the attribute."""
        self._number_strings()
        hashes = windows.hashes(atom)[units]
        self._strings += _strings(atom, units[self._values.add(hashes)], windows)
        return self._values.find(hashes)

    def include(self, other: "FeatureIndex") -> Ints:
        """Number new features of another index, whose templates are here too; return the numbers (F',) of all its."""
        keys = other.table.keys
        fresh = self.table.add(keys)
        template = np.array([self.templates.index(one) for one in other.templates], dtype=np.int32)
        held = other._atoms[fresh]
        atoms = np.zeros((len(fresh), self._atoms.shape[1]), dtype=np.int32)
        atoms[:, : held.shape[1]] = self._include_strings(other._strings)[held]
        self.slots = np.concatenate([self.slots, template[other.slots[fresh]]])
        self._atoms = np.concatenate([self._atoms, atoms])
        return self.table.find(keys)

    def _include_strings(self, strings: list[str]) -> Ints:
        """Return the numbers of strings, the new ones of which are numbered."""
        self._number_strings()
        hashes = string_hashes(strings)
        self._strings += [strings[position] for position in self._values.add(hashes).tolist()]
        numbers: Ints = np.append(self._values.find(hashes), np.int32(0))  # 0 where there are none to point at
        return numbers

    def keep(self, chosen: Bools) -> "FeatureIndex":
        """Return an index of some features (F,), in the same order, with no strings but theirs."""
        templates, atoms = self.slots[chosen], self._atoms[chosen]
        sizes = np.array([len(template.atoms) for template in self.templates], dtype=np.intp)
        held = np.arange(atoms.shape[1]) < sizes[templates][:, None]
        used, numbers = np.unique(atoms[held], return_inverse=True)
        atoms[held] = numbers
        kept = FeatureIndex(self.templates, self.min_count)
        kept.table, kept.slots, kept._atoms = HashTable.of_distinct(self.table.keys[chosen]), templates, atoms
        kept._strings = [self._strings[value] for value in used.tolist()]
        return kept

    def to_data(self) -> dict[str, Any]:
        """Return small arrays and lists; keys are left out, for they follow from templates and strings."""
        atoms = np.ascontiguousarray(self._atoms.T)
        return {"template": narrowed(self.slots), "atoms": narrowed(atoms), "values": self._strings}

    def from_data(self, data: dict[str, Any]) -> "FeatureIndex":
        strings = stored_strings("values of features", data["values"])
        slots = stored_integers("templates of features", data["template"], (None,), len(self.templates))
        shape = self._atoms.shape[1], len(slots)
        atoms = stored_integers("numbers of values", data["atoms"], shape, max(1, len(strings)))
        self.slots, self._atoms = slots.astype(np.int32), np.ascontiguousarray(atoms.T, dtype=np.int32)
        self._values, self._strings = HashTable(), strings
        self.table = HashTable.of_distinct(self._keys())
        if len(self.table) != len(self.slots):
            raise ValueError("a feature occurs twice")
        return self

    def forget_rare(self) -> None:
        """Count no further: what was not met often enough so far begins anew."""
        self._rare, self._rare_counts = HashTable(), np.zeros(0, dtype=np.intp)

    def rare_to_data(self) -> dict[str, Any]:
        """Return the keys that were not met often enough so far, and how often."""
        return {"keys": self._rare.keys, "counts": self._rare_counts}

    def take_rare(self, data: dict[str, Any]) -> None:
        """Go on counting where another index was."""
        keys = stored_integers("rare features", data["keys"], (None,), 1 << 64)
        counts = stored_integers("counts of rare features", data["counts"], keys.shape, 1 << 62)
        self._rare, self._rare_counts = HashTable(keys.astype(np.uint64)), counts.astype(np.intp)
        if len(self._rare) != len(keys):
            raise ValueError("a rare feature occurs twice")

    def _keys(self) -> Hashes:
        """((F,)): the keys, as the extractor computes them from the values of Docs."""
        hashes = np.fromiter(map(string_hash, self._strings), dtype=np.uint64, count=len(self._strings))
        keys: Hashes = np.full(len(self.slots), ABSENT, dtype=np.uint64)
        for number, template in enumerate(self.templates):
            own = np.flatnonzero(self.slots == number)
            keys[own] = template_keys(template, [hashes[self._atoms[own, k]] for k in range(len(template.atoms))])
        return keys


class BucketIndex(FeatureIndex):
    """Numbers of hash buckets instead of features, which share weights within a bucket (Weinberger et al. 2009): there
    is no table of keys that grows, and there are no strings."""

    separates_templates = False

    def __init__(self, templates: list[Template], min_count: int, n_buckets: int):
        super().__init__(templates, min_count)
        self.n_buckets = n_buckets

    def encode(self, keys: Keys) -> SparseRows:
        return super().encode(Keys(self._buckets(keys.keys), keys.values))

    def grow(self, keys: Keys, columns: Columns, padding: bool, counted: Bools | None = None) -> int:
        """Number the new buckets of a batch that are met often enough, counted over all calls."""
        return len(self._admit(self._buckets(keys.keys), counted))

    def name(self, number: int) -> str:
        """Return a bucket as text: nothing is known of its features."""
        return f"bucket {int(self.table.keys[number]) - 1}"

    def keep(self, chosen: Bools) -> "BucketIndex":
        """Return an index of some of the buckets, in the same order."""
        kept = BucketIndex(self.templates, self.min_count, self.n_buckets)
        return kept.from_data({"keys": self.table.keys[chosen]})

    def to_data(self) -> dict[str, Any]:
        return {"keys": self.table.keys}

    def from_data(self, data: dict[str, Any]) -> "BucketIndex":
        keys = stored_integers("buckets", data["keys"], (None,), self.n_buckets + 1)
        self.table = HashTable.of_distinct(keys.astype(np.uint64))
        if len(self) != len(keys):
            raise ValueError("a bucket occurs twice")
        return self

    def _buckets(self, keys: Hashes) -> Hashes:
        """Return buckets of keys, from 1 on: 0 is the key of "no feature here"."""
        return np.where(keys == ABSENT, ABSENT, keys % np.uint64(self.n_buckets) + np.uint64(1))


class Features:
    """The extractor and the indices of one component; resources are empty until they are made or loaded."""

    def __init__(self, config: FeatureSettings, sequence: SequenceMode, resources: Resources | None = None):
        self.config, self.sequence = config, sequence
        # None: made by a version that did not store it
        self.learned_with: dict[str, Any] | None = config.learned_with
        self.resources = config.empty_resources() if resources is None else resources
        reader = config.make_reader(self.resources)
        self.extractor = FeatureExtractor(config.parsed, self.resources, sequence, config.padding, reader)
        self.state = self._index(self.extractor.state_templates, config.min_count)
        self.edge = self._index(self.extractor.edge_templates, config.min_edge_count)

    def _index(self, templates: list[Template], min_count: int) -> FeatureIndex:
        n_buckets = self.config.max_features
        return BucketIndex(templates, min_count, n_buckets) if n_buckets else FeatureIndex(templates, min_count)

    def to_data(self, kept: tuple[Bools, Bools] | None = None) -> dict[str, Any]:
        """Return indices and resources as arrays and lists; of features only those that are kept, (F,) and (E,)."""
        state, edge = self.state, self.edge
        if kept is not None:
            state, edge = state.keep(kept[0]), edge.keep(kept[1])
        return {
            "templates": [str(template) for template in self.config.parsed],
            **self._hashed,
            **({} if self.learned_with is None else {LEARNED_WITH: self.learned_with}),
            "state": state.to_data(),
            "edge": edge.to_data(),
            **self.resources.to_data(),
        }

    def indices_to_data(self) -> dict[str, Any]:
        """Return the indices, and what they count while they grow, for `take_indices`."""
        rare = {"state": self.state.rare_to_data(), "edge": self.edge.rare_to_data()}
        return {**self._hashed, "state": self.state.to_data(), "edge": self.edge.to_data(), "rare": rare}

    @property
    def _hashed(self) -> dict[str, Any]:
        """Settings that features cannot be taken over without."""
        return {"max_features": self.config.max_features, "padding": self.config.padding}

    @classmethod
    def from_data(cls, data: dict[str, Any], config: FeatureSettings, sequence: SequenceMode) -> "Features":
        """Restore from `to_data`; a coded error where the config hashes or pads features otherwise."""
        features = cls(config, sequence, Resources.from_data(data))
        features.learned_with = data.get(LEARNED_WITH)
        features.take_indices(data)
        return features

    def take_indices(self, data: dict[str, Any]) -> None:
        """Number features as those were of which the data tell; resources stay as they are."""
        for setting, ours in self._hashed.items():
            theirs = data.get(setting, ours if setting == "padding" else 0)
            if theirs != ours:
                raise CRFError(FeatureErrors.CRF313.format(setting=setting, theirs=theirs, ours=ours))
        for kind, index in (("state", self.state), ("edge", self.edge)):
            index.from_data(data[kind])
            if "rare" in data:
                index.take_rare(data["rare"][kind])


def _strings(atom: Atom, units: Indices, windows: Windows) -> list[str]:
    outside = windows.outside(atom.offset)[units]
    inside = iter(_strings_at(atom.attribute, units[outside == 0] + atom.offset, windows.columns))
    return [boundary(distance) if distance else next(inside) for distance in outside.tolist()]


def _strings_at(attribute: Attribute, units: Indices, columns: Columns) -> list[str]:
    """Return the strings of an attribute, from the lexemes, the column or the vocabulary."""
    if attribute.is_lexical:
        lexemes = [columns.vocab[orth] for orth in columns.orths[units].tolist()]
        return lexical_strings(attribute, WordForms(lexemes, columns.lexicon))
    column = columns.by_attribute[attribute]
    strings = columns.vocab.strings if column.strings is None else column.strings
    return [strings[key] for key in column.hashes[units].tolist()]
