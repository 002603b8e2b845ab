"""Texts and formatting for tests of layout elements."""

from hypothesis import strategies as st

from spacy_crf.sections.formats.annotated import name_sections
from spacy_crf.sections.layout import DocumentLayout
from spacy_crf.sections.segment import STYLES, Kind
from spacy_crf.sections.tree import NEWLINE, Element, SectionNode, SectionTree, mark_headings

LABELS = st.sampled_from(["NR", "SECTION_TITLE", "TEXT_BLOCK"])

PIECES = st.sampled_from(
    [
        *("1.", "2.1", "(a)", "iv.", "Artikel 3", "§ 4", "- ", "• ", '"', "“", "\n", "\n\n", " ", "\t", "\r\n", "\x0c"),
        *(
            "De feiten",
            "x",
            "I",
            "A",
            "12 maart 2012",
            "U I T",
            "\u00a0",
            "\u2028",
            "é",
            "\x00",
            "\ud800",
            "'s-G",
            "1)",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))
RUNS = st.lists(
    st.tuples(st.integers(-5, 80), st.integers(-5, 80), st.sampled_from([*STYLES, *Kind, "paragraph", "odd"])),
    max_size=8,
)


@st.composite
def documents(draw, texts=TEXTS):
    """(DocumentLayout, SectionTree): random labels of units, and random sections that begin at some of them."""
    text = draw(texts)
    runs = draw(RUNS.map(lambda runs: [(max(a, 0), max(b, 0), style) for a, b, style in runs]))
    layout = DocumentLayout(text, tuple(runs), "name", "nl")
    units = layout.units
    labels = [NEWLINE if unit.kind is Kind.NEWLINE else draw(LABELS) for unit in units]
    leaves = tuple(Element(unit.start, unit.end, label) for unit, label in zip(units, labels) if label != NEWLINE)
    sections, opened = [], []
    for unit in units:
        if unit.kind is Kind.NEWLINE:
            continue
        depth = draw(st.integers(-2, len(opened)))
        if depth >= 0:
            del opened[depth:]
            opened.append(SectionNode(unit.start, unit.end, depth + 1, virtual=draw(st.integers(0, 5)) == 0))
            (opened[-2].children if depth else sections).append(opened[-1])
        for node in opened:
            node.end_char = unit.end
    tree = SectionTree(sections, [Element(unit.start, unit.end, label) for unit, label in zip(units, labels)])
    mark_headings(sections, units, leaves)
    name_sections(tree, text, leaves)
    return layout, tree
