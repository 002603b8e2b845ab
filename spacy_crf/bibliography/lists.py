"""Lists of references: where they are in a document, and what LaTeX prints of them."""

import re
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy

from ..core.errors import CRFError, excerpt
from ..sections.layout import to_doc
from ..sections.reader import read_layout
from .entry import SURROGATES, normalise
from .errors import BibliographyErrors
from .split import HEADING, VAGUE

ENTRY = re.compile(r"(?:^|\})\s*\\bibitem\s*[\[{]", re.MULTILINE)  # not within a title
MOST_TITLES = 8  # that a message names


def find_list(path: Path) -> str:
    """Return the text of the sections of a document that are headed as references are.

    All of it, if it has one heading or none. RAISES (ValueError): if no section has such a heading; for files that
    cannot be read, see `read_layout`.
    """
    layout, nlp = read_layout(path), spacy.blank("xx")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, layout))
    headed = [(normalise(f"{node.number} {node.title}"), node) for node in doc._.section_tree.walk() if node.heading]
    found = [(title, node) for title, node in headed if HEADING.fullmatch(title)]
    sure = [node for title, node in found if not VAGUE.fullmatch(title)] or [node for _, node in found]
    if not sure and len(headed) > 1:
        titles = ", ".join(excerpt(title) for title, _ in headed[:MOST_TITLES])
        raise CRFError(BibliographyErrors.CRF844.format(path=path, titles=titles))
    ends = accumulate((node.end_char for node in sure), max, initial=0)
    lists = [node for node, end in zip(sure, ends) if node.start_char >= end]  # none within another one
    return "\n\n".join(layout.text[node.start_char : node.end_char] for node in lists) if lists else layout.text


def print_list(text: str) -> str:
    r"""Return a pasted list of references; of one with the `\bibitem` of LaTeX, what LaTeX prints.

    RAISES (ValueError): for such a list, if pylatexenc is not installed.
    """
    if not ENTRY.search(text):
        return text
    with TemporaryDirectory() as folder:
        latex = Path(folder, "list.bbl")
        latex.write_text(SURROGATES.sub("\ufffd", text), encoding="utf8")
        return find_list(latex)
