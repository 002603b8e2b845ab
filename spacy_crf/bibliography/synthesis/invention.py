"""Invented entries as CSL-JSON: works of all kinds in several languages, by names of many cultures."""

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from .phrases import Phrases, capitalise

Item = dict[str, Any]

# Chances, as weights: kinds of works, languages of entries, and cultures of their authors
KINDS = {
    **{"article-journal": 44, "paper-conference": 15, "book": 17, "chapter": 13, "report": 5, "thesis": 5},
    **{"webpage": 3.5, "article": 2, "article-magazine": 1.5, "article-newspaper": 1, "manuscript": 0.8},
    **{"dataset": 0.6, "standard": 0.4, "patent": 0.4, "entry-encyclopedia": 0.8, "motion_picture": 0.4},
}
LANGUAGES = {
    **{"en": 78, "de": 6, "fr": 6, "es": 4, "pt": 1.5, "it": 1.5, "nl": 1, "ru": 0.6, "zh": 0.5, "ja": 0.3},
    "ko": 0.4,
}
CULTURES = {
    **{"english": 40, "german": 11, "french": 9, "italian": 7, "spanish": 6, "chinese": 9, "japanese": 6, "nordic": 6},
    **{"dutch": 6, "slavic": 6, "indian": 5, "korean": 3, "eastern": 3, "portuguese": 3, "arabic": 3, "african": 1.5},
    "vietnamese": 1,
}
AT_HOME = {
    **{"de": "german", "fr": "french", "es": "spanish", "pt": "portuguese", "it": "italian", "nl": "dutch"},
    **{"ru": "russian", "zh": "hanzi", "ja": "kanji", "ko": "hangul"},
}
WITHOUT_CASE = ("zh", "ja", "ko")
FIRST_YEAR, LAST_YEAR = 1895, 2025
STOP = re.compile(
    r"a|an|the|of|on|in|and|&|for|to|with|by|der|die|das|für|und|zur|de|des|du|la|le|les|et|d'.*|l'.*|y|del|el|los|las"
)
SHORTENED = re.compile(
    r"^((?:[aeiouyäöüéAEIOUYÄÖÜÉ]|[^\W\d_aeiouyäöüé]+[aeiouyäöüé]+)[^\W\d_aeiouyäöüé]+)[aeiouyäöüéà]\w+$"
)
SYLLABLE = re.compile(r"[A-ZÄÖÜÁÉŞČŁ][^\W\d_aeiouyäöüáéíóú]{0,2}[aeiouyäöüáéíóú]+[^\W\d_aeiouyäöüáéíóú]?(?=[a-z])")
LAST_SYLLABLE = re.compile(r"(?<=[a-zäöü])[bcdfghjklmnpqrstvwxzčšžłñ]+[aeiouyäöüáéíóúą]+[a-zčšžłńñćá]*$")
UNBLENDED = ("chinese", "korean", "vietnamese", "russian")
WITHOUT_SPACES = ("hanzi", "kanji", "hangul")
LONG_WORD = 5  # letters, from which on words of journals are shortened
Maker = Callable[["Inventor"], Item]


def invent_items(count: int, rng: Random, language: str | None = None) -> Iterator[Item]:
    """Yield invented works as items of CSL-JSON. language (str | None): of all; None for many.

    Authors and editors, titles, places and numbers are invented; names of well-known journals and publishers occur.
    Identifiers are of the right form; DOIs have the prefix 10.5555, which is that of tests.
    """
    for number in range(count):
        yield Inventor(rng, language).invent(f"invented{number}")


class Inventor:
    """Makes one work: its language and culture are drawn first, and all else follows them."""

    def __init__(self, rng: Random, language: str | None = None):
        self.rng = rng
        self.language = language or self.draw(LANGUAGES)
        self.phrases = Phrases.load("names", "en", self.language)
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
        return Phrases.load("names", "en").draw(symbol, self.rng)

    def number(self, least: int, most: int) -> str:
        """Return a number; small ones are more likely."""
        return str(int(least + (most - least + 1) * self.rng.random() ** 2))

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
        if self.language == "en" and text[-1] not in "?”\")" and self.chance(0.5):
            text += f" {self.phrase('prep')} {self.phrase('np')}"
        text = re.sub(r"([:.?] )(\w)", self._capital_behind, capitalise(text))
        if self.headline:
            words = text.split(" ")
            text = " ".join(word if STOP.fullmatch(word) and at else capitalise(word) for at, word in enumerate(words))
        return text.upper() if self.chance(0.02) else text

    def _capital_behind(self, found: re.Match[str]) -> str:
        keep = found[1] == ": " and not self.headline and self.rng.random() < 0.4
        return found[1] + (found[2] if keep else found[2].upper())

    def culture(self) -> str:
        home = AT_HOME.get(self.language)
        return home if home and (self.language in (*WITHOUT_CASE, "ru") or self.chance(0.8)) else self.draw(CULTURES)

    def name(self, culture: str) -> Item:
        family = self.phrase(culture)
        if culture in WITHOUT_SPACES:
            return {"literal": family + self.phrase(f"{culture}-given")}
        if self.chance(0.3) and culture not in UNBLENDED:
            family = blend(family, self.phrase(culture))
        if self.chance(0.01) and culture != "russian":
            return {"family": family}
        given = self.phrase(f"{culture}-given")
        middle = self.chance(0.35) and culture in ("english", "german", "nordic", "dutch", "russian", "slavic")
        if middle:
            given += f" {self.phrase(f'{culture}-given')[0]}."
        if self.has_initials:
            given = re.sub(r"([^\W\d_])\w*\.?", r"\1.", given)
        found = {"family": family, "given": given}
        if culture in ("dutch", "french", "german", "portuguese", "arabic") and self.chance(0.15):
            found["non-dropping-particle"] = self.phrase("particle")
        if culture == "english" and self.chance(0.03):
            found["suffix"] = self.phrase("suffix")
        return found

    def people(self, most: int) -> list[Item]:
        culture = self.culture()
        count = int(self.number(1, most)) if self.chance(0.7) else self.rng.randint(1, most)
        mixed = self.language not in AT_HOME
        return [self.name(self.culture() if mixed and self.chance(0.5) else culture) for _ in range(count)]

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

    def pages(self) -> str:
        if self.chance(0.06):
            return f"{self.rng.randint(0, 999999):06d}"
        first = int(self.number(1, 2500 if self.chance(0.3) else 400))
        if self.chance(0.1):
            return str(first) if self.chance(0.6) else f"{self.rng.choice('eELSA')}{first}"
        last = first + int(self.number(1, 45))
        if self.chance(0.15):  # 1359-62
            return f"{first}-{str(last)[-2:] if last > 100 and str(first)[:-2] == str(last)[:-2] else last}"
        return f"{first}-{last}"

    def doi(self) -> str:
        tail = self.rng.choice(
            (
                f"{self.rng.choice('abcjnprs')}{self.rng.choice('bcdjnps')}.{self.year}.{self.number(1, 99999)}",
                f"S{self.rng.randint(1000, 9999)}-{self.rng.randint(1000, 9999)}({self.year % 100:02d}){self.rng.randint(10000, 99999)}-{self.rng.randint(0, 9)}",
                f"{self.rng.randint(1000000, 9999999)}.{self.rng.randint(1000000, 9999999)}",
                f"s{self.rng.randint(10000, 99999)}-{self.rng.randint(100, 999)}-{self.rng.randint(1000, 9999)}-{self.rng.randint(0, 9)}",
            )
        )
        return f"10.{self.rng.choice((5555, 5555, 1016, 1007, 1145, 1103))}/{tail}"

    def isbn(self) -> str:
        """Return an ISBN of a publisher that does not exist, with the right check digit."""
        digits = f"978{self.rng.randint(0, 9)}99{self.rng.randint(100000, 999999)}"
        check = -sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10
        whole = f"{digits}{check}"
        return f"{whole[:3]}-{whole[3]}-{whole[4:7]}-{whole[7:12]}-{whole[12]}" if self.chance(0.7) else whole

    def old_isbn(self) -> str:
        """Return an ISBN of ten figures, with the right check digit."""
        digits = f"{self.rng.randint(0, 9)}99{self.rng.randint(100000, 999999)}"
        check = -sum(int(digit) * weight for digit, weight in zip(digits, range(10, 1, -1))) % 11
        last = "X" if check == 10 else str(check)
        return f"{digits[0]}-{digits[1:4]}-{digits[4:]}-{last}" if self.chance(0.6) else f"{digits}{last}"

    def url(self) -> str:
        words = [re.sub(r"[^a-z]", "", self.some(kind).lower()) or "page" for kind in ("noun", "plural", "surname")]
        ending = self.rng.choice(("com", "org", "edu", "gov", "net", "org.uk", "de", "fr", "com.au", "info"))
        tail = self.rng.choice(
            (
                "", "/", f"/{words[1]}", f"/{words[1]}/{self.year}/{words[2]}.html", f"/~{words[2]}/{words[1]}.pdf",
                f"/{words[1]}/index.php?id={self.number(1, 9999)}", f"/{self.year}/{self.number(1, 12)}/{words[1]}-{words[2]}",
                f"/files/{words[1]}_{words[2]}{self.year}.pdf", f"/{words[1]}/{words[2]}",
            )
        )  # fmt: skip
        return f"{self.rng.choice(('http://www.', 'http://', 'https://', 'https://www.', 'www.'))}{words[0]}.{ending}{tail}"

    def accessed(self) -> Item:
        return {"date-parts": [[max(self.year, self.rng.randint(2000, LAST_YEAR)), self.rng.randint(1, 12), self.rng.randint(1, 28)]]}

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
            "issue": (self.number(1, 12) if self.chance(0.9) else f"{self.number(1, 5)}-{self.number(6, 9)}") if has_issue else "",
            "page": self.pages() if self.chance(0.94) else "",
            "DOI": self.doi() if self.chance(0.14) else "",
            "URL": self.url() if self.chance(0.02) else "",
            "PMID": str(self.rng.randint(1000000, 30000000)) if self.chance(0.02) else "",
        }

    def magazine(self) -> Item:
        return {
            "author": self.authors(2) if self.chance(0.8) else "",
            "title": self.title(),
            "container-title": self.phrase("magazine"),
            "page": self.number(1, 90) if self.chance(0.4) else "",
            "URL": self.url() if self.chance(0.4) else "",
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
            "ISBN": self.isbn() if self.chance(0.05) else "",
        }

    def _edition(self) -> str:
        """Return a number, or a text that styles print as it is."""
        own = "Rev. ed.", "revised edition", "New ed.", "1st American ed.", "2nd edition", "3. Aufl.", "2e éd.", "2ª ed.", "second edition"
        return self.number(2, 9) if self.chance(0.75) else self.rng.choice(own)

    def _series(self, share: float) -> Item:
        if not self.chance(share):
            return {}
        return {"collection-title": self.phrase("series"), "collection-number": self.number(1, 300) if self.chance(0.6) else ""}

    def chapter(self) -> Item:
        return {
            "author": self.authors(4),
            "title": self.title(),
            "editor": self.people(4) if self.chance(0.85) else "",
            "container-title": self._book_title(),
            "page": self.pages() if self.chance(0.85) else "",
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
            "page": self.pages() if self.chance(0.75) else "",
            "volume": self.number(1, 400) if self.chance(0.08) else "",
            **self._series(0.1),
            "publisher": self.some("publisher") if self.chance(0.35) else "",
            "publisher-place": self.phrase("venue") if has_place else "",
            "event-place": self.phrase("venue") if has_place and self.chance(0.5) else "",
            "DOI": self.doi() if self.chance(0.06) else "",
        }

    def report(self) -> Item:
        letters = self.phrases.draw("Acr", self.rng)
        number = self.rng.choice(
            (
                self.number(1, 500), f"{letters}-{self.number(1, 99)}", f"{letters}-TR-{self.year % 100:02d}-{self.number(1, 60)}",
                f"TR{self.year % 100:02d}-{self.number(1, 60)}", f"{letters}-{self.year}-{self.number(1, 60)}", f"{self.year}-{self.number(1, 40)}",
            )
        )  # fmt: skip
        return {
            "author": self.authors(4) if self.chance(0.85) else [{"literal": self.phrase("corporate")}],
            "title": self.title(),
            "genre": self.phrase("report") if self.chance(0.9) else "",
            "number": number if self.chance(0.7) else "",
            "publisher": self.phrase("institute"),
            "publisher-place": self.phrase("city") if self.chance(0.4) else "",
            "URL": self.url() if self.chance(0.12) else "",
        }

    def thesis(self) -> Item:
        return {
            "author": self.people(1),
            "title": self.title(),
            "genre": self.phrase("phd" if self.chance(0.7) else "master"),
            "publisher": self.phrase("school"),
            "publisher-place": self.phrase("venue") if self.chance(0.35) else "",
            "URL": self.url() if self.chance(0.05) else "",
        }

    def web(self) -> Item:
        return {
            "author": self.authors(3) if self.chance(0.7) else [{"literal": self.phrase("corporate")}],
            "title": self.title(),
            "container-title": capitalise(self.some("np")) if self.chance(0.4) else "",
            "URL": self.url(),
            "accessed": self.accessed() if self.chance(0.6) else "",
        }

    def preprint(self) -> Item:
        month = self.rng.randint(1, 12)
        number = f"{self.rng.randint(7, 24):02d}{month:02d}.{self.rng.randint(0, 99999):05d}"
        old = f"{self.rng.choice(('hep-th', 'hep-ph', 'astro-ph', 'cond-mat', 'quant-ph', 'gr-qc', 'math'))}/{self.rng.randint(9200000, 9912999)}"
        return {
            "author": self.authors(),
            "title": self.title(),
            "note": f"{self.rng.choice(('arXiv:', 'arXiv preprint arXiv:', 'CoRR abs/', 'e-print arXiv:', ''))}{number if self.chance(0.7) else old}",
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
        return {"author": self.people(4), "title": self.title(), "genre": "U.S. Patent", "number": f"{self.rng.randint(1, 9)},{self.rng.randint(100, 999)},{self.rng.randint(100, 999)}"}

    def entry(self) -> Item:
        return {**self.chapter(), "edition": self.number(2, 15) if self.chance(0.2) else ""}

    def film(self) -> Item:
        return {"author": self.people(2), "title": self.title(), "genre": self.rng.choice(("Motion picture", "Film", "Documentary")), **self.printing()}

    def dataset(self) -> Item:
        return {
            "author": self.authors(4),
            "title": self.title(),
            "publisher": self.some("institute"),
            "genre": self.rng.choice(("Data set", "Dataset", "")),
            "DOI": self.doi() if self.chance(0.6) else "",
            "URL": self.url() if self.chance(0.4) else "",
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


def blend(first: str, second: str) -> str:
    """Return a name that begins as one and ends as another, broken before a consonant: "Hofmeyer" of two."""
    start, end = SYLLABLE.match(first), LAST_SYLLABLE.search(second)
    return f"{start[0]}{end[0]}" if start and end else first


def shorten(journal: str, with_stops: bool) -> str:
    """Return the name of a journal with its long words shortened, as ISO 4 does it, and without small words."""
    words = [word for word in journal.split() if not STOP.fullmatch(word.lower())]
    if len(words) < 2:
        return journal
    found = [(SHORTENED.match(word) if len(word) > LONG_WORD else None) for word in words]
    stop = "." if with_stops else ""
    return " ".join(match[1] + stop if match else word for match, word in zip(found, words))
