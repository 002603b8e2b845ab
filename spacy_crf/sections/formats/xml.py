"""XML of formats that are not known otherwise, among them TEI and JATS, by the names of its elements."""

import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from sys import intern
from typing import NamedTuple

from ...core.grammar.numbering import readings
from ...core.sections.headings import MOST_LEVELS
from ..layout import DocumentLayout, LayoutBuilder
from ..segment import Kind
from . import MarkupElement, MarkupEvents, XmlSource
from .markup import APART, BLOCKS, INLINE, TAG_STYLES, XML_ELEMENTS, MarkupReader

TITLES, TITLES_SOMEWHERE = XML_ELEMENTS["titles"], XML_ELEMENTS["titles_somewhere"]
NUMBERS, LABELS = XML_ELEMENTS["numbers"], XML_ELEMENTS["labels"]
NOT_SHOWN, NO_SECTIONS = XML_ELEMENTS["not_shown"], XML_ELEMENTS["no_sections"]
NOTES, CITATIONS, FLAT = XML_ELEMENTS["notes"], XML_ELEMENTS["citations"], XML_ELEMENTS["flat"]
IN_PARTS, LINES_OF_TITLES = XML_ELEMENTS["in_parts"], XML_ELEMENTS["lines_of_titles"]
WITHIN_WORDS = XML_ELEMENTS["within_words"]
XML_APART = APART | XML_ELEMENTS["words"]
XML_INLINE = (INLINE | XML_APART | XML_ELEMENTS["within_lines"]) - APART
TEI_INLINE = INLINE | XML_ELEMENTS["within_lines_of_tei"]
# Of names that stand nowhere here, only elements that hold such ones do, or several parts
BLOCKS_IN_TEXT = BLOCKS | NOTES | LINES_OF_TITLES | TITLES | XML_ELEMENTS["blocks"]
TEI = frozenset({"tei", "tei.2", "teicorpus"})  # roots, in files of which `title` is the name of a work
ABOUT = ("info", "-meta", "title-group", "titlegroup")  # ends of names of what holds the title of what holds it
# Of elements that say one thing in several ways: what an editor made of the source, a reference without its marks
SECOND = {"choice": frozenset({"corr", "expan", "reg"}), "citation-alternatives": frozenset({"element-citation"})}
QUOTES = ("quot.start", "quot.end")  # of Formex, whose sign is an attribute
LINE_ENDS = ("lb", "break")  # of TEI and JATS; a line that goes on with the same word says so
NOTE_MARKS = frozenset({"fn", "foot", "footnoteRef", "noteAnchor"})  # of JATS, GROBID, USLM and TEI
HAS_PARTS = re.compile(r"\W*(?:[^\W\d]+\W+)?[0-9]+\.[0-9]")  # such a heading may stand below one beside it


class _SentenceReader(MarkupEvents):
    """Finds elements of unknown names that are within a sentence: beside words of the element that has them, and
    without blocks or several parts in them. Laws, dictionaries and manuals have hundreds of such names."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []  # of each element, in the order in which they begin; -1 for the root
        self.has_text = bytearray()  # of its own
        self.is_inked = bytearray()
        self.holds_blocks = bytearray()
        self.containers: set[int] = set()  # of sections, although their name is that of titles
        self.has_parts = False  # numbers of headings
        self.parts: dict[int, int] = {}  # elements of unknown names with text in elements that are open
        self.with_text: set[int] = set()  # what gives the text of critical editions, or a formula, and other readings
        self.open = [-1]
        self.inline, self.titles, self.numbers = XML_INLINE, TITLES, NUMBERS

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        tag = intern(name.lower())
        if not self.names and tag in TEI:
            self.inline, self.titles, self.numbers = TEI_INLINE, self.titles - {"title"}, frozenset()
        if tag in IN_PARTS:
            self.containers.update(place for place in self.open[-2:] if place >= 0 and self.names[place] == "title")
        parent = self.names[self.open[-1]] if self.names else ""
        if tag == "lem" or (tag == "math" and parent == "alternatives"):
            self.with_text.add(self.open[-1])
        self.parents.append(self.open[-1])
        self.open.append(len(self.names))
        self.names.append(tag)
        for flags in (self.has_text, self.is_inked, self.holds_blocks):
            flags.append(False)

    def data(self, text: str) -> None:
        if not text.isspace():
            self.has_text[self.open[-1]] = self.is_inked[self.open[-1]] = True
            self.has_parts |= self._is_in_heading() and HAS_PARTS.match(text) is not None

    def end(self, name: str) -> None:
        place = self.open.pop()
        parent, name = self.open[-1], self.names[place]
        has_parts = self.parts.pop(place, 0) > 1 and not self.has_text[place]
        self.holds_blocks[place] |= name not in self.inline and (has_parts or name in BLOCKS_IN_TEXT)
        if parent >= 0:
            self.holds_blocks[parent] |= self.holds_blocks[place] and name not in NOTES
            self.is_inked[parent] |= self.is_inked[place]
            if self.is_inked[place] and name not in self.inline:
                self.parts[parent] = self.parts.get(parent, 0) + 1

    def readings(self) -> frozenset[int]:
        """Return the places of readings in critical editions that are not those of the text."""
        named = enumerate(zip(self.names, self.parents)) if self.with_text else ()
        return frozenset(
            n for n, (name, parent) in named if parent in self.with_text and name in XML_ELEMENTS["readings"]
        )

    def _is_in_heading(self) -> bool:
        """Whether it is in a heading or its number, perhaps in what says their type or line."""
        return any(self.names[place] in self.titles or self.names[place] in LABELS for place in self.open[1:][-3:])

    def headings(self) -> dict[int, tuple[str, int]]:
        """Return the style of each heading, and the section that it is of, by their places.

        Where sections with a heading stand within others, that is their level. Others are "title".
        """
        owners = self._owners()
        headed, depths = set(owners.values()), list[int]()
        for place, parent in enumerate(self.parents):
            depths.append((depths[parent] if parent >= 0 else 0) + (place in headed))
        deepest = max(depths, default=0)
        if deepest < 2 or (deepest == 2 and 0 in headed and self.has_parts):  # 2.1 may stand beside 2
            return {place: ("title", owner) for place, owner in owners.items() if self.names[place] in self.titles}
        return {place: (f"heading{min(depths[owner], MOST_LEVELS)}", owner) for place, owner in owners.items()}

    def _owners(self) -> dict[int, int]:
        """The section of each heading and number."""
        found, labels, closed = dict[int, int](), dict[int, int](), bytearray(len(self.names))
        enumerated, sections = set[int](), self._sections()
        for place, (name, parent) in enumerate(zip(self.names, self.parents)):
            if parent < 0:
                continue
            closed[place] = closed[parent] or parent in found or name in NOT_SHOWN or name in CITATIONS
            owner = sections[parent]
            if closed[place] or not self.is_inked[place] or self.has_text[owner] or self.names[owner] in NO_SECTIONS:
                continue
            is_title = name in self.titles and place not in self.containers
            if name in TITLES_SOMEWHERE:
                is_title = self.names[parent] in ("book-title-group", "title-group") or parent in enumerated
            if is_title or name in self.numbers:
                found[place] = owner
                enumerated |= {owner} if name == "enum" else set()
            elif name in LABELS:
                labels[place] = owner
        headed = set(found.values())
        return found | {place: owner for place, owner in labels.items() if owner in headed}

    def _sections(self) -> list[int]:
        """Of each element, the one of which a title in it is: itself, but for `info` and the like."""
        found = list[int]()
        for place, (name, parent) in enumerate(zip(self.names, self.parents)):
            around = found[parent] if parent >= 0 and name.endswith(ABOUT) else place
            is_front = around != place and self.names[around] in ("front", "front-stub")
            found.append(max(self.parents[around], 0) if is_front else around)
        return found

    def notes(self, within: Sequence[int]) -> frozenset[int]:
        """Return the places of notes in sentences. within (Sequence[int]): as of `within`."""
        notes = ((n, parent) for n, parent in enumerate(self.parents) if self.names[n] in NOTES and parent >= 0)
        return frozenset(place for place, parent in notes if self.has_text[parent] or within[parent])

    def within(self) -> bytearray:
        """Return for each element, in the order in which they begin, whether it is within a sentence."""
        found = bytearray(len(self.names))
        for place, parent in enumerate(self.parents):
            is_beside_text = parent >= 0 and (self.has_text[parent] or found[parent])
            found[place] = is_beside_text and not self.holds_blocks[place]
        return found


class _Around(NamedTuple):
    """What goes on behind a note in a sentence."""

    place: int  # of the note
    builder: LayoutBuilder
    item: int
    line_due: bool


class _XmlReader(MarkupReader):
    inline = XML_INLINE
    apart: Set[str] = XML_APART
    citations = 0  # that are open, one in the other
    flat = 0  # titles and formulas that are open
    is_behind_field = False
    number = ""  # of a heading of TEI whose text has yet to come: GROBID takes it out of the text, others do not
    place = -1  # of the element that began last, in the order in which they begin

    def __init__(self, sentences: _SentenceReader) -> None:
        super().__init__(TAG_STYLES | dict.fromkeys(TITLES, "title"), NOT_SHOWN)
        self.within, self.readings = sentences.within(), sentences.readings()
        self.notes = sentences.notes(self.within)
        self.headings, self.containers = sentences.headings(), sentences.containers
        self.has_levels = any(style != "title" for style, _ in self.headings.values())
        self.places: list[int] = []  # of the elements that are open
        self.around: list[_Around] = []  # notes that are open
        self.due_notes: list[tuple[int, str]] = []  # each with the place in `open` of the block whose end it waits for
        self.heading = (-1, 0, 0)  # the last one: its section, where it begins, and the ink behind it
        self.ended = ""  # the last element, with nothing behind it

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.place += 1
        tag = name.lower()
        if tag in LINE_ENDS and attributes.get("break") == "no":
            name = tag = "wbr"
        if not self.open and tag in TEI:
            self.inline = TEI_INLINE
            self.tag_styles = {known: style for known, style in self.tag_styles.items() if known != "title"}
        if self.flat and tag in IN_PARTS:
            self._end_titles()
        is_end_of_line = self.citations and tag in LINE_ENDS
        if tag in QUOTES and re.fullmatch("20[0-9A-F]{2}|(?:00)?(?:22|27|AB|BB)", attributes.get("CODE", "")):
            self.data(chr(int(attributes["CODE"], 16)))
        is_apart = tag not in WITHIN_WORDS and self.open[-1:] and not self.open[-1].joint
        if is_end_of_line or (self.is_behind_field and is_apart):
            self.data(" ")
        if self._is_unknown_within(tag):
            self._begin_unknown(tag)
        self.ended = ""
        if self._is_note(tag):
            self.around.append(_Around(self.place, self.builder, self.item, self.line_due))
            self.builder, self.item, self.line_due = LayoutBuilder(), -1, False
        super().start(name, attributes)
        self.places.append(self.place)
        self.is_behind_field = False
        self.citations += self.open[-1].name in CITATIONS
        self.flat += self._is_flat
        if self.open[-1].is_block:
            number = attributes.get("n", "").strip() if self.inline is TEI_INLINE and name == "head" else ""
            self.number = number if readings(number) else ""

    def end(self, name: str) -> None:
        self.citations -= self.open[-1].name in CITATIONS
        self.flat -= self._is_flat
        self.is_behind_field = max(self.citations, self.flat) > 0 and self.open[-1].name not in WITHIN_WORDS
        place = self.places.pop()
        self._end_heading(self.open[-1], place)
        super().end(name)
        self.ended = name.lower()
        if self.due_notes and self.due_notes[-1][0] >= len(self.open):
            self._write_notes()
        if self.around and place == self.around[-1].place:
            self._end_note()

    def _write_notes(self) -> None:
        """Write the notes of the block that has ended."""
        for _, text in (note for note in self.due_notes if note[0] >= len(self.open)):
            self.builder.end_line()
            start = self.builder.length
            self.builder.write(text)
            self.builder.style(start, Kind.OTHER.value)
            self.builder.end_line()
        self.due_notes = [note for note in self.due_notes if note[0] < len(self.open)]

    def _is_note(self, name: str) -> bool:
        """Whether the element that begins is a note within a sentence."""
        return self.place in self.notes and not (self.skipped or self.citations or self.is_hidden(name, {}))

    def _end_note(self) -> None:
        """Keep the text of a note until the block ends that it is in."""
        text = " ".join(self.builder.build().text.split())
        name = "table" if self._is_in_data else ""
        blocks = (n for n, each in enumerate(self.open) if each.is_block and each.name.endswith(name))
        block = max(blocks, default=0)
        self.due_notes += [(block, text)] if text else []
        before = self.around.pop()
        self.builder, self.item, self.line_due = before.builder, before.item, before.line_due

    def _end_heading(self, element: MarkupElement, place: int) -> None:
        """Give a title its style. The number right before it is a part of it, and another title right behind it too."""
        if self.skipped or not ("title" in element.styles or place in self.headings):
            return
        style, section = self.headings.get(place, ("bold" if self.has_levels else "title", -1))
        before, start, ink = self.heading
        start = start if section >= 0 and (section, element.ink) == (before, ink) else element.start
        self.builder.style(start, style)
        self.heading = section, start, self.builder.ink
        element.styles = tuple(style for style in element.styles if style != "title")

    def data(self, text: str) -> None:
        self.is_behind_field, self.ended = False, ""
        if self.number and text.strip() and not self.skipped:
            is_said = re.match(rf"\W*(?:[^\W\d]+\s)?(?:\w+\.)*{re.escape(self.number.strip('.()'))}(?!\w)", text)
            text, self.number = text if is_said else f"{self.number} {text.lstrip()}", ""
        super().data(text)

    def _is_unknown_within(self, name: str) -> bool:
        """Whether the element that begins is within a sentence, and its name is not known."""
        return bool(self.within[self.place]) and name not in self.inline and name not in WITHIN_WORDS

    def _begin_unknown(self, name: str) -> None:
        """Part an element whose name is not known from the one right before it in a sentence."""
        if self.skipped or self.place in self.readings:
            return
        if self.ended and self.ended not in WITHIN_WORDS:
            self.builder.gap()
        if not (self.flat or self.citations):
            self.apart |= {name}

    def _begin_block(self, name: str, attributes: Mapping[str, str]) -> None:
        is_marked = name != "li" or any(element.name in ("ol", "ul") for element in self.open)
        super()._begin_block(name if is_marked else "item", attributes)

    def _end_titles(self) -> None:
        """Take what is open for parts of the document, of which only what has been read is a title."""
        for element in self.open:
            if "title" in element.styles:
                self.builder.style(element.start, "title")
                element.styles = tuple(style for style in element.styles if style != "title")
                self.flat -= element.name not in FLAT

    def _part(self, name: str) -> None:
        parent = self.open[-1] if self.open else None
        if name == self.before and parent is not None and parent.is_block and not parent.has_text and not self.flat:
            self._end_line(name)
        else:
            super()._part(name)

    @property
    def _is_flat(self) -> bool:
        """Whether the element that began last is a title, or a formula within a line."""
        return self.open[-1].name in FLAT or "title" in self.open[-1].styles

    def is_block(self, name: str) -> bool:
        if self.flat:
            return name in LINES_OF_TITLES and name not in self.inline
        return not (self.citations or name in self.inline or self.within[self.place])

    def is_hidden(self, name: str, attributes: Mapping[str, str]) -> bool:
        is_second = self.place in self.readings or (bool(self.open) and name in SECOND.get(self.open[-1].name, ()))
        is_mark = self.flat > 0 and name.lower() in ("ref", "xref")  # a "seg" may be a foot of a verse
        is_mark = is_mark and not NOTE_MARKS.isdisjoint(map(attributes.get, ("ref-type", "type", "class")))
        is_beside = name in NOTES and (self.flat > 0 or (name == "index" and self.place in self.notes))
        return super().is_hidden(name, attributes) or is_second or is_beside or is_mark

    def style_of(self, name: str) -> str | None:
        if name in TITLES_SOMEWHERE:
            return "title" if self.place in self.headings else None
        is_none = (self.citations and name in TITLES) or self.place in self.containers
        return None if is_none else super().style_of(name)


def read_xml(path: Path) -> DocumentLayout:
    """Read XML of formats that are not known otherwise, by the names of its elements.

    Those that are inline in HTML and other usual formats are so, all others begin lines. "title", "head", "heading" and
    "kop" are titles. Where sections with one stand in others, they have levels, as have numbers of sections. A note in
    a sentence is a unit behind it. A reference is a line, and none of its fields a title. In TEI, "title" is none, and
    a heading has the number that its attribute `n` says, once. Of a `choice`, what an editor made of the source is left
    out, and of an `app` that has a `lem` all else. In a title all elements are inline but those that are lines of it;
    its notes, and their marks, are left out. What is beside words in the same element is within their sentence,
    whatever its name, but for blocks such as lists and what holds some.

    RAISES (ValueError): for malformed XML, with the line.
    """
    sentences = _SentenceReader()
    XmlSource(path, sentences).read()
    reader = _XmlReader(sentences)
    XmlSource(path, reader).read()
    return reader.builder.build(path.stem, reader.language)
