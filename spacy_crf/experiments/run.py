"""Runs an experiment: each system on each split, one after the other or in several processes."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from spacy.util import import_file
from thinc.api import Config

from ..core.types import Doubles
from ..errors import Errors
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
    layout: Layout
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
    if settings.with_dev and not settings.held_out:
        raise ValueError(Errors.CRF624)
    systems = {
        name: make_system(name, config, settings.component, settings.with_dev) for name, config in configs.items()
    }
    (first, layout), *others = systems.values()
    for system, other in others:
        _check_same(layout, other, first.name, system.name)
    distances = _distances(first, settings.grams) if splitting.kind == "pruning" else None
    splits = make_splits(layout, splitting, distances)
    for split in splits:
        if not len(split.train):
            raise ValueError(Errors.CRF625.format(split=split.name))
    tasks = [
        _Task(name, config, split, layout, splitting, settings) for name, config in configs.items() for split in splits
    ]
    found: dict[str, list[PartResult]] = {name: [] for name in configs}
    run = partial(_run_in, {name: system for name, (system, _) in systems.items()})
    for number, (task, results) in enumerate(zip(tasks, _results(tasks, settings, run)), 1):
        found[task.name] += results
        if on_result is not None:
            on_result(task.name, number, len(tasks), results)
    outcomes = [SystemResult(name, systems[name][0].component, tests) for name, tests in found.items()]
    return Experiment(splitting, layout.names, outcomes)


def _results(
    tasks: Sequence[_Task], settings: RunSettings, run: Callable[[_Task], list[PartResult]]
) -> Iterator[list[PartResult]]:
    if settings.jobs <= 1:
        yield from map(run, tasks)
        return
    context = get_context("spawn")  # a copy of a process with threads may hang
    with ProcessPoolExecutor(settings.jobs, context, _import_code, (settings.code,)) as executor:
        yield from executor.map(_run_alone, tasks)


def _import_code(code: Path | None) -> None:
    if code is not None:
        import_file("python_code", code)


def _run_alone(task: _Task) -> list[PartResult]:
    """In a process of its own, which reads the corpus itself."""
    system, _ = make_system(task.name, task.config, task.settings.component, task.settings.with_dev)
    return run_split(system, task)


def _run_in(systems: dict[str, System], task: _Task) -> list[PartResult]:
    return run_split(systems[task.name], task)


def run_split(system: System, task: _Task) -> list[PartResult]:
    """Train and test one system on one split."""
    split, dev, started = task.split, None, time.perf_counter()
    try:
        if task.settings.held_out:
            train, dev = hold_out(task.layout, split, task.splitting.unit, task.settings.held_out, task.splitting.seed)
            split = replace(split, train=train)
        nlp = train_on(system, split.train, dev)
        seconds = time.perf_counter() - started
        return list(evaluate_split(system, nlp, split, split.train, seconds))
    except Exception as error:  # whatever a component of somebody else's raises
        raise ValueError(Errors.CRF622.format(config=system.name, split=split.name, reason=error)) from error


def _check_same(first: Layout, other: Layout, name: str, other_name: str) -> None:
    """Refuse systems that see other documents."""
    same = first.names == other.names and np.array_equal(first.documents, other.documents)
    if not (same and np.array_equal(first.lengths, other.lengths)):
        counts = {"documents": len(first.names), "sentences": len(first.lengths), "tokens": first.lengths.sum()}
        others = {"documents": len(other.names), "sentences": len(other.lengths), "tokens": other.lengths.sum()}
        raise ValueError(Errors.CRF626.format(first=name, other=other_name, counts=counts, others=others))


def _distances(system: System, grams: Grams) -> Doubles:
    from spacy.util import load_model_from_config

    pool = system.source.read(load_model_from_config(system.config, auto_fill=True))
    words: list[list[str]] = [[] for _ in pool.layout.names]
    for owner, example in zip(pool.owners, pool.examples):
        words[owner] += [token.text for token in example.predicted]
    return jensen_shannon([count_grams(own, grams) for own in words])
