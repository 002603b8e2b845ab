"""Labelled references to entries: the fields of a Doc, whatever holds their labels, and entries with keys."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import filter_spans

from ..annotation.targets import SpanTarget, target_of
from ..core.labels import TagSet
from .draft import TAKERS, Draft
from .entry import NOBODY, Entry, EntryType, Names
from .fields import THESIS, UNPUBLISHED, is_proceedings, report_type

Segment = tuple[str, str]  # label, empty without one, and text
LETTERS = {"ß": "ss", "ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
# Words that say nothing at the beginning of a title.
SKIPPED = re.compile("an?|the|on|of|in|to|for|and|der|die|das|eine?|l[ae]s?|une?|het|de|el|los|il")


def read_segments(doc: Doc, target: str = "ent", spans_key: str = "sc") -> list[Segment]:
    """Fields and what is between them, in order; together they have every character that is no white space.

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
        found.append(("", doc[end:first].text.strip()))
        found.append((label, doc[first:last].text.strip()))
        end = last
    return [(label, text) for label, text in found if text]


def _runs(tags: list[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and label of neighbouring tokens of a field."""
    start = 0
    for place in range(1, len(tags) + 1):
        before = tags[place - 1]
        if place < len(tags) and _label(tags[place]) == _label(before) and tags[place][:2] not in ("B-", "U-"):
            continue
        if _label(before):
            yield start, place, _label(before)
        start = place


def _label(tag: str) -> str:
    if tag in ("O", "_"):
        return ""
    return tag[2:] if tag[:2] in ("B-", "I-", "L-", "U-") else tag


# -- entries -------------------------------------------------------------------------------------------------


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
    found = [entry for entry in entries if entry is not None]
    keyed = iter(entry.with_key(key) for entry, key in zip(found, unique_keys(found)))
    return [None if entry is None else next(keyed) for entry in entries]


def make_entry(segments: Iterable[Segment], previous: Names = NOBODY) -> Entry:
    """An entry without a key, of the type that its fields tell.

    previous (Names): authors of the reference before.
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


# -- keys ----------------------------------------------------------------------------------------------------


def unique_keys(entries: Sequence[Entry]) -> list[str]:
    """Family name, year and first word of the title of each entry, such as "vanderkooij1993loading".

    Entries that would have the same key get letters, "a" to "z", then "aa" and so on, in their order. Keys are of small
    ASCII letters and figures.
    """
    plain = [plain_key(entry) for entry in entries]
    shared = {key for key, times in Counter(plain).items() if times > 1}
    taken = set(plain) - shared
    keys = []
    for key in plain:
        if key in shared:
            key = next(candidate for candidate in (key + ending for ending in _endings()) if candidate not in taken)
            taken.add(key)
        keys.append(key)
    return keys


def plain_key(entry: Entry) -> str:
    """The key of an entry that is alone."""
    names = (entry.authors or entry.editors).names
    family = _fold(f"{names[0].particle}{names[0].family}") if names else ""
    year = "" if entry.date is None else str(entry.date.first.year)
    words = [_fold(word) for word in re.split(r"[^\w'’]+", entry.title or entry.container)]
    word = next((word for word in words if word and not SKIPPED.fullmatch(word)), "")
    return f"{family}{year}{word}" or "reference"


def _fold(text: str) -> str:
    """Small ASCII letters and figures of a text; letters of other alphabets go."""
    text = "".join(LETTERS.get(char, char) for char in text.lower())
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", text))


def _endings() -> Iterator[str]:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    for number in count():
        ending = ""
        while number >= 0:
            ending, number = alphabet[number % 26] + ending, number // 26 - 1
        yield ending
