"""Grammars that come with the library, as files in the text format of `core.grammar.language`."""

from importlib.resources import files

from ..core.grammar.grammar import Grammar
from ..core.grammar.language import parse

SHIPPED = files(__package__)
THESIS, THESIS_CODE = "thesis", "thesis_code"


def read(name: str) -> Grammar:
    """A grammar of the library.

    name (str): `thesis` (Trompper's Listing 1) or `thesis_code` (the last version of his code).
    RAISES (FileNotFoundError): for another name.
    """
    return parse((SHIPPED / f"{name}.grammar").read_text(encoding="utf8"))
