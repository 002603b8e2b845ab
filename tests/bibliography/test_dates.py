"""Dates as they are printed."""

from calendar import month_name
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.bibliography.dates import merge_dates, month_of, parse_date
from spacy_crf.bibliography.entry import Date, Day

MONTHS = list(month_name)[1:]


@pytest.mark.parametrize(
    "text, iso",
    [
        ("(2014).", "2014"),
        ("1598.", "1598"),
        ("June 1989.", "1989-06"),
        ("(1998, August).", "1998-08"),
        ("1978 Feb;", "1978-02"),
        ("Sept. 1974.", "1974-09"),
        ("4 March 1791,", "1791-03-04"),
        ("October 9, 1868,", "1868-10-09"),
        ("(2021, March 4).", "2021-03-04"),
        ("2021 May 18;", "2021-05-18"),
        ("12.03.2014", "2014-03-12"),
        ("12/25/2014", "2014-12-25"),
        ("25/12/2014", "2014-12-25"),
        ("2014-03-12", "2014-03-12"),
        ("1926–28),", "1926/1928"),
        ("(2008/09),", "2008/2009"),
        ("1999-00", "1999/2000"),
        ("1899/00", "1899/1900"),
        ("2019-11", "2019-11"),
        ("2019/11", "2019-11"),
        ("2005-05", "2005-05"),
        ("2010-12", "2010/2012"),
        ("2004/05/07", "2004-05-07"),
        ("Apr.–Jun. 2017.", "2017-04/2017-06"),
        ("May 7–9, 2003.", "2003-05-07/2003-05-09"),
        ("2011 Sep 14-17;", "2011-09-14/2011-09-17"),
        ("1889– .", "1889"),
        ("l898.", "1898"),
        ("Dec. 2003 - Jan. 2004", "2003-12/2004-01"),
        ("28 December 2003 – 3 January 2004", "2003-12-28/2004-01-03"),
        ("30 June–2 July 2003", "2003-06-30/2003-07-02"),
        ("2011 Sep 28-Oct 2", "2011-09-28/2011-10-02"),
        ("December/January 2004", "2003-12/2004-01"),
        ("Nov-Feb 1999/2000", "1999-11/2000-02"),
        ("May and June 2003", "2003-05/2003-06"),
        ("19O4", "1904"),
        ("3. März 1904", "1904-03-03"),
        ("août 1921", "1921-08"),
        ("Dec 2003/Jan 2004", "2003-12/2004-01"),
        ("Dec 2003 and Jan 2004", "2003-12/2004-01"),
        ("December 2003 to January 2004", "2003-12/2004-01"),
        ("2003 Dec/2004 Jan", "2003-12/2004-01"),
        ("May 2003/June 2004", "2003-05/2004-06"),
        ("Juni 2003 bis Juli 2004", "2003-06/2004-07"),
        ("1 January 2003 to 5 February 2004", "2003-01-01/2004-02-05"),
        ("2 to 4 May 2001", "2001-05-02/2001-05-04"),
        ("May 2nd–4th, 2001", "2001-05-02/2001-05-04"),
        ("Dec. 1999/2000", "1999-12/2000"),
        ("1er mai 1998", "1998-05-01"),
        ("5 de mayo de 1998", "1998-05-05"),
        ("maio de 2004", "2004-05"),
        ("12 мая 2004 г.", "2004-05-12"),
        ("2004年5月12日", "2004-05-12"),
        ("2004년 5월", "2004-05"),
        ("25/04/2013", "2013-04-25"),
        ("2013.04.25", "2013-04-25"),
        ("(2004-05-03/2004-05-07)", "2004-05-03/2004-05-07"),
        ("Jan/Feb/Mar 2004", "2004-01/2004-03"),
        ("5.–7. Mai 2004", "2004-05-05/2004-05-07"),
        ("5.-7.5.2004", "2004-05-05/2004-05-07"),
        ("30.4. – 2.5.2004", "2004-04-30/2004-05-02"),
        ("30.12.2003-02.01.2004", "2003-12-30/2004-01-02"),
        ("5. bis 7. Mai 2004", "2004-05-05/2004-05-07"),
        ("25-4-2013", "2013-04-25"),
        ("2 nd - 6 th September 2019", "2019-09-02/2019-09-06"),
        ("1984/1990", "1984/1990"),
    ],
)
def test_dates(text: str, iso: str) -> None:
    found, rest = parse_date(text)
    assert found is not None and found.iso == iso
    assert rest == ""


def test_letters_and_what_is_no_date() -> None:
    assert parse_date("(2015a).") == (Date(Day(2015), letter="a"), "")
    assert parse_date("1990b") == (Date(Day(1990), letter="b"), "")
    assert parse_date("1950s") == (Date(Day(1950)), "s")
    assert parse_date("(Winter 1999):") == (Date(Day(1999)), "Winter")
    assert parse_date("o. J. [ca. 1920].") == (Date(Day(1920)), "o J ca")
    assert parse_date("191?") == (None, "191")
    assert parse_date("Nr. 12. – 14.5.2004") == (Date(Day(2004, 5, 14)), "Nr 12")
    assert parse_date("v1.2. - 5.5.2004") == (Date(Day(2004, 5, 5)), "v1.2")
    assert parse_date("1735--1780, 1997") == (Date(Day(1997)), "1735--1780")
    assert parse_date("2053") == (None, "2053")
    assert parse_date("(October):") == (None, "October")
    assert parse_date("2014-13-12")[0] == Date(Day(2014))


@given(
    st.dates(date(1400, 1, 1), date(2049, 12, 31)),
    st.sampled_from(["{d} {m} {y}", "{m} {d}, {y}", "{y} {m} {d}", "({y}, {m} {d})."]),
    st.integers(3, 9),
)
def test_any_day_in_any_order(day: date, form: str, length: int) -> None:
    text = form.format(y=day.year, m=MONTHS[day.month - 1][:length], d=day.day)
    assert parse_date(text) == (Date(Day(day.year, day.month, day.day)), "")


@given(st.integers(1, 9999), st.integers(1, 12), st.integers(1, 31))
def test_days_are_those_of_the_calendar(year: int, month: int, day: int) -> None:
    try:
        date(year, month, day)
    except ValueError:
        assert Day.of([str(year), str(month), str(day)]) == Day(year, month)
        with pytest.raises(ValueError, match="CRF628"):
            Day(year, month, day)
    else:
        assert Day.of([str(year), str(month), str(day)]) == Day(year, month, day)


@pytest.mark.parametrize(
    "text, iso, rest",
    [
        ("31 February 2003", "2003-02", "31"),
        ("ISO 14882:2017", "2017", "ISO 14882"),
        ("report 20045, 1999", "1999", "report 20045"),
        ("2003-02-30", "2003", "02-30"),
        ("2012-2008", "2012", "2008"),
        ("1995-00", "1995", "00"),
        ("2019-13", "2019", "13"),
        ("2019/11, no. 3", "2019-11", "no 3"),
        ("30.02.2003", "2003", "30.02"),
        ("2003-13-05", "2003", "13-05"),
        ("30-28 May 2003", "2003-05", "30-28"),
        ("March 2003 (accessed May 5, 2004)", "2003-03", "accessed May 5 2004"),
        ("28-30 February 2003", "2003-02", "28-30"),
        ("30 January - 31 February 2003", "2003-01-30/2003-02", "31"),
        ("Dec 2004/Jan 2003", "2004-12", "Jan 2003"),
        ("2004年13月", "2004", "年13月"),
        ("05/04/2013", "2013", "05/04"),
        ("No. 5, May 2004", "2004-05", "No 5"),
        ("vol. 5 May 2004", "2004-05", "vol 5"),
        ("Received 1 May 2003 and accepted 5 June 2004", "2003-05-01", "Received and accepted 5 June 2004"),
        ("Tuesday 5 May – Thursday 7 May 2003", "2003-05-05/2003-05-07", "Tuesday Thursday"),
        ("May 2004 (2nd printing)", "2004-05", "2nd printing"),
        ("May 2004, 2nd ed.", "2004-05", "2nd ed"),
        ("May 2004, 12 pages", "2004-05", "12 pages"),
        ("2004 May;12(3)", "2004-05", "12(3)"),
        # what belongs to another year
        ("2018; e-pub 2017 Dec 3", "2018", "e-pub 2017 Dec 3"),
        ("1999, revised May 2003", "1999", "revised May 2003"),
        ("2018 Mar; 2018 Jan 9", "2018-03", "2018 Jan 9"),
        ("October 2, 2012, (2013)", "2012-10-02", "2013"),
        ("1781/1998", "1998", "1781"),
        ("[1752] 1955", "1955", "1752"),
        ("2003 [1910]", "2003", "1910"),
        ("1950s", "1950", "s"),
        ("2004 May 3;12(3)", "2004-05-03", "12(3)"),
    ],
)
def test_what_the_calendar_does_not_have_is_left(text: str, iso: str, rest: str) -> None:
    found, left = parse_date(text)
    assert found is not None and (found.iso, left) == (iso, rest)


@pytest.mark.parametrize(
    "parts",
    [
        (0,),
        (10000,),
        (1999, 0),
        (1999, 13),
        (1999, 21, 1),
        (1999, None, 1),
        (1999, 5, 32),
        (2003, 2, 31),
        (2001, 2, 29),
    ],
)
def test_what_no_calendar_has_is_refused(parts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="CRF628"):
        Day(*parts)


def test_months() -> None:
    assert [month_of(name) for name in MONTHS] == list(range(1, 13))
    assert [month_of(name) for name in ("Mrz", "mai", "déc.", "ju", "Juno", "Winter")] == [3, 5, 12, None, None, None]


def test_merging() -> None:
    year, month, day = Date(Day(2003)), Date(Day(2003, 5)), Date(Day(2003, 5, 7), Day(2003, 5, 9))
    assert merge_dates(None, year) == merge_dates(year, None) == year
    assert merge_dates(year, month) == merge_dates(month, year) == month
    assert merge_dates(day, year) == day
    assert merge_dates(Date(Day(2003), letter="b"), month) == Date(Day(2003, 5), letter="b")
    for other in (Date(Day(2004)), Date(Day(2004, 5))):
        with pytest.raises(ValueError):
            merge_dates(month, other)


def test_a_range_ends_behind_its_beginning() -> None:
    with pytest.raises(ValueError, match="CRF651.*2003-05 to 2003-04"):
        Date(Day(2003, 5), Day(2003, 4))
    assert Date.of([Day(2003, 5), Day(2002)]) == Date(Day(2003, 5))
    assert Date(Day(2003, 5), Day(2003)).iso == "2003-05/2003"  # nobody knows
    assert Date(Day(2003, 24), Day(2003, 1)).iso == "2003-24/2003-01"  # winter may come first


@pytest.mark.parametrize(
    ("text", "iso"), [("1848-9", "1848/1849"), ("(1898/9)", "1898/1899"), ("1898–9.", "1898/1899")]
)
def test_the_end_of_a_range_of_years_may_be_one_figure(text: str, iso: str) -> None:
    date, rest = parse_date(text)
    assert date is not None and (date.iso, rest) == (iso, "")


def test_the_year_before_that_of_a_reprint_is_of_the_original() -> None:
    assert parse_date("(1813) 2003") == (Date(Day(2003)), "1813")
    assert parse_date("1813 (2003)") == (Date(Day(1813)), "2003")


def test_a_word_before_a_day_is_no_note() -> None:
    assert parse_date("vom 3. April 2008") == (Date(Day(2008, 4, 3)), "")


@pytest.mark.parametrize(
    ("text", "iso", "rest"),
    [
        *(("1941 - 7 December", "1941-12-07", ""), ("1848 – 9. November", "1848-11-09", "")),
        *(("(1789 – 14 juillet)", "1789-07-14", ""), ("2003 – 5th May", "2003-05-05", "")),
        *(("2010/3", "2010", "3"), ("1998-9 (May)", "1998-05/1999", "")),
    ],
)
def test_figures_behind_a_year_that_are_a_day_or_a_number_are_no_later_year(text: str, iso: str, rest: str) -> None:
    date, left = parse_date(text)
    assert date is not None and (date.iso, left) == (iso, rest)


@pytest.mark.parametrize(
    "text",
    [
        "1º de mayo de 2003",
        "1.º de mayo de 2003",
        "1o de maio de 2003",
        "1º maggio 2003",
        "1.er mai 2003",
        "1 MAYIS 2003",
    ],
)
def test_the_first_of_a_month_in_other_languages(text: str) -> None:
    date, rest = parse_date(text)
    assert date is not None and (date.iso, rest) == ("2003-05-01", "")


@pytest.mark.parametrize(
    "text, iso",
    [
        ("15 marca 2003 r.", "2003-03-15"),
        ("styczeń–marzec 2003", "2003-01/2003-03"),
        ("15. března 2003", "2003-03-15"),
        ("červen 2003", "2003-06"),
        ("červenec 2003", "2003-07"),
        ("2003. március 15.", "2003-03-15"),
        ("5 Μαΐου 2003", "2003-05-05"),
        ("Ιούλιος 2003", "2003-07"),
        ("15 marts 2003", "2003-03-15"),
        ("Aralık 2003", "2003-12"),
        ("5 травня 2003 р.", "2003-05-05"),
        ("5 de maig de 2003", "2003-05-05"),
        ("noiembrie 2003", "2003-11"),
    ],
)
def test_months_of_more_languages(text: str, iso: str) -> None:
    found, rest = parse_date(text)
    assert found is not None
    assert (found.iso, rest) == (iso, "")


@pytest.mark.parametrize(
    "text, iso, rest",
    [
        ("Gene Ther 1989; 77", "1989", "Gene Ther 77"),
        ("2004, ARA&A, 42", "2004", "ARA&A 42"),
        ("Sommer des Jahres 1999", "1999", "Sommer des Jahres"),
        ("Ian (1999)", "1999", "Ian"),
        ("Сер. 2, 1999", "1999", "Сер 2"),
        ("des. 2003", "2003-12", ""),
        ("15. des 2003", "2003-12-15", ""),
        ("nov–des 2003", "2003-11/2003-12", ""),
        ("15 Ara 2010", "2010-12-15", ""),
        ("Mart 2003", "2003-03", ""),
    ],
)
def test_words_that_are_no_shortened_months(text: str, iso: str, rest: str) -> None:
    found = parse_date(text)
    assert found[0] is not None
    assert (found[0].iso, found[1]) == (iso, rest)


def test_letters_that_begin_two_months_are_none() -> None:
    assert [month_of(word) for word in ("jui.", "juil.", "juin", "čer.")] == [None, 7, 6, None]
