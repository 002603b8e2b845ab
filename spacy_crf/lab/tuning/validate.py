"""Cross-validation of the penalties of a component that L-BFGS trains."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import isfinite

from spacy.training import Example

from ...core.errors import CoreErrors, CRFError
from ...learning.model import get_weights
from ...learning.trainers.full_batch import LBFGSTrainer
from ...tagging.component import CRFTagger
from ..errors import LabErrors
from .fit import FoldTrainer
from .folds import Fold, Unit, encode
from .results import CrossValidation, FoldResult, Rule, Setting
from .scores import HeldOutScorer

SCORES = {"ent": "ents_f", "spans": "spans_{spans_key}_f"}


def cross_validate(
    pipe: CRFTagger,
    examples: Sequence[Example],
    c1: Sequence[float],
    c2: Sequence[float],
    *,
    folds: int = 5,
    unit: Unit = "auto",
    seed: int = 0,
    iterations: int = 100,
    rule: Rule = "best",
    on_result: Callable[[FoldResult], None] | None = None,
) -> CrossValidation:
    """Score all pairs of penalties on held-out parts of a corpus. The component stays as it is.

    Every fit begins at 0, so that results depend neither on the order nor on the company of the penalties; apart from
    the seconds they are the same in every run.

    pipe (CRFTagger): with labels, and with the trainer spacy_crf.LBFGS.v1, whose other settings hold.
    examples (Sequence[Example]): the training corpus, with what the component needs to see on the predicted side.
    c1 (Sequence[float]), c2 (Sequence[float]): L1 and L2 penalties to try, each with each.
    folds (int): how many parts. seed (int): of the draw that makes them.
    unit (str): "doc" keeps documents together, "sequence" draws sentences, "auto" does so where documents are too few.
    iterations (int): of L-BFGS, at most, for each fit.
    rule (str): see `CrossValidation.chosen`.
    on_result (Callable | None): told of each fit when it is done.
    RETURNS (CrossValidation): all results, and the choice.
    RAISES (ValueError): for another trainer, a model of order 2, penalties that are not numbers of at least 0, too few
        documents.
    """
    trainer = pipe.trainer
    if not isinstance(trainer, LBFGSTrainer):
        raise CRFError(LabErrors.CRF604.format(name=pipe.name, trainer=type(trainer).__name__))
    get_weights(pipe.model).require_first_order(pipe.name, "cross-validation of penalties")
    if iterations < 1:
        raise CRFError(CoreErrors.CRF108.format(name="iterations", least=1, value=iterations))
    pairs = list(product(_checked("c1", c1), _checked("c2", c2)))
    results: dict[tuple[float, float], list[FoldResult]] = {pair: [] for pair in pairs}
    for number, fold in enumerate(encode(pipe, examples).folds(folds, unit, seed)):
        for result in _run(number, fold, pairs, pipe, trainer, iterations):
            results[result.c1, result.c2].append(result)
            if on_result is not None:
                on_result(result)
    score = SCORES.get(pipe.target, f"{pipe.target}_acc").format(spans_key=pipe.cfg["spans_key"])
    return CrossValidation(pipe.name, score, rule, [Setting(*pair, found) for pair, found in results.items()])


def _run(
    number: int,
    fold: Fold,
    pairs: Sequence[tuple[float, float]],
    pipe: CRFTagger,
    trainer: LBFGSTrainer,
    iterations: int,
) -> Iterator[FoldResult]:
    """One fold under all penalties."""
    fitter, score = FoldTrainer(fold, trainer, iterations), HeldOutScorer(pipe, fold.held_out)
    for c1, c2 in pairs:
        started = time.perf_counter()
        fitted = fitter.fit(c1, c2)
        seconds = time.perf_counter() - started
        weights = fitted.weights
        yield FoldResult(number, c1, c2, *score(weights), weights.n_active, fitted.iterations, seconds)


def _checked(name: str, values: Sequence[float]) -> list[float]:
    """Penalties as numbers, each once."""
    for value in values:
        if not (isinstance(value, int | float) and isfinite(value) and value >= 0):
            raise CRFError(LabErrors.CRF605.format(name=name, value=value))
    if not values:
        raise CRFError(LabErrors.CRF605.format(name=name, value=list(values)))
    return list(dict.fromkeys(map(float, values)))
