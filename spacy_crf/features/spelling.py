"""Normal forms of words as features: rewrite rules, then a table of variants that is fitted or given.

Templates ask for them as REWRITTEN (after the rules), RPREFIX3 and RSUFFIX3 (of that), and NORMAL (after the table).

A rule is a regular expression and what it becomes; rules are applied in order, each to what the ones before have left.
Words come folded and with their marks as letters of their own (Unicode NFD), so that a rule can drop marks. A file has
a line `pattern<TAB>replacement` for each rule; some come with the library and are named instead of a path.

By the table, a rare spelling stands for the frequent one that it differs from in a letter or two. It is fitted to word
forms and their counts, written as lines `form<TAB>normal form` that people can correct, and applied to forms it does
not know by the same rule. Forms are compared in lower case and Unicode's composed form (NFC).
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

from ..core.errors import CoreErrors, CRFError, excerpt, require
from ..reading.files import read_table_lines, read_text, says_nothing, write_whole
from .errors import FeatureErrors

SHIPPED = files(__package__) / "rewrites"
MAX_WORDS = 1 << 16  # a stream of ever new words starts over here instead of filling the memory
LONGEST_RULE = 1000  # characters
MOST_GROWTH = 30  # times the length of a word, and of a short one this times itself
LENGTHS = (4, 8)  # one edit from 4 characters on, two from 8
# How many times as frequent a normal form is. On Middle Low German, less joins more words that are no variants of each
# other, and leaves fewer normal forms for unknown words to be near to.
RATIO = 10
# Near words are found by deletions from their beginnings alone: those from whole words cost more than they tell.
PREFIX = 8


def fold(form: str) -> str:
    """Return the form as it is compared: in lower case and composed."""
    return unicodedata.normalize("NFC", form.lower())


def edit_distance(first: str, second: str, most: int) -> int:
    """Count insertions, deletions and substitutions between two words, up to most + 1. O(len(first) most)."""
    first, second = _strip_common(first, second)
    if abs(len(first) - len(second)) > most:
        return most + 1
    beyond = most + 1
    previous = {j: j for j in range(min(most, len(second)) + 1)}
    for i, letter in enumerate(first, 1):
        current: dict[int, int] = {}
        for j in range(max(0, i - most), min(len(second), i + most) + 1):  # further off, they differ by more
            diagonal = previous[j - 1] + (letter != second[j - 1]) if j else beyond
            current[j] = min(previous.get(j, beyond) + 1, current.get(j - 1, beyond) + 1, diagonal)
        if min(current.values()) > most:
            return beyond
        previous = current
    return min(previous[len(second)], beyond)


def _strip_common(first: str, second: str) -> tuple[str, str]:
    """Return the words without what they begin and end with in common, which no shortest edit touches."""
    start, end = 0, min(len(first), len(second))
    while start < end and first[start] == second[start]:
        start += 1
    shared = 0
    while shared < end - start and first[-1 - shared] == second[-1 - shared]:
        shared += 1
    return first[start : len(first) - shared], second[start : len(second) - shared]


class Neighbours:
    """Words to be found by a near spelling. They are added in the order in which they are preferred.

    Two words within k edits share what is left of each after at most k deletions, and so do their beginnings: one
    dictionary of such remains finds the candidates, and their distance is then computed.
    lengths (Sequence[int]): where one, two ... edits begin to be allowed: characters of the shorter word.
    """

    def __init__(self, lengths: Sequence[int] = LENGTHS):
        holds = all(length >= 1 for length in lengths) and list(lengths) == sorted(lengths)
        require(CoreErrors.CRF549, "lengths", lengths, holds, "numbers of at least 1, rising")
        self.lengths = tuple(lengths)
        self.words: list[str] = []
        self.remains: dict[str, list[int]] = {}

    def allowed(self, length: int) -> int:
        """Return how many edits two words may differ in. length (int): of the shorter one."""
        return sum(length >= least for least in self.lengths)

    def add(self, word: str) -> None:
        """Add a folded form that has not been added; words with a digit and very short ones are not found."""
        number = len(self.words)
        self.words.append(word)
        for remain in self._deletions(word):
            self.remains.setdefault(remain, []).append(number)

    def find(self, word: str, stop: int | None = None) -> str | None:
        """Find the nearest folded form among those that were added first, up to `stop`; of equally near ones the first
        one, and None if none is near enough."""
        stop = len(self.words) if stop is None else stop
        numbers = {number for remain in self._deletions(word) for number in self.remains.get(remain, ())}
        near: list[tuple[int, int]] = []
        for number in numbers:
            if number < stop:
                most = self.allowed(min(len(word), len(self.words[number])))
                distance = edit_distance(word, self.words[number], most)
                near += [(distance, number)] if distance <= most else []
        return self.words[min(near)[1]] if near else None

    def _deletions(self, word: str) -> Iterator[str]:
        """Yield what is left of the beginning of a word after as many deletions as it may differ in, or fewer."""
        most = self.allowed(len(word))
        # 1400 is not a spelling of 1500.
        if most == 0 or any(character.isdigit() for character in word):
            return
        beginning = word[:PREFIX]
        kept = range(max(len(beginning) - most, 0), len(beginning) + 1)
        yield from {"".join(letters) for length in kept for letters in combinations(beginning, length)}


class SpellingTable:
    """A table of normal forms by form, and the rule for forms that are not in it: they are compared with the values in
    the order in which these first come, so the frequent ones belong to the beginning. lengths: as in `Neighbours`."""

    def __init__(self, table: Mapping[str, str], lengths: Sequence[int] = LENGTHS):
        self.table = {fold(form): fold(normal) for form, normal in table.items()}
        for form, normal in self.table.items():
            own = self.table.get(normal, normal)
            if own != normal:
                raise CRFError(FeatureErrors.CRF547.format(form=normal, variant=form, normal=own))
        self.neighbours = Neighbours(lengths)
        for normal in dict.fromkeys(self.table.values()):
            self.neighbours.add(normal)
        self.unknown: dict[str, str] = {}

    def normalise(self, form: str) -> str:
        """Return the normal form of a word: from the table; else the nearest one; else the folded form itself."""
        word = fold(form)
        if word in self.table:
            return self.table[word]
        if word not in self.unknown:
            if len(self.unknown) >= MAX_WORDS:
                self.unknown.clear()
            self.unknown[word] = self.neighbours.find(word) or word
        return self.unknown[word]

    def write(self, path: Path) -> None:
        """Write the table as TSV, each normal form followed by its variants."""
        groups: dict[str, list[str]] = {normal: [] for normal in self.table.values()}
        for form, normal in self.table.items():
            groups[normal].append(form)
        lines = [f"{form}\t{normal}\n" for normal, forms in groups.items() for form in forms]
        write_whole(Path(path), "".join(lines))

    @classmethod
    def read(cls, path: Path, lengths: Sequence[int] = LENGTHS) -> "SpellingTable":
        """Read a table. Blank lines, and lines without a tab that begin with #, are skipped."""
        try:
            lines = read_table_lines(Path(path))
        except (OSError, CRFError) as error:
            raise CRFError(FeatureErrors.CRF548.format(path=path, error=error)) from error
        table: dict[str, str] = {}
        for number, line in enumerate(lines, 1):
            if says_nothing(line):
                continue
            form, _, normal = (fold(part.strip()) for part in line.partition("\t"))
            if not form or not normal or "\t" in normal:
                raise CRFError(FeatureErrors.CRF545.format(path=path, line=number, text=line))
            if form in table:
                raise CRFError(FeatureErrors.CRF546.format(path=path, line=number, form=form))
            table[form] = normal
        return cls(table, lengths)


def fit_spelling(counts: Mapping[str, int], lengths: Sequence[int] = LENGTHS, ratio: float = RATIO) -> SpellingTable:
    """Find the normal form of each word of a training corpus.

    From the most frequent form on, each one goes to the nearest normal form so far that is more than `ratio` times as
    frequent; a form without such a neighbour becomes a normal form. The order of the counts does not matter. Only forms
    that share what is left after deletions are compared: 30,000 forms take about two seconds.

    RETURNS (SpellingTable): the table, in falling frequency of the normal forms.
    """
    require(CoreErrors.CRF549, "ratio", ratio, ratio >= 1, "at least 1")
    folded: Counter[str] = Counter()
    for form, count in counts.items():
        folded[fold(form)] += count
    neighbours = Neighbours(lengths)
    frequencies: list[int] = []
    table: dict[str, str] = {}
    for form, count in sorted(folded.items(), key=lambda item: (-item[1], item[0])):
        stop = bisect_left(frequencies, -count * ratio)
        normal = neighbours.find(form, stop) if stop else None
        table[form] = normal or form
        if normal is None:
            neighbours.add(form)
            frequencies.append(-count)
    return SpellingTable(table, lengths)


class Rewriter:
    """Rewrite rules, compiled: pattern and replacement, in the syntax of Python's `re`. name (str): of the file."""

    def __init__(self, rules: Iterable[tuple[str, str]], name: str = "rules"):
        self.name = name
        self.rules = [(pattern, replacement) for pattern, replacement in rules]
        self._compiled = []
        for number, (pattern, replacement) in enumerate(self.rules, 1):
            try:
                compiled = re.compile(pattern)
                compiled.sub(replacement, "")  # parses the replacement
            except (re.error, IndexError, OverflowError, RecursionError) as error:
                where = {"name": name, "rule": number, "pattern": pattern}
                raise CRFError(FeatureErrors.CRF320.format(**where, error=error)) from error
            self._compiled.append((compiled, replacement))

    def __call__(self, form: str) -> str:
        """Return the word as the rules leave it, composed again; folded only where nothing is left of it."""
        word = unicodedata.normalize("NFD", fold(form))
        most = MOST_GROWTH * max(len(word), MOST_GROWTH)
        for number, (pattern, replacement) in enumerate(self._compiled, 1):
            word = pattern.sub(replacement, word)
            if len(word) > most:
                raise CRFError(FeatureErrors.CRF326.format(name=self.name, rule=number, form=excerpt(form), most=most))
        return unicodedata.normalize("NFC", word) or fold(form)

    def rewrite_counts(self, counts: Mapping[str, int]) -> Counter[str]:
        """Return counts of rewritten forms from counts of forms."""
        found: Counter[str] = Counter()
        for form, number in counts.items():
            found[self(form)] += number
        return found

    @classmethod
    def read(cls, source: str) -> "Rewriter":
        """Read rules from a path, or a file of the library; empty lines, and those that begin with #, are skipped."""
        shipped = SHIPPED / f"{source}.tsv"
        try:
            text = shipped.read_text(encoding="utf-8") if shipped.is_file() else read_text(Path(source))
        except (OSError, CRFError) as error:
            known = ", ".join(known_rules())
            raise CRFError(FeatureErrors.CRF321.format(path=source, known=known, error=error)) from error
        rules = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip() or line.startswith("#"):
                continue
            pattern, tab, replacement = line.partition("\t")
            if not tab or not pattern or "\t" in replacement or len(line) > LONGEST_RULE:
                raise CRFError(FeatureErrors.CRF322.format(path=source, line=number, text=line))
            rules.append((pattern, replacement))
        return cls(rules, source)


def known_rules() -> list[str]:
    return sorted(entry.name.removesuffix(".tsv") for entry in SHIPPED.iterdir() if entry.name.endswith(".tsv"))


class Speller:
    """Rules and table of one component; the forms of the table are rewritten ones."""

    def __init__(self, rewriter: Rewriter, spelling: SpellingTable):
        self.rewriter, self.spelling = rewriter, spelling
        self._rewritten: dict[str, str] = {}

    def rewrite(self, form: str) -> str:
        found = self._rewritten.get(form)
        if found is None:
            if len(self._rewritten) >= MAX_WORDS:
                self._rewritten.clear()
            found = self._rewritten[form] = self.rewriter(form)
        return found

    def normalise(self, form: str) -> str:
        return self.spelling.normalise(self.rewrite(form))

    def to_data(self) -> dict[str, Any]:
        """Return rules and table as lists; a form that is its own normal form stands alone."""
        table = [[form] if form == normal else [form, normal] for form, normal in self.spelling.table.items()]
        lengths = list(self.spelling.neighbours.lengths)
        return {"rules": [list(rule) for rule in self.rewriter.rules], "table": table, "lengths": lengths}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Speller":
        table = {row[0]: row[-1] for row in data["table"]}
        return cls(Rewriter((rule[0], rule[1]) for rule in data["rules"]), SpellingTable(table, data["lengths"]))
