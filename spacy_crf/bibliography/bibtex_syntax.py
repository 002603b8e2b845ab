"""The syntax of BibTeX: a .bib file to its entries as they are written, by pybtex; an error costs no other entry."""

import re
from collections import UserDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pybtex.bibtex.utils import split_name_list
from pybtex.database import Person, PybtexError
from pybtex.database.input.bibtex import LowLevelParser, month_names
from pybtex.scanner import Pattern, PrematureEOF, PybtexSyntaxError, Token

from ..core.errors import CRFError
from ..reading.latex import decode, hide_groups
from .entry import Name, normalise
from .errors import BibliographyErrors
from .name_forms import IN_SPEECH, SUFFIX_LAST
from .names import listed_by_commas

PERSONS = {"author", "editor"}
NO_ENTRIES = ("string", "preamble")
NO_KEY = "\ue000"
# Neither "@misc{a=b," nor "@string{a = "
KEYLESS = re.compile(
    r"(?im)^([ \t]*@(?!string|preamble|comment)\w+\s*\{\s{0,20})"
    r"(?:,(?=\s{0,20}[\w-]+\s*=)|(?=[\w-]+(?:\s+=|=\s*[\"{])))"
)
ENTRY = re.compile(r"(?:^|(?<=[}),]))[ \t]*@\w+\s*[{(]", re.MULTILINE)
# An entry that is within another, whose braces or quotes are not closed
WITHIN = re.compile(r"(?<=\n)[ \t]*@(?!comment)\w+\s*[{(]\s*[^\s,{}()=\"]+\s*,", re.IGNORECASE)
FIELD = re.compile(r"\s*[A-Za-z][\w-]*\s*=")
# Behind an entry that a brace too many has ended
STRAY = re.compile(rf"\s*,{FIELD.pattern}|{FIELD.pattern}\s*(?:[{{\"]|\d+\s*[,}}])")
MOST_EXPANDED = 10_000_000  # characters that strings may add to a file
SPARE_READ, MOST_READ = 500_000, 4  # characters behind entries that do not end, in any file, and times its own


@dataclass
class Written:
    """An entry as it is written: fields by their names in small letters, in LaTeX, with strings put in place."""

    kind: str
    key: str
    fields: dict[str, str] = field(default_factory=dict)
    persons: dict[str, list[Name]] = field(default_factory=dict)


def parse_bibtex(text: str) -> tuple[list[Written], list[str]]:
    """Return the entries of a file in its order, and what is wrong in it.

    Of an entry with an error of syntax, the fields before it are kept; reading goes on at the next entry.

    RAISES (ValueError): if too many entries do not end, or if strings expand to more than ten million characters.
    """
    parser = ForgivingParser(KEYLESS.sub(rf"\1{NO_KEY},", text))
    written: list[Written] = []
    taken: set[str] = set()
    for command, (key, fields) in parser.commands():
        entry, faults = _entry(command.lower(), key, fields)
        if fields or key != parser.broken:
            written.append(entry)
        if key and key.lower() in taken:
            faults.insert(0, f"repeated entry {key}")
        taken.add(entry.key.lower())
        parser.faults += faults
    undefined = [f"undefined string {name}" for name in dict.fromkeys(parser.macros.unknown)]
    return written, parser.faults + undefined


class ForgivingParser(LowLevelParser):
    """A parser that goes on behind errors, and keeps them: faults (list[str]).

    broken (str | None): key of the last entry with an error of syntax.
    """

    pos: int
    current_fields: list[tuple[str, Sequence[str]]]
    # with spaces as well, which BibTeX does not take
    KEY_BRACE = KEY_PAREN = Pattern(r"[^\s,}]+(?:[ \t]+[^\s,}=]+)*(?=\s*,)|[^\s,}]+", "entry key")

    def __init__(self, text: str) -> None:
        super().__init__(text, macros=Strings(month_names))
        self.faults: list[str] = []
        self.broken: str | None = None
        self.n_read_again = 0
        self.next: dict[Pattern, re.Match[str] | None] = {}

    def commands(self) -> Iterator[tuple[str, tuple[str, Sequence[tuple[str, Sequence[str]]]]]]:
        """Yield each entry: its type, its key, and its fields with their parts."""
        return (found for found in self if found[0].lower() not in NO_ENTRIES and found[1][0] is not None)

    def parse_entry_fields(self) -> None:
        """Read the fields of an entry, those behind a comma that is missing as well."""
        super().parse_entry_fields()
        while FIELD.match(self.text, self.pos):
            self.faults.append(f"no comma before line {self.lineno}, in {self.current_entry_key}")
            super().parse_entry_fields()

    def skip_to(self, patterns: Sequence[Pattern]) -> Token | None:
        """Go behind the first of some patterns; each is looked for once, however often it lies behind others."""
        if self.AT in patterns and STRAY.match(self.text, self.pos):
            where = f"{self.current_entry_key or 'a command'} in line {self.lineno}"
            self.faults.append(f"fields behind the end of {where}, not read")
        for pattern in patterns:
            found = self.next.get(pattern)
            if pattern not in self.next or (found and found.start() < self.pos):
                self.next[pattern] = pattern.search(self.text, self.pos)
        ends = [(found.end(), pattern) for pattern in patterns if (found := self.next[pattern])]
        if not ends:
            return None
        end, pattern = min(ends, key=lambda found: found[0])
        value = self.text[self.pos : end]
        self._go(end)
        return Token(value, pattern)

    def handle_error(self, error: PybtexSyntaxError) -> None:
        """Go on at the next entry; of one that does not end, at the next line that looks like the start of another."""
        key = self.current_entry_key
        self.broken = key
        self.faults.append(f"{error}, in {key}" if key and key != NO_KEY else str(error))
        line, start = self.text.rfind("\n", 0, self.pos) + 1, self.command_start + 1
        if not isinstance(error, PrematureEOF):
            within = WITHIN.search(self.text, start, line)
            start = within.start() if within else max(line, start)
            if within:  # a field that has begun in this one has ended in another
                self.current_fields = [own for own in self.current_fields if not WITHIN.search("".join(own[1]))]
        self.n_read_again += max(self.pos - start, 0)
        if self.n_read_again > SPARE_READ + MOST_READ * len(self.text):
            raise CRFError(BibliographyErrors.CRF643.format(error=self.faults[-1])) from error
        entry = ENTRY.search(self.text, start)
        self._go(entry.start() if entry else self.end_pos)
        self.next.clear()

    def _go(self, place: int) -> None:
        passed = self.text[min(place, self.pos) : max(place, self.pos)]
        self.lineno += (1 if place > self.pos else -1) * len(self.NEWLINE.findall(passed))
        self.pos = place


class Strings(UserDict[str, str]):
    """Strings of a file by their names, in any case; there is a limit to what they add to it.

    One that is not defined, such as `sept`, stands for its name. unknown (list[str]): these.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(known)
        self.n_expanded = 0
        self.unknown: list[str] = []

    def __setitem__(self, name: str, value: str) -> None:
        self.data[name.lower()] = value

    def __getitem__(self, name: str) -> str:
        if name.lower() not in self.data:
            self.unknown.append(name)
            return name
        value = self.data[name.lower()]
        self.n_expanded += len(value)
        if self.n_expanded > MOST_EXPANDED:
            raise CRFError(BibliographyErrors.CRF629.format(name=name, limit=MOST_EXPANDED))
        return value


def _entry(kind: str, key: str, fields: Sequence[tuple[str, Sequence[str]]]) -> tuple[Written, list[str]]:
    entry = Written(kind, key.replace(NO_KEY, ""))
    faults = [f"spaces in the key {key}"] if key.split()[1:] else []
    for name, parts in fields:
        value, known = " ".join("".join(parts).split()), name.lower()
        if known in entry.fields or known in entry.persons:
            faults.append(f"entry with key {entry.key} has a duplicate {name} field")
        elif known in PERSONS:
            entry.persons[known], is_right = _parse_persons(value)
            faults += [] if is_right else [f"commas between the names {value}"]
        else:
            entry.fields[known] = value
    return entry, faults


def _parse_persons(text: str) -> tuple[list[Name], bool]:
    """The names of a field, and whether they are parted by "and", as they have to be, and not by commas."""
    found, is_right = list[Name](), True
    persons = split_name_list(text)
    if len(persons) == 2 and persons[0].endswith(",") and IN_SPEECH.fullmatch(hide_groups(text)[0]):
        persons = [text]
    for person in persons:
        person = person if SUFFIX_LAST.fullmatch(person) else person.strip(" ,")
        plain, show = hide_groups(person) if "," in person else (person, str)
        told = Name.of_told(plain)
        names = (told,) if told else listed_by_commas(plain)
        listed = [(name.given, "", name.particle, name.family, name.suffix) for name in names]
        found += [_name(Person("", *map(show, parts))) for parts in listed] or [_name(_parse_person(person))]
        is_right &= bool(told) or not listed
    return found, is_right


def _parse_person(text: str) -> Person:
    """A name as BibTeX reads it; one with more commas than BibTeX knows is a family name."""
    try:
        return Person(text)
    except PybtexError:
        return Person(last=text)


def _name(person: Person) -> Name:
    given = _plain([*person.first_names, *person.middle_names])
    return Name(_plain(person.last_names), given, _plain(person.prelast_names), _plain(person.lineage_names))


def _plain(words: Sequence[str]) -> str:
    return normalise(decode(" ".join(words)))
