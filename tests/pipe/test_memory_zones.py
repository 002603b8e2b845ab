"""spaCy's memory zones: what new words leave in the vocabulary goes with the zone, and nothing of ours goes stale."""

import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import spacy
from contract.models import ENGLISH, MODELS, Model, describe
from helpers.folders import unpack_model
from helpers.tagged import make_examples, train
from spacy.language import Language

import spacy_crf
from spacy_crf.features import lexemes
from spacy_crf.learning import scores

LETTERS = "abcdeßéŵ"


def new_words(rng: random.Random, count: int) -> str:
    """A text of words that nobody has seen."""
    words = ["".join(rng.choices(LETTERS, k=rng.randint(3, 9))) for _ in range(count)]
    return " ".join(word.title() if rng.random() < 0.3 else word for word in words) + "."


def texts(model: Model, number: int) -> list[str]:
    """Texts with words that come in each zone, words that come again, and words that are new."""
    rng = random.Random(number)
    return [*ENGLISH, *model.texts, *(new_words(random.Random(number // 2), 20), new_words(rng, 30))]


def answers(model: Model, nlp: Language, number: int) -> list[Any]:
    return [describe(model, doc) for doc in nlp.pipe(texts(model, number))]


@pytest.mark.parametrize("name", MODELS)
def test_zones_change_nothing_but_memory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexemes, "MAX_LEXEMES", 200)  # caches start over on the way
    unpack_model(name, tmp_path)
    model, nlp, other = MODELS[name], spacy.load(tmp_path), spacy.load(tmp_path)
    answers(model, nlp, 0)
    n_strings = len(nlp.vocab.strings)
    for number in (1, 2, 3, 2, 1):
        with nlp.memory_zone():
            found = answers(model, nlp, number)
            assert len(nlp.vocab.strings) > n_strings
        assert len(nlp.vocab.strings) == n_strings
        assert found == answers(model, other, number)
    assert answers(model, nlp, 3) == answers(model, other, 3)


def kept_by_the_library(nlp: Language, rng: random.Random, n_batches: int) -> int:
    """Bytes that the library holds after some more batches of new words."""
    for _ in range(n_batches):
        with nlp.memory_zone():
            for _ in nlp.pipe(new_words(rng, 100) for _ in range(5)):
                pass
    kept = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, f"{Path(spacy_crf.__file__).parent}/*")])
    return sum(one.size for one in kept.statistics("filename"))


def test_our_caches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexemes, "MAX_LEXEMES", 500)
    monkeypatch.setattr(scores, "MAX_BYTES", 1 << 20)
    nlp, rng = train(), random.Random(0)
    tracemalloc.start()
    try:
        few, many = kept_by_the_library(nlp, rng, 4), kept_by_the_library(nlp, rng, 16)
    finally:
        tracemalloc.stop()
    assert many < 1.2 * few + 100_000


def test_training_goes_on_behind_a_zone() -> None:
    nlp, twin = train("AdaGrad"), train("AdaGrad")
    with nlp.memory_zone():
        list(nlp.pipe([new_words(random.Random(1), 50)]))
    for one in (nlp, twin):
        one.update(make_examples(one), sgd=one.resume_training())
    assert nlp.get_pipe("crf_tagger").to_bytes() == twin.get_pipe("crf_tagger").to_bytes()
