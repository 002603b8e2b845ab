"""Elements and sections as spans of a Doc, what each section's span knows of its place, and gold read from spans.

A unit need not begin and end where tokens do (a tokenizer may leave "1.De" whole): its span covers the tokens that it
touches, and its exact characters are in the attrs of the group.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup

from ..annotation.extensions import read_value, register, write_value
from ..core.arrays import Indices
from ..core.errors import CRFError, excerpt
from .errors import SectionErrors
from .layout import units_of
from .segment import Kind, LayoutUnit, bounds_of
from .tree import TEXT, USUAL, Element, SectionNode, SectionTree, from_json, mark_headings

ELEMENTS, SECTIONS = "elements", "sections"  # keys of doc.spans, unless the settings say otherwise
SECTION = "SECTION"  # label of the spans of sections
TREE = "spacy_crf.sections"  # value of Docs: the tree as JSON data; of older Docs, key of doc.user_data
OFFSETS, PROBABILITIES, RULES = "offsets", "probabilities", "rules"  # keys of the elements' attrs
_FACTS = ("level", "number", "title", "probability", "virtual")
_PREFIX = "section-"  # of the ids of spans: two sections may cover the same tokens


@dataclass(frozen=True)
class Elements:
    """Labelled stretches of a text, in order."""

    starts: Indices  # ((M,)): characters
    ends: Indices
    labels: list[str]

    @classmethod
    def of(cls, triples: Sequence[tuple[int, int, str]]) -> "Elements":
        """From start, end and label of each."""
        bounds = np.array([triple[:2] for triple in triples], dtype=np.intp).reshape(-1, 2)
        return cls(bounds[:, 0], bounds[:, 1], [label for _, _, label in triples])


def write_elements(doc: Doc, key: str, elements: Elements, attrs: dict[str, list[object]]) -> None:
    """Set a group, `doc.spans[key]`, with a span for each element. O(elements + tokens).

    attrs (dict): values of each element by name, to be kept beside the offsets.
    """
    firsts, lasts = cover(doc, elements.starts, elements.ends)
    labels = {label: doc.vocab.strings.add(label) for label in set(elements.labels)}
    bounds = zip(firsts.tolist(), lasts.tolist(), elements.labels)
    spans = [Span(doc, first, last, label=labels[label]) for first, last, label in bounds]
    offsets = np.stack([elements.starts, elements.ends], axis=1).tolist()
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs={OFFSETS: offsets, **attrs})


def cover(doc: Doc, starts: Indices, ends: Indices) -> tuple[Indices, Indices]:
    """((M,), (M,)): first token of each stretch of characters, and the one behind its last; one token at least, if the
    Doc has one."""
    begins = np.array([token.idx for token in doc], dtype=np.intp)
    firsts = np.maximum(np.searchsorted(begins, starts, side="right") - 1, 0)
    lasts = np.maximum(np.searchsorted(begins, ends, side="left"), np.minimum(firsts + 1, len(doc)))
    return firsts, lasts


def read_elements(doc: Doc, key: str) -> Elements | None:
    """The elements of a Doc; None where it has none.

    Where the offsets that were noted are not of the tokens of a span, those of the span count: gold may come from any
    tool, and spans may be replaced.
    """
    group = doc.spans.get(key)
    if group is None or not len(group):
        return None
    return Elements.of(sorted((*bounds, span.label_) for bounds, span in zip(_offsets(doc, group), group)))


def char_bounds(found: Iterable[Span | SectionNode]) -> Indices:
    """((n, 2)): where spans, or sections, start and end in the text."""
    return np.array([(one.start_char, one.end_char) for one in found], dtype=np.intp).reshape(-1, 2)


def _offsets(doc: Doc, group: SpanGroup) -> list[tuple[int, int]]:
    """Start and end of the spans of a group in characters: those that were noted where they are of the same tokens."""
    spans = list(group)
    offsets = char_bounds(spans)
    noted = group.attrs.get(OFFSETS)
    if isinstance(noted, list) and len(noted) == len(spans):
        exact = np.array(noted, dtype=np.intp).reshape(-1, 2)
        covered = np.stack(cover(doc, exact[:, 0], exact[:, 1]), axis=1)
        holds = (covered == np.array([(span.start, span.end) for span in spans]).reshape(-1, 2)).all(axis=1)
        offsets = np.where(holds[:, None], exact, offsets)
    return [(start, end) for start, end in offsets.tolist()]


def labels_of_units(units: Sequence[LayoutUnit], elements: Elements, newline: str) -> list[str | None]:
    """The gold label of each unit: that of the element which holds its first character, or of the first one in it.

    newline (str): the label of blank lines, also of those within an element; other units that none touches have None.
    O(N log M).
    """
    starts, ends = bounds_of(units)
    nowhere = len(elements.starts)
    before = np.searchsorted(elements.starts, starts, side="right") - 1
    inside = np.searchsorted(elements.starts, starts, side="left")
    # behind the last element is one that holds nothing, so that -1 and M are places
    held = starts < np.append(elements.ends, -1)[before]
    touched = ends > np.append(elements.starts, np.iinfo(np.intp).max)[inside]
    chosen = np.where(held, before, np.where(touched, inside, nowhere)).tolist()
    labels = [*elements.labels, None]
    return [newline if unit.kind is Kind.NEWLINE else labels[k] for k, unit in zip(chosen, units)]


def write_sections(doc: Doc, key: str, tree: SectionTree) -> None:
    """Set the group of spans, `doc.spans[key]`, and the tree of a Doc. O(sections + tokens).

    The attrs of the group have lists with a value for each of the sections: "level", "number", "title", "probability",
    "virtual", "parent" (place in the group, -1 for none) and "offsets".
    """
    nodes = list(tree.walk())
    offsets = char_bounds(nodes)
    firsts, lasts = cover(doc, offsets[:, 0], offsets[:, 1])
    prefix = _PREFIX if key == SECTIONS else f"{_PREFIX}{key}-"  # two groups may have a section of the same tokens
    spans = [
        Span(doc, first, last, label=SECTION, span_id=f"{prefix}{number}")
        for number, (first, last) in enumerate(zip(firsts.tolist(), lasts.tolist()))
    ]
    attrs: dict[str, Any] = {fact: [getattr(node, fact) for node in nodes] for fact in _FACTS}
    attrs |= {"parent": tree.parents(), OFFSETS: offsets.tolist()}
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)
    write_value(doc, TREE, tree.to_json())


def drop_sections(doc: Doc, key: str) -> None:
    """Take away the group of spans, `doc.spans[key]`, and the tree of a Doc, where it has them."""
    doc.spans.pop(key, None)
    write_value(doc, TREE, None)
    doc.user_data.pop(TREE, None)


def register_extensions() -> None:
    """Make `doc._.section_tree`, `doc._.section_tree_json`, and `section`, `section_parent` and `section_children` of
    spans available."""
    register(Doc, "section_tree", getter=get_tree)
    register(Doc, "section_tree_json", getter=get_data, setter=set_data)
    register(Span, "section", getter=get_section)
    register(Span, "section_parent", getter=get_parent)
    register(Span, "section_children", getter=get_children)


def get_tree(doc: Doc) -> SectionTree | None:
    """The tree of a Doc; None where no component made one."""
    data = get_data(doc)
    return None if data is None else from_json(data)


def gold_tree(
    doc: Doc, key: str = SECTIONS, elements_key: str = ELEMENTS, roles: Mapping[str, str] = USUAL
) -> SectionTree | None:
    """The tree of a Doc with gold; None where it has none.

    Where `doc.spans[key]` are not the sections of the tree that is stored with the Doc, the spans count, one in the
    other as they lie, with the elements at their beginnings as headings: gold may come from any tool, and spans may be
    corrected. roles (Mapping[str, str]): labels of elements by role. RAISES (ValueError): for spans that cross.
    """
    tree, group = get_tree(doc), doc.spans.get(key)
    if group is None or (tree is None and not len(group)):
        return tree
    if tree is not None:
        stored = np.stack(cover(doc, *char_bounds(tree.walk()).T), axis=1).tolist()
        if stored == [[span.start, span.end] for span in group]:
            return tree
    elements = read_elements(doc, elements_key) or Elements.of([])
    usual = {label: USUAL[role] for role, label in roles.items()}
    places = zip(elements.starts.tolist(), elements.ends.tolist(), elements.labels)
    leaves = [Element(start, end, usual.get(label, TEXT)) for start, end, label in places]
    sections = _nested(doc, sorted(_offsets(doc, group), key=lambda own: (own[0], -own[1])))
    units = units_of(doc)
    mark_headings(sections, units, leaves)
    return SectionTree(sections, [Element(unit.start, unit.end, "") for unit in units])


def _nested(doc: Doc, bounds: Sequence[tuple[int, int]]) -> list[SectionNode]:
    """The outermost of sections with these starts and ends, which are in the order of the text, outer ones first."""
    outermost: list[SectionNode] = []
    opened: list[SectionNode] = []
    for start, end in bounds:
        while opened and opened[-1].end_char <= start:
            opened.pop()
        if opened and opened[-1].end_char < end:
            crossing = excerpt(doc.text[opened[-1].start_char :]), excerpt(doc.text[start:])
            raise CRFError(
                SectionErrors.CRF980.format(document=excerpt(doc.text), first=crossing[0], other=crossing[1])
            )
        node = SectionNode(start, end, len(opened) + 1)
        if opened:
            opened[-1].virtual |= opened[-1].start_char == start  # it has no heading of its own
        (opened[-1].children if opened else outermost).append(node)
        opened.append(node)
    return outermost


def get_data(doc: Doc) -> dict[str, Any] | None:
    """The tree of a Doc as `SectionTree.to_json` gives it, for `doc.to_json(underscore=["section_tree_json"])`."""
    found: dict[str, Any] | None = read_value(doc, TREE) or doc.user_data.get(TREE)
    return found


def set_data(doc: Doc, data: dict[str, Any]) -> None:
    """Give a Doc a tree that `get_data` has returned, as `Doc.from_json` does."""
    write_value(doc, TREE, data)


def get_section(span: Span) -> dict[str, Any] | None:
    """Level, number, title, probability and virtual of the section that a span is; None for any other span."""
    group, place = _find(span)
    return None if group is None else {fact: group.attrs[fact][place] for fact in _FACTS}


def get_parent(span: Span) -> Span | None:
    """The section around the section that a span is; None for the outermost ones."""
    group, place = _find(span)
    parent = -1 if group is None else group.attrs["parent"][place]
    return None if group is None or parent < 0 else group[parent]


def get_children(span: Span) -> list[Span]:
    """The sections right below the section that a span is."""
    group, place = _find(span)
    return [] if group is None else [group[k] for k, parent in enumerate(group.attrs["parent"]) if parent == place]


def _find(span: Span) -> tuple[SpanGroup | None, int]:
    """The group of sections that a span belongs to, and its place there; None, -1 for other spans."""
    number = span.id_.rpartition("-")[2]
    if span.label_ == SECTION and span.id_.startswith(_PREFIX) and number.isdecimal():
        place = int(number)
        for group in span.doc.spans.values():
            is_whole = len(group.attrs.get("parent", ())) == len(group)
            if is_whole and place < len(group) and (group[place].id, group[place]) == (span.id, span):
                return group, place
    return None, -1
