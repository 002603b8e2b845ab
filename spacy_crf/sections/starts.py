"""The start of an element: the forms of numberings, list marks and quotation marks."""

import re
from collections.abc import Iterable, Set
from string import ascii_lowercase
from unicodedata import normalize

from ..core.grammar.numbering import ALONE, INVISIBLE, Reading, plain, readings
from ..core.grammar.numerals import (
    ARABIC,
    CAPITALS,
    COUNTED_FIRST,
    COUNTERS,
    IDEOGRAPH_SIGNS,
    INSERTED,
    KEYWORDS,
    NUMBER_WORDS,
    ORDINALS,
    OTHER_LETTERS,
    OUTER,
    PICTURES,
    SPOKEN,
    STAGE,
)

RULE = re.compile(r"([=\-~^\"'#*+.])\1{2,}")  # a line below a title
CLOSING = r"[.:)\]°ºª]"
ROMAN = r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"  # above 399 stand words and units: di, cm, mix
LETTER = rf"[a-z{OTHER_LETTERS}]"
TWICE = "|".join(2 * letter for letter in ascii_lowercase)  # aa, bb
BIS = rf"[ -]?(?:{'|'.join(INSERTED)})\b(?!\s+\d)"  # not "§§ 5 bis 7"
PART = rf"(?:\d{{1,4}}|{ROMAN}|{LETTER})"
MONTH = (
    r"(?:jan|feb|mrt|mar|apr|jun|jul|aug|sep|sept|okt|oct|nov|dec|dez|januari|februari|maart|april|mei|juni|juli|"
    r"augustus|september|oktober|november|december|january|february|march|may|june|july|august|october|januar|februar|"
    r"märz|mai|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre)\b"
)
END = r"(?=\s|$)"
LONGEST_SHORT = 4  # characters of abbreviations, such as "Anl."
CODE = r"[LRD]\.?[ \u00a0]?\d{1,4}"  # of French codes: Article L. 121-1
WORDS = [  # "TOP 1 Finanzen", not "Top 10 ports"
    " ".join(rf"(?-i:{own})" if own.isupper() else own for own in CAPITALS.get(form, form).split())
    for form, word in KEYWORDS.items()
    if word not in STAGE
]
LIKE_TEXT = [word for word in WORDS if word.startswith(("zu ", "resolution", "résolution"))]  # sentences begin so too
CALLED = r"(?:(?<=\s)(?:n(?:\.?[°º]|\.)|no\.?|nr\.?|[№#])\s{0,2}(?=\d))?"  # "Annexe n° 2", "Exhibit No. 2"
NUMBER = (
    rf"[ \t\u00a0]*{CALLED}"
    rf"(?<=[\s.§¶°º№#])(?:\d{{1,4}}(?:{BIS}|er|[eè]?re|[eè]me|[a-z])?|I(?:er|[eè]re)|(?:(?<=article\s)|(?<=art\.\s)){CODE}"
    rf"|{ROMAN}[a-z]?|(?:{TWICE})(?!\w)|[a-z]|(?<=\s)(?:{'|'.join(NUMBER_WORDS)}))"
    rf"(?:[.:-](?:\d{{1,4}}(?:{BIS}|[a-z])?|{ROMAN}|{LETTER}))*(?:\([a-z\d]{{1,4}}\))*"
)
CLOSED_OFF = rf"{CLOSING}{{1,2}}(?=\s|$|[-–—])"  # a number with a sign of its own behind it
KEYWORD = re.compile(  # "Part No. 5" is what a shop sells
    rf"(?!part\s+(?:no\b|nr\b|[№#]))"
    rf"(?:(?:{'|'.join(word for word in WORDS if word not in LIKE_TEXT)})\.?|[§¶]{{1,2}})"
    rf"{NUMBER}(?:{CLOSED_OFF}|{END}|(?=[–—]|-\s))",
    re.IGNORECASE,
)
# alone on their line, or before a sign or bracket: not "Zu § 5 Abs. 2 gilt", "Resolution 300 dpi"
KEYWORD_APART = re.compile(
    rf"(?:{'|'.join(LIKE_TEXT)})\.?{NUMBER}(?:{CLOSED_OFF}|(?=\s*$|\s\(|\s?[–—]|\s[-:](?:\s|$)))", re.IGNORECASE
)
# so too those of plays, and "Top 1:"; pictures and tables are called by others of plays
SIGNED_WORDS = [form for form, word in KEYWORDS.items() if word in STAGE and form not in PICTURES] + [*CAPITALS]
KEYWORD_SIGNED = re.compile(
    rf"(?:{'|'.join(SIGNED_WORDS)})[ \u00a0](?:[1-9]\d?(?:\.\d{{1,2}})*|{ROMAN}|{'|'.join(NUMBER_WORDS)})"
    r"(?:[.:](?=\s|$)|(?=\s*$|\s?[–—]|\s[-:](?:\s|$)))",
    re.IGNORECASE,
)
WORDS_ALONE = sorted(form for form, word in KEYWORDS.items() if word in ALONE and len(form) > LONGEST_SHORT)
WITHOUT_NUMBER = re.compile(
    rf"(?:{'|'.join(WORDS_ALONE)})(?:[:.](?=\s|$|[-–—])|(?=\s*$|\s(?-i:[A-Z])|\s?[–—]|\s?-\s|\s:(?:\s|$)))",
    re.IGNORECASE,
)
# Behind a numbering, before a title: "Article 2 - Fees", "Artículo 2.- Tasas", "Article 2 : Tarifs"; not "2 - 5 boats"
DASH = re.compile(
    r"[ \t\u00a0]{0,3}[-–—](?=\s*$|\s+(?![\s\d]|[IVXLC]+\b)|(?<=\S[-–—])[^\W\d_])|[ \t\u00a0\u202f]{1,3}:(?=\s|$)"
)
SCORE = re.compile(r"\s{1,3}:\s*\d")  # "3 : 2", "10 : 30"
BEFORE_WORD = r"(?=\s|$|[^\W\d_]|[\"'“‘„(\[])"
BRACKETED = re.compile(
    rf"[(\[{{] ?{PART}(?:[.-]{PART}){{0,9}}(?:{BIS}|[a-z])? ?[)\]}}][.:]?{BEFORE_WORD}", re.IGNORECASE
)
CLOSED = re.compile(
    rf"(?:\d{{1,4}}(?:{BIS}|[a-z])?|[a-z]\d{{1,3}}|{ROMAN}|{LETTER}(?:(?=[ -]){BIS})?|{TWICE}|(?-i:[IVX]{{1,5}}[a-h]))"
    rf"(?:[.-](?:\d{{1,3}}[a-z]?|{ROMAN}|[a-z])){{0,9}}"
    rf"(?:{CLOSING}{{1,2}}|\.[-–—]|[/-](?=\s)){BEFORE_WORD}",
    re.IGNORECASE,
)
DOTTED = re.compile(
    r"(?:(?:\d{1,3}|[A-Z]|[IVX]{1,5})(?:\.(?:\d{1,3}[a-z]?|[a-z])){1,9}"
    r"|(?:\d{1,3}|[IVX]{1,5}|[A-Za-z](?=\.(?:[IVX]+\.)?\d))"
    r"(?:\.(?:\d{1,3}[a-z]?|[IVX]{1,5}|[A-Z])){1,5}(?:\.[a-z])?\.?(?=\s|$))"
    r"(?=\s|$|[A-Z\"“‘„(])"
)
HYPHENED = re.compile(r"(?:[IVX]{1,5}|[A-Z]|\d{1,2})(?:[-–]\d{1,3}){1,3}(?=\s+[A-Z\"“‘„(]|\s*$)")
SIGNED = re.compile(rf"§\s?\d{{1,4}}(?:{BIS}|er|[a-z])?{CLOSING}{{1,2}}(?=\s|$)", re.IGNORECASE)  # Art. 2. § 1.
WITH_BRACKETS = re.compile(rf"\d{{1,3}}(?:\([a-z\d]{{1,3}}\)){{1,3}}{END}")
LIKE_INITIALS = re.compile(r"[IVX]\.[A-F]\.\s")  # a name seldom has these
ENCLOSED = re.compile("[\u2460-\u24e9\u2160-\u217b\u3220-\u3229\u2776-\u2793][.:)]?(?=\\s|$|\\w)")  # ① ⑴ ⒈ ⒜ Ⅳ
EAST = re.compile(  # 第三章, 一、, （二）
    rf"第\s?(?:\d{{1,4}}|[{IDEOGRAPH_SIGNS}]{{1,3}})\s?[{COUNTERS}][.:：]?|[{IDEOGRAPH_SIGNS}]{{1,3}}[、．.]"
    rf"|[（(][{IDEOGRAPH_SIGNS}]{{1,3}}[)）]"
)
COUNTED = re.compile(rf"(?:n[°º]|no\.|nr\.?)\s?\d{{1,4}}[.:)]?{END}", re.IGNORECASE)
ORDINAL_FIRST = re.compile(
    rf"(?:{'|'.join(ORDINALS)})\s(?:{'|'.join(OUTER)})[.:]?(?=\s|$|[-–—])|{COUNTED_FIRST}{END}", re.IGNORECASE
)
SPOKEN_SIGNED = re.compile(  # "PRIMERO.-", "Segunda. Objeto"
    rf"(?:{'|'.join(sorted(SPOKEN, key=len, reverse=True))})"
    r"(?:\s?\.\s?[-–—](?!\d)|\s?[-–—](?=\s)|\s?[.:](?=\s+(?-i:[A-ZÁÉÍÓÚÑ¿¡\"“«(\[]))|\s?[.:]?(?=\s*$))",
    re.IGNORECASE,
)
BARE_ARABIC = re.compile(rf"\d{{1,3}}(?:[a-z]|{BIS}|ª|[A-Z](?=\s+[A-Z]|\s*$))?{END}(?!\s*[%€$])")
_TITLE = r"[A-Z\"“‘„(]"  # its first character
_APART = rf"\s+[-–—]\s+{_TITLE}|\t| {{2}}|(?:[^\S \u00a0]|\s\s)\s*{_TITLE}"  # behind a number, not behind a word
BARE_CAPITAL = re.compile(rf"[IVXLC]{{2,7}}(?={_APART})|[A-Z](?={_APART}|\s*$)")
# "A Note on Boats", "IV Fluids", and "CLI" alone: a word, unless others say otherwise
LONE_CAPITAL = re.compile(rf"[A-Z](?=[ \u00a0]{_TITLE})|[IVXLC]{{2,7}}(?=[ \u00a0]{_TITLE}|\s*$)")
BARE_SMALL = re.compile(rf"(?:(?=[ivx]+\b){ROMAN}|[a-z])(?=\t| {{2,}}|\s*$)")
WEAK = re.compile(rf"(?:(?=[ivx]+\b){ROMAN}|(?=[IVX]+\b){ROMAN.upper()}|[A-Za-z])(?=[ \u00a0]\S)")
CAPITALISED = re.compile(r"[^\W\d_](?=[^\W\d_])")  # if it is a capital
AMOUNT = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?(?=\s|$)")
DATE = re.compile(
    rf"[(\[]?\d{{4}}-\d{{1,2}}-\d{{1,2}}\b|\d{{1,2}}(?:\s*{MONTH}|[.)]\s*{MONTH}\.?\s*\d{{4}})", re.IGNORECASE
)
SPACED = re.compile(r"(?:[^\W\d_][ \u00a0]{1,4}){2,}[^\W\d_](?=\s|$)")
PARTICLES = "van|de|der|den|von|di|du|la|le|ten|ter|el|al"
INITIALS = re.compile(rf"(?:[A-Z][a-z]?\.\s?){{2,6}}(?:(?:{PARTICLES})\s)*[A-Z][\w’'-]+\s*$")
# In references: "3. A. Hull, Rafts", "[1] J.-P. Roe. Rafts"; not "3. A. Rights and duties", "3. A. Fees. Tax"
_AUTHOR = rf"(?:[A-Z]\.[ -]?){{1,4}}(?:(?:{PARTICLES})\s){{0,3}}[A-Z][^\W\d_]+(?:[’'-][^\W\d_]+)*"
_AND = r"\s(?:and|&|und|en|et|y|e|i)(?=\s[A-Z]\.)"
AUTHOR = re.compile(rf"{_AUTHOR}(?:,|{_AND}|(?P<end>[.:]))(?=\s)")
_NOBODY = r"(?:U\. ?[SKN]|E\. ?U|P\. ?O)\.|[A-Z]\.\d"  # "U.S. law", "P.O. Box", "B.1"
_PERSON = rf"(?=[A-Z]\.)(?!{_NOBODY}|[A-Z]\. (?!(?:{PARTICLES})\s)[a-z]{{2}})"  # not "E. coli"
# without a number: not "A. Definitions, “Fees”", but "A. Lund, “Rafts,” Port, 1999"
AUTHORS = re.compile(rf"{_AUTHOR}(?:,\s(?:{_PERSON}|(?=[“‘\"].*(?:\d|[,.][”’\"]|[”’\"],)))|,?{_AND}(?=\s{_PERSON}))")
BEHIND_FIGURE = re.compile(r"\d(?:(?P<bracket>\])|[.)])[ \t\u00a0]*$")
IN_CODE = re.compile(r"[A-Za-z]\w{0,3}\.[a-z]\w*?[(\[_A-Z]")  # d3.select(), vi.fn(), x.to_json
MARK = re.compile(r"[-–—*#•‣⁃·●○◦▪▫■□►▶➢✓➔→?+](?=\s)|[•‣⁃●○◦▪▫■□►▶➢✓➔](?=\S)")
MARKS = frozenset("-–—*#•‣⁃·●○◦▪▫■□►▶➢✓➔→?+_=.")
QUOTE = re.compile(r"[\"“„«‘‚‹`´]|['’](?=\S)(?![stnkmrd][\s-])")
SINGLE = (BRACKETED, DOTTED, CLOSED)
BARE = (HYPHENED, WITH_BRACKETS, BARE_ARABIC, BARE_CAPITAL, BARE_SMALL)
SIGNS = 8  # characters at the end of a number, and space behind it
# What is set higher in a heading, and the words that it may be a note on: what is shorter may be a unit, or a variable
NOTE = re.compile(r"\s?[\[(]?(?:\d{1,3}|[*†‡§]{1,3})(?:, ?\d{1,3})*,?[\])]?")
NOTED = re.compile(
    r"(?<![^\W\d_])(?!(?:chi|cos|eta|exp|feet|log|lim|max|met(?:er|re)s?|min|mol|omega|sigma|sin|tan)\b|(?-i:[A-Z]?[a-z][A-Z][a-z]?)\b)"
    r"[^\W\d_]{3,}[.,:;!?'’\"”“»)\]]{0,3}\s?\Z",
    re.IGNORECASE,
)
NEAR = 3  # between two glued numbers, where others may be missing, as before "3D printing"
LONGEST = 200  # characters that are looked at: no numbering is longer


def skip_space(text: str, start: int, end: int) -> int:
    """The first place from `start` on that is not white space, `end` if there is none."""
    while start < end and text[start].isspace():
        start += 1
    return start


def skip_invisible(text: str, start: int, end: int) -> int:
    """The first place from `start` on that a reader sees, white space too, `end` if there is none."""
    while start < end and text[start] in INVISIBLE:
        start += 1
    return start


def part_number(heading: str, counted: Set[str]) -> str:
    """A heading with a space between its number, one of those that count, and its title: "1.1Scope"."""
    number = glued_number(heading)
    return f"{number} {heading[len(number) :]}" if number in counted else heading


def glued_number(heading: str) -> str:
    """The number of a heading whose title stands right behind it, as programs write it; "" for none."""
    for found in CAPITALISED.finditer(heading, 1, LONGEST):
        number, small = heading[: found.start()], heading[found.start() + 1].islower()
        if found[0].isupper() and (number[-1].isdigit() or number[-1] in ".)" or (small and number[-1].isalpha())):
            known = readings(number.strip())
            if known and (any(map(str.isdigit, number)) or any(each.word for each in known)):
                return number
    return ""


def is_note(heading: str, place: int) -> bool:
    """Whether what is set higher from a place in a heading on, behind a word or the number of a chapter, is the mark of
    a note."""
    before, raised = heading[:place], heading[place:]
    if NOTE.fullmatch(raised) is None:
        return False
    is_number = " " in before.strip() and before.rstrip(" .:)")[-1:].isalpha() and bool(readings(before))
    return is_number or NOTED.search(before) is not None


def begins_title(number: Reading, text: str) -> bool:
    """Whether what stands right behind a number begins a title, and does not go on with a word: "C" and "HAPTER"."""
    return text[:1].isupper() and (text[1:2].islower() or number.kinds[-1] == ARABIC or bool(number.word))


def counted_numbers(headings: Iterable[str]) -> set[str]:
    """Glued numbers that have a word or sign, or count from the first one on: "2FA" begins with none behind no 1."""
    numbers = [(heading, number) for heading in headings if (number := glued_number(heading))]
    found = {number: next(iter(readings(number.strip()))) for _, number in numbers}
    titled = {found[number].values for heading, number in numbers if heading[len(number) + 1 :][:1].islower()}
    values = {own.values[:end] for own in found.values() for end in range(1, len(own.values) + 1)}
    counted = set[tuple[int, ...]]()
    for own in sorted(values):
        *outer, last = own
        before = {(*outer, last - step) for step in range(1, NEAR + 1)}
        others = {(*own, 1), *([tuple(outer), (*outer, last + 1)] if last <= 1 else [])}
        next_one = {(*outer, last + 1)}  # "2Scope", "3Terms", as in a part of a document; not "4K", "5G"
        if before & counted or others & values or (own in titled and next_one & titled):
            counted.add(own)
    return {number for number, own in found.items() if own.word or number[-1] in ".)" or own.values in counted}


def find_numbering(text: str, start: int, end: int, first: bool = True) -> int:
    """The place behind a numbering, and its closing sign, that an element begins with; `start` if there is none.

    first (bool): nothing was split off before: behind another numbering, one needs a closing sign, a bracket or a dot.
    """
    end = min(end, start + LONGEST)
    if not (text[start].isalnum() or text[start] in "([{§¶（" or ENCLOSED.match(text, start)):
        return start
    head = text[start:end]
    if not head.isascii():
        if match := ENCLOSED.match(head) or EAST.match(head):
            return start + match.end()
        composed = normalize("NFC", head)
        if len(composed) != len(head):  # accents are characters of their own
            found = composed[: find_numbering(composed, 0, len(composed), first)]
            ends = (at for at in range(len(head) + 1) if normalize("NFC", head[:at]) == found)
            return start + next(ends, 0)
        head = "".join(map(_alike, head))
    worded = (KEYWORD, KEYWORD_APART, KEYWORD_SIGNED, WITHOUT_NUMBER, ORDINAL_FIRST, SPOKEN_SIGNED)
    if first and (match := next(filter(None, (pattern.match(head) for pattern in worded)), None)):
        return start + skip_dash(head, match.end(), len(head))
    is_name = INITIALS.match(head) is not None and not LIKE_INITIALS.match(head)
    is_name = is_name or AUTHORS.match(head) is not None
    is_name = is_name or (not first and _is_author(head, text[max(0, start - SIGNS) : start]))
    if is_name or any(pattern.match(head) for pattern in (DATE, AMOUNT, SPACED, IN_CODE)):
        return start
    for pattern in (COUNTED, *SINGLE, *BARE) if first else (SIGNED, *SINGLE):
        if match := pattern.match(head):
            is_score = SCORE.match(head, match.end()) is not None
            return start + (match.end() if is_score else skip_dash(head, match.end(), len(head)))
    return start


def _is_author(text: str, before: str) -> bool:
    """Whether initials and a name, which begin a text, are those of an author behind the number of a reference."""
    number, author = BEHIND_FIGURE.search(before), AUTHOR.match(text)
    return number is not None and author is not None and (author["end"] is None or number["bracket"] is not None)


def skip_dash(text: str, place: int, end: int) -> int:
    """The place behind a dash, or a colon behind a space, that parts a numbering from a title; `place` without one."""
    match = DASH.match(text, place, end)
    return place if match is None else match.end()


def _alike(character: str) -> str:
    """A character, or the digit or sign of ASCII that it stands for, if that is one character too."""
    found = plain(character)
    return found if len(found) == 1 else character


def find_letter(text: str, start: int, end: int) -> int:
    """The end of a letter or roman numeral that stands alone at the start of an element; `start` if there is none.

    It numbers the element only if others nearby do so too: "a" and "I" are words (see `series`).
    """
    match = LONE_CAPITAL.match(text, start, end) or WEAK.match(text, start, end)
    return start if match is None or SPACED.match(text, start, end) else match.end()


def find_mark(text: str, start: int, end: int) -> int:
    """The end of a list mark that an element begins with; `start` if there is none, or several in a row."""
    if text[start] not in MARKS or not MARK.match(text, start, end):
        return start
    rest = skip_space(text, start + 1, end)
    return start if rest >= end or text[rest] in MARKS else start + 1


def find_quote(text: str, start: int, end: int) -> int:
    """The end of an opening quotation mark that an element begins with; `start` if there is none."""
    return start + 1 if QUOTE.match(text, start, end) else start
