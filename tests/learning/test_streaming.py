"""Memory of training on a stream in which new words never cease: as much after many sentences as after some."""

from typing import Any

import pytest
import spacy
from helpers.tagged import build, make_examples

from benchmarks.streaming import measure, run, sentences
from spacy_crf.core.errors import CRFWarning


def test_new_words_keep_coming() -> None:
    seen: list[set[str]] = []
    for count in (500, 1000, 2000):
        seen.append({word for words, _ in sentences(count, seed=0) for word in words})
    assert len(seen[1]) > 1.5 * len(seen[0]) and len(seen[2]) > 1.5 * len(seen[1])


def test_memory_zones_take_new_words_out_of_the_vocabulary() -> None:
    kept, freed = (measure(400, "Perceptron", 512, keeps_words) for keeps_words in (True, False))
    assert kept["strings"] > freed["strings"] + 500
    assert freed["accuracy"] == kept["accuracy"] > 0.9
    assert kept["features"] == freed["features"] == 512


@pytest.mark.slow
def test_memory_does_not_grow_with_the_stream() -> None:
    lengths = (60_000, 120_000)  # caches are full at 50,000
    few, many = (run(count, "Perceptron", 1 << 15, keeps_words=False) for count in lengths)
    assert many["accuracy"] > 0.9
    assert many["peak_mebibytes"] < 1.1 * few["peak_mebibytes"]


FITTED: dict[str, Any] = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER|COMMON2", "CLASS3"]}


@pytest.mark.parametrize(
    ("config", "labels", "told"),
    [
        ({}, None, ": labels. Set"),
        ({"features": {**FITTED, "classes": {"@misc": "spacy_crf.InducedClasses.v1"}}}, ["NN"], "RARE.*features.cl"),
        ({"features": {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}}, ["NN"], None),
    ],
)
def test_what_is_fitted_to_the_first_examples_is_told(
    config: dict[str, Any], labels: list[str] | None, told: str | None
) -> None:
    nlp = build("Perceptron", **config)
    nlp.config["training"]["max_epochs"] = -1
    nlp.config["initialize"]["components"]["crf_tagger"] = {"labels": labels}
    examples = make_examples(nlp)
    if told is None:
        nlp.initialize(lambda: examples)
        return
    with pytest.warns(CRFWarning, match=f"CRFW415.*{told}"):
        nlp.initialize(lambda: examples)


def test_comparison_taggers_tell_it_too() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("memm_tagger", config={"features": {**FITTED, "templates": ["LOWER|COMMON2"]}})
    nlp.config["training"]["max_epochs"] = -1
    with pytest.warns(CRFWarning, match="CRFW415.*labels, COMMON and RARE"):
        nlp.initialize(lambda: make_examples(nlp))
