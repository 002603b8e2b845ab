"""Numbers of invented works: pages, identifiers and addresses."""

import re
from random import Random

from .phrases import Phrasebook

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
