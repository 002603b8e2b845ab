"""Words at their places on printed pages, and what is measured of them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

RAISED, SMALL = 0.5, 0.8  # of a size: baselines of small signs, such as those of footnotes, differ by less; their size
TINY = 0.42  # of a size: smaller letters stand beside an initial, and are not raised
GAP = 0.17  # of a size: the space between words is wider
OFTEN = 0.4  # the share of pages that have something at a place
SMALLER, LARGER = 0.9, 1.25  # of the usual size: other types
SAME_PLACE = 3.0  # points


@dataclass(frozen=True, slots=True)
class PrintedWord:
    """A word at its place, in points. base (float): its baseline, counted downwards. styles: such as "bold"."""

    text: str
    left: float
    right: float
    base: float
    size: float
    styles: frozenset[str] = frozenset()


Row: TypeAlias = list[PrintedWord]


def most_frequent(values: Iterable[tuple[float, int]]) -> float:
    """The value that has the highest sum of counts, of equal ones the greatest; 0 for none."""
    counts: Counter[float] = Counter()
    for value, count in values:
        counts[value] += count
    return max(counts, key=lambda value: (counts[value], value), default=0.0)


def usual_size(pages: Iterable[list[Row]]) -> float:
    """The size of most characters."""
    return most_frequent((word.size, len(word.text)) for rows in pages for row in rows for word in row)
