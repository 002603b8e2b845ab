"""PDF, read by PDFium: words with their places and type, and bookmarks, which name headings."""

import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from ...core.errors import CRFError, required
from ...core.sections.headings import MOST_LEVELS
from ...reading.figures import HIGHER, LOWER
from ...reading.files import read_bytes
from ..errors import SectionErrors
from ..layout import DocumentLayout, LayoutBuilder
from ..starts import LONE_CAPITAL, find_numbering
from .columns import read_lines
from .paragraphs import Paragraph, find_paragraphs, write_paragraphs
from .printed import GAP, RAISED, SMALLER, TINY, PrintedWord
from .rows import INITIAL

MOST_PAGES, MOST_CHARACTERS, MOST_BOOKMARKS = 10_000, 20_000_000, 100_000
LONGEST_NAME = 200  # bytes of the name of a font
BOLD, ITALIC = re.compile("bold|black|heavy|demi", re.IGNORECASE), re.compile("italic|oblique", re.IGNORECASE)
ITALIC_FLAG, BOLD_FLAG = 1 << 6, 1 << 18
LARGEST = 10_000  # points of a letter
Turn: TypeAlias = Callable[[float, float], tuple[float, float]]
TURNS: dict[int, Turn] = {  # of pages that are shown turned clockwise
    0: lambda x, y: (x, y),
    90: lambda x, y: (y, -x),
    180: lambda x, y: (-x, -y),
    270: lambda x, y: (-y, x),
}
LIGATURES = dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st")))
MOST_CONTROL, MOST_CODES = 0x1F, 0x110000
MOST_RULES, THIN, BELOW = 10_000, 2.0, 0.3  # of a page; points; of a size, between a baseline and a line below it
DEEPEST = 50  # bookmarks within each other
LONGEST_TITLE = 500
MOVED = 0.1  # of a size, above or below a baseline
LEVEL = 0.2  # the steepest slope of a line of text
PASSWORD, SECURITY = 4, 5  # errors of PDFium
SEVERAL = 3  # elements that one bookmark may name: a number, and a title in two parts
NOT_OF_WORDS = re.compile(r"[\W_]+")
_ONE_AT_A_TIME = Lock()  # PDFium is for one thread


def read_pdf(path: Path) -> DocumentLayout:
    """Read the text of a PDF by pypdfium2.

    Lines are put together to paragraphs, column by column, and words that were broken at their ends are whole. Running
    heads, running feet, numbers of pages and of lines and text that does not run from left to right are left out; a
    page of which most runs in another direction, as a wide table does, is turned. Initials of several lines begin their
    words. Notes at the foot of a page, in smaller type and behind a sign that the text has, are units of their own
    behind the paragraph that the page ends with. A wide distance between lines is a blank line, and indentation is
    spaces. Bold and italic type, and sizes above that of running text (large1 for the largest), are formatting;
    headings are those that bookmarks name, and beside them the title that the properties of the file name, if the first
    page shows it.

    RAISES (ValueError): for a file that is no PDF, is damaged, needs a password or has no text, as a scan has none, and
        if pypdfium2 is not installed.
    """
    with required(SectionErrors.CRF561.format(what="PDF", library="pypdfium2", extra="pdf")):
        import pypdfium2
    data = read_bytes(path)
    with _ONE_AT_A_TIME:
        try:
            with pypdfium2.PdfDocument(data) as document:
                pages, bookmarks = _read(document, path), list(_bookmarks(document))
                title = document.get_metadata_value("Title")
        except pypdfium2.PdfiumError as error:
            if getattr(error, "err_code", None) in (PASSWORD, SECURITY):
                raise CRFError(SectionErrors.CRF563.format(path=path)) from error
            raise CRFError(SectionErrors.CRF562.format(path=path, what="PDF", reason=error)) from error
    if not any(pages):
        raise CRFError(SectionErrors.CRF564.format(path=path))
    builder = LayoutBuilder()
    paragraphs = find_paragraphs(read_lines(pages))
    places = write_paragraphs(paragraphs, builder)
    text = builder.build().text
    if bookmarks and set(_keys(title)).isdisjoint(key for bookmark in bookmarks for key in _keys(bookmark.title)):
        bookmarks.insert(0, _Bookmark(title, 0, 0))
    builder.headings += _headings([text[start:end] for start, end in places], paragraphs, places, bookmarks)
    return builder.build(path.stem)


def _read(document: Any, path: Path) -> list[list[PrintedWord]]:
    """Words of all pages."""
    count, left = len(document), MOST_CHARACTERS
    if count > MOST_PAGES:
        raise CRFError(SectionErrors.CRF565.format(path=path, most=f"{MOST_PAGES:,} pages"))
    pages = []
    for number in range(count):
        page = document[number]
        text = page.get_textpage()
        left -= text.count_chars()
        if left < 0:
            raise CRFError(SectionErrors.CRF565.format(path=path, most=f"{MOST_CHARACTERS:,} characters"))
        words, rotation = _page_words(page, text)
        pages.append(_underlined(words, _rules(page, rotation)))
        text.close()
        page.close()
    return pages


def _rules(page: Any, rotation: int) -> list[tuple[float, float, float]]:
    """Thin horizontal lines of a page, which may be below words: left, right and height, counted downwards."""
    from pypdfium2 import raw

    turn = _turn(page, rotation)
    found = []
    for drawn in islice(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH]), MOST_RULES):
        left, bottom, right, top = drawn.get_bounds()
        (x, y), (other_x, other_y) = turn(left, bottom), turn(right, top)
        if abs(y - other_y) <= THIN < abs(x - other_x):
            found.append((min(x, other_x), max(x, other_x), -max(y, other_y)))
    return sorted(found, key=lambda rule: rule[2])


def _underlined(words: list[PrintedWord], rules: list[tuple[float, float, float]]) -> list[PrintedWord]:
    """Words, with those underlined that have a line right below them."""
    heights = [height for _, _, height in rules]

    def is_underlined(word: PrintedWord) -> bool:
        near = rules[bisect_left(heights, word.base) : bisect_right(heights, word.base + BELOW * word.size)]
        middle = (word.left + word.right) / 2
        return any(left <= middle <= right for left, right, _ in near)

    return [replace(word, styles=word.styles | {"underline"}) if is_underlined(word) else word for word in words]


@dataclass(frozen=True, slots=True)
class _Font:
    """The type of an object of text. rotation (int | None): of pages on which it runs from left to right, if any."""

    size: float
    styles: frozenset[str]
    rotation: int | None


def _turn(page: Any, rotation: int) -> Turn:
    """What turns points of a page; its left edge is at 0 then, whatever the rotation of other pages is."""
    turn, (left, bottom, right, top) = TURNS[rotation], page.get_mediabox()
    edge = min(turn(left, bottom)[0], turn(right, top)[0])

    def turned(x: float, y: float) -> tuple[float, float]:
        x, y = turn(x, y)
        return x - edge, y

    return turned


def _page_words(page: Any, text: Any) -> tuple[list[PrintedWord], int]:
    """Words of a page, and the rotation, in degrees, clockwise, at which most of it runs from left to right."""
    shown: int = page.get_rotation()
    reader = _CharacterReader(text, shown, _turn(page, shown))
    words = list(_words(text, reader))
    most = max(TURNS, key=lambda rotation: (reader.runs[rotation], rotation == shown))
    if most == shown:
        return words, shown
    return list(_words(text, _CharacterReader(text, most, _turn(page, most)))), most


def _words(text: Any, reader: "_CharacterReader") -> Iterator[PrintedWord]:
    """Yield words in the order of PDFium, which puts a character of its own behind those that it takes for whole."""
    word, may_end = _GrowingWord(), False
    for index in range(text.count_chars()):
        character, is_last = reader.character(index)
        found = reader.place(index) if character else None
        if found is not None:
            if word.text and (word.is_initial(found[-1]) or (may_end and not word.goes_on(*found))):
                yield word.finish()
                word = _GrowingWord()
            word.add(character, *found)
        if character:
            may_end = may_end and found is None
        else:
            may_end = bool(word.text) and reader.is_generated(index)
        if word.text and (is_last or not (character or may_end)):
            yield word.finish()
            word = _GrowingWord()
    if word.text:
        yield word.finish()


@dataclass(slots=True)
class _GrowingWord:
    text: list[str] = field(default_factory=list)
    left: float = math.inf
    right: float = -math.inf
    fonts: list[tuple[float, float, _Font]] = field(default_factory=list)

    def add(self, character: str, left: float, right: float, base: float, font: _Font) -> None:
        self.text.append(character)
        self.left, self.right = min(self.left, left), max(self.right, right)
        self.fonts.append((font.size, base, font))

    def is_initial(self, font: _Font) -> bool:
        """Whether the word is a letter in much larger type than a font."""
        return font.size <= TINY * self.fonts[-1][0] and INITIAL.fullmatch("".join(self.text)) is not None

    def goes_on(self, left: float, right: float, base: float, font: _Font) -> bool:
        """Whether a character is set higher or lower than the one before it, with no space between: PDFium takes it for
        the start of another line."""
        (own, last, _), (size, line) = self.fonts[-1], self._line()
        large = max(size, font.size)
        is_near = -GAP * large < left - self.right < GAP * large
        is_small = min(own, font.size) < large
        return is_near and is_small and base != last and abs(base - line) <= RAISED * large

    def _line(self) -> tuple[float, float]:
        """Size and baseline of the largest characters."""
        return max(self.fonts, key=itemgetter(0))[:2]

    def finish(self) -> PrintedWord:
        """The word. It stands where its largest characters do."""
        size, base = self._line()
        styles = frozenset.intersection(*(font.styles for _, _, font in self.fonts))
        text = self._joined(size, base).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return PrintedWord(text, self.left, self.right, base, size, styles)

    def _joined(self, size: float, base: float) -> str:
        """The characters, as they are set higher or lower. size, base (float): of the word."""
        joined = LayoutBuilder()
        moved = ((base - place) / size if own <= SMALLER * size else 0 for own, place, _ in self.fonts)
        shifts = (HIGHER if up > MOVED else LOWER if up < -MOVED else 0 for up in moved)
        for shift, run in groupby(zip(shifts, self.text), itemgetter(0)):
            joined.write("".join(character for _, character in run), shift)
        return joined.build().text


class _CharacterReader:
    """Reads the characters of a page one by one; their fonts by the objects that hold them."""

    def __init__(self, text: Any, rotation: int, turn: Turn) -> None:
        from pypdfium2 import raw

        self.raw, self.text, self.rotation, self.turn = raw, text, rotation, turn
        self.runs: Counter[int | None] = Counter()  # characters by the rotation at which they run from left to right
        self.box, self.matrix = raw.FS_RECTF(), raw.FS_MATRIX()
        self.x, self.y, self.flags = ctypes.c_double(), ctypes.c_double(), ctypes.c_int()
        self.name = ctypes.create_string_buffer(LONGEST_NAME)
        self.fonts: dict[int | None, _Font] = {}

    def character(self, index: int) -> tuple[str, bool]:
        """A character, "" for white space, and whether a word ends with it, as it is a hyphen at the end of a line."""
        code = self.raw.FPDFText_GetUnicode(self.text, index)
        if self.raw.FPDFText_IsHyphen(self.text, index) == 1:
            return "-", True
        if not MOST_CONTROL < code < MOST_CODES or chr(code).isspace():
            return "", False
        return LIGATURES.get(code) or chr(code), False

    def is_generated(self, index: int) -> bool:
        """Whether PDFium has put a character there that the file does not have."""
        return self.raw.FPDFText_IsGenerated(self.text, index) == 1

    def place(self, index: int) -> tuple[float, float, float, _Font] | None:
        """Left, right, baseline and font of a character; None if it does not run from left to right."""
        raw = self.raw
        font = self._font(index)
        self.runs[font.rotation] += 1
        is_level = font.rotation == self.rotation
        is_known = raw.FPDFText_GetLooseCharBox(self.text, index, self.box)
        if not (is_known and raw.FPDFText_GetCharOrigin(self.text, index, self.x, self.y) and is_level):
            return None
        corners = (self.turn(x, y)[0] for x, y in ((self.box.left, self.box.bottom), (self.box.right, self.box.top)))
        left, right = sorted(corners)
        base = -self.turn(self.x.value, self.y.value)[1]
        return (left, right, base, font) if all(map(math.isfinite, (left, right, base))) else None

    def _font(self, index: int) -> _Font:
        key = ctypes.cast(self.raw.FPDFText_GetTextObject(self.text, index), ctypes.c_void_p).value
        if key not in self.fonts:
            self.fonts[key] = self._read_font(index)
        return self.fonts[key]

    def _read_font(self, index: int) -> _Font:
        raw, matrix = self.raw, self.matrix
        if not raw.FPDFText_GetMatrix(self.text, index, matrix):
            return _Font(0, frozenset(), None)
        size = round(raw.FPDFText_GetFontSize(self.text, index) * math.hypot(matrix.c, matrix.d), 1)
        self.flags.value = 0
        raw.FPDFText_GetFontInfo(self.text, index, self.name, LONGEST_NAME, self.flags)
        name = self.name.value.decode("utf-8", "replace").rpartition("+")[2]
        tests = {"bold": (BOLD, BOLD_FLAG), "italic": (ITALIC, ITALIC_FLAG)}
        styles = {style for style, (words, flag) in tests.items() if words.search(name) or self.flags.value & flag}
        directions = {rotation: turn(matrix.a, matrix.b) for rotation, turn in TURNS.items()}
        level = (rotation for rotation, (along, up) in directions.items() if along > 0 and abs(up) <= LEVEL * along)
        return _Font(size, frozenset(styles), next(level, None) if 0 < size < LARGEST else None)


# -- bookmarks -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bookmark:
    """An entry of the outline. level (int): 1 for the outermost, 0 for the title of the document.

    page (int): from 0, -1 for none.
    """

    title: str
    level: int
    page: int


def _bookmarks(document: Any) -> Iterator[_Bookmark]:
    for entry in islice(document.get_toc(max_depth=DEEPEST), MOST_BOOKMARKS):
        with suppress(UnicodeDecodeError):  # a title that is none
            place = entry.get_dest()
            page = place.get_index() if place is not None else None
            yield _Bookmark(entry.get_title(), min(entry.level + 1, MOST_LEVELS), -1 if page is None else page)


def _headings(
    texts: Sequence[str], paragraphs: Sequence[Paragraph], places: Sequence[tuple[int, int]], bookmarks: list[_Bookmark]
) -> Iterator[tuple[int, int, int]]:
    """Start, end and level of what bookmarks name on their pages.

    That is one to three elements with the same letters, but perhaps for a number.
    """
    found: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for first in range(len(texts) if bookmarks else 0):
        for last in range(first, min(first + SEVERAL, len(texts))):
            for key in _keys(" ".join(texts[first : last + 1])):
                found[paragraphs[first].page, key].append((first, last))
    behind = 0
    for bookmark in bookmarks:
        options = [each for key in _keys(bookmark.title) for each in found.get((bookmark.page, key), ())]
        if options:
            first, last = min(options, key=lambda each: (each[0] < behind, each))
            behind = last + 1
            yield places[first][0], places[last][1], bookmark.level


def _keys(text: str) -> list[str]:
    """Letters and digits of a title, and the same without its number."""
    text = text[:LONGEST_TITLE].strip()
    number = (
        len(letter[0]) if (letter := LONE_CAPITAL.match(text)) else find_numbering(text, 0, len(text)) if text else 0
    )
    texts = text, text[number:]
    return list(dict.fromkeys(filter(None, (NOT_OF_WORDS.sub("", own).casefold() for own in texts))))
