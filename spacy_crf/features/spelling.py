"""Normal forms of words as features: rewrite rules, then a table of variants that is fitted or given.

Templates ask for them as REWRITTEN (after the rules), RPREFIX3 and RSUFFIX3 (of that), and NORMAL (after the table).

A rule is a regular expression and what it becomes; rules are applied in order, each to what the ones before have left.
Words come folded and with their marks as letters of their own (Unicode NFD), so that a rule can drop marks. A file has
a line `pattern<TAB>replacement` for each rule; some come with the library and are named instead of a path.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..core.errors import CRFError
from .errors import FeatureErrors
from .normalise import SpellingTable, fold

SHIPPED = files(__package__) / "rewrites"
MAX_WORDS = 1 << 16  # a stream of ever new words starts over here instead of filling the memory


class Rewriter:
    """Rewrite rules, compiled.

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
        """Return the word as the rules leave it, composed again; folded only where nothing is left of it."""
        word = unicodedata.normalize("NFD", fold(form))
        for pattern, replacement in self._compiled:
            word = pattern.sub(replacement, word)
        return unicodedata.normalize("NFC", word) or fold(form)

    def rewrite_counts(self, counts: Mapping[str, int]) -> Counter[str]:
        """Return counts of rewritten forms from counts of forms."""
        found: Counter[str] = Counter()
        for form, number in counts.items():
            found[self(form)] += number
        return found

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
            known = ", ".join(known_rules())
            raise CRFError(FeatureErrors.CRF321.format(path=source, known=known, error=error)) from error
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
    """Return the names of the rules that come with the library."""
    return sorted(entry.name.removesuffix(".tsv") for entry in SHIPPED.iterdir() if entry.name.endswith(".tsv"))


class Speller:
    """Rules and table of one component.

    rewriter (Rewriter): the rules. spelling (SpellingTable): the table, whose forms are rewritten ones.
    """

    def __init__(self, rewriter: Rewriter, spelling: SpellingTable):
        self.rewriter, self.spelling = rewriter, spelling
        self._rewritten: dict[str, str] = {}

    def rewrite(self, form: str) -> str:
        """Return a word after the rules."""
        found = self._rewritten.get(form)
        if found is None:
            if len(self._rewritten) >= MAX_WORDS:
                self._rewritten.clear()
            found = self._rewritten[form] = self.rewriter(form)
        return found

    def normalise(self, form: str) -> str:
        """Return the normal form of a word, known or not."""
        return self.spelling.normalise(self.rewrite(form))

    def to_data(self) -> dict[str, Any]:
        """Return rules and table as lists; a form that is its own normal form stands alone."""
        table = [[form] if form == normal else [form, normal] for form, normal in self.spelling.table.items()]
        lengths = list(self.spelling.neighbours.lengths)
        return {"rules": [list(rule) for rule in self.rewriter.rules], "table": table, "lengths": lengths}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Speller":
        """Restore from `to_data`."""
        table = {row[0]: row[-1] for row in data["table"]}
        return cls(Rewriter((rule[0], rule[1]) for rule in data["rules"]), SpellingTable(table, data["lengths"]))
