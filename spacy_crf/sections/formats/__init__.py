"""Formats of documents, each a module that reads it, or writes it, or both; here, what they share.

That is files as text or as events of XML, and text as XML holds it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ...core.errors import CRFError
from ...core.grammar.numerals import numeral
from ...reading.errors import ReadingErrors
from ...reading.figures import HIGHER, LOWER
from ...reading.files import read_bytes, refuse_escapes
from ...reading.xml import IMPOSSIBLE, XmlReader, has_single_bytes
from ..errors import SectionErrors

BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
MAGIC = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive, such as a .docx, .odt or .epub",
    b"\xd0\xcf\x11\xe0": "an old Word or Excel file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"{\\rtf": "an RTF file",
}
OF_SEVERAL_BYTES = frozenset(  # encodings of web pages in which characters may have several bytes
    {
        *("utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "gb18030", "gbk", "gb2312", "big5", "big5-hkscs"),
        *("shift_jis", "shift-jis", "sjis", "x-sjis", "euc-jp", "iso-2022-jp", "euc-kr", "ks_c_5601-1987"),
    }
)
UTF8 = ("utf-8", "utf8")
ALIASES = {"ansinew": "cp1252", "applemac": "mac_roman", "utf8x": "utf-8"}  # names of encodings in LaTeX
HEAD = 4096  # bytes in which a file names its encoding
WHOLE = re.compile(r"\s*[-+]?[0-9]{1,9}\s*")  # the number of an item
LONGEST_CSS = 1000  # characters of an attribute that are looked at
SHIFTS = {  # the last two are of Word
    **dict.fromkeys(("sup", "super", "superscript", "MsoFootnoteReference", "MsoEndnoteReference"), HIGHER),
    **dict.fromkeys(("sub", "subscript"), LOWER),
}
SHIFTED = re.compile(r"vertical-align\s*:\s*(super|sub)\b")
STYLE_TAGS = {"bold": "b", "italic": "i", "underline": "u"}
BULLET = "- "
INDENT = "  "
KINDS_OF_NUMERALS = frozenset("1aAiI")
HIGHEST = {"a": 26, "A": 26, "i": 3999, "I": 3999}  # numbers that are spelt so
DEEPEST = 20  # lists in lists that are indented
BUFFER = 1 << 20  # bytes of text between tags that come in one piece


def shift_of(name: str, attributes: Mapping[str, str], around: int) -> int:
    """How an element is set: `HIGHER`, `LOWER` or 0. around (int): how that is in which it stands."""
    css, rend, classes = (attributes.get(key, "")[:LONGEST_CSS] for key in ("style", "rend", "class"))
    rend += " " + attributes.get("rendition", "")[:LONGEST_CSS]
    own = classes.replace("oj-", "").split() if name == "span" else ()
    names = (name, *SHIFTED.findall(f"{css};{rend}".lower()), *rend.replace("#", " ").split(), *own)
    return next((SHIFTS[one] for one in names if one in SHIFTS), around)


def read_text(path: Path, declared: re.Pattern[bytes] | None = None) -> str:
    """The text of a file, which may be packed by gzip, with newlines as the only line ends.

    declared (re.Pattern[bytes] | None): how it may name its encoding, in the first group.
    RAISES (ValueError): for binary files and bytes that are not in the encoding, with the line.
    """
    data = read_bytes(path)
    encoding = next((name for mark, name in BOMS if data.startswith(mark)), "")
    if not encoding:
        refuse_magic(path, data)
        before, zero, _ = data.partition(b"\0")
        if zero:
            line = before.count(b"\n") + 1
            raise CRFError(SectionErrors.CRF954.format(path=path, line=line, what="binary data"))
        found = declared.search(data[:HEAD]) if declared else None
        encoding = found[1].decode("ascii") if found else "utf-8"
        encoding = ALIASES.get(encoding, encoding)
        if encoding.lower() not in OF_SEVERAL_BYTES and not has_single_bytes(encoding):
            reason = f"nor is its encoding {encoding!r} one that is read"
            raise CRFError(ReadingErrors.CRF504.format(path=path, line=1, reason=reason))
        if encoding.lower() in UTF8:
            refuse_escapes(path, data)
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        place, reason = (error.start, error.reason) if isinstance(error, UnicodeDecodeError) else (0, str(error))
        line = data.count(b"\n", 0, place) + 1
        raise CRFError(ReadingErrors.CRF504.format(path=path, line=line, reason=reason)) from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def refuse_magic(path: Path, data: bytes) -> None:
    """Raise a coded error for well-known formats that are not text."""
    for magic, what in MAGIC.items():
        if data.startswith(magic):
            raise CRFError(SectionErrors.CRF954.format(path=path, line=1, what=what))


class MarkupEvents:
    """Base of readers of mark-up, which are called with its parts. Names are without prefixes of namespaces."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """Text between tags."""

    def instruction(self, name: str) -> None:
        """A processing instruction, which means nothing in most formats."""


@dataclass(slots=True)
class MarkupElement:
    """An element that is open. start, ink (int): those of the builder where it began."""

    name: str
    start: int
    ink: int
    styles: tuple[str, ...]
    is_hidden: bool = False
    is_block: bool = False
    has_text: bool = False  # of its own, not in another element
    is_page: bool = False  # a table that holds headings or tables, and what is in it
    shift: int = 0  # set higher or lower
    joint: str = ""  # of `JOINTS`


class XmlSource(XmlReader):
    """Tells a reader the parts of a file."""

    def __init__(self, path: Path, reader: MarkupEvents) -> None:
        super().__init__(path)
        self.expat.buffer_text, self.expat.buffer_size = True, BUFFER
        self.expat.StartElementHandler = lambda name, attributes: reader.start(
            _local(name), {_local(key): value for key, value in attributes.items()}
        )
        self.expat.EndElementHandler = lambda name: reader.end(_local(name))
        self.expat.CharacterDataHandler = reader.data
        self.expat.ProcessingInstructionHandler = lambda name, _: reader.instruction(name)


def _local(name: str) -> str:
    """A name such as "rs:para" without the prefix of its namespace."""
    return name.rpartition(":")[2]


class _RootFound(Exception):
    """The root was seen; the rest of the file is of no interest."""


class _RootReader(MarkupEvents):
    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        raise _RootFound(name)


def root_of(path: Path) -> str:
    """Name of the outermost element of a file. RAISES (ValueError): if it is not XML, with the line."""
    try:
        XmlSource(path, _RootReader()).read()
    except _RootFound as found:
        return str(found)
    raise CRFError(ReadingErrors.CRF533.format(path=path, line=1, reason="no element found"))


def name_of(path: Path) -> str:
    """Name of a document in an XML file that does not say it."""
    return path.name.removesuffix(".gz").removesuffix(".xml")


def encode(text: str) -> str:
    """Text between tags, which has the same length when it is read."""
    return escape(possible(text), {"\r": "&#13;"})


def possible(text: str) -> str:
    """Text without what XML cannot hold: of that, white space becomes a space, all else U+FFFD."""
    return IMPOSSIBLE.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


def attributes(**values: str | float | bool | None) -> str:
    """Attributes of a start tag such as ' level="1"'; those that are None, "" or False are left out.

    values: by name, in which "_" stands for ":".
    """
    found = []
    for name, value in values.items():
        if value not in (None, "", False):
            text = "true" if value is True else f"{value:.4f}" if isinstance(value, float) else str(value)
            found.append(f" {name.replace('_', ':')}={quoteattr(possible(text))}")
    return "".join(found)


# Before further parts of formulas in MathML
JOINTS = {"mfrac": "/", "msup": "^", "mroot": "^1/", "mfenced": ", ", "msubsup": " ", "munder": " ", "munderover": " "}
COUNTERS_OF_LISTS = ("enumi", "enumii", "enumiii", "enumiv")  # of LaTeX
# Options of lists there, as "start=4, label=(\alph*)" and "(a)"; a group for each of `NUMERALS_OF_LISTS`, twice
START_OF_LIST = re.compile(r"(?:^|,)\s*start\s*=\s*\{?\s*(\d{1,4})(?!\d)")
LABEL_OF_LIST = re.compile(
    r"\\(?:(arabic)|(alph)|(roman)|(Alph)|(Roman))(?![A-Za-z])|^[^\w\\=,]*(?:(1)|(a)|(i)|(A)|(I))[^\w\\=,]*(?:,|$)"
)
NUMERALS_OF_LISTS = "1aiAI"


class ListCounter:
    """Counts the items of lists in lists."""

    def __init__(self) -> None:
        # kind of numeral, "" for bullets, the number of the next item, and what follows it: 1 up, or -1 down
        self.open: list[tuple[str, int, int]] = []

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """A list begins, of which `type` and `start` count, and `reversed` behind a start. name (str): "ol" or "ul"."""
        kind = attributes.get("type", "1")
        kind = "" if name == "ul" else kind if kind in KINDS_OF_NUMERALS else "1"
        step = -1 if "reversed" in attributes and "start" in attributes else 1
        self.open.append((kind, whole(attributes.get("start", ""), 1), step))

    def marker(self, attributes: Mapping[str, str]) -> str:
        """Indentation, and the number, which may be given by `value`, or bullet of the next item."""
        if not self.open:
            return BULLET
        kind, number, step = self.open[-1]
        number = whole(attributes.get("value", ""), number)
        self.open[-1] = kind, number + step, step
        spelt = numeral(kind, number) if 0 < number <= HIGHEST.get(kind, 9999) else str(number)
        return INDENT * min(len(self.open) - 1, DEEPEST) + (f"{spelt}. " if kind else BULLET)

    def set_counter(self, name: str, value: str, is_added: bool = False) -> None:
        """Take the last number of a list that is open, or what is added to it. name (str): "enumii" of the second."""
        numbered = [place for place, (kind, *_) in enumerate(self.open) if kind]
        depth = COUNTERS_OF_LISTS.index(name)
        if depth < len(numbered) and re.fullmatch(r"\s*-?\d{1,4}\s*", value):
            kind, number, step = self.open[numbered[depth]]
            self.open[numbered[depth]] = kind, int(value) + (number if is_added else 1), step

    def set_options(self, options: str) -> None:
        """Take what the options of LaTeX say of the innermost list."""
        kind, number, step = self.open[-1]
        start, label = START_OF_LIST.search(options), LABEL_OF_LIST.search(options)
        if label and label.lastindex:
            kind = (2 * NUMERALS_OF_LISTS)[label.lastindex - 1]
        self.open[-1] = kind, int(start[1]) if start else number, step

    def end(self) -> None:
        del self.open[-1:]


class ItemCounter(MarkupEvents):
    """Counts the items of each reversed list, in the order in which these begin: the first has the highest number."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.open: list[int | None] = []  # places of lists in `lengths`, None for those that are not reversed

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in ("ol", "ul"):
            self.open.append(None)
            if name == "ol" and "reversed" in attributes:
                self.open[-1] = len(self.lengths)
                self.lengths.append(0)
        elif name == "li" and self.open and (place := self.open[-1]) is not None:
            self.lengths[place] += 1

    def end(self, name: str) -> None:
        if name in ("ol", "ul"):
            del self.open[-1:]


def whole(text: str, otherwise: int) -> int:
    """The number that an attribute says, or another one."""
    return int(text) if WHOLE.fullmatch(text) else otherwise
