"""Normal forms of words as features: rewrite rules, then a table of variants that is fitted or given.

Templates ask for them as REWRITTEN (after the rules), RPREFIX3 and RSUFFIX3 (of that), and NORMAL (after the table).
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy import registry

from .normalise import LENGTHS, RATIO, Spelling, fit_spelling
from .rewrite import Rewriter

FIT = "fit"
MAX_WORDS = 1 << 16  # a stream of ever new words starts over here instead of filling the memory


class Speller:
    """Rules and table of one component.

    rewriter (Rewriter): the rules. spelling (Spelling): the table, whose forms are rewritten ones.
    """

    def __init__(self, rewriter: Rewriter, spelling: Spelling):
        self.rewriter, self.spelling = rewriter, spelling
        self._rewritten: dict[str, str] = {}

    def rewrite(self, form: str) -> str:
        """A word after the rules."""
        found = self._rewritten.get(form)
        if found is None:
            if len(self._rewritten) >= MAX_WORDS:
                self._rewritten.clear()
            found = self._rewritten[form] = self.rewriter(form)
        return found

    def normalise(self, form: str) -> str:
        """The normal form of a word, known or not."""
        return self.spelling.normalise(self.rewrite(form))

    def to_data(self) -> dict[str, Any]:
        """Rules and table as lists; a form that is its own normal form stands alone."""
        table = [[form] if form == normal else [form, normal] for form, normal in self.spelling.table.items()]
        lengths = list(self.spelling.neighbours.lengths)
        return {"rules": [list(rule) for rule in self.rewriter.rules], "table": table, "lengths": lengths}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Speller":
        """The inverse of `to_data`."""
        table = {row[0]: row[-1] for row in data["table"]}
        return cls(Rewriter((rule[0], rule[1]) for rule in data["rules"]), Spelling(table, data["lengths"]))


@dataclass(frozen=True)
class SpellingConfig:
    """The `spelling` block of the features. See `make_spelling`."""

    rules: str | None = None
    table: str | None = FIT
    lengths: tuple[int, ...] = LENGTHS
    ratio: float = RATIO

    def make(self, count: Callable[[], Mapping[str, int]]) -> Speller:
        """Read rules and table, or fit the table.

        count (Callable): how often each form of the training corpus occurs; called only to fit.
        RAISES (ValueError): for files that cannot be read.
        """
        rewriter = Rewriter.read(self.rules) if self.rules else Rewriter(())
        if self.table == FIT:
            return Speller(rewriter, fit_spelling(_rewritten(count(), rewriter), self.lengths, self.ratio))
        table = Spelling.read(Path(self.table), self.lengths) if self.table else Spelling({}, self.lengths)
        return Speller(rewriter, table)


def _rewritten(counts: Mapping[str, int], rewriter: Rewriter) -> Counter[str]:
    found: Counter[str] = Counter()
    for form, number in counts.items():
        found[rewriter(form)] += number
    return found


@registry.misc("spacy_crf.Spelling.v1")
def make_spelling(
    rules: str | None = None, table: str | None = FIT, lengths: list[int] | None = None, ratio: float = RATIO
) -> SpellingConfig:
    """Normal forms of words for templates with REWRITTEN, RPREFIX, RSUFFIX and NORMAL.

    rules (str | None): rewrite rules: a path of a file, or the name of those that come with the library.
    table (str | None): "fit" for a table fitted to the words of the training corpus; else the path of one, of lines
        `form<TAB>normal form`, as `python -m spacy crf spelling` writes it. Its forms are rewritten ones. null: none.
    lengths (list[int] | None): where one, two ... edits begin to be allowed, in letters of the shorter word.
    ratio (float): how many times as frequent a normal form is as its variants.
    RETURNS (SpellingConfig): the block.
    """
    return SpellingConfig(rules, table, LENGTHS if lengths is None else tuple(lengths), ratio)
