"""The citation corpus of the project, as labelled fields and as a pasted bibliography."""

import re

from helpers.paths import ROOT

CORPUS = ROOT / "corpus" / "constrained_ner"
FIELD = re.compile(r"<([a-z]+)> (.*?) </\1>")


def parse_reference(line: str) -> list[tuple[str, str]]:
    """Labels and texts of `<author> ... </author> <title> ...`."""
    return [(label.upper(), text) for label, text in FIELD.findall(line)]


def read_references(part: str, *styles: str) -> list[list[tuple[str, str]]]:
    """References of "train" or "dev", of some styles or all."""
    files = [file for file in sorted((CORPUS / part).glob("*.txt")) if not styles or file.stem in styles]
    return [parse_reference(line) for file in files for line in file.read_text(encoding="utf8").splitlines()]


def all_references() -> list[list[tuple[str, str]]]:
    return read_references("train") + read_references("dev")


def pasted() -> str:
    return (CORPUS / "bibliography.txt").read_text(encoding="utf8")


def pasted_gold() -> list[tuple[int, int, str, str]]:
    """First line, last line, marker and text of each reference of the pasted bibliography."""
    rows = (CORPUS / "bibliography.tsv").read_text(encoding="utf8").splitlines()[1:]
    cells = [row.split("\t") for row in rows]
    return [(int(first), int(last), marker, text) for first, last, marker, text in cells]
