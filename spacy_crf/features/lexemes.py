"""Attribute values that depend on the word form alone, computed once per lexeme and gathered by number."""

import re
from collections.abc import Callable, Sequence
from operator import attrgetter

import numpy as np
from spacy.lexeme import Lexeme
from spacy.vocab import Vocab

from ..core.arrays import Hashes, Indices, cached_property
from ..core.errors import CRFError
from ..core.sparse import HashTable
from .errors import FeatureErrors
from .hashing import string_hashes
from .resources import NOTHING, Lexicon
from .spelling import Speller
from .templates import LEXEME_FLAGS, LEXEME_STRINGS, NOT, Attribute
from .word_classes import classify

MAX_LEXEMES = 1 << 15  # a stream of ever new words starts over here instead of filling the memory
CLUSTERS = "lexeme_cluster"  # spaCy's name of the table
_REPEATED = re.compile(r"(.)(?=\1)", re.DOTALL)
_DIGIT = re.compile(r"\d")


class _Kinds(dict[int, str]):
    """Kinds of characters for `str.translate`, each found out once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isalpha():
            kind = "X" if character.isupper() else "x"
        else:
            kind = "d" if character.isdigit() else character
        return self.setdefault(code, kind)


_KINDS = _Kinds()


class WordForms:
    """Lexemes of one vocabulary whose attributes are asked for, with their texts, each read once."""

    def __init__(self, lexemes: Sequence[Lexeme], lexicon: Lexicon = NOTHING):
        self.lexemes, self._lexicon = lexemes, lexicon

    @cached_property
    def texts(self) -> list[str]:
        return [lexeme.orth_ for lexeme in self.lexemes]

    @cached_property
    def lowered(self) -> list[str]:
        return [text.lower() for text in self.texts]

    @cached_property
    def rewritten(self) -> list[str]:
        return [self._speller.rewrite(text) for text in self.texts]

    @cached_property
    def normal(self) -> list[str]:
        return [self._speller.normalise(text) for text in self.texts]

    @property
    def _speller(self) -> Speller:
        if self._lexicon.speller is None:
            raise CRFError(FeatureErrors.CRF324)
        return self._lexicon.speller

    def classes(self, size: int) -> list[str]:
        """Return their induced classes among so many."""
        if self._lexicon.classes is None:
            raise CRFError(FeatureErrors.CRF978)
        return self._lexicon.classes.classify(self.texts, size)

    def clusters(self, bits: int) -> list[str]:
        """Return the first bits of their paths in the tree of clusters, or else of those of the lower-cased words."""
        if not self.lexemes:
            return []
        vocab: Vocab = self.lexemes[0].vocab  # type: ignore[attr-defined]
        if not vocab.lookups.has_table(CLUSTERS):
            raise CRFError(FeatureErrors.CRF986.format(table=CLUSTERS, lang=vocab.lang))
        table, low = vocab.lookups.get_table(CLUSTERS), (1 << bits) - 1
        found = (table.get(one.orth) or table.get(one.lower) for one in self.lexemes)
        # a path is stored from its end, so that its beginning are the low bits
        return [f"{path & low:b}" if path else "" for path in found]

    def common(self, threshold: int) -> list[bool]:
        counts = self._lexicon.counts
        if counts is None:
            raise CRFError(FeatureErrors.CRF325)
        return [counts.get(text, 0) >= threshold for text in self.texts]


def _prefixes(texts: list[str], n: int) -> list[str]:
    return [text[:n] if len(text) >= n else "" for text in texts]


def _suffixes(texts: list[str], n: int) -> list[str]:
    return [text[-n:] if len(text) >= n else "" for text in texts]


# Values for word forms under the number of an attribute
_VALUES: dict[str, Callable[[WordForms, int], list[str]]] = {
    "PREFIX": lambda words, n: _prefixes(words.texts, n),
    "SUFFIX": lambda words, n: _suffixes(words.texts, n),
    # lowered first: a letter may become two, and a final sigma is one only at the end of the word
    "LPREFIX": lambda words, n: _prefixes(words.lowered, n),
    "LSUFFIX": lambda words, n: _suffixes(words.lowered, n),
    "START": lambda words, n: [text[:n] for text in words.texts],
    "END": lambda words, n: [text[-n:] for text in words.texts],
    "LSTART": lambda words, n: [text[:n] for text in words.lowered],
    "LEND": lambda words, n: [text[-n:] for text in words.lowered],
    "COLLAPSED": lambda words, _: [_REPEATED.sub("", text.translate(_KINDS)) for text in words.texts],
    "LENGTH": lambda words, _: [str(len(text)) for text in words.texts],
    "HAS_DIGIT": lambda words, _: ["1" if _DIGIT.search(text) else "" for text in words.texts],
    "HAS_HYPHEN": lambda words, _: ["1" if "-" in text else "" for text in words.texts],
    "HAS_UPPER": lambda words, _: ["1" if text != text.lower() else "" for text in words.texts],
    "DIGITS": lambda words, _: [_DIGIT.sub("0", text) if _DIGIT.search(text) else "" for text in words.texts],
    "WORD_CLASS": lambda words, _: list(map(classify, words.texts)),
    "REWRITTEN": lambda words, _: words.rewritten,
    "RPREFIX": lambda words, n: _prefixes(words.rewritten, n),
    "RSUFFIX": lambda words, n: _suffixes(words.rewritten, n),
    "NORMAL": lambda words, _: words.normal,
    "COMMON": lambda words, n: ["1" if is_common else "" for is_common in words.common(n)],
    "RARE": lambda words, n: ["" if is_common else "1" for is_common in words.common(n)],
    "CLASS": lambda words, n: words.classes(n),
    "CLUSTER": lambda words, n: words.clusters(n),
}


def lexical_strings(attribute: Attribute, words: WordForms) -> list[str]:
    """Return the values of a lexical attribute for word forms; empty where they have none."""
    if attribute.name in LEXEME_STRINGS:
        return list(map(attrgetter(f"{attribute.name.lower()}_"), words.lexemes))
    if attribute.name in LEXEME_FLAGS:
        return ["1" if flag else "" for flag in map(attrgetter(attribute.name.lower()), words.lexemes)]
    if attribute.name == NOT:
        return ["" if flag else "1" for flag in lexical_strings(Attribute(attribute.key), words)]
    return _VALUES[attribute.name](words, attribute.number)


def lexical_hashes(attribute: Attribute, words: WordForms) -> Hashes:
    """((N,)): hashes of the values of a lexical attribute for word forms; 0 where they have none."""
    if attribute.name in LEXEME_STRINGS:
        ids = map(attrgetter(attribute.name.lower()), words.lexemes)
        return np.fromiter(ids, dtype=np.uint64, count=len(words.lexemes))
    return string_hashes(lexical_strings(attribute, words))


class LexemeColumns:
    """Hashes of lexical attributes, one row per word form seen, in one vocabulary at a time: flags are those of its
    language. A flag that is changed there later is not seen."""

    def __init__(self, attributes: list[Attribute], lexicon: Lexicon = NOTHING):
        self.attributes, self._lexicon = attributes, lexicon
        self._vocab: Vocab | None = None
        self._clear()

    def __len__(self) -> int:
        return len(self._table)

    def _clear(self) -> None:
        self._table = HashTable()
        self._columns: Hashes = np.zeros((len(self.attributes), 1024), dtype=np.uint64)

    def gather(self, orths: Hashes, vocab: Vocab) -> dict[Attribute, Hashes]:
        """Return the values (N,) of each attribute by the ORTH of tokens. O(N), plus those of new word forms."""
        if vocab is not self._vocab:
            self._vocab = vocab
            self._clear()
        rows = self._rows(orths, vocab)
        return {attribute: column[rows] for attribute, column in zip(self.attributes, self._columns)}

    def _rows(self, orths: Hashes, vocab: Vocab) -> Indices:
        rows = self._table.find(orths)
        if (rows < 0).any():
            if len(self) > MAX_LEXEMES:
                self._clear()
            self._learn(np.unique(orths[self._table.find(orths) < 0]), vocab)
            rows = self._table.find(orths)
        return rows.astype(np.intp)

    def _learn(self, orths: Hashes, vocab: Vocab) -> None:
        """Compute the rows of new word forms, and number them once that has succeeded."""
        words = WordForms([vocab[orth] for orth in orths.tolist()], self._lexicon)
        first, size = len(self), len(self) + len(orths)
        if size > self._columns.shape[1]:
            grown = np.zeros((len(self.attributes), 2 * size), dtype=np.uint64)
            grown[:, :first] = self._columns[:, :first]
            self._columns = grown
        for column, attribute in zip(self._columns, self.attributes):
            column[first:size] = lexical_hashes(attribute, words)
        self._table.add(orths)
