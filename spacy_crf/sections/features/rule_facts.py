"""What the rule tagger knows of each unit: facts of its own, not the features of the CRF."""

from collections.abc import Callable

import numpy as np

from ...core.arrays import Bools
from . import letters, profiles, sequences, sizes
from .phrases import Phrases, PhraseView
from .view import BLANK, NUMBER, QUOTE, TEXT, UnitView

SHORT = 9  # a line with so many words is too long for a title that nothing but its looks tells
LONG = 16  # a line with so many words is running text
_LEAST_ROW = 3  # candidates in a row that are spaced letters or initials
_CLOSING_QUOTES = ('"', "”", "“", "»", "’")
_STOPS = (".", ",", ";", "…")


class Facts:
    """Conditions of the units of a view by name, each (N,).

    view (UnitView): the units. phrases (Phrases): from word lists.
    """

    def __init__(self, view: UnitView, phrases: Phrases):
        self._view, self._listed = view, PhraseView(view, phrases)
        words = view.count_by_text(sizes.count_words)
        self._flags: dict[str, Bools] = {
            "blank": view.is_kind(BLANK),
            "number": view.is_kind(NUMBER),
            "quote": view.is_kind(QUOTE),
            "text": view.is_kind(TEXT),
            "short": (words > 0) & (words < SHORT),
            "long": words >= LONG,
            "emphasised": self._of_units(lambda styles: bool(styles)),
            "heading": self._of_units(lambda styles: any(s.startswith(("heading", "title")) for s in styles)),
            "upper": letters.are_cased(view, "upper"),
            "spaced": letters.are_cased(view, "spaced"),
            "lower": view.flag_by_text(lambda text: letters.opening(text) == "lower"),
            "stop": view.flag_by_text(lambda text: text.endswith(_STOPS)),
            "end of quotation": view.flag_by_text(lambda text: any(sign in text for sign in _CLOSING_QUOTES)),
            "behind number": np.append(False, view.is_number)[: len(view)],
            "alone": self._alone(),
        }
        self._flags |= self._of_numbers()
        known = profiles.Profiles(view, self["is title"]).known_titles()
        self._flags["like titles"] = np.isin(known.codes, [k for k, n in enumerate(known.names) if n not in ("", "<")])

    def __getitem__(self, name: str) -> Bools:
        """A condition, or a relation to a class of phrases such as "is title"."""
        if name not in self._flags:
            self._flags[name] = self._listed.fact(name).present
        return self._flags[name]

    def any(self, *names: str) -> Bools:
        """Where at least one of several conditions holds."""
        return np.any([self[name] for name in names], axis=0)

    def _of_units(self, condition: Callable[[frozenset[str]], bool]) -> Bools:
        return np.array([condition(unit.styles) for unit in self._view.units], dtype=np.bool_)

    def _alone(self) -> Bools:
        """Blank lines, or the edge of the document, on both sides of the line."""
        before = self._view.before(~self._view.is_blank & ~self._view.is_number)
        here = np.arange(len(self._view))
        blanks = np.append(0, np.cumsum(self._view.is_blank))
        first = (before < 0) | (blanks[here] > blanks[before + 1])
        behind = self._view.following
        return first & ((behind < 0) | (behind > here + 1))

    def _of_numbers(self) -> dict[str, Bools]:
        candidates = sequences.Sequences(self._view)
        rows = sequences.find_rows(candidates)
        flags = {"linked": sequences.plausible(candidates), "in row": rows.lengths >= _LEAST_ROW}
        return {name: sequences.spread(self._view, candidates.units, flag) > 0 for name, flag in flags.items()}
