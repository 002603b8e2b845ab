"""Formatting of any stretch of a text, from runs that may overlap."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence, Set

from ..units.unit import Run


class Formatting:
    """Looks up styles by place. runs (Sequence[Run]): in any order. styles (Set[str]): those of interest."""

    def __init__(self, runs: Sequence[Run], styles: Set[str]) -> None:
        self.places = [0]
        self.styles: list[tuple[str, ...]] = [()]
        changes = [
            (place, sign, style)
            for start, end, style in runs
            if start < end and style in styles
            for place, sign in ((start, 1), (end, -1))
        ]
        on: Counter[str] = Counter()
        for place, sign, style in sorted(changes):
            if place > self.places[-1]:
                self.places.append(place)
                self.styles.append(())
            on[style] += sign
            self.styles[-1] = tuple(sorted(name for name, count in on.items() if count > 0))

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Parts of a stretch with their styles, sorted by name. start (int), end (int): the stretch."""
        number = bisect_right(self.places, start) - 1
        while start < end:
            stop = self.places[number + 1] if number + 1 < len(self.places) else end
            stop = min(stop, end)
            yield start, stop, self.styles[number]
            start, number = stop, number + 1
