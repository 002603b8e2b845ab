"""Where in its document a unit is."""

import numpy as np

from ...core.arrays import Indices
from .view import UnitView, Values

_BOUNDS = (1, 3, 5, 10, 15, 20, 40)


def from_start(view: UnitView) -> Values:
    """How many texts lie before, in ranges."""
    return Values.bins(_texts_before(view), _BOUNDS, view.is_text)


def from_end(view: UnitView) -> Values:
    """How many texts lie behind, in ranges."""
    ends = np.repeat(np.cumsum(view.lengths), view.lengths)
    total = np.append(0, np.cumsum(view.is_text))
    behind = total[ends] - total[np.arange(len(view)) + 1] if len(view) else np.zeros(0, dtype=np.intp)
    return Values.bins(behind, _BOUNDS, view.is_text)


def tenth(view: UnitView) -> Values:
    """Tenth of the document."""
    count = np.repeat(view.lengths, view.lengths)
    place = 10 * (np.arange(len(view)) - view.firsts) // np.maximum(count, 1)
    return Values(place, [str(k) for k in range(10)])


def _texts_before(view: UnitView) -> Indices:
    total = np.append(0, np.cumsum(view.is_text))[:-1]
    return total - total[view.firsts] if len(view) else total
