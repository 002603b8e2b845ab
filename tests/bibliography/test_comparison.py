"""References against a library."""

from dataclasses import replace

import pytest
from helpers.entries import corpus_entries, lists_of_entries
from hypothesis import given, settings

from spacy_crf.bibliography.comparison import NOT_CITED, NOT_HELD, Discrepancy, compare
from spacy_crf.bibliography.entry import Date, Day, Entry, Name, Names

CRANE = Names((Name("Crane", "Edith"), Name("Kooij", "E.", "van der")))
HELD = Entry(
    key="crane2003",
    title="On Ropes and Knots",
    authors=CRANE,
    container="Journal of Applied Knots",
    volume="3",
    pages="1359-1362",
    date=Date(Day(2003, 5)),
    doi="10.5555/knots",
    isbn="9783161484100",
    issn="0317-8471",
    edition="2nd",
)


def differences(cited: Entry, held: Entry = HELD) -> list[tuple[str, str, str]]:
    return [(one.field, one.cited, one.library) for one in compare({7: cited}, [held])]


def test_the_same_entries_do_not_differ() -> None:
    entries = corpus_entries()
    assert compare(dict(enumerate(entries, 1)), entries) == []


@settings(max_examples=40, deadline=None)
@given(lists_of_entries)
def test_any_work_is_told_once(entries: list[Entry]) -> None:
    found = compare(dict(enumerate(entries, 1)), entries)
    lacking = [one.reference for one in found if one.match == NOT_HELD]
    unused = [one.key for one in found if one.match == NOT_CITED]
    assert len(lacking) == len(unused) == len(set(lacking)) == len(set(unused))
    assert compare({}, entries) == [one for one in compare({}, entries) if one.match == NOT_CITED]


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "On ropes, and knots"},
        {"authors": Names((Name("Crane", "E."), Name("Kooij", "", "van der")))},
        {"authors": Names((Name("Crane", "E."),), others=True)},
        {"container": "J. Appl. Knots"},
        {"pages": "1359-62"},
        {"authors": Names((Name("Crane", "Edith M."), Name("Kooij", "EP", "van der")))},
        {"date": Date(Day(2003))},
        {"date": Date(Day(2003), Day(2004))},
        {"doi": "10.5555/KNOTS"},
        {"isbn": "978-3-16-148410-0"},
        {"isbn": "3-16-148410-X"},
        {"issn": "03178471"},
        {"edition": "2"},
        {"edition": "Second Edition"},
        {"edition": "Zweite Auflage"},
    ],
)
def test_ways_of_printing_make_no_difference(changes: dict[str, object]) -> None:
    assert differences(replace(HELD, **changes)) == []


@pytest.mark.parametrize(
    "changes, found",
    [
        ({"volume": "4"}, ("volume", "4", "3")),
        ({"date": Date(Day(2004))}, ("date", "2004", "2003-05")),
        ({"doi": ""}, ("doi", "", "10.5555/knots")),
        ({"isbn": "3-16-148411-X"}, ("isbn", "3-16-148411-X", "9783161484100")),
        ({"isbn": "978-3-16-148410-1"}, ("isbn", "978-3-16-148410-1", "9783161484100")),
        ({"authors": Names((Name("Crane", "E."),))}, ("authors", "Crane, E.", "Crane, Edith; van der Kooij, E.")),
        (
            {"authors": Names((Name("Crane", "F."), CRANE.names[1]))},
            ("authors", "Crane, F.; van der Kooij, E.", "Crane, Edith; van der Kooij, E."),
        ),
        ({"container": "Journal of Ropes"}, ("container", "Journal of Ropes", "Journal of Applied Knots")),
        ({"container": "Journal of Knots"}, ("container", "Journal of Knots", "Journal of Applied Knots")),
        ({"container": "Journal"}, ("container", "Journal", "Journal of Applied Knots")),
        ({"title": "Another title"}, ("title", "Another title", "On Ropes and Knots")),
        ({"doi": "10.5555/kn.ots"}, ("doi", "10.5555/kn.ots", "10.5555/knots")),
        (
            {"authors": Names((Name("Crane", "Emma"), CRANE.names[1]))},
            ("authors", "Crane, Emma; van der Kooij, E.", "Crane, Edith; van der Kooij, E."),
        ),
        (
            {"authors": Names(CRANE.names, others=True)},
            ("authors", "Crane, Edith; van der Kooij, E.; et al.", "Crane, Edith; van der Kooij, E."),
        ),
    ],
)
def test_fields_that_differ(changes: dict[str, object], found: tuple[str, str, str]) -> None:
    assert differences(replace(HELD, **changes)) == [found]


@pytest.mark.parametrize("ours", ["Physical Review", "Phys. Rev.", "Physical Review Letters", "Physical Review A"])
def test_journals_of_one_family_differ(ours: str) -> None:
    held = replace(HELD, container="Physical Review E")
    assert differences(replace(held, container=ours), held) == [("container", ours, "Physical Review E")]


def test_ranges_of_years_that_end_in_others_differ() -> None:
    dates = [Date(Day(2003), Day(last)) for last in (2004, 2006)]
    first, second = (replace(HELD, date=date) for date in dates)
    assert differences(first, second) == [("date", "2003/2004", "2003/2006")]


@pytest.mark.parametrize("ours, theirs", [("10.3390/v12010011", "10.3390/v13050099"), ("10.5555/v1", "10.5555/v2")])
def test_a_doi_has_no_version(ours: str, theirs: str) -> None:
    lund = Entry(key="lund", title="Sails", authors=Names((Name("Lund", "A."),)), doi=theirs)
    found = [one.match for one in compare({7: replace(HELD, doi=ours)}, [lund])]
    assert found == [NOT_HELD, NOT_CITED]


def test_versions_at_arxiv_are_of_one_work() -> None:
    assert differences(Entry(arxiv="2003.01234v2"), Entry(arxiv="2003.01234")) == [
        ("arxiv", "2003.01234v2", "2003.01234")
    ]


def test_works_that_one_side_lacks() -> None:
    other = Entry(key="lund", title="Sails", authors=Names((Name("Lund", "A."),)), date=Date(Day(1999)))
    assert compare({7: other}, [HELD]) == [
        Discrepancy(7, "", NOT_HELD, cited="Lund, A., 1999, Sails"),
        Discrepancy(None, "crane2003", NOT_CITED, library="Crane, Edith; van der Kooij, E., 2003, On Ropes and Knots"),
    ]


def test_a_work_without_a_title_is_known_by_its_place() -> None:
    bare = replace(HELD, title="", doi="")
    assert differences(bare) == [("title", "", "On Ropes and Knots"), ("doi", "", "10.5555/knots")]


def test_the_surest_pair_counts() -> None:
    second = replace(HELD, key="second", doi="", volume="9")
    (one,) = compare({1: replace(HELD, volume="9")}, [second, HELD])[:1]
    assert (one.key, one.match, one.field) == ("crane2003", "doi", "volume")


@pytest.mark.parametrize("order", [(1,), (3, 2), (2, 0, 3), (3, 2, 1, 0)])
def test_volumes_of_one_work_are_told_apart(order: tuple[int, ...]) -> None:
    volumes = [replace(HELD, key=f"v{number}", volume=str(number), doi="", isbn="") for number in range(1, 5)]
    cited = {place: volumes[number] for place, number in enumerate(order, 1)}
    found = compare(cited, volumes)
    assert [(one.match, one.key) for one in found] == [
        (NOT_CITED, volume.key) for number, volume in enumerate(volumes) if number not in order
    ]


def test_many_works_of_one_title_are_paired_with_themselves() -> None:
    columns = [
        replace(HELD, key=f"e{n}", title="Editorial", volume=str(n), container=f"Knots {n}", doi="", isbn="")
        for n in range(150)
    ]
    assert compare(dict(enumerate(reversed(columns), 1)), columns) == []


@pytest.mark.parametrize(
    "ours, theirs", [("Sorensen", "Sørensen"), ("Lodz", "Łódź"), ("Duric", "Đurić"), ("Oeuvre", "Œuvre")]
)
def test_letters_with_a_stroke_make_no_difference(ours: str, theirs: str) -> None:
    cited, held = (Entry(title=f"On {name}", authors=Names((Name(name),))) for name in (ours, theirs))
    assert differences(cited, held) == []


def test_editions_differ_by_their_number() -> None:
    assert differences(replace(HELD, edition="3rd"))[0][0] == "edition"


@pytest.mark.parametrize("pages", ["S12-S15", "S12-15", "S12-5", "s12–S15"])
def test_letters_of_pages_may_stand_once(pages: str) -> None:
    works = [
        Entry(key=key, title="On ropes", pages=own) for key, own in (("a", pages), ("b", "S12-S15"), ("c", "S12-S16"))
    ]
    assert compare({1: works[0]}, [works[1]]) == []
    assert [one.field for one in compare({1: works[0]}, [works[2]])] == ["pages"]


@pytest.mark.parametrize(
    "container, volume",
    [("arXiv preprint arXiv:2003.01234", ""), ("CoRR", "abs/2003.01234"), ("arXiv:2003.01234 [cs]", "")],
)
def test_a_number_at_arxiv_may_stand_for_the_journal(container: str, volume: str) -> None:
    cited, held = Entry(title="On ropes", arxiv="2003.01234"), Entry(title="Ropes", container=container, volume=volume)
    assert differences(cited, held) == [("title", "On ropes", "Ropes")]
    assert differences(held, cited) == [("title", "Ropes", "On ropes")]


def test_works_without_author_and_title_are_told_by_where_they_stand() -> None:
    first = Entry(key="a", container="BGHZ", volume="12", pages="33-41", date=Date(Day(1954)))
    second = replace(first, key="b", volume="", number="7 C 12/03", pages="", container="")
    assert compare({1: first, 2: second}, [second, first]) == []
    assert differences(replace(first, pages="33"), first) == [("pages", "33", "33-41")]
    for changes in ({"container": "NJW"}, {"volume": "13"}, {"date": Date(Day(1955))}, {"pages": "35-41"}):
        assert [one.match for one in compare({1: replace(first, **changes)}, [first])] == [NOT_HELD, NOT_CITED]
    bare = Entry(date=Date(Day(1954)))
    assert [one.match for one in compare({1: bare}, [bare])] == [NOT_HELD, NOT_CITED]


def test_a_work_without_its_subtitle_is_held() -> None:
    held = replace(HELD, title="Knots: A History of Ropes and Those Who Made Them")
    cited = replace(held, title="Knots", doi="")
    assert [one for one in differences(cited, held) if one[0] != "doi"] == [("title", "Knots", held.title)]
    other = replace(cited, title="Ropes")
    assert [one.match for one in compare({1: other}, [held])] == [NOT_HELD, NOT_CITED]
    assert [one.match for one in compare({1: replace(cited, date=Date(Day(2001)))}, [held])] == [NOT_HELD, NOT_CITED]


@pytest.mark.parametrize(
    "ours, theirs",
    [
        ("DNA2 of ropes", r"DNA$_{\textrm{2}}$ of ropes"),
        ("CO2 ropes", "CO$_{2}$ ropes"),
        ("A ¹⁴C calendar", "A $^{14}$C calendar"),
        ("B0 → K*0μ+μ− decays", r"$B^0 \to K^{*0}\mu^+\mu^-$ decays"),
        ("Ropes at √s=13 TeV", r"Ropes at $\sqrt{s}=13$ TeV"),
        ("ΛCDM in O(n log n)", r"$\Lambda_{}$CDM in $O(n \log n)$"),
    ],
)
def test_formulas_are_compared_as_they_are_printed(ours: str, theirs: str) -> None:
    held = replace(HELD, title=theirs, doi="")
    assert differences(replace(HELD, title=ours, doi=""), held) == []
    assert [field for field, *_ in differences(replace(HELD, title=f"{ours} 7", doi=""), held)] == ["title"]
