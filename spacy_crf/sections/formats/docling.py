"""DoclingDocument JSON, as docling exports it from PDF and office files, and with the sections of a tree."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ...core.errors import CRFError
from ...reading.records import whole_number
from ..errors import SectionErrors
from ..layout import DocumentLayout, LayoutBuilder
from ..segment import FORMATTING, PARAGRAPH, Kind
from ..tree import SectionNode, SectionTree
from .outline import Begin, End, TreeWriter

SCHEMA = "DoclingDocument"
VERSION = "1.3.0"  # that is written
LAYER = "body"
HIDDEN = "furniture"  # headers and footers of pages
INLINE = "inline"  # label of groups whose texts are one line
CLOSING = (",", ".", ";", ":", "!", "?", ")", "]")  # what follows a text of the same line without a space
OTHER = frozenset({"code", "formula", "footnote", "reference", "chart", "caption", "form", "key_value_region"})


Item: TypeAlias = Mapping[str, Any]


def is_docling(data: Any) -> bool:
    """Whether a value of JSON is a DoclingDocument."""
    return isinstance(data, Mapping) and data.get("schema_name") == SCHEMA


def read_docling(data: Any, path: Path | str) -> DocumentLayout:
    """Read a DoclingDocument: its texts in reading order, each a line or, with line ends in it, a paragraph.

    Section headers are headings of the level that docling tells; a title is the outermost heading. Bold, italic and
    underlined texts are formatting. The texts of an inline group are one line. The markers of lists are in the text.
    Tables, code, formulas, captions and footnotes are units of their own.

    path (Path | str): its file, which messages name, and so does the layout where the document has no name.
    RAISES (ValueError): for what is not a DoclingDocument.
    """
    if not is_docling(data):
        raise CRFError(SectionErrors.CRF957.format(path=path, line=1, problem=f"'schema_name' is not {SCHEMA!r}"))
    builder = LayoutBuilder()
    try:
        for head, parts in _Body(data).lines():
            _write_line(builder, head, parts)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise CRFError(SectionErrors.CRF957.format(path=path, line=1, problem=problem)) from error
    return builder.build(str(data.get("name") or Path(path).stem))


class _Body:
    """Items of the body in reading order, each before those in it, none twice, and no furniture."""

    def __init__(self, data: Item) -> None:
        self.data = data
        self.seen: set[str] = set()

    def lines(self) -> Iterator[tuple[Item, list[Item]]]:
        """The item that each line stands for, which has its marker and styles, and those with the texts in it.

        An item without text stands for the line of its first child, if that is an inline group, or a text for its
        marker.
        """
        waiting = _children(self.data["body"])
        while waiting:
            head = self._take(waiting.pop())
            if head is None:
                continue
            item, children = head, _children(head)
            if children and self._goes_on(head, children[-1]):
                self.seen.add(children[-1])
                item = self._find(children.pop())
                waiting += children
                children = _children(item)
            if item.get("label") == INLINE:
                yield head, list(self._below(item))
            else:
                yield head, [item]
                waiting += children

    def _below(self, item: Item) -> Iterator[Item]:
        waiting = _children(item)
        while waiting:
            if (found := self._take(waiting.pop())) is not None:
                yield found
                waiting += _children(found)

    def _take(self, reference: str) -> Item | None:
        """The item of a reference, the first time, unless it is not shown."""
        if reference in self.seen:
            return None
        self.seen.add(reference)
        item = self._find(reference)
        return None if item.get("content_layer") == HIDDEN else item

    def _find(self, reference: str) -> Item:
        _, kind, number = reference.split("/")
        item: Item = self.data[kind][whole_number(number)]
        return item

    def _goes_on(self, head: Item, reference: str) -> bool:
        """Whether the line of an item has the text of its first child."""
        child = self._find(reference)
        label, is_shown = child.get("label"), child.get("content_layer") != HIDDEN and reference not in self.seen
        is_part = label == INLINE or (label == "text" and bool(head.get("marker")))
        return is_part and is_shown and not _text(head) and head.get("label") != INLINE


def _children(item: Item) -> list[str]:
    """References to the items in an item, the last one first."""
    return [child["$ref"] for child in reversed(item.get("children") or ())]


def _is_table(item: Item) -> bool:
    table = item.get("data")
    return isinstance(table, dict) and "table_cells" in table


def _text(item: Item) -> str:
    return _table(item["data"]["table_cells"]) if _is_table(item) else str(item.get("text") or item.get("orig") or "")


def _write_line(builder: LayoutBuilder, head: Item, parts: Sequence[Item]) -> None:
    """Write a line of several texts, if there is any or a marker. head (Item): what the line is."""
    texts = [(text, part) for part in parts if (text := _text(part))]
    marker = str(head.get("marker") or "")
    if not texts and not marker:
        return
    builder.end_line()
    start = builder.length
    builder.write(marker)
    for number, (text, part) in enumerate(texts):
        if builder.length > start and not (number and text.startswith(CLOSING)):
            builder.gap()
        begin = builder.length
        builder.write(text)
        for style in _formatting(part) if part is not head else ():
            builder.style(begin, style)
    styles = _styles(head)
    if Kind.OTHER.value not in styles and any("\n" in text for text, _ in texts):
        styles.append(PARAGRAPH)
    for style in styles:
        builder.style(start, style)
    if head["label"] == "title":
        builder.heading(start, 0)
    elif head["label"] == "section_header":
        builder.heading(start, max(int(head.get("level") or 1), 1))
    builder.end_line()


def _formatting(item: Item) -> list[str]:
    formatting = item.get("formatting") or {}
    return [name for name in FORMATTING if formatting.get(name)]


def _styles(item: Item) -> list[str]:
    label, styles = item["label"], _formatting(item)
    if label in OTHER or _is_table(item):
        styles.append(Kind.OTHER.value)
    return styles


def _table(cells: list[Item]) -> str:
    """Rows as lines, cells with tabs between them."""
    rows: dict[int, list[str]] = {}
    for cell in cells:
        rows.setdefault(cell["start_row_offset_idx"], []).append(str(cell["text"]))
    return "\n".join("\t".join(rows[row]) for row in sorted(rows))


def write_docling(layout: DocumentLayout, tree: SectionTree) -> str:
    """A document as DoclingDocument: a section with a heading is a header with children, others are groups."""
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
        if not self.has_heading(node):
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
