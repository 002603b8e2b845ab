"""Text as LaTeX writes it, and back."""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ..core.errors import required
from .errors import ReadingErrors
from .figures import shift_figures

TABLES = tomllib.loads((files(__package__) / "latex.toml").read_text(encoding="utf8"))


def _pairs(table: str) -> dict[str, str]:
    words = table.split()
    return dict(zip(words[::2], words[1::2]))


# Combining characters by the command of the accent.
MARKS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328\u0331"
ACCENTS = dict(zip("`'^~=u.\"rHvdckb", MARKS))
COMMANDS = {mark: command for command, mark in ACCENTS.items()}
# Characters and their commands, and signs by their commands.
SIGNS = r"\ textbackslash { textbraceleft } textbraceright ~ textasciitilde ^ textasciicircum"
SYMBOLS, LETTERS = _pairs(SIGNS), _pairs(TABLES["letters"])
KNOWN = {name: sign for own in (SYMBOLS, LETTERS, _pairs(TABLES["read_only"])) for sign, name in own.items()}
KNOWN |= {"og": "« ", "fg": " »"}
DASHES = {"–": "--", "—": "---"}
ESCAPED = frozenset("&%$#_")
# What is typed for signs, and with a quotation mark in German and Dutch with babel.
TYPED = {"---": "—", "--": "–", "?`": "¿", "!`": "¡", "``": "“", "''": "”", "`": "‘", "'": "’"}
SHORTHAND = re.compile(r"""\"([aouAOUeEiIszSZ`'<>="|/-]|ck|ff|ll|mm|nn|pp|rr|tt)""")
SHORTHANDS = {**dict(zip("aouAOUeEiIsz`'<>=/", "äöüÄÖÜëËïÏßß„“«»-/")), "S": "SS", "Z": "SZ", '"': "", "|": "", "-": ""}
# Characters that LaTeX would set as one sign with a neighbour of the same kind.
LIGATURES = ("-–—", "'", "`", ",", "<", ">")
SI_UNITS, SI_BEFORE = _pairs(TABLES["si_units"]), _pairs(TABLES["si_before"])
POWERS = {"square": "squared", "cubic": "cubed"}
SQUARED = re.compile(rf"\\({'|'.join(POWERS)})\s*((?:\\(?:{'|'.join(SI_BEFORE)})\s*)?\\[A-Za-z]+)")
COMMAND = re.compile(r"\\([A-Za-z]+)\s*")
# In a headline these are small as well.
SMALL_WORDS = re.compile(
    "about|above|across|after|against|along|among|around|before|behind|below|beneath|between|beyond|during|from|into|"
    "like|near|onto|over|since|than|that|their|through|towards?|under|until|upon|when|with|within|without"
)
WORD = re.compile(r"([^\w]*)(.*?)([^\w]*)", re.DOTALL)
# Macros that pylatexenc loses, or adds text for.
UNSAFE = ("input", "include", "today")
# Macros that set their argument in a style, and those that change the style, or say where a word may be divided.
STYLES = ("emph", "text", "textrm", "textit", "textbf", "textsc", "textsl", "textsf", "texttt", "textup")
SHOWN = (*STYLES, "mbox", "url", "ensuremath", "underline")
SWITCHES = ("em", "bf", "it", "sl", "sc", "rm", "tt", "sf", "-", "/", "relax", "protect")
# Only texts with one of these are not plain.
MARKUP = re.compile(r"[\\{}~%$]|--|``|''|[!?]`")
# The last signs are no comment in BibTeX, and no formula in plain text.
SPECIAL = re.compile(
    r"\\(?P<lone>[~^])\{\s*\}|(?P<aside>\\(?:foreignlanguage|textcolor)\s*\{[^{}]*\}\s*(?=\{))"
    r"|\\href\s*\{(?P<address>[^{}]*)\}\s*\{(?P<link>[^{}]*)\}"
    r"|\\(?P<command>[A-Za-z]+)\s*(?=\{)|(?P<escaped>\\.)|\$(?P<sign>\\[A-Za-z]+)\$"
    r"|(?P<formula>\$(?=[^$]{0,100}[\^_\\])[^$]{1,200}\$)|[%$]",
    re.DOTALL,
)
QUOTED = re.compile(r"\\(?:en|mkbib)quote\s*\*?\s*\{((?:[^{}]|\{[^{}]*\})*+)\}")
ACCENTED = re.compile(r"\{\\[A-Za-z]+\s+\\?\w\}")  # "{\c c}"
URL_COMMAND = re.compile(r"\\(?:url|nolinkurl|path|texttt)(?![A-Za-z])\s*")
TILDES = re.compile(r"\\~(?:\{\s*\})?|\$\s*\\sim\s*\$")
_NUMBER, _NEXT = r"[-+]?(?:\d[\d.]*|\.\d+)", r"[ \t]*+(?:\n[ \t]*+)?"
_NAME = r"\\(?:(?:dimen|skip|wd|ht|dp)\d+|(?!relax|csname|(?:begin|end|item)(?![A-Za-z]))[A-Za-z@]+)"
_LENGTH = (  # "0.4em", "1.5\baselineskip"; "\fontdimen2\font", perhaps times a number or macro
    rf"(?:(?:{_NUMBER}|\\[A-Za-z@]+)?{_NEXT}\\fontdimen\d+[ ]?\\font|[-+]?[\d.]*{_NAME}"
    rf"|{_NUMBER} ?(?:true ?)?(?:em|ex|pt|pc|in|bp|cm|mm|dd|cc|sp|mu|fil+)(?![A-Za-z]))"
)
_STRETCH = rf"(?:{_NEXT}(?:\\@)?plus{_NEXT}{_LENGTH})?(?:{_NEXT}(?:\\@)?minus{_NEXT}{_LENGTH})?{_NEXT}"
AMOUNTS = {  # arguments without braces, by a sign for each in the table below
    sign: re.compile(pattern)
    for sign, pattern in {
        "*": r"\*?",
        "#": rf"{_NEXT}=?{_NEXT}(?:{_NUMBER}|[-+]?{_NAME}){_NEXT}",
        "-": rf"{_NEXT}{_LENGTH}{_STRETCH}",
        "=": rf"{_NEXT}(?:={_NEXT}{_LENGTH}|(?=[-+\d.]){_LENGTH}){_STRETCH}|",
        "|": rf"(?:{_NEXT}(?:to|spread|width|height|depth){_NEXT}{_LENGTH})*{_NEXT}",
        "c": r"[^\\\n]{0,200}(?:\\[^\\\n]{0,200}){0,9}?\\endcsname",
    }.items()
}
DROPPED = {name: arguments for arguments, names in TABLES["dropped"].items() for name in names.split()}
CITING = tuple(TABLES["citing"].split())
SPACED = re.compile(  # white space in print; not "\hspace{0pt}", where a line may be broken
    r"\\h(?:skip|space\*?)(?![A-Za-z@])\s*+(?:\{\s*+)?(?![0.]+\s*[a-z]{2}(?!\s*plus\s*[\d.]*\s*fil))[\d.\\]"
)
# Before the key of an entry; its label in the style "alpha", as one with a year in brackets, of natbib, is not printed
COMMENTED, LABEL = re.compile(r"(?:\s*+%[^\n]*+\n)*+\s*+"), re.compile(r"[\w+\-*:./]{1,40}")


def encode(text: str, unicode: bool = False) -> str:
    r"""LaTeX of a plain text in composed characters (NFC), with balanced braces; `decode` gives the text again.

    unicode (bool): leave letters with accents, quotation marks and the like as they are; without it they become
        commands, such as `{\"a}`. Other alphabets always stay.
    """
    pieces = []
    for before, char in zip(f" {text}", text):
        if any(before in kind and char in kind for kind in LIGATURES) or (before in "!?" and char == "`"):
            pieces.append("{}")
        pieces.append(_encode_char(char, unicode))
    return "".join(pieces)


def decode(latex: str) -> str:
    """Plain text of LaTeX, composed. Braces and styles go; of commands that are not known the argument stays.

    Formulas, commands that are not known and have no argument, and faulty LaTeX stay as they are.

    RAISES (ImportError): if pylatexenc is not installed.
    """
    if not MARKUP.search(latex):
        return unicodedata.normalize("NFC", latex)
    read, names, fault = reader()

    def escape(match: re.Match[str]) -> str:
        if match["lone"]:
            return f"{{\\{SYMBOLS[match['lone']]}}}"
        if match["link"] is not None:
            return f"{{{match['link']}}} ({match['address']})"
        if match["command"]:
            is_shown = match["command"] in names or match.string.startswith("{}", match.end())
            return match[0] if is_shown else ""
        if match["sign"]:
            return f"{{{match['sign']}}}"
        return "" if match["aside"] else match["escaped"] or match["formula"] or f"\\{match[0]}"

    try:
        text = read(SPECIAL.sub(escape, QUOTED.sub(r"“\1”", shift_figures(latex))), tolerant_parsing=False)
    except (fault, RecursionError):
        text = latex
    return unicodedata.normalize("NFC", text)


def typed(text: str, has_shorthands: bool) -> str:
    r"""A text without commands as it is printed. has_shorthands (bool): those of babel, such as `"a` for "ä".

    >>> typed('"`Stra"se"\' --- 1"-fach', True)
    '„Straße“ — 1fach'
    """
    if has_shorthands:
        text = SHORTHAND.sub(lambda found: SHORTHANDS.get(found[1], found[1]), text)
    for written, printed in TYPED.items():
        text = text.replace(written, printed)
    return text


def si_unit(written: str) -> str:
    r"""A unit of siunitx as it is printed.

    >>> si_unit(r"\kilo\watt\hour\per\square\metre")
    'kW h/m²'
    """
    written = SQUARED.sub(lambda found: rf"{found[2]}\{POWERS[found[1]]}", written)
    text = COMMAND.sub(lambda found: SI_BEFORE.get(found[1]) or f"{SI_UNITS.get(found[1], found[1])} ", written)
    return re.sub(" (?=[/²³^])", "", text.rstrip())


def si_angle(written: str) -> str:
    """An angle of siunitx as it is printed.

    >>> si_angle("12;30;")
    '12°30′'
    """
    return "".join(f"{own.strip()}{sign}" for own, sign in zip(written.split(";"), "°′″") if own.strip())


def hide_groups(latex: str) -> tuple[str, Callable[[str], str]]:
    r"""Plain text in which all is a word that braces keep together, and a function that puts LaTeX in place of it.

    >>> hide_groups(r"{van der Lund}, {\L}. and {\'E}. Moss")[0]
    'Group1e, Ł. and É. Moss'
    """
    groups: list[str] = []
    pieces, depth, start = [], 0, 0
    for place in (match.start() for match in re.finditer("[{}]", latex)):
        is_open = latex[place] == "{"
        if is_open and depth == 0:
            pieces.append(latex[start:place])
            start = place
        depth += 1 if is_open else -1
        if depth == 0:
            group, start = latex[start : place + 1], place + 1
            is_hidden = re.search(r"[\s,]", group) and not ACCENTED.fullmatch(group)
            groups += [group] if is_hidden else []
            pieces.append(f"Group{len(groups)}e" if is_hidden else group)
    hidden = " ".join(decode("".join([*pieces, latex[start:]])).split())
    return hidden, lambda text: re.sub(r"Group(\d+)e", lambda match: groups[int(match[1]) - 1], text)


def unescape(address: str) -> str:
    r"""An identifier or address without what LaTeX needs: `\_`, `{\%}`, `\textless`, `\url{..}`, `$\sim$`, braces.

    >>> unescape(r"10.1007/978-3-319-10590-1\_53")
    '10.1007/978-3-319-10590-1_53'
    """
    address = TILDES.sub("~", URL_COMMAND.sub("", address))
    address = COMMAND.sub(lambda own: KNOWN[own[1]] if KNOWN.get(own[1], "–").isascii() else own[0], address)
    return re.sub(r"[{}]", "", re.sub(r"\\([&%$#_{};<>])", r"\1", address))


@cache
def reader() -> tuple[Callable[..., str], frozenset[str], type[Exception]]:
    """Function from LaTeX to text, the names of the commands that it knows, and its exception for faulty LaTeX."""
    known = _known()
    from pylatexenc import latex2text
    from pylatexenc.latexwalker import LatexWalkerError, get_default_latex_context_db

    macro = latex2text.MacroTextSpec
    # it fails on patterns with arguments where these are missing
    patterns = [own.macroname for own in known.iter_macro_specs() if "%" in str(own.simplify_repl)]
    macros = [macro(name, simplify_repl=_verbatim) for name in (*UNSAFE, *patterns)]
    macros += [macro(name, discard=False) for name in SHOWN]
    macros += [macro(name, simplify_repl="") for name in SWITCHES]
    # pylatexenc has no text for \textbraceleft, \textbraceright, \S, \pounds and \copyright
    macros += [macro(name, simplify_repl=char) for name, char in KNOWN.items()]
    known.add_context_category("own", macros, prepend=True, specials=[latex2text.SpecialsTextSpec("~", " ")])
    specs = [*known.iter_macro_specs(), *get_default_latex_context_db().iter_macro_specs()]
    names = frozenset(own.macroname for own in specs)
    known.set_unknown_macro_spec(macro("", simplify_repl=_verbatim))
    read = latex2text.LatexNodes2Text(latex_context=known, math_mode="verbatim").latex_to_text
    return read, names, LatexWalkerError


@cache
def signs() -> Mapping[str, str]:
    """Signs and letters by their commands. RAISES (ImportError): if pylatexenc is not installed."""
    found = {own.macroname: own.simplify_repl for own in _known().iter_macro_specs()}
    return {name: sign for name, sign in found.items() if isinstance(sign, str) and "%" not in sign} | KNOWN


def _known() -> Any:
    """What pylatexenc knows of commands."""
    with required(ReadingErrors.CRF649, ImportError):
        from pylatexenc import latex2text
    table = latex2text.get_default_latex_context_db()
    return table.filter_context(keep_categories=["latex-base", "advanced-symbols", "nonascii-specials"])


def _verbatim(node: Any) -> str:
    return str(node.latex_verbatim())


def protect_capitals(title: str, unicode: bool = False) -> str:
    """A title in LaTeX with braces around words that must keep their capitals; see `encode` for `unicode`.

    Those are words with a capital behind their first letter ("DNA"), and, in a title that has small letters otherwise,
    names. Where more than half of the longer words have a capital, capitals tell nothing about names.
    """
    words = title.split(" ")
    telling = [word for word in words[1:] if sum(map(str.isalpha, word)) > 3 and not SMALL_WORDS.fullmatch(word)]
    is_headline = sum(map(_has_capital, telling)) > len(telling) / 2
    protected = []
    for before, word in zip(["", *words], words):
        begins = not before or before.endswith((":", ".", "?", "!"))
        is_name = _has_capital(word) and not is_headline and not begins
        if is_name or _has_inner_capital(word):
            left, core, right = WORD.fullmatch(word).groups()  # type: ignore[union-attr]
            # punctuation at the ends is left out
            protected.append(f"{encode(left, unicode)}{{{encode(core, unicode)}}}{encode(right, unicode)}")
        else:
            protected.append(encode(word, unicode))
    return " ".join(protected)


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


def _has_capital(word: str) -> bool:
    return next(filter(str.isalpha, word), "").isupper()


def _has_inner_capital(word: str) -> bool:
    """Whether there is a capital within a part of a word: "MicroSketch", but not "Long-Run"."""
    return any(before.isalpha() and char.isupper() for before, char in zip(word, word[1:]))
