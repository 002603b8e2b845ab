"""Rewrite rules: what a language spells in several ways is brought to one, letter by letter.

A rule is a regular expression and what it becomes; rules are applied in order, each to what the ones before have left.
Words come folded and with their marks as letters of their own (Unicode NFD), so that a rule can drop marks. A file has
a line `pattern<TAB>replacement` for each rule; some come with the library and are named instead of a path.
"""

import re
import unicodedata
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from ..core.errors import CRFError
from .errors import FeatureErrors
from .normalise import fold

SHIPPED = files(__package__) / "rewrites"


class Rewriter:
    """Rules, compiled.

    rules (Iterable[tuple[str, str]]): pattern and replacement, in the syntax of Python's `re`.
    name (str): of the file, for messages.
    """

    def __init__(self, rules: Iterable[tuple[str, str]], name: str = "rules"):
        self.rules = [(pattern, replacement) for pattern, replacement in rules]
        self._compiled = []
        for number, (pattern, replacement) in enumerate(self.rules, 1):
            try:
                compiled = re.compile(pattern)
                compiled.sub(replacement, "")  # parses the replacement
            except (re.error, IndexError) as error:
                raise CRFError(
                    FeatureErrors.CRF320.format(name=name, rule=number, pattern=pattern, error=error)
                ) from error
            self._compiled.append((compiled, replacement))

    def __call__(self, form: str) -> str:
        """The word as the rules leave it, composed again; folded only where there are no rules, or nothing is left.

        form (str): any word.
        """
        word = unicodedata.normalize("NFD", fold(form))
        for pattern, replacement in self._compiled:
            word = pattern.sub(replacement, word)
        return unicodedata.normalize("NFC", word) or fold(form)

    @classmethod
    def read(cls, source: str) -> "Rewriter":
        """Read a file of rules. Empty lines, and lines that begin with #, are skipped.

        source (str): a path, or the name of a file of the library, such as "middle_low_german".
        RAISES (ValueError): for an unreadable file, a line without a tab, or a pattern that is none.
        """
        shipped = SHIPPED / f"{source}.tsv"
        try:
            text = (shipped if shipped.is_file() else Path(source)).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise CRFError(
                FeatureErrors.CRF321.format(path=source, known=", ".join(known_rules()), error=error)
            ) from error
        rules = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip() or line.startswith("#"):
                continue
            pattern, tab, replacement = line.rstrip("\r").partition("\t")
            if not tab or not pattern or "\t" in replacement:
                raise CRFError(FeatureErrors.CRF322.format(path=source, line=number, text=line))
            rules.append((pattern, replacement))
        return cls(rules, source)


def known_rules() -> list[str]:
    """Names of the rules that come with the library."""
    return sorted(entry.name.removesuffix(".tsv") for entry in SHIPPED.iterdir() if entry.name.endswith(".tsv"))
