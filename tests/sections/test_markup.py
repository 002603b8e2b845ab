"""Headings that Markdown and HTML name: trusted, preferred, ignored."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from spacy_crf import read_layout
from spacy_crf.sections.layout import DocumentLayout, LayoutBuilder, to_doc
from spacy_crf.sections.markup import nest
from spacy_crf.sections.rendering import blocks_of_layout
from spacy_crf.sections.tree import SectionTree

# headings that nobody would take for some, and lines that look like headings
MARKDOWN = """# all of it is about ferries, piers and the tides of the sea, as one can see.

Scope

1. One of a list.
2. Another of a list.

### 1. and so it goes on without an end;

DEFINITIONS

## Tides

They come and go.
"""


def parse(tmp_path: Path, markup: str) -> Doc:
    path = tmp_path / "ferries.md"
    path.write_text(MARKDOWN)
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"markup": markup})
    doc = to_doc(nlp.vocab, read_layout(path))
    return nlp(doc)


def sections(doc: Doc) -> list[tuple[int, str, str]]:
    return [(node.level, node.number, node.title[:9]) for node in doc._.section_tree.walk()]


def test_trusted_headings_are_the_tree(tmp_path: Path) -> None:
    doc = parse(tmp_path, "trust")
    assert sections(doc) == [(1, "", "all of it"), (2, "1.", "and so it"), (2, "", "Tides")]
    labels = {doc.text[e.start : e.end][:9]: e.label for e in doc._.section_tree.elements}
    assert labels["Scope"] == labels["1."[:9]] == "TEXT_BLOCK" or labels["Scope"] == "TEXT_BLOCK"
    last = list(doc._.section_tree.walk())[-1]
    assert doc.text[last.start_char : last.end_char] == "Tides\n\nThey come and go."


def test_preferred_headings_are_found_and_nested(tmp_path: Path) -> None:
    found = sections(parse(tmp_path, "prefer"))
    assert {"all of it", "and so it", "Tides"} <= {title for _, _, title in found}
    assert "DEFINITIO" not in {title for _, _, title in found}


def test_ignored_headings_are_lines_as_others(tmp_path: Path) -> None:
    titles = {title for _, _, title in sections(parse(tmp_path, "ignore"))}
    assert "all of it" not in titles and "and so it" not in titles


TITLED = [("Ferries of the port", 0), ("Boats", 1), ("Rafts", 2), ("Tides", 1)]
DOCLING_LABELS = {
    0: {"label": "title"},
    1: {"label": "section_header", "level": 1},
    2: {"label": "section_header", "level": 2},
}


def write_docx(path: Path) -> None:
    document = pytest.importorskip("docx").Document()
    for title, level in TITLED:
        document.add_heading(title, level)
        document.add_paragraph("They come and go with the tide.", "Subtitle" if level == 0 else None)
    document.save(path)


def write_docling(path: Path) -> None:
    texts = [
        each
        for title, level in TITLED
        for each in (
            {"text": title, **DOCLING_LABELS[level]},
            {"text": "They come and go with the tide.", "label": "text"},
        )
    ]
    body = {"children": [{"$ref": f"#/texts/{number}"} for number in range(len(texts))]}
    path.write_text(json.dumps({"schema_name": "DoclingDocument", "body": body, "texts": texts}))


def write_pdf(path: Path) -> None:
    pytest.importorskip("pypdfium2")
    canvas = pytest.importorskip("reportlab.pdfgen.canvas").Canvas(str(path))
    canvas.setTitle(TITLED[0][0])
    for number, (title, level) in enumerate(TITLED):
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(60, 780 - 80 * number, title)
        canvas.setFont("Helvetica", 10)
        for line in range(2):
            canvas.drawString(60, 756 - 80 * number - 12 * line, "They come and go with the tide of the sea.")
        if level:
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level - 1)
    canvas.save()


WRITERS: dict[str, Callable[[Path], object]] = {
    "a.docx": write_docx,
    "a.json": write_docling,
    "a.pdf": write_pdf,
    "a.tex": lambda path: path.write_text(
        r"\title{Ferries of the port}\maketitle x\section*{Boats}y\subsection*{Rafts}x\section*{Tides}y"
    ),
    "a.md": lambda path: path.write_text(
        "# Ferries of the port\n\nThey come.\n\n## Boats\n\nx\n\n### Rafts\n\n## Tides\n"
    ),
    "a.html": lambda path: path.write_text(
        "<title>Another</title><h1>Ferries of the port</h1><p>x<h2>Boats</h2><h3>Rafts</h3><p>x<h2>Tides</h2>"
    ),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("markup", ["trust", "prefer"])
def test_the_title_of_a_document_holds_all_of_it_in_every_format(tmp_path: Path, name: str, markup: str) -> None:
    WRITERS[name](tmp_path / name)
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"markup": markup})
    tree = nlp(to_doc(nlp.vocab, read_layout(tmp_path / name)))._.section_tree
    assert [(node.title, node.level - 1) for node in tree.walk()] == TITLED


def test_a_title_alone_says_nothing_of_other_lines(tmp_path: Path) -> None:
    document = pytest.importorskip("docx").Document()
    document.add_heading("Ferries of the port", 0)
    for number in range(1, 4):
        document.add_paragraph(f"{number}. Of boats and of rafts").runs[0].bold = True
        document.add_paragraph("They come and go with the tide, and nobody knows when they will be here again.")
    document.save(tmp_path / "a.docx")
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    numbers = [number for _, number, _ in sections(nlp(to_doc(nlp.vocab, read_layout(tmp_path / "a.docx"))))]
    assert numbers == ["", "1.", "2.", "3."]


@pytest.mark.parametrize("markup", ["trust", "prefer", "ignore"])
def test_a_document_without_mark_up_is_parsed_as_ever(markup: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"markup": markup})
    doc = nlp("1. Scope\nAll ferries of the port and of the sea.\n\n2. Term\nA year, or more of them.\n")
    assert sections(doc) == [(1, "1.", "Scope"), (1, "2.", "Term")]


PROSE = "Whoever arrives late waits at the gate until the keeper comes back. Prices are those of last year."
CLASSES = {  # LaTeX documents by their classes: what comes before each paragraph
    "article": r"\maketitle|\section{Start}|\section{Methods}|\subsection{Villages}|\subsection{How they are counted}"
    r"|\section{Results}|\subsection{Clocks}|\subsubsection{On the hour}|\section*{Thanks}|\appendix\section{List}",
    "report": r"\maketitle|\chapter{The year}|\section{Water}|\section{Grain}|\chapter{Accounts}|\section{Income}"
    r"|\subsection{Flour}|\subsection{Bran}|\section{Costs}|\chapter{Outlook}",
    "book": r"\part{Boats}|\chapter{Keels}|\section{Oak}|\section{Iron}|\chapter{Sails}"
    r"|\part{Piers}|\chapter{Stone}|\chapter{Wood}",
    "amsart": r"\maketitle|\section{Before}|\subsection{Notation}|\subsection{What is known}|\section{The theorem}"
    r"|\paragraph{First case.}|\paragraph{Second case.}|\section{Open questions}",
    "scrartcl": r"\section{Einleitung}|\section{Begriffe}|\subsection{Hafen}|\subsection{Liegeplatz}|\addsec{Schluss}",
    "scrreprt": r"\chapter{Getting started}|\section{Installation}\begin{verbatim}x\end{verbatim}|\section{First steps}"
    r"|\chapter{Commands}|\section{wind}|\section{Why does it not strike?}|\chapter{Troubleshooting}",
}


def write_class(folder: Path, name: str, to: str) -> Path:
    """Write a document as LaTeX, or with the same headings as Markdown or HTML."""
    body = f"\n\n{PROSE}\n\n".join([*CLASSES[name].split("|"), ""])
    tex, path = folder / f"{name}.tex", folder / f"{name}.{to}"
    tex.write_text(f"\\documentclass{{{name}}}\\title{{On {name}}}\\begin{{document}}{body}\\end{{document}}")
    blocks = blocks_of_layout(read_layout(tex)).blocks
    if to == "md":
        path.write_text("\n\n".join("#" * block.level + " " * bool(block.level) + block.text for block in blocks))
    elif to == "html":
        path.write_text(
            "".join(
                f"<{tag}>{block.text}</{tag}>"
                for block in blocks
                for tag in [f"h{block.level}" if block.level else "p"]
            )
        )
    return path


@pytest.mark.parametrize("to", ["tex", "md", "html"])
def test_sections_where_nesting_by_mark_up_is_right(tmp_path: Path, to: str) -> None:
    found: dict[str, list[set[tuple[str, int, int, int]]]] = {"gold": [], "trust": [], "prefer": []}
    for name in CLASSES:
        layout = read_layout(write_class(tmp_path, name, to))
        levels = [
            (start, int(style.removeprefix("heading")))
            for start, _, style in layout.runs
            if style.startswith("heading")
        ]
        gold = SectionTree(nest(sorted(levels), layout.text))
        found["gold"].append({(name, node.start_char, node.end_char, node.level) for node in gold.walk()})
        for markup in ("trust", "prefer"):
            nlp = spacy.blank("en")
            nlp.add_pipe("section_parser", config={"markup": markup})
            tree = nlp(to_doc(nlp.vocab, layout))._.section_tree
            found[markup].append({(name, node.start_char, node.end_char, node.level) for node in tree.walk()})
    gold_spans = set[tuple[str, int, int, int]]().union(*found["gold"])
    trusted, preferred = (set[tuple[str, int, int, int]]().union(*found[markup]) for markup in ("trust", "prefer"))
    assert len(gold_spans) > 40 and trusted == gold_spans
    assert 2 * len(preferred & gold_spans) / (len(preferred) + len(gold_spans)) >= 0.97


@pytest.mark.parametrize(
    ("lines", "titles"),
    [
        # headings without a text or a blank line between
        (["# Boats", "# Rafts", "They float."], [(1, "Boats"), (1, "Rafts")]),
        (["# Boats", "## Oars", "## Sails", "## Ropes"], [(1, "Boats"), (2, "Oars"), (2, "Sails"), (2, "Ropes")]),
        # a number with a title of another level below it, and of the same one
        (["# Part I", "", "## Notes", "", "They float."], [(1, "Part I"), (2, "Notes")]),
        (["# Part I", "# Notes", "", "They float.", "# Other"], [(1, "Part I Notes"), (1, "Other")]),
        (["Boats float.", "", "# “Sails” and oars", "", "They move."], [(1, "“Sails” and oars")]),
        # the latest version first
        (
            [
                "# Changes",
                *(f"\n## 1.{a}.{b}\n\n* Mends the clock.\n* Adds a boat." for a in (2, 1) for b in (10, 9, 1, 0)),
            ],
            [(1, "Changes"), *((2, f"1.{a}.{b}") for a in (2, 1) for b in (10, 9, 1, 0))],
        ),
        (
            ["# Changes", *(f"\n## 1.{b}.0\n\n### Added\n\n- A boat.\n\n### Fixed\n\n- The clock." for b in (9, 8, 7))],
            [(1, "Changes"), *((*each,) for b in (9, 8, 7) for each in ((2, f"1.{b}.0"), (3, "Added"), (3, "Fixed")))],
        ),
        (
            ["# Changes", *(f"\n## 1.{b} (2020-0{b}-01)\n\n### Added\n\n- A boat." for b in (9, 8, 7))],
            [(1, "Changes"), *((*each,) for b in (9, 8, 7) for each in ((2, f"1.{b} (2020-0{b}-01)"), (3, "Added")))],
        ),
        # what could be roman numerals
        (
            ["# Guide", "", "## CLI", "", "They float.", "", "## API", "", "They move."],
            [(1, "Guide"), (2, "CLI"), (2, "API")],
        ),
    ],
)
def test_each_preferred_heading_is_one_with_all_its_marks(
    tmp_path: Path, lines: list[str], titles: list[tuple[int, str]]
) -> None:
    path = tmp_path / "boats.md"
    path.write_text("\n".join([*lines, ""]))
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    tree = nlp(to_doc(nlp.vocab, read_layout(path)))._.section_tree
    assert [(node.level, f"{node.number} {node.title}".strip()) for node in tree.walk()] == titles


def test_no_section_is_implied_in_or_beside_that_with_its_number() -> None:
    # headings of one level, as Docling has them of a PDF: the numbers tell how they nest
    numbers = ["1.", "1.1", "1.2", "2.", "2.1", "3."]
    text = "".join(f"{number} Boats\nBoats go over the river.\n\n" for number in numbers)
    runs = [(place := text.index(f"{number} "), place + len(number) + 6, "heading1") for number in numbers]
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    doc = nlp.get_pipe("section_parser")(to_doc(nlp.vocab, DocumentLayout(text, tuple(runs))))
    found = [(node.number, node.virtual) for node in doc._.section_tree.walk()]
    assert found == [(number, False) for number in numbers]


def tree_of_headings(headings: Sequence[tuple[str, int]]) -> SectionTree:
    """Parse a text with headings of levels, each with a sentence below."""
    builder = LayoutBuilder()
    for title, level in headings:
        builder.write(title)
        builder.heading(builder.length - len(title), level)
        builder.end_line()
        builder.write("The keeper of the ferry shall carry all persons who ask for it over the river.")
        builder.end_line()
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("section_parser")
    tree: SectionTree = parser(to_doc(nlp.vocab, builder.build()))._.section_tree
    return tree


@pytest.mark.parametrize(
    "numbers",
    [
        ["1", " 1.1", " 1.2", "2", " 2.1", "3", " 3.1", " 3.2", "  3.2.1", "4"],
        ["§ 1", " (1)", " (2)", "§ 2", "§ 3", " (1)", " (2)", "§ 4"],
        ["I.", " A.", " B.", "II.", " A.", " B.", "III."],
        ["Chapter 1", " 1.1", "Chapter 2", " 2.1", " 2.2", "Appendix A", " A.1"],
    ],
)
@pytest.mark.parametrize("title", ["", "Rules of the port"])
def test_numbers_nest_where_the_mark_up_has_one_level(numbers: list[str], title: str) -> None:
    """Sections "5.1", "5.2" stood beside "5" in most documents of Docling and flat headings of other programs."""
    headings = [(f"{number.strip()} Boats and Quays", 1) for number in numbers]
    tree = tree_of_headings([(title, 0)] * bool(title) + headings)
    found = [(node.level - bool(title), node.number) for node in tree.walk() if node.number]
    assert found == [(1 + number.count(" ") - number.strip().count(" "), number.strip()) for number in numbers]


@pytest.mark.parametrize(
    "titles",
    [
        ("1. Scope", "Terms", "2. Fees", "Notes", "3. End"),
        ("1. Boats", "2. Rafts", "Shops", "1. Books", "2. Maps", "End"),
        ("Soup", "Step 1. Cut", "Step 2. Cook", "Bread", "Step 1. Knead", "Step 2. Bake"),
    ],
)
def test_headings_of_one_level_whose_numbers_do_not_nest_stay_beside_each_other(titles: Sequence[str]) -> None:
    tree = tree_of_headings([(title, 1) for title in titles])
    assert [node.level for node in tree.walk()] == [1] * len(titles)


def test_no_item_of_a_list_holds_the_headings_of_the_mark_up(tmp_path: Path) -> None:
    """The first item of a list before the title held the whole document."""
    items, titles = "<ol><li>Scope</li><li>Tolls</li></ol>", ("Scope", "Tolls", "End")
    sections = [f"<h2>{n}. {title}</h2><p>All that is of boats and of rivers.</p>" for n, title in enumerate(titles, 1)]
    (tmp_path / "page.html").write_text(f"<nav>{items}</nav><h1>Ferries</h1>{''.join(sections)}")
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("section_parser")
    tree = parser(to_doc(nlp.vocab, read_layout(tmp_path / "page.html")))._.section_tree
    found = [(node.level, node.title) for node in tree.walk() if node.title]
    assert found == [(1, "Ferries"), *((2, title) for title in titles)]


def test_no_section_is_implied_beside_a_higher_heading_that_holds_its_number(tmp_path: Path) -> None:
    """Versions that skip a number ("1.9.1" behind "2.0.0") left the title of a change log."""
    numbers = ["2.1.0", "2.0.0", "1.9.1", "1.9.0", "1.8.0"]
    path = tmp_path / "changes.md"
    path.write_text("# Changelog\n\n" + "".join(f"## {n}\n\n### Added\n\n- Boats with sails.\n\n" for n in numbers))
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("section_parser")
    tree = parser(to_doc(nlp.vocab, read_layout(path)))._.section_tree
    found = [(node.level, node.number) for node in tree.walk() if node.title != "Added"]
    assert found == [(1, ""), *((2, number) for number in numbers)]


@pytest.mark.parametrize("annex", ["Appendix A Lists", "Annex", "Schedule 1 Fees"])
def test_annexes_stand_in_the_title_whose_level_is_above_theirs(annex: str, tmp_path: Path) -> None:
    path = tmp_path / "ferries.md"
    path.write_text(
        f"# Ferries\n\n## 1 Boats\n\nThey sail.\n\n## 2 Tides\n\nThey turn.\n\n## {annex}\n\nLong.\n\n## Index\n"
    )
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    doc = nlp(to_doc(nlp.vocab, read_layout(path)))
    assert [level for level, _, _ in sections(doc)] == [1, 2, 2, 2, 2]


REFERENCES = (
    "Smith J, Brown K. Water mills. J Mills 2003;12:3-9",
    "Adams P. On stones. Stone 1999;1:1-2",
    "Baker R, Cole D. Wheels and dams",
    "Dent A. Rivers of the north. Oxford: Clarendon Press; 1987.",
)


@pytest.mark.parametrize(
    "listed",
    [
        "<ol>" + "".join(f"<li>{one}</li>" for one in REFERENCES) + "</ol>",
        "".join(f"<p>[{n}] {one}</p>" for n, one in enumerate(REFERENCES, 1)),
        "".join(f"<p>{n}. {one}</p>" for n, one in enumerate(REFERENCES, 1)),
    ],
)
def test_no_item_of_a_list_below_a_heading_is_a_section(tmp_path: Path, listed: str) -> None:
    """Of a list of references, those without a year at their end look like titles."""
    path = tmp_path / "mills.html"
    path.write_text(f"<h1>Mills</h1><h2>1 Method</h2><p>We counted them.</p><h2>References</h2>{listed}")
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    assert sections(nlp(to_doc(nlp.vocab, read_layout(path)))) == [
        (1, "", "Mills"),
        (2, "1", "Method"),
        (2, "", "Reference"),
    ]


@pytest.mark.parametrize("number", ["Article {}. ", "1.{} "])
def test_numbers_with_words_or_parts_are_none_of_a_list(number: str, tmp_path: Path) -> None:
    """Of articles that the mark-up does not name, some have a title and some begin their text right away."""
    path, rule = (
        tmp_path / "rules.html",
        "The ferry shall carry a lamp and a rope on every crossing that its master makes across the bay.",
    )
    articles = (f"Scope</p><p>{rule}", rule, rule, f"Fees</p><p>{rule}")
    listed = "".join(f"<p>{number.format(n)}{one}</p>" for n, one in enumerate(articles, 1))
    path.write_text(f"<h1>Rules</h1><h2>Part A</h2>{listed}<h2>Part B</h2><p>2.1 Duties</p><p>{rule}</p>")
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    found = sections(nlp(to_doc(nlp.vocab, read_layout(path))))
    assert [found for _, found, _ in found if found.startswith(number[:2])] == [
        number.format(n).strip() for n in range(1, 5)
    ]
