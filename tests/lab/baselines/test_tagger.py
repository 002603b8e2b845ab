"""What all comparison taggers do as components of a pipeline."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.baselines import CASES, IDS, MEMM, build, train
from helpers.folders import accept_edits
from helpers.tagged import EXTENSION, clean_docs, make_examples, make_reference
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam

from spacy_crf.annotation.gold import write_gold_tags
from spacy_crf.pipe.probabilities import GivesProbabilities

PROBS = "crf_test_comparison"
each = pytest.mark.parametrize("factory, config", CASES, ids=IDS)
TEXTS = ["Ada met Bo in New Delft .", "", "Mia walks slowly .", "Nobody knows Quux"]


def tags(docs) -> list[list[str]]:
    return [[token.tag_ for token in doc] for doc in docs]


@each
@pytest.mark.parametrize("target", ["tag", "pos"])
def test_it_learns_in_one_update_and_is_scored(factory: str, config: dict[str, Any], target: str) -> None:
    nlp = train(factory, target=target, **config)
    scores = nlp.evaluate(make_examples(nlp))
    assert scores[f"{target}_acc"] == scores["crf_score"] > 0.95


@each
def test_probabilities_are_written_where_they_are_asked_for(factory: str, config: dict[str, Any]) -> None:
    nlp = train(factory, marginals=PROBS, **config)
    pipe = nlp.get_pipe(factory)
    docs = list(nlp.pipe(TEXTS))
    given = pipe.token_probabilities([nlp.make_doc(text) for text in TEXTS])
    for doc, values in zip(docs, given):
        assert values.shape == (len(doc), len(pipe.labels)) and values.dtype == np.float32
        np.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-5)
        assert doc._.get(PROBS) == {"tags": list(pipe.labels), "values": values.tolist()}
        for token, row in zip(doc, values):
            assert token._.get(PROBS) == pytest.approx(dict(zip(pipe.labels, row.tolist())), abs=1e-6)
    assert isinstance(pipe, GivesProbabilities)


@pytest.mark.parametrize("factory, config", CASES[1:], ids=IDS[1:])
def test_posterior_decoding_takes_the_most_probable_tag_of_each_token(factory: str, config: dict[str, Any]) -> None:
    nlp = train(factory, decode="posterior", **config)
    pipe = nlp.get_pipe(factory)
    docs = [nlp.make_doc(text) for text in TEXTS]
    rows = pipe.token_probabilities(docs)
    assert tags(nlp.pipe(docs)) == [[pipe.labels[k] for k in row.argmax(axis=1)] for row in rows]
    pipe.cfg["decode"] = "viterbi"
    best = pipe.estimator.decode(pipe.estimator.read(docs), nlp.vocab)
    assert np.concatenate([prediction.tags for prediction in pipe.predict(docs)]).tolist() == best.tolist()


@each
def test_a_stored_component_is_the_same(factory: str, config: dict[str, Any], tmp_path: Path) -> None:
    nlp = train(factory, marginals=PROBS, **config)
    data = nlp.get_pipe(factory).to_bytes()
    other = build(factory, marginals=PROBS, **config)
    other.get_pipe(factory).from_bytes(data)
    assert other.get_pipe(factory).to_bytes() == data
    nlp.to_disk(tmp_path / "first")
    loaded = spacy.load(tmp_path / "first")
    loaded.to_disk(tmp_path / "second")
    folders = [tmp_path / name / factory for name in ("first", "second")]
    assert {path.name for path in folders[0].iterdir()} == {"cfg", "checksums.json", "model"}
    for name in ("cfg", "model"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    for doc, twin, third in zip(nlp.pipe(TEXTS), loaded.pipe(TEXTS), other.pipe(TEXTS)):
        assert tags([doc]) == tags([twin]) == tags([third])
        np.testing.assert_array_equal(doc._.get(PROBS)["values"], twin._.get(PROBS)["values"])


@each
def test_settings_that_are_assigned_are_checked_and_kept(factory: str, config: dict[str, Any], tmp_path: Path) -> None:
    nlp = train(factory, **config)
    pipe = nlp.get_pipe(factory)
    pipe.cfg.update({"marginals": PROBS, "overwrite": True})
    for setting, value in (("overwrit", False), ("target", "pos"), ("overwrite", "no"), ("marginals", "tag")):
        with pytest.raises(ValueError, match=f"CRF408.*{setting}"):
            pipe.cfg[setting] = value
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe(factory).cfg == pipe.cfg
    override = {"components": {factory: {"overwrite": False}}}
    assert spacy.load(tmp_path, config=override).get_pipe(factory).cfg["overwrite"] is False


@each
def test_worker_processes_give_the_same(factory: str, config: dict[str, Any]) -> None:
    nlp = train(factory, marginals=PROBS, **config)
    for doc, twin in zip(nlp.pipe(TEXTS * 3), nlp.pipe(TEXTS * 3, n_process=2, batch_size=2), strict=True):
        assert tags([doc]) == tags([twin])
        np.testing.assert_allclose(doc._.get(PROBS)["values"], twin._.get(PROBS)["values"], atol=1e-6)


@each
def test_copies_do_not_carry_the_examples(factory: str, config: dict[str, Any]) -> None:
    nlp = build(factory, **config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    pipe = copy.deepcopy(nlp.get_pipe(factory))
    docs = clean_docs(nlp)
    assert not len(pipe._taken) and len(nlp.get_pipe(factory)._taken) == len(examples)
    for row, twin in zip(nlp.get_pipe(factory).token_probabilities(docs), pipe.token_probabilities(docs)):
        np.testing.assert_allclose(row, twin, atol=1e-6)


@each
def test_annotation_that_is_there_stays_unless_it_is_to_be_overwritten(factory: str, config: dict[str, Any]) -> None:
    nlp = train(factory, **config)
    for overwrite in (False, True):
        nlp.get_pipe(factory).cfg["overwrite"] = overwrite
        doc = Doc(nlp.vocab, words=["Ada", "met", "Bo"], tags=["", "XX", ""])
        assert tags([nlp(doc)]) == [["NNP", "VBD" if overwrite else "XX", "NNP"]]


@each
def test_batches_of_any_size_learn_the_same(factory: str, config: dict[str, Any]) -> None:
    whole = train(factory, **config)
    nlp = build(factory, **config)
    examples, losses = make_examples(nlp), {}
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.01)
    for _ in range(3):  # epochs: what has come before counts once
        for low in range(0, len(examples), 3):
            nlp.update(examples[low : low + 3], sgd=optimizer, losses=losses)
            nlp("Ada met Bo")  # an evaluation in between
    n_tokens, n_labels = sum(len(eg.reference) for eg in examples), len(nlp.get_pipe(factory).labels)
    assert losses[factory] == pytest.approx(n_tokens * np.log(n_labels))
    ours, theirs = (pipeline.get_pipe(factory).token_probabilities(clean_docs(nlp)) for pipeline in (nlp, whole))
    for row, twin in zip(ours, theirs):
        np.testing.assert_allclose(row, twin, atol=0.01 if factory == "memm_tagger" else 1e-6)


@each
def test_a_reference_that_comes_twice_in_a_batch_counts_once(factory: str, config: dict[str, Any]) -> None:
    nlp, twice = train(factory, **config), build(factory, **config)
    examples = make_examples(twice)
    twice.initialize(lambda: examples)
    twice.update([*examples, *examples])
    assert nlp.get_pipe(factory).to_bytes() == twice.get_pipe(factory).to_bytes()


@each
def test_gold_that_is_corrected_in_place_is_refused_until_all_is_counted_anew(
    factory: str, config: dict[str, Any]
) -> None:
    nlp = build(factory, **config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.update(examples)
    tags = {token.tag_ for token in examples[0].reference}
    corrected = next(tag for tag in nlp.get_pipe(factory).labels if tag not in tags)
    for token in examples[0].reference:
        token.tag_ = corrected
    before = nlp.get_pipe(factory).to_bytes()
    with pytest.raises(ValueError, match=rf"\[CRF659\] .*{factory}.*{examples[0].reference[0].text}"):
        nlp.update(examples)
    assert nlp.get_pipe(factory).to_bytes() == before
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert nlp.get_pipe(factory).to_bytes() != before


@each
def test_training_goes_on_with_new_examples(factory: str, config: dict[str, Any], tmp_path: Path) -> None:
    nlp = build(factory, **config)
    nlp.initialize(lambda: make_examples(nlp))
    nlp.update(make_examples(nlp)[:15])
    nlp.to_disk(tmp_path)
    resumed = spacy.load(tmp_path)
    resumed.update(make_examples(resumed)[15:], sgd=resumed.resume_training())
    whole = train(factory, **config)
    docs = clean_docs(nlp)
    rows = [pipeline.get_pipe(factory).token_probabilities(docs) for pipeline in (resumed, whole)]
    if factory != "memm_tagger":
        for row, twin in zip(*rows):
            np.testing.assert_allclose(row, twin, atol=1e-6)
        return
    # of an MEMM the new examples are the whole corpus; features and labels are those of both
    new, old = resumed.evaluate(make_examples(nlp)[15:]), resumed.evaluate(make_examples(nlp)[:15])
    assert new["tag_acc"] == 1.0 > old["tag_acc"] and resumed.get_pipe(factory).labels == whole.get_pipe(factory).labels


@each
def test_a_component_can_be_sourced(factory: str, config: dict[str, Any], tmp_path: Path) -> None:
    nlp = train(factory, **config)
    expected = tags(nlp.pipe(TEXTS))
    other = spacy.blank("xx")
    other.add_pipe("sentencizer")
    other.add_pipe(factory, source=nlp, name="mine")
    assert tags(other.pipe(TEXTS)) == expected
    other.to_disk(tmp_path)
    assert tags(spacy.load(tmp_path).pipe(TEXTS)) == expected


@each
def test_initialize_begins_anew(factory: str, config: dict[str, Any]) -> None:
    nlp = train(factory, **config)
    first = nlp.get_pipe(factory).to_bytes()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    with pytest.raises(ValueError, match=f"CRF420.*{factory}"):
        nlp("Ada met Bo")
    nlp.update(examples)
    assert nlp.get_pipe(factory).to_bytes() == first


@each
def test_labels(factory: str, config: dict[str, Any]) -> None:
    nlp = build(factory, **config)
    pipe = nlp.get_pipe(factory)
    with pytest.raises(ValueError, match="CRF402.*token.tag or token._.gold_tags"):
        nlp.initialize(lambda: [Example(nlp.make_doc("a"), nlp.make_doc("a"))])
    with pytest.raises(ValueError, match="CRF401"):
        nlp.update(make_examples(nlp))
    assert pipe.add_label("ZOO") == 1 and pipe.add_label("ZOO") == 0
    with pytest.raises(ValueError, match="CRF409"):
        pipe.add_label("")
    nlp.initialize(lambda: make_examples(nlp))
    assert pipe.labels[0] == "ZOO" and list(pipe.labels[1:]) == sorted(pipe.labels[1:]) and pipe.label_data[0] == "ZOO"
    nlp.update(make_examples(nlp))
    assert tags([nlp("Mia walks slowly .")]) == [["NNP", "VBZ", "RB", "."]]
    with pytest.raises(ValueError, match="CRF421.*NEW"):
        pipe.add_label("NEW")
    again = build(factory, **config)
    again.get_pipe(factory).initialize(lambda: [], labels=["A", "B", "A"])
    assert again.get_pipe(factory).labels == ("A", "B")


@each
def test_a_label_that_was_not_announced_names_the_document(factory: str, config: dict[str, Any]) -> None:
    nlp = build(factory, **config)
    nlp.initialize(lambda: make_examples(nlp)[1:2])
    with pytest.raises(ValueError, match="CRF403.*Ada met Bo"):
        nlp.update(make_examples(nlp))


def test_a_universal_tag_must_be_one() -> None:
    with pytest.raises(ValueError, match="CRF413.*NNP"):
        build("hmm_tagger", target="pos").get_pipe("hmm_tagger").add_label("NNP")


@each
@pytest.mark.parametrize("words", [[], ["Ada"], [" "], ["\n", "\n\n"], ["\U0001f600"]])
def test_odd_documents_pass(factory: str, config: dict[str, Any], words: list[str]) -> None:
    nlp = train(factory, **config)
    docs = list(nlp.pipe([Doc(nlp.vocab), Doc(nlp.vocab, words=words), Doc(nlp.vocab)]))
    assert [len(doc) for doc in docs] == [0, len(words), 0] and all(token.tag_ for token in docs[1])
    assert nlp.get_pipe(factory).predict([]) == [] and nlp.get_pipe(factory).token_probabilities([]) == []


@each
def test_empty_and_unannotated_examples_teach_nothing(factory: str, config: dict[str, Any]) -> None:
    nlp = build(factory, **config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for text in ("", "nothing known"):
        nlp.update([Example(nlp.make_doc(text), nlp.make_doc(text))])
    with pytest.raises(ValueError, match="CRF420"):
        nlp("Ada")
    assert len(nlp("")) == 0
    assert build(factory, **config).from_bytes(nlp.to_bytes()).get_pipe(factory).labels == nlp.get_pipe(factory).labels
    nlp.update(examples)
    assert nlp("Ada met Bo")[1].tag_ == "VBD"


@pytest.mark.parametrize("factory, config", CASES[1:], ids=IDS[1:])
def test_a_bad_document_does_not_lose_the_others(factory: str, config: dict[str, Any]) -> None:
    nlp = build(factory, sequence="sents", **config)
    examples = [Example(eg.reference.copy(), eg.reference) for eg in make_examples(nlp)]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    docs = [make_reference(nlp, line) for line in ("Ada/X/O met/X/O", "Bo/X/O sold/X/O")]
    docs.insert(1, Doc(nlp.vocab, words=["No", "boundaries", "here"]))
    told: list[str] = []
    nlp.set_error_handler(lambda name, pipe, failed, error: told.append(str(error)))
    assert len(list(nlp.pipe(docs))) == 2
    assert len(told) == 1 and "CRF311" in told[0] and "No boundaries here" in told[0]


def test_bad_feature_values_are_told_of_the_document() -> None:
    features = {**MEMM["features"], "templates": ["LOWER", f"_.{EXTENSION}"]}
    nlp = build("memm_tagger", features=features)
    examples = make_examples(nlp)
    for example in examples:
        for token in example.predicted:
            token._.set(EXTENSION, 0.5)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    docs = clean_docs(nlp)[:4]
    docs[2][0]._.set(EXTENSION, float("nan"))
    told: list[str] = []
    nlp.set_error_handler(lambda name, pipe, failed, error: told.append(str(error)))
    assert len(list(nlp.pipe(docs))) == 3
    assert len(told) == 1 and "CRF308" in told[0] and docs[2].text[:20] in told[0]


@each
def test_weighted_gold_counts_by_its_shares(factory: str, config: dict[str, Any]) -> None:
    nlp = build(factory, **{**config, **({"c2": 1e-4} if factory == "memm_tagger" else {"smoothing": 0.0})})
    references = [Doc(nlp.vocab, words=["he", "wen", "kumt"]) for _ in range(30)]
    for reference in references:
        write_gold_tags(reference, [{"P": 1.0}, {"KON": 0.66, "KOUS": 0.33}, {"V": 1.0}])
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in references]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    pipe = nlp.get_pipe(factory)
    assert pipe.labels == ("KON", "KOUS", "P", "V")
    (values,) = pipe.token_probabilities([Doc(nlp.vocab, words=["he", "wen", "kumt"])])
    np.testing.assert_allclose(values[1, :2], [2 / 3, 1 / 3], atol=0.03)


def test_settings_out_of_their_range_are_named_at_once() -> None:
    for factory, config, code in [
        ("frequency_tagger", {"smoothing": -1.0}, "CRF833.*smoothing"),
        ("hmm_tagger", {"suffix_length": -1}, "CRF108.*suffix"),
        ("hmm_tagger", {"order": 4}, "CRF834"),
        ("hmm_tagger", {"min_count": -1.0}, "CRF833.*min_count"),
        ("memm_tagger", {"c2": -1.0}, "CRF833.*c2"),
        ("memm_tagger", {"max_iterations": 0}, "CRF108.*max_iterations"),
        ("memm_tagger", {"marginals": ""}, "CRF408.*marginals"),
        ("memm_tagger", {"features": {**MEMM["features"], "templates": ["LOWER", "B:LOWER"]}}, "CRF422.*B:LOWER"),
        ("memm_tagger", {"features": {**MEMM["features"], "templates": ["VALID_TAGS"]}}, "CRF424.*VALID_TAGS"),
        ("hmm_tagger", {"decode": "greedy"}, "decode"),
        ("frequency_tagger", {"target": "ent"}, "target"),
    ]:
        with pytest.raises(ValueError, match=code):
            build(factory, **config)


def test_folders_of_other_components_are_named(tmp_path: Path) -> None:
    for factory, config in CASES:
        train(factory, **config).get_pipe(factory).to_disk(tmp_path / factory)
    with pytest.raises(ValueError, match="CRF404.*hmm_tagger"):
        build("hmm_tagger").get_pipe("hmm_tagger").from_disk(tmp_path / "frequency_tagger")
    with pytest.raises(ValueError, match="CRF406.*LOWER"):
        other = build("memm_tagger", features={**MEMM["features"], "templates": ["LOWER"]})
        other.get_pipe("memm_tagger").from_disk(tmp_path / "memm_tagger")
    (tmp_path / "hmm_tagger" / "model").write_bytes(b"\x93\x01")
    with pytest.raises(ValueError, match="CRF426.*hmm_tagger"):
        build("hmm_tagger").get_pipe("hmm_tagger").from_disk(tmp_path / "hmm_tagger")
    (tmp_path / "frequency_tagger" / "cfg").write_bytes(b'{"format": 3, "labels": ["A"]}')
    accept_edits(tmp_path / "frequency_tagger")
    with pytest.raises(ValueError, match="CRF423.*18 labels.*1"):
        build("frequency_tagger").get_pipe("frequency_tagger").from_disk(tmp_path / "frequency_tagger")


def test_settings_of_a_stored_count_may_change(tmp_path: Path) -> None:
    """Counts are stored, not probabilities: the order of an HMM is a setting of its config."""
    train("hmm_tagger", order=2).to_disk(tmp_path)
    changed = spacy.load(tmp_path, config={"components": {"hmm_tagger": {"order": 3, "smoothing": 0.5}}})
    fresh = train("hmm_tagger", order=3, smoothing=0.5)
    docs = clean_docs(fresh)
    for row, twin in zip(*(nlp.get_pipe("hmm_tagger").token_probabilities(docs) for nlp in (changed, fresh))):
        np.testing.assert_allclose(row, twin, atol=1e-6)
