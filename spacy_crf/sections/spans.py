"""Sections as spans: `doc.spans["sections"]`, nested, and what each span knows of its place in the tree."""

from typing import Any

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ..annotation.extensions import register
from .elements import cover
from .names import OFFSETS, SECTION, TREE
from .units.tree import SectionTree, from_json

_FACTS = ("level", "number", "title", "probability", "virtual")
_PREFIX = "section-"  # of the ids of spans: two sections may cover the same tokens


def write_sections(doc: Doc, key: str, tree: SectionTree) -> None:
    """Set the group of spans and the tree of a Doc. O(S + n).

    The attrs of the group have lists with a value for each of the S sections: "level", "number", "title",
    "probability", "virtual", "parent" (place in the group, -1 for none) and "offsets".

    doc (Doc): with n tokens. key (str): of doc.spans.
    """
    nodes = list(tree.walk())
    place = {id(node): number for number, node in enumerate(nodes)}
    parents = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        for child in node.children:
            parents[place[id(child)]] = number
    offsets = np.array([(node.start_char, node.end_char) for node in nodes], dtype=np.intp).reshape(-1, 2)
    firsts, lasts = cover(doc, offsets[:, 0], offsets[:, 1])
    spans = [
        Span(doc, first, last, label=SECTION, span_id=f"{_PREFIX}{number}")
        for number, (first, last) in enumerate(zip(firsts.tolist(), lasts.tolist()))
    ]
    attrs: dict[str, Any] = {fact: [getattr(node, fact) for node in nodes] for fact in _FACTS}
    doc.spans[key] = SpanGroup(
        doc, name=key, spans=spans, attrs={**attrs, "parent": parents, OFFSETS: offsets.tolist()}
    )
    doc.user_data[TREE] = tree.to_json()


def register_extensions() -> None:
    """Make `doc._.section_tree`, and `section`, `section_parent` and `section_children` of spans available."""
    register(Doc, "section_tree", getter=get_tree)
    register(Span, "section", getter=get_section)
    register(Span, "section_parent", getter=get_parent)
    register(Span, "section_children", getter=get_children)


def get_tree(doc: Doc) -> SectionTree | None:
    """The tree of a Doc; None where no component made one."""
    data = doc.user_data.get(TREE)
    return None if data is None else from_json(data)


def get_section(span: Span) -> dict[str, Any] | None:
    """Level, number, title, probability and virtual of the section that a span is; None for any other span."""
    found = _find(span)
    if found is None:
        return None
    group, place = found
    return {fact: group.attrs[fact][place] for fact in _FACTS}


def get_parent(span: Span) -> Span | None:
    """The section around the section that a span is; None for the outermost ones."""
    found = _find(span)
    if found is None:
        return None
    group, place = found
    parent = group.attrs["parent"][place]
    return None if parent < 0 else group[parent]


def get_children(span: Span) -> list[Span]:
    """The sections right below the section that a span is."""
    found = _find(span)
    if found is None:
        return []
    group, place = found
    return [group[k] for k, parent in enumerate(group.attrs["parent"]) if parent == place]


def _find(span: Span) -> tuple[SpanGroup, int] | None:
    """The group of sections that a span belongs to, and its place there."""
    if span.label_ != SECTION or not span.id_.startswith(_PREFIX):
        return None
    place = int(span.id_.removeprefix(_PREFIX))
    for group in span.doc.spans.values():
        if "parent" in group.attrs and place < len(group) and group[place].id == span.id:
            return group, place
    return None
