"""Forward-backward over packed chains, scaled at each step (Rabiner 1989, section V.A).

A step is one matrix product over all sequences still alive. Where scaling could lose mass, the sequence is
redone in log space (`logspace.py`), so that float64 results are those of a log-space recursion for any scores.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices
from ..batch import PackedBatch
from .edges import EdgeColumns
from .logspace import LogForwardBackward, log_forward_backward
from .potentials import ChainPotentials, EdgePotentials, NoPathError

# float64: no state's share of a step may fall below SMALLEST, and one step may lower it by at most e^-RANGE; then
# nothing underflows (1e-150 * e^-345 > 1e-300) and a zero is a state that cannot be reached.
SMALLEST = 1e-150
RANGE = 345.0
# float32 serves training: states with a share below DROPPED, and steps that underflow, count for nothing, unless what
# follows them is so much better (RESCUED for a state, PASSED for a step) that they matter in the end.
DROPPED, RESCUED, PASSED = 1e-30, 1e20, 1e28
MODERATE = 30.0  # emissions whose exponentials need no scaling


@dataclass(frozen=True)
class ScaledPotentials:
    """exp(potentials - shift): every factor is at most 1, that of an emission at most e^MODERATE.

    emissions ((N, L)), start ((L,)), end ((L,)): the factors.
    edges ((L, L) or (G, L, L), or EdgeColumns): those of transitions.
    shifts ((N,)): log of what was divided out, by the unit where it belongs; in double precision, as they are summed.
    """

    emissions: Floats
    edges: Floats | EdgeColumns
    start: Floats
    end: Floats
    shifts: Doubles
    end_shift: float

    @cached_property
    def transitions(self) -> Floats:
        """((L, L) or (G, L, L)): factors of transitions as matrices."""
        return self.edges.matrices if isinstance(self.edges, EdgeColumns) else self.edges


@dataclass(frozen=True)
class ForwardBackward:
    """Scaled forward and backward messages of a batch.

    alpha ((N, L)): p(y_t | x_1..t), rows sum to 1.
    beta ((N, L)): scaled so that `alpha * beta` are the node marginals.
    inward ((N, L)): what a unit passes back: its emission factor times beta, over its norm; row t of
        `alpha[t - 1, :, None] * transitions * inward[t, None, :]` is the edge marginal.
    log_norms ((N,)): log p(x_t | x_1..t-1) unnormalised; a sequence's sum plus its end term is log_z.
    log_z ((B,)): log partition function, in the order the sequences were given (0 for empty ones).
    redone (LogForwardBackward | None): the sequences that were computed in log space. Their rows of alpha and
        beta hold node marginals and ones, those of inward zeros.
    """

    potentials: ChainPotentials
    scaled: ScaledPotentials
    alpha: Floats
    beta: Floats
    inward: Floats
    log_norms: Doubles
    log_z: Doubles
    redone: LogForwardBackward | None


def forward_backward(potentials: ChainPotentials) -> ForwardBackward:
    """Messages and log Z of a batch. O(N L^2) time, O(N L) memory.

    potentials (ChainPotentials): float64 gives the accuracy of a log-space recursion; float32 is about twice
        as fast, with relative errors around 1e-5.
    RETURNS (ForwardBackward): messages and log partition functions.
    RAISES (NonFiniteError): for NaN or +inf.
    RAISES (NoPathError): where a sequence has no allowed path.
    """
    potentials.check()
    scaled = scale(potentials)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        alpha, norms = _forward(scaled, potentials)
        ends = _end_norms(scaled, potentials.batch, alpha)
        log_norms = _log_norms(scaled, norms)
        log_z = _log_z(scaled, potentials.batch, log_norms, ends)
        beta, inward = _backward(scaled, potentials, alpha, norms, ends)
        lost = _underflows(potentials, alpha, norms) if _is_double(alpha) else _rescued(beta, inward, norms)
        reachable = alpha > (0.0 if _is_double(alpha) else DROPPED)
        beta *= reachable
        inward *= reachable
    result = ForwardBackward(potentials, scaled, alpha, beta, inward, log_norms, log_z, None)
    suspects = _suspects(potentials, log_z, lost)
    return _redo(result, suspects) if len(suspects) else result


def log_partition(potentials: ChainPotentials) -> Doubles:
    """log Z of a batch, forward pass only. O(N L^2).

    potentials (ChainPotentials): computed in float64, as only a backward pass shows what float32 has lost.
    RETURNS ((B,)): log partition functions, in the order the sequences were given.
    """
    potentials.check()
    potentials = potentials.astype(np.float64)
    scaled = scale(potentials)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        alpha, norms = _forward(scaled, potentials)
        ends = _end_norms(scaled, potentials.batch, alpha)
        log_z = _log_z(scaled, potentials.batch, _log_norms(scaled, norms), ends)
    suspects = _suspects(potentials, log_z, _underflows(potentials, alpha, norms))
    if len(suspects):
        part, _ = potentials.select(suspects)
        log_z[suspects] = _checked(log_forward_backward(part), suspects).log_z
    return log_z


def scale(potentials: ChainPotentials) -> ScaledPotentials:
    """Divide the greatest factor out of each emission row, each matrix, the start and the end.

    Emissions that are all moderate are left as they are: row maxima cost more than their exponentials.
    """
    batch = potentials.batch
    if potentials.emissions.min(initial=0) > -MODERATE and potentials.emissions.max(initial=0) < MODERATE:
        emissions, shifts = np.exp(potentials.emissions), np.zeros(batch.n_units)
    else:
        emissions, by_unit = exp_shifted(potentials.emissions, axis=1)
        shifts = by_unit.astype(np.float64)
    start, start_shift = exp_shifted(potentials.start, axis=0)
    end, end_shift = exp_shifted(potentials.end, axis=0)
    inner = slice(len(batch.first_rows), None)
    shifts[: inner.start] += start_shift
    edges: Floats | EdgeColumns
    if isinstance(potentials.edges, EdgePotentials):
        edges, by_group = exp_shifted(potentials.edges.matrices, axis=(1, 2))
        shifts[inner] += by_group[potentials.edges.groups[inner]]
    elif isinstance(potentials.edges, EdgeColumns):
        columns, shift = exp_shifted(potentials.edges.columns, axis=None)
        edges = replace(potentials.edges, columns=columns)
        shifts[inner] += shift
    else:
        edges, shift = exp_shifted(potentials.transitions, axis=None)
        shifts[inner] += shift
    return ScaledPotentials(emissions, edges, start, end, shifts, float(end_shift))


def exp_shifted(values: Floats, axis: int | tuple[int, ...] | None) -> tuple[Floats, Floats]:
    """exp(values - max over axis), and that max (0 where everything is -inf)."""
    greatest = values.max(axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(greatest), greatest, 0).astype(values.dtype)
    factors = np.subtract(values, shift)
    np.exp(factors, out=factors)
    return factors, np.squeeze(shift, axis=axis)


def _forward(scaled: ScaledPotentials, potentials: ChainPotentials) -> tuple[Floats, Floats]:
    """alpha (N, L) and the norm of each row (N,)."""
    batch = potentials.batch
    emissions, alpha = scaled.emissions, np.empty_like(scaled.emissions)
    norms = np.empty(batch.n_units, dtype=emissions.dtype)
    ones = np.ones(potentials.n_labels, dtype=emissions.dtype)
    previous = alpha[:0]
    for step, (low, n) in enumerate(zip(batch.starts, batch.alive)):
        rows, norm = alpha[low : low + n], norms[low : low + n]
        if step == 0:
            np.multiply(emissions[:n], scaled.start, out=rows)
        else:
            block = slice(low, low + n)
            if isinstance(scaled.edges, EdgeColumns):
                scaled.edges.product(previous[:n], block, out=rows)
            else:
                _product(previous[:n], scaled.edges, potentials, block, out=rows)
            rows *= emissions[low : low + n]
        np.matmul(rows, ones, out=norm)
        rows /= norm[:, None]
        previous = rows
    return alpha, norms


def _backward(
    scaled: ScaledPotentials, potentials: ChainPotentials, alpha: Floats, norms: Floats, ends: Floats
) -> tuple[Floats, Floats]:
    """beta (N, L) and inward (N, L), scaled by the forward norms so that sum(alpha * beta) is 1 in each row.

    A state that cannot be reached may have a beta of any size: it must not meet a zero alpha. In float64 it is left out
    from the beginning; in float32 its beta tells whether it was dropped wrongly.
    """
    batch = potentials.batch
    backward = scaled.edges
    if not isinstance(backward, EdgeColumns):
        backward = np.ascontiguousarray(np.swapaxes(backward, -1, -2))
    inward = scaled.emissions / norms[:, None]
    if _is_double(alpha):
        inward *= alpha > 0
    beta = np.empty_like(alpha)
    beta[batch.last_rows] = scaled.end / ends[:, None]
    for step in range(batch.n_steps - 1, 0, -1):
        low, n, before = batch.starts[step], batch.alive[step], batch.starts[step - 1]
        rows = inward[low : low + n]
        rows *= beta[low : low + n]
        block, out = slice(low, low + n), beta[before : before + n]
        if isinstance(backward, EdgeColumns):
            backward.product_back(rows, block, out)
        else:
            _product(rows, backward, potentials, block, out)
    return beta, inward


def _product(before: Floats, factors: Floats, potentials: ChainPotentials, rows: slice, out: Floats) -> None:
    """out ((n, L)) = before ((n, L)) times the one matrix, or that of each of a run of rows."""
    if potentials.edges is None:
        np.matmul(before, factors, out=out)
    else:
        np.matmul(before[:, None, :], factors[potentials.edges.groups[rows]], out=out[:, None, :])


def _is_double(values: Floats) -> bool:
    return values.dtype == np.float64


def _log_norms(scaled: ScaledPotentials, norms: Floats) -> Doubles:
    return np.asarray(np.log(norms, dtype=np.float64) + scaled.shifts, dtype=np.float64)


def _end_norms(scaled: ScaledPotentials, batch: PackedBatch, alpha: Floats) -> Floats:
    """((B',)): sum over labels of alpha times the end factor, for sequences that are not empty."""
    norms: Floats = alpha[batch.last_rows] @ scaled.end
    return norms


def _log_z(scaled: ScaledPotentials, batch: PackedBatch, log_norms: Doubles, ends: Floats) -> Doubles:
    log_z = batch.sequence_sums(log_norms)
    log_z[batch.order[: len(ends)]] += np.log(ends.astype(np.float64)) + scaled.end_shift
    return log_z


def _suspects(potentials: ChainPotentials, log_z: Doubles, lost: Bools) -> Indices:
    """Indices of sequences whose scaled recursion may have lost mass, some of them in the given rows."""
    suspects = ~np.isfinite(log_z)
    suspects[potentials.batch.row_sequences[lost]] = True
    return np.flatnonzero(suspects)


def _underflows(potentials: ChainPotentials, alpha: Floats, norms: Floats) -> Bools:
    """((N,)): float64 rows where a share may have become too small to be told from zero."""
    small = ((alpha > 0) & (alpha < SMALLEST)).any(axis=1)
    return np.asarray(~(norms > 0) | small | _wide(potentials))


def _rescued(beta: Floats, inward: Floats, norms: Floats) -> Bools:
    """((N,)): float32 rows where something dropped, or lost by underflow, may matter, or where numbers overflow.

    What a row loses by underflow is at most 1e-38, or 1e-38 / norm in shares.
    """
    if norms.min(initial=1) > 1e-8 and beta.max(initial=0) < RESCUED and inward.max(initial=0) < PASSED:
        return np.zeros(len(norms), dtype=bool)
    limits = np.minimum(RESCUED, PASSED * norms.astype(np.float64))
    return np.asarray(~((beta.max(axis=1) < limits) & (inward.max(axis=1) < PASSED)))  # NaN is not below either


def _wide(potentials: ChainPotentials) -> Bools:
    """((N,)): units where one step could lower a state's share by more than e^-RANGE."""

    def spread(values: Floats, axis: int | tuple[int, ...] | None) -> Floats:
        high = values.max(axis=axis, initial=-np.inf)
        low = np.where(values > -np.inf, values, np.inf).min(axis=axis, initial=np.inf)
        return np.asarray(np.maximum(high - low, 0.0))

    matrices = potentials.transitions[None]
    groups: Indices | int = 0
    if isinstance(potentials.edges, EdgePotentials):
        matrices, groups = potentials.edges.matrices, potentials.edges.groups
    elif isinstance(potentials.edges, EdgeColumns):
        matrices = potentials.edges.columns[None]  # they were scaled together
    by_matrix, start, end = spread(matrices, (1, 2)), spread(potentials.start, 0), spread(potentials.end, 0)
    others = by_matrix.max(initial=0) + start + end
    if potentials.emissions.max(initial=0) - potentials.emissions.min(initial=0) + others <= RANGE:
        return np.zeros(potentials.batch.n_units, dtype=bool)
    spreads = spread(potentials.emissions, 1) + by_matrix[groups]
    spreads[: len(potentials.batch.first_rows)] += start
    spreads[potentials.batch.last_rows] += end
    return np.asarray(spreads > RANGE)


def _redo(result: ForwardBackward, suspects: Indices) -> ForwardBackward:
    """Replace the messages of the suspects by those of the log-space recursion."""
    part, rows = result.potentials.select(suspects)
    redone = _checked(log_forward_backward(part.astype(np.float64)), suspects)
    # their factors may not fit a float: only the product, which is a probability, is kept here
    result.alpha[rows] = np.exp(redone.log_alpha + redone.log_beta)
    result.beta[rows] = 1
    result.inward[rows] = 0
    result.log_norms[rows] = redone.log_norms
    result.log_z[suspects] = redone.log_z
    return replace(result, redone=redone.placed(rows))


def _checked(redone: LogForwardBackward, suspects: Indices) -> LogForwardBackward:
    hopeless = suspects[np.isneginf(redone.log_z)]
    if len(hopeless):
        raise NoPathError(hopeless.tolist())
    return redone
