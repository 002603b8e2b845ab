"""Lists of references: where they are in a document, and what LaTeX prints of them."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from unicodedata import normalize

import spacy

from ..core.errors import CRFError, excerpt
from ..corpora.files import data_suffix
from ..reading.files import read_bytes
from ..sections.formats.latex import read_latex
from ..sections.layout import DocumentLayout, to_doc
from ..sections.markup import MarkedHeadings, nest
from ..sections.reader import READERS, read_layout
from ..sections.tree import SectionTree
from .dates import YEAR
from .entry import SURROGATES, normalise
from .errors import BibliographyErrors
from .markers import NUMBERS
from .name_forms import BEGINNING
from .split import HEADING, HEADING_NUMBER

ENTRY = re.compile(r"(?:^|\})\s*(\\bibitem)\s*[\[{]", re.MULTILINE)  # not within a title
# The beginning of an entry in what LaTeX prints, where each has a line
PRINTED = re.compile(r"^\[(?!(?i:online|available|accessed|internet|in|cited)\])([^\[\]{}\n]+)\](?=\s)", re.MULTILINE)
BIBLATEX = re.compile(r"^[ \t]*\\entry\{[^{}\n]*\}\{[^{}\n]*\}\{[^{}\n]*\}", re.MULTILINE)
BEGIN, END = "\\begin{thebibliography}{9}\n", "\n\\end{thebibliography}\n"
# Headings that may stand above something else as well
VAGUE = re.compile(
    rf"{HEADING_NUMBER}\W*(?:notes|sources|quellen|publications|further reading|literat[uú]r[ae]?|bronnen"
    r"|f(?:uentes|ontes|onti)|kilder"
    r"|källor|źródła|zdroje|prameny|viri|izvori|források|allikad|kirjandus|werken|πηγές|αναφορές|источники|джерела"
    r"|извори|منابع|מקורות)\W*",
    re.IGNORECASE,
)
MOST_TITLES = 8  # that a message names
LONGEST_REFERENCE = 2000  # characters
MOST_MISSING = 3  # numbers of a list, between two of its references
OPENING = 400  # characters of a reference that has its year in them
_INITIAL = re.compile(r"[^\W\d_]\.")
_LINE = re.compile(r"^[^\S\n]*(?=\S)", re.MULTILINE)
_OWN_NUMBER = re.compile(r"\W*(\d+)")


class _Section(NamedTuple):
    """The heading of a section, and where that begins and ends."""

    title: str
    start: int
    end: int


def find_list(path: Path) -> str:
    r"""Return the text of the sections of a document that are headed as references are.

    All of it, if it has one heading or none. That of LaTeX is what it prints behind `\bibitem{..}` of each entry; of a
    .tex file without references, those that BibTeX has put into the .bbl file beside it.
    RAISES (ValueError): if no section has such a heading, and for data of biblatex; for files that cannot be read, see
    `read_layout`.
    """
    layout, is_latex = read_layout(path), READERS.get(data_suffix(path)) is read_latex
    if is_latex:
        _refuse_data(read_bytes(path).decode("utf8", "replace"), str(path))
    ways = [_marked(layout)]
    if not _sure_lists_of(ways[0]):
        # the mark-up leaves out this heading at least, as the bookmarks of a PDF by LaTeX do
        ways += [_parsed(layout, markup) for markup in (("ignore", "prefer") if ways[0] else ("prefer",))]
    sure = next(filter(None, map(_sure_lists_of, ways)), [])
    lists = sure or next(filter(None, map(_lists_of, ways)), [])
    below = [layout.text[section.start : section.end].strip().partition("\n")[2] for section in lists]
    printed = path.with_suffix(".bbl")
    if is_latex and printed != path and printed.is_file() and not any(below if sure else map(PRINTED.search, below)):
        return find_list(printed)
    if not lists and len(ways[-1]) > 1:
        titles = ", ".join(excerpt(section.title) for section in ways[-1][:MOST_TITLES])
        raise CRFError(BibliographyErrors.CRF844.format(path=path, titles=titles))
    sections = sorted((section for found in ways for section in found), key=lambda section: section.start)
    lists = [_before_next(section, ways[0]) for section in lists]
    bounds = [(section.start, _end(layout.text, section, sections)) for section in lists]
    ends = accumulate((end for _, end in bounds), max, initial=0)
    kept = [layout.text[start:end].rstrip() for (start, end), before in zip(bounds, ends) if start >= before]
    text = "\n\n".join(kept) if kept else layout.text  # none within another one
    return PRINTED.sub(r"\\bibitem{\1}", text) if is_latex else text  # keys of any form are markers so


def _lists_of(sections: Sequence[_Section]) -> list[_Section]:
    return [section for section in sections if HEADING.fullmatch(section.title)]


def _sure_lists_of(sections: Sequence[_Section]) -> list[_Section]:
    return [section for section in _lists_of(sections) if not VAGUE.fullmatch(section.title)]


def _before_next(section: _Section, marked: Sequence[_Section]) -> _Section:
    """A section without those of the mark-up behind it, if its own heading is none of these."""
    behind = (each.start for each in marked if each.start > section.start)
    return section if section in marked else section._replace(end=min(section.end, next(behind, section.end)))


def _marked(layout: DocumentLayout) -> list[_Section]:
    """The sections that the mark-up names: nothing in a list of references begins another one there."""
    doc = to_doc(spacy.blank("xx").vocab, layout)
    places, text = MarkedHeadings.of(doc).places, doc.text
    nodes = SectionTree(nest([(start, level) for start, _, level in places], text)).walk()
    titles = (normalise(text[start:end]) for start, end, _ in places)
    return [_Section(title, node.start_char, node.end_char) for title, node in zip(titles, nodes)]


def _parsed(layout: DocumentLayout, markup: str) -> list[_Section]:
    """The sections that a parser finds. markup (str): what it makes of the headings of the mark-up."""
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("section_parser", config={"markup": markup})(to_doc(nlp.vocab, layout))
    nodes = [node for node in doc._.section_tree.walk() if node.heading]
    return [_Section(normalise(f"{node.number} {node.title}"), node.start_char, node.end_char) for node in nodes]


def _end(text: str, section: _Section, sections: Sequence[_Section]) -> int:
    """Where a list ends: it may go on behind its section, where a number of it, or the initial of an author, was taken
    for that of a heading.

    sections (sequence of _Section): all, in their order.
    """
    last, end = max(_numbered(text, section), default=0), section.end
    if last >= end:
        return min((each.start for each in sections if each.start > last), default=len(text))
    for each in (each for each in sections if each.start >= section.end):
        if text[end : each.start].strip():
            break
        if _INITIAL.fullmatch(each.title) and YEAR.search(text[each.start : each.start + OPENING]):
            end = max(end, each.end)
    return end


def _numbered(text: str, section: _Section) -> Iterator[int]:
    """Yield the places of the references of a numbered list, one after the other, from the first one on."""
    own = _OWN_NUMBER.match(section.title)
    lines = _LINE.finditer(text, section.start)
    next(lines)  # the heading
    style, number, place = None, 0, section.start
    for line in lines:
        if line.end() - place > LONGEST_REFERENCE:
            return
        for each in [style] if style else NUMBERS:
            if (found := each.pattern.match(text, line.end())) is None:
                continue
            value, is_likely = int(normalize("NFKC", found[1])), _looks_like_one(text, found.end())
            if style and value == 1:
                return  # of another list
            missing = value - number - 1
            widest = 0 if style is None else MOST_MISSING if is_likely else each.widest_gap
            if 0 <= missing <= widest and (style or is_likely or not each.is_weak):
                if own and not each.widest_gap and value == int(own[1]) + 1 and line.end() >= section.end:
                    return  # the section behind this one
                style, number, place = each, value, line.end()
                yield place
                break
        if style is None:
            return  # what is not numbered from its first line on


def _looks_like_one(text: str, start: int) -> bool:
    """Whether a reference may begin behind a number: numbers may be missing before it."""
    rest = text[start : start + OPENING].lstrip()
    return BEGINNING.match(rest) is not None and YEAR.search(rest) is not None


def _refuse_data(text: str, name: str) -> None:
    if BIBLATEX.search(text) and "\\endentry" in text:  # "\entry" may be a command of the document
        raise CRFError(BibliographyErrors.CRF600.format(name=name))


def print_list(text: str) -> str:
    r"""Return a pasted list of references; of one with the `\bibitem` of LaTeX, what LaTeX prints behind these.

    RAISES (ValueError): for such a list, if pylatexenc is not installed, and for data of biblatex.
    """
    _refuse_data(text, "The text")
    entries = list(ENTRY.finditer(text))
    if not entries:
        return text
    start = entries[0].start(1)
    if BEGIN.partition("{9}")[0] not in text[:start]:  # letters as keys would be numbers of sections
        text = f"{text[:start]}{BEGIN}{text[start:]}{END}"
    with TemporaryDirectory() as folder:
        latex = Path(folder, "list.bbl")
        latex.write_text(SURROGATES.sub("\ufffd", text), encoding="utf8")
        try:
            return find_list(latex)
        except CRFError as error:
            raise CRFError(str(error).replace(str(latex), "the pasted list")) from None
