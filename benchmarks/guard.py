"""A guard against slowing down: ten paths of this tree beside those of an older commit, in one run.

    python benchmarks/guard.py [--base COMMIT] [--by instructions] [--pairs 3] [--path NAME ...] [--out FILE.json]

Each path runs in two processes, one for each tree, which take turns: A B B A A B .. What else the machine does can only
add to CPU seconds, so that the first quartile of many short runs is steady where single runs are not. Instructions,
which callgrind of valgrind counts, are the same for the same work whatever else the machine does, so that three runs
are enough; but they say nothing of waiting for memory, and each process takes a minute or two to begin. A path is
slower where the 99 % interval of the ratio of the quartiles is above 1 and the ratio at least 1.02; more pairs narrow
it.
`--plant 5` makes this tree waste 5 % of the time in every path, to see that the guard finds it.
"""

import argparse
import gc
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "corpus"
SHORTEST = 0.02  # CPU seconds of a run
RESAMPLES, QUARTILE = 2000, 0.25
SLOWER = 1.02
PAIRS = {"instructions": 3, "seconds": 200}
Work = Callable[[], Any]


# -- the paths, in the process of a tree -------------------------------------------------------------------------


def tagger(trainer: str, limit: int = 300, **settings: Any) -> tuple[Any, list[Any]]:
    """A tagger, initialised but for its training, and its examples."""
    import spacy

    from spacy_crf import Corpus

    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger", config={"trainer": {"@misc": f"spacy_crf.{trainer}.v1", **settings}})
    examples = list(Corpus(CORPUS / "crf_tagger" / "train.conllu", limit=limit)(nlp))
    nlp.initialize(lambda: examples)
    return nlp, examples


def trained() -> tuple[Any, list[Any]]:
    """A tagger after three epochs, and its examples."""
    nlp, examples = tagger("AdaGrad")
    for _ in range(3):
        nlp.update(examples)
    return nlp, examples


def again(nlp: Any, examples: list[Any]) -> Callable[[], list[Any]]:
    """Make Docs with the words of examples."""
    from spacy.tokens import Doc

    words = [[token.text for token in example.reference] for example in examples]
    return lambda: [Doc(nlp.vocab, words=own) for own in words]


def one_by_one() -> Work:
    """Tags of Docs, each alone."""
    nlp, examples = trained()
    make, pipe = again(nlp, examples[:20]), nlp.get_pipe("crf_tagger")
    return lambda: [pipe(doc) for doc in make()]


def train_lbfgs() -> Work:
    """An evaluation or two of the objective."""
    nlp, examples = tagger("LBFGS", iterations_per_step=1, period=0, epsilon=0.0, n_threads=1)
    nlp.update(examples)
    return lambda: nlp.update(examples)


def train_adagrad() -> Work:
    """An epoch of AdaGrad."""
    nlp, examples = tagger("AdaGrad")
    return lambda: nlp.update(examples)


def train_perceptron() -> Work:
    """An epoch of the perceptron."""
    nlp, examples = tagger("Perceptron", limit=60)
    return lambda: nlp.update(examples)


def tag() -> Work:
    """Tags of Docs."""
    nlp, examples = trained()
    make = again(nlp, examples)
    return lambda: list(nlp.pipe(make()))


def probabilities() -> Work:
    """Tags and the probabilities of all others."""
    nlp, examples = trained()
    nlp.get_pipe("crf_tagger").cfg["marginals"] = "guard_marginals"
    make = again(nlp, examples)
    return lambda: list(nlp.pipe(make()))


def estimator() -> Work:
    """Labels of lists of strings."""
    from spacy_crf import CRF

    _, examples = tagger("AdaGrad")
    items = [[[f"w={token.text}", f"s={token.suffix_}", "b"] for token in one.reference] for one in examples]
    labels = [[token.tag_ for token in one.reference] for one in examples]
    crf = CRF(max_iterations=3).fit(items, labels)
    return lambda: crf.predict(items)


def load() -> Work:
    """A pipeline from bytes."""
    nlp, _ = trained()
    data = nlp.to_bytes()
    return lambda: nlp.from_bytes(data)


def sections() -> Work:
    """Trees of sections, by rules."""
    import spacy

    from spacy_crf import SectionCorpus

    nlp = spacy.blank("xx")
    nlp.add_pipe("section_parser")
    examples = list(SectionCorpus(CORPUS / "section_parser" / "test")(nlp))[:3]
    return lambda: [nlp.get_pipe("section_parser")(example.predicted.copy()) for example in examples]


def punctuation() -> Work:
    """Marks of a text without any."""
    import spacy

    from spacy_crf import PunctuationCorpus

    nlp = spacy.blank("en")
    nlp.add_pipe("punctuation_restorer")
    examples = list(PunctuationCorpus(CORPUS / "punctuation_restorer" / "dev")(nlp))[:20]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return lambda: [nlp.get_pipe("punctuation_restorer")(example.predicted.copy()) for example in examples]


PATHS = {
    path.__name__.replace("_", "-"): path
    for path in (
        *(one_by_one, train_lbfgs, train_adagrad, train_perceptron, tag),
        *(probabilities, estimator, load, sections, punctuation),
    )
}


def serve(name: str, plant: float) -> None:
    """Run a path as often as each line of standard input asks for, and print the CPU seconds; 0 collects garbage.

    plant (float): share of the time that is wasted besides.
    """
    work = PATHS[name]()
    work()
    gc.collect()
    gc.disable()
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "0\n":
            gc.collect()
        started = time.process_time()
        for _ in range(int(line)):
            work()
        end = time.process_time() + plant * (time.process_time() - started)
        while time.process_time() < end:
            pass
        print(time.process_time() - started, flush=True)


# -- the comparison ----------------------------------------------------------------------------------------------


class Compared(NamedTuple):
    """CPU milliseconds, or millions of instructions, of a run at the base and now, first quartiles; their ratio, and
    its 99 % interval."""

    path: str
    base: float
    now: float
    ratio: float
    low: float
    high: float

    @property
    def is_slower(self) -> bool:
        """Whether it is slower beyond doubt."""
        return self.low > 1 and self.ratio >= SLOWER


class Tree:
    """A path of one tree, in a process of its own. before (tuple of str): what its command begins with."""

    before: tuple[str, ...] = ()

    def __init__(self, folder: Path, name: str, plant: float):
        self._name, command = name, [sys.executable, str(Path(__file__)), "--serve", name, "--plant", str(100 * plant)]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [*self.before, *command],
            env={**os.environ, **threads, "PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout

    def wait(self) -> None:
        """Wait until the path is ready to run."""
        if self._from.readline() != "ready\n":
            raise SystemExit(f"The path {self._name} does not run in one of the trees.")

    def run(self, times: int) -> float:
        """CPU seconds of so many runs."""
        self.ask(0)
        return self.ask(times)

    def ask(self, times: int) -> float:
        """Let the process do so many runs, and return what it says."""
        self._to.write(f"{times}\n")
        self._to.flush()
        return float(self._from.readline())

    def close(self) -> None:
        """End the process."""
        self._to.close()
        self._process.wait()
        self._from.close()


class CountedTree(Tree):
    """The same under callgrind, which counts instructions."""

    def __init__(self, folder: Path, name: str, plant: float):
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name, "counts")
        callgrind = ("--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={file}")
        self.before = ("setarch", "-R", "valgrind", *callgrind)
        super().__init__(folder, name, plant)

    def wait(self) -> None:
        super().wait()
        self._control("--instr=on")

    def run(self, times: int) -> float:
        """Billions of instructions of so many runs."""
        self.ask(0)
        self._control("--zero")
        self.ask(times)
        self._control("--dump")
        (dump,) = Path(self._folder.name).glob("counts.*")
        (count,) = re.findall(r"^summary: (\d+)", dump.read_text(), re.MULTILINE)
        dump.unlink()
        return int(count) / 1e9

    def _control(self, action: str) -> None:
        subprocess.run(["callgrind_control", action, str(self._process.pid)], check=True, capture_output=True)

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


def compare(kind: type[Tree], base: Path, name: str, pairs: int, plant: float) -> Compared:
    """Let both trees take turns."""
    old, new = kind(base, name, 0.0), kind(ROOT, name, plant)
    old.wait()
    new.wait()
    times = 1 if kind is CountedTree else math.ceil(SHORTEST / max(min(old.run(1), old.run(1)), 1e-4))
    found: list[tuple[float, float]] = []
    for number in range(pairs):
        first, second = (old, new) if number % 2 else (new, old)
        measured = {id(tree): tree.run(times) for tree in (first, second)}
        found.append((measured[id(old)], measured[id(new)]))
    old.close()
    new.close()
    low, high = ratio_interval(found)
    before, after = (1000 * float(np.quantile(values, QUARTILE)) / times for values in zip(*found))
    return Compared(name, before, after, after / before, low, high)


def ratio_interval(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """The 99 % interval of the ratio of the first quartiles, by drawing pairs anew.

    >>> ratio_interval([(1.0, 2.0)] * 9)
    (2.0, 2.0)
    """
    drawn = np.array(pairs)[np.random.default_rng(0).integers(0, len(pairs), (RESAMPLES, len(pairs)))]
    before, after = np.quantile(drawn, QUARTILE, axis=1).T
    low, high = np.quantile(after / before, [0.005, 0.995])
    return float(low), float(high)


@contextmanager
def checked_out(commit: str | None) -> Iterator[tuple[str, Path]]:
    """A tree of a commit, or of the last tag, for a while."""
    git = ["git", "-C", str(ROOT)]
    if commit is None:
        told = subprocess.run([*git, "describe", "--tags", "--abbrev=0"], capture_output=True, text=True, check=False)
        if not (commit := told.stdout.strip()):
            raise SystemExit("There is no tag yet: name a commit with --base.")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "base")
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield commit, tree
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(tree)], check=True)


def main() -> None:
    """Print a table; exit with 1 where a path is slower."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", help="commit to compare with; the last tag without")
    parser.add_argument("--by", choices=PAIRS, default="seconds", help="what is compared; instructions need valgrind")
    parser.add_argument("--pairs", type=int, help="runs of each tree; 3 of instructions, 200 of seconds without")
    parser.add_argument("--path", choices=PATHS, action="append", help="one of the paths; all without")
    parser.add_argument("--plant", type=float, default=0.0, help="per cent that this tree is to waste, for a trial")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--serve", choices=PATHS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.serve, asked.plant / 100)
        return
    with checked_out(asked.base) as (commit, base):
        kind, unit = (CountedTree, "million") if asked.by == "instructions" else (Tree, "ms")
        print(f"{'path':<18}{f'{unit} at {commit[:12]}':>22}{'now':>10}{'ratio':>8}   99 % interval")
        rows = []
        for name in asked.path or PATHS:
            row = compare(kind, base, name, asked.pairs or PAIRS[asked.by], asked.plant / 100)
            rows.append(row)
            told = f"{row.path:<18}{row.base:>22.2f}{row.now:>10.2f}{row.ratio:>8.3f}   {row.low:.3f} to {row.high:.3f}"
            print(f"{told}{'   SLOWER' if row.is_slower else ''}", flush=True)
    if asked.out:
        asked.out.write_text(
            json.dumps({"base": commit, "by": asked.by, "paths": [row._asdict() for row in rows]}, indent=2) + "\n"
        )
    sys.exit(any(row.is_slower for row in rows))


if __name__ == "__main__":
    main()
