"""Checks of numbers that come from files, before anything is computed with them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Bools, Floats, Indices

GREATEST = 1e9  # of weights: sums of greater ones would leave single precision
FINITE = float(np.finfo(np.float64).max)  # of numbers that may be as great as they like
KINDS = {"f": "numbers", "i": "whole numbers", "iu": "whole numbers", "b": "truth values"}
Shape = tuple[int | None, ...]  # None for an axis of any length


def stored_floats(name: str, values: Any, shape: Shape, least: float = -GREATEST, greatest: float = GREATEST) -> Floats:
    """Return an array of floating-point numbers of a shape, all of them in a range; NaN is in none.

    RAISES (ValueError): for anything else.
    """
    found: Floats = _checked(name, values, "f", shape, least, greatest)
    return found


def stored_integers(name: str, values: Any, shape: Shape, below: int) -> npt.NDArray[np.integer[Any]]:
    """Return an array of whole numbers of a shape, from 0 to less than `below`. RAISES (ValueError): as above."""
    found: npt.NDArray[np.integer[Any]] = _checked(name, values, "iu", shape, 0, below - 1)
    return found


def stored_bools(name: str, values: Any, shape: Shape) -> Bools:
    """Return an array of truth values of a shape. RAISES (ValueError): as above."""
    found: Bools = _checked(name, values, "b", shape, 0, 1)
    return found


def stored_size(name: str, value: Any) -> int:
    """Return a whole number of at least 0. RAISES (ValueError): for anything else."""
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is no whole number of at least 0")
    return value


def stored_cells(name: str, steps: Any, n_cells: int) -> Indices:
    """Return the places below `n_cells` that differences ((P,)) lead to, each of them once, in any order."""
    _checked(name, steps, "i", (None,), -np.inf, np.inf)
    if steps.size and max(steps.max().item(), -steps.min().item()) > n_cells:
        raise ValueError(f"{name}: a place is out of range")
    cells = stored_integers(name, np.cumsum(steps, dtype=np.intp), (None,), n_cells).astype(np.intp, copy=False)
    ascending = cells if (np.diff(cells) > 0).all() else np.sort(cells, kind="stable")  # linear: they are a few runs
    if (np.diff(ascending) == 0).any():
        raise ValueError(f"{name}: a place occurs twice")
    return cells


def stored_strings(name: str, values: Any) -> list[str]:
    """Return a list of strings. RAISES (ValueError): for anything else."""
    if not isinstance(values, list) or not all(type(value) is str for value in values):
        raise ValueError(f"{name} is no list of strings")
    return values


def _checked(name: str, values: Any, kinds: str, shape: Shape, least: float, greatest: float) -> Any:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in kinds:
        raise ValueError(f"{name} is no array of {KINDS[kinds]}")
    if values.ndim != len(shape) or any(size not in (None, found) for size, found in zip(shape, values.shape)):
        raise ValueError(f"{name} has the shape {values.shape}, not {shape}")
    if values.size and not (least <= values.min().item() and values.max().item() <= greatest):
        raise ValueError(f"{name} has a value that is no number from {least} to {greatest}")
    return values
