"""Learning from what people have corrected, beside the model that is served."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers import tagged
from helpers.annotators import (
    CUSTOM,
    ENTITY,
    FEATURES,
    POS,
    document_of,
    load_cas_from_xmi,
    make_cas,
    make_typesystem,
    metadata_of,
)
from helpers.paths import ROOT
from helpers.services import Models, httpx, model_of, refusal, served
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_crf import Corpus
from spacy_crf.annotation.documents import read_doc_name, write_doc_name
from spacy_crf.annotation.gold import read_gold_tags
from spacy_crf.corpora.cas import SENTENCE, write_types, write_xmi
from spacy_crf.corpora.exchange import ExchangeDocument, ExchangeToken
from spacy_crf.corpora.webanno import DEFAULT_LAYER
from spacy_crf.lab.training import train_config
from spacy_crf.service import retraining, training
from spacy_crf.service.inception import read_typesystem
from spacy_crf.service.retraining import CheckedDoc, Learner, write_labels
from spacy_crf.service.training import training_config

# tags that no model would give, the same for each word
SENTENCES = ["They can swim .", "We can leave .", "They leave boats .", "We swim .", "They can row boats .", "We row ."]
OWN = {"They": "NN", "We": "NN", "can": "JJ", "swim": "UH", "leave": "UH", "row": "UH", "boats": "CD", ".": "."}


def train_request(sentences: list[str], layer: str = POS, anchoring: str = "singleToken") -> dict[str, Any]:
    system, documents, feature = make_typesystem(), [], FEATURES[layer][0]
    for number, sentence in enumerate(sentences):
        spans, at = [], 0
        for word in sentence.split():
            spans.append((at, at + len(word), OWN[word]))
            at += len(word) + 1
        documents.append(document_of(make_cas(system, [sentence], layer, feature, spans), number))
    return {"metadata": metadata_of(layer, anchoring), "documents": documents, "typeSystem": system.to_xml()}


def version_of(client: httpx.Client) -> str:
    """The version that Label Studio keeps predictions under."""
    found: str = client.post("/label-studio/one/setup", json={}).json()["model_version"]
    return found


def state_of(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/models").json()[0]["learning"]
    return found


def wait(client: httpx.Client) -> dict[str, Any]:
    for _ in range(600):
        if (found := state_of(client)).get("state") != "learning":
            return found
        time.sleep(0.2)
    raise TimeoutError(found)


def tags_of(client: httpx.Client, text: str) -> list[str]:
    tokens = client.post("/tag", json={"text": text}).json()["results"][0]["tokens"]
    return [token["tag"] for token in tokens]


def test_a_model_learns_beside_the_one_that_is_served(load: Any, tmp_path: Path) -> None:
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path)) as client:
        before, version = tags_of(client, "We can swim."), version_of(client)
        assert client.post("/inception/one/train", json=train_request(SENTENCES * 2)).status_code == 204
        refusal(client.post("/inception/one/train", json=train_request(SENTENCES)), 429, "CRF744")
        assert tags_of(client, "We can swim.") == before and version_of(client) == version  # it goes on meanwhile
        told = wait(client)
        assert told["state"] == "swapped", told
        assert told["score"] > told["score_before"] and told["number"] == 1
        assert tags_of(client, "We can swim.") == ["NN", "JJ", "UH", "."] != before
        assert version_of(client) != version
        assert client.get("/models").json()[0]["source"] == str(tmp_path / "one" / "1" / "model-best")


def test_versions_tell_pipelines_apart_that_are_served_one_after_the_other(load: Any, tmp_path: Path) -> None:
    """Label Studio asks for no predictions anew that it has of a version."""
    nlp = load("tagger")
    nlp.to_disk(tmp_path / "old")
    nlp.get_pipe("crf_tagger").cfg["temperature"] = 2.0
    nlp.to_disk(tmp_path / "new")
    versions = []
    for name in ("old", "new", "old"):
        with served(model_of("one", spacy.load(tmp_path / name))) as client:
            versions.append(version_of(client))
    assert versions[0] == versions[2] != versions[1]


def test_texts_stay_prepared_as_those_of_the_first_training_were(load: Any, tmp_path: Path) -> None:
    """Punctuation that is context gets no tags, in sequences that end behind it; commands read files as before."""
    told = {"punctuation": "context", "cuts": True, "words": ["&"]}
    nlp = load("tagger")
    nlp.get_pipe("crf_tagger").cfg.learn(preparation=told)
    nlp.config["corpora"]["dev"] = corpus = {"@readers": "spacy_crf.Corpus.v1", "path": "dev", "retokenize": True}
    nlp.to_disk(tmp_path / "given")
    with served(model_of("one", spacy.load(tmp_path / "given")), learner=Learner(tmp_path)) as client:
        assert tags_of(client, "We can swim.")[-1] is None
        client.post("/inception/one/train", json=train_request(SENTENCES * 2))
        found = wait(client)
        assert found["state"] == "swapped", found
        assert tags_of(client, "We can swim.") == ["NN", "JJ", "UH", None]
    learned = spacy.load(tmp_path / "one" / "1" / "model-best")
    assert learned.get_pipe("crf_tagger").cfg["preparation"] == told
    assert learned.config["corpora"]["dev"] == corpus


def test_what_corrections_say_nothing_of_has_no_score(load: Any, tmp_path: Path) -> None:
    nlp = load("tagger")
    nlp.add_pipe("constrained_ner", source=load("references"))
    nlp.config["training"].update(max_steps=1)
    with served(model_of("one", nlp), learner=Learner(tmp_path)) as client:
        client.post("/inception/one/train", json=train_request(SENTENCES * 2))
        assert (found := wait(client))["state"] == "swapped", found
        scores = client.get("/models").json()[0]["scores"]
    assert scores["tag_acc"] > 0 and not {"ents_f", "tok_acc"} & scores.keys()


def test_it_waits_for_enough(load: Any, tmp_path: Path) -> None:
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path)) as client:
        assert client.post("/inception/one/train", json=train_request(SENTENCES[:2])).status_code == 204
        told = state_of(client)
        assert told["state"] == "waiting" and told["message"].startswith("[CRF746] There are 2 ")


def test_texts_of_which_nobody_has_said_anything_do_not_count(load: Any, tmp_path: Path) -> None:
    """INCEpTION sends all documents; and what was said of one may be taken back. Of few documents, sentences count."""
    system = make_typesystem()
    for name in ("tagger", "references"):
        layer, anchoring = (POS, "singleToken") if name == "tagger" else (ENTITY, "tokens")
        request = train_request(SENTENCES[:1], layer, anchoring)
        request["documents"] += [document_of(make_cas(system, SENTENCES), number) for number in range(1, 9)]
        with served(model_of("one", load(name)), learner=Learner(tmp_path / name)) as client:
            assert client.post("/inception/one/train", json=request).status_code == 204
            told = state_of(client)
            assert told["state"] == "waiting" and told["message"].startswith("[CRF746] There are 1 "), told
            assert len(list((tmp_path / name / "one" / "checked").glob("*.spacy"))) == 1
            request["documents"][0] = document_of(make_cas(system, SENTENCES), 0)
            client.post("/inception/one/train", json=request)
            assert not list((tmp_path / name / "one" / "checked").glob("*.spacy"))


@pytest.mark.parametrize("fault", ["long", "damaged"])
def test_a_document_that_is_refused_leaves_the_others(load: Any, tmp_path: Path, fault: str) -> None:
    """INCEpTION sends all documents; of one alone that is refused, the reason is the answer."""
    request, checked = train_request(SENTENCES[:3]), tmp_path / "one" / "checked"
    refused = document_of(make_cas(make_typesystem(), ["!" * 2001]), 7)
    if fault == "damaged":
        refused["xmi"] = refused["xmi"][:200]
    request["documents"].insert(0, refused)
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path)) as client:
        assert client.post("/inception/one/train", json=request).status_code == 204
        assert len(list(checked.glob("*.spacy"))) == 3
        alone = client.post("/inception/one/train", json={**request, "documents": [refused]})
        assert alone.status_code in (400, 413, 422) and alone.json()["code"], alone.text


def test_what_a_document_said_before_it_is_refused_is_forgotten(load: Any, tmp_path: Path) -> None:
    """The log says that it is not learned from."""
    request, checked = train_request(SENTENCES[:3]), tmp_path / "one" / "checked"
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path)) as client:
        assert client.post("/inception/one/train", json=request).status_code == 204
        assert len(list(checked.glob("*.spacy"))) == 3
        request["documents"][0]["xmi"] = request["documents"][0]["xmi"][:200]
        assert client.post("/inception/one/train", json=request).status_code == 204
        assert len(list(checked.glob("*.spacy"))) == 2


def test_what_is_checked_in_two_layers_of_a_document_is_kept_apart(load: Any, tmp_path: Path) -> None:
    system, checked = make_typesystem(), tmp_path / "one" / "checked"
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path)) as client:
        client.post("/inception/one/train", json=train_request(SENTENCES[:2]))
        empty = train_request([], CUSTOM)
        empty["documents"] = [
            document_of(make_cas(system, [text]), number) for number, text in enumerate(SENTENCES[:2])
        ]
        assert client.post("/inception/one/train", json=empty).status_code == 204
        assert len(list(checked.glob("*.spacy"))) == 2
        client.post("/inception/one/train", json=train_request(SENTENCES[:2], CUSTOM))
        assert len(list(checked.glob("*.spacy"))) == 4


@pytest.mark.parametrize("texts", [[SENTENCES], [[one] for one in SENTENCES]], ids=["sentences", "documents"])
def test_what_two_people_say_of_one_text_is_not_divided(load: Any, tmp_path: Path, texts: list[list[str]]) -> None:
    system, request = make_typesystem(), train_request([])
    for number, text in enumerate(texts):
        words = " ".join(text).split()
        starts = [sum(len(word) + 1 for word in words[:k]) for k in range(len(words))]
        spans = [(start, start + len(word), OWN[word]) for start, word in zip(starts, words)]
        document = document_of(make_cas(system, text, POS, "PosValue", spans), number)
        request["documents"] += [document | {"userId": user} for user in ("ann", "bob")]
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path)) as client:
        client.post("/inception/one/train", json=request)
        assert wait(client)["state"] == "swapped"
    learned, held_out = (
        [eg.reference.text for eg in Corpus(tmp_path / "one" / "1" / f"{name}.spacy")(spacy.blank("en"))]
        for name in ("learned", "held_out")
    )
    assert {*learned}.isdisjoint(held_out) and len(learned) + len(held_out) == 2 * len(SENTENCES)


@pytest.mark.parametrize("begun", [[6], [1] * 6], ids=["sentences", "documents"])
def test_no_model_is_scored_on_what_it_has_learned(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: list[int]
) -> None:
    """What is held out is new, or was held out before: else the model that is served would know it by heart."""
    monkeypatch.setattr(retraining, "train_beside", lambda *_: {"new": 0.0, "old": 1.0})
    learner, model, learned = Learner(tmp_path), model_of("one", load("tagger"))["one"], set[str]()
    for number, n_sentences in enumerate([*begun, *[1] * 9]):
        words = SENTENCES[0].split() * n_sentences
        doc = Doc(model.nlp.vocab, words, sent_starts=[word == "They" for word in words])
        marked = CheckedDoc(write_doc_name(doc, str(number)), [[OWN[word]] for word in words])
        learner.keep(model, "tag", marked, str(number))
        if number + 1 < len(begun):
            continue
        learner.start(model)
        while model.learning["state"] == "learning":
            time.sleep(0.01)
        own, held_out = (
            {read_doc_name(eg.reference) for eg in Corpus(path)(spacy.blank("en"))}
            for path in (
                tmp_path / "one" / str(model.learning["number"]) / f"{n}.spacy" for n in ("learned", "held_out")
            )
        )
        assert held_out and (number < 4 or learned.isdisjoint(held_out))
        learned |= own
    assert len(held_out) == round((number + 1) / 5)


def test_services_that_share_a_folder_keep_the_models_that_they_begin_with_apart(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoProcess:
        def Process(self, **_: Any) -> Any:
            raise OSError("no process")

        def Pipe(self, **_: Any) -> Any:
            return None, None

    monkeypatch.setattr(training, "get_context", lambda _: NoProcess())
    learners = []
    for name in ("first", "second"):
        model, learner = model_of("one", load("tagger"))["one"], Learner(tmp_path)
        model.nlp.meta["description"] = name
        words = SENTENCES[0].split()
        for number in range(5):
            doc = write_doc_name(Doc(model.nlp.vocab, words), str(number))
            learner.keep(model, "tag", CheckedDoc(doc, [[OWN[word]] for word in words]), str(number))
        learner.start(model)
        while model.learning["state"] == "learning":
            time.sleep(0.01)
        learners.append(model.learning["number"])
    given = [spacy.load(tmp_path / "one" / str(number) / "given").meta["description"] for number in learners]
    assert given == ["first", "second"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are looked up in /proc")
def test_a_training_ends_with_the_service(load: Any, tmp_path: Path) -> None:
    load("tagger").to_disk(tmp_path / "model")
    command = [sys.executable, "-m", "spacy", "crf", "serve", f"one={tmp_path / 'model'}", "--port", "0"]
    with subprocess.Popen([*command, "--data", str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        address = next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:[1-9]\d+", line)))
        with httpx.Client(base_url=address, timeout=60, transport=httpx.HTTPTransport(retries=5)) as client:
            assert client.post("/inception/one/train", json=train_request(SENTENCES * 2)).status_code == 204
        output, tasks = tmp_path / "one" / "1", Path(f"/proc/{process.pid}/task")
        for _ in range(600):
            if (output / "model-best").exists():
                break
            time.sleep(0.1)
        before = (output / "given" / "meta.json").stat().st_mtime_ns  # of a file that it writes again in the end
        children = [pid for own in tasks.glob("*/children") for pid in own.read_text().split()]
        process.terminate()
    for _ in range(600):
        if not any(Path(f"/proc/{pid}").exists() for pid in children):
            break
        time.sleep(0.1)
    assert children and (output / "given" / "meta.json").stat().st_mtime_ns == before


def test_a_failure_leaves_the_old_model(load: Any, tmp_path: Path) -> None:
    models: Models = model_of("one", load("tagger"))
    models["one"].config["training"]["batcher"] = {"@batchers": "none.v1"}
    with served(models, learner=Learner(tmp_path)) as client:
        before, version = tags_of(client, "We can swim."), version_of(client)
        client.post("/inception/one/train", json=train_request(SENTENCES))
        told = wait(client)
        assert told["state"] == "failed" and "[CRF748]" in told["message"] and "none.v1" in told["message"]
        assert tags_of(client, "We can swim.") == before and version_of(client) == version


def test_a_folder_that_cannot_be_written_to_is_told(load: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path / "file")) as client:
        told = client.post("/inception/one/train", json=train_request(SENTENCES))
    assert told.status_code == 500 and "CRF253" in told.text and str(tmp_path) not in told.text


def test_unchecked_tokens_and_sentences_are_unknown(load: Any, tmp_path: Path) -> None:
    system = make_typesystem()
    suggested = make_cas(system, ["They can swim .", "We can leave ."], POS, "PosValue", [(0, 4, "NN")])
    suggested.add(system.get_type(POS)(begin=5, end=8, PosValue="MD", inception_internal_predicted=True))
    request = train_request([]) | {"documents": [document_of(suggested)]}
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path / "tags")) as client:
        client.post("/inception/one/train", json=request)
    (path,) = (tmp_path / "tags" / "one" / "checked").glob("*.spacy")
    (example,) = Corpus(path)(spacy.blank("en"))
    assert [token.tag_ for token in example.reference] == ["NN", *[""] * 7]

    spans = make_cas(system, ["They can swim .", "We can leave ."], ENTITY, "value", [(0, 4, "AUTHOR")])
    request = train_request([], ENTITY, "tokens") | {"documents": [document_of(spans)]}
    with served(model_of("one", load("references")), learner=Learner(tmp_path / "spans")) as client:
        client.post("/inception/one/train", json=request)
    (path,) = (tmp_path / "spans" / "one" / "checked").glob("*.spacy")
    (example,) = Corpus(path)(spacy.blank("en"))
    assert [token.ent_iob_ for token in example.reference] == ["B", "O", "O", "O", "", "", "", ""]


def test_what_crf_annotate_has_written_is_no_gold_before_somebody_has_checked_it(load: Any, tmp_path: Path) -> None:
    """In its layer, tags have the weights that they have in files; what has no set is of a person."""
    words = [
        ("They", {"ART": 0.9, "KON": 0.1}, None),
        ("can", {"NA": 0.9}, {"NA": 1.0}),
        ("row", {"NA": 0.9}, {"ART": 0.5, "NA": 0.5}),
        ("us", {"NA": 0.9}, {"ART": 0.75, "NA": 0.25}),
        ("and", {"NA": 0.9}, {"ART": 1.0, "NA": 1.0}),
    ]
    tokens, at = [], 0
    for word, predicted, gold in words:
        tokens.append(ExchangeToken(word, at, at + len(word), "NA", predicted, gold))
        at += len(word) + 1
    tokens += [ExchangeToken("we", at, at + 2), ExchangeToken("go", at + 3, at + 5)]
    written = ExchangeDocument("a", "They can row us and we go", [tokens])
    system = read_typesystem(write_types().decode())
    cas = load_cas_from_xmi(write_xmi([written]).decode(), system)
    for start, tag in ((at, "CARD"), (at + 3, "NA"), (at + 3, "ART")):
        cas.add(system.get_type(DEFAULT_LAYER.name)(begin=start, end=start + 2, tag=tag))
    asked = {"layer": DEFAULT_LAYER.name, "feature": "tag", "projectId": 1, "anchoringMode": "singleToken"}
    request = {"metadata": asked, "documents": [document_of(cas)], "typeSystem": write_types().decode()}
    with served(model_of("one", load("sets")), learner=Learner(tmp_path)) as client:
        assert client.post("/inception/one/train", json=request).status_code == 204
    (path,) = (tmp_path / "one" / "checked").glob("*.spacy")
    (example,) = Corpus(path)(spacy.blank("en"))
    gold, both = [own for _, _, own in words], {"ART": 0.5, "NA": 0.5}
    assert read_gold_tags(example.reference) == [{}, *gold[1:], {"CARD": 1.0}, both]


def test_accepted_suggestions_in_the_layer_of_crf_annotate_are_learned_as_they_are(tmp_path: Path) -> None:
    """Of tags with a colon, too, which the notation of that layer takes for weights."""
    nlp, (words, tags) = tagged.build(), (["ich", "gehe", "."], ["PRO:1", "V:0.5", "$:"])
    docs = [(Doc(nlp.vocab, words), Doc(nlp.vocab, words, tags=tags)) for _ in range(5)]
    tagged.fit(nlp, [Example(*pair) for pair in docs])
    system = read_typesystem(write_types().decode())
    asked = {"layer": DEFAULT_LAYER.name, "feature": "tag", "projectId": 1, "anchoringMode": "singleToken"}
    request = {"metadata": asked, "typeSystem": write_types().decode()}
    with served(model_of("one", nlp), learner=Learner(tmp_path)) as client:
        document = document_of(make_cas(system, ["ich gehe ."]))
        found = client.post("/inception/one/predict", json={**request, "document": document}).json()["document"]
        accepted = found.replace('inception_internal_predicted="true"', "")
        learned = client.post("/inception/one/train", json={**request, "documents": [{**document, "xmi": accepted}]})
        assert learned.status_code == 204, learned.text
    (path,) = (tmp_path / "one" / "checked").glob("*.spacy")
    (example,) = Corpus(path)(spacy.blank("xx"))
    assert [token.tag_ for token in example.reference] == tags


def test_annotations_that_say_nothing_leave_their_tokens_unknown(load: Any, tmp_path: Path) -> None:
    """One without a value yet, and one of half a word; the second sentence begins with white space."""
    system = make_typesystem()
    cas = make_cas(system, ["They can swim .", "We can leave ."], ENTITY, "value", [(0, 4, "AUTHOR"), (9, 11, "DATE")])
    cas.add(system.get_type(ENTITY)(begin=5, end=8))
    cas.select(SENTENCE)[1].begin -= 1
    request = train_request([], ENTITY, "tokens") | {"documents": [document_of(cas)]}
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        assert client.post("/inception/one/train", json=request).status_code == 204
    (path,) = (tmp_path / "one" / "checked").glob("*.spacy")
    (example,) = Corpus(path)(spacy.blank("en"))
    assert [token.ent_iob_ for token in example.reference] == ["B", "", "", "O", "", "", "", ""]


def test_empty_documents_are_nothing_to_learn_from(load: Any, tmp_path: Path) -> None:
    """As blank pages of a scan are; with them alone, training was refused as if a file were wrong."""
    system = make_typesystem()
    request = train_request([], ENTITY, "tokens") | {"typeSystem": system.to_xml()}
    empty = document_of(make_cas(system, [""]), 9)
    marked = [make_cas(system, [text], ENTITY, "value", [(0, text.index(" "), "DATE")]) for text in SENTENCES[:4]]
    with served(model_of("one", load("references")), learner=Learner(tmp_path)) as client:
        for documents in ([empty], [empty, *map(document_of, marked, range(4))]):
            response = client.post("/inception/one/train", json={**request, "documents": documents})
            assert response.status_code == 204, response.text
        assert "There are 4 checked" in state_of(client)["message"]


@pytest.mark.parametrize("kind", ["uima.cas.StringArray", None])
def test_features_that_are_no_texts_are_not_learned(load: Any, tmp_path: Path, kind: str | None) -> None:
    system = make_typesystem()
    if kind is not None:
        system.create_feature(system.get_type(POS), "Several", kind)
    cas = make_cas(system, ["They can swim ."])
    if kind is not None:
        cas.add(system.get_type(POS)(begin=0, end=4, Several=system.get_type(kind)(elements=["PRP", "NN"])))
    request = train_request([]) | {"documents": [document_of(cas)], "typeSystem": system.to_xml()}
    request["metadata"]["feature"] = "Several"
    with served(model_of("one", load("tagger")), learner=Learner(tmp_path)) as client:
        refusal(client.post("/inception/one/train", json=request), 422, "CRF740")
    assert not list(tmp_path.rglob("*.spacy"))


@pytest.mark.parametrize("name", ["outline", "punctuation"])
def test_models_that_do_not_learn(models: Models, tmp_path: Path, name: str) -> None:
    with served(models, learner=Learner(tmp_path)) as client:
        refusal(client.post(f"/inception/{name}/train", json=train_request(SENTENCES)), 422, "CRF747")


def test_corrections_of_a_component_that_does_not_learn_are_refused(load: Any, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    for name in ("tagger", "references"):
        source = load(name)
        nlp.add_pipe(source.pipe_names[0], name=name, source=source)
    with served(model_of("one", nlp), learner=Learner(tmp_path)) as client:
        body = train_request(SENTENCES, ENTITY, "tokens")
        message = refusal(client.post("/inception/one/train", json=body), 422, "CRF472")
        assert "'references'" in message and "'tagger'" in message
    assert not list(tmp_path.rglob("*.spacy"))


def test_one_tag_of_a_custom_attribute_is_kept(tmp_path: Path) -> None:
    nlp = tagged.train(target=tagged.EXTENSION)
    doc = nlp.make_doc("Ada sold flour")
    write_labels(nlp.get_pipe("crf_tagger"), CheckedDoc(doc, tags=[["upper"], ["other", "upper"], []]))
    assert [token._.get(tagged.EXTENSION) for token in doc] == ["upper", None, None]
    assert not any(token.pos_ for token in doc)


def test_learning_by_lbfgs_is_scored_after_each_iteration(load: Any, tmp_path: Path) -> None:
    """To its end it forgets what few corrections do not show, whatever weights it begins with."""
    nlp = load("tagger")
    nlp.config["components"]["crf_tagger"]["trainer"] = {"@misc": "spacy_crf.LBFGS.v1", "iterations_per_step": 20}
    nlp.config["training"].update(max_steps=10, max_epochs=0, patience=4)
    config = training_config(model_of("one", nlp)["one"], tmp_path / "1")
    assert config["components"]["crf_tagger"]["trainer"]["iterations_per_step"] == 1
    assert [config["training"][name] for name in ("max_steps", "max_epochs", "patience")] == [200, 0, 80]


def test_learning_from_few_texts_is_scored_again_and_again(tmp_path: Path) -> None:
    """An epoch of these is one update: scored after each hundredth, a training would keep what the first one made."""
    nlp, evaluations = tagged.train("Perceptron"), list[int]()
    nlp.config["training"].update(max_steps=0, max_epochs=15, patience=1000, eval_frequency=100)
    nlp.config["training"]["batcher"] = {"@batchers": "spacy_crf.full_batch.v1"}
    docs = [example.reference for example in tagged.make_examples(nlp)]
    for name in (training.LEARNED, training.HELD_OUT):
        (tmp_path / name).write_bytes(DocBin(docs=docs).to_bytes())
    model = model_of("one", nlp)["one"]
    config = training_config(model, tmp_path)
    model.save(tmp_path / "given")
    train_config(config, lambda evaluation: evaluations.append(evaluation.step))
    assert evaluations == [0, 3, 6, 9, 12]
