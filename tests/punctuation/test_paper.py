"""Agrawal & Shah (2014): START and STOP, the two ends of the recursions, and the two ways to learn."""

from pathlib import Path

import numpy as np
import pytest
from helpers.chains import distribution_of
from helpers.punctuated import MARKS, TEXTS, build, make_examples, train
from helpers.weights import flat_weights, set_flat_weights
from spacy.tokens import Doc
from thinc.api import SGD

from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.features.columns import TRUNCATED
from spacy_crf.learning.model import get_layout

PAPER = {
    "@misc": "spacy_crf.Features.v1",
    "templates": ["B:CLASS4", "CLASS4|BOS", "EOS"],
    "classes": {"@misc": "spacy_crf.InducedClasses.v1", "min_count": 1},
}


@pytest.fixture(scope="module")
def nlp(folder: Path):
    return train(folder, features=PAPER)


def both_ends(emissions: np.ndarray, matrices: np.ndarray) -> tuple[float, float]:
    """log alpha(n + 1, STOP) and log beta(START, 0) by equations 12 and 13, with explicit START and STOP.

    g_1(START, v) and g_{n+1}(u, STOP) are the parts of the emissions of the first and last word that BOS and EOS have.
    """
    alpha, beta = emissions[0], np.zeros(emissions.shape[1])
    for scores, matrix in zip(emissions[1:], matrices):
        alpha = np.logaddexp.reduce(alpha[:, None] + matrix, axis=0) + scores
    for scores, matrix in zip(emissions[:0:-1], matrices[::-1]):
        beta = np.logaddexp.reduce(matrix + scores + beta, axis=1)
    return float(np.logaddexp.reduce(alpha)), float(np.logaddexp.reduce(emissions[0] + beta))


@pytest.mark.parametrize("text", ["so", "well did she go home", "where is it it is new and the mill was sold " * 5])
def test_both_recursions_end_in_the_same_sum(nlp, text: str) -> None:
    check_both_ends(nlp, nlp.make_doc(text))


@pytest.mark.parametrize("seed", range(6))
def test_so_they_do_for_random_weights_and_sentences(nlp, seed: int) -> None:
    rng, words = np.random.default_rng(seed), [word.strip(".,?!").lower() for word in TEXTS.split()]
    drawn = build(features=PAPER).from_bytes(nlp.to_bytes())
    pipe = drawn.get_pipe("punctuation_restorer")
    weights = rng.normal(0, 3, get_layout(pipe.model).size)
    set_flat_weights(pipe.model, weights)
    pipe.finish_update(None)
    doc = Doc(drawn.vocab, words=rng.choice(words, rng.integers(1, 40)).tolist())
    assert check_both_ends(drawn, doc) != check_both_ends(nlp, doc)


def check_both_ends(nlp, doc: Doc) -> float:
    """log Z of a text, after both recursions have been seen to end in it."""
    pipe = nlp.get_pipe("punctuation_restorer")
    chains = distribution_of(pipe, pipe.read_columns([doc])).chains.astype(np.float64)
    rows = chains.batch.rows
    matrices = chains.edges.matrices[chains.edges.groups[rows]][1:]
    alpha, beta = both_ends(chains.emissions[rows], matrices)
    assert alpha == pytest.approx(beta, rel=1e-12)
    assert forward_backward(chains).log_z[0] == pytest.approx(alpha, rel=1e-9)
    return alpha


def test_start_and_stop_have_weights_that_open_sides_do_not_use(nlp) -> None:
    pipe = nlp.get_pipe("punctuation_restorer")
    names = pipe.features.state.names()
    assert "EOS[0]=1" in names and any(name.startswith("CLASS4[0]|BOS[0]=") for name in names)
    closed, cut = (Doc(nlp.vocab, words=["where", "is", "it"]) for _ in range(2))
    cut.user_data[TRUNCATED] = [True, True]
    emissions = [pipe.distribution([doc])[1].chains.emissions for doc in (closed, cut)]
    assert np.abs(emissions[0]).sum() > 0 and not emissions[1].any()  # all other features are those of transitions


@pytest.mark.parametrize(
    "trainer",
    [
        {"@misc": "spacy_crf.Perceptron.v1", "averaging": False},
        {"@misc": "spacy_crf.Perceptron.v1"},
        {"@misc": "spacy_crf.Minibatch.v1"},
        {"@misc": "spacy_crf.StochasticGradient.v1", "learn_rate": 0.1},
    ],
)
def test_both_trainers_learn(trainer: dict, tmp_path: Path) -> None:
    learner = build(features=PAPER, trainer=trainer, marks=MARKS)
    examples = make_examples(learner, tmp_path, unit="sentence")
    learner.initialize(lambda: examples)
    optimizer = SGD(0.3, L2=0.0, grad_clip=0.0)
    for _ in range(12):
        learner.update(examples, sgd=optimizer)
    scores = learner.evaluate(make_examples(learner, tmp_path, unit="sentence"))
    assert scores["word_acc"] > scores["word_acc_none"] + 0.1


def test_single_steps_are_those_of_the_optimizer_with_batches_of_one(tmp_path: Path) -> None:
    weights = []
    for name, settings in (("Minibatch", {}), ("StochasticGradient", {"learn_rate": 0.05, "averaging": False})):
        learner = build(features=PAPER, trainer={"@misc": f"spacy_crf.{name}.v1", **settings}, marks=MARKS)
        examples = make_examples(learner, tmp_path, unit="sentence")
        learner.initialize(lambda examples=examples: examples)
        optimizer = SGD(0.05, L2=0.0, grad_clip=0.0)
        for example in examples * 2:
            learner.update([example], sgd=optimizer)
        weights.append(flat_weights(learner.get_pipe("punctuation_restorer").model))
    assert np.abs(weights[0]).max() > 0.1
    np.testing.assert_allclose(weights[1], weights[0], atol=1e-4)


def test_an_unaveraged_perceptron_predicts_with_its_last_weights(tmp_path: Path) -> None:
    weights = []
    for averaging in (False, True):
        learner = build(features=PAPER, trainer={"@misc": "spacy_crf.Perceptron.v1", "averaging": averaging})
        examples = make_examples(learner, tmp_path, unit="sentence")
        learner.initialize(lambda examples=examples: examples)
        for _ in range(3):
            learner.update(examples)
        weights.append(learner.get_pipe("punctuation_restorer").model.get_param("edges"))
    assert np.array_equal(weights[0], np.round(weights[0])) and not np.array_equal(weights[1], np.round(weights[1]))
