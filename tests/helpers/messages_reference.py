"""The page `docs/messages.md`: all errors and warnings by their codes, made from the classes that hold them."""

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import spacy_crf
from spacy_crf.core.errors import Messages

INTRODUCTION = """# Messages

Every error and warning of the library begins with a code, such as `[CRF404]`, and says what is wrong and what to do.
Errors are `spacy_crf.CRFError`, a `ValueError` with the attribute `code`; warnings, whose codes begin with `CRFW`, are
`spacy_crf.CRFWarning`. What stands in braces is filled in. This page is made from the messages: change these, then run

    python -m pytest tests/test_settings_reference.py --rewrite-snapshots
"""
PARTS = {
    "core": "Mathematics",
    "reading": "Files",
    "features": "Templates and features",
    "learning": "Training",
    "pipe": "Components",
    "tagsets": "Tag sets",
    "constraints": "Constraints",
    "sections": "Sections",
    "punctuation": "Punctuation",
    "bibliography": "Bibliographies",
    "corpora": "Corpora",
    "estimator": "The estimator",
    "lab": "Commands and experiments",
}
FIELD = re.compile(r"\{([^{}]*)\}")


def write_messages() -> str:
    """Write the page."""
    parts = [INTRODUCTION]
    found = sorted(message_classes(), key=lambda owner: owner.__module__)
    for part in [*PARTS, *sorted({part_of(owner) for owner in found} - PARTS.keys())]:
        own = [row for owner in found if part_of(owner) == part for row in rows(owner)]
        parts.append(
            "\n".join([f"## {PARTS.get(part, part)}\n", "| code | message |", "| --- | --- |", *sorted(own), ""])
        )
    return "\n".join(parts)


def message_classes() -> Iterator[type]:
    """Yield the classes that hold messages."""
    for module in walk_packages(spacy_crf.__path__, "spacy_crf."):
        if module.name.rpartition(".")[2] == "errors":
            yield from (one for one in vars(import_module(module.name)).values() if isinstance(one, Messages))


def part_of(owner: type) -> str:
    """The folder of the package that a class stands in."""
    return owner.__module__.split(".")[1]


def rows(owner: type) -> Iterator[str]:
    """Yield a row for each message of a class; fields lose what formats them."""
    for code, text in vars(owner).items():
        if code.startswith("CRF"):
            shown = FIELD.sub(lambda field: "{" + re.split(r"[!:]", field[1])[0] + "}", text)
            yield f"| {code} | {shown.replace('|', chr(92) + '|').replace('<', '&lt;')} |"
