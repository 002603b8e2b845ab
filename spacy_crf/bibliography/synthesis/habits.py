"""Habits of lists that are in no CSL style: another order, other words, other numbers."""

import re
from collections.abc import Callable, Sequence
from random import Random

from ...corpora.references import Field
from .imprints import draw_eprint, draw_number, in_roman
from .people import CULTURES
from .phrases import Phrasebook
from .printing import tidy

Fields = list[Field]
Change = Callable[[Fields, Random], Fields]

ENDS = (
    *("[CrossRef]", "[PubMed]", "PMID: {}.", "[Google Scholar]", "(in Russian)", "To appear.", "[in Chinese]"),
    *("Cited {} times.", "(Original work published 18{:.2})", "(Unpublished).", "Special issue."),
)
MEDIA = ("Web.", "Print.", "Web", "[Online].", "[en ligne].", "CD-ROM.", "[online]")
EPRINTS = (
    *("[arXiv:{}]", "arXiv:{}", "[arXiv:{} [hep-th]]", "arXiv:{} [math.AG]", "preprint arXiv:{}", "[{}]"),
    *("Preprint, arXiv: {}", "arXiv preprint arXiv:{}", "arXiv:{}v2 [cs.CL]", "arXiv e-prints, {}"),
)
PAGES = ("{} p.", "{} pp.", "{} pages", "{} p", "pp. {}", "{} S.", "({} pp.)", "{}p.", "{}pp", "xii, {} p.")
PAGE_WORDS = ("p. ", "p.", "pp. ", "pp.", "pp ", "pages ", "Pp. ", "p ", "S. ")
VOLUME_WORDS = (
    *("v. ", "v.", "Vol. ", "vol. ", "Volume ", "B", "A", "D", "n° ", "n°", "No. ", "no. ", "Bd. ", "t. ", "Nr. "),
    *("tome ", "Issue ", "", ""),
)
ISSUES = (
    *("{0}({1})", "{0} ({1})", "Vol. {0}, No. {1}", "vol. {0}, no. {1}", "{0}, no. {1}", "{0}/{1}", "vol. {0}, n° {1}"),
    *("Bd. {0}, H. {1}", "v. {0}, no. {1}", "{0}, issue {1}", "n°{1}", "vol.{0} no.{1}", "№ {1}", "Jg. {0} Nr. {1}"),
)
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November"),
    *("December", "Jan.", "Feb.", "Mar.", "Apr.", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.", "Spring", "Summer", "Fall"),
    *("Winter", "janvier", "février", "avril", "juin", "juillet", "septembre", "octobre", "décembre", "Januar", "März"),
    *("Oktober", "Dezember", "enero", "mayo", "agosto", "novembre", "dicembre", "maart", "abril", "maio"),
)
DATES = (
    *("{month} {year}", "{month}, {year}", "{day} {month} {year}", "{day} {month} {year}", "{month} {day}, {year}"),
    *("{month}-{other} {year}", "{month}/{other} {year}", "{year}, {month}"),
)
TRANSLATED = (
    *("Trans. {}.", "trans. by {},", "Translated by {}.", "(tr. {}),", "({}, Trans.).", "{} (trans.)", "trans. {},"),
    *("Traduction de {}.", "trad. {},", "trad. de {}.", "Übers. {},", "Tr. {}.", "vert. {},", "Aus dem Engl. von {}."),
)
EDITED = (
    *(
        "ed. {},",
        "Ed. {}.",
        "Eds. {}.",
        "edited by {},",
        "edited and translated by {}.",
        "({}, eds.),",
        "hrsg. von {},",
    ),
    *("Ed. by {}.", "edited by {},", "{} (ed.),", "a cura di {},", "éd. {},", "eds. {},", "sous la dir. de {},"),
)
WORKS = ("The Works", "Collected Works", "Œuvres", "Gesammelte Werke", "Opere")
SERIES = ("ser. ", "Series: ", "in ser. ", "coll. ", "(", "Collection ")
FILM = re.compile(r"picture|film|documentary|dvd|video", re.IGNORECASE)
DIRECTED = ("Dir. {}.", "Directed by {}.", "dir. {},", "Réal. {}.", "Regie: {}.", "({}, dir.).")
NUMBERED = ("Vol. {} ", "Volume {} ", "vol. {} ", "Bd. {} ", "Part {} ", "Vols. {} and 7 ")
ONLY_VOLUME = re.compile(r"^(?:[Vv]ol(?:ume)?\.? )?([1-3]?\d{1,2})(?!\d)")
VOLUME_AND_ISSUE = re.compile(r"^(?:[Vv]ol(?:ume)?\.? ?)?(\d+)[\s(,.:]+(?:[Nn]o\.? ?)?(\d+)\)?(?=\W*$)")
ONLY_PAGES = re.compile(r"^(?:pp?\.? ?|pages? )?(?=\d)")
ONLY_YEAR = re.compile(r"^([\W_]*)(\d{4})(?=[\W_]*$)")
SWAPPED = re.compile(r"([”’»])([.,])(?=\s*$)")
QUOTED = ("TITLE", "CONTAINER-TITLE")
TITLES = ("TITLE", "CONTAINER-TITLE", "COLLECTION-TITLE", "VOLUME")
IN = re.compile(r"\W*(?:in|dans)\b", re.IGNORECASE)
ROLE = re.compile(r"(?<=\w)[\s,]*[(\[]?\b(?:[Ee]ds?|[Ee]ditors?|Hrsg|Hg|dirs?)\b\.?[)\]]?(?=[,.:;\s]*$)")
ROLE_WORD = re.compile(
    r"\b(?:in|dans|trans|transl|translat(?:ed|ors?|ion)|trad|tradui[tr]e?|übers|übersetzt|vert|eds?|éds?|edited|editors?"
    r"|hrsg|hg|dirs?|by|par|por|von|a cura di)\b[.:]?",
    re.IGNORECASE,
)
FAMILY = re.compile(r"\b[^\W\d_a-zà-ÿ][^\W\d_]{2,}(?:-[^\W\d_]+)?")


def find(fields: Sequence[Field], label: str) -> int | None:
    """Return the place of the first field of a label."""
    return next((place for place, field in enumerate(fields) if field.label == label), None)


def put(fields: Fields, place: int, text: str) -> Fields:
    """Return fields of which one has another text."""
    return [*fields[:place], Field(fields[place].label, text), *fields[place + 1 :]]


def rewrite(fields: Fields, labels: Sequence[str], pattern: re.Pattern[str], text: str) -> Fields:
    """Return fields with what a pattern finds in those of some labels replaced."""
    return [Field(label, pattern.sub(text, old) if label in labels else old) for label, old in fields]


def append(fields: Fields, label: str, text: str) -> Fields:
    """Return fields with one more at the end."""
    return tidy([*fields, Field(fields[-1].label, " "), Field(label, text)])


def end_with(fields: Fields, rng: Random) -> Fields:
    """Put a remark at the end, or what the medium was."""
    kind = rng.random()
    if kind < 0.25:
        return append(fields, "GENRE", rng.choice(MEDIA))
    if kind < 0.5:
        return append(fields, "NOTE", f"{Phrasebook.load('names', 'en').draw('note', rng)}.")
    return append(fields, "NOTE", rng.choice(ENDS).format(str(rng.randint(10, 9_999_999))))


def begin_with_genre(fields: Fields, rng: Random) -> Fields:
    """Put the number of a report or standard first, where no author is."""
    place = find(fields, "GENRE")
    if place is None or fields[0].label != "TITLE":
        return fields
    return tidy([Field("GENRE", f"{fields[place].text.strip()} "), *fields[:place], *fields[place + 1 :]])


def add_eprint(fields: Fields, rng: Random) -> Fields:
    """Put a number at arXiv at the end."""
    return append(fields, "NOTE", rng.choice(EPRINTS).format(draw_eprint(rng)))


def count_pages(fields: Fields, rng: Random) -> Fields:
    """Put the number of pages of a book at the end."""
    labels = {field.label for field in fields}
    if "PUBLISHER" not in labels or labels & {"PAGES", "CONTAINER-TITLE"}:
        return fields
    return append(fields, "PAGES", rng.choice(PAGES).format(rng.randint(40, 900)))


def quote_as_americans(fields: Fields, rng: Random) -> Fields:
    """Put commas and full stops before the quotation mark that closes a title."""
    return rewrite(fields, QUOTED, SWAPPED, r"\2\1")


def name_volumes(fields: Fields, rng: Random) -> Fields:
    """Put a word or a letter before the number of a volume, or print it in Roman numerals."""
    word = rng.choice(VOLUME_WORDS)
    is_roman = rng.random() < 0.3

    def change(found: re.Match[str]) -> str:
        number = in_roman(int(found[1])) if is_roman else found[1]
        return f"{word}{number}"

    return [Field(label, ONLY_VOLUME.sub(change, text) if label == "VOLUME" else text) for label, text in fields]


def write_issues(fields: Fields, rng: Random) -> Fields:
    """Print the numbers of volume and issue together in another way."""
    form = rng.choice(ISSUES)
    return [
        Field(label, VOLUME_AND_ISSUE.sub(lambda found: form.format(found[1], found[2]), text))
        if label == "VOLUME"
        else Field(label, text)
        for label, text in fields
    ]


def write_pages(fields: Fields, rng: Random) -> Fields:
    """Print another word for pages, or none."""
    return rewrite(fields, ("PAGES",), ONLY_PAGES, rng.choice(PAGE_WORDS))


def write_months(fields: Fields, rng: Random) -> Fields:
    """Print month or season, and day, in the date of what comes out often."""
    if not {"JOURNAL", "CONTAINER-TITLE", "GENRE"} & {field.label for field in fields}:
        return fields
    date = rng.choice(DATES).format(
        month=rng.choice(MONTHS), other=rng.choice(MONTHS), day=rng.randint(1, 30), year=r"\g<2>"
    )
    return rewrite(fields, ("DATE",), ONLY_YEAR, rf"\g<1>{date}")


def write_roles(fields: Fields, rng: Random) -> Fields:
    """Print what says that names are those of translators, or of editors behind a title, in other words."""
    changed = list(fields)
    for place, (label, text) in enumerate(fields):
        is_behind = label == "EDITOR" and place > 1 and not IN.match(text) and fields[place - 1].label in TITLES
        forms = TRANSLATED if label == "TRANSLATOR" else EDITED if is_behind else ()
        names = ROLE_WORD.sub("", text).strip(" .,:;()[]")
        if forms and names:
            changed[place] = Field(label, f"{rng.choice(forms).format(names)} ")
    return changed


def lose_roles(fields: Fields, rng: Random) -> Fields:
    """Leave out what says that names are those of editors, where "in" is before them."""
    return [
        Field(label, ROLE.sub("", text) if label == "EDITOR" and IN.match(text) else text) for label, text in fields
    ]


def refer_to_editors(fields: Fields, rng: Random) -> Fields:
    """Name a book, which is in the list itself, by the family names of its editors."""
    place = find(fields, "EDITOR")
    names = FAMILY.findall(ROLE_WORD.sub("", fields[place].text)) if place else ()
    if not place or not names or find(fields, "CONTAINER-TITLE") is None:
        return fields
    text = f"{names[0]} et al." if len(names) > 2 else rng.choice((" and ", " & ")).join(names)
    kept = [field for field in fields[place + 1 :] if field.label in ("DATE", "PAGES")]
    return [*fields[:place], Field("EDITOR", f"{rng.choice(('In', 'in', 'In:'))} {text}, "), *kept]


def add_topic(fields: Fields, rng: Random) -> Fields:
    """Name the topic of a special issue behind its journal."""
    place = find(fields, "JOURNAL")
    if place is None:
        return fields
    topic = f"{rng.choice(('Special Issue on', 'special issue on', 'Special issue:'))} {_draw('Np', rng)}, "
    return [*fields[: place + 1], Field("NOTE", topic), *fields[place + 1 :]]


def add_work(fields: Fields, rng: Random) -> Fields:
    """Print a book as a volume of collected works."""
    place = find(fields, "TITLE")
    labels = {field.label for field in fields}
    if place is None or "PUBLISHER" not in labels or labels & {"CONTAINER-TITLE", "VOLUME", "EDITION"}:
        return fields
    volume, works = rng.choice(NUMBERED).format(draw_number(rng, 1, 12)), _draw("Book", rng)
    if rng.random() < 0.4:
        works = f"{rng.choice(WORKS)} of {_draw(rng.choice(list(CULTURES)), rng)}"
    added = [Field("VOLUME", volume), Field("CONTAINER-TITLE", f"{rng.choice(('of', 'of', 'in'))} {works}. ")]
    return [*fields[: place + 1], *(added if rng.random() < 0.6 else added[:1]), *fields[place + 1 :]]


def name_series(fields: Fields, rng: Random) -> Fields:
    """Put a word or a bracket before a series."""
    word = rng.choice(SERIES)
    return [Field(label, f"{word}{text}" if label == "COLLECTION-TITLE" else text) for label, text in fields]


def cite_abstract(fields: Fields, rng: Random) -> Fields:
    """Print where the abstract of a thesis is instead of where the thesis is."""
    if find(fields, "INSTITUTION") is None or find(fields, "GENRE") is None:
        return fields
    kept = [field for field in fields if field.label in ("CITATION-NUMBER", "AUTHOR", "DATE", "TITLE")]
    section = rng.choice((f"Section {rng.choice('AB')}", f"Section {rng.choice('AB')}: {_draw('Field', rng)}"))
    number = f"{rng.randint(30, 78)}({rng.randint(1, 12)}-{rng.choice('AB')}), {rng.randint(100, 5999)}."
    return [*kept, Field("NOTE", f"Dissertation Abstracts International: {section}, {number}")] if kept else fields


def name_director(fields: Fields, rng: Random) -> Fields:
    """Begin with the title of a film, and name the one who made it behind."""
    author, title, genre = (find(fields, label) for label in ("AUTHOR", "TITLE", "GENRE"))
    if author is None or title is None or genre is None or author > title or not FILM.search(fields[genre].text):
        return fields
    names = rng.choice(DIRECTED).format(fields[author].text.strip(" .,:;"))
    rest = [field for place, field in enumerate(fields) if place not in (author, title)]
    return [fields[title], Field("AUTHOR", f"{names} "), *rest]


def _draw(symbol: str, rng: Random) -> str:
    return " ".join(Phrasebook.load("names", "en").draw(symbol, rng).split())


HABITS: dict[Change, float] = {
    begin_with_genre: 0.4,
    name_director: 0.6,
    refer_to_editors: 0.04,
    cite_abstract: 0.06,
    write_roles: 0.25,
    lose_roles: 0.06,
    write_issues: 0.08,
    name_volumes: 0.1,
    write_pages: 0.06,
    write_months: 0.05,
    add_topic: 0.02,
    add_work: 0.02,
    name_series: 0.3,
    count_pages: 0.06,
    quote_as_americans: 0.5,
    add_eprint: 0.02,
    end_with: 0.05,
}
