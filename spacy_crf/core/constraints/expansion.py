"""Chains under constraints as lattices: forward-backward over the product of a chain and the automata of constraints.

A labelling has the weight exp(score - costs of what it violates), the objective that decoding maximises, and none if it
breaks a hard constraint. The product is walked from the first unit on, with the probability that the chain alone gives
to each way so far, times exp(-costs) up to there: what is left at the end is Z under constraints over Z of the chain. No
way can become more probable than it is, so that ways of negligible probability are left out and their sum bounds what
is missing. States that agree in their tag and in all automata are one state.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Indices, Ints, Segments, cached_property
from ..chain.forward import ForwardBackward
from ..chain.lattice import Lattice, LatticeMarginals, lattice_marginals
from ..chain.marginals import Counts, node_marginals, step_probabilities
from .joint import FREE, JointAutomaton
from .labelling import NOTHING

STEP_DOWN, SMALLEST = 1e-4, 1e-18  # how thresholds fall where too much was left out


@dataclass(frozen=True)
class Expansion:
    """The labellings of a batch under constraints.

    lattice (Lattice): its paths are labellings; their scores are log p(labelling) of the chain minus costs.
    shares ((B,)): Z under constraints over Z of the chain.
    lost ((B,)): at most so much is missing of `shares`.
    """

    lattice: Lattice
    shares: Doubles
    lost: Doubles

    @cached_property
    def marginals(self) -> LatticeMarginals:
        """Probabilities of states and arcs; `log_z` is the logarithm of `shares`."""
        return lattice_marginals(self.lattice)

    @cached_property
    def rows(self) -> Indices:
        """((S,)): the packed row of each state."""
        return Segments(np.diff(self.lattice.bounds)).owners

    def node_marginals(self, n_labels: int) -> Doubles:
        """((N, L)): probability of each label of each unit, in packed order."""
        n_units = self.lattice.batch.n_units
        cells = self.rows * n_labels + self.lattice.labels
        sums = np.bincount(cells, weights=self.marginals.states, minlength=n_units * n_labels)
        return sums.reshape(n_units, n_labels).astype(np.float64)

    def counts(self, n_labels: int, groups: Indices | None = None, n_groups: int = 1) -> Counts:
        """Expected counts. groups ((N,) | None): of conditioned edges, by packed row."""
        lattice, square = self.lattice, n_labels * n_labels
        cells = lattice.labels[lattice.origins] * n_labels + np.repeat(lattice.labels, lattice.n_arcs)
        if groups is not None:
            cells = cells + square * np.repeat(groups[self.rows], lattice.n_arcs)
        sums = np.bincount(cells, weights=self.marginals.arcs, minlength=n_groups * square).astype(np.float64)
        shape = (n_labels, n_labels) if groups is None else (n_groups, n_labels, n_labels)
        return Counts(self.node_marginals(n_labels), sums.reshape(shape))


def expand(
    messages: ForwardBackward,
    automaton: JointAutomaton,
    symbols: Ints,
    *,
    free: Bools | None = None,
    tolerance: float = 1e-9,
    width: int = 4096,
) -> Expansion:
    """Expand the chains of a batch. O(S L + A log A) for S states and A arcs; see `JointAutomaton` for new ones.

    messages (ForwardBackward): of the chains. symbols ((N,)): of the units in packed order, as `JointAutomaton.read`
        gave them. free ((B,) | None): sequences that no constraint holds for.
    tolerance (float): share of Z under constraints that may be missing; 0 for none. width (int): states of a unit, at
        most; beyond it the least probable are left out, however much that may be.
    RETURNS (Expansion): sequences without any labelling that keeps the hard constraints have a share of 0, and the
        states of the chain alone.
    """
    lengths = messages.potentials.batch.lengths
    impossible = np.zeros(len(lengths), dtype=bool)
    free, thresholds = impossible if free is None else free, tolerance / np.maximum(1, 100 * lengths)
    while True:
        walk = _Walk(messages, automaton, symbols, width, thresholds)
        walk.run(free | impossible)
        short = (walk.lost > tolerance * walk.shares) & (thresholds > 0) & ~walk.crowded
        empty = (walk.shares <= 0) & ~short
        if not (short | empty).any():
            return Expansion(walk.lattice(), np.where(impossible, 0.0, walk.shares), walk.lost)
        impossible |= empty
        thresholds = np.where(short, np.where(thresholds > SMALLEST, thresholds * STEP_DOWN, 0.0), thresholds)


@dataclass(frozen=True)
class _Layer:
    """The states of the units at one position, by row, tag and joint state, with the weight of all ways to each.

    origins ((A,)): state of the layer before that an arc comes from; ordered by the state it goes to, then by origin.
    weights ((A,)): of all ways that end with each arc. counts ((S,)): arcs into each state.
    """

    rows: Indices
    tags: Indices
    states: Ints
    masses: Doubles
    origins: Indices
    weights: Doubles
    counts: Indices


class _Walk:
    """A walk through the product of chains and a joint automaton, step by step and for all sequences at a time.

    thresholds ((B,)): ways that do not weigh more are left out.
    lost ((B,)): the weight of what was left out. crowded ((B,)): whether states of a unit were too many.
    """

    def __init__(
        self, messages: ForwardBackward, automaton: JointAutomaton, symbols: Ints, width: int, thresholds: Doubles
    ):
        self.messages, self.automaton, self.symbols, self.width = messages, automaton, symbols, width
        self.batch = messages.potentials.batch
        self.owners, self.thresholds = self.batch.row_sequences, thresholds[self.batch.row_sequences]
        self.layers: list[_Layer] = []
        self.lost = np.zeros(self.batch.n_sequences)
        self.crowded = np.zeros(self.batch.n_sequences, dtype=bool)
        self.is_last = np.zeros(self.batch.n_units, dtype=bool)
        self.is_last[self.batch.last_rows] = True

    def run(self, free: Bools) -> None:
        """Follow all ways. free ((B,)): sequences that no constraint holds for."""
        rows = self.batch.first_rows
        if not len(rows):
            return
        ways = node_marginals(self.messages)[rows].astype(np.float64)
        states = np.where(free[self.owners[rows]], FREE, self.automaton.start)
        self._advance(rows, np.full(len(rows), NOTHING), states, ways)
        for before, after in self.batch.links:
            layer = self.layers[-1]
            going = slice(0, int(np.searchsorted(layer.rows, before.stop)))
            places, tags = layer.rows[going] - before.start, layer.tags[going]
            steps = step_probabilities(self.messages, np.arange(after.start, after.stop))
            ways = layer.masses[going, None] * steps[places, tags]
            self._advance(after.start + places, tags, layer.states[going], ways)

    def _advance(self, rows: Indices, befores: Indices, states: Ints, ways: Doubles) -> None:
        """Add the layer behind n states: their rows in it, tags, joint states, and ways on to each tag ((n, L))."""
        following, factors = self.automaton.moves(self.symbols[rows], states, befores)
        ways = ways * factors
        followed = ways > self.thresholds[rows, None]
        self._lose(rows, np.where(followed, 0.0, ways).sum(axis=1))
        origins, tags = np.nonzero(followed)
        weights, base = ways[followed], max(1, self.automaton.n_states)
        keys = (rows[origins] * ways.shape[1] + tags) * base + following[followed]
        distinct, targets = np.unique(keys, return_inverse=True)
        masses = np.bincount(targets, weights=weights, minlength=len(distinct))
        kept = self._uncrowded(distinct // (base * ways.shape[1]), masses)
        if not kept.all():
            arcs = kept[targets]
            origins, weights, targets = origins[arcs], weights[arcs], (np.cumsum(kept) - 1)[targets[arcs]]
            distinct, masses = distinct[kept], masses[kept]
        nodes, own = np.divmod(distinct, base)
        own_rows, own_tags = np.divmod(nodes, ways.shape[1])
        order, counts = np.argsort(targets, kind="stable"), np.bincount(targets, minlength=len(distinct))
        found = own_rows, own_tags, own.astype(np.int32), masses.astype(np.float64)
        self.layers.append(_Layer(*found, origins[order], weights[order], counts))

    def _uncrowded(self, rows: Indices, masses: Doubles) -> Bools:
        """((S,)): the states of a layer but for the least probable of rows ((S,), ascending) with too many."""
        kept = np.ones(len(rows), dtype=bool)
        if len(rows) > self.width:
            order = np.lexsort((-masses, rows))
            counts = np.unique(rows, return_counts=True)[1]
            kept[order] = Segments(counts).positions < self.width
            self._lose(rows[~kept], masses[~kept])
            self.crowded[self.owners[rows[~kept]]] = True
        return kept

    def _lose(self, rows: Indices, masses: Doubles) -> None:
        self.lost += np.bincount(self.owners[rows], weights=masses, minlength=len(self.lost))

    @cached_property
    def shares(self) -> Doubles:
        """((B,)): what is left at the end of each sequence."""
        out = np.where(self.batch.lengths > 0, 0.0, 1.0)
        for layer in self.layers:
            ending = self.is_last[layer.rows]
            masses = layer.masses[ending] * self.automaton.ends(layer.states[ending], layer.tags[ending])
            out += np.bincount(self.owners[layer.rows[ending]], weights=masses, minlength=len(out))
        return out

    def lattice(self) -> Lattice:
        """The layers as one lattice; each row has a state by now."""
        batch, sizes = self.batch, Segments.of(layer.rows for layer in self.layers)
        rows, tags, states, masses = (
            np.concatenate([np.zeros(0, dtype=kind), *(getattr(layer, name) for layer in self.layers)])
            for name, kind in (("rows", np.intp), ("tags", np.intp), ("states", np.int32), ("masses", np.float64))
        )
        n_first = int(sizes.lengths[:1].sum())
        later = list(zip(self.layers[1:], sizes.firsts.tolist()))  # with where the layer before begins
        origins = np.concatenate([np.zeros(0, dtype=np.intp), *(layer.origins + first for layer, first in later)])
        ways = np.concatenate([np.zeros(0), *(layer.weights for layer, _ in later)])
        n_arcs = np.concatenate([np.zeros(n_first, dtype=np.intp), *(layer.counts for layer, _ in later)])
        scores = np.zeros(len(rows))
        scores[:n_first] = np.log(masses[:n_first])
        ending = self.is_last[rows]
        with np.errstate(divide="ignore"):
            scores[ending] += np.log(self.automaton.ends(states[ending], tags[ending]))
        bounds = Segments(np.bincount(rows, minlength=batch.n_units)).bounds
        weights, entries = np.log(ways / masses[origins]), Segments(n_arcs).bounds
        return Lattice(batch, tags.astype(np.int32), scores, bounds, origins, weights, entries)
