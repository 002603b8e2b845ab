"""Induced word classes as attributes of templates."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_crf.features.block import ClassSettings, FeatureSettings
from spacy_crf.features.features import Features
from spacy_crf.features.induced import RARE, WordClasses, count_bigrams, exchange_classes
from spacy_crf.features.resources import Lexicon

SENTENCES = ["the cat ran", "a dog ran", "the dog sat", "a cat sat", "The DOG ran", "a cat ran"]


def test_frequent_words_and_their_pairs() -> None:
    words, bigrams = count_bigrams(lambda: [line.split() for line in SENTENCES], min_count=2, max_words=10)
    assert words == ["ran", "a", "cat", "dog", "the", "sat"]
    pairs = {
        (words[i], words[j]): n
        for i, j, n in zip(bigrams.first.tolist(), bigrams.second.tolist(), bigrams.counts.tolist())
    }
    assert pairs["a", "cat"] == 2 and pairs["the", "dog"] == 2 and ("ran", "a") not in pairs
    assert count_bigrams(lambda: [["b", "x", "b"], ["b", "b"]], 2, 1)[0] == ["b"]
    assert count_bigrams(list, 1, 1)[0] == []


def test_words_of_the_same_use_share_a_class() -> None:
    rng = np.random.default_rng(0)
    groups = [["a", "the"], ["cat", "dog", "emu"], ["ran", "sat"]]
    texts = [[str(rng.choice(group)) for group in groups * 5] for _ in range(60)]
    found = ClassSettings(min_count=2).make(lambda: texts, [3, 2])
    a, the, cat, dog, ran, rare = found.classify(["a", "THE", "cat", "dog", "ran", "gnu"], 3)
    assert a == the and cat == dog and len({a, cat, ran}) == 3 and rare == RARE
    assert set(found.classes) == {2, 3}
    again = WordClasses.from_data(found.to_data())
    assert again.classify(["a", "cat"], 2) == found.classify(["a", "cat"], 2)


def test_no_more_classes_than_words_take_room() -> None:
    _, bigrams = count_bigrams(lambda: [["a", "b", "a", "c"] * 5], 1, 10)
    assert sorted(exchange_classes(bigrams, 10**9).tolist()) == list(range(bigrams.n_words))


def test_digits_fold() -> None:
    found = WordClasses(["000"], {5: [4]})
    assert found.classify(["123", "12"], 5) == ["4", RARE]


def test_templates_and_storage(vocab: Vocab) -> None:
    docs = [Doc(vocab, words=line.split()) for line in SENTENCES]
    config = FeatureSettings(["CLASS3[-1]|CLASS3", "LOWER"], classes=ClassSettings(min_count=1))
    resources = config.make_resources(str.split, lambda: docs)
    features = Features(config, "doc", resources)
    columns = features.extractor.read(docs, vocab)
    keys = features.extractor.keys(columns, features.extractor.state_templates)
    features.state.grow(keys, columns, padding=True)
    first, second = resources.lexicon.classes.classify(["the", "cat"], 3)
    assert f"CLASS3[-1]|CLASS3[0]={first}|{second}" in features.state.names()
    again = Features.from_data(features.to_data(), config, "doc")
    assert again.resources.lexicon.classes == resources.lexicon.classes
    assert again.state.names() == features.state.names()


def test_components_induce_and_store_them() -> None:
    nlp = spacy.blank("xx")
    features = {
        "@misc": "spacy_crf.Features.v1",
        "templates": ["CLASS2[-1..1]"],
        "classes": {"@misc": "spacy_crf.InducedClasses.v1", "min_count": 1},
    }
    nlp.add_pipe("crf_tagger", config={"features": features})
    docs = [Doc(nlp.vocab, words=line.split(), tags=["D", "N", "V"]) for line in SENTENCES]
    examples = [spacy.training.Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    again = spacy.blank("xx")
    again.add_pipe("crf_tagger", config={"features": features})
    again.from_bytes(nlp.to_bytes())
    assert [t.tag_ for t in again(nlp.make_doc("the cat sat"))] == [t.tag_ for t in nlp(nlp.make_doc("the cat sat"))]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="CRF976"):
        FeatureSettings(["CLASS50"])
    with pytest.raises(ValueError, match="CRF302"):
        FeatureSettings(["CLASS"], classes=ClassSettings())
    with pytest.raises(ValueError, match="CRF977"):
        ClassSettings(rounds=0)
    from spacy_crf.features.lexemes import WordForms

    with pytest.raises(ValueError, match="CRF978"):
        WordForms([], Lexicon()).classes(3)
