"""Names of people of many cultures, as CSL-JSON has them."""

import re
from random import Random

from .phrases import Phrasebook

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
