"""Work is done in pieces, whose sizes are made for large corpora: results are the same with pieces of a few units."""

import importlib
from itertools import islice
from typing import Any

import numpy as np
import pytest
from helpers.paths import ROOT
from helpers.weights import flat_weights
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry

from spacy_crf.core.learn import blocks
from spacy_crf.learning.model import get_layout

SIZES = {
    "annotation.extensions.SHARED_STARTS": 3,
    "core.chain.viterbi.CHUNK": 16,
    "core.constraints.automaton.MEMORY": 16,
    "core.grammar.chart.CELLS": 16,
    "core.learn.blocks.UNITS_PER_WINDOW": 100,
    "core.sections.build.FORGET": 4,
    "core.sparse._CHUNK": 16,
    "features.lexemes.MAX_LEXEMES": 8,
    "features.spelling.MAX_WORDS": 8,
    "learning.encoder.TOKENS_PER_SAMPLE": 90,
    "pipe.dictionary.tag_dictionary._CHUNK": 8,
}
COMPONENTS = ["crf_tagger", "set_valued_tagger", "constrained_ner", "section_parser", "punctuation_restorer"]
N_EXAMPLES = {"section_parser": 4, "punctuation_restorer": 3}


def make_small(patch: pytest.MonkeyPatch) -> None:
    """Give all pieces a few units."""
    for name, size in SIZES.items():
        module, _, constant = name.rpartition(".")
        patch.setattr(importlib.import_module(f"spacy_crf.{module}"), constant, size)
    patch.setattr(blocks.cut, "__defaults__", (60,))


def train(name: str) -> tuple[Language, list[Example]]:
    """The shipped config after one step on some examples of its corpus, and others that it has not seen."""
    config = load_config(ROOT / "configs" / f"{name}.cfg")
    config["training"]["eval_frequency"] = 1
    block = config["components"][name]
    if name == "punctuation_restorer":  # which another trainer trains
        block["trainer"] = {"@misc": "spacy_crf.LBFGS.v1"}
    block["trainer"] |= {
        "iterations_per_step": 12 if name == "section_parser" else 4
    }  # others can be read in many ways
    if name == "constrained_ner":
        block["mine"] = None  # mining would take most of the time
    nlp = load_model_from_config(config, auto_fill=True)
    corpora: dict[str, Any] = registry.resolve(nlp.config.interpolate()["corpora"])
    count = N_EXAMPLES.get(name, 25)
    learned, others = (list(islice(corpora[part](nlp), count)) for part in ("train", "dev"))
    nlp.initialize(lambda: learned)
    nlp.update(learned)
    return nlp, others


def answers(nlp: Language, examples: list[Example]) -> list[dict[str, Any]]:
    """What the pipeline says of the words of examples."""
    return [doc.to_json() for doc in nlp.pipe(example.predicted.copy() for example in examples)]


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_sizes_of_pieces_do_not_change_results(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    nlp, examples = train(name)
    expected = answers(nlp, examples)
    with monkeypatch.context() as patch:
        make_small(patch)
        assert answers(nlp, examples) == expected
        other, _ = train(name)
    layouts = [get_layout(pipeline.get_pipe(name).model) for pipeline in (nlp, other)]
    for cells in zip(*(layout.cells[:3] for layout in layouts), strict=True):
        assert len({len(np.unique(own)) for own in cells} | {len(own) for own in cells}) == 1
    # features are numbered in the order in which pieces bring them
    weights = (np.sort(flat_weights(pipeline.get_pipe(name).model)) for pipeline in (nlp, other))
    np.testing.assert_allclose(*weights, atol=2e-3)
