"""DoclingDocument JSON, as docling exports it from PDF and office files, and with the sections of a tree."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...core.errors import CRFError
from ...reading.numbers import whole_number
from ...reading.records import parse_json
from ..errors import SectionErrors
from ..layout import DocumentLayout, LayoutBuilder
from ..segment import PARAGRAPH, Kind
from ..tree import SectionNode, SectionTree
from . import read_text
from .outline import Begin, End, TreeWriter

SCHEMA = "DoclingDocument"
VERSION = "1.3.0"  # that is written
LAYER = "body"
HIDDEN = "furniture"  # headers and footers of pages
FORMATTING = ("bold", "italic", "underline")
OTHER = frozenset({"code", "formula", "footnote", "reference", "chart", "caption", "form", "key_value_region"})


def read_docling(path: Path) -> DocumentLayout:
    """Read a DoclingDocument: its texts in reading order, each a line or, with line ends in it, a paragraph.

    Section headers and titles are formatting, as their levels are docling's guess; so are bold, italic and underlined
    texts. The markers of lists are in the text. Tables, code, formulas, captions and footnotes are units of their own.

    RAISES (ValueError): for what is not JSON, with the line, or not a DoclingDocument.
    """
    data = _load(path)
    builder = LayoutBuilder()
    try:
        for item in _items(data):
            _read_item(builder, item)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise CRFError(SectionErrors.CRF957.format(path=path, line=1, problem=problem)) from error
    return builder.build(str(data.get("name") or path.stem))


def _load(path: Path) -> dict[str, Any]:
    data = parse_json(read_text(path), str(path))
    if not isinstance(data, dict) or data.get("schema_name") != SCHEMA:
        raise CRFError(SectionErrors.CRF957.format(path=path, line=1, problem=f"'schema_name' is not {SCHEMA!r}"))
    return data


def _items(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Items of the body in reading order, each before those in it, and none twice."""
    seen: set[str] = set()
    waiting = [child["$ref"] for child in reversed(data["body"]["children"])]
    while waiting:
        reference = waiting.pop()
        if reference in seen:
            continue
        seen.add(reference)
        _, kind, number = reference.split("/")
        item = data[kind][whole_number(number)]
        if item.get("content_layer") != HIDDEN:
            yield item
            waiting += [child["$ref"] for child in reversed(item.get("children") or ())]


def _read_item(builder: LayoutBuilder, item: Mapping[str, Any]) -> None:
    table = item.get("data")
    if isinstance(table, dict) and "table_cells" in table:
        _read_line(builder, _table(table["table_cells"]), [Kind.OTHER.value])
    elif text := item.get("text") or item.get("orig"):
        marker = str(item.get("marker") or "")
        _read_line(builder, f"{marker} {text}" if marker else str(text), _styles(item))


def _read_line(builder: LayoutBuilder, text: str, styles: list[str]) -> None:
    builder.end_line()
    start = builder.length
    builder.write(text)
    if "\n" in text and Kind.OTHER.value not in styles:
        styles.append(PARAGRAPH)
    for style in styles:
        builder.style(start, style)
    builder.end_line()


def _styles(item: Mapping[str, Any]) -> list[str]:
    label = item["label"]
    formatting = item.get("formatting") or {}
    styles = [name for name in FORMATTING if formatting.get(name)]
    if label in OTHER:
        styles.append(Kind.OTHER.value)
    elif label == "title":
        styles.append("title")
    elif label == "section_header":
        styles.append(f"heading{min(max(int(item.get('level') or 1), 1), 6)}")
    return styles


def _table(cells: list[Mapping[str, Any]]) -> str:
    """Rows as lines, cells with tabs between them."""
    rows: dict[int, list[str]] = {}
    for cell in cells:
        rows.setdefault(cell["start_row_offset_idx"], []).append(str(cell["text"]))
    return "\n".join("\t".join(rows[row]) for row in sorted(rows))


def write_docling(layout: DocumentLayout, tree: SectionTree) -> str:
    """A document as DoclingDocument: a section with a title is a header with children, others are groups."""
    return json.dumps(_DoclingWriter(layout, tree).document(), ensure_ascii=False, indent=1) + "\n"


class _DoclingWriter(TreeWriter):
    def __init__(self, layout: DocumentLayout, tree: SectionTree) -> None:
        super().__init__(layout, tree)
        self.items: dict[str, list[dict[str, Any]]] = {"groups": [], "texts": []}
        self.body = _root("body", LAYER)
        self.opened = [self.body]
        for event in self.blocks():
            if isinstance(event, Begin):
                self._begin(event.node, event.depth)
            elif isinstance(event, End):
                self.opened.pop()
            else:
                self._text(event)

    def _begin(self, node: SectionNode, depth: int) -> None:
        if not self.is_titled(node):
            self.opened.append(self._add("groups", {"name": node.number, "label": "section"}))
            return
        title = self.heading(node)
        header = {"label": "section_header", "prov": [], "orig": title, "text": title, "level": depth}
        self.opened.append(self._add("texts", header))

    def _text(self, places: list[int]) -> None:
        is_item = self.is_item(places)
        text = self.line(places[is_item:])
        item: dict[str, Any] = {"label": "list_item" if is_item else "text", "prov": [], "orig": text, "text": text}
        if is_item:
            item |= {"enumerated": False, "marker": self.line(places[:1])}
        self._add("texts", item)

    def document(self) -> dict[str, Any]:
        return {
            "schema_name": SCHEMA,
            "version": VERSION,
            "name": self.layout.name or "document",
            "furniture": _root("furniture", "furniture"),
            "body": self.body,
            **self.items,
            **{name: [] for name in ("pictures", "tables", "key_value_items", "form_items")},
            "pages": {},
        }

    def _add(self, kind: str, item: dict[str, Any]) -> dict[str, Any]:
        items, parent = self.items[kind], self.opened[-1]
        reference = f"#/{kind}/{len(items)}"
        parent["children"].append({"$ref": reference})
        place = {"self_ref": reference, "parent": {"$ref": parent["self_ref"]}, "children": [], "content_layer": LAYER}
        items.append(place | item)
        return items[-1]


def _root(name: str, layer: str) -> dict[str, Any]:
    place = {"self_ref": f"#/{name}", "children": [], "content_layer": layer}
    return place | {"name": "_root_", "label": "unspecified"}
