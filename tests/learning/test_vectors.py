"""Emissions from vectors: gradients into tok2vec, listeners, storage."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.networks import CNN, WIDTH, learn, model
from helpers.tagged import build, clean_docs, make_examples, read_target
from helpers.weights import vector_weights
from spacy.language import Language
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import SGD, Adam

from spacy_crf import CRFWarning
from spacy_crf.learning.model import PARAMS, VECTORS, get_tok2vec

LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "*"}
VECTORS_ONLY = {"@misc": "spacy_crf.Features.v1", "templates": ["BIAS"]}


def with_listener(**config: Any) -> Language:
    """A tok2vec component, a crf_tagger that listens to it, and a built-in tagger that does so too."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec", config={"model": CNN})
    trainer = {"@misc": "spacy_crf.Minibatch.v1"}
    nlp.add_pipe("crf_tagger", config={"trainer": trainer, "model": model(LISTENER), **config})
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}})
    return nlp


def initialized(nlp: Language, examples: list[Example]) -> Language:
    fix_random_seed(0)
    nlp.initialize(lambda: examples)
    return nlp


def accuracy(nlp: Language) -> float:
    examples = make_examples(nlp)
    done = [nlp(example.predicted) for example in examples]
    right = [a.tag_ == b.tag_ for doc, eg in zip(done, examples, strict=True) for a, b in zip(doc, eg.reference)]
    return float(np.mean(right))


STILL = {"@misc": "spacy_crf.AdaGrad.v1", "learn_rate": 1e-7, "units_per_batch": 30}  # features stay where they are


@pytest.mark.parametrize("templates", [["BIAS"], ["LOWER[-1..1]", "B:LOWER[0]"]])
@pytest.mark.parametrize("trainer", [{"@misc": "spacy_crf.Minibatch.v1"}, STILL], ids=["Minibatch", "AdaGrad"])
def test_the_gradient_into_tok2vec_is_that_of_the_loss(trainer, templates):
    features = {"@misc": "spacy_crf.Features.v1", "templates": templates}
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"model": model(), "features": features, "trainer": trainer})
    examples = make_examples(nlp)
    initialized(nlp, examples)
    learn(nlp, examples, epochs=2)
    pipe = nlp.get_pipe("crf_tagger")
    tok2vec = get_tok2vec(pipe.model)
    pipe.model.set_param(VECTORS, vector_weights(pipe.model).copy())
    pipe.update(examples, losses={})
    checked = 0
    nodes = [(node, name) for node in tok2vec.walk() for name in node.param_names if node.has_grad(name)]

    def loss() -> float:
        pipe._scores = None
        return pipe.get_loss(examples, pipe.predict([example.predicted for example in examples]))

    for node, name in nodes:
        weights, gradient = node.get_param(name), node.get_grad(name)
        where = np.unravel_index(np.abs(gradient).argmax(), gradient.shape)
        before, step = float(weights[where]), 2e-3
        values = []
        for value in (before + step, before - step):
            weights[where] = value
            values.append(loss())
        weights[where] = before
        slope = (values[0] - values[1]) / (2 * step) / len(examples)
        assert gradient[where] == pytest.approx(slope, rel=0.03, abs=2e-4), (node.name, name)
        checked += abs(slope) > 1e-3
    assert checked >= 4
    vectors, by_vectors = pipe.model.get_param(VECTORS), pipe.trainer._vectors._by_scores
    where = np.unravel_index(np.abs(by_vectors).argmax(), by_vectors.shape)
    before, values = float(vectors[where]), []
    for value in (before + 1e-2, before - 1e-2):
        vectors[where] = value
        values.append(loss())
    assert by_vectors[where] == pytest.approx((values[0] - values[1]) / 2e-2 / len(examples), rel=0.02)


@pytest.mark.parametrize("features", [VECTORS_ONLY, {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]"]}])
@pytest.mark.parametrize("target", ["tag", "ent"])
def test_learning_storing_and_loading(features, target, tmp_path: Path):
    nlp = build("Minibatch", model=model(), features=features, target=target)
    examples = make_examples(nlp)
    learn(initialized(nlp, examples), examples, epochs=40)
    expected = [read_target(doc, target) for doc in nlp.pipe(clean_docs(nlp))]
    gold = [read_target(example.reference, target) for example in examples]
    assert sum(a == b for a, b in zip(expected, gold, strict=True)) >= len(gold) - 2
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [read_target(doc, target) for doc in loaded.pipe(clean_docs(loaded))] == expected
    again = build("Minibatch", model=model(), features=features, target=target).from_bytes(nlp.to_bytes())
    assert [read_target(doc, target) for doc in again.pipe(clean_docs(again))] == expected


def test_a_shared_listener_learns_from_both():
    nlp = with_listener()
    examples = make_examples(nlp)
    initialized(nlp, examples)
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    losses = learn(nlp, examples)
    assert nlp.get_pipe("tok2vec").model.to_bytes() != before
    assert losses["crf_tagger"] < 10 and losses["tagger"] < 10
    with nlp.select_pipes(disable=["tagger"]):
        assert accuracy(nlp) > 0.9


def test_a_frozen_tok2vec_stays_as_it_is():
    nlp = with_listener()
    nlp.remove_pipe("tagger")
    examples = make_examples(nlp)
    initialized(nlp, examples)
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    learn(nlp, examples, exclude=["tok2vec"], annotates=["tok2vec"])
    assert nlp.get_pipe("tok2vec").model.to_bytes() == before
    assert accuracy(nlp) > 0.8


def test_a_sourced_component_takes_its_listener_along(tmp_path: Path):
    nlp = with_listener()
    examples = make_examples(nlp)
    learn(initialized(nlp, examples), examples, epochs=10)
    expected = [
        read_target(doc, "tag")
        for doc in nlp.get_pipe("crf_tagger").pipe(nlp.get_pipe("tok2vec").pipe(clean_docs(nlp)))
    ]
    nlp.replace_listeners("tok2vec", "crf_tagger", ["model.tok2vec"])
    other = spacy.blank("xx")
    other.add_pipe("crf_tagger", source=nlp)
    assert [read_target(doc, "tag") for doc in other.pipe(clean_docs(other))] == expected
    other.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [read_target(doc, "tag") for doc in loaded.pipe(clean_docs(loaded))] == expected


def test_accumulated_batches_are_one_step():
    def trained(parts: int, learn_rate: float) -> list[tuple[str, np.ndarray[Any, Any]]]:
        nlp = build("Minibatch", model=model(), features=VECTORS_ONLY)
        examples = make_examples(nlp)[:20]
        initialized(nlp, examples)
        pipe, optimizer = nlp.get_pipe("crf_tagger"), SGD(learn_rate, L2=0.0, grad_clip=0.0)
        for low in range(0, 20, 20 // parts):
            pipe.update(examples[low : low + 20 // parts], losses={})
        nodes = [(node, name) for node in pipe.model.walk() for name in node.param_names]
        pipe.finish_update(optimizer)
        return [(name, np.array(node.get_param(name))) for node, name in nodes if name not in PARAMS]

    # means of five sequences each are summed: four times the mean of twenty
    for (name, whole), (_, parts) in zip(trained(1, 0.4), trained(4, 0.1), strict=True):
        np.testing.assert_allclose(whole, parts, atol=1e-5, err_msg=name)


def test_labels_added_later_have_scores():
    nlp = build("Minibatch", model=model(), features=VECTORS_ONLY)
    examples = make_examples(nlp)
    learn(initialized(nlp, examples), examples, epochs=3)
    pipe = nlp.get_pipe("crf_tagger")
    before = vector_weights(pipe.model).copy()
    pipe.add_label("NEW")
    np.testing.assert_array_equal(vector_weights(pipe.model)[:, :-1], before)
    assert vector_weights(pipe.model).shape == (WIDTH, len(pipe.labels))
    learn(nlp, examples, epochs=1)


@pytest.mark.parametrize("trainer", ["Minibatch", "AdaGrad"])
def test_the_optimizer_of_a_run_goes_on_with_labels_added_later(trainer):
    nlp = build(trainer, model=model(), features=VECTORS_ONLY)
    examples = make_examples(nlp)
    initialized(nlp, examples)
    optimizer = Adam(0.01, use_averages=True)
    for step in range(2):
        nlp.update(examples, sgd=optimizer)
        moment = optimizer.mom1[nlp.get_pipe("crf_tagger").model.id, VECTORS].reshape(WIDTH, -1).copy()
        nlp.get_pipe("crf_tagger").add_label(f"NEW{step}")
        examples[0].reference[0].tag_ = f"NEW{step}"
    nlp.update(examples, sgd=optimizer)
    assert len(optimizer.mom1[nlp.get_pipe("crf_tagger").model.id, VECTORS]) == moment.size + WIDTH
    with nlp.use_params(optimizer.averages):
        assert accuracy(nlp) > 0


def test_a_trainer_without_gradients_is_refused():
    nlp = build("LBFGS", model=model())
    with pytest.raises(ValueError, match="CRF206.*spacy_crf.Minibatch.v1"):
        nlp.initialize(lambda: make_examples(nlp))


def test_empty_documents_do_no_harm():
    nlp = with_listener()
    examples = make_examples(nlp)
    empty = Example(nlp.make_doc(""), nlp.make_doc(""))
    initialized(nlp, examples)
    learn(nlp, [empty, *examples], epochs=1)
    assert [len(doc) for doc in nlp.pipe(["", "Ada met Bo .", ""])] == [0, 4, 0]


def test_a_listener_that_annotates_in_training_without_its_vectors_is_told_of():
    nlp = initialized(with_listener(), examples := make_examples(with_listener()))
    with pytest.warns(CRFWarning, match="CRFW478.*'crf_tagger'.*annotating_components"):
        nlp.update(examples, annotates=["crf_tagger"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.update(examples, annotates=["tok2vec", "crf_tagger"])


def test_a_listener_without_its_vectors_is_told_of():
    nlp, other = initialized(with_listener(), examples := make_examples(with_listener())), spacy.blank("xx")
    learn(nlp, examples, epochs=2)
    other.add_pipe("crf_tagger", source=nlp)
    with pytest.warns(CRFWarning, match="CRFW478.*'crf_tagger'.*replace_listeners"):
        other("Ada sold flour.")
    nlp.replace_listeners("tok2vec", "crf_tagger", ["model.tok2vec"])
    expected = [token.tag_ for token in nlp("Ada sold flour.")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.remove_pipe("tagger")
        nlp.remove_pipe("tok2vec")
        assert [token.tag_ for token in nlp("Ada sold flour.")] == expected
        nlp("")
