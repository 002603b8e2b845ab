"""DOIs, addresses, arXiv numbers and ISBNs, found in any field and taken out of it."""

import re
from urllib.parse import quote

from .dates import parse_date
from .entry import Date

DOI = re.compile(
    r"(?:\bdoi\s*:?\s*)?(?:https?://(?:dx\.)?doi\.org/|\bdoi\s*:\s*)?(?P<found>\b10\.\d{4,9}/\S+)", re.IGNORECASE
)
# The month is any two digits: numbers are checked by the archive, not here.
ARXIV = re.compile(
    r"(?:\barxiv\s+(?:e-?print|preprint)?[\s,]*)?(?:\bCoRR\b[\s,]*)?"
    r"(?:https?://arxiv\.org/(?:abs|pdf)/|\barxiv\s*:\s*|\babs/)"
    r"(?P<found>\d{4}\.\d{4,5}(?:v\d+)?|[a-z\-]+(?:\.[A-Z]{2})?/\d{7}(?:v\d+)?)",
    re.IGNORECASE,
)
ISBN = re.compile(r"\bISBN(?:-1[03])?:?\s*(?P<found>(?:97[89][- ]?)?\d[\d\- ]{8,14}[\dXx])\b")
URL = re.compile(r"(?P<found>(?:https?|ftp)://[^\s<>]+|\bwww\.[^\s<>]+)", re.IGNORECASE)
PATTERNS = {"doi": DOI, "arxiv": ARXIV, "isbn": ISBN, "url": URL}
# Words that announce an address; nothing is lost with them.
BEFORE_ADDRESS = re.compile(
    r"[\s,(\[<]*(?:\[online\]\.?\s*)?(?:(?:retrieved|available|accessible)(?:\s+(?:from|at|online|via|on))*\s*:?"
    r"|available:|\[?online\]?:|URL:?|from:?)?[\s,(\[<]*$",
    re.IGNORECASE,
)
ACCESSED = re.compile(
    r"[\s(\[,;]*\b(?:retrieved|accessed|viewed|cited|visited|zugriff|abgerufen)(?:\s+(?:on|am))?:?\s+"
    r"(?P<date>[^()\[\]]*?\d{4}(?:\s+[A-Z][a-z]{2,}\.?\s+\d{1,2})?)[\s)\],;.]*",
    re.IGNORECASE,
)
PAIRS = {")": "(", "]": "[", "}": "{"}


def take_identifiers(text: str) -> tuple[dict[str, str], str]:
    """The first identifier of each kind in a text by its kind, and what is left without them and what announces them.

    Spaces and braces in an address, which BibTeX could not hold, are percent-encoded.
    """
    found: dict[str, str] = {}
    for kind, pattern in PATTERNS.items():
        match = pattern.search(text)
        if match:
            value = _trim(match["found"])
            before = BEFORE_ADDRESS.sub(" ", text[: match.start()])
            text = f"{before}{text[match.start('found') + len(value) :]}"
            found[kind] = re.sub(r"[\s\-]", "", value) if kind == "isbn" else quote_braces(value)
    return found, " ".join(text.split())


def take_accessed(text: str) -> tuple[Date | None, str]:
    """When an address was looked up, such as "Accessed 3 May 2019", and what is left without it."""
    match = ACCESSED.search(text)
    date, rest = parse_date(match["date"]) if match else (None, "")
    if match is None or date is None or rest:
        return None, text
    return date, " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())


def quote_braces(address: str) -> str:
    """An address without what ends a field of BibTeX, or escapes its end."""
    return re.sub(r"[{}\\\s]", lambda match: quote(match[0]), address)


def _trim(value: str) -> str:
    """Without the punctuation of the sentence; a closing bracket stays if it was opened."""
    while value and (
        value[-1] in ".,;:'\"”’»>" or (value[-1] in PAIRS and value.count(PAIRS[value[-1]]) < value.count(value[-1]))
    ):
        value = value[:-1]
    return value
