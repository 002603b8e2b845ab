"""Labelled units as `doc.spans["elements"]`, and back.

A unit need not begin and end where tokens do (a tokenizer may leave "1.De" whole): its span covers the tokens that it
touches, and its exact characters are in the attrs of the group.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ..core.arrays import Bools, Indices
from .names import OFFSETS
from .units.unit import Kind, Unit


@dataclass(frozen=True)
class Elements:
    """Labelled stretches of a text, in order.

    starts ((M,)), ends ((M,)): characters. labels (list[str]): of each.
    """

    starts: Indices
    ends: Indices
    labels: list[str]

    @classmethod
    def of(cls, triples: Sequence[tuple[int, int, str]]) -> "Elements":
        """From start, end and label of each."""
        bounds = np.array([triple[:2] for triple in triples], dtype=np.intp).reshape(-1, 2)
        return cls(bounds[:, 0], bounds[:, 1], [label for _, _, label in triples])


def write_elements(doc: Doc, key: str, elements: Elements, attrs: dict[str, list[object]]) -> None:
    """Set a group with a span for each element. O(M + n).

    doc (Doc): with n tokens. key (str): of doc.spans. attrs (dict): values of each element by name, to be kept beside
        the offsets.
    """
    firsts, lasts = cover(doc, elements.starts, elements.ends)
    vocab = doc.vocab.strings
    labels = {label: vocab.add(label) for label in set(elements.labels)}
    spans = [
        Span(doc, first, last, label=labels[label])
        for first, last, label in zip(firsts.tolist(), lasts.tolist(), elements.labels)
    ]
    offsets = np.stack([elements.starts, elements.ends], axis=1).tolist()
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs={OFFSETS: offsets, **attrs})


def cover(doc: Doc, starts: Indices, ends: Indices) -> tuple[Indices, Indices]:
    """((M,), (M,)): first token of each stretch of characters, and the one behind its last; one token at least."""
    begins = np.array([token.idx for token in doc], dtype=np.intp)
    firsts = np.maximum(np.searchsorted(begins, starts, side="right") - 1, 0)
    lasts = np.maximum(np.searchsorted(begins, ends, side="left"), firsts + 1)
    return firsts, lasts


def read_elements(doc: Doc, key: str) -> Elements | None:
    """The elements of a Doc; None where it has none.

    Without offsets of their own, those of the spans count: gold may come from any tool.
    """
    group = doc.spans.get(key)
    if group is None or not len(group):
        return None
    offsets = group.attrs.get(OFFSETS)
    if not isinstance(offsets, list) or len(offsets) != len(group):
        offsets = [[span.start_char, span.end_char] for span in group]
    triples = [(start, end, span.label_) for (start, end), span in zip(offsets, group)]
    return Elements.of(sorted(triples))


def labels_of_units(units: Sequence[Unit], elements: Elements, newline: str) -> list[str | None]:
    """The gold label of each unit: that of the element which holds its first character, or of the first one in it.

    newline (str): the label of blank lines that no element holds. O(N log M).
    RETURNS (list): None where no element touches a unit.
    """
    starts = np.array([unit.start for unit in units], dtype=np.intp)
    ends = np.array([unit.end for unit in units], dtype=np.intp)
    before = np.searchsorted(elements.starts, starts, side="right") - 1
    held = _within(starts, elements.ends, before)
    inside = np.searchsorted(elements.starts, starts, side="left")
    touched = _within_starts(ends, elements.starts, inside)
    chosen = np.where(held, before, np.where(touched, inside, -1)).tolist()
    blank = [unit.kind is Kind.NEWLINE for unit in units]
    return [elements.labels[k] if k >= 0 else newline if is_blank else None for k, is_blank in zip(chosen, blank)]


def _within(starts: Indices, ends: Indices, places: Indices) -> Bools:
    found: Bools = places >= 0
    found[found] = starts[found] < ends[places[found]]
    return found


def _within_starts(ends: Indices, starts: Indices, places: Indices) -> Bools:
    found: Bools = places < len(starts)
    found[found] = starts[places[found]] < ends[found]
    return found
