"""What every job needs: its settings, clocks, the peak of its memory, and one line of JSON as its result."""

import argparse
import json
import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from benchmarks.summary import Numbers
from benchmarks.tasks import TASKS, Task

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Settings:
    """Settings of one job, as the command line gives them."""

    task: Task
    data: Path
    models: Path
    iterations: int

    def model_path(self, engine: str) -> Path:
        """Say where an engine keeps the trained model of this task.

        engine (str): name of the engine.
        RETURNS (Path): a file or folder below the temporary folder of the run.
        """
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
        """Give both readings under names of their own.

        name (str): what was timed.
        RETURNS (Numbers): `name_wall` and `name_cpu`.
        """
        return {f"{name}_wall": self.wall, f"{name}_cpu": self.cpu}


def new_parser(description: str | None) -> argparse.ArgumentParser:
    """A command line with the options that all benchmarks share.

    description (str | None): of the benchmark.
    RETURNS (argparse.ArgumentParser): with --data and --out.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("SPACY_CRF_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=default, help="folder of the corpora")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    return parser


def read_settings() -> Settings:
    """Read the settings of a job from its command line.

    RETURNS (Settings): the settings; `iterations` never exceeds the limit of the task.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", choices=sorted(TASKS), required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--models", type=Path, required=True, help="folder of the models of this run")
    parser.add_argument("--iterations", type=int, help="train no longer than this")
    arguments = parser.parse_args()
    task = TASKS[arguments.task]
    iterations = min(arguments.iterations or task.max_iterations, task.max_iterations)
    return Settings(task, arguments.data, arguments.models, iterations)


def peak_mebibytes() -> float:
    """Measure the largest resident memory that this process has had so far.

    RETURNS (float): MiB.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def report(result: Numbers) -> None:
    """Print the result of a job as one line of JSON.

    result (Numbers): numbers by name.
    """
    print(json.dumps(result))
