"""Requests that wait are answered together, each with its own answers."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.services import Limits, Models, ServedModel, httpx, model_of, served

from spacy_crf.service.answers import answer, is_tagged_by_words, read_docs, tell_tags

WORDS = ["They", "can", "swim", "to", "boats", "at", "noon", "."]


def test_requests_at_once_have_their_own_answers(client: httpx.Client, models: Models) -> None:
    texts = [" ".join(WORDS[: 1 + number % 7]) for number in range(24)]

    def ask(text: str) -> list[str]:
        response = client.post("/tag", json={"text": text})
        return [token["text"] for token in response.json()["results"][0]["tokens"]]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, texts)) == [text.split() for text in texts]


def test_what_waits_is_done_at_once() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    model, batches = ServedModel("one", nlp), []

    def work(_: Any, items: list[Any]) -> list[Any]:
        batches.append(list(items))
        return [item * 2 for item in items]

    async def ask_all() -> list[Any]:
        asked = [("a", ["v" * 6000]), ("a", ["x"]), ("b", ["w"]), ("a", ["y", "z"])]
        waiting = [model.gather(kind, items, work, sum(map(len, items))) for kind, items in asked]
        return list(await asyncio.gather(model.run(lambda _: time.sleep(0.2), ""), *waiting))

    _, *found = asyncio.run(ask_all())
    assert found == [["v" * 12_000], ["xx"], ["ww"], ["yy", "zz"]]
    assert batches == [["x", "y", "z"], ["w"], ["v" * 6000]]


def test_a_long_text_lets_short_ones_pass_but_not_for_ever() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    model, done = ServedModel("one", nlp, limits=Limits(seconds=2)), list[str]()

    async def ask(text: str, wait: float) -> None:
        await asyncio.sleep(wait)
        await model.run(lambda _: done.append(text), [text])

    async def ask_all() -> None:
        busy = model.run(lambda _: time.sleep(1.5), "")
        await asyncio.gather(busy, ask("v" * 50_000, 0), ask("x", 0.5), ask("y", 1.25))

    asyncio.run(ask_all())
    assert [text[0] for text in done] == ["x", "v", "y"]


def test_solvers_have_a_third_of_the_time_of_a_request(load: Any) -> None:
    for limit in ("budget", "time_limit"):
        for own, seconds, expected in ((10.0, 6, 2), (0.5, 6, 0.5), (None, 30, 10)):
            nlp = load("references")
            nlp.get_pipe("constrained_ner").cfg[limit] = own
            model = ServedModel("refs", nlp, limits=Limits(seconds=seconds))
            assert model.nlp.get_pipe("constrained_ner").cfg[limit] == expected


def test_what_is_saved_has_the_settings_of_the_pipeline_not_those_of_the_service(load: Any, tmp_path: Path) -> None:
    nlp = load("references")
    before = dict(nlp.get_pipe("constrained_ner").cfg)
    model = ServedModel("refs", nlp, limits=Limits(seconds=3))
    assert nlp.get_pipe("constrained_ner").cfg["time_limit"] == 1
    model.save(tmp_path / "saved")
    saved = spacy.load(tmp_path / "saved")
    assert dict(saved.get_pipe("constrained_ner").cfg) == before
    assert saved.config["components"] == model.config["components"]


def test_models_have_names_of_their_own() -> None:
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="CRF737"):
        ServedModel("none", nlp)
    nlp.add_pipe("section_parser")
    with pytest.raises(ValueError, match="CRF736"):
        Models([*model_of("one", nlp).values(), ServedModel("one", nlp)])


def test_tags_by_words_are_those_of_docs(load: Any) -> None:
    nlp = load("tagger")
    tagger = ServedModel("tagger", nlp).component("tag")
    texts = ["They can  swim\nto the boats.", "", " ", "zzyx's ÄÖ!", "Can you mail the can opener back?"]
    assert is_tagged_by_words(nlp, tagger)
    by_docs = [tell_tags(tagger, doc) for doc in read_docs(nlp, texts)]
    for own, other in zip(answer("tag", nlp, tagger, texts), by_docs, strict=True):
        assert [list(token) for token in own["tokens"]] == [list(token) for token in other["tokens"]]
        for token, same in zip(own["tokens"], other["tokens"]):
            assert {**token, "probability": 0, "probabilities": 0} == {**same, "probability": 0, "probabilities": 0}
            assert token["probability"] == pytest.approx(same["probability"], abs=1e-5)
            assert token["probabilities"] == pytest.approx(same["probabilities"], abs=2e-4)


def test_words_are_too_little_where_other_components_work() -> None:
    nlp = spacy.blank("en")
    tagger = nlp.add_pipe("crf_tagger")
    assert is_tagged_by_words(nlp, tagger)
    nlp.add_pipe("sentencizer", first=True)
    assert not is_tagged_by_words(nlp, tagger)


def test_a_pipeline_that_has_seen_very_many_words_is_loaded_anew(load: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """What spaCy keeps of words that a memory zone has forgotten grows with every new word."""
    monkeypatch.setattr("spacy_crf.service.models.MOST_WORDS", 100)
    load("tagger").to_disk(tmp_path / "model")
    models = model_of("tagger", spacy.load(tmp_path / "model"))
    model = models["tagger"]
    model.source = str(tmp_path / "model")
    first = model.nlp
    with served(models) as client:

        def ask(text: str) -> Any:
            return client.post("/tag", json={"text": text}).json()["results"]

        known = ask("They can swim.")
        assert model.nlp is first
        ask(" ".join(f"w{number}" for number in range(150)))
        assert ask("They can swim.") == known and model.nlp is not first
        second = model.nlp
        model.source = str(tmp_path / "gone")
        ask(" ".join(f"v{number}" for number in range(150)))
        assert ask("They can swim.") == known and model.nlp is second


@pytest.mark.parametrize("given", [False, True])
def test_entities_have_the_probabilities_with_which_they_were_found(load: Any, given: bool) -> None:
    """Not those that they have as evidence for themselves; those of a rule before have none, whatever their labels."""
    text = "Anna Berg met Tom in Bern on Monday."
    nlp = load("entities")
    (name,) = nlp.pipe_names
    expected = {ent.text: nlp.get_pipe(name).span_probabilities(nlp.make_doc(text), [ent]) for ent in nlp(text).ents}
    nlp.get_pipe(name).cfg["given"] = given
    model = ServedModel("one", nlp)
    (told,) = answer("entities", nlp, model.component("entities"), [text])
    found = {one["text"]: one["probability"] for one in told["entities"]}
    assert found == pytest.approx({word: float(one.label[0]) for word, one in expected.items()}, abs=1e-6)
    rules = nlp.add_pipe("entity_ruler", before=name)
    rules.add_patterns([{"label": "DAY", "pattern": "Monday"}])
    (told,) = answer("entities", nlp, model.component("entities"), [text])
    assert [one["probability"] is None for one in told["entities"]] == [False, False, True]
