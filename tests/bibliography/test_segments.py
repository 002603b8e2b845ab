"""Fields of a Doc, from tags, entities, spans and token extensions."""

import pytest
import spacy
from spacy.tokens import Doc, Span, Token

from spacy_crf.bibliography.assemble import make_entries
from spacy_crf.bibliography.entry import print_value
from spacy_crf.bibliography.segments import read_decision, read_segments

WORDS = ["K.", "Lund", ".", "On", "ropes", ".", "?", "1999", "2000"]
SPACES = [True, False, True, True, False, True, True, True, False]
BOUNDS = [(0, 3, "AUTHOR"), (3, 6, "TITLE"), (7, 8, "DATE"), (8, 9, "DATE")]
FIELDS = [("AUTHOR", "K. Lund."), ("TITLE", "On ropes."), ("", "?"), ("DATE", "1999"), ("DATE", "2000")]
EXTENSION = "crf_test_field"


def labelled(parts: list[tuple[str, str]]) -> Doc:
    """A Doc of labels and texts, as entities."""
    words = [(place, word) for place, (_, text) in enumerate(parts) for word in text.split()]
    doc = Doc(spacy.blank("xx").vocab, words=[word for _, word in words])
    ends = [sum(place <= own for place, _ in words) for own in range(len(parts))]
    starts = [0, *ends]
    doc.set_ents([Span(doc, start, end, label=label) for start, end, (label, _) in zip(starts, ends, parts)])
    return doc


@pytest.fixture
def doc():
    Token.set_extension(EXTENSION, default=None)
    doc = Doc(spacy.blank("en").vocab, words=WORDS, spaces=SPACES)
    spans = [Span(doc, start, end, label=label) for start, end, label in BOUNDS]
    doc.set_ents(spans)
    doc.spans["sc"] = [*spans, Span(doc, 4, 5, label="NOTE")]
    for start, end, label in BOUNDS:
        for place in range(start, end):
            doc[place].tag_ = f"{'I' if place > start else 'B'}-{label}"
            doc[place]._.set(EXTENSION, label)
    doc[6].tag_ = "O"
    yield doc
    Token.remove_extension(EXTENSION)


@pytest.mark.parametrize("target", ["ent", "spans", "tag"])
def test_spans_and_bio_tags(doc: Doc, target: str) -> None:
    assert read_segments(doc, target) == FIELDS


def test_neighbours_of_the_same_plain_tag_are_one_field(doc: Doc) -> None:
    assert read_segments(doc, EXTENSION) == [*FIELDS[:3], ("DATE", "1999 2000")]


def test_without_labels_all_is_between_fields() -> None:
    doc = Doc(spacy.blank("en").vocab, words=WORDS, spaces=SPACES)
    for target in ("ent", "spans", "tag", "pos"):
        assert read_segments(doc, target) == [("", "K. Lund. On ropes. ? 1999 2000")]
    assert read_segments(Doc(doc.vocab), "ent") == []


@pytest.mark.parametrize(
    "before, accessed, expected",
    [
        ("a.example/boats,", "Accessed July 31, 2020.", "Accessed July 31, 2020."),
        ("a.example/boats", "Accessed: 06.01.2023.", "Accessed: 06.01.2023."),
        ("Web.", "viewed 3 May 2019", "viewed 3 May 2019"),
        ("Ropes last", "retrieved May 1786", None),  # in a text
        ("Ropes, ", "visited 1786", None),
    ],
)
def test_the_day_of_access_is_no_date_of_publication(before: str, accessed: str, expected: str | None) -> None:
    words = f"{before} {accessed}".split()
    doc = Doc(spacy.blank("en").vocab, words=words)
    doc.set_ents([Span(doc, len(words) - 1, len(words), label="DATE")])  # the year alone
    found = dict(read_segments(doc))
    assert found.get("ACCESSED") == expected and ("DATE" in found) == (expected is None)


@pytest.mark.parametrize("edition", ["3. Aufl.", "2., neubearb. und erw. Auflage", "2., neu bearbeitete Aufl."])
def test_editions_in_german_are_no_part_of_a_title(edition: str) -> None:
    words = f"Das Recht der Boote, {edition} 2016".split()
    doc = Doc(spacy.blank("de").vocab, words=words)
    doc.set_ents([Span(doc, 0, len(words) - 1, label="TITLE")])
    assert read_segments(doc)[:2] == [("TITLE", "Das Recht der Boote,"), ("EDITION", edition)]


DECISIONS = {
    "Hull v. Board of Piers, 347 U.S. 483 (1954).": (
        "title=Hull v. Board of Piers|container=U.S.|volume=347|pages=483|date=1954"
    ),
    "Lund v. Moss, 12 F.3d 345, 350 (2d Cir. 1993).": (
        "title=Lund v. Moss|container=F.3d|volume=12|pages=345|date=1993|note=350. 2d Cir"
    ),
    "In re Crane, 86 S. Ct. 1602 (1966)": "title=In re Crane|container=S. Ct.|volume=86|pages=1602|date=1966",
    "Hull v Crane [1932] AC 562 (HL).": "title=Hull v Crane|container=AC|pages=562|date=1932|note=HL",
    "Lund v Norway (1976) 1 EHRR 737.": "title=Lund v Norway|container=EHRR|volume=1|pages=737|date=1976",
    "Case C-131/12 Pier SL v Moss [2014] ECLI:EU:C:2014:317.": (
        "title=Pier SL v Moss|date=2014|note=Case C-131/12. ECLI:EU:C:2014:317"
    ),
    "BGH, Urteil vom 3. Mai 2005 – VI ZR 12/04, NJW 2005, 2340.": (
        "authors=BGH|container=NJW|volume=2005|pages=2340|date=2005-05-03|genre=Urteil|note=VI ZR 12/04"
    ),
    "OLG Hamm, Beschl. v. 12.07.2011 - I-9 U 33/11": "authors=OLG Hamm|date=2011-07-12|genre=Beschl|note=I-9 U 33/11",
    "BVerfG, Beschluss des Ersten Senats vom 24. März 2021 – 1 BvR 26/18": (
        "authors=BVerfG|date=2021-03-24|genre=Beschluss des Ersten Senats|note=1 BvR 26/18"
    ),
    "BVerwG, Urteil vom 25. Juni 2014 - 9 A 1.13 - BVerwGE 150, 92": (
        "authors=BVerwG|container=BVerwGE|volume=150|pages=92|date=2014-06-25|genre=Urteil|note=9 A 1.13"
    ),
    "EuGH, Urt. v. 13.5.2014 – Rs. C-131/12, Slg. 2014, I-317 – Pier/Moss": (
        "authors=EuGH|title=Pier/Moss|container=Slg|volume=2014|pages=I-317|date=2014-05-13|genre=Urt|note=Rs. C-131/12"
    ),
    "Cass. 1re civ., 3 mai 2000, n° 98-11.381, Bull. civ. I, n° 131": (
        "authors=Cass. 1re civ.|date=2000-05-03|note=n° 98-11.381, Bull. civ. I, n° 131"
    ),
    "Cass. com., 3 mai 2000, pourvoi no 98-11.381": "authors=Cass. com.|date=2000-05-03|note=pourvoi no 98-11.381",
    "BVerfGE 7, 198 – Lüth.": "title=Lüth|container=BVerfGE|volume=7|pages=198",
    "Lund v. Moss, 7 F. App’x 98 (2d Cir. 2003)": (
        "title=Lund v. Moss|container=F. App’x|volume=7|pages=98|date=2003|note=2d Cir"
    ),
    "BGH, Urteil vom 3. Mai 2005 - VI ZR 12/04 - juris Rn. 12": (
        "authors=BGH|date=2005-05-03|genre=Urteil|note=VI ZR 12/04. juris Rn. 12"
    ),
    "BGH, Urteil vom 3. Mai 2005 – VI ZR 12/04, NJW 2005, 23 Rn. 5 – Pier": (
        "authors=BGH|title=Pier|container=NJW|volume=2005|pages=23|date=2005-05-03|genre=Urteil|note=VI ZR 12/04. Rn. 5"
    ),
    "BVerfGE 7, 198 (212 f.)": "container=BVerfGE|volume=7|pages=198|note=212 f",
    "Lund v. Moss, No. 12-345, 7 F. Supp. 2d 98 (E.D. Pa. Mar. 3, 2003).": (
        "title=Lund v. Moss|container=F. Supp. 2d|volume=7|pages=98|date=2003-03-03|note=No. 12-345. E.D. Pa"
    ),
    "HR 5 mei 1993, NJ 1993/12.": "authors=HR|container=NJ|volume=1993|number=12|date=1993-05-05",
    "Rb. Amsterdam 12 maart 2015, ECLI:NL:RBAMS:2015:1234 (Steiger).": (
        "authors=Rb. Amsterdam|date=2015-03-12|note=ECLI:NL:RBAMS:2015:1234. Steiger"
    ),
    "Cass. civ. 1re, 3 mai 2000, n° 98-11.381, Bull. civ. I, n° 131.": (
        "authors=Cass. civ. 1re|date=2000-05-03|note=n° 98-11.381, Bull. civ. I, n° 131"
    ),
    "Corte cost., 15 giugno 2015, n. 113.": "authors=Corte cost.|date=2015-06-15|note=n. 113",
}


REPORTERS = (
    *("Fed. Appx.", "Ct. Cl.", "C.C.P.A.", "M.J.", "Wn.2d", "Wn. App.", "Pa. Commw.", "N.J.L.", "F.C.C.", "N.L.R.B."),
    *(
        "App. D.C.",
        "U.S. Dist. LEXIS",
        "Johns.",
        "Pick.",
        "Bankr.",
        "ONSC",
        "CanLII",
        "NSWCCA",
        "WASCA",
        "SGHC",
        "SACR",
    ),
    *("Lloyd's Rep", "PIQR", "Con LR", "UKFTT"),
)


@pytest.mark.parametrize("reporter", REPORTERS)
def test_reporters_of_courts_are_known(reporter: str) -> None:
    assert ("JOURNAL", reporter) in read_decision(f"Hull v. Crane, 347 {reporter} 483 (1984)")
    assert ("JOURNAL", reporter) in read_decision(f"Hull v Crane [1984] 2 {reporter} 483")


@pytest.mark.parametrize("text", DECISIONS)
def test_decisions_are_read_by_their_forms_whatever_a_model_sees(text: str) -> None:
    doc = spacy.blank("en")(text)
    doc.set_ents([Span(doc, 0, 2, label="AUTHOR"), Span(doc, 2, len(doc), label="VOLUME")])
    (entry,) = make_entries([read_segments(doc)])
    names = ("authors", "title", "container", "volume", "number", "pages", "date", "genre", "note")
    found = {name: print_value(getattr(entry, name)) for name in names}
    assert "|".join(f"{name}={value}" for name, value in found.items() if value) == DECISIONS[text]


@pytest.mark.parametrize(
    "text",
    [
        "Lund, K. Hull v. Crane revisited. Journal of Piers, 12(3), 483 (1954).",
        "HR practices in 12 ports. Piers 1993, 12.",
        "A. Moss. BGH, Urteil und Recht. Tollgate 2005.",
        "K. Lund, In re Crane, 12 Pier Law Review 3 (1999).",
        "Ada Lund, The Ropes of Crane: A Comment on Hull v. Moss, 82 Pier L.J. 920 (1973)",
        "K. Lund, 'Hull v Crane and the Law of Piers' (1992) 108 LQR 200.",
        "Lund K, 'Hull v Crane' [2003] AC 440",
        "Lund A, Moss B. Ropes vs Chains in Fog (2001) 12 Boats 345.",
    ],
)
def test_what_is_no_decision_keeps_its_labels(text: str) -> None:
    doc = spacy.blank("en")(text)
    doc.set_ents([Span(doc, 0, len(doc), label="TITLE")])
    assert read_segments(doc) == [("TITLE", text)]


@pytest.mark.parametrize(
    "parts, expected",
    [
        ([("AUTHOR", "Lund Ada et Moss Bo (dir.)."), ("TITLE", "Ropes.")], ["EDITOR", "TITLE"]),
        ([("author", "Lund A, Moss B,"), ("editor", "editors."), ("title", "Ropes.")], ["editor", "title"]),
        ([("AUTHOR", "Lund, A., & Moss,"), ("EDITOR", "B. (Eds.)."), ("TITLE", "Ropes.")], ["EDITOR", "TITLE"]),
        ([("AUTHOR", "Lund, A."), ("EDITOR", "In Moss, B."), ("TITLE", "Ropes.")], ["AUTHOR", "EDITOR", "TITLE"]),
        ([("AUTHOR", "Lund,"), ("EDITOR", "in: Moss (Hrsg.),"), ("TITLE", "Taue")], ["AUTHOR", "EDITOR", "TITLE"]),
        ([("AUTHOR", "Lund, A."), ("TITLE", "Ropes."), ("EDITOR", "B. Moss (ed.)")], ["AUTHOR", "TITLE", "EDITOR"]),
        ([("AUTHOR", "Lund, Ed."), ("TITLE", "Ropes.")], ["AUTHOR", "TITLE"]),
        ([("AUTHOR", "Lund, A, Moss, ED."), ("TITLE", "Ropes.")], ["AUTHOR", "TITLE"]),
    ],
)
def test_authors_that_are_called_editors_are_these(parts: list[tuple[str, str]], expected: list[str]) -> None:
    words = [(label, word) for label, text in parts for word in text.split()]
    doc = Doc(spacy.blank("xx").vocab, words=[word for _, word in words])
    places = [[place for place, (own, _) in enumerate(words) if own == label] for label, _ in parts]
    doc.set_ents([Span(doc, own[0], own[-1] + 1, label=label) for own, (label, _) in zip(places, parts)])
    segments = read_segments(doc, "ent")
    assert [label for label, _ in segments] == expected
    assert " ".join(text for _, text in segments) == doc.text.strip()


@pytest.mark.parametrize(
    "parts, title, date",
    [
        (
            [("TITLE", "Salt and Trade,"), ("DATE", "1300–1600."), ("DATE", "2004.")],
            "Salt and Trade, 1300–1600",
            "2004",
        ),
        ([("DATE", "(2004)."), ("TITLE", "Mills"), ("DATE", "(1789–1914).")], "Mills (1789–1914)", "2004"),
        ([("title", "‘Mills,"), ("date", "1860-1915’ (2004)")], "Mills, 1860-1915", "2004"),
        (
            [("TITLE", "The Ferry War,"), ("DATE", "1914–1918:"), ("TITLE", "A Memoir."), ("DATE", "2004.")],
            "The Ferry War, 1914–1918: A Memoir",
            "2004",
        ),
        (
            [("TITLE", "“Mills"), ("DATE", "(1789–1914)"), ("TITLE", ",”"), ("JOURNAL", "Eels"), ("DATE", "2004.")],
            "Mills (1789–1914)",
            "2004",
        ),
        ([("TITLE", "Mills."), ("DATE", "1926–1928.")], "Mills", "1926/1928"),
        ([("TITLE", "Mills."), ("PUBLISHER", "Pier"), ("DATE", "1926–28,"), ("DATE", "1970")], "Mills", "1926/1928"),
    ],
)
def test_years_of_a_title_are_no_date(parts: list[tuple[str, str]], title: str, date: str) -> None:
    (entry,) = make_entries([read_segments(labelled(parts), "ent")])
    assert entry is not None and entry.date is not None
    assert (entry.title, entry.date.iso, entry.pages) == (title, date, "")


@pytest.mark.parametrize(
    "parts, expected",
    [
        ([("VOLUME", "14."), ("DATE", "März 1974,")], [("DATE", "14. März 1974"), ("DATE", ",")]),
        (
            [("JOURNAL", "Eels, Mar."), ("VOLUME", "14,"), ("DATE", "1974")],
            [("JOURNAL", "Eels,"), ("DATE", "Mar. 14, 1974")],
        ),
        ([("VOLUME", "14"), ("BOOKTITLE", "de marzo de"), ("DATE", "1974")], [("DATE", "14 de marzo de 1974")]),
        ([("VOLUME", "14,"), ("DATE", "March 1974")], [("VOLUME", "14,"), ("DATE", "March 1974")]),
        ([("VOLUME", "vol. 2 no. 3"), ("DATE", "May 1974")], [("VOLUME", "vol. 2 no. 3"), ("DATE", "May 1974")]),
        ([("VOLUME", "number 3"), ("DATE", "May 1974")], [("VOLUME", "number 3"), ("DATE", "May 1974")]),
        ([("VOLUME", "vol. 12, 4"), ("DATE", "May 1974")], [("VOLUME", "vol. 12, 4"), ("DATE", "May 1974")]),
        ([("PUBLISHER", "Ulm 3"), ("DATE", "mai 1974")], [("PUBLISHER", "Ulm 3"), ("DATE", "mai 1974")]),
        ([("JOURNAL", "Aal, 14."), ("DATE", "März 1974")], [("JOURNAL", "Aal,"), ("DATE", "14. März 1974")]),
        ([("PAGES", "pp 9 12"), ("DATE", "Jan 1971")], [("PAGES", "pp 9 12"), ("DATE", "Jan 1971")]),
        (
            [("TITLE", "The Storm of 14"), ("DATE", "March 1974")],
            [("TITLE", "The Storm of 14"), ("DATE", "March 1974")],
        ),
    ],
)
def test_a_day_is_not_parted_from_its_month(parts: list[tuple[str, str]], expected: list[tuple[str, str]]) -> None:
    assert read_segments(labelled(parts), "ent") == expected
