"""Exact probabilities of spans: a chain's paths restricted to sets of labels over some adjacent units."""

from dataclasses import dataclass

import numpy as np

from ..labels import TagSet
from ..types import Bools, Doubles, Indices
from .forward import ForwardBackward
from .marginals import edge_marginals, node_marginals


@dataclass(frozen=True)
class SpanQuery:
    """S events: that units first..end-1 of a sequence take labels from given sets, and the unit after as well.

    firsts ((S,)), ends ((S,)): units of the concatenated sequences; a span lies within one sequence.
    opening ((S, L)), inner ((S, L)), closing ((S, L)): labels allowed at the first unit, between, at the last unit;
        at an only unit both opening and closing.
    after ((S, L)): labels allowed at the unit after the span, where its sequence has one.
    """

    firsts: Indices
    ends: Indices
    opening: Bools
    inner: Bools
    closing: Bools
    after: Bools


def span_probabilities(messages: ForwardBackward, query: SpanQuery) -> Doubles:
    """Probability of each event. O(total length of the spans times L^2).

    RETURNS ((S,)): exact under the model.
    """
    batch = messages.potentials.batch
    last_units = np.repeat(np.cumsum(batch.lengths), batch.lengths) - 1
    nodes = node_marginals(messages).astype(np.float64)
    single = query.ends - query.firsts == 1
    mass = np.where(query.opening & (query.closing | ~single[:, None]), nodes[batch.rows[query.firsts]], 0.0)
    out = np.zeros(len(query.firsts))
    for offset in range(1, int((query.ends - query.firsts).max(initial=0)) + 1):
        units = query.firsts + offset
        complete = (units == query.ends) & (units > last_units[query.firsts])
        out[complete] = mass[complete].sum(axis=1)
        going = np.flatnonzero((units <= query.ends) & ~complete)
        moved = _advance(messages, mass[going], batch.rows[units[going]])
        mass[going] = np.where(_allowed(query, going, units[going]), moved, 0.0)
        leaving = going[units[going] == query.ends[going]]
        out[leaving] = mass[leaving].sum(axis=1)
    return out


def _allowed(query: SpanQuery, events: Indices, units: Indices) -> Bools:
    """((n, L)): labels that the events allow at a unit after their first."""
    allowed = query.inner[events]
    closing, after = units == query.ends[events] - 1, units == query.ends[events]
    allowed[closing] = query.closing[events[closing]]
    allowed[after] = query.after[events[after]]
    return allowed


def _advance(messages: ForwardBackward, mass: Doubles, rows: Indices) -> Doubles:
    """Push probability mass (n, L) over labels one unit on, by p(y_t | y_{t-1}, x)."""
    edges = edge_marginals(messages, rows).astype(np.float64)
    leaving = edges.sum(axis=2, keepdims=True)
    conditional = np.divide(edges, leaving, out=np.zeros_like(edges), where=leaving > 0)
    return np.asarray(np.matmul(mass[:, None, :], conditional)[:, 0, :])


def exact_spans(tags: TagSet, firsts: Indices, ends: Indices, labels: list[str]) -> SpanQuery:
    """The events "a span with this label and exactly these boundaries"."""
    single = ends - firsts == 1
    opening, inner, closing = (np.zeros((len(firsts), len(tags)), dtype=bool) for _ in range(3))
    after = np.ones_like(opening)
    for number, label in enumerate(labels):
        if tags.scheme == "BILUO":
            opening[number] = closing[number] = tags.members(label, "U")
            if not single[number]:
                opening[number], closing[number] = tags.members(label, "B"), tags.members(label, "L")
        else:
            opening[number] = tags.members(label, "B")
            closing[number] = opening[number] if single[number] else tags.members(label, "I")
            after[number] = ~tags.members(label, "I")
        inner[number] = tags.members(label, "I")
    return SpanQuery(firsts, ends, opening, inner, closing, after)


def covered_spans(tags: TagSet, firsts: Indices, ends: Indices, labels: list[str]) -> SpanQuery:
    """The events "every unit lies in a span of this label, whatever its boundaries"."""
    members = np.array([tags.members(label) for label in labels], dtype=bool).reshape(len(firsts), len(tags))
    return SpanQuery(firsts, ends, members, members, members, np.ones_like(members))
