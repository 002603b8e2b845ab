"""Search for settings with Optuna: tree-structured Parzen estimators (Bergstra et al. 2011), hopeless trials pruned.

Storage, sampler, pruner and loop are Optuna's, an optional extra that no other module knows.
"""

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np

from ..core.errors import CRFError, CRFWarning, required
from .errors import LabErrors
from .space import Candidates, Choice, Parameter, SearchSpace, Value
from .statistics import shared_means
from .training import Evaluation, kept, train_config, with_fold

STUDY = "spacy_crf"
UNPRUNED = 5  # trials that pruning needs to compare with
FOUND = "found"  # attribute of a trial: what the study itself does not keep
State = Literal["complete", "pruned", "failed"]
STATES: dict[str, State] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}


@dataclass(frozen=True)
class TrialResult:
    """One trial.

    state (str): "pruned" trials were given up as hopeless, "failed" ones ended in an error.
    score (float | None): what is searched by, the mean of the folds if there are any; None unless complete.
    folds (list[float | None]): None for one that has nothing to judge. It is in the mean of no trial.
    scores (dict[str, float]): all scores; means of the folds if there are any.
    steps (int): evaluations of the training loop.
    """

    number: int
    state: State
    values: dict[str, Value]
    score: float | None
    folds: list[float | None]
    scores: dict[str, float]
    steps: int
    seconds: float
    error: str


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search by a score, None for the weighted one.

    importances (dict[str, float]): share of each parameter in what sets good trials apart, the greatest first; empty
        where there are too few trials.
    """

    score: str | None
    minimise: bool
    trials: list[TrialResult]
    importances: dict[str, float]

    @property
    def ranked(self) -> list[TrialResult]:
        """Complete trials, the best first; of equal ones the earlier."""
        sign = 1 if self.minimise else -1
        complete = [trial for trial in self.trials if trial.score is not None]
        return sorted(complete, key=lambda trial: (sign * (trial.score or 0.0), trial.number))

    @property
    def best(self) -> TrialResult:
        return self.ranked[0]

    def to_data(self) -> dict[str, Any]:
        return {**asdict(self), "best": asdict(self.best)}


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


class ConfigSearch:
    """Searches a space, and goes on with a search that was broken off.

    The values of a trial follow from the seed and the trials before it, so that a search that is taken up again finds
    what it would have found in one go, if training is reproducible.

    storage (Path | None): an SQLite file that keeps the trials; None for memory.
    identity (dict): what must be the same for a search to be gone on with, beside the settings.
    """

    def __init__(
        self,
        candidates: Candidates,
        space: SearchSpace,
        settings: SearchSettings,
        storage: Path | None = None,
        identity: Mapping[str, Any] | None = None,
    ):
        with required(LabErrors.CRF630):
            import optuna
        self._optuna = optuna
        for name, value, least in (("folds", settings.folds, 2), ("warmup", settings.warmup, 0)):
            if value < least and (name, value) != ("folds", 0):
                raise CRFError(LabErrors.CRF636.format(name=name, value=value, least=least))
        self._candidates, self._space, self._settings = candidates, space, settings
        self._study = self._open(storage, {**settings._asdict(), **(identity or {})})

    def run(
        self, trials: int, timeout: float | None = None, on_result: Callable[[TrialResult], None] | None = None
    ) -> SearchResult:
        """Try until there are so many trials, those of an earlier run counted, and give up where the first one fails.

        timeout (float | None): seconds after which no trial begins but the first.
        on_result (Callable | None): told of each trial when it is done.
        """
        if trials < 1:
            raise CRFError(LabErrors.CRF636.format(name="trials", value=trials, least=1))
        end = math.inf if timeout is None else time.monotonic() + timeout
        with _quiet(self._optuna):
            self._end_told()
            while len(done := self._done()) < trials and (not done or time.monotonic() < end):
                self._prepare(len(done))
                try:
                    self._study.optimize(self._try, n_trials=1, catch=(ValueError,))
                except _NoScore as problem:
                    raise CRFError(problem.args[0]) from problem
                done = self._done()
                if on_result is not None:
                    on_result(done[-1])
                if done[-1].error and all(trial.score is None for trial in done):
                    break
            done, importances = self._compared(done), self._importances()
        found = SearchResult(self._settings.score, self._settings.minimise, done, importances)
        if not found.ranked:
            raise CRFError(LabErrors.CRF637.format(number=len(done) - 1, error=done[-1].error))
        return found

    def _compared(self, done: list[TrialResult]) -> list[TrialResult]:
        """Score trials by the folds that have a score in all of them, and tell the others."""
        folds = {trial.number: trial.folds for trial in done if trial.score is not None and trial.folds}
        means, lacking = shared_means(list(folds.values()))
        if not lacking:
            return done
        told = {"score": self._settings.score or "the weighted score", "folds": ", ".join(str(k + 1) for k in lacking)}
        if len(lacking) == self._settings.folds:
            raise CRFError(LabErrors.CRF693.format(**told))
        warnings.warn(LabErrors.CRFW692.format(**told), CRFWarning, stacklevel=3)
        return [replace(trial, score=dict(zip(folds, means)).get(trial.number)) for trial in done]

    # -- one trial -------------------------------------------------------------------------------------------

    def _prepare(self, number: int) -> None:
        """Seed the next trial, and queue the values to start with."""
        waiting = (self._optuna.trial.TrialState.WAITING,)
        seed = int(np.random.SeedSequence([self._settings.seed, number]).generate_state(1)[0])
        self._study.sampler = self._optuna.samplers.TPESampler(seed=seed)
        if not number and self._space.start and not self._study.get_trials(deepcopy=False, states=waiting):
            self._study.enqueue_trial(dict(self._space.start))

    def _try(self, trial: Any) -> float:
        """Score the values that Optuna draws, and keep what is found in the trial, unless it is broken off."""
        values = {name: _suggest(trial, parameter) for name, parameter in self._space.parameters.items()}
        outcome, started = _Outcome(), time.perf_counter()

        def keep(state: State = "complete", error: str = "") -> None:
            score = fmean(outcome.known) if state == "complete" else None
            found = {"number": len(self._done()), "state": state, "values": values, "score": score, "error": error}
            trial.set_user_attr(FOUND, {**found, **outcome.to_data(), "seconds": time.perf_counter() - started})

        try:
            self._score(trial, values, outcome)
        except self._optuna.TrialPruned:
            keep("pruned")
            raise
        except ValueError as problem:
            keep("failed", str(problem))
            raise
        keep()
        return fmean(outcome.known)

    def _score(self, trial: Any, values: Mapping[str, Value], outcome: "_Outcome") -> None:
        """Train with the values and score, on the dev corpus or on each fold."""
        config, settings = self._candidates.make(values), self._settings
        found: list[Evaluation] = []

        def report(score: float, step: int) -> None:
            trial.report(score, step)
            if settings.prune and trial.should_prune():
                raise self._optuna.TrialPruned

        def listen(evaluation: Evaluation) -> None:
            outcome.steps += 1
            found.append(evaluation)
            score = self._read_score(kept(found))
            if score is not None and not settings.folds:
                report(score, evaluation.step)

        for fold in range(settings.folds or 1):
            found.clear()  # what is kept is the best of this fold
            own = with_fold(config, settings.folds, fold, settings.seed) if settings.folds else config
            outcome.evaluations.append(best := train_config(own, listen))
            outcome.folds.append(self._read_score(best))
            if outcome.known and fold + 1 < settings.folds:
                report(fmean(outcome.known), fold)
        if not outcome.known:
            raise _NoScore(settings.score, best)

    def _read_score(self, evaluation: Evaluation) -> float | None:
        """Return a score; None for a fold that has nothing to judge, as far as one may tell."""
        value = evaluation.get(self._settings.score)
        if value is None and self._settings.folds:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _NoScore(self._settings.score, evaluation)
        return float(value)

    # -- the study -------------------------------------------------------------------------------------------

    def _open(self, storage: Path | None, identity: dict[str, Any]) -> Any:
        optuna, settings = self._optuna, self._settings
        identity = json.loads(json.dumps(identity, default=str))
        direction = "minimize" if settings.minimise else "maximize"
        pruner = optuna.pruners.MedianPruner(n_startup_trials=UNPRUNED, n_warmup_steps=settings.warmup)
        with _quiet(optuna):
            try:
                backend = None if storage is None else _open_file(optuna, storage)
                study = optuna.create_study(
                    storage=backend, pruner=pruner, study_name=STUDY, direction=direction, load_if_exists=True
                )
            except Exception as error:  # of Optuna, of SQLAlchemy or of SQLite
                raise CRFError(LabErrors.CRF634.format(path=storage, problem=str(error).split("\n")[0])) from error
            begun = study.user_attrs.get("identity", identity)
            other = [name for name, value in identity.items() if begun.get(name, value) != value]
            if other:
                raise CRFError(LabErrors.CRF634.format(path=storage, problem=f"it was begun with another {other[0]}"))
            study.set_user_attr("identity", identity)
        return study

    def _done(self) -> list[TrialResult]:
        """Return trials that came to an end; one that was broken off is begun anew under its number: also where its
        outcome was kept, but Optuna let it fail."""
        found = []
        for trial in self._study.get_trials(deepcopy=False):
            told = trial.user_attrs.get(FOUND)
            state = STATES.get(trial.state.name)
            if told is not None and state is not None and told.get("state", state) == state:
                score = trial.value if state == "complete" else None
                found.append(TrialResult(**{**told, "state": state, "score": score}))
        return found

    def _end_told(self) -> None:
        """End the trial that was broken off when its outcome was kept, and all but its end was in the storage."""
        running = (self._optuna.trial.TrialState.RUNNING,)
        names = {state: name for name, state in STATES.items()}
        for trial in self._study.get_trials(deepcopy=False, states=running):
            told = trial.user_attrs.get(FOUND, {})
            if "state" in told:
                state = self._optuna.trial.TrialState[names[told["state"]]]
                self._study.tell(trial.number, told["score"], state=state)

    def _importances(self) -> dict[str, float]:
        """Return importances by PED-ANOVA (Watanabe et al. 2023), which is cheap."""
        if len({trial.score for trial in self._done() if trial.score is not None}) < 2:
            return {}
        evaluator = self._optuna.importance.PedAnovaImportanceEvaluator()
        found = self._optuna.importance.get_param_importances(self._study, evaluator=evaluator)
        return {name: float(value) for name, value in found.items()}


def _open_file(optuna: Any, path: Path) -> Any:
    """The storage of a study in an SQLite file, which is closed whenever nobody reads or writes."""
    from sqlalchemy.pool import NullPool

    return optuna.storages.RDBStorage(f"sqlite:///{path}", engine_kwargs={"poolclass": NullPool})


@dataclass
class _Outcome:
    """What a trial has found so far: scores and best evaluations of folds, or of the dev corpus alone."""

    folds: list[float | None] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    steps: int = 0

    @property
    def known(self) -> list[float]:
        """The scores of the folds that have one."""
        return [score for score in self.folds if score is not None]

    def to_data(self) -> dict[str, Any]:
        rows = [evaluation.numbers() for evaluation in self.evaluations]
        names = [name for name in (rows[0] if rows else {}) if all(name in row for row in rows)]
        scores = {name: fmean(row[name] for row in rows) for name in names}
        return {"folds": self.folds if len(self.folds) > 1 else [], "scores": scores, "steps": self.steps}


def _suggest(trial: Any, parameter: Parameter) -> Value:
    if isinstance(parameter, Choice):
        return str(trial.suggest_categorical(parameter.name, list(parameter.options)))
    suggest = trial.suggest_int if parameter.is_whole else trial.suggest_float
    value: Value = suggest(parameter.name, parameter.low, parameter.high, log=parameter.log)
    return value


class _NoScore(Exception):
    """A score that does not exist. No trial could have it, so that it ends the search."""

    def __init__(self, name: str | None, found: Evaluation):
        known = ", ".join(found.numbers()) or "none"
        super().__init__(LabErrors.CRF633.format(name=name or "score_weights", known=known))


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Silence Optuna's own log, which tells each trial once more."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
