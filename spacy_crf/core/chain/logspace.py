"""Chains in log space: slower than the scaled recursion, and right for any scores.

Units whose labels nobody asks for can be summed out: what is left is the exact distribution over the labels of the
others. Between two units that are kept, the hidden ones become one matrix of transitions; those before the first and
behind the last kept unit become part of its emissions. All of that in double precision.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, Segments, cached_property, chunks, pack
from .edges import EdgePotentials
from .potentials import ChainPotentials

CHUNK = 1 << 20  # cells of the (rows, L, L) work array


@dataclass(frozen=True)
class LogForwardBackward:
    """Log messages of a batch, normalised like the scaled ones: sum(exp(log_alpha + log_beta)) is 1 in each row.

    log_alpha ((N, L)), log_beta ((N, L)): as in `ForwardBackward`, in log space.
    log_norms ((N,)): log p(x_t | x_1..t-1) unnormalised; a sequence's sum plus its end term is log_z.
    log_z ((B,)): log partition functions; -inf where no path is allowed.
    rows ((N,)): rows that these sequences take in the batch they were selected from.
    """

    potentials: ChainPotentials
    log_alpha: Doubles
    log_beta: Doubles
    log_norms: Doubles
    log_z: Doubles
    rows: Indices


def log_forward_backward(potentials: ChainPotentials, rows: Indices) -> LogForwardBackward:
    """Messages and log Z of a batch in log space. O(N L^2) exponentials. rows: see `LogForwardBackward`."""
    batch = potentials.batch
    with np.errstate(divide="ignore", invalid="ignore"):
        log_alpha, log_norms = _forward(potentials)
        ends = _log_sum_exp(log_alpha[batch.last_rows] + potentials.end)
        log_z = batch.sequence_sums(log_norms)
        log_z[batch.order[: len(ends)]] += ends
        log_z[np.isnan(log_z)] = -np.inf
        log_beta = _backward(potentials, log_norms, ends)
    return LogForwardBackward(potentials, log_alpha, log_beta, log_norms, log_z, rows)


def _forward(potentials: ChainPotentials) -> tuple[Doubles, Doubles]:
    batch = potentials.batch
    log_alpha = np.empty(potentials.emissions.shape)
    log_norms = np.empty(batch.n_units)
    first = slice(0, len(batch.first_rows))
    for before, rows in [(first, first), *batch.links]:
        into = potentials.start if rows is first else _log_product(log_alpha[before], potentials, rows)
        scores = potentials.emissions[rows] + into
        log_norms[rows] = _log_sum_exp(scores)
        log_alpha[rows] = scores - finite(log_norms[rows])[:, None]
    return log_alpha, log_norms


def _backward(potentials: ChainPotentials, log_norms: Doubles, ends: Doubles) -> Doubles:
    batch = potentials.batch
    log_beta = np.empty(potentials.emissions.shape)
    log_beta[batch.last_rows] = potentials.end - finite(ends)[:, None]
    for before, rows in reversed(batch.links):
        inward = log_beta[rows] + potentials.emissions[rows] - finite(log_norms[rows])[:, None]
        log_beta[before] = _log_product(inward, potentials, rows, backward=True)
    return log_beta


def _log_product(messages: Floats, potentials: ChainPotentials, rows: slice, backward: bool = False) -> Doubles:
    """((n, L)): log of (messages times the transitions into the given rows), summed over the label left behind.

    messages ((n, L)): log messages of the units before (backward: of the units themselves).
    """
    out, n_labels = np.empty(messages.shape), messages.shape[1]
    for part in chunks(rows, n_labels * n_labels, CHUNK):
        own, matrices = slice(part.start - rows.start, part.stop - rows.start), potentials.into(part)
        if backward:
            out[own] = _log_sum_exp(messages[own, None, :] + matrices, axis=2)
        else:
            out[own] = _log_sum_exp(messages[own, :, None] + matrices, axis=1)
    return out


def _log_sum_exp(values: Floats, axis: int = -1) -> Doubles:
    greatest = values.max(axis=axis, keepdims=True, initial=-np.inf)
    sums = np.exp(values - finite(greatest)).sum(axis=axis)
    return np.asarray(np.log(sums) + np.squeeze(finite(greatest), axis=axis))


def finite(values: Floats) -> Floats:
    """0 in the place of -inf: -inf minus -inf stays -inf, and what is forbidden has no part in an expectation."""
    return np.where(np.isfinite(values), values, 0.0)


# -- hidden units summed out -------------------------------------------------------------------------------------


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
    peaks_left, peaks_right = (finite(part.max(axis=axis, keepdims=True)) for part, axis in ((left, 2), (right, 1)))
    sums = np.exp(left - peaks_left) @ np.exp(right - peaks_right)
    lost = (sums == 0) & ((np.isfinite(left).astype(float) @ np.isfinite(right).astype(float)) > 0)
    with np.errstate(divide="ignore"):
        found: Floats = np.log(sums) + peaks_left + peaks_right
    if lost.any():  # all terms underflow beside the peaks, which are those of other cells
        at, row, column = np.nonzero(lost)
        left, right = (np.broadcast_to(part, (len(sums), *part.shape[1:])) for part in (left, right))
        found[lost] = np.logaddexp.reduce(left[at, row] + right[at, :, column], axis=1)
    return found
