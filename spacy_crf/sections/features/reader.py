"""Reads the layout elements of Docs into columns, one for each feature that the templates ask for."""

from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Hashes
from ...features.attributes import Attribute, string_hashes
from ...features.columns import Column, Columns, positional
from ..units.layout import units_of
from .catalogue import Catalogue
from .phrases import Phrases
from .view import UnitView, Values


class UnitReader:
    """Reads what templates need.

    attributes (list[Attribute]): UNIT(..), BIAS, BOS, EOS. phrases (Phrases): of the word lists.
    newlines (bool): whether blank lines are units of the chain.
    """

    def __init__(self, attributes: Sequence[Attribute], phrases: Phrases, newlines: bool):
        self.attributes, self.phrases, self.newlines = attributes, phrases, newlines

    def read(self, docs: Sequence[Doc], vocab: Vocab, extra: int | None = None) -> Columns:
        """Columns of a batch: a sequence for each Doc with units. `extra` is for tokens and not looked at."""
        return self.read_view(UnitView((doc.text, units_of(doc)) for doc in docs))

    def read_view(self, view: UnitView) -> Columns:
        """Columns of units; without the blank lines where these are no units of the chain."""
        kept = np.flatnonzero(~view.is_blank) if not self.newlines else np.arange(len(view))
        doc_lengths = np.bincount(view.document[kept], minlength=len(view.lengths))
        lengths = doc_lengths[doc_lengths > 0]
        catalogue = Catalogue(view, self.phrases)
        columns = {}
        for attribute in self.attributes:
            if attribute.is_of_units:
                columns[attribute] = to_column(catalogue.values(attribute.key)).take(kept)
            else:
                columns[attribute] = positional(attribute, lengths)
        return Columns(doc_lengths, lengths, _texts(view)[kept], columns)


def to_column(values: Values) -> Column:
    """A column of hashes."""
    hashes = string_hashes(values.names)
    return Column(hashes[values.codes], strings=dict(zip(hashes.tolist(), values.names)))


def _texts(view: UnitView) -> Hashes:
    return string_hashes(view.distinct)[view.text_numbers] if len(view) else np.zeros(0, dtype=np.uint64)
