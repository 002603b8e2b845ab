"""How a set of tags is chosen for each token: the rules that the setting `method` names."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from ..core.arrays import Bools, Doubles, Floats
from ..core.errors import CRFError
from ..core.sets.hierarchy import best_nodes
from ..core.sets.predict import error_controlled_sets, make_utility, top_k_sets, utility_optimal_sets
from ..core.sets.risk import RiskControl
from ..pipe.errors import PipeErrors
from ..pipe.strata import Tokens
from .errors import TagSetErrors
from .promise import ConformalPromise
from .tag_tree import tag_tree

Method = Literal["utility", "mass", "size", "hierarchy", "guarantee"]
LearnFrom = Literal["soft", "marginal", "best", "augmented"]
SetRule: TypeAlias = Callable[[Floats, Tokens], Bools]
Guarantee: TypeAlias = ConformalPromise | RiskControl
LEAST_SURE = 1 - 1e-9  # `spacy find-threshold` tries a coverage of 0 too: one tag for each token
GUARANTEES: dict[str, type[Guarantee]] = {"conformal": ConformalPromise, "risk": RiskControl}


def set_rule(name: str, settings: Mapping[str, Any], labels: Sequence[str]) -> SetRule:
    """The rule that settings ask for.

    name (str): of the component, for messages. settings (Mapping): its run-time settings.
    labels (Sequence[str]): that probabilities are of.
    RETURNS (Callable): from marginals (N, L), and the tokens that they are of, to the members (N, L) of the sets.
    RAISES (ValueError): for settings that have no meaning.
    """
    check_set_settings(name, settings)
    method, coverage, size = settings["method"], settings["coverage"], settings["size"]
    if method == "utility":
        g = utility_values(settings, len(labels))
        return lambda marginals, tokens: utility_optimal_sets(marginals, g).members
    if method == "mass":
        level = min(1 - coverage, LEAST_SURE)
        return lambda marginals, tokens: error_controlled_sets(marginals, level).members
    if method == "size":
        return lambda marginals, tokens: top_k_sets(marginals, size).members
    if method == "hierarchy":
        tree, g = tag_tree(name, settings, labels), utility_values(settings, len(labels))
        return lambda marginals, tokens: best_nodes(marginals, tree, g)[1].members
    return guarantee_rule(read_guarantee(name, settings["guarantee"]))


def guarantee_rule(guarantee: Guarantee) -> SetRule:
    """The rule that keeps a promise; risk control looks at probabilities only."""
    if isinstance(guarantee, RiskControl):
        return lambda marginals, tokens: guarantee.predict(marginals)
    return guarantee.predict


def utility_values(settings: Mapping[str, Any], n_labels: int) -> Doubles:
    """((L,)): the g that sets are chosen, or scored, by."""
    return make_utility(settings["utility"], settings["alpha"], settings["beta"]).values(n_labels)


def target_coverage(name: str, settings: Mapping[str, Any]) -> float | None:
    """The share of tokens, or of a unit's tokens, whose set is to hold their gold tag; None where none is aimed at.

    name (str): of the component, for messages. settings (Mapping): its run-time settings.
    """
    if settings["method"] == "mass":
        return float(settings["coverage"])
    if settings["method"] != "guarantee":
        return None
    guarantee = read_guarantee(name, settings["guarantee"])
    is_share = isinstance(guarantee, ConformalPromise) or guarantee.loss == "share"
    return 1 - guarantee.level if is_share else None


def read_guarantee(name: str, data: Mapping[str, Any] | None) -> Guarantee:
    """What `python -m spacy crf guarantee` has written into the config.

    name (str): of the component, for messages.
    RAISES (ValueError): where there is nothing, or something else.
    """
    kind = (data or {}).get("kind")
    if data is None or kind not in GUARANTEES:
        raise CRFError(TagSetErrors.CRF415.format(name=name, value=kind))
    try:
        return GUARANTEES[kind].from_data({key: value for key, value in data.items() if key != "kind"})
    except (KeyError, TypeError, ValueError) as error:
        raise CRFError(TagSetErrors.CRF415.format(name=name, value=repr(error))) from error


def guarantee_data(guarantee: Guarantee) -> dict[str, Any]:
    """What the config stores."""
    kind = "conformal" if isinstance(guarantee, ConformalPromise) else "risk"
    return {"kind": kind, **guarantee.to_data()}


def check_set_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Raise a coded error for a setting that has no meaning.

    name (str): of the component. settings (Mapping): its run-time settings.
    """
    make_utility(settings["utility"], settings["alpha"], settings["beta"])
    checks = [
        ("method", settings["method"] not in get_args(Method), "one of " + ", ".join(map(repr, get_args(Method)))),
        ("learn_from", settings["learn_from"] not in get_args(LearnFrom), "one of " + ", ".join(get_args(LearnFrom))),
        ("coverage", not 0 <= settings["coverage"] <= 1, "from 0 to 1"),
        ("size", settings["size"] < 1, "at least 1"),
        ("sequences", settings["sequences"] < 0, "0, or the most sequences that a set may have"),
        ("sequence_mass", not 0 < settings["sequence_mass"] < 1, "between 0 and 1"),
    ]
    for setting, is_wrong, expected in checks:
        if is_wrong or (isinstance(settings[setting], float) and math.isnan(settings[setting])):
            problem = {"setting": setting, "value": settings[setting], "expected": expected}
            raise CRFError(PipeErrors.CRF408.format(name=name, **problem))
