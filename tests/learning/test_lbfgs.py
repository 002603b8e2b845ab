"""L-BFGS in a pipe: sparse weights, a warm-up, and a log."""

import copy
import logging
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.tagged import build, clean_docs, make_examples
from helpers.weights import flat_weights
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.core.learn.lbfgs import LBFGS, OWLQN
from spacy_crf.learning import lbfgs
from spacy_crf.learning.model import get_layout


def make(**settings: Any) -> tuple[Language, list[Example]]:
    """A pipeline ready to be trained by L-BFGS with the given settings."""
    nlp = spacy.blank("xx")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.1, "iterations_per_step": 20, **settings}
    nlp.add_pipe("crf_tagger", config={"trainer": trainer})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    return nlp, examples


def run(steps: int, **settings: Any) -> tuple[Language, Any, np.ndarray]:
    """A pipeline after some steps, its optimiser, and its weights."""
    nlp, examples = make(**settings)
    for _ in range(steps):
        nlp.update(examples)
    pipe = nlp.get_pipe("crf_tagger")
    return nlp, pipe.trainer.optimizer, flat_weights(pipe.model)  # the optimiser outlives the examples here


def learned(nlp: Language) -> float:
    """Share of the training tags that are found."""
    gold = [[token.tag_ for token in eg.reference] for eg in make_examples(nlp)]
    found = [[token.tag_ for token in doc] for doc in nlp.pipe(clean_docs(nlp))]
    return float(np.mean(np.concatenate(gold) == np.concatenate(found)))


def test_c1_makes_most_weights_zero_and_counts_in_the_objective() -> None:
    nlp, optimizer, flat = run(20, c1=0.2, c2=0.01, period=0)
    assert type(optimizer) is OWLQN and learned(nlp) > 0.95
    assert 0 < np.count_nonzero(flat) < 0.3 * len(flat)
    penalty = 0.2 * np.abs(flat).sum() + 0.01 * flat @ flat
    pipe = nlp.get_pipe("crf_tagger")
    examples = make_examples(nlp)
    loss = pipe.get_loss(examples, pipe.predict([example.predicted for example in examples]))
    assert optimizer.value == pytest.approx(loss + penalty, rel=1e-4)


def test_a_greater_c1_leaves_fewer_weights() -> None:
    counts = [np.count_nonzero(run(5, c1=c1)[2]) for c1 in (0.0, 0.05, 0.5, 5.0)]
    assert sorted(counts, reverse=True) == counts and len(set(counts)) == 4


def test_without_c1_it_is_plain_lbfgs() -> None:
    assert type(run(1)[1]) is LBFGS
    np.testing.assert_array_equal(run(3)[2], run(3, c1=0.0, warmup=0, seed=5)[2])


@pytest.mark.parametrize("settings", [{"c1": 0.0}, {"c1": 0.1}])
def test_a_warm_up_begins_lower_and_ends_at_the_same_optimum(settings: dict[str, float]) -> None:
    stops = {"period": 0, "epsilon": 1e-6}
    _, cold, _ = run(1, **settings, iterations_per_step=1)
    _, warm, _ = run(1, **settings, iterations_per_step=1, warmup=3)
    assert warm.value < 0.5 * cold.value
    (nlp, cold, flat), (_, warm, again) = (run(40, **settings, **stops, warmup=warmup) for warmup in (0, 3))
    assert warm.value == pytest.approx(cold.value, rel=1e-5) and learned(nlp) > 0.95
    np.testing.assert_allclose(again, flat, atol=0.02)


def test_a_warm_up_is_the_same_to_the_byte_for_a_seed() -> None:
    runs = [run(2, warmup=2, seed=seed, n_threads=n)[0] for seed, n in ((1, 1), (1, 2), (2, 1))]
    stored = [nlp.get_pipe("crf_tagger").to_bytes() for nlp in runs]
    assert stored[0] == stored[1] != stored[2]


def test_only_weights_of_zero_are_warmed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    plain = lbfgs.SGD
    monkeypatch.setattr(lbfgs, "SGD", lambda *args, **kwargs: calls.append(args) or plain(*args, **kwargs))
    nlp, examples = make(warmup=1, unseen=0.001)
    for _ in range(3):
        nlp.update(examples)
    assert len(calls) == 1 and get_layout(nlp.get_pipe("crf_tagger").model).size > len(calls[0][2])
    again = build()
    trainer = again.get_pipe("crf_tagger").trainer
    trainer.settings = replace(trainer.settings, warmup=1)
    again.from_bytes(nlp.to_bytes())
    again.update(make_examples(again))
    assert len(calls) == 1


def test_copies_keep_the_settings() -> None:
    trainer = make(c1=0.3, warmup=2, seed=4)[0].get_pipe("crf_tagger").trainer
    twin = copy.deepcopy(trainer)
    assert twin.settings == trainer.settings and (twin.settings.c1, twin.settings.warmup, twin.settings.seed) == (
        0.3,
        2,
        4,
    )


@pytest.mark.parametrize("name", ["c1", "c2", "warmup"])
def test_negative_settings_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"CRF204.*{name} is -1"):
        make(**{name: -1})


def test_each_step_has_a_line_in_the_log_and_the_end_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="spacy"):
        _, optimizer, flat = run(4, c1=0.2, iterations_per_step=5, period=3, delta=0.5)
    lines = [record.getMessage() for record in caplog.records if "objective" in record.getMessage()]
    assert len(lines) == (optimizer.iterations + 4) // 5
    for part in (
        f"Iteration {optimizer.iterations}: objective {optimizer.value:.3f}",
        f"gradient norm {optimizer.gradient_norm:.4g}",
        f"{np.count_nonzero(flat)} active weights of ",
        f"{optimizer.evaluations} evaluations",
        " s.",
    ):
        assert part in lines[-1]
    assert "of its value over 3 iterations" in caplog.text


def test_an_evaluation_between_steps_takes_less_memory_than_dense_weights() -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("crf_tagger", config={"trainer": {"@misc": "spacy_crf.LBFGS.v1"}})
    words, tags = [f"word{number}" for number in range(2000)], [f"T{number % 50}" for number in range(2000)]
    example = Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=tags))
    nlp.initialize(lambda: [example])
    nlp.update([example])
    layout = get_layout(pipe.model)
    doc = Doc(nlp.vocab, words=words[:5])
    tracemalloc.start()
    found = [token.tag_ for token in pipe(doc)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < layout.n_features * layout.n_labels * 4 / 2
    loaded = spacy.blank("xx")
    loaded.add_pipe("crf_tagger").from_bytes(pipe.to_bytes())
    assert found == [token.tag_ for token in loaded(Doc(loaded.vocab, words=words[:5]))]
