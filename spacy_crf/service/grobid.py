"""The part of GROBID's interface that reference managers use: citations to BibTeX or TEI.

In TEI, `cert` of a bibliographic structure is the probability that all its fields are right, as the model has it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fastapi import APIRouter, Request
from fastapi.responses import Response
from spacy.language import Language

from ..bibliography.bibtex import write_bibtex
from ..bibliography.entry import SEASONS, Entry, EntryType, Name, normalise
from ..bibliography.split import Reference, split_references
from ..reading.joining import join_lines
from ..reading.xml import IMPOSSIBLE
from .answers import read_references
from .errors import Refusal, ServiceErrors
from .models import Limits, Models

BIBTEX, XML = "application/x-bibtex", "application/xml"
TEI = "http://www.tei-c.org/ns/1.0"
MOST_FIELDS = 1000  # of a form
IN_JOURNALS = (EntryType.ARTICLE,)
PARTS = (EntryType.INPROCEEDINGS, EntryType.INCOLLECTION)  # of books
Found = list[tuple[Entry | None, str, float]]  # entries, with the texts that they are of, and their probabilities


def add_grobid(router: APIRouter, models: Models, limits: Limits) -> None:
    """Add the endpoints of GROBID for citations, and that which tells that it is there."""

    async def read(request: Request) -> Found:
        texts = await read_form(request)
        limits.check_texts(texts)
        model = models.choose("cite")

        def work(nlp: Language) -> Found:
            found = read_references(nlp, model.component("cite"), [to_reference(text) for text in texts])
            told = zip(texts, found)
            return [(entry, join_lines(text.splitlines()), facts["probability"]) for text, (_, entry, facts) in told]

        return await model.run(work, texts)

    @router.get("/api/isalive")
    async def tell_alive() -> Response:
        """Whether the service is there."""
        return Response("true", media_type="text/plain")

    @router.post("/api/processCitation", openapi_extra=form_of("string"))
    async def process_citation(request: Request) -> Response:
        """One citation, in the field `citations` of a form, as BibTeX or TEI; 204 where no field is found in it."""
        entry, text, probability = (await read(request))[0]
        if entry is None:
            return Response(status_code=204)
        if wants_bibtex(request):
            return Response(write_bibtex([entry]), media_type=BIBTEX)
        return Response(as_xml(to_structure(entry, text, probability)), media_type=XML)

    @router.post("/api/processCitationList", openapi_extra=form_of("array"))
    async def process_citations(request: Request) -> Response:
        """Several citations, each in a field `citations`, as BibTeX or a list in TEI."""
        found = await read(request)
        if wants_bibtex(request):
            return Response(write_bibtex(entry for entry, _, _ in found if entry), media_type=BIBTEX)
        return Response(as_xml(to_document(found)), media_type=XML)


def form_of(kind: str) -> dict[str, Any]:
    """What OpenAPI is told of the form. kind (str): of the field `citations`: "string", or "array" of strings."""
    field = {"type": "string"} if kind == "string" else {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "required": ["citations"], "properties": {"citations": field}}
    return {"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": schema}}}}


async def read_form(request: Request) -> list[str]:
    """The citations of a form; a coded error where there are none."""
    try:
        body = (await request.body()).decode("utf8")
        texts = parse_qs(body, max_num_fields=MOST_FIELDS, errors="strict", keep_blank_values=True).get("citations", [])
    except ValueError as error:
        raise Refusal(ServiceErrors.CRF735.format(what="The form", problem=error), 400) from error
    if not texts:
        problem = "it has no field `citations`, of the type application/x-www-form-urlencoded"
        raise Refusal(ServiceErrors.CRF735.format(what="The form", problem=problem), 400)
    return texts


def to_reference(text: str) -> Reference:
    """A citation in one line, without its number in a list, which models have not learned from."""
    found = split_references(text)
    whole = Reference(normalise(join_lines(text.splitlines())), 1, 1)
    return found[0] if len(found) == 1 and found[0].marker else whole


def wants_bibtex(request: Request) -> bool:
    """Whether BibTeX is asked for; TEI otherwise."""
    return BIBTEX in request.headers.get("accept", "")


# -- TEI ---------------------------------------------------------------------------------------------------------


def to_document(found: Found) -> Element:
    """A TEI document with the list of all entries; those without fields have their text alone."""
    tei = Element("TEI", {"xmlns": TEI})
    SubElement(tei, "teiHeader")
    text = SubElement(tei, "text")
    for part in ("front", "body"):
        SubElement(text, part)
    listed = SubElement(SubElement(SubElement(text, "back"), "div"), "listBibl")
    for number, (entry, raw, probability) in enumerate(found):
        structure = to_structure(entry or Entry(), raw, probability)
        structure.set("xml:id", f"b{number}")
        listed.append(structure)
    return tei


def to_structure(entry: Entry, text: str, probability: float) -> Element:
    """An entry as `biblStruct`, with the text that it is of as a note."""
    structure = Element("biblStruct", {"cert": f"{probability:.4f}"})
    is_part = bool(entry.container) or entry.type in (*IN_JOURNALS, *PARTS)
    if is_part:
        analytic = SubElement(structure, "analytic")
        add_text(analytic, "title", entry.title, level="a", type="main")
        add_people(analytic, "author", entry.authors.names)
    monograph = SubElement(structure, "monogr")
    level = "j" if entry.type in IN_JOURNALS else "m"
    add_text(monograph, "title", entry.container if is_part else entry.title, level=level)
    if not is_part:
        add_people(monograph, "author", entry.authors.names)
    add_people(monograph, "editor", entry.editors.names)
    for kind in ("isbn", "issn"):
        add_text(monograph, "idno", getattr(entry, kind), type=kind.upper())
    add_text(monograph, "edition", entry.edition)
    add_imprint(SubElement(monograph, "imprint"), entry)
    if entry.series:
        add_text(SubElement(structure, "series"), "title", entry.series, level="s")
    for kind, name in (("doi", "DOI"), ("arxiv", "arXiv")):
        add_text(structure, "idno", getattr(entry, kind), type=name)
    if entry.url:
        SubElement(structure, "ptr", {"target": IMPOSSIBLE.sub("", entry.url)})
    add_text(structure, "note", entry.note)
    add_text(structure, "note", text, type="raw_reference")
    return structure


def add_imprint(imprint: Element, entry: Entry) -> None:
    """Where, when and in which volume something appeared."""
    add_text(imprint, "publisher", entry.publisher)
    add_text(imprint, "pubPlace", entry.place)
    if entry.date is not None:
        day = entry.date.first
        when = replace(day, month=None).iso if day.month in SEASONS else day.iso  # TEI knows no seasons
        SubElement(imprint, "date", {"type": "published", "when": when}).text = entry.date.iso
    for unit, value in (("volume", entry.volume), ("issue", entry.number), ("chapter", entry.chapter)):
        add_text(imprint, "biblScope", value, unit=unit)
    if entry.pages:
        first, hyphen, last = entry.pages.partition("-")
        bounds = {"from": first, "to": last} if hyphen and last.isalnum() and first.isalnum() else {}
        SubElement(imprint, "biblScope", {"unit": "page", **bounds}).text = None if bounds else entry.pages


def add_people(parent: Element, role: str, names: Iterable[Name]) -> None:
    """Authors or editors. A name in one part, such as that of an organisation, is all surname."""
    for name in names:
        person = SubElement(SubElement(parent, role), "persName")
        for place, given in enumerate(name.given.split()):
            add_text(person, "forename", given, type="first" if place == 0 else "middle")
        add_text(person, "surname", f"{name.particle} {name.family}".strip())
        add_text(person, "genName", name.suffix)


def add_text(parent: Element, element: str, text: str, **attributes: str) -> None:
    """Add an element, unless its text is empty. Characters that XML cannot hold are left out."""
    if text := IMPOSSIBLE.sub("", text):
        SubElement(parent, element, attributes).text = text


def as_xml(element: Element) -> bytes:
    """An element as XML in UTF-8."""
    indent(element, "\t")
    return tostring(element, encoding="utf-8", xml_declaration=element.tag == "TEI")
