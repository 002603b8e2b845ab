"""From an encoded corpus and settings to weights: each algorithm of CRFsuite by its counterpart in `core.learn`.

Settings are the parameters of sklearn_crfsuite.CRF; a run tells about itself under the names that the log parser of
python-crfsuite uses.
"""

import logging
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..core.arrays import Doubles
from ..core.errors import CRFError, CRFWarning
from ..core.learn.blocks import EncodedCorpus
from ..core.learn.full_batch import FullBatchObjective, new_optimizer
from ..core.learn.mistakes import AROW, Kind, PassiveAggressive, Perceptron
from ..core.learn.online import OnlineLearner, run_epochs
from ..core.learn.sgd import SGD, StepSizeSearch
from ..core.threads import single_threaded_blas
from ..core.weights import Layout
from .errors import EstimatorErrors, EstimatorWarnings

Settings = dict[str, Any]
PA_TYPES: dict[int, Kind] = {0: "PA", 1: "PA-I", 2: "PA-II"}
FEW = 1 << 17  # pairs of item and attribute below which double precision costs next to nothing
Allowed = tuple[str, Callable[[Any], bool]]
_FEATURES = {"min_freq": 0.0, "all_possible_states": False, "all_possible_transitions": False}
_ONLINE = {"max_iterations": 100, "epsilon": 0.0}

_STOP = {"num_memories": 6, "epsilon": 1e-5, "period": 10, "delta": 1e-5}
_SEARCH = {"linesearch": "MoreThuente", "max_linesearch": 20}
_CALIBRATION = {f"calibration_{one.name}": one.default for one in fields(StepSizeSearch)}

# what each algorithm reads, with CRFsuite's defaults
DEFAULTS: dict[str, dict[str, Any]] = {
    "lbfgs": {**_FEATURES, "c1": 0.0, "c2": 1.0, "max_iterations": 2**31 - 1, **_STOP, **_SEARCH},
    "l2sgd": {**_FEATURES, "c2": 1.0, "max_iterations": 1000, "period": 10, "delta": 1e-6, **_CALIBRATION},
    "ap": {**_FEATURES, **_ONLINE},
    "pa": {**_FEATURES, **_ONLINE, "pa_type": 1, "c": 1.0, "error_sensitive": True, "averaging": True},
    "arow": {**_FEATURES, **_ONLINE, "variance": 1.0, "gamma": 1.0},
}
ALIASES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}
logger = logging.getLogger("spacy_crf")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


# what a parameter may be: in words, and as a test
COUNT: Allowed = ("a whole number of at least 1", _is_count)
NATURAL: Allowed = ("a whole number of at least 0", lambda value: _is_count(value) or value == 0)
NUMBER: Allowed = ("a finite number of at least 0", _is_number)
POSITIVE: Allowed = ("a finite number above 0", lambda value: _is_number(value) and value > 0)
FLAG: Allowed = ("True or False", lambda value: isinstance(value, bool | int) and value in (0, 1))
VALUES: dict[str, Allowed] = {
    **dict.fromkeys(("max_iterations", "num_memories", "period"), COUNT),
    **dict.fromkeys(("calibration_samples", "calibration_candidates", "calibration_max_trials"), COUNT),
    **dict.fromkeys(("random_state", "n_threads"), NATURAL),
    **dict.fromkeys(("min_freq", "c1", "c2", "epsilon", "delta"), NUMBER),
    **dict.fromkeys(("calibration_eta", "c", "variance", "gamma"), POSITIVE),
    **dict.fromkeys(("all_possible_states", "all_possible_transitions", "error_sensitive", "averaging"), FLAG),
    "calibration_rate": ("a finite number above 1", lambda value: _is_number(value) and value > 1),
    "pa_type": ("0, 1 or 2", lambda value: value in (0, 1, 2)),
}
UNSUPPORTED = {
    "model_filename": "no file is written; pickle the estimator, or give the file to CRF.from_crfsuite to use it",
    "trainer_cls": "there is no python-crfsuite trainer to subclass; training_log_ has every iteration",
    "keep_tempfiles": "there are no temporary files",
}


def read_settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a training run: the parameters that were given, CRFsuite's defaults for the others.

    params (Mapping): parameters of the estimator; None stands for the default.
    RETURNS (dict): "algorithm", and what it reads.
    RAISES (ValueError): for a parameter that the algorithm does not read, that cannot be honoured, or with a value
        that it cannot have.
    """
    algorithm = params["algorithm"] or "lbfgs"
    algorithm = ALIASES.get(algorithm, algorithm)
    if algorithm not in DEFAULTS:
        raise CRFError(EstimatorErrors.CRF708.format(algorithm=algorithm, known=", ".join(DEFAULTS)))
    given = {name: value for name, value in params.items() if value is not None and name != "algorithm"}
    given = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
    for name, value in given.items():
        if (allowed := VALUES.get(name)) and not allowed[1](value):
            raise CRFError(EstimatorErrors.CRF710.format(name=name, value=value, expected=allowed[0]))
        owners = [owner for owner, defaults in DEFAULTS.items() if name in defaults]
        if owners and algorithm not in owners:
            raise CRFError(EstimatorErrors.CRF709.format(name=name, algorithm=algorithm, owners=", ".join(owners)))
    settings = {name: given.get(name, default) for name, default in DEFAULTS[algorithm].items()}
    _refuse(given, settings)
    shared = {name: given.get(name, 0) for name in ("random_state", "n_threads")}
    return {"algorithm": algorithm, **settings, **shared}


def _refuse(given: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise for what belongs to CRFsuite's own machinery and has no counterpart here."""
    for name, reason in UNSUPPORTED.items():
        if given.get(name):
            raise CRFError(EstimatorErrors.CRF711.format(name=name, value=given[name], reason=reason))
    search = settings.get("linesearch", "MoreThuente")
    known = ("MoreThuente", "Backtracking") if settings.get("c1") else ("MoreThuente",)
    if search not in known:
        reason = "without c1 there is one line search, for the strong Wolfe conditions (MoreThuente), with c1 another"
        raise CRFError(EstimatorErrors.CRF711.format(name="linesearch", value=search, reason=reason))
    trials = settings.get("max_linesearch", 20)
    if trials != 20:
        reason = "the line search ends after 20 trials"
        raise CRFError(EstimatorErrors.CRF711.format(name="max_linesearch", value=trials, reason=reason))


@dataclass
class TrainingLog:
    """The iterations of a run.

    featgen_num_features (int): number of weights.
    iterations (list[dict]): for each its `num`, `loss` (for lbfgs and l2sgd the objective), `feature_norm` (length of
        the weights), `error_norm` (of the gradient), `active_features` (weights that are not 0), `linesearch_trials`,
        `time` in seconds, as far as the algorithm has them; with dev data also `item_accuracy`, `instance_accuracy`,
        `avg_precision`, `avg_recall`, `avg_f1` and `scores` by label.
    training_seconds (float): of the whole run. reason (str): why it ended.
    objective (float | None): the loss with its penalties at the end, for algorithms that minimise one.
    evaluate (Callable | None): scores of weights on dev data. verbose (bool): show messages on standard output.
    """

    featgen_num_features: int
    evaluate: Callable[[Doubles], dict[str, Any]] | None = field(default=None, repr=False)
    iterations: list[dict[str, Any]] = field(default_factory=list)
    training_seconds: float = 0.0
    reason: str = ""
    objective: float | None = None
    verbose: bool = False

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        return self.iterations[-1] if self.iterations else None

    def add(self, flat: Doubles, **facts: Any) -> None:
        """Add an iteration: the weights after it, and what is known of it."""
        norm = float(np.linalg.norm(flat))
        entry = {"num": len(self.iterations) + 1, **facts, "feature_norm": norm, "scores": {}}
        entry["active_features"] = int(np.count_nonzero(flat))
        if self.evaluate is not None:
            entry.update(self.evaluate(flat))
        self.iterations.append(entry)
        shown = {name: value for name, value in entry.items() if isinstance(value, int | float)}
        self.tell("  ".join(f"{name} {value:g}" for name, value in shown.items()))

    def tell(self, message: str) -> None:
        """Log a message. What is shown goes by the run alone: other threads share handlers and levels of loggers."""
        logger.info("%s", message)
        if self.verbose:
            sys.stdout.write(f"{message}\n")
            sys.stdout.flush()

    def __getstate__(self) -> dict[str, Any]:
        """Without the dev data."""
        return {**self.__dict__, "evaluate": None}


def train(corpus: EncodedCorpus, layout: Layout, settings: Settings, log: TrainingLog) -> Doubles:
    """((layout.size,)): weights, by settings as `read_settings` returns them; the log takes the iterations."""
    begin = time.perf_counter()
    run = {"lbfgs": train_lbfgs, "l2sgd": train_l2sgd}.get(settings["algorithm"], train_online)
    with single_threaded_blas():
        flat = run(corpus, layout, settings, log)
    log.training_seconds = time.perf_counter() - begin
    log.tell(f"{settings['algorithm']} stopped after {len(log.iterations)} iterations: {log.reason}.")
    return flat


def train_lbfgs(corpus: EncodedCorpus, layout: Layout, settings: Settings, log: TrainingLog) -> Doubles:
    """L-BFGS on the whole corpus; OWL-QN with c1."""
    dtype = np.float64 if len(corpus.features.indices) < FEW else np.float32
    objective = FullBatchObjective(corpus, layout, settings["c2"], settings["n_threads"], dtype)
    search = {"memory": settings["num_memories"], **{name: settings[name] for name in ("period", "delta", "epsilon")}}
    optimizer = new_optimizer(objective, np.zeros(layout.size), settings["c1"], **search)
    clock = time.perf_counter()
    while optimizer.reason is None and optimizer.iterations < settings["max_iterations"]:
        before = optimizer.evaluations
        if optimizer.run(1):
            facts = {"loss": optimizer.value, "error_norm": optimizer.gradient_norm}
            facts |= {"linesearch_trials": optimizer.evaluations - before, "time": time.perf_counter() - clock}
            log.add(objective.basis.finish(optimizer.x), **facts)
        clock = time.perf_counter()
    _end(log, optimizer.reason, optimizer.value, settings)
    return objective.basis.finish(optimizer.x)


def train_l2sgd(corpus: EncodedCorpus, layout: Layout, settings: Settings, log: TrainingLog) -> Doubles:
    """Stochastic gradient descent; the weights of the best epoch."""
    names = ("eta", "rate", "samples", "candidates", "max_trials")
    calibration = StepSizeSearch(**{name: settings[f"calibration_{name}"] for name in names})
    schedule = {"seed": settings["random_state"], "period": settings["period"], "delta": settings["delta"]}
    sgd = SGD(corpus, layout, np.zeros(layout.size), settings["c2"], calibration=calibration, **schedule)
    while sgd.reason is None and sgd.epochs < settings["max_iterations"]:
        clock = time.perf_counter()
        if sgd.run(1):
            log.add(np.asarray(sgd.flat), loss=sgd.values[-1], time=time.perf_counter() - clock)
    _end(log, sgd.reason, sgd.value, settings)
    return np.asarray(sgd.flat, dtype=np.float64)


def train_online(corpus: EncodedCorpus, layout: Layout, settings: Settings, log: TrainingLog) -> Doubles:
    """Epochs until the loss per sequence is below epsilon, or max_iterations of them, which is no failure here."""
    learner = _learner(settings)
    learner.start(layout, np.zeros(layout.size))
    log.reason = f"max_iterations ({settings['max_iterations']}) reached"
    clock = time.perf_counter()
    for loss in run_epochs(learner, corpus, settings["max_iterations"], settings["random_state"]):
        log.add(np.asarray(learner.result), loss=loss * len(corpus.lengths), time=time.perf_counter() - clock)
        if loss < settings["epsilon"]:
            log.reason = f"the loss per sequence is below {settings['epsilon']:g}"
            break
        clock = time.perf_counter()
    return np.asarray(learner.result, dtype=np.float64)


def _learner(settings: Settings) -> OnlineLearner:
    if settings["algorithm"] == "ap":
        return Perceptron(averaging=True, dtype=np.float64)
    if settings["algorithm"] == "arow":
        return AROW(variance=settings["variance"], gamma=settings["gamma"], dtype=np.float64)
    flags = {name: bool(settings[name]) for name in ("error_sensitive", "averaging")}
    return PassiveAggressive(kind=PA_TYPES[settings["pa_type"]], c=settings["c"], **flags, dtype=np.float64)


def _end(log: TrainingLog, reason: str | None, value: float, settings: Settings) -> None:
    """Note why a run ended and where; running out of iterations is not convergence."""
    log.objective = float(value)
    log.reason = reason or f"max_iterations ({settings['max_iterations']}) reached"
    if reason is None:
        run = {"algorithm": settings["algorithm"], "iterations": settings["max_iterations"]}
        warnings.warn(EstimatorWarnings.CRFW701.format(**run), CRFWarning, stacklevel=5)  # where fit was called
