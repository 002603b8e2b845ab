"""Forward-backward over packed chains, scaled at each step (Rabiner 1989, section V.A).

A step is one matrix product over all sequences still alive. Where scaling could lose mass, the sequence is
redone in log space (`logspace.py`), so that float64 results are those of a log-space recursion for any scores.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, PackedBatch, cached_property
from .edges import EdgePotentials, Edges
from .logspace import LogForwardBackward, log_forward_backward
from .potentials import ChainPotentials, numbered, require_paths

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
    edges ((L, L), or Edges): those of transitions.
    shifts ((N,)): log of what was divided out, by the unit where it belongs; in double precision, as they are summed.
    """

    emissions: Floats
    edges: Floats | Edges
    start: Floats
    end: Floats
    shifts: Doubles
    end_shift: float

    @cached_property
    def transitions(self) -> Floats:
        """((L, L) or (G, L, L)): factors of transitions as matrices."""
        return self.edges if isinstance(self.edges, np.ndarray) else self.edges.matrices


@dataclass(frozen=True)
class ForwardBackward:
    """Scaled forward and backward messages of a batch.

    alpha ((N, L)): p(y_t | x_1..t), rows sum to 1.
    beta ((N, L)): scaled so that `alpha * beta` are the node marginals.
    inward ((N, L)): what a unit passes back: its emission factor times beta, over its norm; row t of
        `alpha[t - 1, :, None] * transitions * inward[t, None, :]` is the edge marginal.
    log_z ((B,)): log partition function, in the order the sequences were given (0 for empty ones).
    redone (LogForwardBackward | None): the sequences that were computed in log space. Their rows of alpha and
        beta hold node marginals and ones, those of inward zeros.
    """

    potentials: ChainPotentials
    scaled: ScaledPotentials
    alpha: Floats
    beta: Floats
    inward: Floats
    log_z: Doubles
    redone: LogForwardBackward | None


def forward_backward(potentials: ChainPotentials) -> ForwardBackward:
    """Messages and log Z of a batch. O(N L^2) time, O(N L) memory.

    Potentials in float64 give the accuracy of a log-space recursion; in float32 it is about twice as fast, with
    relative errors around 1e-5.

    RAISES (NonFiniteError, NoPathError): for NaN or +inf, and where a sequence has no allowed path.
    """
    potentials.check()
    scaled = scale(potentials)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        alpha, norms, ends = _forward(scaled, potentials)
        log_z = _log_z(scaled, potentials.batch, norms, ends)
        beta, inward = _backward(scaled, potentials, alpha, norms, ends)
        lost = _underflows(potentials, alpha, norms) if _is_double(alpha) else _rescued(beta, inward, norms)
        reachable = alpha > (0.0 if _is_double(alpha) else DROPPED)
        beta *= reachable
        inward *= reachable
    result = ForwardBackward(potentials, scaled, alpha, beta, inward, log_z, None)
    suspects = _suspects(potentials, log_z, lost)
    return _redo(result, suspects) if len(suspects) else result


def log_partition(potentials: ChainPotentials) -> Doubles:
    """((B,)): log Z, forward pass only, in float64: only a backward pass shows what float32 has lost. O(N L^2)."""
    potentials.check()
    potentials = potentials.astype(np.float64)
    scaled = scale(potentials)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        alpha, norms, ends = _forward(scaled, potentials)
        log_z = _log_z(scaled, potentials.batch, norms, ends)
    suspects = _suspects(potentials, log_z, _underflows(potentials, alpha, norms))
    if len(suspects):
        log_z[suspects] = _log_space(potentials, suspects).log_z
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
    edges: Floats | Edges
    if isinstance(potentials.edges, EdgePotentials):
        matrices, by_group = exp_shifted(potentials.edges.matrices, axis=(1, 2))
        edges = replace(potentials.edges, matrices=matrices)
        shifts[inner] += by_group[edges.groups[inner]]
    elif potentials.edges is not None:
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


def _forward(scaled: ScaledPotentials, potentials: ChainPotentials) -> tuple[Floats, Floats, Floats]:
    """alpha (N, L), the norm of each row (N,), and (B',) what the ends leave of sequences that are not empty."""
    batch, edges = potentials.batch, scaled.edges
    emissions, alpha = scaled.emissions, np.empty_like(scaled.emissions)
    norms = np.empty(batch.n_units, dtype=emissions.dtype)
    ones = np.ones(potentials.n_labels, dtype=emissions.dtype)
    first = slice(0, len(batch.first_rows))
    np.multiply(emissions[first], scaled.start, out=alpha[first])
    for before, rows in [(first, first), *batch.links]:
        here = alpha[rows]
        if rows is not first:
            if isinstance(edges, np.ndarray):
                np.matmul(alpha[before], edges, out=here)
            else:
                edges.product(alpha[before], rows, out=here)
            here *= emissions[rows]
        np.matmul(here, ones, out=norms[rows])
        here /= norms[rows, None]
    return alpha, norms, alpha[batch.last_rows] @ scaled.end


def _backward(
    scaled: ScaledPotentials, potentials: ChainPotentials, alpha: Floats, norms: Floats, ends: Floats
) -> tuple[Floats, Floats]:
    """beta (N, L) and inward (N, L), scaled by the forward norms so that sum(alpha * beta) is 1 in each row.

    A state that cannot be reached may have a beta of any size: it must not meet a zero alpha. In float64 it is left out
    from the beginning; in float32 its beta tells whether it was dropped wrongly.
    """
    batch, edges = potentials.batch, scaled.edges
    into = np.ascontiguousarray(edges.T) if isinstance(edges, np.ndarray) else edges
    inward = scaled.emissions / norms[:, None]
    if _is_double(alpha):
        inward *= alpha > 0
    beta = np.empty_like(alpha)
    beta[batch.last_rows] = scaled.end / ends[:, None]
    for before, rows in reversed(batch.links):
        here = inward[rows]
        here *= beta[rows]
        if isinstance(into, np.ndarray):
            np.matmul(here, into, out=beta[before])
        else:
            into.product_back(here, rows, out=beta[before])
    return beta, inward


def _is_double(values: Floats) -> bool:
    return values.dtype == np.float64


def _log_z(scaled: ScaledPotentials, batch: PackedBatch, norms: Floats, ends: Floats) -> Doubles:
    log_z = batch.sequence_sums(np.log(norms, dtype=np.float64) + scaled.shifts)
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

    edges = potentials.edges
    if isinstance(edges, EdgePotentials):
        into = spread(edges.matrices, (1, 2))[edges.groups]
    else:  # what is scaled together
        into = spread(potentials.transitions if edges is None else edges.columns, None)
    start, end = spread(potentials.start, 0), spread(potentials.end, 0)
    others = into.max(initial=0) + start + end
    if potentials.emissions.max(initial=0) - potentials.emissions.min(initial=0) + others <= RANGE:
        return np.zeros(potentials.batch.n_units, dtype=bool)
    spreads = spread(potentials.emissions, 1) + into
    spreads[: len(potentials.batch.first_rows)] += start
    spreads[potentials.batch.last_rows] += end
    return np.asarray(spreads > RANGE)


def _redo(result: ForwardBackward, suspects: Indices) -> ForwardBackward:
    """Replace the messages of the suspects by those of the log-space recursion."""
    redone = _log_space(result.potentials, suspects)
    rows = redone.rows
    # their factors may not fit a float: only the product, which is a probability, is kept here
    result.alpha[rows] = np.exp(redone.log_alpha + redone.log_beta)
    result.beta[rows] = 1
    result.inward[rows] = 0
    result.log_z[suspects] = redone.log_z
    return replace(result, redone=redone)


def _log_space(potentials: ChainPotentials, suspects: Indices) -> LogForwardBackward:
    part, rows = potentials.select(suspects)
    redone = log_forward_backward(part.astype(np.float64), rows)
    with numbered(suspects):
        require_paths(redone.log_z)
    return redone
