"""Our CSL-JSON renders with citeproc-py, and pybtex gives back the fields of our BibTeX."""

import io
import json

from citeproc import DATES, NAMES, VARIABLES, Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle
from citeproc import formatter as formatters
from citeproc.source.json import CiteProcJSON
from helpers.entries import corpus_entries, lists_of_entries
from hypothesis import given, settings
from pybtex.database import parse_string

from spacy_crf.bibliography.bibtex import TEXT_FIELDS, VERBATIM_FIELDS, write_bibtex
from spacy_crf.bibliography.csl import write_csl
from spacy_crf.bibliography.entry import Entry, EntryType
from spacy_crf.reading.latex import decode

# A style that prints every variable that an item may have.
TEXTS = (
    *("title", "container-title", "collection-title", "collection-number", "volume", "issue", "number", "page"),
    *("number-of-pages", "chapter-number", "publisher", "publisher-place", "genre", "edition", "DOI", "URL", "archive"),
    *("archive_location", "ISBN", "ISSN", "note", "year-suffix"),
)
NEWER = ("custom",)  # than citeproc-py
STYLE = f"""<?xml version="1.0" encoding="utf-8"?>
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0" default-locale="en-US">
<info><title>All</title><id>all</id><updated>2020-01-01T00:00:00+00:00</updated></info>
<citation><layout><text variable="title"/></layout></citation>
<bibliography><layout delimiter=" ; ">
<names variable="author"><name delimiter="; "/></names><names variable="editor" prefix=" | "><name/></names>
{"".join(f'<text variable="{name}" prefix=" | {name}: "/>' for name in TEXTS)}
<date variable="issued" prefix=" | "><date-part name="year"/><date-part name="month"/><date-part name="day"/></date>
<date variable="accessed" prefix=" | "><date-part name="year"/></date>
</layout></bibliography></style>"""


def rendered(entries: list[Entry]) -> list[str]:
    style = CitationStylesStyle(io.BytesIO(STYLE.encode()), validate=False)
    items = [{name: item[name] for name in item if name not in NEWER} for item in json.loads(write_csl(entries))]
    bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatters.plain)
    for entry in entries:
        bibliography.register(Citation([CitationItem(entry.key)]))
    return [str(item) for item in bibliography.bibliography()]


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def check_rendered(entries: list[Entry]) -> None:
    for entry, text in zip(entries, rendered(entries), strict=True):
        assert letters(entry.title) in letters(text)
        assert letters(entry.doi) in letters(text)
        assert all(letters(name.family) in letters(text) for name in entry.authors.names)
        assert entry.date is None or str(entry.date.first.year) in text


def test_the_corpus_is_rendered() -> None:
    check_rendered([entry for entry in corpus_entries() if entry.authors][:60])


@settings(max_examples=40, deadline=None)
@given(lists_of_entries)
def test_any_entry_is_rendered(entries: list[Entry]) -> None:
    check_rendered(entries)


@settings(max_examples=40, deadline=None)
@given(lists_of_entries)
def test_citeproc_knows_our_variables(entries: list[Entry]) -> None:
    for item in json.loads(write_csl(entries)):
        names = {name.replace("-", "_") for name in item} - {"id", "type", *NEWER}
        assert names <= {*VARIABLES, *NAMES, *DATES}


def plain(latex: str) -> str:
    return decode(latex).strip()


@settings(max_examples=60, deadline=None)
@given(lists_of_entries)
def test_pybtex_gives_the_fields_back(entries: list[Entry]) -> None:
    found = parse_string(write_bibtex(entries), "bibtex").entries
    assert list(found) == [entry.key for entry in entries]
    for entry in entries:
        fields = found[entry.key].fields
        container = "journal" if entry.type is EntryType.ARTICLE else "booktitle"
        assert plain(fields.get("title", "")) == entry.title
        assert plain(fields.get(container, "")) == entry.container
        for own, name in TEXT_FIELDS.items():
            latex = fields.get(name, "")
            assert plain(latex.replace("--", "-") if name == "pages" else latex) == getattr(entry, own)
        assert {own: fields.get(name, "") for own, name in VERBATIM_FIELDS.items()} == {
            own: getattr(entry, own) for own in VERBATIM_FIELDS
        }
        persons = found[entry.key].persons
        for role, names in (("author", entry.authors), ("editor", entry.editors)):
            assert [plain(" ".join([*one.last_names])) for one in persons.get(role, [])] == [
                name.family for name in names.listed
            ]
