"""Grammars that come with the library, as files in the text format of `core.grammar.language`; and files of others."""

from importlib.resources import files
from pathlib import Path

from ...core.errors import CoreErrors, CRFError
from ...core.grammar.grammar import Grammar
from ...core.grammar.language import parse

SHIPPED = files(__package__)
SUFFIX = ".grammar"
THESIS, THESIS_CODE = "thesis", "thesis_code"


def read(source: str | Path) -> Grammar:
    """Read a grammar.

    source (str | Path): a path, or the name of a grammar of the library: `thesis` (Trompper's Listing 1) or
        `thesis_code` (the last version of his code).
    RAISES (ValueError): for a file that cannot be read, and as `language.parse`, with file and line.
    """
    shipped = SHIPPED / f"{source}{SUFFIX}"
    try:
        text = (shipped if shipped.is_file() else Path(source)).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        expected = f"the path of a text file in UTF-8, or one of {', '.join(known())} ({error})"
        raise CRFError(
            CoreErrors.CRF950.format(setting="grammar", value=repr(str(source)), expected=expected)
        ) from error
    return parse(text, str(source))


def known() -> list[str]:
    """Names of the grammars of the library."""
    return sorted(path.name.removesuffix(SUFFIX) for path in SHIPPED.iterdir() if path.name.endswith(SUFFIX))
