"""Search for settings with Optuna: tree-structured Parzen estimators (Bergstra et al. 2011), hopeless trials pruned.

The only module that knows Optuna, which is an optional extra.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import CRFError
from ..errors import LabErrors
from ..folds import with_fold
from .candidates import Candidates
from .outcome import Outcome, numbers
from .search_results import SearchResult, State, TrialResult
from .space import Number, SearchSpace, Value
from .trial import Evaluation, kept, run_trial

STUDY = "spacy_crf"
UNPRUNED = 5  # trials that pruning needs to compare with
FOUND = "found"  # attribute of a trial: what the study itself does not keep
Report = Callable[[float, int], None]


class SearchSettings(NamedTuple):
    """How to search.

    score (str | None): one of the scores of the pipeline; None for the weighted one of `score_weights`.
    minimise (bool): look for the least score.
    folds (int): score by cross-validation over the documents of the training corpus; 0: on the dev corpus.
    seed (int): of the draw of values and of folds. Training has the seed of the config.
    prune (bool): give up trials whose score is below the median of the earlier ones: at the same step of training, or
        with folds, after the same number of them.
    warmup (int): steps, or folds, before a trial may be given up.
    """

    score: str | None = None
    minimise: bool = False
    folds: int = 0
    seed: int = 0
    prune: bool = True
    warmup: int = 0


class Search:
    """Searches a space, and goes on with a search that was broken off.

    The values of a trial follow from the seed and the trials before it, so that a search that is taken up again finds
    what it would have found in one go, if training is reproducible.

    candidates (Candidates): what makes configs. space (SearchSpace): what is searched. settings (SearchSettings): how.
    storage (Path | None): an SQLite file that keeps the trials; None for memory.
    identity (dict): what must be the same for a search to be gone on with, beside the settings.
    RAISES (ValueError): without Optuna, for settings that have no meaning, and for a storage that is damaged, or that
        holds another search.
    """

    def __init__(
        self,
        candidates: Candidates,
        space: SearchSpace,
        settings: SearchSettings,
        storage: Path | None = None,
        identity: Mapping[str, Any] | None = None,
    ):
        self._optuna = _import_optuna()
        for name, value, least in (("folds", settings.folds, 2), ("warmup", settings.warmup, 0)):
            if value < least and (name, value) != ("folds", 0):
                raise CRFError(LabErrors.CRF636.format(name=name, value=value, least=least))
        self._candidates, self._space, self._settings = candidates, space, settings
        self._study = self._open(storage, {**settings._asdict(), **(identity or {})})

    def run(
        self,
        trials: int,
        timeout: float | None = None,
        on_result: Callable[[TrialResult], None] | None = None,
    ) -> SearchResult:
        """Try until there are so many trials, those of an earlier run counted.

        trials (int): complete, pruned and failed ones. timeout (float | None): seconds after which no trial begins.
        on_result (Callable | None): told of each trial when it is done.
        RETURNS (SearchResult): all trials.
        RAISES (ValueError): where a trial fails before any has succeeded: all would.
        """
        if trials < 1:
            raise CRFError(LabErrors.CRF636.format(name="trials", value=trials, least=1))
        with _quiet(self._optuna):
            started = time.monotonic()
            self._forget_broken()
            while len(done := self._done()) < trials:
                if done and timeout is not None and time.monotonic() - started >= timeout:
                    break
                result = self._try(len(done))
                if on_result is not None:
                    on_result(result)
                if result.error and not any(trial.score is not None for trial in done):
                    break
            found = SearchResult(self._settings.score, self._settings.minimise, self._done(), self._importances())
        if not found.ranked:
            raise CRFError(LabErrors.CRF637.format(number=len(found.trials) - 1, error=found.trials[-1].error))
        return found

    # -- one trial -------------------------------------------------------------------------------------------

    def _try(self, number: int) -> TrialResult:
        study, states = self._study, self._optuna.trial.TrialState
        seed = int(np.random.SeedSequence([self._settings.seed, number]).generate_state(1)[0])
        study.sampler = self._optuna.samplers.TPESampler(seed=seed, constant_liar=False)
        if not number and self._space.start and not study.get_trials(deepcopy=False, states=(states.WAITING,)):
            study.enqueue_trial(dict(self._space.start))
        trial = study.ask()
        values = {name: self._suggest(trial, name) for name in self._space.parameters}
        outcome, started = Outcome(), time.perf_counter()

        def report(score: float, step: int) -> None:
            trial.report(score, step)
            if self._settings.prune and trial.should_prune():
                raise self._optuna.TrialPruned

        state, error = states.COMPLETE, ""
        try:
            self._score(values, outcome, report)
        except self._optuna.TrialPruned:
            state = states.PRUNED
        except ValueError as problem:
            state, error = states.FAIL, str(problem)
        except _NoScore as problem:
            study.tell(trial, state=states.FAIL)
            raise ValueError(str(problem)) from problem
        found = {"number": number, "values": values, **outcome.to_data(), "error": error}
        trial.set_user_attr(FOUND, {**found, "seconds": time.perf_counter() - started})
        study.tell(trial, outcome.score if state == states.COMPLETE else None, state=state)
        return self._done()[-1]

    def _suggest(self, trial: Any, name: str) -> Value:
        parameter = self._space.parameters[name]
        value: Value
        if not isinstance(parameter, Number):
            value = trial.suggest_categorical(name, list(parameter.options))
        elif parameter.is_whole:
            value = trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log)
        else:
            value = trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)
        return value

    def _score(self, values: Mapping[str, Value], outcome: Outcome, report: Report) -> None:
        """Train with the values and score, on the dev corpus or on each fold."""
        config, settings = self._candidates.make(values), self._settings
        found: list[Evaluation] = []

        def listen(evaluation: Evaluation) -> None:
            outcome.steps += 1
            found.append(evaluation)
            score = self._read_score(kept(found))
            if not settings.folds:
                report(score, evaluation.step)

        if not settings.folds:
            best = run_trial(config, listen)
            outcome.add(self._read_score(best), best)
        for fold in range(settings.folds):
            found.clear()  # what is kept is the best of this fold
            best = run_trial(with_fold(config, settings.folds, fold, settings.seed), listen)
            outcome.add(self._read_score(best), best)
            if fold + 1 < settings.folds:
                report(outcome.score, fold)

    def _read_score(self, evaluation: Evaluation) -> float:
        value = evaluation.get(self._settings.score)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _NoScore(LabErrors.CRF633.format(name=self._settings.score, known=", ".join(numbers(evaluation))))
        return float(value)

    # -- the study -------------------------------------------------------------------------------------------

    def _open(self, storage: Path | None, identity: dict[str, Any]) -> Any:
        optuna, settings = self._optuna, self._settings
        identity = json.loads(json.dumps(identity, default=str))
        direction = "minimize" if settings.minimise else "maximize"
        pruner = optuna.pruners.MedianPruner(n_startup_trials=UNPRUNED, n_warmup_steps=settings.warmup)
        path = None if storage is None else f"sqlite:///{storage}"
        with _quiet(optuna):
            try:
                study = optuna.create_study(
                    storage=path, pruner=pruner, study_name=STUDY, direction=direction, load_if_exists=True
                )
            except Exception as error:  # of Optuna, of SQLAlchemy or of SQLite
                raise CRFError(LabErrors.CRF634.format(path=storage, problem=str(error).split("\n")[0])) from error
            begun = study.user_attrs.get("identity", identity)
            for name, value in identity.items():
                if begun.get(name) != value:
                    problem = f"it was begun with another {name}"
                    raise CRFError(LabErrors.CRF634.format(path=storage, problem=problem))
            study.set_user_attr("identity", identity)
        return study

    def _forget_broken(self) -> None:
        """A trial that an earlier run was in the middle of is begun anew under its number."""
        states = self._optuna.trial.TrialState
        for trial in self._study.get_trials(deepcopy=False, states=(states.RUNNING,)):
            self._study.tell(trial.number, state=states.FAIL)

    def _done(self) -> list[TrialResult]:
        return [_result(trial) for trial in self._study.get_trials(deepcopy=False) if _is_done(trial)]

    def _importances(self) -> dict[str, float]:
        """By PED-ANOVA (Watanabe et al. 2023), which is cheap."""
        complete = self._study.get_trials(deepcopy=False, states=(self._optuna.trial.TrialState.COMPLETE,))
        if len({trial.value for trial in complete}) < 2:
            return {}
        evaluator = self._optuna.importance.PedAnovaImportanceEvaluator()
        found = self._optuna.importance.get_param_importances(self._study, evaluator=evaluator)
        return {name: float(value) for name, value in found.items()}


class _NoScore(Exception):
    """A score that does not exist. No trial could have it, so that it ends the search."""


def _is_done(trial: Any) -> bool:
    return trial.state.is_finished() and FOUND in trial.user_attrs


def _result(trial: Any) -> TrialResult:
    state: dict[str, State] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
    name = state[trial.state.name]
    return TrialResult(state=name, score=trial.value if name == "complete" else None, **trial.user_attrs[FOUND])


def _import_optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise CRFError(LabErrors.CRF630) from error
    return optuna


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without Optuna's own log, which tells each trial once more."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
