"""Accuracy against training time on CoNLL-2000, every algorithm of both engines, several seeds.

    python -m benchmarks.curve --data DIR --out FILE.json [--seeds 5] [--quick]

Both learn from the same lists of attribute strings, which they hold encoded beforehand. Both clocks cover the search
for the weights that there are, and training; the peer's, that of `Trainer.train`, also the writing of a file.
CRFsuite has no seed: its runs in one process differ, and as many of them are made. F1 and accuracy are those on test;
nothing is chosen by them. Vowpal Wabbit, where it is installed, learns the same sequences by searching (SEARN without
roll-outs): it reads them from a file of text, and its clock covers that, too.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Any, TypedDict

import numpy as np
import pycrfsuite

from benchmarks.data import accuracy, score_chunks
from benchmarks.machine import describe
from benchmarks.measure import new_parser, write_json
from benchmarks.peer import open_tagger
from benchmarks.report import show
from benchmarks.summary import OURS, PEER
from benchmarks.tasks import TASKS
from spacy_crf.core.arrays import Floats
from spacy_crf.core.learn.full_batch import FullBatchObjective, new_optimizer
from spacy_crf.core.learn.online import run_epochs
from spacy_crf.core.learn.sgd import SGD
from spacy_crf.core.threads import single_threaded_blas
from spacy_crf.core.weights import ChainWeights
from spacy_crf.estimator import CRF
from spacy_crf.estimator.preparation import FittedChain, Prepared, prepare, seen_layout
from spacy_crf.estimator.training import read_settings
from spacy_crf.learning.block import (
    AdaGradSettings,
    AROWSettings,
    OnlineSettings,
    PassiveAggressiveSettings,
    PerceptronSettings,
)

FEW, MANY = (1, 2, 3, 5, 10, 30), (1, 2, 3, 5, 10, 30, 50)
EPOCHS = {"adagrad": (1, 2, 3, 4, 5, 10), "pa": FEW, "ap": FEW, "arow": FEW, "l2sgd": MANY}
ITERATIONS = (10, 20, 40, 60, 80, 100, 500)
QUICK = (1, 2)
ONLINE: dict[str, OnlineSettings] = {
    "adagrad": AdaGradSettings(),
    "pa": PassiveAggressiveSettings(),
    "ap": PerceptronSettings(),
    "arow": AROWSettings(),
}
SEARCH, PASSES = "vw", (1, 2)
SEARCH_SETTINGS = "--search_task sequence --search_rollout none -b 24 --holdout_off --quiet"
ENGINES = {OURS: "spacy_crf", PEER: "CRFsuite", SEARCH: "Vowpal Wabbit"}
NAMES = {
    "search": "search, from text",
    "lbfgs": "L-BFGS",
    "l2sgd": "SGD",
    "ap": "perceptron",
    "pa": "PA",
    "arow": "AROW",
    "adagrad": "AdaGrad",
}
Sequences = list[list[list[str]]]
Labels = list[list[str]]


class Point(TypedDict):
    """One model: how it was trained, how long that took, and how good it is."""

    engine: str
    algorithm: str
    epochs: int
    seed: int
    wall: float
    f1: float
    accuracy: float


class Bench:
    """The data of all runs."""

    def __init__(self, data: Path):
        task = TASKS["chunking"]
        train, test = (list(task.read(data, split)) for split in ("train", "test"))
        self.items, self.labels = [task.features(s) for s in train], [task.labels(s) for s in train]
        self.test_items, self.test_labels = [task.features(s) for s in test], [task.labels(s) for s in test]
        self.prepared: Prepared = prepare(self.items, self.labels, read_settings(CRF().get_params()))
        self.layout_seconds = self._time_layout()

    def _time_layout(self) -> float:
        """Seconds to find out which weights there are, which is a part of the peer's training."""
        corpus = self.prepared.corpus
        started = time.perf_counter()
        n_labels, settings = len(self.prepared.labels), read_settings(CRF().get_params())
        layout = seen_layout(corpus.lengths, corpus.features, corpus.gold.labels, n_labels, settings)
        ChainWeights(layout, np.ones(layout.size)).pruned()
        return time.perf_counter() - started

    def score(self, predicted: Labels) -> dict[str, float]:
        """F1 and accuracy on test."""
        return {"f1": score_chunks(self.test_labels, predicted).f1, "accuracy": accuracy(self.test_labels, predicted)}

    def score_weights(self, flat: Floats) -> dict[str, float]:
        """The same for our weights."""
        found = self.prepared
        weights = ChainWeights(found.layout, np.asarray(flat, dtype=np.float64))
        chain = FittedChain.without_zeros(found.labels, found.attributes, weights)
        return self.score(chain.decode(self.test_items, 0))


def run_peer(bench: Bench, algorithm: str, points: Iterable[int], seeds: int) -> Iterator[Point]:
    """CRFsuite, which trains anew for every number of epochs."""
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    for items, labels in zip(bench.items, bench.labels):
        trainer.append(items, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        for seed in range(seeds):
            for epochs in points:
                trainer.set("max_iterations", epochs)
                started = time.perf_counter()
                trainer.train(path)
                wall = time.perf_counter() - started
                scores = bench.score([*map(open_tagger(path).tag, bench.test_items)])
                yield _point(PEER, algorithm, epochs, seed, wall, scores)


def run_search(bench: Bench, seeds: int) -> Iterator[Point]:
    """Vowpal Wabbit, which trains anew for every number of passes."""
    from vowpalwabbit import Workspace

    names = list(dict.fromkeys(label for labels in bench.labels for label in labels))
    with tempfile.TemporaryDirectory() as folder:
        train, test, model, found = (str(Path(folder) / name) for name in ("train", "test", "model", "found"))
        _write_lines(train, bench.items, bench.labels, names)
        _write_lines(test, bench.test_items, bench.test_labels, names)
        for seed in range(seeds):
            for passes in PASSES:
                again = f"--passes {passes} -c -k" if passes > 1 else ""
                started = time.perf_counter()
                settings = f"{SEARCH_SETTINGS} --search {len(names)} --random_seed {seed} {again}"
                _run(Workspace(f"{settings} -d {train} -f {model}"))
                wall = time.perf_counter() - started
                _run(Workspace(f"-t -i {model} -d {test} -p {found} --quiet"))
                lines = Path(found).read_text(encoding="utf8").splitlines()
                predicted = [[names[int(number) - 1] for number in line.split()] for line in lines if line.strip()]
                yield _point(SEARCH, "search", passes, seed, wall, bench.score(predicted))


def _run(workspace: Any) -> None:
    workspace.run_parser()
    workspace.finish()


def _write_lines(path: str, items: Sequences, labels: Labels, names: list[str]) -> None:
    """Write sequences as Vowpal Wabbit reads them; a label that training lacks counts as wrong whatever is found."""
    numbers, marks = {name: number for number, name in enumerate(names, 1)}, str.maketrans(": |", "\uff1a\u2423\u00a6")
    with open(path, "w", encoding="utf8") as file:
        for sequence, own in zip(items, labels):
            for item, label in zip(sequence, own):
                file.write(f"{numbers.get(label, 1)} | {' '.join(one.translate(marks) for one in item)}\n")
            file.write("\n")


def run_ours(bench: Bench, algorithm: str, points: Iterable[int], seeds: int) -> Iterator[Point]:
    """Our learners, looked at as they go on; the clock stands still meanwhile."""
    runs = {"lbfgs": _lbfgs, "l2sgd": _sgd}
    for seed in range(seeds):
        with single_threaded_blas():
            steps = runs[algorithm](bench, seed) if algorithm in runs else _online(bench, algorithm, seed)
            wall, epochs = bench.layout_seconds, 0
            for target in points:
                started = time.perf_counter()
                flat = None
                while epochs < target and (found := next(steps, None)) is not None:
                    flat, epochs = found, epochs + 1
                if flat is None:
                    break
                weights = flat()
                wall += time.perf_counter() - started
                yield _point(OURS, algorithm, epochs, seed, wall, bench.score_weights(weights))


def _online(bench: Bench, algorithm: str, seed: int) -> Iterator[Callable[[], Floats]]:
    learner = ONLINE[algorithm].learner()
    learner.start(bench.prepared.layout, np.zeros(bench.prepared.layout.size))
    for _ in run_epochs(learner, bench.prepared.corpus, 1000, seed):
        yield lambda: learner.result


def _sgd(bench: Bench, seed: int) -> Iterator[Callable[[], Floats]]:
    found = bench.prepared
    sgd = SGD(found.corpus, found.layout, np.zeros(found.layout.size), 1.0, seed)
    while sgd.run(1):
        yield lambda: sgd.flat


def _lbfgs(bench: Bench, seed: int) -> Iterator[Callable[[], Floats]]:
    found = bench.prepared
    objective = FullBatchObjective(found.corpus, found.layout, 1.0)
    optimizer = new_optimizer(objective, np.zeros(found.layout.size))
    while optimizer.run(1):
        yield lambda: objective.basis.finish(optimizer.x)


def _point(engine: str, algorithm: str, epochs: int, seed: int, wall: float, scores: dict[str, float]) -> Point:
    return Point(engine=engine, algorithm=algorithm, epochs=epochs, seed=seed, wall=wall, **scores)


def render(points: list[Point], machine: str) -> str:
    """Return the table of means over seeds in Markdown."""
    lines = [machine, "", "| engine, algorithm | epochs | seconds | F1 | accuracy |"]
    lines.append("| --- | ---: | ---: | ---: | ---: |")

    def key(point: Point) -> tuple[str, str, int]:
        return point["algorithm"], point["engine"], point["epochs"]

    order = {name: k for k, name in enumerate(NAMES)}
    for (algorithm, engine, epochs), group in groupby(
        sorted(points, key=lambda point: (order[point["algorithm"]], *key(point)[1:])), key=key
    ):
        runs = list(group)
        spread = f" ({min(p['f1'] for p in runs):.2f} to {max(p['f1'] for p in runs):.2f})" if len(runs) > 1 else ""
        name = f"{ENGINES[engine]}, {NAMES[algorithm]}"
        seconds, f1 = mean(p["wall"] for p in runs), mean(p["f1"] for p in runs)
        share = mean(p["accuracy"] for p in runs)
        lines.append(f"| {name} | {epochs} | {seconds:.2f} | {f1:.2f}{spread} | {share:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Run everything, write the JSON, and put the table into the README unless it was a quick run."""
    parser = new_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two epochs, one seed, to try it out")
    options = parser.parse_args()
    bench, points = Bench(options.data), list[Point]()
    if find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: left out", file=sys.stderr)
    else:
        points += run_search(bench, 1 if options.quick else options.seeds)
        print(*map(json.dumps, points), sep="\n", flush=True)
    for algorithm in (name for name in NAMES if name != "search"):
        wanted = ITERATIONS if algorithm == "lbfgs" else EPOCHS[algorithm]
        seeds = 1 if algorithm == "lbfgs" or options.quick else options.seeds
        for run in (run_peer, run_ours):
            if run is run_ours or algorithm != "adagrad":
                for point in run(bench, algorithm, QUICK if options.quick else wanted, seeds):
                    print(json.dumps(point), flush=True)
                    points.append(point)
    machine = describe()
    write_json(options.out, {"machine": machine, "points": points})
    line = (
        f"{machine['date']}; {machine['cpu']}, {machine['cores']} cores; "
        f"means of {options.seeds} seeds (smallest to largest), L-BFGS once."
    )
    show(render(points, line), "" if options.quick else "curve")


if __name__ == "__main__":
    main()
