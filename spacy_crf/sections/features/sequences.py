"""Whether a numbering has its predecessor before it and its successor behind it, and how long such a sequence is.

All readings count. Links are looked for within a document, in one pass over its candidates for each direction, so the
whole is linear in the number of candidates.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.arrays import Bools, Indices
from ...core.grammar.numbering import Reading, readings
from .view import UnitView, Values

Key = tuple[object, ...]
_LENGTHS = (1, 2, 3, 4, 6, 10)
_GAPS = (1, 2, 3, 5, 9)
NAMES = (
    *("sequence before", "sequence behind", "like sequence before", "like sequence behind", "sequence length"),
    *("predecessor gap", "successor gap", "has parent", "is plausible", "row length", "row place", "row tainted"),
)


@dataclass(frozen=True)
class Links:
    """What the candidates of all documents are linked to.

    steps ((M,)): candidates of the same document that lie between a number and its nearest neighbour in the sequence;
        -1 where it has none. lengths ((M,)): members of the sequence in that direction, itself included.
    """

    steps: Indices
    lengths: Indices


class Sequences:
    """Links between the numbering candidates of a view. view (UnitView): with M of them."""

    def __init__(self, view: UnitView):
        self.view = view
        self.units = np.flatnonzero(view.is_number)
        self._readings = [readings(view.distinct[k]) for k in view.text_numbers[self.units].tolist()]
        self._documents = view.document[self.units].tolist()

    @cached_property
    def before(self) -> Links:
        """Predecessors, whatever stands around the numbers."""
        return self._link(range(len(self.units)), -1, _loose)

    @cached_property
    def behind(self) -> Links:
        """Successors, whatever stands around the numbers."""
        return self._link(range(len(self.units) - 1, -1, -1), 1, _loose)

    @cached_property
    def before_alike(self) -> Links:
        """Predecessors of the same format."""
        return self._link(range(len(self.units)), -1, _strict)

    @cached_property
    def behind_alike(self) -> Links:
        """Successors of the same format."""
        return self._link(range(len(self.units) - 1, -1, -1), 1, _strict)

    @cached_property
    def has_parent(self) -> Bools:
        """((M,)): some number before is its beginning (3 of 3.1)."""
        found = np.zeros(len(self.units), dtype=np.bool_)
        seen: set[Key] = set()
        for k, (document, own) in enumerate(zip(self._documents, self._readings)):
            found[k] = any((document, r.kinds[:-1], r.values[:-1]) in seen for r in own if len(r.values) > 1)
            seen.update((document, r.kinds, r.values) for r in own)
        return found

    def _link(self, order: Iterable[int], step: int, key: Callable[[int, Reading, int], Key]) -> Links:
        count = len(self.units)
        steps, lengths = np.full(count, -1, dtype=np.intp), np.ones(count, dtype=np.intp)
        latest: dict[Key, int] = {}
        reached: dict[Key, int] = {}
        for k in order:
            document = self._documents[k]
            for reading in self._readings[k]:
                wanted, own = key(document, reading, step), key(document, reading, 0)
                found = latest.get(wanted)
                length = 1 + reached[wanted] if found is not None else 1
                if found is not None and length > lengths[k]:
                    steps[k], lengths[k] = abs(k - found) - 1, length
                latest[own], reached[own] = k, length
        return Links(steps, lengths)


def _loose(document: int, reading: Reading, step: int) -> Key:
    return (document, reading.family, reading.values[:-1], reading.values[-1] + step)


def _strict(document: int, reading: Reading, step: int) -> Key:
    return (document, reading.format, reading.family, reading.values[:-1], reading.values[-1] + step)


@dataclass(frozen=True)
class Rows:
    """Numbering candidates that directly follow each other: spaced letters, initials, dates.

    lengths ((M,)): members of the row of each candidate. places ((M,)): of the candidate in it, from 0.
    tainted ((M,)): whether the row has a member that no sequence explains.
    """

    lengths: Indices
    places: Indices
    tainted: Bools


def find_rows(sequences: Sequences) -> Rows:
    """Rows of the candidates of a view. O(M)."""
    units, view = sequences.units, sequences.view
    if not len(units):
        return Rows(units, units, np.zeros(0, dtype=np.bool_))
    opens = np.append(True, (np.diff(units) > 1) | (np.diff(view.document[units]) > 0))
    rows = np.cumsum(opens) - 1
    sizes = np.bincount(rows)
    firsts = np.flatnonzero(opens)
    lonely = np.bincount(rows, weights=~plausible(sequences)) > 0
    return Rows(sizes[rows], np.arange(len(units)) - firsts[rows], lonely[rows])


def plausible(sequences: Sequences) -> Bools:
    """((M,)): candidates that begin a sequence, or follow or precede another one."""
    linked = (sequences.before.steps >= 0) | (sequences.behind.steps >= 0)
    return linked | sequences.has_parent


def spread(view: UnitView, units: Indices, values: Indices | Bools, missing: int = 0) -> Indices:
    """((N,)): values of some units, and another one for the rest."""
    out = np.full(len(view), missing, dtype=np.intp)
    out[units] = values
    return out


def link_features(sequences: Sequences) -> dict[str, Callable[[], Values]]:
    """Features by name, each computed when it is asked for."""
    view, units = sequences.view, sequences.units

    def length(links: Links) -> Values:
        return Values.bins(spread(view, units, links.lengths), _LENGTHS, view.is_number)

    def gap(links: Links) -> Values:
        return Values.bins(spread(view, units, links.steps, -1), (0, *_GAPS), view.is_number)

    def flag(flags: Bools) -> Values:
        return Values.flags(spread(view, units, flags) > 0)

    return {
        "sequence before": lambda: length(sequences.before),
        "sequence behind": lambda: length(sequences.behind),
        "like sequence before": lambda: length(sequences.before_alike),
        "like sequence behind": lambda: length(sequences.behind_alike),
        "sequence length": lambda: Values.bins(
            spread(view, units, sequences.before_alike.lengths + sequences.behind_alike.lengths - 1),
            _LENGTHS,
            view.is_number,
        ),
        "predecessor gap": lambda: gap(sequences.before_alike),
        "successor gap": lambda: gap(sequences.behind_alike),
        "has parent": lambda: flag(sequences.has_parent),
        "is plausible": lambda: flag(plausible(sequences)),
        "row length": lambda: Values.bins(spread(view, units, find_rows(sequences).lengths), (2, 3, 5), view.is_number),
        "row place": lambda: Values.bins(spread(view, units, find_rows(sequences).places), (1, 2), view.is_number),
        "row tainted": lambda: flag(find_rows(sequences).tainted),
    }
