"""Constraints from training data: instantiate the families, keep what holds, and charge what is rarely broken.

The reliability of a constraint is how often it is broken where it applies: (b + .5) / (n + 1) for b broken among the n
sequences in which its antecedent holds, so that rules that are rarely broken cost more. (Cecchini & Fersini print the
share of all clauses, which counts sequences in which a rule says nothing.) What a constraint is worth beside the others
is then found out on held-out folds.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from typing import Any, TypeAlias

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.util import logger

from ..annotation.documents import dealt_units
from ..core.arrays import Ints
from ..core.constraints.costs import ScoredGold, charged, likely_costs, perceptron_costs
from ..core.constraints.family import FAMILIES, Constraint, LabelledSequences, minable_kinds
from ..core.constraints.labelling import Fields, Labelling, UnitPredicates
from ..core.constraints.reasons import without_implied
from ..core.errors import CoreErrors, CRFError, CRFWarning, excerpt
from ..core.labels import TagSet
from .block import MiningSettings, NERSettings
from .errors import ConstraintWarnings

SCALES = (0.0, 0.03, 0.1, 0.3)  # of -log rate against the scores of the chain
N_LOOKED_AT = 100  # training texts that show whether these have sentences
DECIMALS = 4  # of costs, which people read
# a model trained on some examples, asked about others: their gold, scores and predicates
HoldOut: TypeAlias = Callable[[Sequence[Example], Sequence[Example]], ScoredGold]


@dataclass(frozen=True)
class Mined:
    """A constraint with its cost, and how many sequences its antecedent holds in and how many of them break it.

    rate (float): smoothed. precision (float | None): share of the held-out sequences with the antecedent that keep it.
    """

    constraint: Constraint
    support: int
    broken: int
    rate: float
    precision: float | None

    @property
    def about(self) -> dict[str, Any]:
        """The statistics, to be stored with the constraint."""
        return {name: getattr(self, name) for name in ("support", "broken", "rate", "precision")}


def mine(
    paths: Sequence[Ints],
    tags: TagSet,
    predicates: Sequence[UnitPredicates] | None = None,
    settings: MiningSettings | None = None,
) -> list[Mined]:
    """Constraints that hold in labelled sequences, the most reliable first, at costs of -log rate.

    Candidates come from one part of the sequences and must hold in the other; the statistics are those of all.
    Constraints that more reliable ones imply are left out (two of them at most are tried).
    RAISES (ValueError): without labelled units.
    """
    settings, fields = settings or MiningSettings(), Fields(tags)
    pairs = zip(paths, predicates or [UnitPredicates(len(path)) for path in paths])
    seen = [Labelling(np.asarray(path).tolist(), fields, own) for path, own in pairs if len(path)]
    if not seen:
        raise CRFError(CoreErrors.CRF931)
    order = np.random.default_rng(settings.seed).permutation(len(seen))
    n_held_out = round(settings.held_out * len(seen))
    held_out, own = ([seen[place] for place in part] for part in (order[:n_held_out], order[n_held_out:]))
    data = LabelledSequences(own, settings.max_terms, settings.min_support, settings.gap_predicates)
    kinds = minable_kinds() if settings.kinds is None else settings.kinds
    candidates = (candidate for kind in kinds for candidate in FAMILIES[kind].candidates(data))
    assessed = ((candidate, _assess(candidate, own, held_out, settings)) for candidate in candidates)
    found = {candidate: mined for candidate, mined in assessed if mined is not None}
    kept = without_implied(sorted(found, key=lambda candidate: _priority(found[candidate])), fields, settings.seed)
    scale = 1.0 if settings.scale is None else settings.scale
    return [replace(found[one], constraint=_priced(found[one], scale, settings)) for one in kept]


def _assess(
    candidate: Constraint, own: Sequence[Labelling], held_out: Sequence[Labelling], settings: MiningSettings
) -> Mined | None:
    """A candidate with its statistics, None if it does not hold well enough."""
    support, wrong = _count(candidate, own)
    if support < settings.min_support or _rate(support, wrong) > settings.max_rate:
        return None
    more, also_wrong = _count(candidate, held_out)
    precision = 1 - also_wrong / more if more else None
    if precision is not None and precision < settings.min_precision:
        return None
    support, wrong = support + more, wrong + also_wrong
    return Mined(candidate, support, wrong, _rate(support, wrong), precision)


def _count(constraint: Constraint, seen: Sequence[Labelling]) -> tuple[int, int]:
    """Sequences in which a constraint applies, and those that break it."""
    found = [constraint.occurrences(labelling) for labelling in seen]
    return sum(one.applied > 0 for one in found), sum(one.broken > 0 for one in found)


def _rate(support: int, wrong: int) -> float:
    return (wrong + 0.5) / (support + 1)


def _priced(mined: Mined, scale: float, settings: MiningSettings) -> Constraint:
    cost = 0.0 if scale == 0 else -math.log(mined.rate) * scale
    return replace(mined.constraint, cost=max(0.0, cost), count=settings.count)


def _priority(mined: Mined) -> tuple[float, int, int]:
    """Reliable ones first, among equals the shorter ones and then the families in their order."""
    n_labels = sum(len(labels) for labels in mined.constraint.label_sets)
    return mined.rate, n_labels, list(FAMILIES).index(mined.constraint.kind)


def mine_constraints(
    examples: Sequence[Example],
    gold: Sequence[tuple[Ints, UnitPredicates]],
    tags: TagSet,
    given: Sequence[Constraint],
    settings: MiningSettings,
    hold_out: HoldOut,
) -> list[Mined]:
    """Constraints with a cost that held-out folds bear out, from the gold labels of examples, the most costly first.

    gold (sequence of tuple): tags (T,) and predicates of each sequence that is known.
    given (sequence of Constraint): that are in force beside the mined ones, which repeat none of them.
    """
    known = {priceless(constraint) for constraint in given}
    found = mine([path for path, _ in gold], tags, [predicates for _, predicates in gold], settings)
    found = [one for one in found if priceless(one.constraint) not in known]
    if found and (settings.costs != "rate" or settings.scale is None):
        parts = [hold_out(*split) for split in splits(examples, settings.folds, settings.seed)]
        costs = _costs([one.constraint for one in found], parts, tags, given, settings)
        found = [replace(one, constraint=own) for one, own in zip(found, costs)]
    kept = sorted((one for one in found if one.constraint.cost > 0), key=lambda one: -one.constraint.cost)
    logger.info("Mined %d constraints, of which %d have a cost.", len(found), len(kept))
    return kept


def priceless(constraint: Constraint) -> Constraint:
    """What a constraint says, whatever is paid for breaking it."""
    return replace(constraint, cost=0.0, count="once")


def splits(examples: Sequence[Example], folds: int, seed: int) -> list[tuple[list[Example], list[Example]]]:
    """Examples in folds: for each the others, and its own. Folds without an example are left out.

    Examples of one document, by its name, are in one fold, if there are as many documents as folds.
    """
    units = dealt_units(examples, folds)
    found = len(np.unique(units))
    order = np.random.default_rng(seed).permutation(found)
    parts = (np.flatnonzero(np.isin(units, part)).tolist() for part in np.array_split(order, min(folds, found)))
    shuffled = [[examples[k] for k in part] for part in parts if part]
    return [([one for other in shuffled if other is not own for one in other], own) for own in shuffled]


def _costs(
    found: list[Constraint], parts: list[ScoredGold], tags: TagSet, given: Sequence[Constraint], own: MiningSettings
) -> list[Constraint]:
    """Mined constraints with the costs that do best on held-out folds."""
    problem = parts, found, tags, given
    if own.costs == "likelihood":
        return charged(found, likely_costs(*problem, strength=own.strength, paths=own.paths).round(DECIMALS))
    if own.costs == "perceptron":
        costs = perceptron_costs(*problem, epochs=own.epochs, step=own.step, seed=own.seed)
        return charged(found, costs.round(DECIMALS))
    rates = np.array([constraint.cost for constraint in found])
    choices = [charged(found, (scale * rates).round(DECIMALS)) for scale in SCALES]
    right = [sum(part.right_units([*given, *choice], tags) for part in parts) for choice in choices]
    return choices[int(np.argmax(right))]


def warn_of_sentences(
    name: str,
    settings: NERSettings,
    get_examples: Callable[[], Iterable[Example]],
    *,
    nlp: Language | None = None,
    **_: Any,
) -> None:
    """Warn where constraints are about sentences in training alone, as a pipeline finds none before a component, or
    where those that are learned are about whole texts in training alone.

    get_examples (Callable), nlp (Language | None): as `initialize` takes them.
    """
    if nlp is None or settings.sequence != "auto" or not (settings.constraints or settings.mine):
        return
    before = list(takewhile(lambda one: one != name, nlp.pipe_names))
    assigned = {one: nlp.get_pipe_meta(one).assigns for one in before}
    finders = [one for one, own in assigned.items() if "token.is_sent_start" in own]
    docs = [example.predicted for example in islice(get_examples(), N_LOOKED_AT)]
    divided = [doc for doc in docs if doc.has_annotation("SENT_START")]
    annotating = nlp.config.interpolate()["training"].get("annotating_components", [])
    if not all(assigned.values()) or not {*finders}.isdisjoint(annotating):
        return  # one's own component may tell nothing of it
    if finders and settings.mine and docs and not divided:
        warning = ConstraintWarnings.CRFW458.format(name=name, finder=finders[0])
        warnings.warn(warning, CRFWarning, stacklevel=3)
    several = [doc for doc in divided if len(list(doc.sents)) > 1]
    if several and not finders:
        warning = ConstraintWarnings.CRFW477.format(name=name, document=excerpt(several[0].text))
        warnings.warn(warning, CRFWarning, stacklevel=3)
