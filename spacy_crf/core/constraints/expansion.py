"""Chains under constraints as lattices: forward-backward over the product of a chain and the automata of constraints.

A labelling has the weight exp(score - costs of what it violates), the objective that decoding maximises, and none if it
breaks a hard constraint. The product is walked from the first unit on, with the probability that the chain alone gives
to each way so far, times exp(-costs) up to there: what is left at the end is Z under constraints over Z of the chain.
Ways never gain weight, so that those of negligible weight are left out, and their sum bounds what is missing. States
that agree in their tag and in all automata are one state.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Indices, Ints, Segments, cached_property
from ..chain.forward import ForwardBackward
from ..chain.lattice import Lattice, LatticeMarginals, lattice_marginals
from ..chain.marginals import Counts, node_marginals, step_probabilities
from .joint import FREE, JointAutomaton
from .labelling import NOTHING

SPARSE, CELLS = 4, 1 << 16  # keys among more numbers are sorted, others counted
STEP_DOWN, SMALLEST = 1e-4, 1e-18  # how thresholds fall where too much was left out


@dataclass(frozen=True)
class Expansion:
    """The labellings of a batch under constraints.

    walk (_Walk): through the product. impossible ((B,)): sequences of which no labelling keeps the hard constraints;
        what is told of them is that of the chain alone.
    """

    walk: "_Walk"
    impossible: Bools

    @property
    def shares(self) -> Doubles:
        """((B,)): Z under constraints over Z of the chain."""
        return np.where(self.impossible, 0.0, self.walk.shares)

    @property
    def lost(self) -> Doubles:
        """((B,)): at most so much is missing of `shares`."""
        return self.walk.lost

    @property
    def log_shares(self) -> Doubles:
        """((B,)): logarithms of the shares, 0 where there is none."""
        return np.log(self.walk.shares)

    @cached_property
    def lattice(self) -> Lattice:
        """Its paths are labellings; their scores are log p(labelling) of the chain minus costs."""
        return self.walk.lattice()

    @cached_property
    def marginals(self) -> LatticeMarginals:
        """Probabilities of the states and arcs of the lattice."""
        return lattice_marginals(self.lattice)

    @cached_property
    def counts(self) -> Counts:
        """Expected counts: of labels, which are the marginals of units ((N, L), in packed order), and transitions."""
        return self.walk.counts()


def expand(
    messages: ForwardBackward,
    automaton: JointAutomaton,
    symbols: Ints,
    *,
    free: Bools | None = None,
    tolerance: float = 1e-9,
    width: int = 4096,
    patient: bool = True,
) -> Expansion:
    """Expand the chains of a batch. O(S L + A) for S states and A arcs; see `JointAutomaton` for new ones.

    messages (ForwardBackward): of the chains. symbols ((N,)): of the units in packed order, as `JointAutomaton.read`
        gave them. free ((B,) | None): sequences that no constraint holds for.
    tolerance (float): share of Z under constraints that may be missing; 0 for none. width (int): states of a unit, at
        most; beyond it the least probable are left out, however much that may be.
    patient (bool): look again where more than the tolerance was left out, which is seldom.
    """
    lengths = messages.potentials.batch.lengths
    impossible = np.zeros(len(lengths), dtype=bool)
    free, thresholds = impossible if free is None else free, tolerance / np.maximum(1, 100 * lengths)
    while True:
        walk = _Walk(messages, automaton, symbols, width, thresholds)
        walk.run(free | impossible)
        most = tolerance * walk.shares if patient else np.where(walk.shares > 0, np.inf, 0.0)
        short = (walk.lost > most) & (thresholds > 0) & ~walk.crowded
        empty = (walk.shares <= 0) & ~short
        if not (short | empty).any():
            return Expansion(walk, impossible)
        impossible |= empty
        thresholds = np.where(short, np.where(thresholds > SMALLEST, thresholds * STEP_DOWN, 0.0), thresholds)


@dataclass(frozen=True)
class _ProductLayer:
    """The states of the units at one position, by row, tag and joint state, with the weight of all ways to each.

    origins ((A,)), targets ((A,)): state of the layer before that each arc comes from, and the state that it goes to.
    weights ((A,)): of all ways that end with it.
    """

    rows: Indices
    tags: Indices
    states: Ints
    masses: Doubles
    origins: Indices
    targets: Indices
    weights: Doubles


def _distinct(keys: Indices, least: int) -> tuple[Indices, Indices]:
    """Distinct keys, none below some number, ascending, and ((n,)) the place of each key among them."""
    size = int(keys.max(initial=least)) + 1 - least
    if size > SPARSE * len(keys) + CELLS:
        return np.unique(keys, return_inverse=True)
    present = np.zeros(size, dtype=bool)
    present[keys - least] = True
    return np.flatnonzero(present) + least, (np.cumsum(present) - 1)[keys - least]


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
        self.layers: list[_ProductLayer] = []
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
        distinct, targets = _distinct(keys, int(rows[0]) * ways.shape[1] * base if len(rows) else 0)
        masses = np.bincount(targets, weights=weights, minlength=len(distinct)).astype(np.float64)
        kept = self._uncrowded(distinct // (base * ways.shape[1]), masses)
        if not kept.all():
            arcs = kept[targets]
            origins, weights, targets = origins[arcs], weights[arcs], (np.cumsum(kept) - 1)[targets[arcs]]
            distinct, masses = distinct[kept], masses[kept]
        nodes, own = np.divmod(distinct, base)
        own_rows, own_tags = np.divmod(nodes, ways.shape[1])
        self.layers.append(_ProductLayer(own_rows, own_tags, own.astype(np.int32), masses, origins, targets, weights))

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
            masses = self.automaton.ends(layer.states[ending], layer.tags[ending]) * layer.masses[ending]
            out += np.bincount(self.owners[layer.rows[ending]], weights=masses, minlength=len(out))
        return out

    def counts(self) -> Counts:
        """Hand the probability of each state out to the arcs into it, from the last layer on. O(S + A)."""
        n_labels, edges = self.automaton.n_tags, self.messages.potentials.edges
        groups = np.zeros(self.batch.n_units, dtype=np.intp) if edges is None else edges.groups
        n_groups = 1 if edges is None else len(edges.matrices)
        per_way = 1 / self.shares[self.owners]
        nodes = np.zeros(self.batch.n_units * n_labels)
        transitions = np.zeros(n_groups * n_labels * n_labels)
        later = np.zeros(0)  # probability of each state of the layer behind
        for number in reversed(range(len(self.layers))):
            layer = self.layers[number]
            ending = self.is_last[layer.rows]
            found = np.zeros(len(layer.rows))
            found[ending] = self.automaton.ends(layer.states[ending], layer.tags[ending])
            found[ending] *= layer.masses[ending] * per_way[layer.rows[ending]]
            if number + 1 < len(self.layers):
                behind = self.layers[number + 1]
                flow = behind.weights * (later / behind.masses)[behind.targets]
                found += np.bincount(behind.origins, weights=flow, minlength=len(found))
                pairs = (groups[behind.rows[behind.targets]] * n_labels + layer.tags[behind.origins]) * n_labels
                transitions += np.bincount(
                    pairs + behind.tags[behind.targets], weights=flow, minlength=len(transitions)
                )
            nodes += np.bincount(layer.rows * n_labels + layer.tags, weights=found, minlength=len(nodes))
            later = found
        shape = (n_labels, n_labels) if edges is None else (n_groups, n_labels, n_labels)
        return Counts(nodes.reshape(-1, n_labels), transitions.reshape(shape))

    def lattice(self) -> Lattice:
        """The layers as one lattice; each row has a state by now."""
        batch, sizes = self.batch, Segments.of(layer.rows for layer in self.layers)
        rows, tags, states, masses = (
            np.concatenate([np.zeros(0, dtype=kind), *(getattr(layer, name) for layer in self.layers)])
            for name, kind in (("rows", np.intp), ("tags", np.intp), ("states", np.int32), ("masses", np.float64))
        )
        n_first = int(sizes.lengths[:1].sum())
        none, begins = np.zeros(0, dtype=np.intp), sizes.firsts.tolist()
        later = list(zip(self.layers[1:], begins, begins[1:]))  # with where the layer before begins, and the layer
        targets = np.concatenate([none, *(layer.targets + own for layer, _, own in later)])
        order = np.argsort(targets, kind="stable")
        origins = np.concatenate([none, *(layer.origins + before for layer, before, _ in later)])[order]
        ways = np.concatenate([np.zeros(0), *(layer.weights for layer, _, _ in later)])[order]
        n_arcs = np.bincount(targets, minlength=len(rows))
        scores = np.zeros(len(rows))
        scores[:n_first] = np.log(masses[:n_first])
        ending = self.is_last[rows]
        with np.errstate(divide="ignore"):
            scores[ending] += np.log(self.automaton.ends(states[ending], tags[ending]))
        bounds = Segments(np.bincount(rows, minlength=batch.n_units)).bounds
        weights, entries = np.log(ways / masses[origins]), Segments(n_arcs).bounds
        return Lattice(batch, tags.astype(np.int32), scores, bounds, origins, weights, entries)
