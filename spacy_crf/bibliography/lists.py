"""Lists of references: where they are in a document, and what LaTeX prints of them."""

import re
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy

from ..core.errors import CRFError, excerpt
from ..corpora.files import data_suffix
from ..reading.files import read_bytes
from ..sections.formats.latex import read_latex
from ..sections.layout import DocumentLayout, to_doc
from ..sections.reader import READERS, read_layout
from ..sections.tree import SectionNode
from .entry import SURROGATES, normalise
from .errors import BibliographyErrors
from .split import HEADING, VAGUE

ENTRY = re.compile(r"(?:^|\})\s*(\\bibitem)\s*[\[{]", re.MULTILINE)  # not within a title
# The beginning of an entry in what LaTeX prints, where each has a line
PRINTED = re.compile(r"^\[(?!(?i:online|available|accessed|internet|in|cited)\])([^\[\]{}\n]+)\](?=\s)", re.MULTILINE)
BIBLATEX = re.compile(r"^[ \t]*\\entry\{[^{}\n]*\}\{[^{}\n]*\}\{[^{}\n]*\}", re.MULTILINE)
BEGIN, END = "\\begin{thebibliography}{9}\n", "\n\\end{thebibliography}\n"
MOST_TITLES = 8  # that a message names


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
    headed = _headed(layout, is_latex)
    found = [(title, node) for title, node in headed if HEADING.fullmatch(title)]
    sure = [node for title, node in found if not VAGUE.fullmatch(title)] or [node for _, node in found]
    printed = path.with_suffix(".bbl")
    if not sure and is_latex and printed != path and printed.is_file():
        return find_list(printed)
    if not sure and len(headed) > 1:
        titles = ", ".join(excerpt(title) for title, _ in headed[:MOST_TITLES])
        raise CRFError(BibliographyErrors.CRF844.format(path=path, titles=titles))
    ends = accumulate((node.end_char for node in sure), max, initial=0)
    lists = [node for node, end in zip(sure, ends) if node.start_char >= end]  # none within another one
    text = "\n\n".join(layout.text[node.start_char : node.end_char] for node in lists) if lists else layout.text
    return PRINTED.sub(r"\\bibitem{\1}", text) if is_latex else text  # keys of any form are markers so


def _headed(layout: DocumentLayout, is_marked: bool) -> list[tuple[str, SectionNode]]:
    """The sections of a document with a heading, by their numbers and titles.

    is_marked (bool): if a list has a heading by mark-up, all have: keys such as [b] begin no sections.
    """
    headed: list[tuple[str, SectionNode]] = []
    for markup in ("trust", "prefer") if is_marked else ("prefer",):
        nlp = spacy.blank("xx")
        doc = nlp.add_pipe("section_parser", config={"markup": markup})(to_doc(nlp.vocab, layout))
        nodes = [node for node in doc._.section_tree.walk() if node.heading]
        headed = [(normalise(f"{node.number} {node.title}"), node) for node in nodes]
        if any(HEADING.fullmatch(title) for title, _ in headed):
            break
    return headed


def _refuse_data(text: str, name: str) -> None:
    if BIBLATEX.search(text):
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
