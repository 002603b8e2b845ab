"""Units cover the text once, and are cut where a reader would cut."""

import pytest
from helpers.layouts import RUNS, TEXTS
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.grammar.numbering import INVISIBLE, readings
from spacy_crf.sections.segment import STYLES, Kind, segment


def shown(text, runs=()):
    return [(str(unit.kind), text[unit.start : unit.end]) for unit in segment(text, runs)]


@given(TEXTS, RUNS)
def test_all_text_is_in_one_unit(text, runs):
    place = 0
    for unit in segment(text, runs):
        assert place <= unit.start < unit.end <= len(text)
        assert not text[place : unit.start].strip()
        assert not text[unit.start].isspace() or (unit.kind is Kind.NEWLINE and text[unit.start] == "\n")
        assert unit.styles <= set(STYLES)
        place = unit.end
    assert not text[place:].strip()


@given(TEXTS)
def test_blank_lines_are_units(text):
    *lines, _ = text.split("\n")
    assert sum(kind == "newline" for kind, _ in shown(text)) == sum(not line.strip() for line in lines)


NUMBERINGS = [
    *("1.", "1", "1)", "(1)", "[1]", "1°", "2.1", "2.1.", "2.1.3.", "12.", "1:", "1.a", "A.1", "IV-2.", "3a.", "2.-"),
    *("a.", "a)", "(a)", "(ii)", "iv.", "IV.", "A.", "( v)", "i.", "§ 4", "§4.", "§§ 4", "Artikel 3"),
    *("Artikel 3.", "ARTIKEL III", "Article 5(2)", "Chapter IV", "Chapter IV.", "Part A", "Part One", "Deel 2:"),
    *(
        "Art. 6a",
        "Chapter IIa:",
        "Annex:",
        "Annex",
        "5A",
        "R1.",
        "Hoofdstuk twee",
        "Artikel 3:40",
        "1.2.3.4.5.6.7.8.9.10",
        "xlii)",
    ),
    *(
        "IV.A",
        "aa.",
        "bb)",
        "12bis.",
        "12 bis",
        "Artikel 12bis",
        "II-3",
        "A-1",
        "1(a)",
        "IIa.",
        "II.A.1",
        "A.I.1",
        "a.1",
    ),
    *("①", "②.", "⑴", "⒈", "ⅰ.", "Ⅳ", "１．２", "２", "٣.", "३.", "α.", "β)", "(γ)", "Β.", "а)", "Б."),
    *("Kapitel 3", "Abschnitt 2.1", "Teil A", "Anlage 2", "Anhang B", "Chapitre IV", "CHAPITRE PREMIER", "Titre II"),
    *("Capítulo 5", "CAPITULO V", "Artículo 7", "Sección 3", "Capitolo 2", "Articolo 9", "Allegato 2", "Глава 2"),
    *("Άρθρο 5", "Rozdział 3", "Erster Teil", "Première partie", "Nr. 5", "N° 4", "Kap. 3", "Bijl. 2", "Article 1er"),
    *("Artículo 1.º", "Artigo 2.º", "Sección 1.ª", "TITRE Ier", "Section 1re", "Section 1ère", "Livre 2ème"),
    *(
        "Article 2 :",
        "Article 1er\u00a0:",
        "TITRE I :",
        "Chapitre 3\u202f:",
        "1.2 :",
        "3 :",
        "1° :",
        "a) :",
        "ANNEXE :",
    ),
    *("PREMIÈRE PARTIE :", "Section III :", "§ 4 :", "Annexe", "ANNEXE", "Apéndice"),
    *(
        "Annexe n° 2",
        "Exhibit No. 3",
        "Anlage Nr. 4:",
        "Point n°\u00a01 :",
        "Chapitre no 2",
        "Section № 5",
        "Item #6:",
        "Punto n.º 7:",
        "Punto n. 8.",
    ),
    *("Item #6:", "Punto n.º 7:", "Punto n. 8."),
    *("TOP 1", "TOP 2.1:", "Zu TOP 4:", "Tagesordnungspunkt 5:", "zu Punkt 6:", "Agenda item 7 -"),
    *(
        "Zu Artikel 1:",
        "Zu § 2 -",
        "Zu Nummer 3.",
        "Zu Buchstabe b:",
        "Zu Doppelbuchstabe aa:",
        "CLÁUSULA PRIMERA.",
        "Cláusula 2ª.",
    ),
    *("PREMIÈRE RÉSOLUTION", "Résolution n° 2 :", "SCENE 3 -", "Scene 4:", "SCÈNE II."),
    *("PRIMERO.-", "SEGUNDA.–", "Tercero. -", "DÉCIMO PRIMERA.-", "Decimocuarto.-"),
    *("Art. 2-bis.", "Articolo 12-ter", "Artikel 3:15a", "Article 9-1 bis", "Article L. 121-3", "Article R12-4"),
]


@pytest.mark.parametrize("number", NUMBERINGS)
@pytest.mark.parametrize("styled", [False, True])
def test_a_numbering_is_split_off(number, styled):
    runs = [(0, len(number), "bold")] if styled else ()
    assert shown(f"{number} De feiten", runs) == [("number", number), ("text", "De feiten")]
    assert shown(f"  {number}\tDe feiten\n", runs) == [("number", number), ("text", "De feiten")]
    assert shown(f"{number}\n", runs) == [("number", number)]


@pytest.mark.parametrize(
    "text",
    [
        *("12 maart 2012", "2012-03-12 is de datum", "1 januari", "10.000 euro", "5 % van de omzet", "3D printing"),
        *(
            "U I T S P R A A K",
            "B   E   S   L",
            "J.A. de Vries",
            "A man walked",
            "I went home",
            "2,5 miljoen",
            "10:30 uur",
            "in Rome",
        ),
        *("Primero fuimos al puerto", "Segunda parte, no", "Tercera, la del puerto"),
        *("Top 10: Ports", "Top 5", "TOP 20 PLAYERS", "Primero. Fuimos al puerto", "Cuarta: la cocina", "Quinta"),
        *("Zu § 5 Abs. 2 gilt", "Zu Punkt 3 der Liste", "Resolution 1325 was adopted", "Resolution 300 dpi"),
        *("Part No. 5: Gasket", "Part # 6: Seal"),
        *("Top 10 ports", "Act 5 of 1998", "Scene 2 was cut", "Bild 3: Boats", "Tableau 2 : Ports", "Bedrijf A leaves"),
        *("12/2042 AW", "1980s", "Summary.", "vi is an editor", "Article about it", "Part of it", "mix", "civil law"),
        *(
            "§",
            "Chapter",
            "'s-Gravenhage",
            "---",
            "* * *",
            "de 1e kamer",
            "1995 was cold",
            "Deelnemers",
            "200808149/1/R",
            "3. November 2012 was cold",
            "d3.select(boats)",
            "v8.serialize(value)",
            "vi.fn()",
            "x.to_json of boats",
            "s3.listBuckets",
        ),
    ],
)
def test_what_is_no_numbering_stays(text):
    assert shown(text) == [("text", text)]


@pytest.mark.parametrize(
    ("numbers", "others"),
    [
        (["Primero.", "Segundo."], ["Cuarta:"]),
        (["PRIMERA:", "SEGUNDA:", "TERCERA:"], ["Cuarto:"]),
        (["Top 3:", "Top 4:"], ["Top 10:"]),
        (["TOP 1", "TOP 2"], ["TOP 50"]),
        ([], ["Quinta:", "Sexta:"]),  # days in Portuguese
        ([], ["Primero:", "Tercero:"]),
    ],
)
def test_what_may_be_a_word_numbers_only_beside_others(numbers, others):
    found = shown("".join(f"{own} Barco\n" for own in [*numbers, *others]))
    split = [part for own in numbers for part in (("number", own), ("text", "Barco"))]
    assert found == [*split, *(("text", f"{own} Barco") for own in others)]


def test_scores_keep_their_colon():
    assert shown("3 : 2 for Lund\n1 : Scope\n") == [
        *(("number", "3"), ("text", ": 2 for Lund")),
        *(("number", "1 :"), ("text", "Scope")),
    ]


def test_numberings_may_have_no_space_behind():
    for number, title in (("a.", "het schip"), ("1.", "print(boats)"), ("A.", "Boats(2)"), ("b.", "boats (small)")):
        assert shown(number + title) == [("number", number), ("text", title)]


def test_letters_without_signs_come_in_series():
    assert shown("a to help\nb to teach") == [
        ("number", "a"),
        ("text", "to help"),
        ("number", "b"),
        ("text", "to teach"),
    ]
    assert shown("I verklaart\nx\nII legt")[0::3] == [("number", "I"), ("number", "II")]
    assert shown("a to help\n  b to teach") == [("text", "a to help"), ("text", "b to teach")]
    assert shown("a to help\nc to teach\nA to") == [("text", "a to help"), ("text", "c to teach"), ("text", "A to")]
    far = "\n".join(["a to help", *["x y"] * 60, "b to teach"])
    assert {kind for kind, _ in shown(far)} == {"text"}


WORDS_LIKE_NUMBERS = [
    *("A Note on Boats", "R Internals", "I Remember", "O Captain", "A “Good” Soup"),
    *("IV Fluids", "CLI Reference", "CV\u00a0Templates", "CIVIL PROCEDURE", "CLI", "CI"),
]


@pytest.mark.parametrize("line", WORDS_LIKE_NUMBERS)
def test_a_capital_before_a_title_is_a_word(line):
    assert ("text", line) in shown(line) and ("text", line) in shown(f"1. Scope\n{line}\n2. Terms")


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("A Boats\nwords\nB Ferries", ["A", "B"]),
        ("\n".join(["  A Boats", *["words"] * 60, "B Ferries"]), ["A", "B"]),
        ("I Boats\nwords\nII Ferries\nwords\nIII Rafts", ["I", "II", "III"]),
        ("IV Boats\nwords\nV Ferries", ["IV", "V"]),
        ("II Boats\nwords\nIII Ferries\nV Rafts", ["II", "III"]),
        ("  II Boats\nwords\nIII\nFerries", ["II", "III"]),
        ("I. Boats\nII Ferries\nIII. Rafts", ["I.", "II", "III."]),
        ("II Boats\nIV. Ferries", ["II", "IV."]),
        ("II Boats\nII.1 Oak", ["II", "II.1"]),
        ("II A. Boats\nIII B. Ferries", ["II", "A.", "III", "B."]),
        ("I\nII\nIII", ["I", "II", "III"]),
        ("IV  Boats", ["IV"]),
        ("IV - Boats", ["IV -"]),
        ("III. Care\nIV. Drugs\nIV Fluids\nV. End", ["III.", "IV.", "V."]),
        ("I think so\nII Boats\n1. Ice", ["1."]),
        ("A Boats\nwords\nA.1 Oak", ["A", "A.1"]),
        ("A - Boats", ["A -"]),
        ("A\tBoats", ["A"]),
        ("A  Boats", ["A"]),
        ("A\u00a0\u00a0Boats", ["A"]),
        ("A\u00a0Boats\nwords\nA\u00a0Note", []),
        ("A\u00a0Boats\nB\u00a0Ice", ["A", "B"]),
        ("A", ["A"]),
        ("1 Scope\n2 Terms\n2.1 Ice\nA Boats\nwords", ["1", "2", "2.1", "A"]),
        ("A Thesis\n1 Scope\n2 Terms\nA Boats\nB Ice", ["1", "2", "A", "B"]),
        ("A Thesis\n1 Scope\n2 Terms\nA Boats\nA.1 Oak", ["1", "2", "A", "A.1"]),
        ("A Thesis\nChapter 1 Boats\nAppendix A Ice\nA.1 Oak", ["Chapter 1", "Appendix A", "A.1"]),
        ("1 Scope\nA Boats\nB Ice\n2 Terms\nA Oak\nB Ash", ["1", "A", "B", "2", "A", "B"]),
        ("1 Scope\n2 Terms\nA Boats\n7.5 8", ["1", "2", "A", "7.5"]),
        ("1. Scope\n2. Terms\nA Note", ["1.", "2."]),
        ("1 Scope\nA Note\n2 Terms", ["1", "2"]),
        ("1 Scope\n2 Terms\nA Note\nA Longer Note", ["1", "2"]),
        ("A Note\nA Longer Note\nC Boats\nB. Terms\nA1 words", ["B."]),
    ],
)
def test_capitals_before_titles_come_in_series(text, numbers):
    assert [part for kind, part in shown(text) if kind == "number"] == numbers


def test_letters_in_series_keep_the_colon_behind_them():
    assert shown("I : Ports\nII : Boats") == [
        ("number", "I :"),
        ("text", "Ports"),
        ("number", "II :"),
        ("text", "Boats"),
    ]


def test_signs_before_numberings():
    assert shown("- 1. x") == [("mark", "-"), ("number", "1."), ("text", "x")]
    assert shown('"1. x"') == [("quote", '"'), ("number", "1."), ("text", 'x"')]
    assert shown("2. a) x") == [("number", "2."), ("number", "a)"), ("text", "x")]
    assert shown("1.De zaak") == [("number", "1."), ("text", "De zaak")]
    assert shown("2. 3 x") == [("number", "2."), ("text", "3 x")]
    assert shown("•punt") == [("mark", "•"), ("text", "punt")]


def test_runs_say_what_is_an_element():
    text = "ab 1 bb\ncc\n\ndd"
    assert shown(text, [(3, 4, "number")]) == [("text", "ab"), ("number", "1"), ("text", "bb"), *shown("cc\n\ndd")]
    assert shown(text, [(0, 10, "paragraph")]) == [("text", "ab 1 bb\ncc"), ("newline", "\n"), ("text", "dd")]
    assert shown("1. b\nc", [(0, 6, "paragraph")]) == [("number", "1."), ("text", "b\nc")]
    assert shown(text, [(0, 10, "other"), (2, 12, "text")]) == [("other", "ab 1 bb\ncc"), *shown("\ndd")]
    assert shown("a b\nc d", [(3, 4, "newline")])[1] == ("newline", "\n")


@pytest.mark.parametrize("date", ["(2026-11-23)", "[2026-11-23]", "2026-11-23"])
def test_dates_number_nothing(date):
    assert shown(f"{date} Boats") == [("text", f"{date} Boats")]
    assert shown(f"1.2.0 {date}") == [("number", "1.2.0"), ("text", date)]


def test_a_style_holds_for_all_of_a_unit():
    text = "1. De feiten zijn\nX"
    bold = {"bold"}
    assert [set(unit.styles) for unit in segment(text, [(0, 2, "bold")])] == [bold, set(), set()]
    assert [set(unit.styles) for unit in segment(text, [(3, 5, "bold"), (6, 17, "bold")])] == [set(), bold, set()]
    both = [(0, 19, "bold"), (3, 17, "italic"), (18, 40, "underline")]
    assert [set(unit.styles) for unit in segment(text, both)] == [bold, {"bold", "italic"}, {"bold", "underline"}]


def test_indentation_in_columns():
    assert [unit.indent for unit in segment("a\n  b\n\tc\n \t 1. d")] == [0, 2, 8, 9, 9]


@pytest.mark.parametrize("line", ["J.P. Balkenende", "No problem here", "Part of it"])
def test_names_and_abbreviations_number_nothing(line):
    assert shown(line) == [("text", line)]


@pytest.mark.parametrize(
    "author",
    ["A. Lund, Rafts.", "B. Moss and C. Roe. Rafts.", "C. D. van den Berg, Rafts.", "J.-P. Hull & B. Moss. Rafts."],
)
@pytest.mark.parametrize("number", ["[3]", "3."])
def test_initials_of_an_author_behind_the_number_of_a_reference_are_no_number(number: str, author: str) -> None:
    assert shown(f"{number} {author}") == [("number", number), ("text", author)]


@pytest.mark.parametrize(
    "line",
    [
        "A. Lund and S. k. Moss. Rafts.",
        "C.D. Hull, B.-k. Roe, Rafts",
        "A. Hull, ‘Rafts’, in Port",
        "B. Moss, C. Roe, Rafts",
        "C. Roe, “Rafts,” 1999.",
    ],
)
def test_authors_at_the_start_of_a_line_are_no_number(line: str) -> None:
    assert shown(line) == [("text", line)]


@pytest.mark.parametrize(
    "line",
    [
        "A. Rights, Duties",
        "B. Fees and B",
        "A. Trade and U.S. Law",
        "A. Taxes, E.U. and others",
        "A. Rights, B.1 too",
        "C. Contact, P.O. Box",
        "C. Media and E. coli",
        "C. Media, E. coli",
        'A. Terms, “Fees” and "ports"',
    ],
)
def test_titles_with_a_comma_keep_their_letter(line: str) -> None:
    assert shown(line) == [("number", line[:2]), ("text", line[3:])]


def test_initials_before_one_name_alone_are_no_number_behind_square_brackets() -> None:
    assert shown("[3] A. Lund. Rafts.") == [("number", "[3]"), ("text", "A. Lund. Rafts.")]
    for line in ("3. A. Fees. None.", "3. A. Rights and duties", "I. A. Scope, Term", "2. (a) Lund, a ferry"):
        assert [kind for kind, _ in shown(line)] == ["number", "number", "text"]


def test_letters_of_roman_numerals_may_look_like_initials():
    assert shown("V.A. Start") == [("number", "V.A."), ("text", "Start")]


@given(
    st.sampled_from(["1. Scope", "• 2. Terms", "§ 3 Rules", "(a) That", "“1. He", "Scope", "- a", "1", "a) 2) Both"]),
    st.text(INVISIBLE, min_size=1, max_size=3),
)
def test_what_cannot_be_seen_hides_no_numbering(line, hidden):
    def told(text):
        return [(unit.kind, text[unit.start : unit.end].strip(INVISIBLE), unit.indent) for unit in segment(text)]

    assert told(f"Before\n{hidden}{line}\nafter") == told(f"Before\n{line}\nafter")
    number = next((unit for unit in segment(line) if unit.kind is Kind.NUMBER), None)
    if number is not None:
        own = line[number.start : number.end]
        assert readings(hidden + own + hidden) == readings(own)
