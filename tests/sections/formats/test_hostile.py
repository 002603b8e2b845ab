"""Damaged and hostile files: a coded error or a document, in reasonable time, never another exception."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_crf import CRFError, SectionCorpus
from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.sections.layout import DocumentLayout, to_doc
from spacy_crf.sections.reader import read_layout
from spacy_crf.sections.tree import from_json

FIXTURE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
NLP = spacy.blank("xx")
TREE = {
    **{"version": 1, "exact": True, "dropped": 0, "score": -1.5},
    "elements": [[0, 2, "NR", 0.9], [3, 8, "SECTION_TITLE", None]],
    "sections": [
        {
            **{"start": 0, "end": 8, "level": 1, "parent": None, "number": "1.", "title": "Scope"},
            **{"heading": [0, 1], "probability": 0.9, "virtual": False},
        }
    ],
}
DOCLING = {
    **{"schema_name": "DoclingDocument", "version": "1.3.0", "name": "a"},
    "body": {"children": [{"$ref": "#/texts/0"}, {"$ref": "#/tables/0"}]},
    "texts": [{"label": "section_header", "text": "1. Scope", "level": 2, "children": []}],
    "tables": [{"label": "table", "data": {"table_cells": [{"start_row_offset_idx": 0, "text": "x"}]}}],
}
GRAMMAR = '%start S\n%terminals NR "a b"\n%weights log\nS -> NR [0.5] | "a b" S [-1e3] # x\n'
SEEDS = {
    "a.txt": "1. Scope\nAll ferries.\n\n2.1 Term\n(a) one;\n- dash\n",
    "a.md": "# Scope\n\n1. *a* **b**\n> quote\n\n|a|b|\n|-|-|\n|1|2|\n\n```\ncode\n```\n",
    "a.tex": "\\def\\x#1{#1}\\section{\\x{b}}\\label{l}\n{\\bf c} $x$ \\ref{l} \\begin{tabular}{l}a & b\\end{tabular}",
    "a.html": "<meta charset=utf-8><h1>A</h1><ol start=3 type=a><li value=9>x</ol><table><tr><td>1<td>2</table>&amp;",
    "a.xml": '<document id="a"><section><nr>1.</nr> <title><b>Scope</b></title>\n<text>A</text></section></document>',
    "b.xml": "<uitspraak><section><title><nr>1.</nr> A</title><para>y</para></section></uitspraak>",
    "c.xml": "<?xml version='1.0' encoding='utf-8'?><a><title>Scope</title><p>x &amp; <i>y</i></p></a>",
    "a.json": json.dumps(DOCLING),
}
NASTY = ("\x00", "\ud800", "<", "&#1;", "{", "[", '"', "9" * 5000, "1e999", "NaN", "-1", "\\ud800", "\r", "]]>", "<!--")


@st.composite
def mutated(draw: st.DrawFn, seed: str) -> str:
    """A text with some stretches deleted, doubled, or replaced by what is often troublesome."""
    text = seed
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        put = draw(st.sampled_from(("", text[start:end] * 2, *NASTY)) | st.text(max_size=3))
        text = text[:start] + put + text[end:]
    return text


@FIXTURE
@given(st.data())
@pytest.mark.parametrize("name", SEEDS)
def test_mutated_files_are_read_or_refused(tmp_path: Path, name: str, data: st.DataObject) -> None:
    path = tmp_path / name
    path.write_bytes(data.draw(mutated(SEEDS[name])).encode("utf8", "surrogatepass"))
    try:
        to_doc(NLP.vocab, read_layout(path))
    except CRFError as error:
        assert error.code and len(str(error)) < 2000


@FIXTURE
@given(st.data())
@pytest.mark.parametrize("suffix", ["json", "jsonl", "xml"])
def test_mutated_corpora_are_read_or_refused(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    seed = (
        SEEDS["a.xml"]
        if suffix == "xml"
        else json.dumps({"text": "1. Scope", "layout": [[0, 2, "bold"]], "tree": TREE})
    )
    (tmp_path / f"a.{suffix}").write_bytes(data.draw(mutated(seed)).encode("utf8", "surrogatepass"))
    try:
        list(SectionCorpus(tmp_path / f"a.{suffix}").read_docs(NLP.vocab))
    except CRFError as error:
        assert error.code


@settings(max_examples=150)
@given(mutated(GRAMMAR))
def test_mutated_grammars_are_read_or_refused(text: str) -> None:
    try:
        Grammar.from_text(text, "a.grammar")
    except CRFError as error:
        assert error.code


ODD = st.sampled_from((None, True, -1, 10**4000, 1e400, float("nan"), 1e308, "x", [], {}, [[]], 0.5))


@given(st.data())
def test_trees_of_odd_values_are_refused(data: st.DataObject) -> None:
    tree: dict[str, Any] = json.loads(json.dumps(TREE))
    holder = data.draw(
        st.sampled_from([tree, tree["elements"][0], tree["sections"][0], tree["sections"][0]["heading"]])
    )
    key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else list(range(len(holder)))))
    holder[key] = data.draw(ODD)
    try:
        made = from_json(tree)
    except CRFError as error:
        assert error.code == "CRF952" and len(str(error)) < 500
    else:
        assert from_json(json.loads(json.dumps(made.to_json(), allow_nan=False))) == made


@pytest.mark.parametrize(
    "name, content, code",
    [
        ("a.json", '{"a": ' + "9" * 5000 + "}", "CRF574"),
        ("a.json", "[" * 100_000, "CRF574"),
        ("a.json", "{\n]", "CRF574"),
        ("a.json", json.dumps(DOCLING).replace('"level": 2', '"level": 1e999'), "CRF574"),
        ("a.json", json.dumps(DOCLING).replace("Scope", "\\ud800"), "CRF573"),
        ("a.json", json.dumps(DOCLING).replace("#/texts/0", "#/texts/" + "9" * 5000), "CRF957"),
        ("a.xml", '<?xml version="1.0" encoding="utf-7"?><a/>', "CRF533"),
        ("a.xml", '<?xml version="1.0" encoding="idna"?><a/>', "CRF533"),
        ("a.xml", "<a>" * 20_000, "CRF533"),
        ("a.html", "<meta charset=idna><p>x", "CRF504"),
        ("a.html", "<meta charset=utf-7><p>+", "CRF504"),
        ("a.html", "<meta charset=unicode_escape><p>\\ud800", "CRF504"),
        ("a.html", "<meta charset=undefined><p>x", "CRF504"),
        ("a.html", "<meta charset=rot13><p>x", "CRF504"),
        ("a.txt.gz", gzip.compress(b"1. Scope\n" * 99, mtime=0)[:-9], "CRF505"),
        ("a.md.gz", gzip.compress(bytes(100_000_000), mtime=0), "CRF570"),
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, name: str, content: str | bytes, code: str) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf8"))
    with pytest.raises(CRFError, match=rf"^\[{code}\].*{name}"):
        read_layout(path)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(CRFError, match=r"CRF573.*'odd'.*D800"):
        to_doc(NLP.vocab, DocumentLayout("1. \ud800", (), "odd"))


def test_pages_in_other_encodings_are_read(tmp_path: Path) -> None:
    for encoding in ("shift_jis", "gb18030", "euc-kr", "windows-1252", "koi8-r"):
        path = tmp_path / "a.html"
        path.write_bytes(f"<meta charset={encoding}><p>1. abc".encode(encoding))
        assert read_layout(path).text == "1. abc\n"


def test_headings_in_deep_tables_take_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<table>" * 10_000 + "<h1>x</h1>" * 10_000)
    assert len(read_layout(path).units) == 10_000
