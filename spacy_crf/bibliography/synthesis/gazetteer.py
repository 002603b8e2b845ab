"""The words of invented entries as a word list, for templates such as LIST(known)."""

from collections import defaultdict
from collections.abc import Iterator

from .inventor import LANGUAGES
from .people import CULTURES
from .phrases import SLOT, Phrasebook

KINDS = {
    **{"city": "place", "Country": "place", "State": "place", "place": "place", "RealPublisher": "publisher"},
    **{"publisher": "publisher", "RealJournal": "journal", "ShortJournal": "journal", "magazine": "journal"},
    **{"adj": "word", "noun": "word", "plural": "word", "ing": "word", "fn": "word", "mn": "word", "f": "word"},
    **{"m": "word", "mp": "word", "fp": "word", "de": "word", "het": "word"},
}


def list_known() -> Iterator[str]:
    """Yield the lines of a word list, `phrase<TAB>kinds`: what stands for more than one has all, joined by "+"."""
    kinds: dict[str, set[str]] = defaultdict(set)
    names = Phrasebook.load("names")
    for culture in CULTURES:
        for symbol, kind in ((culture, "family"), (f"{culture}-given", "given")):
            _add(kinds, names, symbol, kind)
    for language in LANGUAGES:
        phrases = Phrasebook.load(language)
        for symbol, kind in KINDS.items():
            _add(kinds, phrases, symbol, kind)
    for phrase, found in sorted(kinds.items()):
        yield f"{phrase}\t{'+'.join(sorted(found))}\n"


def _add(kinds: dict[str, set[str]], phrases: Phrasebook, symbol: str, kind: str) -> None:
    for phrase in phrases.rules.get(symbol, ()):
        if not SLOT.search(phrase):
            kinds[phrase.lower()].add(kind)
