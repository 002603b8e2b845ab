"""How two readings of numberings relate: the next one, the first one, the one above.

A letter joined to a number is an insertion into its sequence: 3, 3a, 3b, 4 (articles of statutes that were amended).
"""

from .numbering import SIGNS_BETWEEN, Reading

FIRST_VALUES = (0, 1)  # an outline may begin with 0


def is_first(reading: Reading) -> bool:
    """Whether a reading may open a sequence: 1, a, i, 3.1, and 0."""
    return reading.values[-1] in FIRST_VALUES


def step(before: Reading, after: Reading) -> int | None:
    """By how much the last value grows between two numberings of one sequence; None if they belong to none.

    They belong to one if their families agree, and all values but the last. What stands around the numbers may differ:
    writers are careless with closing signs. A keyword is part of the sequence: Artikel 3 does not follow Feit 2.
    """
    if word(before) != word(after):
        return None
    (family, values, inserted), (family_after, values_after, inserted_after) = _main(before), _main(after)
    if family != family_after or values[:-1] != values_after[:-1]:
        return None
    difference = values_after[-1] - values[-1]
    return inserted_after - inserted if difference == 0 else difference


def is_prefix(above: Reading, below: Reading) -> bool:
    """Whether one numbering is the other one's beginning: 3 of 3.1, 3.1 of 3.1.a, Chapter 3 of 3.1; not 3 of 3a."""
    return (
        len(above.values) < len(below.values)
        and below.values[: len(above.values)] == above.values
        and below.kinds.startswith(above.kinds)
        and step(above, below) is None
    )


def successor(reading: Reading) -> Reading:
    """The next numbering of the sequence: 3.2 after 3.1, (d) after (c)."""
    return Reading(reading.family, reading.format, (*reading.values[:-1], reading.values[-1] + 1))


def parent(reading: Reading) -> Reading | None:
    """The numbering without its last part, 3 of 3.1; None for one of a single part, also with an insertion (3a)."""
    if len(_main(reading)[1]) == 1:
        return None
    return Reading(reading.family[:-1].rstrip(SIGNS_BETWEEN), reading.format, reading.values[:-1])


def word(reading: Reading) -> str:
    """The keyword before the number, "" for none."""
    return reading.format.rpartition(" ")[0]


def _main(reading: Reading) -> tuple[str, tuple[int, ...], int]:
    """Family and values without an inserted letter, and the value of that letter; 0 for none."""
    if reading.family[-2:-1] == "+" and reading.family[-1] in "aA":
        return reading.family[:-2], reading.values[:-1], reading.values[-1]
    return reading.family, reading.values, 0
