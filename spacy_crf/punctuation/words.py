"""Words of a text, the marks around them, and their case.

A word is what stands between white space, dashes and ellipses, without the marks, quotation marks and brackets at its
ends. Apostrophes, hyphens and signs between letters or digits are parts of it (don't, well-known, 3.5, 10:30, a.m.),
and so is the period of an abbreviation or an initial. Behind a mark, an apostrophe is a quotation mark (‘Well,’), and
signs of direction and of no width are outside of words. What has no letter or digit is a word too unless it is a mark:
an emoji, ":)", "&", "=". So all that is not white space or a mark is in exactly one word. Addresses and options, such
as "--force", have no mark inside. A character of Chinese or Japanese is a word of its own, for white space does not
part them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args
from unicodedata import category

from .block import ABBREVIATIONS, SIGNS

Case = Literal["lower", "Title", "UPPER", "mixed"]
CASES: tuple[Case, ...] = get_args(Case)
APOSTROPHES = str.maketrans("’ʼ", "''")
NO_FORMS: Mapping[str, str] = MappingProxyType({})
BY_SIGN = {sign: name for name, signs in SIGNS.items() for sign in signs}
_RANK = {name: rank for rank, name in enumerate(SIGNS)}
# What stands around words, by kind: what opens, what closes; the first of each is written. German has „so“ and »so«
PAIRS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"QUOTE": ('“"„«‹‟「『»›', '”"“»›」』«‹'), "BRACKET": ("([{（【《〈", ")]}）】》〉")}
)
_OPENS_SIDE, _CLOSES_SIDE = 0, 1
INVERTED = "¿¡"  # they open a question or exclamation, and go with its mark
_OPENING_ALONE = str.maketrans("", "", "«‹")  # behind white space, as in French, they open what follows
_OPENING = "".join(opening for opening, _ in PAIRS.values())
_CLOSING = "".join(closing for _, closing in PAIRS.values())
_MARKS = "".join(BY_SIGN)
OPENERS = INVERTED + _OPENING  # what may stand right before the first word of a sentence
_LEADING = _OPENING + _CLOSING + INVERTED + _MARKS.replace(".", "").replace(":", "")
_TRAILING = _CLOSING + _OPENING + INVERTED + _MARKS
_AROUND = frozenset({*_OPENING, *_CLOSING, *INVERTED, *_MARKS})
_SIGNS = re.escape("".join(sorted(_AROUND)))
_UNSEEN = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
QUIET = f"'’‘{_UNSEEN}"  # no part of a word if a mark or a sign that closes is right before them
_DIACRITICS = "\u3099\u309a\ufe00-\ufe02\U000e0100-\U000e01ef"  # of characters that are words, and their variants
UNSPACED = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese, Japanese
# What stands between white space; the group is there where no sign of ours is, save for single hyphens inside
_CHUNK = re.compile(rf"([^\s\-{_SIGNS}{UNSPACED}]++(?:-[^\s\-{_SIGNS}{UNSPACED}]++)*+)(?!\S)|\S+")
TURN = re.compile(r"(?<=[\r\n])[^\S\r\n]*+([–—―]++|-++(?!\S))")  # the dash of a speaker or a list, which is no mark
_ALL_MARKS = re.compile(rf"(?:[{re.escape(_LEADING + '.:-')}][{_UNSEEN}]*+)++")
# Dashes and ellipses part words even without white space; a dash between digits is a range, "-->" is a sign
_DASH = r"(?:—+|―+|(?<![-<])--++(?!>)|(?<!\d)–+|–+(?!\d)|\.\.+|…+)"
_BREAK = re.compile(rf"(?<!^){_DASH}[{QUIET}]++(?!\w)|{_DASH}[{_UNSEEN}]*+")
# Characters that are words, with the signs around them, and what is between these
_IS_UNSPACED = re.compile(f"[{UNSPACED}{_DIACRITICS}]")
_OPENS, _ENDS = re.escape(OPENERS), re.escape("".join(sorted({*_CLOSING, *_MARKS} - {*"“«‹"})))
_UNSPACED_PIECE = re.compile(
    rf"[{_OPENS}]*+[{UNSPACED}][{_DIACRITICS}]*+(?:[{_ENDS}]++(?:[{QUIET}]++(?![^\W{UNSPACED}]))?)*+|"
    rf"(?:[{_OPENS}]*+[^{_OPENS}{UNSPACED}]++)++|[{_OPENS}]++"
)
_ADDRESS = re.compile(rf"[{_OPENS}]*+(?:--?[^\W\d_{UNSPACED}]|[a-z]{{2,9}}://|www\.|[^\s@]+@[^\s@]+\.)", re.IGNORECASE)
_EMOTICON = re.compile(r"[:;]-?[()\[\]]+")
_BACKWARDS = re.compile(rf"(?:[{_SIGNS}]|-(?=[:;]))*+")  # the signs at the end of a chunk, emoticons among them
# Words that are spelt as they are: addresses, paths, names of files and users, options, and what begins with a digit
_CODE = re.compile(r"[-@#~/\\\d]|[^\s@]*(?:://|@|[\\_=]|[^\W\d_]{2,}\.[^\W\d_]{2,})|www\.", re.IGNORECASE)
_MEASURES = "%‰°′″"
_ABBREVIATED = re.compile(r"[^\W\d_](\.[^\W\d_]+)+")


class Edit(NamedTuple):
    """A replacement in a text: `text[start:end]` becomes `replacement`; start == end inserts."""

    start: int
    end: int
    replacement: str


class Word(NamedTuple):
    """A word of a text and what stands around it.

    start (int), end (int): characters of the word itself.
    tail (int): end of the signs that are written together with the word.
    mark (str): name of the mark behind it, "" for none. mark_start (int), mark_end (int): its characters.
    opening (str), closing (str): kind of the quotation mark or bracket before and behind it, "" for none.
    """

    start: int
    end: int
    tail: int
    mark: str = ""
    mark_start: int = -1
    mark_end: int = -1
    opening: str = ""
    closing: str = ""


def split_words(text: str, abbreviations: Collection[str] = ABBREVIATIONS) -> list[Word]:
    """Cut a text into words with their marks, in linear time. A period is a part of lower-case `abbreviations`."""
    words: list[Word] = []
    periods = _own_periods(text, frozenset(abbreviations))
    turns = {found.start(1) for found in TURN.finditer(text)}
    opening = ""  # kind of what is open before the next word
    n_open = 0  # brackets that are not closed
    for found in _CHUNK.finditer(text):
        start, stop = found.span()
        if found.lastindex:
            # the same as Word(start, stop, stop, opening=opening) in a quarter of the time
            words.append(tuple.__new__(Word, (start, stop, stop, "", -1, -1, opening, "")))
            opening = ""
            continue
        chunk = found[0]
        for low, high, is_break in _pieces(chunk, n_open):
            piece, at = chunk[low:high], start + low
            lead, end = (0, 0) if is_break else _core(piece, abbreviations, at, periods)
            has_word = lead < end
            before, after = (piece[:lead], piece[end:]) if has_word else (piece, "")
            opens, closes = _split_signs(before, is_alone=not has_word)
            if closes and words and at not in turns:
                words[-1] = _add_signs(words[-1], closes, at, is_close=low > 0)
            opening = _kind(opens, _OPENS_SIDE) or opening
            if has_word:
                word = Word(at + lead, at + end, at + end, opening=opening)
                words.append(_add_signs(word, after, at + end, is_close=True) if after else word)
                opening = ""
            if not is_emoticon(piece):
                n_open = max(0, n_open + _excess(piece))
    return words


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with its edits, which are in its order."""
    parts, at = [], 0
    for start, end, replacement in edits:
        parts += [text[at:start], replacement]
        at = end
    return "".join([*parts, text[at:]])


def space_before(text: str) -> str:
    """Return the white space at the beginning of a text."""
    return text[: len(text) - len(text.lstrip())]


def bare_form(form: str) -> str:
    """Return a word as the chain sees it: in lower case, with straight apostrophes."""
    return form.lower().translate(APOSTROPHES)


def mark_words(text: str, tokens: Iterable[Sequence[int]]) -> list[Word]:
    """Take tokens of a text, by first character and length, for its words; those of signs are its marks."""
    words: list[Word] = []
    opening = ""
    for start, size in tokens:
        end = start + size
        if text[start:end].isspace():  # neither a word nor a mark
            continue
        if is_mark(text[start:end]):
            opens, closes = _split_signs(text[start:end], is_alone=True)
            if words:
                words[-1] = _add_signs(words[-1], closes, start, is_close=False)
            opening = _kind(opens, _OPENS_SIDE) or opening
        else:
            words.append(Word(start, end, end, opening=opening))
            opening = ""
    return words


def is_mark(token: str) -> bool:
    """Tell whether there are only marks, quotation marks and brackets in a token."""
    return _ALL_MARKS.fullmatch(token) is not None and not is_emoticon(token)


def is_emoticon(token: str) -> bool:
    """Tell whether a token is a face of signs that are marks elsewhere, such as ":)", beside which none may stand."""
    return token[:1] in (":", ";") and _EMOTICON.fullmatch(token) is not None


def takes_no_mark(word: str) -> bool:
    """Tell whether no mark stands behind a word: it is a sign such as "&", "=" or an emoji, but not "%" or "€"."""
    return not any(sign.isalnum() or sign in _MEASURES or category(sign) == "Sc" for sign in word)


def is_code(word: str) -> bool:
    """Tell whether no word of a language is meant, so that its case stays: an address, a path, an option, a number."""
    return _CODE.match(word) is not None


def is_sign_around(character: str) -> bool:
    """Tell whether a character is one of the marks, quotation marks and brackets that may stand around words."""
    return character in _AROUND


def is_unspaced(character: str) -> bool:
    """Tell whether a character is one that no white space parts from others, as in Chinese and Japanese."""
    return _IS_UNSPACED.match(character) is not None


def _pieces(chunk: str, n_open: int) -> Iterator[tuple[int, int, bool]]:
    """Yield parts of a chunk between dashes and ellipses, and these, as (start, end, whether it is one of these).

    n_open (int): brackets that are open before the chunk.
    """
    at = 0
    for found in () if _ADDRESS.match(chunk) else _BREAK.finditer(chunk):
        yield from _parts(chunk, at, found.start(), n_open)
        yield found.start(), found.end(), True
        n_open = max(0, n_open + _excess(chunk[at : found.start()]))
        at = found.end()
    yield from _parts(chunk, at, len(chunk), n_open)


def _parts(chunk: str, low: int, high: int, n_open: int) -> Iterator[tuple[int, int, bool]]:
    """Yield a part of a chunk, or the emoticons at its end and what is beside them; of characters that are words, these
    with the signs around them. A bracket that closes another one is no part of an emoticon."""
    at = low
    last = _EMOTICON.search(chunk, low, high) and _BACKWARDS.match(chunk[low:high][::-1])
    for found in _EMOTICON.finditer(chunk, high - last.end(), high) if last else ():
        n_open = max(0, n_open + _excess(chunk[at : found.start()]))
        at = found.start()
        if at == low or not n_open or "-" in found[0]:
            yield from _words_of(chunk, low, at)
            yield *found.span(), False
            low = at = found.end()
    yield from _words_of(chunk, low, high)


def _words_of(chunk: str, low: int, high: int) -> Iterator[tuple[int, int, bool]]:
    """Yield a part of a chunk or, where it has characters that are words, these with the signs around them."""
    if _IS_UNSPACED.search(chunk, low, high):
        yield from ((*found.span(), False) for found in _UNSPACED_PIECE.finditer(chunk, low, high))
    elif low < high:
        yield low, high, False


def _excess(signs: str) -> int:
    """Return how many more brackets open than close."""
    return signs.count("(") + signs.count("[") - signs.count(")") - signs.count("]")


def _core(piece: str, abbreviations: Collection[str], at: int, periods: Collection[int]) -> tuple[int, int]:
    """Return where the word in a piece begins and ends; nowhere if there is none.

    at (int): where the piece begins in its text. periods (Collection[int]): characters of that, see `_own_periods`.
    """
    if _ALL_MARKS.fullmatch(piece):
        return 0, len(piece) if is_emoticon(piece) else 0
    seen = piece.lstrip(_UNSEEN)
    lead = len(piece) - len(seen.lstrip(_LEADING)) if seen[:1] in _AROUND else 0
    end = len(piece.rstrip(_TRAILING))
    while (core := piece[lead:end].rstrip(QUIET)) and lead + len(core) < end and core[-1] in _TRAILING:
        end = lead + len(core.rstrip(_TRAILING))
    if end <= lead:  # periods and colons alone are no word, before a sign they are
        return 0, len(piece)
    core = piece[lead:end].lstrip(QUIET)
    letters = core if core.isascii() else "".join(sign for sign in core if category(sign)[0] != "M")  # without accents
    is_initial = len(letters) == 1 and letters.isupper() and core != "I"
    is_own = is_initial or core.lower() in abbreviations or at + end in periods or _ABBREVIATED.fullmatch(letters)
    return lead, end + (piece[end : end + 1] == "." and bool(is_own))


def _own_periods(text: str, abbreviations: frozenset[str]) -> Collection[int]:
    """Return where the periods of abbreviations of several words are, such as "z. B." and "et al."."""
    found = pattern.finditer(text) if (pattern := _several_words(abbreviations)) else ()
    return {at for one in found for at in range(*one.span()) if text[at] == "."}


@cache
def _several_words(abbreviations: frozenset[str]) -> re.Pattern[str] | None:
    several = (re.escape(one) for one in sorted(abbreviations, reverse=True) if "." in one or " " in one)
    found = "|".join(one.replace(r"\.", r"\.\s*").replace(r"\ ", r"\s+") for one in several)
    return re.compile(rf"(?<![\w.])(?:{found})\.", re.IGNORECASE) if found else None


def _split_signs(signs: str, is_alone: bool) -> tuple[str, str]:
    """Split signs before a word into those that open it, and those that close what came before."""
    if is_alone:  # no word follows within the chunk; a quotation mark alone is taken as a closing one
        return "".join(sign for sign in signs if sign in INVERTED + "([{„«“（【「『《〈"), signs
    at = len(signs.rstrip(OPENERS))
    return signs[at:], signs[:at]


def _kind(signs: str, side: int) -> str:
    """Return the kind of the first sign that opens or closes, by its side in `PAIRS`; "" for none."""
    for sign in signs:
        for name, pair in PAIRS.items():
            if sign in pair[side]:
                return name
    return ""


def _add_signs(word: Word, signs: str, at: int, is_close: bool) -> Word:
    """Return a word with signs that follow it.

    at (int): where they begin in the text. is_close (bool): whether no white space parts them from the word.
    """
    names = []
    first, last = len(signs), -1
    for place, sign in enumerate(signs):
        name = BY_SIGN.get(sign) or ("DASH" if sign == "-" else "")
        if name:
            names.append(name)
            first, last = min(first, place), place + 1
    if set(signs.rstrip(QUIET)) == {"."} and names[1:]:
        names = ["ELLIPSIS"]
    if names and not word.mark:
        word = word._replace(mark=strongest(names), mark_start=at + first, mark_end=at + last)
    elif names and word.mark_end == at + first:  # what comes behind white space is not looked at any more
        word = word._replace(mark=strongest([word.mark, *names]), mark_end=at + last)
    tail = at + len(signs) if is_close and at == word.tail else word.tail
    closing = signs if is_close else signs.translate(_OPENING_ALONE)
    return word._replace(tail=tail, closing=_kind(closing, _CLOSES_SIDE) or word.closing)


def strongest(names: Iterable[str]) -> str:
    """Return the mark that counts where several stand together, such as the question mark of "?!"; "" for none."""
    return min(names, key=_RANK.__getitem__, default="")


def case_of(word: str) -> Case:
    """Return the case of a word: "lower" without capitals, "mixed" where no rule gives it (iPhone, McAdam)."""
    lower = word.lower()
    if word == lower:
        return "lower"
    if word == _titled(lower):
        return "Title"
    return "UPPER" if word == lower.upper() else "mixed"


def apply_case(word: str, case: str, mixed: Mapping[str, str] = NO_FORMS) -> str:
    """Return a word in another case, one of `CASES`; letters whose capitals are longer (ß) stay as they are.

    mixed (Mapping[str, str]): mixed forms by their lower-cased ones; a word without one is titled.
    """
    lower = word.lower()
    if case == "UPPER":
        wanted = lower.upper()
    elif case == "Title" or (case == "mixed" and lower not in mixed):
        wanted = _titled(lower)
    else:
        wanted = lower if case == "lower" else mixed[lower] if case == "mixed" else word
    return wanted if len(wanted) == len(word) and wanted.lower() == lower else word


def _titled(lower: str) -> str:
    """Return a lower-cased word with its first letter, behind an apostrophe too, as a capital; not behind a digit."""
    for place, character in enumerate(lower if not lower[:1].isdigit() else ""):
        if character.isalpha():
            capital = character.title()  # not `upper`: Georgian has no capitals but for whole words
            return lower[:place] + capital + lower[place + 1 :] if len(capital) == 1 else lower
    return lower
