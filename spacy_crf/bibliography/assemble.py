"""Labelled references to entries with keys."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..core.errors import CRFError
from ..pipe.probabilities import LabelsTokens
from . import dates, fields
from .entry import NOBODY, Date, Entry, EntryType, Name, Names, normalise, unique_keys
from .errors import BibliographyErrors
from .identifiers import find_faults, take_accessed, take_identifiers
from .lists import print_list
from .name_forms import REPEATED, SAME_IN_WORDS, SAME_PERSON, SAME_WORK
from .names import parse_names
from .segments import ANNOUNCED, SAME, STRAY, Segment, part_title, read_segments
from .split import Reference, split_references

SERIES = re.compile(r"^\(\s*=?\s*|^of\s+")
BY = re.compile(r"^(?:by|bei)\s+(?=the\b|[A-Z])")
PERSONS, SHORT = ("AUTHOR", "EDITOR"), ("VOLUME", "PAGES", "DATE", "TECH")
LONGEST_REFERENCE, MOST_CHARACTERS = 20_000, 300  # of a reference, and of a short field: longer ones are something else


def cite(nlp: Language, text: str, name: str | None = None) -> list[Entry | None]:
    """Read the references of a pasted bibliography.

    nlp (Language): a pipeline for references. text (str): references with numbers, indents, blank lines or `\\bibitem`.
    name (str | None): the component that labels their fields; the last one that labels tokens without.
    RETURNS (list[Entry | None]): an entry for each reference, None where no field was found.
    RAISES (ValueError): for a pipeline without such a component.

    >>> import spacy
    >>> from spacy_crf import cite
    >>> nlp = spacy.load("output/constrained_ner/model-best")  # `make demo` trains it
    >>> text = "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003."
    >>> [(entry.key, entry.title) for entry in cite(nlp, text)]
    [('ferreira2003kitchen', 'The Kitchen Sonnet')]
    """
    taggers = [pipe for known, pipe in nlp.pipeline if name in (None, known) and isinstance(pipe, LabelsTokens)]
    if not taggers:
        raise CRFError(BibliographyErrors.CRF650.format(name=name, names=", ".join(nlp.pipe_names) or "none"))
    return read_entries(label_references(nlp, split_references(print_list(text))), taggers[-1])


def label_references(nlp: Language, references: Iterable[Reference]) -> list[Doc]:
    """Return the labelled Docs of references; one of more than 20,000 characters is no reference, and its Doc empty."""
    texts = (reference.text if len(reference.text) <= LONGEST_REFERENCE else "" for reference in references)
    return list(nlp.pipe(texts))


def read_entries(docs: Iterable[Doc], tagger: Any) -> list[Entry | None]:
    """Assemble the entries of labelled references. tagger (Any): the component of the pipeline that has labelled."""
    return make_entries([read_segments(doc, tagger.target, tagger.cfg.get("spans_key", "sc")) for doc in docs])


@dataclass
class Draft:
    """An entry that is being filled, field by field."""

    previous: Names = NOBODY  # whom the reference before begins with, for whom a dash may stand
    values: dict[str, str] = field(default_factory=dict)  # by the name of a field; `journal` and `book` are apart
    notes: list[str] = field(default_factory=list)  # what has no place
    seen: set[str] = field(default_factory=set)  # labels
    authors: Names = NOBODY
    editors: Names = NOBODY
    date: Date | None = None
    accessed: Date | None = None
    parts_of_date: list[str] = field(default_factory=list)  # without a year
    code: str = ""  # of its kind
    faults: list[str] = field(default_factory=list)  # of identifiers
    parted: tuple[str, str] | None = None  # a title and what a double slash parts from it
    ranges: list[str] = field(default_factory=list)  # long ranges of years, or pages that were taken for years
    behind: list[str] = field(default_factory=list)  # years behind an issue, or pages

    def add(self, label: str, text: str) -> None:
        """Take in a field. label (str): in upper case; with one that is not known the text goes to the notes."""
        self.faults += [fault for fault in map(str, find_faults(text)) if fault not in self.faults]
        identifiers, rest = take_identifiers(STRAY.sub("", normalise(text)))
        self.put_all(identifiers)
        if not re.search(r"\w", rest) and not (label in PERSONS and REPEATED.match(rest)):
            return
        if "arxiv" in self.values and fields.ARXIV_CLASS.fullmatch(rest):
            self.add_note(fields.clean(rest))
            return
        if label in TAKERS and (label not in SHORT or len(rest) <= MOST_CHARACTERS):
            self.seen.add(label)
            TAKERS[label](self, rest)
        else:
            self.add_note(rest)

    def put_all(self, found: Mapping[str, str]) -> None:
        """Set fields; those that have something else already keep it, and the new text goes to the notes."""
        for name, value in found.items():
            if name == "note" or self.values.get(name, value) != value:
                self.add_note(value)
            elif value:
                self.values[name] = value

    def add_note(self, text: str) -> None:
        """Keep a text that has no place; words that announce something else, and repetitions, are not kept."""
        text = text.strip(" ,;:–—")
        if re.search(r"\w", text) and not ANNOUNCED.match(text) and text not in self.notes:
            self.notes.append(text)

    def take_authors(self, text: str) -> None:
        self.authors += self._names(text)

    def take_editors(self, text: str) -> None:
        if re.search(r"\d", edition := fields.parse_edition(text)):  # "2. ed." is no person
            self.put_all({"edition": edition})
        else:
            self.editors += self._names(text)

    def _names(self, text: str) -> Names:
        if found := SAME_WORK.search(text):
            self.add_note(text[found.start() :])
            text = text[: found.start()]
        before, same = self.authors or self.previous, SAME_PERSON.fullmatch
        text = SAME_IN_WORDS.sub("Idem", text) if before else text
        repeated = REPEATED.match(text)
        names, rest = parse_names(text[repeated.end() :] if repeated else text)
        self.add_note(rest)
        parts = (before if before and name.is_whole and same(name.family) else Names((name,)) for name in names.names)
        return sum(parts, before if repeated else NOBODY) + Names(others=names.others)

    def take_title(self, text: str) -> None:
        title, container = part_title(text)
        if found := fields.CODE.search(title):
            text, self.code = title[: found.start()], found["code"]
        elif container and "title" not in self.values:
            self.parted, container = (title, container), ""
        self.put_all({"title": fields.clean(text)})
        if container:
            self.take_container(container)

    def settle_title(self) -> None:
        """What a double slash parts from a title is its journal or book, unless another one is named."""
        if self.parted and not {"journal", "book"} & self.values.keys():
            self.values["title"] = fields.clean(self.parted[0])
            self.take_container(self.parted[1])

    def take_book(self, text: str) -> None:
        bare = fields.IN.sub("", text)
        is_series = bare == text and (SERIES.match(text) or "book" in self.values)
        self.put_all({"series" if is_series else "book": fields.clean(SERIES.sub("", bare))})

    def take_container(self, text: str) -> None:
        """Take in a journal or a book, where labels do not tell which one."""
        is_book = fields.IN.match(text) or fields.PROCEEDINGS.search(text) or self.editors
        (self.take_book if is_book else self.take_journal)(text)

    def take_journal(self, text: str) -> None:
        text = fields.IN.sub("", text).strip(" ,;:")
        is_abbreviated = re.search(r"\w\.\s", text) is not None and re.search(r"\w\.$", text[-2:]) is not None
        self.put_all({"journal": text if is_abbreviated else fields.clean(text)})

    def take_date(self, text: str) -> None:
        if dates.is_long_range(text):
            self.ranges.append(text)
            return
        date, rest = dates.parse_date(text)
        if date is None:
            self.parts_of_date.append(text)
            return
        if dates.is_long_range(rest):
            self.ranges, rest = [*self.ranges, rest], ""
        try:
            self.date = dates.merge_dates(self.date, date)
        except ValueError:
            # the year of publication comes last where the day of a meeting is given too
            is_exact = self.date is not None and self.date.first.day is not None
            self.date, first = (date, self.date) if is_exact else (self.date, date)
            self.add_note("" if first is None else first.iso)
        edition, note = dates.part_rest(text, rest)
        self.put_all({"edition": edition, "note": note})

    def settle_dates(self) -> None:
        """Join parts of dates; figures behind an issue, and long ranges of years, are pages beside another date."""
        for text in self.behind:
            is_other = self.date is not None and fields.YEARS.fullmatch(text) and str(self.date.first.year) != text[:4]
            self.put_all(fields.parse_pages(text)) if is_other else self.take_date(text)
        for text in self.parts_of_date:
            self._take_part_of_date(text)
        for text in self.ranges:
            is_behind_volume = {"volume", "journal"} <= self.values.keys() and "(" not in text
            if "pages" not in self.values and (self.date is not None or is_behind_volume):
                self.put_all(fields.parse_pages(text))
            else:
                self.date, rest = (self.date, text) if self.date is not None else dates.parse_date(text)
                self.add_note(rest)
        number = self.values.get("number", "") if "volume" in self.values else ""
        years, rest = dates.parse_date(number) if fields.YEARS.fullmatch(number) else (None, "")
        if years and not rest:
            self.date = self.date or years
            if self.date == years or number == str(self.date.first.year):
                del self.values["number"]  # "12 (2003)" and "12 (1898/99)"

    def _take_part_of_date(self, text: str) -> None:
        """A month or day on its own belongs to a year given elsewhere."""
        if self.date is not None and self.date.first.month is None and self.date.last is None:
            date, rest = dates.parse_date(f"{text} {self.date.first.year}{self.date.letter}")
            if date is not None and date != self.date and not rest:
                self.date = date
                return
        bare = text.strip(" ,;:()[].")
        self.add_note(f"{bare}." if "." in bare else bare)

    def take_volume(self, text: str) -> None:
        if year := fields.YEAR_OF_VOLUME.search(text):
            self.take_date(year[2])
            text = f"{text[: year.start()]}, {text[year.end() :]}".lstrip(" ,")
        found = fields.YEAR_BEHIND.search(text)
        if found and "number" in fields.parse_volume(text[: found.start()]):
            self.take_date(found["date"]) if "(" in found[0] else self.behind.append(found["date"].strip())
            text = text[: found.start()]
        self.put_all(fields.parse_volume(text))

    def take_pages(self, text: str) -> None:
        found = fields.parse_pages(text)
        if any(self.values.get(name, found[name]) != found[name] for name in ("volume", "number") if name in found):
            found = {"pages": fields.RANGE.sub("-", fields.clean(text))}  # of an article that has a number
        self.put_all(found)

    def take_report(self, text: str) -> None:
        found = fields.parse_report(text)
        genre = self.values.get("genre", "")
        if genre and fields.THESIS.search(found.get("genre", "")) and not fields.THESIS.search(genre):
            self.add_note(" ".join(filter(None, [genre, self.values.pop("number", "")])))  # a number of a publication
            self.values.update(found)
        elif (genre and "genre" in found) or fields.MEDIA.fullmatch(found.get("genre", "")):
            self.add_note(fields.clean(text))
        else:
            self.put_all(found)

    def take_edition(self, text: str) -> None:
        self.put_all({"edition": fields.bare_edition(text)})

    def take_note(self, text: str) -> None:
        accessed, text = take_accessed(text)
        self.accessed = self.accessed or accessed
        edition = fields.parse_edition(text)
        if edition and "edition" not in self.values:
            self.values["edition"] = edition
        elif edition or re.search(r"\w", text):
            self.add_note(re.sub(r"^[\s.,;:]+", "", fields.clean(text)))


def _text_taker(name: str) -> Callable[[Draft, str], None]:
    return lambda draft, text: draft.put_all({name: fields.clean(text)})


# What is done with the text of each label.
TAKERS: dict[str, Callable[[Draft, str], None]] = {
    "AUTHOR": Draft.take_authors,
    "EDITOR": Draft.take_editors,
    "TITLE": Draft.take_title,
    "BOOKTITLE": Draft.take_book,
    "JOURNAL": Draft.take_journal,
    "VOLUME": Draft.take_volume,
    "PAGES": Draft.take_pages,
    "DATE": Draft.take_date,
    "PUBLISHER": lambda draft, text: draft.put_all({"publisher": BY.sub("", fields.clean(text))}),
    **{"INSTITUTION": _text_taker("publisher"), "LOCATION": _text_taker("place")},
    "TECH": Draft.take_report,
    "NOTE": Draft.take_note,
    "COURT": lambda draft, text: setattr(draft, "authors", Names((Name(text),))),
    "CONTAINER": Draft.take_container,
    "COLLECTION-TITLE": lambda draft, text: draft.put_all({"series": fields.clean(SERIES.sub("", text))}),
    "EDITION": Draft.take_edition,
    "CITATION-NUMBER": lambda draft, text: None,  # no part of the reference
}


def make_entries(references: Iterable[Sequence[Segment]]) -> list[Entry | None]:
    """Entries of a bibliography, with unique keys; None for a reference without any field.

    Where an author or editor is a dash, it is the one before. What has no field of its own is in the note.

    references (Iterable[list[tuple[str, str]]]): labels and texts of each one, as `read_segments` gives them.
    """
    entries: list[Entry | None] = []
    previous = NOBODY
    for segments in references:
        is_labelled = any(label.upper() in TAKERS | SAME for label, _ in segments)
        made = make_entry(segments, previous) if is_labelled else Entry()
        entry = None if replace(made, type=EntryType.MISC) == Entry() else made  # marks alone say nothing
        previous = (entry.authors or entry.editors or previous) if entry is not None else previous
        entries.append(entry)
    keys = iter(unique_keys([entry for entry in entries if entry is not None]))
    return [None if entry is None else replace(entry, key=next(keys)) for entry in entries]


def make_entry(segments: Iterable[Segment], previous: Names = NOBODY) -> Entry:
    """An entry without a key, of the type that its fields tell. previous (Names): whom a dash stands for."""
    draft = Draft(previous)
    for label, text in segments:
        draft.add(SAME.get(label.upper(), label.upper()), normalise(text))
    draft.settle_title()
    draft.settle_dates()
    values = dict(draft.values)
    kind = _type(draft)
    journal, book = values.pop("journal", ""), values.pop("book", "")
    if book and not values.get("title") and not journal and not values.get("pages") and not draft.authors:
        values["title"], book = book, ""
    if kind is EntryType.BOOK and fields.ROMAN_AND_TOTAL.fullmatch(values.get("pages", "")):
        values.setdefault("page_total", values.pop("pages"))
    if journal and book:
        draft.put_all({"series": book})
        values["series"] = draft.values["series"]
    return Entry(
        type=kind,
        authors=draft.authors,
        editors=draft.editors,
        container=journal or book,
        date=draft.date,
        accessed=draft.accessed,
        note=fields.join_notes(draft.notes),
        invalid="; ".join(draft.faults),
        **values,
    )


def _type(draft: Draft) -> EntryType:
    """A thesis is one wherever it is found; then what the work is in decides, then what it calls itself."""
    values = draft.values
    genre, number = values.get("genre", ""), values.get("number", "")
    is_report = "genre" in values or ("TECH" in draft.seen and bool(number)) or draft.code in ("R", "S")
    if fields.THESIS.search(genre) or draft.code == "D":
        return fields.report_type(genre if fields.THESIS.search(genre) else "thesis")
    if "journal" in values:
        return EntryType.ARTICLE
    kind = fields.report_type(genre, number)
    is_meeting = fields.PROCEEDINGS.search(values.get("book", ""))
    if "book" in values and (draft.editors or not is_report or (is_meeting and kind is EntryType.MISC)):
        return EntryType.INPROCEEDINGS if is_meeting else EntryType.INCOLLECTION
    if is_report:
        return kind
    if "arxiv" in values:
        return EntryType.MISC
    if "PUBLISHER" not in draft.seen and fields.UNPUBLISHED.search(". ".join(draft.notes)):
        return EntryType.UNPUBLISHED
    if "PUBLISHER" not in draft.seen and "INSTITUTION" in draft.seen:
        return EntryType.TECHREPORT
    is_book = {"publisher", "place", "page_total", "edition", "isbn", "series"} & values.keys()
    return EntryType.BOOK if is_book or draft.editors else EntryType.MISC
