"""Exact probabilities of spans: a chain's paths restricted to sets of labels over some adjacent units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from ..arrays import Bools, Doubles, Indices, Ints, Segments, chunks
from ..labels import OUTSIDE, TagSet
from .forward import ForwardBackward
from .lattice import Lattice, LatticeMarginals
from .marginals import edge_marginals, node_marginals, step_probabilities

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
    """((S,)) for each query about the same spans: exact probabilities of its events. O(units of spans times L^2)."""
    firsts, ends = queries[0].firsts, queries[0].ends
    out = np.zeros((len(firsts), len(queries)))
    nodes, rows = node_marginals(messages), messages.potentials.batch.rows
    for own in chunks(slice(0, len(firsts)), messages.potentials.n_labels**2, CHUNK):
        sets = [
            np.stack([getattr(query, name)[own] for query in queries], axis=1)
            for name in ("opening", "inner", "closing", "after")
        ]
        mass = nodes[rows[firsts[own]]].astype(np.float64)[:, None, :]
        before = [None if query.before is None else query.before[own] for query in queries]
        if any(allowed is not None for allowed in before):
            mass = _entering(messages, mass, before, firsts[own])
        out[own] = _run(messages, SpanQuery(firsts[own], ends[own], *sets), mass)
    return list(out.T)


def _entering(messages: ForwardBackward, nodes: Doubles, before: list[Bools | None], firsts: Indices) -> Doubles:
    """((n, K, L)): marginals ((n, 1, L)) of first units, together with labels ((n, L)) allowed before, by query."""
    batch = messages.potentials.batch
    mass = np.repeat(nodes, len(before), axis=1)
    inner = np.flatnonzero(batch.times[firsts] > 0)
    edges = edge_marginals(messages, batch.rows[firsts[inner]]).astype(np.float64)
    for number, allowed in enumerate(before):
        if allowed is not None:
            mass[inner, number] = np.einsum("nf,nft->nt", allowed[inner].astype(np.float64), edges)
    return mass


def _run(messages: ForwardBackward, events: SpanQuery, nodes: Doubles) -> Doubles:
    """((n, K)): probabilities of events ((n, K, L)), by pushing mass from the first unit to the one after the last."""
    batch, firsts, ends = messages.potentials.batch, events.firsts, events.ends
    at_end = ends == batch.segments.ends[batch.segments.owners[firsts]]  # of their sequences
    single = (ends - firsts == 1)[:, None, None]
    mass = np.where(events.opening & (events.closing | ~single), nodes, 0.0)
    out = np.zeros(mass.shape[:2])
    for offset in range(1, int((ends - firsts).max(initial=0)) + 1):
        units = firsts + offset
        complete = (units == ends) & at_end
        out[complete] = mass[complete].sum(axis=2)
        going = np.flatnonzero((units <= ends) & ~complete)
        allowed, left = events.inner[going], ends[going] - units[going]
        allowed[left == 1] = events.closing[going[left == 1]]
        allowed[left == 0] = events.after[going[left == 0]]
        moved = np.matmul(mass[going], step_probabilities(messages, batch.rows[units[going]]))
        mass[going] = np.where(allowed, moved, 0.0)
        leaving = going[left == 0]
        out[leaving] = mass[leaving].sum(axis=2)
    return out


def lattice_span_probabilities(lattice: Lattice, marginals: LatticeMarginals, *queries: SpanQuery) -> list[Doubles]:
    """The same under a lattice whose states have labels. O(states and arcs of the units of spans)."""
    nothing = np.ones_like(marginals.states)
    reached = np.where(marginals.states > 0, marginals.states, nothing)
    moves = marginals.arcs / reached.take(lattice.origins)  # p(arc | state it comes from)
    return [_run_lattice(lattice, marginals, moves, query) for query in queries]


def _run_lattice(lattice: Lattice, marginals: LatticeMarginals, moves: Doubles, events: SpanQuery) -> Doubles:
    """((S,)): probabilities of events, by pushing mass through the states from the first unit to the one behind."""
    batch, firsts, ends = lattice.batch, events.firsts, events.ends
    out, at_end = np.zeros(len(firsts)), ends == batch.segments.ends[batch.segments.owners[firsts]]
    going = np.arange(len(firsts))
    states, owners = lattice.states_of(batch.rows[firsts])
    labels, single = lattice.labels[states], (ends - firsts == 1)[owners]
    allowed = events.opening[owners, labels] & (events.closing[owners, labels] | ~single)
    mass = np.where(allowed, _entered(lattice, marginals, states, owners, events), 0.0)
    for unit in range(1, int((ends - firsts).max(initial=0)) + 1):
        complete = (firsts[going] + unit == ends[going]) & at_end[going]
        sums = np.bincount(owners, weights=mass, minlength=len(going))
        out[going[complete]] = sums[complete]
        chosen = np.flatnonzero((firsts[going] + unit <= ends[going]) & ~complete)
        if not len(chosen):
            break
        begins = np.searchsorted(owners, chosen) - lattice.bounds[batch.rows[firsts[going[chosen]] + unit - 1]]
        going = going[chosen]
        states, owners = lattice.states_of(batch.rows[firsts[going] + unit])
        arcs = Segments(lattice.n_arcs[states])
        into = arcs.at(lattice.entries[states])
        before = mass[lattice.origins[into] + begins[owners][arcs.owners]]
        mass = np.bincount(arcs.owners, weights=before * moves[into], minlength=len(states))
        left, labels = (ends[going] - firsts[going] - unit)[owners], lattice.labels[states]
        sets = ((left > 1, events.inner), (left == 1, events.closing), (left == 0, events.after))
        kept = np.select([chosen for chosen, _ in sets], [own[going[owners], labels] for _, own in sets])
        mass = np.where(kept, mass, 0.0)
        leaving = np.flatnonzero(ends[going] - firsts[going] == unit)
        out[going[leaving]] = np.bincount(owners, weights=mass, minlength=len(going))[leaving]
    return out


def _entered(
    lattice: Lattice, marginals: LatticeMarginals, states: Indices, owners: Indices, events: SpanQuery
) -> Doubles:
    """((n,)): probabilities of states of first units, each together with a label that is allowed before its span."""
    if events.before is None:
        return marginals.states[states]
    arcs = Segments(lattice.n_arcs[states])
    into = arcs.at(lattice.entries[states])
    allowed = events.before[owners[arcs.owners], lattice.labels[lattice.origins[into]]]
    entered = np.bincount(arcs.owners, weights=marginals.arcs[into] * allowed, minlength=len(states))
    return np.where(lattice.n_arcs[states] > 0, entered, marginals.states[states])


def exact_spans(tags: TagSet, firsts: Indices, ends: Indices, labels: list[str]) -> SpanQuery:
    """The events "a span with this label and exactly these boundaries"."""
    if tags.scheme == "none":
        own = _stacked(tags, labels, tags.tags_of)
        return SpanQuery(firsts, ends, own, own, own, ~own, ~own)

    def members(prefix: str) -> Bools:
        return _stacked(tags, labels, lambda label: tags.members(label, prefix))

    return _bounded(tags, firsts, ends, members)


def longer_spans(tags: TagSet, firsts: Indices, ends: Indices, labels: list[str]) -> SpanQuery:
    """The events "a span with this label that begins here and goes on behind the end", which is within its sequence."""
    exact = exact_spans(tags, firsts, ends, labels)
    if tags.scheme != "BILUO":
        return replace(exact, after=exact.inner)
    opening = _stacked(tags, labels, lambda label: tags.members(label, "B"))
    closing = np.where((ends - firsts == 1)[:, None], opening, exact.inner)
    return replace(exact, opening=opening, closing=closing)


class GivesSpans(Protocol):
    """What tells probabilities of spans and of labels ((N, L))."""

    @property
    def marginals(self) -> Doubles: ...
    def spans(self, *queries: SpanQuery) -> list[Doubles]: ...


class LikelySpans(NamedTuple):
    """S spans by their first units: first units, units after the last, labels, probabilities ((S,)), falling."""

    firsts: Indices
    ends: Indices
    labels: Sequence[str]
    probabilities: Doubles


def likely_spans(found: GivesSpans, tags: TagSet, lengths: Indices, least: float, longest: int) -> LikelySpans:
    """All spans with at least some probability, of at most some units.

    Spans grow unit by unit from where they can begin, as long as it is likely enough that they go on: at most 1 / least
    spans are looked at for each first unit and length.
    lengths ((B,)): of the sequences.
    """
    labels = tags.span_labels if tags.scheme != "none" else tuple(tag for tag in tags.tags if tag != OUTSIDE)
    openings = _stacked(tags, labels, lambda label: tags.members(label, "BU") | (np.array(tags.tags) == label))
    firsts, kinds = np.nonzero(found.marginals @ openings.T >= least)
    sequences = Segments(lengths)
    behind = sequences.ends[sequences.owners]
    none = np.zeros(0, dtype=np.intp)
    parts = [LikelySpans(none, none, (), np.zeros(0))]
    for length in range(1, longest + 1):
        inside = firsts + length <= behind[firsts]
        firsts, kinds = firsts[inside], kinds[inside]
        if not len(firsts):
            break
        where = tags, firsts, firsts + length, [labels[kind] for kind in kinds.tolist()]
        exact, longer = found.spans(exact_spans(*where), longer_spans(*where))
        kept, goes_on = exact >= least, longer >= least
        names = [labels[kind] for kind in kinds[kept].tolist()]
        parts.append(LikelySpans(firsts[kept], firsts[kept] + length, names, exact[kept]))
        firsts, kinds = firsts[goes_on], kinds[goes_on]
    firsts, ends, probabilities = (np.concatenate([part[column] for part in parts]) for column in (0, 1, 3))
    order = np.lexsort((-probabilities, firsts))
    names = [name for part in parts for name in part.labels]
    return LikelySpans(firsts[order], ends[order], [names[k] for k in order.tolist()], probabilities[order])


def best_spans(found: LikelySpans, cost: float) -> Indices:
    """Numbers of the spans, no two of which overlap, with the greatest sum of probabilities less a cost for each.

    Spans are chosen so for the greatest expected F, if the cost is half of that F. After Lipton, Elkan & Naryanaswamy
    (2014), Optimal Thresholding of Classifiers to Maximize F1 Measure, whose decisions do not exclude each other.
    O(S log S).
    """
    order = np.argsort(found.ends, kind="stable")
    ends, gains = found.ends[order], found.probabilities[order] - cost
    n_before = np.searchsorted(ends, found.firsts[order], side="right").tolist()  # spans that end where it begins
    sums = [0.0]
    for gain, before in zip(gains.tolist(), n_before):
        sums.append(max(sums[-1], sums[before] + gain))
    chosen, left = list[int](), len(order)
    while left:
        is_chosen = sums[left] > sums[left - 1]
        chosen += [left - 1] * is_chosen
        left = n_before[left - 1] if is_chosen else left - 1
    return order[chosen[::-1]]


def span_labels(found: GivesSpans, tags: TagSet, lengths: Indices, cost: float) -> Ints:
    """((N,)): labels of the units by the best spans, see `best_spans`; cost (float): above 0. lengths ((B,)): of the
    sequences. Not for the scheme "none", in which spans of one label side by side are one."""
    likely = likely_spans(found, tags, lengths, cost, int(lengths.max(initial=0)))
    labels = np.full(int(lengths.sum()), tags.number[OUTSIDE], dtype=np.int32)
    for k in best_spans(likely, cost).tolist():
        first, end = int(likely.firsts[k]), int(likely.ends[k])
        labels[first:end] = [tags.number[tag] for tag in tags.tag_span(first, end, likely.labels[k])]
    return labels


def bounded_spans(tags: TagSet, firsts: Indices, ends: Indices) -> SpanQuery:
    """The events "a span with exactly these boundaries", whatever its label: legal tags do not change it inside.

    Not for the scheme "none", whose tags may change: there they are the sum of `exact_spans` over all labels.
    """
    return _bounded(tags, firsts, ends, lambda prefix: np.array([tag.startswith(f"{prefix}-") for tag in tags.tags]))


def covered_spans(tags: TagSet, firsts: Indices, ends: Indices, labels: list[str]) -> SpanQuery:
    """The events "every unit lies in a span of this label, whatever its boundaries"."""
    members = _stacked(tags, labels, tags.tags_of)
    return SpanQuery(firsts, ends, members, members, members, np.ones_like(members))


def _bounded(tags: TagSet, firsts: Indices, ends: Indices, members: Callable[[str], Bools]) -> SpanQuery:
    """Spans with these boundaries. members (prefix -> (S, L) or (L,)): tags of each prefix that they may have."""
    shape, single = (len(firsts), len(tags)), (ends - firsts == 1)[:, None]
    inner, after = np.broadcast_to(members("I"), shape), np.ones(shape, dtype=bool)
    if tags.scheme == "BILUO":
        opening, closing = (np.where(single, members("U"), members(prefix)) for prefix in "BL")
    else:
        opening, after = np.broadcast_to(members("B"), shape), ~inner
        closing = np.where(single, opening, inner)
    return SpanQuery(firsts, ends, opening, inner, closing, after)


def _stacked(tags: TagSet, labels: Sequence[str], find: Callable[[str], Bools]) -> Bools:
    """((S, L)): the set of tags of each label; found once for each that there is."""
    sets = {label: find(label) for label in set(labels)}
    return np.array([sets[label] for label in labels], dtype=bool).reshape(-1, len(tags))
