"""Exact probabilities of spans: a chain's paths restricted to sets of labels over some adjacent units."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Indices
from ..labels import TagSet
from .forward import ForwardBackward
from .marginals import edge_marginals, node_marginals

CHUNK = 1 << 20  # cells of the (spans, L, L) work array


@dataclass(frozen=True)
class SpanQuery:
    """S events: that units first..end-1 of a sequence take labels from given sets, and the unit after as well.

    firsts ((S,)), ends ((S,)): units of the concatenated sequences; a span lies within one sequence.
    opening ((S, L)), inner ((S, L)), closing ((S, L)): labels allowed at the first unit, between, at the last unit;
        at an only unit both opening and closing.
    after ((S, L)), before ((S, L) | None): labels allowed at the units after and before the span, where its sequence
        has them; None for all.
    """

    firsts: Indices
    ends: Indices
    opening: Bools
    inner: Bools
    closing: Bools
    after: Bools
    before: Bools | None = None


def span_probabilities(messages: ForwardBackward, *queries: SpanQuery) -> list[Doubles]:
    """Probability of each event, exact under the model. O(total length of the spans times L^2).

    queries (SpanQuery): K kinds of events about the same spans, which share most of the work.
    RETURNS (list of (S,)): probabilities for each query.
    """
    firsts, ends = queries[0].firsts, queries[0].ends
    out = np.zeros((len(firsts), len(queries)))
    batch = messages.potentials.batch
    last_units = np.repeat(batch.segments.ends, batch.lengths) - 1
    nodes = node_marginals(messages)
    size = max(1, CHUNK // messages.potentials.n_labels**2)
    for low in range(0, len(firsts), size):
        own = slice(low, low + size)
        events = _Events(
            firsts[own],
            ends[own],
            last_units[firsts[own]],
            *(
                np.stack([getattr(query, name)[own] for query in queries], axis=1)
                for name in ("opening", "inner", "closing", "after")
            ),
        )
        mass = nodes[batch.rows[firsts[own]]].astype(np.float64)[:, None, :]
        if any(query.before is not None for query in queries):
            mass = _entering(
                messages, mass, [None if query.before is None else query.before[own] for query in queries], firsts[own]
            )
        out[own] = _run(messages, events, mass)
    return list(out.T)


def _entering(messages: ForwardBackward, nodes: Doubles, before: list[Bools | None], firsts: Indices) -> Doubles:
    """((n, K, L)): probability of each label of the first units together with labels allowed at the units before.

    nodes ((n, 1, L)): marginals of the first units. before (list of (n, L)): for each query.
    """
    batch = messages.potentials.batch
    mass = np.repeat(nodes, len(before), axis=1)
    inner = np.flatnonzero(batch.times[firsts] > 0)
    edges = edge_marginals(messages, batch.rows[firsts[inner]]).astype(np.float64)
    for number, allowed in enumerate(before):
        if allowed is not None:
            mass[inner, number] = np.einsum("nf,nft->nt", allowed[inner].astype(np.float64), edges)
    return mass


@dataclass(frozen=True)
class _Events:
    """K events about each of some spans; label sets ((n, K, L)); lasts ((n,)): last units of their sequences."""

    firsts: Indices
    ends: Indices
    lasts: Indices
    opening: Bools
    inner: Bools
    closing: Bools
    after: Bools

    def allowed(self, spans: Indices, units: Indices) -> Bools:
        """((m, K, L)): labels at a unit after the first of each span."""
        allowed = self.inner[spans]
        closing, after = units == self.ends[spans] - 1, units == self.ends[spans]
        allowed[closing] = self.closing[spans[closing]]
        allowed[after] = self.after[spans[after]]
        return allowed


def _run(messages: ForwardBackward, events: _Events, nodes: Doubles) -> Doubles:
    """((n, K)): probabilities, by pushing mass from the first unit to the unit after the last.

    nodes ((n, 1 or K, L)): mass of the first units.
    """
    rows = messages.potentials.batch.rows
    single = (events.ends - events.firsts == 1)[:, None, None]
    mass = np.where(events.opening & (events.closing | ~single), nodes, 0.0)
    out = np.zeros(mass.shape[:2])
    for offset in range(1, int((events.ends - events.firsts).max(initial=0)) + 1):
        units = events.firsts + offset
        complete = (units == events.ends) & (units > events.lasts)
        out[complete] = mass[complete].sum(axis=2)
        going = np.flatnonzero((units <= events.ends) & ~complete)
        moved = np.matmul(mass[going], _conditionals(messages, rows[units[going]]))
        mass[going] = np.where(events.allowed(going, units[going]), moved, 0.0)
        leaving = going[units[going] == events.ends[going]]
        out[leaving] = mass[leaving].sum(axis=2)
    return out


def _conditionals(messages: ForwardBackward, rows: Indices) -> Doubles:
    """((n, L, L)): p(y_t | y_{t-1}, x) [from, to] of the transitions into some units."""
    edges = edge_marginals(messages, rows).astype(np.float64)
    leaving = edges.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(edges, leaving, out=np.zeros_like(edges), where=leaving > 0))


def exact_spans(tags: TagSet, firsts: Indices, ends: Indices, labels: list[str]) -> SpanQuery:
    """The events "a span with this label and exactly these boundaries"."""
    if tags.scheme == "none":
        own = np.array([tags.tags_of(label) for label in labels], dtype=bool).reshape(len(firsts), len(tags))
        return SpanQuery(firsts, ends, own, own, own, ~own, ~own)
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


def bounded_spans(tags: TagSet, firsts: Indices, ends: Indices) -> SpanQuery:
    """The events "a span with exactly these boundaries", whatever its label: legal tags do not change it inside.

    Not for the scheme "none", whose tags may change: there they are the sum of `exact_spans` over all labels.
    """
    single = (ends - firsts == 1)[:, None]
    is_tag = {prefix: np.array([tag.startswith(f"{prefix}-") for tag in tags.tags]) for prefix in "BILU"}
    inner, after = (np.broadcast_to(row, (len(firsts), len(tags))) for row in (is_tag["I"], ~is_tag["I"]))
    if tags.scheme == "BILUO":
        opening, closing = (np.where(single, is_tag["U"], is_tag[prefix]) for prefix in "BL")
        after = np.ones_like(opening)
    else:
        opening = np.broadcast_to(is_tag["B"], inner.shape)
        closing = np.where(single, is_tag["B"], is_tag["I"])
    return SpanQuery(firsts, ends, opening, inner, closing, after)


def covered_spans(tags: TagSet, firsts: Indices, ends: Indices, labels: list[str]) -> SpanQuery:
    """The events "every unit lies in a span of this label, whatever its boundaries"."""
    members = np.array([tags.tags_of(label) for label in labels], dtype=bool).reshape(len(firsts), len(tags))
    return SpanQuery(firsts, ends, members, members, members, np.ones_like(members))
