"""Features of a section that opens: of its heading alone, of it after the sibling before it, of it as a first child.

All are functions of two adjacent levels and the heading. Each has a weight; those given here are set by hand, so that
the parser can be used untrained, and are where learning begins, but for those of `_FROM_ZERO`. Learning adds those of
`titles`.
"""

from collections.abc import Callable, Mapping

from ..grammar.numbering import ALONE, Reading, is_first, is_prefix, step
from ..grammar.numerals import CYRILLIC_LOWER, CYRILLIC_UPPER, GREEK_LOWER, GREEK_UPPER, IDEOGRAPH, RANKS, ROMAN_UPPER
from . import titles
from .headings import MARKED, MOST_LEVELS, Heading, Level, Opening

_LEADS = "title right before a number"
_HEADING = {
    "number without title": 0.0,
    "number and title": 0.0,
    "title without number": -0.5,
    "title behind a number that is none": -3.0,
    _LEADS: 0.5,
    "blank line before the title": -0.5,
    "title goes on": 0.7,
    "title goes on in other type": -2.0,
    "implied section": -3.0,
    "second reading": -0.3,
}
_AFTER_FRONT, _BELOW_FRONT = "number after front matter", "number with title below front matter"
_BACK = "back matter after a number"
_LOWER_BESIDE, _HIGHER_BESIDE = "keyword of lower rank beside", "keyword of higher rank beside"
_SIBLING = {
    "successor": 1.0,
    "gap": -2.0,
    "leap": -4.0,
    "same number again": -3.0,
    "restart beside": -4.5,
    "number goes back": -6.0,
    "beside its prefix": -5.0,
    "beside a part of the section before": -6.0,
    "another prefix": -4.0,
    "another family, first": -3.5,
    "another family, not first": -6.0,
    _LOWER_BESIDE: -1.5,
    _HIGHER_BESIDE: 1.0,
    "another format": -1.0,
    "number carried over a title": -0.5,
    "number after a title": -3.5,
    _AFTER_FRONT: 3.0,
    "title after a number with title": -2.0,
    "title after a number without title": -3.0,
    "title after a title": 0.5,
    _BACK: 2.0,
    "sibling of the same type": 0.5,
    "sibling less prominent": -1.5,
    "sibling more prominent": -1.5,
    "sibling with title, without title": -1.5,
    "first-level title beside one": 1.0,
    "first-level title beside another": -0.5,
    "beside a higher level of the mark-up": -8.0,
    "beside a lower level of the mark-up": -4.0,
}
_BEHIND_TEXT = "number with title carried on behind text"
_HIGHER = "keyword of higher rank below"
_BELOW_PREAMBLE = "number without title below one of a preamble"
_CHILD = {
    "first number": 0.0,
    "first number in the document is no first": -1.5,
    "no first number": -3.0,
    "number carried on": 0.5,
    _BELOW_FRONT: -6.0,
    _BELOW_PREAMBLE: -2.0,
    _BEHIND_TEXT: -2.5,
    "below its prefix": 1.5,
    "below its prefix, no first": -1.5,
    "parts without a prefix above": -1.5,
    "below another prefix": -5.0,
    "below its predecessor": -6.0,
    "below the same family and format": -4.0,
    "below the same family": -1.0,
    "keyword of lower rank below": 0.5,
    _HIGHER: -4.0,
    "keyword below a number": -2.5,
    "first-level title on the first level": 1.5,
    "first-level title below": -2.0,
    "title below a number with title": -0.5,
    "title below a number without title": -2.5,
    "title below a title": -0.5,
    "child of the same type": -2.0,
    "child more prominent": -2.0,
    "titled below untitled": -1.5,
    "below a level of the mark-up that is no higher": -8.0,
    "level of the mark-up below a number that has none": -6.0,
}
_CLASSES = ("root", "title", "word", "parts", "I", "A", "1", "a", "i")  # outermost first
_LIKE = {GREEK_UPPER: "A", CYRILLIC_UPPER: "A", GREEK_LOWER: "a", CYRILLIC_LOWER: "a", IDEOGRAPH: "1"}
_OUT_OF_ORDER = -0.7
_FAMILIES = {
    f"{outer} over {inner}": _OUT_OF_ORDER if _CLASSES.index(outer) > _CLASSES.index(inner) > 1 else 0.0
    for outer in _CLASSES
    for inner in _CLASSES[1:]
}
DEFAULT_WEIGHTS: dict[str, float] = {**_HEADING, **_SIBLING, **_CHILD, **_FAMILIES}
# of laws, books and specifications, where learning begins at 0: what courts write is otherwise
_FROM_ZERO = (_BEHIND_TEXT, _LEADS, _LOWER_BESIDE, _HIGHER_BESIDE, _AFTER_FRONT, _BELOW_FRONT, _BELOW_PREAMBLE, _BACK)
LEARNED_FROM = DEFAULT_WEIGHTS | dict.fromkeys(_FROM_ZERO, 0.0)
# features that all stored weights have; models of older versions lack others
FIRST = tuple(name for name in DEFAULT_WEIGHTS if "of the mark-up" not in name and name not in _FROM_ZERO)
SMALL_GAP = 3


def heading_features(heading: Heading, second_reading: bool, implied: int) -> list[str]:
    """Features of a heading alone, perhaps in a second reading of its number, with some sections implied above it."""
    counts = {
        "title without number": not heading.number,
        "title behind a number that is none": not heading.number and heading.attached,
        _LEADS: heading.opening.leads,
        f"number {'and' if heading.opening.titled else 'without'} title": heading.number,
        "blank line before the title": heading.newlines,
        "title goes on": heading.titles - 1,
        "title goes on in other type": heading.mixed,
        "second reading": second_reading,
        "implied section": implied,
    }
    return [name for name, count in counts.items() for _ in range(count)]


def sibling_features(before: Level, opening: Opening) -> list[str]:
    """Features of a section that opens behind a sibling."""
    left, right = before.reading, opening.reading
    begins_annexes = right is not None and _begins_annexes(left, right)
    has_rank = right is not None and right.rank is not None
    if begins_annexes:  # they stand beside the text, or those of another kind, as a title does
        left, right = None if left is not None and left.keyword in ALONE else left, None
    elif before.opening.is_matter and not opening.is_matter and (opening.titled or has_rank):
        left = None  # what stands behind a preamble does not go on with its numbers
    if left is not None and right is not None:
        found = [_number_after_number(left, right, _goes_on(before, right))]
        if found[0] in ("number goes back", "restart beside") and 0 < level_of(before.opening) == level_of(opening):
            found[0] = "gap"  # the latest first, as in lists of versions, says the mark-up
        if found[0] in ("successor", "gap") and left.format != right.format:
            found.append("another format")
        elif min(_rank(left), _rank(right)) >= 0 and _rank(left) != _rank(right):
            found.append(_LOWER_BESIDE if _is_lower(left, right) else _HIGHER_BESIDE)
    elif right is not None:
        carried = _goes_on(before, right)
        found = ["number carried over a title" if carried else "number after a title"]
        found += [_AFTER_FRONT] * (before.opening.is_matter and not carried)
        if opening.virtual and not carried and level_of(before.opening) > level_of(opening) > 0:
            found.append("beside a higher level of the mark-up")  # what implies it would leave the one before
    elif left is not None:
        found = [f"title after a number {'with' if before.opening.titled else 'without'} title"]
        found += [_BACK] * (opening.is_matter and len(left.values) == 1)  # no part of the last chapter, as 2.1 is
    else:
        found = ["title after a title"]
    if begins_annexes and not (level_of(before.opening) and level_of(opening)):
        return found  # the type of an annex tells nothing: it may be that of a part, or of an article
    return found + _type_of_siblings(before.opening, opening) + _kinds(titles.after, before.opening, opening)


def _begins_annexes(left: Reading | None, right: Reading) -> bool:
    """Whether a number is that of the first annex, behind what is none."""
    return right.keyword in ALONE and is_first(right) and (left is None or left.keyword != right.keyword)


def _number_after_number(left: Reading, right: Reading, goes_on: bool) -> str:
    difference = step(left, right)
    if difference is not None:
        if difference == 1:
            return "successor"
        if difference > 1:
            return "gap" if difference <= SMALL_GAP else "leap"
        if difference == 0:
            return "same number again"
        return "restart beside" if is_first(right) else "number goes back"
    if is_prefix(left, right):
        return "beside its prefix"
    above = left.parent
    while above is not None:
        if step(above, right) == 1:
            return "beside a part of the section before"
        above = above.parent
    if left.family == right.family and left.word == right.word and len(right.values) > 1:
        return "another prefix"
    return f"another family, {'first' if is_first(right) or goes_on else 'not first'}"


def _type_of_siblings(before: Opening, opening: Opening) -> list[str]:
    left, right = level_of(before), level_of(opening)
    if before.virtual or opening.virtual:
        # what has the number that implies it would stand below the level of the one before
        is_below = not before.virtual and 0 < left <= right
        return ["below a level of the mark-up that is no higher"] if is_below else []
    found = []
    if left and right and left != right:
        found.append(f"beside a {'higher' if left > right else 'lower'} level of the mark-up")
    if before.titled and opening.titled:
        if before.typography == opening.typography:
            found.append("sibling of the same type")
        elif opening.typography < before.typography:
            found.append("sibling less prominent")
        elif not before.is_matter:  # a preface is often less so than what follows
            found.append("sibling more prominent")
    elif before.titled != opening.titled and before.reading is not None and opening.reading is not None:
        found.append("sibling with title, without title")
    if opening.top_title:
        found.append(f"first-level title beside {'one' if before.top_title else 'another'}")
    return found


def level_of(opening: Opening) -> int:
    """The level of a heading that the mark-up names, greater for what stands further out; 0 where it names none.

    Of an implied section that of the heading which implies it, and stands below it.
    """
    level = opening.typography // MARKED
    return level if 0 < level <= MOST_LEVELS else 0


def child_features(above: Level | None, opening: Opening) -> list[str]:
    """Features of the first section that opens below another; above (Level | None): None for the document itself."""
    found = [f"{'root' if above is None else _class(above.opening)} over {_class(opening)}"]
    found += _kinds(titles.below, None if above is None else above.opening, opening)
    if opening.reading is not None:
        found += _first_number(above, opening.reading, opening)
    if above is None:
        return [*found, "first-level title on the first level"] if opening.top_title else found
    outer = above.opening
    if outer.is_matter and opening.reading is not None and (opening.titled or opening.reading.rank is not None):
        found.append(_BELOW_FRONT)
    elif outer.is_matter and outer.reading is not None and opening.reading is not None and not opening.is_matter:
        found.append(_BELOW_PREAMBLE)
    if opening.reading is None:
        if outer.reading is None:
            found.append("title below a title")
        else:
            found.append(f"title below a number {'with' if outer.titled else 'without'} title")
    elif opening.titled and not outer.titled and not outer.virtual:
        found.append("titled below untitled")
    if outer.reading is not None and not (outer.titled or outer.virtual or level_of(outer)) and level_of(opening):
        found.append("level of the mark-up below a number that has none")  # such as an item of a list
    if opening.top_title:
        found.append("first-level title below")
    if not outer.virtual and 0 < level_of(outer) <= level_of(opening):
        found.append("below a level of the mark-up that is no higher")
    if opening.titled and outer.titled and opening.typography >= outer.typography:
        same = opening.typography == outer.typography
        found += ["child more prominent"] * (not same) + ["child of the same type"] * (same and opening.reading is None)
    return found


def _first_number(above: Level | None, right: Reading, opening: Opening) -> list[str]:
    first, left = is_first(right), above.reading if above else None
    if left is None:
        parts = ["parts without a prefix above"] if len(right.values) > 1 else []
        if above is None and not first:
            return [*parts, "first number in the document is no first"]
        return [*parts, _first_or_carried(above, right, opening)]
    found = _keywords(left, right)
    if is_prefix(left, right):
        if above is not None and not above.opening.virtual:  # Section 2.01 is below Article II, whatever its word is
            found = [name for name in found if name != _HIGHER]
        return [*found, "below its prefix" if first else "below its prefix, no first"]
    if step(left, right) == 1:
        return [*found, "below its predecessor"]
    if len(right.values) > 1 and right.word == left.word:
        return [*found, "below another prefix"]
    if left.family == right.family and left.word == right.word and step(left, right) is not None:
        found.append("below the same family" + (" and format" if left.format == right.format else ""))
    return [*found, _first_or_carried(above, right, opening)]


def _first_or_carried(above: Level | None, right: Reading, opening: Opening) -> str:
    if is_first(right):
        return "first number"
    if above is None or not _goes_on(above, right):
        return "no first number"
    outer, is_heading = above.opening, opening.titled or right.rank is not None
    is_below = outer.reading is not None or outer.leads or outer.typography > opening.typography
    return "number carried on" if is_below or not is_heading else _BEHIND_TEXT


def _goes_on(level: Level, right: Reading) -> bool:
    """Whether a number is the next one of a sequence that is carried into a section."""
    return any(step(carried, right) == 1 for carried in level.carried)


def _keywords(left: Reading, right: Reading) -> list[str]:
    if right.rank is None:
        return []
    if left.rank is None:  # an annex is no part of a section of the text
        return [_HIGHER if right.keyword in ALONE else "keyword below a number"]
    is_part = left.keyword in ALONE and right.keyword not in ALONE  # it has sections of its own
    return ["keyword of lower rank below" if is_part or _is_lower(left, right) else _HIGHER]


def _is_lower(left: Reading, right: Reading) -> bool:
    """Whether the second of two numbers with words stands further in; § is a part of an article."""
    for article, other in ((left, right), (right, left)):
        if article.rank == RANKS["article"] and other.format.startswith("§"):
            return article is left
    return _rank(left) < _rank(right)


def _rank(reading: Reading) -> float:
    """The rank of the word of a number, -1 without one; Article I is above Section 1, as in bylaws."""
    is_outer = reading.rank == RANKS["article"] and reading.kinds == ROMAN_UPPER
    return RANKS["section"] - 0.5 if is_outer else -1.0 if reading.rank is None else reading.rank


def _kinds(name: Callable[[str, str], str], other: Opening | None, opening: Opening) -> list[str]:
    return [name(_kind(opening), _kind(other))] if opening.kind or (other is not None and other.kind) else []


def _kind(opening: Opening | None) -> str:
    if opening is None:
        return titles.DOCUMENT
    return titles.NUMBER if opening.reading is not None else opening.kind or titles.OTHER


def _class(opening: Opening) -> str:
    """The class of a section by its numbering, one of _CLASSES."""
    reading = opening.reading
    if reading is None:
        return "title"
    if reading.rank is not None:
        return "word"
    return "parts" if len(reading.values) > 1 else _LIKE.get(reading.kinds, reading.kinds)


def highest_of_pairs(weights: Mapping[str, float]) -> float:
    """A bound on the score of the features of a section beside, or below, any other one."""
    gains = {name: max(weight, 0.0) for name, weight in weights.items()}
    beside = sum(gains.get(name, 0.0) for name in _SIBLING)
    below = sum(gains.get(name, 0.0) for name in _CHILD) + max(gains.get(name, 0.0) for name in _FAMILIES)
    return max(beside, below) + max((gain for name, gain in gains.items() if name not in DEFAULT_WEIGHTS), default=0.0)
