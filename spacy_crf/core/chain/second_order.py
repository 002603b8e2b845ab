"""Second-order chains: every score of a first-order chain, and a weight for each trigram of labels.

Exact over the labels that are left as candidates of each unit: a state is a pair (label of the unit before, label), and
an arc joins (h, i) to (i, j). With k candidates each, a unit has k^2 states and k^3 arcs; all L labels would have L^3.
Candidates come from the marginals of the first-order chain (structured prediction cascades, Weiss & Taskar 2010), or
from any mask, such as that of a tag dictionary.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, Ints, PackedBatch, Segments, cached_property
from ..trigrams import EDGE, Pruning, Trigrams, TrigramWeights
from .evidence import ImpossibleEvidenceError
from .forward import forward_backward
from .lattice import Lattice, LatticeMarginals, lattice_marginals
from .marginals import node_marginals
from .potentials import ChainPotentials, require_paths
from .viterbi import viterbi


@dataclass(frozen=True)
class PairStates:
    """The states of a batch, whatever their scores.

    frame (Lattice): states and arcs, all with a score of 0. trigrams (Trigrams): which have a weight.
    rows ((S,)), befores ((S,)): of each state its packed row, and the label of the unit before (EDGE at first units);
        states are ordered by row, then label, then the label before.
    """

    frame: Lattice
    trigrams: Trigrams
    rows: Indices
    befores: Ints

    @cached_property
    def n_first(self) -> int:
        """States of first units, which come before all others."""
        return int(self.frame.bounds[len(self.frame.batch.first_rows)])

    @cached_property
    def lasts(self) -> Indices:
        """States of last units, ascending."""
        return Segments(np.diff(self.frame.bounds)).units(np.sort(self.frame.batch.last_rows))

    @cached_property
    def nodes(self) -> Indices:
        """((S,)): cell of the emissions that each state scores."""
        return self.rows * self.trigrams.n_labels + self.frame.labels

    @property
    def candidates(self) -> Bools:
        """((N, L)): labels of which each unit has states."""
        found = np.zeros(self.frame.batch.n_units * self.trigrams.n_labels, dtype=bool)
        found[self.nodes] = True
        return found.reshape(-1, self.trigrams.n_labels)

    @cached_property
    def arc_trigrams(self) -> Indices:
        """((A,)): where the trigram of each arc is in a table."""
        cells = self.trigrams.contexts(self.befores, self.frame.labels).take(self.frame.origins)
        cells += np.repeat(self.frame.labels, self.frame.n_arcs)
        return cells

    @cached_property
    def first_trigrams(self) -> Indices:
        """((n_first,)): of (EDGE, EDGE, label)."""
        return self.trigrams.contexts(np.array([EDGE]), np.array([EDGE])) + self.frame.labels[: self.n_first]

    @cached_property
    def last_trigrams(self) -> Indices:
        """Of (label before, label, EDGE), for the states of last units."""
        return self.trigrams.contexts(self.befores[self.lasts], self.frame.labels[self.lasts]) + EDGE

    def lattice(self, chains: ChainPotentials) -> Lattice:
        """First-order scores of the states, in double precision; arcs weigh nothing. O(S + A)."""
        labels, inner = self.frame.labels, slice(self.n_first, None)
        scores = chains.emissions.reshape(-1).take(self.nodes).astype(np.float64)
        scores[: self.n_first] += chains.start[labels[: self.n_first]]
        if chains.edges is None:
            scores[inner] += chains.transitions[self.befores[inner], labels[inner]]
        else:
            groups = chains.edges.groups[self.rows[inner]]
            scores[inner] += chains.edges.matrices[groups, self.befores[inner], labels[inner]]
        scores[self.lasts] += chains.end[labels[self.lasts]]
        return replace(self.frame, scores=scores)

    def weighted(self, lattice: Lattice, weights: Floats) -> Lattice:
        """A lattice of these states with weights ((Z,)) of trigrams in the place of its arcs'. O(S + A)."""
        table, scores = self.trigrams.table(weights), lattice.scores.copy()
        scores[: self.n_first] += table[self.first_trigrams]
        scores[self.lasts] += table[self.last_trigrams]
        return replace(lattice, scores=scores, weights=table.take(self.arc_trigrams))

    def node_marginals(self, states: Doubles) -> Doubles:
        """((N, L)): sums over the states of each unit and label; 0 for labels that are no candidates."""
        shape = (self.frame.batch.n_units, self.trigrams.n_labels)
        sums = np.bincount(self.nodes, weights=states, minlength=shape[0] * shape[1])
        return sums.reshape(shape).astype(np.float64)  # bincount of nothing is integer

    def trigram_counts(self, marginals: LatticeMarginals) -> Doubles:
        """((Z,)): expected counts of trigrams."""
        counts = self.trigrams.table(np.zeros(len(self.trigrams)))
        for places, amounts in (
            (self.arc_trigrams, marginals.arcs),
            (self.first_trigrams, marginals.states[: self.n_first]),
            (self.last_trigrams, marginals.states[self.lasts]),
        ):
            counts += np.bincount(places, weights=amounts, minlength=len(counts))
        return counts[self.trigrams.places]

    def clamped(self, lattice: Lattice, log_gold: Floats) -> Lattice:
        """A lattice of these states with log gold weights ((N, L)) added to the emissions: 0 or -inf."""
        return replace(lattice, scores=lattice.scores + log_gold.reshape(-1).take(self.nodes))

    def fixed(self, gold: Floats) -> LatticeMarginals:
        """What gold ((N, L)) with a fixed target in each unit makes of states and arcs, as if independent."""
        batch, inner = self.frame.batch, slice(self.n_first, None)
        own = gold.reshape(-1).take(self.nodes).astype(np.float64)
        befores = np.ones(len(own))
        befores[inner] = gold[batch.before[self.rows[inner]], self.befores[inner]]
        states = own * befores
        arcs = states.take(self.frame.origins) * np.repeat(own, self.frame.n_arcs)
        return LatticeMarginals(states, arcs, np.zeros(batch.n_sequences))


def pair_states(batch: PackedBatch, candidates: Bools, trigrams: Trigrams) -> PairStates:
    """The states that candidates ((N, L), one at least for each unit) make. O(N L + S + A)."""
    n_firsts, sizes = len(batch.first_rows), candidates.sum(axis=1)
    widths = sizes[batch.before]  # labels that may come before those of a unit
    widths[:n_firsts] = 1
    rows, labels = np.nonzero(candidates)
    by_candidate = Segments(widths[rows])  # states of each candidate
    owners, by_row = by_candidate.owners, Segments(sizes)  # candidates of each row
    state_rows, n_first = rows[owners], int(sizes[:n_firsts].sum())
    before = batch.before[state_rows]
    previous = by_row.firsts[before] + by_candidate.positions  # the candidate before
    befores = labels[previous].astype(np.int32)
    befores[:n_first] = EDGE
    n_arcs = widths[before]
    n_arcs[:n_first] = 0
    arcs, bounds = Segments(n_arcs), Segments(sizes * widths).bounds
    origins = arcs.at(by_candidate.firsts[previous])
    own, weights = labels[owners].astype(np.int32), np.zeros(len(origins))
    frame = Lattice(batch, own, np.zeros(len(own)), bounds, origins, weights, arcs.bounds)
    return PairStates(frame, trigrams, state_rows, befores)


def candidates(chains: ChainPotentials, pruning: Pruning) -> Bools:
    """((N, L)): probable labels under a first-order chain, and those of its best sequence: a path. O(N L^2)."""
    chosen = pruning.probable(node_marginals(forward_backward(chains)))
    chosen[np.arange(len(chosen)), viterbi(chains).labels] = True
    return chosen


def checked_marginals(lattice: Lattice) -> LatticeMarginals:
    """Probabilities of a lattice; `NoPathError` with the sequences that have no path."""
    marginals = lattice_marginals(lattice)
    require_paths(marginals.log_z)
    return marginals


def pair_log_evidence(
    chains: ChainPotentials, known: TrigramWeights, allowed: Bools, temperature: float = 1.0
) -> Doubles:
    """((B,)): log probability that all labels of a sequence are among some ((N, L), in packed order).

    Labels that are the only ones allowed for a unit are candidates, whatever the first-order chain makes of them.

    RAISES (NoPathError, ImpossibleEvidenceError): for sequences without a path, at all or among these labels.
    """
    single = allowed & (allowed.sum(axis=1, keepdims=True) == 1)
    states = pair_states(chains.batch, candidates(chains, known.pruning) | single, known.trigrams)
    lattice = states.weighted(states.lattice(chains), known.values).tempered(temperature)
    log_z = checked_marginals(lattice).log_z
    clamped = lattice_marginals(states.clamped(lattice, np.where(allowed, 0.0, -np.inf))).log_z
    blocked = np.flatnonzero(np.isneginf(clamped))
    if len(blocked):
        raise ImpossibleEvidenceError(blocked.tolist())
    return np.minimum(clamped - log_z, 0.0)
