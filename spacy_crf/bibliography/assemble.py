"""Labelled references to entries."""

import unicodedata
from collections.abc import Iterable, Sequence

from .draft import TAKERS, Draft
from .entry import NOBODY, Entry, EntryType, Names
from .fields import THESIS, UNPUBLISHED, is_proceedings, report_type
from .keys import unique_keys
from .segments import Segment


def make_entries(references: Iterable[Sequence[Segment]]) -> list[Entry | None]:
    """Entries of a bibliography, with unique keys.

    Where an author is a dash, it is the one before. Nothing is lost: what has no field of its own is in the note.

    references (Iterable[list[tuple[str, str]]]): labels and texts of each one, as `read_segments` gives them.
    RETURNS (list[Entry | None]): one for each; None for one without any field.
    """
    entries: list[Entry | None] = []
    previous = NOBODY
    for segments in references:
        is_labelled = any(label.upper() in TAKERS for label, _ in segments)
        entry = make_entry(segments, previous) if is_labelled else None
        previous = entry.authors if entry is not None and entry.authors else previous
        entries.append(entry)
    found = [entry for entry in entries if entry is not None]
    keyed = iter(entry.with_key(key) for entry, key in zip(found, unique_keys(found)))
    return [None if entry is None else next(keyed) for entry in entries]


def make_entry(segments: Iterable[Segment], previous: Names = NOBODY) -> Entry:
    """An entry without a key.

    segments (Iterable[tuple[str, str]]): labels and texts. previous (Names): authors of the reference before.
    RETURNS (Entry): of the type that the fields tell.
    """
    draft = Draft(previous)
    for label, text in segments:
        draft.add(label.upper(), normalise(text))
    values = dict(draft.values)
    journal, book = values.pop("journal", ""), values.pop("book", "")
    kind = _type(draft)
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


def normalise(text: str) -> str:
    """Single spaces, composed characters, no control characters."""
    text = "".join(char for char in text if unicodedata.category(char) not in ("Cc", "Cs") or char.isspace())
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _type(draft: Draft) -> EntryType:
    """A thesis is one wherever it is found; then what the work is in decides, then what it calls itself."""
    values = draft.values
    genre, number = values.get("genre", ""), values.get("number", "")
    is_report = "genre" in values or ("TECH" in draft.seen and bool(number))
    if THESIS.search(genre):
        return report_type(genre)
    if "journal" in values:
        return EntryType.ARTICLE
    if "book" in values and (draft.editors or not is_report):
        return _part_type(draft)
    if is_report:
        return report_type(genre)
    if "arxiv" in values:
        return EntryType.MISC
    if UNPUBLISHED.search(". ".join(draft.notes)) and "PUBLISHER" not in draft.seen:
        return EntryType.UNPUBLISHED
    return _whole_type(draft)


def _part_type(draft: Draft) -> EntryType:
    """A work in a book."""
    return EntryType.INPROCEEDINGS if is_proceedings(draft.values["book"]) else EntryType.INCOLLECTION


def _whole_type(draft: Draft) -> EntryType:
    """A work that is in no other one."""
    if "INSTITUTION" in draft.seen and "PUBLISHER" not in draft.seen:
        return EntryType.TECHREPORT
    is_book = {"publisher", "place", "page_total", "edition", "isbn", "series"} & draft.values.keys()
    return EntryType.BOOK if is_book or draft.editors else EntryType.MISC
