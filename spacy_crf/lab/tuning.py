"""Choice of penalties by cross-validation: a component is trained by its own trainer, and scored by its own scorer."""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import compress, product
from math import isfinite, isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.util import minibatch

from ..annotation.documents import document_numbers
from ..core.arrays import Segments
from ..core.errors import CRFError, CRFWarning, excerpt, require_count
from ..core.learn.penalty import deal
from ..corpora.docbin import cut_doc
from ..learning.encoder import ChainLearner, MakeSample, Sample
from ..learning.lbfgs import LBFGSTrainer
from ..learning.model import get_weights
from ..pipe.errors import PipeErrors
from ..tagging.component import CRFTagger
from .errors import LabErrors

Rule = Literal["best", "one-se"]
Unit = Literal["auto", "doc", "sequence"]
_Penalties: TypeAlias = tuple[float, float]  # c1 and c2
SCORES = {"ent": "ents_f", "spans": "spans_{spans_key}_f"}
TRAINER = {"@misc": "spacy_crf.LBFGS.v1"}  # with its defaults, as trainer = "auto" takes it
BATCH_SIZE = 256  # documents that are scored at once


@dataclass(frozen=True)
class FoldResult:
    """One fold under one pair of penalties.

    score (float), loss (float): of what was held out: the score of the component's scorer, nan where there is nothing
        to judge, and -log p(gold) for each token with gold, in nats. n_active (int): weights that are not 0.
    """

    fold: int
    c1: float
    c2: float
    score: float
    loss: float
    n_active: int
    iterations: int
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class Setting:
    """All folds, at least two, under one pair of penalties."""

    c1: float
    c2: float
    folds: list[FoldResult]

    def mean_of(self, name: str) -> float:
        """Mean over the folds. name (str): field of `FoldResult`."""
        return fmean(getattr(fold, name) for fold in self.folds)

    @property
    def mean(self) -> float:
        """Mean score."""
        return self.mean_of("score")

    @property
    def deviation(self) -> float:
        """Standard deviation of the score over folds."""
        return stdev(fold.score for fold in self.folds)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean score."""
        return self.deviation / sqrt(len(self.folds))

    @property
    def seconds(self) -> float:
        """Seconds that all folds took."""
        return sum(fold.seconds for fold in self.folds)

    def to_data(self) -> dict[str, Any]:
        means = {"loss": self.mean_of("loss"), "n_active": self.mean_of("n_active"), "seconds": self.seconds}
        return {**asdict(self), "mean": self.mean, "deviation": self.deviation, **means}


@dataclass(frozen=True)
class CrossValidation:
    """The outcome for a component, with the name of the score and the rule by which one setting is chosen."""

    component: str
    score: str
    rule: Rule
    settings: list[Setting]

    @property
    def best(self) -> Setting:
        """The setting with the highest mean score; of equal ones the more regularised."""
        return max(self.settings, key=lambda setting: (setting.mean, setting.c1, setting.c2))

    @property
    def chosen(self) -> Setting:
        """The best setting, or the most regularised one whose mean is within one standard error of the best's.

        More regularised is what has the greater c1, which makes models sparse, and then the greater c2.
        """
        if self.rule == "best":
            return self.best
        least = self.best.mean - self.best.standard_error
        return max((one for one in self.settings if one.mean >= least), key=lambda one: (one.c1, one.c2))

    def to_data(self) -> dict[str, Any]:
        chosen = {"c1": self.chosen.c1, "c2": self.chosen.c2}
        settings = [setting.to_data() for setting in self.settings]
        return {"component": self.component, "score": self.score, "rule": self.rule, **chosen, "settings": settings}


def cross_validate(
    nlp: Language,
    name: str,
    examples: Sequence[Example],
    c1: Sequence[float],
    c2: Sequence[float],
    *,
    folds: int = 5,
    unit: Unit = "auto",
    seed: int = 0,
    iterations: int = 100,
    rule: Rule = "best",
    scored: Sequence[Example] | None = None,
    on_result: Callable[[FoldResult], None] | None = None,
) -> CrossValidation:
    """Score all pairs of penalties on held-out parts of a corpus. The pipeline stays as it is.

    Every fit begins at 0, so that results depend neither on the order nor on the company of the penalties. Nothing of
    what is held out shows in a model but the labels.

    nlp (Language): initialised. name (str): of a component with the trainer spacy_crf.LBFGS.v1, whose settings hold.
    examples (Sequence[Example]): the training corpus, with what the component needs to see on the predicted side.
    unit (str): "doc" keeps documents together, "sequence" draws sentences, "auto" does so where documents are too few.
    iterations (int): of L-BFGS, at most, for each fit. rule (str): see `CrossValidation.chosen`.
    scored (Sequence[Example] | None): the same examples with the gold that they are scored by, if that is another.
    on_result (Callable | None): told of each fit when it is done.
    RAISES (ValueError): where less than two folds have a score under all penalties; others are left out and told.
    """
    pipe: Any = nlp.get_pipe(name)
    if not isinstance(pipe.trainer, LBFGSTrainer):
        raise CRFError(LabErrors.CRF604.format(name=name, trainer=type(pipe.trainer).__name__))
    get_weights(pipe.model).require_first_order(name, "cross-validation of penalties")
    require_count(iterations=iterations)
    if not pipe.labels:
        raise CRFError(PipeErrors.CRF401.format(name=name))
    pairs = list(product(_checked("c1", c1), _checked("c2", c2)))
    weights = score_weights(nlp, name)
    results: dict[_Penalties, list[FoldResult]] = {pair: [] for pair in pairs}
    for number, (train, held_out) in enumerate(make_folds(pipe, examples, folds, unit, seed, scored)):
        fold = Fold(nlp, name, train, held_out)
        for pair in pairs:
            started = time.perf_counter()
            fitted, done = fold.fit(*pair, iterations)
            seconds = time.perf_counter() - started
            result = FoldResult(number, *pair, *fold.evaluate(fitted, weights), count_weights(fitted), done, seconds)
            results[pair].append(result)
            if on_result is not None:
                on_result(result)
    score, kept = " + ".join(weights), _comparable(name, score_names=weights, results=results)
    return CrossValidation(name, score, rule, [Setting(*pair, found) for pair, found in kept.items()])


def _comparable(
    name: str, score_names: Iterable[str], results: Mapping[_Penalties, list[FoldResult]]
) -> dict[_Penalties, list[FoldResult]]:
    """Leave out the folds that lack a score under any penalties, so that means are over the same documents."""
    lacking = {result.fold for found in results.values() for result in found if isnan(result.score)}
    kept = {pair: [result for result in found if result.fold not in lacking] for pair, found in results.items()}
    if lacking:
        folds = excerpt(", ".join(str(fold + 1) for fold in sorted(lacking)))
        told = {"name": name, "score": " + ".join(score_names), "folds": folds}
        if len(next(iter(kept.values()))) < 2:
            raise CRFError(LabErrors.CRF484.format(**told))
        warnings.warn(LabErrors.CRFW485.format(**told), CRFWarning, stacklevel=3)
    return kept


def score_weights(nlp: Language, name: str) -> dict[str, float]:
    """Return the scores that a component is chosen by, with their weights, as `spacy train` has them by default."""
    weights = {key: weight for key, weight in (nlp.get_pipe_meta(name).default_score_weights or {}).items() if weight}
    if weights.keys() != {"crf_score"}:
        return weights
    pipe: Any = nlp.get_pipe(name)  # the score of its target, which says more by its name
    return {SCORES.get(pipe.target, f"{pipe.target}_acc").format(spans_key=pipe.cfg.get("spans_key")): 1.0}


def trainer_block(component: Mapping[str, Any]) -> dict[str, Any]:
    """Return the block of L-BFGS of a component that is trained by it. component (dict): its block of the config."""
    block = component.get("trainer", "auto")
    return dict(TRAINER if block == "auto" else block)


def _checked(name: str, values: Sequence[float]) -> list[float]:
    """Return penalties as numbers, each once."""
    wrong = [one for one in values if not (isinstance(one, int | float) and isfinite(one) and one >= 0)]
    if wrong or not values:
        raise CRFError(LabErrors.CRF605.format(name=name, value=wrong[0] if wrong else []))
    return list(dict.fromkeys(map(float, values)))


# -- folds -------------------------------------------------------------------------------------------------------


def make_folds(
    pipe: CRFTagger,
    examples: Sequence[Example],
    count: int,
    unit: Unit,
    seed: int,
    scored: Sequence[Example] | None = None,
) -> Iterator[tuple[list[Example], list[Example]]]:
    """Return training and held-out examples of folds of documents or sequences; those without gold are trained on.

    Examples whose references bear the name of one document stay together in a fold of documents. scored (Sequence |
    None): the held-out ones, if they are others.
    """
    parts, tested = list(examples), list(examples if scored is None else scored)
    judging = np.flatnonzero(count_known(pipe, parts))
    units = document_numbers(parts[place] for place in judging)
    by_document = unit == "doc" or (unit == "auto" and len(np.unique(units)) >= count)
    if not by_document:
        parts, tested = ([part for example in side for part in cut_example(pipe, example)] for side in (parts, tested))
        judging = np.flatnonzero(count_known(pipe, parts))
        units = np.arange(len(judging))
    found = len(np.unique(units))
    if not 2 <= count <= found:
        kind = "documents" if by_document else "sequences"
        raise CRFError(LabErrors.CRF603.format(folds=count, found=found, kind=kind))
    folds = np.full(len(parts), -1)
    folds[judging] = deal(found, count, np.random.default_rng(seed))[units]
    masks = ((folds == number).tolist() for number in range(count))
    return (([part for out, part in zip(held, parts) if not out], list(compress(tested, held))) for held in masks)


def count_known(pipe: CRFTagger, examples: Sequence[Example]) -> list[int]:
    """Count the units of each example whose gold is known."""
    examples = pipe.word_examples(examples)
    lengths = pipe.read_columns([example.predicted for example in examples]).lengths
    known = np.cumsum(np.append(0, pipe.gold(examples, lengths).is_known))
    return np.diff(known[Segments.of(example.predicted for example in examples).bounds]).tolist()


def cut_example(pipe: CRFTagger, example: Example) -> list[Example]:
    """Cut an example between the component's sequences, as far as a token of the gold ends there as well."""
    alignment, starts = example.alignment, [(0, 0)]
    for start in np.cumsum(pipe.read_columns([example.predicted]).lengths).tolist()[:-1]:
        gold = alignment.x2y[start]
        if len(gold) and alignment.y2x[int(gold[0])][0] == start:
            starts.append((start, int(gold[0])))
    sides = (example.predicted, example.reference), map(list, zip(*starts))
    return [Example(*pair) for pair in zip(*(cut_doc(*side, asks_whole=True) for side in zip(*sides)))]


class Fold:
    """Trains a component on one part of a corpus, under one pair of penalties after the other, and scores the rest."""

    def __init__(self, nlp: Language, name: str, train: list[Example], held_out: list[Example]):
        self._nlp = type(nlp)(vocab=nlp.vocab)  # keeps configs of the components that it makes
        self._name, self._config = name, nlp.config.interpolate()["components"][name]
        self._prepare_with, self._train, self._held_out = nlp, train, held_out
        pipe, given = self._make(), cast(CRFTagger, nlp.get_pipe(name))
        pipe.initialize(lambda: train, nlp=nlp, labels=given.label_data)
        self._begun = pipe.to_bytes()  # what is fitted to the training part: word classes, a tag dictionary
        self._n_known = sum(count_known(pipe, pipe.shown(held_out)))
        self._samples: dict[int, Sample] = {}

    def _make(self, **penalties: float) -> Any:
        # a fold is in memory as it is
        config = {**self._config, "trainer": {**trainer_block(self._config), "cache": None, **penalties}}
        return self._nlp.create_pipe(config.pop("factory"), self._name, config=config)

    def fit(self, c1: float, c2: float, iterations: int) -> tuple[CRFTagger, int]:
        """Train from the beginning, and return the component and the number of iterations."""
        pipe = self._make(c1=c1, c2=c2).from_bytes(self._begun)
        trainer: LBFGSTrainer = pipe.trainer
        settings = trainer.settings
        trainer.warns_of_unseen = False
        pipe.trainer = _Recall(trainer, self._samples)
        if pipe.prepares:
            pipe.before_training(lambda: self._train, self._prepare_with)
        # weights that were not seen come behind the first step, which has its own length; else one step does it all
        first = min(iterations, settings.iterations_per_step) if settings.unseen else iterations
        for step in filter(None, (first, iterations - first)):
            trainer.settings = replace(settings, iterations_per_step=step)
            pipe.update(self._train)
            pipe.finish_update(None)
        done = trainer.iterations
        trainer.reset()  # what is encoded takes more memory than the weights
        return pipe, done

    def evaluate(self, pipe: CRFTagger, weights: Mapping[str, float]) -> tuple[float, float]:
        """Return the score of the held-out part, a sum of the scores with weights, and its loss for each token with
        gold."""
        loss, scored = 0.0, list[Example]()
        for batch in minibatch(self._held_out, BATCH_SIZE):
            docs = [example.predicted.copy() for example in batch]
            predictions = pipe.predict(docs)
            loss += pipe.get_loss(batch, predictions)
            pipe.set_annotations(docs, predictions)
            scored += [Example(doc, example.reference) for doc, example in zip(docs, batch)]
        found = pipe.score(scored)
        if lacking := [key for key in weights if key not in found]:
            raise CRFError(LabErrors.CRF654.format(name=pipe.name, score=lacking[0], known=", ".join(found) or "none"))
        values = {key: nan if found[key] is None else found[key] for key in weights}
        return sum(weight * values[key] for key, weight in weights.items()), loss / self._n_known


class _Recall:
    """Gives a trainer the samples of a fold, which are the same under all penalties, made once, and kept by the place
    of their first example."""

    def __init__(self, trainer: LBFGSTrainer, samples: dict[int, Sample]):
        self._trainer, self._samples = trainer, samples

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trainer, name)

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        places = {id(example): place for place, example in enumerate(examples)}

        def recall(own: Sequence[Example]) -> Sample:
            place = places[id(own[0])]
            if place not in self._samples:
                self._samples[place] = make_sample(own)
            return self._samples[place]

        return self._trainer.accumulate(learner, examples, recall)


def count_weights(pipe: CRFTagger) -> int:
    """Count the weights that are not 0."""
    model: Any = pipe.model
    return sum(int(np.count_nonzero(model.get_param(name))) for name in model.param_names if model.has_param(name))
