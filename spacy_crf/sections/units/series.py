"""Letters and roman numerals without any sign, which number elements only where they come in a series."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.grammar.numerals import numerals

REACH = 50  # units between two members of a series


@dataclass(frozen=True, slots=True)
class Letter:
    """What may be a numbering.

    place (int): of the unit that it begins. end (int): where it ends in the text. text (str), indent (int): its own.
    """

    place: int
    end: int
    text: str
    indent: int


def find_series(letters: Sequence[Letter]) -> list[Letter]:
    """Those that have a predecessor or a successor nearby, of the same kind and with the same indentation.

    letters (list[Letter]): of a document, in order. RETURNS (list[Letter]): in order. O(letters).
    """
    last: dict[tuple[str, int, int], int] = {}
    kept: set[int] = set()
    for number, letter in enumerate(letters):
        for kind, value in numerals(letter.text):
            before = last.get((kind, value - 1, letter.indent))
            if before is not None and letter.place - letters[before].place <= REACH:
                kept.update((before, number))
            last[kind, value, letter.indent] = number
    return [letters[number] for number in sorted(kept)]
