"""Reads the layout elements of Docs into columns, one for each feature that templates ask for; ready-made templates."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Hashes
from ...features.columns import Column, Columns, positional
from ...features.hashing import string_hashes
from ...features.templates import Attribute
from ..layout import units_of
from . import context, numbers, rules  # noqa: F401  (they register features)
from .batch import FEATURES, FeatureValues, UnitBatch
from .phrases import CLASSES, RELATIONS, Phrases
from .text import CONTENTS


class UnitReader:
    """Reads the values that templates need.

    attributes (list[Attribute]): UNIT(..), BIAS, BOS, EOS. phrases (Phrases): of the word lists.
    newlines (bool): whether blank lines are units of the chain.
    """

    def __init__(self, attributes: Sequence[Attribute], phrases: Phrases, newlines: bool):
        self.attributes, self.phrases, self.newlines = attributes, phrases, newlines

    def read(self, docs: Sequence[Doc], vocab: Vocab, extra: int | None = None) -> Columns:
        """Columns of a batch: a sequence for each Doc with units. `extra` is for tokens and not looked at."""
        return self.read_units(UnitBatch(((doc.text, units_of(doc)) for doc in docs), self.phrases))

    def read_units(self, batch: UnitBatch) -> Columns:
        """Columns of units; without the blank lines where these are no units of the chain."""
        kept = np.flatnonzero(~batch.is_blank) if not self.newlines else np.arange(len(batch))
        doc_lengths = np.bincount(batch.document[kept], minlength=len(batch.lengths))
        lengths = doc_lengths[doc_lengths > 0]
        columns = {
            attribute: to_column(values_of(batch, attribute.key)).take(kept)
            if attribute.is_of_units
            else positional(attribute, lengths)
            for attribute in self.attributes
        }
        hashes: Hashes = np.append(string_hashes(batch.distinct), np.uint64(0))[batch.text_numbers]
        return Columns(doc_lengths, lengths, hashes[kept], columns)


def values_of(batch: UnitBatch, name: str) -> FeatureValues:
    """Values of a feature by its name; classes of words may be those of any list."""
    if name in FEATURES:
        return FEATURES[name](batch)
    relation, _, side = name.rpartition(" ")
    if side not in ("before", "after"):
        return batch.related(name)
    return batch.related(relation).take(batch.text_before if side == "before" else batch.text_after)


def to_column(values: FeatureValues) -> Column:
    """A column of hashes."""
    hashes = string_hashes(values.names)
    return Column(hashes[values.codes], strings=dict(zip(hashes.tolist(), values.names)))


def _names(text: str) -> list[tuple[str, ...]]:
    """Names of features, one or several that are taken together in each part."""
    return [tuple(part.strip().split(" & ")) for part in text.replace("\n", ",").split(",") if part.strip()]


_SINGLE = """
    kind, words, letters, opens, ends, case, styles, heading, indent, from start, from end
    kind before, kind after, blanks before, blanks after, is first, is last, repeats
    words before, words after, is longer after, ends before, opens after, case before, case after
    styles before, styles after
    family, signs, is odd, depth, value, is opening, leading zero, is digits
    sequence before, sequence behind, like sequence before, like sequence behind, sequence length
    predecessor gap, successor gap, has parent, is plausible, row length, row place, row tainted
"""
_LAST = """
    known alike, known share, alike
    whole, first, first two, last, first before, last before, first after
    kind & blanks before & blanks after, words & case, words & ends, words & is emphasised, words & opens
    words & words after, words & blanks before, words & blanks after, is title & words, opens title & words
    has title & words, has title & has verb, is weak_title & case, is weak_title & is emphasised, known share & words
    known alike & case, from start & is title, case & from start, ends & ends before, opens & ends before
    opens & kind before, is emphasised & blanks before & blanks after, is emphasised & ends
    is emphasised & ends before, is emphasised & case before
    rule, part, part & kind, part & family, rule & words, rule & sequence length
    kind & ends before, family & ends before, family & opens after, family & ends quote_intro before
    words & opens sentence after
    ends court before, ends head before, ends link before, ends quote_intro before, ends role before, ends title before
    is title before, is title after, has verb after, opens sentence after
"""
_OPENERS = ("month", "numeral", "role", "sentence", "title", "verb")  # classes of what stands behind a number
PRESETS: dict[str, list[str]] = {
    "@sections": [
        "BIAS",
        *(
            "|".join(f"UNIT({name})" for name in names)
            for names in [
                *_names(_SINGLE),
                *((f"{relation} {name}",) for relation, name in product(RELATIONS, CLASSES)),
                *((f"holds {name}",) for name in CONTENTS),
                *_names(_LAST),
            ]
        ),
        *(f"UNIT(kind)[0]|UNIT(opens {name})[1]" for name in _OPENERS),
        "UNIT(rule)[-1]",
        "UNIT(rule)[1]",
        "UNIT(kind)[-2..2]",
        "UNIT(kind)[-1]|UNIT(kind)[0]|UNIT(kind)[1]",
        "UNIT(family)[-1]",
        "UNIT(family)[1]",
        "UNIT(family)[-1]|UNIT(words)[0]",
        "UNIT(depth)[-1]|UNIT(words)[0]",
        "UNIT(is plausible)[-1]|UNIT(words)[0]",
        "UNIT(family)[0]|UNIT(opens)[1]",
        "UNIT(family)[0]|UNIT(sequence length)[0]",
        "UNIT(signs)[0]|UNIT(words)[1]",
        "UNIT(is title)[1]",
        "UNIT(kind)[0]|UNIT(holds leader)[1]",
        "B:UNIT(kind)[0]",
    ]
}
