"""Tags of a labelling scheme: which sequences are legal, and what spans they stand for; and gold labels.

BIO: every span starts with B-. BILUO: spans of one unit are U-, longer ones run B- I- .. L-. none: each unit has the
label of its span, so that spans of one label never touch. In all of them, O is outside.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .arrays import Bools, Floats, Indices, Ints, Segments, cached_property
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

    def _having(self, *prefixes: str) -> Bools:
        """((L,)): tags with one of some prefixes."""
        return np.array([prefix in prefixes for prefix, _ in self._parts], dtype=bool)

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
        return self._having("B", "U")

    def continues(self) -> Bools:
        """((L,)): tags that go on with a span."""
        return self._having("I", "L")

    def legal(self) -> tuple[Bools, Bools, Bools]:
        """What the scheme allows: transitions (L, L) [from, to], starts (L,), ends (L,)."""
        n = len(self.tags)
        if self.scheme == "none":
            return np.ones((n, n), dtype=bool), np.ones(n, dtype=bool), np.ones(n, dtype=bool)
        labels, opened, goes_on = [label for _, label in self._parts], self._having("B", "I"), self.continues()
        same = np.array([[before == after for after in labels] for before in labels], dtype=bool).reshape(n, n)
        complete = ~opened if self.scheme == "BILUO" else np.ones(n, dtype=bool)
        return np.where(goes_on, opened[:, None] & same, complete[:, None]), ~goes_on, complete

    def spans(self, tags: Ints, lengths: Indices) -> tuple[Indices, Indices, Indices]:
        """Spans of legal tag sequences; under "none" the maximal runs of each tag but O. O(N).

        tags ((N,)): label indices; units that are UNKNOWN are outside. lengths ((B,)): lengths of the sequences; spans
            do not cross them.
        RETURNS (tuple): first unit, unit after the last, and tag of the first unit of each span.
        """
        stops = np.ones(len(tags) + 1, dtype=bool)  # units that go on with no span of the unit before
        goes_on = np.append(self.continues(), False)  # the last place is that of UNKNOWN
        stops[1:-1] = tags[1:] != tags[:-1] if self.scheme == "none" else ~goes_on[tags[1:]]
        stops[Segments(lengths).ends] = True
        bounds = np.flatnonzero(stops)
        opens = np.arange(len(self)) != self.number.get(OUTSIDE, -1) if self.scheme == "none" else self.begins()
        kept = np.append(opens, False)[tags[bounds[:-1]]]
        starts, ends = bounds[:-1][kept], bounds[1:][kept]
        return starts, ends, tags[starts].astype(np.intp)

    def span_label(self, tag: int) -> str:
        """Label of the spans that a tag, by its index, is part of; not for OUTSIDE."""
        return self.tags[tag] if self.scheme == "none" else self.tags[tag][2:]

    def tag_span(self, start: int, end: int, label: str) -> list[str]:
        """Tags of one span."""
        inner = end - start
        if self.scheme == "none":
            return [label] * inner
        if self.scheme == "BILUO":
            return [f"U-{label}"] if inner == 1 else [f"B-{label}", *[f"I-{label}"] * (inner - 2), f"L-{label}"]
        return [f"B-{label}", *[f"I-{label}"] * (inner - 1)]


UNKNOWN = -1


@dataclass(frozen=True)
class Gold:
    """Gold of N units: one label each, or a row of weights where one label is not enough.

    labels ((N,)): the label where exactly one is right, else UNKNOWN.
    rows ((M,)): units without a single label, ascending.
    weights ((M, L)): their rows. A row of zeros and ones is a set of allowed labels (all ones: unknown), trained by
        marginal likelihood. A row of fractions that sum to 1 is a distribution, trained as soft target: the loss is
        the mean over labels that are drawn from it.
    """

    labels: Ints
    rows: Indices
    weights: Floats

    @classmethod
    def known(cls, labels: Ints, n_labels: int) -> "Gold":
        """Gold from label indices; UNKNOWN ones are open to every label, and others are refused."""
        wrong = (labels < UNKNOWN) | (labels >= n_labels)
        if wrong.any():
            unit = int(np.argmax(wrong))
            raise CRFError(CoreErrors.CRF107.format(unit=unit, label=labels[unit], last=n_labels - 1))
        labels = labels.astype(np.int32)
        rows = np.flatnonzero(labels == UNKNOWN)
        return cls(labels, rows, np.ones((len(rows), n_labels), dtype=np.float32))

    @classmethod
    def weighted(cls, weights: Floats) -> "Gold":
        """Gold from one row of weights per unit ((N, L)); negative, non-finite ones and rows of zeros are refused."""
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise CRFError(CoreErrors.CRF104)
        counts = np.count_nonzero(weights, axis=1)
        if not counts.all():
            raise CRFError(CoreErrors.CRF105.format(unit=int(np.argmin(counts))))
        single = counts == 1
        labels = np.where(single, weights.argmax(axis=1), UNKNOWN).astype(np.int32)
        return cls(labels, np.flatnonzero(~single), weights[~single].astype(np.float32))

    @property
    def is_known(self) -> Bools:
        """((N,)): whether anything is known of each unit: one label, several, or how likely each is."""
        known: Bools = self.labels != UNKNOWN
        known[self.rows] = (self.weights != 1).any(axis=1)
        return known

    def take(self, rows: Indices) -> "Gold":
        """Gold of the given units, in the given order."""
        labels = self.labels[rows]
        open_rows = np.flatnonzero(labels == UNKNOWN)
        return Gold(labels, open_rows, self.weights[np.searchsorted(self.rows, rows[open_rows])])

    def slice(self, low: int, high: int) -> "Gold":
        """Gold of the units low:high, without copying."""
        first, last = np.searchsorted(self.rows, (low, high)) if len(self.rows) else (0, 0)
        return Gold(self.labels[low:high], self.rows[first:last] - low, self.weights[first:last])

    def dense(self) -> Floats:
        """((N, L)): weights of all units: 1 for a single label."""
        dense = np.zeros((len(self.labels), self.weights.shape[1]), dtype=np.float32)
        exact = np.flatnonzero(self.labels != UNKNOWN)
        dense[exact, self.labels[exact]] = 1
        dense[self.rows] = self.weights
        return dense

    def greatest(self) -> "Gold":
        """Sets of the labels with the greatest weight; a set of labels stays as it is."""
        if not len(self.rows):
            return self
        greatest = self.weights == self.weights.max(axis=1, keepdims=True)
        return Gold(self.labels, self.rows, greatest.astype(np.float32))

    def log_weights(self) -> Floats:
        """((N, L)): log weights: 0 for allowed labels, -inf for the others, log fractions for distributions."""
        with np.errstate(divide="ignore"):
            return np.log(self.dense())

    def latent_sequences(self, sequences: Indices, n_sequences: int) -> Bools:
        """((B,)): sequences with a unit whose gold is a set; the others have a fixed target for each unit."""
        latent = np.zeros(n_sequences, dtype=bool)
        latent[sequences[self.rows[~self._sums_to_one()]]] = True
        return latent

    def distributions(self) -> Indices:
        """((m,)): units whose gold is a distribution over several labels, ascending."""
        return self.rows[self._sums_to_one()]

    def fixed(self) -> Indices:
        """((m,)): units whose gold is a label or a distribution, ascending; that of the others is a set."""
        return np.setdiff1d(np.arange(len(self.labels)), self.rows[~self._sums_to_one()])

    def _sums_to_one(self) -> Bools:
        near: Bools = np.isclose(self.weights.sum(axis=1), 1.0, atol=1e-4)
        return near

    def seen_pairs(self) -> tuple[Indices, Indices]:
        """Units and labels that gold makes possible; unknown units count for none."""
        exact = np.flatnonzero(self.labels != UNKNOWN)
        unknown = (self.weights == 1).all(axis=1, keepdims=True)
        units, labels = np.nonzero((self.weights > 0) & ~unknown)
        return np.concatenate([exact, self.rows[units]]), np.concatenate([self.labels[exact], labels])
