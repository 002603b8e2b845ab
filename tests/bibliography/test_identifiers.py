"""Identifiers and addresses, and when they were looked up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.bibliography.identifiers import (
    find_faults,
    is_arxiv,
    is_isbn,
    is_issn,
    quote_braces,
    take_accessed,
    take_identifiers,
)


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
        ("arxiv.org/abs/2013.04881", {"arxiv": "2013.04881"}, ""),
        ("12 (1999) 7 [hep-th/9901001]", {"arxiv": "hep-th/9901001"}, "12 (1999) 7 ]"),
        ("http://a.example/hep-th/9901001", {"url": "http://a.example/hep-th/9901001"}, ""),
        ("ISBN 978-3-16-148410-0.", {"isbn": "9783161484100"}, "."),
        ("Retrieved from http://www.mll.example.org/3/6/e20177", {"url": "http://www.mll.example.org/3/6/e20177"}, ""),
        ("[Online]. Available: https://a.example.org/m", {"url": "https://a.example.org/m"}, ""),
        ("www.a.example.org/x. Print.", {"url": "www.a.example.org/x"}, ". Print."),
        ("ftp://a.example.org/pub/rfx.txt", {"url": "ftp://a.example.org/pub/rfx.txt"}, ""),
        ("www.a.example.org/x/ Ropes_2.pdf (seen)", {"url": "www.a.example.org/x/Ropes_2.pdf"}, "(seen)"),
        ("http://a.example.org/ x/08/y.htm. B", {"url": "http://a.example.org/x/08/y.htm"}, ". B"),
        ("http://a.example.org/ Ropes. c.pdf", {"url": "http://a.example.org/"}, "Ropes. c.pdf"),
        ("http://a.example.org/ b.example/y.htm", {"url": "http://a.example.org/"}, "b.example/y.htm"),
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
        (":doi:`10.1000/a.b`", {"doi": "10.1000/a.b"}, ": `"),
        ("`On boats <10.1000/a.b>`", {"doi": "10.1000/a.b"}, "`On boats >`"),
        ("arXiv:`2013.04881`", {"arxiv": "2013.04881"}, "`"),
        ("A title about 10 things", {}, "A title about 10 things"),
    ],
)
def test_identifiers(text: str, found: dict[str, str], rest: str) -> None:
    assert take_identifiers(text) == (found, rest)


def test_check_digits() -> None:
    for right in ("978-3-16-148410-0", "316148410X", "0306406152"):
        wrong = [right[:-1] + figure for figure in "0123456789X" if figure != right[-1]]
        assert is_isbn(right) and not any(map(is_isbn, wrong))


@given(st.text("0123456789", min_size=7, max_size=7))
def test_of_eleven_endings_of_an_issn_one_is_right(figures: str) -> None:
    assert sum(is_issn(f"{figures[:4]}-{figures[4:]}{last}") for last in "0123456789X") == 1


@pytest.mark.parametrize(
    "number, right",
    [
        *(
            ("0704.0001", True),
            ("1412.9999", True),
            ("1412.99999", False),
            ("1501.00001v3", True),
            ("1501.0001", False),
        ),
        *(("0703.0001", False), ("1913.04471", False), ("2000.01234", False), ("hep-th/9901001", True)),
        *(("math.AG/0703999", True), ("hep-th/0704001", False), ("hep-th/9107001", False), ("9901001", False)),
    ],
)
def test_numbers_that_arxiv_could_have_given(number: str, right: bool) -> None:
    assert is_arxiv(number) is right


@pytest.mark.parametrize(
    "text, found",
    [
        ("ISBN 978-3-16-148410-0, ISSN 0317-8471, arXiv:1504.07295, doi:10.1000/x.", []),
        ("ISBN 978-3-16-148410-1.", [("isbn", "9783161484101")]),
        ("ISBN-10: 0-306-40615-3", [("isbn", "0306406153")]),
        ("ISBN 978-3-16-14841", [("isbn", "978-3-16-14841")]),
        ("eISSN: 2049-363x; ISSN 0317-8472", [("issn", "2049-363X"), ("issn", "0317-8472")]),
        ("ISSN 0317-84.", [("issn", "0317-84")]),
        ("arXiv:1913.04471 [quant-ph]", [("arxiv", "1913.04471")]),
        ("arXiv:1504.07, 2015", [("arxiv", "1504.07")]),
        ("doi: 11.1000/x; DOI 10.12/abc", [("doi", "11.1000/x"), ("doi", "10.12/abc")]),
        ("(the doi system) arXiv preprint, 2015. ISBN unknown", []),
        ("https://doi.org/10.5555/2916.0101 978-3-16-148410-1", []),
    ],
)
def test_identifiers_that_cannot_be_right(text: str, found: list[tuple[str, str]]) -> None:
    assert [(fault.kind, fault.value) for fault in find_faults(text)] == found


@pytest.mark.parametrize(
    "text, kind, value",
    [
        ("ISBN 978\u20110\u2011306\u201140615\u20117", "isbn", "9780306406157"),
        ("ISSN 0317\u20118471", "issn", "0317-8471"),
        ("arXiv preprint 1504.07295.", "arxiv", "1504.07295"),
        ("ArXiv e-prints, 1504.07295v2", "arxiv", "1504.07295v2"),
    ],
)
def test_hyphens_that_do_not_break_and_words_between(text: str, kind: str, value: str) -> None:
    found, _ = take_identifiers(text)
    assert found == {kind: value}


def test_an_address_has_no_braces() -> None:
    assert quote_braces("http://a.example/{x}\\y") == "http://a.example/%7Bx%7D%5Cy"


@pytest.mark.parametrize(
    "text, iso, rest",
    [
        ("Retrieved October 2, 2019 from", "2019-10-02", "from"),
        ("(accessed 2 May 2012)", "2012-05-02", ""),
        ("[cited 2021 Jan 9];", "2021-01-09", ""),
        ("(Zugriff: 12.03.2014).", "2014-03-12", ""),
        ("(accessed 2019-05-03).", "2019-05-03", ""),
        ("Accessed: 2019/05/03", "2019-05-03", ""),
        ("[cited 2019 Mar]", "2019-03", ""),
        ("Accessed 2019, May 3rd.", "2019-05-03", ""),
        ("Accessed 3 May 2019 and 5 June 2019", "2019-05-03", "and 5 June 2019"),
    ],
)
def test_when_an_address_was_looked_up(text: str, iso: str, rest: str) -> None:
    date, left = take_accessed(text)
    assert date is not None and (date.iso, left) == (iso, rest)


def test_other_dates_are_left() -> None:
    for text in ("Original work published 1994", "Retrieved items of 1994", "Epub 2012 Aug 2."):
        assert take_accessed(text) == (None, text)


@pytest.mark.parametrize(
    "text",
    [
        "(consulté le 3 mai 2013)",
        "[consulta: 3 de mayo de 2013]",
        "[Último acceso: 3 de mayo de 2013]",
        "Consultado el 3 de mayo de 2013",
        "Acesso em: 3 maio 2013.",
        "(visitato il 3 maggio 2013)",
        "(ultimo accesso 3 maggio 2013)",
        "[geraadpleegd op 3 mei 2013]",
        "hämtad 3 maj 2013",
        "[dostęp 3 maja 2013]",
        "[cit. 2013-05-03]",
        "(дата обращения: 03.05.2013)",
        "letzter Zugriff am 3. Mai 2013",
        "last accessed 2013/05/03",
    ],
)
def test_when_an_address_was_looked_up_in_other_languages(text: str) -> None:
    date, rest = take_accessed(f"https://a.org/x {text}")
    assert date is not None and (date.iso, rest) == ("2013-05-03", "https://a.org/x")


@pytest.mark.parametrize("words", ["Verfügbar unter: ", "Disponible sur : ", "Disponible en ", "Beschikbaar op: "])
def test_words_before_an_address_go_with_it(words: str) -> None:
    assert take_identifiers(f"{words}https://rope.example/a") == ({"url": "https://rope.example/a"}, "")


@pytest.mark.parametrize("text", ["op. cit. 2003", "Loc. cit. 3 May 2003", "art. cit. 1999, 12"])
def test_works_that_were_cited_before_were_not_looked_up(text: str) -> None:
    assert take_accessed(text) == (None, text)
