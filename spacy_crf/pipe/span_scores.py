"""Exact probabilities of spans under a chain."""

from dataclasses import dataclass

import numpy as np

from ..core.arrays import Doubles, Indices
from ..core.chain.distribution import ChainDistribution
from ..core.chain.spans import bounded_spans, covered_spans, exact_spans
from ..core.labels import OUTSIDE, TagSet


@dataclass(frozen=True)
class SpanScores:
    """Exact probabilities of S spans.

    label ((S,)): of a span with this label and these boundaries.
    boundaries ((S,)): of a span with these boundaries and any label.
    covered ((S,)): of every token lying in spans of this label, whatever the boundaries.
    """

    label: Doubles
    boundaries: Doubles
    covered: Doubles

    def take(self, chosen: Indices | slice) -> "SpanScores":
        """Scores of some of the spans."""
        return SpanScores(self.label[chosen], self.boundaries[chosen], self.covered[chosen])


def score_spans(
    distribution: ChainDistribution, tags: TagSet, starts: Indices, ends: Indices, labels: list[str]
) -> SpanScores:
    """The three exact probabilities of spans."""
    if tags.scheme == "none":
        return _score_runs(distribution, tags, starts, ends, labels)
    exact, covered = exact_spans(tags, starts, ends, labels), covered_spans(tags, starts, ends, labels)
    return SpanScores(*distribution.spans(exact, bounded_spans(tags, starts, ends), covered))


def _score_runs(
    distribution: ChainDistribution, tags: TagSet, starts: Indices, ends: Indices, labels: list[str]
) -> SpanScores:
    """The same for spans that are maximal runs: those with any label are added up over the labels."""
    names = [tag for tag in tags.tags if tag != OUTSIDE]
    each = [exact_spans(tags, starts, ends, [name] * len(labels)) for name in names]
    *exact, covered = distribution.spans(*each, covered_spans(tags, starts, ends, labels))
    by_label = np.stack(exact, axis=1)
    own = by_label[np.arange(len(labels)), [names.index(label) for label in labels]]
    return SpanScores(own, by_label.sum(axis=1), covered)
