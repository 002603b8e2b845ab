"""What kind of element a unit is, and what stands beside it, blank lines passed over."""

import numpy as np

from ...core.arrays import Indices
from .view import UnitView, Values


def kind(view: UnitView) -> Values:
    """number, text, newline, quote, mark, other."""
    return view.kinds


def kind_before(view: UnitView) -> Values:
    """Kind of the nearest unit before that is no blank line."""
    return view.kinds.take(view.previous)


def kind_after(view: UnitView) -> Values:
    """Kind of the nearest unit behind that is no blank line."""
    return view.kinds.take(view.following)


def blanks_before(view: UnitView) -> Values:
    """How many blank lines lie before a unit: 0, 1, 2, 3 and more; none at the beginning of the document."""
    here = np.arange(len(view))
    return _gap(here - view.previous, view.previous >= 0)


def blanks_after(view: UnitView) -> Values:
    """How many blank lines lie behind a unit; none at the end of the document."""
    here = np.arange(len(view))
    return _gap(view.following - here, view.following >= 0)


def is_first(view: UnitView) -> Values:
    """Nothing but blank lines before."""
    return Values.flags((view.previous < 0) & ~view.is_blank)


def is_last(view: UnitView) -> Values:
    """Nothing but blank lines behind."""
    return Values.flags((view.following < 0) & ~view.is_blank)


def _gap(distance: Indices, exists: np.ndarray) -> Values:
    return Values.bins(distance - 1, (1, 2, 3), exists)
