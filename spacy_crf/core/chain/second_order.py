"""Second-order chains: every score of a first-order chain, and a weight for each trigram of labels.

Exact over the labels that are left as candidates of each unit: a state is a pair (label of the unit before, label), and
an arc joins (h, i) to (i, j). With k candidates each, a unit has k^2 states and k^3 arcs; all L labels would have L^3.
Candidates come from the marginals of the first-order chain (structured prediction cascades, Weiss & Taskar 2010), or
from any mask, such as that of a tag dictionary.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, Ints, Segments
from ..batch import PackedBatch
from ..trigrams import EDGE, Pruning, Trigrams
from .forward import forward_backward
from .lattice import Lattice, LatticeMarginals, lattice_marginals
from .marginals import node_marginals
from .potentials import ChainPotentials, require_paths
from .viterbi import viterbi


@dataclass(frozen=True)
class PairStates:
    """The states of a batch, whatever their scores.

    batch (PackedBatch): layout of the rows. trigrams (Trigrams): which have a weight.
    rows ((S,)), befores ((S,)), labels ((S,)): of each state its packed row, the label of the unit before (EDGE at
        first units) and its own label; ordered by row, then label, then the label before.
    bounds ((N + 1,)), origins ((A,)), entries ((S + 1,)): see `Lattice`.
    """

    batch: PackedBatch
    trigrams: Trigrams
    rows: Indices
    befores: Ints
    labels: Ints
    bounds: Indices
    origins: Indices
    entries: Indices

    @cached_property
    def n_first(self) -> int:
        """States of first units, which come before all others."""
        return int(self.bounds[len(self.batch.first_rows)])

    @cached_property
    def lasts(self) -> Indices:
        """States of last units, ascending."""
        last = np.zeros(self.batch.n_units, dtype=bool)
        last[self.batch.last_rows] = True
        return np.flatnonzero(last[self.rows])

    @cached_property
    def nodes(self) -> Indices:
        """((S,)): cell of the emissions that each state scores."""
        return self.rows * self.trigrams.n_labels + self.labels

    @cached_property
    def arc_trigrams(self) -> Indices:
        """((A,)): place of the weight of each arc's trigram, Z where it has none."""
        contexts = self.trigrams.contexts(self.befores, self.labels)
        return self.trigrams.find(contexts.take(self.origins), np.repeat(self.labels, np.diff(self.entries)))

    @cached_property
    def first_trigrams(self) -> Indices:
        """((n_first,)): of (EDGE, EDGE, label)."""
        labels = self.labels[: self.n_first]
        context = self.trigrams.contexts(np.array([EDGE]), np.array([EDGE]))
        return self.trigrams.find(np.repeat(context, len(labels)), labels)

    @cached_property
    def last_trigrams(self) -> Indices:
        """Of (label before, label, EDGE), for the states of last units."""
        lasts = self.lasts
        return self.trigrams.find(self.trigrams.contexts(self.befores[lasts], self.labels[lasts]), EDGE)

    def lattice(self, chains: ChainPotentials) -> Lattice:
        """First-order scores of the states, in double precision; arcs weigh nothing. O(S + A)."""
        scores = chains.emissions.reshape(-1).take(self.nodes).astype(np.float64)
        scores[: self.n_first] += chains.start[self.labels[: self.n_first]]
        scores[self.n_first :] += self._transitions(chains)
        scores[self.lasts] += chains.end[self.labels[self.lasts]]
        arcs = np.zeros(len(self.origins))
        return Lattice(self.batch, self.labels, scores, self.bounds, self.origins, arcs, self.entries)

    def weighted(self, lattice: Lattice, weights: Floats) -> Lattice:
        """A lattice of these states with weights ((Z,)) of trigrams in the place of its arcs'. O(S + A)."""
        known, scores = np.append(weights, 0.0), lattice.scores.copy()
        scores[: self.n_first] += known[self.first_trigrams]
        scores[self.lasts] += known[self.last_trigrams]
        return replace(lattice, scores=scores, weights=known.take(self.arc_trigrams))

    def _transitions(self, chains: ChainPotentials) -> Floats:
        n_labels, inner = self.trigrams.n_labels, slice(self.n_first, None)
        pairs = self.befores[inner].astype(np.intp) * n_labels + self.labels[inner]
        if chains.edges is None:
            return chains.transitions.reshape(-1).take(pairs)
        groups = chains.edges.groups[self.rows[inner]]
        return chains.edges.matrices.reshape(-1).take(groups * n_labels**2 + pairs)

    def node_marginals(self, states: Doubles) -> Doubles:
        """((N, L)): sums over the states of each unit and label; 0 for labels that are no candidates."""
        n_labels = self.trigrams.n_labels
        sums = np.bincount(self.nodes, weights=states, minlength=self.batch.n_units * n_labels)
        return sums.reshape(self.batch.n_units, n_labels).astype(np.float64)  # bincount of nothing is integer

    def trigram_counts(self, marginals: LatticeMarginals) -> Doubles:
        """((Z,)): expected counts of trigrams."""
        size = len(self.trigrams) + 1
        counts = np.zeros(size)
        counts += np.bincount(self.arc_trigrams, weights=marginals.arcs, minlength=size)
        counts += np.bincount(self.first_trigrams, weights=marginals.states[: self.n_first], minlength=size)
        counts += np.bincount(self.last_trigrams, weights=marginals.states[self.lasts], minlength=size)
        return counts[:-1]

    def clamped(self, lattice: Lattice, log_gold: Floats) -> Lattice:
        """A lattice of these states with log gold weights added to the emissions.

        log_gold ((N, L)): in packed order, 0 where a label is allowed, -inf where it is not.
        """
        return replace(lattice, scores=lattice.scores + log_gold.reshape(-1).take(self.nodes))

    def fixed(self, gold: Floats) -> LatticeMarginals:
        """What gold with a fixed target in each unit makes of states and arcs: adjacent units are independent.

        gold ((N, L)): in packed order; rows sum to 1, and what is positive is a candidate.
        """
        own = gold.reshape(-1).take(self.nodes).astype(np.float64)
        befores = np.ones(len(own))
        inner = self.rows[self.n_first :]
        befores[self.n_first :] = gold[self.batch.previous_rows(inner), self.befores[self.n_first :]]
        states = own * befores
        arcs = states.take(self.origins) * np.repeat(own, np.diff(self.entries))
        return LatticeMarginals(states, arcs, np.zeros(self.batch.n_sequences))


def pair_states(batch: PackedBatch, candidates: Bools, trigrams: Trigrams) -> PairStates:
    """The states that candidates make. O(N L + S + A).

    candidates ((N, L)): labels of each unit, one at least, in packed order.
    """
    n_units = batch.n_units
    sizes = candidates.sum(axis=1)
    inner = np.arange(len(batch.first_rows), n_units)
    before = np.zeros(n_units, dtype=np.intp)
    before[inner] = batch.previous_rows(inner)
    widths = np.ones(n_units, dtype=np.intp)  # labels that may come before those of a unit
    widths[inner] = sizes[before[inner]]
    rows, labels = np.nonzero(candidates)
    by_candidate = Segments(widths[rows])  # states of each candidate
    owners, by_row = by_candidate.owners, Segments(sizes)  # candidates of each row
    state_rows, n_first = rows[owners], int(sizes[: len(batch.first_rows)].sum())
    previous = by_row.firsts[before[state_rows]] + by_candidate.positions  # the candidate before
    befores = labels[previous].astype(np.int32)
    befores[:n_first] = EDGE
    n_arcs = widths[before[state_rows]]
    n_arcs[:n_first] = 0
    arcs, bounds = Segments(n_arcs), Segments(sizes * widths).bounds
    origins = arcs.at(by_candidate.firsts[previous])
    own = labels[owners].astype(np.int32)
    return PairStates(batch, trigrams, state_rows, befores, own, bounds, origins, arcs.bounds)


def candidates(chains: ChainPotentials, pruning: Pruning) -> Bools:
    """((N, L)): labels that are probable under a first-order chain, and those of its best sequence. O(N L^2).

    So there is always a path.

    RAISES (NonFiniteError), (NoPathError): as `forward_backward`.
    """
    chosen = pruning.probable(node_marginals(forward_backward(chains)))
    chosen[np.arange(len(chosen)), viterbi(chains).labels] = True
    return chosen


def checked_marginals(lattice: Lattice) -> LatticeMarginals:
    """Probabilities of a lattice each of whose sequences must have a path.

    RAISES (NoPathError): with those that have none.
    """
    marginals = lattice_marginals(lattice)
    require_paths(marginals.log_z)
    return marginals
