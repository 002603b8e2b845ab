"""What constraints are about: the labels behind tags, where segments begin, and facts about units."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import Bools, Indices, Ints
from ..errors import CoreErrors, CRFError
from ..labels import TagSet
from .families import Boundary, Constraint, Fixed, Labels, Level, SameSurface, StateChange
from .spelling import to_text

NOTHING = -1  # before the first unit; a surface or a fixed label that is not given


class Segment(NamedTuple):
    """Units first..end-1, all with one label (by number)."""

    label: int
    first: int
    end: int


@dataclass(frozen=True)
class Fields:
    """The labels of a tag set, by number: those of its spans, and each tag that is no part of a span.

    tags (TagSet): of the chain.
    """

    tags: TagSet
    _known: dict[Labels, frozenset[int]] = field(default_factory=dict, compare=False, repr=False)
    _tags: dict[Labels, Bools] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def of_tag(self) -> list[int]:
        """Number of the label of each tag."""
        return [self.names.index(name) for name in self._name_of_tag]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Labels by number."""
        return tuple(dict.fromkeys(self._name_of_tag))

    @cached_property
    def _name_of_tag(self) -> list[str]:
        names = list(self.tags.tags)
        for label in self.tags.span_labels:
            for tag in np.flatnonzero(self.tags.members(label)):
                names[tag] = label
        return names

    @cached_property
    def begins(self) -> dict[Level, Bools]:
        """((L + 1, L)): whether a segment begins, by the tag before (the last row: none) and the tag. By level."""
        numbers = np.array(self.of_tag)
        segment = (numbers[:, None] != numbers[None, :]) | self.tags.begins()[None, :]
        start = np.ones((1, len(numbers)), dtype=bool)
        everywhere = np.ones((len(numbers) + 1, len(numbers)), dtype=bool)
        return {"segment": np.vstack([segment, start]), "unit": everywhere}

    @cached_property
    def begin_rows(self) -> dict[Level, list[list[bool]]]:
        """`begins` as lists, which are faster one cell at a time; row NOTHING is the last."""
        return {level: table.tolist() for level, table in self.begins.items()}

    def numbers(self, labels: Labels) -> frozenset[int]:
        """Numbers of labels that are known to be there."""
        found = self._known.get(labels)
        if found is None:
            found = self._known[labels] = frozenset(map(self.names.index, labels))
        return found

    def tags_of(self, labels: Labels) -> Bools:
        """((L,)): the tags of some labels."""
        found = self._tags.get(labels)
        if found is None:
            numbers = self.numbers(labels)
            found = self._tags[labels] = np.array([number in numbers for number in self.of_tag])
        return found

    def check(self, constraint: Constraint) -> None:
        """Raise a coded error for labels that are not there."""
        for label in (label for labels in constraint.label_sets for label in labels):
            if label not in self.names:
                near = get_close_matches(label, self.names, 3, 0.0)
                raise CRFError(CoreErrors.CRF902.format(constraint=to_text(constraint), label=label, near=near))

    def segments(self, labels: list[int], tags: list[int], level: Level) -> list[Segment]:
        """The segments of a labelling, given by labels and by tags. O(T)."""
        begins = self.begin_rows[level]
        previous, starts = NOTHING, []
        for unit, tag in enumerate(tags):
            if begins[previous][tag]:
                starts.append(unit)
            previous = tag
        return [Segment(labels[first], first, end) for first, end in pairwise([*starts, len(tags)])]


@dataclass(frozen=True)
class UnitFacts:
    """What constraints may ask about units. Rows are those of the batch, in packed order, or of one sequence.

    n_units (int): how many there are.
    predicates (mapping): for each name whether it holds, (N,).
    surfaces ((N,)): a number for each surface, NOTHING where a unit is to be left alone.
    fixed ((N,)): tag that is known, NOTHING where there is none.
    RAISES (ValueError): for arrays of another length.
    """

    n_units: int
    predicates: Mapping[str, Bools] = field(default_factory=dict)
    surfaces: Indices | None = None
    fixed: Ints | None = None

    def __post_init__(self) -> None:
        given = {**self.predicates, "surfaces": self.surfaces, "fixed": self.fixed}
        for name, values in given.items():
            if values is not None and len(values) != self.n_units:
                raise CRFError(CoreErrors.CRF927.format(name=name, expected=self.n_units, actual=len(values)))

    def at(self, rows: Indices) -> "UnitFacts":
        """The facts about some of the units, such as those of one sequence."""
        return replace(
            self,
            n_units=len(rows),
            predicates={name: values[rows] for name, values in self.predicates.items()},
            surfaces=None if self.surfaces is None else self.surfaces[rows],
            fixed=None if self.fixed is None else self.fixed[rows],
        )

    def check(self, constraint: Constraint) -> None:
        """Raise a coded error if a constraint asks for what is not given."""
        if isinstance(constraint, (StateChange, Boundary)) and constraint.at not in self.predicates:
            known = ", ".join(self.predicates) or "none"
            raise CRFError(CoreErrors.CRF906.format(constraint=to_text(constraint), name=constraint.at, known=known))
        if isinstance(constraint, SameSurface) and self.surfaces is None:
            raise CRFError(CoreErrors.CRF907.format(constraint=to_text(constraint), what="surfaces"))
        if isinstance(constraint, Fixed) and self.fixed is None:
            raise CRFError(CoreErrors.CRF907.format(constraint=to_text(constraint), what="fixed labels"))

    @cached_property
    def repeats(self) -> list[tuple[int, int]]:
        """Pairs of units of one sequence with the same surface, one the next occurrence after the other. O(T)."""
        pairs, latest = [], dict[int, int]()
        for unit, surface in enumerate([] if self.surfaces is None else self.surfaces.tolist()):
            if surface != NOTHING:
                if surface in latest:
                    pairs.append((latest[surface], unit))
                latest[surface] = unit
        return pairs

    def marks(self, name: str, gap: bool = False) -> Indices:
        """Units of one sequence at which a predicate holds, with a unit before and (unless in a gap) one after them."""
        held = np.flatnonzero(self.predicates[name])
        last = self.n_units - 1 if gap else self.n_units - 2
        return held[(held >= 1) & (held <= last)]

    def closed(self, boundary: Boundary) -> Indices:
        """Units of one sequence, from the second on, before which there may be no boundary."""
        holds = self.predicates[boundary.at].astype(bool)
        holds = holds[1:] if boundary.opening else holds[:-1]
        return np.flatnonzero(~holds) + 1
