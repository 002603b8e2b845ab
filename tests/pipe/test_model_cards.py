"""What training tells of a pipeline in its meta data: scores that were measured, and none of other targets."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.paths import ROOT
from spacy.cli.train import train
from spacy.util import load_config

CORPUS = ROOT / "corpus"
TAGGED = {"@readers": "spacy_crf.Corpus.v1", "path": str(CORPUS / "crf_tagger" / "dev.conllu"), "limit": 8}
SETS = {
    "@readers": "spacy_crf.Corpus.v1",
    "path": str(CORPUS / "set_valued_tagger" / "dev"),
    "format": "tagsets",
    "limit": 1,
}
TEXT = {"@readers": "spacy_crf.PunctuationCorpus.v1", "path": str(CORPUS / "punctuation_restorer" / "dev"), "limit": 2}
SECTIONS = {"@readers": "spacy_crf.SectionCorpus.v1", "path": str(CORPUS / "section_parser" / "dev"), "limit": 1}
REFERENCES = {
    "@readers": "spacy_crf.Corpus.v1",
    "path": str(CORPUS / "constrained_ner" / "dev" / "apa.txt"),
    "format": "references",
    "limit": 8,
    "references": {"@misc": "spacy_crf.References.v1", "ents": True, "spans_key": "fields"},
}
CASED = {"marks": {"@misc": "spacy_crf.Marks.v1", "case": True}}
SPANS = {"target": "spans", "spans_key": "fields"}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "tags": ("crf_tagger", {"target": "tag"}, TAGGED),
    "parts of speech": ("crf_tagger", {"target": "pos"}, TAGGED),
    "entities": ("crf_tagger", {"target": "ent"}, REFERENCES),
    "spans": ("crf_tagger", SPANS, REFERENCES),
    "sets of tags": ("set_valued_tagger", {"target": "tag"}, SETS),
    "sets of parts of speech": ("set_valued_tagger", {"target": "pos"}, TAGGED),
    "constrained entities": ("constrained_ner", {"target": "ent"}, REFERENCES),
    "constrained spans": ("constrained_ner", SPANS, REFERENCES),
    "marks and case": ("punctuation_restorer", CASED, TEXT),
    "marks": ("punctuation_restorer", {}, TEXT),
    "sections": ("section_parser", {}, SECTIONS),
    "frequencies": ("frequency_tagger", {"target": "pos"}, TAGGED),
}
OWN = {
    "tags": "tag_acc",
    "parts of speech": "pos_acc",
    "entities": "ents_f",
    "spans": "spans_fields_f",
    "sets of tags": "tag_acc",
    "sets of parts of speech": "pos_acc",
    "marks and case": "case_acc",
    "frequencies": "pos_acc",
}


@pytest.mark.parametrize("case", CASES)
def test_scores_are_told_that_were_measured(case: str, tmp_path: Path) -> None:
    factory, settings, reader = CASES[case]
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config=settings)
    config = nlp.config.copy()
    config["corpora"] = {"train": reader, "dev": reader}
    config["training"].update(max_steps=1, eval_frequency=1)
    config["training"]["batcher"] = {"@batchers": "spacy_crf.full_batch.v1"}
    config.to_disk(tmp_path / "config.cfg")
    train(tmp_path / "config.cfg", tmp_path / "model")
    told = json.loads((tmp_path / "model" / "model-last" / "meta.json").read_text(encoding="utf8"))["performance"]
    trained = spacy.load(tmp_path / "model" / "model-last")
    corpus = spacy.registry.resolve({"corpus": reader})["corpus"]
    measured = {name for name, value in trained.evaluate(list(corpus(trained))).items() if value is not None}
    assert {name for name in told if not name.endswith("_loss")} <= measured
    assert OWN.get(case, "") in {"", *told}
    weights = load_config(tmp_path / "model" / "model-last" / "config.cfg")["training"]["score_weights"]
    assert set(weights) <= measured


@pytest.mark.parametrize("second", ["crf_tagger", "frequency_tagger", "set_valued_tagger"])
@pytest.mark.parametrize("weights", [None, {"tag_acc": 0.5, "pos_acc": 0.5, "crf_score": 0.0}])
def test_scores_of_one_name_are_told_where_models_are_chosen_by_them(
    second: str, weights: dict[str, float] | None
) -> None:
    nlp = spacy.blank("en")
    if weights is not None:
        nlp.config["training"]["score_weights"] = weights
    nlp.add_pipe("crf_tagger", name="first", config={"target": "tag"})
    nlp.add_pipe(second, name="second", config={"target": "pos"})
    examples = list(spacy.registry.resolve({"corpus": TAGGED})["corpus"](nlp))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nlp.initialize(lambda: examples)
    told = [str(one.message) for one in caught if "CRFW419" in str(one.message)]
    is_shared = weights is None and second != "set_valued_tagger"
    assert len(told) == is_shared and all("'first' and 'second'" in one and "crf_score" in one for one in told)


@pytest.mark.parametrize("waits", ["frozen", "taken over", ""])
def test_a_score_of_a_later_component_that_is_not_initialised_is_told(waits: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger", name="first", config={"target": "tag"})
    nlp.add_pipe("crf_tagger", name="second", config={"target": "pos"})
    nlp.config["training"]["frozen_components"] = ["second"] if waits == "frozen" else []
    examples = list(spacy.registry.resolve({"corpus": TAGGED})["corpus"](nlp))
    with warnings.catch_warnings(record=True) as caught, nlp.select_pipes(disable=["second"] if waits else []):
        warnings.simplefilter("always")
        nlp.initialize(lambda: examples)
    (told,) = [str(one.message) for one in caught if "CRFW419" in str(one.message)]
    assert "'first' and 'second'" in told and "that of 'second' alone counts" in told
