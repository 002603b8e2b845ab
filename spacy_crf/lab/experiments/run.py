"""Runs an experiment: each system on each split, one after the other or in several processes."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from spacy.util import import_file, load_model_from_config
from thinc.api import Config

from ...core.arrays import Doubles
from ...core.errors import CRFError
from ..errors import LabErrors
from .distance import Grams, count_grams, jensen_shannon
from .evaluate import evaluate_split
from .layout import Layout, Split
from .results import Experiment, PartResult, SystemResult
from .splits import SplitSettings, make_splits
from .training import System, hold_out, make_system, train_on

DEV_SHARE = 0.1  # of the training part, where the dev corpus is split itself
OnResult = Callable[[str, int, int, list[PartResult]], None]


@dataclass(frozen=True)
class RunSettings:
    """How systems are trained on splits.

    component (str | None): whose scores count; None for the last one that has a scorer.
    with_dev (bool): split the dev corpus as well; a tenth of each training part then takes its place.
    dev_share (float | None): share of each training part that takes the place of the dev corpus; 0 to keep that; None
        for what `with_dev` asks for.
    grams (str): what "pruning" compares documents by, see `distance.py`.
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
class _Task:
    """One system on one split; what a process needs to know of it."""

    name: str
    config: Config
    split: Split
    splitting: SplitSettings
    settings: RunSettings


def run_experiment(
    configs: dict[str, Config],
    splitting: SplitSettings,
    settings: RunSettings | None = None,
    on_result: OnResult | None = None,
) -> Experiment:
    """Train and test the pipelines of one or more configs on the same splits of their training corpus.

    Nothing is chosen on what is scored: checkpoints are chosen by the dev corpus of the config, or by a part of the
    training part.

    configs (dict[str, Config]): by name, with variables as they are. They may read the corpus each in its own way, as
        long as it has the same documents and sentences.
    splitting (SplitSettings): what the splits are. settings (RunSettings | None): of the runs.
    on_result (Callable | None): told of each system and split when it is done: name, number from 1, how many, results.
    RETURNS (Experiment): all results, the same in every run but for the seconds.
    RAISES (ValueError): for what is wrong with settings or configs, before anything is trained; for a split that
        fails, with its name.
    """
    settings = settings or RunSettings()
    systems = _make_systems(configs, settings)
    splits = _make_splits(next(iter(systems.values())), splitting, settings)
    tasks = [_Task(name, config, split, splitting, settings) for name, config in configs.items() for split in splits]
    found: dict[str, list[PartResult]] = {name: [] for name in configs}
    for number, (task, results) in enumerate(zip(tasks, _results(tasks, settings, systems)), 1):
        found[task.name] += results
        if on_result is not None:
            on_result(task.name, number, len(tasks), results)
    outcomes = [SystemResult(name, systems[name].component, parts) for name, parts in found.items()]
    return Experiment(splitting, next(iter(systems.values())).layout.names, outcomes)


def _make_systems(configs: dict[str, Config], settings: RunSettings) -> dict[str, System]:
    """Systems by name, which see the same documents."""
    if settings.with_dev and not settings.held_out:
        raise CRFError(LabErrors.CRF624)
    made = [make_system(name, config, settings.component, settings.with_dev) for name, config in configs.items()]
    for other in made[1:]:
        _check_same(made[0], other)
    return {system.name: system for system in made}


def _make_splits(system: System, splitting: SplitSettings, settings: RunSettings) -> list[Split]:
    """Splits that have something to train on."""
    distances = _distances(system, settings.grams) if splitting.kind == "pruning" else None
    splits = make_splits(system.layout, splitting, distances)
    for split in splits:
        if not len(split.train):
            raise CRFError(LabErrors.CRF625.format(split=split.name))
    return splits


def _results(tasks: Sequence[_Task], settings: RunSettings, systems: dict[str, System]) -> Iterator[list[PartResult]]:
    if settings.jobs <= 1:
        yield from (_run_split(systems[task.name], task) for task in tasks)
        return
    context = get_context("spawn")  # a copy of a process with threads may hang
    with ProcessPoolExecutor(settings.jobs, context, _import_code, (settings.code,)) as executor:
        yield from executor.map(_run_alone, tasks)


def _import_code(code: Path | None) -> None:
    if code is not None:
        import_file("python_code", code)


def _run_alone(task: _Task) -> list[PartResult]:
    """In a process of its own, which reads the corpus itself."""
    system = make_system(task.name, task.config, task.settings.component, task.settings.with_dev)
    return _run_split(system, task)


def _run_split(system: System, task: _Task) -> list[PartResult]:
    """Train and test one system on one split."""
    split, dev, started = task.split, None, time.perf_counter()
    try:
        if task.settings.held_out:
            train, dev = hold_out(
                system.layout, split, task.splitting.unit, task.settings.held_out, task.splitting.seed
            )
            split = replace(split, train=train)
        nlp = train_on(system, split.train, dev)
        seconds = time.perf_counter() - started
        return list(evaluate_split(system, nlp, split, split.train, seconds))
    except Exception as error:  # whatever a component of somebody else's raises
        raise CRFError(LabErrors.CRF622.format(config=system.name, split=split.name, reason=error)) from error


def _check_same(first: System, second: System) -> None:
    """Refuse systems that see other documents."""
    one, other = first.layout, second.layout
    same = one.names == other.names and np.array_equal(one.documents, other.documents)
    if not (same and np.array_equal(one.lengths, other.lengths)):
        counts, others = _counts(one), _counts(other)
        raise CRFError(LabErrors.CRF626.format(first=first.name, other=second.name, counts=counts, others=others))


def _counts(layout: Layout) -> str:
    return f"{len(layout.names)} documents, {len(layout.lengths)} sentences, {layout.lengths.sum()} tokens"


def _distances(system: System, grams: Grams) -> Doubles:
    pool = system.source.read(load_model_from_config(system.config, auto_fill=True))
    words: list[list[str]] = [[] for _ in pool.layout.names]
    for owner, example in zip(pool.owners, pool.examples):
        words[owner] += [token.text for token in example.predicted]
    return jensen_shannon([count_grams(own, grams) for own in words])
