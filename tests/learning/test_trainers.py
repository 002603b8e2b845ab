"""Trainers in the user's own loop: what they refuse, what they forget, what grows."""

import copy
import gc
import pickle
import random
import weakref

import numpy as np
import pytest
from helpers.tagged import EXTENSION, TARGETS, TRAINERS, build, clean_docs, fit, make_examples, read_target
from helpers.weights import flat_weights
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import SGD, Adam

from spacy_crf.learning.encoder import _Bitmap
from spacy_crf.learning.model import get_layout


@pytest.fixture
def nlp() -> Language:
    nlp = build()
    nlp.initialize(lambda: make_examples(nlp))
    return nlp


def weights(nlp: Language) -> np.ndarray:
    return flat_weights(nlp.get_pipe("crf_tagger").model)


def test_lbfgs_refuses_other_examples_and_goes_on_with_its_own(nlp: Language) -> None:
    examples = make_examples(nlp)
    nlp.update(examples)
    for others in (make_examples(nlp), examples[:5]):
        with pytest.raises(ValueError, match=r"CRF202.*full_batch.*AdaGrad"):
            nlp.update(others)
    before = weights(nlp)
    nlp.update(examples)
    assert nlp.get_pipe("crf_tagger").trainer.optimizer.iterations > 20
    assert not np.array_equal(weights(nlp), before)


@pytest.mark.parametrize("is_same_batch", [True, False])
def test_lbfgs_refuses_an_example_that_comes_twice_in_a_step(nlp: Language, is_same_batch: bool) -> None:
    examples = make_examples(nlp)
    with pytest.raises(ValueError, match="CRF203"):
        if is_same_batch:
            nlp.update([*examples, examples[0]])
        else:
            nlp.update(examples, sgd=False)
            nlp.update(examples[:1], sgd=False)
    nlp.update(examples)
    assert weights(nlp).any()


def test_lbfgs_takes_all_examples_once_more_for_the_same_step(nlp: Language) -> None:
    examples = make_examples(nlp)
    pipe = nlp.get_pipe("crf_tagger")
    assert pipe.update(examples) == pipe.update(examples)
    pipe.finish_update(nlp.create_optimizer())
    assert weights(nlp).any()


def test_accumulated_parts_are_one_step() -> None:
    results = []
    for n_parts in (1, 2, 4):
        nlp = build()
        examples = make_examples(nlp)
        nlp.initialize(lambda examples=examples: examples)
        for _ in range(2):
            for part in np.array_split(np.arange(len(examples)), n_parts):
                nlp.update([examples[k] for k in part], sgd=False)
            nlp.get_pipe("crf_tagger").finish_update(None)
        results.append(nlp.get_pipe("crf_tagger").trainer.optimizer.value)
    assert results[1:] == pytest.approx([results[0]] * 2, rel=1e-4)


def test_parts_of_a_step_may_be_dropped_before_it_is_taken(nlp: Language) -> None:
    for part in range(4):
        fresh = make_examples(nlp)[5 * part : 5 * part + 5]
        nlp.update(fresh, sgd=False)
        del fresh
        gc.collect()
    nlp.get_pipe("crf_tagger").finish_update(None)
    gold = [[token.tag_ for token in example.reference] for example in make_examples(nlp)]
    assert [[token.tag_ for token in doc] for doc in nlp.pipe(clean_docs(nlp))] == gold


def test_minibatch_adds_up_accumulated_batches() -> None:
    results = []
    for n_parts in (1, 4):
        nlp = build("Minibatch")
        examples = make_examples(nlp)
        nlp.initialize(lambda examples=examples: examples)
        optimizer = SGD(0.1, L2=0.0)
        for _ in range(3):
            for part in np.array_split(np.arange(len(examples)), n_parts):
                nlp.update([examples[k] for k in part], sgd=False)
            nlp.get_pipe("crf_tagger").finish_update(optimizer)
        results.append({(p.tags.tobytes()) for p in nlp.get_pipe("crf_tagger").predict(clean_docs(nlp))})
        loss = nlp.get_pipe("crf_tagger")
        results.append(loss.get_loss(examples, loss.predict(clean_docs(nlp))))
    assert results[0] == results[2] and results[1] == pytest.approx(results[3], rel=1e-4)


def test_encodings_are_gone_with_the_examples(nlp: Language) -> None:
    trainer = nlp.get_pipe("crf_tagger").trainer
    examples = make_examples(nlp)
    nlp.update(examples)
    held = weakref.ref(trainer._objective)
    assert held() is not None
    del examples
    gc.collect()
    assert held() is None and trainer.optimizer is None
    assert nlp(clean_docs(nlp)[0])[0].tag_ == "NNP"


def test_a_new_run_begins_at_the_trained_weights(nlp: Language) -> None:
    examples = make_examples(nlp)
    for _ in range(3):
        nlp.update(examples)
    pipe = nlp.get_pipe("crf_tagger")
    value = pipe.trainer.optimizer.value
    del examples
    gc.collect()
    nlp.update(make_examples(nlp))
    assert pipe.trainer.optimizer is None or pipe.trainer.optimizer.value <= value * 1.001


@pytest.mark.parametrize("trainer", TRAINERS)
def test_copies_hold_settings_and_no_encodings(trainer: str) -> None:
    nlp = build(trainer)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    pipe = nlp.get_pipe("crf_tagger")
    for twin in (pickle.loads(pickle.dumps(pipe)), copy.deepcopy(pipe)):
        fresh = build(trainer).get_pipe("crf_tagger").trainer
        assert vars(twin.trainer).keys() == vars(fresh).keys()
        if trainer == "LBFGS":
            assert twin.trainer.optimizer is None and twin.trainer.settings == pipe.trainer.settings
        assert twin.to_bytes() == pipe.to_bytes()
        assert [p.tags.tolist() for p in twin.predict(clean_docs(nlp))] == [
            p.tags.tolist() for p in pipe.predict(clean_docs(nlp))
        ]
    assert len(pickle.dumps(pipe.trainer)) < 2000


@pytest.mark.parametrize("use_averages", [True, False])
def test_features_grow_in_an_ordinary_loop_and_the_optimizer_grows_with_them(use_averages: bool) -> None:
    nlp = build("Minibatch", features={"@misc": "spacy_crf.Features.v1", "templates": ["@tagging", "B:LOWER[0]"]})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("crf_tagger")
    optimizer = Adam(0.05, L2=0.0, use_averages=use_averages)
    sizes = []
    shuffler = random.Random(1)
    for _ in range(12):
        shuffler.shuffle(examples)
        for low in range(0, len(examples), 4):
            nlp.update(examples[low : low + 4], sgd=optimizer)
            sizes.append(get_layout(pipe.model).size)
    assert sizes[0] < sizes[1] < sizes[4] == sizes[-1]
    for name in ("state", "transitions", "edges", "start", "end"):
        size = len(pipe.model.get_param(name))
        assert len(optimizer.mom1[(pipe.model.id, name)]) == size
    gold = [[token.tag_ for token in eg.reference] for eg in make_examples(nlp)]
    assert [[token.tag_ for token in doc] for doc in nlp.pipe(clean_docs(nlp))] == gold
    if use_averages:
        raw = weights(nlp)
        with nlp.use_params(optimizer.averages):
            averaged = [[token.tag_ for token in doc] for doc in nlp.pipe(clean_docs(nlp))]
            assert not np.array_equal(weights(nlp), raw)
        assert averaged == gold
        assert np.array_equal(weights(nlp), raw)


def test_an_error_in_a_batch_leaves_nothing_behind() -> None:
    nlp = build("Minibatch", features={"@misc": "spacy_crf.Features.v1", "templates": [f"_.{EXTENSION}", "LOWER"]})
    twin = copy.deepcopy(nlp)
    for pipeline, fails in ((nlp, True), (twin, False)):
        examples = make_examples(pipeline)
        pipeline.initialize(lambda examples=examples: examples)
        optimizer = Adam(0.05, L2=0.0)
        for step in range(3):
            if fails:
                bad = Example(
                    Doc(pipeline.vocab, words=["a", "b"]), Doc(pipeline.vocab, words=["a", "b"], tags=["DT", "NN"])
                )
                bad.predicted[0]._.set(EXTENSION, float("nan"))
                with pytest.raises(ValueError, match="CRF308"):
                    pipeline.update([bad], sgd=optimizer)
            pipeline.update(examples, sgd=optimizer)
            assert step < 3
    assert np.array_equal(weights(nlp), weights(twin))


def test_features_are_encoded_again_only_when_annotation_changes() -> None:
    nlp = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", f"_.{EXTENSION}"]})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    trainer = nlp.get_pipe("crf_tagger").trainer
    set_values(examples, "old")
    nlp.update(examples)
    first = trainer.optimizer
    random.Random(0).shuffle(examples)
    for part in (examples[:7], examples[7:]):
        nlp.update(part, sgd=False)
    nlp.get_pipe("crf_tagger").finish_update(None)
    assert trainer.optimizer is first
    set_values(examples[10:], "new")
    for part in (examples[:7], examples[7:]):
        nlp.update(part, sgd=False)
    nlp.get_pipe("crf_tagger").finish_update(None)
    assert trainer.optimizer is not first
    assert trainer._n_tokens == sum(len(eg.predicted) for eg in examples)
    names = nlp.get_pipe("crf_tagger").features.state.names()
    assert f"_.{EXTENSION}[0]=new" in names


@pytest.mark.parametrize("target", TARGETS)
def test_gold_that_is_corrected_in_place_is_learned(target: str) -> None:
    nlp = build(target=target)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("crf_tagger")
    nlp.update(examples)
    first = pipe.trainer.optimizer
    for example in examples:  # what gold is not read from, or is as it was
        example.reference.user_data["note"] = "seen"
        example.reference[0].lemma_ = "x"
    nlp.update(examples)
    assert pipe.trainer.optimizer is first
    correct(examples[-1].reference, target)
    for part in (examples[:-1], examples[-1:]):
        nlp.update(part, sgd=False)
    pipe.finish_update(None)
    assert pipe.trainer.optimizer is not first
    new = build(target=target)
    fresh = make_examples(new)
    correct(fresh[-1].reference, target)
    new.initialize(lambda: fresh)
    new.update(fresh)
    assert pipe.trainer.optimizer.value <= new.get_pipe("crf_tagger").trainer.optimizer.value + 1e-3
    assert read_target(nlp(examples[-1].predicted.copy()), target) == read_target(examples[-1].reference, target)


def test_sentences_that_an_annotating_component_moves_are_learned() -> None:
    found = []
    for steps in ((1, 3), (3,)):  # a sentence splitter that is trained along begins with guesses
        nlp = build()
        examples = make_examples(nlp)
        nlp.initialize(lambda examples=examples: examples)
        for every in steps:
            for example in examples:
                for token in example.predicted:
                    token.is_sent_start = token.i % every == 0
            nlp.update(examples)
        found.append(nlp.get_pipe("crf_tagger").trainer.optimizer.value)
    assert found[0] <= found[1] + 1e-2


@pytest.mark.filterwarnings("ignore:.*CRFW401")  # labels of the tokens that are merged
def test_tokens_that_an_annotating_component_merges_are_learned() -> None:
    found = []
    for places in ((0, 1), (1,)):  # as many tokens in each step, but others
        nlp = build()
        examples = make_examples(nlp)[:-1]
        nlp.initialize(lambda examples=examples: examples)
        for place in places:
            nlp.update([Example(merged(eg.predicted, place), eg.reference) for eg in examples])
        found.append(nlp.get_pipe("crf_tagger").trainer.optimizer.value)
    assert found[0] <= found[1] + 1e-2


def merged(doc: Doc, place: int) -> Doc:
    """A copy of a Doc in which two tokens are one."""
    doc = doc.copy()
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[place : place + 2])
    return doc


def correct(doc: Doc, target: str) -> None:
    """Give a Doc, `Go !`, other annotation."""
    if target == "ent":
        doc.set_ents([Span(doc, 0, 1, label="LOC")])
    elif target == "spans":
        doc.spans["sc"] = [Span(doc, 0, 1, label="LOC")]
    elif target == EXTENSION:
        doc[1]._.set(EXTENSION, "upper")
    else:
        setattr(doc[0], f"{target}_", {"tag": "NN", "pos": "NOUN"}[target])


def set_values(examples: list[Example], value: str) -> None:
    for example in examples:
        for token in example.predicted:
            token._.set(EXTENSION, value)


def test_empty_batches_and_documents_are_harmless() -> None:
    for trainer in TRAINERS:
        nlp = build(trainer)
        empty = Example(Doc(nlp.vocab), Doc(nlp.vocab))
        examples = make_examples(nlp)
        nlp.initialize(lambda examples=examples: examples)
        losses = nlp.update([], losses={}, sgd=False)
        assert losses == {}
        assert nlp.get_pipe("crf_tagger").update([]) == {"crf_tagger": 0.0}
        losses = nlp.update([empty, *examples], losses={})
        assert isinstance(losses["crf_tagger"], float) and losses["crf_tagger"] > 0


def test_all_states_covers_labels_that_are_added_later() -> None:
    nlp = build(
        "Minibatch", model={"@architectures": "spacy_crf.LinearChain.v1", "all_states": True, "all_transitions": True}
    )
    examples = make_examples(nlp)
    fit(nlp, examples)
    pipe = nlp.get_pipe("crf_tagger")
    pipe.add_label("NEW")
    nlp.update(examples)
    layout = get_layout(pipe.model)
    assert len(np.unique(layout.state_cells)) == len(layout.state_cells) == layout.n_features * layout.n_labels
    assert len(layout.transition_cells) == layout.n_labels**2


def test_bitmap_finds_new_cells() -> None:
    bitmap = _Bitmap(np.array([1, 5]))
    assert bitmap.add(np.array([5, 3, 3, 9]), 10).tolist() == [3, 9]
    assert bitmap.add(np.array([1, 20, 9]), 21).tolist() == [20]
    assert bitmap.count == 5
