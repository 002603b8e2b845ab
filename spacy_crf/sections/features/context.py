"""Features of where a unit stands and how it is set: kinds and blank lines around it, formatting, place, its likes.

The profile of a text is what a reader sees before reading it: styles, capitals, numbering before it, whether it is
short, stands alone, ends in a full stop. A writer sets all headings of a level in one way: a profile that known titles
of the document have, or that few but other short lines have, tells headings whose words no list knows.
"""

import numpy as np

from ...core.arrays import Indices
from . import text
from .batch import FeatureValues, UnitBatch, unit_feature
from .numbers import family, signs

_PLACES = (1, 3, 5, 10, 15, 20, 40)
_SHARES = (10, 25, 50, 75)
_COUNTS = (1, 2, 3, 6)
_SHORT = 9  # words of what may be a heading


@unit_feature("kind", "previous", "following")
def kind(batch: UnitBatch) -> FeatureValues:
    """number, text, newline, quote, mark, other."""
    return batch.kinds


@unit_feature("blanks before")
def blanks_before(batch: UnitBatch) -> FeatureValues:
    """The number of blank lines before a unit: 0, 1, 2, 3 and more; none at the beginning of the document."""
    return FeatureValues.bins(np.arange(len(batch)) - batch.previous - 1, (1, 2, 3), batch.previous >= 0)


@unit_feature("blanks after")
def blanks_after(batch: UnitBatch) -> FeatureValues:
    """The number of blank lines behind a unit; none at the end of the document."""
    return FeatureValues.bins(batch.following - np.arange(len(batch)) - 1, (1, 2, 3), batch.following >= 0)


@unit_feature("is first")
def is_first(batch: UnitBatch) -> FeatureValues:
    """Nothing but blank lines before."""
    return FeatureValues.flags((batch.previous < 0) & ~batch.is_blank)


@unit_feature("is last")
def is_last(batch: UnitBatch) -> FeatureValues:
    """Nothing but blank lines behind."""
    return FeatureValues.flags((batch.following < 0) & ~batch.is_blank)


@unit_feature("styles", "text_before", "text_after")
def styles(batch: UnitBatch) -> FeatureValues:
    """All styles of the unit as one value."""
    return FeatureValues.of_strings("+".join(sorted(unit.styles)) for unit in batch.units)


@unit_feature("is emphasised")
def is_emphasised(batch: UnitBatch) -> FeatureValues:
    """Any style at all."""
    return FeatureValues.of_strings("1" if unit.styles else "" for unit in batch.units)


@unit_feature("heading")
def heading(batch: UnitBatch) -> FeatureValues:
    """The mark-up calls it a heading or a title."""
    return FeatureValues.of_strings(
        next((style for style in sorted(unit.styles) if style.startswith(("heading", "title"))), "")
        for unit in batch.units
    )


@unit_feature("indent")
def indent(batch: UnitBatch) -> FeatureValues:
    """Indentation, in ranges of white-space characters."""
    return FeatureValues.of_strings("" if unit.indent <= 0 else str(min(unit.indent, 8) // 2) for unit in batch.units)


@unit_feature("from start")
def from_start(batch: UnitBatch) -> FeatureValues:
    """The number of texts before, in ranges."""
    total = np.append(0, np.cumsum(batch.is_text))
    return FeatureValues.bins(total[:-1] - total[batch.firsts], _PLACES, batch.is_text)


@unit_feature("from end")
def from_end(batch: UnitBatch) -> FeatureValues:
    """The number of texts behind, in ranges."""
    ends = np.repeat(np.cumsum(batch.lengths), batch.lengths)
    total = np.append(0, np.cumsum(batch.is_text))
    return FeatureValues.bins(total[ends] - total[1:], _PLACES, batch.is_text)


@unit_feature("tenth")
def tenth(batch: UnitBatch) -> FeatureValues:
    """Tenth of the document."""
    count = np.repeat(batch.lengths, batch.lengths)
    place = 10 * (np.arange(len(batch)) - batch.firsts) // np.maximum(count, 1)
    return FeatureValues(place, [str(k) for k in range(10)])


class Profiles:
    """Profiles of the units of a batch.

    short ((N,)): texts that may be headings. alike ((N,)): how many other units have the profile of each.
    known ((N,)): how many of these are titles by their words.
    """

    def __init__(self, batch: UnitBatch):
        words = batch.count_by_text(text.count_words)
        self.short = batch.is_text & (words > 0) & (words < _SHORT)
        parts = [
            *(batch.document, self.short),
            batch.flag_by_text(lambda own: own.endswith((".", ";", ",", ":"))),
            text.are_cased(batch, "upper", "spaced", "short upper"),
            batch.flag_by_text(lambda own: text.opening(own) == "lower"),
            *(styles(batch).codes, _number_before(batch)),
            *(blanks_before(batch).codes > 1, blanks_after(batch).codes > 1),
        ]
        numbers: Indices = np.zeros(len(batch), dtype=np.intp)
        for part in (np.asarray(part, dtype=np.intp) for part in parts):
            numbers = numbers * (int(np.max(part, initial=0)) + 1) + part
            numbers = np.unique(numbers, return_inverse=True)[1].reshape(-1)
        titles = batch.related("is title").present & self.short
        self.known = np.bincount(numbers, weights=titles).astype(np.intp)[numbers] - titles
        self.alike = np.bincount(numbers)[numbers] - 1


def _number_before(batch: UnitBatch) -> Indices:
    """Code of the family and signs of the number right before each unit; 0 for none."""
    families, around = family(batch), signs(batch)
    code = families.codes * (len(around.names) + 1) + around.codes
    before = np.arange(len(batch)) - 1
    return np.where(before >= batch.firsts, (code + 1)[before] * batch.is_number[before], 0)


@unit_feature("known alike")
def known_alike(batch: UnitBatch) -> FeatureValues:
    """The number of known titles of the document that have the profile of a short text, itself not counted."""
    profiles = batch.shared(Profiles)
    return FeatureValues.bins(profiles.known, _COUNTS, profiles.short)


@unit_feature("known share")
def known_share(batch: UnitBatch) -> FeatureValues:
    """Of the other texts with the profile of a short text, the share of known titles, in percent."""
    profiles = batch.shared(Profiles)
    share = 100 * profiles.known // np.maximum(profiles.alike, 1)
    return FeatureValues.bins(share, _SHARES, profiles.short & (profiles.alike > 0))


@unit_feature("alike")
def alike(batch: UnitBatch) -> FeatureValues:
    """The number of other texts that have the profile of a short text."""
    profiles = batch.shared(Profiles)
    return FeatureValues.bins(profiles.alike, _COUNTS, profiles.short)


@unit_feature("repeats")
def repeats(batch: UnitBatch) -> FeatureValues:
    """The number of other units of the document with the same text."""
    pair = batch.document * (len(batch.distinct) + 1) + batch.text_numbers
    numbers, counts = np.unique(pair, return_inverse=True, return_counts=True)[1:]
    return FeatureValues.bins(counts[numbers.reshape(-1)] - 1, (1, 2, 4), ~batch.is_blank)
