"""The component: untrained, trained, stored, in a pipeline."""

import json
import re
import warnings
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
import spacy
from confection import ConfigValidationError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import raise_error

from spacy_crf.core.chain.temperature import token_loss
from spacy_crf.core.errors import CRFWarning
from spacy_crf.sections.grammar import read_grammar
from spacy_crf.sections.layout import DocumentLayout, to_doc, units_of
from spacy_crf.sections.reader import SectionCorpus, read_layout
from spacy_crf.sections.segment import Kind
from spacy_crf.sections.spans import Elements, read_elements, write_elements
from spacy_crf.sections.tree import from_json

TEXT = """1. Definitions
1.1 In this agreement the words below have the meaning given.
1.2 Words in the singular include the plural.

2. Term and termination
The agreement ends after a year.
3.1 Payment is due in thirty days.
3.2 Interest runs after that.

4 Governing law
Dutch law applies.
"""


def outline(doc: Doc) -> list[tuple[int, str, str, bool]]:
    return [
        (found["level"], found["number"], found["title"], found["virtual"])
        for span in doc.spans["sections"]
        if (found := span._.section)
    ]


def test_it_works_untrained(nlp: Language) -> None:
    doc = nlp(TEXT)
    assert doc.text == TEXT
    assert outline(doc) == [
        (1, "1.", "Definitions", False),
        (2, "1.1", "", False),
        (2, "1.2", "", False),
        (1, "2.", "Term and termination", False),
        (1, "3", "", True),
        (2, "3.1", "", False),
        (2, "3.2", "", False),
        (1, "4", "Governing law", False),
    ]
    rules = doc.spans["elements"].attrs["rules"]
    assert rules[:2] == ["number of a sequence", "known title"]
    assert all(0 < p <= 1 for p in doc.spans["sections"].attrs["probability"])


def test_titles_that_begin_with_a_capital_letter_have_no_number(nlp: Language) -> None:
    doc = nlp("A Guide to Ferries\n\n1. Scope\nAll.\n\nA Note on Boats\nMore.\n\n2. Terms\nA year.\n")
    numbers = [node.number for node in doc._.section_tree.walk()]
    assert "A" not in numbers and [number for number in numbers if number] == ["1.", "2."]


BODY = "The clerk answers with the data of the harbour, and the request ends there with an error."


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
@pytest.mark.parametrize("word", ["", "Chapter "])
def test_titles_that_text_follows_stand_below_the_number_before_them(nlp: Language, gap: str, word: str) -> None:
    lines = [f"{word}1. Introduction", BODY, f"{word}2. Setup", BODY, "Query Version", BODY, "Query Filters", BODY]
    lines += [f"{word}3. Requests", BODY, "Create Picture", BODY, "Free Picture", BODY, f"{word}4. Versions", BODY]
    titles = [(node.level, node.title) for node in nlp(gap.join(lines))._.section_tree.walk()]
    assert titles == [
        *[(1, "Introduction"), (1, "Setup"), (2, "Query Version"), (2, "Query Filters")],
        *[(1, "Requests"), (2, "Create Picture"), (2, "Free Picture"), (1, "Versions")],
    ]


@pytest.mark.parametrize("change, gap", [(str, "\n\n"), (str.upper, "\n\n"), (str.upper, "\n")])
def test_titles_right_before_numbers_that_go_on_hold_them(
    nlp: Language, change: Callable[[str], str], gap: str
) -> None:
    first, second = change("General Provisions"), change("Duties of the Clerk")
    lines = [first, "Article 1 Scope", BODY, "Article 2 Terms", BODY]
    lines += [second, "Article 3 Reports", BODY, "Article 4 Books", BODY]
    titles = [(node.level, node.title) for node in nlp(gap.join(lines))._.section_tree.walk()]
    assert titles == [(1, first), (2, "Scope"), (2, "Terms"), (1, second), (2, "Reports"), (2, "Books")]


def test_titles_in_capitals_hold_numbers_that_go_on_behind_their_text(nlp: Language) -> None:
    lines = ["GENERAL PROVISIONS", BODY, "1. Scope", BODY, "2. Terms", BODY]
    lines += ["DUTIES OF THE CLERK", BODY, "3. Reports", BODY, "4. Books", BODY]
    titles = [(node.level, node.title) for node in nlp("\n\n".join(lines))._.section_tree.walk()]
    assert titles == [
        *[(1, "GENERAL PROVISIONS"), (2, "Scope"), (2, "Terms")],
        *[(1, "DUTIES OF THE CLERK"), (2, "Reports"), (2, "Books")],
    ]


@pytest.mark.parametrize("title", ["CLI", "CLI Reference", "IV Fluids"])
def test_headings_that_begin_with_roman_numerals_alone_are_titles(nlp: Language, tmp_path: Path, title: str) -> None:
    path = tmp_path / "port.md"
    path.write_text(f"# Port\n\n## Boats\n\nWords.\n\n## {title}\n\nMore words.\n\n## Terms\n\nA year.\n")
    (doc,) = nlp.pipe([to_doc(nlp.vocab, read_layout(path))])
    (gold,) = SectionCorpus(path).read_docs(nlp.vocab)
    for one in (doc, gold):
        found = [(node.number, node.title) for node in one._.section_tree.walk()]
        assert found == [("", "Port"), ("", "Boats"), ("", title), ("", "Terms")]


def test_parents_and_children(nlp: Language) -> None:
    doc = nlp(TEXT)
    sections = list(doc.spans["sections"])
    assert [child._.section["number"] for child in sections[0]._.section_children] == ["1.1", "1.2"]
    assert sections[1]._.section_parent.id == sections[0].id
    assert sections[0]._.section_parent is None
    # the virtual section and its first child cover the same words
    virtual = next(span for span in sections if span._.section["virtual"])
    assert [child._.section["number"] for child in virtual._.section_children] == ["3.1", "3.2"]
    other = doc[0:2]
    assert other._.section is None and other._.section_parent is None and other._.section_children == []


def test_elements_have_the_characters_of_units_where_tokens_are_longer(nlp: Language) -> None:
    doc = nlp("1.Scope of it\n2.Term of it")
    offsets = doc.spans["elements"].attrs["offsets"]
    assert offsets == [[unit.start, unit.end] for unit in units_of(doc)]


@pytest.mark.parametrize("text", ["", " ", "\n", "\n\n", "one line", "1.", "1.\n2.\n3.", "Decision"])
def test_small_documents(nlp: Language, trained: Language, text: str) -> None:
    for pipeline in (nlp, trained):
        doc = pipeline(text)
        assert doc.text == text
        assert doc.spans["elements"].attrs["offsets"] == [[unit.start, unit.end] for unit in units_of(doc)]
        assert len(doc.spans["sections"]) == len(list(doc._.section_tree.walk()))


@settings(max_examples=30)
@given(text=st.text('ab1i.\n ()-A"', max_size=60))
def test_every_unit_is_one_element_and_the_text_stays(trained: Language, text: str) -> None:
    doc = trained(trained.make_doc(text))
    assert doc.text == text
    elements = doc._.section_tree.elements
    assert [(element.start, element.end) for element in elements] == [(u.start, u.end) for u in units_of(doc)]
    ends = [(node.start_char, node.end_char) for node in doc._.section_tree.walk()]
    assert all(0 <= start < end <= len(text) for start, end in ends)


def test_it_learns(trained: Language, folder: Path) -> None:
    scores = trained.evaluate(list(SectionCorpus(folder)(trained)))
    assert scores["elements_acc"] == 1.0
    assert scores["elements_f_per_type"]["SECTION_TITLE"] == {"p": 1.0, "r": 1.0, "f": 1.0, "f05": 1.0}
    assert trained.get_pipe("section_parser").labels == ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")


@pytest.mark.parametrize("newlines", [True, False])
def test_with_and_without_blank_lines_in_the_chain(folder: Path, newlines: bool) -> None:
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.UnitFeatures.v1", "templates": ["@sections"], "newlines": newlines}
    nlp.add_pipe("section_parser", config={"features": features, "joint": False})
    examples = list(SectionCorpus(folder)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=optimizer)
    nlp.update(examples, sgd=optimizer)
    doc = nlp(examples[0].predicted)
    labels = [span.label_ for span in doc.spans["elements"]]
    assert labels == [span.label_ for span in examples[0].reference.spans["elements"]]
    assert "NEWLINE" in labels


def test_a_temperature_is_fitted_to_elements(folder: Path) -> None:
    nlp = spacy.blank("en")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.05}
    pipe = nlp.add_pipe("section_parser", config={"temperature": "auto", "learn_tree": False, "trainer": trainer})
    examples = list(SectionCorpus(folder)(nlp))
    nlp.update(examples, sgd=nlp.initialize(lambda: examples))
    doubtful = [example for _ in range(20) for example in SectionCorpus(folder)(nlp)]
    for number, example in enumerate(doubtful):
        elements = read_elements(example.reference, "elements")
        assert elements is not None
        elements.labels[number % len(elements.labels)] = ("TEXT_BLOCK", "UNHEARD_OF")[number % 2]
        write_elements(example.reference, "elements", elements, {})
    before = pipe.held_out(doubtful)
    assert before.missed is not None and before.missed.any()
    pipe.calibrate(doubtful)
    best = min(np.geomspace(0.3, 30, 60).tolist(), key=lambda temperature: token_loss(before, temperature))
    assert pipe.cfg["temperature"] == pytest.approx(best, rel=0.1)
    assert pipe.cfg["temperature"] > 1


def test_it_is_stored(trained: Language, tmp_path: Path) -> None:
    before = trained(TEXT)
    trained.to_disk(tmp_path / "pipeline")
    for loaded in (
        spacy.load(tmp_path / "pipeline"),
        spacy.blank("en").from_config(trained.config).from_bytes(trained.to_bytes()),
    ):
        after = loaded(TEXT)
        assert outline(after) == outline(before)
        assert after.spans["elements"].attrs["offsets"] == before.spans["elements"].attrs["offsets"]
        assert after._.section_tree.score == pytest.approx(before._.section_tree.score, abs=1e-4)
    stored = {file.name: file.read_bytes() for file in (tmp_path / "pipeline" / "section_parser").iterdir()}
    spacy.load(tmp_path / "pipeline").to_disk(tmp_path / "again")
    assert stored == {file.name: file.read_bytes() for file in (tmp_path / "again" / "section_parser").iterdir()}


def test_what_it_writes_survives_processes_and_files(nlp: Language, tmp_path: Path) -> None:
    alone = nlp(TEXT)
    for doc in nlp.pipe([TEXT] * 4, n_process=2, batch_size=2):
        assert doc._.section_tree == alone._.section_tree
        assert outline(doc) == outline(alone)
    DocBin(docs=[alone], store_user_data=True).to_disk(tmp_path / "docs.spacy")
    read = next(iter(DocBin().from_disk(tmp_path / "docs.spacy").get_docs(nlp.vocab)))
    assert outline(read) == outline(alone) and read._.section_tree == alone._.section_tree


def test_what_a_trained_component_writes_survives_processes(trained: Language) -> None:
    alone = trained(TEXT)
    for doc in trained.pipe([TEXT] * 4, n_process=2, batch_size=2):
        assert doc._.section_tree == alone._.section_tree
        assert outline(doc) == outline(alone)


@pytest.mark.parametrize("joint", [True, False])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text('ab1i.\n ()-A"', max_size=60))
def test_only_candidates_are_numbers(trained: Language, joint: bool, text: str) -> None:
    pipe = trained.get_pipe("section_parser")
    doc = trained.make_doc(text)
    try:
        pipe.cfg["joint"] = joint
        (found,) = pipe.predict([doc])
    finally:
        pipe.cfg["joint"] = True
    others = [place for place, unit in enumerate(found.units) if unit.kind is not Kind.NUMBER]
    number = pipe.labels.index("NR")
    assert not np.any(found.probabilities[others, number])
    assert not np.any(found.tags[others] == number)


@pytest.mark.filterwarnings("ignore:.*CRFW990")
def test_other_elements_may_be_numbers_if_the_settings_say_so(folder: Path) -> None:
    nlp = spacy.blank("en")
    examples = list(SectionCorpus(folder)(nlp))
    for example in examples:
        elements = read_elements(example.reference, "elements")
        assert elements is not None
        elements.labels[elements.labels.index("SECTION_TITLE")] = "NR"
        write_elements(example.reference, "elements", elements, {})
    labels = {}
    for only in (True, False):
        nlp = spacy.blank("en")
        trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.05}
        config = {"candidates_only": only, "joint": False, "learn_tree": False, "trainer": trainer}
        nlp.add_pipe("section_parser", config=config)
        optimizer = nlp.initialize(lambda: examples)
        for _ in range(2):
            nlp.update(examples, sgd=optimizer)
        found = nlp(examples[0].predicted).spans["elements"]
        labels[only] = next(span.label_ for span in found if span.text == "Delivery")
    assert labels[False] == "NR" and labels[True] != "NR"


def test_blank_lines_are_blank_lines_whatever_training_shows(tmp_path: Path) -> None:
    days = [
        ["heading", 1, f"{day} March"] if k else ["text", 0, f"Wind from the {day}th buoy."]
        for day in range(1, 9)
        for k in (1, 0)
    ]
    (tmp_path / "a.json").write_text(json.dumps({"blocks": days}))
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"trainer": {"@misc": "spacy_crf.LBFGS.v1"}, "candidates_only": False})
    examples = list(SectionCorpus(tmp_path, rendering="dense")(nlp))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CRFWarning)  # labels without an example
        optimizer = nlp.initialize(lambda: examples)
        nlp.update(examples, sgd=optimizer)
    doc = nlp("9 March\n\nWind from the west.\n\n\n10 March\n\nCalm.\n\nRain.\n")
    found = zip(doc.spans["elements"].attrs["offsets"], doc.spans["elements"])
    blank = [span.label_ == "NEWLINE" for (start, end), span in found if not doc.text[start:end].strip()]
    assert len(blank) == 5 and all(blank)
    assert all(node.title.strip() for node in doc._.section_tree.walk())


def test_the_tree_overrules_no_label_that_weighs_enough(trained: Language) -> None:
    pipe = trained.get_pipe("section_parser")
    try:
        pipe.cfg["label_weight"] = 1000.0
        (found,) = pipe.predict([trained.make_doc(TEXT)])
    finally:
        pipe.cfg["label_weight"] = 1.0
    assert found.tags.tolist() == found.probabilities.argmax(axis=1).tolist()


@pytest.mark.parametrize("most", [None, 1])
def test_the_tree_tells_whether_it_is_exact(most: int | None, nlp: Language) -> None:
    nlp.get_pipe("section_parser").cfg["max_states"] = most
    tree = nlp("1. Scope\n2. Term\n")._.section_tree
    assert tree.exact  # with a cap as well: what was left out could not have been better
    assert (tree.dropped == 0) is (most is None)
    assert from_json(tree.to_json()).exact
    assert not from_json({**tree.to_json(), "exact": False}).exact


def test_a_document_that_fails_does_not_take_its_batch_down(trained: Language) -> None:
    bad = trained.make_doc("1. Scope")
    bad.user_data["spacy_crf.layout"] = [["no", "formatting", 3]]
    failed = []
    trained.set_error_handler(lambda name, pipe, docs, error: failed.append((docs, str(error))))
    try:
        found = list(trained.pipe([trained.make_doc(TEXT), bad, trained.make_doc("\x00\ufffe\n1. \x07")]))
    finally:
        trained.set_error_handler(raise_error)
    assert [doc.text[:2] for doc in found] == ["1.", "\x00\ufffe"]
    assert all(doc._.section_tree is not None for doc in found)
    ((docs, message),) = failed
    assert docs == [bad] and "CRF951" in message


def test_rules_can_be_asked_of_a_trained_component(trained: Language) -> None:
    pipe = trained.get_pipe("section_parser")
    try:
        pipe.cfg["labeller"] = "rules"
        assert "rules" in trained(TEXT).spans["elements"].attrs
    finally:
        pipe.cfg["labeller"] = "auto"
    assert "rules" not in trained(TEXT).spans["elements"].attrs


def test_joint_labels_agree_with_the_tree(trained: Language) -> None:
    tree = trained(TEXT)._.section_tree
    headings = {place for node in tree.walk() for place in node.heading}
    assert all(tree.elements[place].label in ("NR", "SECTION_TITLE") for place in headings)


def test_formatting_counts(nlp: Language) -> None:
    text = "Of mice and men\nIt was a long day at the farm."
    doc = nlp(to_doc(nlp.vocab, DocumentLayout(text, ((0, 15, "heading1"),))))
    assert outline(doc) == [(1, "", "Of mice and men", False)]


def test_other_labels(folder: Path) -> None:
    nlp = spacy.blank("en")
    roles = {"number": "N", "title": "T", "text": "X", "newline": "B"}
    nlp.add_pipe("section_parser", config={"roles": roles})
    doc = nlp(TEXT)
    assert {span.label_ for span in doc.spans["elements"]} == {"N", "T", "X", "B"}
    assert outline(nlp(TEXT))[0] == (1, "1.", "Definitions", False)


@pytest.mark.parametrize("roles", [{"heading": "H"}, {"title": "NR"}])
def test_wrong_roles_are_refused(roles: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="CRF969"):
        spacy.blank("en").add_pipe("section_parser", config={"roles": roles})


@pytest.mark.parametrize(
    "features, code",
    [
        ({"templates": ["UNIT(colour)"]}, "CRF965"),
        ({"templates": ["LOWER"]}, "CRF965"),
        ({"templates": ["@sections"], "languages": ["fy"]}, "CRF968"),
        ({"templates": []}, "CRF310"),
    ],
)
def test_wrong_features_are_refused(features: dict[str, object], code: str) -> None:
    with pytest.raises(ValueError, match=code):
        spacy.blank("en").add_pipe(
            "section_parser", config={"features": {"@misc": "spacy_crf.UnitFeatures.v1", **features}}
        )


def test_units_are_not_for_components_over_tokens() -> None:
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["UNIT(kind)"]}
    with pytest.raises(ValueError, match="CRF966"):
        spacy.blank("en").add_pipe("crf_tagger", config={"features": features})


def test_lists_of_ones_own(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text("delivery\ttopic\n", encoding="utf8")
    features = {
        "@misc": "spacy_crf.UnitFeatures.v1",
        "templates": ["UNIT(has topic)", "UNIT(kind)"],
        "lists": {"own": str(path)},
    }
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("section_parser", config={"features": features})
    examples = list(SectionCorpus(folder)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=optimizer)
    assert any("has topic" in name for name in pipe.features.state.names())
    path.write_text("delivery\n", encoding="utf8")
    with pytest.raises(ValueError, match="CRF967.*line 1"):
        nlp.initialize(lambda: examples)


def test_a_list_that_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    features = {
        "@misc": "spacy_crf.UnitFeatures.v1",
        "templates": ["UNIT(kind)"],
        "lists": {"own": str(tmp_path / "no.tsv")},
    }
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"features": features})
    with pytest.raises(ValueError, match="CRF307"):
        nlp.initialize(lambda: list(SectionCorpus(folder)(nlp)))


@pytest.mark.parametrize(
    "settings",
    [
        *({"temperature": 0.0}, {"label_weight": -1.0}, {"label_weight": 0.0}, {"tree_c2": -1.0}, {"max_states": 0}),
        *({"elements_key": ""}, {"sections_key": "elements"}, {"grammar": ""}),
    ],
)
def test_settings_without_meaning_are_refused(settings: dict[str, Any]) -> None:
    (setting,) = settings
    with pytest.raises(ValueError, match=f"CRF408.*section_parser.*{setting}"):
        spacy.blank("xx").add_pipe("section_parser", config=settings)


# -- trees by a grammar ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grammar, levels",
    [("thesis", [1, 1, 2, 2, 1]), ("thesis_code", [1, 1, 2, 1, 1])],  # the code has no term for 2.1 before 2.2
)
def test_grammars_build_the_tree(grammar: str, levels: list[int]) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"parser": "grammar", "grammar": grammar, "joint": False})
    doc = nlp("1. Scope\nAll ferries.\n\n2. Term\nA year.\n2.1 Or less.\n2.2 Or more.\n3. Law\nThat of the sea.\n")
    assert [level for level, _, _, _ in outline(doc)] == levels
    assert [number for _, number, _, _ in outline(doc)] == ["1.", "2.", "2.1", "2.2", "3."]
    assert [title for _, _, title, _ in outline(doc)][:2] == ["Scope", "Term"]
    assert all(0 < span._.section["probability"] <= 1 for span in doc.spans["sections"])
    assert not list(nlp("Some text.\n\nMore of it.")._.section_tree.walk())
    assert not list(nlp("")._.section_tree.walk())


@pytest.mark.parametrize("grammar", ["thesis", "thesis_code"])
def test_sections_of_grammars_begin_with_their_headings(grammar: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"parser": "grammar", "grammar": grammar})
    text = "THE FACTS\nAll ferries are late, and so are all trains of today."
    for before in "", "\n\n":  # which these grammars count to the title
        tree = nlp(before + text)._.section_tree
        places = [(node.start_char, node.end_char, tree.elements[node.heading[0]].start) for node in tree.walk()]
        assert places == [(len(before), len(before + text), len(before))]


def test_a_grammar_of_ones_own_is_saved_with_the_model(tmp_path: Path) -> None:
    path = tmp_path / "own.grammar"
    path.write_text(read_grammar("thesis").to_text(), encoding="utf8")
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"parser": "grammar", "grammar": str(path)})
    before = outline(nlp(TEXT))
    nlp.to_disk(tmp_path / "pipeline")
    path.unlink()
    assert outline(spacy.load(tmp_path / "pipeline")(TEXT)) == before
    assert outline(spacy.load(tmp_path / "pipeline", config={"components.section_parser.grammar": "thesis"})(TEXT))
    config = {"components.section_parser.parser": "stack"}
    with pytest.warns(CRFWarning, match=r"CRFW887.*grammar = .*own\.grammar.*parser = 'grammar'"):
        nlp = spacy.load(tmp_path / "pipeline", config=config)
    assert outline(nlp(TEXT)) == outline(parse_by_stack(TEXT))
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"parser": "grammar", "grammar": str(path)})
    with pytest.raises(ValueError, match=r"CRF950.*own\.grammar"):
        nlp(TEXT)


def parse_by_stack(text: str) -> Doc:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    return nlp(text)


def test_what_one_parser_has_learned_is_kept_while_the_other_is_used(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "trained")
    nlp = spacy.load(tmp_path / "trained")
    pipe = nlp.get_pipe("section_parser")
    weights, before = pipe.tree_parser.to_data(), outline(nlp(TEXT))
    pipe.cfg["parser"] = "grammar"
    grammar = pipe.tree_parser.to_data()
    for name in ("first", "second"):
        nlp.to_disk(tmp_path / name)
        nlp = spacy.load(tmp_path / name)
        pipe = nlp.get_pipe("section_parser")
    assert pipe.cfg["parser"] == "grammar" and pipe.tree_parser.to_data() == grammar
    with pytest.raises(ValueError, match="CRF408.*grammar"):
        pipe.cfg["grammar"] = "thesis_code"
    pipe.cfg["parser"] = "stack"
    assert pipe.tree_parser.to_data() == weights and outline(nlp(TEXT)) == before
    examples = [Example(nlp.make_doc(TEXT), nlp(TEXT))]
    nlp.initialize(lambda: examples)
    assert pipe.tree_parser.to_data() == {}


def test_weights_of_a_grammar_are_learned_and_stored(folder: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("section_parser", config={"parser": "grammar"})
    examples = list(SectionCorpus(folder)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    written = pipe.tree_parser.to_data()
    nlp.update(examples, sgd=optimizer)
    nlp.update(examples, sgd=optimizer)
    assert pipe.tree_parser.to_data() != written
    assert nlp.evaluate(examples)["parseval_f"] == 1.0
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    assert loaded.get_pipe("section_parser").tree_parser.to_data() == pipe.tree_parser.to_data()
    assert loaded.evaluate(examples)["parseval_f"] == 1.0
    nlp.initialize(lambda: examples)
    assert pipe.tree_parser.to_data() == written


def test_weights_of_a_grammar_stay_as_written_where_nothing_is_to_be_learned(folder: Path) -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("section_parser", config={"parser": "grammar", "learn_tree": False})
    examples = list(SectionCorpus(folder)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    written = pipe.tree_parser.to_data()
    nlp.update(examples, sgd=optimizer)
    assert pipe.tree_parser.to_data() == written


def test_a_grammar_refuses_long_documents() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"parser": "grammar"})
    with pytest.raises(ValueError, match="CRF959.*501 units"):
        nlp("1. Scope\n" + "word\n" * 499)


def test_a_grammar_is_read_before_training(folder: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"parser": "grammar", "grammar": "of_nobody"})
    with pytest.raises(ValueError, match="CRF950.*of_nobody.*thesis, thesis_code"):
        nlp.initialize(lambda: list(SectionCorpus(folder)(nlp)))


def test_the_parser_is_one_of_two() -> None:
    with pytest.raises(ConfigValidationError, match="parser"):
        spacy.blank("en").add_pipe("section_parser", config={"parser": "earley"})


def test_two_parsers_have_sections_of_their_own(nlp: Language) -> None:
    other = {"sections_key": "others", "elements_key": "other_elements", "label_weight": 0.05}
    with pytest.warns(CRFWarning, match="CRFW406.*section_tree"):
        nlp.add_pipe("section_parser", name="other", config=other)
    doc = nlp(TEXT)
    for key in ("sections", "others"):
        group = doc.spans[key]
        assert [span._.section["probability"] for span in group] == group.attrs["probability"]
    assert doc.spans["sections"].attrs["probability"] != doc.spans["others"].attrs["probability"]
    assert Span(doc, 0, 2, label="SECTION", span_id="section-x")._.section is None


def test_labels_whose_role_another_one_has_are_told_of(folder: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser", config={"roles": {"title": "HEADING"}})
    examples = list(SectionCorpus(folder)(nlp))
    with pytest.warns(CRFWarning, match="CRFW968.*SECTION_TITLE.*HEADING"):
        nlp.initialize(lambda: examples)


@pytest.mark.parametrize(
    "word, candidates_only, told", [("Madde", True, True), ("Madde", False, False), ("Article", True, False)]
)
def test_gold_numbers_that_are_never_predicted_are_told_of(
    tmp_path: Path, word: str, candidates_only: bool, told: bool
) -> None:
    sections = "".join(f"<section><nr>{word} {k}</nr>\n<title>Boats</title>\n</section>" for k in range(1, 5))
    (tmp_path / "a.xml").write_text(f"<document>\n{sections}</document>")
    nlp = spacy.blank("xx")
    nlp.add_pipe("section_parser", config={"candidates_only": candidates_only})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nlp.initialize(lambda: SectionCorpus(tmp_path)(nlp))
    messages = [str(each.message) for each in caught if "CRFW990" in str(each.message)]
    assert len(messages) == told and all("4 of 4 gold numbers, such as 'Madde 1'" in each for each in messages)


@pytest.mark.parametrize("candidates_only", [True, False])
def test_gold_blank_lines_that_are_none_are_told_of(candidates_only: bool) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("section_parser", config={"candidates_only": candidates_only})
    doc = nlp.make_doc("Boats sail.\n\n* * *\n\nRafts drift.\n")
    blank, stars = (11, 13), (13, 18)
    for has_stars in (True, False):
        found = [(0, 11, "TEXT_BLOCK"), (*blank, "NEWLINE"), (*stars, "NEWLINE" if has_stars else "TEXT_BLOCK")]
        write_elements(doc, "elements", Elements.of(found), {})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc)])
        messages = [str(each.message) for each in caught if "CRFW991" in str(each.message)]
        assert len(messages) == has_stars and all("1 gold elements, such as '* * *'" in each for each in messages)


@pytest.mark.parametrize("title", ["Boats", "Of the boats that cross the bay"])
def test_a_number_and_a_title_that_are_one_unit_are_a_title(tmp_path: Path, title: str) -> None:
    (tmp_path / "a.xml").write_text(
        f"<document>\n<section><nr>Capitolul 1</nr> <title>{title}</title></section></document>"
    )
    (doc,) = SectionCorpus(tmp_path).read_docs(spacy.blank("xx").vocab)
    assert [span.label_ for span in doc.spans["elements"]] == ["SECTION_TITLE"]
    assert [(node.number, node.title) for node in doc._.section_tree.walk()] == [("Capitolul 1", title)]


def test_roles_that_a_trained_model_does_not_have_are_told_of(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    roles = {"title": "HEADING", "number": "NUMBER"}
    with pytest.warns(CRFWarning, match="CRFW968.*'(NR|SECTION_TITLE)'.*'(HEADING|NUMBER)'"):
        spacy.load(tmp_path, config={"components": {"section_parser": {"roles": roles}}})


def test_outlines_of_east_asia() -> None:
    nlp = spacy.blank("zh")
    nlp.add_pipe("section_parser")
    text = "第一章 总则\n第一条 本规定适用于渡轮。\n第二条 期限为一年。\n（一）前者；\n（二）后者。\n第二章 附则\n"
    found = [(node.level, node.number, node.title) for node in nlp(text)._.section_tree.walk()]
    assert found == [
        *((1, "第一章", "总则"), (2, "第一条", ""), (2, "第二条", ""), (3, "（一）", ""), (3, "（二）", "")),
        (1, "第二章", "附则"),
    ]


@pytest.mark.parametrize(
    "numbers",
    [
        ["LIVRE PREMIER", " TITRE Ier", "  Article 1er", "  Article 2", " TITRE II", "  Article 3", "  Article 4"],
        [
            "Chapitre Ier",
            " Article L. 121-1",
            " Article L. 121-2",
            "Chapitre II",
            " Article L. 122-1",
            " Article L. 122-2",
        ],
        ["CAPÍTULO I", " Artículo 1.º", " Artículo 2.º", "CAPÍTULO II", " Artículo 3.º", " Artículo 4.º"],
        ["Capo I", " Art. 1.", " Art. 1-bis.", " Art. 2.", "Capo II", " Art. 3.", " Art. 4."],
        ["Titel 1", " Artikel 3:1", " Artikel 3:1a", " Artikel 3:2", "Titel 2", " Artikel 3:3", " Artikel 3:4"],
        ["1-", " 1.1", " 1.2", "2-", " 2.1", " 2.2"],
        # the first one in words, the others in figures
        ["TITRE PREMIER", " Article 1er", " Article 2", "TITRE II", " Article 3", " Article 4"],
        ["CAPÍTULO PRIMERO", " Artículo 1.", " Artículo 2.", "CAPÍTULO II", " Artículo 3.", " Artículo 4."],
        # numbers before their words
        [
            *("1. Kapitel:", " 1. Abschnitt:", "  Art. 1", "  Art. 2", " 2. Abschnitt:", "  Art. 3", "  Art. 4"),
            *("2. Kapitel:", " Art. 5", " Art. 6"),
        ],
    ],
)
def test_numbers_of_statutes(numbers: list[str], nlp: Language) -> None:
    assert numbers_of(numbers, nlp) == numbers


def test_numbers_before_german_words_may_stand_alone(nlp: Language) -> None:
    text = "1. Abschnitt\nFähren\n\n§ 1 Zweck\n\nDas Gesetz regelt Fähren.\n\n§ 2 Ort\n\nEs gilt am Fluss.\n\n"
    text += "2. Abschnitt\nHäfen\n\n§ 3 Bau\n\nMan baut sie am Ufer.\n\n§ 4 Preis\n\nSie kosten viel Geld.\n"
    assert [(node.level, node.number, node.title) for node in nlp(text)._.section_tree.walk()] == [
        *((1, "1. Abschnitt", "Fähren"), (2, "§ 1", "Zweck"), (2, "§ 2", "Ort")),
        *((1, "2. Abschnitt", "Häfen"), (2, "§ 3", "Bau"), (2, "§ 4", "Preis")),
    ]
    wrapped = DocumentLayout(
        text, tuple((found.start(), found.end(), "paragraph") for found in re.finditer("(?:.+\n)+", text))
    )
    tree = nlp.get_pipe("section_parser")(to_doc(nlp.vocab, wrapped))._.section_tree
    assert [node.number for node in tree.walk()] == ["1. Abschnitt", "§ 1", "§ 2", "2. Abschnitt", "§ 3", "§ 4"]
    titles = "1. Titel\n\nWie das Buch heißt.\n\n2. Kapitel und Seiten\n\nWas darin steht.\n"
    assert [node.title for node in nlp(titles)._.section_tree.walk()] == ["Titel", "Kapitel und Seiten"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Annex A\nGuidance\n\nA.1 General\n\n{}\n\nA.2 Notes\n\n{}\n", ["Annex A", " A.1", " A.2"]),
        ("Appendix A. Ropes\n\n{}\n", ["Appendix A."]),
        ("ANNEX\n\nBoats\n\n1. The Anna.\n\n2. The Bertha.\n", ["ANNEX", " 1.", " 2."]),
    ],
)
def test_the_only_annex_stands_beside_the_sections_of_the_text(text: str, expected: list[str], nlp: Language) -> None:
    prose = "The keeper of the ferry shall carry all persons who ask for it."
    doc = nlp(f"1. Scope\n\n{prose}\n\n2. Terms\n\n{prose}\n\n" + text.format(prose, prose))
    assert [" " * (level - 1) + number for level, number, _, _ in outline(doc)] == ["1.", "2.", *expected]
    mentioned = f"1 Scope\n\n{prose}\n\nAnnex A shows more of the ferries.\n\n2 Terms\n\n{prose}\n"
    assert [number for _, number, _, _ in outline(nlp(mentioned))] == ["1", "2"]


@pytest.mark.parametrize(
    "numbers",
    [
        ["TITLE I", " CHAPTER I", "  Article 1", "  Article 2", "TITLE II", " CHAPTER I", "  Article 3"],
        ["TITLE I", " Article 1", "TITLE II", " CHAPTER I", "  Article 2", " CHAPTER II", "  Article 3"],
        ["TITLE I", " Article 1", "TITLE II", " CHAPTER I", "  Article 2", "TITLE III", " Article 3", " Article 4"],
        ["TITLE I", " CHAPTER I", "  Article 1", "TITLE II", " CHAPTER II", "  Article 2", "  Article 3"],
        ["TITLE I", " Article 1", " CHAPTER I", "  Article 2", "  Article 3", "TITLE II", " Article 4", " Article 5"],
        ["TEIL 1", " KAPITEL 1", "  § 1", "   (1)", "   (2)", "  § 2", "TEIL 2", " KAPITEL 1", "  § 3", "  § 4"],
        [
            "TEIL 1",
            " § 1",
            "  1.",
            "  2.",
            " § 2",
            "  1.",
            "  2.",
            "TEIL 2",
            " Abschnitt 1",
            "  § 3",
            " Abschnitt 2",
            "  § 4",
        ],
        [
            "ARTICLE I",
            " Section 1",
            " Section 2",
            "ARTICLE II",
            " Section 1",
            "ARTICLE III",
            " Section 1",
            " Section 2",
        ],
    ],
)
def test_articles_are_counted_through_chapters_and_titles(numbers: list[str], nlp: Language) -> None:
    titles = (
        *("Fees", "Quays", "Pilots", "Lights", "Crews", "Books", "Cargo"),
        *("Damage", "Appeals", "Bodies", "Works", "Licences", "Fines", "Insurance"),
    )
    lines = [
        f"{number}\nThe master shall pay what {title.lower()} cost.\n"
        if number.strip("() .").isdigit()
        else f"{number}\n{title}\n" + "\nThe keeper of the port decides.\n" * number.startswith(("Art", "§", "Section"))
        for number, title in zip(map(str.strip, numbers), titles)
    ]
    assert [" " * (level - 1) + number for level, number, *_ in outline(nlp("\n".join(lines)))] == numbers


@pytest.mark.parametrize("number", ["Chapter {}", "{}.", "{}", "PART {}"])
@pytest.mark.parametrize(
    ("front", "back"), [("Preface", "References"), ("ABSTRACT", "Conclusions"), ("Vorwort", "Literatur")]
)
def test_front_and_back_matter_stand_beside_what_is_numbered(number: str, front: str, back: str, nlp: Language) -> None:
    prose = "The ferry crosses the river from dawn to dusk, and carries all who ask for it."
    titles = {
        front: "",
        number.format(1): "Boats",
        number.format(2): "Sails and Ropes",
        number.format(3): "Quays",
        back: "",
    }
    text = "".join(f"{first} {title}".strip() + f"\n\n{prose}\n\n{prose}\n\n" for first, title in titles.items())
    assert [(level, found or title) for level, found, title, *_ in outline(nlp(text))] == [(1, own) for own in titles]


@pytest.mark.parametrize("back", ["Références", "Literaturverzeichnis", "Conclusiones", "Bibliografia", "Index"])
def test_back_matter_is_no_part_of_the_last_chapter(back: str, nlp: Language) -> None:
    prose = "The ferry crosses the river from dawn to dusk, and carries all who ask for it.\n\n"
    heads = ("1 Boats", "2 Quays", "2.1 Stone", "2.2 Wood")
    text = "".join(f"{head}\n\n{prose}" for head in (*heads, back))
    found = [(level, number or title) for level, number, title, *_ in outline(nlp(text))]
    assert found == [(1, "1"), (1, "2"), (2, "2.1"), (2, "2.2"), (1, back)]


@pytest.mark.parametrize(
    "front", ["Table of Contents", "CONTENTS", "Inhaltsverzeichnis", "Inhoudsopgave", "Table des matières", "Índice"]
)
def test_chapters_are_no_part_of_the_table_of_contents(front: str, nlp: Language) -> None:
    titles = ("1. Boats", "2. Quays", "2.1. Stone", "2.2. Wood", "3. Pilots")
    listed = "".join(f"{title} {'.' * (40 - len(title))} {page}\n" for page, title in enumerate(titles, 1))
    prose = "The ferry crosses the river from dawn to dusk, and carries all who ask for it.\n\n"
    text = f"{front}\n\n{listed}\n" + "".join(f"{title}\n\n{prose}" for title in titles)
    found = [(level, number or title) for level, number, title, *_ in outline(nlp(text))]
    assert found[-5:] == [(1, "1."), (1, "2."), (2, "2.1."), (2, "2.2."), (1, "3.")]
    assert found[:-5] in ([], [(1, front)])


def test_lists_stand_below_titles_of_front_and_back_matter(nlp: Language) -> None:
    text = "Summary\n\n1. The ferry is old.\n\n2. It must be mended.\n\n"
    text += "1 Boats\n\nThere are two of them.\n\n2 Quays\n\nThey are new.\n"
    assert [(level, number) for level, number, *_ in outline(nlp(text))][:3] == [(1, ""), (2, "1."), (2, "2.")]


def test_spanish_dispositions_stand_beside_titles(nlp: Language) -> None:
    text = "TÍTULO I\nBarcos\n\nArtículo 1. Objeto.\nEsta ley regula los barcos.\n\n"
    text += "Artículo 2. Libros.\nHay dos libros.\n\n"
    text += "TÍTULO II\nPuertos\n\nArtículo 3. Muelles.\nLos muelles son de piedra.\n\n"
    text += "Disposición adicional primera. Islas.\nLas islas llevan un libro.\n\n"
    text += "Disposición adicional segunda. Ríos.\n1. Los ríos llevan otro.\n2. Los lagos no.\n\n"
    text += "Disposición derogatoria única. Leyes.\nSe deroga la ley antigua.\n\n"
    text += "Disposición final única. Vigor.\nEsta ley entra en vigor mañana.\n"
    assert [(level, number) for level, number, *_ in outline(nlp(text))] == [
        *((1, "TÍTULO I"), (2, "Artículo 1."), (2, "Artículo 2."), (1, "TÍTULO II"), (2, "Artículo 3.")),
        *((1, "Disposición adicional primera."), (1, "Disposición adicional segunda."), (2, "1."), (2, "2.")),
        *((1, "Disposición derogatoria única."), (1, "Disposición final única.")),
    ]


def test_schedules_stand_beside_parts_whatever_their_type(nlp: Language) -> None:
    text = "PART 1\nBOATS\n\n1. Fees\nThe master pays.\n\n2. Quays\nThey are of stone.\n\n"
    text += "PART 2\nPORTS\n\n3. Pilots\nThey know the river.\n\n4. Lights\nThey burn at night.\n\n"
    text += "SCHEDULE 1\nForms\n\n1. The master signs the first form.\n\n2. The owner signs the second form.\n"
    assert [" " * (level - 1) + number for level, number, *_ in outline(nlp(text))] == [
        *("PART 1", " 1.", " 2.", "PART 2", " 3.", " 4.", "SCHEDULE 1", " 1.", " 2."),
    ]


def test_only_chapter_of_the_last_part(nlp: Language) -> None:
    text = ["TITRE I", "Chapitre 1", "Article 1\nTexte un.", "Chapitre 2", "Article 2\nTexte deux."]
    text += ["TITRE II", "Chapitre 1", "Article 3\nTexte trois.", "Article 4\nTexte quatre."]
    tree = nlp("\n\n".join(text))._.section_tree
    assert [(node.level, node.number) for node in tree.walk()] == [
        *((1, "TITRE I"), (2, "Chapitre 1"), (3, "Article 1"), (2, "Chapitre 2"), (3, "Article 2")),
        *((1, "TITRE II"), (2, "Chapitre 1"), (3, "Article 3"), (3, "Article 4")),
    ]


@pytest.mark.parametrize("article, section", [("ARTICLE {r}", "Section {n}.0{k}"), ("Section {n}", "Section {n}.{k}")])
def test_the_only_section_of_an_article_is_below_it(article: str, section: str, nlp: Language) -> None:
    numbers = [(1, "I", 2), (2, "II", 1), (3, "III", 1)]
    lines, expected = [], []
    for n, roman, sections in numbers:
        lines.append(f"{article.format(n=n, r=roman)}\nTerms")
        expected.append((1, article.format(n=n, r=roman)))
        for k in range(1, sections + 1):
            lines.append(f"{section.format(n=n, k=k)} The ferry sails at noon.")
            expected.append((2, section.format(n=n, k=k)))
    assert [(node.level, node.number) for node in nlp("\n\n".join(lines))._.section_tree.walk()] == expected


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_articles_in_chinese_numerals_are_counted_through_chapters(between: str, nlp: Language) -> None:
    text = [
        "第一章 总则",
        "第一条 本规定适用于渡轮。",
        "第二条 期限为一年。",
        "第二章 许可",
        "第三条 渡轮须取得许可。",
        "第四条 许可须公开。",
    ]
    text += ["第三章 附则", "第五条 本规定自公布之日起施行。"]
    found = [(node.level, node.number) for node in nlp(between.join(text))._.section_tree.walk()]
    assert found == [(1 if line[2] == "章" else 2, line[:3]) for line in text]


def test_a_list_in_a_sentence_has_no_sections(nlp: Language) -> None:
    text = (
        "  Owners keep ferries safe with two steps:\n(1) they keep them in good repair, and (2) let you look at them\n"
    )
    text += "before you go on board, or walk away.\n\n  For this there are terms.\n\n"
    text += "".join(f"  {n}. Ferries.\n\n  The ferry sails on day {n} of each week.\n\n" for n in range(1, 4))
    assert [(node.level, node.number) for node in nlp(text)._.section_tree.walk()] == [(1, f"{n}.") for n in (1, 2, 3)]


def test_a_line_that_begins_with_figures_of_a_sentence_has_no_section(nlp: Language) -> None:
    text = "".join(
        f"  {n}. You may use the map of harbour {n} on a boat or a pier,\nas you receive it.\n\n" for n in range(3)
    )
    text += "  3. You may lend the map, if you do one of these things:\n\n"
    text += "    a) Lend it with the names of all piers,\n    which must be lent under the terms of Sections\n"
    text += "    1 and 2 above on a medium used for maps; or,\n\n    b) Lend it with a written offer.\n\n"
    text += "".join(f"  {n}. You may not sell the map of harbour {n}.\n\n" for n in range(4, 8))
    numbers = [node.number for node in nlp(text)._.section_tree.walk()]
    assert numbers == ["0.", "1.", "2.", "3.", "a)", "b)", "4.", "5.", "6.", "7."]


def test_items_that_name_each_other_are_sections(nlp: Language) -> None:
    text = "1. Fees\n\n(a) Fees are paid, but for (b) below.\n\n(b) None is paid in winter.\n\n2. Term\n\nA year.\n"
    numbers = [node.number for node in nlp(text)._.section_tree.walk()]
    assert numbers == ["1.", "(a)", "(b)", "2."]


def test_initials_of_authors_in_a_list_of_references_open_no_sections(nlp: Language) -> None:
    authors = ["J. Hull", "A. Lund", "K. L. Roe", "B. Moss", "S. Tern", "C. Crane"]
    listed = "\n".join(f"[{k}] {author}, Rafts of the north, 199{k}." for k, author in enumerate(authors, 1))
    doc = nlp(f"1. Scope\nAll ferries.\n\n2. Term\nA year.\n\nReferences\n\n{listed}\n")
    numbers = [number for _, number, _, _ in outline(doc)]
    assert numbers == ["1.", "2.", "", "[1]", "[2]", "[3]", "[4]", "[5]", "[6]"]


def test_headings_of_words_right_behind_each_other_are_no_initials(nlp: Language) -> None:
    parts = [
        f"PART {part}\nChapter 1\nArticle {n}\nOf ferries.\nChapter 2\nArticle {n + 1}\nOf ports.\n"
        for part, n in (("I", 1), ("II", 3))
    ]
    found = [(node.level, node.number) for node in nlp("".join(parts))._.section_tree.walk()]
    assert found == [
        *((1, "PART I"), (2, "Chapter 1"), (3, "Article 1"), (2, "Chapter 2"), (3, "Article 2")),
        *((1, "PART II"), (2, "Chapter 1"), (3, "Article 3"), (2, "Chapter 2"), (3, "Article 4")),
    ]


@pytest.mark.parametrize(
    "numbers",
    [
        # numbers of words in Roman figures are counted on in Arabic ones
        ["Article I", " Section 1.1", " Section 1.2", "Article II", " Section 2.1", " Section 2.2", " Section 2.3"],
        # double letters stand below single ones
        ["1.", " a)", "  aa)", "  bb)", " b)", "  aa)", "   (1)", "   (2)", "  bb)", "  cc)", "2."],
        [*(f"{letter}." for letter in ascii_lowercase), "aa.", "bb."],
        # words of outlines in their order
        ["Module 1", " Lesson 1", " Lesson 2", "Module 2", " Lesson 1", " Lesson 2"],
        ["Unit 1", " Lesson 1", " Lesson 2", "Unit 2", " Lesson 1", " Lesson 2"],
        # plays, minutes, explanations of laws
        ["ACT I:", " SCENE I.", " SCENE II.", "ACT II:", " SCENE I.", " SCENE II."],
        ["ACTE PREMIER :", " SCÈNE PREMIÈRE.", " SCÈNE II.", "ACTE II :", " SCÈNE PREMIÈRE."],
        ["Erster Aufzug:", " Erster Auftritt:", " Zweiter Auftritt:", "Zweiter Aufzug:", " Erster Auftritt:"],
        ["1. Akt:", " 1. Szene:", " 2. Szene:", "2. Akt:", " 1. Szene:"],
        ["EERSTE BEDRIJF:", " Eerste toneel:", " Tweede toneel:", "TWEEDE BEDRIJF:", " Eerste toneel:"],
        ["ATTO PRIMO:", " SCENA I:", " SCENA II:", "ATTO SECONDO:", " SCENA I:"],
        ["TOP 1:", "TOP 2:", " TOP 2.1:", " TOP 2.2:", "Zu TOP 3:"],
        ["Point n° 1 :", "Point n° 2 :", "Point n° 3 :"],
        ["Agenda item 1:", "Agenda item 2:", " (a)", " (b)", "Agenda item 3:"],
        ["Zu Artikel 1:", " Zu Nummer 1:", "  Zu Buchstabe a:", "  Zu Buchstabe b:", " Zu Nummer 2:", "Zu Artikel 2:"],
        # clauses and grounds of Spanish
        ["Cláusula 1ª.", "Cláusula 2ª.", " a)", " b)", "Cláusula 3ª."],
        ["CLÁUSULA PRIMERA.-", "SEGUNDA.-", " a)", " b)", "TERCERA.-"],
        [*(f"{word}.-" for word in ("OCTAVO", "NOVENO", "DÉCIMO", "UNDÉCIMO", "DÉCIMO SEGUNDO", "Decimotercero"))],
        # where the score is the same: beside what is further out
        ["1", "2", " 2.1", " 2.2", "  2.2.1", "  2.2.2", "Annex A", " A.1", " A.2", "Annex B", " B.1", " B.2"],
        ["Part 1", " 1", " 2", "Part 2", " 3", " 4", "Schedule 1", " 1", " 2", "Schedule 2", " 1"],
    ],
)
def test_levels_of_numbers(numbers: list[str], nlp: Language) -> None:
    assert numbers_of(numbers, nlp) == numbers


@pytest.mark.parametrize("word", ["§", "Article", "Zu Artikel", "Artikel"])
def test_titles_in_brackets_behind_a_number_with_a_word(word: str, nlp: Language) -> None:
    titles = ("(Anwendungsbereich)", "(weggefallen)", "(Fees and licences of the port)")
    text = "".join(f"{word} {number} {title}\nDas Gesetz gilt.\n\n" for number, title in enumerate(titles, 1))
    assert [title for _, _, title, _ in outline(nlp(text))] == [*titles]


@pytest.mark.parametrize(
    ("word", "gap"), [("Artículo", "\n"), ("Artículo", "\n\n"), ("Section", "\n"), ("SCENE", "\n\n")]
)
def test_titles_that_end_in_a_full_stop_behind_a_number_with_a_word(word: str, gap: str, nlp: Language) -> None:
    titles = ("Objeto y ámbito.", "Definiciones.", "Annual meeting.")
    text = "La asamblea se reúne en el puerto una vez al año."
    parts = (f"{word} {number}. {title}{gap}{text}\n\n" for number, title in enumerate(titles, 1))
    assert [title for _, _, title, _ in outline(nlp("".join(parts)))] == [*titles]


@pytest.mark.parametrize("sentence", ["The port is free.", "Der Hafen ist frei.", "Le port est libre."])
def test_short_sentences_behind_a_number_with_a_word_are_text(sentence: str, nlp: Language) -> None:
    text = "".join(f"Article {number}. {sentence}\nShips may come and go.\n\n" for number in range(1, 5))
    assert [(number, title) for _, number, title, _ in outline(nlp(text))] == [
        (f"Article {n}.", "") for n in range(1, 5)
    ]


def test_grounds_of_spanish_judgments_begin_again_in_each_part(nlp: Language) -> None:
    grounds = "PRIMERO.- La demandante pidió la entrega del barco.\n\nSEGUNDO.- La demandada se opuso a ello.\n\n"
    doc = nlp(f"ANTECEDENTES DE HECHO\n\n{grounds}FUNDAMENTOS DE DERECHO\n\n{grounds}FALLO\n\nEstimo la demanda.\n")
    found = [(level, number or title) for level, number, title, _ in outline(doc)]
    numbers = [(2, "PRIMERO.-"), (2, "SEGUNDO.-")]
    assert found == [
        *[(1, "ANTECEDENTES DE HECHO"), *numbers],
        *[(1, "FUNDAMENTOS DE DERECHO"), *numbers],
        (1, "FALLO"),
    ]


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f"])
@pytest.mark.parametrize("word", ["Article ", "Chapitre ", "Point ", ""])
def test_titles_behind_a_colon_with_a_space_before_it(word: str, space: str, nlp: Language) -> None:
    titles = ("Objet", "Durée", "Tarifs")
    parts = (f"{word}{number}{space}: {title}\nLe port est ouvert.\n\n" for number, title in enumerate(titles, 1))
    found = [(level, title) for level, _, title, _ in outline(nlp("".join(parts)))]
    assert found == [(1, title) for title in titles]


def test_annexes_stand_beside_the_titles_of_a_contract(nlp: Language) -> None:
    parties = '(1) Quay Limited (the "Landlord"); and\n\n(2) Ada Moss of 4 Rope Walk, Hull (the "Tenant").\n\n'
    begin = f"LEASE AGREEMENT\n\nTHIS LEASE is made on 3 May 2019\n\nBETWEEN:\n\n{parties}RECITALS\n\n"
    clauses = "(A) The Landlord owns a shop.\n\n(B) The Tenant wants it.\n\n1. RENT\n\n1.1 The rent is due.\n\n"
    more = "1.2 It is paid:\n\n(a) in advance;\n\n(b) by post.\n\n2. END\n\nEither party may end this lease.\n\n"
    annexes = "SCHEDULE 1\nFixtures\n\n1. The counter.\n\n2. The lamps.\n\nSCHEDULE 2\nCharges\n\nPart A - Services\n\n"
    doc = nlp(begin + clauses + more + annexes + "Cleaning.\n\nPart B - Costs\n\nRepairs of the roof.\n")
    found = {f"{number} {title}".strip(): level for level, number, title, _ in outline(doc)}
    assert found["RECITALS"] == found["SCHEDULE 1 Fixtures"] == found["SCHEDULE 2 Charges"] == 1
    assert found["Part A - Services"] == found["Part B - Costs"] == 2
    assert found["1. RENT"] == found["2. END"] <= 2


@pytest.mark.parametrize("begin", ["", "Parties\n\n", "LEASE\n\nTHIS LEASE is made on 3 May 2019\n\nBETWEEN\n\n"])
@pytest.mark.parametrize(
    ("parties", "clauses"),
    [
        (("(1)", "(2)"), ("1.", "2.")),
        (("(1)", "(2)"), ("§ 1", "§ 2")),
        (("1.", "2."), ("Artikel 1", "Artikel 2")),
        (("1.", "2."), ("Article 1 –", "Article 2 –")),
    ],
)
def test_parties_stand_before_clauses(
    parties: tuple[str, str], clauses: tuple[str, str], begin: str, nlp: Language
) -> None:
    named = "".join(f"{number} Quay Limited of 4 Rope Walk, Hull (the Owner); and\n\n" for number in parties)
    text = "The Owner keeps the boathouse in repair at all times, at its own cost."
    body = "".join(
        f"{number} {title}\n\n{text}\n\n(a) {text}\n\n" for number, title in zip(clauses, ("Rent", "Repair"))
    )
    levels = {number: level for level, number, *_ in outline(nlp(begin + named + body))}
    assert [levels[number] for number in clauses] == [1, 1]
    assert set(parties) <= {*levels}


CLAUSES = "".join(f"{title}\n\n(a) He pays in time.\n\n(b) The rest is free.\n\n" for title in ("1. Rent", "2. Repair"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. The owner pays.\n\n2. The rest is told in\nSection 2.1 of the decision.\n", [(1, "1."), (1, "2.")]),
        ("(1) It holds on the quay.\n(2) Heard are\n1. the owner,\n2. the master.\n",
         [(1, "(1)"), (1, "(2)"), (2, "1."), (2, "2.")]),
        (f"{CLAUSES}Part 1 Services\n\nThese.\n\nPart 2 Prices\n\nThose.\n",
         [*((level, number) for top in ("1.", "2.") for level, number in ((1, top), (2, "(a)"), (2, "(b)"))),
          (1, "Part 1"), (1, "Part 2")]),
    ],
)  # fmt: skip
def test_clauses_are_no_preamble(text: str, expected: list[tuple[int, str]], nlp: Language) -> None:
    assert [(level, number) for level, number, *_ in outline(nlp(text)) if number] == expected


@pytest.mark.parametrize("last", ["(3) The master decides.\n", ""])
@pytest.mark.parametrize("item", ["Fire", "open fire on the quay;"])
def test_items_are_no_text_behind_a_preamble(item: str, last: str, nlp: Language) -> None:
    text = f"(1) The harbour is open.\n\n(2) Not allowed are:\n\n1. {item}\n2. {item}\n\n{last}"
    found = [(level, number) for level, number, *_ in outline(nlp(text))]
    assert found == [(1, "(1)"), (1, "(2)"), (2, "1."), (2, "2."), *[(1, "(3)")] * bool(last)]


def numbers_of(numbers: list[str], nlp: Language) -> list[str]:
    """The numbers in the outline of a text with these, indented by their level."""
    text = "The keeper of the ferry shall carry all persons who ask for it over the river without delay."
    titles = (f"{number.strip()} {title}" for number, title in zip(numbers, cycle(["Ropes", "Ice", "Night Service"])))
    doc = nlp("".join(f"{heading}\n{text}\n\n" for heading in titles))
    return [" " * (level - 1) + number for level, number, _, _ in outline(doc)]


@pytest.mark.parametrize("titles", [["კანონი აქ", "მიზანი"], ["הוראות כאן", "מטרה"], ["Правила здесь", "Цель"]])
def test_titles_in_any_script(titles: list[str], any_language: Language) -> None:
    """Georgian letters have capitals, but no title is written with one."""
    doc = any_language("".join(f"{number}. {title}\n{title} 12 {title}.\n\n" for number, title in enumerate(titles, 1)))
    assert [node.title for node in doc._.section_tree.walk()] == titles


def test_moves_without_a_cap_leave_the_stacks_behind_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """They had used up those of the rest of the document, in which the best stack alone was followed."""
    articles = "Article {}\nRest\n\n1. Crews rest.\n2. Crews eat.\n\n"
    chapters = f"CHAPTER I\nGENERAL\n\n{articles}CHAPTER II\nDUTIES\n\nSection 1\nOwners\n\n{articles}"
    annex = "ANNEX I\nLISTS\n\nPart A\nShips\n\n1. Ferries.\n2. Barges.\n\nPart B\nPorts\n\n1. Docks.\n"
    text = f"{chapters}Section 2\nCrews\n\n{articles}".format(1, 2, 3) + annex
    monkeypatch.setattr("spacy_crf.core.sections.build.MOST_MOVES", 500_000)
    scores = []
    for max_states in (100, None):
        nlp = spacy.blank("en")
        nlp.add_pipe("section_parser", config={"max_states": max_states})
        with warnings.catch_warnings(action="ignore"):
            scores.append(nlp(text)._.section_tree.score)
    assert scores[0] == pytest.approx(scores[1])


REGULATION = """CHAPTER I
GENERAL

Article 1
Scope

1. This text applies to ships.
2. It does not apply to boats.

Article 2
Terms

1. A ship is:
(a) a vessel;
(b) a raft.
2. A port is a place.

CHAPTER II
DUTIES

Section 1
Owners

Article 3
Dues

1. Owners pay.
2. Owners register.

Section 2
Crews

Article 4
Rest

1. Crews rest.
2. Crews eat.

Article 5
Pay

1. Crews are paid.
2. Crews save.

ANNEX I
LISTS

Part A
Ships

1. Ferries.
2. Barges.

Part B
Ports

1. Harbours.
2. Docks.

ANNEX II
FORMS

1. Form one.
2. Form two.
"""


def test_annexes_with_parts_behind_chapters_with_sections(nlp: Language) -> None:
    nodes = [(node.level, node.number) for node in nlp(REGULATION)._.section_tree.walk()]
    assert [number for level, number in nodes if level == 1] == ["CHAPTER I", "CHAPTER II", "ANNEX I", "ANNEX II"]
    assert [(level, number) for level, number in nodes if number.startswith("Part")] == [(2, "Part A"), (2, "Part B")]


@pytest.mark.parametrize("dash", [" - ", " – ", " — ", ".- ", ".– ", ". - "])
@pytest.mark.parametrize(
    "numbers",
    [
        *(["Article 1er", "Article 2"], ["Artículo 1º", "Artículo 2º"], ["TITRE Ier", "TITRE II"], ["§ 1", "§ 2"]),
        *(["1", "2"], ["1.1", "1.2"], ["A", "B"], ["I", "II"], ["Annex", "Annex 2"], ["First Part", "Second Part"]),
    ],
)
def test_a_dash_between_number_and_title_is_no_part_of_the_title(nlp: Language, numbers: list[str], dash: str) -> None:
    text = "The keeper of the ferry shall carry all persons who ask for it over the river without delay."
    titles = ["Duties of Keepers", "Fees"]
    doc = nlp("".join(f"{number}{dash}{title}\n{text}\n\n" for number, title in zip(numbers, titles)))
    nodes = list(doc._.section_tree.walk())
    assert [(node.number, node.title) for node in nodes] == [
        (f"{number}{dash}".rstrip(), title) for number, title in zip(numbers, titles)
    ]


def test_a_section_without_a_title_is_of_those_with_a_dash(nlp: Language) -> None:
    text = "Every boat has two ropes, and each rope is renewed once a year by its owner."
    items = "".join(f"({letter}) {text}\n" for letter in "abc")
    first = f"Section 1 - Scope\n{text}\n\nSection 2\n{text}\n{items}\nSection 3 - Final provisions\n{text}\n\n"
    doc = nlp(f"Chapter I — Definitions\n\n{first}Chapter II — REGISTRATION\n\nSection 4 - Ropes\n{text}\n")
    numbers = [(node.level, node.number.rstrip(" -—")) for node in doc._.section_tree.walk()]
    inner = [(2, "Section 2"), *((3, f"({letter})") for letter in "abc"), (2, "Section 3")]
    assert numbers == [(1, "Chapter I"), (2, "Section 1"), *inner, (1, "Chapter II"), (2, "Section 4")]


@pytest.mark.parametrize(
    "line",
    ["3 - 5 boats go.", "3 -  5 boats go.", "Articles 5 - 7 apply.", "Article 5-year plans.", "1-2 go."],
)
def test_a_dash_of_a_range_ends_no_number(nlp: Language, line: str) -> None:
    doc = nlp(f"1. Ropes\nAll boats have ropes, and each has two of them.\n{line}\n\n2. Ice\nThere is none.\n")
    assert [(node.number, node.title) for node in doc._.section_tree.walk()] == [("1.", "Ropes"), ("2.", "Ice")]


@pytest.mark.parametrize(
    ("first", "others", "sign", "mention"),
    [
        ("Artikel 1.", "Art. {}.", "§ 1.", "artikel 2, § 2"),
        ("Article 1er.", "Art. {}.", "§ 1er.", "article 2, § 2"),
        ("Art. 1.", "Art. {}.", "§ 1.", "art. 2 § 2"),
    ],
)
def test_paragraphs_with_a_sign_are_parts_of_articles(
    first: str, others: str, sign: str, mention: str, nlp: Language
) -> None:
    """The first article had another word than the abbreviated ones, and § 1 was text."""
    lines = [
        f"{first} Boten varen op de rivier.",
        f"{others.format(2)} {sign} De loods meldt zich.",
        "§ 2. De tol is laag.",
    ]
    lines += [f"{others.format(3)} {sign} De haven is open.", f"§ 2. De haven is dicht volgens {mention}."]
    doc = nlp("\n\n".join(lines) + "\n")
    nodes = list(doc._.section_tree.walk())
    found = [(node.level, node.number) for node in nodes]
    parts = [(2, sign), (2, "§ 2.")]
    assert found == [(1, first), (1, others.format(2)), *parts, (1, others.format(3)), *parts]
    assert [nodes[one.section] for one in doc._.cross_references] == [nodes[3]]


@pytest.mark.parametrize("word", ["PRELIMINAR", "ÚNICO", "unico"])
def test_titles_that_are_the_first_by_a_word(word: str, nlp: Language) -> None:
    """TÍTULO PRELIMINAR was a title without a number, in which TÍTULO I stood below the last article."""
    text = f"TÍTULO {word}\n\nDisposiciones generales\n\nArtículo 1. Los barcos.\n\nArtículo 2. El puerto.\n\n"
    following = "I" if word == "PRELIMINAR" else "II"
    text += f"TÍTULO {following}\n\nDe las tarifas\n\nArtículo 3. La tarifa.\n\nArtículo 4. La multa.\n"
    numbers = [(node.level, node.number) for node in nlp(text)._.section_tree.walk()]
    articles = [(2, f"Artículo {number}.") for number in range(1, 5)]
    assert numbers == [(1, f"TÍTULO {word}"), *articles[:2], (1, f"TÍTULO {following}"), *articles[2:]]


def test_paragraphs_hold_no_chapter_that_follows_theirs(nlp: Language) -> None:
    law = "THE LAW\n\n2.1 Ropes hold.\n\n2.2 Sails fill.\n\n3.1 Tides turn.\n\n3.2 Winds blow.\n\n"
    doc = nlp(f"THE CASE\n\n1. Boats sail.\n\n2. Ropes hold.\n\n{law}THE DECISION\n\nIt is so.\n")
    levels = {node.number: node.level for node in doc._.section_tree.walk()}
    assert levels["3"] < levels["2.2"] == levels["3.1"]


@pytest.mark.parametrize(
    "first, second", [("(a) Oars", "(b) Sails"), ("A. Oars", "B. Sails"), ("I. Oars", "II. Sails")]
)
def test_paragraphs_go_on_behind_parts_with_letters(first: str, second: str, nlp: Language) -> None:
    """A title behind the parts was text, and its paragraphs were taken for those of the last part."""
    lines = ["Introduction", "1. Boats sail.", "2. Ropes hold.", "Findings", first, "3. They row.", second]
    lines += ["4. Sails fill.", "5. Winds blow.", "Conclusion", "6. It is so.", "7. There are no costs."]
    found = [(node.level, node.number or node.title) for node in nlp("\n\n".join(lines) + "\n")._.section_tree.walk()]
    parts = [(2, first.split()[0]), (3, "3."), (2, second.split()[0]), (3, "4."), (3, "5.")]
    assert found == [
        *[(1, "Introduction"), (2, "1."), (2, "2."), (1, "Findings"), *parts],
        *[(1, "Conclusion"), (2, "6."), (2, "7.")],
    ]


@pytest.mark.parametrize(
    "facts, reasons",
    [("Sachverhalt", "Erwägungen"), ("Faits ", "Considérant en droit "), ("Fatti", "Diritto"), ("Facts", "Reasons")],
)
def test_known_titles_with_a_colon_alone_on_their_line(facts: str, reasons: str, any_language: Language) -> None:
    """They were text, and the numbers of the second section stood below the last letter of the first one."""
    lines = ["Urteil vom 3. Mai", BODY, f"{facts}:", *(f"{letter}.\n{BODY}" for letter in "ABC"), f"{reasons}:"]
    lines += [f"1.\n{BODY}", f"2.\n2.1 {BODY}", f"2.2 {BODY}", f"3.\n{BODY}"]
    lines += ["Demnach erkennt das Gericht:", "1.\nDie Klage wird abgewiesen.", "2.\nDie Kosten werden geteilt."]
    found = [(node.level, node.number or node.title) for node in any_language("\n\n".join(lines))._.section_tree.walk()]
    numbers = [(2, "1."), (2, "2."), (3, "2.1"), (3, "2.2"), (2, "3.")]
    numbers += [(1, "Demnach erkennt das Gericht:"), (2, "1."), (2, "2.")]
    parts = [(1, f"{facts}:"), (2, "A."), (2, "B."), (2, "C."), (1, f"{reasons}:"), *numbers]
    assert [node for node in found if not node[1].startswith("Urteil")] == parts


def test_paragraphs_below_a_lone_letter_stay_below_it(nlp: Language) -> None:
    """Those of the first part stood beside its letter, as their numbers go on below the letters of later parts."""
    lines = ["I. THE VOYAGE", "A. Oars", "1. They row.", "2. Ropes hold.", "II. THE LOSS", "A. Wind", "3. Winds blow."]
    lines += ["4. Sails tear.", "III. THE CLAIM", "A. Facts", "5. Masts fell.", "B. Law", "6. It is so."]
    found = [(node.level, node.number) for node in nlp("\n\n".join(lines) + "\n")._.section_tree.walk()]
    assert found == [
        *[(1, "I."), (2, "A."), (3, "1."), (3, "2."), (1, "II."), (2, "A."), (3, "3."), (3, "4.")],
        *[(1, "III."), (2, "A."), (3, "5."), (2, "B."), (3, "6.")],
    ]
