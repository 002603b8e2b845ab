"""Text as LaTeX writes it, and back."""

import re
import unicodedata

# Combining characters by the command of the accent.
ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
    "b": "\u0331",
}
COMMANDS = {mark: command for command, mark in ACCENTS.items()}
SYMBOLS = {
    "\\": "textbackslash",
    "{": "textbraceleft",
    "}": "textbraceright",
    "~": "textasciitilde",
    "^": "textasciicircum",
}
LETTERS = {
    **{
        "ß": "ss",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "ı": "i",
        "ȷ": "j",
    },
    **{"đ": "dj", "Đ": "DJ", "ð": "dh", "Ð": "DH", "þ": "th", "Þ": "TH", "å": "aa", "Å": "AA"},
    **{"“": "textquotedblleft", "”": "textquotedblright", "‘": "textquoteleft", "’": "textquoteright"},
    **{"„": "quotedblbase", "‚": "quotesinglbase", "«": "guillemotleft", "»": "guillemotright"},
    **{"…": "ldots", "§": "S", "£": "pounds", "©": "copyright", "®": "textregistered", "°": "textdegree"},
    **{"¿": "textquestiondown", "¡": "textexclamdown", "†": "dag", "•": "textbullet", "€": "texteuro"},
}
DASHES = {"–": "--", "—": "---"}
ESCAPED = frozenset("&%$#_")
READ_SYMBOLS = {command: char for char, command in {**SYMBOLS, **LETTERS}.items()}
# Characters that LaTeX would set as one sign with a neighbour of the same kind.
LIGATURES = ("-–—", "'", "`", ",", "<", ">")
# In a headline these are small as well.
SMALL_WORDS = re.compile(
    "about|above|across|after|against|along|among|around|before|behind|below|beneath|between|beyond|during|from|into|"
    "like|near|onto|over|since|than|that|their|through|towards?|under|until|upon|when|with|within|without"
)
WORD = re.compile(r"([^\w]*)(.*?)([^\w]*)", re.DOTALL)
TOKEN = re.compile(
    r"""\\(?P<accent>[`'^~=."])\s*(?:\{\\?(?P<braced>[A-Za-z])\s*\}|\\?(?P<plain>[A-Za-z]))
    |\\(?P<letter>[uvHrdckb])(?:\s*\{\\?(?P<held>[A-Za-z])\s*\}|\s+(?P<spaced>[A-Za-z])(?![A-Za-z]))
    |\\(?P<escaped>[&%$\#_{}])
    |\\(?P<command>[A-Za-z]+)(?:\{\}|\s+|(?![A-Za-z]))
    |(?P<dash>---?)|(?P<space>~)|(?P<brace>[{}])""",
    re.VERBOSE,
)


def encode(text: str, unicode: bool = False) -> str:
    r"""LaTeX of a plain text.

    text (str): in composed characters (NFC).
    unicode (bool): leave letters with accents, quotation marks and the like as they are; without it they become
        commands, such as `{\"a}`. Other alphabets always stay.
    RETURNS (str): with balanced braces; `decode` gives the text again.
    """
    pieces = []
    for before, char in zip(f" {text}", text):
        if any(before in kind and char in kind for kind in LIGATURES):
            pieces.append("{}")
        pieces.append(_encode_char(char, unicode))
    return "".join(pieces)


def decode(latex: str) -> str:
    """Plain text of LaTeX. Braces go; commands other than accents and signs stay.

    latex (str): as in a field of BibTeX.
    RETURNS (str): in composed characters.
    """
    return unicodedata.normalize("NFC", TOKEN.sub(_decode_token, latex))


def protect_capitals(title: str, unicode: bool = False) -> str:
    """A title with braces around words that must keep their capitals.

    Those are words with a capital behind their first letter ("DNA"), and, in a title that has small letters otherwise,
    names. Where more than half of the longer words have a capital, capitals tell nothing about names.

    title (str): plain text. unicode (bool): as in `encode`.
    RETURNS (str): LaTeX.
    """
    words = title.split(" ")
    telling = [word for word in words[1:] if sum(map(str.isalpha, word)) > 3 and not SMALL_WORDS.fullmatch(word)]
    is_headline = sum(map(_has_capital, telling)) > len(telling) / 2
    protected = []
    for before, word in zip(["", *words], words):
        begins = not before or before.endswith((":", ".", "?", "!"))
        is_name = _has_capital(word) and not is_headline and not begins
        protected.append(_protect(word, unicode) if is_name or _has_inner_capital(word) else encode(word, unicode))
    return " ".join(protected)


def _protect(word: str, unicode: bool) -> str:
    """Braces around a word, punctuation before and after it left out."""
    before, core, after = WORD.fullmatch(word).groups()  # type: ignore[union-attr]
    return f"{encode(before, unicode)}{{{encode(core, unicode)}}}{encode(after, unicode)}"


def _encode_char(char: str, unicode: bool) -> str:
    if char in ESCAPED:
        return f"\\{char}"
    if char in SYMBOLS:
        return f"{{\\{SYMBOLS[char]}}}"
    if unicode or char.isascii():
        return char
    if char in DASHES:
        return DASHES[char]
    if char in LETTERS:
        return f"{{\\{LETTERS[char]}}}"
    parts = unicodedata.normalize("NFD", char)
    if len(parts) == 2 and parts[1] in COMMANDS and parts[0].isascii() and parts[0].isalpha():
        command = COMMANDS[parts[1]]
        return f"{{\\{command}{{{parts[0]}}}}}" if command.isalpha() else f"{{\\{command}{parts[0]}}}"
    return char


def _decode_token(match: re.Match[str]) -> str:
    if match["accent"] or match["letter"]:
        base = match["braced"] or match["plain"] or match["held"] or match["spaced"]
        return base + ACCENTS[match["accent"] or match["letter"]]
    if match["escaped"]:
        return match["escaped"]
    if match["command"]:
        return READ_SYMBOLS.get(match["command"], match[0])
    if match["dash"]:
        return "–" if len(match["dash"]) == 2 else "—"
    return " " if match["space"] else ""


def _has_capital(word: str) -> bool:
    return next(filter(str.isalpha, word), "").isupper()


def _has_inner_capital(word: str) -> bool:
    """Whether there is a capital within a part of a word: "MicroSketch", but not "Long-Run"."""
    return any(before.isalpha() and char.isupper() for before, char in zip(word, word[1:]))
