"""CSL-JSON is read back as it was, with types and variables that the specification knows."""

import json
from dataclasses import replace

import pytest
from helpers.entries import corpus_entries, lists_of_entries
from hypothesis import given, settings

from spacy_crf.bibliography.bibtex import read_bibtex, write_bibtex
from spacy_crf.bibliography.csl import read_csl, read_items, write_csl
from spacy_crf.bibliography.entry import Date, Day, Entry, EntryType, Name, Names

# Types and variables of the specification that occur here, with the JSON types of their values.
TYPES = {"article-journal", "paper-conference", "chapter", "book", "report", "thesis", "document", "manuscript"}
STRINGS = {
    *("id", "type", "title", "container-title", "collection-title", "collection-number", "volume", "issue", "number"),
    *("page", "number-of-pages", "chapter-number", "publisher", "publisher-place", "genre", "edition", "DOI", "URL"),
    *("archive", "archive_location", "ISBN", "ISSN", "note", "year-suffix"),
}
NAMES, DATES = {"author", "editor"}, {"issued", "accessed"}
NAME_PARTS = {"family", "given", "non-dropping-particle", "suffix", "literal"}


def check_item(item: dict) -> None:
    assert item["type"] in TYPES
    assert isinstance(item["id"], str)
    for name, value in item.items():
        assert value
        if name in NAMES:
            assert all(set(part) <= NAME_PARTS and ("family" in part) != ("literal" in part) for part in value)
            assert all(isinstance(text, str) for part in value for text in part.values())
        elif name in DATES:
            assert set(value) == {"date-parts"} and len(value["date-parts"]) in (1, 2)
            assert all(1 <= len(part) <= 3 and all(type(n) is int for n in part) for part in value["date-parts"])
        elif name == "custom":
            assert set(value) == {"invalid"} and isinstance(value["invalid"], str)
        else:
            assert name in STRINGS and isinstance(value, str)


def test_the_corpus_makes_the_round_trip() -> None:
    entries = corpus_entries()
    assert len(entries) >= 250
    text = write_csl(entries)
    assert read_csl(text) == entries
    for item in json.loads(text):
        check_item(item)


@settings(max_examples=60, deadline=None)
@given(lists_of_entries)
def test_any_entry_makes_the_round_trip(entries: list[Entry]) -> None:
    text = write_csl(entries)
    assert read_csl(text) == entries
    for item in json.loads(text):
        check_item({name: value for name, value in item.items() if value})


@pytest.mark.parametrize(
    "variable, printed, field, value",
    [
        ("URL", "http://x.org/{a", "url", "http://x.org/%7Ba"),
        ("ISSN", "1234-5678}", "issn", "1234-5678%7D"),
        ("ISBN", "{9783161484100", "isbn", "%7B9783161484100"),
        ("DOI", "doi 10.1000/a{b see", "doi", "doi 10.1000/a%7Bb see"),
        ("DOI", "10.1000/a<b>c", "doi", "10.1000/a<b>c"),
        ("URL", "http://x.org/<i>a</i>", "url", "http://x.org/<i>a</i>"),
        ("URL", "http://x.org/a b\\", "url", "http://x.org/a b%5C"),
    ],
)
def test_identifiers_are_safe_in_bibtex_and_keep_their_signs(
    variable: str, printed: str, field: str, value: str
) -> None:
    items = [{"id": "a", "type": "book", variable: printed}, {"id": "b", "type": "book", "title": "Knots"}]
    entries = read_csl(json.dumps(items))
    assert getattr(entries[0], field) == value
    assert read_bibtex(write_bibtex(entries)) == read_csl(write_csl(entries)) == entries


def test_identifiers_of_hand_made_entries_are_safe_in_bibtex() -> None:
    entries = [Entry(key="a", url="http://x.org/{a", isbn="978}"), Entry(key="b", title="Knots")]
    first, second = read_bibtex(write_bibtex(entries))
    assert (first.url, first.isbn, second.title) == ("http://x.org/%7Ba", "978%7D", "Knots")


def test_what_is_written() -> None:
    entry = Entry(
        type=EntryType.MASTERSTHESIS,
        key="k",
        authors=Names((Name("Hartog", "Willem", "van der", "Jr."), Name("Ferry Users' Council")), others=True),
        title="Fog",
        date=Date(Day(2003, 5), Day(2003, 6), "b"),
        publisher="University of Northmere",
        arxiv="2013.04881",
    )
    assert json.loads(write_csl([entry])) == [
        {
            "id": "k",
            "type": "thesis",
            "author": [
                {"family": "Hartog", "given": "Willem", "non-dropping-particle": "van der", "suffix": "Jr."},
                {"literal": "Ferry Users' Council"},
                {"literal": "others"},
            ],
            "title": "Fog",
            "publisher": "University of Northmere",
            "genre": "Master's thesis",
            "archive_location": "2013.04881",
            "archive": "arXiv",
            "issued": {"date-parts": [[2003, 5], [2003, 6]]},
            "year-suffix": "b",
        }
    ]


def test_what_others_write_is_read() -> None:
    item = {
        "id": 7,
        "type": "article-newspaper",
        "author": [{"family": "Esch", "dropping-particle": "von"}],
        "issued": {"date-parts": [["1999", 2]]},
        "issue": 3,
        "archive_location": "box 3",
        "language": "en",
    }
    assert read_csl(json.dumps([item, {"id": "w", "type": "webpage", "issued": {"raw": "1999"}}])) == [
        Entry(
            type=EntryType.ARTICLE,
            key="7",
            authors=Names((Name("Esch", particle="von"),)),
            number="3",
            date=Date(Day(1999, 2)),
        ),
        Entry(key="w", date=Date(Day(1999))),
    ]


@pytest.mark.parametrize(
    "item, volume, number, note",
    [
        ({"type": "book", "collection-title": "LNCS", "volume": "12"}, "12", "", ""),
        ({"type": "book", "collection-title": "LNCS", "volume": "2", "collection-number": 12}, "12", "", "volume: 2"),
        ({"type": "article-magazine", "collection-title": "C", "volume": "3"}, "3", "", ""),
        ({"type": "book", "collection-number": "4"}, "4", "", ""),
        ({"type": "paper-conference", "issue": "3"}, "", "3", ""),
        ({"type": "article-journal", "number": "e17"}, "", "e17", ""),
        ({"type": "article-journal", "number": "e17", "issue": 2, "note": "N"}, "", "2", "N. number: e17"),
    ],
)
def test_volumes_and_numbers_in_other_variables_are_read(item: dict, volume: str, number: str, note: str) -> None:
    (entry,) = read_csl(json.dumps([{"id": "a", **item}]))
    assert (entry.volume, entry.number, entry.note) == (volume, number, note)


@pytest.mark.parametrize(
    "issued, iso, note",
    [
        ({"raw": "2003-05-07"}, "2003-05-07", ""),
        ({"raw": "2003-05"}, "2003-05", ""),
        ("2003-05", "2003-05", ""),
        (2003, "2003", ""),
        ("2003-05-07/2003-05-09", "2003-05-07/2003-05-09", ""),
        ({"literal": "7 May 2003"}, "2003-05-07", ""),
        ({"literal": "spring 2003"}, "2003", "issued: spring 2003"),
        ({"literal": "in press"}, None, "issued: in press"),
        ({"date-parts": [], "raw": "2003"}, "2003", ""),
        ("May-" * 50_000, None, "issued: " + "May-" * 50_000),
    ],
)
def test_dates_that_are_texts_are_read(issued: object, iso: str | None, note: str) -> None:
    (entry,) = read_csl(json.dumps([{"id": "a", "type": "book", "issued": issued}]))
    assert (entry.date and entry.date.iso, entry.note) == (iso, note)


def test_both_particles_of_a_name_are_kept() -> None:
    name = {"family": "Fontaine", "given": "Jean", "dropping-particle": "de", "non-dropping-particle": "La"}
    (entry,) = read_csl(json.dumps([{"id": "a", "type": "book", "author": [name]}]))
    assert entry.authors == Names((Name("Fontaine", "Jean", "de La"),))


@pytest.mark.parametrize(
    "issued, iso, note",
    [
        ('{"date-parts": [[1999, 0]]}', "1999", "issued: 1999-0"),
        ('{"date-parts": [[1999, 13, 5]]}', "1999", "issued: 1999-13-5"),
        ('{"date-parts": [[1999, 21]]}', "1999-21", ""),
        ('{"date-parts": [[2003, 2, 31]]}', "2003-02", "issued: 2003-2-31"),
        ('{"date-parts": [["1999", "05", ""]]}', "1999-05", ""),
        ('{"date-parts": [[1999]], "season": 3}', "1999-23", ""),
        ('{"date-parts": [[1e999, -Infinity]]}', None, "issued: 1e999--Infinity"),
        ('{"date-parts": [[-44]]}', None, "issued: -44"),
        ('{"date-parts": {"a": 1}}', None, ""),
        ("[1999]", None, ""),
    ],
)
def test_odd_dates_cost_nothing_else(issued: str, iso: str | None, note: str) -> None:
    text = f'[{{"id": "a", "type": "book", "issued": {issued}}}, {{"id": "b", "type": "book", "title": "Ropes"}}]'
    first, second = read_csl(text)
    assert (first.date and first.date.iso, first.note, second.title) == (iso, note, "Ropes")


def test_odd_values_are_read_as_they_are_written() -> None:
    figures = "9" * 5000
    odd = f'{{"date-parts": [[{figures}]]}}'
    text = f'[{{"id": "a", "type": "book", "volume": {figures}, "title": ["A", "B\\ud800"], "issued": {odd}}}]'
    (entry,) = read_csl(text)
    assert (entry.volume, entry.title, entry.date) == (figures, "A; B", None)
    (entry,) = read_csl('[{"id": "a", "type": "book", "author": ["Lund", {"given": "Ada"}, {"literal": ["Fox"]}]}]')
    assert entry.authors == Names((Name("Lund"), Name("Ada"), Name("Fox")))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        f'[{{"id": "a", "type": "book", "title": {"[" * 100_000}{"]" * 100_000}}}]',
        '[{"id": "a", "type": "book", "author": {"family": "Lund"}, "editor": [null]}]',
    ],
)
def test_hostile_csl_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="CRF644"):
        read_csl(text)


@pytest.mark.parametrize("text", ["", "{", '{"id": "a"}', '[{"id": "a"}]', "{}", "[{}]", "[[]]", "[3]", "3", "null"])
def test_what_is_no_csl_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="CRF644"):
        read_csl(text)


def test_identifiers_are_bare_and_ranges_have_one_hyphen() -> None:
    item = {"id": "a", "type": "book", "DOI": "https://doi.org/10.1000/x", "page": "12–34"}
    (entry,) = read_csl(json.dumps([item]))
    assert (entry.doi, entry.pages) == ("10.1000/x", "12-34")


def test_a_range_that_ends_before_it_begins_is_told() -> None:
    item = {"id": "a", "type": "book", "issued": {"date-parts": [[2005, 3], [2004, 2]]}}
    (entry,) = read_csl(json.dumps([item]))
    assert entry.date is not None and (entry.date.iso, entry.note) == ("2005-03", "issued: 2005-3/2004-2")


@pytest.mark.parametrize(
    "date, iso, note",
    [
        ({"date-parts": [2003, 5]}, "2003-05", ""),
        ({"date-parts": [[2003], [2004], [2005]]}, "2003/2004", "issued: 2003/2004/2005"),
        ({"date-parts": [[2003]], "circa": True}, "2003", "issued: circa"),
        ({"date-parts": [[2003]], "circa": False}, "2003", ""),
        ({"date-parts": [[2003]], "literal": "Spring 2003"}, "2003", "issued: Spring 2003"),
        ({"date-parts": [[2003, 5]], "raw": "2003-05"}, "2003-05", ""),
    ],
)
def test_what_a_date_says_besides_is_noted(date, iso, note):
    (entry,) = read_csl(json.dumps([{"id": "a", "type": "book", "issued": date}]))
    assert entry.date is not None and (entry.date.iso, entry.note) == (iso, note)


def test_markup_and_empty_names_are_left_out():
    title = '<i>E. coli</i>, H<sub>2</sub>O, <span class="nocase">x</span> and a < b'
    item = {"id": "a", "type": "book", "title": title, "author": [{"family": "", "literal": ""}, {"family": "Doe"}]}
    (entry,) = read_csl(json.dumps([item]))
    assert entry.title == "E. coli, H2O, x and a < b"
    assert [name.family for name in entry.authors.names] == ["Doe"]


@pytest.mark.parametrize(
    "name, kind",
    [
        ("journal-article", EntryType.ARTICLE),
        ("proceedings-article", EntryType.INPROCEEDINGS),
        ("book-chapter", EntryType.INCOLLECTION),
        ("monograph", EntryType.BOOK),
        ("dissertation", EntryType.PHDTHESIS),
    ],
)
def test_an_item_of_a_service_that_looks_up_identifiers_is_read(name: str, kind: EntryType) -> None:
    item = {"type": name, "title": "On Ropes", "container-title": "Knots", "volume": "3", "issue": "2"}
    item |= {"DOI": "10.1234/knots", "issued": {"date-parts": [[1999, 5]]}, "reference-count": 7}
    item["author"] = [{"name": "Rope Council", "sequence": "first"}, {"given": "Ada", "family": "Lund", "name": ""}]
    (entry,) = read_csl(json.dumps(item))
    assert [entry] == read_csl(json.dumps([item])) and (entry.type, entry.key) == (kind, "")
    assert entry.authors.names == (Name("Rope Council"), Name("Lund", "Ada"))
    assert read_items(json.dumps(item))[0]["author"] == [
        {"literal": "Rope Council"},
        {"given": "Ada", "family": "Lund"},
    ]
    assert (entry.container, entry.volume, entry.number) == ("Knots", "3", "2")
    (again,) = read_bibtex(write_bibtex([entry]))
    assert again.key and replace(again, key="") == entry


def test_figures_that_are_set_higher_or_lower() -> None:
    title = "Noise at 10<sup>6</sup> Hz in H<sub>2</sub>O, or 1010<sub>2</sub>"
    item = {"type": "book", "title": title, "edition": "<sup>2</sup>1999"}
    (entry,) = read_csl(json.dumps([item]))
    assert (entry.title, entry.edition) == ("Noise at 10⁶ Hz in H2O, or 1010₂", "²1999")


def test_reviews_are_articles() -> None:
    items = [{"id": kind, "type": kind, "container-title": "Knots"} for kind in ("review", "review-book")]
    assert [one.type for one in read_csl(json.dumps(items))] == [EntryType.ARTICLE] * 2
