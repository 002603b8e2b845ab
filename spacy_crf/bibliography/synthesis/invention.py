"""Invented entries as CSL-JSON: works of all kinds in several languages, by names of many cultures."""

from collections.abc import Callable, Iterator
from random import Random

from .inventor import (
    Inventor,
    Item,
    draw_doi,
    draw_eprint,
    draw_isbn,
    draw_old_isbn,
    draw_pages,
    draw_report_number,
    draw_url,
)
from .phrases import capitalise

# Chances of kinds of works, as weights
KINDS = {
    **{"article-journal": 42, "paper-conference": 15, "book": 20, "chapter": 13, "report": 5, "thesis": 5},
    **{"webpage": 3.5, "article": 2, "article-magazine": 2, "article-newspaper": 2, "manuscript": 0.8},
    **{"dataset": 0.6, "standard": 0.6, "patent": 0.4, "entry-encyclopedia": 1, "motion_picture": 0.4},
}
ARCHIVE = ("arXiv:", "arXiv preprint arXiv:", "CoRR abs/", "e-print arXiv:", "")
# Chances of a month in the date, and of a day beside it
DAILY = {"webpage": (0.9, 0.5), "article-newspaper": (0.95, 0.9), "article-magazine": (0.8, 0.6)}
EDITIONS = (
    *("Rev. ed.", "revised edition", "New ed.", "1st American ed.", "2nd edition", "second edition"),
    *("3. Aufl.", "2e éd.", "2ª ed."),
)
KEPT = ("id", "type", "language")
Maker = Callable[[Inventor], Item]


def invent_items(count: int, rng: Random, language: str | None = None) -> Iterator[Item]:
    """Yield invented works as items of CSL-JSON. language (str | None): of all; None for many.

    Authors and editors, titles and numbers are invented; names of well-known journals, publishers and places occur.
    Identifiers are of the right form, and those of nothing; that of many DOIs is the prefix of tests, 10.5555.
    """
    for number in range(count):
        yield _invent(Inventor(rng, language), f"invented{number}")


def _invent(own: Inventor, name: str) -> Item:
    kind = own.draw(KINDS)
    item = {"id": name, "type": kind, "language": own.language, **MAKERS.get(kind, web)(own)}
    item["issued"] = own.date(*(DAILY.get(kind, (0.15,))))
    if own.chance(0.03):
        item["note"] = own.phrase("note")
    if own.chance(0.04):
        item.pop("author", None)
    if kind == "article-journal" and own.chance(0.09):
        item.pop("title", None)
        if own.chance(0.2):
            item.pop("author", None)
    item = {name: value for name, value in item.items() if value}
    return {field: value for field, value in item.items() if field in KEPT or not own.chance(0.04)}


def article(own: Inventor) -> Item:
    has_issue = own.chance(0.5)
    return {
        "author": own.authors(),
        "title": own.title(),
        "container-title": own.journal(),
        "volume": own.number(1, 900 if own.chance(0.15) else 120) if own.chance(0.95) else "",
        "issue": (own.number(1, 12) if own.chance(0.9) else f"{own.number(1, 5)}-{own.number(6, 9)}")
        if has_issue
        else "",
        "page": draw_pages(own.rng) if own.chance(0.94) else "",
        "DOI": draw_doi(own.rng, own.year) if own.chance(0.14) else "",
        "URL": draw_url(own.rng, own.year) if own.chance(0.02) else "",
        "PMID": str(own.rng.randint(1000000, 30000000)) if own.chance(0.02) else "",
    }


def magazine(own: Inventor) -> Item:
    return {
        "author": own.authors(2) if own.chance(0.8) else "",
        "title": own.title(),
        "container-title": own.phrase("magazine"),
        "page": own.number(1, 90) if own.chance(0.4) else "",
        "URL": draw_url(own.rng, own.year) if own.chance(0.4) else "",
    }


def book(own: Inventor) -> Item:
    edited = own.chance(0.27)
    return {
        "editor" if edited else "author": own.authors(3),
        "title": own.title(),
        # a number, or a text that styles print as it is
        "edition": (own.number(2, 9) if own.chance(0.75) else own.rng.choice(EDITIONS)) if own.chance(0.15) else "",
        "translator": own.people(2) if own.chance(0.25) else "",
        "volume": own.number(1, 6) if own.chance(0.06) else "",
        "number-of-pages": own.number(60, 900) if own.chance(0.06) else "",
        **_series(own, 0.08),
        **own.printing(),
        "ISBN": (draw_isbn if own.chance(0.5) else draw_old_isbn)(own.rng) if own.chance(0.12) else "",
    }


def _series(own: Inventor, share: float) -> Item:
    if not own.chance(share):
        return {}
    return {
        "collection-title": own.phrase("series"),
        "collection-number": own.number(1, 300) if own.chance(0.6) else "",
    }


def chapter(own: Inventor) -> Item:
    return {
        "author": own.authors(4),
        "title": own.title(),
        "editor": own.people(4) if own.chance(0.85) else "",
        "container-title": capitalise(" ".join(own.phrase("book").split())),
        "page": draw_pages(own.rng) if own.chance(0.85) else "",
        "edition": own.number(2, 4) if own.chance(0.03) else "",
        "translator": own.people(2) if own.chance(0.06) else "",
        "volume": own.number(1, 6) if own.chance(0.1) else "",
        **_series(own, 0.08),
        **own.printing(),
    }


def paper(own: Inventor) -> Item:
    has_place = own.chance(0.45)
    return {
        "author": own.authors(5),
        "title": own.title(),
        "editor": own.people(3) if own.chance(0.1) else "",
        "container-title": capitalise(own.phrase("proceedings")),
        "page": draw_pages(own.rng) if own.chance(0.75) else "",
        "volume": own.number(1, 400) if own.chance(0.08) else "",
        **_series(own, 0.1),
        "publisher": own.some("publisher") if own.chance(0.35) else "",
        "publisher-place": own.phrase("venue") if has_place else "",
        "event-place": own.phrase("venue") if has_place and own.chance(0.5) else "",
        "DOI": draw_doi(own.rng, own.year) if own.chance(0.06) else "",
    }


def report(own: Inventor) -> Item:
    return {
        "author": own.authors(4) if own.chance(0.85) else [{"literal": own.phrase("corporate")}],
        "title": own.title(),
        "genre": own.phrase("report") if own.chance(0.9) else "",
        "number": draw_report_number(own.rng, own.phrase("Acr"), own.year) if own.chance(0.7) else "",
        "publisher": own.phrase("institute"),
        "publisher-place": own.phrase("city") if own.chance(0.4) else "",
        "URL": draw_url(own.rng, own.year) if own.chance(0.12) else "",
    }


def thesis(own: Inventor) -> Item:
    return {
        "author": own.people(1),
        "title": own.title(),
        "genre": own.phrase("phd" if own.chance(0.7) else "master"),
        "publisher": own.phrase("school"),
        "publisher-place": own.phrase("venue") if own.chance(0.35) else "",
        "URL": draw_url(own.rng, own.year) if own.chance(0.05) else "",
    }


def web(own: Inventor) -> Item:
    return {
        "author": own.authors(3) if own.chance(0.7) else [{"literal": own.phrase("corporate")}],
        "title": own.title(),
        "container-title": capitalise(own.some("np")) if own.chance(0.4) else "",
        "URL": draw_url(own.rng, own.year),
        "accessed": own.accessed() if own.chance(0.6) else "",
    }


def preprint(own: Inventor) -> Item:
    return {
        "author": own.authors(),
        "title": own.title(),
        "note": own.rng.choice(ARCHIVE) + draw_eprint(own.rng),
    }


def manuscript(own: Inventor) -> Item:
    return {"author": own.people(3), "title": own.title(), "note": own.phrase("note"), "genre": ""}


def standard(own: Inventor) -> Item:
    body = own.rng.choice(("ISO", "IEEE Std", "ANSI", "DIN", "EN", "RFC", "ASTM"))
    return {
        "author": [{"literal": own.some("corporate")}] if own.chance(0.5) else "",
        "title": own.title(),
        "genre": "Standard" if own.chance(0.3) else "",
        "number": f"{body} {own.number(100, 30000)}",
        "publisher": own.some("institute") if own.chance(0.5) else "",
    }


def patent(own: Inventor) -> Item:
    return {
        "author": own.people(4),
        "title": own.title(),
        "genre": "U.S. Patent",
        "number": f"{own.rng.randint(1, 9)},{own.rng.randint(100, 999)},{own.rng.randint(100, 999)}",
    }


def entry(own: Inventor) -> Item:
    return {**chapter(own), "edition": own.number(2, 15) if own.chance(0.2) else ""}


def film(own: Inventor) -> Item:
    return {
        "author": own.people(2),
        "title": own.title(),
        "genre": own.rng.choice(("Motion picture", "Film", "Documentary")),
        **own.printing(),
    }


def dataset(own: Inventor) -> Item:
    return {
        "author": own.authors(4),
        "title": own.title(),
        "publisher": own.some("institute"),
        "genre": own.rng.choice(("Data set", "Dataset", "")),
        "DOI": draw_doi(own.rng, own.year) if own.chance(0.6) else "",
        "URL": draw_url(own.rng, own.year) if own.chance(0.4) else "",
    }


MAKERS: dict[str, Maker] = {
    "article-journal": article,
    "article-magazine": magazine,
    "article-newspaper": magazine,
    "article": preprint,
    "book": book,
    "chapter": chapter,
    "dataset": dataset,
    "entry-encyclopedia": entry,
    "manuscript": manuscript,
    "motion_picture": film,
    "paper-conference": paper,
    "patent": patent,
    "report": report,
    "standard": standard,
    "thesis": thesis,
}
