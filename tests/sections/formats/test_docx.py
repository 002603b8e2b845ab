"""DOCX: headings in any language, numbers of lists as Word shows them, tables, and what is left out."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_crf import CRFError, SectionCorpus, read_layout
from spacy_crf.sections.layout import DocumentLayout, to_doc

docx = pytest.importorskip("docx", reason="DOCX is read by python-docx")
FIXTURE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
MATHS = "http://schemas.openxmlformats.org/officeDocument/2006/math"
SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def read(tmp_path: Path, write: Callable[[Any], None]) -> DocumentLayout:
    """What is read of a document that a function fills."""
    document = docx.Document()
    write(document)
    document.save(str(tmp_path / "a.docx"))
    return read_layout(tmp_path / "a.docx")


def element(xml: str) -> Any:
    from docx.oxml import parse_xml

    return parse_xml(
        xml.replace(">", f" {SPACE}>", 1)
        if "/>" not in xml[: xml.index(">") + 1]
        else xml.replace("/>", f" {SPACE}/>", 1)
    )


def shown(layout: DocumentLayout) -> list[tuple[str, str]]:
    return [(layout.text[start:end], style) for start, end, style in layout.runs]


def test_headings_tables_and_typography(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        document.add_heading("Rules of the port", 0)
        document.add_heading("Scope", 1)
        paragraph = document.add_paragraph("All ")
        paragraph.add_run("boats").bold = True
        paragraph.add_run(" and\nrafts")
        document.add_paragraph()
        table = document.add_table(2, 2)
        for row, texts in zip(table.rows, (("Boat", "Fee"), ("Raft", "none"))):
            for cell, text in zip(row.cells, texts):
                cell.text = text
        document.add_heading("Deep", 9)
        document.add_paragraph("Indented").paragraph_format.left_indent = docx.shared.Pt(36)
        large = document.add_paragraph().add_run("LARGE")
        large.font.size = docx.shared.Pt(20)
        document.sections[0].header.paragraphs[0].text = "Head"
        document.sections[0].footer.paragraphs[0].text = "Foot"

    layout = read(tmp_path, write)
    assert layout.text == (
        "Rules of the port\nScope\nAll boats and\nrafts\n\nBoat\tFee\nRaft\tnone\nDeep\n      Indented\nLARGE\n"
    )
    assert shown(layout) == [
        *[("boats", "bold"), ("Boat\tFee\nRaft\tnone", "other"), ("LARGE", "large1")],
        *[("Rules of the port", "heading1"), ("Scope", "heading2"), ("Deep", "heading9")],
    ]


def test_headings_are_told_by_their_outline_level_or_name_in_any_language(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        styles = document.styles
        styles["Heading 2"].element.set(docx.oxml.ns.qn("w:styleId"), "berschrift2")
        based = styles.add_style("Kop van ons", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
        based.base_style = styles["Heading 1"]
        own = styles.add_style("Abschnitt", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
        own.element.get_or_add_pPr().append(element('<w:outlineLvl w:val="2"/>'))
        text = styles.add_style("Body like a heading", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH)
        text.base_style = styles["Heading 1"]
        text.element.get_or_add_pPr().append(element('<w:outlineLvl w:val="9"/>'))
        for name in ("Heading 2", "Kop van ons", "Abschnitt", "Body like a heading", "Normal"):
            document.add_paragraph(name, style=name)
        document.add_paragraph("Own")._p.get_or_add_pPr().append(element('<w:outlineLvl w:val="4"/>'))

    assert [found for found in shown(read(tmp_path, write)) if found[1].startswith("heading")] == [
        *[("Heading 2", "heading2"), ("Kop van ons", "heading1"), ("Abschnitt", "heading3"), ("Own", "heading5")]
    ]


LEVELS = "".join(
    f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
    for depth, (kind, text) in enumerate(
        [("upperRoman", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"), ("bullet", "•")]
    )
)


def test_numbers_of_lists_are_in_the_text(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        root = document.part.numbering_part.element
        root.insert(0, element(f'<w:abstractNum w:abstractNumId="90">{LEVELS}</w:abstractNum>'))
        root.append(element('<w:num w:numId="91"><w:abstractNumId w:val="90"/></w:num>'))
        over = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/></w:lvlOverride>'
        root.append(element(f'<w:num w:numId="92"><w:abstractNumId w:val="90"/>{over}</w:num>'))
        for number, depth in ((91, 0), (91, 1), (91, 1), (91, 2), (91, 3), (91, 0), (91, 1), (92, 0), (92, 0), (0, 0)):
            name = "Heading 1" if depth == 0 and number else "Normal"
            paragraph = document.add_paragraph("x", style=name)._p.get_or_add_pPr()
            paragraph.append(element(f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'))

    layout = read(tmp_path, write)
    assert layout.text.split("\n") == [
        *["I. x", "  I.1 x", "  I.2 x", "    (a) x", "      - x", "II. x", "  II.1 x", "IV. x", "V. x", "x", ""]
    ]
    assert shown(layout)[0] == ("I. x", "heading1")


def test_what_is_deleted_or_hidden_is_left_out_and_text_boxes_follow(tmp_path: Path) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>In a box</w:t></w:r></w:p></w:txbxContent>"
    runs = (
        "<w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del>",
        "<w:ins><w:r><w:t>kept</w:t></w:r></w:ins>",
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>",
        f"<w:r><w:pict>{box}</w:pict></w:r>",
        "<w:hyperlink><w:r><w:tab/><w:t>link</w:t><w:footnoteReference/></w:r></w:hyperlink>",
        f'<m:oMath xmlns:m="{MATHS}"><m:r><m:t> 1</m:t></m:r><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num>'
        "<m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>",
    )

    def write(document: Any) -> None:
        paragraph = document.add_paragraph()
        for run in runs:
            paragraph._p.append(element(run))

    assert read(tmp_path, write).text == "kept\tlink 1 a/b\nIn a box\n"


@pytest.mark.parametrize(
    "formula, text",
    [
        ("<m:sSup><m:e>{10}</m:e><m:sup>{3}</m:sup></m:sSup>", "10^3"),
        ('<m:f><m:fPr><m:type m:val="noBar"/></m:fPr><m:num>{5}</m:num><m:den>{2}</m:den></m:f>', "5 2"),
        ("{2}<m:rad><m:deg>{3}</m:deg><m:e>{8}</m:e></m:rad>", "2√[3]8"),
        ("<m:rad><m:deg/><m:e>{8}</m:e></m:rad>", "√8"),
    ],
)
def test_parts_of_formulas_are_other_numbers_than_both(formula: str, text: str, tmp_path: Path) -> None:
    written = re.sub(r"\{(\d+)\}", r"<m:r><m:t>\1</m:t></m:r>", formula)
    maths = f'<m:oMath xmlns:m="{MATHS}">{written}</m:oMath>'
    layout = read(tmp_path, lambda document: document.add_paragraph("Add ")._p.append(element(maths)))
    assert layout.text == f"Add {text}\n"


def test_figures_beside_a_digit_that_are_set_higher_or_lower_are_written_so(tmp_path: Path) -> None:
    higher = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{}</w:t></w:r>'
    texts = [
        item(text, higher.format(figures), style="Normal") for text, figures in (("10", 6), ("§ 5", 1), ("law", 3))
    ]
    assert body(tmp_path, *texts[:2], f"<w:tbl>{row(texts[2], texts[0])}</w:tbl>").split() == [
        "10⁶",
        "§",
        "5¹",
        "law3",
        "10⁶",
    ]
    by_hand = higher.replace("vertAlign", "position").replace("superscript", "6")
    lower = higher.replace("super", "sub")
    mixed = [higher.format(1) * 2, "<w:r><w:t>1999</w:t></w:r>", by_hand.format(3), lower.format(4)]
    assert body(tmp_path, item("law", "".join(mixed), style="Normal")) == "law¹¹1999³₄\n"


def test_figures_are_set_higher_by_styles(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        own = document.styles.add_style("Note", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
        own.font.superscript = True
        based = document.styles.add_style("Mark", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
        based.base_style = own
        paragraph = document.add_paragraph("10")
        paragraph.add_run("6", style="Mark")
        paragraph.add_run(" in 1999")
        paragraph.add_run("3", style="Note")

    assert read(tmp_path, write).text == "10⁶ in 1999³\n"


TRACKED = 'w:id="1" w:author="A" w:date="2020-01-01T00:00:00Z"'
BOXED = "<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:pict></w:r>"
BREAK = '<w:r><w:br w:type="{}"/></w:r>'


def item(text: str = "", runs: str = "", mark: str = "", style: str = "ListNumber") -> str:
    """A paragraph, which is an item of a list unless it has another style. mark (str): what is told of its end."""
    told = f'<w:pPr><w:pStyle w:val="{style}"/><w:rPr>{mark}</w:rPr></w:pPr>'
    return f"<w:p>{told}{f'<w:r><w:t>{text}</w:t></w:r>' if text else ''}{runs}</w:p>"


def row(*cells: str, told: str = "") -> str:
    return f"<w:tr>{told}{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr>"


GONE = f"<w:del {TRACKED}><w:r><w:delText>gone</w:delText></w:r></w:del>"
MOVED = f"<w:moveFrom {TRACKED}><w:r><w:t>gone</w:t></w:r></w:moveFrom>"
HIDDEN = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>gone</w:t></w:r>"
ENDS = {
    f"<w:del {TRACKED}/>": GONE,
    f"<w:moveFrom {TRACKED}/>": MOVED,
    "<w:vanish/>": HIDDEN,
}


def body(tmp_path: Path, *blocks: str) -> str:
    """The text of a document of paragraphs and tables."""

    def write(document: Any) -> None:
        for place, block in enumerate(blocks):
            document.element.body.insert(place, element(block))

    return read(tmp_path, write).text


@pytest.mark.parametrize(("mark", "content"), ENDS.items())
def test_paragraphs_whose_end_is_deleted_or_hidden_have_no_number_and_go_on(
    tmp_path: Path, mark: str, content: str
) -> None:
    gone = item(runs=content, mark=mark)
    assert body(tmp_path, item("one"), gone, item("two")) == "1. one\n2. two\n"
    heading, text = item("Old ", mark=mark, style="Heading1"), item("words", style="Normal")
    assert body(tmp_path, heading, text, item("one")) == "Old words\n1. one\n"
    cells = row(gone + item("one") + item("two"))
    assert body(tmp_path, f"<w:tbl>{cells}</w:tbl>") == "1. one 2. two\n"


def test_styles_hide_text_too_and_a_run_may_show_its_own(tmp_path: Path) -> None:
    hides = '<w:style w:type="{}" w:styleId="{}"><w:name w:val="{}"/>{}<w:rPr><w:vanish/></w:rPr></w:style>'
    shown = '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r>'
    note = '<w:r><w:rPr><w:rStyle w:val="Note"/></w:rPr><w:t>gone</w:t></w:r>'

    def write(document: Any) -> None:
        document.styles.element.append(element(hides.format("character", "Note", "Note", "")))
        document.styles.element.append(element(hides.format("paragraph", "Secret", "Secret", "")))
        based = (
            '<w:style w:type="paragraph" w:styleId="Deep"><w:name w:val="Deep"/><w:basedOn w:val="Secret"/></w:style>'
        )
        document.styles.element.append(element(based))
        blocks = item("one", note), item("gone", style="Deep"), item(runs=shown, style="Secret"), item("two")
        for place, block in enumerate(blocks):
            document.element.body.insert(place, element(block))

    assert read(tmp_path, write).text == "1. one\n2. showntwo\n"


@pytest.mark.parametrize("kind", ["page", "column"])
def test_breaks_of_pages_and_columns_end_a_line(tmp_path: Path, kind: str) -> None:
    broken, plain = BREAK.format(kind), "<w:r><w:t>behind</w:t></w:r>"
    assert body(tmp_path, item("before", broken + plain, style="Normal")) == "before\nbehind\n"
    assert body(tmp_path, item(runs=broken + plain, style="Heading1"), item("one")) == "behind\n1. one\n"
    assert body(tmp_path, item("before", broken, style="Heading1"), item("one")) == "before\n1. one\n"


def test_cells_keep_the_words_numbers_and_boxes_of_their_paragraphs(tmp_path: Path) -> None:
    first = row(item("first", style="Normal") + item("second", BOXED, style="Normal"), item("one"))
    gone = row(item(runs=GONE), item(runs=GONE), told=f"<w:trPr><w:del {TRACKED}/></w:trPr>")
    table = f"<w:tbl>{first}{gone}{row(item('two'), item())}</w:tbl>"
    assert body(tmp_path, table, item("four")) == "first second\t1. one\n2. two\t3.\nbox\n4. four\n"


def level(depth: int, numerals: str, text: str, restart: str = "") -> str:
    facts = f'<w:start w:val="1"/><w:numFmt w:val="{numerals}"/>{restart}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{depth}">{facts}</w:lvl>'


def listed(tmp_path: Path, levels: str, *depths: int, linked: str = "", styles: str = "", parts: bool = False) -> str:
    """The text of items "x" of a list. linked (str): beside its levels. parts (bool): another one takes its levels."""

    def write(document: Any) -> None:
        root = document.part.numbering_part.element
        root.insert(0, element(f'<w:abstractNum w:abstractNumId="90">{linked}{levels}</w:abstractNum>'))
        if parts:
            other = '<w:abstractNum w:abstractNumId="91"><w:numStyleLink w:val="Legal"/></w:abstractNum>'
            root.insert(1, element(other))
        root.append(element(f'<w:num w:numId="91"><w:abstractNumId w:val="{90 + parts}"/></w:num>'))
        for style in filter(None, styles.split("\n")):
            document.styles.element.append(element(style))
        for place, depth in enumerate(depths):
            numbered = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="91"/></w:numPr>'
            told = f'<w:pStyle w:val="Own{depth}"/>' if styles else numbered
            document.element.body.insert(place, element(f"<w:p><w:pPr>{told}</w:pPr><w:r><w:t>x</w:t></w:r></w:p>"))

    return read(tmp_path, write).text


def test_lists_have_the_levels_of_their_style(tmp_path: Path) -> None:
    levels = level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2")
    text = listed(tmp_path, levels, 0, 1, 0, linked='<w:styleLink w:val="Legal"/>', parts=True)
    assert text == "1. x\n  1.1 x\n2. x\n"


@pytest.mark.parametrize(("restart", "counted"), [("", "12121"), ("0", "12345"), ("1", "12341"), ("2", "12121")])
def test_levels_begin_anew_behind_the_levels_that_they_name(tmp_path: Path, restart: str, counted: str) -> None:
    told = f'<w:lvlRestart w:val="{restart}"/>' if restart else ""
    levels = level(0, "decimal", "T%1") + level(1, "decimal", "C%2") + level(2, "decimal", "A%3", told)
    lines = listed(tmp_path, levels, 0, 1, 2, 2, 1, 2, 2, 0, 1, 2).split()
    assert [line for line in lines if line.startswith("A")] == [f"A{number}" for number in counted]


def test_a_style_may_have_a_level_of_the_list_of_the_style_that_it_is_based_on(tmp_path: Path) -> None:
    numbered = "<w:pPr><w:numPr>{}</w:numPr></w:pPr>"
    own = f'<w:style w:type="paragraph" w:styleId="Own{{}}"><w:name w:val="Own{{}}"/>{{}}{numbered}</w:style>'
    first = own.format(0, 0, "", '<w:numId w:val="91"/>')
    second = own.format(1, 1, '<w:basedOn w:val="Own0"/>', '<w:ilvl w:val="1"/>')
    levels = level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2")
    assert listed(tmp_path, levels, 0, 1, 1, 0, styles=f"{first}\n{second}") == "1. x\n  1.1 x\n  1.2 x\n2. x\n"


@pytest.mark.parametrize(
    ("numerals", "text", "first", "second"),
    [
        ("none", "NOTE:", "NOTE: ", "NOTE: "),
        *[("none", "", "", ""), ("none", " ", "", "")],
        *[("russianLower", "%1)", "а) ", "б) "), ("chineseCounting", "第%1章", "第一章 ", "第二章 ")],
    ],
)
def test_numerals_of_lists(tmp_path: Path, numerals: str, text: str, first: str, second: str) -> None:
    assert listed(tmp_path, level(0, numerals, text), 0, 0) == f"{first}x\n{second}x\n"


def test_a_heading_before_text_on_its_line_stays_a_heading(tmp_path: Path) -> None:
    mark = "<w:vanish/><w:specVanish/>"  # a separator of styles
    heading, text = item("Scope.", mark=mark, style="Heading1"), item("All boats.", style="Normal")
    assert body(tmp_path, heading, text, item("one")) == "Scope.\nAll boats.\n1. one\n"


def test_a_dropped_first_letter_is_part_of_its_word(tmp_path: Path) -> None:
    letter = '<w:p><w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr><w:r><w:t>T</w:t></w:r></w:p>'
    assert body(tmp_path, letter, item("he boat", style="Normal")) == "The boat\n"


def test_fields_in_the_instruction_of_a_field_are_not_shown(tmp_path: Path) -> None:
    begin, separate, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))
    inner = f"{begin}<w:r><w:instrText>MERGEFIELD x</w:instrText></w:r>{separate}<w:r><w:t>gone</w:t></w:r>{end}"
    field = f"{begin}<w:r><w:instrText>IF </w:instrText></w:r>{inner}{separate}<w:r><w:t>shown</w:t></w:r>{end}"
    goes_on = f"{end}<w:r><w:t> behind</w:t></w:r>"
    assert body(tmp_path, item("a ", field, style="Normal"), item("b", goes_on, style="Normal")) == (
        "a shown\nb behind\n"
    )


@pytest.mark.parametrize("kinds", [("begin", "end"), ("begin", "separate", "end")])
def test_fields_whose_end_is_hidden_end(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    first, *others = (f'<w:fldChar w:fldCharType="{kind}"/>' for kind in kinds)
    ends = "".join(f"<w:r><w:rPr><w:vanish/></w:rPr>{other}</w:r>" for other in others)
    field = f'<w:r>{first}</w:r><w:r><w:rPr><w:vanish/></w:rPr><w:instrText>XE "boat"</w:instrText></w:r>{ends}'
    assert (
        body(tmp_path, item("The boat", f"{field}<w:r><w:t> sank.</w:t></w:r>", style="Normal")) == "The boat sank.\n"
    )


def test_deleted_rows_of_a_table_for_the_layout_of_a_page_are_left_out(tmp_path: Path) -> None:
    gone = row(item("gone", style="Normal"), told=f"<w:trPr><w:del {TRACKED}/></w:trPr>")
    assert body(tmp_path, f"<w:tbl>{row(item('Scope', style='Heading1'))}{gone}</w:tbl>") == "Scope\n"


# -- trees ---------------------------------------------------------------------------------------------------

TITLES = st.text("abcdefgh XYZ", min_size=1, max_size=12).map(str.strip).filter(bool)
LINES = st.lists(st.tuples(st.integers(0, 9), TITLES), max_size=12)


@FIXTURE
@given(LINES)
def test_the_tree_of_headings_comes_back(tmp_path: Path, lines: list[tuple[int, str]]) -> None:
    def write(document: Any) -> None:
        for level, text in lines:
            document.add_heading(text, level) if level else document.add_paragraph(f"body {text} of a text.")

    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"markup": "trust"})
    doc = nlp.get_pipe("section_parser")(to_doc(nlp.vocab, read(tmp_path, write)))
    expected: list[tuple[int, str]] = []
    opened: list[int] = []
    for level, text in lines:
        if level:
            opened = [above for above in opened if above < level] + [level]
            expected.append((len(opened), " ".join(text.split())))
    if expected:
        found = [(node.level, " ".join(f"{node.number} {node.title}".split())) for node in doc._.section_tree.walk()]
        assert found == expected


def test_headings_are_gold(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        document.add_heading("1. Scope", 1)
        document.add_paragraph("All boats.")
        document.add_heading("1.1 Rafts", 2)

    read(tmp_path, write)
    (doc,) = SectionCorpus(tmp_path).read_docs(spacy.blank("en").vocab)
    assert doc.spans["elements"][0].text == "1."
    assert len(doc.spans["sections"]) == 2


# -- damage --------------------------------------------------------------------------------------------------


def test_what_is_no_docx_is_refused(tmp_path: Path) -> None:
    read(tmp_path, lambda document: document.add_paragraph("x"))
    data = (tmp_path / "a.docx").read_bytes()
    path = tmp_path / "b.docx"
    for content, code in ((b"x", "CRF562"), (data[:-100], "CRF562"), (b"\xd0\xcf\x11\xe0" + data, "CRF563")):
        path.write_bytes(content)
        with pytest.raises(CRFError, match=rf"^\[{code}\].*b\.docx"):
            read_layout(path)


@pytest.mark.parametrize("content, code", [(b"<a>", "CRF562"), (b"<a/>", "CRF562"), (bytes(200 << 20), "CRF570")])
def test_hostile_parts_are_refused(tmp_path: Path, content: bytes, code: str) -> None:
    read(tmp_path, lambda document: document.add_paragraph("x"))
    path = tmp_path / "b.docx"
    with zipfile.ZipFile(tmp_path / "a.docx") as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, content if name == "word/document.xml" else old.read(name))
    with pytest.raises(CRFError, match=rf"^\[{code}\].*b\.docx"):
        read_layout(path)
