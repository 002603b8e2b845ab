"""All features of units by name."""

from collections.abc import Callable
from functools import cached_property

from . import contents, kinds, letters, numbers, position, profiles, sequences, sizes, typography, words
from .phrases import CLASSES, RELATIONS, Phrases, PhraseView
from .rules import Decisions, apply_rules
from .view import UnitView, Values

_PLAIN: dict[str, Callable[[UnitView], Values]] = {
    "kind": kinds.kind,
    "kind before": kinds.kind_before,
    "kind after": kinds.kind_after,
    "blanks before": kinds.blanks_before,
    "blanks after": kinds.blanks_after,
    "is first": kinds.is_first,
    "is last": kinds.is_last,
    "words": sizes.words,
    "words before": sizes.words_before,
    "words after": sizes.words_after,
    "words before bracket": sizes.words_before_bracket,
    "letters": sizes.letters,
    "is longer after": sizes.is_longer_after,
    "opens": letters.opens,
    "ends": letters.ends,
    "case": letters.cases,
    "is digits": letters.is_digits,
    "ends before": letters.ends_before,
    "opens after": letters.opens_after,
    "case before": letters.case_before,
    "case after": letters.case_after,
    "styles": typography.styles,
    "is emphasised": typography.is_emphasised,
    "heading": typography.heading,
    "indent": typography.indent,
    "styles before": typography.styles_before,
    "styles after": typography.styles_after,
    **{f"holds {name}": contents.holds(name) for name in contents.NAMES},
    "from start": position.from_start,
    "from end": position.from_end,
    "tenth": position.tenth,
    "whole": words.whole,
    "first": words.first,
    "first two": words.first_two,
    "last": words.last,
    "first before": words.first_before,
    "last before": words.last_before,
    "first after": words.first_after,
    "family": numbers.family,
    "family after": numbers.family_after,
    "signs": numbers.signs,
    "is odd": numbers.is_odd,
    "depth": numbers.depth,
    "value": numbers.value,
    "is opening": numbers.is_opening,
    "leading zero": numbers.has_leading_zero,
    "repeats": profiles.repeats,
}
_PROFILES = ("known alike", "known share", "alike")
_RULES = ("rule", "part")
_PHRASES = tuple(f"{relation} {name}" for relation in RELATIONS for name in CLASSES)
BEHIND = ("before", "after")  # of a list fact: the same of the text before or behind


def names() -> tuple[str, ...]:
    """All names, those of word lists with the built-in classes."""
    placed = tuple(f"{name} {side}" for name in _PHRASES for side in BEHIND)
    return (*_PLAIN, *sequences.NAMES, *_PROFILES, *_RULES, *_PHRASES, *placed)


class Catalogue:
    """Computes features of a batch. view (UnitView): the units. phrases (Phrases): from word lists."""

    def __init__(self, view: UnitView, phrases: Phrases):
        self.view, self._phrases = view, PhraseView(view, phrases)

    def values(self, name: str) -> Values:
        """Values of a feature. name (str): one of `names`. RAISES (KeyError): for any other."""
        if name in _PLAIN:
            return _PLAIN[name](self.view)
        if name in sequences.NAMES:
            return self._links[name]()
        if name in _PROFILES:
            return self._profile(name)
        if name in _RULES:
            return self._decisions.trace if name == "rule" else self._decisions.states
        return self._listed(name)

    @cached_property
    def _decisions(self) -> Decisions:
        return apply_rules(self.view, self._phrases.phrases)

    @cached_property
    def _links(self) -> dict[str, Callable[[], Values]]:
        return sequences.link_features(sequences.Sequences(self.view))

    @cached_property
    def _profiles(self) -> profiles.Profiles:
        return profiles.Profiles(self.view, self._phrases.fact("is title").present)

    def _profile(self, name: str) -> Values:
        if name == "known alike":
            return self._profiles.known_titles()
        return self._profiles.share_of_known() if name == "known share" else self._profiles.alike()

    def _listed(self, name: str) -> Values:
        fact, _, side = name.rpartition(" ")
        if side == "before":
            return self._phrases.fact(fact).take(self.view.before(self.view.is_text))
        if side == "after":
            return self._phrases.fact(fact).take(self.view.after(self.view.is_text))
        return self._phrases.fact(name)
