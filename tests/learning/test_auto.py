"""`trainer = "auto"`: a component with default settings learns in any training loop."""

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers import citations, punctuated, tagged
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.util import load_config, minibatch

FULL_BATCH = {"@batchers": "spacy_crf.full_batch.v1"}
TOK2VEC = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1, "embed_size": 50, "window_size": 1}
TOK2VEC |= {"maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None}
CHAIN = "spacy_crf.LinearChain.v1"

# of a component: its examples, a score that tells whether it has learned them, and how high that is
TASKS: dict[str, tuple[Callable[[Language, Path], list[Example]], str, float]] = {
    "crf_tagger": (lambda nlp, _: tagged.make_examples(nlp), "tag_acc", 0.98),
    "set_valued_tagger": (lambda nlp, _: tagged.make_examples(nlp), "tag_acc", 0.98),
    "constrained_ner": (lambda nlp, _: citations.make_examples(nlp, count=24), "ents_f", 0.95),
    "punctuation_restorer": (punctuated.make_examples, "punct_f", 0.95),
}


def make(name: str = "crf_tagger", batcher: dict[str, str] | None = None, **settings: Any) -> Language:
    """A pipeline with a component at its defaults."""
    nlp = spacy.blank("en")
    nlp.add_pipe(name, config=settings)
    if batcher is not None:
        nlp.config["training"]["batcher"] = batcher
    return nlp


def trainer_of(nlp: Language) -> str:
    """Name of the trainer that a pipeline has chosen when it was initialised."""
    nlp.initialize(lambda: tagged.make_examples(nlp))
    return type(nlp.get_pipe("crf_tagger").trainer.settings).__name__.removesuffix("Settings")


@pytest.mark.parametrize("name", TASKS)
def test_the_loop_of_notebooks_trains_every_component_as_it_is(name: str, tmp_path: Path) -> None:
    make_examples, score, least = TASKS[name]
    nlp, shuffler = make(name), random.Random(0)
    examples = make_examples(nlp, tmp_path)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(20):
        shuffler.shuffle(examples)
        for batch in minibatch(examples, size=8):
            nlp.update(batch, sgd=optimizer)
    assert nlp.evaluate(examples)[score] >= least


@pytest.mark.parametrize("batcher, trainer", [(None, "AdaGrad"), (FULL_BATCH, "LBFGS")])
def test_the_batcher_decides(batcher: dict[str, str] | None, trainer: str) -> None:
    assert trainer_of(make(batcher=batcher)) == trainer
    assert trainer_of(make(batcher=batcher, model={"@architectures": CHAIN, "tok2vec": TOK2VEC})) == "AdaGrad"
    assert trainer_of(make(batcher=batcher, model={"@architectures": CHAIN, "order": 2})) == "LBFGS"


def test_a_batcher_may_be_a_variable_of_the_config() -> None:
    nlp = make()
    nlp.config["shared"] = {"batcher": FULL_BATCH}
    nlp.config["training"]["batcher"] = "${shared.batcher}"
    assert trainer_of(nlp) == "LBFGS"


def test_probabilities_are_real_whichever_it_is() -> None:
    nlp = make(marginals="probabilities")
    examples = tagged.make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=optimizer)
    with warnings.catch_warnings(action="error"):
        doc = nlp(examples[0].predicted.copy())
    assert sum(doc[0]._.probabilities.values()) == pytest.approx(1, abs=1e-5)


def test_a_saved_component_goes_on_with_batches_of_any_size(tmp_path: Path) -> None:
    nlp = make(batcher=FULL_BATCH)
    examples = tagged.make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples[:12])
    nlp.update(examples[:12], sgd=optimizer)
    nlp.to_disk(tmp_path)
    assert load_config(tmp_path / "config.cfg")["components"]["crf_tagger"]["trainer"] == "auto"
    loaded = spacy.load(tmp_path)
    for token in (token for example in examples for token in example.reference):
        loaded.get_pipe("crf_tagger").add_label(token.tag_)
    before = loaded.evaluate(examples)["tag_acc"]
    optimizer = loaded.resume_training()
    for _ in range(20):
        for batch in minibatch(examples, size=8):
            loaded.update(batch, sgd=optimizer)
    assert before < loaded.evaluate(examples)["tag_acc"] > 0.9


def test_another_name_is_told_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"CRF408.*trainer.*'auto' or a block with @misc = .*AdaGrad"):
        make(trainer="lbfgs")


@pytest.mark.parametrize("batcher", [None, FULL_BATCH])
def test_spacys_training_with_a_config_that_names_no_trainer(tmp_path: Path, batcher: dict[str, str] | None) -> None:
    nlp = make()
    data = tmp_path / "tiny.spacy"
    DocBin(docs=[example.reference for example in tagged.make_examples(nlp)]).to_disk(data)
    config = nlp.config.copy()
    config["paths"] |= {"train": str(data), "dev": str(data)}
    for split in ("train", "dev"):
        config["corpora"][split]["path"] = str(data)
        config["corpora"][split]["gold_preproc"] = True
    config["training"] |= {"max_steps": 60, "eval_frequency": 20} if batcher is None else {"max_steps": 2}
    if batcher is not None:
        config["training"] |= {"batcher": batcher, "eval_frequency": 1}
    config.to_disk(tmp_path / "config.cfg")
    train(tmp_path / "config.cfg", tmp_path / "out")
    assert spacy.load(tmp_path / "out" / "model-best").meta["performance"]["tag_acc"] > 0.95
