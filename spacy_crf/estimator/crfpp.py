"""Reads the template files of CRF++.

    U00:%x[-1,0]             the word before: column 0, one row up
    U05:%x[-1,0]/%x[0,0]     two words together
    B                        transitions between labels, which every model of this library has
    B01:%x[0,1]              transitions that depend on column 1: an edge template

Values outside the sequence (_B-1, _B+1) are those that `padding = true` gives. What stands around the macros only tells
templates apart, and is not kept.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..core.errors import CRFError
from ..features.templates import MAX_OFFSET, parse_attribute
from ..reading.files import read_bytes
from .errors import EstimatorErrors

_LINE = re.compile(r"(?P<kind>[UB])(?P<id>[^:]*)(:(?P<body>.*))?$")
_MACRO = re.compile(r"%x\[\s*(?P<row>[+-]?\d{1,9})\s*,\s*(?P<column>\d{1,9})\s*\]")


class _BadLine(Exception):
    """What is wrong with a line."""


def read_crfpp_templates(path: str | Path, columns: Sequence[str] | Mapping[int, str]) -> list[str]:
    r"""Templates of this library for those of a file.

    path (str | Path): the file. columns (Sequence | Mapping): for each column of the CRF++ data the attribute that
        has its values, such as ["ORTH", "TAG"].
    RETURNS (list[str]): for `templates` of spacy_crf.Features.v1, in the order of the file, each once.
    RAISES (ValueError): names the line that cannot be read, or that has no counterpart here.

    >>> from pathlib import Path
    >>> from spacy_crf import read_crfpp_templates
    >>> _ = Path("template").write_text("U00:%x[-1,0]\nU01:%x[0,0]/%x[0,1]\nB\n")
    >>> read_crfpp_templates("template", ["ORTH", "TAG"])
    ['ORTH[-1]', 'ORTH[0]|TAG[0]']
    """
    attributes = dict(columns) if isinstance(columns, Mapping) else dict(enumerate(columns))
    for attribute in attributes.values():
        parse_attribute(attribute)
    templates: dict[str, None] = {}
    known: set[str] = set()
    lines = map(str.strip, read_bytes(Path(path)).decode("utf8", errors="replace").splitlines())
    for number, text in enumerate(lines, 1):
        try:
            templates.update(dict.fromkeys(_templates(text, attributes, known)))
        except _BadLine as problem:
            message = EstimatorErrors.CRF731.format(path=path, line=number, problem=problem, text=text)
            raise CRFError(message) from None
    return list(templates)


def _templates(line: str, attributes: Mapping[int, str], known: set[str]) -> Iterator[str]:
    """The template of a line, if it has one. known (set[str]): identifiers of the lines before."""
    if not line or line.startswith("#"):
        return
    found = _LINE.match(line)
    if not found:
        raise _BadLine("it begins neither with U nor with B")
    kind, name, body = found["kind"], f"{found['kind']}{found['id']}", found["body"] or ""
    atoms = [_atom(macro, attributes) for macro in _MACRO.finditer(body or found["id"])]
    if "%" in _MACRO.sub("", body or found["id"]):
        raise _BadLine("it has a macro other than %x[row,column]")
    if name in known:
        raise _BadLine(f"the identifier {name} was used before, so that the two would share their features")
    known.add(name)
    if kind == "U":
        yield "|".join(atoms) or "BIAS"
    elif atoms:
        yield f"B:{'|'.join(atoms)}"


def _atom(macro: re.Match[str], attributes: Mapping[int, str]) -> str:
    row, column = int(macro["row"]), int(macro["column"])
    if column not in attributes:
        raise _BadLine(f"no attribute is given for column {column}")
    if abs(row) > MAX_OFFSET:
        raise _BadLine(f"rows may be {MAX_OFFSET} away at most")
    return f"{attributes[column]}[{row}]"
