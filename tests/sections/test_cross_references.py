"""Mentions of sections, and the sections that they mean."""

import json
import time
from unicodedata import normalize

import pytest
import spacy
from helpers.commands import invoke
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

from spacy_crf import read_layout, to_doc
from spacy_crf.sections.cross_references import find_cross_references
from spacy_crf.sections.layout import DocumentLayout
from spacy_crf.sections.mentions import find_mentions
from spacy_crf.sections.tree import SectionNode, SectionTree


def node(text: str, number: str, first: str, behind: str | None = None, *children: SectionNode) -> SectionNode:
    """A section from one string of a text to the place before another, or to the text's end."""
    end = len(text) if behind is None else text.index(behind)
    return SectionNode(text.index(first), end, 1, number, children=list(children))


LEASE = (
    "Artikel 6\nHuur.\nArtikel 7\n1. De huurder betaalt, zie artikel 6.\n2. De boete van artikel 7, eerste lid; "
    "en lid 1 van artikel 7.\nArtikel 8\nDe artikelen 6 en 7 en het tweede lid gelden, evenals artikel 6:162 BW, "
    "artikel 7 van de Wet en artikel 7 van deze wet.\n"
)
TENANCY = SectionTree(
    [
        node(LEASE, "Artikel 6", "Artikel 6", "Artikel 7"),
        node(
            LEASE, "Artikel 7", "Artikel 7", "Artikel 8",
            node(LEASE, "1.", "1. De", "2. De"), node(LEASE, "2.", "2. De", "Artikel 8"),
        ),
        node(LEASE, "Artikel 8", "Artikel 8"),
    ]
)  # fmt: skip
ACT = (
    "Chapter I\nArticle 1\nSee Article 3(1), Articles 1 and 2.\nArticle 2\nSee point (a) of paragraph 2 of Article 3, "
    "§ 5 and Chapter 2.\nChapter II\nArticle 3\n(1) One.\n(2) Two:\n(a) alpha, as in paragraph 1.\n"
)
CODE = SectionTree(
    [
        node(
            ACT, "Chapter I", "Chapter I\n", "Chapter II",
            node(ACT, "Article 1", "Article 1\n", "Article 2\n"), node(ACT, "Article 2", "Article 2\n", "Chapter II"),
        ),
        node(
            ACT, "Chapter II", "Chapter II", None,
            node(
                ACT, "Article 3", "Article 3\n", None,
                node(ACT, "(1)", "(1) One", "(2) Two"),
                node(ACT, "(2)", "(2) Two", None, node(ACT, "(a)", "(a) alpha")),
            ),
        ),
    ]
)  # fmt: skip
MANUAL = "1 Start\nSee 2.1 and cf. 2.2.\n2 Use\n2.1 Run\nSee section 3, Section 2.1.7 and\nsection 2-3.\n"
GUIDE = SectionTree(
    [node(MANUAL, "1", "1 Start", "2 Use"), node(MANUAL, "2", "2 Use", None, node(MANUAL, "2.1", "2.1 Run"))]
)


@pytest.mark.parametrize(
    ("text", "tree", "expected"),
    [
        (
            LEASE, TENANCY,
            [
                ("artikel 6", "Artikel 6"), ("artikel 7, eerste lid", "1."), ("lid 1 van artikel 7", "1."),
                ("artikelen 6", "Artikel 6"), ("7", "Artikel 7"), ("tweede lid", None), ("artikel 6:162", None),
                ("artikel 7", None), ("artikel 7", "Artikel 7"),
            ],
        ),
        (
            ACT, CODE,
            [
                ("Article 3(1)", "(1)"), ("Articles 1", "Article 1"), ("2", "Article 2"),
                ("point (a) of paragraph 2 of Article 3", "(a)"), ("§ 5", None), ("Chapter 2", "Chapter II"),
                ("paragraph 1", "(1)"),
            ],
        ),
        (
            MANUAL, GUIDE,
            [("2.1", "2.1"), ("2.2", "2"), ("section 3", None), ("Section 2.1.7", "2.1"), ("section 2-3", "2")],
        ),
    ],
)  # fmt: skip
def test_mentions(text: str, tree: SectionTree, expected: list[tuple[str, str | None]]) -> None:
    nodes = list(tree.walk())
    found = find_cross_references(text, tree)
    shown = [(text[a.start : a.end], None if a.section is None else nodes[a.section].number) for a in found]
    assert shown == expected


@pytest.mark.parametrize(
    ("mention", "number"),
    [
        *(("Sections 1 to 3", "1."), ("sec. 3", "3."), ("§ 2 Abs. 1", "2."), ("Anhang 2", None)),
        *(("im dritten Abschnitt", "3."), ("articles 2, 3 and 4", "2."), ("partly 2", None)),
        *(("la sección 2", "2."), ("l'article 2", "2."), ("gli articoli 2 e 3", "2."), ("voir 9.9", None)),
        *(("Article 2 of Directive 95/46/EC", None), ("section 2 of this Agreement", "2."), ("§ 2 BGB", None)),
        *(("art. 2 of the Code", None), ("the second section", "2.")),
        *(("paras. 1 and 2", "1."), ("ABSCHN. 2", "2."), ("Nr. 3", "3."), ("that section. 2 ferries", None)),
        *(("artikel 2 van het Havenreglement", None), ("artikel 2, lid 2.1, van de planregels", None)),
        *(("artikel 2 van dit reglement", "2."), ("artikel 3 van de Regeling", None), ("artikel 3 van het Bor", None)),
        *(("las cláusulas 2 y 3", "2."), ("les titres 2 et 3", "2."), ("i titoli 2 e 3", "2.")),
        *(("artikel 2 Wlz", None), ("de artikelen 2 en 3 Woo", None)),
        *(("Regulation 3/2019", None), ("zaak nr. 2/00652", None), ("clause 3.1/3.2", "3."), ("(Vol. 3, no. 2)", None)),
        *(("third parties, or the second part", "2."), ("the parties to section 3", "3.")),
        *(("Ziff. 2", "2."), ("Ziffn. 3 und 4", "3."), ("Rdnr. 3", "3."), ("Ziff. 2 Abs. 1", "2."), ("Anh. 2", None)),
        *(("onder dit artikel. 2 boten", None), ("in diesem Absatz. 3 Boote", None), ("both sections. 2 boats", None)),
    ],
)  # fmt: skip
def test_languages(mention: str, number: str | None) -> None:
    text = f"1. Scope\nAs {mention} has it.\n2. Term\nA year.\n3. End\nNone.\n"
    tree = SectionTree(
        [node(text, "1.", "1. Scope", "2. Term"), node(text, "2.", "2. Term", "3. End"), node(text, "3.", "3. End")]
    )
    found = find_cross_references(text, tree)
    assert [f"{found[0].section + 1}." if found and found[0].section is not None else None] == [number]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the question I asked, and the points I've made", []),
        ("every step I could take; a book I am fond of", []),
        ("the duties of part I do not end. In part I can be read", ["part I", "part I"]),
        ("section I of it, Part I must be read, article I, and part I", ["section I", "Part I", "article I", "part I"]),
        ("artikel I is, hoofdstuk I bevat, Abschnitt I regelt", ["artikel I", "hoofdstuk I", "Abschnitt I"]),
    ],
)
def test_who_speaks_is_no_number(text: str, expected: list[str]) -> None:
    shown = f"I. Facts\nAs to {text}.\nII. Law\nNone.\n"
    tree = SectionTree([node(shown, "I.", "I. Facts", "II. Law"), node(shown, "II.", "II. Law")])
    assert [shown[one.start : one.end] for one in find_cross_references(shown, tree)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Chapter One\nBoats, but see Chapter Two.\n\nChapter Two\nNets and chapter one of us.\n", ["Chapter Two"]),
        ("Article premier\nLe port.\n\nArticle 2\nVoir l'article premier.\n", ["Article premier"]),
        (
            "CAPITOLO PRIMO\nIl porto\n\nSi veda il capitolo terzo.\n\nCAPITOLO SECONDO\nIl mare\n\n"
            "Nel capitolo primo, secondo me.\n\nCAPITOLO TERZO\nLa fine\n\nTutto.\n",
            ["CAPITOLO TERZO", "CAPITOLO PRIMO"],
        ),
        ("1. Scope\nHer book Two Boats, his article Three men.\n\n2. Term\nA year.\n\n3. End\nNone.\n", []),
        ("1. Scope\nClauses 2 & 3, or Clause Two.\n\n2. Term\nA year.\n\n3. End\nNone.\n", ["2.", "3.", "2."]),
    ],
)
def test_numbers_in_words_behind_the_word_of_a_section(text: str, expected: list[str]) -> None:
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, DocumentLayout(text)))
    nodes = list(doc._.section_tree.walk())
    found = [None if one.section is None else nodes[one.section].number for one in doc._.cross_references]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Verloop\nHet tweede lid.\n\n2. Feiten\nZie paragraaf 1.\n\n3. Slot\nGeen.\n", [None, "1."]),
        (
            "1. Overzicht\nHet eerste middel en middel (ii).\n(i) Boten.\n(ii) Vissen.\n\n2. Slot\nGrief 1.\n",
            [None, "(ii)", None],
        ),
        ("1. Huur\n(1) Das Boot.\n(2) Siehe Absatz 1.\n\n2. Ende\n(1) Absatz 2.\n(2) Nie.\n", ["(1)", "(2)"]),
        ("I. HECHOS\n1. Los barcos.\n2. Los peces.\n\nII. DERECHO\n3. Véase el párrafo 2 supra.\n4. Nada.\n", ["2."]),
        ("1. Alle boten.\n2. Het eerste lid geldt niet.\n3. Lid 2 ook niet.\n", ["1.", "2."]),
    ],
)
def test_parts_of_articles_and_pleas_are_no_titled_sections(text: str, expected: list[str | None]) -> None:
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, DocumentLayout(text)))
    nodes = list(doc._.section_tree.walk())
    found = [None if one.section is None else nodes[one.section].number for one in doc._.cross_references]
    assert found == expected


def test_raised_figures_insert_a_section() -> None:
    text = "§ 1 Scope\nSee § 2¹.\n§ 2 Term\nA year.\n§ 2¹ Oaths\nBut § 2².\n§ 3 End\nNone.\n"
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, DocumentLayout(text)))
    assert [node.number for node in doc._.section_tree.walk()] == ["§ 1", "§ 2", "§ 2¹", "§ 3"]
    assert [reference.section for reference in doc._.cross_references] == [2, None]


@pytest.mark.parametrize(
    ("mention", "sections"),
    [
        ("section 2A", [2]),
        ("sections 1, 2A and 3", [0, 2, 3]),
        ("§ 1 u. 3, § 1 od. § 3", [0, 3, 0, 3]),
        ("sections 1 and 2A apply", [0, 2]),
        ("Sections 1 to 2 bis apply", [0, 2]),
        ("§ 2bis Abs. 1", [2]),
        ("§ 2¹ Absatz 1", [2]),
        ("§§ 2 bis § 3", [1, 3]),
    ],
)
def test_mentions_of_inserted_sections(mention: str, sections: list[int]) -> None:
    word, inserted = ("§", "2bis") if "§" in mention else ("Section", "2A")
    text = (
        "".join(f"{word} {number} Scope\nAll.\n" for number in ("1", "2", inserted)) + f"{word} 3 End\nSee {mention}.\n"
    )
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, DocumentLayout(text)))
    assert [reference.section for reference in doc._.cross_references] == sections


def test_marks_of_notes_behind_mentions() -> None:
    text = (
        "".join(f"Article {number} Scope\nAll¹ of 10⁶.\n" for number in "123")
        + "See Articles 1² and 2³. Article 3¹ is new. Article 3² GDPR is not. Of Article 2.⁴\n"
    )
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, DocumentLayout(text)))
    found = [(text[own.start : own.end], own.section) for own in doc._.cross_references]
    articles = [("Articles 1", 0), ("2", 1), ("Article 3", 2), ("Article 3", None), ("Article 2", 1)]
    assert found == articles


@pytest.mark.parametrize("inserted", [" bis", " ter", " quater", " quinquies", "sexies", "¹", "³", "⁴", "⁵", "⁹", "¹²"])
def test_an_insertion_that_is_not_there_has_no_section(inserted: str) -> None:
    text = f"Article 1 Scope\nAll.\nArticle 1¹ Ice\nNone.\nArticle 2 End\nSee Article 2{inserted}.\n"
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, DocumentLayout(text)))
    assert [reference.section for reference in doc._.cross_references] == [None]


def test_paragraphs_and_items_are_inserted() -> None:
    text = (
        "Art. 1 Scope\n(1) All.\n(1¹) Some.\n(1 ter) Few.\n(2) None.\n(2bis) As (2 bis 5) has it.\n"
        "Art. 2 Term\n(1) These:\na) boats;\na-bis) rafts;\na ter) buoys;\nb) nets.\n(2) See articolo 2, comma 1, "
        "lettera a-bis).\n"
    )
    nlp = spacy.blank("xx")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, DocumentLayout(text)))
    numbers = [node.number for node in doc._.section_tree.walk()]
    assert numbers[:6] == ["Art. 1", "(1)", "(1¹)", "(1 ter)", "(2)", "(2bis)"]
    assert numbers[6:] == ["Art. 2", "(1)", "a)", "a-bis)", "a ter)", "b)", "(2)"]
    assert [reference.section for reference in doc._.cross_references] == [9]


@pytest.mark.parametrize(
    "mention",
    [
        "Section 2(1), point (f), of Regulation (EU) 2016/679",
        "section 2 of the GDPR",
        "Article 2, of the Treaty",
        "Section 2 of Framework Decision 2002/584/JHA",
        "§ 2 Abs. 1 Satz 2 BGB",
        "§ 2 Abs. 1 S. 2 und 3 BGB",
        "§ 2 f. BGB",
        "§ 2 I BGB",
        "§ 2 III 1 Nr. 2 BGB",
        "§ 2 Abs. 1 Mietpreisgesetz",
        "§ 2 Überleitungsverordnung",
        "artikel 2 Bootwet 2000",
        "artikel 2, eerste lid, Wet op de boten",
        "artikel 2 Wetboek van Koophandel",
        "§ 2 Satz 1 des Handelsgesetzbuchs",
        "§ 2 Nummer 1 Buchst. a EStG",
        "§ 2 der Zivilprozessordnung",
        "§ 2 des AktG",
        "artikel 2, eerste lid, van de Wet",
        "artikel 2, aanhef en onder b, van het Wetboek",
        "artikel 2 van de Bootwet 2000",
        "artikel 2, eerste volzin, van het EVRM",
        "l'article 2 du décret",
        "l'article 2 de l'ordonnance",
        "artículo 2 del RGPD",
        "artículo 2, apartado 1, del Reglamento",
        "artículo 2 del Real Decreto 3/2000",
        "§ 2 (1) BGB",
        "§ 2 (1) S. 1 BGB",
        "§ 2 Abs. 1 Z 3 EStG",
        "§ 2 der Gewerbeordnung",
        "§ 2 Abs. 1 des Bundes-Hafengesetzes",
        "Article 2 (1) (f) GDPR",
        "Art. 2 (1) f DSGVO",
        "Article 2 § 1 of the Convention",
        "Article 2(2) thereof",
        "section 2 Companies Act 2006",
        "section 2, Wills and Estates Act 1968",
        *("paragraph 2 of the Defence", "paragraph 2 of the claimant's skeleton argument", "section 2 of her report"),
        *("paragraph 2 of Mr. Doyle's account", "paragraph 2 in the second witness statement of the mate"),
        *("artikel 2 van zijn statuten", "l'article 2 de son mémoire", "artículo 2 de su informe"),
        *("punt 2 van de dagvaarding", "randnummer 2 van de memorie van grieven", "Rn. 2 der Klageschrift"),
        *("paragraphe 2 du mémoire en défense", "párrafo 2 de la demanda", "paragrafo 2 della comparsa"),
        *("articolo 2 del suo statuto", "paragraphs 2 and 4 of that letter"),
        "section 2(1) of the Ferrymen's Wages Act 1957",
        "section 2 of the Ferrymen’ Wages Act",
        "section 2 of the Harbours (Dues and Tolls) Act 1987",
        "section 2 of the Rafts, Boats and\nFerries (Repeals) Act 1992",
        "section 2, Shipowners' Liability (Compulsory Insurance) Act 1969",
        "section 2 of the U.S. Harbours Act",
        "section 2 of the Safety of Crews at Sea etc. Act 1974",
        "regulation 2 of the Conduct of Ferry Companies and Ferry Masters Regulations 2003",
        "rule 2 of the Harbours (Inland) Rules 2016",
        "article 2 of the Harbour Reform (Lights) Order 2005",
        "15 U.S.C. § 2",
        "Penal Code § 2",
        "artikel 2 van de WW",
        "artikel 2, aanhef en onder c, van de Awb",
        "artikel 2, eerste lid, Awb",
        "artikel 2 Rv",
        "artikel 2 (oud) Sr",
        "artikel 2 Algemene wet bestuursrecht",
        "artikel 2, eerste lid, onderdeel b, van de Bootwet",
        "artikel 2, onderdelen a en b, Bootwet",
        "l'article 2, paragraphe 1, point f), du RGPD",
        "art. 2 c.c.",
        "art. 2, comma 1, lett. a), d.lgs. 81/2008",
        "art. 2 della Costituzione",
        "art. 2.1 f) RGPD",
        *(
            "§ 2 i.V.m. § 4 BGB",
            "§ 2 Abs. 1 Satz 2 i. V. m. § 4 BGB",
            "§ 2 S. 1 und § 4 BGB",
            "§ 2 in Verbindung mit § 4 HGB",
        ),
        *("artikel 2 jo. artikel 4 Bootwet", "artikel 2 jo 4 Sr", "artikel 2 in verbinding met artikel 4 Sv"),
        *("Article 2 read with Article 4 TFEU", "l'article 2 lu en combinaison avec l'article 4 du traité"),
    ],
)
def test_sections_of_other_texts(mention: str) -> None:
    text = f"1. Scope\nAs {mention} has it.\n2. Term\nA year.\n"
    tree = SectionTree(
        [node(text, "1.", "1. Scope", "2. Term"), SectionNode(text.index("2. Term"), len(text), 1, "2.")]
    )
    found = find_cross_references(text, tree)
    assert found and {one.section for one in found} == {None}


@pytest.mark.parametrize(
    "mention",
    [
        *("section 2, of this Act", "section 2 of the present decree", "artikel 2, eerste lid, van deze wet"),
        *("§ 2 Satz 1 dieses Gesetzes", "§ 2 Abs. 1 Satz 2", "section 2 of the Agreement", "section 2, NB"),
        *("§ 2 I", "§ 2 I dieses Gesetzes", "section 2 Boats", "§ 2 gesetzt", "artikel 2\nWet"),
        *("section 2 of its own accord", "section 2 of the Owner's Guide", "section 2 of the tenant's covenants"),
        *("paragraph 2 of this statement", "randnummer 2 van deze brief", "section 2 of the letter"),
        *(
            "section 2 (Application of the Act)",
            "section 2 Application of the Act",
            "paragraph 2 of the contract by letter",
        ),
        *("paragraph 2 in which the mate sent a letter", "§ 2 seiner Pflicht"),
        *("paragraph 2 of this witness statement", "paragraph 2 in the light of the letter"),
        *("paragraph 2 of these written submissions", "point 2 de cette lettre", "article 2 de cette loi"),
        *("paragraph 2 in response to the letter", "paragraph 2 in which the argument is made"),
        *("point 2 of letter (b)", "punto 2 della lettera b)", "point 2 de la lettre b)"),
        *("paragraph 2 of the Schedule by letter", "section 2 Rules and Regulations", "section 2, Pay and Regulations"),
        *("section 2 of the Lease. The Harbours Act", "section 2 of the Agreement and the Harbours Act"),
        *("section 2 of the Lease, the Harbours Act", "rule 2 of the Rules", "regulation 2 of these Regulations"),
        *("section 2 (old)", "section 2 Boats act", "the Code. Section 2", "this Act § 2", "artikel 2 van deze Awb"),
    ],
)
def test_sections_of_this_text(mention: str) -> None:
    text = f"1. Scope\nAs {mention} has it.\n2. Term\nA year.\n"
    tree = SectionTree(
        [node(text, "1.", "1. Scope", "2. Term"), SectionNode(text.index("2. Term"), len(text), 1, "2.")]
    )
    assert [one.section for one in find_cross_references(text, tree)] == [1]


def test_same_number_twice() -> None:
    text = "Part A\n1. One\nsee section 2\n2. Two\nPart B\n1. One\n2. Two\nsection 1\nPart C\nsection 2\n"
    tree = SectionTree(
        [
            SectionNode(0, 35, 1, "Part A", children=[SectionNode(7, 28, 2, "1."), SectionNode(28, 35, 2, "2.")]),
            SectionNode(35, 66, 1, "Part B", children=[SectionNode(42, 49, 2, "1."), SectionNode(49, 66, 2, "2.")]),
            SectionNode(66, 83, 1, "Part C"),
        ]
    )
    assert [found.section for found in find_cross_references(text, tree)] == [2, 4, None]  # the last one: of two


@pytest.mark.parametrize("mark", ["{}.", "{}"])
@pytest.mark.parametrize(
    ("mention", "expected"),
    [
        *(("section 1", 0), ("clause 2", 5), ("section 1(2)", 2), ("section 1(2)(b)", 4), ("§ 2", 5)),
        *(("subsection (1)", 6), ("clause (1)", 6), ("rules 1", 0), ("section 3", None)),
    ],
)
def test_sections_and_subsections_that_have_no_word(mark: str, mention: str, expected: int | None) -> None:
    one, two = mark.format(1), mark.format(2)
    text = f"{one} Ferry\n(1) One.\n(2) Rafts:\n(a) a\n(b) b\n{two} Term\n(1) A year.\n(2) See {mention}.\n"
    last = text.index("(2) Rafts")
    behind = text.index(f"{two} Term")
    letters = [
        SectionNode(text.index("(a)"), text.index("(b) b"), 3, "(a)"),
        SectionNode(text.index("(b) b"), behind, 3, "(b)"),
    ]
    first = [SectionNode(text.index("(1)"), last, 2, "(1)"), SectionNode(last, behind, 2, "(2)", children=letters)]
    year, see = text.index("(1) A"), text.index("(2) See")
    second = [SectionNode(year, see, 2, "(1)"), SectionNode(see, len(text), 2, "(2)")]
    tree = SectionTree(
        [SectionNode(0, behind, 1, one, children=first), SectionNode(behind, len(text), 1, two, children=second)]
    )
    assert [found.section for found in find_cross_references(text, tree)] == [expected]


@pytest.mark.parametrize(
    ("mention", "annexed", "expected"),
    [
        ("clauses 1", "", 0),
        ("", "clause 1", 0),
        ("", "paragraph 1", 3),
        ("", "section 1", 3),  # of a contract that is annexed
    ],
)
def test_parts_of_annexes_have_the_same_numbers(mention: str, annexed: str, expected: int) -> None:
    text = f"1. One\n2. See {mention} and 2.\nSchedule 1\n1. Boats\n2. Rafts of {annexed}.\n"
    annex = [node(text, "1.", "1. Boats", "2. Rafts"), node(text, "2.", "2. Rafts")]
    main = [node(text, "1.", "1. One", "2. See"), node(text, "2.", "2. See", "Schedule")]
    tree = SectionTree([*main, node(text, "Schedule 1", "Schedule 1", None, *annex)])
    found = [one for one in find_cross_references(text, tree) if text[one.start : one.end] == mention + annexed]
    assert [one.section for one in found] == [expected]


@pytest.mark.parametrize(
    ("mention", "path"),
    [
        ("Part 1 of Schedule 1", ["Schedule 1", "PART 1"]),
        ("Schedule 1, Part 2", ["Schedule 1", "PART 2"]),
        ("paragraph 2 of Part 1 of Schedule 1", ["Schedule 1", "PART 1", "2"]),
        ("paragraph 1 of Schedule 1", ["Schedule 1", "PART 1", "1"]),  # was its Part 1
        ("Part 2", ["Part 2"]),
    ],
)
def test_annexes_have_parts_and_paragraphs(mention: str, path: list[str]) -> None:
    """Parts of them were taken for those of the act."""
    text = f"Part 1\nSee {mention}.\nPart 2\nNo more.\nSchedule 1\nPART 1\n1 Boats.\n2 Rafts.\nPART 2\n3 Oars.\n"
    items = [node(text, "1", "1 Boats", "2 Rafts"), node(text, "2", "2 Rafts", "PART 2")]
    annex = [
        node(text, "PART 1", "PART 1", "PART 2", *items),
        node(text, "PART 2", "PART 2", None, node(text, "3", "3 Oars")),
    ]
    main = [node(text, "Part 1", "Part 1\nSee", "Part 2\nNo"), node(text, "Part 2", "Part 2\nNo", "Schedule 1\n")]
    tree = SectionTree([*main, node(text, "Schedule 1", "Schedule 1\n", None, *annex)])
    nodes, parents = list(tree.walk()), tree.parents()
    (found,) = find_cross_references(text, tree)
    assert text[found.start : found.end] == mention
    place, around = found.section, list[str]()
    while place is not None and place >= 0:
        around.insert(0, nodes[place].number)
        place = parents[place]
    assert around == path


def test_parts_of_a_paragraph_are_no_items_in_it() -> None:
    text = "§ 1\n(1) Eins\n(2) Zwei\n1. Keller\n2. wie in Absatz 1.\n§ 2\n(1) Drei\n"
    items = [node(text, "1.", "1. Keller", "2. wie"), node(text, "2.", "2. wie", "§ 2")]
    parts = [node(text, "(1)", "(1) Eins", "(2) Zwei"), node(text, "(2)", "(2) Zwei", "§ 2", *items)]
    second = node(text, "§ 2", "§ 2", None, node(text, "(1)", "(1) Drei"))
    tree = SectionTree([node(text, "§ 1", "§ 1", "§ 2", *parts), second])
    assert [one.section for one in find_cross_references(text, tree)] == [1]


@pytest.mark.parametrize(
    "mention, expected",
    [
        ("point (a) of Article 1", [("point (a) of Article 1", "Article 1", "(a)")]),
        ("point (a) of Articles 1 and 2", [("point (a) of Articles 1", "Article 1", "(a)"), ("2", "Article 2", "(a)")]),
        ("point (a) of Articles 1 and 2 GDPR", [("point (a) of Articles 1", "", ""), ("2", "", "")]),
        ("points (a) and (b) of Article 2", [("points (a)", "Article 2", "(a)"), ("(b)", "Article 2", "(b)")]),
        (
            "points (a) and (b) of Articles 1 and 2",
            [("points (a)", "", ""), ("(b)", "", ""), ("Articles 1", "", "Article 1"), ("2", "", "Article 2")],
        ),
        (
            "points (a) and (b) of Articles 1 and 2 of the Regulation",
            [("points (a)", "", ""), ("(b)", "", ""), ("Articles 1", "", ""), ("2", "", "")],
        ),
        (
            "point (a) of Article 1 and point (b) of Article 2 GDPR",
            [("point (a) of Article 1", "", ""), ("point (b) of Article 2", "", "")],
        ),
    ],
)
def test_parts_of_several_sections(mention: str, expected: list[tuple[str, str, str]]) -> None:
    text = f"Article 1\n(a) As.\n(b) See {mention}.\nArticle 2\n(a) One.\n(b) Two.\n"
    first = [node(text, "(a)", "(a) As", "(b) See"), node(text, "(b)", "(b) See", "\nArticle 2\n(a) One")]
    second = [node(text, "(a)", "(a) One", "(b) Two"), node(text, "(b)", "(b) Two")]
    tree = SectionTree(
        [
            node(text, "Article 1", "Article 1\n(a)", "\nArticle 2\n(a) One", *first),
            node(text, "Article 2", "Article 2\n(a) One", None, *second),
        ]
    )
    nodes, parents = list(tree.walk()), tree.parents()
    shown = []
    for found in find_cross_references(text, tree):
        above = -1 if found.section is None else parents[found.section]
        number = "" if found.section is None else nodes[found.section].number
        shown.append((text[found.start : found.end], "" if above < 0 else nodes[above].number, number))
    assert shown == expected


def test_component(nlp: Language) -> None:
    doc = nlp("1. Scope\nSee section 2.\n\n2. Term\nA year.\n")
    (found,) = doc._.cross_references
    assert doc.text[found.start : found.end] == "section 2" and doc.spans["sections"][found.section].text[:2] == "2."
    assert spacy.blank("en")("see section 2")._.cross_references == []


def test_written(tmp_path) -> None:
    path = tmp_path / "lease.txt"
    path.write_text("1. Scope\nSee <b> section 2.\n\n2. Term\nA year.\n", encoding="utf8")
    written = [invoke("sections", path, "--to", to).stdout for to in ("json", "html")]
    assert json.loads(written[0])["cross_references"] == [[17, 26, 1]]
    assert 'See &lt;b&gt; <a href="#s2">section 2</a>.' in written[1]


@given(st.text(alphabet="1234. ()aAIVsection§artikel lid,\n", max_size=200))
def test_any_text(text: str) -> None:
    tree = SectionTree([SectionNode(0, len(text), 1, "1."), SectionNode(len(text), len(text), 1, "Artikel 2")])
    found = find_cross_references(text, tree)
    assert all(0 <= a.start < a.end <= len(text) and a.section in (None, 0, 1) for a in found)
    assert all(before.end <= after.start for before, after in zip(found, found[1:]))


FERRIES = "1. Scope\nAll ferries.\n\n2. Term\n2.1 A year.\n\n3. Price\nIt follows {}.\n\n4. Other\nNothing.\n"


PARTS = "".join(
    f"Article {k}\n1. It is so.\n2. It is not:\n(a) here;\n(b) there.\n\n" for k in range(1, 5)
)  # and what mentions them stands in the last one


@pytest.mark.parametrize(
    "mention, found",
    [
        ("Article 3(1) and (2)", ["3 1.", "3 2."]),
        ("Article 3(2) and (1)", ["3 2.", "3 1."]),
        ("Article 1(2)(a) or (b)", ["1 2. (a)", "1 2. (b)"]),
        ("Article 1(2)(a), (b) and Article 2(1)", ["1 2. (a)", "1 2. (b)", "2 1."]),
        ("Article 3(1) and (2) GDPR", [None, None]),
        ("Article 2, paragraph 1 and paragraph 2", ["2 1.", "2 2."]),
        ("Article 2, paragraph 1 or paragraph 2, point (b)", ["2 1.", "2 2. (b)"]),
        ("Article 2(2), point (a), or point (b) of Article 3(2)", ["2 2. (a)", "3 2. (b)"]),
        ("point (a) of Article 2(2) or point (b) of Article 3(2)", ["2 2. (a)", "3 2. (b)"]),
        ("Articles 1 and 3, paragraph 2", ["1", "3", "3 2."]),
        ("the first and second paragraphs of Article 2", ["2 1.", "2 2."]),
        ("paragraph 1 or paragraph 2", ["4 1.", "4 2."]),
    ],
)
def test_parts_that_share_what_they_are_in(mention: str, found: list[str | None], nlp: Language) -> None:
    doc = nlp(f"{PARTS}3. See {mention}.\n")
    sections = doc.spans["sections"]
    shown: list[str | None] = []
    for one in doc._.cross_references:
        span, path = None if one.section is None else sections[one.section], list[str]()
        while span is not None:
            path.insert(0, span._.section["number"].removeprefix("Article "))
            span = span._.section_parent
        shown.append(" ".join(path) or None)
    assert shown == found


@pytest.mark.parametrize(
    "mention, found",
    [
        ("sections 1, 2 and 4", [("sections 1", "1."), ("2", "2."), ("4", "4.")]),
        ("sections 1, 2 and 4 of the Ports Act", [("sections 1", None), ("2", None), ("4", None)]),
        ("Articles 2 and 4 GDPR", [("Articles 2", None), ("4", None)]),
        (
            "section 1, section 2 or section 4 of the Ports Act",
            [("section 1", None), ("section 2", None), ("section 4", None)],
        ),
        ("section 2, or Article 4 GDPR", [("section 2", "2."), ("Article 4", None)]),
        ("section 1 of this contract and section 4 of the Ports Act", [("section 1", "1."), ("section 4", None)]),
        ("sections 2–4", [("sections 2", "2."), ("4", "4.")]),
        ("sections 1–2 and 4", [("sections 1", "1."), ("2", "2."), ("4", "4.")]),
        ("sections 2-1 and 4", [("sections 2-1", "2.1"), ("4", "4.")]),
        ("§§ 2-4", [("§§ 2", "2."), ("4", "4.")]),
        ("section 2-1", [("section 2-1", "2.1")]),
        ("artikel 2 jo. 4", [("artikel 2", "2."), ("4", "4.")]),
        ("§ 2 dieses Vertrags i.V.m. § 4 BGB", [("§ 2", "2."), ("§ 4", None)]),
    ],
)
def test_lists_and_ranges_of_numbers(mention: str, found: list[tuple[str, str | None]], nlp: Language) -> None:
    doc = nlp(FERRIES.format(mention))
    nodes = list(doc._.section_tree.walk())
    assert found == [
        (doc.text[own.start : own.end], None if own.section is None else nodes[own.section].number)
        for own in doc._.cross_references
    ]


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            "Article 1\nVoir l'article 2 bis et l'article 1er.\n\nArticle 2\nOui.\n\nArticle 2 bis\nNon.\n",
            [("article 2 bis", "Article 2 bis"), ("article 1er", "Article 1")],
        ),
        (
            "§ 1\nEs gilt § 2 Abs. 1 und § 2 Abs. 2 Satz 1 Nr. 1, § 2 Abs. 2 S. 1 Nr. 2 sowie § 2 bis § 3.\n\n"
            "§ 2\n(1) Ja.\n(2) Nein:\n1. so,\n2. so.\n\n§ 3\nJa.\n",
            [
                ("§ 2 Abs. 1", "(1)"),
                ("§ 2 Abs. 2 Satz 1 Nr. 1", "1."),
                ("§ 2 Abs. 2 S. 1 Nr. 2", "2."),
                ("§ 2", "§ 2"),
                ("§ 3", "§ 3"),
            ],
        ),
        (
            "Articolo 1\nSi veda l'art. 2 e l'art. 2-bis.\n\nArticolo 2\n1. Uno.\n2. Due.\n\nArticolo 2-bis\nTre.\n",
            [("art. 2", "Articolo 2"), ("art. 2-bis", "Articolo 2-bis")],
        ),
        (
            "Artikel 1\nZie hoofdstuk 2 en art. 2.\n\nArtikel 2\n1. Het veer vaart.\n2. Het veer rust.\n",
            [("hoofdstuk 2", None), ("art. 2", "Artikel 2")],
        ),
        (
            "Part 1\nPorts\n\n1. Boats float in this Part.\n2. Boats sink under section 1 or\n3. Boats burn.\n\n"
            "Part 2\nIce\n\n4. Ice melts.\n5. Ice cracks.\n",
            [("section 1", "1.")],
        ),
    ],
)
def test_numbers_that_are_no_others(text: str, expected: list[tuple[str, str | None]], any_language: Language) -> None:
    doc = any_language(text)
    numbers = [node.number for node in doc._.section_tree.walk()]
    places = [(each, None if each.section is None else numbers[each.section]) for each in doc._.cross_references]
    assert [(text[each.start : each.end], number) for each, number in places] == expected


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ("Se vende para el puerto. El barco es para 2 personas, para primera clase y para la pesca.", []),
        ("Serve para navegar para 2 pessoas, como diz a cláusula 2.", ["cláusula 2"]),
        ("Il est convoqué par le juge, par 2 lettres. Voir le point 2.", ["point 2"]),
        ("Può portare fino ad un massimo di due persone, o ad 1 cane.", []),
        ("See para 2, para 1 above and para (2). It is no barco para la pesca.", ["para 2", "para 1", "para (2)"]),
        ("The claim in para under appeal, and the para after it, are those of para 2.", ["para 2"]),
        ("Zie par 2 en par. 1.", ["par 2", "par. 1"]),
        ("See para. 2 and Lee, para el barco, para. 1.", ["para. 2", "para. 1"]),
    ],
)
def test_prepositions_are_no_paragraphs(any_language: Language, sentences: str, expected: list[str]) -> None:
    text = f"1. Uno\n\n{sentences}\n\n2. Dos\n\nNada.\n"
    found = any_language(text)._.cross_references
    assert [text[each.start : each.end] for each in found] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Capítulo I\nObjeto\n\nArtículo 1. Ámbito\nVéase el artículo 2.\n\nArtículo 2. Unión\nTexto.\n",
        "Chapitre I – Objet\n\nArticle 1er. – Étendue\nVoir le deuxième alinéa de l’article 1er.\n",
        "Άρθρο 1. Σκοπός\nΚείμενο.\n\nΆρθρο 2. Πεδίο\nΚείμενο.\n",
    ],
)
def test_accents_that_are_characters_of_their_own(text: str, any_language: Language) -> None:
    composed, apart = (any_language(normalize(form, text)) for form in ("NFC", "NFD"))
    found = [[(node.level, node.number, node.title) for node in doc._.section_tree.walk()] for doc in (composed, apart)]
    assert [(level, *(normalize("NFC", one) for one in told)) for level, *told in found[1]] == found[0]
    mentions = [
        [(normalize("NFC", doc.text[one.start : one.end]), one.section) for one in doc._.cross_references]
        for doc in (composed, apart)
    ]
    assert mentions[1] == mentions[0]
    assert all(number for _, number, _ in found[0])


def paths_of(text: str) -> list[tuple[str, list[str]]]:
    """The mentions in a text that nothing was trained for, with the numbers of the sections around what they mean."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("section_parser")
    doc = nlp(text)
    nodes, parents = list(doc._.section_tree.walk()), doc._.section_tree.parents()
    found = []
    for one in doc._.cross_references:
        place, path = one.section, list[str]()
        while place is not None and place >= 0:
            path.insert(0, nodes[place].number.strip("."))
            place = parents[place]
        found.append((doc.text[one.start : one.end], path))
    return found


@pytest.mark.parametrize("word", ["§ ", "Section ", ""])
@pytest.mark.parametrize(
    ("mention", "path"),
    [
        *(("subsection (b)", ["1", "(b)"]), ("subsection (b)(2)", ["1", "(b)", "(2)"])),
        *(("paragraph (b)(1)", ["1", "(b)", "(1)"]), ("subsection (b)(9)", ["1", "(b)"])),
        *(("subsection (a)(1) of {}2", ["2", "(a)", "(1)"]), ("subsection (a)(9) of {}2", ["2", "(a)"])),
        *(("subsection (c)(1) of {}2", ["2"]), ("{}2(a)(1)(B)", ["2", "(a)", "(1)", "(B)"])),
    ],
)
def test_parts_of_subsections(word: str, mention: str, path: list[str]) -> None:
    """Two brackets were no mention, and subsections of sections with a sign led nowhere."""
    mention = mention.format(word or "section ")
    text = f"{word}1. Dues\n\n(a) A master pays dues, see {mention}, for each berth.\n\n(b) The dues are:\n\n"
    text += f"(1) ten dollars; or\n\n(2) forty dollars.\n\n{word}2. Terms\n\n(a) As it is used here:\n\n"
    text += "(1) State means:\n\n(A) this State; or\n\n(B) others;\n\n(2) vessel means a boat.\n\n(b) No more.\n"
    assert paths_of(text) == [(mention, [f"{word}{path[0]}", *path[1:]])]


@pytest.mark.parametrize("heading", ["§ {}.", "Section {}", "Sec. {}."])
@pytest.mark.parametrize("mention", ["§ 2", "Section 2", "sec. 2"])
def test_the_sign_stands_for_sections(heading: str, mention: str) -> None:
    text = "\n\n".join(f"{heading.format(n)} Dues\n\nAs {mention} says." for n in (1, 2, 3))
    assert paths_of(text) == [(mention, [heading.format(2).strip(".")])] * 3


def test_numbers_of_a_list_without_a_word_have_several_parts() -> None:
    found = find_mentions("see 3.2 and 12 others, or see 3.2 and 4.3", frozenset())
    assert [one.path[0].readings[0].number for one in found] == ["3.2", "3.2", "4.3"]


@pytest.mark.parametrize(
    ("mention", "paths"),
    [
        ("subsections (1), (1A) and (2)", [["1", "(1)"], ["1", "(1A)"], ["1", "(2)"]]),
        ("section 1(1A)", [["1", "(1A)"]]),
        ("sections 1 (1A) and 2", [["1", "(1A)"], ["2"]]),
    ],
)
def test_parts_that_were_inserted(mention: str, paths: list[list[str]]) -> None:
    parts = "\n\n".join(f"({number}) The ferry carries oars, see {mention}." for number in ("1", "1A", "2"))
    text = f"1. Boats\n\n{parts}\n\n2. Ports\n\nA port has a lamp.\n"
    assert [path for _, path in paths_of(text)] == 3 * paths


def test_the_sign_is_no_section_that_articles_stand_in_or_that_stands_in_one() -> None:
    division = "Section {}\n\nArticle {}. Voir § 2 ici.\n\nArticle {}. Fin.\n\n"
    assert paths_of(division.format(1, 1, 2) + division.format(2, 3, 4)) == [("§ 2", [])] * 2
    text = "Article 6\n\n§ 1. Un.\n\n§ 2. Deux, voir section 2.\n\nArticle 7\n\nFin.\n"
    assert paths_of(text) == [("section 2", [])]


@pytest.mark.parametrize(
    ("mention", "found"),
    [
        ("§ 2 (1)", [("§ 2 (1)", ["§ 2", "(1)"])]),
        ("§ 2 (1) und (2)", [("§ 2 (1)", ["§ 2", "(1)"]), ("(2)", ["§ 2", "(2)"])]),
        ("§§ 2 (2), 3 (1)", [("§§ 2 (2)", ["§ 2", "(2)"]), ("3 (1)", ["§ 3", "(1)"])]),
    ],
)
def test_brackets_behind_a_space(mention: str, found: list[tuple[str, list[str]]]) -> None:
    """Such brackets were no part of the mention, which led to all of § 2."""
    text = f"§ 1 Fähren\n\nEs gilt {mention} hier.\n\n§ 2 Häfen\n\n(1) Häfen sind offen.\n(2) Kais sind frei.\n\n"
    text += "§ 3 Tolle\n\n(1) Der Zoll ist klein.\n(2) Der Preis ist groß.\n"
    assert paths_of(text) == found


@pytest.mark.parametrize(
    ("mention", "found"),
    [
        *((one, [(one, ["Artikel 2", "2"])]) for one in ("artikel 2, § 2", "artikel 2 § 2", "§ 2 van artikel 2")),
        ("artikel 2, §§ 1 en 2", [("artikel 2, §§ 1", ["Artikel 2", "1"]), ("2", ["Artikel 2", "2"])]),
        ("artikelen 2, § 1, en 3", [("artikelen 2", ["Artikel 2"]), ("§ 1", []), ("3", [])]),
    ],
)
def test_signs_behind_articles(mention: str, found: list[tuple[str, list[str]]]) -> None:
    """§ 2 of an article was a mention by itself."""
    text = (
        f"Artikel 1\n\nBoten vallen onder {mention} hier.\n\nArtikel 2\n\n1. Havens zijn open.\n2. Kades zijn vrij.\n"
    )
    assert paths_of(text) == found


@pytest.mark.parametrize(
    ("mention", "expected"),
    [
        ("l'article L. 112-1", {"article L. 112-1": "Article L. 112-1"}),
        ("l'article L.112-1", {"article L.112-1": "Article L. 112-1"}),
        (
            "les articles L. 111-1 et L. 112-2",
            {"articles L. 111-1": "Article L. 111-1", "L. 112-2": "Article L. 112-2"},
        ),
        ("l'article L. 112-1 du code de commerce", {"article L. 112-1": ""}),
        ("l'article L. 999-1", {"article L. 999-1": ""}),
    ],
)
def test_articles_of_french_codes(mention: str, expected: dict[str, str]) -> None:
    """Their mentions ended behind the letter, and led nowhere."""
    text = "\n\n".join(f"Article L. {n}\n\nLe bateau est un ouvrage." for n in ("111-1", "111-2", "112-1", "112-2"))
    found = paths_of(f"{text}\n\nIl est régi par {mention}.\n")
    assert [(said, "".join(path)) for said, path in found] == list(expected.items())


@pytest.mark.parametrize(
    "mention, number",
    [
        *[("Appendix A", "A"), ("Anhang B", "B"), ("bijlage A", "A"), ("Appendix A.1", "A.1"), ("section A", "A")],
        *[("Annex 1", None), ("Appendix C", None), ("Schedule I", None)],
    ],
)
@pytest.mark.parametrize("title", ["", "# Ferries\n\n"])
def test_letters_behind_sections_with_figures_are_appendices(tmp_path, mention, number, title):
    headings = ["1 Boats", "2 Terms", "A Oak", "A.1 Ash", "B Ice"]
    marks = [("##" if "." in heading else "#") + "#" * bool(title) for heading in headings]
    path = tmp_path / "a.md"
    path.write_text(title + "".join(f"{mark} {own}\n\nSee {mention}.\n\n" for mark, own in zip(marks, headings)))
    nlp = spacy.blank("en")
    doc = nlp.add_pipe("section_parser")(to_doc(nlp.vocab, read_layout(path)))
    nodes = list(doc._.section_tree.walk())
    found = {None if each.section is None else nodes[each.section].number for each in doc._.cross_references}
    assert found == {number}


def test_letters_below_sections_with_figures_are_no_appendices():
    doc = spacy.blank("en")
    doc.add_pipe("section_parser")
    found = doc("1. Boats\nSee Appendix A.\nA. Oak\nOld.\nB. Ash\nNew.\n2. Terms\nA year.\n")._.cross_references
    assert [each.section for each in found] == [None]


@pytest.mark.parametrize(
    ("first", "second", "mention"),
    [
        ("PRIMERA.- Objeto", "SEGUNDA.- Precio", "cláusula segunda"),
        ("Cláusula 1ª. Objeto", "Cláusula 2ª. Precio", "cláusula 2ª"),
        ("Artículo 1.º Objeto", "Artículo 2.º Precio", "artículo 2.º"),
        ("CAPÍTULO PRIMERO", "CAPÍTULO SEGUNDO", "capítulo segundo"),
        ("Annexe n° 1 : Ports", "Annexe n° 2 : Bateaux", "annexe n° 2"),
        ("Anlage Nr. 1: Häfen", "Anlage Nr. 2: Boote", "Anlage Nr. 2"),
    ],
)
def test_mentions_of_ordinals_and_of_numbers_that_are_called_so(
    first: str, second: str, mention: str, any_language: Language
) -> None:
    text = f"{first}\nSe vende el barco, {mention} del todo.\n\n{second}\nSe paga el precio.\n"
    found = [(text[each.start : each.end], each.section) for each in any_language(text)._.cross_references]
    assert found == [(mention, 1)]


@pytest.mark.parametrize("number", ["3º bis", "3.º bis", "3.º ter"])
def test_inserted_articles_are_not_those_that_they_follow(number: str) -> None:
    assert not list(find_mentions(f"Véase el artículo {number} de los barcos.", frozenset()))
    (found,) = find_mentions("Véase el artículo 3.º de los barcos.", frozenset())
    assert found.path[0].readings[0].values == (3,)


SMALL_PARTS = {
    "1": "art. 2, comma 1|articolo 2, comma 1|artículo 2, apartado 1|artículo 2, párrafo 1|l'article 2, paragraphe 1",
    "b": "art. 2, comma 1, lett. b)|articolo 2, comma 1, lettera b)|artículo 2, apartado 1, letra b)|artículo 2.1.b)|"
    "l'article 2, paragraphe 1, point b)|l'article 2, paragraphe 1, sous b)|artikel 2, eerste lid, onderdeel b|"
    "artikel 2, lid 1, aanhef en onder b|artikel 2 lid 1 sub b|letra b) del apartado 1 del artículo 2|"
    "Artikel 2 Absatz 1 Buchstabe b|Artikel 2 Abs. 1 lit. b|Article 2, paragraph 1, subparagraph (b)",
}


@pytest.mark.parametrize(
    "mention, number", [(each, own) for own, all in SMALL_PARTS.items() for each in all.split("|")]
)
def test_small_parts_behind_their_articles(mention: str, number: str) -> None:
    parts = "1. Boats.\n\n2. Rafts.\n\nArticle 2\nPorts\n\n1. These:\n\na) large;\n\nb) small.\n\n2. Others.\n\n"
    ((_, path),) = paths_of(f"Article 1\nScope\n\n{parts}Article 3\nEnd\n\n1. See {mention}.\n\n2. A year.\n")
    assert path == (["Article 2", "1"] if number == "1" else ["Article 2", "1", "b)"])


def numbers_of(text: str) -> list[list[str]]:
    """The numbers of the mentions in a text, each from the outside in."""
    return [[step.readings[0].number for step in found.path] for found in find_mentions(text, frozenset())]


@pytest.mark.parametrize("text", ["See letra b) and sub c.", "Der Rest nach lit. a.", "Write point b) down."])
def test_small_parts_alone_are_no_mentions(text: str) -> None:
    assert not list(find_mentions(text, frozenset()))


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("articolo 3, comma 2, lettere a) e b)", "ab"),
        ("articolo 3, lettere a e b", "ab"),
        ("artículo 3, apartado 1, letras b) y c)", "bc"),
        ("artículo 3, letras a) a d)", "ad"),
        ("articolo 3, lettera b) e i commi che seguono", "b"),
    ],
)
def test_words_between_small_parts_are_none_of_them(text: str, numbers: str) -> None:
    assert "".join(found.path[-1].readings[0].number for found in find_mentions(text, frozenset())) == numbers


@pytest.mark.parametrize("part", ["comma 2", "secondo comma", "lettera b) del comma 2"])
@pytest.mark.parametrize("sign", "'’")
def test_parts_before_dell_articolo(part: str, sign: str) -> None:
    ((*path,),) = numbers_of(f"Si veda il {part} dell{sign}articolo 3.")
    assert path[:2] == ["3", "2"]


@pytest.mark.parametrize(
    "text",
    [
        "Le délai de l'article 5, sous 8 jours.",
        "Visé à l'article 5 sous 15 jours ouvrables.",
        "Volgens artikel 5 onder 18 jaar.",
        "Volgens artikel 5 onder 18-jarigen.",
        "Volgens artikel 5, onder 10 procent.",
        "Volgens artikel 5, onder 10%.",
    ],
)
def test_amounts_are_no_small_parts(text: str) -> None:
    assert numbers_of(text) == [["5"]]


@pytest.mark.parametrize(
    "text",
    [
        "artikel 5, eerste en tweede lid, onderdeel b, van de Algemene wet bestuursrecht",
        "artikel 10 lid 4 en 5 onder a en b van de Opiumwet",
        "artikel 2, eerste en tweede lid, aanhef en onder b, en artikel 3 van de Awb",
        "onderdeel b van artikel 3, eerste lid, van de Awb",
        "Artikel 6 Absatz 1 und 2 Buchstabe b der Verordnung (EU) 2016/679",
        "§§ 2 und 3 Buchst. a des Gesetzes",
        "article 2, paragraphes 1 et 2, point b), du règlement (UE) 2016/679",
        "artículo 2, apartados 1 y 2, letra b), de la Ley 30/1992",
        "art. 2, commi 1 e 2, lettera b), del decreto legislativo",
    ],
)
def test_small_parts_of_other_laws_keep_their_law(text: str) -> None:
    mentions = list(find_mentions(f"{text}.", frozenset()))
    assert mentions and all(found.has_none for found in mentions)


def test_small_parts_of_each_of_a_list() -> None:
    mentions = list(find_mentions("artikel 2, eerste en tweede lid, onder b, en derde lid", frozenset()))
    assert [[step.readings[0].values[0] for step in found.path] for found in mentions] == [[2, 1], [2, 2], [2, 3]]
    (found,) = find_mentions("onderdeel b van artikel 3, eerste lid", frozenset())
    assert [step.readings[0].values[0] for step in found.path] == [3, 1, 2]


def test_commas_of_english_are_marks() -> None:
    assert not list(find_mentions("After the second comma, insert boats.", frozenset()))
    assert len(list(find_mentions("Si veda il secondo comma.", frozenset()))) == 1


@pytest.mark.parametrize("part", [", onder a", ", onder a, sub b", " Satz 2", ", tweede lid, onder b"])
def test_time_is_linear_in_small_parts(part: str) -> None:
    text = f"artikel 1, eerste en tweede lid{part * 3000}, artikel 1{part * 3000}"
    start = time.process_time()
    assert list(find_mentions(text, frozenset()))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "text",
    [
        "artículo 6, apartado 1, párrafo segundo, letra f)",
        "letra f) del segundo párrafo del apartado 1 del artículo 6",
        "articolo 6, paragrafo 1, secondo comma, lettera f)",
        "article 6, paragraphe 1, deuxième alinéa, point f)",
    ],
)
def test_parts_of_numbered_parts_are_in_them(text: str) -> None:
    assert numbers_of(text) == [["6", "1", "2", "f"]]


def test_an_ordinal_of_small_parts_stands_between_others() -> None:
    assert numbers_of("Article 6(1), second subparagraph, point (b)") == [["6.1", "b"]]
    (found,) = find_mentions("Article 6(1), first subparagraph, of Regulation (EU) 2016/679", frozenset())
    assert found.has_none


@pytest.mark.parametrize("text", ["artículo 5, apartado b)", "artículo 5, párrafo b)", "article 5, paragraphe b)"])
def test_letters_behind_words_for_numbered_parts(text: str) -> None:
    assert numbers_of(f"{text}.") == [["5", "b"]]
    (found,) = find_mentions(f"{text}, de la Ley 30/1992", frozenset())
    assert found.has_none


@pytest.mark.parametrize(
    "text, paths",
    [
        ("articoli 5, comma 2, e 6, comma 3", ["5 2", "6 3"]),
        ("artículos 5, apartado 1, letra a), y 6, apartado 2, letra b)", ["5 1 a", "6 2 b"]),
        ("articles 5, paragraphe 1, et 6, paragraphe 2", ["5 1", "6 2"]),
        ("artikelen 5, lid 1, onder a, en 6, lid 2, onder b", ["5 1 a", "6 2 b"]),
        ("Articles 5, paragraph 1, 6, paragraph 2, and 7, paragraph 3", ["5 1", "6 2", "7 3"]),
        ("§ 5 Abs. 1 und 6 Abs. 2", ["5 1", "6 2"]),
        ("§ 2 Abs. 1 und 2, Abs. 3", ["2 1", "2 2", "2 3"]),
    ],
)
def test_the_next_section_of_a_list(text: str, paths: list[str]) -> None:
    mentions = list(find_mentions(text, frozenset()))
    assert [" ".join(step.readings[0].number for step in found.path) for found in mentions] == paths
    assert all(found.has_none for found in find_mentions(f"{text} GDPR", frozenset()))


@pytest.mark.parametrize(
    "text, paths",
    [
        ("artikelen 3, onder a, en 4 van de Awb", ["3 a", "4"]),
        ("artikelen 3, onder a, 4-6 van de Awb", ["3 a", "4", "6"]),
        ("artikelen 3, onder a, 4 en 5, eerste lid, van de Awb", ["3 a", "4", "5 1"]),
        ("artikelen 3, aanhef en onder a, en 4, tweede lid, van de Awb", ["3 a", "4 2"]),
        ("articles 5, point b), et 6 du règlement (UE) 2016/679", ["5 b", "6"]),
        ("Articles 5(1), point (b), and 6 of Directive 95/46/EC", ["5.1 b", "6"]),
        (
            "Articles 5, points (b) and (c), 6(1) and (2), and 7, point (a), of Directive 95/46/EC",
            ["5 b", "5 c", "6.1", "6.2", "7 a"],
        ),
        ("§§ 3 Abs. (1), 4 und 5 BGB", ["3 1", "4", "5"]),
        ("§§ 3 Abs. 1 Buchst. a und 4 BGB", ["3 1 a", "4"]),
        ("§§ 3 Abs. 1, 4 und 5 BGB", ["3 1", "4", "5"]),
        ("§§ 3 I 2, II, 4 und 5 I BGB", ["3", "4", "5"]),
        ("§§ 3 ff., 5 BGB", ["3", "5"]),
        ("§§ 2, 3 Satz 1, 5 BGB", ["2", "3", "5"]),
        ("Articles 5, first sentence, and 6 of Directive 95/46/EC", ["5", "6"]),
        ("§§ 3 Abs. 1 und 4, 7 Abs. 2 BGB", ["3 1", "3 4", "7 2"]),
        ("§§ 3 Abs. 1 und 2, 5 BGB", ["3 1", "3 2", "5"]),
        ("§ 3 Abs. 1, 4 und 5 BGB", ["3 1", "3 4", "3 5"]),
        ("artikelen 5, lid 1, en 6 van de Awb", ["5 1", "6"]),
        ("artikelen 5, leden 1 en 6, van de Awb", ["5 1", "5 6"]),
        ("Articles 2, paragraphs 1, 3 and 4, and 5 of Directive 95/46/EC", ["2 1", "2 3", "2 4", "5"]),
        ("articles 5, alinéa 2, et 6 du code civil", ["5 2", "6"]),
        ("§§ 3 Abs. 1 Nr. 2, 4 Abs. 3 BGB", ["3 1 2", "4 3"]),
        ("articoli 5, lettera b), e 6 del codice civile", ["5 b", "6"]),
        ("artículos 5, letra b), y 6 de la Ley 30/1992", ["5 b", "6"]),
        ("artikelen 3 tot en met 5 van de Awb", ["3", "5"]),
        ("artikel 3, onder a t/m d, van de Awb", ["3 a", "3 d"]),
        ("artikel 5, onderdeel b, onder 2°, van de Opiumwet", ["5 b 2"]),
        ("articolo 5, comma 1, lettera a-bis), del codice civile", ["5 1 aa"]),
        ("articolo 5, lettere a), a-bis) e c), del codice civile", ["5 a", "5 aa", "5 c"]),
        ("artículo 5, letra b bis), de la Ley 30/1992", ["5 ba"]),
        ("artículos 5.1.b) y 6.2.a) de la Ley 30/1992", ["5.1.b", "6.2.a"]),
        ("article 6.1.f) GDPR", ["6.1.f"]),
        ("articolo 360, primo comma, n. 3, c.p.c.", ["360 1"]),
        ("article 5, paragraphe 1, première phrase, point a), du règlement", ["5 1 a"]),
        ("Article 5(2), second and third subparagraphs, of Directive 2001/1/EC", ["5.2"]),
        ("point (a) of the first subparagraph of Article 6(1) of Directive 2001/1/EC", ["6.1 a"]),
    ],
)
def test_lists_of_sections_with_parts_keep_their_law(text: str, paths: list[str]) -> None:
    mentions = list(find_mentions(f"{text}.", frozenset()))
    assert [" ".join(step.readings[0].number for step in found.path) for found in mentions] == paths
    assert all(found.has_none for found in mentions)


@pytest.mark.parametrize("text", ["artikelen 3, onder a, en 4 weken", "articles 5, point b), 2016", "article 5, b), 6"])
def test_other_numbers_behind_parts_are_no_sections(text: str) -> None:
    assert len(numbers_of(text)) == 1
    assert len(list(find_mentions("articles 5, point b),\n6. Ports", frozenset({22})))) == 1


# the paragraph 12 of a judgment whose own paragraphs have numbers, and those of judgments that it cites
@pytest.mark.parametrize(
    "text",
    [
        "Lee v Moss [1999] 1 AC 45, para 12",
        "Lee v Moss [2001] UKHL 4 at paragraph 12",
        "Lee v Moss [2012] EWCA Civ 5, paragraphs 11 and 12",
        "Case C-901/12 Lee and Moss, paragraph 12",
        "Case C-901/12 P, Lee v Moss, EU:C:2014:9317, paragraphs 11 to 12",
        "judgment of 3 May 2014, Lee, EU:C:2014:9317, paragraph 12",
        "the judgment of 3 May 2014, paragraph 12",
        "Lee v. Moss, no. 92345/67, § 12, ECHR 2004",
        "Lee, cited above, § 12",
        "the Lee and Others judgment, cited above, § 12",
        "Lee v. Moss [GC] (cited above, § 12)",
        "Lee v. Moss (no. 902), cited above, § 12",
        "Lee v. Moss (cited above), § 12",
        "Lee v. the Republic of Quays, 3 May 1984, § 12",
        "Lee and Moss [1995] ECR I-9021, paragraph 12",
        "paragraph 12 of the judgment under appeal",
        "paragraph 12 of the judgment in Lee v Moss",
        "BGH, Urteil vom 3. Mai 2005 – VI ZR 912/04, Rn. 12",
        "BVerfG, Beschluss vom 3. Mai 2005 (Rn. 12)",
        "BGH NJW 2005, 912, Rn. 12",
        "Rn. 12 des Urteils vom 3. Mai 2005",
        "HR 5 mei 1993, ECLI:NL:HR:1993:ZZ9, overweging 12",
        "HR 5 mei 1993, NJ 1993/912, overweging 12",
        "overweging 12 van het bestreden vonnis",
        "paragraphe 12 de l'arrêt attaqué",
    ],
)
def test_paragraphs_of_other_decisions_are_none_of_ours(text: str) -> None:
    mentions = list(find_mentions(f"The court follows {text}.", frozenset()))
    assert mentions and all(found.has_none for found in mentions)


@pytest.mark.parametrize(
    "text",
    [
        "paragraph 12 of this judgment",
        "paragraph 12 above",
        "As in Lee v Moss [1999] 1 AC 45. Paragraph 12",
        "C-901/12, section 12",
        "Rn. 12",
        "Rn. 12 dieses Urteils",
        "Lee v. Moss, no. 92345/67, and paragraph 12 above",
        "Case C-901/12, and paragraph 12",
        "the facts cited above, paragraph 12",
        "the letter to Mr Lee, 3 May 1984, paragraph 12",
        "NJ law (paragraph 12)",
        "paragraph 12 in the order of priority",
        "overweging 12",
        "overweging 12 van dit vonnis",
    ],
)
def test_paragraphs_of_a_decision_are_mentioned(text: str) -> None:
    (found,) = find_mentions(f"It follows from {text}.", frozenset())
    assert not found.has_none and [step.readings[0].values for step in found.path] == [(12,)]


@pytest.mark.parametrize(
    ("text", "has_none"),
    [
        ("clause 3.1 of the Main Agreement", True),
        ("clauses 3.1 and 4 of the Master Services Agreement", True),
        ("section 3 of the Loan Agreement dated 3 May 2019", True),
        ("clause 3 of that Deed", False),
        ("clause 3.1 of the Agreement", False),
        ("clause 3.1 of this Agreement", False),
        ("clause 3 of the Lease or the Loan Agreement", False),
        ("Schedule 1 to the Act", True),
        ("Schedule 1 to the Companies Act 2006", True),
        ("Annex 1 to Regulation (EU) 2016/679", True),
        ("Schedule 1 to this Act", False),
        ("section 3 to any person under the Act", False),
        ("section 3 to the Convention", False),
        ("recital 10 to the Directive", True),
        ("paragraph 2 of Schedule 1 to the Act", True),
    ],
)
def test_clauses_of_named_contracts_and_schedules_to_acts(text: str, has_none: bool) -> None:
    mentions = list(find_mentions(f"It follows from {text} that he pays.", frozenset()))
    assert mentions and {found.has_none for found in mentions} == {has_none}


@pytest.mark.parametrize("begin", ["This Loan Agreement is made today.", "LOAN AGREEMENT\n\nMade today."])
def test_a_contract_may_call_itself_by_its_name(begin: str) -> None:
    text = f"{begin} He pays by clause 2 of the Loan Agreement, and by clause 3 of the Rent Agreement."
    assert [found.has_none for found in find_mentions(text, frozenset())] == [False, True]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Schedule 1 (paragraph 2)", ["1 2"]),
        ("Article 3 (point (b)) and Article 4", ["3 b", "4"]),
        ("§ 4 (Absatz 2)", ["4 2"]),
        ("Chapter 2 (Articles 3 to 5)", ["2", "3", "5"]),
        ("clause 3 (see paragraph 2)", ["3", "2"]),
        ("clauses 3 and/or 4", ["3", "4"]),
        ("artikelen 3 en/of 4", ["3", "4"]),
        ("§§ 3 und/oder 4", ["3", "4"]),
    ],
)
def test_parts_in_brackets_and_lists_with_and_or(text: str, paths: list[str]) -> None:
    mentions = find_mentions(f"It follows from {text} that he pays.", frozenset())
    assert [" ".join(step.readings[0].number for step in found.path) for found in mentions] == paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("§3 Abs.2 Nr.1", ["3 2 1"]),
        ("Art.3 Abs.2", ["3 2"]),
        ("cl.3, para.2", ["3 2"]),
        ("Smart.3 and part.x", []),
        ("the next section.2, the state of the art.3 or /man/abs.3", []),
    ],
)
def test_no_space_behind_the_full_stop_of_a_word(text: str, paths: list[str]) -> None:
    mentions = find_mentions(f"Es gilt {text}, soweit er zahlt.", frozenset())
    assert [" ".join(step.readings[0].number for step in found.path) for found in mentions] == paths
