"""Words, people, dates and journals of one invented work, all in its language; names of people of many cultures; and
numbers: pages, identifiers and addresses."""

import re
from random import Random
from typing import Any

from .phrases import Phrasebook, capitalise, headline, shorten

Item = dict[str, Any]

# Chances, as weights
LANGUAGES = {
    **{"en": 76, "de": 6, "fr": 6, "es": 4, "pt": 1.5, "it": 1.5, "nl": 1, "ru": 0.6, "zh": 1, "ja": 1},
    "ko": 1,
}
AT_HOME = {
    **{"de": "german", "fr": "french", "es": "spanish", "pt": "portuguese", "it": "italian", "nl": "dutch"},
    **{"ru": "russian", "zh": "hanzi", "ja": "kanji", "ko": "hangul"},
}
WITHOUT_CASE = ("zh", "ja", "ko")
FIRST_YEAR, LAST_YEAR = 1895, 2025
UNDATED, UNPUBLISHED = ("n.d.", "undated"), ("in press", "forthcoming", "to appear", "submitted")


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

    def date(self, with_month: float, with_day: float = 0.4) -> Item | None:
        """Return a date, whose month is given in a share of them, and the day in a share of these."""
        if self.chance(0.015):
            return {"literal": self.rng.choice((*UNDATED, *UNPUBLISHED))}
        parts = [self.year]
        if self.chance(with_month):
            parts.append(self.rng.randint(1, 12))
            if self.chance(with_day):
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
        return shorten(own, self.chance(0.5)) if self.language not in WITHOUT_CASE and self.chance(0.42) else own

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


# -- names --------------------------------------------------------------------------------------------------------


# Chances, as weights
CULTURES = {
    **{"english": 40, "german": 11, "french": 9, "italian": 7, "spanish": 6, "chinese": 9, "japanese": 6, "nordic": 6},
    **{"dutch": 6, "slavic": 6, "indian": 5, "korean": 3, "eastern": 3, "portuguese": 3, "arabic": 3, "african": 1.5},
    "vietnamese": 1,
}
UNBLENDED = ("chinese", "korean", "vietnamese", "russian")
WITHOUT_SPACES = ("hanzi", "kanji", "hangul")
MIDDLE = ("english", "german", "nordic", "dutch", "russian", "slavic")  # have second initials
PARTICLES = ("dutch", "french", "german", "portuguese", "arabic")
SYLLABLE = re.compile(r"[A-ZÄÖÜÁÉŞČŁ][^\W\d_aeiouyäöüáéíóú]{0,2}[aeiouyäöüáéíóú]+[^\W\d_aeiouyäöüáéíóú]?(?=[a-z])")
LAST_SYLLABLE = re.compile(r"(?<=[a-zäöü])[bcdfghjklmnpqrstvwxzčšžłñ]+[aeiouyäöüáéíóúą]+[a-zčšžłńñćá]*$")


def draw_name(phrases: Phrasebook, rng: Random, culture: str, has_initials: bool) -> dict[str, str]:
    """Return a name; some family names are blends of two, so that no list has them all."""
    family = phrases.draw(culture, rng)
    if culture in WITHOUT_SPACES:
        return {"literal": family + phrases.draw(f"{culture}-given", rng)}
    if rng.random() < 0.3 and culture not in UNBLENDED:
        family = blend(family, phrases.draw(culture, rng))
    if rng.random() < 0.01 and culture != "russian":
        return {"family": family}
    given = phrases.draw(f"{culture}-given", rng)
    if culture in MIDDLE and rng.random() < 0.35:
        given += f" {phrases.draw(f'{culture}-given', rng)[0]}."
    if has_initials:
        given = re.sub(r"([^\W\d_])\w*\.?", r"\1.", given)
    found = {"family": family, "given": given}
    if culture in PARTICLES and rng.random() < 0.15:
        found["non-dropping-particle"] = phrases.draw("particle", rng)
    if culture == "english" and rng.random() < 0.03:
        found["suffix"] = phrases.draw("suffix", rng)
    return found


def blend(first: str, second: str) -> str:
    """Return a name that begins as one and ends as another, broken before a consonant: "Hofmeyer" of two."""
    start, end = SYLLABLE.match(first), LAST_SYLLABLE.search(second)
    return f"{start[0]}{end[0]}" if start and end else first


# -- numbers ------------------------------------------------------------------------------------------------------


TEST_PREFIX = 5555  # of DOIs
ENDINGS = ("com", "org", "edu", "gov", "net", "org.uk", "de", "fr", "com.au", "info")
STARTS = ("http://www.", "http://", "https://", "https://www.", "www.")


def draw_number(rng: Random, least: int, most: int) -> str:
    """Return a number; small ones are more likely."""
    return str(int(least + (most - least + 1) * rng.random() ** 2))


def draw_pages(rng: Random) -> str:
    """Return pages: a range, whose end may be cut, as in 1359-62; one page; or the number of an article."""
    if rng.random() < 0.06:
        return f"{rng.randint(0, 999999):06d}"
    first = int(draw_number(rng, 1, 2500 if rng.random() < 0.3 else 400))
    if rng.random() < 0.1:
        return str(first) if rng.random() < 0.6 else f"{rng.choice('eELSA')}{first}"
    last = first + int(draw_number(rng, 1, 45))
    is_cut = rng.random() < 0.15 and last > 100 and str(first)[:-2] == str(last)[:-2]
    return f"{first}-{str(last)[-2:] if is_cut else last}"


def draw_doi(rng: Random, year: int) -> str:
    """Return a DOI in one of the ways in which publishers make them."""
    patterns = ("{a}{a}.{year}.{n}", "S{d}-{d}({yy})0{d}-{n}", "{n}.{n}", "s{d}-{n}-{d}-{n}")
    prefix = TEST_PREFIX if rng.random() < 0.5 else rng.randint(90000, 99999)
    slots = {
        "a": lambda: rng.choice("abcdjnprs"),
        "d": lambda: str(rng.randint(1000, 9999)),
        "n": lambda: draw_number(rng, 1, 9_999_999),
        "year": lambda: str(year),
        "yy": lambda: f"{year % 100:02d}",
    }
    return f"10.{prefix}/" + re.sub(r"\{(\w+)\}", lambda slot: slots[slot[1]](), rng.choice(patterns))


def draw_isbn(rng: Random) -> str:
    """Return an ISBN with the right check digit."""
    digits = f"978{rng.randint(0, 9)}99{rng.randint(100000, 999999)}"
    check = -sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10
    whole = f"{digits}{check}"
    return f"{whole[:3]}-{whole[3]}-{whole[4:7]}-{whole[7:12]}-{whole[12]}" if rng.random() < 0.7 else whole


def draw_old_isbn(rng: Random) -> str:
    """Return an ISBN of ten figures, with the right check digit."""
    digits = f"{rng.randint(0, 9)}99{rng.randint(100000, 999999)}"
    check = -sum(int(digit) * weight for digit, weight in zip(digits, range(10, 1, -1))) % 11
    last = "X" if check == 10 else str(check)
    return f"{digits[0]}-{digits[1:4]}-{digits[4:]}-{last}" if rng.random() < 0.6 else f"{digits}{last}"


def draw_url(rng: Random, year: int) -> str:
    """Return the address of a page."""
    phrases = Phrasebook.load("names", "en")
    site, folder, page = (
        re.sub(r"[^a-z]", "", phrases.draw(kind, rng).lower()) or "page" for kind in ("noun", "plural", "surname")
    )
    path = rng.choice(
        (
            *(
                "",
                "/",
                f"/{folder}",
                f"/{folder}/{page}",
                f"/~{page}/{folder}.pdf",
                f"/files/{folder}_{page}{year}.pdf",
            ),
            *(f"/{folder}/{year}/{page}.html", f"/{folder}/index.php?id={draw_number(rng, 1, 9999)}"),
            f"/{year}/{draw_number(rng, 1, 12)}/{folder}-{page}",
        )
    )
    return f"{rng.choice(STARTS)}{site}.{rng.choice(ENDINGS)}{path}"


def draw_report_number(rng: Random, letters: str, year: int) -> str:
    """Return the number of a report. letters (str): of an institute."""
    number, short = draw_number(rng, 1, 60), f"{year % 100:02d}"
    return rng.choice(
        (
            *(draw_number(rng, 1, 500), f"{letters}-{number}", f"{letters}-TR-{short}-{number}", f"TR{short}-{number}"),
            *(f"{letters}-{year}-{number}", f"{year}-{number}"),
        )
    )


def draw_eprint(rng: Random) -> str:
    """Return a number at arXiv, as they were before 2007 or as they are."""
    if rng.random() < 0.3:
        archive = rng.choice(("hep-th", "hep-ph", "astro-ph", "cond-mat", "quant-ph", "gr-qc", "math"))
        return f"{archive}/{rng.randint(9200, 9912)}{rng.randint(0, 999):03d}"
    return f"{rng.randint(7, 24):02d}{rng.randint(1, 12):02d}.{rng.randint(0, 99999):05d}"
