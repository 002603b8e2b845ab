"""Word lists and word classes: phrase or word to value, longest match first.

The first word of a match gets the value, the following ones `I-` and the value. Words are compared lower-cased.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from spacy.language import Language

from ..core.types import Hashes, Indices
from ..errors import Errors
from .attributes import string_hash
from .hashing import HashTable


class WordList:
    """One list, as read from a file of `word or phrase<TAB>value` lines.

    name (str): what templates call it, LIST(name).
    entries (list[tuple[tuple[str, ...], str]]): lower-cased words of each phrase, and its value.
    """

    def __init__(self, name: str, entries: Iterable[tuple[tuple[str, ...], str]]):
        self.name = name
        self.entries = sorted(set(entries))
        singles = {words[0]: value for words, value in self.entries if len(words) == 1}
        self._words = HashTable(np.array([string_hash(word) for word in singles], dtype=np.uint64))
        self._values = list(singles.values())
        self._phrases: dict[int, list[tuple[tuple[int, ...], str]]] = {}
        for words, value in self.entries:
            if len(words) > 1:
                hashes = tuple(map(string_hash, words))
                self._phrases.setdefault(hashes[0], []).append((hashes, value))
        for candidates in self._phrases.values():
            candidates.sort(key=lambda candidate: -len(candidate[0]))
        self._openers = np.array(sorted(self._phrases), dtype=np.uint64)

    def match(self, lowers: Hashes, doc_lengths: Indices) -> tuple[Indices, list[str]]:
        """Numbers of the values of each token.

        lowers ((N,)): LOWER of each token.
        doc_lengths ((D,)): tokens per Doc; a match does not cross Docs.
        RETURNS (tuple): (N,) numbers into the list of values, whose entry 0 is the empty string (no match).
        """
        values = ["", *self._values]
        numbers = self._words.find(lowers).astype(np.intp) + 1
        if len(self._openers):
            self._match_phrases(lowers, doc_lengths, numbers, values)
        return numbers, values

    def _match_phrases(self, lowers: Hashes, doc_lengths: Indices, numbers: Indices, values: list[str]) -> None:
        doc_ends = np.repeat(np.cumsum(doc_lengths), doc_lengths)
        free = 0
        for position in np.flatnonzero(np.isin(lowers, self._openers)).tolist():
            if position < free:
                continue  # inside the match before
            for words, value in self._phrases[int(lowers[position])]:
                end = position + len(words)
                if end <= doc_ends[position] and tuple(lowers[position:end].tolist()) == words:
                    numbers[position] = len(values)
                    numbers[position + 1 : end] = len(values) + 1
                    values += [value, f"I-{value}"]
                    free = end
                    break

    @classmethod
    def read(cls, name: str, path: Path, nlp: Language | None = None) -> "WordList":
        """Read a TSV file; phrases are split as the pipeline splits text, at spaces without one.

        RAISES (ValueError): for an unreadable file, or a line that is not `phrase<TAB>value` (with its number).
        """
        entries = []
        try:
            lines = Path(path).read_text(encoding="utf8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(Errors.CRF307.format(name=name, path=path, error=error)) from error
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            phrase, _, value = line.partition("\t")
            if not phrase.strip() or not value.strip():
                raise ValueError(Errors.CRF306.format(name=name, path=path, line=number, text=line))
            words = phrase.split() if nlp is None else [token.text for token in nlp.make_doc(phrase.strip())]
            entries.append((tuple(word.lower() for word in words), value.strip()))
        return cls(name, entries)


def value_hashes(numbers: Indices, values: list[str], prefix: int) -> Hashes:
    """((N,)): hashes of numbered values, cut to a prefix where asked (bit strings of word classes)."""
    cut = [value[:prefix] if prefix else value for value in values]
    return np.array([string_hash(value) for value in cut], dtype=np.uint64)[numbers]
