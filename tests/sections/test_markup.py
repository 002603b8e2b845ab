"""Headings that Markdown and HTML name: trusted, preferred, ignored."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from spacy_crf import read_layout
from spacy_crf.sections.layout import to_doc

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


@pytest.mark.parametrize("markup", ["trust", "prefer", "ignore"])
def test_a_document_without_mark_up_is_parsed_as_ever(markup: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"markup": markup})
    doc = nlp("1. Scope\nAll ferries of the port and of the sea.\n\n2. Term\nA year, or more of them.\n")
    assert sections(doc) == [(1, "1.", "Scope"), (1, "2.", "Term")]
