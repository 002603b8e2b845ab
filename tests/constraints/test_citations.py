"""A tagger of references, from the corpus of the project to a saved pipeline."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.paths import ROOT
from spacy.language import Language
from spacy.training import Example

from spacy_crf.corpora.reader import Corpus

CORPUS = ROOT / "corpus" / "constrained_ner"
CONFIG = {
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@citations"]},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.2, "iterations_per_step": 40},
}
TOKENIZER = {"nlp": {"tokenizer": {"@tokenizers": "spacy_crf.ReferenceTokenizer.v1"}}}


def make_nlp() -> Language:
    nlp = spacy.blank("xx", config=TOKENIZER)
    nlp.add_pipe("crf_tagger", config=CONFIG)
    return nlp


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A pipeline that has learned from three of the styles."""
    nlp = make_nlp()
    examples = list(Corpus([CORPUS / "train" / f"{style}.txt" for style in ("apa", "ieee", "plain")])(nlp))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def read(nlp: Language) -> list[Example]:
    return list(Corpus([CORPUS / "dev" / f"{style}.txt" for style in ("apa", "ieee", "plain")])(nlp))


def tag(nlp: Language) -> list[list[str]]:
    return [[token.tag_ for token in doc] for doc in nlp.pipe(example.predicted for example in read(nlp))]


def feature_names(nlp: Language) -> list[str]:
    pipe: Any = nlp.get_pipe("crf_tagger")
    return pipe.features.state.names()


def test_fields_of_new_references(nlp: Language) -> None:
    gold = [[token.tag_ for token in example.reference] for example in read(nlp)]
    right = [a == b for own, found in zip(gold, tag(nlp), strict=True) for a, b in zip(own, found, strict=True)]
    assert sum(right) / len(right) > 0.85


def test_features_of_structure_survive_storage(nlp: Language) -> None:
    found = tag(nlp)
    assert tag(make_nlp().from_bytes(nlp.to_bytes())) == found
    names = feature_names(nlp)
    assert "CLAUSE(has publisher)[0]=1" in names and "BEFORE(year)[0]=1" in names
    assert any(name.startswith("CLAUSE(opening,+1)[0]=year+") for name in names)


def test_text_has_the_tokens_of_the_reader(nlp: Language) -> None:
    found = tag(nlp)
    texts = [example.reference.text for example in read(nlp)]
    assert [[token.tag_ for token in doc] for doc in nlp.pipe(texts)] == found


def test_word_lists_of_users_beside_the_preset(tmp_path: Path) -> None:
    path = tmp_path / "journals.tsv"
    path.write_text("annals of rope\tjournal\n", encoding="utf-8")
    nlp = spacy.blank("xx")
    features = {**CONFIG["features"], "templates": ["@citations", "LIST(journal)"], "lists": {"journal": str(path)}}
    nlp.add_pipe("crf_tagger", config={**CONFIG, "features": features})
    reference = nlp.make_doc("Annals of Rope 7")
    for token, label in zip(reference, ["JOURNAL"] * 3 + ["VOLUME"]):
        token.tag_ = label
    examples = [Example(nlp.make_doc(reference.text), reference)]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    names = feature_names(nlp)
    assert {"LIST(journal)[0]=journal", "LIST(journal)[0]=I-journal"} <= set(names)
