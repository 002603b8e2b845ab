"""What is exported can be read again, and has all text and all sections."""

import json
import re
from dataclasses import replace

import pytest
import spacy
from docling_core.types.doc import DoclingDocument
from helpers.layouts import documents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_crf import read_layout, to_doc
from spacy_crf.sections.formats import possible
from spacy_crf.sections.formats.annotated import read_annotated, write_annotated
from spacy_crf.sections.formats.docling import write_docling
from spacy_crf.sections.formats.markdown import read_markdown, write_markdown
from spacy_crf.sections.formats.outline import Begin, End, Leaf, outline, write_brackets
from spacy_crf.sections.formats.page import write_page
from spacy_crf.sections.formats.rechtspraak import read_rechtspraak_gold, write_rechtspraak
from spacy_crf.sections.layout import DocumentLayout
from spacy_crf.sections.segment import HEADINGS, STYLES
from spacy_crf.sections.tree import USUAL, Element, SectionNode, SectionTree, from_json

FIXTURE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
WORDS = st.lists(
    st.sampled_from(["1.", "(a)", "De feiten", "*x*", "- y", "\n", "\n\n", " ", "# a_b_c", "<b>&amp;", "2) [z]"])
)

TEXT = "Hof (civiel)\n\n1. Feiten\n1.1 Het *gaat*.\n- punt\n\n3.1 Iets"
UNITS = [(0, 12), (13, 14), (14, 16), (17, 23), (24, 27), (28, 39), (40, 41), (42, 46), (47, 48), (48, 51), (52, 56)]
LABELS = [
    "TEXT_BLOCK",
    "NEWLINE",
    "NR",
    "SECTION_TITLE",
    "NR",
    "TEXT_BLOCK",
    "TEXT_BLOCK",
    "TEXT_BLOCK",
    "NEWLINE",
    "NR",
    "TEXT_BLOCK",
]


@pytest.fixture
def example():
    layout = DocumentLayout(TEXT, ((17, 23, "bold"), (31, 33, "italic")), "zaak", "nl")
    assert [(unit.start, unit.end) for unit in layout.units] == UNITS
    inner = SectionNode(24, 46, 2, "1.1", probability=0.5, heading=[4])
    outer = SectionNode(14, 46, 1, "1.", "Feiten", 0.75, heading=[2, 3], children=[inner])
    third = SectionNode(48, 56, 2, "3.1", heading=[9])
    implied = SectionNode(48, 56, 1, "3", virtual=True, children=[third])
    elements = [Element(start, end, label) for (start, end), label in zip(UNITS, LABELS)]
    return layout, SectionTree([outer, implied], elements)


@given(documents())
def test_outline_has_each_element_once_in_its_section(document):
    _, tree = document
    opened, places = [], []
    for event in outline(tree):
        match event:
            case Begin(node, depth):
                opened.append(node)
                assert depth == node.level == len(opened)
            case End(node):
                assert opened.pop() is node
            case Leaf(place, node):
                assert node is (opened[-1] if opened else None)
                places.append(place)
    assert places == list(range(len(tree.elements))) and not opened


def facts(tree):
    return [
        (node.start_char, node.end_char, node.level, node.virtual, node.heading, node.title) for node in tree.walk()
    ]


@pytest.mark.promise
@FIXTURE
@given(documents())
def test_annotated_xml_is_read_as_it_was(tmp_path, document):
    layout, tree = document
    path = tmp_path / "a.xml"
    path.write_bytes(write_annotated(layout, tree).encode("utf8"))
    gold = read_annotated(path)
    assert gold.layout.text == possible(layout.text)
    assert (gold.layout.name, gold.layout.language) == ("name", "nl")
    if gold.layout.text == layout.text:
        assert gold.layout.units == layout.units
        assert gold.tree.elements == tree.elements
        assert facts(gold.tree) == facts(tree)


def test_blank_lines_that_are_none_change_no_unit(tmp_path):
    layout, path = DocumentLayout("- 0", ((1, 3, "newline"),), "name", "nl"), tmp_path / "a.xml"
    tree = SectionTree([], [Element(0, 1, "NR"), Element(2, 3, "NR")])
    path.write_text(write_annotated(layout, tree), encoding="utf8")
    assert read_annotated(path).layout.units == layout.units


@pytest.mark.parametrize("style", STYLES)
def test_annotated_xml_has_every_style(tmp_path, style):
    layout = DocumentLayout("Besluit", ((0, 7, style),), "name", "nl")
    path = tmp_path / "a.xml"
    path.write_text(write_annotated(layout, SectionTree([], [Element(0, 7, "TEXT_BLOCK")])), encoding="utf8")
    assert read_annotated(path).layout.units == layout.units != DocumentLayout("Besluit").units


def test_annotated_xml(example):
    assert write_annotated(*example).split("\n")[1:] == [
        '<document xml:lang="nl" id="zaak">',
        "<text>Hof (civiel)</text>",
        "",
        '<section level="1" number="1." probability="0.7500"><nr>1.</nr> <title><b>Feiten</b></title>',
        '<section level="2" number="1.1" probability="0.5000"><nr>1.1</nr> <text>Het<i> *</i>gaat*.</text>',
        "<text>-</text> <text>punt</text></section></section>",
        "",
        '<section virtual="true" level="1" number="3"><section level="2" number="3.1"><nr>3.1</nr> <text>Iets</text>'
        "</section></section>",
        "</document>",
        "",
    ]


def test_brackets(example):
    assert write_brackets(*example) == (
        "(DOCUMENT\n  (TEXT_BLOCK Hof -LRB-civiel-RRB-)\n  (SECTION\n    (NR 1.)\n    (SECTION_TITLE Feiten)\n"
        "    (SECTION\n      (NR 1.1)\n      (TEXT_BLOCK Het *gaat*.)\n"
        "      (TEXT_BLOCK -)\n      (TEXT_BLOCK punt)))\n"
        "  (VIRTUAL\n    (SECTION\n      (NR 3.1)\n      (TEXT_BLOCK Iets))))\n"
    )


@given(documents())
def test_brackets_are_balanced(document):
    layout, tree = document
    written = write_brackets(layout, tree)
    count = 1 + len(list(tree.walk())) + sum(element.label != "NEWLINE" for element in tree.elements)
    assert written.count("(") == written.count(")") == count


def test_markdown(example):
    assert write_markdown(*example) == (
        "Hof (civiel)\n\n# 1. Feiten\n\n1.1 Het <i>\\*</i>gaat\\*.\n\n- punt\n\n3.1 Iets\n"
    )


STYLED = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.sampled_from(["bold", "italic"])), max_size=6)


@FIXTURE
@given(documents(WORDS.map("".join)), STYLED)
def test_markdown_shows_all_words_and_no_sign_more(tmp_path, document, styled):
    layout, tree = document
    path = tmp_path / "a.md"
    runs = tuple((start, start + length, style) for start, length, style in styled)
    path.write_text(write_markdown(DocumentLayout(layout.text, runs), tree), encoding="utf8")
    shown = read_markdown(path)
    assert re.sub(r"\s", "", shown.text) == re.sub(r"\s", "", layout.text)
    titled = [
        min(node.level, 6)
        for node in tree.walk()
        if any(tree.elements[i].label == "SECTION_TITLE" for i in node.heading) or is_alone(layout, tree, node)
    ]
    assert [int(style[-1]) for _, _, style in shown.runs if style.startswith("heading")] == titled


def is_alone(layout, tree, node):
    lines = [line.strip() for line in layout.text.split("\n")]
    heading = (
        layout.text[tree.elements[node.heading[0]].start : tree.elements[node.heading[-1]].end] if node.heading else ""
    )
    inside = layout.text[: tree.elements[node.heading[0]].start].count("\n") if heading else 0
    return bool(heading) and "\n".join(lines[inside : inside + heading.count("\n") + 1]) == heading


@pytest.mark.parametrize(
    "text, bold, written",
    [
        ("Ferries.All sail", (0, 8), "<b>Ferries.</b>All sail"),
        ("Ferries. All sail", (0, 8), "**Ferries.** All sail"),
        ("unsinkable", (2, 6), "un**sink**able"),
        ("see(a)b", (3, 6), "see<b>(a)</b>b"),
    ],
)
def test_emphasis_of_markdown_is_shown(tmp_path, text, bold, written):
    tree = SectionTree([], [Element(0, len(text), "TEXT_BLOCK")])
    path = tmp_path / "a.md"
    path.write_text(write_markdown(DocumentLayout(text, ((*bold, "bold"),)), tree), encoding="utf8")
    assert path.read_text(encoding="utf8") == f"{written}\n" and read_markdown(path).text == f"{text}\n"


@pytest.mark.parametrize("title", ["Sets {-}", "Boats {.oak}", "Boats {#oak}", "a {b=c}", "{-}", "{a} {-}"])
def test_brackets_of_titles_are_no_attributes_of_markdown(tmp_path, title):
    heading = Element(0, len(title), "SECTION_TITLE")
    tree = SectionTree([SectionNode(0, len(title), 1, title=title, heading=[0])], [heading])
    path = tmp_path / "a.md"
    path.write_text(write_markdown(DocumentLayout(title), tree), encoding="utf8")
    assert read_markdown(path).text == f"{title}\n"


def test_indented_lines_behind_a_blank_one_are_no_code_of_markdown(tmp_path):
    text = "def f():\n    x = 1\n\n    y = a*b\n"
    layout = DocumentLayout(text, ((0, len(text), "other"),))
    tree = SectionTree([], [Element(0, len(text) - 1, "TEXT_BLOCK")])
    path = tmp_path / "a.md"
    path.write_text(write_markdown(layout, tree), encoding="utf8")
    assert read_markdown(path).text.split() == text.split()


def test_docling(example, tmp_path):
    data = json.loads(write_docling(*example))
    assert data["schema_name"] == "DoclingDocument" and data["name"] == "zaak"
    (tmp_path / "a.json").write_text(json.dumps(data), encoding="utf8")
    assert read_layout(tmp_path / "a.json").text == "Hof (civiel)\n1. Feiten\n1.1 Het *gaat*.\n- punt\n3.1 Iets\n"
    header = next(text for text in data["texts"] if text["label"] == "section_header")
    assert (header["text"], header["level"]) == ("1. Feiten", 1)
    assert [group["name"] for group in data["groups"]] == ["1.1", "3", "3.1"]
    for item in (data["body"], *data["texts"], *data["groups"]):
        for child in item["children"]:
            _, kind, number = child["$ref"].split("/")
            assert data[kind][int(number)]["parent"]["$ref"] == item["self_ref"]


@settings(max_examples=50, deadline=None)
@given(documents())
def test_exports_are_valid_for_docling(document):
    data = json.loads(write_docling(*document).encode("utf8", "replace"))
    read = DoclingDocument.model_validate(data)
    assert [item.text for item in read.texts] == [item["text"] for item in data["texts"]]
    shown = [item for item, _ in read.iterate_items(with_groups=True)]
    assert len(shown) >= len(data["texts"])


@FIXTURE
@given(documents())
def test_docling_has_all_words(tmp_path, document):
    layout, tree = document
    path = tmp_path / "a.json"
    path.write_bytes(write_docling(layout, tree).encode("utf8", "replace"))
    expected = layout.text.encode("utf8", "replace").decode("utf8").split()
    if "\0" not in layout.text:
        assert "".join(read_layout(path).text.split()) == "".join(expected)


def test_rechtspraak(example, tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(write_rechtspraak(*example), encoding="utf8")
    gold = read_rechtspraak_gold(path, hidden=True)
    assert gold.layout.text == "Hof (civiel)\n1. Feiten\n1.1 Het *gaat*.\n- punt\n3.1 Iets\n"
    assert [(node.level, node.number, node.title) for node in gold.tree.walk()] == [
        *[(1, "1.", "Feiten"), (2, "1.1", ""), (1, "", ""), (2, "3.1", "")]
    ]
    assert gold.layout.runs[0] == (16, 22, "bold")


@FIXTURE
@given(documents())
def test_rechtspraak_has_all_words_and_sections(tmp_path, document):
    layout, tree = document
    path = tmp_path / "a.xml"
    path.write_bytes(write_rechtspraak(layout, tree).encode("utf8"))
    gold = read_rechtspraak_gold(path, hidden=True)
    expected = possible(layout.text)
    assert "".join(gold.layout.text.split()) == "".join(expected.split())
    assert [node.level for node in gold.tree.walk()] == [node.level for node in tree.walk()]


@pytest.mark.parametrize("writer", [write_annotated, write_docling, write_markdown, write_page, write_rechtspraak])
@settings(max_examples=20)
@given(document=documents())
def test_labels_are_written_by_their_roles(writer, document):
    layout, tree = document
    roles = {"number": "NUM", "title": "SECTION_TITLE", "text": "NR", "newline": "LEEG"}
    own = {USUAL[role]: label for role, label in roles.items()}
    elements = [replace(element, label=own[element.label]) for element in tree.elements]
    called = from_json(replace(tree, elements=elements, roles=roles).to_json())
    assert called.roles == roles
    assert writer(layout, called) == writer(layout, tree)


def test_brackets_have_own_labels(example):
    layout, tree = example
    roles = {**USUAL, "title": "KOP"}
    elements = [replace(one, label="KOP") if one.label == "SECTION_TITLE" else one for one in tree.elements]
    assert "(KOP Feiten)" in write_brackets(layout, replace(tree, elements=elements, roles=roles))


@pytest.mark.parametrize(("write", "name"), [(write_markdown, "a.md"), (write_docling, "a.json")])
def test_numbers_alone_on_their_lines_are_headings(write, name, tmp_path):
    text = "TITRE Ier\n\nArticle 1er\n\nLe port est ouvert.\n\nArticle 2\n\nLe quai.\n\nTITRE II\n\nArticle 3 La mer.\n"
    heads = [("TITRE Ier", 1), ("Article 1er", 2), ("Article 2", 2), ("TITRE II", 1)]
    (tmp_path / "a.txt").write_text(text)
    nlp = spacy.blank("xx")
    nlp.add_pipe("section_parser")
    layout = read_layout(tmp_path / "a.txt")
    tree = nlp.get_pipe("section_parser")(to_doc(nlp.vocab, layout))._.section_tree
    assert [(node.number, node.level) for node in tree.walk()] == [*heads, ("Article 3", 2)]
    (tmp_path / name).write_text(write(layout, tree))
    again = read_layout(tmp_path / name)
    found = [(again.text[start:end], int(style[-1])) for start, end, style in again.runs if style in HEADINGS]
    assert found == heads
    assert '<h3 class="heading l2"><span class="nr">Article 2</span></h3>' in write_page(layout, tree)
