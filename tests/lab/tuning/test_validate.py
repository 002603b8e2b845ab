"""Cross-validation as a whole: it chooses what is right, always the same way."""

import json
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.tagged import build, make_examples
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.lab.tuning import CrossValidation, FoldResult, Setting, cross_validate
from spacy_crf.tagging.component import CRFTagger

TAGS = [f"T{number}" for number in range(6)]


def make(noise: float, templates: list[str], n_docs: int, seed: int = 0) -> tuple[CRFTagger, list[Example]]:
    """Words that begin with what decides their tag, up to some noise, and end in digits that mean nothing."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"features": {"@misc": "spacy_crf.Features.v1", "templates": templates}})
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(n_docs):
        kinds = rng.choice(len(TAGS), 5, p=[0.5, *[0.1] * 5])
        tags = np.where(rng.random(5) < noise, rng.integers(0, len(TAGS), 5), kinds)
        words = [f"{kind}k{digits}" for kind, digits in zip(kinds.tolist(), rng.integers(10_000, 99_999, 5).tolist())]
        reference = Doc(nlp.vocab, words=words, tags=[TAGS[tag] for tag in tags])
        examples.append(Example(Doc(nlp.vocab, words=words), reference))
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("crf_tagger")
    assert isinstance(pipe, CRFTagger)
    return pipe, examples


def test_little_regularisation_where_the_rule_is_sure() -> None:
    pipe, examples = make(0.0, ["PREFIX1", "BIAS"], 30)
    found = cross_validate(pipe, examples, [0], [0.01, 10_000], folds=3)
    assert (found.chosen.c2, found.chosen.mean) == (0.01, 1.0)
    assert found.settings[1].mean < 0.9 and found.settings[1].loss > found.settings[0].loss


def test_much_regularisation_where_features_mislead() -> None:
    templates = ["PREFIX1", *(f"SUFFIX{n}" for n in range(1, 4)), "SUFFIX1[-1]", "SUFFIX1[1]"]
    pipe, examples = make(0.5, templates, 40)
    found = cross_validate(pipe, examples, [0], [1e-4, 1.0], folds=4)
    assert found.chosen.c2 == 1.0
    assert found.settings[1].mean > found.settings[0].mean + 0.05 and found.settings[1].loss < found.settings[0].loss


def test_l1_leaves_the_features_that_mislead_without_weights() -> None:
    pipe, examples = make(0.0, ["PREFIX1", "SUFFIX3"], 30)
    found = cross_validate(pipe, examples, [0, 1], [0.01], folds=3)
    assert found.settings[1].n_active < 0.2 * found.settings[0].n_active
    assert found.chosen.c1 == 1 and found.settings[0].mean == found.settings[1].mean == 1.0


def plain(found: CrossValidation) -> str:
    """All of it but the seconds."""
    data = found.to_data()
    for setting in data["settings"]:
        del setting["seconds"]
        for fold in setting["folds"]:
            assert fold.pop("seconds") > 0
    return json.dumps(data)


@pytest.mark.parametrize("target", ["tag", "ent"])
def test_results_are_the_same_in_every_run_and_order(target: str) -> None:
    def run(c1: list[float], c2: list[float], **settings: Any) -> CrossValidation:
        nlp = build(target=target)
        examples = make_examples(nlp)
        nlp.initialize(lambda: examples)
        pipe = nlp.get_pipe("crf_tagger")
        assert isinstance(pipe, CRFTagger)
        return cross_validate(pipe, examples, c1, c2, folds=3, iterations=12, **settings)

    first = run([0, 0.1], [0.1, 1])
    assert plain(run([0, 0.1], [0.1, 1])) == plain(first) != plain(run([0, 0.1], [0.1, 1], seed=1))
    assert sorted(run([0.1, 0], [1, 0.1, 1]).settings, key=_penalties) == sorted(first.settings, key=_penalties)
    assert run([0.1], [1]).settings == [setting for setting in first.settings if _penalties(setting) == (0.1, 1)]
    assert first.score == {"tag": "tag_acc", "ent": "ents_f"}[target] and first.component == "crf_tagger"


def _penalties(setting: Setting) -> tuple[float, float]:
    return setting.c1, setting.c2


def test_every_fit_is_told() -> None:
    pipe, examples = make(0.0, ["PREFIX1"], 6)
    told: list[FoldResult] = []
    found = cross_validate(pipe, examples, [0], [1, 2], folds=2, on_result=told.append)
    assert [(result.fold, result.c2) for result in told] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert [setting.folds for setting in found.settings] == [told[::2], told[1::2]]


def outcome(rule: Any, *settings: tuple[float, float, list[float]]) -> CrossValidation:
    return CrossValidation(
        "crf_tagger",
        "tag_acc",
        rule,
        [Setting(c1, c2, [FoldResult(0, c1, c2, s, 0.1, 9, 5, 1.0) for s in scores]) for c1, c2, scores in settings],
    )


def test_the_rule_decides() -> None:
    settings = [(0, 0.1, [0.89, 0.93]), (0, 1, [0.88, 0.92]), (0.5, 0.1, [0.87, 0.91]), (1, 0.1, [0.8, 0.9])]
    best, sparse = outcome("best", *settings), outcome("one-se", *settings)
    assert best.best.mean == pytest.approx(0.91) and best.best.standard_error == pytest.approx(0.02)
    assert (_penalties(best.chosen), _penalties(sparse.chosen)) == ((0, 0.1), (0.5, 0.1))
    assert _penalties(outcome("one-se", *settings[:2]).chosen) == (0, 1)


def test_of_equal_scores_the_more_regularised_is_best() -> None:
    assert _penalties(outcome("best", (0, 1, [0.9, 0.9]), (0, 0.1, [0.9, 0.9])).chosen) == (0, 1)
    assert _penalties(outcome("best", (0.1, 0.1, [0.9, 0.9]), (0, 1, [0.9, 0.9])).chosen) == (0.1, 0.1)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "1", None])
@pytest.mark.parametrize("name", ["c1", "c2"])
def test_penalties_that_are_none(name: str, value: Any) -> None:
    pipe, examples = make(0.0, ["PREFIX1"], 6)
    penalties = {"c1": [0.0], "c2": [1.0], name: [0.5, value]}
    with pytest.raises(ValueError, match=f"CRF605.*{name} is {value!r}"):
        cross_validate(pipe, examples, **penalties)
    with pytest.raises(ValueError, match="CRF605"):
        cross_validate(pipe, examples, **{**penalties, name: []})


def test_other_trainers_and_no_iterations() -> None:
    pipe, examples = make(0.0, ["PREFIX1"], 6)
    with pytest.raises(ValueError, match="CRF108.*iterations"):
        cross_validate(pipe, examples, [0], [1], iterations=0)
    other = build("Perceptron")
    other.initialize(lambda: make_examples(other))
    with pytest.raises(ValueError, match="CRF604.*OnlineTrainer.*LBFGS"):
        cross_validate(other.get_pipe("crf_tagger"), make_examples(other), [0], [1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="CRF401"):
        cross_validate(build().get_pipe("crf_tagger"), [], [0], [1])  # type: ignore[arg-type]
