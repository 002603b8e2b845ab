"""The parameters of sklearn_crfsuite.CRF: which algorithm reads which, their defaults, and the values they may have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.errors import CRFError
from .errors import EstimatorErrors

_FEATURES = {"min_freq": 0.0, "all_possible_states": False, "all_possible_transitions": False}
_ONLINE = {"max_iterations": 100, "epsilon": 0.0}

# what each algorithm reads, with CRFsuite's defaults
DEFAULTS: dict[str, dict[str, Any]] = {
    "lbfgs": {
        **_FEATURES,
        "c1": 0.0,
        "c2": 1.0,
        "max_iterations": 2**31 - 1,
        "num_memories": 6,
        "epsilon": 1e-5,
        "period": 10,
        "delta": 1e-5,
        "linesearch": "MoreThuente",
        "max_linesearch": 20,
    },
    "l2sgd": {
        **_FEATURES,
        "c2": 1.0,
        "max_iterations": 1000,
        "period": 10,
        "delta": 1e-6,
        "calibration_eta": 0.1,
        "calibration_rate": 2.0,
        "calibration_samples": 1000,
        "calibration_candidates": 10,
        "calibration_max_trials": 20,
    },
    "ap": {**_FEATURES, **_ONLINE},
    "pa": {**_FEATURES, **_ONLINE, "pa_type": 1, "c": 1.0, "error_sensitive": True, "averaging": True},
    "arow": {**_FEATURES, **_ONLINE, "variance": 1.0, "gamma": 1.0},
}
ALIASES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}


@dataclass(frozen=True)
class _Values:
    """What a parameter may be: in words, and as a test."""

    expected: str
    fits: Callable[[Any], bool]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | int) and value in (0, 1)


_COUNT = _Values("a whole number of at least 1", _is_count)
_NUMBER = _Values("a finite number of at least 0", _is_number)
_POSITIVE = _Values("a finite number above 0", _is_positive)
_FLAG = _Values("True or False", _is_flag)
VALUES: dict[str, _Values] = {
    "min_freq": _NUMBER,
    "all_possible_states": _FLAG,
    "all_possible_transitions": _FLAG,
    "c1": _NUMBER,
    "c2": _NUMBER,
    "max_iterations": _COUNT,
    "num_memories": _COUNT,
    "epsilon": _NUMBER,
    "period": _COUNT,
    "delta": _NUMBER,
    "calibration_eta": _POSITIVE,
    "calibration_rate": _Values("a finite number above 1", lambda value: _is_number(value) and value > 1),
    "calibration_samples": _COUNT,
    "calibration_candidates": _COUNT,
    "calibration_max_trials": _COUNT,
    "pa_type": _Values("0, 1 or 2", lambda value: value in (0, 1, 2)),
    "c": _POSITIVE,
    "error_sensitive": _FLAG,
    "averaging": _FLAG,
    "variance": _POSITIVE,
    "gamma": _POSITIVE,
    "random_state": _Values("a whole number of at least 0", lambda value: _is_count(value) or value == 0),
    "n_threads": _Values("a whole number of at least 0", lambda value: _is_count(value) or value == 0),
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
    for name, value in given.items():
        if name in VALUES and not VALUES[name].fits(value):
            raise CRFError(EstimatorErrors.CRF710.format(name=name, value=value, expected=VALUES[name].expected))
        owners = [owner for owner, defaults in DEFAULTS.items() if name in defaults]
        if owners and algorithm not in owners:
            raise CRFError(EstimatorErrors.CRF709.format(name=name, algorithm=algorithm, owners=", ".join(owners)))
    settings = {name: given.get(name, default) for name, default in DEFAULTS[algorithm].items()}
    _refuse(given, settings)
    shared = {name: given.get(name, 0) for name in ("random_state", "n_threads")}
    return {"algorithm": algorithm, **settings, **shared}


def _refuse(given: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise for what belongs to CRFsuite's own machinery and has no counterpart here."""
    reasons = {
        "model_filename": "no file is written; pickle the estimator, or give the file to CRF.from_crfsuite to use it",
        "trainer_cls": "there is no python-crfsuite trainer to subclass; training_log_ has every iteration",
        "keep_tempfiles": "there are no temporary files",
    }
    for name, reason in reasons.items():
        if given.get(name):
            raise CRFError(EstimatorErrors.CRF711.format(name=name, value=given[name], reason=reason))
    search = settings.get("linesearch", "MoreThuente")
    known = ("MoreThuente", "Backtracking") if settings.get("c1") else ("MoreThuente",)
    if search not in known:
        reason = "without c1 there is one line search, for the strong Wolfe conditions (MoreThuente), with c1 another"
        raise CRFError(EstimatorErrors.CRF711.format(name="linesearch", value=search, reason=reason))
    if settings.get("max_linesearch", 20) != 20:
        reason = "the line search ends after 20 trials"
        raise CRFError(
            EstimatorErrors.CRF711.format(name="max_linesearch", value=settings["max_linesearch"], reason=reason)
        )
