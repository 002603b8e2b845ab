"""Sets on top of other taggers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.networks import CNN
from helpers.tagged import make_examples
from spacy.language import Language
from spacy.tokens import Token
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Adam

from spacy_crf import calibrate
from spacy_crf.core.sets.predict import make_utility, utility_optimal_sets
from spacy_crf.pipe.probabilities import GivesSets
from spacy_crf.tagsets.guarantee import conformal_sets, held_out_tokens


def build(source: str, **config: Any) -> Language:
    nlp = spacy.blank("xx")
    if source == "tagger":
        nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": CNN}})
    elif source == "crf_tagger":
        nlp.add_pipe("crf_tagger", config={"trainer": {"@misc": "spacy_crf.AdaGrad.v1", "units_per_batch": 30}})
    else:
        nlp.add_pipe(source)
    nlp.add_pipe("set_valued_tagger", config={"source": source, **config})
    examples = make_examples(nlp)
    fix_random_seed(0)
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.02)
    for _ in range(10):
        nlp.update(examples, sgd=optimizer)
    return nlp


@pytest.mark.parametrize("source", ["tagger", "crf_tagger", "frequency_tagger", "hmm_tagger", "memm_tagger"])
def test_sets_are_those_of_the_source_s_probabilities(source: str, tmp_path: Path) -> None:
    nlp = build(source)
    texts = [*(example.reference.text for example in make_examples(nlp)[:6]), ""]
    docs = list(nlp.pipe(texts))
    g = make_utility("g").values(len(nlp.get_pipe(source).labels))
    for doc in docs[:-1]:
        values = np.asarray(doc._.tag_probs["values"])
        np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-4)
        assert [len(tags) for tags in doc._.tag_set] == utility_optimal_sets(values, g).sizes.tolist()
        assert [tags[0] for tags in doc._.tag_set] == [doc._.tag_probs["tags"][k] for k in values.argmax(axis=1)]
        if source in ("tagger", "frequency_tagger"):
            assert [tags[0] for tags in doc._.tag_set] == [token.tag_ for token in doc]
    assert docs[-1]._.tag_set == []
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [doc._.tag_set for doc in loaded.pipe(texts)] == [doc._.tag_set for doc in docs]
    assert [doc._.tag_set for doc in loaded.pipe(texts, n_process=2)] == [doc._.tag_set for doc in docs]


def test_a_set_tagger_may_be_the_source_of_another() -> None:
    nlp = build("hmm_tagger")
    names = {"tag_set": "crf_test_wide", "tag_probs": "crf_test_wide_probs"}
    config = {"source": "set_valued_tagger", "method": "size", "size": 3, **names}
    nlp.add_pipe("set_valued_tagger", name="wide", config=config)
    doc = nlp("Ada met Bo .")
    assert isinstance(nlp.get_pipe("wide"), GivesSets) and not isinstance(nlp.get_pipe("hmm_tagger"), GivesSets)
    for narrow, wide in zip(doc._.tag_set, doc._.crf_test_wide):
        assert len(wide) == 3 and wide[: len(narrow)] == narrow[:3]


def test_sets_of_the_tags_of_spans() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"target": "ent", "trainer": {"@misc": "spacy_crf.LBFGS.v1"}})
    nlp.add_pipe("set_valued_tagger", config={"source": "crf_tagger", "gold_tags": "crf_test_span_tags"})
    Token.set_extension("crf_test_span_tags", default=None, force=True)
    examples = make_examples(nlp)
    for token in (token for example in examples for token in example.reference):
        token._.crf_test_span_tags = f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type else "O"
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    tagger = nlp.get_pipe("set_valued_tagger")
    assert isinstance(tagger, GivesSets)
    assert tagger.labels == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    assert nlp.get_pipe("crf_tagger").labels == ("LOC", "PER")
    held_out = held_out_tokens(tagger, examples)
    assert held_out.marginals.shape == held_out.weights.shape and held_out.unknown == 0
    assert (held_out.weights.argmax(axis=1) == held_out.marginals.argmax(axis=1)).mean() > 0.9
    members = conformal_sets(held_out, level=0.1).predict(held_out.marginals, held_out.tokens)
    assert members[held_out.weights > 0].mean() >= 0.9


def test_what_the_source_has_written_is_no_evidence_to_it() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"given": True})
    nlp.add_pipe("set_valued_tagger", config={"source": "crf_tagger"})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    probabilities = nlp("Ada quux Bo .")._.tag_probs["values"]
    assert 0 < max(probabilities[1]) < 0.99


def test_it_is_scored_like_its_sibling() -> None:
    nlp = build("tagger", method="size", size=3)
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["set_size"] == 3 and scores["ml_acc"] == pytest.approx(scores["tag_acc"])
    assert scores["set_coverage"] >= scores["ml_acc"] > 0.5


SETTINGS = {
    "temperature": 2.0,
    "forbidden": [["D", "D"]],
    "dictionary": {"@misc": "spacy_crf.TagDictionary.v1"},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_that_a_source_decides_are_refused(setting: str) -> None:
    nlp = spacy.blank("xx")
    config = {"source": "crf_tagger", setting: SETTINGS[setting]}
    with pytest.raises(ValueError, match=rf"\[CRF408\] .*{setting}.*`source`.*config.cfg"):
        nlp.add_pipe("set_valued_tagger", config=config)


def test_probabilities_of_a_source_are_not_calibrated_in_its_place() -> None:
    nlp = build("tagger")
    with pytest.raises(ValueError, match=r"\[CRF470\] .*'set_valued_tagger'.* it takes those of 'tagger'"):
        calibrate(nlp.get_pipe("set_valued_tagger"), make_examples(nlp))
    with pytest.raises(ValueError, match=r"\[CRF470\] .*'tagger'"):
        calibrate(nlp.get_pipe("tagger"), make_examples(nlp))


def test_a_temperature_is_not_assigned_beside_a_source() -> None:
    pipe = spacy.blank("xx").add_pipe("set_valued_tagger", config={"source": "crf_tagger"})
    for value in (2.0, "auto"):
        with pytest.raises(ValueError, match=r"\[CRF408\] .*temperature.*`source`"):
            pipe.cfg["temperature"] = value


@pytest.mark.parametrize("source", ["morphologizer", "set_valued_tagger"])
def test_a_source_that_is_not_there_is_named(source: str) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("set_valued_tagger", config={"source": source})
    with pytest.raises(ValueError, match=f"CRF416.*{source}"):
        nlp("Ada")


@pytest.mark.parametrize("source", ["ner", "textcat", "spancat", "sentencizer", "tok2vec"])
@pytest.mark.parametrize("factory", ["set_valued_tagger", "constraint_decoder"])
def test_a_source_without_scores_of_labels_for_each_token_is_refused(factory: str, source: str) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe(source)
    nlp.add_pipe(factory, config={"source": source})
    gold = {"entities": [(0, 3, "X")], "cats": {"X": 1.0, "Y": 0.0}, "spans": {"sc": [(0, 3, "X")]}}
    examples = [Example.from_dict(nlp.make_doc("Ann left"), gold)]
    nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match=f"CRF417.*{factory}.*{source}"):
        nlp("Ann left")


def test_a_source_that_is_switched_off_is_no_obstacle(tmp_path: Path) -> None:
    nlp = build("tagger")
    with nlp.select_pipes(disable=["tagger"]):
        assert nlp.meta["labels"]["set_valued_tagger"] == list(nlp.get_pipe("set_valued_tagger").labels)
        nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path, exclude=["tagger"]).get_pipe("set_valued_tagger").labels == ()


def test_names_may_be_changed_after_loading() -> None:
    nlp = build("tagger")
    nlp.get_pipe("set_valued_tagger").cfg["tag_set"] = "crf_test_other_set"
    assert nlp("Ada met Bo .")[0]._.crf_test_other_set
