"""Runs an experiment: each system is trained and tested on each split, one after the other or in several processes."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial, singledispatch
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
from spacy.attrs import POS, TAG
from spacy.language import Language
from spacy.pipeline import Morphologizer, Tagger
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import import_file, load_model, load_model_from_config
from thinc.api import Config

from ..core.arrays import Doubles, Indices, Segments
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.labels import TagSet
from ..corpora.exchange import Place
from ..pipe.component import ChainPipe
from ..pipe.probabilities import LabelsTokens
from ..pipe.seen import as_seen, run_before
from ..punctuation.component import PunctuationRestorer
from ..punctuation.docs import gold_labels
from ..sections.component import SectionParser
from ..sections.layout import units_of
from ..sections.scorer import confuse
from ..sections.segment import Kind
from ..tagging.component import CRFTagger
from ..tagging.ranking import Order
from ..tagging.review import review
from ..tagsets.component import SetValuedTagger, SourcedSetTagger
from .documents import Grams, Purpose, Source, by_document, count_grams, jensen_shannon, selected
from .errors import LabErrors
from .evaluation import judged_tokens, unknown_share
from .measures import Scored, assess
from .results import DocumentScores, Experiment, PartResult, SystemResult
from .sampling import By, CorpusLayout, draw_test
from .splits import CHECKING, ROUNDING, Split, SplitSettings, make_splits
from .statistics import single_figures
from .training import told_problem, train_config

DEV_SHARE = 0.1  # of the training part, where the dev corpus is split itself
CORPORA = {"train_corpus": "experiment_train", "dev_corpus": "experiment_dev"}
PURPOSES: dict[str, Purpose] = {"train_corpus": "training", "dev_corpus": "scores"}
TAGGERS: dict[type, Callable[[Doc], int]] = {
    Tagger: lambda doc: sum(map(bool, doc.to_array(TAG))),
    Morphologizer: lambda doc: sum(map(bool, doc.to_array(POS))),
}
OnResult = Callable[[str, int, int, list[PartResult]], None]


@dataclass(frozen=True)
class RunSettings:
    """How systems are trained on splits.

    component (str | None): whose scores count; None for the last one that has a scorer.
    with_dev (bool): split the dev corpus as well; a tenth of each training part then takes its place.
    dev_share (float | None): share of each training part that takes the place of the dev corpus; 0 to keep that; None
        for what `with_dev` asks for.
    grams (str): what "pruning" compares documents by, see `documents.count_grams`.
    jobs (int): processes. code (Path | None): Python file that these import first.
    """

    component: str | None = None
    with_dev: bool = False
    dev_share: float | None = None
    grams: Grams = "characters"
    jobs: int = 1
    code: Path | None = None

    @property
    def held_out(self) -> float:
        """Share of each training part that checkpoints are chosen by."""
        return (DEV_SHARE if self.with_dev else 0.0) if self.dev_share is None else self.dev_share


@dataclass(frozen=True)
class System:
    """What is trained, again and again: a config with variables, the component whose scores count, its documents."""

    name: str
    config: Config
    component: str
    source: Source
    layout: CorpusLayout


def run_experiment(
    configs: dict[str, Config],
    splitting: SplitSettings,
    settings: RunSettings | None = None,
    on_result: OnResult | None = None,
) -> Experiment:
    """Train and test the pipelines of one or more configs on the same splits of their training corpus.

    Nothing is chosen on what is scored: checkpoints are chosen by the dev corpus of the config, or by a part of the
    training part. Results are the same in every run but for the seconds.

    configs (dict[str, Config]): by name, with variables as they are. They may read the corpus each in its own way, as
        long as it has the same documents and sentences.
    on_result (Callable | None): told of each system and split when it is done: name, number from 1, how many, results.
    RAISES (ValueError): for what is wrong with settings or configs, before anything is trained; for a split that
        fails, with its name.
    """
    settings = settings or RunSettings()
    if settings.with_dev and not settings.held_out:
        raise CRFError(LabErrors.CRF624)
    systems = first, *others = [make_system(name, config, settings) for name, config in configs.items()]
    for other in others:
        _check_same(first, other)
    distances = _distances(first, settings.grams) if splitting.kind == "pruning" else None
    splits = make_splits(first.layout, splitting, distances)
    for split in splits:
        if not len(split.train):
            raise CRFError(LabErrors.CRF625.format(split=split.name))
    tasks = list(product(systems, splits))
    outcomes = {system.name: SystemResult(system.name, system.component, []) for system in systems}
    for number, ((system, _), results) in enumerate(zip(tasks, _results(tasks, splitting, settings)), 1):
        outcomes[system.name].tests.extend(results)
        if on_result is not None:
            on_result(system.name, number, len(tasks), results)
    for outcome in outcomes.values():
        _check_scores(outcome)
        _check_pairs(outcomes[first.name], outcome)
    return Experiment(splitting, first.layout.names, list(outcomes.values()))


def make_system(name: str, config: Config, settings: RunSettings) -> System:
    """Read the documents of a config once, or raise a coded error if it has no component to score."""
    nlp, component = load_model_from_config(config, auto_fill=True), settings.component
    scored = [known for known, pipe in nlp.pipeline if getattr(pipe, "scorer", None) is not None]
    if not scored or (component is not None and component not in scored):
        raise CRFError(LabErrors.CRF621.format(config=name, name=component, known=", ".join(scored) or "none"))
    source = Source(nlp.config, settings.with_dev)
    return System(name, config, component or scored[-1], source, source.read(nlp).layout)


def _check_same(first: System, second: System) -> None:
    """Refuse systems that see other documents."""
    one, other = first.layout, second.layout
    same = one.names == other.names and np.array_equal(one.documents, other.documents)
    if not (same and np.array_equal(one.lengths, other.lengths)):
        told = "{} documents, {} sentences, {} tokens"
        counts, others = (told.format(len(x.names), len(x.lengths), x.lengths.sum()) for x in (one, other))
        raise CRFError(LabErrors.CRF626.format(first=first.name, other=second.name, counts=counts, others=others))


def _check_scores(outcome: SystemResult) -> None:
    """Warn of test parts that have nothing to judge, such as those without entities, gold or found, or refuse all."""
    lacking = [test.test for test in outcome.tests if not test.scores]
    if len(lacking) == len(outcome.tests):
        raise CRFError(LabErrors.CRF623.format(name=outcome.component, test=lacking[0]))
    if lacking:
        told = {"config": outcome.name, "count": len(lacking), "all": len(outcome.tests)}
        warnings.warn(LabErrors.CRFW680.format(**told, tests=excerpt(", ".join(lacking))), CRFWarning, stacklevel=3)


def _check_pairs(first: SystemResult, second: SystemResult) -> None:
    """Warn of test parts where one of two systems alone has a score, which is not compared there."""
    shared = set.intersection(*({name for test in own.tests for name in test.scores} for own in (first, second)))
    pairs = zip(first.tests, second.tests)
    rows = [(one.test, (one.scores.keys() ^ other.scores.keys()) & shared) for one, other in pairs]
    if lacking := [row for row in rows if row[1]]:
        told = {"first": first.name, "second": second.name, "count": len(lacking), "all": len(rows)}
        names, tests = set().union(*(own for _, own in lacking)), excerpt(", ".join(test for test, _ in lacking))
        warned = LabErrors.CRFW691.format(**told, tests=tests, scores=", ".join(sorted(names)))
        warnings.warn(warned, CRFWarning, stacklevel=3)


def _distances(system: System, grams: Grams) -> Doubles:
    pool = system.source.read(load_model_from_config(system.config, auto_fill=True))
    words: list[list[str]] = [[] for _ in pool.layout.names]
    for owner, example in zip(pool.owners, pool.examples):
        words[owner] += [token.text for token in example.predicted]
    return jensen_shannon([count_grams(own, grams) for own in words])


# -- one system on one split -------------------------------------------------------------------------------------


def _results(
    tasks: Sequence[tuple[System, Split]], splitting: SplitSettings, settings: RunSettings
) -> Iterator[list[PartResult]]:
    if settings.jobs <= 1:
        yield from (_run_split(system, split, splitting, settings) for system, split in tasks)
        return
    alone = [(system.name, system.config, split, splitting, settings) for system, split in tasks]
    context = get_context("spawn")  # a copy of a process with threads may hang
    begin: Any = () if settings.code is None else (import_file, ("python_code", settings.code))
    with ProcessPoolExecutor(settings.jobs, context, *begin) as executor:
        try:
            yield from executor.map(_run_alone, *zip(*alone))
        except BrokenProcessPool as error:
            raise CRFError(LabErrors.CRF888) from error


def _run_alone(name: str, config: Config, split: Split, splitting: SplitSettings, run: RunSettings) -> list[PartResult]:
    """Run one task in a process of its own, which reads the corpus itself."""
    return _run_split(make_system(name, config, run), split, splitting, run)


def _run_split(system: System, split: Split, splitting: SplitSettings, run: RunSettings) -> list[PartResult]:
    dev, started = None, time.perf_counter()
    try:
        if run.held_out:
            train, dev = hold_out(system.layout, split, splitting.unit, run.held_out, splitting.seed)
            split = replace(split, train=train)
        if splitting.kind == "active":
            return list(_check_in_turn(system, split, splitting, dev))
        nlp = train_on(system, split.train, dev)
        return list(_evaluate(system, nlp, split, time.perf_counter() - started))
    except Exception as error:  # whatever a component of somebody else's raises
        raise CRFError(
            LabErrors.CRF622.format(config=system.name, split=split.name, reason=told_problem(error))
        ) from error


def hold_out(layout: CorpusLayout, split: Split, by: By, share: float, seed: int) -> tuple[Indices, Indices]:
    """Return what is left for training, and a part of the training part that takes the place of the dev corpus."""
    owners = layout.documents[split.train]
    present, numbers = np.unique(owners, return_inverse=True)
    names = tuple(layout.names[number] for number in present.tolist())
    unit: By = "sentence" if len(present) < 2 else by  # of one document, only a part can be set aside
    rng = np.random.default_rng([seed, len(split.train)])
    is_held = draw_test(CorpusLayout(names, numbers, layout.lengths[split.train]), unit, share, rng)
    return split.train[~is_held], split.train[is_held]


def train_on(system: System, sentences: Indices, dev: Indices | None) -> Language:
    """Train on some sentences, and load the checkpoint that is best on others, or the dev corpus, as a user would."""
    config = system.config.copy()
    parts = {"train_corpus": sentences, **({} if dev is None else {"dev_corpus": dev})}
    with ExitStack() as stack:
        for setting, part in parts.items():
            config["corpora"][CORPORA[setting]] = stack.enter_context(selected(system.source, part, PURPOSES[setting]))
            config["training"][setting] = f"corpora.{CORPORA[setting]}"
        folder = Path(stack.enter_context(TemporaryDirectory()))
        train_config(config, output=folder)
        return load_model(folder / "model-best")


def _check_in_turn(system: System, split: Split, splitting: SplitSettings, dev: Indices | None) -> Iterator[PartResult]:
    """Train on more and more of a training part, as if somebody checked it sentence by sentence in the order that the
    split is named after; the first fraction is the same random one for all orders."""
    order = CHECKING[split.series]
    pending = np.random.default_rng([splitting.seed, split.draw, 1]).permutation(split.train)
    chosen, lengths = pending[:0], system.layout.lengths
    for fraction in sorted(set(splitting.fractions)):
        started, wanted = time.perf_counter(), fraction * lengths[split.train].sum() - lengths[chosen].sum()
        n_next = min(len(pending), int((np.cumsum(lengths[pending]) < wanted - ROUNDING).sum()) + 1)
        chosen, pending = np.append(chosen, pending[:n_next]), pending[n_next:]
        checked = replace(split, train=np.sort(chosen), fraction=fraction)
        nlp = train_on(system, checked.train, dev)
        yield from _evaluate(system, nlp, checked, time.perf_counter() - started)
        if order is not None and len(pending):
            pending = rank_sentences(system, nlp, np.sort(pending), order)


def rank_sentences(system: System, nlp: Language, sentences: Indices, order: Order) -> Indices:
    """Return sentences in the order in which they are to be checked, for a pipeline; see `review`."""
    pipe = nlp.get_pipe(system.component)
    if not (isinstance(pipe, ChainPipe) and isinstance(pipe, LabelsTokens)):
        raise CRFError(LabErrors.CRF690.format(name=system.component))
    pieces = [example.predicted.copy() for _, example in system.source.read(nlp).take(sentences)]
    firsts = Segments(np.array([len(doc) for doc in pieces], dtype=np.intp)).firsts
    ends = np.cumsum(system.layout.lengths[sentences])
    docs, places = run_before(nlp, system.component, pieces), (Place("document", k) for k in range(len(pieces)))
    found = review(cast(CRFTagger, pipe), docs, order, per_token=True, places=places)
    tokens = [int(firsts[item.place.number]) + item.span.start for item in found]
    ranked = dict.fromkeys([*np.searchsorted(ends, tokens, side="right").tolist(), *range(len(sentences))])
    return sentences[[number for number in ranked if number < len(sentences)]]


def _evaluate(system: System, nlp: Language, split: Split, seconds: float) -> Iterator[PartResult]:
    """Annotate and score the test parts of a split with the pipeline that was trained on it."""
    pool, scored = system.source.read(nlp), system.source.read(nlp, "scores")
    examples = [example for _, example in pool.take(split.train)]
    words = frozenset(token.text for example in examples for token in example.predicted)
    pipe: Any = nlp.get_pipe(system.component)
    for part in split.tests:
        pieces = scored.take(part.sentences)
        docs = nlp.pipe(example.predicted.copy() for _, example in pieces)
        tested = [(number, Example(doc, example.reference)) for doc, (number, example) in zip(docs, pieces)]
        alone = [example for _, example in tested]
        seen = partial(as_seen, nlp, system.component, (example.predicted.copy() for _, example in pieces), alone)
        part_scored = Scored(alone, [example.reference for example in examples], words, seen=cache(seen))
        told = pipe.score(alone)
        yield PartResult(
            split=split.name,
            test=part.name,
            series=split.series,
            fraction=split.fraction,
            train_tokens=pool.layout.tokens(split.train),
            test_tokens=pool.layout.tokens(part.sentences),
            labels=len(getattr(pipe, "labels", ())),
            unknown_words=unknown_share(pipe, part_scored),
            scores=single_figures(told),
            documents=[
                DocumentScores(pool.layout.names[number], n_gold, found)
                for number, own in by_document(tested).items()
                if (found := single_figures(pipe.score(own))) and (n_gold := count_gold(pipe, own))
            ],
            found=assess(pipe, part_scored, told),
            seconds=seconds,
            draw=split.draw,
        )


@singledispatch
def count_gold(pipe: Any, examples: Sequence[Example]) -> int:
    """Count the units with gold, which are what scores are means over; of components that are neither ours nor spaCy's
    taggers, all tokens."""
    if not hasattr(pipe, "annotation"):
        read = TAGGERS.get(type(pipe), len)
        return sum(map(read, (example.reference for example in examples)))
    tags = getattr(pipe, "tags", TagSet(pipe.labels, "none"))
    return sum(name is not None for example in examples for name in pipe.annotation.judged(example, tags))


@count_gold.register(SetValuedTagger)
@count_gold.register(SourcedSetTagger)
def count_weighted(pipe: Any, examples: Sequence[Example]) -> int:
    """Count the tokens with gold, which may be weighted; sets over another component have no annotation to ask."""
    return sum(len(judged_tokens(pipe, example)) for example in examples)


@count_gold.register
def count_elements(pipe: SectionParser, examples: Sequence[Example]) -> int:
    """Count the elements that are no blank lines: those with gold, or all where there is none but perhaps a tree."""
    key, newline = pipe.cfg["elements_key"], pipe.cfg["newline_label"]
    n_gold = sum(newline not in pair for example in examples for pair in confuse(example, key, newline))
    units = (unit for example in examples for unit in units_of(example.predicted))
    return n_gold or sum(unit.kind is not Kind.NEWLINE for unit in units)


@count_gold.register
def count_marked_words(pipe: PunctuationRestorer, examples: Sequence[Example]) -> int:
    """Count the words that are known to have a mark, or none."""
    return sum(label is not None for example in examples for label in gold_labels(example, pipe.label_scheme))
