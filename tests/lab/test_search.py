"""The search itself on made-up scores, and trials through spaCy's loop."""

import json
import shutil
import sys
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from helpers.paths import ROOT
from optuna.storages import RDBStorage
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from spacy_crf.core.errors import CRFWarning
from spacy_crf.lab import search as search_module
from spacy_crf.lab.search import ConfigSearch, SearchResult, SearchSettings
from spacy_crf.lab.space import parse_space
from spacy_crf.lab.training import Evaluation, kept, train_config

SETTINGS = {"x": {"low": 0.0, "high": 1.0}, "y": {"low": 1, "high": 9}, "z": ["a", "b"]}
SPACE = parse_space({"settings": SETTINGS})
EVALUATIONS = 3


class Made:
    """Candidates that are their values."""

    component = None

    def make(self, values: Any) -> Any:
        return dict(values)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The configs that were trained: scores rise to a peak at x = 0.3, y = 4, z = "b"."""
    done: list[dict[str, Any]] = []

    def run(config: dict[str, Any], tell: Any) -> Evaluation:
        done.append(config)
        if config.get("fails"):
            raise ValueError("a bad value")
        value = 1 - abs(config["x"] - 0.3) - abs(config["y"] - 4) / 10 - 0.2 * (config["z"] == "a")
        value -= 0.01 * config.get("fold", 0)
        found = []
        for step in range(EVALUATIONS):
            score = value * (step + 1) / EVALUATIONS
            found.append(Evaluation(step, score, {"acc": score, "loss": -score, "per_tag": {}, "none": None}))
            tell(found[-1])
        return kept(found)

    monkeypatch.setattr(search_module, "train_config", run)
    monkeypatch.setattr(search_module, "with_fold", lambda config, folds, fold, seed: {**config, "fold": fold})
    return done


def find(trials: int, storage: Path | None = None, space: Any = SPACE, **settings: Any) -> SearchResult:
    return ConfigSearch(Made(), space, SearchSettings(**settings), storage, {"config": "c"}).run(trials)  # type: ignore[arg-type]


def tried(found: SearchResult) -> list[Any]:
    return [(trial.values, trial.score, trial.state) for trial in found.trials]


def test_good_values_are_found_and_the_best_is_first(trained: Any) -> None:
    found = find(30)
    assert len(found.trials) == 30 and found.best.score == max(trial.score or 0 for trial in found.trials)
    assert (found.best.score or 0) > 0.9 and found.best.values["z"] == "b"
    assert [trial.score for trial in found.ranked] == sorted((trial.score for trial in found.ranked), reverse=True)
    assert sum(found.importances.values()) == pytest.approx(1.0) and set(found.importances) == {"x", "y", "z"}
    assert found.best.scores["acc"] == found.best.score and "per_tag" not in found.best.scores
    assert find(30, seed=1).trials != found.trials and tried(find(30)) == tried(found)
    data = found.to_data()
    assert data["best"]["values"] == found.best.values and len(data["trials"]) == 30


def test_hopeless_trials_are_given_up(trained: Any) -> None:
    found = find(25)
    pruned = [trial for trial in found.trials if trial.state == "pruned"]
    assert pruned and all(trial.score is None and trial.steps < EVALUATIONS for trial in pruned)
    assert not any(trial.state == "pruned" for trial in found.trials[:5])
    assert all(trial.steps == EVALUATIONS for trial in find(25, prune=False).trials)
    late = [trial for trial in find(25, warmup=2).trials if trial.state == "pruned"]
    assert all(trial.steps > 2 for trial in late)


def test_a_score_of_folds_is_their_mean(trained: Any) -> None:
    found = find(12, folds=3)
    best = found.best
    assert best.folds == pytest.approx([best.folds[0] - 0.01 * fold for fold in range(3)])
    assert best.score == pytest.approx(sum(best.folds) / 3) == pytest.approx(best.scores["acc"])
    assert best.steps == 3 * EVALUATIONS
    pruned = [trial for trial in found.trials if trial.state == "pruned"]
    assert pruned and all(trial.steps in (EVALUATIONS, 2 * EVALUATIONS) for trial in pruned)


def test_folds_with_nothing_to_judge_are_in_no_mean(trained: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(config: dict[str, Any], tell: Any) -> Evaluation:
        is_empty = config["fold"] == 1 and config["z"] == "b"
        # with "a", a label is found where there is none in the gold
        value = 0.0 if config["fold"] == 1 else 1 - abs(config["x"] - 0.3) - 0.1 * (config["z"] == "b")
        found = Evaluation(0, value, {} if is_empty else {"acc": value}, is_judged=not is_empty)
        tell(found)
        return found

    monkeypatch.setattr(search_module, "train_config", run)
    for score in (None, "acc"):
        with pytest.warns(CRFWarning, match=f"CRFW692.*{score or 'weighted score'}.*: 2. "):
            found = find(8, folds=3, prune=False, score=score)
        for trial in found.trials:
            x, z = trial.values["x"], trial.values["z"]
            assert trial.folds[1] == (None if z == "b" else 0.0)
            assert trial.score == pytest.approx(1 - abs(float(x) - 0.3) - 0.1 * (z == "b"))
        assert {trial.values["z"] for trial in found.trials} == {"a", "b"}

    def lack(config: dict[str, Any], tell: Any) -> Evaluation:
        is_empty = config["fold"] == (1 if config["z"] == "b" else 0)
        return Evaluation(0, 0.0, {}, is_judged=not is_empty)

    monkeypatch.setattr(search_module, "train_config", lack)
    with pytest.raises(ValueError, match="CRF693.*1, 2"):
        find(8, folds=2, prune=False)
    monkeypatch.setattr(search_module, "train_config", lambda *_: Evaluation(0, 0.0, {}, is_judged=False))
    with pytest.raises(ValueError, match="CRF633.*score_weights"):
        find(8, folds=2)


def test_the_least_of_a_score_may_be_looked_for(trained: Any) -> None:
    found = find(30, score="loss", minimise=True)
    assert found.best.score == min(trial.score for trial in found.trials if trial.score is not None)
    assert (found.best.score or 0) < -0.85


@pytest.mark.parametrize("broken_off", [False, True])
def test_a_search_that_is_taken_up_again_goes_on_as_if_nothing_had_happened(
    trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken_off: bool
) -> None:
    whole, storage = find(13), tmp_path / "search.db"
    first = find(8, storage)
    assert tried(first) == tried(whole)[:8]
    if broken_off:

        def interrupt(config: Any, tell: Any) -> Evaluation:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(search_module, "train_config", interrupt)
            with pytest.raises(KeyboardInterrupt):
                find(13, storage)
    before = len(trained)
    assert tried(find(13, storage)) == tried(whole)
    assert len(trained) == before + 5
    assert tried(find(13, storage)) == tried(whole) and len(trained) == before + 5


class Killed(BaseException):
    """What ends a process."""


@pytest.mark.parametrize("folds", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_search_that_is_killed_between_two_writes_goes_on_as_if_nothing_had_happened(
    trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folds: int
) -> None:
    names = [name for name in vars(RDBStorage) if name.startswith(("set_", "create_", "delete_"))]
    left = 0

    def write(self: Any, *args: Any, write: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return write(self, *args, **kwargs)

    whole = find(7, folds=folds)
    costs = []  # how often was trained, for each moment
    find(6, tmp_path / "begun.db", folds=folds)
    for writes in range(1000):
        storage, before = tmp_path / f"{writes}.db", len(trained)
        shutil.copy(tmp_path / "begun.db", storage)
        with monkeypatch.context() as patch:
            left = writes
            for name in names:
                patch.setattr(RDBStorage, name, partialmethod(write, write=getattr(RDBStorage, name)))
            try:
                find(7, storage, folds=folds)
                break
            except (Killed, UnboundLocalError):  # which Optuna stumbles over then
                pass
        assert tried(find(7, storage, folds=folds)) == tried(whole)
        costs.append(len(trained) - before)
    once = len(trained) - before
    assert len(costs) >= 5 and costs[0] == costs[-1] == once and max(costs) <= 2 * once


def test_a_search_that_is_interrupted_behind_a_write_goes_on_as_if_nothing_had_happened(
    trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Ctrl-C, at which Optuna lets a trial fail whose outcome may be kept."""
    names = [name for name in vars(RDBStorage) if name.startswith(("set_", "create_", "delete_"))]
    left = 0

    def write(self: Any, *args: Any, write: Any, **kwargs: Any) -> Any:
        nonlocal left
        done = write(self, *args, **kwargs)
        left -= 1
        if left == 0:
            raise KeyboardInterrupt
        return done

    whole = find(7)
    find(6, tmp_path / "begun.db")
    for writes in range(1, 1000):
        storage = tmp_path / f"{writes}.db"
        shutil.copy(tmp_path / "begun.db", storage)
        with monkeypatch.context() as patch:
            left = writes
            for name in names:
                patch.setattr(RDBStorage, name, partialmethod(write, write=getattr(RDBStorage, name)))
            try:
                find(7, storage)
                break
            except (KeyboardInterrupt, UnboundLocalError):  # which Optuna stumbles over then
                pass
        assert tried(find(7, storage)) == tried(whole)
    assert writes >= 5


def test_the_start_comes_first(trained: Any, tmp_path: Path) -> None:
    space = parse_space({"settings": SETTINGS, "start": {"x": 0.25, "z": "b"}})
    for _ in range(2):
        found = find(2, tmp_path / "a.db", space)
        assert found.trials[0].values["x"] == 0.25 and found.trials[0].values["z"] == "b"
        assert found.trials[1].values["x"] != 0.25


@pytest.mark.parametrize("change", [{"seed": 1}, {"folds": 2}, {"score": "acc"}, {"config": "d"}])
def test_another_search_is_not_mixed_in(trained: Any, tmp_path: Path, change: dict[str, Any]) -> None:
    find(2, tmp_path / "a.db")
    (name,) = change
    identity = {"config": change.pop("config", "c")}
    with pytest.raises(ValueError, match=rf"CRF634.*a\.db.*another {name}"):
        ConfigSearch(Made(), SPACE, SearchSettings(**change), tmp_path / "a.db", identity)  # type: ignore[arg-type]


def test_a_storage_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_text("not a database, but long enough to be taken for one by its name " * 10, encoding="utf8")
    with pytest.raises(ValueError, match=r"CRF634.*a\.db"):
        find(1, path)
    with pytest.raises(ValueError, match="CRF634"):
        find(1, tmp_path)


def test_failures(trained: Any) -> None:
    space = parse_space({"settings": SETTINGS, "start": {"z": "b"}})

    class Failing(Made):
        def make(self, values: Any) -> Any:
            return {"x": 0.3, "y": 4, "z": "b", "fails": values["z"] == "a"}

    found = ConfigSearch(Failing(), space, SearchSettings()).run(12)  # type: ignore[arg-type]
    failed = [trial for trial in found.trials if trial.state == "failed"]
    assert failed and all(trial.error == "a bad value" and trial.score is None for trial in failed)
    assert found.best.state == "complete"

    class AllFailing(Made):
        def make(self, values: Any) -> Any:
            return {**values, "fails": True}

    with pytest.raises(ValueError, match=r"CRF637.*Trial 0.*a bad value"):
        ConfigSearch(AllFailing(), space, SearchSettings()).run(12)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"CRF633.*'tag_acc'.*acc, loss"):
        find(2, score="tag_acc")


def test_settings_that_have_no_meaning(trained: Any) -> None:
    for settings, name in (({"folds": 1}, "folds"), ({"folds": -1}, "folds"), ({"warmup": -1}, "warmup")):
        with pytest.raises(ValueError, match=f"CRF636.*{name}"):
            find(1, **settings)
    with pytest.raises(ValueError, match="CRF636.*trials"):
        find(0)


def test_no_trial_begins_after_the_timeout(trained: Any) -> None:
    found = ConfigSearch(Made(), SPACE, SearchSettings()).run(50, timeout=0.0)  # type: ignore[arg-type]
    assert len(found.trials) == 1 and found.importances == {}


def test_without_optuna_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ValueError, match=r"CRF630.*spacy_crf\[search\]"):
        find(1)


# -- trials -----------------------------------------------------------------------------------------------------


def test_the_last_of_equal_scores_is_kept() -> None:
    found = [Evaluation(step, score, {}) for step, score in enumerate([0.1, 0.5, 0.3, 0.5, 0.2])]
    assert kept(found).step == 3


def test_a_trial_scores_what_spacy_train_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    overrides = {"training.max_steps": 2, "components.crf_tagger.trainer.iterations_per_step": 2}
    config = load_config(ROOT / "configs" / "crf_tagger.cfg", overrides=overrides)
    seen: list[Evaluation] = []
    best = train_config(config, seen.append)
    assert [evaluation.step for evaluation in seen] == [0, 1, 2] and best in seen
    config["training"]["logger"] = {"@loggers": "spacy_crf.trial_logger.v1"}  # quiet with any other output, too
    train(init_nlp(config), tmp_path)
    meta = json.loads((tmp_path / "model-best" / "meta.json").read_text(encoding="utf8"))
    assert best.get("tag_acc") == best.scores["tag_acc"] == pytest.approx(meta["performance"]["tag_acc"], abs=1e-9)
    assert best.get(None) == best.score and best.get("other") is None
