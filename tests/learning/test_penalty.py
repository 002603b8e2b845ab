"""`c2 = "auto"`: the penalty under which documents predict others best."""

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.noisy import make_examples, sentences
from spacy.language import Language
from spacy.training import Example

from spacy_crf.annotation.documents import write_doc_name
from spacy_crf.annotation.gold import write_gold_tags
from spacy_crf.core.errors import CRFWarning
from spacy_crf.core.learn.penalty import PENALTIES, fold_numbers

TEMPLATES = ["LOWER[0]", "LOWER[-1]", "LOWER[1]", "LOWER[-1]|LOWER[0]|LOWER[1]"]


def build(
    factory: str = "crf_tagger", c2: float | str = "auto", learn_from: str | None = None, **trainer: Any
) -> Language:
    nlp = spacy.blank("xx")
    settings = {
        **({} if learn_from is None else {"learn_from": learn_from}),
        "features": {"@misc": "spacy_crf.Features.v1", "templates": TEMPLATES},
        "trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": c2, "iterations_per_step": 50, **trainer},
    }
    nlp.add_pipe(factory, config=settings)
    return nlp


def fit(nlp: Language, examples: list[Example]) -> Language:
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def noisy(nlp: Language, seed: int = 0, n: int = 300) -> list[Example]:
    return make_examples(nlp, sentences(seed, n))


def loss_elsewhere(nlp: Language) -> float:
    """Of sentences that nothing was fitted to."""
    return nlp.get_pipe(nlp.pipe_names[0]).get_loss(noisy(nlp, 1), [])


def trainer_block(nlp: Language) -> dict[str, Any]:
    return nlp.config["components"][nlp.pipe_names[0]]["trainer"]


def trained(*settings: Any) -> Language:
    nlp = build(*settings)
    return fit(nlp, noisy(nlp))


@pytest.mark.parametrize("factory", ["crf_tagger", "set_valued_tagger"])
def test_what_is_chosen_predicts_other_texts_best(factory: str) -> None:
    nlp = trained(factory)
    chosen = trainer_block(nlp)["c2"]
    losses = {c2: loss_elsewhere(trained(factory, c2)) for c2 in PENALTIES}
    assert chosen in PENALTIES and losses[chosen] <= 1.03 * min(losses.values()) < 0.8 * losses[0.03]
    assert loss_elsewhere(nlp) == pytest.approx(losses[chosen], rel=1e-3)


def test_the_weights_are_those_of_the_number_that_the_saved_config_has(tmp_path: Path) -> None:
    nlp = trained()
    nlp.to_disk(tmp_path)
    chosen = spacy.load(tmp_path).config["components"]["crf_tagger"]["trainer"]["c2"]
    again = trained("crf_tagger", chosen)
    assert again.get_pipe("crf_tagger").model.to_bytes() == nlp.get_pipe("crf_tagger").model.to_bytes()


def test_the_choice_is_told(caplog: pytest.LogCaptureFixture) -> None:
    nlp = build()
    with caplog.at_level(logging.INFO, logger="spacy"):
        fit(nlp, noisy(nlp))
    assert f"c2 = {trainer_block(nlp)['c2']:g}, of 3, 1" in caplog.text


def test_it_is_chosen_once_for_each_training() -> None:
    nlp = build()
    train = noisy(nlp)
    fit(nlp, train)
    trainer_block(nlp)["c2"] = "another"
    nlp.update(train)
    assert trainer_block(nlp)["c2"] == "another"
    fit(nlp, train)
    assert trainer_block(nlp)["c2"] in PENALTIES


def test_too_few_data_warn_and_take_the_usual_one() -> None:
    nlp = build()
    with pytest.warns(CRFWarning, match=r"CRFW410.*crf_tagger.*It is 1\.0"):
        fit(nlp, noisy(nlp, 0, 30))
    assert trainer_block(nlp)["c2"] == 1.0


def test_parts_of_a_document_stay_together() -> None:
    """Where each document comes twice, other documents ask for a greater penalty than the copy does."""
    chosen = []
    for is_named in (False, True):
        nlp = build()
        twice = make_examples(nlp, [one for one in sentences(0, 150) for _ in range(2)])
        for number, example in enumerate(twice):
            write_doc_name(example.reference, f"document {number // 2}" if is_named else "")
        chosen.append(trainer_block(fit(nlp, twice))["c2"])
    assert chosen[0] < chosen[1]


def test_copies_of_a_document_stay_together() -> None:
    """Documents without names, learned in a copy for each rank of tags, ask for the penalty that named ones do."""
    chosen = []
    for is_named in (False, True):
        nlp = build("set_valued_tagger", learn_from="augmented")
        examples = noisy(nlp, 0, 150)
        for number, example in enumerate(examples):
            write_gold_tags(example.reference, [{token.tag_: 0.9, "A": 0.1} for token in example.reference])
            write_doc_name(example.reference, f"document {number}" if is_named else "")
        chosen.append(trainer_block(fit(nlp, examples))["c2"])
    assert chosen[0] == chosen[1]


def test_one_long_document_is_cut_into_its_sequences() -> None:
    assert sorted(set(fold_numbers(np.zeros(9, dtype=np.intp)).tolist())) == [0, 1, 2]


@pytest.mark.parametrize("model", [{"order": 2}, {"all_transitions": True, "boundary": False}])
def test_it_goes_with_every_model(model: dict[str, Any]) -> None:
    nlp = spacy.blank("xx")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": "auto", "unseen": 0.1, "c1": 0.1, "first_order_steps": 1}
    features = {"@misc": "spacy_crf.Features.v1", "templates": [*TEMPLATES, "B:LOWER[0]"]}
    architecture = {"@architectures": "spacy_crf.LinearChain.v1", **model}
    nlp.add_pipe("crf_tagger", config={"model": architecture, "trainer": trainer, "features": features})
    train = noisy(nlp)
    fit(nlp, train)
    nlp.update(train)
    assert trainer_block(nlp)["c2"] in PENALTIES


def test_resuming_wants_a_number() -> None:
    with pytest.raises(ValueError, match=r"\[CRF204\] .*c2.*resumable"):
        build(resumable=True)


def test_models_of_parts_do_not_choose_for_themselves() -> None:
    nlp = spacy.blank("xx")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": "auto"}
    mine = {"@misc": "spacy_crf.Mining.v1"}
    nlp.add_pipe("constrained_ner", config={"target": "tag", "trainer": trainer, "mine": mine})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(nlp, noisy(nlp))
    assert trainer_block(nlp)["c2"] in PENALTIES
