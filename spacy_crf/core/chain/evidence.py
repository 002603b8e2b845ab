"""Conditioning on what is known of some labels: p(y | x, evidence), and the probability of the evidence itself."""

from typing import TypeAlias

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, Ints, Segments, check_shape, pack
from ..errors import CoreErrors
from ..labels import Gold
from ..weights import Layout, masked
from .forward import log_partition
from .potentials import ChainPotentials, NoPathError

# Labels that units may have; or log likelihoods of what is known, given each label (virtual evidence, Pearl 1988):
# equal ones tell nothing, and -inf rules a label out
Known: TypeAlias = Bools | Floats


class ImpossibleEvidenceError(NoPathError):
    """Raised where evidence leaves no label sequence."""

    template = CoreErrors.CRF109


def allowed_labels(given: Ints, n_labels: int) -> Bools:
    """((N, L)): labels that each unit may have, given indices ((N,)), -1 where any is possible."""
    return np.asarray(Gold.known(given, n_labels).dense() > 0)


def condition(potentials: ChainPotentials, known: Known) -> ChainPotentials:
    """Potentials of p(y | x, evidence), by what is known ((N, L)) of the units in packed order.

    O(N L^2), for the check, or O(N L) where all transitions are allowed.

    RAISES (ImpossibleEvidenceError, NonFiniteError): where no allowed sequence agrees with the evidence; for NaN or
        +inf.
    """
    clamped = _clamp(potentials, known)
    clamped.check()
    if not _has_paths(clamped) and len(blocked := _without_path(clamped)):
        raise ImpossibleEvidenceError(blocked.tolist())
    return clamped


def log_evidence(potentials: ChainPotentials, allowed: Bools) -> Doubles:
    """((B,)): log Z of the sequences that agree with evidence (see `condition`), minus log Z: at most 0. O(N L^2)."""
    log_z = log_partition(potentials)
    return np.minimum(_clamped_log_z(_clamp(potentials, allowed)) - log_z, 0.0)


def blocked_sequences(lengths: Indices, allowed: Bools, layout: Layout) -> Indices:
    """((b,)): sequences without a path, whatever the weights, where units may have some labels ((N, L)) only.

    O(N L^2), or O(N L) where all transitions are allowed.
    """
    masks = layout.allowed, layout.allowed_start, layout.allowed_end
    if all(mask.all() for mask in masks):
        return np.unique(Segments(lengths).owners[~allowed.any(axis=1)])
    batch = pack(lengths)
    transitions, start, end = (masked(np.zeros(mask.shape), mask) for mask in masks)
    free = ChainPotentials(batch, np.zeros(allowed.shape), transitions, start, end)
    return _without_path(_clamp(free, allowed[batch.units]))


def log_likelihoods(known: Known) -> Floats:
    """((N, L)): 0 for labels that a unit may have and -inf for others, unless that is what is given."""
    return np.where(known, 0.0, -np.inf) if known.dtype == bool else np.asarray(known)


def _clamp(potentials: ChainPotentials, known: Known) -> ChainPotentials:
    check_shape("evidence", known, potentials.emissions.shape)
    return potentials.clamped(log_likelihoods(known).astype(potentials.emissions.dtype))


def _has_paths(chains: ChainPotentials) -> bool:
    """Whether every sequence has a path because each unit has a label, and all transitions are allowed."""
    others = (chains.transitions, chains.start, chains.end)
    is_free = chains.edges is None and all(np.isfinite(scores).all() for scores in others)
    return is_free and bool((chains.emissions.max(axis=1) > -np.inf).all())


@np.errstate(invalid="ignore")  # of lanes that no result is taken from: see `row_sums`
def _without_path(chains: ChainPotentials) -> Indices:
    """((b,)): sequences of which no labelling is allowed, in rising order. O(N L^2).

    Labels that a path reaches, not how probable the paths are: a product with zeros and ones needs no logarithms.
    """
    batch = chains.batch
    ways = chains.map(lambda scores: (scores > -np.inf).astype(np.float32))
    reached = ways.emissions
    reached[batch.first_rows] *= ways.start
    for before, rows in batch.links:
        if ways.edges is None:
            arriving = reached[before] @ ways.transitions
        else:
            ways.edges.product(reached[before], rows, arriving := np.empty_like(reached[rows]))
        reached[rows] *= arriving > 0
    ends = reached[batch.last_rows] @ ways.end
    return np.sort(batch.order[: len(ends)][ends == 0])


def _clamped_log_z(clamped: ChainPotentials) -> Doubles:
    try:
        return log_partition(clamped)
    except NoPathError as error:
        raise ImpossibleEvidenceError(error.sequences) from None
