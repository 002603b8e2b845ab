"""What templates consult beside the text: word lists, and a lexicon of word forms; both are stored with the model."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self
from unicodedata import normalize

import numpy as np
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc

from ..core.arrays import Hashes, Indices
from ..core.errors import CRFError
from ..core.sparse import HashTable
from ..reading.files import read_table_lines
from .errors import FeatureErrors
from .hashing import string_hash, string_hashes
from .induced import WordClasses
from .spelling import Speller

FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


class WordList:
    """One list of words and phrases, compared lower-cased, with their values: the longest match counts. Its first word
    gets the value, the following ones `I-` and the value. Of equal entries the last one counts."""

    def __init__(self, name: str, entries: Iterable[tuple[tuple[str, ...], str]]):
        self.name = name
        self.entries = sorted(dict(entries).items())
        self.values = sorted({value for _, value in self.entries})
        number = {value: index for index, value in enumerate(self.values, 1)}
        singles = {words[0]: number[value] for words, value in self.entries if len(words) == 1}
        self._words = HashTable(string_hashes(list(singles)))
        self._word_values = np.array([*singles.values(), 0], dtype=np.intp)  # the last one for unknown words, -1
        self._phrases: dict[int, list[tuple[tuple[int, ...], int]]] = {}
        for words, value in self.entries:
            if len(words) > 1:
                hashes = tuple(map(string_hash, words))
                self._phrases.setdefault(hashes[0], []).append((hashes, number[value]))
        for candidates in self._phrases.values():
            candidates.sort(key=lambda candidate: -len(candidate[0]))
        self._openers = np.array(sorted(self._phrases), dtype=np.uint64)

    def strings(self, prefix: int = 0) -> list[str]:
        """Return what tokens can have, as `match` counts: nothing, each value (cut to a prefix), each after `I-`."""
        values = [value[:prefix] if prefix else value for value in self.values]
        return ["", *values, *(f"I-{value}" for value in values)]

    def match(self, lowers: Hashes, doc_lengths: Indices) -> Indices:
        """((N,)): numbers into `strings`, by LOWER of tokens. O(N), and for each opening word its phrases."""
        numbers = self._word_values[self._words.find(lowers)]
        doc_ends = np.repeat(np.cumsum(doc_lengths), doc_lengths)
        free = 0
        for position in np.flatnonzero(np.isin(lowers, self._openers)).tolist():
            if position < free:
                continue  # inside the match before
            for words, value in self._phrases[int(lowers[position])]:
                end = position + len(words)
                if end <= doc_ends[position] and tuple(lowers[position:end].tolist()) == words:
                    numbers[position] = value
                    numbers[position + 1 : end] = len(self.values) + value
                    free = end
                    break
        return numbers

    @classmethod
    def read(cls, name: str, path: Path, split: Callable[[str], list[str]] = str.split) -> "WordList":
        """Read a TSV file. Empty lines and comments are skipped.

        split (Callable): makes units of phrases. They match texts too whose units are what stands between spaces, and
            words that have spaces within, as those of Vietnamese have.
        """
        try:
            lines = read_table_lines(Path(path))
        except (OSError, CRFError) as error:
            raise CRFError(FeatureErrors.CRF307.format(name=name, path=path, error=error)) from error
        entries = []
        for number, line in enumerate(lines, 1):
            fields = line.split("\t")
            phrase, value = " ".join(fields[0].split()), fields[-1].strip()
            if not line.strip() or (len(fields) == 1 and phrase.startswith("#")):
                continue
            ways = split(phrase), phrase.split(), [fields[0].strip()]
            # a text may have the letter é, or e with an accent behind it, whatever the file has
            lower = [tuple(unit.lower() for unit in units) for units in ways]
            lower += [tuple(normalize(form, unit) for unit in units) for units in lower for form in FORMS]
            if len(fields) != 2 or not all(lower) or not value:
                raise CRFError(FeatureErrors.CRF306.format(name=name, path=path, line=number, text=line))
            entries += [(units, value) for units in dict.fromkeys(lower)]
        return cls(name, entries)


def splitter(nlp: Language | None) -> Callable[[str], list[str]]:
    """Return what splits a phrase into tokens, without white space: the tokenizer of a pipeline, or at spaces."""
    if nlp is None:
        return str.split
    return lambda phrase: [token.text for token in nlp.make_doc(phrase) if not token.is_space]


def kept_counts(counts: Mapping[str, int], thresholds: list[int]) -> dict[str, int]:
    """Keep of the counts of word forms what thresholds tell apart, none above the highest of these."""
    low, high = min(thresholds), max(thresholds)
    return {form: min(number, high) for form, number in sorted(counts.items()) if number >= low}


@dataclass(frozen=True)
class Lexicon:
    """What a component knows of word forms beyond their letters: normal forms, counts in training, induced classes."""

    speller: Speller | None = None
    counts: Mapping[str, int] | None = None
    classes: WordClasses | None = None

    def to_data(self) -> dict[str, Any]:
        """Return lists and dicts; nothing of what there is not."""
        data: dict[str, Any] = {} if self.speller is None else {"spelling": self.speller.to_data()}
        if self.counts is not None:
            data["word_counts"] = dict(self.counts)
        if self.classes is not None:
            data["word_classes"] = self.classes.to_data()
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Restore from `to_data`; other keys are left alone."""
        speller = Speller.from_data(data["spelling"]) if "spelling" in data else None
        counts = data.get("word_counts")
        if counts is not None and not all(type(n) is int for n in counts.values()):
            raise ValueError("word counts are no whole numbers")
        classes = WordClasses.from_data(data["word_classes"]) if "word_classes" in data else None
        return cls(speller, counts, classes)


NOTHING = Lexicon()


@dataclass(frozen=True)
class Resources:
    """Word lists by name and lexicon of one component, read or fitted when it is initialized, and stored with it."""

    lists: dict[str, WordList] = field(default_factory=dict)
    lexicon: Lexicon = NOTHING

    def to_data(self) -> dict[str, Any]:
        lists = {name: [[list(words), value] for words, value in each.entries] for name, each in self.lists.items()}
        return {"lists": lists, **self.lexicon.to_data()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        lists = {
            name: WordList(name, [(tuple(words), value) for words, value in entries])
            for name, entries in data["lists"].items()
        }
        return cls(lists, Lexicon.from_data(data))


def count_forms(docs: Iterable[Doc]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for doc in docs:
        strings = doc.vocab.strings
        for orth, number in doc.count_by(ORTH).items():
            counts[strings[orth]] += number
    return counts
