"""Texts that are made of blocks, read again by a reader of its own: their gold is what the blocks say."""

import gzip
import json
import re
from pathlib import Path
from random import Random

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf import SectionCorpus
from spacy_crf.sections.rendering import (
    DENSE,
    PLAIN,
    RENDERINGS,
    BlockDocument,
    BlockKind,
    DocumentBlock,
    Rendering,
    choose_rendering,
    render,
)
from spacy_crf.sections.segment import Kind
from spacy_crf.sections.tree import SectionTree

WORDS = st.lists(
    st.sampled_from(["ferry", "Harbour", "pier", "of", "the", "Tide", "3.1", "x=1"]), min_size=1, max_size=9
)
TEXTS = WORDS.map(" ".join)
HEADINGS = st.builds(
    DocumentBlock,
    st.just(BlockKind.HEADING),
    st.integers(1, 6),
    st.sampled_from(["", "1. ", "A.2 "]).flatmap(lambda number: TEXTS.map(lambda text: number + "Of " + text)),
)
BODIES = st.builds(DocumentBlock, st.sampled_from(["text", "item", "term", "code"]).map(BlockKind), st.just(0), TEXTS)
DOCUMENTS = st.lists(HEADINGS | BODIES, min_size=1, max_size=12).map(
    lambda blocks: BlockDocument(tuple(blocks), "port", "en")
)


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


@given(DOCUMENTS, st.integers(0, 10_000))
def test_headings_of_the_gold_are_those_of_the_blocks(document: BlockDocument, seed: int) -> None:
    rendering = choose_rendering(Random(seed))
    gold = render(document, rendering)
    text, units = gold.layout.text, gold.layout.units
    nodes = list(SectionTree(list(gold.sections)).walk())
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    made = len(nodes) - len(headings)
    assert made == (1 if rendering.contents and headings else 0) or (made == 0 and len(headings) < 2)
    labels = dict(zip([unit.start for unit in units], gold.labels))
    written = ["".join(text[units[k].start : units[k].end] for k in node.heading) for node in nodes]
    shown = [own for own in written if not (made and letters(own) == "contents")]
    for block, own in zip(headings, shown):
        words = letters(block.text)
        assert letters(own).endswith(words[words.index("of") :])
    assert all(labels[node.start_char] in ("NR", "SECTION_TITLE") for node in nodes)
    of_headings = {k for node in nodes for k in node.heading}
    others = (unit for number, unit in enumerate(units) if number not in of_headings and unit.kind is not Kind.NEWLINE)
    assert all(labels[unit.start] == "TEXT_BLOCK" for unit in others)


@given(DOCUMENTS)
def test_levels_are_those_of_the_blocks(document: BlockDocument) -> None:
    nodes = list(SectionTree(list(render(document, PLAIN).sections)).walk())
    levels = [block.level for block in document.blocks if block.kind is BlockKind.HEADING]
    for place, node in enumerate(nodes):
        # open around a heading are those before it that no heading of their level or a higher one follows
        least, around = levels[place], 0
        for before in reversed(levels[:place]):
            if before < least:
                least, around = before, around + 1
        assert node.level == around + 1


@given(DOCUMENTS)
def test_no_text_is_lost(document: BlockDocument) -> None:
    for rendering in (PLAIN, DENSE):
        text = render(document, rendering).layout.text
        assert letters(text) == letters("".join(block.text for block in document.blocks))
    lines = render(document, DENSE).layout.text.split("\n")
    assert all(line for line in lines[:-1])


def test_looks() -> None:
    heading, body = (
        DocumentBlock(BlockKind.HEADING, 1, "3. Of ferries"),
        DocumentBlock(BlockKind.TEXT, 0, "They sail. " * 12),
    )
    code, inner = DocumentBlock(BlockKind.CODE, 0, "sail()\n\nmoor()"), DocumentBlock(BlockKind.HEADING, 2, "Of tides")
    document = BlockDocument((heading, body, inner, code, heading), "port", "nl")

    def text(**look: object) -> str:
        return render(document, Rendering(**look)).layout.text  # type: ignore[arg-type]

    assert text(look="underlined").startswith("3. Of ferries\n=============\n\nThey sail.")
    assert text(look="capitals").startswith("3. OF FERRIES\n")
    assert text(numbering="none").startswith("Of ferries\n")
    assert "\n\n1.1. Of tides\n" in text(numbering="decimal", closing=".")
    assert text(numbering="worded").startswith("Hoofdstuk 1 Of ferries\n")
    assert text(numbering="outline", closing=")").startswith("I) Of ferries\n")
    assert max(map(len, text(width=60).split("\n"))) <= 60
    assert "\n    sail()\n" in text(code=4)
    assert "Inhoud\n" in text(contents=True)
    assert "Pagina 1" in text(page=3)
    bold = render(document, Rendering(look="bold")).layout
    assert (0, len("3. Of ferries\n"), "bold") in bold.runs


def test_titles_that_begin_with_a_capital_letter_keep_it() -> None:
    def headings(*titles: str) -> list[str]:
        blocks = [DocumentBlock(BlockKind.HEADING, 1, title) for title in titles]
        return render(BlockDocument(tuple(blocks)), Rendering(numbering="decimal")).layout.text.split("\n\n")

    assert headings("A Note on Boats", "R Internals", "3. Terms") == ["1 A Note on Boats", "2 R Internals", "3 Terms\n"]
    assert headings("A Boats", "B Terms") == ["1 Boats", "2 Terms\n"]


BLOCKS = {
    "id": "port",
    "lang": "en",
    "blocks": [["heading", 1, "Piers"], ["text", 0, "All of them."], ["term", 0, "pier"]],
}


def outlines(corpus: SectionCorpus) -> list[tuple[str, list[tuple[str, int]]]]:
    docs = corpus.read_docs(spacy.blank("xx").vocab)
    return [(doc.text, [(node.title, node.level) for node in doc._.section_tree.walk()]) for doc in docs]


def test_a_corpus_of_blocks(tmp_path: Path) -> None:
    path = tmp_path / "manuals.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(BLOCKS).encode()))
    assert outlines(SectionCorpus(path)) == [("Piers\n\nAll of them.\n\npier\n", [("Piers", 1)])]
    assert outlines(SectionCorpus(path, rendering="dense"))[0][0] == "Piers\nAll of them.\npier\n"
    mixed = SectionCorpus(path, rendering="mixed", copies=8)
    assert outlines(mixed) == outlines(mixed)
    assert 1 < len({text for text, _ in outlines(mixed)}) <= 8


def test_headings_of_markdown_and_html_are_gold(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Piers\n\nAll\nof them.\n\n- one\n\n## 2. Tides\n\n```\nx = 1\n```\n")
    (tmp_path / "b.html").write_text("<h1>Piers</h1><p>All of them.</p><h3>Tides</h3><ul><li>one</li></ul>")
    markdown, html = outlines(SectionCorpus(tmp_path))
    assert markdown == ("Piers\n\nAll of them.\n\none\n\n2. Tides\n\nx = 1\n", [("Piers", 1), ("Tides", 2)])
    assert html == ("Piers\n\nAll of them.\n\nTides\n\none\n", [("Piers", 1), ("Tides", 2)])


@pytest.mark.parametrize("blocks", [[["head", 1, "Piers"]], [["heading", 0, "Piers"]], [["text", 0, 3]], [["text"]], 3])
def test_what_are_no_blocks_is_named(tmp_path: Path, blocks: object) -> None:
    path = tmp_path / "manuals.jsonl"
    path.write_text(json.dumps({"blocks": blocks}))
    with pytest.raises(ValueError, match=r"CRF970.*manuals.jsonl, line 1"):
        list(SectionCorpus(path).read_docs(spacy.blank("xx").vocab))


def test_the_names_of_renderings() -> None:
    assert set(RENDERINGS) == {"plain", "dense", "marked"}


def test_no_copies_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(BLOCKS) + "\n")
    with pytest.raises(ValueError, match="CRF549.*copies"):
        SectionCorpus(path=tmp_path / "a.jsonl", copies=0)


EXAMPLE = BlockDocument(
    (
        DocumentBlock(BlockKind.HEADING, 1, "Ferries of the port"),
        DocumentBlock(
            BlockKind.TEXT, 0, "They come and go with the tide, whatever the weather is, and nobody waits for long."
        ),
        DocumentBlock(BlockKind.HEADING, 2, "1. Boats"),
        DocumentBlock(BlockKind.ITEM, 0, "rafts"),
        DocumentBlock(BlockKind.ITEM, 0, "barges"),
        DocumentBlock(BlockKind.HEADING, 2, "2. Timetables"),
        DocumentBlock(BlockKind.CODE, 0, "ferry --today"),
        DocumentBlock(BlockKind.TEXT, 0, "It prints the hours of the day."),
    ),
    "port",
    "en",
)
SHOWN = {
    "`plain`": PLAIN,
    "`dense`": DENSE,
    "without numbers, underlined, bullets": Rendering(numbering="none", look="underlined", bullet="- "),
    "decimal numbers, capitals, indented": Rendering(numbering="decimal", closing=".", look="capitals", indent=4),
    "chapters in words, colons, blank lines before headings": Rendering(
        numbering="worded", look="colon", spacing="before headings", code=4
    ),
    "numbers of an outline, lines of 60 characters": Rendering(numbering="outline", closing=")", width=60),
    "a table of contents, heads of pages": Rendering(contents=True, page=8),
}
PAGE = Path(__file__).parents[2] / "docs" / "guides" / "renderings.md"


def test_the_page_of_renderings(pytestconfig: pytest.Config) -> None:
    parts = [
        "# Renderings",
        "What [`SectionCorpus`](section_parser.md) makes of one document whose headings are known, as a reader "
        "of plain text sees it.\n"
        '`rendering = "mixed"` draws such looks by a seed, half of them `plain` or `dense`. '
        "The gold is below each text: what `mixed`\n"
        "changes in numbers and titles is changed there too. A test writes this page, `python -m pytest\n"
        "tests/sections/test_rendering.py --rewrite-snapshots`.",
    ]
    for name, rendering in SHOWN.items():
        gold = render(EXAMPLE, rendering)
        tree = SectionTree(list(gold.sections))
        outline = "\n".join("  " * (node.level - 1) + f"[{node.number}] {node.title}" for node in tree.walk())
        texts = (
            "\n".join(f"    {line}".rstrip() for line in each.rstrip().split("\n"))
            for each in (gold.layout.text, outline)
        )
        parts += [f"## {name[0].upper()}{name[1:]}", "\n\nGold:\n\n".join(texts)]
    page = "\n\n".join(parts) + "\n"
    if pytestconfig.getoption("--rewrite-snapshots"):
        PAGE.write_text(page, encoding="utf8")
    assert page == PAGE.read_text(encoding="utf8")
