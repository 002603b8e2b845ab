"""DoclingDocument JSON, whose headers have what is below them as children."""

import json
from typing import Any

from ..units.layout import Layout
from ..units.tree import SectionNode, SectionTree
from ..units.unit import Kind
from .outline import Begin, End, blocks, is_titled, text_of

VERSION = "1.3.0"
LAYER = "body"


def write_docling(layout: Layout, tree: SectionTree) -> str:
    """A document as DoclingDocument: a section with a title is a section header with its level, others are groups.

    layout (Layout): the document. tree (SectionTree): its sections and labels. RETURNS (str): JSON.
    """
    writer = _Writer(layout, tree)
    headings: set[int] = set()
    for event in blocks(layout, tree):
        if isinstance(event, Begin):
            headings.update(writer.begin(event.node, event.depth))
        elif isinstance(event, End):
            writer.opened.pop()
        else:
            writer.text([place for place in event if place not in headings])
    return json.dumps(writer.document(), ensure_ascii=False, indent=1) + "\n"


class _Writer:
    def __init__(self, layout: Layout, tree: SectionTree) -> None:
        self.layout = layout
        self.tree = tree
        self.kinds = {unit.start: unit.kind for unit in layout.units}
        self.texts: list[dict[str, Any]] = []
        self.groups: list[dict[str, Any]] = []
        self.body = _root("body", LAYER)
        self.opened = [self.body]

    def begin(self, node: SectionNode, depth: int) -> list[int]:
        """Open a section; the places of elements that its header holds."""
        if not is_titled(self.tree, node):
            self.opened.append(self._add(self.groups, "groups", {"name": node.number, "label": "section"}))
            return []
        title = " ".join(text_of(self.layout, self.tree, [place]) for place in node.heading)
        header = {"label": "section_header", "prov": [], "orig": title, "text": title, "level": depth}
        self.opened.append(self._add(self.texts, "texts", header))
        return node.heading

    def text(self, places: list[int]) -> None:
        """Add a line."""
        if not places:
            return
        is_item = self.kinds.get(self.tree.elements[places[0]].start) is Kind.MARK and len(places) > 1
        text = text_of(self.layout, self.tree, places[1:] if is_item else places)
        item: dict[str, Any] = {"label": "list_item" if is_item else "text", "prov": [], "orig": text, "text": text}
        if is_item:
            item |= {"enumerated": False, "marker": text_of(self.layout, self.tree, places[:1])}
        self._add(self.texts, "texts", item)

    def document(self) -> dict[str, Any]:
        """All of it."""
        return {
            "schema_name": "DoclingDocument",
            "version": VERSION,
            "name": self.layout.name or "document",
            "furniture": _root("furniture", "furniture"),
            "body": self.body,
            "groups": self.groups,
            "texts": self.texts,
            **{name: [] for name in ("pictures", "tables", "key_value_items", "form_items")},
            "pages": {},
        }

    def _add(self, items: list[dict[str, Any]], kind: str, item: dict[str, Any]) -> dict[str, Any]:
        reference = f"#/{kind}/{len(items)}"
        parent = self.opened[-1]
        parent["children"].append({"$ref": reference})
        place = {"self_ref": reference, "parent": {"$ref": parent["self_ref"]}, "children": [], "content_layer": LAYER}
        items.append(place | item)
        return items[-1]


def _root(name: str, layer: str) -> dict[str, Any]:
    return {
        **{"self_ref": f"#/{name}", "children": [], "content_layer": layer},
        **{"name": "_root_", "label": "unspecified"},
    }
