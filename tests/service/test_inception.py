"""Requests of the kind that INCEpTION sends, over a socket."""

import time
from typing import Any

import pytest
from helpers import tagged
from helpers.annotators import CUSTOM, ENTITY, POS, make_cas, make_typesystem, predict_request, suggestions
from helpers.services import Models, httpx, model_of, refusal, served

SENTENCES = ["They can swim .", "A 😀 dog barks at noon ."]
REFERENCE = ["Ferreira , Tomás , and Edith Crane . The Kitchen Sonnet . Tollgate Press 2003 ."]


def predict(client: httpx.Client, model: str, request: dict[str, Any]) -> str:
    response = client.post(f"/inception/{model}/predict", json=request)
    assert response.status_code == 200, response.text
    found: str = response.json()["document"]
    return found


@pytest.mark.parametrize("predicted", [True, False])
def test_one_tag_for_each_token(client: httpx.Client, models: Models, predicted: bool) -> None:
    xmi = predict(client, "tagger", predict_request(SENTENCES, POS, "singleToken", predicted))
    found = suggestions(xmi, POS)
    assert [one.get_covered_text() for one in found] == " ".join(SENTENCES).split()
    assert found[0].PosValue == "PRP" and 0.5 < found[0].PosValue_score <= 1
    assert found[0].PosValue_score_explanation.startswith("Other tags: ")


def test_sets_are_several_suggestions(client: httpx.Client, models: Models) -> None:
    words = "uinen sawzel hunkele"
    found = suggestions(predict(client, "sets", predict_request([words], POS, "singleToken")), POS)
    expected = [(word, tag) for word, tags in zip(words.split(), models["sets"].nlp(words)._.tag_set) for tag in tags]
    assert [(one.get_covered_text(), one.PosValue) for one in found] == expected
    assert len(expected) > 3 and all(0 < one.PosValue_score <= 1 for one in found)


def test_all_tags_of_large_sets_have_their_probabilities(load: Any) -> None:
    nlp = load("sets")
    nlp.get_pipe("set_valued_tagger").cfg.update(method="mass", coverage=0.9999)
    with served(model_of("one", nlp)) as client:
        found = suggestions(predict(client, "one", predict_request(["uinen sawzel"], POS, "singleToken")), POS)
    doc = nlp("uinen sawzel")
    expected = [doc[k]._.tag_probs[tag] for k, tags in enumerate(doc._.tag_set) for tag in tags]
    assert max(map(len, doc._.tag_set)) > 5
    assert [one.PosValue_score for one in found] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("layer, feature", [(ENTITY, "value"), (CUSTOM, "label")])
def test_spans(client: httpx.Client, layer: str, feature: str) -> None:
    found = suggestions(predict(client, "references", predict_request(REFERENCE, layer, "tokens")), layer)
    labels = {one[feature]: one for one in found}
    assert {"AUTHOR", "DATE"} <= labels.keys()
    assert labels["AUTHOR"].get_covered_text().startswith("Ferreira")
    assert all(0 < one[f"{feature}_score"] <= 1 and one[f"{feature}_score_explanation"] for one in found)


def test_what_constraints_changed_is_told(load: Any) -> None:
    nlp = load("references")
    nlp.get_pipe("constrained_ner").set_constraints(["at_most(DATE, 0)"])
    with served(model_of("one", nlp)) as client:
        found = suggestions(predict(client, "one", predict_request(REFERENCE, ENTITY, "tokens")), ENTITY)
    assert any(one.value_score_explanation == "DATE without at_most(DATE, 0)" for one in found)


def test_merged_tokens_move_no_suggestion(load: Any) -> None:
    """Before the component that labels or behind it; the text between two tokens is not as in the Doc."""
    request = predict_request(SENTENCES, POS, "singleToken")
    request["document"]["xmi"] = request["document"]["xmi"].replace(" 😀 dog", " 😀\xa0dog")
    nlp = load("tagger")
    ruler = nlp.add_pipe("entity_ruler", first=True)
    ruler.add_patterns([{"label": "VERB", "pattern": "can swim"}, {"label": "DOG", "pattern": "😀 dog"}])
    nlp.add_pipe("merge_entities", after="entity_ruler")
    with served(model_of("one", nlp)) as client:
        found = suggestions(predict(client, "one", request), POS)
    words = ["They", "can swim", ".", "A", "😀\xa0dog", "barks", "at", "noon", "."]
    assert [one.get_covered_text() for one in found] == words

    nlp = tagged.train(target="ent")
    nlp.add_pipe("merge_entities")
    with served(model_of("one", nlp)) as client:
        xmi = predict(client, "one", predict_request(["Ada met Bo Stone in New Delft ."], ENTITY, "tokens"))
    names = [("Ada", "PER"), ("Bo Stone", "PER"), ("New Delft", "LOC")]
    assert [(one.get_covered_text(), one.value) for one in suggestions(xmi, ENTITY)] == names


def test_the_rest_of_the_document_stays(client: httpx.Client) -> None:
    system = make_typesystem()
    cas = make_cas(system, SENTENCES, ENTITY, "value", [(0, 4, "PER")])
    request = predict_request(SENTENCES, POS, "singleToken")
    request["document"]["xmi"] = cas.to_xmi()
    answered = predict(client, "tagger", request)
    assert not suggestions(answered, ENTITY) and 'value="PER"' in answered and "😀" in answered


def test_a_text_without_tokens_is_tokenized(client: httpx.Client) -> None:
    request = predict_request(SENTENCES, POS, "singleToken")
    cas = make_cas(make_typesystem(), [])
    cas.sofa_string = "  They can   swim."
    request["document"]["xmi"] = cas.to_xmi()
    found = suggestions(predict(client, "tagger", request), POS)
    assert [one.get_covered_text() for one in found] == ["They", "can", "swim", "."]


@pytest.mark.parametrize(
    "change, code",
    [
        ({"metadata": {"layer": "none.X", "feature": "value"}}, "CRF740"),
        ({"metadata": {"layer": POS, "feature": "none", "anchoringMode": "singleToken"}}, "CRF740"),
        ({"metadata": {"layer": POS}}, "CRF734"),
        ({"typeSystem": "<a"}, "CRF735"),
        ({"typeSystem": "none"}, "CRF735"),
        ({"typeSystem": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'}, "CRF735"),
        ({"document": {"xmi": ""}}, "CRF735"),
        ({"document": {"xmi": "<?xml version='1.0' encoding='UTF-7'?><a/>"}}, "CRF735"),
        ({"document": {"xmi": '<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>'}}, "CRF735"),
        ({"document": {"xmi": "<a/>" * 3}}, "CRF735"),
        ({"document": 1}, "CRF734"),
    ],
)
def test_refusals(client: httpx.Client, change: dict[str, Any], code: str) -> None:
    request = {**predict_request(SENTENCES, POS, "singleToken"), **change}
    refusal(client.post("/inception/tagger/predict", json=request), 422, code)


def test_models_that_label_no_such_thing(client: httpx.Client) -> None:
    request = predict_request(SENTENCES, POS, "singleToken")
    refusal(client.post("/inception/references/predict", json=request), 422, "CRF740")
    refusal(client.post("/inception/outline/predict", json=request), 422, "CRF740")
    refusal(client.post("/inception/none/predict", json=request), 404, "CRF730")
    training = {**request, "documents": [request["document"]]}
    refusal(client.post("/inception/tagger/train", json=training), 503, "CRF745")


def test_a_page_takes_less_than_300_ms(client: httpx.Client) -> None:
    request = predict_request([SENTENCES[0]] * 250, POS, "singleToken")
    predict(client, "tagger", request)
    used = time.process_time()  # of client and server, which are one process
    found = suggestions(predict(client, "tagger", request), POS)
    assert len(found) == 1000
    assert time.process_time() - used < 2
