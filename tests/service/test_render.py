"""What notebooks show: Docs by `render`, and objects by themselves, with every string escaped."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import spacy
from helpers.pages import Page
from helpers.paths import ROOT
from hypothesis import given
from hypothesis import strategies as st
from spacy import displacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf import CRF, Corpus, CRFError, explain, render
from spacy_crf.annotation import parts
from spacy_crf.tagsets.report import report_sets

TEXTS = {
    "sets": ("sets", "uinen <script>alert(1)</script> sawzel"),
    "changes": ("references", "Ferreira <b>Tomás</b>, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003."),
    "sections": ("sections", "1. Scope <script>\nAll ferries.\n\n2. Term\nA year, see 1.\n"),
    "marks": ("punctuation", "dear tom <script> how is your sister"),
}


@pytest.mark.parametrize("style", TEXTS)
def test_docs_are_shown_in_each_style(load: Callable[[str], Any], style: Any) -> None:
    name, text = TEXTS[style]
    nlp = load(name)
    if style == "changes":
        nlp.get_pipe("constrained_ner").cfg["changes"] = "constraint_changes"
    docs = list(nlp.pipe([text, text]))
    found = render(docs, style)
    assert found == found._repr_html_()
    assert Page(found).text.count("<") >= 2 * text.count("<")
    page = render(docs[0], style, page=True)
    assert page.startswith("<!DOCTYPE html>") and Page(page).text.count("<") >= text.count("<")


def test_names_of_attributes_can_be_others(load: Callable[[str], Any]) -> None:
    nlp = load("sets")
    nlp.get_pipe("set_valued_tagger").cfg.update(tag_set="own_sets", tag_probs="own_probs")
    assert "ART | CARD" in render(nlp("uinen sawzel"), tag_set="own_sets", tag_probs="own_probs")


def test_what_cannot_be_shown_has_a_code() -> None:
    doc = spacy.blank("en")("a b")
    with pytest.raises(CRFError, match="CRF585"):
        render(doc, "dep")  # type: ignore[arg-type]
    for style in TEXTS:
        with pytest.raises(CRFError, match="CRF586.*'a b'"):
            render(doc, style)  # type: ignore[arg-type]


def test_an_explanation_a_tree_and_a_report_show_themselves(load: Callable[[str], Any]) -> None:
    nlp = load("tagger")
    (why,) = explain(nlp.get_pipe("crf_tagger"), nlp.make_doc("The <b>boats</b>"), [1])
    assert why.contributions[0].name in Page(why._repr_html_()).text
    (doc,) = load("sections").pipe(["1. Scope <script>\nAll ferries.\n\n2. Term\nA year.\n"])
    assert "Scope <script>" in Page(doc._.section_tree._repr_html_()).text
    nlp = load("sets")
    examples = [
        Example(nlp(eg.reference.copy()), eg.reference) for eg in Corpus(ROOT / "corpus/set_valued_tagger/dev")(nlp)
    ]
    assert "coverage" in Page(report_sets(nlp.get_pipe("set_valued_tagger"), examples)._repr_html_()).text
    assert "CRF" in CRF(algorithm="<script>")._repr_html_() and "<script>alert" not in CRF()._repr_html_()


@given(st.text(max_size=20), st.dictionaries(st.text(max_size=5), st.floats(0, 1), max_size=3))
def test_no_text_is_taken_for_html(text: str, probabilities: dict[str, float]) -> None:
    token = {"text": text, "start": 0, "end": len(text), "tag": text, "set": [text, text], "probability": 0.5}
    change = {"text": text, "start": 0, "end": 1, "from": text, "to": text, "because": [[text]]}
    entity = {"text": text, "start": 0, "end": len(text), "label": text, "probability": None}
    mark = {"word": text, "mark": text, "at": 0, "probability": 0.5, "probabilities": probabilities}
    for html in (
        parts.words([{**token, "probabilities": probabilities}], text, active=True),
        parts.spans({"entities": [entity], "changes": [change]}, text),
        parts.restored({"restored": text, "marks": [mark]}),
        parts.cells([{"text": text, "at": 0}], text),
        parts.bars(probabilities.items()),
        parts.table([[text, 0.5]], [text, text]),
        parts.failed({"message": text}),
    ):
        Page(html)


def test_a_label_has_one_colour_everywhere() -> None:
    assert parts.hue_of("TITLE") == parts.hue_of("title") != parts.hue_of("AUTHOR")
    assert all(0 <= parts.hue_of(label) < 360 for label in ("A", "", "é"))


def test_displacy_finds_our_colours(load: Callable[[str], Any]) -> None:
    doc = load("references")("Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.")
    assert doc.ents
    html = displacy.render(doc, style="ent", jupyter=False)
    assert parts.label_colors()[doc.ents[0].label_] in html


def test_the_service_is_not_needed_to_show_docs() -> None:
    code = "import sys\nfrom spacy_crf import render\nassert not {'fastapi', 'uvicorn'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize(
    "name", ["dictionary", "entities", "hierarchy", "punctuation", "references", "sections", "tagger"]
)
def test_what_is_written_to_docs_goes_into_json(load: Callable[[str], Any], name: str) -> None:
    nlp = load(name)
    for _, pipe in nlp.pipeline:
        for setting, value in {
            "marginals": "own_marginals",
            "changes": "own_changes",
            "entropy": "own_entropy",
        }.items():
            if setting in getattr(pipe, "cfg", {}):
                pipe.cfg[setting] = value
    doc = nlp("1. Ferreira, Tomás, and Edith Crane.\nThe Kitchen Sonnet. Tollgate Press 2003.\n")
    names = {key[1] for key in doc.user_data if isinstance(key, tuple) and key[0] == "._."}
    names |= {name for name in ("restored", "section_tree_json") if doc.has_extension(name)}
    written = sorted(name for name in names if not name.startswith("spacy_crf."))  # those are notes of ours
    told = doc.to_json(underscore=written)
    assert written and {*told.get("_", {}), *told.get("underscore_token", {}), *told.get("underscore_span", {})} == set(
        written
    )
    again = Doc(nlp.vocab).from_json(told)
    assert again.text == doc.text
