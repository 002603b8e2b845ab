"""Chains whose units have few states each, laid out flat: best paths, and probabilities of states and arcs.

What a state is, is up to who makes the lattice: a label that is not dominated (`viterbi.py`), or a pair of adjacent
labels (`second_order.py`).
"""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Doubles, Floats, Indices, Ints, PackedBatch, Segments, cached_property

LONG = 512  # units; in one random chain of 100,000, single precision gave 265 labels that double precision does not


@dataclass(frozen=True)
class Lattice:
    """States of the units of a batch, and the arcs between those of adjacent units, step by step.

    batch (PackedBatch): layout of the rows.
    labels ((S,)): label of each state; states are ordered by packed row, then by label. Each row has one at least.
    scores ((S,)): its emission, with all else that depends on the state alone.
    bounds ((N + 1,)): row n has the states `bounds[n]:bounds[n + 1]`.
    origins ((A,)), weights ((A,)): state that an arc comes from, and its score; ordered by the state it goes to, then
        by origin. Each state has one at least, but for those of first units.
    entries ((S + 1,)): state s has the arcs `entries[s]:entries[s + 1]`.
    """

    batch: PackedBatch
    labels: Ints
    scores: Floats
    bounds: Indices
    origins: Indices
    weights: Floats
    entries: Indices

    @cached_property
    def n_arcs(self) -> Indices:
        """((S,)): number of arcs into each state."""
        return np.diff(self.entries)

    def tempered(self, temperature: float) -> "Lattice":
        """The same lattice with all scores divided by a temperature."""
        if temperature == 1:
            return self
        return replace(self, scores=self.scores / temperature, weights=self.weights / temperature)

    def masks(self) -> "Lattice":
        """The same lattice with all scores 0 that are not -inf."""
        scores, weights = (np.where(np.isneginf(part), part, 0.0) for part in (self.scores, self.weights))
        return replace(self, scores=scores, weights=weights)

    def states_of(self, rows: Indices) -> tuple[Indices, Indices]:
        """The states of some units, one unit after the other, and of each state which of these it belongs to."""
        runs = Segments(self.bounds[rows + 1] - self.bounds[rows])
        return runs.at(self.bounds[rows]), runs.owners

    def steps(self) -> list[tuple[slice, slice, slice]]:
        """For each step but the first: its states, the arcs into them, and the states that these may come from."""

        def part(bounds: Indices, run: slice) -> slice:
            return slice(int(bounds[run.start]), int(bounds[run.stop]))

        links = [(part(self.bounds, before), part(self.bounds, rows)) for before, rows in self.batch.links]
        return [(states, part(self.entries, states), before) for before, states in links]


@dataclass(frozen=True)
class LatticeMarginals:
    """Probabilities under a lattice.

    states ((S,)), arcs ((A,)): of paths through each. log_z ((B,)): log partition functions, in the order the
    sequences were given (0 for empty ones); -inf where there is no path, whose states and arcs all have 0.
    """

    states: Doubles
    arcs: Doubles
    log_z: Doubles


def is_long(batch: PackedBatch) -> bool:
    """Whether there is a sequence whose sums of scores are too great for single precision to tell labellings apart."""
    return len(batch.starts) > LONG


def max_arrivals(lattice: Lattice) -> tuple[Floats, Floats, Floats]:
    """Scores of the best paths that end in each state ((S,)) and that come in by each arc ((A,)), without the score of
    the state, and the greatest of the latter for each state ((S,); of first units undefined). O(S + A)."""
    best = lattice.scores.astype(np.float64 if is_long(lattice.batch) else lattice.scores.dtype)
    arrivals = np.empty(len(lattice.origins), dtype=best.dtype)
    peaks = np.empty(len(best), dtype=best.dtype)
    for states, arcs, _ in lattice.steps():
        here = np.add(best.take(lattice.origins[arcs]), lattice.weights[arcs], out=arrivals[arcs])
        np.maximum.reduceat(here, lattice.entries[states] - arcs.start, out=peaks[states])
        best[states] += peaks[states]
    return best, arrivals, peaks


def best_path(lattice: Lattice) -> tuple[Ints, Doubles]:
    """Labels ((N,), in packed order) and scores ((B,)) of the best paths. O(S + A)."""
    batch = lattice.batch
    best, arrivals, peaks = max_arrivals(lattice)
    path, scores = np.zeros(batch.n_units, dtype=np.intp), np.zeros(batch.n_sequences)
    lasts, owners = lattice.states_of(batch.last_rows)
    if len(lasts):
        ends = Segments(np.bincount(owners))
        finals = np.maximum.reduceat(best[lasts], ends.firsts)
        path[batch.last_rows] = _winners(best[lasts], finals, ends.lengths, lasts)
        scores[batch.order[: len(finals)]] = finals
    pointers = _winners(arrivals, peaks, lattice.n_arcs, lattice.origins)
    for before, rows in reversed(batch.links):
        path[before] = pointers.take(path[rows])
    return lattice.labels[path], scores


def _winners(values: Floats, greatest: Floats, sizes: Indices, entries: Indices) -> Indices:
    """Of each run of values the entry at the first greatest one: that of the smaller label among equals."""
    winning = np.flatnonzero(values == np.repeat(greatest, sizes))[::-1]
    chosen = np.zeros(len(sizes), dtype=np.intp)
    # the last write, hence the first winner, stays
    chosen[np.repeat(np.arange(len(sizes)), sizes).take(winning)] = entries.take(winning)
    return chosen


def lattice_marginals(lattice: Lattice) -> LatticeMarginals:
    """Sums over all paths. O(S + A).

    Forward in log space; it leaves for each state the share of every arc in what arrives there. On the way back, the
    probability of a state is handed out to its arcs by these shares: nothing can underflow that matters.
    """
    log_alpha = lattice.scores.astype(np.float64)
    factors = np.empty(len(lattice.origins))  # arrivals at a state, relative to the greatest one
    sums = np.ones(len(log_alpha))
    with np.errstate(divide="ignore"):
        for states, arcs, _ in lattice.steps():
            here = np.add(log_alpha.take(lattice.origins[arcs]), lattice.weights[arcs], out=factors[arcs])
            firsts, counts = lattice.entries[states] - arcs.start, lattice.n_arcs[states]
            peaks = np.maximum.reduceat(here, firsts)
            peaks[np.isneginf(peaks)] = 0.0
            np.exp(np.subtract(here, np.repeat(peaks, counts), out=here), out=here)
            np.add.reduceat(here, firsts, out=sums[states])
            log_alpha[states] += peaks + np.log(sums[states])
    log_z, probabilities = _finals(lattice, log_alpha)
    sums[sums == 0] = 1.0  # states that cannot be reached
    for states, arcs, before in reversed(lattice.steps()):
        shares = np.repeat(probabilities[states] / sums[states], lattice.n_arcs[states])
        flow = np.multiply(factors[arcs], shares, out=factors[arcs])
        size = before.stop - before.start
        probabilities[before] += np.bincount(lattice.origins[arcs] - before.start, weights=flow, minlength=size)
    return LatticeMarginals(probabilities, factors, log_z)


def _finals(lattice: Lattice, log_alpha: Doubles) -> tuple[Doubles, Doubles]:
    """log Z ((B,)), and ((S,)) the probabilities of the states of last units, 0 for all others."""
    batch = lattice.batch
    states, owners = lattice.states_of(batch.last_rows)
    ends = Segments(np.bincount(owners))
    firsts, sizes = ends.firsts, ends.lengths
    finals, log_z, probabilities = log_alpha[states], np.zeros(batch.n_sequences), np.zeros(len(log_alpha))
    if not len(states):
        return log_z, probabilities
    peaks = np.maximum.reduceat(finals, firsts)
    peaks[np.isneginf(peaks)] = 0.0
    factors = np.exp(finals - np.repeat(peaks, sizes))
    sums = np.add.reduceat(factors, firsts)
    with np.errstate(divide="ignore"):
        log_z[batch.order[: len(sums)]] = peaks + np.log(sums)
    probabilities[states] = factors / np.repeat(np.where(sums > 0, sums, 1.0), sizes)
    return log_z, probabilities
