r"""The text of LaTeX, token by token, with what its macros stand for in their place."""

import re
import tomllib
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from ...core.errors import CRFError
from ...reading.latex import AMOUNTS, DROPPED
from ..errors import SectionErrors

GAP = re.compile(r"[ \t]*+(?:\n(?![ \t]*+\n)[ \t]*+)?")  # white space without a blank line
TOKEN = re.compile(
    rf"\\(?P<command>[A-Za-z@]+)(?P<star>\*?)(?P<gap>{GAP.pattern})|\\(?P<sign>[^A-Za-z@]|\Z)"
    r"|(?P<comment>%[^\n]*+(?:\n[ \t]*+(?!\n))?)|(?P<paragraph>\n[ \t]*+\n\s*+)|(?P<special>\$\$|[{}&~$])"
    r"|(?P<text>(?:[^\\{}%&~$\n]++|\n(?![ \t]*+\n))++)"
)
CLOSING = {"{": "}", "[": "]", "(": ")"}
BRACES = {sign: re.compile(rf"\\.|%[^\n]*|[{{}}{re.escape(sign)}]", re.DOTALL) for sign in CLOSING.values()}
ANY = re.compile(".", re.DOTALL)
ONE = re.compile(r"\\[A-Za-z@]+|\\?.", re.DOTALL)
NAME = re.compile(r"\\?([A-Za-z@]+\*?|.)", re.DOTALL)
SLIDES = r"(?:[a-z]+[@:])?[\d+.-][\d+,.()-]*"
OVERLAY = re.compile(rf"<{SLIDES}(?:\s?\|\s?{SLIDES})*>")  # of beamer: "<2->", "<+-| alert@+>"
ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z@]+\Z")
STAR, EQUALS = re.compile(r"\*?"), re.compile(r"\s*=")
BEFORE_BRACE = re.compile(r"[^{}\\%\n]*+")
BLANK_LINE = re.compile(r"\n[ \t]*+\n")
PARAMETER = re.compile(r"#([1-9])")
TABLES = tomllib.loads((files(__package__) / "latex.toml").read_text(encoding="utf8"))
NO_CONDITION = frozenset({"iff", "ifoot", "ifthenelse", "iftoggle", "ifbool"})
FLAG = re.compile(r"([A-Za-z@]+)(true|false)")
BRANCH = re.compile(  # an end of a branch; or what looks so: a definition, what \ifx compares, an escape, a comment
    r"\\(?:newif|let)\s*\\if[A-Za-z@]*|\\(?P<name>else|fi|or|if[A-Za-z@]*)(?![A-Za-z@])"
    r"(?:(?<=\\ifx)(?:\s*\\[A-Za-z@]+){1,2}|(?P<brace>\s*\{))?|\\.|%[^\n]*",
    re.DOTALL,
)
VALUE = r"\s*+(?:\\value\s*\{[^{}]*\}|\\[A-Za-z@]++|-?[\d.]++[a-z]*+)\s?"
NUMBER, COMPARED = re.compile(VALUE), re.compile(rf"{VALUE}(?:\s*[<=>]{VALUE})?")
TEST = re.compile(r"\s*\\boolean\s*\{([^{}]*)\}\s*")
MOST_MADE, TIMES = 1_000_000, 10  # characters that macros and other files may add, and times those of the document
OF_MACRO, OF_FILE, MOST_UNKNOWN = 10, 5_000, 100  # what they cost beside their characters; conditionals looked for


@cache
def macros_of(text: str) -> Mapping[str, "Macro"]:
    """The macros that a text defines."""
    source = LatexSource(Path(), text, frozenset(), {})
    list(iter(source.next, None))
    return source.macros


@dataclass(frozen=True, slots=True)
class Macro:
    """What a command stands for. default (str | None): of the first argument, where it may be left out."""

    text: str
    arguments: int = 0
    default: str | None = None


class LatexSource:
    """Reads a document. reserved (Set[str]): commands that keep their meaning, whatever the document makes of them;
    macros (Mapping): others that it need not define."""

    def __init__(self, path: Path, text: str, reserved: Set[str], macros: Mapping[str, Macro]) -> None:
        self.path, self.reserved = path, reserved
        self.macros = dict(macros)
        self._flags: dict[str, bool] = {"pdf": True}  # of conditionals
        self._open = 0  # conditionals that the text is in
        self._plain = set(NO_CONDITION)  # commands that begin with "if", and are no conditionals
        self._unknown = 0  # such commands of which nothing was known
        self._most = self._left = MOST_MADE + TIMES * len(text)
        self._waiting = [(text, 0)]  # texts within each other, and where it goes on in them

    def next(self) -> re.Match[str] | None:
        """The next token that is no macro, None at the end."""
        while self.peek() and (token := TOKEN.match(*self._waiting[-1])):  # all that there is is some token
            self._go_to(token.end())
            name = token["command"]
            if token["star"] and name in self.macros:  # it has no other form with a star
                self._go_to(token.start("star"))
            if name is None or not (self._define(name) or self._decide(name) or self.expand(name)):
                return token
        return None

    def peek(self) -> str:
        """The next character, "" at the end."""
        while self._waiting:
            text, place = self._waiting[-1]
            if place < len(text):
                return text[place]
            self._waiting.pop()
        return ""

    def push(self, text: str, cost: int = OF_MACRO) -> None:
        """Read this before what is left."""
        self._spend(len(text) + cost)
        self._waiting.append((text, 0))

    def take(self, pattern: re.Pattern[str]) -> str:
        """What fits a pattern here, which is read then; "" for nothing."""
        found = pattern.match(*self._waiting[-1]) if self.peek() else None
        if found is None:
            return ""
        self._go_to(found.end())
        return found[0]

    def until(self, mark: str, most: int = 0) -> str:
        """What stands before a mark, which is read as well; without any, all that is left, or nothing.

        most (int): characters within which the mark must be found, or nothing is read; 0 for any number.
        """
        if not self.peek():
            return ""
        text, place = self._waiting[-1]
        end = text.find(mark, place, place + most if most else len(text))
        if end < 0 and most:
            return ""
        end = len(text) if end < 0 else end
        self._go_to(min(end + len(mark), len(text)))
        return text[place:end]

    def opens(self, opening: str) -> bool:
        """Whether this comes next, such as the brace of an argument."""
        self.peek()
        gap = GAP.match(*self._waiting[-1]) if self._waiting else None
        return gap is not None and gap.string.startswith(opening, gap.end())

    def argument(self) -> str:
        """An argument: what is in braces, or a command or character."""
        if self.opens("{") or (self.take(OVERLAY) and self.opens("{")):
            return self._enclosed("{") or ""
        self.take(GAP)
        return self.take(ONE)

    def option(self, opening: str = "[") -> str | None:
        """An argument that may be left out."""
        return self._enclosed(opening) if self.opens(opening) else None

    def enter(self) -> bool:
        """Go on within the braces of an argument, if it comes next in braces."""
        if not self.opens("{") and not (self.take(OVERLAY) and self.opens("{")):
            return False
        self.take(GAP)
        self._go_to(self._waiting[-1][1] + 1)
        return True

    def drop(self, name: str) -> None:
        """Leave out the arguments of a command or environment that are not shown; of others what is in []."""
        for opening in DROPPED.get(name, "[" if self.peek() == "[" else ""):
            if opening == "{":
                self.argument()
            elif opening in AMOUNTS:
                self.take(AMOUNTS[opening])
            else:
                self.option(opening)

    def expand(self, name: str) -> bool:
        """Put what a macro stands for in its place. Returned is whether there is such a macro."""
        macro = self.macros.get(name)
        if macro is None:
            return False
        given: list[str] = []
        if macro.default is not None:
            option = self.option()
            given.append(macro.default if option is None else option)
        given += [self.argument() for _ in range(macro.arguments - len(given))]
        self._spend(macro.text.count("#") * max(map(len, given), default=0))
        text = PARAMETER.sub(lambda found: given[int(found[1]) - 1] if int(found[1]) <= len(given) else "", macro.text)
        self.push(text + (self.take(STAR) if ENDS_IN_COMMAND.search(text) else ""))
        return True

    def _define(self, name: str) -> bool:
        """Read the definition of a macro, if this is one."""
        if name in TABLES["of_macros"]:
            own = self._name(self.argument())
            self._keep(own, *self._parameters(), self.argument())
        elif name in TABLES["of_environments"]:
            own = self.argument()
            parameters = self._parameters()
            self._keep(f"begin {own}", *parameters, self.argument())
            self._keep(f"end {own}", 0, None, self.argument())
        elif name == "def":
            own = self._name(self.argument())
            self._keep(own, self.take(BEFORE_BRACE).count("#"), None, self.argument())
        elif name == "let":
            own = self._name(self.argument())
            self.take(EQUALS)
            other = self._name(self.argument())
            macro = Macro(f"\\{other}") if other in self.reserved else self.macros.get(other)
            if own.startswith("if") and (other in ("iftrue", "iffalse") or other[2:] in self._flags):
                self._flags[own[2:]] = self._flags.get(other[2:], other == "iftrue")
            elif macro is not None and own not in self.reserved:
                self.macros[own] = macro
        elif name == "newif":
            self._flags.setdefault(self._name(self.argument()).removeprefix("if"), False)
        elif name in ("newboolean", "provideboolean", "newtoggle", "newbool"):
            self._flags.setdefault(self.argument(), False)
        elif name == "setboolean":
            own = self.argument()
            self._flags[own] = self.argument().strip() == "true"
        elif name in ("toggletrue", "togglefalse", "booltrue", "boolfalse"):
            self._flags[self.argument()] = name.endswith("true")
        elif (flag := FLAG.fullmatch(name)) is not None and name not in ("iftrue", "iffalse", *self.macros):
            self._flags[flag[1]] = flag[2] == "true"
        else:
            return False
        return True

    # -- conditionals

    def _decide(self, name: str) -> bool:
        """Go on in the branch of a conditional that holds, if this is one, or behind its end. Comparisons of numbers,
        and what depends on more than is in the document, count as false."""
        if name in ("else", "or") and self._open:
            self._open -= 1
            while self._leave_branch() not in ("fi", ""):
                pass
        elif name == "fi":
            self._open = max(0, self._open - 1)
        elif name == "ifcase":
            mark, number = "or", self.take(NUMBER).strip()
            for _ in range(min(int(number), MOST_MADE) if number.isdecimal() else 0):
                if mark == "or":
                    mark = self._leave_branch()
            self._open += mark not in ("fi", "")
        elif name in ("ifthenelse", "iftoggle", "ifbool"):
            asked, *branches = self.argument(), self.argument(), self.argument()
            test = TEST.fullmatch(asked)
            self.push(branches[not self._flags.get(test[1] if test else asked)])
        elif not self._begins(name, self.opens("{"), self._open):
            return False  # of a package, with its branches in braces: \ifdef\name{}{}, or no condition: \ifoot[]{}
        elif CONDITIONS.get(name, lambda source: source._flags.get(name[2:], False))(self):
            self._open += 1
        else:
            while (mark := self._leave_branch()) == "or":
                pass
            self._open += mark == "else"
        return True

    def _may_begin(self, name: str, in_braces: bool) -> bool:
        """Whether a command may be a conditional. in_braces (bool): whether braces come next."""
        if not name.startswith("if") or name in self._plain or name in self.macros:
            return False
        return not in_braces or name[2:] in self._flags or name in CONDITIONS

    def _begins(self, name: str, in_braces: bool, depth: int) -> bool:
        """Whether it is one. If nothing is known of it, it needs an end beside those of the conditionals it is in."""
        if name[2:] not in self._flags and name not in CONDITIONS and self._may_begin(name, in_braces):
            self._unknown += 1
            if self._unknown <= MOST_UNKNOWN and self._has_end(depth):
                self._flags[name[2:]] = False
            else:
                self._plain.add(name)
        return self._may_begin(name, in_braces)

    def _has_end(self, depth: int) -> bool:
        """Whether more conditionals end than begin from here to some place, by more than so many."""
        for text, place in reversed(self._waiting):
            for found in BRANCH.finditer(text, place):
                name = found["name"] or ""
                depth += self._may_begin(name, found["brace"] is not None) - (name == "fi")
                if depth < 0:
                    return True
        return False

    def _leave_branch(self) -> str:
        """Go on behind a branch of a conditional that is not among the open ones. Returned is its end, or ""."""
        depth = 0
        while self.peek():
            text, place = self._waiting[-1]
            for found in BRANCH.finditer(text, place):
                name = found["name"] or ""
                self._go_to(found.end("name" if name else 0))
                if name in ("else", "or", "fi") and not depth:
                    self.take(GAP)
                    return name
                depth += self._begins(name, found["brace"] is not None, self._open + 1 + depth) - (name == "fi")
            self._go_to(len(text))
        return ""

    def _same(self) -> bool:
        """Whether the two tokens that come next mean the same."""
        one, other = ((self.take(GAP), self.take(ONE))[1] for _ in range(2))
        return one == other or self.macros.get(one[1:], one) == self.macros.get(other[1:], other)

    def _pass_numbers(self) -> bool:
        """Read a comparison or a number, of which nothing is known: they are of the page, as a rule."""
        self.take(COMPARED)
        return False

    def _is_known(self) -> bool:
        name = self._name(self.argument())
        return name in self.macros or name in self.reserved

    def _parameters(self) -> tuple[int, str | None]:
        """How many arguments a macro has, and the default of the first."""
        count = (self.option() or "0").strip()
        return int(count) if count in tuple("123456789") else 0, self.option()

    def _keep(self, name: str, arguments: int, default: str | None, text: str) -> None:
        if name and name not in self.reserved:
            self.macros[name] = Macro(text, arguments, default)

    def _name(self, command: str) -> str:
        found = NAME.fullmatch(command.strip())
        return found[1] if found else ""

    def _enclosed(self, opening: str) -> str | None:
        """The text in braces. Where they are not closed, that of the paragraph, and None in other braces than {}."""
        self.take(GAP)
        text, place = self._waiting[-1]
        closing, depth, end = CLOSING[opening], 0, -1
        for found in BRACES[closing].finditer(text, place + 1):
            sign = found[0]
            if sign == closing and not depth:
                end = found.start()
                break
            depth += (sign == "{") - (sign == "}")
            if depth < 0:
                break
        self._spend((end if end >= 0 else len(text)) - place)
        if end < 0:
            if closing != "}":
                return None
            blank = BLANK_LINE.search(text, place)
            end = blank.start() if blank else len(text)
        self._go_to(end + text.startswith(closing, end))
        return text[place + 1 : end]

    def _go_to(self, place: int) -> None:
        self._waiting[-1] = self._waiting[-1][0], place

    def _spend(self, characters: int) -> None:
        """Count what is read twice. RAISES (ValueError): if it is too much."""
        self._left -= characters
        if self._left < 0:
            raise CRFError(SectionErrors.CRF482.format(path=self.path, most=self._most))


CONDITIONS: dict[str, Callable[[LatexSource], bool]] = {
    **{"iftrue": lambda source: True, "iffalse": lambda source: False, "ifdefined": LatexSource._is_known},
    **dict.fromkeys(("ifx", "if", "ifcat"), LatexSource._same),
    **dict.fromkeys(("ifnum", "ifdim", "ifodd"), LatexSource._pass_numbers),
    "ifcsname": lambda source: source.until(r"\endcsname") in source.macros,
}
