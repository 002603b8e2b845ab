"""What tells the gold path of a sequence from the path that the model prefers: the direction to move in."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Floats, Indices, Ints
from ..sparse import SparseRows
from .blocks import EncodedCorpus
from .online import OnlineWeights


@dataclass(frozen=True)
class Difference:
    """Features of the gold path minus those of the predicted one.

    cells ((n,)): distinct cells of weights that exist.
    amounts ((n,)): how often each is on the gold path more than on the predicted one.
    n_wrong (int): units with another label.
    """

    cells: Indices
    amounts: Floats
    n_wrong: int


Paths = tuple[Ints, Ints]
Pairs = tuple[Indices, Indices, Floats | None]  # cells on the gold path, on the other one, values (None: all 1)


def difference(sequence: EncodedCorpus, gold: Ints, predicted: Ints, weights: OnlineWeights) -> Difference:
    """Compare two paths through one sequence. O(features of the units that differ).

    sequence (EncodedCorpus): of T units. gold ((T,)), predicted ((T,)): labels.
    """
    wrong, paths = gold != predicted, (gold, predicted)
    units = np.flatnonzero(wrong)
    pairs = [_state(sequence.features, units, paths, weights)]
    pairs += _transitions(sequence, wrong, paths, weights)
    if weights.layout.boundary:
        for unit, cells in ((0, weights.start_cells), (-1, weights.end_cells)):
            if wrong[unit]:
                pairs.append((cells(gold[unit, None]), cells(predicted[unit, None]), None))
    return Difference(*_collect(pairs, weights), len(units))


def _state(features: SparseRows, units: Indices, paths: Paths, weights: OnlineWeights) -> Pairs:
    rows = features.take(units)
    each = np.repeat(units, rows.indptr[1:] - rows.indptr[:-1])
    gold, predicted = (weights.state_cells(rows.indices, path[each]) for path in paths)
    return gold, predicted, rows.values


def _transitions(sequence: EncodedCorpus, wrong: Bools, paths: Paths, weights: OnlineWeights) -> list[Pairs]:
    """Of the transitions into units that are wrong, or the unit before is."""
    before = np.flatnonzero(wrong[1:] | wrong[:-1])
    gold, predicted = (weights.transition_cells(path[before], path[before + 1]) for path in paths)
    pairs: list[Pairs] = [(gold, predicted, None)]
    if sequence.edges is not None:
        rows = sequence.edges.features.take(sequence.edges.groups[before + 1])
        each = np.repeat(before, rows.indptr[1:] - rows.indptr[:-1])
        gold, predicted = (weights.edge_cells(rows.indices, path[each], path[each + 1]) for path in paths)
        pairs.append((gold, predicted, rows.values))
    return pairs


def _collect(pairs: list[Pairs], weights: OnlineWeights) -> tuple[Indices, Floats]:
    """Add up what occurs several times; leave out what has no weight."""
    ones = [np.ones(len(gold)) if values is None else values for gold, _, values in pairs]
    cells = np.concatenate([gold for gold, _, _ in pairs] + [predicted for _, predicted, _ in pairs])
    amounts = np.concatenate(ones + [-values for values in ones])
    known = weights.slots[cells] >= 0
    distinct, inverse = np.unique(cells[known], return_inverse=True)
    totals = np.bincount(inverse, weights=amounts[known], minlength=len(distinct))
    return distinct, totals.astype(np.float64, copy=False)  # bincount of nothing is integer
