"""What every job needs: its settings, clocks, the peak of its memory, scores, and one line of JSON as its result."""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from benchmarks.data import Sentence, accuracy, score_chunks
from benchmarks.summary import Numbers
from benchmarks.tasks import TASKS, Task

ROOT = Path(__file__).resolve().parents[1]
# the buffers of L-BFGS are full after its memory of six steps: a longer run has the same peak
ENOUGH_ITERATIONS, LOADS = 20, 5


@dataclass(frozen=True)
class Settings:
    """Settings of one job, as the command line gives them."""

    task: Task
    data: Path
    models: Path
    iterations: int

    def model_path(self, engine: str) -> Path:
        """Return the file or folder where an engine keeps the trained model of this task."""
        return self.models / f"{self.task.name}.{engine}"


class Clock:
    """Wall and CPU seconds of a `with` block; CPU covers all threads of the process."""

    wall: float
    cpu: float

    def __enter__(self) -> "Clock":
        self._start = (time.perf_counter(), time.process_time())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wall = time.perf_counter() - self._start[0]
        self.cpu = time.process_time() - self._start[1]

    def seconds(self, name: str) -> Numbers:
        """Return both readings as `name_wall` and `name_cpu`."""
        return {f"{name}_wall": self.wall, f"{name}_cpu": self.cpu}

    def speed(self, tokens: int) -> Numbers:
        """Return how many tokens were done in a second, and in a CPU second."""
        return {"tokens_per_second": tokens / self.wall, "tokens_per_cpu_second": tokens / self.cpu}


def new_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a command line with the options that all benchmarks share, --data and --out."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("SPACY_CRF_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=default, help="folder of the corpora")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    return parser


def run_job(*works: Callable[[Settings], Numbers]) -> None:
    """Do the work that the command line names and print its numbers as one line of JSON.

    Training goes on no longer than the limit of the task.
    """
    by_name = {work.__name__: work for work in works}
    parser = argparse.ArgumentParser()
    parser.add_argument("work", choices=by_name)
    parser.add_argument("--task", choices=sorted(TASKS), required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--models", type=Path, required=True, help="folder of the models of this run")
    parser.add_argument("--iterations", type=int, help="train no longer than this")
    asked = parser.parse_args()
    task = TASKS[asked.task]
    iterations = min(asked.iterations or task.max_iterations, task.max_iterations)
    print(json.dumps(by_name[asked.work](Settings(task, asked.data, asked.models, iterations))))


def run_apart(module: str, *options: str) -> Any:
    """Run a module in a process of its own, whose peak of memory is that of the run, and return the JSON that it prints
    last."""
    done = subprocess.run(
        [sys.executable, "-m", module, *options], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    return json.loads(done.stdout.splitlines()[-1])


def write_json(path: Path, found: Any) -> None:
    """Write the numbers of a run."""
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf8")


def enough_iterations(settings: Settings) -> int:
    """Return how many iterations show the peak of the memory."""
    return min(settings.iterations, ENOUGH_ITERATIONS)


def peak_mebibytes() -> float:
    """Return the largest resident memory that this process has had so far, in MiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def read(settings: Settings, split: str) -> list[Sentence]:
    """Return the sentences of a split of the task."""
    return list(settings.task.read(settings.data, split))


def count_tokens(sentences: Iterable[Sentence]) -> int:
    """Return how many tokens sentences have."""
    return sum(len(sentence.words) for sentence in sentences)


def score(settings: Settings, predict: Callable[[list[Sentence]], list[list[str]]]) -> Numbers:
    """Return the accuracy on each split of the task, and the scores of chunks where labels are chunks."""
    numbers: Numbers = {}
    for split in settings.task.splits:
        sentences = read(settings, split)
        gold, predicted = [settings.task.labels(sentence) for sentence in sentences], predict(sentences)
        numbers[f"{split}_accuracy"] = accuracy(gold, predicted)
        if settings.task.target == "chunks":
            numbers |= {f"{split}_{name}": value for name, value in score_chunks(gold, predicted)._asdict().items()}
    return numbers


def weigh(path: Path, load: Callable[[], object]) -> Numbers:
    """Return the size of a model, and the median time to load it."""
    clocks = []
    for _ in range(LOADS):
        with Clock() as clock:
            load()
        clocks.append(clock)
    return {"model_bytes": size_of(path), "load_wall": median(clock.wall for clock in clocks)}


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder."""
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())
