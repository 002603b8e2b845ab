"""What a unit holds: brackets, dates, file numbers, amounts, quotation marks."""

import re
from collections.abc import Callable

from .view import UnitView, Values

_HEAD = 300
_PATTERNS = {
    "square": r"\[",
    "bracketed": r"\[[^\]]*\]\W*$",
    "round": r"\(",
    "dots": r"\(\s*(?:\.{2,}|…)\s*\)|\[\s*(?:\.{2,}|…)\s*\]",
    "date": r"\b\d{1,2}[-./ ](?:\d{1,2}|[^\W\d_]{3,9})[-./ ]\d{4}\b|\b\d{4}-\d\d-\d\d\b|\b[A-Z][a-z]+ \d{1,2}, \d{4}\b",
    "docket": r"\b\d+\s?/\s?\d+|\b(?=\w*\d)(?=\w*[A-Z])[\w.]+[/-][\w./-]*\d|\b\d{2,}[.-]\d{3,}",
    "amount": r"[€$£]|\b(?:EUR|USD|GBP|f|fl)\.? ?\d",
    "year": r"\b(?:19|20)\d\d\b",
    "several quotes": r"[\"“”„‘’«»].*[\"“”„‘’«»]",
    "abbreviation": r"\b(?:[mM]r|[dD]rs?|[iI]r|[pP]rof|[mM]rs|[jJ]hr|[bB]\.?[vV]|[nN]\.?[vV]|Ltd|Inc|LLC|GmbH)\b\.?",
    "initials": r"\b(?:[A-Z]\. ?){1,4}(?:(?:van|de|der|den|von|ten|ter) ){0,3}[A-Z][a-z]+",
    "comma": r",",
    "inner stop": r"[.;:?!]\s+\S",
    "statute": r"\bart(?:ikel|\.)?s? \d|\bsection \d|§ ?\d",
}
_COMPILED = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}
NAMES = tuple(_PATTERNS)


def holds(name: str) -> Callable[[UnitView], Values]:
    """A feature that tells whether a unit holds something.

    name (str): one of NAMES.
    """
    search = _COMPILED[name].search
    return lambda view: Values.flags(view.flag_by_text(lambda text: search(text, 0, _HEAD)))
