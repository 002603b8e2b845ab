"""Features hashed to buckets: bounded, stable, stored, and good enough to learn with."""

import numpy as np
import pytest
import spacy
from helpers.tagged import TRAINERS, build, clean_docs, extension, fit, make_examples
from spacy.language import Language

from spacy_crf.features.block import FeatureSettings
from spacy_crf.pipe.inspect import inspect

__all__ = ["extension"]


def features(max_features: int, **settings) -> dict:
    return {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging"], "max_features": max_features, **settings}


def tags_of(nlp: Language) -> list[list[str]]:
    return [[token.tag_ for token in doc] for doc in nlp.pipe(clean_docs(nlp))]


@pytest.mark.parametrize("trainer", TRAINERS)
def test_buckets_learn_and_are_loaded_again(trainer: str, tmp_path) -> None:
    nlp = build(trainer, features=features(4000))
    examples = make_examples(nlp)
    fit(nlp, examples)
    index = nlp.get_pipe("crf_tagger").features.state
    assert 500 < len(index) <= 4000
    assert index.names() == [index.name(number) for number in range(len(index))]
    assert all(name.startswith("bucket ") and 0 <= int(name[7:]) < 4000 for name in index.names())
    gold = [[token.tag_ for token in example.reference] for example in examples]
    right = np.mean([a == b for doc, other in zip(tags_of(nlp), gold) for a, b in zip(doc, other)])
    assert right > 0.95
    nlp.to_disk(tmp_path)
    assert tags_of(spacy.load(tmp_path)) == tags_of(nlp)
    with pytest.raises(ValueError, match="CRF313"):
        spacy.load(tmp_path, config={"components.crf_tagger.features.max_features": 5000})


def test_there_are_never_more_than_asked_for() -> None:
    nlp = build("Perceptron", features=features(50, templates=["@tagging", "B:LOWER[0]"]))
    examples = make_examples(nlp)
    fit(nlp, examples)
    index = nlp.get_pipe("crf_tagger").features
    assert len(index.state) == 50 and len(index.edge) <= 50
    assert index.state.to_data().keys() == {"keys"} and index.state.to_data()["keys"].max() <= 50


def test_some_buckets_can_be_kept() -> None:
    nlp = build("Perceptron", features=features(500))
    fit(nlp, make_examples(nlp))
    index = nlp.get_pipe("crf_tagger").features.state
    chosen = np.arange(len(index)) % 3 == 0
    assert index.keep(chosen).names() == [name for name, keep in zip(index.names(), chosen) if keep]


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ValueError, match="CRF312"):
        FeatureSettings(["LOWER"], max_features=-1)


def test_inspection_counts_buckets_together() -> None:
    nlp = build("Perceptron", features=features(500))
    fit(nlp, make_examples(nlp))
    sizes = inspect(nlp.get_pipe("crf_tagger")).templates
    assert [size.features for size in sizes] == [len(nlp.get_pipe("crf_tagger").features.state)]
