"""Trainers that learn from mistakes give scores, no probabilities: what is made of them warns until it is fitted."""

import warnings
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.tagged import TRAINER_CONFIGS, build, clean_docs, make_examples, train
from spacy.language import Language
from spacy.tokens import Span
from spacy.training import Example

from spacy_crf.core.errors import CRFWarning
from spacy_crf.pipe.calibration import calibrate
from spacy_crf.tagsets.guarantee import held_out_tokens

MISTAKES = ("Perceptron", "PassiveAggressive", "AROW")


def warned(nlp: Language) -> list[str]:
    """What two runs over the documents warn of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(2):
            list(nlp.pipe(clean_docs(nlp)))
    return [str(one.message) for one in found if issubclass(one.category, CRFWarning)]


@pytest.mark.parametrize("trainer", MISTAKES)
@pytest.mark.parametrize("settings", [{"marginals": "crf_test_scores"}, {"n_best": 2}, {"decode": "posterior"}])
def test_what_is_made_of_scores_warns_once(trainer: str, settings: dict[str, Any]) -> None:
    nlp = train(trainer, **settings)
    (message,) = warned(nlp)
    (setting,) = settings
    assert "CRFW403" in message and setting in message and f"spacy_crf.{trainer}.v1" in message
    assert not warned(nlp)


@pytest.mark.parametrize("trainer", sorted(set(TRAINER_CONFIGS) - set(MISTAKES)))
def test_probabilities_do_not_warn(trainer: str) -> None:
    assert not warned(train(trainer, marginals="crf_test_scores"))


def test_labels_alone_do_not_warn() -> None:
    assert not warned(train("Perceptron"))


@pytest.mark.parametrize("way", ["token_probabilities", "distribution", "span_probabilities"])
def test_every_way_to_probabilities_warns(way: str) -> None:
    nlp = train("Perceptron", target="ent")
    pipe, (doc, *_) = nlp.get_pipe("crf_tagger"), clean_docs(nlp)
    arguments = (doc, [Span(doc, 0, 1, pipe.labels[0])]) if way == "span_probabilities" else ([doc],)
    with pytest.warns(CRFWarning, match="CRFW403"):
        getattr(pipe, way)(*arguments)


def test_sets_and_promises_warn() -> None:
    nlp = build("Perceptron")
    nlp.remove_pipe("crf_tagger")
    pipe = nlp.add_pipe("set_valued_tagger", config={"trainer": TRAINER_CONFIGS["Perceptron"]})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for _ in range(5):
        nlp.update(examples)
    with pytest.warns(CRFWarning, match="CRFW403"):
        held_out_tokens(pipe, make_examples(nlp))
    again = nlp.from_bytes(nlp.to_bytes())
    assert not warned(again)  # it has been said
    loaded = spacy.blank("xx")
    loaded.add_pipe("set_valued_tagger", config={"trainer": TRAINER_CONFIGS["Perceptron"]})
    (message,) = warned(loaded.from_bytes(nlp.to_bytes()))
    assert "every tag set" in message


def test_calibration_makes_probabilities_of_scores() -> None:
    nlp = train("Perceptron", marginals="crf_test_scores")
    pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
    for example in examples[::3]:  # gold that is wrong now and then says how sure one may be
        example.reference[0].tag_ = pipe.labels[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", CRFWarning)
        fitted = calibrate(pipe, [Example(eg.predicted, eg.reference) for eg in examples])
        assert fitted.temperature > 1
        pipe.cfg["temperature"] = fitted.temperature
        assert not warned(nlp) and np.isfinite(pipe.token_probabilities(clean_docs(nlp))[0]).all()


def test_gold_that_the_tagger_does_not_know_is_wrong_in_reliability() -> None:
    nlp = train()
    pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
    for example in examples[::2]:
        example.reference[0].tag_ = pipe.labels[-1]  # so that there is a temperature to be fitted
    before = calibrate(pipe, examples).before
    examples[1].reference[0].tag_ = "NEW"
    fitted = calibrate(pipe, examples)
    assert fitted.before.counts.sum() == before.counts.sum() == sum(len(example.reference) for example in examples)
    right = [float((one.accuracies * one.counts).sum()) for one in (before, fitted.before)]
    assert right[1] == pytest.approx(right[0] - 1)
    assert fitted.before.error > before.error - 1e-9
