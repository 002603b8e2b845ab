"""Gold labels that may be known, unknown, a set, or a weighted set."""

from dataclasses import dataclass

import numpy as np

from .arrays import Bools, Floats, Indices, Ints
from .errors import CoreErrors, CRFError

UNKNOWN = -1


@dataclass(frozen=True)
class Gold:
    """Gold of N units: one label each, or a row of weights where one label is not enough.

    labels ((N,)): the label where exactly one is right, else UNKNOWN.
    rows ((M,)): units without a single label, ascending.
    weights ((M, L)): their rows. A row of zeros and ones is a set of allowed labels (all ones: unknown), trained by
        marginal likelihood. A row of fractions that sum to 1 is a distribution, trained as soft target; in a
        sequence that also has sets, it weighs the paths of the marginal likelihood instead (virtual evidence).
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

    def log_weights(self) -> Floats:
        """((N, L)): log weights: 0 for allowed labels, -inf for the others, log fractions for distributions."""
        with np.errstate(divide="ignore"):
            return np.log(self.dense())

    def latent_sequences(self, sequences: Indices, n_sequences: int) -> Bools:
        """((B,)): sequences with a unit whose gold is a set; the others have a fixed target for each unit."""
        distribution = np.isclose(self.weights.sum(axis=1), 1.0, atol=1e-4)
        latent = np.zeros(n_sequences, dtype=bool)
        latent[sequences[self.rows[~distribution]]] = True
        return latent

    def seen_pairs(self) -> tuple[Indices, Indices]:
        """Units and labels that gold makes possible; unknown units count for none."""
        exact = np.flatnonzero(self.labels != UNKNOWN)
        unknown = (self.weights == 1).all(axis=1, keepdims=True)
        units, labels = np.nonzero((self.weights > 0) & ~unknown)
        return np.concatenate([exact, self.rows[units]]), np.concatenate([self.labels[exact], labels])
