"""BibTeX is read back as it was, and others read it as it is meant."""

import re
import sys
from dataclasses import replace

import pybtex.database
import pytest
from helpers.entries import corpus_entries, lists_of_entries, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf import CRFWarning
from spacy_crf.bibliography.bibtex import read_bibtex, write_bibtex
from spacy_crf.bibliography.entry import Date, Day, Entry, EntryType, Name, Names, print_value


@pytest.mark.parametrize("unicode", [False, True])
def test_the_corpus_makes_the_round_trip(unicode: bool) -> None:
    entries = corpus_entries()
    assert len(entries) >= 250
    text = write_bibtex(entries, unicode)
    assert read_bibtex(text) == entries
    assert write_bibtex(read_bibtex(text), unicode) == text


@settings(max_examples=60, deadline=None)
@given(lists_of_entries, st.booleans())
def test_any_entry_makes_the_round_trip(entries: list[Entry], unicode: bool) -> None:
    assert read_bibtex(write_bibtex(entries, unicode)) == entries


def test_what_is_written() -> None:
    entry = Entry(
        type=EntryType.INPROCEEDINGS,
        key="orlova2003garden",
        authors=Names((Name("Orlova", "Ludmila", "van der", "Jr."), Name("Ferry Users' Council")), others=True),
        title="Garden paths & the MESH",
        container="Proceedings of the Conference on Code Reading",
        pages="9-18",
        date=Date(Day(2003, 5, 7), Day(2003, 5, 9)),
        publisher="Öresund Press",
        doi="10.5555/a_b",
        accessed=Date(Day(2019, 10, 2)),
    )
    assert write_bibtex([entry]).splitlines() == [
        "@inproceedings{orlova2003garden,",
        "  author = {van der Orlova, Jr., Ludmila and {Ferry Users' Council} and others},",
        r"  title = {Garden paths \& the {MESH}},",
        "  booktitle = {Proceedings of the Conference on Code Reading},",
        "  year = {2003},",
        "  month = may,",
        "  date = {2003-05-07/2003-05-09},",
        "  pages = {9--18},",
        r"  publisher = {{\"O}resund Press},",
        "  doi = {10.5555/a_b},",
        "  urldate = {2019-10-02}",
        "}",
    ]


def test_pybtex_finds_the_parts_of_names() -> None:
    found = pybtex.database.parse_string(write_bibtex(corpus_entries(), unicode=True), "bibtex").entries
    for entry in corpus_entries():
        persons = found[entry.key].persons.get("author", [])
        assert len(persons) == len(entry.authors.names) + entry.authors.others
        for name, person in zip(entry.authors.names, persons):
            assert " ".join(person.prelast_names) == name.particle
            assert " ".join(person.lineage_names) == name.suffix
            assert " ".join([*person.first_names, *person.middle_names]) == name.given
            assert re.sub(r"[{}]|\\(?=&)", "", " ".join(person.last_names)) == name.family


def test_keys_and_fields_suit_bibtex() -> None:
    text = write_bibtex(corpus_entries())
    assert text.isascii() or not re.search(r"[À-ÿ]", text)
    keys = re.findall(r"^@\w+\{(.*),$", text, re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(corpus_entries())
    assert all(re.fullmatch(r"[a-z0-9]+", key) for key in keys)


@pytest.mark.parametrize(
    "keys, written",
    [
        (["smith, 2003", "a b", "x{y}", "a#b%c\\d~e"], ["smith2003", "ab", "xy", "abcde"]),
        (["http://a.example/users/1", "Müller:2003"], ["http://a.example/users/1", "Müller:2003"]),
        (["a b", "ab", "a,b", "abb"], ["aba", "ab", "abc", "abb"]),
        (["A", "a", "k", "k"], ["A", "aa", "k", "ka"]),
        (["", " , "], ["lund2003ropes", "lund2003ropesa"]),
    ],
)
def test_keys_are_such_that_the_file_can_be_read(keys: list[str], written: list[str]) -> None:
    work = Entry(authors=Names((Name("Lund", "A."),)), title="Ropes", date=Date(Day(2003)))
    entries = [replace(work, key=key) for key in keys]
    assert read_bibtex(write_bibtex(entries)) == [replace(work, key=key) for key in written]


@settings(max_examples=60, deadline=None)
@given(st.lists(texts, max_size=6))
def test_any_keys_can_be_read_back(keys: list[str]) -> None:
    read = read_bibtex(write_bibtex(iter([Entry(key=key, title="Ropes") for key in keys])))
    assert [entry.title for entry in read] == ["Ropes"] * len(keys)


FOREIGN = r"""
% a comment
@string{acm = "ACM " # "Press"}
@Conference(k1,
  Author = "Ludwig van Beethoven and {\'E}. Poe and others",
  title = "{A} Study of G{\"o}del's \& {B}rown's",
  booktitle = "Proc.", month = "1~" # jul, year = 1999, publisher = acm,
  keywords = {x, y},
  eprint = {77}, archiveprefix = {HAL},
)
@thesis{k2, author={Doe, Jr, John}, school="S", date={2001-02}, title={T}, type={Master's thesis}}
@weird{k3, title={T}, year={in press}}
"""


def test_what_others_write_is_read() -> None:
    first, second, third = read_bibtex(FOREIGN)
    assert first.type is EntryType.INPROCEEDINGS
    assert first.authors == Names((Name("Beethoven", "Ludwig", "van"), Name("Poe", "É.")), others=True)
    assert (first.title, first.publisher) == ("A Study of Gödel's & Brown's", "ACM Press")
    assert first.note == "keywords: x, y. eprint: 77. archiveprefix: HAL"
    assert second.authors == Names((Name("Doe", "John", suffix="Jr"),))
    assert second.date == Date(Day(2001, 2)) and second.publisher == "S"
    assert (third.type, third.note) == (EntryType.MISC, "year: in press")


@pytest.mark.parametrize(
    "fields, iso, note",
    [
        ("month = 13, year = 1999", "1999", "month: 13"),
        ("month = {0}, year = 1999", "1999", "month: 0"),
        ("month = 5, year = 1999", "1999-05", ""),
        ('month = "1~" # jul, year = 1999', "1999-07-01", ""),
        ("month = {January--March}, year = 1999", "1999-01/1999-03", ""),
        ("month = {Fall}, year = 1999", "1999-23", ""),
        ("date = {1999-21}", "1999-21", ""),
        ("date = {1999-13-45}", "1999", "date: 1999-13-45"),
        ("date = {2003/..}", "2003", "date: 2003/.."),
        ("month = {Ramadan}, year = 1999", "1999", "month: Ramadan"),
        ("year = 99999999999999999999", None, "year: 99999999999999999999"),
        ("urldate = {1999-99-01}", None, "urldate: 1999-99-01"),
        ("date = {2003-02-30}", "2003-02", "date: 2003-02-30"),
        ("month = {29 February}, year = 1999", "1999", "month: 29 February"),
        ("month = {29 February}, year = 1996", "1996-02-29", ""),
        ("date = {2003}, year = 2005", "2003", "year: 2005"),
        ("date = {2003}, year = {2003--2005}", "2003", "year: 2003–2005"),
        ("date = {2003-05}, month = jun, year = 2003", "2003-05", "month: June"),
        ("year = {1999--00}", "1999/2000", ""),
        ("year = {1999/2000}", "1999/2000", ""),
        ("year = {1926-28}", "1926/1928", ""),
        ("year = {1999--98}", "1999", "year: 1999–98"),
        ("year = {[1999]}", "1999", "year: [1999]"),
        ("date = {May 3, 1999}", "1999-05-03", "date: May 3, 1999"),
        ("date = {1999/05/03}", "1999", "date: 1999/05/03"),
        ("date = {../1999}", None, "date: ../1999"),
        ("year = {ca. 1999}, month = may", "1999-05", "year: ca. 1999"),
        ("year = {3 May 1999}", "1999-05-03", "year: 3 May 1999"),
        ("year = {3 May 1999}, month = may", "1999-05-03", "year: 3 May 1999"),
        ("year = {May 5-7, 1999}, month = jun", "1999-05-05/1999-05-07", "year: May 5-7, 1999. month: June"),
        ("year = {n.d. (accessed 3 May 1999)}", None, "year: n.d. (accessed 3 May 1999)"),
        ("year = {1998, accessed 3 May 1999}", "1998", "year: 1998, accessed 3 May 1999"),
        ("year = {arXiv:1905.12345}", None, "year: arXiv:1905.12345"),
        ("year = {2000 BC}", None, "year: 2000 BC"),
        ("year = {05/1999}", "1999-05", ""),
        ("date = {05/1999}", "1999-05", "date: 05/1999"),
        ("date = {Y170000002}", None, "date: Y170000002"),
        (r"year = {{\noopsort{1973c}}1981}", "1981", ""),
        ("year = {2003--2001}", "2003", "year: 2003–2001"),
        ("date = {2005-03/2004-02}", "2005-03", "date: 2005-03/2004-02"),
        ("month = {December--January}, year = 2004", "2004", "month: December–January"),
        ("date = {2003-05-07/2003-06-09}, month = {May--June}", "2003-05-07/2003-06-09", ""),
    ],
)
def test_odd_dates_cost_nothing_else(fields: str, iso: str | None, note: str) -> None:
    first, second = read_bibtex(f"@book{{a, {fields}}}\n@book{{b, title = {{Ropes}}}}")
    assert (first.date and first.date.iso, first.note, second.title) == (iso, note, "Ropes")


@pytest.mark.parametrize(
    "fields, arxiv, note",
    [
        ("eprint = {2013.04881}", "2013.04881", ""),
        ("eprint = {2013.04881}, eprinttype = {arXiv}", "2013.04881", ""),
        ("eprint = {2971345}, eprinttype = {jstor}", "", "eprint: 2971345. eprinttype: jstor"),
        ("eprint = {https://pier.example/a.pdf}", "", "eprint: https://pier.example/a.pdf"),
        ("eprint = {hep-th/9901001}, archiveprefix = {}, month = {}, editor = { }", "hep-th/9901001", ""),
        (
            "eprint = {7}, archiveprefix = {arXiv}, eprinttype = {hdl}",
            "",
            "eprint: 7. archiveprefix: arXiv. eprinttype: hdl",
        ),
    ],
)
def test_only_numbers_of_arxiv_are_taken_for_such(fields: str, arxiv: str, note: str) -> None:
    (entry,) = read_bibtex(f"@book{{a, {fields}}}")
    assert (entry.arxiv, entry.note) == (arxiv, note)


@pytest.mark.parametrize(
    "field, value, bare",
    [
        ("doi", r"10.1007/978-3-319-10590-1\_53", "10.1007/978-3-319-10590-1_53"),
        ("doi", r"10.1007/978-3-319-10590-1{\_}53", "10.1007/978-3-319-10590-1_53"),
        ("doi", "https://doi.org/10.1000/x", "10.1000/x"),
        ("doi", "doi:10.1000/x", "10.1000/x"),
        ("doi", "see 10.1000/x", "see 10.1000/x"),
        ("url", r"\url{https://x.org/a\_b\%20c}", "https://x.org/a_b%20c"),
        ("url", r"https://x.org/\~{}doe/\#a", "https://x.org/~doe/#a"),
        ("url", r"https://x.org/$\sim$doe?a=1\&b=2", "https://x.org/~doe?a=1&b=2"),
        ("eprint", "arXiv:2001.12345", "2001.12345"),
        ("pages", "12–34", "12-34"),
        ("pages", "12---34", "12-34"),
        ("pages", "12 -- 34", "12-34"),
    ],
)
def test_identifiers_are_bare_and_ranges_have_one_hyphen(field: str, value: str, bare: str) -> None:
    (entry,) = read_bibtex(f"@book{{a, {field} = {{{value}}}}}")
    assert getattr(entry, {"eprint": "arxiv"}.get(field, field)) == bare


def test_strings_that_explode_are_refused() -> None:
    doubled = "".join("@string{a = a # a}\n" for _ in range(60))
    with pytest.raises(ValueError, match="CRF629"):
        read_bibtex(f'@string{{a = "x"}}\n{doubled}@book{{b, title = a}}')
    many = " # ".join(["a"] * 2000)
    with pytest.raises(ValueError, match="CRF629"):
        read_bibtex(f"@string{{a = {{{'x' * 10_000}}}}}\n@book{{b, title = {many}}}")


def test_lone_surrogates_and_deep_braces_are_read() -> None:
    (entry,) = read_bibtex(f"@book{{b, doi = {{\ud800}}, title = {{{'{' * 90}x{'}' * 90}}}}}")
    assert entry.title == "x" and entry.doi.encode()
    with pytest.raises(ValueError, match="CRF643"):
        read_bibtex(f"@book{{b, title = {{{'{' * 90_000}x{'}' * 90_000}}}}}")


def test_a_library_with_faults_that_bibtex_itself_warns_of_is_read_whole() -> None:
    text = """@string{hull = "Tollgate"}
    @book{crane, title = {One}, year = 2001, year = 2002, publisher = hull, month = sept}
    @book{crane, title = {Two}, year = 2003}
    @inbook{Crane, title = {Three}, crossref = {crane}}"""
    with pytest.warns(
        CRFWarning, match="CRFW668.*duplicate year.*repeated entry crane.*repeated.*undefined string sept"
    ):
        entries = read_bibtex(text)
    assert [(one.key, one.title) for one in entries] == [("crane", "One"), ("crane", "Two"), ("Crane", "Three")]
    assert [one.date and one.date.iso for one in entries] == ["2001-09", "2003", "2001-09"]
    assert entries[0].publisher == entries[2].publisher == "Tollgate"


def test_entries_without_a_key_do_not_refuse_a_library() -> None:
    text = """@string{pier = "Pier Press"}
    @article{,
      title = {One}, publisher = pier, journal = {Pier}}
    @book{
      title = {Two}
    }
    @book{three, title = {Three}}"""
    entries = read_bibtex(text)
    assert [(one.key, one.title) for one in entries] == [("", "One"), ("", "Two"), ("three", "Three")]
    assert [one.container for one in entries] == ["Pier", "", ""]
    assert [one.key for one in read_bibtex(write_bibtex(entries))] == ["one", "two", "three"]
    (entry,) = read_bibtex("@book{a=b, title = {One}}")
    assert (entry.key, entry.title) == ("a=b", "One")
    with pytest.warns(CRFWarning, match="CRFW668.*line 3"):
        (entry,) = read_bibtex("@article{,\n title = {One},\n year = }")
    assert (entry.key, entry.title) == ("", "One")


@pytest.mark.parametrize(
    "broken, kept",
    [
        ("@book{b, title = {Two}\n author {Lund, K.}\n}\n", "Two"),  # no sign of equality
        ("@book{b, title = {Two}, year = 2002\n\n", "Two"),  # no brace at its end
        ("@book{b, title = {Two},\n", "Two"),
        ("@book{b, title = {Two}, note = {an {open brace},\n year = 2002\n}\n", "Two"),
        ('@book{b, title = {Two}, note = "a "quote" within",\n}\n', "Two"),
        ("@book{b, title = {Two}, year = ,}\n", "Two"),
        ("@book{b, title = {Two}, 2002 = year}\n", "Two"),
        ("@book{b, title = {Two}} see k@lund.example\n", "Two"),
        ("@book{b, author = {Lund, K. and Moss, P., Q., R., S., T.}, title = {Two}}\n", "Two"),
        ("@book{b, title = {Two {open}\n", None),
        ("@book{}\n", None),
        ("@string{b = }\n", None),
        ("@book\n", None),
    ],
)
def test_an_error_of_syntax_costs_no_other_entry(broken: str, kept: str | None) -> None:
    others = "@book{c,\n title = {Three}, crossref = {a}}\n@book{d, year = 2004}"
    with pytest.warns(CRFWarning, match="CRFW668"):
        entries = read_bibtex(f"@book{{a, title = {{One}}}}\n{broken}{others}")
    titles = {"a": "One", "b": kept, "c": "Three", "d": ""}
    assert {one.key: one.title for one in entries} == {key: title for key, title in titles.items() if title is not None}


def test_a_comma_that_is_missing_costs_nothing() -> None:
    text = (
        "@book{a\n title = {One}\n  author = {Lund, K.}, year = 2001\n publisher = {Pier}\n}\n@book{b, title = {Two}}"
    )
    with pytest.warns(CRFWarning, match="CRFW668.*no comma before line 3, in a; no comma before line 4, in a. Entries"):
        first, second = read_bibtex(text)
    assert (first.key, first.title, first.publisher, second.title) == ("a", "One", "Pier", "Two")
    assert first.authors.names == (Name("Lund", "K."),) and first.date == Date(Day(2001))


def test_a_key_with_spaces_is_read_and_told() -> None:
    text = "@book{Lund and Moss 2001, title = {One}}\n@book(pier 2 ,title = {Two})\n@book{three\n, title = {Three}}"
    with pytest.warns(CRFWarning, match="CRFW668.*spaces in the key Lund and Moss 2001; spaces in the key pier 2"):
        entries = read_bibtex(text)
    assert [(one.key, one.title) for one in entries] == [
        ("Lund and Moss 2001", "One"),
        ("pier 2", "Two"),
        ("three", "Three"),
    ]


def test_a_warning_that_cannot_show_all_faults_counts_them() -> None:
    with pytest.warns(CRFWarning, match=r"CRFW668.*\(40 in all\)"):
        assert len(read_bibtex("".join(f"@book{{b {number}, title = {{One}}}}" for number in range(40)))) == 40


def test_fields_behind_a_brace_too_many_are_told() -> None:
    text = "@book{a, title = {One}},\n year = 2001\n}\nA comment, x = y.\n@book{b, title = {Two}}, "
    with pytest.warns(CRFWarning, match="CRFW668.*behind the end of a in line 1, not read. Entries"):
        assert [one.title for one in read_bibtex(text)] == ["One", "Two"]
    with pytest.warns(CRFWarning, match="CRFW668.*behind the end of c in line 1"):
        read_bibtex("@book{c, title = {One}}, year = 2001}")
    with pytest.warns(CRFWarning, match="CRFW668.*behind the end of e in line 2, not read"):
        assert len(read_bibtex("@book{e, title = {X},\n}\nyear = 1999,\n}\n@book{f, title = {Y}}")) == 2
    with pytest.warns(CRFWarning, match="CRFW668.*behind the end of a command in line 1"):
        read_bibtex("@string{s = {x}}, year = {1999},\n}\n@book{g, title = {Sea}}")


def test_many_entries_that_do_not_end_are_refused() -> None:
    text = "".join(f"@book{{b{number}, title = {{open\n{{}}" + "x" * 3000 for number in range(99))
    with pytest.raises(ValueError, match="CRF643.*b0"):
        read_bibtex(text)


def test_names_with_commas_between_them_do_not_refuse_a_library() -> None:
    text = """@book{a, title = {One}, AUTHOR = {Lund, K., M{\\"o}ss, P., van der Crane, E.}, editor = {Hull, A.}}
    @book{b, title = {Two}, author = {Crane, E.}}"""
    with pytest.warns(CRFWarning, match="CRFW668.*commas between the names Lund, K., M"):
        first, second = read_bibtex(text)
    assert first.authors.names == (Name("Lund", "K."), Name("Möss", "P."), Name("Crane", "E.", "van der"))
    assert first.editors.names == (Name("Hull", "A."),)
    assert second.authors.names == (Name("Crane", "E."),)


@pytest.mark.parametrize(
    "names, read",
    [
        (r"Lund, K.~A., Moss, P.~B., Roe, L.~C.", "Lund, K. A.; Moss, P. B.; Roe, L. C."),
        ("{Board of Piers, Ropes and Fog} and Lund, K., Moss, P.", "Board of Piers, Ropes and Fog; Lund, K.; Moss, P."),
        ("Lund, K., {van der Moss}, P., Hull, A. and others", "Lund, K.; van der Moss, P.; Hull, A.; et al."),
        ("Ada Lund, Bo Moss, Kim Roe", "Lund, Ada; Moss, Bo; Roe, Kim"),
        ("K. Lund, P. de Moss and R. Hull", "Lund, K.; de Moss, P.; Hull, R."),
        ("Ada Lund, Bo Moss, and Kim Roe", "Lund, Ada; Moss, Bo; Roe, Kim"),
        ("Lund, Moss, Hull, and Roe", "Lund; Moss; Hull; Roe"),
        ("Bureau of Ropes, Chains, Piers, and Fog", "Bureau of Ropes, Chains, Piers, and Fog"),
    ],
)
def test_names_between_commas_are_told_apart(names: str, read: str) -> None:
    with pytest.warns(CRFWarning, match="CRFW668.*commas between"):
        (entry,) = read_bibtex(f"@book{{a, author = {{{names}}}}}")
    assert print_value(entry.authors) == read


DEGREES = ("J. Lund, M.Sc.", "J. Lund, B. Sc.", "J. Lund, O.Praem.", "King, Ada Bo, Jr.", "Lund, Ada B., Ph. D.")


@pytest.mark.parametrize(
    "name", ["Garcia M., Juan C.", "Lund, S. J., Ada", "Van Lund, Jr., Ada B.", "O. Lund, Ada", *DEGREES]
)
def test_commas_within_a_name_part_no_names(name: str) -> None:
    (entry,) = read_bibtex(f"@book{{a, author = {{{name}}}}}")
    assert print_value(entry.authors) == name


def test_parts_of_names_that_are_told_as_biblatex_does() -> None:
    text = r"""@book{a, author={family=Lund, given=K{\'e}a, prefix=van der, useprefix=true and Moss, P. and
    given={Ada, B.}, family={Hull and Crane}, suffix=Jr., given-i=A}}"""
    (entry,) = read_bibtex(text)
    assert entry.authors.names[:2] == (Name("Lund", "Kéa", "van der"), Name("Moss", "P."))
    assert entry.authors.names[2] == Name("Hull and Crane", "Ada, B.", suffix="Jr.")


def test_a_comma_before_and_says_nothing() -> None:
    first, second = read_bibtex("@book{a, author={Lund, K.~A., and Hull, Jr., P.,}}\n@book{b, author={Moss, Jr.,}}")
    assert first.authors.names == (Name("Lund", "K. A."), Name("Hull", "P.", suffix="Jr."))
    assert second.authors.names == (Name("Moss", suffix="Jr."),)
    (third,) = read_bibtex("@book{c, author={Lund, Ada, and Moss, Bo,}}")
    assert third.authors.names == (Name("Lund", "Ada"), Name("Moss", "Bo"))
    (fourth,) = read_bibtex("@book{d, author={van der Lund, Ada Bo, and Kim Roe}}")
    assert fourth.authors.names == (Name("Lund", "Ada Bo", "van der"), Name("Roe", "Kim"))


def test_what_is_no_bibtex_is_refused() -> None:
    with pytest.raises(ValueError, match="CRF643"):
        read_bibtex("@article{key, title = {unfinished")


def test_without_pybtex_only_reading_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pybtex.database", None)
    monkeypatch.delitem(sys.modules, "spacy_crf.bibliography.bibtex_syntax", raising=False)
    assert write_bibtex(corpus_entries()[:1])
    with pytest.raises(ImportError, match="CRF642"):
        read_bibtex("")


def test_a_part_has_what_its_book_has() -> None:
    text = """
    @inproceedings{a, author={Lund, K.}, title={Ropes}, crossref={b}, pages={3--5}}
    @proceedings{b, title={Knots}, year={1999}, editor={Moss, P.}, doi={10.5555/b}, publisher={Sea Press}}
    @inproceedings{c, author={Roe, J.}, title={Eels}, crossref={nowhere}}"""
    part, book, other = read_bibtex(text)
    assert (part.title, part.container, part.date, part.pages) == ("Ropes", "Knots", Date(Day(1999)), "3-5")
    assert (part.editors, part.publisher, part.doi, part.note) == (book.editors, "Sea Press", "", "")
    assert (book.title, book.container, other.note) == ("Knots", "", "crossref: nowhere")


def test_fields_that_entries_share_by_xdata() -> None:
    text = """
    @book{a, title={Ropes}, year={1999}, xdata={Pier, series}}
    @xdata{pier, publisher={Pier Press}, location={Ulm}, editor={Moss, P.}}
    @xdata{series, series={Knots}, xdata={more}}
    @xdata{more, volume={3}, publisher={Other}, xdata={series}}
    @book{b, title={Eels}, xdata={nowhere, pier}}"""
    book, other = read_bibtex(text)
    assert (book.publisher, book.place, book.series, book.volume) == ("Pier Press", "Ulm", "Knots", "3")
    assert (book.editors, book.note) == (Names((Name("Moss", "P."),)), "")
    assert (other.title, other.publisher, other.note) == ("Eels", "Pier Press", "xdata: nowhere, pier")


def test_what_an_entry_says_itself_comes_before_what_it_has_from_others() -> None:
    text = """
    @incollection{a, location={Ulm}, journaltitle={Ropes}, year={2001}, crossref={b}, xdata={c}}
    @book{b, title={Knots}, address={Bern}, date={1999-05}}
    @xdata{c, city={Kiel}, date={1998}, publisher={Pier}}"""
    part, _ = read_bibtex(text)
    assert (part.place, part.container, part.publisher) == ("Ulm", "Ropes", "Pier")
    assert (part.date, part.note) == (Date(Day(2001)), "address: Bern. booktitle: Knots. city: Kiel")


def test_a_part_of_a_volume_has_what_the_work_has() -> None:
    text = """
    @incollection{a, title={Ropes}, crossref={b}, pages={3--5}}
    @book{b, title={Knots}, titleaddon={A Reader}, volume={2}, crossref={c}, shorttitle={Kn}}
    @mvbook{c, title={The Sea}, author={Lund, K.}, year={1999}, publisher={Sea Press}, related={d}}
    @book{d, title={Round}, crossref={e}}
    @book{e, title={And Round}, crossref={d}}"""
    part, volume, *_ = read_bibtex(text)
    assert (part.title, part.container, part.volume, part.publisher) == ("Ropes", "Knots", "2", "Sea Press")
    assert (part.authors, part.date) == (Names((Name("Lund", "K."),)), Date(Day(1999)))
    assert part.note == "maintitle: The Sea. booktitleaddon: A Reader"
    assert (volume.title, volume.container, volume.date) == ("Knots", "The Sea", Date(Day(1999)))


@pytest.mark.parametrize(
    ("written", "iso", "note"),
    [
        ("1723~", "1723", "date: 1723~"),
        ("1723~/1730", "1723/1730", "date: 1723~/1730"),
        ("1723-05?/1724%", "1723-05/1724", "date: 1723-05?/1724%"),
        ("2003-05-07T10:00:00Z/2003-05-09", "2003-05-07/2003-05-09", "date: 2003-05-07T10:00:00Z/2003-05-09"),
    ],
)
def test_dates_that_are_not_certain_say_so(written: str, iso: str, note: str) -> None:
    (entry,) = read_bibtex(f"@book{{a, date={{{written}}}}}")
    assert entry.date is not None and (entry.date.iso, entry.note) == (iso, note)


def test_reviews_are_articles() -> None:
    entries = read_bibtex("@review{a, journaltitle={Knots}}\n@suppperiodical{b, journaltitle={Knots}}")
    assert [one.type for one in entries] == [EntryType.ARTICLE] * 2


@pytest.mark.parametrize("pages", ["3--9", "A-3--A-7", "12-1--12-24, 30--31", "S1--S9", "7", "1--2--3"])
def test_hyphens_within_pages(pages: str) -> None:
    entries = read_bibtex(f"@article{{a, pages={{{pages}}}}}")
    assert f"pages = {{{pages}}}" in write_bibtex(entries)
    assert read_bibtex(write_bibtex(entries))[0].pages == entries[0].pages


def test_a_thesis_of_another_kind_is_one() -> None:
    (entry,) = read_bibtex("@thesis{a, type={Kandidatspeciale}, institution={Ulm}}")
    assert (entry.type, entry.genre, entry.publisher) == (EntryType.PHDTHESIS, "Kandidatspeciale", "Ulm")


def test_issues_and_places_as_mendeley_has_them() -> None:
    text = """
    @article{a, city={Ulm}, issue={4}, volume={2}}
    @article{b, issue={Spring}, number={3}}
    @book{c, city={Ulm}, address={Bern}}"""
    first, second, third = read_bibtex(text)
    assert (first.place, first.number, first.volume, first.note) == ("Ulm", "4", "2", "")
    assert (second.number, second.note) == ("3", "issue: Spring")
    assert (third.place, third.note) == ("Bern", "city: Ulm")


def test_a_part_with_a_year_has_no_other_date() -> None:
    text = """
    @inbook{a, year={2001}, crossref={c}}
    @inbook{b, month={jun}, crossref={c}}
    @inbook{d, year={}, date={ }, booktitle={}, crossref={c}}
    @book{c, title={Piers}, date={2000-05}}"""
    first, second, third, _ = read_bibtex(text)
    assert (first.date, first.note) == (Date(Day(2001)), "")
    assert (second.date, second.note) == (Date(Day(2000, 5)), "month: jun")
    assert (third.date, third.container) == (Date(Day(2000, 5)), "Piers"), "an empty field is none"


def test_subtitles_belong_to_titles() -> None:
    text = """
    @incollection{a, title={Ropes}, subtitle={On {Tar}}, booktitle={Knots}, booksubtitle={A Book}}
    @inbook{b, title={Eels}, crossref={c}}
    @mvbook{c, title={Knots}, subtitle={A Book}}"""
    first, second, whole = read_bibtex(text)
    assert (first.title, first.container, first.note) == ("Ropes: On Tar", "Knots: A Book", "")
    assert (second.title, second.container, second.note) == ("Eels", "Knots: A Book", "")
    assert (whole.type, whole.title) == (EntryType.BOOK, "Knots: A Book")


def test_fields_in_two_pairs_of_braces() -> None:
    (entry,) = read_bibtex(
        "@article{a, title={{Ropes}}, year={{2003}}, month={{MAY 3}}, volume={{12}}, doi={{10.5555/a}}}"
    )
    assert (entry.title, entry.date, entry.volume, entry.doi) == ("Ropes", Date(Day(2003, 5, 3)), "12", "10.5555/a")


@pytest.mark.parametrize(
    ("text", "kind", "genre"),
    [
        ("@thesis{a, type={mathesis}, institution={Ulm}}", "mastersthesis", "Master's thesis"),
        ("@thesis{a, type={phdthesis}, institution={Ulm}}", "phdthesis", "PhD thesis"),
        ("@thesis{a, type={Bachelor's thesis}, institution={Ulm}}", "mastersthesis", "Bachelor's thesis"),
        ("@phdthesis{a, type={Habilitation}, publisher={ProQuest}, school={Ulm}}", "phdthesis", "Habilitation"),
    ],
)
def test_theses_of_biblatex(text: str, kind: str, genre: str) -> None:
    (entry,) = read_bibtex(text)
    assert (entry.type, entry.genre, entry.publisher) == (kind, genre, "Ulm")


def test_an_organization_is_no_publisher_beside_one() -> None:
    (entry,) = read_bibtex("@inproceedings{a, organization={Knot Club}, publisher={Sea Press}}")
    assert (entry.publisher, entry.note) == ("Sea Press", "organization: Knot Club")


@pytest.mark.parametrize("text", ["2003-05-03T12:00:00Z", "2003-05-03?", "2003-05-03~"])
def test_dates_with_more_than_a_day(text: str) -> None:
    (entry,) = read_bibtex(f"@article{{a, date={{{text}}}}}")
    assert entry.date == Date(Day(2003, 5, 3)) and entry.note.startswith("date: 2003-05-03")


def test_apostrophes_before_particles_hide_them_not() -> None:
    (entry,) = read_bibtex(write_bibtex([Entry(key="k", authors=Names((Name("Hooft", "G.", "’t"),)))]))
    assert entry.authors == Names((Name("Hooft", "G.", "'t"),))


def test_texts_have_single_spaces() -> None:
    (entry,) = read_bibtex("@misc{a, title = {Vol. ~ 2 of\\ the~~ropes}, annote = {p. ~12}, note = { Nets ~ }}")
    assert (entry.title, entry.note) == ("Vol. 2 of the ropes", "Nets. annote: p. 12")
    assert read_bibtex(write_bibtex([entry])) == [entry]


@pytest.mark.parametrize(
    "latex, journal",
    [
        (r"{\apj}", "Astrophysical Journal"),
        (r"\rmxaa", "Revista Mexicana de Astronomía y Astrofísica"),
        (r"\mnras", "Monthly Notices of the Royal Astronomical Society"),
        (r"{\ropes}", r"\ropes"),
    ],
)
def test_macros_for_journals_of_astronomers_are_read(latex: str, journal: str) -> None:
    (entry,) = read_bibtex(f"@article{{a, journal = {{{latex}}}}}")
    assert entry.container == journal


def test_entries_that_another_one_has_taken_into_its_quotes_are_read() -> None:
    broken = '@book{a, year = 2001, title = "On {ropes",\n publisher = {Quay}\n}\n'
    others = '@book{b,\n title = {Knots}\n}\n @book(c, title = "Cords")\n@comment{x, y}\n@book{d, title = {Rafts}}\n'
    with pytest.warns(CRFWarning, match="CRFW668.*in a"):
        found = read_bibtex(broken + others)
    assert [(entry.key, entry.title) for entry in found] == [("a", ""), ("b", "Knots"), ("c", "Cords"), ("d", "Rafts")]


def test_figures_that_are_set_higher_or_lower() -> None:
    title = r"Noise at 10\textsuperscript{6} Hz in H\textsubscript{2}O, or 1010<sub>2</sub>"
    (entry,) = read_bibtex(f"@book{{a, title = {{{title}}}, edition = {{\\textsuperscript{{2}}1999}}}}")
    assert (entry.title, entry.edition) == ("Noise at 10⁶ Hz in H2O, or 1010₂", "²1999")
