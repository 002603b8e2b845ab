"""Invented entries as CSL-JSON: works of all kinds in several languages, by names of many cultures."""

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from .imprints import draw_doi, draw_eprint, draw_isbn, draw_number, draw_pages, draw_report_number, draw_url
from .people import CULTURES, draw_name
from .phrases import Phrasebook, capitalise
from .spelling import headline, shorten

Item = dict[str, Any]

# Chances, as weights: kinds of works, and languages
KINDS = {
    **{"article-journal": 44, "paper-conference": 15, "book": 17, "chapter": 13, "report": 5, "thesis": 5},
    **{"webpage": 3.5, "article": 2, "article-magazine": 1.5, "article-newspaper": 1, "manuscript": 0.8},
    **{"dataset": 0.6, "standard": 0.4, "patent": 0.4, "entry-encyclopedia": 0.8, "motion_picture": 0.4},
}
LANGUAGES = {
    **{"en": 78, "de": 6, "fr": 6, "es": 4, "pt": 1.5, "it": 1.5, "nl": 1, "ru": 0.6, "zh": 0.5, "ja": 0.3},
    "ko": 0.4,
}
AT_HOME = {
    **{"de": "german", "fr": "french", "es": "spanish", "pt": "portuguese", "it": "italian", "nl": "dutch"},
    **{"ru": "russian", "zh": "hanzi", "ja": "kanji", "ko": "hangul"},
}
ARCHIVE = ("arXiv:", "arXiv preprint arXiv:", "CoRR abs/", "e-print arXiv:", "")
WITHOUT_CASE = ("zh", "ja", "ko")
FIRST_YEAR, LAST_YEAR = 1895, 2025
Maker = Callable[["Inventor"], Item]


def invent_items(count: int, rng: Random, language: str | None = None) -> Iterator[Item]:
    """Yield invented works as items of CSL-JSON. language (str | None): of all; None for many.

    Authors and editors, titles and numbers are invented; names of well-known journals, publishers and places occur.
    Identifiers are of the right form, and those of nothing; that of many DOIs is the prefix of tests, 10.5555.
    """
    for number in range(count):
        yield Inventor(rng, language).invent(f"invented{number}")


class Inventor:
    """Makes one work: its language and culture are drawn first, and all else follows them."""

    def __init__(self, rng: Random, language: str | None = None):
        self.rng = rng
        self.language = language or self.draw(LANGUAGES)
        self.phrases = Phrasebook.load("names", "en", self.language)
        self.year = int(rng.triangular(FIRST_YEAR, LAST_YEAR, 2004))
        # how this list writes given names, and whether titles have capitals
        self.has_initials = rng.random() < 0.4
        self.headline = self.language == "en" and rng.random() < 0.4

    def draw(self, weights: dict[str, float]) -> str:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def phrase(self, symbol: str) -> str:
        return self.phrases.draw(symbol, self.rng)

    def some(self, symbol: str) -> str:
        """Return a phrase in English: what is not in the language of the work, as most publishers."""
        return Phrasebook.load("names", "en").draw(symbol, self.rng)

    def number(self, least: int, most: int) -> str:
        return draw_number(self.rng, least, most)

    def invent(self, name: str) -> Item:
        kind = self.draw(KINDS)
        item = {"id": name, "type": kind, "language": self.language, **MAKERS.get(kind, Inventor.web)(self)}
        item["issued"] = self.date(0.9 if kind in ("webpage", "article-newspaper") else 0.12)
        if self.chance(0.03):
            item["note"] = self.phrase("note")
        if self.chance(0.04):
            item.pop("author", None)
        if kind == "article-journal" and self.chance(0.06):
            item.pop("title", None)
        item = {name: value for name, value in item.items() if value}
        return {field: value for field, value in item.items() if field in KEPT or not self.chance(0.04)}

    def title(self) -> str:
        text = " ".join(self.phrase("title").split())
        if self.language in WITHOUT_CASE:
            return text
        if self.language == "en" and text[-1] not in '?”")' and self.chance(0.5):
            text += f" {self.phrase('prep')} {self.phrase('np')}"
        text = re.sub(r"([:.?] )(\w)", self._capital_behind, capitalise(text))
        text = headline(text) if self.headline else text
        return text.upper() if self.chance(0.02) else text

    def _capital_behind(self, found: re.Match[str]) -> str:
        keep = found[1] == ": " and not self.headline and self.rng.random() < 0.4
        return found[1] + (found[2] if keep else found[2].upper())

    def culture(self) -> str:
        home = AT_HOME.get(self.language)
        return home if home and (self.language in (*WITHOUT_CASE, "ru") or self.chance(0.8)) else self.draw(CULTURES)

    def people(self, most: int) -> list[Item]:
        culture = self.culture()
        count = int(self.number(1, most)) if self.chance(0.7) else self.rng.randint(1, most)
        mixed = self.language not in AT_HOME
        return [
            draw_name(
                self.phrases, self.rng, self.culture() if mixed and self.chance(0.5) else culture, self.has_initials
            )
            for _ in range(count)
        ]

    def authors(self, most: int = 6) -> list[Item]:
        if self.chance(0.03):
            return [{"literal": self.phrase("corporate")}]
        return self.people(25 if self.chance(0.04) else most)

    def date(self, exactness: float) -> Item | None:
        if self.chance(0.015):
            return {"literal": self.rng.choice(("n.d.", "in press", "forthcoming", "to appear", "undated"))}
        parts = [self.year]
        if self.chance(exactness):
            parts.append(self.rng.randint(1, 12))
            if self.chance(0.4):
                parts.append(self.rng.randint(1, 28))
        dates = [parts]
        if len(parts) == 1 and self.chance(0.02):
            dates.append([min(self.year + self.rng.randint(1, 4), LAST_YEAR)])
        return {"date-parts": dates}

    def accessed(self) -> Item:
        return {
            "date-parts": [
                [max(self.year, self.rng.randint(2000, LAST_YEAR)), self.rng.randint(1, 12), self.rng.randint(1, 28)]
            ]
        }

    def journal(self) -> str:
        own = self.phrase("journal") if self.chance(0.9) else self.some("journal")
        return shorten(own, self.chance(0.5)) if self.language not in WITHOUT_CASE and self.chance(0.35) else own

    def printing(self) -> Item:
        """Return publisher and place, one of which may be missing."""
        local = self.chance(0.8)
        draw = self.phrase if local else self.some
        place = draw("city")
        if self.language == "en" and self.chance(0.25):
            place = f"{place}, {self.phrase('Postal' if self.chance(0.6) else 'Country')}"
        if self.chance(0.05):
            place = f"{place}{self.rng.choice((' and ', '/', '; ', ' & ', ', '))}{draw('city')}"
        return {
            "publisher": draw("publisher") if self.chance(0.88) else "",
            "publisher-place": place if self.chance(0.78) else "",
        }

    def article(self) -> Item:
        has_issue = self.chance(0.5)
        return {
            "author": self.authors(),
            "title": self.title(),
            "container-title": self.journal(),
            "volume": self.number(1, 900 if self.chance(0.15) else 120) if self.chance(0.95) else "",
            "issue": (self.number(1, 12) if self.chance(0.9) else f"{self.number(1, 5)}-{self.number(6, 9)}")
            if has_issue
            else "",
            "page": draw_pages(self.rng) if self.chance(0.94) else "",
            "DOI": draw_doi(self.rng, self.year) if self.chance(0.14) else "",
            "URL": draw_url(self.rng, self.year) if self.chance(0.02) else "",
            "PMID": str(self.rng.randint(1000000, 30000000)) if self.chance(0.02) else "",
        }

    def magazine(self) -> Item:
        return {
            "author": self.authors(2) if self.chance(0.8) else "",
            "title": self.title(),
            "container-title": self.phrase("magazine"),
            "page": self.number(1, 90) if self.chance(0.4) else "",
            "URL": draw_url(self.rng, self.year) if self.chance(0.4) else "",
        }

    def book(self) -> Item:
        edited = self.chance(0.22)
        return {
            "editor" if edited else "author": self.authors(3),
            "title": self.title(),
            "edition": self._edition() if self.chance(0.15) else "",
            "translator": self.people(2) if self.chance(0.25) else "",
            "volume": self.number(1, 6) if self.chance(0.06) else "",
            "number-of-pages": self.number(60, 900) if self.chance(0.06) else "",
            **self._series(0.08),
            **self.printing(),
            "ISBN": draw_isbn(self.rng) if self.chance(0.05) else "",
        }

    def _edition(self) -> str:
        """Return a number, or a text that styles print as it is."""
        own = (
            "Rev. ed.",
            "revised edition",
            "New ed.",
            "1st American ed.",
            "2nd edition",
            "3. Aufl.",
            "2e éd.",
            "2ª ed.",
            "second edition",
        )
        return self.number(2, 9) if self.chance(0.75) else self.rng.choice(own)

    def _series(self, share: float) -> Item:
        if not self.chance(share):
            return {}
        return {
            "collection-title": self.phrase("series"),
            "collection-number": self.number(1, 300) if self.chance(0.6) else "",
        }

    def chapter(self) -> Item:
        return {
            "author": self.authors(4),
            "title": self.title(),
            "editor": self.people(4) if self.chance(0.85) else "",
            "container-title": self._book_title(),
            "page": draw_pages(self.rng) if self.chance(0.85) else "",
            "edition": self.number(2, 4) if self.chance(0.03) else "",
            "translator": self.people(2) if self.chance(0.06) else "",
            "volume": self.number(1, 6) if self.chance(0.1) else "",
            **self._series(0.08),
            **self.printing(),
        }

    def _book_title(self) -> str:
        return capitalise(" ".join(self.phrase("book").split()))

    def paper(self) -> Item:
        has_place = self.chance(0.45)
        return {
            "author": self.authors(5),
            "title": self.title(),
            "editor": self.people(3) if self.chance(0.1) else "",
            "container-title": capitalise(self.phrase("proceedings")),
            "page": draw_pages(self.rng) if self.chance(0.75) else "",
            "volume": self.number(1, 400) if self.chance(0.08) else "",
            **self._series(0.1),
            "publisher": self.some("publisher") if self.chance(0.35) else "",
            "publisher-place": self.phrase("venue") if has_place else "",
            "event-place": self.phrase("venue") if has_place and self.chance(0.5) else "",
            "DOI": draw_doi(self.rng, self.year) if self.chance(0.06) else "",
        }

    def report(self) -> Item:
        return {
            "author": self.authors(4) if self.chance(0.85) else [{"literal": self.phrase("corporate")}],
            "title": self.title(),
            "genre": self.phrase("report") if self.chance(0.9) else "",
            "number": draw_report_number(self.rng, self.phrase("Acr"), self.year) if self.chance(0.7) else "",
            "publisher": self.phrase("institute"),
            "publisher-place": self.phrase("city") if self.chance(0.4) else "",
            "URL": draw_url(self.rng, self.year) if self.chance(0.12) else "",
        }

    def thesis(self) -> Item:
        return {
            "author": self.people(1),
            "title": self.title(),
            "genre": self.phrase("phd" if self.chance(0.7) else "master"),
            "publisher": self.phrase("school"),
            "publisher-place": self.phrase("venue") if self.chance(0.35) else "",
            "URL": draw_url(self.rng, self.year) if self.chance(0.05) else "",
        }

    def web(self) -> Item:
        return {
            "author": self.authors(3) if self.chance(0.7) else [{"literal": self.phrase("corporate")}],
            "title": self.title(),
            "container-title": capitalise(self.some("np")) if self.chance(0.4) else "",
            "URL": draw_url(self.rng, self.year),
            "accessed": self.accessed() if self.chance(0.6) else "",
        }

    def preprint(self) -> Item:
        return {
            "author": self.authors(),
            "title": self.title(),
            "note": self.rng.choice(ARCHIVE) + draw_eprint(self.rng),
        }

    def manuscript(self) -> Item:
        return {"author": self.people(3), "title": self.title(), "note": self.phrase("note"), "genre": ""}

    def standard(self) -> Item:
        body = self.rng.choice(("ISO", "IEEE Std", "ANSI", "DIN", "EN", "RFC", "ASTM"))
        return {
            "author": [{"literal": self.some("corporate")}] if self.chance(0.5) else "",
            "title": self.title(),
            "genre": "Standard" if self.chance(0.3) else "",
            "number": f"{body} {self.number(100, 30000)}",
            "publisher": self.some("institute") if self.chance(0.5) else "",
        }

    def patent(self) -> Item:
        return {
            "author": self.people(4),
            "title": self.title(),
            "genre": "U.S. Patent",
            "number": f"{self.rng.randint(1, 9)},{self.rng.randint(100, 999)},{self.rng.randint(100, 999)}",
        }

    def entry(self) -> Item:
        return {**self.chapter(), "edition": self.number(2, 15) if self.chance(0.2) else ""}

    def film(self) -> Item:
        return {
            "author": self.people(2),
            "title": self.title(),
            "genre": self.rng.choice(("Motion picture", "Film", "Documentary")),
            **self.printing(),
        }

    def dataset(self) -> Item:
        return {
            "author": self.authors(4),
            "title": self.title(),
            "publisher": self.some("institute"),
            "genre": self.rng.choice(("Data set", "Dataset", "")),
            "DOI": draw_doi(self.rng, self.year) if self.chance(0.6) else "",
            "URL": draw_url(self.rng, self.year) if self.chance(0.4) else "",
        }


KEPT = ("id", "type", "language")
MAKERS: dict[str, Maker] = {
    "article-journal": Inventor.article,
    "article-magazine": Inventor.magazine,
    "article-newspaper": Inventor.magazine,
    "article": Inventor.preprint,
    "book": Inventor.book,
    "chapter": Inventor.chapter,
    "dataset": Inventor.dataset,
    "entry-encyclopedia": Inventor.entry,
    "manuscript": Inventor.manuscript,
    "motion_picture": Inventor.film,
    "paper-conference": Inventor.paper,
    "patent": Inventor.patent,
    "report": Inventor.report,
    "standard": Inventor.standard,
    "thesis": Inventor.thesis,
}
