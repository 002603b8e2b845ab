"""Sequences of items in the forms that python-crfsuite takes, as sparse rows of numbered attributes."""

import operator
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, repeat
from typing import Any, TypeAlias

import numpy as np

from ..core.arrays import Bools, Doubles, Hashes, Indices, Ints, Segments
from ..core.errors import CRFError
from ..core.sparse import ABSENT, HashTable, SparseRows
from .errors import EstimatorErrors

UNKNOWN = -1
UNASKED = -2
FALSE = np.uint64(1 << 63)  # sets it apart from "", which has the same hash
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: odd, so that no two products are the same
MANY = 20_000  # strings from which on arrays are quicker than a dictionary
AT_ONCE, DICTS_AT_ONCE = 2048, 128
GREATEST = float(np.finfo(np.float32).max)


class Numbering(dict[str, int]):
    """Numbers strings in the order in which they are first asked for.

    Here and in `Known`, many strings are told apart by 64-bit hashes, in arrays: a look at each one in a dictionary
    waits for memory again and again. Those of two strings are the same once in 10^19.
    """

    def __missing__(self, string: str) -> int:
        if type(string) is not str:
            raise TypeError
        number = self[string] = len(self)
        return number

    def numbers(self, strings: Sequence[str]) -> Ints:
        """((N,)): the numbers of strings. RAISES (TypeError): for anything else among them."""
        if len(strings) < MANY:
            return _look_up(self, strings)
        distinct = Distinct(hashes_of(strings))
        return _look_up(self, [strings[first] for first in distinct.firsts])[distinct.places]


class Known(dict[str, int]):
    """Numbers of strings, which do not change; UNKNOWN for any that has none."""

    _table: tuple[HashTable, Ints] | None = None
    _pairs: tuple[HashTable, Ints] | None = None  # of the attributes with a colon, as what stands before it and behind

    def __missing__(self, string: str) -> int:
        if type(string) is not str:
            raise TypeError
        return UNKNOWN

    def numbers(self, strings: Sequence[str]) -> Ints:
        """As `Numbering.numbers`."""
        if len(strings) < MANY:
            return _look_up(self, strings)
        if self._table is None:  # set as a whole: another thread may ask meanwhile
            self._table = HashTable(hashes_of(list(self))), np.fromiter([*self.values(), UNKNOWN], dtype=np.int32)
        table, numbers = self._table
        if len(table) < len(self):  # two have the same hash
            return _look_up(self, strings)
        return numbers[table.find(hashes_of(strings))]

    def of_pairs(self, pairs: "DictPairs") -> Ints | None:
        """((N,)): the numbers of "key:value" for pairs of strings; None where hashes do not tell these apart."""
        if self._pairs is None:
            parts = [(*name.split(":", 1), number) for name, number in self.items() if ":" in name]
            before, behind, numbers = zip(*parts) if parts else ((), (), ())
            self._pairs = HashTable(_joint_hashes(before, behind)), np.array([*numbers, UNKNOWN], dtype=np.int32)
        table, own = self._pairs
        return own[table.find(pairs.hashes)] if len(table) == len(own) - 1 else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the tables: other processes hash otherwise."""
        return Known, (dict(self),)


Names: TypeAlias = Numbering | Known


def _look_up(names: Names, strings: Sequence[str]) -> Ints:
    return np.fromiter(map(names.__getitem__, strings), dtype=np.int32, count=len(strings))


def hashes_of(values: Sequence[Any], kinds: Collection[type] = (str,)) -> Hashes:
    """((N,)): hashes of values of this process, none of which is `ABSENT`. RAISES (TypeError): for other kinds."""
    hashes: Hashes = np.empty(len(values), dtype=np.uint64)
    for low in range(0, len(values), AT_ONCE):  # so few are still in the processor's cache when they are hashed
        part = values[low : low + AT_ONCE]
        if not set(map(type, part)) <= set(kinds):
            raise TypeError
        hashes[low : low + AT_ONCE] = np.fromiter(map(hash, part), dtype=np.int64, count=len(part)).view(np.uint64)
    hashes[hashes == ABSENT] = 1
    return hashes


def _joint_hashes(keys: Sequence[Any], values: Sequence[Any]) -> Hashes:
    """((N,)): hashes of pairs, which are not made either: each would be one more object to look after."""
    own = (np.fromiter(map(hash, part), dtype=np.int64, count=len(part)).view(np.uint64) for part in (keys, values))
    hashes: Hashes = next(own) * SPREAD + next(own)
    hashes[hashes == ABSENT] = 1
    return hashes


class DictPairs:
    """Keys and values of dicts, looked at once, while they are in the processor's cache.

    hashes ((N,)): of each pair. are_texts ((N,)): whether the value is a string. is_clear (bool): whether keys are
    strings without a colon, so that no two pairs stand for the same attribute.
    """

    def __init__(self, items: Sequence[dict[Any, Any]], n_pairs: int):
        self.hashes: Hashes = np.empty(n_pairs, dtype=np.uint64)
        self.are_texts: Bools = np.empty(n_pairs, dtype=bool)
        known, low = set[Any](), 0
        for first in range(0, len(items), DICTS_AT_ONCE):
            part = items[first : first + DICTS_AT_ONCE]
            keys, values = list(chain.from_iterable(part)), list(chain.from_iterable(map(dict.values, part)))
            known.update(keys)
            own = slice(low, low := low + len(keys))
            self.hashes[own] = _joint_hashes(keys, values)
            self.are_texts[own] = list(map(operator.is_, map(type, values), repeat(str)))
        self.is_clear = all(type(key) is str and ":" not in key for key in known)


class Distinct:
    """Which of some values are the same, by their hashes ((N,)).

    firsts (list[int]): where each distinct one comes first. places ((N,)): for each value its place among these.
    """

    def __init__(self, hashes: Hashes):
        table = HashTable()
        self.firsts: list[int] = table.add(hashes).tolist()
        self.places = table.find(hashes)


@dataclass(frozen=True)
class Items:
    """Encoded sequences.

    lengths ((B,)): items of each sequence.
    indptr ((N + 1,)), indices ((nnz,)): attributes of each item, as in `SparseRows`; UNKNOWN ones among them.
    values ((nnz,) | None): None where all are 1.
    """

    lengths: Indices
    indptr: Ints
    indices: Ints
    values: Doubles | None

    @property
    def n_items(self) -> int:
        return len(self.indptr) - 1

    def nonzero(self) -> "Items":
        """The items without attributes of the value 0, which add nothing to scores; to training they matter."""
        if self.values is None:
            return self
        indices = np.where(self.values == 0, UNKNOWN, self.indices)
        are_ones = (self.values[indices != UNKNOWN] == 1).all()
        return replace(self, indices=indices, values=None if are_ones else self.values)

    def features(self, n_columns: int) -> SparseRows:
        """Sparse rows of the attributes that have a number."""
        rows = SparseRows(self.indptr, self.indices, self.values, n_columns)
        known = np.flatnonzero(self.indices != UNKNOWN)
        return rows if len(known) == len(self.indices) else rows.select(known, self.indices[known], n_columns)


def encode_items(X: Iterable[Any], names: Names) -> Items:
    """Number the attributes of all items of sequences.

    An item is a dict ({"w": "a"} stands for the attribute "w:a", {"n": 2.5} for "n" with a value, True is 1, nested
    dicts and lists put "key:" before theirs), a list or set of strings, or a list of (string, number) pairs.

    names (Numbering | Known): numbers of attributes.
    RAISES (ValueError): names the sequence and the item at fault.
    """
    require_sequences("X", X, "list of items")
    sequences = [_as_list(sequence, position) for position, sequence in enumerate(X)]
    lengths = np.fromiter(map(len, sequences), dtype=np.intp, count=len(sequences))
    items = list(chain.from_iterable(sequences))
    kinds = set(map(type, items))
    try:
        if kinds <= {list, tuple}:
            return _encode_strings(lengths, items, names)
        if kinds == {dict}:
            return _encode_dicts(lengths, items, names)
    except (TypeError, _BadItem):  # some attributes are neither: pairs perhaps, nested, or wrong
        pass
    return _encode_pairs(lengths, items, names.__getitem__)


def require_sequences(name: str, data: Any, kind: str) -> None:
    if not isinstance(data, Iterable):
        raise CRFError(EstimatorErrors.CRF715.format(name=name, value=f"{data!r:.60}", kind=kind))


def _as_list(sequence: Any, position: int) -> list[Any] | tuple[Any, ...]:
    if isinstance(sequence, str | bytes | dict) or not isinstance(sequence, Iterable):
        problem = f"the sequence is {sequence!r:.60}, not a list of items"
        raise CRFError(EstimatorErrors.CRF701.format(sequence=position, item=0, problem=problem))
    return sequence if isinstance(sequence, list | tuple) else list(sequence)


def _encode_strings(lengths: Indices, items: list[Any], names: Names) -> Items:
    """Lists of strings: no Python code runs for an attribute that has a number."""
    sizes = np.fromiter(map(len, items), dtype=np.intp, count=len(items))
    indices = names.numbers(list(chain.from_iterable(items)))
    return Items(lengths, Segments(sizes).bounds.astype(np.int32), indices, None)


def _encode_dicts(lengths: Indices, items: list[dict[Any, Any]], names: Names) -> Items:
    """Dicts of strings and numbers: no Python code runs for a string with a key where numbers are known."""
    sizes = np.fromiter(map(len, items), dtype=np.intp, count=len(items))
    bounds = Segments(sizes).bounds.astype(np.int32)
    indices, weights = _number_texts(items, int(bounds[-1]), names), np.ones(bounds[-1])
    others = indices == UNASKED
    if others.any():
        pairs = list(compress(chain.from_iterable(map(dict.items, items)), others.tolist()))
        indices[others], weights[others] = _number_pairs(pairs, names)
    return Items(lengths, bounds, indices, None if (weights == 1).all() else weights)


def _number_texts(items: list[dict[Any, Any]], n_pairs: int, names: Names) -> Ints:
    """((n_pairs,)): numbers of the strings with their keys, many of which are known; UNASKED for all else."""
    unasked = np.full(n_pairs, UNASKED, dtype=np.int32)
    if not isinstance(names, Known) or n_pairs < MANY:
        return unasked
    pairs = DictPairs(items, n_pairs)
    numbers = names.of_pairs(pairs) if pairs.is_clear else None
    return unasked if numbers is None else np.where(pairs.are_texts, numbers, unasked)


def _number_pairs(pairs: list[tuple[Any, Any]], names: Names) -> tuple[Ints, Doubles]:
    """Numbers ((N,)) and values ((N,)) of the attributes that pairs of a key and its value stand for; no Python code
    runs for one that has come before."""
    known = _DictPairs(names.__getitem__)
    kinds = [type(value) for _, value in pairs] if len(pairs) >= MANY else [object]
    if not set(kinds) <= {str, bool}:  # -1 and -2 have the same hash
        chosen = np.fromiter(map(known.__getitem__, pairs), dtype=np.int32, count=len(pairs))
    else:
        hashes = hashes_of(pairs, (tuple,))
        hashes[np.fromiter(map(operator.is_, kinds, repeat(bool)), dtype=bool, count=len(kinds))] ^= FALSE
        distinct = Distinct(hashes)
        for first in distinct.firsts:
            known[pairs[first]]
        chosen = distinct.places
    return np.array(known.numbers, dtype=np.int32)[chosen], np.array(known.weights, dtype=np.float64)[chosen]


class _DictPairs(dict[tuple[Any, Any], int]):
    """Positions of keys with their values among `numbers` and `weights`. Those that are equal, such as 1 and True, mean
    the same."""

    def __init__(self, number: Callable[[str], int]):
        self.number = number
        self.numbers: list[int] = []
        self.weights: list[float] = []

    def __missing__(self, pair: tuple[Any, Any]) -> int:
        if isinstance(pair[1], frozenset):
            raise TypeError
        ((attribute, weight),) = _dict_pairs(dict([pair]))
        self.numbers.append(self.number(attribute))
        self.weights.append(weight)
        position = self[pair] = len(self)
        return position


def _encode_pairs(lengths: Indices, items: list[Any], number: Callable[[str], int]) -> Items:
    """The general case: one attribute after the other."""
    indices, values, ends = array("i"), array("d"), array("i", [0])
    for unit, item in enumerate(items):
        try:
            for attribute, value in _pairs(item):
                indices.append(number(attribute))
                values.append(value)
        except (_BadItem, RecursionError) as error:
            problem = error if isinstance(error, _BadItem) else "it is nested too deeply"
            raise CRFError(EstimatorErrors.CRF701.format(**_place(unit, lengths), problem=problem)) from None
        ends.append(len(indices))
    weights = np.array(values, dtype=np.float64)
    indptr = np.array(ends, dtype=np.int32)
    return Items(lengths, indptr, np.array(indices, dtype=np.int32), None if (weights == 1).all() else weights)


class _BadItem(Exception):
    """What is wrong with an item, before its place is known."""


def _pairs(item: Any) -> Iterator[tuple[str, float]]:
    """Attributes of an item with their values."""
    if isinstance(item, dict):
        yield from _dict_pairs(item)
    elif isinstance(item, set | frozenset):
        yield from ((part, 1.0) for part in sorted(map(_text, item)))  # the order of a set differs between processes
    elif isinstance(item, str | bytes) or not isinstance(item, Iterable):
        raise _BadItem(f"{item!r:.60} is neither a dict nor a list")
    else:
        for part in item:
            if isinstance(part, tuple) and len(part) == 2:
                yield _text(part[0]), _number(part[0], part[1])
            else:
                yield _text(part), 1.0


def _dict_pairs(item: dict[Any, Any]) -> Iterator[tuple[str, float]]:
    for key, value in item.items():
        kind = type(value)
        if kind is str and type(key) is str:
            yield f"{key}:{value}", 1.0
        elif isinstance(value, str | bytes):
            yield f"{_text(key)}:{_text(value)}", 1.0
        elif isinstance(value, dict | list | set | frozenset):
            prefix = _text(key)
            for name, weight in _pairs(value):
                yield f"{prefix}:{name}", weight
        else:
            yield _text(key), _number(key, value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    try:
        return str(value, "utf8")
    except (TypeError, UnicodeDecodeError):
        raise _BadItem(f"the attribute {value!r:.60} is not a string") from None


def _number(name: Any, value: Any) -> float:
    if not isinstance(value, int | float | np.integer | np.floating | np.bool_):
        raise _BadItem(f"the value of {name!r:.60} is {value!r:.60}, which is neither a string nor a number")
    number = value if isinstance(value, int) else float(value)
    if abs(number) <= GREATEST:
        return float(number)
    raise _BadItem(f"the value of {name!r:.60} is not a finite number in single precision")


def _place(unit: int, lengths: Indices) -> dict[str, int]:
    """The sequence and the position in it of an item."""
    sequences = Segments(lengths)
    return {"sequence": int(sequences.owners[unit]), "item": int(sequences.positions[unit])}
