"""Sums of values whose logarithms are given: over axes, and over runs of rows."""

import numpy as np

from ..arrays import Doubles, Indices


def over_last(values: Doubles) -> Doubles:
    """((.., m)) to ((..)): log of the sum of exponentials over the last axis. The argument is overwritten."""
    top = values.max(axis=-1)
    shift = _finite(top)
    np.subtract(values, shift[..., None], out=values)
    np.exp(values, out=values)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values.sum(axis=-1)) + shift)


def over_runs(values: Doubles, firsts: Indices) -> Doubles:
    """((r, n)) to ((p, n)): the same over runs of rows, each from one index of `firsts` up to the next."""
    shift = _finite(np.maximum.reduceat(values, firsts, axis=0))
    sizes = np.diff(firsts, append=len(values))
    made = np.exp(values - np.repeat(shift, sizes, axis=0))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.add.reduceat(made, firsts, axis=0)) + shift)


def _finite(top: Doubles) -> Doubles:
    return np.where(np.isfinite(top), top, 0.0)
