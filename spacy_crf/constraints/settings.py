"""MethodSettings of decoding under constraints: refused before anything is computed, and read anew for each batch."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from ..core.constraints.family import Constraint
from ..core.constraints.ilp import require_solver
from ..core.constraints.strategy import MethodSettings
from ..core.errors import CoreErrors, CRFError
from ..pipe.constrained import ConstrainedDecoder
from ..pipe.errors import PipeErrors
from .token_predicates import TokenPredicates

Decoder = Literal["auto", "viterbi", "lagrangian", "automaton", "ilp"]
Predicates = dict[str, str | list[str]]
DECODING: dict[str, Any] = {  # what factories take, with its defaults
    "decoder": "auto",
    "constraints": None,
    "predicates": {},
    "solver": None,
    "time_limit": 60.0,
    "max_iterations": None,
    "step_rule": "polyak",
    "objective": "score",
    "tau": 0.5,
    "max_states": 400_000,
    "info": "decode_info",
    "changes": None,
}


def decoding_settings(
    name: str,
    decoder: str,
    solver: str | None,
    time_limit: float | None,
    max_iterations: int | None,
    step_rule: str,
    objective: str,
    tau: float,
    max_states: int,
    info: str,
    changes: str | None,
    predicates: Predicates | None,
) -> dict[str, Any]:
    """The settings as they are kept in `cfg`.

    RAISES (ValueError): for one that makes no sense, and for the decoder "ilp" without a solver.
    """
    settings: dict[str, Any] = {
        "decoder": decoder,
        "solver": solver,
        "time_limit": time_limit,
        "max_iterations": max_iterations,
        "step_rule": step_rule,
        "objective": objective,
        "tau": tau,
        "max_states": max_states,
        "info": info,
        "changes": changes,
        "predicates": dict(predicates or {}),
    }
    core_settings(name, settings)
    if not info or changes in ("", info):
        problem = {"setting": "changes" if info else "info", "value": changes if info else info}
        raise CRFError(PipeErrors.CRF408.format(name=name, **problem, expected="a name of its own"))
    if decoder == "ilp":
        require_solver(solver)
    TokenPredicates(settings["predicates"], name)
    return settings


def core_settings(name: str, cfg: Mapping[str, Any]) -> MethodSettings:
    """MethodSettings of decoding.

    name (str): of the component. cfg (Mapping): its run-time settings.
    RAISES (ValueError): for one that makes no sense.
    """
    if cfg["decoder"] not in get_args(Decoder):
        known = ", ".join(map(repr, get_args(Decoder)))
        problem = {"setting": "decoder", "value": cfg["decoder"], "expected": f"one of {known}"}
        raise CRFError(PipeErrors.CRF408.format(name=name, **problem))
    return MethodSettings(
        method=cfg["decoder"],
        max_iterations=cfg["max_iterations"],
        step_rule=cfg["step_rule"],
        objective=cfg["objective"],
        tau=cfg["tau"],
        max_states=cfg["max_states"],
        solver=cfg["solver"],
        time_limit=cfg["time_limit"],
    )


def constrained_decoder(name: str, cfg: Mapping[str, Any], constraints: Sequence[Constraint]) -> ConstrainedDecoder:
    """What chooses labels under the present settings."""
    return ConstrainedDecoder(list(constraints), core_settings(name, cfg), cfg["changes"] is not None)


def check_predicates(name: str, constraints: Iterable[Constraint], predicates: Predicates) -> None:
    """Raise a coded error for constraints that ask for a predicate that nobody has defined."""
    known = TokenPredicates(predicates, name).names
    for constraint in constraints:
        if constraint.predicate is not None and constraint.predicate not in known:
            text, listing = str(constraint), ", ".join(known)
            raise CRFError(CoreErrors.CRF906.format(constraint=text, name=constraint.predicate, known=listing))
