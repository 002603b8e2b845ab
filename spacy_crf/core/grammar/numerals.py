"""Numerals as they stand in numberings: arabic, roman, letters, number words; from text to value and back.

The kind of a numeral is one character, written as its first value: `1` arabic, `I` and `i` roman, `A` and `a` letters.
"""

from itertools import pairwise

ARABIC, ROMAN_UPPER, ROMAN_LOWER, LETTER_UPPER, LETTER_LOWER = "1", "I", "i", "A", "a"
MAX_DIGITS = 4
MAX_ROMAN = 399  # of several letters: above it stand words and units of measure (di, cm, mix)

_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")),
    *((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_DIGITS = {letter: value for value, letter in _ROMAN if len(letter) == 1}
_WORDS = (
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    ("een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen", "tien", "elf", "twaalf"),
    ("eerste", "tweede", "derde", "vierde", "vijfde", "zesde", "zevende", "achtste", "negende", "tiende"),
    ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
)
NUMBER_WORDS = {word: value for words in _WORDS for value, word in enumerate(words, start=1)} | {"één": 1}


def numerals(text: str) -> list[tuple[str, int]]:
    """All readings of one numeral, as kind and value: `i` is roman 1 and letter 9, `aa` is letter 27; [] for none."""
    if text.isascii() and text.isdigit():
        return [(ARABIC, int(text))] if len(text) <= MAX_DIGITS else []
    if not (text.isascii() and text.isalpha()) or not (text.isupper() or text.islower()):
        return []
    found = []
    roman, letter = roman_value(text.upper()), letter_value(text.upper())
    if roman is not None and (roman <= MAX_ROMAN or len(text) == 1):
        found.append((ROMAN_UPPER if text.isupper() else ROMAN_LOWER, roman))
    if letter is not None:
        found.append((LETTER_UPPER if text.isupper() else LETTER_LOWER, letter))
    return found


def roman_value(text: str) -> int | None:
    """The value of a roman numeral in capitals; None unless it is written in the usual way (not IIII, not IC)."""
    digits = [_DIGITS.get(letter, 0) for letter in text]
    if not digits or not all(digits):
        return None
    value = sum(-here if here < after else here for here, after in pairwise([*digits, 0]))
    return value if value > 0 and roman_numeral(value) == text else None


def letter_value(text: str) -> int | None:
    """A to Z are 1 to 26, AA to ZZ (the same letter twice) 27 to 52; None for all else."""
    if len(set(text)) != 1 or len(text) > 2:
        return None
    return ord(text[0]) - ord("A") + 1 + 26 * (len(text) - 1)


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
    if kind in (ROMAN_UPPER, ROMAN_LOWER):
        text = roman_numeral(value)
    else:
        times, letter = divmod(value - 1, 26)
        text = chr(ord("A") + letter) * (times + 1)
    return text if kind in (ROMAN_UPPER, LETTER_UPPER) else text.lower()
