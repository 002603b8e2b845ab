"""Cross-validation: folds, fits and scores against the component's own, and the choice, always the same way."""

import json
from typing import Any

import numpy as np
import pytest
import spacy
from helpers import citations
from helpers.tagged import TARGETS, TRAINER_CONFIGS, build, make_examples
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from spacy_crf.annotation.documents import read_doc_name, write_doc_name
from spacy_crf.annotation.extensions import read_values
from spacy_crf.annotation.gold import write_gold_tags
from spacy_crf.annotation.white_space import Places, leave_out
from spacy_crf.lab.tuning import (
    SCORES,
    CrossValidation,
    Fold,
    FoldResult,
    Setting,
    count_known,
    count_weights,
    cross_validate,
    cut_example,
    make_folds,
)
from spacy_crf.learning import encoder
from spacy_crf.tagging.component import CRFTagger

NAME = "crf_tagger"
TAGS = [f"T{number}" for number in range(6)]


def make(noise: float, templates: list[str], n_docs: int, seed: int = 0) -> tuple[Language, list[Example]]:
    """Words that begin with what decides their tag, up to some noise, and end in digits that mean nothing."""
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": templates}
    nlp.add_pipe("crf_tagger", config={"features": features, "trainer": {"@misc": "spacy_crf.LBFGS.v1"}})
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(n_docs):
        kinds = rng.choice(len(TAGS), 5, p=[0.5, *[0.1] * 5])
        tags = np.where(rng.random(5) < noise, rng.integers(0, len(TAGS), 5), kinds)
        words = [f"{kind}k{digits}" for kind, digits in zip(kinds.tolist(), rng.integers(10_000, 99_999, 5).tolist())]
        reference = Doc(nlp.vocab, words=words, tags=[TAGS[tag] for tag in tags])
        examples.append(Example(Doc(nlp.vocab, words=words), reference))
    nlp.initialize(lambda: examples)
    return nlp, examples


def test_little_regularisation_where_the_rule_is_sure() -> None:
    nlp, examples = make(0.0, ["PREFIX1", "BIAS"], 30)
    found = cross_validate(nlp, NAME, examples, [0], [0.01, 10_000], folds=3)
    assert (found.chosen.c2, found.chosen.mean) == (0.01, 1.0)
    assert found.settings[1].mean < 0.9 and found.settings[1].mean_of("loss") > found.settings[0].mean_of("loss")


def test_much_regularisation_where_features_mislead() -> None:
    templates = ["PREFIX1", *(f"SUFFIX{n}" for n in range(1, 4)), "SUFFIX1[-1]", "SUFFIX1[1]"]
    nlp, examples = make(0.5, templates, 40)
    found = cross_validate(nlp, NAME, examples, [0], [1e-4, 1.0], folds=4)
    assert found.chosen.c2 == 1.0
    assert found.settings[1].mean > found.settings[0].mean + 0.05 and found.settings[1].mean_of(
        "loss"
    ) < found.settings[0].mean_of("loss")


def test_l1_leaves_the_features_that_mislead_without_weights() -> None:
    nlp, examples = make(0.0, ["PREFIX1", "SUFFIX3"], 30)
    found = cross_validate(nlp, NAME, examples, [0, 1], [0.01], folds=3)
    assert found.settings[1].mean_of("n_active") < 0.2 * found.settings[0].mean_of("n_active")
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
        return cross_validate(nlp, NAME, examples, c1, c2, folds=3, iterations=12, **settings)

    first = run([0, 0.1], [0.1, 1])
    assert plain(run([0, 0.1], [0.1, 1])) == plain(first) != plain(run([0, 0.1], [0.1, 1], seed=1))
    assert sorted(run([0.1, 0], [1, 0.1, 1]).settings, key=_penalties) == sorted(first.settings, key=_penalties)
    assert run([0.1], [1]).settings == [setting for setting in first.settings if _penalties(setting) == (0.1, 1)]
    assert first.score == {"tag": "tag_acc", "ent": "ents_f"}[target] and first.component == "crf_tagger"


def _penalties(setting: Setting) -> tuple[float, float]:
    return setting.c1, setting.c2


def test_every_fit_is_told() -> None:
    nlp, examples = make(0.0, ["PREFIX1"], 6)
    told: list[FoldResult] = []
    found = cross_validate(nlp, NAME, examples, [0], [1, 2], folds=2, on_result=told.append)
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
    nlp, examples = make(0.0, ["PREFIX1"], 6)
    penalties = {"c1": [0.0], "c2": [1.0], name: [0.5, value]}
    with pytest.raises(ValueError, match=f"CRF605.*{name} is {value!r}"):
        cross_validate(nlp, NAME, examples, **penalties)
    with pytest.raises(ValueError, match="CRF605"):
        cross_validate(nlp, NAME, examples, **{**penalties, name: []})


def test_other_trainers_and_no_iterations() -> None:
    nlp, examples = make(0.0, ["PREFIX1"], 6)
    with pytest.raises(ValueError, match="CRF108.*iterations"):
        cross_validate(nlp, NAME, examples, [0], [1], iterations=0)
    other = build("Perceptron")
    other.initialize(lambda: make_examples(other))
    with pytest.raises(ValueError, match="CRF604.*OnlineTrainer.*LBFGS"):
        cross_validate(other, NAME, make_examples(other), [0], [1])
    with pytest.raises(ValueError, match="CRF401"):
        cross_validate(build(), NAME, [], [0], [1])


# -- folds -------------------------------------------------------------------------------------------------------


def own_words(sentences_per_doc: int = 1, n_docs: int = 6, **config: Any) -> tuple[Language, list[Example]]:
    """A pipeline whose k-th Doc has words of its own beside a common one; the last Doc has no gold."""
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "LOWER[-1]|LOWER[0]", "B:LOWER"]}
    model = {"@architectures": "spacy_crf.LinearChain.v1", **config.pop("model", {})}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.01}
    nlp.add_pipe(NAME, config={"features": {**features, **config}, "model": model, "trainer": trainer})
    examples = []
    for number in range(n_docs + 1):
        words = [word for s in range(sentences_per_doc) for word in ("the", f"own{number}", f"rare{number}s{s}")]
        starts = [word == "the" for word in words]
        tags = ["D", "N", "X" if number == 0 else "V"] * sentences_per_doc
        reference = Doc(nlp.vocab, words=words, sent_starts=starts, tags=tags if number < n_docs else None)
        examples.append(Example(Doc(nlp.vocab, words=words, sent_starts=starts), reference))
    nlp.initialize(lambda: examples)
    return nlp, examples


def folds_of(nlp: Language, examples: list[Example], count: int, unit: Any, seed: int = 0) -> list[Any]:
    return list(make_folds(tagger(nlp), examples, count, unit, seed))


def tagger(nlp: Language) -> CRFTagger:
    pipe = nlp.get_pipe(NAME)
    assert isinstance(pipe, CRFTagger)
    return pipe


def words_of(examples: list[Example]) -> list[str]:
    return [token.text for example in examples for token in example.predicted]


def test_every_document_with_gold_is_held_out_once() -> None:
    folds = folds_of(*own_words(sentences_per_doc=2), 3, "auto")
    held_out = [set(words_of(out)) & {f"own{n}" for n in range(7)} for _, out in folds]
    assert [len(words) for words in held_out] == [2, 2, 2]
    assert set.union(*held_out) == {f"own{n}" for n in range(6)}
    for (train, out), words in zip(folds, held_out):
        trained = words_of(train)
        assert not words & set(trained) and trained.count("own6") == 2
        assert len(words_of(train)) + len(words_of(out)) == 14 * 3


def test_sequences_are_drawn_where_documents_are_too_few() -> None:
    nlp, examples = own_words(sentences_per_doc=4, n_docs=2)
    assert all(len(set(words_of(out))) == 6 for _, out in folds_of(nlp, examples, 2, "doc"))
    assert [len(words_of(out)) for _, out in folds_of(nlp, examples, 2, "auto")] == [12, 12]
    assert [len(words_of(out)) for _, out in folds_of(nlp, examples, 4, "auto")] == [6, 6, 6, 6]
    by_sequence = {tuple(words_of(out)) for _, out in folds_of(nlp, examples, 2, "sequence")}
    by_document = {tuple(words_of(out)) for _, out in folds_of(nlp, examples, 2, "doc")}
    assert by_sequence != by_document


def test_the_seed_draws() -> None:
    nlp, examples = own_words()
    drawn = [[words_of(out) for _, out in folds_of(nlp, examples, 3, "doc", seed)] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    "count, unit, message",
    [
        (7, "doc", "7 folds cannot be made of 6 documents"),
        (13, "auto", "12 sequences"),
        (13, "sequence", "12 sequences"),
        (1, "auto", "1 folds"),
    ],
)
def test_too_few_are_named(count: int, unit: Any, message: str) -> None:
    nlp, examples = own_words(sentences_per_doc=2)
    with pytest.raises(ValueError, match=f"CRF603.*{message}"):
        make_folds(tagger(nlp), examples, count, unit, 0)


def test_examples_are_cut_where_both_sides_end() -> None:
    nlp, (example, *_) = own_words(sentences_per_doc=3)
    parts = cut_example(tagger(nlp), example)
    assert [[token.text for token in part.predicted] for part in parts] == [
        ["the", "own0", f"rare0s{n}"] for n in range(3)
    ]
    assert [[token.tag_ for token in part.reference] for part in parts] == [["D", "N", "X"]] * 3
    joined = Doc(nlp.vocab, words=["the", "own0", "rare0s0the", "own0", "rare0s1", "the", "own0", "rare0s2"])
    spaces = [True, True, False, True, True, True, True, True, True]
    seen = Doc(nlp.vocab, words=words_of([example]), spaces=spaces, sent_starts=[True, False, False] * 3)
    parts = cut_example(tagger(nlp), Example(seen, joined))
    assert [(len(part.predicted), len(part.reference)) for part in parts] == [(6, 5), (3, 3)]


def test_what_computes_attributes_of_a_part_sees_the_whole_document() -> None:
    nlp, (example, *_) = own_words(sentences_per_doc=3)
    Token.set_extension("crf_test_number", getter=lambda token: token.i, force=True)
    parts = [part.predicted.copy() for part in cut_example(tagger(nlp), example)]
    parts.append(leave_out(parts[1], Places(np.array([1, 2]), 3)))
    found = [read_values(part, "crf_test_number") for part in parts]
    Token.remove_extension("crf_test_number")
    assert found == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [4, 5]]


# -- fits and scores ---------------------------------------------------------------------------------------------


def weighted(pipe: CRFTagger) -> set[str]:
    """Names of the state features that the component has numbered."""
    return set(pipe.features.state.names())


@pytest.mark.parametrize("model", [{}, {"all_states": True, "all_transitions": True}])
def test_what_is_held_out_has_no_weights(model: dict[str, bool]) -> None:
    nlp, examples = own_words(model=model)
    for train, out in folds_of(nlp, examples, 3, "doc"):
        pipe, _ = Fold(nlp, NAME, train, out).fit(0.0, 0.1, 5)
        trained = set(words_of(train))
        assert len(set(words_of(out)) - trained) == 4
        found = {name.split("=")[1] for name in weighted(pipe) if name.startswith("LOWER[0]=")}
        assert found == trained
        assert {name.split("=")[1] for name in pipe.features.edge.names()} <= trained


def test_cut_offs_count_the_training_part_alone() -> None:
    nlp, examples = own_words(sentences_per_doc=2, min_count=2, min_edge_count=2)
    parts = [part for example in examples for part in cut_example(tagger(nlp), example)]
    held = {0, 2, 3}  # of document 0 one sentence is left, of document 1 none
    train = [part for number, part in enumerate(parts) if number not in held]
    pipe, _ = Fold(nlp, NAME, train, [parts[number] for number in held]).fit(0.0, 0.1, 5)
    expected = {"the"} | {f"own{n}" for n in range(2, 7)}
    assert {name.split("=")[1] for name in weighted(pipe) if name.startswith("LOWER[0]=")} == expected


def test_the_pipeline_is_left_as_it_is() -> None:
    nlp, examples = own_words()
    before, config = nlp.to_bytes(), nlp.config.to_str()
    cross_validate(nlp, NAME, examples, [0], [0.1, 1], folds=3, iterations=3)
    assert nlp.to_bytes() == before and nlp.config.to_str() == config


@pytest.mark.parametrize("changed", [{}, {"unseen": 0.001}, {"warmup": 2, "seed": 5}])
@pytest.mark.parametrize("c1", [0.0, 0.2])
def test_a_fold_is_fitted_as_the_component_would_be(changed: dict[str, Any], c1: float) -> None:
    settings = {"iterations_per_step": 8, "memory": 4, "delta": 1e-3, **changed}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]", "SUFFIX2"]}

    def begin(**penalties: float) -> tuple[Language, list[Example]]:
        nlp = spacy.blank("xx")
        trainer = {"@misc": "spacy_crf.LBFGS.v1", **settings, **penalties}
        nlp.add_pipe(NAME, config={"features": features, "trainer": trainer})
        return nlp, make_examples(nlp)

    nlp, examples = begin()
    nlp.initialize(lambda: examples)
    kept = [example for number, example in enumerate(examples) if number % 4 != 1]
    fitted, iterations = Fold(nlp, NAME, kept, examples[1::4]).fit(c1, 0.1, 24)
    assert 8 < iterations <= 24
    alone, _ = begin(c1=c1, c2=0.1)
    alone.initialize(lambda: examples)
    for _ in range(3):
        alone.update(kept)
    assert fitted.to_bytes() == tagger(alone).to_bytes()


@pytest.mark.parametrize("settings", [{}, {"unseen": 0.001}, {"warmup": 1}])
def test_a_fit_does_not_depend_on_those_before_it(settings: dict[str, Any]) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe(NAME, config={"trainer": {"@misc": "spacy_crf.LBFGS.v1", **settings}})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pairs = [(0.0, 0.1), (0.3, 0.1), (0.0, 5.0)]
    fold = Fold(nlp, NAME, examples[5:], examples[:5])
    first = [fold.fit(*pair, 15)[0].to_bytes() for pair in pairs]
    again = [fold.fit(*pair, 15)[0].to_bytes() for pair in reversed(pairs)]
    alone = [Fold(nlp, NAME, examples[5:], examples[:5]).fit(*pair, 15)[0].to_bytes() for pair in pairs]
    assert first == again[::-1] == alone and len(set(first)) == 3


@pytest.mark.parametrize("settings", [{}, {"unseen": 0.001}])
def test_a_fit_takes_in_all_parts_of_its_corpus(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe(NAME, config={"trainer": {"@misc": "spacy_crf.LBFGS.v1", **settings}})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)

    def fits() -> list[tuple[float, ...]]:
        fold = Fold(nlp, NAME, examples[5:], examples[:5])
        fitted = [fold.fit(0.0, c2, 15)[0] for c2 in (0.1, 5.0)]
        return [(count_weights(pipe), *fold.evaluate(pipe, {"tag_acc": 1.0})) for pipe in fitted]

    whole = fits()
    monkeypatch.setattr(encoder, "TOKENS_PER_SAMPLE", 15)  # of which the corpus has several times as many
    for found, expected in zip(fits(), whole):
        assert found == pytest.approx(expected, rel=1e-4)


def test_iterations_are_the_limit() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe(NAME, config={"trainer": {"@misc": "spacy_crf.LBFGS.v1", "unseen": 0.001, "iterations_per_step": 10}})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    fold = Fold(nlp, NAME, examples[5:], examples[:5])
    assert [fold.fit(0.0, 0.01, n)[1] for n in (1, 10, 13)] == [1, 10, 13]


@pytest.mark.parametrize("decode", ["viterbi", "posterior"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_score_is_that_of_the_component(target: str, decode: str) -> None:
    nlp = build(target=target, decode=decode, features={"@misc": "spacy_crf.Features.v1", "templates": ["SUFFIX2"]})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    fold = Fold(nlp, NAME, examples[::2], examples[1::2])
    pipe, _ = fold.fit(0.0, 0.01, 20)
    name = SCORES.get(target, f"{target}_acc").format(spans_key="sc")
    score, loss = fold.evaluate(pipe, {name: 1.0})
    tagged = [Example(pipe(example.predicted.copy()), example.reference) for example in examples[1::2]]
    assert score == pipe.score(tagged)[name] and 0.1 < score < 1
    expected = pipe.get_loss(examples[1::2], pipe.predict([example.predicted for example in examples[1::2]]))
    assert loss == pytest.approx(expected / sum(len(example.predicted) for example in examples[1::2]), rel=1e-4)
    assert not any(example.predicted.has_annotation("TAG") or example.predicted.ents for example in examples)
    assert count_weights(pipe) > 0


def towns_and_rain(towns: int, rain: int) -> tuple[Language, list[Example]]:
    """Documents with one entity each, and such without."""
    nlp = build(target="ent", features={"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]})
    said = [(["in", "Delft"], ["O", "B-LOC"])] * towns + [(["it", "rained"], ["O", "O"])] * rain
    examples = [Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, ents=ents)) for words, ents in said]
    nlp.initialize(lambda: examples)
    return nlp, examples


def test_folds_without_a_score_do_not_count() -> None:
    nlp, examples = towns_and_rain(4, 2)
    told: list[FoldResult] = []
    with pytest.warns(UserWarning, match="CRFW485.*ents_f.*left out for all: [1-6], [1-6]\\."):
        found = cross_validate(nlp, NAME, examples, [0], [0.01, 0.1], folds=6, unit="doc", on_result=told.append)
    assert [len(setting.folds) for setting in found.settings] == [4, 4]
    assert found.best.mean == 1.0  # not 2 / 3
    assert sum(np.isnan(result.score) for result in told) == 4 and "NaN" not in json.dumps(found.to_data())


def test_without_folds_that_have_a_score_there_is_no_choice() -> None:
    nlp, examples = towns_and_rain(1, 3)
    with pytest.raises(ValueError, match="CRF484.*'crf_tagger'.*ents_f"):
        cross_validate(nlp, NAME, examples, [0], [0.1], folds=4, unit="doc")


@pytest.mark.parametrize("target, scheme", [("ent", "BIO"), ("ent", "BILUO"), ("tag", "none")])
def test_unknown_gold_counts_for_nothing(target: str, scheme: str) -> None:
    nlp = build(target=target, scheme=scheme)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    words = ["Delft", "met", "Mia", "in", "Delft"]
    gold = {"ent": {"ents": ["B-LOC", "O", "", "O", "O"]}, "tag": {"tags": ["NNP", "VBD", "", "IN", "JJ"]}}
    partial = [Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, **gold[target]))]
    fold = Fold(nlp, NAME, examples, partial)
    pipe, _ = fold.fit(0.0, 0.01, 20)
    assert count_known(pipe, partial) == [4]
    score, loss = fold.evaluate(pipe, {SCORES.get(target, f"{target}_acc"): 1.0})
    assert score == pytest.approx({"ent": 2 / 3, "tag": 3 / 4}[target])
    assert loss * 4 == pytest.approx(pipe.get_loss(partial, pipe.predict([partial[0].predicted])), rel=1e-4)


@pytest.mark.parametrize(
    "factory, config, score",
    [
        ("set_valued_tagger", {}, "ml_util + ml_acc"),
        ("constrained_ner", {"target": "tag"}, "segments_f"),
        ("constrained_ner", {"target": "spans"}, "segments_f"),
    ],
)
def test_components_are_chosen_by_the_scores_of_training(factory: str, config: dict[str, Any], score: str) -> None:
    def tune(**more: None) -> CrossValidation:
        nlp = spacy.blank("xx")
        nlp.add_pipe(factory, name="own", config={"trainer": TRAINER_CONFIGS["LBFGS"], **config, **more})
        examples = [*make_examples(nlp), *make_examples(nlp)]
        nlp.initialize(lambda: examples)
        return cross_validate(nlp, "own", examples, [0], [0.1], folds=2, iterations=5)

    found = tune()
    assert found.score == score and found.chosen.mean > 0.3
    with pytest.raises(ValueError, match="CRF654"):
        tune(scorer=None)


def test_constraints_are_mined_in_each_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = citations.build(mine=citations.MINE)
    examples = citations.make_examples(nlp)
    nlp.initialize(lambda: examples)
    found, evaluate = [], Fold.evaluate
    monkeypatch.setattr(Fold, "evaluate", lambda *given: (found.append(given[1].constraints), evaluate(*given))[1])
    cross_validate(nlp, "constrained_ner", examples, [0], [0.1, 10], folds=2, iterations=10)
    assert len(found) == 4 and all(found)
    assert found[0] != found[1]  # costs are those of the chain with these penalties
    assert not nlp.get_pipe("constrained_ner").constraints


@pytest.mark.parametrize("unit", ["doc", "sequence"])
def test_what_is_held_out_may_have_other_gold(unit: str) -> None:
    nlp, examples = make(0.0, ["PREFIX1"], 12)
    scored = [Example(example.predicted, example.reference.copy()) for example in examples]
    for example in scored:
        example.reference[0].tag_ = ""
    for train, held_out in make_folds(nlp.get_pipe(NAME), examples, 2, unit, 0, scored):
        assert all(example.reference[0].tag_ for example in train)
        assert held_out and not any(example.reference[0].tag_ for example in held_out)


def test_parts_of_one_document_are_in_one_fold() -> None:
    nlp, examples = make(0.0, ["PREFIX1"], 12)
    for number, example in enumerate(examples):
        write_doc_name(example.reference, f"text {number % 4}")
    for train, held_out in make_folds(nlp.get_pipe(NAME), examples, 2, "doc", 0):
        sides = [{read_doc_name(example.reference) for example in side} for side in (train, held_out)]
        assert not sides[0] & sides[1] and len(sides[1]) == 2
    with pytest.raises(ValueError, match="CRF603.*4"):
        list(make_folds(nlp.get_pipe(NAME), examples, 5, "doc", 0))


def test_gold_with_several_tags_is_held_out_too() -> None:
    nlp = spacy.blank("xx")
    trainer = {"@misc": "spacy_crf.LBFGS.v1"}
    pipe = nlp.add_pipe("set_valued_tagger", config={"trainer": trainer})
    examples = [Example(Doc(nlp.vocab, words=["a", "b"]), Doc(nlp.vocab, words=["a", "b"])) for _ in range(6)]
    for example in examples:
        write_gold_tags(example.reference, [{"A": 0.5, "B": 0.5}, {"A": 0.9, "B": 0.1}])
    nlp.initialize(lambda: examples)
    assert count_known(pipe, examples) == [2] * 6
    found = cross_validate(nlp, "set_valued_tagger", examples, [0.0], [0.01], folds=2, iterations=30)
    entropies = [-sum(p * np.log(p) for p in row) for row in ((0.5, 0.5), (0.9, 0.1))]
    assert found.best.mean_of("loss") == pytest.approx(np.mean(entropies), abs=0.01)
