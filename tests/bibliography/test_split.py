"""Pasted text is divided where its references begin, whatever the layout."""

import textwrap
import time
import unicodedata

import pytest
from helpers.references import pasted, pasted_gold
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.bibliography.split import split_references

TEXTS = [text for *_, text in pasted_gold()]
NAMES = ["Adams", "Baker", "Crane", "Dale", "Ellis", "Frost", "Grant", "Hart", "Irving", "Jones"]
MARKERS = {
    "[1]": "[{}] ",
    "(1)": "({}) ",
    "1.": "{}. ",
    "1)": "{}) ",
    "1": "{} ",
    "1 )": "{} ) ",
    "none": "",
}


def test_the_pasted_bibliography_comes_out_right() -> None:
    found = split_references(pasted())
    assert [(item.first_line, item.last_line, item.marker, item.text) for item in found] == pasted_gold()


@settings(max_examples=60, deadline=None)
@given(
    marker=st.sampled_from(sorted(MARKERS)),
    width=st.integers(30, 100),
    hanging=st.integers(0, 6),
    blank=st.booleans(),
    order=st.permutations(range(len(TEXTS))),
)
def test_any_layout_gives_the_same_references(
    marker: str, width: int, hanging: int, blank: bool, order: list[int]
) -> None:
    if marker == "none" and not (hanging or blank):
        hanging = 2
    texts = [TEXTS[place] for place in order if "-----" not in TEXTS[place]]
    options = {"subsequent_indent": " " * hanging, "break_on_hyphens": False, "break_long_words": False}
    paragraphs = [
        "\n".join(textwrap.wrap(MARKERS[marker].format(number) + text, width, **options))  # type: ignore[arg-type]
        for number, text in enumerate(texts, 1)
    ]
    # "4." and the like may begin a line by chance, right behind the third reference: that cannot be told
    by_chance = any(line.strip().startswith("1. pp.") for text in paragraphs for line in text.split("\n"))
    found = split_references(("\n\n" if blank else "\n").join(paragraphs))
    if not (by_chance and marker == "1."):
        assert [item.text for item in found] == texts
        assert [item.marker for item in found] == [
            MARKERS[marker].format(number + 1).strip() for number in range(len(texts))
        ]


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
@pytest.mark.parametrize("style", ["", "¹", "¹ ", "1 ", "1. ", "a) ", "- ^ ", "- ", "– "])
def test_references_may_begin_with_a_digit_or_a_small_letter(style: str, gap: str) -> None:
    names = ["Lund, A", "3Com", "Roe, B", "20th Century Fox", *["3GPP"][: len(style)], "eBay", "Smith, C"]
    texts = [f"{name}. The sea, told by several. Ulm 1999, p. {place}." for place, name in enumerate(names)]
    signs = {"1": "1234567", "¹": "¹²³⁴⁵⁶⁷", "a": "abcdefg"}.get(style[:1], "1234567" if not style else style[:1] * 7)
    lines = [sign + style[1:] + text.replace("told ", "told\n") for sign, text in zip(signs, texts)]
    assert [found.text for found in split_references(gap.join(lines))] == texts


@pytest.mark.parametrize("style", ["", "¹", "¹ ", "1 ", "- ^ ", "- "])
def test_a_blank_line_parts_references_that_begin_in_small_letters(style: str) -> None:
    names = ["Lund, A", "danah boyd", "Roe, B", "bell hooks"]
    signs = {"1": "1234", "¹": "¹²³⁴", "-": "----"}.get(style[:1], "1234")
    texts = [f"{name}. Sea. 1999." for name in names]
    text = "\n\n".join(sign + style[1:] + text for sign, text in zip(signs, texts))
    assert [found.text for found in split_references(text)] == texts


@pytest.mark.parametrize("markers", ["123", "¹²³", ["¹ ", "² ", "³ "], ["- ^ "] * 3])
def test_figures_that_are_set_higher_are_markers(markers: list[str]) -> None:
    texts = ["A. Lund. Rafts.\n3D boats. 2001.", "Berg, B. Nets. ²2002.", "van Dam, C. Quays. 2003."]
    found = split_references("\n".join(map("".join, zip(markers, texts))))
    assert [(item.text, item.marker) for item in found] == [
        (text.replace("\n", " "), marker) for text, marker in zip(texts, markers)
    ]


def test_names_that_begin_with_a_digit_are_no_markers() -> None:
    texts = [f"3M Company. Annual report. St. Paul: 3M, {year}." for year in (2001, 2002)]
    assert [item.text for item in split_references("\n\n".join(texts))] == texts


def test_one_reference_on_each_line() -> None:
    found = split_references("\n".join(TEXTS))
    assert [item.text for item in found] == TEXTS


@pytest.mark.parametrize(
    "heading",
    [
        "References",
        "REFERENCES:",
        "7. References",
        "Bibliography",
        "Literatur",
        "References to Chapter 3",
        "Works Cited",
    ],
)
def test_headings_are_dropped_and_begin_a_new_layout(heading: str) -> None:
    text = f"{heading}\n[1] A. Bell, One, 1990.\n[2] C. Dent, Two,\n    1991.\n\n{heading}\n"
    text += "E. Fox, Three, 1992.\n\nG. Hay, Four,\n1993.\n"
    assert [item.text for item in split_references(text)] == [
        "A. Bell, One, 1990.",
        "C. Dent, Two, 1991.",
        "E. Fox, Three, 1992.",
        "G. Hay, Four, 1993.",
    ]


@pytest.mark.parametrize(
    "heading",
    [
        *(
            "Bibliografie",
            "Select Bibliography",
            "Works Consulted",
            "Quellen- und Literaturverzeichnis",
            "Primärliteratur",
        ),
        *(
            "Literaturangaben",
            "Bibliographie générale",
            "Sources primaires",
            "Obras citadas",
            "Fuentes",
            "Opere citate",
        ),
        *("Geraadpleegde literatuur", "Bronnen", "Referenties", "Käll- och litteraturförteckning", "Lähteet"),
        *("Piśmiennictwo", "Použitá literatura", "Irodalomjegyzék", "Библиография", "文献", "قائمة المراجع"),
    ],
)
def test_headings_in_many_languages(heading: str) -> None:
    found = split_references(f"{heading}\nLund, K. Ropes. 1999.\nMoss, P. Eels. 2001.")
    assert [one.first_line for one in found] == [2, 3]


def test_blank_lines_between_groups_of_references_on_a_line_each() -> None:
    lines = ["Lund, K. Ropes. 1999.", "Moss, P. Eels. 2001.", "", "Roe, J. Tar. 2003.", "Venn, C. Oars. 2004."]
    assert [one.text for one in split_references("\n".join(lines))] == list(filter(None, lines))
    broken = "Lund, K. Ropes.\nHull: Spurn, 1999.\n\nMoss, P. Eels.\nHull: Spurn, 2001."
    assert [one.first_line for one in split_references(broken)] == [1, 4]


def test_a_new_page_is_no_line_and_no_blank_one() -> None:
    pages = "Lund, K. Ropes and\n\fsails. 1999.\n\nMoss, P. Eels. 2001.\n\nRoe, J.\n\fTar. 2003.\n"
    assert [(one.first_line, one.last_line) for one in split_references(pages)] == [(1, 2), (4, 4), (6, 7)]


def test_a_title_about_references_is_no_heading() -> None:
    (found,) = split_references("A. Bell, On the history of the\nreferences in books and their notes, 1990.\n")
    assert found.text.endswith("of the references in books and their notes, 1990.")


def test_numbers_that_do_not_go_on_counting_are_text() -> None:
    text = "1. A. Bell, Vol.\n7. Annals, 1990.\n2. C. Dent, The year\n1990. A history, 2001.\n3. E. Fox, Three.\n"
    assert [item.marker for item in split_references(text)] == ["1.", "2.", "3."]


@pytest.mark.parametrize(
    "numbers", [[1, 2, 4, 5], [10, 9, 8], [1, 1, 1], [1, 2, 3, 10, 11], [1, 2, 3, 5, 6, 7, 20, 21, 22]], ids=str
)
@pytest.mark.parametrize("marker", ["1.", "[1]", "(1)"])
def test_lists_that_do_not_count_from_one_by_one(numbers: list[int], marker: str) -> None:
    lines = [f"{MARKERS[marker].format(number)}A. Bell, No {at}.\n   Press, 1990." for at, number in enumerate(numbers)]
    found = split_references("\n".join(lines))
    assert [item.marker for item in found] == [MARKERS[marker].format(number).strip() for number in numbers]
    assert [item.text for item in found] == [f"A. Bell, No {at}. Press, 1990." for at in range(len(numbers))]


def test_brackets_may_leave_numbers_out() -> None:
    found = split_references("[1] A. Bell. One.\n[3] C. Dent.\n[10] E. Fox. Three.\n[11] G. Hay. Four.\n")
    assert [item.marker for item in found] == ["[1]", "[3]", "[10]", "[11]"]


def test_letters_with_accents_of_their_own_as_copied_from_a_pdf() -> None:
    text = "Références\n\n[1] Müller, Jörg. Städte. Kösel, März 1998.\n[2] Čapek, Š. O věcech. 1954.\n"
    assert split_references(unicodedata.normalize("NFD", text)) == split_references(text)
    assert len(split_references(text)) == 2


def test_bullets() -> None:
    found = split_references("• A. Bell, One,\n1990.\n• C. Dent, Two, 1991.\n")
    assert [item.text for item in found] == ["A. Bell, One, 1990.", "C. Dent, Two, 1991."]


THREE = ["A. Lee. On ropes. 2004.", "B. Kim. On knots. 2005.", "C. Ono. On cords. 2006."]


@pytest.mark.parametrize(
    "heading",
    [
        *(
            "## References",
            "**References**",
            "VI. REFERENCES",
            "Reference List",
            "List of References",
            "References Cited",
        ),
        *(
            "References (12)",
            "References\n=====",
            "R EFERENCES",
            "Bibliografía",
            "Références bibliographiques",
            "参考文献",
        ),
        *("Список литературы", "Publications", "Selected Publications", "Primary sources", "\ufeffReferences"),
        *("A heading of another kind", "\\begin{thebibliography}{99}"),
    ],
)
@pytest.mark.parametrize("marker", ["[{}] ", "{}. ", "{} ", "- ", "• ", "[Lee0{}] ", "[lee-{}] ", "\\bibitem{{a{}}} "])
def test_a_list_below_any_heading(heading: str, marker: str) -> None:
    lines = "\n".join(marker.format(number) + text for number, text in enumerate(THREE, 1))
    for between in ("\n", "\n\n"):
        assert [item.text for item in split_references(f"{heading}{between}{lines}\n")] == THREE


def test_other_lines_before_a_list_are_references_of_their_own() -> None:
    text = "12 Journal of Ropes 2004\n[1] A. Lee. On ropes. 2004.\n[2] B. Kim. On knots. 2005.\n"
    found = [(item.marker, item.text) for item in split_references(text)]
    assert found == [("", "12 Journal of Ropes 2004"), ("[1]", THREE[0]), ("[2]", THREE[1])]


def test_years_at_the_beginning_of_lines_are_no_markers() -> None:
    text = "Lee, A. On ropes.\n2004. Press.\n\nKim, B. On knots.\n2005. Press.\n\nOno, C. On cords.\n2005. Press.\n"
    assert [item.text[:3] for item in split_references(text)] == ["Lee", "Kim", "Ono"]
    years = "2003 Knots and ropes. Press.\n2004 Ropes and knots. Press."
    assert {item.marker for item in split_references(years)} == {""}


@pytest.mark.parametrize(
    "markers",
    [
        *(["- ", "- ", "- "], ["– ", "– ", "– "], ["1.", "2.", "3."], ["1 ) ", "2 ) ", "3 ) "], ["1 ", "2 ", "3 "]),
        *(["[DBLP:conf/x/lee] ", "[2020kim] ", "[O'no*] "], ["[lee] ", "[kim/a&b] ", "[ono] "]),
        *(["[lee] ", "[kim] ", "[ono] "], ["\\bibitem{a} ", "\\bibitem[B]{b} ", "\\bibitem{c}\n"]),
        *(
            ["１．", "２．", "３．"],
            ["\u200b1. ", "\u200b2. ", "\u200b3. "],
            ["【1】", "【2】", "【3】"],
            ["1、", "2、", "3、"],
        ),
        *(["#1 ", "#2 ", "#3 "], ["1] ", "2] ", "3] "], ["<1> ", "<2> ", "<3> "], ["1.- ", "2.- ", "3.- "]),
        *(["Ref. 1: ", "Ref. 2: ", "Ref. 3: "], ["R1. ", "R2. ", "R3. "]),
    ],
)
@pytest.mark.parametrize("broken", [False, True])
def test_markers_of_many_kinds(markers: list[str], broken: bool) -> None:
    lines = [marker + text.replace("On ", "On\n" if broken else "On ") for marker, text in zip(markers, THREE)]
    assert [item.text for item in split_references("\n".join(lines))] == THREE


@pytest.mark.parametrize("numbers", [["", "", ""], ["1. ", "2. ", "3. "], ["[1] ", "[2] ", "[3] "]])
@pytest.mark.parametrize(
    "links",
    [
        *(["^ ", "^ a b ", "^ "], ["↑ ", "↑ ", "↑ a b c "], ["Jump up ^ ", "Jump up ^ ", "^ Jump up to: a b "]),
        *(
            ["^ ", "^ Jump up to:a b c ", "^ "],
            ["↑ a et b ", "↑ ", "↑ a b et c "],
            ["↑ 1,0 1,1 ", "↑ ", "^ 3.0 3.1 3.2 "],
        ),
    ],
)
def test_links_back_to_the_text_of_an_encyclopedia_are_no_part_of_a_reference(
    numbers: list[str], links: list[str]
) -> None:
    lines = [f"{number}{link}{text}\n" for number, link, text in zip(numbers, links, THREE)]
    assert [item.text for item in split_references("".join(lines))] == THREE
    titles = ["Jump up and down. 2004.", "a test of ropes. 2005.", "2.0 Ropes. 2006."]
    assert [item.text for item in split_references("".join(f"^ {title}\n" for title in titles))] == titles
    assert [item.text for item in split_references("^ de Vries, A. On ropes. 2^ 3. 2004.\n")] == [
        "de Vries, A. On ropes. 2^ 3. 2004."
    ]


def test_a_numbered_list_in_one_paragraph() -> None:
    text = " ".join(f"[{number}] {reference}" for number, reference in enumerate(THREE, 1))
    assert [item.text for item in split_references(text)] == THREE
    assert [item.text for item in split_references(textwrap.fill(text, 40))] == THREE
    text = " ".join(f"{number}. {reference} 2. Aufl." for number, reference in enumerate(THREE, 1))
    assert [item.text for item in split_references(text)] == [f"{reference} 2. Aufl." for reference in THREE]
    for text in ("[1] A. Lee. A reply to [2] and [3]. 2004.", "1. A. Lee. Knots. 2. Aufl. Press 2004."):
        assert len(split_references(text)) == 1


def test_lists_that_are_quoted_in_a_mail() -> None:
    text = "\n".join(f"> [{number}] {reference}" for number, reference in enumerate(THREE, 1))
    assert [item.text for item in split_references(text)] == THREE


def test_addresses_of_a_list_with_keys_are_no_keys() -> None:
    text = "[lee] A. Lee. On ropes. 2004.\n[Online] Press.\n[kim] B. Kim. On knots. 2005.\n"
    assert [item.marker for item in split_references(text)] == ["[lee]", "[kim]"]


@pytest.mark.parametrize(
    "line",
    ["Notes and Records of the Crane Society 58, 2004.", "Literature and Medicine 12(3), 2003.", "Sources", "Notes"],
)
def test_a_line_of_a_reference_is_no_heading(line: str) -> None:
    text = f"[1] A. Bell. On ropes.\n    {line}\n[2] C. Dent. Two. 1991.\n"
    assert [item.text for item in split_references(text)] == [f"A. Bell. On ropes. {line}", "C. Dent. Two. 1991."]


def test_a_number_in_the_text_gives_way_to_the_true_one() -> None:
    text = "1. A. Bell, Annals and\n2. more of them, 1990.\n2. C. Dent, Two, 1991.\n3. E. Fox, Three, 1992.\n"
    assert [item.first_line for item in split_references(text)] == [1, 3, 4]


def test_missing_numbers_and_numbers_set_flush_right() -> None:
    text = " [8] A. Bell, One.\n [9] C. Dent, Two.\n[12] E. Fox,\n     Three, 1992.\n"
    assert [item.marker for item in split_references(text)] == ["[8]", "[9]", "[12]"]


def test_keys_in_brackets() -> None:
    text = "[OP87] S. Orban, A\nthing [2], 1987.\n[Fahlberg, 1990] Fahlberg, S. Other, 1990.\n"
    found = split_references(text)
    assert [(item.marker, item.text) for item in found] == [
        ("[OP87]", "S. Orban, A thing [2], 1987."),
        ("[Fahlberg, 1990]", "Fahlberg, S. Other, 1990."),
    ]


def test_first_lines_may_be_the_indented_ones() -> None:
    text = "   A. Bell, One\nand more, 1990.\n   C. Dent, Two,\n1991.\n"
    assert [item.text for item in split_references(text)] == ["A. Bell, One and more, 1990.", "C. Dent, Two, 1991."]


@pytest.mark.parametrize("text", ["", "\n \n\t\n", "References\n", "[1]\n"])
def test_nothing_is_no_reference(text: str) -> None:
    assert split_references(text) == []


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="Ab1.[](),- \n\t­–", max_size=80))
def test_no_character_is_lost_or_made_up(text: str) -> None:
    def bare(value: str) -> str:
        return "".join(char for char in value if char not in " \n\t­-")

    found = split_references(text)
    assert "".join(bare(item.marker) + bare(item.text) for item in found) in bare(text) or "[" in text
    assert all(item.first_line <= item.last_line for item in found)
    assert all(one.last_line < two.first_line for one, two in zip(found, found[1:]))


LEE, KIM, OE = "Lee, A. On ropes. Hull, 2001.", "Kim, B. On tea in\n  ports. 2002.", "Oe, K. On salt. 2003."


@pytest.mark.parametrize(
    "text, markers",
    [
        (f"Books\n\n1. {LEE}\n2. {KIM}\n\nArticles\n\n1. {OE}\n2. {LEE}", "1. 2. 1. 2."),
        (f"[1] {LEE}\n[2] {KIM}\n\nWeb\n[1] {OE}", "[1] [2] [1]"),
        (f"1. {LEE}\n2. {KIM}\n\n1. {OE}\n2. {LEE}", "1. 2. 1. 2."),
        (f"1. {LEE}\n2. Kim, B. On tea. Vol.\n1. Hull.\n3. {OE}", "1. 2. 3."),
        (f"a) {LEE}\nb) {KIM}\nc) {OE}", "a) b) c)"),
        (f"i. {LEE}\nii. {KIM}\niii. {OE}", "i. ii. iii."),
    ],
)
def test_numbers_that_begin_again_and_letters(text: str, markers: str) -> None:
    found = split_references(text)
    assert [reference.marker.strip() for reference in found] == markers.split()
    assert all(reference.text.endswith(("2001.", "2002.", "2003.", "Hull.")) for reference in found)


@pytest.mark.parametrize("end", [".", ""])
def test_a_selection_of_numbered_references(end: str) -> None:
    text = "\n".join(f"[{number}] Lund K. Ropes {number}.\nUlm: Sea Press, 2003{end}" for number in (3, 17, 22, 40))
    assert [found.marker for found in split_references(text)] == ["[3]", "[17]", "[22]", "[40]"]
    text = "\n\n".join(f"{number}. Lund K. Ropes.\nUlm: Sea Press, 2003." for number in (3, 17, 22, 40))
    assert [found.marker for found in split_references(text)] == ["3.", "17.", "22.", "40."]


@pytest.mark.parametrize(("first", "second"), [("2004", "2003"), ("A", "B")])
def test_years_and_letters_above_references_are_none(first: str, second: str) -> None:
    text = f"{first}\n\nLund, K. Ropes. Sea Press, 2004.\n\n{second}\n\nMoss, P. Eels. Sea Press, 2003."
    assert [found.text[:4] for found in split_references(text)] == ["Lund", "Moss"]
    (found,) = split_references("Lund, K. Ropes and\n\n    2004\n\n    knots. Sea Press.")
    assert found.text == "Lund, K. Ropes and 2004 knots. Sea Press."


@pytest.mark.parametrize(
    "name", ["d'Annaro, Gabriele", "d’Annaro, Gabriele", "al-Ghazi, Abu", "'t Hoof, Gerard", "ibn Tarif, Ali"]
)
@pytest.mark.parametrize("numbers", [("", ""), ("1\t", "2\t")])
def test_family_names_that_begin_with_small_letters(name: str, numbers: tuple[str, str]) -> None:
    lines = ["Aspen, Jo. 2001. On Ropes. Hull: Quay.", f"{name}. 2003. On Ferries. Hull: Quay."]
    found = split_references("\n".join(map("".join, zip(numbers, lines))))
    assert [reference.text for reference in found] == lines


@pytest.mark.parametrize("printed", ["{}\n", "{}.\n", "[{}]\n", "[^{}]: "])
def test_numbers_on_lines_of_their_own_and_of_footnotes(printed: str) -> None:
    works = ["Lund, K. On ropes. Hull, 1998.", "“Quays at low tide.” Harbour 3, 12–15.", "Moss, P. Piers. Kiel, 2003."]
    for title in ("", "References\n"):
        text = title + "\n".join(printed.format(at) + work for at, work in enumerate(works, 1))
        assert [one.text for one in split_references(text)] == works


@pytest.mark.parametrize("dash", ["———.", "---.", "⸻.", "―――.", "—.", "–:", "—,"])
def test_a_dash_for_an_author_begins_a_reference(dash: str) -> None:
    lines = [
        "Crane, Edith. On Ropes. Hull: Tollgate, 1998.",
        f"{dash} Quays. Hull: Tollgate, 1999.",
        "Vogt, K. Nets. 2001.",
    ]
    assert [reference.text for reference in split_references("\n".join(lines))] == lines


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Manuscripts", "Printed Works"),
        ("Cases", "Books and Articles"),
        ("A. Unpublished sources", "B. Published sources"),
        ("I. Handschriften", "II. Zeitschriftenaufsätze"),
        ("Newspapers and Periodicals", "Monographs:"),
        ("Législation", "Ouvrages et articles"),
        ("1.1 Standards", "1.2 Data sets, software"),
    ],
)
@pytest.mark.parametrize("form", ["{}", "\n{}", "[1] {}", "• {}"])
def test_headings_of_kinds_are_no_references(first: str, second: str, form: str) -> None:
    """Neither by themselves nor as a part of one; lists below them are told apart as others are."""
    letters = ["Aspen, Jo. Letters to a Ferryman. York: Quay, 1887.", "Berg, Nils. A Toll Register. Oslo: Fjord, 1912."]
    works = ["Lund, Karl. On Ropes. Hull: Tollgate, 1998.", "Moss, P. Eels and Nets. Kiel, 2003."]
    groups = ("\n".join([title, *map(form.format, own)]) for title, own in ((first, letters), (second, works)))
    found = split_references("Bibliography\n\n" + "\n\n".join(groups))
    assert [one.text for one in found] == [*letters, *works]


def test_a_line_of_a_reference_that_is_called_as_kinds_are() -> None:
    text = "Lund, Karl. On Ropes and Other\nStandards\nand Patents. Hull: Tollgate, 1998.\n\nMoss, P. Eels. 2003."
    assert [one.text[-14:] for one in split_references(text)] == ["ollgate, 1998.", "P. Eels. 2003."]


@pytest.mark.parametrize("role", ["(Ed.)", "(Eds.)", "(eds)", "(Hrsg.)", "(Hg.)", "(Éds.)", "(Dir.)", "(Trans.)"])
def test_what_persons_did_begins_no_reference(role: str) -> None:
    first = ["Moss, P., Lund, K., 2001. On eels. In: Berg, N.", f"{role}, Nets and Ropes. Quay Press, Hull, pp. 12-34."]
    second = "Vogt, R., 2003. Tar. Fjord, Oslo."
    found = split_references("\n".join([*first, second]))
    assert [one.text for one in found] == [" ".join(first), second]


@pytest.mark.parametrize(
    "line",
    [
        *("In: Berg, N. (Ed.), Nets. Oslo: Fjord.", "Available at: https://example.org/a", "[Accessed 3 May 2019]."),
        *("Retrieved May 3, 2019, from https://example.org/a", "Letzter Zugriff: 03.05.2019.", "ISBN 3-16-148410-X."),
        *("DOI: 10.5555/jes.12.3", "Vol. 2. Hull: Tollgate, 2001.", "Ed. N. Berg. Hull: Tollgate, 2001. Print."),
        *("In N. B. Berg (Ed.), Nets. Oslo: Fjord.", "In Berg, N. (Ed.), Nets.", "In Proc. of NETS, pp. 1-9, 2001."),
        *("DOI: 10.5555/jes", "https://doi.org/10.5555/jes"),
        *("(Original work published 1953)", "PhD thesis, Hull, 2001.", "[Online]. Available: https://example.org/a"),
    ],
)
def test_a_line_that_goes_on_behind_a_full_stop(line: str) -> None:
    first, second = "Moss, P. (2001). On eels and on the nets of the North Sea.", "Vogt, R. (2003). Tar. Oslo: Fjord."
    found = split_references("\n".join([first, line, second]))
    assert [one.text for one in found] == [f"{first} {line}", second]


@pytest.mark.parametrize(
    "line", ["In re Gault, 387 U.S. 1 (1967).", "In search of eels. 2003. Hull: Quay.", "Printz, A. Eels. 2003."]
)
def test_a_reference_that_begins_like_a_part_of_one(line: str) -> None:
    first = "Moss, P. (2001). On eels and on the nets of the North Sea."
    assert [one.text for one in split_references(f"{first}\n{line}")] == [first, line]


def test_numbers_of_codes_are_no_markers() -> None:
    lines = ["18 U.S.C. § 1 (2018).", "42 U.S.C. § 1983 (2018).", "17 C.F.R. § 240.10b-5 (2020)."]
    mixed = ["Moss v. Lund, 410 U.S. 113, 120 (1973).", *lines, "Ada Vogt, Ropes, 12 Harv. L. Rev. 345 (1999)."]
    for own in (lines, mixed):
        assert [one.text for one in split_references("\n".join(own))] == own
    numbered = [f"{number} {line}" for number, line in enumerate(mixed, 1)]
    assert [one.text for one in split_references("\n".join(numbered))] == mixed


LISTED = [
    "Moss, P. (2001). On eels and on the nets of the North\n{}Sea. Hull: Quay Press, pp. 12-34.",
    "Vogt, R. (2003). Tar, rope and canvas, or how a ship was kept\n{}dry. Oslo: Fjord.",
    "Lund, K. (1999). The harbour of Delft. Delft: Tollgate Press.",
    "Berg, N. (1987). A long work on the winters of the coast, with\n{}maps. Hull: Quay Press.",
]
WHOLE = [" ".join(text.format("").split()) for text in LISTED]


@pytest.mark.parametrize("form", ["\n214\n", "\n214", "\n          - 214 -\n\n", "\nPage 214 of 300\n", "\n214\n\f"])
@pytest.mark.parametrize("place", range(1, 7))
@pytest.mark.parametrize("kind", ["plain", "hanging", "numbered", "blank lines"])
def test_the_number_of_a_page_is_in_no_reference(form: str, place: int, kind: str) -> None:
    texts = [text.format("    " if kind == "hanging" else "") for text in LISTED]
    if kind == "numbered":
        texts = [f"[{number}] {text}" for number, text in enumerate(texts, 1)]
    lines = ("\n\n" if kind == "blank lines" else "\n").join(texts).split("\n")
    for own in (lines, [*lines[:place], form, *lines[place:]]):
        assert [one.text for one in split_references("\n".join(own))] == WHOLE


def test_numbers_of_many_pages_and_lines_of_the_text() -> None:
    lines = "\n".join(text.format("") for text in LISTED * 12).split("\n")
    for page in (11, 10, 9):  # the third comes first, as it moves the others
        lines.insert(25 * (page - 8), str(page))
    found = split_references("\n".join(lines))
    assert [one.text for one in found] == WHOLE * 12
    assert [one.first_line for one in found][:2] == [1, 3] and found[-1].last_line == 12 * 7 + 3


@pytest.mark.parametrize("after", ["\n", "\n\n"])
def test_numbers_of_references_on_lines_of_their_own_are_no_pages(after: str) -> None:
    text = "\n".join(f"{number}{after}{text.format('')}" for number, text in enumerate(LISTED, 1))
    assert [(one.marker, one.text) for one in split_references(text)] == [(f"{n}", w) for n, w in enumerate(WHOLE, 1)]


@pytest.mark.parametrize(
    "heading",
    [
        *("Список источников и литературы", "Библиографический список", "Література", "Списък на литературата"),
        *("Bibliografía general", "Fuentes y bibliografía", "Referències", "Bibliografia e sitografia"),
        *("Felhasznált irodalom", "Seznam použité literatury", "Literatura i źródła", "Viri in literatura"),
        *("Πηγές και βιβλιογραφία", "Kilder og litteratur", "Lähdeluettelo", "Kasutatud kirjandus"),
        *("المصادر والمراجع", "רשימת מקורות", "参考资料", "Tài liệu tham khảo", "Verwendete Literatur"),
    ],
)
def test_headings_of_more_languages_are_no_references(heading: str) -> None:
    listed = "Lund, I. Book one. Hull, 1999.\n\nOrr, P. Book two. Hull, 2001."
    assert [one.text for one in split_references(f"{heading}\n\n{listed}")] == listed.split("\n\n")


@pytest.mark.parametrize("bullet", ["- ", "* ", "• ", "– ", "  - "])
@pytest.mark.parametrize("number", ["[{}] ", "{}. ", "({}) "])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_bullets_before_numbers_are_no_text(bullet: str, number: str, between: str) -> None:
    """As in Markdown that is made of a PDF, which has each numbered reference as an item of a list."""
    listed = [text for text in TEXTS if "-----" not in text]
    text = between.join(bullet + number.format(place) + one for place, one in enumerate(listed, 1))
    assert [one.text for one in split_references(f"References\n\n{text}")] == listed


def test_bullets_before_years_and_pages_stay() -> None:
    listed = ["2001) A. Lund. Rafts. Oslo.", "1999) B. Moss. Ferries. Rome.", "2003) C. Roe. Boats. Paris."]
    assert [one.text for one in split_references("\n".join(f"• {one}" for one in listed))] == listed
    found = split_references("[1] A. Lund. Rafts, 1\n- 20. 2001.\n[2] B. Moss. Boats, 30\n- 41. 2003.")
    assert [one.text for one in found] == ["A. Lund. Rafts, 1 - 20. 2001.", "B. Moss. Boats, 30 - 41. 2003."]


@pytest.mark.parametrize("place", [1, 5, 9])
def test_a_blank_line_between_references_of_a_line_each_though_one_has_no_year(place: int) -> None:
    """As the end of a page leaves one, in the middle of a list."""
    listed = [f"{name}, A. Ferries of the {name}. Pier Press, 19{number}." for number, name in enumerate(NAMES, 80)]
    listed[3] = "Hull, B. Rafts of the sound. Pier Press, in press."
    text = "\n".join([*listed[:place], "", *listed[place:]])
    assert [one.text for one in split_references(text)] == listed


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_titles_in_quotes_right_behind_a_number(gap: str) -> None:
    names = ("Lund, A. (1999). Ferries. Oslo.", '"Ice of ferries". Boats, 2001.', "van Dam, P. Sea. 2001.")
    found = split_references(gap.join(f"{number}{name}" for number, name in enumerate(names, 1)))
    assert tuple(reference.text for reference in found) == names


EDGES = [  # of two pages
    "\n{page}\n\n\fThe Journal of Rope\n\n",
    "{page}\n\fThe Journal of Rope\n",
    "\n{page}\n\nThe Journal of Rope\n\n",
    "\f{page}   The Journal of Rope\n",
    "\n\fThe Journal of Rope {page}\n\n",
    "Notes on Rope\n{page}\n",
    "\nhttps://ropes.example.org/list   {page}/99\n\fThe Journal of Rope\n\n",
    "\fA. Lund – Rope, page {page} of 99\n",
    "\fThe Journal of Rope (p. {page})\n",
    "\f",
]


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("marker", ["[{}] ", "{} ", ""])
def test_running_heads_are_no_part_of_a_reference(edge: str, marker: str) -> None:
    names = ("Ahl", "Boe", "Dahl", "Ek", "Fahl", "Gale", "Hull", "Ise", "Jahn", "Kerr", "Lund", "Moss", "Nye", "Orr")
    years = range(2001, 2001 + len(names))
    texts = [f"{name}, Ada. The ropes of Ulm and of the others. Tollgate, {year}." for name, year in zip(names, years)]
    printed = [f"{marker.format(n)}{text}".partition(" and ") for n, text in enumerate(texts, 1)]
    lines = [line for before, _, behind in printed for line in (f"{before}\n", f"    and {behind}\n")]
    pages = ["".join(lines[start : start + 11]) for start in range(0, len(lines), 11)]
    whole = pages[0] + "".join(edge.format(page=41 + n) + page for n, page in enumerate(pages[1:]))
    assert [one.text for one in split_references(whole)] == texts


def test_the_same_last_line_at_two_page_breaks_stays() -> None:
    whole = "Ahl, A. Ropes of Ulm.\n  Pier, 2001.\n\fBoe, A. Ropes of Kiel.\n  Pier, 2002.\n\fEk, A. Eels. Ulm 2003."
    assert [one.text for one in split_references(whole)][:2] == [
        "Ahl, A. Ropes of Ulm. Pier, 2001.",
        "Boe, A. Ropes of Kiel. Pier, 2002.",
    ]


def test_last_lines_that_differ_in_their_years_stay() -> None:
    texts = [f"Ahl{k % 3}, A., Ropes of Ulm and the others (Quay Press, {1990 + k % 7})" for k in range(40)]
    pages = ["\n".join(text.replace(" (", "\n  (") for text in texts[start : start + 6]) for start in range(0, 40, 6)]
    numbered = "".join(f"{page}\n\n{number}\n\n" for number, page in enumerate(pages, 12))
    for whole in (numbered, "\n\f".join(pages)):
        assert [one.text for one in split_references(whole)] == texts


def test_more_particles_begin_a_reference_behind_a_bare_number() -> None:
    names = ("Ahl", "degli Arienti", "dalla Chiesa", "do Amaral", "vom Berg", "te Water")
    lines = [f"{n} {name}, A. Ropes of Ulm. Tollgate, 2001." for n, name in enumerate(names, 1)]
    assert [one.text.partition(",")[0] for one in split_references("\n".join(lines))] == list(names)


def test_a_text_of_running_heads_alone_takes_no_time() -> None:
    begin = time.process_time()
    assert split_references("Head\n\n\f" * 8000) == []
    assert time.process_time() - begin < 3


@pytest.mark.parametrize("title", ["24th Raft Symposium", "International Raft Symposium"])
def test_proceedings_go_on_in_the_next_line(title: str) -> None:
    references = [f"Lund, A. 2003. Rafts at sea. In Proc. {title}, 750-755.", "Moss, B. 2004. Boats. Hull: Quay."]
    text = "\n".join(references).replace("Proc. ", "Proc.\n")
    assert [found.text for found in split_references(text)] == references
