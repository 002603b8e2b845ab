"""PDF: lines in reading order, without what pages repeat, put together to paragraphs; headings that bookmarks name."""

import math
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from itertools import chain, product
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import Any

import pytest
import spacy
from helpers import printing
from helpers.paths import ROOT
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf import CRFError, SectionCorpus, read_layout
from spacy_crf.sections.formats.columns import read_lines
from spacy_crf.sections.formats.paragraphs import find_paragraphs, write_paragraphs
from spacy_crf.sections.formats.printed import PrintedWord
from spacy_crf.sections.layout import DocumentLayout, LayoutBuilder, to_doc

pytest.importorskip("pypdfium2", reason="PDF is read by pypdfium2")
pytest.importorskip("reportlab", reason="PDFs are made by reportlab")
CORPUS = ROOT / "corpus/section_parser"
BODY = "The harbour master keeps a list of all boats that lie at the quay and may move them at any time of the day."
FONT = "Helvetica"


def printed(tmp_path: Path, draw: Callable[[Any], None], **settings: Any) -> DocumentLayout:
    """What is read of a PDF that a function draws."""
    from reportlab.pdfgen.canvas import Canvas

    file_ = BytesIO()
    canvas = Canvas(file_, pagesize=printing.A4, **settings)
    draw(canvas)
    canvas.save()
    (tmp_path / "a.pdf").write_bytes(file_.getvalue())
    return read_layout(tmp_path / "a.pdf")


def shown(layout: DocumentLayout) -> list[tuple[str, str]]:
    return [(layout.text[start:end], style) for start, end, style in layout.runs]


def at(canvas: Any, left: float, height: float, *lines: str, font: str = FONT, size: float = 10) -> float:
    """Draw lines below each other; the height of the next one."""
    canvas.setFont(font, size)
    for line in lines:
        canvas.drawString(left, height, line)
        height -= 1.2 * size
    return height


def test_figures_beside_a_digit_that_are_set_higher_or_lower_are_written_so(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        for left, rise, size, text in ((60, 0, 10, "10"), (71.1, 4, 7, "6"), (75, 0, 10, "m"), (83.3, 4, 7, "2")):
            at(canvas, left, 780 + rise, text, size=size)
        at(canvas, 87.2, 780, ",", size=10)
        at(canvas, 94, 780, "10", size=10)
        at(canvas, 105.1, 778, "2", size=7)
        for left, rise, size, text in ((60, 4, 7, "2"), (64, 0, 10, "1999"), (94, 0, 10, "SO"), (108.5, -2, 7, "4")):
            at(canvas, left, 768 + rise, text, size=size)
        at(canvas, 112.5, 772, "2-", size=7)

    assert printed(tmp_path, draw).text == "10⁶m2, 10₂\n²1999 SO₄²⁻\n"


def test_lines_become_paragraphs(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        height = at(canvas, 60, 780, "1. Mooring", font="Helvetica-Bold", size=14)
        height = at(
            canvas, 60, height, "The harbour master keeps a register of all the boats at the quay, with the infor-"
        )
        height = at(
            canvas, 60, height, "mation that the owners of well-known boats gave, and with the date on which these"
        )
        height = at(
            canvas,
            60,
            height,
            "came in.",
            "(a) A boat that stays for long pays by the year, and has a place of its own at the quay;",
        )
        at(canvas, 60, height, "(b) the others pay by the day.")
        at(canvas, 84, height - 40, "Set apart, and indented.")

    layout = printed(tmp_path, draw)
    assert layout.text.split("\n") == [
        "1. Mooring",
        "The harbour master keeps a register of all the boats at the quay, with the information that the owners of "
        "well-known boats gave, and with the date on which these came in.",
        "(a) A boat that stays for long pays by the year, and has a place of its own at the quay;",
        "(b) the others pay by the day.",
        "",
        "",
        "     Set apart, and indented.",
        "",
    ]
    assert layout.runs == ((0, 10, "bold"), (0, 10, "large1"))


def name(*numbers: int) -> str:
    """A word for a place."""
    return "x".join("abcdefghi"[number] for number in numbers)


def test_columns_are_read_in_order_and_what_pages_repeat_is_left_out(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        for page in range(4):
            at(canvas, 60, 810, "Rules of the port" if page % 2 else "Salterne Harbour Trust", size=8)
            at(canvas, 280, 30, f"- {page + 4} -", size=8)
            if page == 0:
                at(canvas, 60, 780, "A title that goes over both of the columns of this page, in larger type", size=14)
            for column, left in enumerate((60, 310)):
                lines = [f"Line {name(page, column, line)} of a text that goes to the edge" for line in range(9)]
                at(canvas, left, 740, *lines)
            canvas.showPage()

    text = " ".join(printed(tmp_path, draw).text.split())
    places = [text.index(name(*where)) for where in product(range(4), range(2), range(9))]
    assert places == sorted(places) and text.startswith("A title")
    assert "Rules" not in text and "Trust" not in text and " - " not in text


@pytest.mark.parametrize("lines", [2, 3])
@pytest.mark.parametrize(("letter", "gap"), [("T", 0), ("T", 3), ("“T", 1), ("A", 4), ("A", 0), ("L", 0)])
def test_initials_of_several_lines_begin_their_word(tmp_path: Path, lines: int, letter: str, gap: float) -> None:
    from reportlab.pdfbase.pdfmetrics import stringWidth

    size = (8.4 * (lines - 1) + 5) / 0.7
    width = stringWidth(letter, FONT, size) + gap
    words = f"{'’Ulm' if letter == 'L' else 'he'} {' '.join([BODY] * 3)}".split()

    def draw(canvas: Any) -> None:
        for left in (60, 330):  # columns
            at(canvas, left, 780 - 8.4 * (lines - 1), letter, size=size)
            waiting, number = words[:], 0
            while waiting:
                start = left + width * (number < lines)
                line = [waiting.pop(0)]
                while waiting and start + stringWidth(" ".join([*line, waiting[0]]), FONT, 7) < left + 230:
                    line.append(waiting.pop(0))
                at(canvas, start, 780 - 8.4 * number, " ".join(line), size=7)
                number += 1
            at(canvas, left, 700, *[f"Line {k} of a text in a column" for k in "abcd"], size=7)

    paragraph = letter + " " * (letter == "A" and gap > 2) + " ".join(words)
    assert printed(tmp_path, draw).text.split("\n").count(paragraph) == 2


def test_numbers_of_lines_are_left_out(tmp_path: Path) -> None:
    verses = [f"The boat of the {name(k // 9, k % 9)} came home in the rain" for k in range(30)]

    def verse(canvas: Any, number_at: float) -> None:
        for page in range(2):
            at(canvas, 60, 810, "First voice", size=10)
            for place, line in enumerate(verses[15 * page : 15 * (page + 1)]):
                at(canvas, 60, 790 - 12 * place, line)
                if (number := 15 * page + place + 1) % 5 == 0:
                    at(canvas, number_at, 790 - 12 * place, str(number), size=8)
            canvas.showPage()

    for number_at in (40, 420):
        text = printed(tmp_path, lambda canvas, place=number_at: verse(canvas, place)).text
        assert text.replace("First voice", "").split() == " ".join(verses).split()

    words = " ".join(f"{BODY} Rule {name(*where)} follows." for where in product(range(3), range(6))).split()
    lines = [" ".join(words[start : start + 14]) for start in range(0, len(words), 14)]

    def numbered(canvas: Any) -> None:
        for page in range(2):
            for place, line in enumerate(lines[18 * page :][:18], 1):
                at(canvas, 40 - 5.6 * (place > 9), 790 - 24 * place, str(place))
                at(canvas, 60, 790 - 24 * place, line)
            canvas.showPage()

    assert printed(tmp_path, numbered).text.split() == words

    def record(canvas: Any) -> None:
        for page in range(2):
            for place in range(12):
                at(canvas, 40 - 5.6 * (place > 8), 790 - 24 * place, str(place + 1))
                spoken = ("Q. And where was the boat", f"of the {name(page, place // 2)} then?")[place % 2]
                at(canvas, 60, 790 - 24 * place, spoken)
            canvas.showPage()

    assert not any(word.isdecimal() for word in printed(tmp_path, record).text.split())


@pytest.mark.parametrize("numbers", [range(1, 31), range(1900, 2050, 5)])
def test_numbers_of_items_stay(tmp_path: Path, numbers: range) -> None:
    def draw(canvas: Any) -> None:
        for page in range(2):
            for place, number in enumerate(numbers[15 * page : 15 * (page + 1)]):
                at(canvas, 40, 790 - 12 * place, str(number))
                at(canvas, 80, 790 - 12 * place, f"ropes for the boat {name(number // 9 % 9, number % 9)}")
            canvas.showPage()

    text = printed(tmp_path, draw).text.split()
    assert [word for word in text if word.isdecimal()] == [str(number) for number in numbers]


@pytest.mark.parametrize(
    ("numbers", "items"),
    [
        (
            range(1, 21, 2),
            [BODY + " It is kept.", "The answer is the same for the boats in the river as it was for those at sea."],
        ),
        (range(5, 55, 5), [BODY * 4]),
        (range(1950, 1970), ["born in a village by the sea as the third child", "goes to the capital with her aunt"]),
        (
            range(1, 21),
            ["Boats", "the masts of all boats in the harbour, and their ropes", "Oars and sails that are kept"],
        ),
        (
            range(1, 21),
            ["The list of the boats is kept by the master.", "Each boat that leaves is named in it at once."],
        ),
    ],
)
@pytest.mark.parametrize("is_left", [True, False])
def test_numbers_of_items_that_stand_outside_of_the_text_stay(
    tmp_path: Path, numbers: range, items: list[str], is_left: bool
) -> None:
    def draw(canvas: Any) -> None:
        canvas.setFont(FONT, 10)
        height = at(canvas, 80, 800, *wrap(BODY * 3, 60)) - 10
        for place, number in enumerate(numbers):
            if height < 100:
                canvas.showPage()
                height = 800
            lines = wrap(items[place % len(items)], 60)
            at(canvas, 50 if is_left else 480, height, str(number))
            height = at(canvas, 80, height, *lines)

    text = printed(tmp_path, draw).text.split()
    assert sorted(int(word) for word in text if word.isdecimal()) == list(numbers)


def test_numbers_of_tables_that_begin_anew_on_each_page_stay(tmp_path: Path) -> None:
    sizes = (12, 17, 14)

    def draw(canvas: Any) -> None:
        for page, size in enumerate(sizes):
            for place in range(size):
                at(canvas, 40, 790 - 24 * place, str(place + 1))
                at(canvas, 60, 790 - 24 * place, f"the boat {name(page, place % 9)}")
            canvas.showPage()

    assert sum(word.isdecimal() for word in printed(tmp_path, draw).text.split()) == sum(sizes)


def test_numbers_of_the_lines_of_one_page_are_left_out(tmp_path: Path) -> None:
    words = [f"{name(*where)} and {BODY}" for where in product(range(3), range(3))]
    lines = wrap(" ".join(words), 70)

    def draw(canvas: Any) -> None:
        at(canvas, 60, 810, "The List", size=16)
        for place, line in enumerate(lines, 1):
            at(canvas, 45, 790 - 18 * place, str(place), size=6)
            at(canvas, 60, 790 - 18 * place, line, font="Courier")

    assert printed(tmp_path, draw).text.split() == ["The", "List", *" ".join(words).split()]


def test_small_signs_beside_large_type_are_raised(tmp_path: Path) -> None:
    from reportlab.pdfbase.pdfmetrics import stringWidth

    def draw(canvas: Any) -> None:
        at(canvas, 60, 780, "The Boats", size=26)
        at(canvas, 61 + stringWidth("The Boats", FONT, 26), 791, "1", size=10)
        at(canvas, 60, 740, "19", size=30)
        at(canvas, 61 + stringWidth("19", FONT, 30), 751, "99", size=12)
        at(canvas, 60, 700, *wrap(BODY * 3, 90))

    assert printed(tmp_path, draw).text.split()[:4] == ["The", "Boats1", "19⁹⁹", BODY.split()[0]]


def test_large_letters_that_begin_no_word_stay(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        at(canvas, 60, 786, "B", size=26)
        at(canvas, 82, 800, "Boats are named in the list.", "Bread is baked at six.")
        at(canvas, 60, 760, *wrap(BODY * 3, 90))
        at(canvas, 90, 700, "Rules and Ropes", size=24)
        at(canvas, 72, 679, "A Tale of Boats", size=24)
        at(canvas, 60, 640, *wrap(BODY * 3, 90))

    text = printed(tmp_path, draw).text
    assert "BBoats" not in text and "A Tale of Boats" in text


def test_a_heading_in_large_type_stays_in_its_column(tmp_path: Path) -> None:
    """The gutter of LaTeX's two columns is narrower than a letter of it is high."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    line = "The harbour master keeps a list of all boats at quay"
    right = 60 + stringWidth(line, FONT, 10) + 10

    def draw(canvas: Any) -> None:
        for place in range(12):
            at(canvas, 60, 780 - 12 * place, line)
            if place != 6:
                at(canvas, right, 780 - 12 * place, line)
        at(canvas, right, 780 - 12 * 6, "2 Boats", font="Helvetica-Bold", size=14.4)

    text = printed(tmp_path, draw).text
    lines = [found for found in text.split("\n") if found]
    assert "2 Boats" in lines and text.split().count("harbour") == 23
    assert text[: text.index("2 Boats")].split().count("harbour") == 12 + 6


def test_notes_at_the_foot_of_pages_follow_the_paragraph_that_the_page_ends_with(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        height = at(canvas, 60, 780, "1. Quays", font="Helvetica-Bold", size=12)
        height = at(canvas, 60, height, "The harbour master keeps a list of all boats,")
        canvas.setFont(FONT, 6)
        canvas.drawString(
            60 + canvas.stringWidth("The harbour master keeps a list of all boats,", FONT, 10), height + 15, "1"
        )
        at(canvas, 60, height, *("of whatever size they are, and of all of their owners and" for _ in range(3)))
        at(
            canvas,
            60,
            100,
            "1 See the rules of the port, which the town has made, and",
            "which are kept in the tower.",
            size=8,
        )
        at(canvas, 60, 78, "2 Rafts are boats.", size=8)
        canvas.showPage()
        at(canvas, 60, 780, "of those that stay for the night at the quay.", "2. Tolls follow.")

    layout = printed(tmp_path, draw)
    notes = [
        "1 See the rules of the port, which the town has made, and which are kept in the tower.",
        "2 Rafts are boats.",
    ]
    *_, paragraph, first, second, last = filter(None, layout.text.split("\n"))
    assert paragraph.endswith("and of those that stay for the night at the quay.") and last == "2. Tolls follow."
    assert [first, second] == notes == [text for text, style in shown(layout) if style == "other"]


@pytest.mark.parametrize("sign", ["", "2"])
def test_small_type_without_a_sign_in_the_text_is_no_note(tmp_path: Path, sign: str) -> None:
    def draw(canvas: Any) -> None:
        at(canvas, 60, 780, *(f"The harbour master keeps a list of all boats{sign}" for _ in range(4)))
        at(canvas, 60, 100, "1 See the rules of the port.", size=8)

    assert not [style for _, style in shown(printed(tmp_path, draw)) if style == "other"]


@pytest.mark.parametrize(
    ("gap", "rows"),
    [
        (300, ["1 Lund 12 14", "2 Oslo 15 17", "3 Bergen 20 22", "4 Malmo 20 23"]),
        (300, ["2 boats MAJOR", "2 boats MINOR", "4 rafts LIST", "4 rafts MORE"]),
        (300, ["2 kg of boats", "12 kg of rafts", "1 kg of ships"]),
        (0, ["1. J. Lund. Boats. 2001.", "2. K. Oslo. Rafts. 2002."]),
    ],
)
def test_tables_and_references_in_small_type_are_no_notes(tmp_path: Path, gap: int, rows: list[str]) -> None:
    def draw(canvas: Any) -> None:
        text = ["The harbour master keeps a list of all boats1 and of all rafts2"] * 4
        height = at(canvas, 60, 780, *text, "and of ships.", *([] if gap else ["References"]))
        at(canvas, 60, height - gap, *rows, size=8)

    layout = printed(tmp_path, draw)
    assert not [style for _, style in shown(layout) if style == "other"]
    assert [line for line in layout.text.split("\n") if line in rows] == rows


@pytest.mark.parametrize("is_whole", [True, False])
def test_small_type_goes_on_with_a_note_that_has_not_ended(tmp_path: Path, is_whole: bool) -> None:
    note, below = "1 See the rules of the port" + "." * is_whole, "Boats in the harbour and at the quay."

    def draw(canvas: Any) -> None:
        at(canvas, 60, 780, *["The harbour master keeps a list of all boats1 and of all rafts."] * 4)
        at(canvas, 60, 100, note, size=8)
        canvas.showPage()
        at(canvas, 60, 780, *["The harbour master keeps another list, of all of the ships."] * 4)
        at(canvas, 60, 100, below, size=8)

    shown_lines = printed(tmp_path, draw).text.split("\n")
    assert [line for line in shown_lines if "1 See" in line] == [note if is_whole else f"{note} {below}"]
    assert (below in shown_lines) is is_whole


def test_what_looks_like_furniture_but_is_none_stays(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        for page, number in enumerate((7, 3, 8)):  # figures that do not count pages
            at(
                canvas,
                60,
                780,
                f"{number}",
                f"Table of page {page}",
                *(f"Row {name(page, row)} of the table, with some words." for row in range(3)),
            )
            canvas.showPage()

    text = printed(tmp_path, draw).text
    assert [line for line in text.split("\n") if line.isdigit()] == ["7", "3", "8"] and text.count("Row") == 9


def test_chapters_of_one_page_that_count_as_the_pages_do_are_no_running_heads(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        for chapter, title in enumerate(("Quays", "Tolls", "Rafts"), 1):
            at(canvas, 60, 820, f"Page {chapter}", size=8)
            at(canvas, 60, 740, f"Chapter {chapter}", size=20)
            at(canvas, 60, 690, title, size=24)
            at(canvas, 60, 640, *(f"The {title} of the port are on a list of the harbour master," for _ in range(9)))
            at(canvas, 60, 40, str(chapter), size=20)
            canvas.showPage()

    text = printed(tmp_path, draw).text
    assert [line for line in text.split("\n") if line and "port" not in line] == [
        *("Chapter 1", "Quays", "Chapter 2", "Tolls", "Chapter 3", "Rafts")
    ]


@pytest.mark.parametrize("gap, text", [(1.5, "all appointed boats"), (3.0, "all ap - pointed boats")])
def test_a_hyphen_at_the_end_of_a_line_may_stand_apart(gap: float, text: str) -> None:
    words, lines = list[PrintedWord](), ("The master keeps a list of all ap", "pointed boats, of whatever size.")
    for base, line in zip((100.0, 113.0), lines):
        left = 60.0
        for word in line.split():
            words.append(PrintedWord(word, left, left + 5 * len(word), base, 10.0))
            left += 5 * len(word) + 3
    end = max(word.right for word in words if word.base == 100.0)
    words.append(PrintedWord("-", end + gap, end + gap + 3, 100.0, 10.0))
    builder = LayoutBuilder()
    write_paragraphs(find_paragraphs(read_lines([words])), builder)
    assert text in builder.build().text


def test_bookmarks_name_headings(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        for number, (title, shown, level) in enumerate(
            [("Scope of these rules", "1 Scope of these rules", 0), ("1.1 Boats", "1.1 Boats", 1), ("None", "Term", 0)]
        ):
            canvas.bookmarkPage(str(number))
            canvas.addOutlineEntry(title, str(number), level)
            at(canvas, 60, 780 - 100 * number, shown, "", BODY)

    layout = printed(tmp_path, draw)
    named = [(layout.text[start:end], style) for start, end, style in layout.runs]
    assert named == [("1 Scope of these rules", "heading1"), ("1.1 Boats", "heading2")]
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"markup": "trust"})
    tree = nlp.get_pipe("section_parser")(to_doc(nlp.vocab, layout))._.section_tree
    assert [(node.title, node.level) for node in tree.walk()] == [("Scope of these rules", 1), ("Boats", 2)]


def test_underlined_words_and_pages_that_lie_on_their_side(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        canvas.setPageRotation(90)
        canvas.rotate(90)
        canvas.translate(0, -printing.A4[0])
        at(canvas, 60, 500, "Facts", BODY)
        canvas.line(60, 498, 85, 498)
        canvas.rotate(90)
        at(canvas, 100, -30, "This runs up the margin.")

    layout = printed(tmp_path, draw)
    assert layout.text == f"Facts\n{BODY}\n" and layout.runs == ((0, 5, "underline"),)


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_that_stands_on_its_side_among_others_is_turned(tmp_path: Path, angle: int) -> None:
    """As wide tables do, which the page is not turned for."""

    texts = [
        ["Boats", BODY],
        ["Tides", "Low water is at six, and high water at noon."],
        ["Nets", "They dry on the wall."],
    ]

    def draw(canvas: Any) -> None:
        for page, lines in enumerate(texts):
            if page == 1:
                canvas.translate(300, 400)
                canvas.rotate(angle)
                canvas.translate(-300, -400)
            at(canvas, 60, 500, *lines)
            canvas.line(60, 498, 75, 498)
            canvas.showPage()

    layout = printed(tmp_path, draw)
    assert [line.strip() for line in layout.text.split("\n")[:-1]] == [line for lines in texts for line in lines]
    assert [style for *_, style in layout.runs] == ["underline"] * 3


def pdf(draw: Callable[[Any], None], **settings: Any) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    file_ = BytesIO()
    canvas = Canvas(file_, **settings)
    draw(canvas)
    canvas.save()
    return file_.getvalue()


@pytest.mark.parametrize(
    "data, code",
    [
        (b"%PDF-1.4\n", "CRF562"),
        (b"no PDF", "CRF562"),
        (pdf(lambda canvas: at(canvas, 60, 700, BODY))[:400], "CRF562"),
        (pdf(lambda canvas: canvas.rect(60, 60, 100, 100)), "CRF564"),
        (pdf(lambda canvas: at(canvas, 60, 700, BODY), encrypt="secret"), "CRF563"),
    ],
)
def test_what_has_no_text_is_refused(tmp_path: Path, data: bytes, code: str) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(CRFError, match=rf"^\[{code}\].*a\.pdf"):
        read_layout(tmp_path / "a.pdf")


@pytest.mark.parametrize("suffix, library", [("pdf", "pypdfium2"), ("docx", "docx")])
def test_without_its_library_a_format_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(CRFError, match=rf"^\[CRF561\].*spacy_crf\[{suffix}\]"):
        read_layout(tmp_path / f"a.{suffix}")


def test_a_pdf_has_no_gold(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(lambda canvas: at(canvas, 60, 700, BODY)))
    with pytest.raises(CRFError, match=r"CRF970.*a\.pdf.*gold"):
        list(SectionCorpus(tmp_path / "a.pdf").read_docs(spacy.blank("en").vocab))


@given(st.lists(st.lists(st.sampled_from(BODY.split()), min_size=1, max_size=12), max_size=40), st.randoms())
def test_the_order_of_words_in_the_file_does_not_count(rows: list[list[str]], random: Random) -> None:
    words = []
    for number, row in enumerate(rows):
        left = 60.0
        for text in row:
            words.append(PrintedWord(text, left, left + 5 * len(text), 12.0 * number, 10))
            left += 5 * len(text) + 3
    shuffled = random.sample(words, len(words))
    lines = read_lines([shuffled])
    assert [line.words for line in lines] == [line.words for line in read_lines([words])]
    builder = LayoutBuilder()
    places = write_paragraphs(find_paragraphs(lines), builder)
    text = builder.build().text
    assert text.split() == [text for row in rows for text in row]
    assert all(text[start - 1 : start].strip() == "" and text[end] == "\n" for start, end in places)


@pytest.mark.parametrize("columns", [1, 2])
def test_documents_of_the_corpus_have_the_same_text(tmp_path: Path, columns: int) -> None:
    for path in sorted(CORPUS.rglob("statute_*.xml"))[:4]:
        layout = read_layout(path)
        (tmp_path / "a.pdf").write_bytes(printing.print_by_reportlab(layout, columns))
        assert "".join(read_layout(tmp_path / "a.pdf").text.split()) == "".join(layout.text.split())


def test_a_line_that_sticks_out_does_not_part_the_others() -> None:
    def line(number: int, *widths: float) -> list[PrintedWord]:
        places = [60 + sum(widths[:k]) for k in range(len(widths))]
        return [PrintedWord("words", left, left + width - 3, 12.0 * number, 10) for left, width in zip(places, widths)]

    rows = [line(number, 150, 150, 97 + number % 3) for number in range(150)]
    rows[70] = line(70, 300, 300)
    assert len(find_paragraphs(read_lines([list(chain(*rows))]))) == 1


@pytest.mark.slow
def test_sections_of_all_documents_are_found_again() -> None:
    command = [sys.executable, "-m", "tests.printed"]
    table = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert table and all(float(share) >= 90 for row in table for share in row.strip("| ").split(" | ")[2:])


def test_time_is_linear_in_the_lines_of_a_page() -> None:
    words = [
        PrintedWord("wordword", left, left + 20, 12.0 * line, 10)
        for line in range(20_000)
        for left in (60, 84, 300, 324)
    ]
    lines = read_lines([words])
    assert len(lines) == 40_000 and math.isfinite(lines[-1].base)


@pytest.mark.parametrize("head", ["Harbour report 2020 {}", "Page {}", "The ferry | {}"])
@pytest.mark.parametrize("place", [820, 30])
def test_running_heads_in_large_type_are_left_out(tmp_path: Path, head: str, place: int) -> None:
    def draw(canvas: Any) -> None:
        for page, title in enumerate(("Quays", "Tolls", "Rafts"), 1):
            at(canvas, 60, place, head.format(page), size=16)
            at(canvas, 60, 740, *(f"The {title} of the port are on a list of the harbour master," for _ in range(9)))
            canvas.showPage()

    assert all("port are" in line for line in printed(tmp_path, draw).text.split("\n") if line)


@pytest.mark.parametrize("head", ["Lecture {}", "WEEK {}", "Semana {}", "Chapter {}", "Day {}:", "Lektion {}."])
@pytest.mark.parametrize("numbers", [(1, 2, 3), ("I", "II", "III")])
def test_a_word_with_a_number_in_large_type_is_a_heading(
    tmp_path: Path, head: str, numbers: tuple[object, ...]
) -> None:
    def draw(canvas: Any) -> None:
        for page, title in enumerate(("Quays", "Tolls", "Rafts"), 1):
            at(canvas, 60, 820, head.format(numbers[page - 1]), size=16)
            at(canvas, 60, 740, *(f"The {title} of the port are on a list of the harbour master," for _ in range(9)))
            canvas.showPage()

    lines = printed(tmp_path, draw).text.split("\n")
    assert [line for line in lines if line and "port are" not in line] == [head.format(number) for number in numbers]
