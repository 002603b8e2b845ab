"""Word lists and word classes: phrase or word to value, longest match first.

The first word of a match gets the value, the following ones `I-` and the value. Words are compared lower-cased.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from spacy.language import Language

from ..core.arrays import Hashes, Indices
from ..core.errors import CRFError
from .attributes import string_hash, string_hashes
from .errors import FeatureErrors
from .hashing import HashTable


class WordList:
    """One list, as read from a file of `word or phrase<TAB>value` lines.

    name (str): what templates call it, LIST(name).
    entries (Iterable[tuple[tuple[str, ...], str]]): lower-cased words of each phrase, and its value; the last one
        counts where a phrase comes twice.
    """

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
        """What tokens can have, in the order that `match` counts: nothing, each value, each value after `I-`.

        prefix (int): cut values to this length, for the bit strings of word classes; 0 leaves them whole.
        """
        values = [value[:prefix] if prefix else value for value in self.values]
        return ["", *values, *(f"I-{value}" for value in values)]

    def match(self, lowers: Hashes, doc_lengths: Indices) -> Indices:
        """Look up tokens and phrases of Docs. O(N), and for each opening word the phrases that it opens.

        lowers ((N,)): LOWER of each token.
        doc_lengths ((D,)): tokens per Doc; a match does not cross Docs.
        RETURNS ((N,)): numbers into `strings`.
        """
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
    def read(cls, name: str, path: Path, nlp: Language | None = None) -> "WordList":
        """Read a TSV file. Empty lines, and lines without a tab that begin with #, are skipped.

        nlp (Language | None): splits phrases as the pipeline splits text; at spaces without one.
        RAISES (ValueError): for an unreadable file, or a line that is not `phrase<TAB>value` (with its number).
        """
        try:
            lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise CRFError(FeatureErrors.CRF307.format(name=name, path=path, error=error)) from error
        entries = []
        for number, line in enumerate(lines, 1):
            fields = line.split("\t")
            phrase, value = " ".join(fields[0].split()), fields[-1].strip()
            if not line.strip() or (len(fields) == 1 and phrase.startswith("#")):
                continue
            if len(fields) != 2 or not phrase or not value:
                raise CRFError(FeatureErrors.CRF306.format(name=name, path=path, line=number, text=line))
            words = phrase.split() if nlp is None else [token.text for token in nlp.make_doc(phrase)]
            entries.append((tuple(word.lower() for word in words), value))
        return cls(name, entries)
