"""From an encoded corpus and settings to weights: each algorithm of CRFsuite by its counterpart in `core.learn`."""

import time
import warnings
from typing import Any

import numpy as np

from ..core.arrays import Doubles
from ..core.errors import CRFWarning
from ..core.learn.blocks import EncodedCorpus
from ..core.learn.full_batch import FullBatchObjective, new_optimizer
from ..core.learn.mistakes import AROW, Kind, PassiveAggressive, Perceptron
from ..core.learn.online import OnlineLearner, run_epochs
from ..core.learn.sgd import SGD, StepSizeSearch
from ..core.threads import single_threaded_blas
from ..core.weights import Layout
from .errors import EstimatorWarnings
from .log import TrainingLog

Settings = dict[str, Any]
PA_TYPES: dict[int, Kind] = {0: "PA", 1: "PA-I", 2: "PA-II"}
FEW = 1 << 17  # pairs of item and attribute below which double precision costs next to nothing


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
