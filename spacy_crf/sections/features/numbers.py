"""The form of a numbering candidate: its kinds of numerals, signs around it, values."""

from collections.abc import Callable

from ...core.grammar.numbering import Reading, readings
from .view import UnitView, Values

_USUAL = ("", ".", "..", "-", ")", ".)", "°", ":")
_WIDTH = 3  # parts that are told apart
VALUE_BOUNDS = (1, 2, 6, 11, 16, 21, 51, 76, 101)


def family(view: UnitView) -> Values:
    """Kinds of numeral of the parts, of each reading: 1, 11, a/i .."""
    return of_readings(view, lambda found: "/".join(sorted({reading.family[:_WIDTH] for reading in found})) or "none")


def signs(view: UnitView) -> Values:
    """Signs and keyword around the number: #., (#), artikel #."""
    return of_readings(view, lambda found: found[0].format if found else "none")


def is_odd(view: UnitView) -> Values:
    """Closed by an unusual sign."""
    return of_readings(view, lambda found: "1" if found and found[0].format.partition("#")[2] not in _USUAL else "")


def depth(view: UnitView) -> Values:
    """Number of parts."""
    return of_readings(view, lambda found: str(min(len(found[0].values), 5)) if found else "")


def value(view: UnitView) -> Values:
    """Greatest value of a part of the likeliest reading, in ranges."""
    greatest = view.count_by_text(_greatest)
    return Values.bins(greatest, VALUE_BOUNDS, view.is_number)


def is_opening(view: UnitView) -> Values:
    """The last part is a first number in some reading: 1, a, i."""
    return of_readings(view, lambda found: "1" if any(reading.values[-1] == 1 for reading in found) else "")


def has_leading_zero(view: UnitView) -> Values:
    """Begins with 0."""
    return Values.flags(view.is_number & view.flag_by_text(lambda text: text.lstrip("([")[:1] == "0"))


def family_after(view: UnitView) -> Values:
    """Kinds of numeral of the next unit, if it is a number."""
    return family(view).take(view.following)


def of_readings(view: UnitView, describe: Callable[[tuple[Reading, ...]], str]) -> Values:
    """Values of numbering candidates, from all readings of their texts."""
    found = [describe(readings(text)) if len(text) < 80 else "" for text in view.distinct]
    return Values(view.text_numbers, found).where(view.is_number)


def _greatest(text: str) -> int:
    found = readings(text) if len(text) < 80 else ()
    return max(found[0].values) if found else 0
