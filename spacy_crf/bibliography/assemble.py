"""Labelled references to entries: the fields of a Doc, whatever holds their labels, and entries with keys."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..annotation.span_targets import SpanTarget, target_of
from ..core.errors import CRFError
from ..core.labels import TagSet
from ..pipe.probabilities import LabelsTokens
from . import dates, fields
from .entry import NOBODY, Date, Entry, EntryType, Names, normalise, unique_keys
from .errors import BibliographyErrors
from .identifiers import find_identifiers, take_accessed, take_identifiers
from .names import parse_names
from .split import Reference, split_references

Segment = tuple[str, str]  # label, empty without one, and text
IN = re.compile(r"^[(\[]?\s*(?:in|ln|dans)\b\s*:?\s+(?=\S)", re.IGNORECASE)
SERIES = re.compile(r"^\(\s*=?\s*|^of\s+")
BY = re.compile(r"^(?:by|bei)\s+(?=the\b|[A-Z])")
STRAY = re.compile(r"^(?:[\"”»]|'')[\s,.;:]+")  # the end of a quotation belongs to the field before
REPEATED = re.compile(r"^[-–—_\s]{2,}[.,:;]*\s*")
FOUR_FIGURES = re.compile(r"\W*(\d{4})\s*[-–—]{1,3}\s*(\d{4})\W*")
LONGEST_REFERENCE = 20_000  # characters
SHORT, MOST_CHARACTERS = ("VOLUME", "PAGES", "DATE", "TECH"), 300  # longer ones are something else
ANNOUNCED = re.compile(r"^(?:in|to appear in|available(?: at| from)?|retrieved(?: from)?|doi|url)\W*$", re.IGNORECASE)


def cite(nlp: Language, text: str, name: str | None = None) -> list[Entry | None]:
    """Read the references of a pasted bibliography.

    nlp (Language): a pipeline for references. text (str): they are told apart by their numbers, indentation or blank
        lines.
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
    return read_entries(nlp, taggers[-1], split_references(text))


def read_entries(nlp: Language, tagger: Any, references: Iterable[Reference]) -> list[Entry | None]:
    """Label references and assemble their entries; a text of more than 20,000 characters is no reference.

    tagger (Any): the component of the pipeline that labels.
    """
    texts = [reference.text if len(reference.text) <= LONGEST_REFERENCE else "" for reference in references]
    return make_entries([read_segments(doc, tagger.target, tagger.cfg["spans_key"]) for doc in nlp.pipe(texts)])


def read_segments(doc: Doc, target: str = "ent", spans_key: str = "sc") -> list[Segment]:
    """Fields and what is between them, in order; together they have every character that is no white space.

    An identifier is a segment of its own, wherever the borders of the fields are.

    target (str): where labels are, as in the settings of `crf_tagger`: "tag", "pos", "ent", "spans" or the name of a
        token extension. spans_key (str): of the group, for "spans", of which the longer one counts where they overlap.
        Tokens of the same tag make one field, and so do those of a BIO or BILUO tag.
    """
    place = target_of(target, spans_key)
    if isinstance(place, SpanTarget):
        bounds = [(span.start, span.end, span.label_) for span in filter_spans(place.spans(doc))]
    else:
        bounds = list(_runs([tag or "" for tag in place.names(Example(doc, doc), TagSet((), "none"))]))
    found, end = [], 0
    for first, last, label in [*bounds, (len(doc), len(doc), "")]:
        found += [("", doc[end:first]), (label, doc[first:last])]
        end = last
    return [(label, text) for label, text in _set_apart(doc.text, found) if text]


def _set_apart(text: str, found: Iterable[tuple[str, Span]]) -> Iterator[Segment]:
    """Fields without identifiers, and these, whole, with the label of the field that they begin in."""
    identifiers = deque((own.start, own.end) for own in find_identifiers(text))
    taken = 0
    for label, span in found:
        start, end = span.start_char, span.end_char
        pieces, whole = [], []
        while identifiers and identifiers[0][0] < end:
            first, last = identifiers.popleft()
            pieces.append(text[max(start, taken) : first].strip())
            whole.append((label, text[first:last].strip()))
            taken = last
        pieces.append(text[max(start, taken) : end].strip())
        yield label, " ".join(filter(None, pieces))
        yield from whole


def _runs(tags: list[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and label of neighbouring tokens of a field."""
    labels = ["" if tag in ("O", "_") else re.sub("^[BILU]-", "", tag) for tag in tags]
    before = ["", *labels]
    starts = [place for place, tag in enumerate(tags) if labels[place] != before[place] or tag[:2] in ("B-", "U-")]
    return ((start, end, labels[start]) for start, end in pairwise([*starts, len(tags)]) if labels[start])


@dataclass
class Draft:
    """An entry that is being filled, field by field."""

    previous: Names = NOBODY  # authors of the reference before, for whom a dash may stand
    values: dict[str, str] = field(default_factory=dict)  # by the name of a field; `journal` and `book` are apart
    notes: list[str] = field(default_factory=list)  # what has no place
    seen: set[str] = field(default_factory=set)  # labels
    authors: Names = NOBODY
    editors: Names = NOBODY
    date: Date | None = None
    accessed: Date | None = None
    parts_of_date: list[str] = field(default_factory=list)  # without a year
    ranges: list[str] = field(default_factory=list)  # long ranges of years, or pages that were taken for years

    def add(self, label: str, text: str) -> None:
        """Take in a field. label (str): in upper case; with one that is not known the text goes to the notes."""
        identifiers, rest = take_identifiers(STRAY.sub("", text))
        self.put_all(identifiers)
        if not re.search(r"\w", rest) and not REPEATED.match(rest):
            return
        is_too_long = label in SHORT and len(rest) > MOST_CHARACTERS
        if label in TAKERS and not is_too_long:
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
        if repeated := REPEATED.match(text):
            self.authors += self.previous
            text = text[repeated.end() :]
        self.authors += self._names(text)

    def take_editors(self, text: str) -> None:
        self.editors += self._names(text)

    def _names(self, text: str) -> Names:
        names, rest = parse_names(text)
        self.add_note(rest)
        return names

    def take_book(self, text: str) -> None:
        bare = IN.sub("", text)
        is_series = bare == text and (SERIES.match(text) or "book" in self.values)
        self.put_all({"series" if is_series else "book": fields.clean(SERIES.sub("", bare))})

    def take_journal(self, text: str) -> None:
        text = IN.sub("", text).strip(" ,;:")
        is_abbreviated = re.search(r"\w\.\s", text) is not None and re.search(r"\w\.$", text[-2:]) is not None
        self.put_all({"journal": text if is_abbreviated else fields.clean(text)})

    def take_date(self, text: str) -> None:
        if is_long_range(text):
            self.ranges.append(text)
            return
        date, rest = dates.parse_date(text)
        if date is None:
            self.parts_of_date.append(text)
            return
        if is_long_range(rest):
            self.ranges.append(rest)
            rest = ""
        try:
            self.date = dates.merge_dates(self.date, date)
        except ValueError:
            # the year of publication comes last where the day of a meeting is given too
            is_exact = self.date is not None and self.date.first.day is not None
            self.date, first = (date, self.date) if is_exact else (self.date, date)
            self.add_note("" if first is None else first.iso)
        self.add_note(rest)

    def settle_dates(self) -> None:
        """Join parts of dates; long ranges of years are pages beside a date, or behind a volume."""
        for text in self.parts_of_date:
            self._take_part_of_date(text)
        for text in self.ranges:
            if "pages" not in self.values and (self.date is not None or "volume" in self.values):
                self.put_all(fields.parse_pages(text))
            elif self.date is None:
                self.date, _ = dates.parse_date(text)
            else:
                self.add_note(text)

    def _take_part_of_date(self, text: str) -> None:
        """A month or day on its own belongs to a year given elsewhere."""
        if self.date is not None and self.date.first.month is None and self.date.last is None:
            date, rest = dates.parse_date(f"{text} {self.date.first.year}{self.date.letter}")
            if date is not None and date != self.date and not rest:
                self.date = date
                return
        bare = text.strip(" ,;:()[].")
        self.add_note(f"{bare}." if "." in bare else bare)

    def take_pages(self, text: str) -> None:
        found = fields.parse_pages(text)
        if any(self.values.get(name, found[name]) != found[name] for name in ("volume", "number") if name in found):
            found = {"pages": fields.RANGE.sub("-", fields.clean(text))}  # of an article that has a number
        self.put_all(found)

    def take_report(self, text: str) -> None:
        if "arxiv" in self.values and fields.ARXIV_CLASS.fullmatch(text):
            self.add_note(fields.clean(text))
            return
        found = fields.parse_report(text)
        if "genre" in self.values and "genre" in found:
            self.add_note(fields.clean(text))
        else:
            self.put_all(found)

    def take_note(self, text: str) -> None:
        accessed, text = take_accessed(text)
        if accessed is not None and self.accessed is None:
            self.accessed = accessed
        edition = fields.parse_edition(text)
        if edition and "edition" not in self.values:
            self.values["edition"] = edition
        elif edition or re.search(r"\w", text):
            self.add_note(re.sub(r"^[\s.,;:]+", "", fields.clean(text)))


def is_long_range(text: str) -> bool:
    """Whether a text is four figures, a dash, and four figures, and too long a time for a publication."""
    found = FOUR_FIGURES.fullmatch(text)
    return found is not None and int(found[2]) - int(found[1]) > dates.LONGEST


def _text_taker(name: str) -> Callable[[Draft, str], None]:
    return lambda draft, text: draft.put_all({name: fields.clean(text)})


# What is done with the text of each label.
TAKERS: dict[str, Callable[[Draft, str], None]] = {
    "AUTHOR": Draft.take_authors,
    "EDITOR": Draft.take_editors,
    "TITLE": _text_taker("title"),
    "BOOKTITLE": Draft.take_book,
    "JOURNAL": Draft.take_journal,
    "VOLUME": lambda draft, text: draft.put_all(fields.parse_volume(text)),
    "PAGES": Draft.take_pages,
    "DATE": Draft.take_date,
    "PUBLISHER": lambda draft, text: draft.put_all({"publisher": BY.sub("", fields.clean(text))}),
    "INSTITUTION": _text_taker("publisher"),
    "LOCATION": _text_taker("place"),
    "TECH": Draft.take_report,
    "NOTE": Draft.take_note,
}


def make_entries(references: Iterable[Sequence[Segment]]) -> list[Entry | None]:
    """Entries of a bibliography, with unique keys; None for a reference without any field.

    Where an author is a dash, it is the one before. Nothing is lost: what has no field of its own is in the note.

    references (Iterable[list[tuple[str, str]]]): labels and texts of each one, as `read_segments` gives them.
    """
    entries: list[Entry | None] = []
    previous = NOBODY
    for segments in references:
        is_labelled = any(label.upper() in TAKERS for label, _ in segments)
        entry = make_entry(segments, previous) if is_labelled else None
        previous = entry.authors if entry is not None and entry.authors else previous
        entries.append(entry)
    keys = iter(unique_keys([entry for entry in entries if entry is not None]))
    return [None if entry is None else replace(entry, key=next(keys)) for entry in entries]


def make_entry(segments: Iterable[Segment], previous: Names = NOBODY) -> Entry:
    """An entry without a key, of the type that its fields tell. previous (Names): authors of the reference before."""
    draft = Draft(previous)
    for label, text in segments:
        draft.add(label.upper(), normalise(text))
    draft.settle_dates()
    values = dict(draft.values)
    kind = _type(draft)
    journal, book = values.pop("journal", ""), values.pop("book", "")
    if book and not values.get("title") and not journal and not values.get("pages") and not draft.authors:
        values["title"], book = book, ""
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
        note=_sentences(draft.notes),
        **values,
    )


def _sentences(notes: Sequence[str]) -> str:
    """Notes with a full stop between them."""
    ended = [note if note.endswith((".", "?", "!")) else f"{note}." for note in notes[:-1]]
    return " ".join([*ended, *notes[-1:]])


def _type(draft: Draft) -> EntryType:
    """A thesis is one wherever it is found; then what the work is in decides, then what it calls itself."""
    values = draft.values
    genre, number = values.get("genre", ""), values.get("number", "")
    is_report = "genre" in values or ("TECH" in draft.seen and bool(number))
    if fields.THESIS.search(genre):
        return fields.report_type(genre)
    if "journal" in values:
        return EntryType.ARTICLE
    if "book" in values and (draft.editors or not is_report):
        return EntryType.INPROCEEDINGS if fields.PROCEEDINGS.search(values["book"]) else EntryType.INCOLLECTION
    if is_report:
        return fields.report_type(genre)
    if "arxiv" in values:
        return EntryType.MISC
    if "PUBLISHER" not in draft.seen and fields.UNPUBLISHED.search(". ".join(draft.notes)):
        return EntryType.UNPUBLISHED
    if "PUBLISHER" not in draft.seen and "INSTITUTION" in draft.seen:
        return EntryType.TECHREPORT
    is_book = {"publisher", "place", "page_total", "edition", "isbn", "series"} & values.keys()
    return EntryType.BOOK if is_book or draft.editors else EntryType.MISC
