"""Probabilities of any spans, as components over a chain give them."""

from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc, Span

from ..core.arrays import Segments
from ..core.errors import CRFError, excerpt
from ..core.labels import OUTSIDE
from .component import ChainPipe
from .errors import PipeErrors
from .span_scores import SpanScores, score_spans


def probabilities_of(pipe: ChainPipe, doc: Doc, spans: Sequence[Span]) -> SpanScores:
    """Exact probabilities of spans; their labels must be among the component's.

    The settings `temperature` and `given` hold for them too.

    RETURNS (SpanScores): label, boundaries and covered, one value for each span.
    RAISES (ValueError): for a span whose label the component does not know, or a model of order 2.
    """
    pipe.scores.weights.require_first_order(pipe.name, "probabilities of spans")
    for span in spans:
        if span.label_ not in pipe.labels or (pipe.has_plain_spans and span.label_ == OUTSIDE):
            raise CRFError(PipeErrors.CRF403.format(label=span.label_, document=excerpt(doc.text), name=pipe.name))
    columns, distribution = pipe.distribution([doc])
    sequence = Segments(columns.lengths).owners
    # a span that is empty or runs across sequences is impossible
    inside = [k for k, s in enumerate(spans) if len(s) and sequence[s.start] == sequence[s.end - 1]]
    found = SpanScores(*(np.zeros(len(spans)) for _ in range(3)))
    if inside:
        starts = np.array([spans[k].start for k in inside], dtype=np.intp)
        ends = np.array([spans[k].end for k in inside], dtype=np.intp)
        scores = score_spans(distribution, pipe.tags, starts, ends, [spans[k].label_ for k in inside])
        found.label[inside], found.boundaries[inside] = scores.label, scores.boundaries
        found.covered[inside] = scores.covered
    return found
