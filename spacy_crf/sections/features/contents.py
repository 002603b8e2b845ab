"""What a unit holds: brackets, dates, file numbers, amounts, quotation marks."""

import re
from collections.abc import Callable

from .view import PRESENT, UnitView, Values

_HEAD = 120  # characters that are looked at
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
    "leader": r"(?:\. ?|_|…){4,}\s*\w{0,5}$",
    "inner stop": r"[.;:?!]\s+\S",
    "statute": r"\bart(?:ikel|\.)?s? \d|\bsection \d|§ ?\d",
}
_COMPILED = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}
# characters without one of which a pattern has no match: most texts need not be searched
_NEEDS = {
    **{
        "square": "[",
        "bracketed": "[",
        "round": "(",
        "dots": "([",
        "initials": ".",
        "comma": ",",
        "leader": "._…",
        "inner stop": ".;:?!",
    },
    **dict.fromkeys(("date", "docket", "year", "statute"), "0123456789"),
    "amount": "0123456789€$£",
    "several quotes": '"“”„‘’«»',
}
NAMES = tuple(_PATTERNS)


def found_in(text: str) -> frozenset[str]:
    """What a text holds, of NAMES; its beginning is looked at."""
    head = text[:_HEAD]
    characters = frozenset(head)
    return frozenset(
        name
        for name, pattern in _COMPILED.items()
        if (name not in _NEEDS or not characters.isdisjoint(_NEEDS[name])) and pattern.search(head)
    )


def holds(name: str) -> Callable[[UnitView], Values]:
    """A feature that tells whether a unit holds something.

    name (str): one of NAMES.
    """
    return lambda view: Values(
        view.text_numbers, [PRESENT if name in found else "" for found in view.of_texts(found_in)]
    )
