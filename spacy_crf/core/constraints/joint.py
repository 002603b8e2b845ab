"""The automata of many constraints as one, whose moves are looked up for whole arrays of states at a time.

A state is a row of numbers, that of the state of each constraint. States and moves are made when they are first met,
and kept: a constraint computes its own (L + 1) x L moves once for each of its states and symbols, and a joint move is a
lookup in those. With R constraints a new joint context takes O(R L) time, a known one O(L).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from ..arrays import Bools, Doubles, Indices, Ints, Numbered, Segments
from .family import Constraint
from .labelling import NOTHING, Fields, Monitor, UnitPredicates

FREE = 0  # the joint state in which no constraint is looked at, and which is never left
UNKNOWN_PLACE = -1
ROOM, JOINT_ROOM = 16, 64  # states that arrays have room for at first, of one constraint and of all


@dataclass
class _Growing:
    """An array that grows at its first axis."""

    values: np.ndarray[Any, Any]
    size: int = 0

    def add(self, rows: np.ndarray[Any, Any]) -> None:
        end = self.size + len(rows)
        if end > len(self.values):
            room = np.zeros((max(end, 2 * len(self.values)), *self.values.shape[1:]), self.values.dtype)
            room[: self.size] = self.values[: self.size]
            self.values = room
        self.values[self.size : end] = rows
        self.size = end


@dataclass
class _JointMoves:
    """The moves of one constraint, by its states and symbols in the order in which they are met.

    monitor (Monitor): of any sequence; a step sees the sequence in its symbol alone.
    """

    monitor: Monitor
    n_tags: int
    states: Numbered[Any] = field(default_factory=Numbered)
    symbols: Numbered[Any] = field(default_factory=Numbered)
    places: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (ROOM, self.n_tags + 1, self.n_tags)
        self.following, self.times = _Growing(np.zeros(shape, np.int32)), _Growing(np.zeros(shape, np.int32))
        self.ends = _Growing(np.zeros((ROOM, self.n_tags), np.int32))
        self.number(self.monitor.start)

    def number(self, state: Any) -> int:
        """The number of a state; 0 is where a sequence starts."""
        found = self.states.number(state)
        if found == self.ends.size:
            ends = [self.monitor.finish(state, tag) for tag in range(self.n_tags)]
            self.ends.add(np.array([ends], dtype=np.int32))
        return found

    def read(self, symbols: list[Any]) -> list[int]:
        """Numbers of symbols."""
        return list(map(self.symbols.number, symbols))

    def at(self, symbols: Ints, states: Ints, befores: Indices) -> tuple[Ints, Ints]:
        """((n, L), (n, L)): the states that follow, and violations on the way."""
        pairs, where = np.unique(np.stack([symbols, states], axis=1), axis=0, return_inverse=True)
        places = [self._place(symbol, state) for symbol, state in pairs.tolist()]
        rows = np.array(places, dtype=np.intp)[where.reshape(-1)]
        return self.following.values[rows, befores], self.times.values[rows, befores]

    def _place(self, symbol: int, state: int) -> int:
        found = self.places.get((symbol, state))
        if found is None:
            found = self.places[symbol, state] = len(self.places)
            given, own, tags = self.symbols[symbol], self.states[state], range(self.n_tags)
            steps = [[self.monitor.step(own, given, before, tag) for tag in tags] for before in (*tags, NOTHING)]
            self.following.add(np.array([[[self.number(after) for after, _ in row] for row in steps]], dtype=np.int32))
            self.times.add(np.array([[[times for _, times in row] for row in steps]], dtype=np.int32))
        return found


class JointAutomaton:
    """The automaton of some constraints together, over the tags of `fields`; threads may share it."""

    def __init__(self, constraints: Sequence[Constraint], fields: Fields):
        self.constraints = [one for one in constraints if one.cost > 0]
        self.fields, self.n_tags = fields, len(fields.of_tag)
        self._lock = Lock()
        self._parts: list[_JointMoves] | None = None  # until a sequence is read
        self._symbols = Numbered[tuple[int, ...]]()
        self._numbers: dict[bytes, int] = {}
        n_parts = len(self.constraints)
        self._states = _Growing(np.zeros((JOINT_ROOM, n_parts), np.int32))
        self._following = _Growing(np.zeros((JOINT_ROOM, self.n_tags), np.int32))
        self._factors = _Growing(np.zeros((JOINT_ROOM, self.n_tags)))
        self._ends = _Growing(np.zeros((JOINT_ROOM, self.n_tags)))
        self._places = np.full((1, JOINT_ROOM, self.n_tags + 1), UNKNOWN_PLACE, dtype=np.int32)
        self._states.add(np.full((1, n_parts), UNKNOWN_PLACE, dtype=np.int32))  # FREE
        self._ends.add(np.ones((1, self.n_tags)))

    @property
    def n_states(self) -> int:
        """Joint states that were met."""
        return self._states.size

    @property
    def start(self) -> int:
        """The joint state before a sequence."""
        with self._lock:
            return int(self._number(np.zeros((1, len(self.constraints)), dtype=np.int32))[0])

    def read(self, predicates: UnitPredicates) -> Ints:
        """((T,)): a number for what the constraints ask of each unit of one sequence. O(T R)."""
        if self._parts is None:
            monitors = [one.watch(self.fields, predicates) for one in self.constraints]
            self._parts = [_JointMoves(monitor, self.n_tags) for monitor in monitors]
        else:
            monitors = [
                own.monitor if one.asks is None else one.watch(self.fields, predicates)
                for one, own in zip(self.constraints, self._parts)
            ]
        nothing = [None] * predicates.n_units
        columns = [own.read(monitor.symbols or nothing) for own, monitor in zip(self._parts, monitors)]
        rows = zip(*columns) if columns else ((),) * predicates.n_units
        return np.array([self._symbols.number(row) for row in rows], dtype=np.int32)

    def read_all(self, sequences: Segments, predicates: UnitPredicates) -> Ints:
        """((N,)): the same for units of some sequences, one after the other."""
        with self._lock:
            symbols = [self.read(predicates.at(np.arange(own.start, own.stop))) for own in sequences.slices()]
        return np.concatenate([np.zeros(0, dtype=np.int32), *symbols])

    def moves(self, symbols: Ints, states: Ints, befores: Indices) -> tuple[Ints, Doubles]:
        """The state that follows each with each tag, (n, L), and exp(-cost) of what is violated on the way, (n, L).

        symbols ((n,)): of the units, as `read` gave them. befores ((n,)): tags before, NOTHING before first units.
        """
        places = self._place(symbols, states, befores)
        if (places == UNKNOWN_PLACE).any():
            with self._lock:  # one thread at a time adds what it has met
                missing = self._place(symbols, states, befores) == UNKNOWN_PLACE
                self._learn(symbols[missing], states[missing], befores[missing])
            places = self._place(symbols, states, befores)
        return self._following.values[places], self._factors.values[places]

    def ends(self, states: Ints, tags: Indices | Ints) -> Doubles:
        """((n,)): exp(-cost) of what the end of a sequence violates after each state and last tag."""
        return np.asarray(self._ends.values[states, tags])

    def _place(self, symbols: Ints, states: Ints, befores: Indices) -> Ints:
        """((n,)): where the moves of contexts are, UNKNOWN_PLACE where they are not."""
        known, (n_symbols, n_states, _) = self._places, self._places.shape
        if symbols.max(initial=0) < n_symbols and states.max(initial=0) < n_states:
            return np.asarray(known[symbols, states, befores])
        inside = (symbols < n_symbols) & (states < n_states)
        found = np.full(len(symbols), UNKNOWN_PLACE, dtype=np.int32)
        found[inside] = known[symbols[inside], states[inside], befores[inside]]
        return found

    def _make_room(self) -> None:
        n_symbols, n_states, old = len(self._symbols), self.n_states, self._places
        if n_symbols > len(old) or n_states > old.shape[1]:
            shape = (max(n_symbols, len(old)), max(2 * n_states, old.shape[1]), self.n_tags + 1)
            places = np.full(shape, UNKNOWN_PLACE, dtype=np.int32)
            places[: len(old), : old.shape[1]] = old
            self._places = places

    def _learn(self, symbols: Ints, states: Ints, befores: Indices) -> None:
        """Compute the moves of some contexts."""
        if not len(symbols):
            return
        contexts = np.unique(np.stack([symbols, states, befores], axis=1), axis=0)
        symbols, states, befores = contexts.T
        following = np.zeros((len(contexts), self.n_tags, len(self.constraints)), dtype=np.int32)
        costs = np.zeros((len(contexts), self.n_tags))
        table, own = np.array(self._symbols, dtype=np.int32), self._states.values[states]
        bound = np.flatnonzero(states != FREE)
        for number, (part, constraint) in enumerate(zip(self._parts or [], self.constraints)):
            given = table[symbols[bound], number], own[bound, number], befores[bound]
            following[bound, :, number], times = part.at(*given)
            broken = times > 0
            costs[bound] += np.where(broken, np.where(broken, times, 1) * constraint.cost, 0.0)
        reached = np.isfinite(costs)
        numbers = np.zeros(costs.shape, dtype=np.int32)
        reached[states == FREE] = False
        numbers[reached] = self._number(following[reached])
        places = self._following.size + np.arange(len(contexts))
        self._following.add(numbers)
        self._factors.add(np.exp(-costs))
        self._make_room()
        self._places[symbols, states, befores] = places

    def _number(self, rows: Ints) -> Ints:
        """((n,)): numbers of joint states ((n, R))."""
        if not len(rows) or not rows.shape[1]:
            return np.full(len(rows), FREE, dtype=np.int32)
        distinct, where = np.unique(rows, axis=0, return_inverse=True)
        new: list[int] = []
        numbers = np.empty(len(distinct), dtype=np.int32)
        for place, key in enumerate(map(bytes, distinct)):
            numbers[place] = number = self._numbers.setdefault(key, self.n_states + len(new))
            if number == self.n_states + len(new):
                new.append(place)
        if new:
            self._states.add(distinct[new])
            self._ends.add(np.exp(-self._end_costs(distinct[new])))
        return numbers[where.reshape(-1)]

    def _end_costs(self, rows: Ints) -> Doubles:
        costs = np.zeros((len(rows), self.n_tags))
        for part, constraint, states in zip(self._parts or [], self.constraints, rows.T):
            times = part.ends.values[states]
            broken: Bools = times > 0
            costs += np.where(broken, np.where(broken, times, 1) * constraint.cost, 0.0)
        return costs
