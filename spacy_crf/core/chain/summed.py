"""Chains whose hidden units are summed out: what is left is the exact distribution over the labels of the others.

Between two units that are kept, the hidden ones become one matrix of transitions; those before the first and behind the
last kept unit become part of its emissions. All in log space and in double precision.
"""

import numpy as np

from ..arrays import Bools, Floats, Indices, Segments, cached_property, pack
from .edges import EdgePotentials
from .potentials import ChainPotentials


def sum_out(chains: ChainPotentials, hidden: Bools) -> ChainPotentials:
    """The chains of the units that are not hidden ((N,), one sequence after the other). O(H L^3) for H hidden units.

    Each labelling of these has the sum, in log space, of the scores of all labellings of its sequence that agree with
    it. A sequence without any unit left is empty, and forgets its sum.

    RAISES (NonFiniteError): for NaN or +inf potentials.
    """
    chains.check()
    return _Summing(chains.astype(np.float64), hidden).chains()


class _Summing:
    """The parts of `sum_out`; units are those of the concatenated sequences, in the order given."""

    def __init__(self, chains: ChainPotentials, hidden: Bools):
        self.old, self.hidden = chains, hidden
        self.emissions = chains.emissions[chains.batch.rows]
        self.kept = np.flatnonzero(~hidden)
        self.sequences = chains.batch.segments

    def chains(self) -> ChainPotentials:
        """The chains of the units that are kept."""
        lengths = np.bincount(self.sequences.owners[self.kept], minlength=len(self.sequences.lengths))
        batch, emissions = pack(lengths), self.emissions[self.kept]
        own = Segments(lengths[lengths > 0])
        emissions[own.firsts] += self._before(self.kept[own.firsts])
        emissions[own.ends - 1] += self._behind(self.kept[own.ends - 1])
        matrices, groups = self._matrices(np.setdiff1d(np.arange(len(self.kept)), own.firsts))
        none = np.zeros(self.old.n_labels)
        edges = EdgePotentials(matrices, groups[batch.units])
        return ChainPotentials(batch, emissions[batch.units], self.old.transitions, none, none, edges)

    def _into(self, units: Indices) -> Floats:
        """((n or 1, L, L)): transitions into units."""
        return np.asarray(self.old.into(self.old.batch.rows[units]))

    @cached_property
    def _hidden_before(self) -> Indices:
        """((N,)): how many units right before each one, in its sequence, are hidden."""
        positions, at = self.sequences.positions, np.arange(len(self.hidden))
        last_kept = np.maximum.accumulate(np.where(self.hidden, -1, at))
        before = np.append(-1, last_kept[:-1])
        return np.asarray(np.minimum(positions, at - 1 - before))

    def _before(self, firsts: Indices) -> Floats:
        """((n, L)): what the start and the hidden units before the first kept ones add to their emissions."""
        counts, out = self._hidden_before[firsts], np.tile(self.old.start, (len(firsts), 1))
        for step in range(int(counts.max(initial=0))):
            (active,) = np.nonzero(counts > step)
            unit = firsts[active] - counts[active] + step
            out[active] = _times((out[active] + self.emissions[unit])[:, None, :], self._into(unit + 1))[:, 0]
        return out

    def _behind(self, lasts: Indices) -> Floats:
        """((n, L)): what the end and the hidden units behind the last kept ones add to their emissions."""
        ends, out = self.sequences.ends[self.sequences.owners[lasts]], np.tile(self.old.end, (len(lasts), 1))
        counts = ends - 1 - lasts
        for step in range(int(counts.max(initial=0))):
            (active,) = np.nonzero(counts > step)
            unit = ends[active] - 1 - step
            out[active] = _times(self._into(unit), (out[active] + self.emissions[unit])[:, :, None])[:, :, 0]
        return out

    def _matrices(self, places: Indices) -> tuple[Floats, Indices]:
        """Transitions into the kept units at some places, which are no first ones.

        RETURNS (tuple): distinct matrices ((G, L, L)), and which of them each kept unit has; 0 for first ones.
        """
        units, groups = self.kept[places], np.zeros(len(self.kept), dtype=np.intp)
        counts = self._hidden_before[units]
        own = places if self.old.edges is not None else places[counts > 0]  # the others share one matrix
        groups[own] = np.arange(1, len(own) + 1)
        units, counts = self.kept[own], self._hidden_before[self.kept[own]]
        matrices = np.broadcast_to(self._into(units - counts), (len(own), *self.old.transitions.shape)).copy()
        for step in range(int(counts.max(initial=0))):
            (active,) = np.nonzero(counts > step)
            unit = units[active] - counts[active] + step
            matrices[active] = _times(matrices[active] + self.emissions[unit][:, None, :], self._into(unit + 1))
        return np.concatenate([self.old.transitions[None], matrices]), groups


def _times(left: Floats, right: Floats) -> Floats:
    """((n, I, K)): log of the product of exp(left) ((n or 1, I, J)) and exp(right) ((n or 1, J, K))."""
    peaks_left, peaks_right = (_finite(part.max(axis=axis, keepdims=True)) for part, axis in ((left, 2), (right, 1)))
    sums = np.exp(left - peaks_left) @ np.exp(right - peaks_right)
    lost = (sums == 0) & ((np.isfinite(left).astype(float) @ np.isfinite(right).astype(float)) > 0)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(sums) + peaks_left + peaks_right
    if lost.any():  # all terms underflow beside the peaks, which are those of other cells
        at, row, column = np.nonzero(lost)
        left, right = (np.broadcast_to(part, (len(sums), *part.shape[1:])) for part in (left, right))
        found[lost] = np.logaddexp.reduce(left[at, row] + right[at, :, column], axis=1)
    return found


def _finite(peaks: Floats) -> Floats:
    """Peaks, with 0 for -inf: nothing is there to be scaled."""
    return np.where(np.isneginf(peaks), 0.0, peaks)
