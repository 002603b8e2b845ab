"""Corrections of entities, restored text and outlines: from cells of the page to files, and to gold of our readers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.services import Models, httpx, model_of, refusal, served
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Span
from spacy.training import Example

from spacy_crf import Corpus, PunctuationCorpus, SectionCorpus
from spacy_crf.annotation.gold import read_gold_tags
from spacy_crf.corpora.block import HistoricalText
from spacy_crf.corpora.historical import prepare_gold
from spacy_crf.punctuation.docs import gold_labels
from spacy_crf.service.corrections import PAGE_TELLERS

REFERENCE = "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003."
SPEECH = "dear tom thank you for your letter how is your sister"
CONTRACT = "1. Scope\nAll ferries.\n\n2. Term\nA year.\n(a) or less,\n(b) or more.\n\n3.1 Payment.\n3.2 Interest.\n"
READERS = {"entities": Corpus, "punctuate": PunctuationCorpus, "sections": SectionCorpus, "tag": Corpus}
Read = Callable[..., Example]


@pytest.fixture
def read(client: httpx.Client, tmp_path: Path) -> Read:
    """Send check marks, and read the file that comes back as a corpus does."""

    def read_file(kind: str, text: str, marks: list[dict[str, Any]], name: str = "letter") -> Example:
        body = {"text": text, "kind": kind, "layout": "spacy", "checked": marks, "name": name}
        response = client.post("/checked", json=body)
        assert response.status_code == 200, response.text
        path = tmp_path / f"{kind}.spacy"
        path.write_bytes(response.content)
        (example,) = READERS[kind](path)(spacy.blank("en"))
        return example

    return read_file


def cells_of(client: httpx.Client, kind: str, text: str) -> list[dict[str, Any]]:
    (found,) = client.post(f"/{kind}", json={"text": text, "html": True}).json()["results"]
    cells: list[dict[str, Any]] = found["cells"]
    return cells


def mark_at(text: str, part: str, *tags: str) -> dict[str, Any]:
    start = text.index(part)
    return {"start": start, "end": start + len(part), "tags": list(tags)}


# -- entities --------------------------------------------------------------------------------------------------------


def test_checked_spans_are_gold_and_nothing_else_is_known(read: Read, models: Models) -> None:
    marks = [mark_at(REFERENCE, "Edith Crane", "EDITOR"), mark_at(REFERENCE, "and"), mark_at(REFERENCE, "2003", "DATE")]
    example = read("entities", REFERENCE, marks)
    doc = example.reference
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Edith Crane", "EDITOR"), ("2003", "DATE")]
    assert [token.text for token in doc if token.ent_iob_ == "O"] == ["and"]
    assert doc._.doc_name == "letter"
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("crf_tagger", config={"target": "ent"})
    nlp.initialize(lambda: [example])
    names = pipe.annotation.names(example, pipe.tags)
    assert {token.text: name for token, name in zip(doc, names) if name} == {
        **{"and": "O", "Edith": "B-EDITOR", "Crane": "I-EDITOR", "2003": "B-DATE"}
    }


def test_several_tags_of_a_word_are_the_same_gold_in_all_layouts(client: httpx.Client, tmp_path: Path) -> None:
    """They are left open, by how probable they are."""
    body = {"text": "uinen sawzel hunkele", "kind": "sets", "checked": [{"start": 0, "tags": ["ART", "NA"]}]}
    found = []
    for layout in ("spacy", "tsv", "conllu"):
        path = tmp_path / f"gold.{layout}"
        path.write_bytes(client.post("/checked", json={**body, "layout": layout}).content)
        (example,) = Corpus(path)(spacy.blank("en"))
        found.append(read_gold_tags(example.reference))
    assert 0 < found[0][0]["NA"] < 1 and found[0][1:] == [{}, {}]
    assert found == [[pytest.approx(own) for own in found[0]]] * 3


def test_a_group_of_spans_is_checked_as_entities_are(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("crf_tagger", config={"target": "spans", "spans_key": "own"})
    doc = nlp.make_doc("They can swim.")
    doc.spans["own"] = [Span(doc, 0, 1, label="WHO")]
    nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc)])
    marks = [{"start": 0, "end": 4, "tags": ["WHO"]}, {"start": 5, "end": 8, "tags": []}]
    with served(model_of("own", nlp)) as client:
        body = {"text": doc.text, "kind": "entities", "layout": "spacy", "checked": marks}
        (tmp_path / "a.spacy").write_bytes(client.post("/checked", json=body).content)
    (example,) = Corpus(tmp_path / "a.spacy")(nlp)
    assert [(span.text, span.label_) for span in example.reference.spans["own"]] == [("They", "WHO")]
    assert pipe.annotation.names(example, pipe.tags) == ["B-WHO", "O", None, None]


# -- restored text ---------------------------------------------------------------------------------------------------


def test_checked_words_have_their_marks_and_case_as_gold(read: Read, models: Models) -> None:
    marks = [mark_at(SPEECH, "tom", "PERIOD", "TOM"), mark_at(SPEECH, "letter", "", "letter")]
    example = read("punctuate", SPEECH, marks)
    assert example.predicted.text.split() == SPEECH.split()
    scheme = models["punctuation"].nlp.get_pipe("punctuation_restorer").label_scheme
    found = zip(SPEECH.split(), gold_labels(example, scheme))
    assert {word: (label.mark, label.case) for word, label in found if label} == {
        "tom": ("PERIOD", "UPPER"),
        "letter": ("O", "lower"),
    }


def test_words_of_one_token_have_their_own_marks(read: Read, models: Models) -> None:
    """A token of ideographs has several words: the page told the mark of the last one for all, and so did the file."""
    text, nlp = "dear 一二三 home", models["punctuation"].nlp
    pipe = nlp.get_pipe("punctuation_restorer")
    for marks in ({5: "", 6: "COMMA", 7: "PERIOD"}, {6: "COMMA"}):
        checked = [{"start": start, "tags": [mark, text[start]]} for start, mark in marks.items()]
        found = [label and label.mark for label in gold_labels(read("punctuate", text, checked), pipe.label_scheme)]
        assert found == [marks[start] or "O" if start in marks else None for start in (0, 5, 6, 7, 9)]
    pipe.cfg["threshold"] = 1e-6
    told = PAGE_TELLERS["punctuate"](pipe, nlp("一二三四五六七八"))
    pipe.cfg["threshold"] = 0.0
    assert len({cell["text"][1:] for cell in told["cells"]}) > 1
    assert all(cell["text"][1:] == told["signs"].get(cell["tags"][0], "") for cell in told["cells"])


def test_sentences_begin_behind_checked_marks(read: Read, client: httpx.Client, tmp_path: Path) -> None:
    marks = [mark_at(SPEECH, "tom", "PERIOD", "Tom"), mark_at(SPEECH, "letter", "COMMA", "letter")]
    read("punctuate", SPEECH, marks)
    (doc,) = Corpus(tmp_path / "punctuate.spacy").read_docs(spacy.blank("en").vocab)
    starts = {token.text: token.is_sent_start for token in doc}
    assert starts["thank"] is True and starts["how"] is False and starts["sister"] is None


@settings(max_examples=40)
@given(text=st.text(st.sampled_from("ab c.,?!—-()“”«» \n我。「」¿I5'"), max_size=40))
def test_cells_are_the_words_of_the_restored_text(models: Models, text: str) -> None:
    nlp = models["punctuation"].nlp
    pipe = nlp.get_pipe("punctuation_restorer")
    told = PAGE_TELLERS["punctuate"](pipe, nlp(text))
    end = 0
    for cell in told["cells"]:
        assert cell["at"] >= end and told["restored"][cell["at"] :].startswith(cell["text"])
        assert cell["tags"][1] in cell["text"] and cell["tags"][1].lower() == text[cell["start"] : cell["end"]].lower()
        end = cell["at"] + len(cell["text"])


# -- outlines --------------------------------------------------------------------------------------------------------


def test_checked_lines_are_gold_without_a_tree(read: Read, models: Models) -> None:
    marks = [mark_at(CONTRACT, "Scope", "TEXT_BLOCK", ""), mark_at(CONTRACT, "A year.", "SECTION_TITLE", "2")]
    example = read("sections", CONTRACT, marks)
    doc = example.reference
    assert [(span.text.strip(), span.label_) for span in doc.spans["elements"]] == [
        ("Scope", "TEXT_BLOCK"),
        ("A year.", "SECTION_TITLE"),
    ]
    assert "sections" not in doc.spans and doc._.section_tree is None


def test_the_tree_is_gold_once_all_lines_are_checked(read: Read, client: httpx.Client, models: Models) -> None:
    """As it is, implied sections and all; and with another level, and a line that begins another section."""
    cells = cells_of(client, "sections", CONTRACT)
    marks = [{"start": cell["start"], "tags": cell["tags"]} for cell in cells]
    example = read("sections", CONTRACT, marks)
    tree, own = example.reference._.section_tree, models["outline"].nlp(CONTRACT)._.section_tree
    shape = [(node.start_char, node.end_char, node.level, node.title, node.virtual) for node in own.walk()]
    assert [(node.start_char, node.end_char, node.level, node.title, node.virtual) for node in tree.walk()] == shape
    assert tree.parents() == own.parents() and any(node.virtual for node in own.walk())
    labels = [element.label for element in own.elements]
    assert [element.label for element in tree.elements] == labels
    for mark, cell in zip(marks, cells):
        if cell["text"].startswith("A year"):
            mark["tags"] = ["SECTION_TITLE", "2"]
        if cell["tags"][1] == "+2":
            mark["tags"] = [cell["tags"][0], "3"]
    tree = read("sections", CONTRACT, marks).reference._.section_tree
    assert [(node.number, node.title, node.level) for node in tree.walk()][1:4] == [
        ("2.", "Term", 1),
        ("", "A year.", 2),
        ("(a)", "", 2),
    ]


def test_what_is_checked_can_be_learned_from(read: Read, client: httpx.Client) -> None:
    cells = cells_of(client, "sections", CONTRACT)
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("section_parser")
    whole = read("sections", CONTRACT, [{"start": cell["start"], "tags": cell["tags"]} for cell in cells])
    part = read("sections", CONTRACT, [{"start": cells[0]["start"], "tags": cells[0]["tags"]}])
    nlp.initialize(lambda: [whole, part])
    nlp.update([whole, part])
    blank_lines = CONTRACT.count("\n\n") if parser.unit_features.newlines else 0
    known = parser.gold([part], np.array([len(cells) + blank_lines])).is_known
    assert known.sum() == 1 + blank_lines


def test_cells_tell_how_words_begin_a_sentence(client: httpx.Client) -> None:
    cells = cells_of(client, "punctuate", "look at www.example.org 3rd 'tis")
    assert [cell["begun"] for cell in cells[1:]] == ["At", "www.example.org", "3rd", "'Tis"]


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, text, mark, code",
    [
        ("entities", REFERENCE, {"start": 0, "end": 3, "tags": ["DATE"]}, "CRF595"),
        ("entities", REFERENCE, {"start": 0, "tags": ["DATE"]}, "CRF595"),
        ("entities", REFERENCE, {"start": 0, "end": 8, "tags": ["DATE", "TITLE"]}, "CRF595"),
        ("entities", REFERENCE, {"start": 0, "end": 8, "tags": ["NONE"]}, "CRF582"),
        ("entities", REFERENCE, {"start": 1, "end": 8, "tags": []}, "CRF581"),
        ("punctuate", SPEECH, {"start": 0, "tags": ["COMMA"]}, "CRF595"),
        ("punctuate", SPEECH, {"start": 0, "tags": ["COMMA", "Deer"]}, "CRF595"),
        ("punctuate", SPEECH, {"start": 0, "tags": ["NONE", "dear"]}, "CRF595"),
        ("punctuate", SPEECH, {"start": 1, "tags": ["", "ear"]}, "CRF581"),
        ("sections", CONTRACT, {"start": 0, "tags": ["NR", "0"]}, "CRF595"),
        ("sections", CONTRACT, {"start": 0, "tags": ["TEXT_BLOCK", "1"]}, "CRF595"),
        ("sections", CONTRACT, {"start": 0, "tags": ["NEWLINE", ""]}, "CRF595"),
        ("sections", CONTRACT, {"start": 0, "tags": ["NR", "+" * 20 + "1"]}, "CRF595"),
        ("sections", CONTRACT, {"start": 0, "tags": ["NR", "+1"]}, "CRF595"),
        ("sections", CONTRACT, {"start": 7, "tags": ["NR", ""]}, "CRF581"),
        ("tag", SPEECH, {"start": 0, "tags": ["NONE"]}, "CRF582"),
    ],
)
def test_marks_that_fit_nothing_are_refused(client: httpx.Client, kind: str, text: str, mark: Any, code: str) -> None:
    body = {"text": text, "kind": kind, "layout": "spacy"}
    refusal(client.post("/checked", json={**body, "checked": [mark]}), 422, code)


def test_marks_that_meet_are_refused(client: httpx.Client) -> None:
    body = {"text": REFERENCE, "kind": "entities", "layout": "spacy"}
    marks = [mark_at(REFERENCE, "Edith Crane", "AUTHOR"), mark_at(REFERENCE, "Crane", "EDITOR")]
    refusal(client.post("/checked", json={**body, "checked": marks}), 422, "CRF595")
    refusal(client.post("/checked", json={**body, "checked": marks[:1] * 2}), 422, "CRF595")


def test_the_kind_is_that_of_the_model(client: httpx.Client, models: Models) -> None:
    for model in models.values():
        kinds = [kind for kind in ("tag", "sets", "entities", "sections", "punctuate") if kind in model.kinds]
        body = {"text": "A dog.", "model": model.name, "layout": "spacy", "checked": []}
        assert not kinds or client.post("/checked", json=body).status_code == 200


def test_blank_lines_are_no_cells(client: httpx.Client) -> None:
    text = "\t\nArticle 5\nAnnex\n“quote”\n"
    assert all(text[cell["start"] : cell["end"]].strip() for cell in cells_of(client, "sections", text))


@pytest.mark.parametrize("kind", ["entities", "punctuate", "sections"])
def test_tables_are_of_tags_alone(client: httpx.Client, kind: str) -> None:
    body = {"text": SPEECH, "kind": kind, "layout": "tsv", "checked": [{"start": 0, "tags": ["COMMA", "dear"]}]}
    refusal(client.post("/checked", json=body), 422, "CRF583")


def test_tags_are_written_as_docs_as_well(read: Read) -> None:
    example = read("tag", "They can swim.", [{"start": 5, "tags": ["NN"]}])
    assert [(token.text, token.tag_) for token in example.reference if token.tag_] == [("can", "NN")]


def test_words_that_nobody_has_checked_get_no_tag_where_words_without_one_do(read: Read) -> None:
    reference = read("tag", "They can swim.", [{"start": 5, "tags": ["NN"]}]).reference
    prepare_gold(reference, HistoricalText(untagged="OA"))
    assert [token.tag_ for token in reference] == ["", "NN", "", ""]
