"""Identifiers and addresses, and when they were looked up."""

import pytest

from spacy_crf.bibliography.identifiers import is_isbn, quote_braces, take_accessed, take_identifiers


@pytest.mark.parametrize(
    "text, found, rest",
    [
        ("https://doi.org/10.5555/2916.0101", {"doi": "10.5555/2916.0101"}, ""),
        ("DOI:https://doi.org/10.5555/ppp.0302.17", {"doi": "10.5555/ppp.0302.17"}, ""),
        ("doi: 10.5555/gwm.2019.7.1502.", {"doi": "10.5555/gwm.2019.7.1502"}, "."),
        ("Lettered Archive, doi:10.5555/epr.6.0009.", {"doi": "10.5555/epr.6.0009"}, "Lettered Archive ."),
        ("10.5555/a(b)c_1)", {"doi": "10.5555/a(b)c_1"}, ")"),
        ("arXiv preprint arXiv:2013.04881", {"arxiv": "2013.04881"}, ""),
        ("arXiv:1913.04471 [quant-ph]", {"arxiv": "1913.04471"}, "[quant-ph]"),
        ("CoRR, abs/2013.11760,", {"arxiv": "2013.11760"}, ","),
        ("https://arxiv.org/abs/hep-th/9901001v2", {"arxiv": "hep-th/9901001v2"}, ""),
        ("ISBN 978-3-16-148410-0.", {"isbn": "9783161484100"}, "."),
        ("Retrieved from http://www.mll.example.org/3/6/e20177", {"url": "http://www.mll.example.org/3/6/e20177"}, ""),
        ("[Online]. Available: https://a.example.org/m", {"url": "https://a.example.org/m"}, ""),
        ("www.a.example.org/x. Print.", {"url": "www.a.example.org/x"}, ". Print."),
        ("ftp://a.example.org/pub/rfx.txt", {"url": "ftp://a.example.org/pub/rfx.txt"}, ""),
        ("10.1000/a_b;PMID:12.", {"doi": "10.1000/a_b"}, ";PMID:12."),
        ("doi :10.1000/JH04(2017)134[ hep-th].", {"doi": "10.1000/JH04(2017)134"}, "[ hep-th]."),
        ("doi: S08-2[pii]; 10.1000/n.09[doi]", {"doi": "10.1000/n.09"}, "doi: S08-2[pii]; [doi]"),
        ("doi.10.1000/c936.", {"doi": "10.1000/c936"}, "."),
        ("https://a.example.org/doi/10.5555/1", {"url": "https://a.example.org/doi/10.5555/1"}, ""),
        ("a 978-3-16-148410-0 b", {"isbn": "9783161484100"}, "a b"),
        ("a 978-3-16-148410-1 b", {}, "a 978-3-16-148410-1 b"),
        ("ISBN 3-16-148410-X 2014", {"isbn": "316148410X"}, "2014"),
        ("eISSN: 2049-363x.", {"issn": "2049-363X"}, "."),
        ("ECLI:NL:HR:2014:1234.", {"note": "ECLI:NL:HR:2014:1234"}, "."),
        ("A title about 10 things", {}, "A title about 10 things"),
    ],
)
def test_identifiers(text: str, found: dict[str, str], rest: str) -> None:
    assert take_identifiers(text) == (found, rest)


def test_check_digits() -> None:
    for right in ("978-3-16-148410-0", "316148410X", "0306406152"):
        wrong = [right[:-1] + figure for figure in "0123456789X" if figure != right[-1]]
        assert is_isbn(right) and not any(map(is_isbn, wrong))


def test_an_address_has_no_braces() -> None:
    assert quote_braces("http://a.example/{x}\\y") == "http://a.example/%7Bx%7D%5Cy"


@pytest.mark.parametrize(
    "text, iso, rest",
    [
        ("Retrieved October 2, 2019 from", "2019-10-02", "from"),
        ("(accessed 2 May 2012)", "2012-05-02", ""),
        ("[cited 2021 Jan 9];", "2021-01-09", ""),
        ("(Zugriff: 12.03.2014).", "2014-03-12", ""),
    ],
)
def test_when_an_address_was_looked_up(text: str, iso: str, rest: str) -> None:
    date, left = take_accessed(text)
    assert date is not None and (date.iso, left) == (iso, rest)


def test_other_dates_are_left() -> None:
    for text in ("Original work published 1994", "Retrieved items of 1994", "Epub 2012 Aug 2."):
        assert take_accessed(text) == (None, text)
