"""Experiments from configs to results: what is trained, what is scored, and what is refused."""

import json
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.experiments import make_config, write_documents
from helpers.paths import ROOT
from spacy.cli.train import train as spacy_train
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.util import load_config, registry
from thinc.api import Config

from spacy_crf.core.errors import CRFError, CRFWarning
from spacy_crf.corpora.reader import Corpus
from spacy_crf.lab.block import SELECTIONS
from spacy_crf.lab.evaluation import evaluate
from spacy_crf.lab.experiment import RunSettings, hold_out, make_system, run_experiment, train_on
from spacy_crf.lab.report import find_curves, summary_data, to_data
from spacy_crf.lab.results import Experiment, PartResult, compare_all, summarise
from spacy_crf.lab.sampling import CorpusLayout
from spacy_crf.lab.splits import SplitSettings, split_by
from spacy_crf.tagsets.report import report_sets


def run(config: Config, settings: SplitSettings, **options: Any) -> Experiment:
    return run_experiment({"ours": config}, settings, RunSettings(**options))


@pytest.fixture(scope="module")
def folds(config: Config) -> Experiment:
    return run(config, SplitSettings("kfold", folds=2))


@pytest.mark.parametrize(
    "name, score, overrides",
    [
        ("section_parser", "elements_acc", {"components.section_parser.learn_tree": False, "corpora.train.limit": 4}),
        ("punctuation_restorer", "word_acc", {"corpora.train.limit": 40, "corpora.dev.limit": 4}),
        ("constrained_ner", "tok_acc", {"components.constrained_ner.mine": None, "corpora.train.limit": 20}),
    ],
)
def test_components_whose_units_are_no_tokens_too(name: str, score: str, overrides: dict[str, Any]) -> None:
    data = str(ROOT / "corpus" / name / "dev")
    overrides |= {"paths.train": data, "paths.dev": data, "training.max_steps": 1}
    config = load_config(ROOT / "configs" / f"{name}.cfg", overrides, interpolate=False)
    (system,) = run(config, SplitSettings("kfold", folds=2)).systems
    for test in system.tests:
        weights = [document.tokens for document in test.documents]
        mean = np.average([document.scores[score] for document in test.documents], weights=weights)
        assert mean == pytest.approx(test.scores[score])


@pytest.mark.parametrize("name", ["frequency_tagger", "hmm_tagger", "memm_tagger", "constraint_decoder"])
def test_components_without_a_chain_too(name: str, tmp_path: Path) -> None:
    config = make_config(tmp_path)
    del config["components"]["set_valued_tagger"]
    tagger = "hmm_tagger" if name == "constraint_decoder" else name
    blocks = {tagger: {"factory": tagger}}
    if name != tagger:
        blocks[name] = {"factory": name, "source": tagger, "target": "tag", "constraints": []}
    config["components"], config["nlp"]["pipeline"], config["initialize"] = blocks, list(blocks), {}
    config["training"]["score_weights"] = {"tag_acc": 1.0}
    (system,) = run(config, SplitSettings("kfold", folds=2), component=name).systems
    assert system.component == name
    assert all(document.tokens for test in system.tests for document in test.documents)


def probabilities(nlp: Language, path: Path) -> list[Any]:
    examples = list(Corpus(path, format="tagsets")(nlp))
    return [doc._.tag_probs["values"] for doc in nlp.pipe(example.predicted for example in examples)]


def test_training_is_that_of_spacy_train(config: Config, folder: Path, tmp_path: Path) -> None:
    config.to_disk(tmp_path / "config.cfg")
    spacy_train(tmp_path / "config.cfg", tmp_path / "output")
    system = make_system("ours", config, RunSettings())
    layout = system.layout
    ours = train_on(system, np.arange(len(layout.lengths)), None)
    theirs = spacy.load(tmp_path / "output" / "model-best")
    for own, other in zip(probabilities(ours, folder / "dev"), probabilities(theirs, folder / "dev"), strict=True):
        assert np.array_equal(own, other)
    assert not SELECTIONS


def test_training_that_ends_before_its_second_evaluation_is_told(config: Config) -> None:
    early = config.copy()
    early["training"].update(max_steps=4, eval_frequency=4, patience=3)
    with pytest.warns(CRFWarning, match="CRFW771.*patience = 3.*eval_frequency is 4"):
        run(early, SplitSettings("kfold", folds=2))
    for patience in (0, 4):
        early["training"]["patience"] = patience
        run(early, SplitSettings("kfold", folds=2))
    early["training"]["patience"] = 3
    del early["training"]["eval_frequency"]  # which is 200 then
    with pytest.warns(CRFWarning, match="CRFW771.*patience = 3.*eval_frequency is 200"):
        run(early, SplitSettings("kfold", folds=2))


def test_training_on_few_texts_that_is_evaluated_once_is_told(config: Config) -> None:
    few = config.copy()
    few["training"].update(max_steps=0, max_epochs=3, patience=0, eval_frequency=50)
    with pytest.warns(CRFWarning, match=r"CRFW771.*max_epochs = 3 ends it after \d+ updates, and eval_frequency is 50"):
        run(few, SplitSettings("kfold", folds=2))
    few["training"]["eval_frequency"] = 1
    run(few, SplitSettings("kfold", folds=2))


@pytest.mark.parametrize("batcher", [None, {"@batchers": "theirs.v1"}])
@pytest.mark.parametrize("missing", ["", "patience", "train_corpus", "max_steps"])
def test_pipelines_learn_in_code_whatever_their_config_says_of_training(
    config: Config, missing: str, batcher: dict[str, str] | None
) -> None:
    """A saved pipeline may name what only the code of its training has registered."""
    nlp = init_nlp(config)
    settings = nlp.config["training"]
    settings.update(max_steps=0, max_epochs=3, patience=0, eval_frequency=50, batcher=batcher)
    settings.pop(missing, None)
    corpus = registry.resolve({"corpus": config.interpolate()["corpora"]["train"]})["corpus"]
    nlp.initialize(lambda: corpus(nlp))


@pytest.mark.parametrize("theirs", ["gold", "context"])
def test_punctuation_is_scored_as_in_the_dev_corpus(theirs: str, tmp_path: Path) -> None:
    config = make_config(tmp_path)
    for path in (tmp_path / "train").iterdir():
        path.write_text(path.read_text(encoding="utf8").replace("kumt\tV\n\n", "kumt\tV\n.\t$.\n\n"), encoding="utf8")
    text = {"@misc": "spacy_crf.HistoricalText.v1", "punctuation": "gold"}
    config["corpora"]["train"]["text"] = text
    config["corpora"]["dev"]["text"] = {**text, "punctuation": theirs}
    (system,) = run(config, SplitSettings("kfold", folds=2)).systems
    n_marks = sum(path.read_text(encoding="utf8").count("$.") for path in (tmp_path / "train").iterdir())
    n_tokens = sum(test.test_tokens for test in system.tests)
    n_scored = sum(document.tokens for test in system.tests for document in test.documents)
    assert n_marks and n_scored == n_tokens - (n_marks if theirs == "context" else 0)
    assert all(test.labels == 8 for test in system.tests)  # learned in any case


def test_the_scores_of_folds(folds: Experiment, config: Config, folder: Path) -> None:
    assert folds.documents == ("text0", "text1", "text2", "text3")
    (system,) = folds.systems
    assert system.component == "set_valued_tagger" and [test.split for test in system.tests] == ["fold 1", "fold 2"]
    tested = [document for test in system.tests for document in test.documents]
    assert sorted(document.name for document in tested) == sorted(folds.documents)
    for test in system.tests:
        assert test.test_tokens == sum(document.tokens for document in test.documents)
        assert test.train_tokens + test.test_tokens == sum(t.test_tokens for t in system.tests)
        # each document has one word that no other one has
        assert test.unknown_words == 2 / test.test_tokens
        weights = [document.tokens for document in test.documents]
        for name in ("ml_acc", "ml_util", "set_size", "set_coverage"):
            pooled = np.average([document.scores[name] for document in test.documents], weights=weights)
            assert pooled == pytest.approx(test.scores[name])


def test_documents_count_by_their_tokens_with_gold(tmp_path: Path) -> None:
    config = make_config(tmp_path)
    first = tmp_path / "train" / "text0.tsv"
    lines = first.read_text(encoding="utf8").split("\n")
    known, unknown = lines[:4], [line and line.split("\t")[0] + "\t_" for line in lines[4:]]
    first.write_text("\n".join([*known, *unknown]), encoding="utf8")
    found = run(config, SplitSettings("kfold", folds=2))
    (test,) = [test for test in found.systems[0].tests if "text0" in {document.name for document in test.documents}]
    weights = {document.name: document.tokens for document in test.documents}
    assert weights["text0"] == sum(map(bool, known))
    pooled = np.average([document.scores["ml_acc"] for document in test.documents], weights=[*weights.values()])
    assert pooled == pytest.approx(test.scores["ml_acc"])


def config_with_open_words(folder: Path) -> Config:
    """A config whose training documents have no gold for their first words."""
    config = make_config(folder)
    for path in (folder / "train").iterdir():
        first, *rest = path.read_text(encoding="utf8").split("\n")
        path.write_text("\n".join([first.split("\t")[0] + "\t", *rest]), encoding="utf8")
    return config


def test_sets_over_another_component_count_by_their_tokens_with_gold(tmp_path: Path) -> None:
    config = config_with_open_words(tmp_path)
    sets = {"factory": "set_valued_tagger", "source": "hmm_tagger"}
    config["components"] = {"hmm_tagger": {"factory": "hmm_tagger"}, "set_valued_tagger": sets}
    config["nlp"]["pipeline"], config["initialize"] = list(config["components"]), {}
    (system,) = run(config, SplitSettings("kfold", folds=2)).systems
    for test in system.tests:
        assert sum(document.tokens for document in test.documents) == test.test_tokens - 2
    assert summarise(system.tests)["ml_util"].interval is not None


def test_taggers_of_spacy_count_by_their_tokens_with_gold(tmp_path: Path) -> None:
    config = config_with_open_words(tmp_path)
    tok2vec = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1, "embed_size": 100, "window_size": 1}
    tok2vec |= {"maxout_pieces": 2, "subword_features": False, "pretrained_vectors": None}
    model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
    config["components"] = {"tagger": {"factory": "tagger", "model": model}}
    config["nlp"]["pipeline"], config["initialize"] = ["tagger"], {}
    config["training"]["score_weights"] = {"tag_acc": 1.0}
    (system,) = run(config, SplitSettings("kfold", folds=2)).systems
    for test in system.tests:
        assert sum(document.tokens for document in test.documents) == test.test_tokens - 2
    assert summarise(system.tests)["tag_acc"].interval is not None


def test_scores_are_those_of_the_same_pipeline_trained_by_hand(folds: Experiment, config: Config) -> None:
    system = make_system("ours", config, RunSettings())
    layout = system.layout
    test = folds.systems[0].tests[0]
    tested = {layout.names.index(document.name) for document in test.documents}
    is_test = np.isin(layout.documents, list(tested))
    nlp = train_on(system, np.flatnonzero(~is_test), None)
    examples = [example for _, example in system.source.read(nlp).take(np.flatnonzero(is_test))]
    scores = nlp.evaluate(examples)
    assert {name: scores[name] for name in test.scores} == pytest.approx(test.scores)
    pipe: Any = nlp.get_pipe("set_valued_tagger")
    trained = [example for _, example in system.source.read(nlp).take(np.flatnonzero(~is_test))]
    words = {token.text for example in trained for token in example.reference}
    for example, doc in zip(examples, nlp.pipe(example.predicted.copy() for example in examples)):
        example.predicted = doc
    report = report_sets(pipe, examples, words)
    found = evaluate(nlp, "set_valued_tagger", examples, [example.reference for example in trained])
    assert found.found.scores == pytest.approx({name: test.found.scores[name] for name in found.found.scores})
    assert found.found.scores.keys() | {"crf_score"} >= test.found.scores.keys()
    assert found.found.confusions == test.found.confusions and found.unknown_words == test.unknown_words
    assert test.labels == report.labels and test.unknown_words == report.unknown_words
    assert test.found.scores["ml_acc_known"] == pytest.approx(report.ml_acc_known)
    assert test.found.scores["ml_acc_unknown"] == pytest.approx(report.ml_acc_unknown)
    assert test.found.curves["ml_util by beta"][1.0] == pytest.approx(report.ml_util)
    assert test.found.curves["set_size by beta"][1.0] == pytest.approx(report.size)


def test_an_experiment_is_the_same_again(folds: Experiment, config: Config) -> None:
    again = run(config, folds.settings)
    assert again.systems == folds.systems


@pytest.mark.slow
def test_processes_find_the_same(folds: Experiment, config: Config) -> None:
    assert run(config, folds.settings, jobs=2).systems == folds.systems


def test_a_process_that_was_ended_is_told(folds: Experiment, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    class EndedPool(ProcessPoolExecutor):
        def map(self, *arguments: Any, **settings: Any) -> Any:
            raise BrokenProcessPool

    monkeypatch.setattr("spacy_crf.lab.experiment.ProcessPoolExecutor", EndedPool)
    with pytest.raises(CRFError, match=r"CRF888.*--jobs"):
        run(config, folds.settings, jobs=2)


def test_results_are_data(folds: Experiment) -> None:
    data = json.loads(json.dumps(to_data(folds)))
    assert data["settings"]["kind"] == "kfold" and data["settings"]["by"] == "document"
    (system,) = data["systems"]
    assert len(system["tests"]) == 2 and {"split", "labels", "unknown_words"} <= set(system["tests"][0])
    assert sum(count for test in system["tests"] for _, _, count in test["confusions"]) == sum(
        test["test_tokens"] for test in system["tests"]
    )
    (group,) = system["groups"]
    assert group["scores"]["ml_acc"]["interval"]["documents"] == 4
    assert {curve.name for curve in find_curves(folds)} == {"ml_util_by_beta", "set_size_by_beta"}


def test_parts_of_documents_and_tests_that_share_a_model(config: Config) -> None:
    found = run(config, SplitSettings("robustness", "sentence", test_share=0.4))
    tests = found.systems[0].tests
    assert [test.test for test in tests] == list(found.documents) and len({test.seconds for test in tests}) == 1
    assert len({test.train_tokens for test in tests}) == 1


def test_a_learning_curve_and_pruning_have_lines(config: Config) -> None:
    found = run(config, SplitSettings("curve", test_share=0.25, fractions=(0.5, 1.0)))
    assert list(found.systems[0].groups) == [("", 0.5), ("", 1.0)]
    curves = {curve.name: curve for curve in find_curves(found)}
    assert [x for x, _ in curves["ml_acc_by_fraction"].lines["ours"]] == [0.5, 1.0]
    pruned = run(config, SplitSettings("pruning", fractions=(0.4,), least_tokens=25), grams="words")
    assert {test.fraction for test in pruned.systems[0].tests} == {0.4}


def test_sentences_are_checked_in_turn(config: Config) -> None:
    """All orders begin with the same sentences and end with all; what is checked between is their own choice."""
    found = run(config, SplitSettings("active", "sentence", test_share=0.3, fractions=(0.3, 0.6, 1.0), seed=3))
    groups = found.systems[0].groups
    assert list(groups) == [(order, share) for order in ("gain", "random", "uncertain") for share in (0.3, 0.6, 1.0)]
    first, _, last = ([tests[0] for (_, own), tests in groups.items() if own == share] for share in (0.3, 0.6, 1.0))
    for same in (first, last):
        assert len({(test.train_tokens, *test.scores.items()) for test in same}) == 1
    whole = last[0].train_tokens
    for (_, share), (test,) in groups.items():
        assert share * whole <= test.train_tokens <= share * whole + 12
    curves = {curve.name: curve for curve in find_curves(found)}
    assert set(curves["ml_acc_by_fraction"].lines) == {f"ours, {order}" for order in ("gain", "random", "uncertain")}


def test_what_is_uncertain_is_asked_of_a_chain(config: Config) -> None:
    changed = config.copy()
    changed["components"] = {"frequency_tagger": {"factory": "frequency_tagger"}}
    changed["nlp"]["pipeline"], changed["initialize"] = ["frequency_tagger"], {}
    changed["training"]["score_weights"] = {"tag_acc": 1.0}
    with pytest.raises(ValueError, match="CRF690.*frequency_tagger"):
        run(changed, SplitSettings("active", "sentence", test_share=0.3, fractions=(0.3, 0.6)))


@pytest.mark.filterwarnings("ignore:.*CRFW468")  # of several gold tags, one is learned
def test_another_component(config: Config, folder: Path) -> None:
    """A crf_tagger has no sets; its scores and confusions are there all the same."""
    changed = config.copy()
    block = changed["components"].pop("set_valued_tagger")
    kept = {name: block[name] for name in ("features", "trainer", "model", "target")}
    changed["components"]["crf_tagger"] = {"factory": "crf_tagger", **kept}
    changed["nlp"]["pipeline"] = ["crf_tagger"]
    changed["initialize"] = {}
    changed["training"]["score_weights"] = {"tag_acc": 1.0}
    found = run_experiment({"sets": config, "tags": changed}, SplitSettings("monte-carlo", test_share=0.5))
    sets, tags = (system.tests[0] for system in found.systems)
    assert "set_size" in sets.scores and "set_size" not in tags.scores and not tags.found.curves
    assert tags.scores["tag_acc"] == sum(
        count for (gold, predicted), count in tags.found.confusions.items() if gold == predicted
    ) / sum(tags.found.confusions.values())
    assert [difference["score"] for difference in to_data(found)["differences"]] == ["tag_acc"]


def test_a_part_of_the_training_part_takes_the_place_of_the_dev_corpus(config: Config) -> None:
    seen: list[PartResult] = []
    with_dev = run_experiment(
        {"ours": config},
        SplitSettings("kfold", folds=2),
        RunSettings(with_dev=True, dev_share=0.4),
        lambda name, number, count, results: seen.extend(results),
    )
    assert len(with_dev.documents) == 5 and with_dev.documents[0] == "text0 (corpus 1)"
    assert seen == with_dev.systems[0].tests
    total = sum(test.test_tokens for test in seen)
    assert all(test.train_tokens < total - test.test_tokens for test in seen)


@pytest.mark.parametrize("by", ["document", "sentence", "chunk"])
def test_what_is_held_out_is_not_trained_on(by: Any) -> None:
    layout = CorpusLayout(("a", "b", "c"), np.repeat(np.arange(3), 10), np.full(30, 4))
    split = split_by("", np.arange(30) >= 20)
    train, dev = hold_out(layout, split, by, 0.3, 0)
    assert sorted([*train.tolist(), *dev.tolist()]) == list(range(20)) and len(dev) in (6, 10)
    if by == "document":
        assert len(set(layout.documents[dev].tolist())) == 1 and len(dev) == 10
    one = replace(split, train=np.arange(10))
    assert len(hold_out(layout, one, "document", 0.3, 0)[1]) == 3


def test_what_is_wrong_is_told_before_training(config: Config, folder: Path) -> None:
    plain = SplitSettings("kfold", folds=2)
    with pytest.raises(ValueError, match="CRF624"):
        run(config, plain, with_dev=True, dev_share=0.0)
    with pytest.raises(ValueError, match=r"CRF621.*'ner'.*set_valued_tagger"):
        run(config, plain, component="ner")
    with pytest.raises(ValueError, match="CRF625"):
        run(config, SplitSettings("size", least_tokens=0))
    other = config.copy()
    other["paths"]["train"] = str(folder / "dev")
    with pytest.raises(ValueError, match="CRF626"):
        run_experiment({"ours": config, "other": other}, plain)
    other = config.copy()
    other["corpora"]["train"]["augmenter"] = {"@augmenters": "spacy.lower_case.v1", "level": 0.5}
    with pytest.raises(ValueError, match=r"CRF550.*corpora\.train"):
        run(other, plain)


def test_a_split_that_fails_has_a_name(config: Config, tmp_path: Path) -> None:
    broken = config.copy()
    broken["paths"]["dev"] = str(tmp_path / "dev.tsv")
    (tmp_path / "dev.tsv").write_text("one\ttwo\tthree\n", encoding="utf8")
    with pytest.raises(ValueError, match=r"CRF622.*ours.*'fold 1'.*CRF567"):
        run(broken, SplitSettings("kfold", folds=2))
    assert not SELECTIONS


def test_documents_without_gold_are_tested_in_company_only(config: Config, tmp_path: Path) -> None:
    changed = config.copy()
    changed["paths"]["train"] = str(write_documents(tmp_path / "train", 3))
    (tmp_path / "train" / "none.tsv").write_text("he\t_\nkumt\t_\n", encoding="utf8")
    found = run(changed, SplitSettings("kfold", folds=2))
    scored = [document.name for test in found.systems[0].tests for document in test.documents]
    assert sorted(scored) == ["text0", "text1", "text2"] and "none" in found.documents
    with pytest.warns(CRFWarning, match="CRFW680.* 1 of 4 .*: fold"):
        alone = run_experiment({"ours": changed, "theirs": changed}, SplitSettings("kfold", folds=4))
    tests = alone.systems[0].tests
    scores = [test.scores["ml_acc"] for test in tests if test.scores]
    assert [len(test.documents) for test in tests if not test.scores] == [0] and len(scores) == 3
    spread = summarise(tests, kind="kfold")["ml_acc"]
    assert spread.n == 3 and spread.mean == pytest.approx(np.mean(scores))
    unknown = [test.unknown_words for test in tests]
    assert unknown.count(None) == 1  # what has no gold is not tested, so that nothing is known or unknown
    mean = np.mean([one for one in unknown if one is not None])
    assert summary_data(alone)["unknown_words"] == pytest.approx(mean, abs=1e-6)
    (found,) = [one for one in compare_all(alone) if one.score == "ml_acc"]
    assert found.first_mean == pytest.approx(np.mean(scores)) and found.resampled and found.resampled.n == 3
    (tmp_path / "train" / "none.tsv").write_text("he\t_\n" * 200, encoding="utf8")
    with pytest.raises(ValueError, match="CRF623.*'none'"):
        run(changed, SplitSettings("size", least_tokens=150))


def test_parts_where_one_of_two_systems_has_no_score_are_told(tmp_path: Path) -> None:
    for name, person in (("a", "B-PER"), ("b", "B-PER"), ("c", "O")):
        (tmp_path / f"{name}.conll").write_text(f"Anna\t{person}\nsails\tO\n\n" * 2, encoding="utf8")
    columns = {f"corpora.{part}.columns": ["word", "ner"] for part in ("train", "dev")}
    overrides = {"paths.train": str(tmp_path), "paths.dev": str(tmp_path), "training.max_steps": 1, **columns}
    path = ROOT / "configs" / "crf_tagger_ent.cfg"
    configs = {
        name: load_config(path, overrides | {"components.crf_tagger.threshold": threshold}, interpolate=False)
        for name, threshold in (("any", 0.01), ("sure", 1.0))
    }
    compared = pytest.warns(CRFWarning, match="CRFW691.* any and sure: 1 of 3 .*ents_f.*: c.")
    with pytest.warns(CRFWarning, match="CRFW680.* sure: 1 of 3"), compared:
        found = run_experiment(configs, SplitSettings("cross-domain"))
    (score,) = [one for one in compare_all(found) if one.score == "ents_f"]
    assert score.first_mean > score.second_mean == 0 and score.resampled and score.resampled.n == 2


def test_figures_are_json_where_systems_do_not_differ(config: Config) -> None:
    found = run_experiment({"ours": config, "theirs": config}, SplitSettings("kfold", folds=2))
    for data in (to_data(found), summary_data(found)):
        first = json.loads(json.dumps(data, allow_nan=False))["differences"][0]
        assert first["resampled"]["p"] == 1 and "t" not in first["resampled"]
