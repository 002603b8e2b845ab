"""Attribute values that depend on the word form alone, computed once per lexeme and gathered by number."""

import numpy as np
from spacy.vocab import Vocab

from ..core.arrays import Hashes, Indices
from .attributes import Attribute, WordForms
from .hashing import HashTable
from .lexicon import NOTHING, Lexicon

MAX_LEXEMES = 1 << 15  # a stream of ever new words starts over here instead of filling the memory


class LexemeColumns:
    """Hashes of lexical attributes, one row per word form seen.

    attributes (list[Attribute]): lexical attributes. lexicon (Lexicon): what is known of word forms.
    """

    def __init__(self, attributes: list[Attribute], lexicon: Lexicon = NOTHING):
        self.attributes, self._lexicon = attributes, lexicon
        self._clear()

    def __len__(self) -> int:
        return len(self._table)

    def _clear(self) -> None:
        self._table = HashTable()
        self._columns: Hashes = np.zeros((len(self.attributes), 1024), dtype=np.uint64)

    def gather(self, orths: Hashes, vocab: Vocab) -> dict[Attribute, Hashes]:
        """Values of each attribute for word forms. O(N), plus the attributes of word forms not seen before.

        orths ((N,)): ORTH of each token.
        RETURNS (dict): (N,) hashes for each attribute.
        """
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
            column[first:size] = attribute.lexical_hashes(words)
        self._table.add(orths)
