"""Numerals, with what they count: digits, roman numerals, letters of three alphabets, numerals of East Asia; and the
words that numberings are written with, from lists: a line of each for a language, or a word.
"""

import re
from collections.abc import Iterable
from importlib.resources import files
from itertools import pairwise
from unicodedata import normalize

# kinds of numerals, each written as its first value
ARABIC, ROMAN_UPPER, ROMAN_LOWER, LETTER_UPPER, LETTER_LOWER = "1", "I", "i", "A", "a"
GREEK_UPPER, GREEK_LOWER, CYRILLIC_UPPER, CYRILLIC_LOWER, IDEOGRAPH = "Β", "β", "Б", "б", "一"
# alphabets of other scripts whose letters are numerals, in order; the marks of sound of Cyrillic number nothing
ALPHABETS = {GREEK_LOWER: "αβγδεζηθικλμνξοπρστυφχψω", CYRILLIC_LOWER: "абвгдежзиклмнопрстуфхцчшщэюя"}
ALPHABETS |= {GREEK_UPPER: ALPHABETS[GREEK_LOWER].upper(), CYRILLIC_UPPER: ALPHABETS[CYRILLIC_LOWER].upper()}
# of East Asia, as 第三章 and 十二 have them
IDEOGRAPHS = {"十": 10} | {sign: value for value, sign in enumerate("一二三四五六七八九", 1)}
IDEOGRAPH_SIGNS = "".join(IDEOGRAPHS)
OTHER_LETTERS = "".join(ALPHABETS.values())
LETTER_VALUES = {letter: (kind, value) for kind, own in ALPHABETS.items() for value, letter in enumerate(own, 1)}
MAX_DIGITS = 4
MAX_ROMAN = 399  # of several letters: above it stand words and units of measure (di, cm, mix)

_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")),
    *((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_DIGITS = {letter: value for value, letter in _ROMAN if len(letter) == 1}
_LISTS = files(__package__) / "lists"


def _lines(name: str) -> list[str]:
    """Lines of a list that are no comments."""
    return [line for line in (_LISTS / name).read_text(encoding="utf8").splitlines() if not line.startswith("#")]


NUMBER_WORDS = {
    word.partition("=")[0]: int(word.partition("=")[2] or value)
    for line in reversed(_lines("numbers.tsv"))
    for value, word in enumerate(line.split(), start=1)
}
ORDINALS = {
    form: value
    for line in _lines("ordinals.tsv")
    for value, forms in enumerate(line.split(), start=1)
    for form in forms.split("/")
}
_SPOKEN = [(int(value), forms.split()) for value, _, forms in (line.partition("\t") for line in _lines("spoken.tsv"))]
SPOKEN: dict[str, int] = {form: value for value, forms in _SPOKEN for form in forms}  # "décimo primero" is 11
SPOKEN |= {
    f"{ten} {one}": SPOKEN[ten] + SPOKEN[one]
    for ten in SPOKEN
    for one in SPOKEN
    if SPOKEN[ten] % 10 == 0 and SPOKEN[one] < 10
}
INSERTED = {"bis": 1, "ter": 2, "quater": 3, "quinquies": 4, "sexies": 5, "septies": 6, "octies": 7}  # 2bis: 2a
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"  # § 2¹ of Estonia: 2a
INSERTED |= {"".join(RAISED[int(digit)] for digit in str(value)): value for value in range(1, 27)}

_RANKED = [
    (int(rank), forms.replace("_", " ").split("/"))
    for rank, _, forms in (line.partition("\t") for line in _lines("keywords.tsv"))
]
CAPITALS = {form.lower(): form for _, forms in _RANKED for form in forms if form != form.lower()}  # as texts have them
_RANKED = [(rank, [form.lower() for form in forms]) for rank, forms in _RANKED]
KEYWORDS: dict[str, str] = {form: forms[0] for _, forms in reversed(_RANKED) for form in forms}
STAGE = frozenset(("act", "scene"))
PICTURES = frozenset(("bild", "tableau", "cuadro", "quadro"))  # of plays only behind a number: "Erstes Bild"
COUNTERS = "".join(word for word in KEYWORDS if word >= "一")  # the words of East Asia behind 第 and a number
RANKS: dict[str, int] = {forms[0]: rank for rank, forms in _RANKED}
# of outer sections, and of decisions: "First Chapter", "Première résolution"
OUTER = [form for rank, forms in _RANKED if rank < RANKS["article"] or forms[0] == "resolution" for form in forms]

# of these, German ones that a number stands before, as in "1. Abschnitt"; "1. Titel" alone is an item with this name
COUNTED_FIRST = (
    r"(?:[0-9]{1,3}|[IVX]{1,5})\.\s"
    r"(?:(?:teil|buch|kapitel|(?:unter)?abschnitt|abteilung|akt|aufzug|szene|auftritt|bild)"
    r"(?::|\s*$|(?=[ \t]*\n))|titel:)"
)

# forms of these words that stand in texts, not in headings; and the words around the numbers that texts mention
PLURALS: dict[str, str] = {
    form: word for word, _, forms in (line.partition("\t") for line in _lines("plurals.tsv")) for form in forms.split()
}
_UNNAMED = STAGE | {"resolution"}  # with a number, they are seldom sections of the same text
NAMED = {
    form: word
    for form, word in (KEYWORDS | PLURALS).items()
    if len(form) > 1 and word not in _UNNAMED and not form.startswith("zu ") and form not in CAPITALS
}
MENTIONS: dict[str, frozenset[str]] = {
    does: frozenset(word.replace("_", " ") for word in words.split())
    for does, _, words in (line.partition("\t") for line in _lines("mentions.tsv"))
}


def any_of(words: Iterable[str]) -> str:
    """A pattern of these words, the longest first, in any case, with accents that are characters of their own too."""
    forms = {form for word in words for form in (word, normalize("NFD", word))}
    return f"(?i:{'|'.join(re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form)))})"


def listed(form: str) -> str:
    """A word of a text as lists have it."""
    return normalize("NFC", form.lower())


def numerals(text: str) -> list[tuple[str, int]]:
    """All readings of one numeral, as kind and value: `i` is roman 1 and letter 9, `aa` is letter 27; [] for none."""
    if text.isascii() and text.isdigit():
        return [(ARABIC, int(text))] if len(text) <= MAX_DIGITS else []
    if text in LETTER_VALUES:
        return [LETTER_VALUES[text]]
    if text[:1] in IDEOGRAPHS:
        value = ideographic_value(text)
        return [] if value is None else [(IDEOGRAPH, value)]
    if not (text.isascii() and text.isalpha()) or not (text.isupper() or text.islower()):
        return []
    roman, letter = roman_value(text.upper()), letter_value(text.upper())
    kinds = (ROMAN_UPPER, LETTER_UPPER) if text.isupper() else (ROMAN_LOWER, LETTER_LOWER)
    known = roman is not None and (roman <= MAX_ROMAN or len(text) == 1), letter is not None
    return [(kind, value or 0) for kind, value, holds in zip(kinds, (roman, letter), known) if holds]


def roman_value(text: str) -> int | None:
    """The value of a roman numeral in capitals; None unless it is written in the usual way (not IIII, not IC)."""
    digits = [_DIGITS.get(letter, 0) for letter in text]
    if not digits or not all(digits):
        return None
    value = sum(-here if here < after else here for here, after in pairwise([*digits, 0]))
    return value if value > 0 and roman_numeral(value) == text else None


def ideographic_value(text: str) -> int | None:
    """The value of a numeral of East Asia below 100, such as 二十三; None for all else."""
    found = re.fullmatch(r"(?P<tens>[二三四五六七八九]?十)?(?P<ones>[一二三四五六七八九])?", text)
    if not text or found is None:
        return None
    tens = IDEOGRAPHS.get((found["tens"] or "")[:-1], 1) if found["tens"] else 0
    return 10 * tens + IDEOGRAPHS.get(found["ones"], 0)


def ideographic_numeral(value: int) -> str:
    """A value below 100 as numeral of East Asia; "" for others."""
    tens, ones = divmod(value, 10)
    signs = {number: sign for sign, number in IDEOGRAPHS.items()}
    if not 0 < value < 100:
        return ""
    return (signs[tens] if tens > 1 else "") + ("十" if tens else "") + signs.get(ones, "")


def letter_value(text: str) -> int | None:
    """A to Z are 1 to 26, AA to ZZ (the same letter twice) 27 to 52; None for all else."""
    known = len(set(text)) == 1 and len(text) <= 2
    return ord(text[0]) - ord("A") + 1 + 26 * (len(text) - 1) if known else None


def roman_numeral(value: int) -> str:
    """A positive value as roman numeral in capitals."""
    text = ""
    for part, letters in _ROMAN:
        count, value = divmod(value, part)
        text += letters * count
    return text


def numeral(kind: str, value: int) -> str:
    """The text of a numeral; "" for a value that the kind cannot express (a zero in letters)."""
    if kind == ARABIC:
        return str(value)
    if value < 1:
        return ""
    if kind == IDEOGRAPH:
        return ideographic_numeral(value)
    if kind in ALPHABETS:
        return ALPHABETS[kind][value - 1 : value]
    times, letter = divmod(value - 1, 26)
    text = roman_numeral(value) if kind in (ROMAN_UPPER, ROMAN_LOWER) else chr(ord("A") + letter) * (times + 1)
    return text if kind in (ROMAN_UPPER, LETTER_UPPER) else text.lower()
