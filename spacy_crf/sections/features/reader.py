"""Features of layout elements by name, templates of them that are ready to use, and the reader of both into columns."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from operator import attrgetter
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Bools, Hashes, Indices
from ...features.columns import Column, Columns, positional
from ...features.hashing import string_hashes
from ...features.templates import Attribute
from ..layout import units_of
from . import batch as of_units
from . import text
from .batch import FeatureValues, NumberSequences, Profiles, UnitBatch
from .looks import WEIGHTS, Looks, evidence
from .rules import apply_rules
from .text import CLASSES, CONTENTS, RELATIONS, Phrases

Feature = Callable[[UnitBatch], FeatureValues]
_USUAL = ("", ".", "..", "-", ")", ".)", "°", ":")  # signs behind a number
_WORDS = (1, 2, 3, 4, 5, 6, 8, 11, 16, 31)  # lowest numbers of ranges
_LETTERS = (1, 5, 10, 20, 30, 50, 75, 150)
_PLACES = (1, 3, 5, 10, 15, 20, 40)
_VALUES = (1, 2, 6, 11, 16, 21, 51, 76, 101)
_LENGTHS = (1, 2, 3, 4, 6, 10)
_GAPS = (0, 1, 2, 3, 5, 9)
_COUNTS = (1, 2, 3, 6)
_SCORES = (-8, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6)
_SHARES = (5, 10, 20, 35, 50, 65, 80, 90)
_SENTENCE = 12  # words of what is one at least


def _by_text(function: Callable[[str], str]) -> Feature:
    return lambda batch: batch.by_text(function)


def _counted(function: Callable[[str], int], bounds: Sequence[int]) -> Feature:
    return lambda batch: FeatureValues.bins(batch.count_by_text(function), bounds)


def _flag(condition: Callable[[UnitBatch], Bools]) -> Feature:
    return lambda batch: FeatureValues.flags(condition(batch))


def _of_unit(describe: Callable[[Any], str]) -> Feature:
    return lambda batch: FeatureValues.of_strings(map(describe, batch.units))


def _of_number(describe: Callable[[Any], str]) -> Feature:
    """A value for the readings of a candidate, where it has some."""
    return lambda batch: of_units.of_readings(batch, lambda found: describe(found) if found else "")


def _of_sequence(values: str, bounds: tuple[int, ...] = (), missing: int = 0) -> Feature:
    """Numbers of candidates, by the name of what sequences know, in ranges; a flag where there are no bounds."""

    def feature(batch: UnitBatch) -> FeatureValues:
        sequences = batch.shared(NumberSequences)
        spread = sequences.spread(attrgetter(values)(sequences), missing)
        return FeatureValues.bins(spread, bounds, batch.is_number) if bounds else FeatureValues.flags(spread > 0)

    return feature


def _words_before_bracket(batch: UnitBatch) -> FeatureValues:
    counts = batch.count_by_text(text.words_before_bracket)
    return FeatureValues.bins(counts, _WORDS, counts >= 0)


def _is_longer_after(batch: UnitBatch) -> Bools:
    follows = batch.text_after
    return (follows >= 0) & (batch.count_by_text(text.count_words)[follows] >= _SENTENCE)


def _from_edge(batch: UnitBatch, at_end: bool) -> FeatureValues:
    """The number of texts before or behind a text, in ranges."""
    total = np.append(0, np.cumsum(batch.is_text))
    before, behind = total[:-1] - total[batch.firsts], total[batch.runs.ends[batch.document]] - total[1:]
    return FeatureValues.bins(behind if at_end else before, _PLACES, batch.is_text)


def _tenth(batch: UnitBatch) -> FeatureValues:
    """Tenth of the document."""
    place = 10 * (np.arange(len(batch)) - batch.firsts) // batch.runs.lengths[batch.document]
    return FeatureValues(place, [str(k) for k in range(10)])


def _repeats(batch: UnitBatch) -> FeatureValues:
    """The number of other units of the document with the same text."""
    pair = batch.document * (len(batch.distinct) + 1) + batch.text_numbers
    numbers, counts = np.unique(pair, return_inverse=True, return_counts=True)[1:]
    return FeatureValues.bins(counts[numbers.reshape(-1)] - 1, (1, 2, 4), ~batch.is_blank)


def _known_share(batch: UnitBatch) -> FeatureValues:
    """Of the other texts with the profile of a short text, the share of known titles, in percent."""
    profiles = batch.shared(Profiles)
    share = 100 * profiles.known // np.maximum(profiles.alike, 1)
    return FeatureValues.bins(share, (10, 25, 50, 75), profiles.short & (profiles.alike > 0))


def _of_profile(count: str) -> Feature:
    """The number of texts, or of known titles, that have the profile of a short text, itself not counted."""

    def feature(batch: UnitBatch) -> FeatureValues:
        profiles = batch.shared(Profiles)
        return FeatureValues.bins(getattr(profiles, count), _COUNTS, profiles.short)

    return feature


def _of_looks(describe: Callable[[Looks], Indices], bounds: Sequence[int]) -> Feature:
    """Numbers of texts, by their looks, in ranges."""
    return lambda batch: FeatureValues.bins(describe(batch.shared(Looks)), bounds, batch.is_text)


def _line(name: str) -> Feature:
    """A condition that tells headings from other texts."""
    return _flag(lambda batch: batch.shared(evidence)[name])


def _set_like_headings(batch: UnitBatch) -> FeatureValues:
    """The share of headings, in percent, that is to be expected among the lines that are set in the same way."""
    looks = batch.shared(Looks)
    return FeatureValues.bins((100 * looks.like_headings).astype(np.intp), _SHARES, batch.is_text & (looks.mates > 0))


_FEATURES: dict[str, Feature] = {
    # the text: its size, its letters, its words, what it holds
    "words": _counted(text.count_words, _WORDS),
    "words before bracket": _words_before_bracket,
    "letters": _counted(text.count_letters, _LETTERS),
    "is longer after": _flag(_is_longer_after),  # the next text is a sentence or more
    "opens": _by_text(text.opening),
    "ends": _by_text(text.ending),
    "case": _by_text(text.case),
    "is digits": _flag(lambda batch: batch.flag_by_text(text.is_digits)),
    "whole": _by_text(text.whole_text),
    "first": _by_text(text.first_word),
    "first two": _by_text(text.first_words),
    "last": _by_text(text.last_word),
    **{f"holds {name}": _flag(partial(UnitBatch.having, name=name, function=text.contents)) for name in CONTENTS},
    # where it stands, and how it is set
    "kind": lambda batch: batch.kinds,
    "blanks before": lambda batch: of_units.blanks(batch, -1),
    "blanks after": lambda batch: of_units.blanks(batch, 1),
    "is first": _flag(lambda batch: (batch.previous < 0) & ~batch.is_blank),  # nothing but blank lines before
    "is last": _flag(lambda batch: (batch.following < 0) & ~batch.is_blank),
    "styles": of_units.styles,
    "is emphasised": _of_unit(lambda unit: "1" if unit.styles else ""),
    "heading": _of_unit(lambda unit: min(filter(of_units.is_heading, unit.styles), default="")),  # says the mark-up
    "indent": _of_unit(lambda unit: str(min(unit.indent, 8) // 2) if unit.indent > 0 else ""),
    "from start": partial(_from_edge, at_end=False),
    "from end": partial(_from_edge, at_end=True),
    "tenth": _tenth,
    "repeats": _repeats,
    "known alike": _of_profile("known"),
    "known share": _known_share,
    "alike": _of_profile("alike"),
    # numbering candidates: their form, and the sequences that they may belong to
    "family": of_units.family,
    "signs": of_units.signs,
    "is odd": _of_number(lambda found: "1" if found[0].format.partition("#")[2] not in _USUAL else ""),
    "depth": _of_number(lambda found: str(min(len(found[0].values), 5))),
    "value": lambda batch: FeatureValues.bins(batch.count_by_text(of_units.greatest_part), _VALUES, batch.is_number),
    "is opening": _of_number(lambda found: "1" if any(reading.values[-1] == 1 for reading in found) else ""),
    "leading zero": _flag(lambda batch: batch.is_number & batch.flag_by_text(text.has_leading_zero)),
    "sequence before": _of_sequence("before.lengths", _LENGTHS),
    "sequence behind": _of_sequence("behind.lengths", _LENGTHS),
    "like sequence before": _of_sequence("before_alike.lengths", _LENGTHS),
    "like sequence behind": _of_sequence("behind_alike.lengths", _LENGTHS),
    "sequence length": _of_sequence("lengths_alike", _LENGTHS),
    "predecessor gap": _of_sequence("before_alike.steps", _GAPS, missing=-1),
    "successor gap": _of_sequence("behind_alike.steps", _GAPS, missing=-1),
    "has parent": _of_sequence("has_parent"),
    "is plausible": _of_sequence("plausible"),
    "row length": _of_sequence("row_lengths", (2, 3, 5)),
    "row place": _of_sequence("row_places", (1, 2)),
    "row tainted": _of_sequence("row_tainted"),
    # how lines look, and what others of the document look like that are set in the same way
    "look": _of_looks(lambda looks: np.floor(looks.scores).astype(np.intp), _SCORES),
    "set like headings": _set_like_headings,
    "set alike": _of_looks(lambda looks: looks.mates, _COUNTS),
    **{f"line {name}": _line(name) for name in WEIGHTS},
    # what the rules say
    "rule": lambda batch: batch.shared(apply_rules).trace,
    "part": lambda batch: batch.shared(apply_rules).states,  # of the document: head, body, quotation, closing
}
_RELATED = [f"{relation} {name}" for relation, name in product(RELATIONS, CLASSES)]
_FEATURES |= {name: _flag(partial(UnitBatch.related, relation=name)) for name in _RELATED}
# features whose values for a neighbour are features of the unit too, such as "words before"
_OF_NEIGHBOURS = (
    ("previous", "before", ["kind"]),
    ("following", "after", ["kind", "family"]),
    ("text_before", "before", ["words", "ends", "case", "styles", "first", "last", *_RELATED]),
    ("text_after", "after", ["words", "opens", "case", "styles", "first", *_RELATED]),
)


def _of_neighbour(batch: UnitBatch, feature: Feature, neighbour: str) -> FeatureValues:
    return feature(batch).take(getattr(batch, neighbour))


FEATURES = _FEATURES | {
    f"{name} {side}": partial(_of_neighbour, feature=_FEATURES[name], neighbour=neighbour)
    for neighbour, side, names in _OF_NEIGHBOURS
    for name in names
}
"""Functions from the units of a batch to their values, by the name that templates use: UNIT(words before)."""


class UnitReader:
    """Reads the values that templates need. newlines (bool): whether blank lines are units of the chain."""

    def __init__(self, attributes: Sequence[Attribute], phrases: Phrases, newlines: bool):
        self.attributes, self.phrases, self.newlines = attributes, phrases, newlines

    def read(self, docs: Sequence[Doc], vocab: Vocab, extra: int | None = None) -> Columns:
        """Columns of a batch: a sequence for each Doc with units. `extra` is for tokens and not looked at."""
        batch = UnitBatch(((doc.text, units_of(doc)) for doc in docs), self.phrases)
        kept = np.arange(len(batch)) if self.newlines else np.flatnonzero(~batch.is_blank)
        doc_lengths = np.bincount(batch.document[kept], minlength=len(batch.runs))
        lengths = doc_lengths[doc_lengths > 0]
        columns = {}
        for attribute in self.attributes:
            if attribute.is_of_units:
                values = values_of(batch, attribute.key)
                columns[attribute] = Column.of_strings(values.names).take(values.codes[kept])
            else:
                columns[attribute] = positional(attribute, lengths)
        hashes: Hashes = np.append(string_hashes(batch.distinct), np.uint64(0))[batch.text_numbers]
        return Columns(doc_lengths, lengths, hashes[kept], columns, vocab=vocab)


def values_of(batch: UnitBatch, name: str) -> FeatureValues:
    """Values of a feature by its name; classes of words may be those of any list."""
    if name in FEATURES:
        return FEATURES[name](batch)
    relation, _, side = name.rpartition(" ")
    if side not in ("before", "after"):
        return FeatureValues.flags(batch.related(name))
    return FeatureValues.flags(batch.related(relation)).take(getattr(batch, f"text_{side}"))


def _templates(text: str) -> list[str]:
    """Templates of names of features, some with places in brackets; those with "&" between them are taken together."""
    parts = (part.strip().split(" & ") for part in text.replace("\n", ",").split(",") if part.strip())
    return ["|".join(re.sub(r"^[^\[]+", r"UNIT(\g<0>)", name) for name in names) for names in parts]


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
_AROUND = """
    kind[0] & opens month[1], kind[0] & opens numeral[1], kind[0] & opens role[1], kind[0] & opens sentence[1]
    kind[0] & opens title[1], kind[0] & opens verb[1]
    rule[-1], rule[1], kind[-2..2], kind[-1] & kind[0] & kind[1]
    family[-1], family[1], family[-1] & words[0], depth[-1] & words[0], is plausible[-1] & words[0]
    family[0] & opens[1], family[0] & sequence length[0], signs[0] & words[1], is title[1], kind[0] & holds leader[1]
"""
_LINES = ", ".join(f"line {name}" for name in WEIGHTS)
_LOOKS = """
    look, look[-1], look[1], look[-2], look[2], set like headings, set alike, look & set like headings
    look & set alike, look & words, look & case, look & ends, look & blanks before & blanks after
    look & family[-1], look & is title, look & kind[-1] & kind[1], look[-1] & look[0], look[0] & look[1]
    look[1] & family[0], look[2] & kind[1] & family[0], look[1] & sequence length[0], look[1] & kind[0]
    is manual_title, is callout, words & is callout, line technical[1], line prose[1], line technical[-1]
    line prose[-1], line prose[2], line prose[-2], line technical & set like headings, line first & look
    line not numbered as others & look, line no blank lines & look
"""
_SHAPES = """
    kind & blanks before & blanks after, words & case, words & ends, words & opens, words & words after
    words & blanks before, words & blanks after, opens & ends before, ends & ends before, is emphasised & ends
    rule, part, part & family, rule & words, kind[-2..2], kind[-1] & kind[0] & kind[1], family[-1], family[1]
    family[-1] & words[0], depth[-1] & words[0], is plausible[-1] & words[0], family[0] & opens[1], signs[0] & words[1]
    family[0] & sequence length[0], kind[0] & holds leader[1], known alike, known share, alike, opens sentence after
"""
_FOUND = ", ".join([*_RELATED, *(f"holds {name}" for name in CONTENTS)])
PRESETS = {"@sections": ["BIAS", *_templates(f"{_SINGLE}{_FOUND}{_LAST}{_AROUND}"), "B:UNIT(kind)[0]"]}
# for texts of any kind: nearly without words, which documents of one kind would be learned by heart from
_GENERAL = f"first, {_SINGLE}{_LOOKS}{_LINES}, {_FOUND}{_SHAPES}"
PRESETS["@headings"] = ["BIAS", *_templates(_GENERAL), "B:UNIT(kind)[0]"]
