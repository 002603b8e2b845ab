"""A text with its formatting, as a file has it or a Doc carries it."""

import unicodedata
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from spacy.attrs import LENGTH, SPACY
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.extensions import read_value, write_value
from ..core.arrays import Bools, cached_property
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.sections.headings import MOST_LEVELS
from ..reading.figures import shifted
from ..reading.files import check_text
from .errors import SectionErrors, SectionWarnings
from .segment import Kind, LayoutUnit, Run, bounds_of, segment

MOST_SIGNS = 20  # characters of a link that is but a sign
LAYOUT = "spacy_crf.layout"  # value of Docs, of older ones key of `doc.user_data`: a list of [start, end, style]
NAME = "spacy_crf.layout.name"  # key of `Doc.user_data`: the document's name


@dataclass(frozen=True)
class DocumentLayout:
    """A document as a reader of files gives it.

    runs (tuple[Run, ...]): start, end and style of formatted stretches, or the kind of unit that a stretch is (see
    `segment`). language (str): its code, such as "nl"; "" if it is unknown.
    """

    text: str
    runs: tuple[Run, ...] = ()
    name: str = ""
    language: str = ""

    @cached_property
    def units(self) -> list[LayoutUnit]:
        """Units of the text, see `segment`."""
        return segment(self.text, self.runs)


class LayoutBuilder:
    """Text and formatting, written in the order of a document."""

    def __init__(self) -> None:
        self.length = 0  # characters so far
        self.ink = 0  # pieces that were not white
        self.runs: list[Run] = []
        self.headings: list[tuple[int, int, int]] = []  # start, end and level, see `heading`
        self._pieces: list[str] = []
        self.ending = "\n"  # the last two characters
        self.shift = 0  # of what is written, where nothing else is said
        self._shift, self._first, self._before = 0, 0, ""  # of the last pieces, the first of them, what ended there

    def write(self, text: str, shift: int = 0) -> None:
        """Add text as it is, but for figures beside digits that are set higher or lower (see `shifted`)."""
        if text:
            shift = shift or self.shift
            if shift != self._shift:
                if self._shift:  # what stands behind these pieces tells too how they are written
                    last = self._pieces[self._first :]
                    self._pieces[self._first :] = [shifted(own, self._shift, "", text) for own in last]
                self._shift, self._first, self._before = shift, len(self._pieces), self.ending
            text = shifted(text, shift, self._before)
            self._pieces.append(text)
            self.length += len(text)
            self.ending = (self.ending + text)[-2:]
            self.ink += not text.isspace()

    def flow(self, text: str) -> None:
        """Add text with one space for each stretch of white space that has a line end; none at the start of a line."""
        if "\n" in text:
            first, *middle, last = text.split("\n")
            inner = [line for line in map(str.strip, middle) if line]
            text = " ".join([first.rstrip(), *inner, last.lstrip()])
        self.write(text.lstrip() if self.ending[-1] == "\n" else text)

    def collapse(self, text: str, shift: int = 0) -> None:
        """Add text (see `write`); a space at its start is left out behind white space."""
        self.write(text.removeprefix(" ") if self.ending[-1].isspace() else text, shift)

    def part_digits(self) -> None:
        """Add a space behind a digit: 1 1/2 is not 11/2."""
        if self.ending[-1].isdigit():
            self.write(" ")

    def gap(self) -> None:
        """Add a space unless white space is there."""
        if not self.ending[-1].isspace():
            self.write(" ")

    def end_line(self) -> None:
        """Begin a new line unless nothing is on this one."""
        if self.ending[-1] != "\n":
            self.write("\n")

    def blank_line(self) -> None:
        """Add a blank line, below this one if something is on it."""
        self.end_line()
        self.write("\n")

    def since(self, start: int) -> str:
        """What was written from a place on."""
        first, length = self._piece_at(start)
        return "".join(self._pieces[first:])[start - length :]

    def _piece_at(self, place: int) -> tuple[int, int]:
        """The number of the piece that a place is in, and where this begins."""
        first, length = len(self._pieces), self.length
        while length > place:
            first -= 1
            length -= len(self._pieces[first])
        return first, length

    def drop_signs(self, start: int, is_note: bool = False) -> None:
        """Take back what was written from a place on, where a piece began, if it is a few signs, or the mark of a
        note."""
        if self.length - start > MOST_SIGNS:
            return
        first, length = self._piece_at(start)
        dropped = self._pieces[first:]
        if not is_note and any(map(str.isalnum, "".join(dropped))):
            return
        self._pieces[first:], self.length, self._shift = [], length, 0
        self.ending = "".join(self._pieces[-2:])[-2:] or "\n"
        self.ink -= sum(not piece.isspace() for piece in dropped)
        while self.runs and self.runs[-1][1] > length:
            self.runs.pop()

    def style(self, start: int, style: str) -> None:
        """Give all from a place on a style, or the name of a kind of unit."""
        if start < self.length:
            self.runs.append((start, self.length, style))

    def heading(self, start: int, level: int) -> None:
        """Make all from a place on a heading. level (int): 1 for the outermost; 0 for the title of the document.

        Where a document shows its title, this is the outermost heading, of which all others are one level deeper.
        """
        if start < self.length:
            self.headings.append((start, self.length, level))

    def rest_of_headings(self, places: Sequence[int]) -> list[str]:
        """From each place on, the text of the heading that it is in, without line ends."""
        text, ends = "".join(self._pieces), [*sorted(end for _, end, _ in self.headings), 0]
        found = (text[place : ends[bisect_right(ends, place, hi=len(ends) - 1)]] for place in places)
        return [" ".join(title.split()) for title in found]

    def build(self, name: str = "", language: str = "") -> DocumentLayout:
        """The document so far."""
        deeper = int(any(level == 0 for *_, level in self.headings))
        named = ((start, end, f"heading{min(level + deeper, MOST_LEVELS)}") for start, end, level in self.headings)
        return DocumentLayout("".join(self._pieces), (*self.runs, *named), name, language)


def to_doc(vocab: Vocab, layout: DocumentLayout) -> Doc:
    r"""Make a Doc whose tokens end where units end, in linear time; the limit `nlp.max_length` does not hold for it.

    Words are letters, digits and the signs between them; any other character, and each line end, is a token. The text
    is `doc.text`, its formatting is in `doc.user_data`. RAISES (ValueError): for a text with half a surrogate pair.

    >>> from pathlib import Path
    >>> import spacy
    >>> from spacy_crf import read_layout, to_doc
    >>> _ = Path("ferry.md").write_text("# Scope\n\nAll ferries.\n")
    >>> nlp = spacy.blank("en")
    >>> doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, read_layout("ferry.md")))
    >>> [node.title for node in doc._.section_tree.walk()]
    ['Scope']
    """
    check_text(layout.text, f"Document {layout.name!r}")
    words, spaces = _cut_tokens(layout.text, layout.units)
    doc = Doc(vocab, words=words, spaces=spaces)
    attach_layout(doc, layout.runs)
    doc.user_data[NAME] = layout.name
    return doc


def attach_layout(doc: Doc, runs: Iterable[Run]) -> None:
    """Give a Doc formatting, which stays with it in bytes, files and other processes.

    runs (Iterable[tuple[int, int, str]]): start and end in `doc.text`, and style.
    """
    write_value(doc, LAYOUT, [[start, end, style] for start, end, style in runs])


def units_of(doc: Doc) -> list[LayoutUnit]:
    """Units of a Doc, from its text and the formatting that it carries.

    Where the start of an element would be split within a token, it is not split there. A blank line is a unit of one
    character even where a token has several line ends.

    RAISES (ValueError): if the formatting is not a list of start, end and style.
    """
    units = segment(doc.text, runs_of(doc))
    lengths = doc.to_array([LENGTH, SPACY]).sum(axis=1).astype(np.intp)
    starts = np.append(np.cumsum(lengths) - lengths, -1)
    places = bounds_of(units)[0]
    found = (starts[np.searchsorted(starts[:-1], places)] == places).tolist()
    begins = [begin or unit.kind is Kind.NEWLINE for begin, unit in zip(found, units)]
    return units if all(begins) else _align(units, begins)


def runs_of(doc: Doc) -> list[Run]:
    """The formatting that a Doc carries. RAISES (ValueError): if it is not a list of start, end and style."""
    found: list[Run] = []
    for run in read_value(doc, LAYOUT) or doc.user_data.get(LAYOUT, ()):
        match run:
            case [int(start), int(end), str(style)] if 0 <= start <= end:
                found.append((start, end, style))
            case _:
                name = doc.user_data.get(NAME) or doc.text[:40]
                raise CRFError(SectionErrors.CRF951.format(name=name, run=run, key=LAYOUT))
    return found


def warn_of_formatting(examples: Sequence[Example]) -> None:
    """Warn of formatting that a component does not see, as readers of others do not pass it on."""
    lost = [one.reference for one in examples if runs_of(one.reference) and not runs_of(one.predicted)]
    if lost:
        where = {"document": lost[0].user_data.get(NAME) or excerpt(lost[0].text), "count": len(lost)}
        message = SectionWarnings.CRFW970.format(**where, all=len(examples))
        warnings.warn(message, CRFWarning, stacklevel=3)


def _align(units: Sequence[LayoutUnit], begins: Sequence[bool]) -> list[LayoutUnit]:
    """Units joined with those before them where a token would be split."""
    found: list[LayoutUnit] = []
    for unit, is_begin in zip(units, begins):
        if found and not is_begin and found[-1].kind is not Kind.NEWLINE:
            before = found.pop()
            unit = replace(before, end=unit.end, kind=unit.kind, styles=before.styles & unit.styles)
        found.append(unit)
    return found


_SIGN, _WORD, _SPACE, _LINE_END = range(4)
_INNER = ".'’-"  # signs that are part of a word between its letters or digits
_CODE_POINTS = 0x110000


def _cut_tokens(text: str, units: Sequence[LayoutUnit]) -> tuple[list[str], list[bool]]:
    """Cut a text into words, signs and white space, and where units begin and end. O(n) for n characters.

    Returned are tokens, and whether a space is behind each: a space behind a word or sign is no token of its own.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    classes = _classes(codes)
    cuts = np.ones(len(classes) + 1, dtype=np.bool_)
    here = classes[1:]
    cuts[1:-1] = (here != classes[:-1]) | (here == _SIGN) | (here == _LINE_END)
    cuts[np.append(*bounds_of(units))] = True
    places = np.flatnonzero(cuts)
    starts, ends = places[:-1], places[1:]
    # one space behind a word or sign: spaCy keeps it with that
    lone: Bools = (ends - starts == 1) & (codes[starts] == ord(" "))
    lone[1:] &= classes[starts[:-1]] < _SPACE
    lone[:1] = False
    kept = np.flatnonzero(~lone)
    spaces = np.append(lone, False)[kept + 1]
    return [text[start:end] for start, end in zip(starts[kept].tolist(), ends[kept].tolist())], spaces.tolist()


def _classes(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """The class of each character."""
    table = np.full(_CODE_POINTS, _SIGN, dtype=np.uint8)
    for code in np.flatnonzero(np.bincount(codes, minlength=1)).tolist():
        table[code] = _class(chr(code))
    classes = table[codes]
    inner = np.isin(codes, [ord(sign) for sign in _INNER])
    inner[:1] = inner[-1:] = False
    inner[1:-1] &= (classes[:-2] == _WORD) & (classes[2:] == _WORD)
    classes[inner] = _WORD
    return classes


def _class(character: str) -> int:
    if character.isspace():
        return _LINE_END if character == "\n" else _SPACE
    is_word = character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
    return _WORD if is_word else _SIGN
