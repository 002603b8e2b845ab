"""Citations as clients of GROBID send them."""

from unicodedata import normalize
from urllib.parse import urlencode
from xml.etree.ElementTree import Element, fromstring

import pytest
from helpers.services import httpx, refusal

from spacy_crf.bibliography.entry import Date, Day, Entry, EntryType, Name, Names
from spacy_crf.service.grobid import TEI, as_xml, to_structure

REFERENCE = "Ferreira, Tomás, and Edith Crane.\nThe Kitchen Sonnet. Tollgate Press 2003."
IN_TEI = {"t": TEI}


def post(client: httpx.Client, path: str, *citations: str, accept: str = "application/xml") -> httpx.Response:
    body = urlencode([("citations", text) for text in citations] + [("consolidateCitations", "0")])
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": accept}
    return client.post(f"/api/{path}", content=body, headers=headers)


def text_of(root: Element, path: str) -> list[str]:
    return [element.text or "" for element in root.iterfind(path, IN_TEI)]


def test_it_is_alive(client: httpx.Client) -> None:
    assert client.get("/api/isalive").text == "true"


def test_bibtex_of_a_citation(client: httpx.Client) -> None:
    response = post(client, "processCitation", REFERENCE, accept="application/x-bibtex")
    assert response.headers["content-type"].startswith("application/x-bibtex")
    assert response.text.startswith("@book{ferreira2003kitchen,") and "Tollgate Press" in response.text


def test_accents_that_are_characters_of_their_own(client: httpx.Client) -> None:
    composed, apart = (post(client, "processCitation", normalize(form, REFERENCE)) for form in ("NFC", "NFD"))
    assert normalize("NFC", apart.text) == composed.text


def test_tei_of_a_citation(client: httpx.Client) -> None:
    response = post(client, "processCitation", REFERENCE)
    assert response.headers["content-type"].startswith("application/xml")
    structure = fromstring(response.text)
    assert structure.tag == "biblStruct" and 0 < float(structure.attrib["cert"]) <= 1
    assert text_of(structure, "monogr/title") == ["The Kitchen Sonnet"]
    assert text_of(structure, ".//surname") == ["Ferreira", "Crane"]
    assert text_of(structure, ".//forename") == ["Tomás", "Edith"]
    assert structure.find(".//date").attrib["when"] == "2003"  # type: ignore[union-attr]


def test_lists(client: httpx.Client) -> None:
    response = post(
        client, "processCitationList", REFERENCE, "", "Crane, E. (1999). Boats & <Bays>. Harbour 3(2), 1-9."
    )
    found = fromstring(response.text).findall(".//t:biblStruct", IN_TEI)
    assert [one.attrib["{http://www.w3.org/XML/1998/namespace}id"] for one in found] == ["b0", "b1", "b2"]
    both = post(client, "processCitationList", REFERENCE, REFERENCE, accept="application/x-bibtex").text
    assert both.count("@book{") == 2 and "ferreira2003kitchena" in both


@pytest.mark.parametrize("marker", ["[2] ", "12. ", "(3) "])
def test_numbers_of_a_list_are_no_part_of_a_citation(client: httpx.Client, marker: str) -> None:
    accept = "application/x-bibtex"
    alone, numbered = (post(client, "processCitation", text, accept=accept) for text in (REFERENCE, marker + REFERENCE))
    assert numbered.text == alone.text
    found = [fromstring(post(client, "processCitation", text).text) for text in (REFERENCE, marker + REFERENCE)]
    assert found[0].attrib == found[1].attrib
    assert text_of(found[1], "note[@type='raw_reference']") == [marker + REFERENCE.replace("\n", " ")]


def test_seasons_are_no_months() -> None:
    date = to_structure(Entry(title="Boats", date=Date(Day(2003, 21))), "Boats", 1.0).find(".//date")
    assert date is not None and date.attrib["when"] == "2003"


def test_what_is_no_citation(client: httpx.Client) -> None:
    assert post(client, "processCitation", " \n ").status_code == 204
    refusal(client.post("/api/processCitation"), 400, "CRF735")
    refusal(client.post("/api/processCitation", content=b"citations=%ff"), 400, "CRF735")
    refusal(client.post("/api/processCitation", content=b"a=1&" * 2000), 400, "CRF735")
    refusal(post(client, "processCitationList", *["a"] * 6), 413, "CRF726")


@pytest.mark.parametrize("text", ["\x00", "a\x07b", "\ufffe", "😀 1999", "]]>", "&lt;"])
def test_odd_characters_are_no_bad_xml(client: httpx.Client, text: str) -> None:
    response = post(client, "processCitationList", f"{REFERENCE} {text}")
    assert response.status_code == 200
    fromstring(response.text)


def test_all_fields() -> None:
    entry = Entry(
        type=EntryType.ARTICLE, authors=Names((Name("Kooij", "Jan Piet", "van der", "Jr."),)), title="Loading",
        container="Harbour", volume="3", number="2", pages="1-9", doi="10.1/x", issn="1234-5678", url="https://a.b/",
        date=Date(Day(1993, 5)), place="Bay", note="Reprint", series="Boats", arxiv="1234.5678", edition="2",
    )  # fmt: skip
    structure = fromstring(as_xml(to_structure(entry, "raw", 0.5)))
    assert text_of(structure, "analytic/title") == ["Loading"] and text_of(structure, "monogr/title") == ["Harbour"]
    assert text_of(structure, ".//surname") == ["van der Kooij"] and text_of(structure, ".//genName") == ["Jr."]
    assert {one.attrib["unit"]: one.text for one in structure.iter("biblScope")} == {
        "volume": "3",
        "issue": "2",
        "page": None,
    }
    assert {one.attrib["type"]: one.text for one in structure.iter("idno")} == {
        "ISSN": "1234-5678",
        "DOI": "10.1/x",
        "arXiv": "1234.5678",
    }
    assert text_of(structure, "note") == ["Reprint", "raw"] and text_of(structure, "series/title") == ["Boats"]
