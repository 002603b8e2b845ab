"""The parameters of sklearn_crfsuite.CRF: which algorithm reads which, their defaults, and the values they may have."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..core.errors import CRFError
from ..core.learn.sgd import StepSizeSearch
from .errors import EstimatorErrors

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
