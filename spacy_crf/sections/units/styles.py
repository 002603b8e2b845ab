"""Formatting as facts of units: a unit has a style if all of it has."""

from collections.abc import Iterable, Sequence

import numpy as np

from ...core.arrays import Bools, Indices
from .unit import STYLES, Kind, Run, Unit


def style_units(text: str, units: list[Unit], runs: Iterable[Run]) -> list[Unit]:
    """Give units their styles.

    text (str): the document. units (list[Unit]): in order. runs (Iterable[tuple[int, int, str]]): start, end and style.
    RETURNS (list[Unit]): the same units; those that have a style are new. O(R log R + U log R) for R runs, U units.
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for start, end, style in runs:
        if style in STYLES and max(start, 0) < min(end, len(text)):
            spans.setdefault(style, []).append((max(start, 0), min(end, len(text))))
    starts = np.array([unit.start for unit in units], dtype=np.intp)
    ends = np.array([unit.end for unit in units], dtype=np.intp)
    styles: dict[int, list[str]] = {}
    for style, places in spans.items():
        for number in np.flatnonzero(_covered(starts, ends, _join(text, sorted(places)))).tolist():
            if units[number].kind is not Kind.NEWLINE:
                styles.setdefault(number, []).append(style)
    styled = list(units)
    for number, names in styles.items():
        unit = units[number]
        styled[number] = Unit(unit.start, unit.end, unit.kind, frozenset(names), unit.indent)
    return styled


def _join(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted stretches, those made one that overlap or have but white space between them."""
    joined = [places[0]]
    for start, end in places[1:]:
        first, last = joined[-1]
        if start <= last or text[last:start].isspace():
            joined[-1] = (first, max(last, end))
        else:
            joined.append((start, end))
    return joined


def _covered(starts: Indices, ends: Indices, places: list[tuple[int, int]]) -> Bools:
    bounds = np.array(places, dtype=np.intp)
    before = np.searchsorted(bounds[:, 0], starts, side="right") - 1
    covered: Bools = (before >= 0) & (ends <= bounds[before, 1])
    return covered
