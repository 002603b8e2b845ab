"""Models of order 2 in components: trained, stored, used; and what they refuse."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.tagged import ONLINE, TRAINER_CONFIGS, clean_docs, make_examples, read_target
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf import Corpus
from spacy_crf.core.chain.distribution import ChainDistribution
from spacy_crf.core.errors import CRFWarning
from spacy_crf.core.trigrams import Trigrams, seen_trigrams
from spacy_crf.corpora.block import HistoricalText
from spacy_crf.lab.tuning import cross_validate
from spacy_crf.learning.block import LinearChain
from spacy_crf.learning.model import ChainModel, get_weights
from spacy_crf.pipe.calibration import calibrate
from spacy_crf.pipe.explain import explain
from spacy_crf.tagging.component import CRFTagger
from spacy_crf.tagging.review import review
from spacy_crf.tagsets.guarantee import held_out_tokens

MODEL = {"@architectures": "spacy_crf.LinearChain.v1", "order": 2, "candidates": 0.001}
TRAINER = {**TRAINER_CONFIGS["LBFGS"], "c2": 0.1, "first_order_steps": 1}
# the tag of the last word depends on that of the first, and on nothing that a first-order chain sees
FAR = ["x/A o/O z/A", "y/B o/O z/B"]
FAR_FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["ORTH"]}


def get_pipe(nlp: Language) -> CRFTagger:
    pipe = nlp.get_pipe(nlp.pipe_names[0])
    assert isinstance(pipe, CRFTagger)
    return pipe


def run(nlp: Language, examples: list[Example], steps: int = 3) -> Language:
    nlp.initialize(lambda: examples)
    for _ in range(steps):
        nlp.update(examples)
    return nlp


def get_trigrams(model: ChainModel) -> Trigrams:
    known = get_weights(model).trigrams
    assert known is not None
    return known.trigrams


def trigram_weights(model: ChainModel) -> np.ndarray:
    known = get_weights(model).trigrams
    assert known is not None
    return known.values


def build(**config: Any) -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"trainer": TRAINER, **config})
    return nlp


def second_order(steps: int = 3, **config: Any) -> Language:
    nlp = build(**{"model": MODEL, **config})
    return run(nlp, make_examples(nlp), steps)


def tags(pipe: CRFTagger, nlp: Language) -> list[list[int]]:
    """What a component decodes for the corpus, without writing it."""
    return [prediction.tags.tolist() for prediction in pipe.predict(clean_docs(nlp))]


@pytest.fixture
def trained() -> Language:
    return second_order(marginals="probs", entropy="doubt")


def examples_of(nlp: Language, lines: list[str]) -> list[Example]:
    """Each line five times."""
    examples = []
    for line in lines * 5:
        words, tags = zip(*(token.split("/") for token in line.split()))
        reference = Doc(nlp.vocab, words=words, tags=tags)
        examples.append(Example(Doc(nlp.vocab, words=words), reference))
    return examples


@pytest.mark.parametrize("order", [1, 2])
def test_it_learns_what_a_first_order_chain_cannot(order: int) -> None:
    model = {**MODEL, "order": order}
    nlp = build(model=model, features=FAR_FEATURES)
    run(nlp, examples_of(nlp, FAR))
    wrong = {
        eg.text for eg in examples_of(nlp, FAR) if [t.tag_ for t in nlp(eg.text)] != [t.tag_ for t in eg.reference]
    }
    assert len(wrong) == (0 if order == 2 else 1)


def test_trigrams_are_those_of_gold_and_come_after_the_first_order_steps(trained: Language) -> None:
    before = get_pipe(second_order(steps=1))
    assert not len(get_trigrams(before.model))
    pipe = get_pipe(trained)
    corpus = pipe.learner.encode(pipe.make_sample(make_examples(trained)))
    expected = seen_trigrams(corpus.gold, corpus.lengths, len(pipe.tags))
    assert get_trigrams(pipe.model).cells.tolist() == expected.tolist()
    assert np.count_nonzero(trigram_weights(pipe.model)) > 0.9 * len(expected)
    for name in ("state", "transitions", "start", "end"):
        assert np.array_equal(before.model.get_param(name), pipe.model.get_param(name))


def test_it_tags_the_corpus_and_gives_probabilities(trained: Language) -> None:
    for doc, example in zip(trained.pipe(clean_docs(trained)), make_examples(trained)):
        assert read_target(doc, "tag") == read_target(example.reference, "tag")
        values = np.asarray(doc._.probs["values"])
        np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-6)
        assert (values > 0).all() and 0 < doc._.doubt["sequences"][0]["entropy"] < len(doc)


def test_trigrams_change_the_probabilities(trained: Language) -> None:
    pipe = get_pipe(trained)
    found = np.concatenate(pipe.token_probabilities(clean_docs(trained)))
    plain = get_pipe(second_order(steps=1, marginals="probs"))
    first = np.concatenate(plain.token_probabilities(clean_docs(trained)))
    assert np.abs(found - first).max() > 0.001


def test_folders_bytes_copies_and_pickles_give_the_same(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    expected = [doc._.probs["values"] for doc in trained.pipe(clean_docs(trained))]
    others = [spacy.load(tmp_path), copy.deepcopy(trained), pickle.loads(pickle.dumps(trained))]
    sourced = spacy.blank("xx")
    sourced.add_pipe("crf_tagger", source=spacy.load(tmp_path))
    for other in [*others, sourced]:
        found = [doc._.probs["values"] for doc in other.pipe(clean_docs(other))]
        assert all(np.array_equal(a, b) for a, b in zip(found, expected))
    assert get_pipe(others[0]).to_bytes() == get_pipe(trained).to_bytes()


def test_training_is_deterministic_and_initialize_begins_anew(trained: Language) -> None:
    nlp = second_order(marginals="probs", entropy="doubt")
    assert get_pipe(nlp).to_bytes() == get_pipe(trained).to_bytes()
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    assert not len(get_trigrams(get_pipe(nlp).model))
    run(nlp, examples)
    assert get_pipe(nlp).to_bytes() == get_pipe(trained).to_bytes()


def test_several_processes_give_the_same(trained: Language) -> None:
    alone = [read_target(doc, "tag") for doc in trained.pipe(clean_docs(trained))]
    docs = trained.pipe(clean_docs(trained), n_process=2, batch_size=5)
    assert [read_target(doc, "tag") for doc in docs] == alone


def test_trigrams_of_no_weight_are_not_stored() -> None:
    nlp = second_order(trainer={**TRAINER, "c1": 0.5})
    pipe = get_pipe(nlp)
    weights = trigram_weights(pipe.model)
    empty = build(model=MODEL)
    other = get_pipe(empty).from_bytes(pipe.to_bytes())
    assert 0 < len(get_trigrams(other.model)) == np.count_nonzero(weights) < len(weights)
    assert tags(other, empty) == tags(pipe, nlp)


def test_half_precision_holds_for_trigrams_too() -> None:
    nlp = second_order(model={**MODEL, "precision": "float16"})
    other = build(model={**MODEL, "precision": "float16"})
    weights = trigram_weights(get_pipe(nlp).model)
    loaded = trigram_weights(get_pipe(other).from_bytes(get_pipe(nlp).to_bytes()).model)
    half = weights.astype(np.float16)
    assert loaded.tolist() == half[half != 0].astype(np.float32).tolist()


def test_a_label_added_later_keeps_predictions_and_can_be_learned() -> None:
    nlp = second_order()
    pipe = get_pipe(nlp)
    before = tags(pipe, nlp)
    pipe.add_label("NEW")
    assert tags(pipe, nlp) == before
    new = Doc(nlp.vocab, words=["Brr", "zip"], tags=["RB", "NEW"])
    examples = [*make_examples(nlp), Example(Doc(nlp.vocab, words=["Brr", "zip"]), new)]
    for _ in range(4):
        nlp.update(examples)
    assert len(get_trigrams(pipe.model)) and read_target(nlp("Brr zip"), "tag") == ["RB", "NEW"]


def test_it_may_begin_with_a_saved_one(trained: Language, tmp_path: Path) -> None:
    get_pipe(trained).to_disk(tmp_path / "tagger")
    nlp = build(model=MODEL)
    get_pipe(nlp).initialize(lambda: make_examples(nlp), start=str(tmp_path / "tagger"))
    assert tags(get_pipe(nlp), nlp) == tags(get_pipe(trained), trained)
    for setting, block in (("order", {**MODEL, "order": 1}), ("boundary", {**MODEL, "boundary": False})):
        other = get_pipe(build(model=block))
        with pytest.warns(CRFWarning, match=rf"CRFW418.*the setting {setting}"):
            other.initialize(lambda: make_examples(nlp), start=str(tmp_path / "tagger"))


def test_a_component_alone_is_of_the_order_that_it_was_trained_with(trained: Language) -> None:
    alone = build()
    assert tags(get_pipe(alone).from_bytes(get_pipe(trained).to_bytes()), alone) == tags(get_pipe(trained), trained)
    first, second = build(), build(model=MODEL)
    run(first, make_examples(first))
    assert tags(get_pipe(second).from_bytes(get_pipe(first).to_bytes()), second) == tags(get_pipe(first), first)


@pytest.mark.parametrize(
    "setting, value",
    [("order", 2), ("boundary", False), ("transitions", False), ("all_states", True), ("all_edges", True)],
)
def test_what_a_model_was_made_with_cannot_be_changed_in_its_config(
    setting: str, value: object, tmp_path: Path
) -> None:
    nlp = build()
    run(nlp, make_examples(nlp))
    nlp.to_disk(tmp_path)
    with pytest.raises(ValueError, match=rf"CRF438.*'crf_tagger'.*{setting} = .* the config has {value}"):
        spacy.load(tmp_path, config={"components": {"crf_tagger": {"model": {setting: value}}}})
    nlp = build(model={**MODEL, setting: value})
    run(nlp, make_examples(nlp))
    nlp.to_disk(tmp_path)
    assert tags(get_pipe(spacy.load(tmp_path)), nlp) == tags(get_pipe(nlp), nlp)


@pytest.mark.parametrize("candidates", [0.5, 0.0001])
def test_how_candidates_are_chosen_may_be_changed_after_training(trained: Language, candidates: float) -> None:
    model = {**MODEL, "candidates": candidates, "max_candidates": 3}
    nlp = build(model=model, marginals="probs")
    pipe = get_pipe(nlp).from_bytes(get_pipe(trained).to_bytes())
    docs = clean_docs(nlp)
    marginals = np.concatenate(pipe.token_probabilities(docs))
    np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-5)
    # labels that are no candidates keep the probability that the chain of order 1 gives them
    first_order = ChainDistribution(pipe.distribution(docs)[1].chains).marginals
    most = (~np.isclose(marginals, first_order, rtol=1e-5, atol=0)).sum(axis=1).max()
    assert (marginals > 0).all() and most <= (4 if candidates < 0.5 else 2)


@pytest.mark.parametrize("target", ["pos", "ent"])
def test_other_targets(target: str) -> None:
    nlp = second_order(target=target)
    for doc, example in zip(nlp.pipe(clean_docs(nlp)), make_examples(nlp)):
        assert read_target(doc, target) == read_target(example.reference, target)


def test_evidence_posterior_decoding_and_temperature_hold(trained: Language) -> None:
    nlp = second_order(decode="posterior", temperature=2.0, given=True, marginals="probs")
    doc = clean_docs(nlp)[0]
    tags = read_target(trained(clean_docs(nlp)[0]), "tag")
    doc[1].tag_ = "NNP"
    values = np.asarray(nlp(doc)._.probs["values"])
    assert doc[1].tag_ == "NNP" and values[1, get_pipe(nlp).tags.number["NNP"]] == pytest.approx(1)
    free = np.asarray(nlp(clean_docs(nlp)[0])._.probs["values"])
    sharp = np.asarray(trained(clean_docs(nlp)[0])._.probs["values"])
    assert [get_pipe(nlp).tags.tags[k] for k in free.argmax(axis=1)] == tags
    assert free.max(axis=1).mean() < sharp.max(axis=1).mean()


def test_a_temperature_makes_the_gold_tags_of_other_tokens_most_probable() -> None:
    nlp = second_order(steps=2)
    pipe, unseen = (
        get_pipe(nlp),
        examples_of(nlp, ["The/DT will/MD mill/VB flour/NN slowly/RB", "Mills/NNS see/VBP ./."]),
    )

    def loss(temperature: float) -> float:
        pipe.cfg["temperature"] = temperature
        rows = np.concatenate(pipe.token_probabilities([example.predicted for example in unseen]))
        gold = [pipe.tags.number[token.tag_] for example in unseen for token in example.reference]
        return -float(np.log(rows[np.arange(len(gold)), gold]).sum())

    fitted = calibrate(pipe, unseen).temperature
    grid = np.geomspace(0.2, 20, 60).tolist()
    assert fitted == pytest.approx(min(grid, key=loss), rel=0.1)


@pytest.mark.parametrize("edges", [[], ["B:ORTH[0]"]])
def test_edge_templates_are_the_features_that_corenlp_calls_word_tag_0_minus_1(edges: list[str]) -> None:
    """Word x previous tag: which tag x and y have depends on both at once, which no sum of weights of one can tell."""
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["ORTH", *edges]}
    lines = ["a/A x/C", "b/B x/D", "a/A y/D", "b/B y/C"]
    nlp = build(features=features)
    run(nlp, examples_of(nlp, lines))
    wrong = [eg for eg in examples_of(nlp, lines) if nlp(eg.text)[1].tag_ != eg.reference[1].tag_]
    assert bool(wrong) == (not edges)


def test_edge_templates_condition_a_chain_of_order_2_as_well() -> None:
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "SUFFIX2[-1..1]", "B:LOWER[0]"]}
    nlp = second_order(features=features)
    for doc, example in zip(nlp.pipe(clean_docs(nlp)), make_examples(nlp)):
        assert read_target(doc, "tag") == read_target(example.reference, "tag")


@pytest.mark.parametrize("learn_from", ["soft", "marginal"])
def test_tag_sets_and_promises(learn_from: str) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("set_valued_tagger", config={"model": MODEL, "trainer": TRAINER, "learn_from": learn_from})
    run(nlp, make_examples(nlp))
    pipe = nlp.get_pipe("set_valued_tagger")
    tokens = held_out_tokens(pipe, make_examples(nlp))
    expected = np.concatenate(pipe.token_probabilities(clean_docs(nlp)))
    assert np.array_equal(tokens.marginals, expected)
    for doc, example in zip(nlp.pipe(clean_docs(nlp)), make_examples(nlp)):
        assert all(token.tag_ in found for token, found in zip(example.reference, doc._.tag_set))


@pytest.mark.parametrize("trainer", ["Minibatch", *ONLINE])
def test_other_trainers_are_refused(trainer: str) -> None:
    with pytest.raises(ValueError, match=r"\[CRF435\] .*LBFGS"):
        build(trainer=TRAINER_CONFIGS[trainer], model=MODEL)


@pytest.mark.parametrize(
    "settings",
    [{"target": "ent", "scores": "p"}, {"target": "ent", "threshold": 0.5}, {"target": "spans"}],
)
def test_settings_for_order_1_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\[CRF436\]"):
        build(model=MODEL, **settings)


def test_what_is_asked_for_later_is_refused_too() -> None:
    nlp = second_order(target="ent")
    pipe, examples = get_pipe(nlp), make_examples(nlp)
    doc = examples[0].reference
    asked = [
        lambda: pipe.span_probabilities(doc, list(doc.ents)),
        lambda: explain(pipe, doc),
        lambda: cross_validate(nlp, "crf_tagger", examples, [0.0], [1.0]),
    ]
    for ask in asked:
        with pytest.raises(ValueError, match=r"\[CRF436\] .*'crf_tagger'"):
            ask()


def test_temperatures_of_whole_sequences_make_their_gold_most_probable() -> None:
    nlp = second_order()
    pipe, examples = get_pipe(nlp), make_examples(nlp)
    word = examples[0].reference[0]
    word.tag_ = next(tag for tag in pipe.labels if tag != word.tag_)  # or else no temperature is low enough
    gold = pipe.gold(examples, np.array([len(example.predicted) for example in examples])).dense() > 0
    _, found = pipe.distribution([example.predicted for example in examples])
    fitted = calibrate(pipe, examples, "sequence").temperature
    at = [found.at(t).log_probability(gold).sum() for t in (fitted * 0.9, fitted, fitted * 1.1)]
    assert 0.01 < fitted < 100 and at[1] == max(at)


def test_reviews_leave_out_tokens_without_a_label(tmp_path: Path) -> None:
    """With punctuation as context, as historical text has it."""
    (tmp_path / "a.tsv").write_text("he\tP\n/\t$;\nse\tP\nkumt\tV\n/\t$;\n" * 3, encoding="utf8")
    nlp = spacy.blank("xx")
    config = {"model": MODEL, "trainer": TRAINER, "features": FAR_FEATURES, "decode": "posterior"}
    nlp.add_pipe("crf_tagger", config=config)
    run(nlp, list(Corpus(tmp_path / "a.tsv", text=HistoricalText(punctuation="context"))(nlp)))
    docs = [Doc(nlp.vocab, words=["he", "/", "kumt", "/"])]
    for order in ("least-confidence", "margin", "token-entropy"):
        (found,) = review(get_pipe(nlp), docs, order, n_best=9)
        assert found.tags == ["P", "", "V", ""] and found.n_best[0][0] == found.tags
        assert len(found.n_best) == 4 and sum(p for _, p in found.n_best) == pytest.approx(1)
    with pytest.raises(ValueError, match="CRF436"):
        review(get_pipe(nlp), docs, "entropy")


def test_architectures_that_have_no_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[CRF437\]"):
        LinearChain(order=2, tok2vec=LinearChain())
    with pytest.raises(ValueError, match=r"\[CRF120\]"):
        LinearChain(order=2, candidates=1.0)
    with pytest.raises(ValueError, match=r"\[CRF108\] max_candidates"):
        LinearChain(order=2, max_candidates=0)
    with pytest.raises(ValueError, match=r"\[CRF204\] .*first_order_steps"):
        build(model=MODEL, trainer={**TRAINER, "first_order_steps": 0})
