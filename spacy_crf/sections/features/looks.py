"""How much a line of plain text looks like a heading: by itself, by its neighbours, and by the lines set like it.

The look of a line is a sum of weights, the log-odds that it is a heading. They are a logistic regression over manuals,
judgments and contracts in many renderings, rounded: no word of these is in it, only what a reader sees from afar.
"""

import re
from bisect import bisect, bisect_left
from collections import Counter
from functools import partial
from itertools import groupby

import numpy as np

from ...core.arrays import Bools, Doubles, Indices
from ..segment import Kind
from ..starts import RULE
from . import text
from .batch import FeatureValues, NumberSequences, UnitBatch, family, number_combinations, signs

_PROSE = 12  # words of what is running text whatever ends it
_CLAUSE = 6  # words of what is running text if it ends as such
_LONGEST_FIRST = 9  # words of a first line that may be the title of all
_STOPS = (".", ";", ",", "!", "。", "；", "，", "…")
_COLONS, _QUESTIONS, _BRACKETS = (":", "："), ("?", "？"), (")", "]")
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  # scripts
_MOST = 400  # characters that are looked at
_LEAST_LISTED = 3  # lines that a table of contents has at least
_DENSE = 0.05  # the share of blank lines of a document that says nothing with them
_ALIKE = 2  # other lines that are set in one way, and say what it is for
BIAS = -3.1
WEIGHTS = {
    "words 0": -0.7,
    "words 2": 0.7,
    "words 3 to 4": 0.5,
    "words 7 to 9": -0.7,
    "words 10 and more": -1.7,
    "prose": -0.8,
    "number of parts": 3.4,
    "number of one part": 1.6,
    "number without others": 2.3,
    "mark": -2.0,
    "question mark": 3.7,
    "ends in colon": -2.3,
    "ends in stop": -4.5,
    "ends in bracket": -1.3,
    "opens small": -2.0,
    "opens with a digit": -2.1,
    "opens with a sign": -3.1,
    "case title": 1.0,
    "case upper": 1.0,
    "case mixed": 0.8,
    "technical": -2.2,
    "technical word": -1.5,
    "by itself": -0.2,
    "blank before alone": 0.8,
    "blank behind alone": -0.9,
    "more blank before": 0.9,
    "no blank lines": -0.5,
    "running text next": 0.6,
    "code next": 0.8,
    "small letter next": 0.9,
    "capital next": 2.0,
    "last of a run": 0.5,
    "run of 10": -0.5,
    "first of a row": -2.0,
    "later in a row": -2.4,
    "colon before": -0.8,
    "stop before": 1.2,
    "short text before": -0.4,
    "indented": -3.8,
    "indented less than next": 1.1,
    "indented less than before": 1.0,
    "emphasised": 2.9,
    "known title": 0.8,
    "known title with colon": 2.3,
    "callout": -4.1,
    "has verb": -1.2,
    "listed": -5.3,
    "announced": 0.6,
    "underlined": 5.0,
    "first": 1.4,
    "not numbered as others": -1.3,
    "uncased and short": 3.2,
}
LIKE_HEADINGS, UNLIKE_HEADINGS = 1.1, -1.2
MANY, FEW = 0.5, 0.2  # of the lines that are set in one way
_SETTING = (
    *("by itself", "blank before alone", "ends in colon", "ends in stop", "underlined", "emphasised", "opens small"),
    *("prose", "technical"),
)


class Lines:
    """What is known of the lines of a batch before they are read.

    words ((N,)): of scripts without spaces between words, two characters are one. prose ((N,)): running text.
    technical ((N,)): texts with signs of code. rows, runs ((N,)): texts that stand together without a blank line, and
    without running text between. listed, announced ((N,)): texts of a table of contents, and what it lists.
    """

    def __init__(self, batch: UnitBatch) -> None:
        self.batch = batch
        self.words = batch.count_by_text(count_words)
        stops = batch.flag_by_text(lambda own: own.endswith(_STOPS))
        self.technical = batch.flag_by_text(text.is_technical)
        self.prose: Bools = batch.is_text & ((self.words >= _PROSE) | ((self.words >= _CLAUSE) & stops))
        self.rows, self.row_places = self._rows(batch.is_blank)
        self.runs, self.run_places = self._rows(self.prose)
        self.listed, self.announced = self._contents()

    def _rows(self, breaks: Bools) -> tuple[Indices, Indices]:
        """((N,), (N,)): how many texts stand between two units that break a row, and how many before each of them."""
        batch = self.batch
        number = np.cumsum(breaks | (np.arange(len(batch)) == batch.firsts))
        counted = batch.is_text & ~breaks
        sizes = np.bincount(number, weights=counted, minlength=1).astype(np.intp)
        return sizes[number], np.cumsum(counted) - counted - (np.cumsum(sizes) - sizes)[number]

    def _contents(self) -> tuple[Bools, Bools]:
        """Texts in a row that all come again behind it, as often as they are in it, and these later ones."""
        batch = self.batch
        plain = FeatureValues(batch.text_numbers, batch.of_texts(text.without_page))
        names = FeatureValues.of_strings(plain.names[code] for code in plain.codes.tolist()).codes
        keys = list(zip(batch.document.tolist(), names.tolist()))
        candidates = np.flatnonzero(batch.is_text & ~self.prose).tolist()
        places: dict[tuple[int, int], list[int]] = {}
        for unit in candidates:
            places.setdefault(keys[unit], []).append(unit)
        again: Bools = np.zeros(len(batch), dtype=np.bool_)
        again[candidates] = [places[keys[unit]][-1] > unit for unit in candidates]
        rows = np.cumsum((batch.is_text & ~again) | (np.arange(len(batch)) == batch.firsts))
        listed = again & (np.bincount(rows, weights=again)[rows] >= _LEAST_LISTED)
        for _, row in groupby(np.flatnonzero(listed).tolist(), rows.__getitem__):
            units = list(row)
            own = [keys[unit] for unit in units]
            if len(units) > sum(len(places[key]) - bisect(places[key], units[-1]) for key in set(own)):
                listed[units[_length_of_list(own, places, units[0]) :]] = False  # items of each article, headings
        known = {keys[unit] for unit in np.flatnonzero(listed).tolist()}
        announced: Bools = np.zeros(len(batch), dtype=np.bool_)
        announced[candidates] = [keys[unit] in known for unit in candidates]
        return listed, announced & ~again


def _length_of_list(keys: list[tuple[int, int]], places: dict[tuple[int, int], list[int]], first: int) -> int:
    """How many of the texts of a row, some of them single, come again as often. first (int): the place of the row."""
    counts, uneven, single, length = Counter[tuple[int, int]](), set[tuple[int, int]](), set[tuple[int, int]](), 0
    for n_read, key in enumerate(keys, 1):
        counts[key] += 1
        n_in_all = len(places[key]) - bisect_left(places[key], first)
        if 2 * counts[key] == n_in_all:
            uneven.discard(key)
        else:
            uneven.add(key)
        if counts[key] == 1:
            single.add(key)
        else:
            single.discard(key)
        if single and not uneven and n_read >= _LEAST_LISTED:
            length = n_read
    return length


class Looks:
    """The look of each text, and the headings among other lines that are set in the same way.

    own ((N,)): log-odds by the line and its neighbours. mates ((N,)): how many lines of the document are set like it.
    like_headings ((N,)): the share of headings that is to be expected among these. scores ((N,)): of all that.
    """

    def __init__(self, batch: UnitBatch) -> None:
        found = batch.shared(evidence)
        columns = np.array([found[name] for name in WEIGHTS], dtype=np.float64)
        total = BIAS + (np.array(list(WEIGHTS.values()))[:, None] * columns).sum(axis=0)
        self.own: Doubles = np.round(total, 6)  # the same in any batch
        texts = batch.kinds.among(Kind.TEXT)
        chance = np.where(texts, 1 / (1 + np.exp(-self.own)), 0.0)
        settings = _settings(batch, found)
        counts = np.bincount(settings, weights=texts)[settings]
        expected = np.bincount(settings, weights=chance)[settings]
        self.mates = np.maximum(counts - 1, 0)
        self.like_headings: Doubles = np.maximum(expected - chance, 0) / np.maximum(self.mates, 1)
        several = self.mates >= _ALIKE
        self.scores: Doubles = self.own + np.select(
            [several & (self.like_headings > MANY), several & (self.like_headings < FEW)],
            [LIKE_HEADINGS, UNLIKE_HEADINGS],
            0.0,
        )


def _settings(batch: UnitBatch, found: dict[str, Bools]) -> Indices:
    """((N,)): the way in which each line is set, as a number."""
    case = batch.by_text(text.case)
    parts = [
        batch.document,
        *(batch.of_number_before(each(batch)) for each in (family, signs)),
        np.array([unit.indent for unit in batch.units], dtype=np.intp),
        case.among("upper"),
        case.among("title"),
        *(found[name] for name in _SETTING),
    ]
    return number_combinations(parts)


def count_words(own: str) -> int:
    """Words; of scripts without spaces between these, two characters are one."""
    return text.count_words(own) + len(_WITHOUT_SPACES.findall(own[:_MOST])) // 2


def evidence(batch: UnitBatch) -> dict[str, Bools]:
    """Conditions of the units by name, each (N,), that tell headings from other texts."""
    itself, numbers = _of_itself(batch), _of_numbers(batch)
    kinds = ("number of parts", "number of one part", "number without others", "mark")
    behind: Bools = np.any([numbers[name] for name in kinds], axis=0)
    found = {**itself, **numbers, **_of_space(batch, behind), **_of_neighbours(batch, itself)}
    return found | {"known title with colon": found["ends in colon"] & found["by itself"] & batch.related("is title")}


def _of_itself(batch: UnitBatch) -> dict[str, Bools]:
    """What each line is by itself."""
    lines, uncased = batch.shared(Lines), batch.shared(_is_uncased)
    words, technical = lines.words, lines.technical
    opens, case = batch.by_text(text.opening), batch.by_text(text.case)
    ends = {"colon": _COLONS, "stop": _STOPS, "bracket": _BRACKETS}
    return {
        "words 0": words == 0,
        "words 2": words == 2,
        "words 3 to 4": (words >= 3) & (words <= 4),
        "words 7 to 9": (words >= 7) & (words <= 9),
        "words 10 and more": words >= 10,
        "prose": lines.prose,
        "question mark": batch.flag_by_text(partial(_ends_in, signs=_QUESTIONS)),
        **{f"ends in {name}": batch.flag_by_text(partial(_ends_in, signs=own)) for name, own in ends.items()},
        "opens small": opens.among("lower"),
        "opens with a digit": opens.among("digit"),
        "opens with a sign": opens.among("other", "bracket") & ~uncased,
        **{f"case {name}": case.among(name) for name in ("title", "upper", "mixed")},
        "technical": technical,
        "technical word": technical & (words <= 1),
        "emphasised": np.array([bool(unit.styles) for unit in batch.units], dtype=np.bool_),
        "known title": batch.related("is title") | batch.related("is manual_title"),
        "callout": batch.related("is callout"),
        "has verb": batch.related("has verb"),
        "uncased and short": uncased & (words <= 5),
    }


def _of_numbers(batch: UnitBatch) -> dict[str, Bools]:
    """What stands before each text in its line."""
    lines, (parts, single, lone) = batch.shared(Lines), _numbers(batch)
    numbered = (parts | single) & ~lines.prose & ~lines.technical
    counts = np.bincount(batch.document, weights=numbered)
    return {
        "number of parts": parts,
        "number of one part": single,
        "number without others": lone,
        "mark": batch.right_behind(batch.kinds.among(Kind.MARK)),
        "not numbered as others": (counts[batch.document] >= 2) & ~(parts | single),
    }


def _of_space(batch: UnitBatch, behind: Bools) -> dict[str, Bools]:
    """Where each line stands on its page. behind ((N,)): units that are not the first of their line."""
    lines, before, after = batch.shared(Lines), batch.text_before, batch.text_after
    blanks_before, blanks_after = _blanks(batch, behind)
    blank_share = np.bincount(batch.document, weights=batch.is_blank) / np.maximum(np.bincount(batch.document), 1)
    dense: Bools = blank_share[batch.document] < _DENSE
    indents = _indents(batch)
    return {
        "by itself": (blanks_before > 0) & (blanks_after > 0),
        "blank before alone": (blanks_before > 0) & (blanks_after == 0),
        "blank behind alone": (blanks_before == 0) & (blanks_after > 0),
        "more blank before": (blanks_before > blanks_after) & (before >= 0) & (after >= 0),
        "no blank lines": dense,
        "last of a run": lines.run_places == lines.runs - 1,
        "run of 10": lines.runs >= 10,
        "first of a row": (lines.rows >= 2) & (lines.row_places == 0) & ~dense,
        "later in a row": (lines.rows >= 3) & (lines.row_places > 0) & ~dense,
        "indented": indents > 0,
        "indented less than next": (after >= 0) & (indents < indents[after]),
        "indented less than before": (before >= 0) & (indents < indents[before]),
        "listed": lines.listed,
        "announced": lines.announced,
        "underlined": _is_underlined(batch),
    }


def _of_neighbours(batch: UnitBatch, itself: dict[str, Bools]) -> dict[str, Bools]:
    """What the texts around each line are. itself (dict): what lines are by themselves."""
    lines, before, after = batch.shared(Lines), batch.text_before, batch.text_after
    capital = batch.by_text(text.opening).among("upper") | batch.shared(_is_uncased)
    has_next, has_last = after >= 0, before >= 0
    return {
        "running text next": has_next & lines.prose[after],
        "code next": has_next & (lines.technical & ~lines.prose)[after],
        "small letter next": has_next & itself["opens small"][after],
        "capital next": has_next & capital[after],
        "colon before": has_last & itself["ends in colon"][before],
        "stop before": has_last & itself["ends in stop"][before],
        "short text before": has_last & ((lines.words <= 2) & ~lines.prose)[before],
        "first": ~has_last & (lines.words <= _LONGEST_FIRST) & ~lines.technical,
    }


def _is_uncased(batch: UnitBatch) -> Bools:
    """((N,)): texts that begin with a letter that is neither small nor a capital."""
    return batch.flag_by_text(lambda own: own[:1].isalpha() and own[0].title() == own[0].lower())


def _ends_in(own: str, signs: tuple[str, ...]) -> bool:
    return own.endswith(signs)


def _indents(batch: UnitBatch) -> Indices:
    """((N,)): columns before each unit beyond those before all lines of its document."""
    indents = np.array([unit.indent for unit in batch.units], dtype=np.intp)
    inked = np.flatnonzero(~batch.is_blank)
    least = np.full(len(batch.runs), indents.max(initial=0))
    np.minimum.at(least, batch.document[inked], indents[inked])
    return np.maximum(indents - least[batch.document], 0)


def _numbers(batch: UnitBatch) -> tuple[Bools, Bools, Bools]:
    """((N,), (N,), (N,)): units behind a number of several parts, of one part, both of some series, and of none."""
    sequences, families = batch.shared(NumberSequences), family(batch)
    has_parts = np.array([len(name.split("/")[0]) > 1 and name != "none" for name in families.names], dtype=np.bool_)
    linked, parts = sequences.spread(sequences.plausible) > 0, has_parts[families.codes]
    own = batch.is_number & linked
    behind = batch.right_behind
    return behind(own & parts), behind(own & ~parts), behind(batch.is_number & ~linked)


def _blanks(batch: UnitBatch, behind: Bools) -> tuple[Indices, Indices]:
    """((N,), (N,)): blank lines between the line of each unit and the texts around it; many at the edges.

    behind ((N,)): units that are not the first of their line.
    """
    here, many = np.arange(len(batch)), len(batch)
    counts = np.append(0, np.cumsum(batch.is_blank))
    starts = np.where(behind, here - 1, here)
    before = np.where(batch.text_before >= 0, counts[starts] - counts[batch.text_before + 1], many)
    after = np.where(batch.text_after >= 0, counts[batch.text_after] - counts[here + 1], many)
    return before, after


def _is_underlined(batch: UnitBatch) -> Bools:
    """((N,)): units right before a line of one sign."""
    lines = batch.flag_by_text(lambda own: bool(RULE.fullmatch(own)))
    is_below = lines & (np.arange(len(batch)) > batch.firsts)
    return np.append(is_below, False)[1:] & ~lines
