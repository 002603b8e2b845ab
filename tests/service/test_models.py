"""Requests that wait are answered together, each with its own answers."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import spacy
from helpers.services import Models, ServedModel, httpx, model_of

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
        slow = model.run(lambda _: __import__("time").sleep(0.2))
        asked = [model.gather("a", ["x"], work), model.gather("a", ["y", "z"], work), model.gather("b", ["w"], work)]
        return list(await asyncio.gather(slow, *asked, model.gather("a", ["v" * 6000], work)))

    _, *found = asyncio.run(ask_all())
    assert found == [["xx"], ["yy", "zz"], ["ww"], ["v" * 12_000]]
    assert batches == [["x", "y", "z"], ["w"], ["v" * 6000]]


def test_models_have_names_of_their_own() -> None:
    nlp = spacy.blank("en")
    with pytest.raises(ValueError, match="CRF737"):
        ServedModel("none", nlp)
    nlp.add_pipe("section_parser")
    with pytest.raises(ValueError, match="CRF736"):
        Models([*model_of("one", nlp).values(), ServedModel("one", nlp)])
