"""Requests as Label Studio sends them to an ML backend, over a socket."""

import errno
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.services import Models, httpx, model_of, refusal, served
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf import Corpus
from spacy_crf.service import retraining
from spacy_crf.service.retraining import Learner

REFERENCE = "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003."
SPANS = """<View><Labels name="label" toName="text"><Label value="AUTHOR" background="red"/><Label value="DATE"/>
<Label value="OTHER"/></Labels><Text name="text" value="$reference"/></View>"""
NAMES = [
    "BOOKTITLE",
    "EDITOR",
    "INSTITUTION",
    "JOURNAL",
    "LOCATION",
    "NOTE",
    "PAGES",
    "PUBLISHER",
    "TECH",
    "TITLE",
    "VOLUME",
]
ALL_SPANS = SPANS.replace("</Labels>", "".join(f'<Label value="{name}"/>' for name in NAMES) + "</Labels>")
TAGS = """<View><Text name="t" value="$text"/><Labels name="pos" toName="t" {more}>{values}</Labels></View>"""
TREE = """<View><Text name="t" value="$text"/><Taxonomy name="pos" toName="t" labeling="true"><Choice value="all">
{values}</Choice></Taxonomy></View>"""
TEXT = """<View><Header value="x"/><Text name="t" value="$text"/><TextArea name="out" toName="t"/></View>"""


def tags_config(model: Language, template: str = TAGS, **more: str) -> str:
    element = "Label" if template is TAGS else "Choice"
    values = "".join(f'<{element} value="{label}"/>' for label in model.pipeline[0][1].labels if label.isalpha())
    return template.format(values=values, **{"more": "", **more})


def predict(client: httpx.Client, model: str, config: str, **data: Any) -> dict[str, Any]:
    tasks = [{"id": 4, "data": data, "annotations": [], "project": 1}]
    body = {"tasks": tasks, "label_config": config, "project": "1.1700000000", "params": {"login": None, "context": {}}}
    response = client.post(f"/label-studio/{model}/predict", json=body)
    assert response.status_code == 200, response.text
    (found,) = response.json()["results"]
    result: dict[str, Any] = found
    return result


def test_health_and_setup(client: httpx.Client) -> None:
    assert client.get("/label-studio/references/health").json()["status"] == "UP"
    given = {"project": "1.17", "schema": SPANS, "hostname": "http://localhost:8080", "access_token": "none"}
    assert client.post("/label-studio/references/setup", json=given).json()["model_version"].startswith("references-")
    refusal(client.post("/label-studio/tagger/setup", json=given), 422, "CRF743")
    assert client.post("/label-studio/tagger/setup", json={"project": "1.17"}).status_code == 200
    refusal(client.get("/label-studio/none/health"), 404, "CRF730")


def test_spans(client: httpx.Client) -> None:
    found = predict(client, "references", SPANS, reference=REFERENCE)
    assert found["model_version"].startswith("references-") and 0 < found["score"] <= 1
    assert {label for one in found["result"] for label in one["value"]["labels"]} == {"AUTHOR", "DATE"}
    for one in found["result"]:
        assert (one["from_name"], one["to_name"], one["type"]) == ("label", "text", "labels")
        value = one["value"]
        assert REFERENCE[value["start"] : value["end"]] == value["text"] and 0 < one["score"] <= 1


def test_tags_and_sets(client: httpx.Client, models: Models) -> None:
    nlp = models["sets"].nlp
    expected = nlp("uinen sawzel")._.tag_set
    one_each = predict(client, "sets", tags_config(nlp), text="uinen sawzel")["result"]
    assert [one["value"]["labels"] for one in one_each] == [tags[:1] for tags in expected]
    several = predict(client, "sets", tags_config(nlp, more='choice="multiple"'), text="uinen sawzel")["result"]
    assert [one["value"]["labels"] for one in several] == expected
    tree = predict(client, "sets", tags_config(nlp, TREE), text="uinen sawzel")["result"]
    assert [one["value"]["taxonomy"] for one in tree] == [[["all", tag] for tag in tags] for tags in expected]
    assert tree[0]["type"] == "taxonomy"


def test_the_score_of_a_label_is_its_own(client: httpx.Client) -> None:
    text = "In dem namen goddes"
    config = TAGS.format(more="", values='<Label value="NA"/><Label value="VVFIN"/>')  # not the best tags of all words
    (told,) = client.post("/sets", json={"text": text, "model": "sets"}).json()["results"]
    chances = {token["start"]: token["probabilities"] for token in told["tokens"]}
    found = predict(client, "sets", config, text=text)["result"]
    shown = [(one["value"]["start"], *one["value"]["labels"]) for one in found]
    assert any(label != max(chances[start], key=chances[start].get) for start, label in shown)
    for (start, label), one in zip(shown, found):
        assert one["score"] == pytest.approx(chances[start][label], abs=1e-4)


ALIASES = """<View><Labels name="label" toName="text"><View><Label value="Who" alias="AUTHOR"/></View>
<Label value="DATE" alias="d"/></Labels><Text name="text" value="$reference" valueType="text"/></View>"""


def test_labels_have_the_names_that_results_have(client: httpx.Client, load: Any, tmp_path: Path) -> None:
    found = predict(client, "references", ALIASES, reference=REFERENCE)["result"]
    assert {label for one in found for label in one["value"]["labels"]} == {"AUTHOR", "d"}
    own = region(REFERENCE, "Ferreira, Tomás", "AUTHOR"), region(REFERENCE, "2003", "d")
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as served_one:
        body = event("ANNOTATION_CREATED", 1, REFERENCE, *own)
        body["project"]["label_config"] = ALIASES
        assert served_one.post("/label-studio/one/webhook", json=body).status_code == 200
    assert [ent.label_ for ent in checked(tmp_path)[0].ents] == ["AUTHOR", "DATE"]


def test_labels_of_other_controls_are_not_those_of_a_control(client: httpx.Client) -> None:
    other = '<Choices name="c" toName="text"><Choice value="DATE"/></Choices><RectangleLabels name="r">'
    other += '<View><Label value="AUTHOR"/></View></RectangleLabels><Text name="text"'
    config = SPANS.replace('<Label value="DATE"/>', "").replace('<Text name="text"', other)
    found = predict(client, "references", config, reference=REFERENCE)["result"]
    assert {label for one in found for label in one["value"]["labels"]} == {"AUTHOR"}


def test_restored_text(client: httpx.Client, models: Models) -> None:
    text = "dear tom how is your sister"
    (one,) = predict(client, "punctuation", TEXT, text=text)["result"]
    assert (one["type"], one["from_name"], one["to_name"]) == ("textarea", "out", "t")
    assert one["value"]["text"] == [models["punctuation"].nlp(text)._.restored]


def test_restored_text_without_probabilities_has_no_score(load: Any) -> None:
    nlp = load("punctuation")
    nlp.get_pipe("punctuation_restorer").cfg["probabilities"] = False
    with served(model_of("punctuation", nlp)) as client:
        (one,) = predict(client, "punctuation", TEXT, text="dear tom how is your sister")["result"]
    assert one["value"]["text"] == [nlp("dear tom how is your sister")._.restored] and one["score"] is None


def test_a_task_without_text_has_no_results(client: httpx.Client) -> None:
    assert predict(client, "references", SPANS, other="x")["result"] == []
    assert predict(client, "references", SPANS, reference=None)["result"] == []


@pytest.mark.parametrize(
    "config, code",
    [
        ("", "CRF735"),
        ("<View>", "CRF735"),
        ('<!DOCTYPE a [<!ENTITY b "b">]><View>&b;</View>', "CRF735"),
        ("<View/>", "CRF743"),
        ('<View><Labels name="a" toName="b"><Label value="AUTHOR"/></Labels></View>', "CRF743"),
        (SPANS.replace("$reference", '$reference" valueType="url'), "CRF743"),
        (SPANS.replace("AUTHOR", "A").replace("DATE", "B"), "CRF743"),
        (TEXT, "CRF743"),
    ],
)
def test_interfaces_that_do_not_fit(models: Models, load: Any, config: str, code: str) -> None:
    with served(model_of("references", models["references"].nlp)) as client:
        body = {"tasks": [{"data": {"reference": "a"}}], "label_config": config}
        refusal(client.post("/label-studio/references/predict", json=body), 422, code)


def region(text: str, part: str, *labels: str, **more: Any) -> dict[str, Any]:
    start = text.index(part)
    value = {"start": start, "end": start + len(part), "text": part, "labels": list(labels)}
    return {"id": part, "from_name": "label", "to_name": "text", "type": "labels", "value": value, **more}


def event(action: str, number: int, text: str, *results: Any, **more: Any) -> dict[str, Any]:
    annotation = {"id": number, "result": list(results), "was_cancelled": False, "completed_by": 1, **more}
    task = {"id": number + 100, "data": {"reference": text}}
    return {"action": action, "annotation": annotation, "task": task, "project": {"id": 1, "label_config": ALL_SPANS}}


def checked(folder: Path) -> list[Any]:
    files = sorted((folder / "one" / "checked").glob("*.spacy"))
    return [example.reference for path in files for example in Corpus(path)(spacy.blank("en"))]


def test_corrections_are_kept_changed_and_forgotten(load: Any, tmp_path: Path) -> None:
    models = model_of("one", load("references"))
    with served(models, learner=Learner(tmp_path)) as client:

        def send(body: dict[str, Any]) -> None:
            response = client.post("/label-studio/one/webhook", json=body)
            assert response.status_code == 200, response.text

        author, date = region(REFERENCE, "Ferreira, Tomás", "AUTHOR"), region(REFERENCE, "2003", "DATE")
        send(event("ANNOTATION_CREATED", 1, REFERENCE, author))
        (doc,) = checked(tmp_path)
        assert [(ent.text, ent.label_) for ent in doc.ents] == [("Ferreira, Tomás", "AUTHOR")]
        assert doc._.doc_name == "label-studio task 101" and doc[-1].ent_iob_ == "O"
        send(event("ANNOTATION_UPDATED", 1, REFERENCE, author, date, {"from_name": "other"}, 1))
        (doc,) = checked(tmp_path)
        assert [ent.label_ for ent in doc.ents] == ["AUTHOR", "DATE"]
        send(event("ANNOTATION_CREATED", 2, REFERENCE, author, was_cancelled=True))
        send(event("ANNOTATION_CREATED", 3, REFERENCE, region(REFERENCE, "erreira", "AUTHOR")))
        assert len(checked(tmp_path)) == 2
        unknown = next(doc for doc in checked(tmp_path) if not doc.ents)
        assert [token.ent_iob_ for token in unknown][:2] == ["", "O"]  # half a word says nothing
        send({"action": "START_TRAINING"})
        assert client.get("/models").json()[0]["learning"]["state"] == "waiting"
        send({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}, {"id": 3}], "project": {"id": 1}})
        assert not checked(tmp_path)
        for number, text in ((4, REFERENCE), (5, "Ferreira, Tomás. Rivers."), (6, "Ferreira, Tomás. Seas.")):
            send(event("ANNOTATION_CREATED", number, text, region(text, "Ferreira, Tomás", "AUTHOR")))
        send({"action": "TASKS_DELETED", "tasks": [{"id": 104}, {"id": 106}, {"id": 10}], "project": {"id": 1}})
        assert [doc._.doc_name for doc in checked(tmp_path)] == ["label-studio task 105"]
        send({"action": "PROJECT_UPDATED", "project": {"id": 1}})


@pytest.mark.parametrize("change", ["text", "interface"])
def test_what_an_annotation_said_before_is_forgotten_where_it_cannot_be_read_any_more(
    load: Any, tmp_path: Path, change: str
) -> None:
    own = region(REFERENCE, "Ferreira, Tomás", "AUTHOR")
    body = event("ANNOTATION_UPDATED", 1, REFERENCE, own)
    if change == "text":
        body["task"]["data"]["reference"] = "Another text."
    else:
        body["project"]["label_config"] = "<View/>"
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        client.post("/label-studio/one/webhook", json=event("ANNOTATION_CREATED", 1, REFERENCE, own))
        assert len(checked(tmp_path)) == 1
        assert client.post("/label-studio/one/webhook", json=body).status_code == 422
        assert not checked(tmp_path)


def test_what_an_annotation_said_before_is_forgotten_where_the_disk_is_full(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_nothing(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    author, date = region(REFERENCE, "Ferreira, Tomás", "AUTHOR"), region(REFERENCE, "2003", "DATE")
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        client.post("/label-studio/one/webhook", json=event("ANNOTATION_CREATED", 1, REFERENCE, author))
        assert len(checked(tmp_path)) == 1
        monkeypatch.setattr(retraining, "write_whole", write_nothing)
        changed = client.post("/label-studio/one/webhook", json=event("ANNOTATION_UPDATED", 1, REFERENCE, date))
        refusal(changed, 500, "CRF253")
        assert not checked(tmp_path)


def test_an_annotation_that_is_skipped_needs_no_interface(load: Any, tmp_path: Path) -> None:
    own = region(REFERENCE, "Ferreira, Tomás", "AUTHOR")
    skipped = event("ANNOTATION_UPDATED", 1, REFERENCE, own, was_cancelled=True) | {"project": 1}
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        client.post("/label-studio/one/webhook", json=event("ANNOTATION_CREATED", 1, REFERENCE, own))
        assert client.post("/label-studio/one/webhook", json=skipped).status_code == 200
        assert not checked(tmp_path)


@pytest.mark.parametrize(
    "then",
    [{"action": "ANNOTATION_DELETED", "annotation": {"id": 1}}, {"action": "TASKS_DELETED", "tasks": [{"id": 101}]}],
)
def test_what_is_deleted_while_the_model_is_busy_is_forgotten(load: Any, tmp_path: Path, then: dict[str, Any]) -> None:
    nlp, begun, ended = load("references"), threading.Event(), threading.Event()
    tokenizer = nlp.tokenizer

    def wait(text: str) -> Doc:
        begun.set()
        ended.wait(5)
        return tokenizer(text)

    nlp.tokenizer = wait
    created = event("ANNOTATION_CREATED", 1, REFERENCE, region(REFERENCE, "Ferreira, Tomás", "AUTHOR"))
    with served(model_of("one", nlp), learner=Learner(tmp_path)) as client, ThreadPoolExecutor() as pool:
        kept = pool.submit(client.post, "/label-studio/one/webhook", json=created)
        assert begun.wait(5)
        forgotten = pool.submit(client.post, "/label-studio/one/webhook", json=then)
        time.sleep(0.3)
        ended.set()
        assert (kept.result().status_code, forgotten.result().status_code) == (200, 200)
    assert not checked(tmp_path)


def test_what_regions_say_of_tokens_that_several_have_is_unknown(load: Any, tmp_path: Path) -> None:
    author, first = region(REFERENCE, "Ferreira, Tomás", "AUTHOR"), region(REFERENCE, "Ferreira", "OTHER")
    date, edition = region(REFERENCE, "2003", "DATE", "OTHER"), region(REFERENCE, "Press", "OTHER")
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        body = event("ANNOTATION_CREATED", 1, REFERENCE, author, first, date, edition, edition)
        assert client.post("/label-studio/one/webhook", json=body).status_code == 200
    (doc,) = checked(tmp_path)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Press", "OTHER")]
    assert [token.text for token in doc if not token.ent_iob_] == ["Ferreira", ",", "Tomás", "2003"]


def test_words_outside_of_spans_are_unknown_where_the_interface_lacks_labels_of_the_model(
    load: Any, tmp_path: Path
) -> None:
    body = event("ANNOTATION_CREATED", 1, REFERENCE, region(REFERENCE, "2003", "DATE"))
    body["project"]["label_config"] = SPANS  # nobody could say that the title is one
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        assert client.post("/label-studio/one/webhook", json=body).status_code == 200
        (doc,) = checked(tmp_path)
        assert [(ent.text, ent.label_) for ent in doc.ents] == [("2003", "DATE")]
        assert {token.ent_iob_ for token in doc} == {"", "B"}
        body["annotation"]["result"] = []
        assert client.post("/label-studio/one/webhook", json=body).status_code == 200
        assert not checked(tmp_path)


def test_a_region_without_a_label_says_nothing_of_its_tokens(load: Any, tmp_path: Path) -> None:
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        body = event("ANNOTATION_CREATED", 1, REFERENCE, region(REFERENCE, "2003"), region(REFERENCE, "Press", "OTHER"))
        assert client.post("/label-studio/one/webhook", json=body).status_code == 200
        (doc,) = checked(tmp_path)
        assert [(token.text, token.ent_iob_) for token in doc][-3:-1] == [("Press", "B"), ("2003", "")]
        body["annotation"]["was_cancelled"] = True
        assert client.post("/label-studio/one/webhook", json=body).status_code == 200
    assert not checked(tmp_path)


@pytest.mark.parametrize("change", [{"end": 999}, {"start": 3}, {"text": "other"}, {"start": None}, {"end": "9"}])
def test_regions_of_another_text_are_refused(load: Any, tmp_path: Path, change: dict[str, Any]) -> None:
    wrong = region(REFERENCE, "2003", "DATE")
    wrong["value"] |= change
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        body = event("ANNOTATION_CREATED", 1, REFERENCE, wrong)
        refusal(client.post("/label-studio/one/webhook", json=body), 422, "CRF735")
    assert not checked(tmp_path)


@pytest.mark.parametrize("change", [{"labels": True}, {"labels": "DATE"}, {"labels": [], "taxonomy": ["DATE"]}, None])
def test_values_that_are_no_lists_are_refused(load: Any, tmp_path: Path, change: dict[str, Any] | None) -> None:
    body = event("ANNOTATION_CREATED", 1, REFERENCE, region(REFERENCE, "2003", "DATE"))
    if change is None:
        body["annotation"]["result"] = 0.5
    else:
        body["annotation"]["result"][0]["value"] |= change
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        refusal(client.post("/label-studio/one/webhook", json=body), 422, "CRF735")
    assert not checked(tmp_path)


@pytest.mark.parametrize("text, code", [("a " * 30_000, "CRF727"), ("😀" * 2001, "CRF483")])
def test_texts_of_corrections_are_limited(load: Any, tmp_path: Path, text: str, code: str) -> None:
    models = model_of("one", load("references"), characters=50_000)
    with served(models, models["one"].limits, learner=Learner(tmp_path)) as client:
        refusal(client.post("/label-studio/one/webhook", json=event("ANNOTATION_CREATED", 1, text)), 413, code)
    assert not checked(tmp_path)


def test_corrections_without_a_folder_are_refused(client: httpx.Client) -> None:
    body = event("ANNOTATION_CREATED", 1, REFERENCE, region(REFERENCE, "2003", "DATE"))
    refusal(client.post("/label-studio/references/webhook", json=body), 503, "CRF745")
    refusal(client.post("/label-studio/references/webhook", json={"action": "START_TRAINING"}), 503, "CRF745")


def test_what_nothing_is_learned_from(load: Any, tmp_path: Path) -> None:
    with served(model_of("one", load("punctuation")), learner=Learner(tmp_path)) as client:
        body = {**event("ANNOTATION_CREATED", 1, "a b"), "project": {"label_config": TEXT}}
        body["task"] = {"data": {"text": "a b"}}
        refusal(client.post("/label-studio/one/webhook", json=body), 422, "CRF735")
        refusal(client.post("/label-studio/one/webhook", json={"action": "START_TRAINING"}), 422, "CRF747")
