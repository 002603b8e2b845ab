"""Documents as PDF: by reportlab, and as DOCX by python-docx, which LibreOffice makes PDF of."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

from spacy_crf.sections.formats.outline import Formatting
from spacy_crf.sections.layout import DocumentLayout
from spacy_crf.sections.segment import HEADINGS

OFFICE = shutil.which("soffice")
TAGS = {"bold": "b", "italic": "i", "underline": "u"}
SIZES = {"title": 22, "heading1": 20, "heading2": 16, "heading3": 14, "heading4": 12}
HEAD, FOOT = "Collected papers of the house", "Page {page}"
SIZE, LEADING, MARGIN, LETTER = 10, 13, 60, 5.5  # points
A4 = 595.28, 841.89


def lines(layout: DocumentLayout) -> Iterator[tuple[int, list[tuple[str, tuple[str, ...]]]]]:
    """Lines of a document: the columns before each, and its stretches with their styles; none of a blank one."""
    formatting, start = Formatting(layout.runs, {*TAGS, "title", *HEADINGS}), 0
    for line in layout.text.removesuffix("\n").split("\n"):
        indent, end = len(line) - len(line.lstrip()), start + len(line)
        pieces = formatting.pieces(start + indent, start + len(line.rstrip()))
        yield indent, [(layout.text[first:last], styles) for first, last, styles in pieces]
        start = end + 1


def heading_of(pieces: list[tuple[str, tuple[str, ...]]]) -> str:
    """The style of a line that is a heading, "" for others."""
    styles = {style for _, own in pieces for style in own if style in {"title", *HEADINGS}}
    return min(styles, default="")


def print_by_reportlab(layout: DocumentLayout, columns: int = 1) -> bytes:
    """A justified PDF with a running head and page numbers."""
    from reportlab.lib.enums import TA_JUSTIFY, TA_LEFT
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Spacer

    def furnish(canvas, template):
        canvas.setFont("Helvetica", 8)
        canvas.drawString(MARGIN, A4[1] - 35, HEAD)
        canvas.drawCentredString(A4[0] / 2, 30, FOOT.format(page=template.page))

    width = (A4[0] - 2 * MARGIN - 20 * (columns - 1)) / columns
    frames = [Frame(MARGIN + k * (width + 20), MARGIN, width, A4[1] - 2 * MARGIN, 0, 0, 0, 0) for k in range(columns)]
    flow = []
    for indent, pieces in lines(layout):
        heading = heading_of(pieces)
        size = SIZES.get(heading, SIZE)
        font = "Helvetica-Bold" if heading else "Helvetica"
        style = ParagraphStyle(
            heading, None, fontName=font, fontSize=size, leading=1.3 * size, leftIndent=indent * LETTER
        )
        style.alignment = TA_LEFT if heading else TA_JUSTIFY
        text = "".join(
            "".join(f"<{TAGS[style]}>" for style in styles if style in TAGS)
            + escape(piece)
            + "".join(f"</{TAGS[style]}>" for style in reversed(styles) if style in TAGS)
            for piece, styles in pieces
        )
        flow.append(Paragraph(text, style) if text else Spacer(1, LEADING))
    opened: list[int] = []

    class Template(BaseDocTemplate):
        def afterFlowable(self, flowable):
            style = getattr(flowable, "style", None)
            if style is not None and style.name in HEADINGS:
                while opened and opened[-1] >= HEADINGS[style.name]:
                    opened.pop()
                opened.append(HEADINGS[style.name])
                self.canv.bookmarkPage(str(id(flowable)))
                self.canv.addOutlineEntry(flowable.getPlainText(), str(id(flowable)), len(opened) - 1)

    file_ = BytesIO()
    template = Template(file_, pagesize=A4)
    template.addPageTemplates(PageTemplate(frames=frames, onPage=furnish))
    template.build(flow)
    return file_.getvalue()


def write_docx(layout: DocumentLayout, path: Path, columns: int = 1) -> None:
    """A DOCX with a paragraph for each line, a header, and page numbers in its footer."""
    from docx import Document
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import Pt

    document = Document()
    normal = document.styles["Normal"]
    normal.font.size, normal.font.name = Pt(SIZE), "DejaVu Serif"
    normal.paragraph_format.space_after = Pt(0)
    for indent, pieces in lines(layout):
        heading = heading_of(pieces)
        name = {"": "Normal", "title": "Title"}.get(heading, f"Heading {heading[-1:]}")
        paragraph = document.add_paragraph(style=name)
        paragraph.paragraph_format.left_indent = Pt(indent * LETTER)
        for piece, styles in pieces:
            run = paragraph.add_run(piece)
            for style in {*styles} & TAGS.keys():
                setattr(run, style, True)
    (section,) = document.sections
    section.header.paragraphs[0].text = HEAD
    foot = section.footer.paragraphs[0].add_run("Page ")
    for kind, text in (("begin", ""), ("", "PAGE"), ("end", "")):
        element = OxmlElement("w:fldChar" if kind else "w:instrText")
        element.text = text
        if kind:
            element.set(qn("w:fldCharType"), kind)
        foot._r.append(element)
    set_columns = OxmlElement("w:cols")
    set_columns.set(qn("w:num"), str(columns))
    set_columns.set(qn("w:space"), "400")
    for old in section._sectPr.findall(qn("w:cols")):
        section._sectPr.remove(old)
    section._sectPr.append(set_columns)
    document.save(str(path))


def print_by_office(layouts: Mapping[str, DocumentLayout], folder: Path, columns: int = 1) -> dict[str, Path]:
    """PDFs of documents by their names, made in a folder by LibreOffice."""
    for name, layout in layouts.items():
        write_docx(layout, folder / f"{name}.docx", columns)
    convert([folder / f"{name}.docx" for name in layouts], folder)
    return {name: folder / f"{name}.pdf" for name in layouts}


def convert(paths: list[Path], folder: Path) -> None:
    """Let LibreOffice make PDFs in a folder."""
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = [str(OFFICE), profile, "--headless", "--convert-to", "pdf", "--outdir", str(folder), *map(str, paths)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
