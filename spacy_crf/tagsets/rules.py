"""How a set of tags is chosen for each token: the rules that the setting `method` names."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ..core.arrays import Bools, Doubles, Floats
from ..core.errors import CoreErrors, CRFError
from ..core.sets.hierarchy import TagTree, best_nodes, tree_from_parents, tree_from_separator
from ..core.sets.predict import error_controlled_sets, make_utility, top_k_sets, utility_optimal_sets
from ..core.sets.risk import RiskControl
from ..features.columns import Columns
from ..reading.files import read_text, says_nothing
from .block import SetSettings
from .errors import TagSetErrors
from .guarantee import ConformalPromise, Guarantee, read_guarantee

SetRule: TypeAlias = Callable[[Floats, Columns], Bools]
PARENTS = "parents"  # where a component keeps what the file of its tag tree says
LEAST_SURE = 1 - 1e-9  # `spacy find-threshold` tries a coverage of 0 too: one tag for each token


def set_rule(name: str, settings: SetSettings, parents: Sequence[Sequence[str]], labels: Sequence[str]) -> SetRule:
    """The rule that settings ask for: from marginals (N, L) of some tokens to the members (N, L) of their sets."""
    method, size = settings.method, settings.size
    if method == "utility":
        g = utility_values(vars(settings), len(labels))
        return lambda marginals, tokens: utility_optimal_sets(marginals, g).members
    if method == "mass":
        level = min(1 - settings.coverage, LEAST_SURE)
        return lambda marginals, tokens: error_controlled_sets(marginals, level).members
    if method == "size":
        return lambda marginals, tokens: top_k_sets(marginals, size).members
    if method == "hierarchy":
        tree, g = tag_tree(name, settings, parents, labels), utility_values(vars(settings), len(labels))
        return lambda marginals, tokens: best_nodes(marginals, tree, g)[1].members
    return guarantee_rule(read_guarantee(name, settings.guarantee))


def guarantee_rule(guarantee: Guarantee) -> SetRule:
    """The rule that keeps a promise; risk control looks at probabilities only."""
    if isinstance(guarantee, RiskControl):
        return lambda marginals, tokens: guarantee.predict(marginals)
    return guarantee.predict


def utility_values(settings: Mapping[str, Any], n_labels: int) -> Doubles:
    """((L,)): the g that sets are chosen, or scored, by."""
    return make_utility(settings["utility"], settings["alpha"], settings["beta"]).values(n_labels)


def target_coverage(name: str, settings: Mapping[str, Any]) -> float | None:
    """The share of tokens, or of a unit's tokens, whose set is to hold their gold tag; None where none is aimed at."""
    if settings["method"] == "mass":
        return float(settings["coverage"])
    if settings["method"] != "guarantee":
        return None
    guarantee = read_guarantee(name, settings["guarantee"])
    is_share = isinstance(guarantee, ConformalPromise) or guarantee.loss == "share"
    return 1 - guarantee.level if is_share else None


def tag_tree(name: str, settings: SetSettings, parents: Sequence[Sequence[str]], labels: Sequence[str]) -> TagTree:
    """The tree over the labels of a component, by the pairs of its file or a separator."""
    if settings.hierarchy is None:
        settings.check(name)
    if settings.hierarchy is not None and settings.hierarchy.separator is not None:
        return tree_from_separator(labels, settings.hierarchy.separator)
    return tree_from_parents(labels, {pair[0]: pair[1] for pair in parents})


def read_parents(path: str) -> dict[str, str]:
    """The parents of a file, by child; a coded error for a line that is no pair, and a tag with two parents."""
    try:
        lines = read_text(Path(path)).split("\n")
    except (OSError, CRFError) as error:
        raise CRFError(TagSetErrors.CRF553.format(path=path, line=1, problem=error)) from error
    parents: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        fields = [field.strip() for field in line.split("\t")]
        if says_nothing(line):
            continue
        if len(fields) != 2 or not all(fields):
            problem = f"{line!r} is not child<TAB>parent"
            raise CRFError(TagSetErrors.CRF553.format(path=path, line=number, problem=problem))
        if parents.setdefault(fields[0], fields[1]) != fields[1]:
            raise CRFError(CoreErrors.CRF810.format(child=fields[0], first=parents[fields[0]], second=fields[1]))
    return parents
