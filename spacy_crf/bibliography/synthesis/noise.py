"""What real lists of references do to what a style prints: numbers, dashes for authors, and the harm of PDF and OCR."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from random import Random

from ...core.grammar.numerals import roman_numeral
from ...corpora.references import Field
from .inventor import draw_doi, draw_eprint, draw_isbn, draw_old_isbn, draw_url
from .printing import tidy

Fields = list[Field]
Change = Callable[[Fields, Random], Fields]

NUMBER = "CITATION-NUMBER"
WITHOUT_NUMBER = 0.65  # of the styles that print numbers
REPEATED = ("———.", "—.", "---.", "——", "_____.", "--- ", "– –,", "______,", "Idem,", "Id.,", "———,")
NUMBERS = ("{}.", "[{}]", "({})", "{}", "{})", "[{}]", "{}.")
KEYS = "ABCDFGHKLMPRSTW"
OTHERS = (" et al.", ", et al.", " et al,", " and others", " et al.,", " u. a.", ", et. al.")
AVAILABLE = (
    *("Retrieved from", "Available at", "Available at:", "Available from:", "Available online:", "URL:", "See"),
    *("Disponible en:", "Disponible sur:", "[Online]. Available:", "Online:", "Verfügbar unter:", "Disponível em:"),
    "Available:",
)
ACCESSED = (
    *("Accessed", "accessed", "Accessed on", "Retrieved", "retrieved", "last accessed", "Last visited", "Accessed:"),
)
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November"),
    *("December", "Jan.", "Feb.", "Mar", "Apr", "Aug.", "Sept.", "Oct", "Nov", "Dec."),
)
ENDS = (
    *("[CrossRef]", "[PubMed]", "PMID: {}.", "[Google Scholar]", "(in Russian)", "To appear.", "[in Chinese]"),
    *("Cited {} times.", "Print.", "Web.", "(Original work published 18{:.2})", "(Unpublished).", "Special issue."),
)
EPRINTS = ("[arXiv:{}]", "arXiv:{}", "[arXiv:{} [hep-th]]", "arXiv:{} [math.AG]", "preprint arXiv:{}", "[{}]")
ADDRESSES = ("URL", "DOI", "ISBN", "ACCESSED")
PAGES = ("{} p.", "{} pp.", "{} pages", "{} p", "pp. {}", "{} S.", "({} pp.)")
WRONG = {
    **{"rn": "m", "m": "rn", "l": "1", "I": "l", "1": "l", "O": "0", "0": "O", "e": "c", "c": "e", "h": "b", "S": "5"},
    **{"5": "S", "cl": "d", "u": "n", "n": "u", "fi": "h", "ll": "U", "ti": "fi", "vv": "w", "ö": "o", "ä": "a"},
}
LIGATURES = {"ffi": "ﬃ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
LIGATURE = re.compile("ffi|ff|fi|fl")
LOST = ("", " ", "↵", "¤")  # what comes of a ligature that was not understood
ACCENTS = {"\u0301": "´", "\u0300": "`", "\u0308": "¨", "\u0302": "ˆ", "\u0303": "˜", "\u030c": "ˇ", "\u0327": "¸"}
LONG_WORD = re.compile(r"[^\W\d_]{7,}")
MARK = re.compile(r"(?<=\w)([.,;:)]) ")
MARK_AT_END = re.compile(r"\s[.,;:)]$")  # behind a space, as `shift_marks` leaves it
SMALL_GAP = re.compile(r"(?<=[a-z]) (?=[a-z])")
QUOTED = ("TITLE", "CONTAINER-TITLE")
SWAPPED = re.compile(r"([”’»])([.,])(?=\s*$)")
QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'"})
LATEX_QUOTES = str.maketrans({"“": "``", "”": "''", "’": "'"})
ONLY_VOLUME = re.compile(r"^(?:[Vv]ol(?:ume)?\.? )?([1-3]?\d{1,2})(?!\d)")
VOLUME_WORDS = ("v. ", "v.", "Vol. ", "vol. ", "Volume ", "B", "A", "D", "n° ", "No. ", "no. ", "Bd. ", "", "")
IN = re.compile(r"\W*(?:in|dans)\b", re.IGNORECASE)
ROLE = re.compile(r"(?<=\w)[\s,]*[(\[]?\b(?:[Ee]ds?|[Ee]ditors?|Hrsg|Hg|dirs?)\b\.?[)\]]?(?=[,.:;\s]*$)")
FIGURES = re.compile(r"\d+")
MOST_NAMES = 4


def spoil(fields: Fields, rng: Random, share: float = 1.0) -> Fields:
    """Return a reference with what is wrong or odd in some of real ones. share (float): of how much is done, 0 to 1."""
    if fields[0].label == NUMBER:
        fields = renumber(fields, rng)
    for change, chance in CHANGES.items():
        if fields and rng.random() < chance * share:
            fields = change(fields, rng)
    return [field for field in fields if field.text]


def renumber(fields: Fields, rng: Random) -> Fields:
    """Leave out the number that a style prints, or print another one: each entry is the first one of its list."""
    if rng.random() < WITHOUT_NUMBER and len(fields) > 1:
        return fields[1:]
    return [Field(NUMBER, FIGURES.sub(_draw_number(rng), fields[0].text).rstrip() + " "), *fields[1:]]


def number(fields: Fields, rng: Random) -> Fields:
    """Put a number or key before a reference that has none."""
    if fields[0].label == NUMBER:
        return fields
    key = "".join(rng.choice(KEYS) for _ in range(rng.randint(2, 4))) if rng.random() < 0.1 else ""
    printed = rng.choice(NUMBERS).format(key + _draw_number(rng))
    return [Field(NUMBER, f"{printed} "), *fields]


def _draw_number(rng: Random) -> str:
    return str(rng.randint(1, 9) if rng.random() < 0.3 else rng.randint(1, 160))


def repeat(fields: Fields, rng: Random) -> Fields:
    """Put a dash in the place of authors."""
    place = _find(fields, "AUTHOR")
    return fields if place is None else _put(fields, place, f"{rng.choice(REPEATED)} ")


def abridge(fields: Fields, rng: Random) -> Fields:
    """Leave out authors behind the first ones, with "et al."."""
    place = _find(fields, "AUTHOR")
    if place is None:
        return fields
    text = fields[place].text
    commas = [found.start() for found in re.finditer(",", text)]
    if len(commas) < 2:
        return fields
    end = re.search(r"[\s.,:;]*$", text)
    kept = text[: rng.choice(commas[1 : 1 + MOST_NAMES])].rstrip(" &")
    return _put(fields, place, kept + rng.choice(OTHERS) + (end[0] if end else "").replace(".", ""))


def raise_names(fields: Fields, rng: Random) -> Fields:
    """Put names into capitals, or the first word of them."""
    if rng.random() < 0.4:
        return _change(fields, lambda text: re.sub(r"^\w+", lambda found: found[0].upper(), text), "AUTHOR")
    return _change(fields, str.upper, "AUTHOR", "EDITOR")


def end_with(fields: Fields, rng: Random) -> Fields:
    """Put a remark at the end."""
    return _append(fields, "NOTE", rng.choice(ENDS).format(str(rng.randint(10, 9_999_999))))


def begin_with_genre(fields: Fields, rng: Random) -> Fields:
    """Put the number of a report or standard first, where no author is."""
    place = _find(fields, "GENRE")
    if place is None or fields[0].label != "TITLE":
        return fields
    return tidy([Field("GENRE", f"{fields[place].text.strip()} "), *fields[:place], *fields[place + 1 :]])


def add_eprint(fields: Fields, rng: Random) -> Fields:
    """Put a number at arXiv at the end."""
    return _append(fields, "NOTE", rng.choice(EPRINTS).format(draw_eprint(rng)))


def count_pages(fields: Fields, rng: Random) -> Fields:
    """Put the number of pages of a book at the end."""
    labels = {field.label for field in fields}
    if "PUBLISHER" not in labels or labels & {"PAGES", "CONTAINER-TITLE"}:
        return fields
    return _append(fields, "PAGES", rng.choice(PAGES).format(rng.randint(40, 900)))


def quote_as_americans(fields: Fields, rng: Random) -> Fields:
    """Put commas and full stops before the quotation mark that closes a title."""
    return _change(fields, lambda text: SWAPPED.sub(r"\2\1", text), *QUOTED)


def add_address(fields: Fields, rng: Random) -> Fields:
    """Put an address, an identifier or a date of access at the end of a reference that has none."""
    if any(field.label in ADDRESSES for field in fields):
        return fields
    year = rng.randint(1998, 2025)
    day = f"{rng.randint(1, 28)} {rng.choice(MONTHS)} {year}"
    british = rng.random() < 0.5
    accessed = f"{rng.choice(ACCESSED)} {day if british else f'{day.split()[1]} {day.split()[0]}, {day.split()[2]}'}"
    choices: list[list[tuple[str, str]]] = [
        [("NOTE", f"{rng.choice(AVAILABLE)} "), ("URL", draw_url(rng, year))],
        [("URL", f"<{draw_url(rng, year)}>")],
        [("URL", draw_url(rng, year)), ("ACCESSED", f" ({accessed}).")],
        [("ACCESSED", f"{accessed}, "), ("NOTE", "from "), ("URL", draw_url(rng, year))],
        [("ACCESSED", f"{accessed}.")],
        [("DOI", f"{rng.choice(('doi: ', 'doi:', 'DOI ', 'DOI: ', 'doi ', ''))}{draw_doi(rng, year)}")],
        [("URL", f"https://doi.org/{draw_doi(rng, year)}")],
        [("ISBN", f"{rng.choice(('ISBN ', 'ISBN: ', 'ISBN-10: '))}{draw_isbn(rng)}.")],
        [("ISBN", f"{rng.choice(('ISBN ', 'ISBN: ', 'ISBN-10: '))}{draw_old_isbn(rng)}")],
    ]
    return [*fields[:-1], Field(fields[-1].label, f"{fields[-1].text} "), *(Field(*one) for one in rng.choice(choices))]


def join_years(fields: Fields, rng: Random) -> Fields:
    """Take away the spaces behind a date, as in `2014;6(1):12-19`, and within it, as in `Jun2017`."""
    joined = _change(fields, lambda text: re.sub(r"(?<=[a-z.]) (?=\d{4})", "", text), "DATE")
    return _change(joined, str.rstrip, "DATE", "VOLUME")


def name_volumes(fields: Fields, rng: Random) -> Fields:
    """Put a word or a letter before the number of a volume, or print it in Roman numerals."""
    word = rng.choice(VOLUME_WORDS)
    is_roman = rng.random() < 0.3

    def named(found: re.Match[str]) -> str:
        number = roman_numeral(int(found[1])) if is_roman else found[1]
        return f"{word}{number}"

    return _change(fields, lambda text: ONLY_VOLUME.sub(named, text), "VOLUME")


def lose_roles(fields: Fields, rng: Random) -> Fields:
    """Leave out what says that names are those of editors, where "in" is before them."""
    return _change(fields, lambda text: ROLE.sub("", text) if IN.match(text) else text, "EDITOR")


def plain_quotes(fields: Fields, rng: Random) -> Fields:
    """Print quotation marks as typewriters or LaTeX do."""
    table = rng.choice((QUOTES, QUOTES, LATEX_QUOTES))
    return _change(fields, lambda text: text.translate(table))


def plain_dashes(fields: Fields, rng: Random) -> Fields:
    """Print dashes of ranges in other ways."""
    dash = rng.choice(("-", "-", "-", "--", "—", " - ", "– ", "- ", "−", "e", "_"))
    return _change(fields, lambda text: text.replace("–", dash), "PAGES", "DATE", "VOLUME")


def lose_accents(fields: Fields, rng: Random) -> Fields:
    """Print letters without accents, or the accents beside them."""
    is_lost = rng.random() < 0.6
    return _change(fields, lambda text: "".join(_split_letter(char, is_lost) for char in text))


def _split_letter(char: str, is_lost: bool) -> str:
    if not char.isalpha() or ord(char) > 0x24F:
        return char
    parts = unicodedata.normalize("NFD", char)
    return char if len(parts) == 1 else f"{'' if is_lost else ACCENTS.get(parts[1], '')}{parts[0]}"


def break_lines(fields: Fields, rng: Random) -> Fields:
    """Break some words as at line ends, of which the hyphen stays, with a space or without."""
    joint = rng.choice(("-", "- ", "- ", "\u00ad", " "))

    def broken(found: re.Match[str]) -> str:
        if rng.random() > 0.08:
            return found[0]
        place = rng.randint(2, len(found[0]) - 3)
        return f"{found[0][:place]}{joint}{found[0][place:]}"

    return _change(fields, lambda text: LONG_WORD.sub(broken, text))


def set_ligatures(fields: Fields, rng: Random) -> Fields:
    """Print ligatures as one character, or lose them."""
    lost = rng.choice(LOST) if rng.random() < 0.4 else None
    return _change(fields, lambda text: LIGATURE.sub(lambda found: LIGATURES[found[0]] if lost is None else lost, text))


def misread(fields: Fields, rng: Random) -> Fields:
    """Confuse characters, as OCR does."""
    share = rng.choice((0.005, 0.01, 0.03))

    def change(text: str) -> str:
        for right, wrong in WRONG.items():
            if right in text and rng.random() < share * text.count(right) * 3:
                text = text.replace(right, wrong, 1)
        return text

    return _change(fields, change)


def lose_spaces(fields: Fields, rng: Random) -> Fields:
    """Take spaces away behind marks, and some between words."""
    share = rng.choice((0.1, 0.3, 0.9))

    def change(text: str) -> str:
        text = re.sub(r"(?<=[.,;:)]) ", lambda found: "" if rng.random() < share else " ", text)
        return SMALL_GAP.sub(lambda found: "" if rng.random() < share * 0.1 else " ", text)

    return _change(fields, change)


def shift_marks(fields: Fields, rng: Random) -> Fields:
    """Put marks behind the space, where the next word is, whose field they are in then: `Phys .Rev .B`."""
    share = rng.choice((0.3, 0.8, 1.0))

    def shifted(text: str) -> str:
        return MARK.sub(lambda found: f" {found[1]}" if rng.random() < share else found[0], text)

    pieces = [shifted(text) for _, text in fields]
    for place, piece in enumerate(pieces[:-1]):
        if MARK_AT_END.search(piece):
            pieces[place], pieces[place + 1] = piece[:-1], piece[-1] + pieces[place + 1]
    return [Field(field.label, piece) for field, piece in zip(fields, pieces)]


def spread_marks(fields: Fields, rng: Random) -> Fields:
    """Put spaces before marks."""
    share = rng.choice((0.2, 0.6))

    def spread(_: re.Match[str]) -> str:
        return " " if rng.random() < share else ""

    return _change(fields, lambda text: re.sub(r"(?<=\w)(?=[.,;:)])", spread, text))


def lose_end(fields: Fields, rng: Random) -> Fields:
    """Leave out the mark at the end."""
    return [*fields[:-1], Field(fields[-1].label, fields[-1].text.rstrip(" .,;"))]


def _change(fields: Fields, change: Callable[[str], str], *labels: str) -> Fields:
    """Change the texts of fields with some labels; of all without any."""
    return [Field(label, change(text) if not labels or label in labels else text) for label, text in fields]


def _append(fields: Fields, label: str, text: str) -> Fields:
    return tidy([*fields, Field(fields[-1].label, " "), Field(label, text)])


def _find(fields: Sequence[Field], label: str) -> int | None:
    return next((place for place, field in enumerate(fields) if field.label == label), None)


def _put(fields: Fields, place: int, text: str) -> Fields:
    return [*fields[:place], Field(fields[place].label, text), *fields[place + 1 :]]


CHANGES: dict[Change, float] = {
    abridge: 0.06,
    repeat: 0.02,
    raise_names: 0.03,
    end_with: 0.04,
    begin_with_genre: 0.4,
    add_eprint: 0.03,
    count_pages: 0.06,
    add_address: 0.07,
    number: 0.08,
    quote_as_americans: 0.5,
    plain_quotes: 0.4,
    plain_dashes: 0.55,
    lose_accents: 0.25,
    set_ligatures: 0.04,
    break_lines: 0.12,
    misread: 0.06,
    join_years: 0.05,
    name_volumes: 0.08,
    lose_roles: 0.06,
    lose_spaces: 0.06,
    shift_marks: 0.05,
    spread_marks: 0.02,
    lose_end: 0.25,
}
