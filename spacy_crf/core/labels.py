"""Tags of a labelling scheme: which sequences are legal, and what spans they stand for.

BIO: every span starts with B-. BILUO: spans of one unit are U-, longer ones run B- I- .. L-. none: each unit has the
label of its span, so that spans of one label never touch. In all of them, O is outside.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from .arrays import Bools, Indices, Ints, Segments
from .errors import CoreErrors, CRFError

Scheme = Literal["BIO", "BILUO", "none"]
PREFIXES: dict[str, str] = {"BIO": "BI", "BILUO": "BILU", "none": ""}
OUTSIDE = "O"


@dataclass(frozen=True)
class TagSet:
    """The tags of a chain, in the order of its label indices.

    tags (tuple[str, ...]): O, B-PER, .. under a scheme; any strings under "none", those of spans by their labels.
    scheme (str): the scheme that makes sequences legal.
    """

    tags: tuple[str, ...]
    scheme: Scheme

    @classmethod
    def of_spans(cls, labels: tuple[str, ...], scheme: Scheme) -> "TagSet":
        """Tags for spans with the given labels."""
        if scheme == "none":
            raise CRFError(CoreErrors.CRF106)
        prefixed = (f"{prefix}-{label}" for label in labels for prefix in PREFIXES[scheme])
        return cls((OUTSIDE, *prefixed), scheme)

    def __len__(self) -> int:
        return len(self.tags)

    @cached_property
    def number(self) -> dict[str, int]:
        """Index of each tag."""
        return {tag: number for number, tag in enumerate(self.tags)}

    @cached_property
    def _parts(self) -> list[tuple[str, str]]:
        """(prefix, label) of each tag; ("O", "") outside."""
        known = PREFIXES[self.scheme]
        parts = [(tag[0], tag[2:]) if tag[1:2] == "-" and tag[0] in known else ("", tag) for tag in self.tags]
        return [("O", "") if tag == ("", OUTSIDE) else tag for tag in parts]

    @cached_property
    def span_labels(self) -> tuple[str, ...]:
        """Labels of the spans that the tags can form."""
        return tuple(dict.fromkeys(label for prefix, label in self._parts if prefix not in ("", "O")))

    def members(self, label: str, prefixes: str = "BILU") -> Bools:
        """((L,)): tags of a span label with one of the prefixes."""
        return np.array(
            [own == label and prefix != "" and prefix in prefixes for prefix, own in self._parts], dtype=bool
        )

    def tags_of(self, label: str) -> Bools:
        """((L,)): all tags that belong to a label: those of its spans, or the tag itself."""
        own = np.array([tag == label for tag in self.tags], dtype=bool)
        return np.asarray(self.members(label) | own)

    def begins(self) -> Bools:
        """((L,)): tags that open a span."""
        return np.array([prefix in ("B", "U") for prefix, _ in self._parts], dtype=bool)

    def continues(self) -> Bools:
        """((L,)): tags that go on with a span."""
        return np.array([prefix in ("I", "L") for prefix, _ in self._parts], dtype=bool)

    def legal(self) -> tuple[Bools, Bools, Bools]:
        """What the scheme allows: transitions (L, L) [from, to], starts (L,), ends (L,)."""
        n = len(self.tags)
        if self.scheme == "none":
            return np.ones((n, n), dtype=bool), np.ones(n, dtype=bool), np.ones(n, dtype=bool)
        allowed = np.array([[self._follows(before, after) for after in self._parts] for before in self._parts])
        open_ended = np.array([self.scheme == "BILUO" and p in ("B", "I") for p, _ in self._parts], dtype=bool)
        return allowed.reshape(n, n), ~self.continues(), ~open_ended

    def _follows(self, before: tuple[str, str], after: tuple[str, str]) -> bool:
        inside = before[0] in ("B", "I")
        if after[0] in ("I", "L"):
            return inside and before[1] == after[1]
        return not (inside and self.scheme == "BILUO")

    def spans(self, tags: Ints, lengths: Indices) -> tuple[Indices, Indices, Indices]:
        """Spans of legal tag sequences; under "none" the maximal runs of each tag but O. O(N).

        tags ((N,)): label indices. lengths ((B,)): lengths of the sequences; spans do not cross them.
        RETURNS (tuple): first unit, unit after the last, and tag of the first unit of each span.
        """
        if self.scheme == "none":
            return self._runs(tags, lengths)
        begins, inside = self.begins()[tags], self.continues()[tags]
        starts = np.flatnonzero(begins)
        first_units = np.zeros(len(tags) + 1, dtype=bool)
        first_units[Segments(lengths).ends] = True
        stops = np.append(np.flatnonzero(~inside | first_units[:-1]), len(tags))
        ends = stops[np.searchsorted(stops, starts, side="right")] if len(starts) else starts
        return starts, ends, tags[starts].astype(np.intp)

    def _runs(self, tags: Ints, lengths: Indices) -> tuple[Indices, Indices, Indices]:
        """The maximal runs of each tag but O, as `spans` returns them."""
        opens = np.ones(len(tags) + 1, dtype=bool)
        opens[1:-1] = tags[1:] != tags[:-1]
        opens[Segments(lengths).ends] = True
        bounds = np.flatnonzero(opens)
        starts, ends = bounds[:-1], bounds[1:]
        kept = tags[starts] != self.number.get(OUTSIDE, len(self))
        return starts[kept], ends[kept], tags[starts[kept]].astype(np.intp)

    def span_label(self, tag: int) -> str:
        """Label of the spans that a tag is part of.

        tag (int): index of a tag that is not outside.
        """
        return self.tags[tag] if self.scheme == "none" else self.tags[tag][2:]

    def tag_span(self, start: int, end: int, label: str) -> list[str]:
        """Tags of one span."""
        inner = end - start
        if self.scheme == "none":
            return [label] * inner
        if self.scheme == "BILUO":
            if inner == 1:
                return [f"U-{label}"]
            return [f"B-{label}", *[f"I-{label}"] * (inner - 2), f"L-{label}"]
        return [f"B-{label}", *[f"I-{label}"] * (inner - 1)]
