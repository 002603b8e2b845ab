"""Measures spacy_crf side by side with python-crfsuite: same data, same features, same run.

    python -m benchmarks.engine --data DIR --out FILE.json

Each job is a fresh process; the engines take turns.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.measure import ROOT, new_parser, write_json
from benchmarks.report import Document, publish
from benchmarks.summary import OURS, PEER, Numbers, Outcome, failures, gather
from benchmarks.tasks import TASKS

QUICK_ITERATIONS = 5


@dataclass(frozen=True)
class Job:
    """One piece of work of one engine on a task: a function of its module, benchmarks.{engine}.

    task (str): name of a task in benchmarks.tasks.
    work (str): what is measured.
    engine (str): whose work it is, "ours" or "peer".
    short (bool): short enough to be repeated.
    needs_model (bool): uses the model that the same engine's "train" job of this task leaves.
    """

    task: str
    work: str
    engine: str
    short: bool = False
    needs_model: bool = False

    @property
    def name(self) -> str:
        """Name of the job in options and messages."""
        return f"{self.task}.{self.work}.{self.engine}"

    @property
    def measure(self) -> tuple[str, str]:
        """What the job shares with the other engine's."""
        return self.task, self.work

    @property
    def module(self) -> str:
        """Module that does it: memory of ours is measured where spaCy was never imported."""
        return "benchmarks.ours_memory" if (self.engine, self.work) == (OURS, "memory") else f"benchmarks.{self.engine}"

    @property
    def model_job(self) -> str:
        """Name of the job that trains the model it needs."""
        return f"{self.task}.train.{self.engine}"


@dataclass(frozen=True)
class Plan:
    """How to run the jobs.

    data (Path): folder of the corpora.
    models (Path): temporary folder where train jobs leave their models.
    repeats (int): runs of each short job.
    iterations (int | None): limit of training iterations, None for the task's own.
    """

    data: Path
    models: Path
    repeats: int
    iterations: int | None


# Jobs of one measure stand side by side; a train job stands before the jobs that use its model.
JOBS = (
    Job("chunking", "train", PEER),
    Job("chunking", "train", OURS),
    Job("chunking", "fit", PEER),
    Job("chunking", "fit", OURS),
    Job("chunking", "memory", PEER),
    Job("chunking", "memory", OURS, needs_model=True),
    Job("chunking", "decode", PEER, short=True, needs_model=True),
    Job("chunking", "decode", OURS, short=True, needs_model=True),
    Job("chunking", "marginals", PEER, short=True, needs_model=True),
    Job("chunking", "marginals", OURS, short=True, needs_model=True),
    Job("chunking", "end_to_end", PEER, short=True, needs_model=True),
    Job("chunking", "end_to_end", OURS, short=True, needs_model=True),
    Job("xpos", "train", PEER),
    Job("xpos", "train", OURS),
    Job("xpos", "end_to_end", PEER, short=True, needs_model=True),
    Job("xpos", "end_to_end", OURS, short=True, needs_model=True),
    Job("upos", "train", PEER),
    Job("upos", "train", OURS),
    Job("upos", "end_to_end", PEER, short=True, needs_model=True),
    Job("upos", "end_to_end", OURS, short=True, needs_model=True),
    Job("historical", "fit", PEER),
    Job("historical", "fit", OURS),
)


def select(jobs: Iterable[Job], wanted: list[str]) -> list[Job]:
    """Choose jobs by name or by any dotted part of it, with the train jobs whose models they need.

    wanted (list[str]): Names such as "decode", "peer" or "chunking.train"; none means all.
    """
    jobs = list(jobs)
    parts = [set(name.split(".")) for name in wanted]
    chosen = [job for job in jobs if not parts or any(some <= set(job.name.split(".")) for some in parts)]
    needed = {job.model_job for job in chosen if job.needs_model}
    return [job for job in jobs if job in chosen or job.name in needed]


def run_all(jobs: Iterable[Job], plan: Plan) -> Iterator[tuple[Job, Numbers | None]]:
    """Run jobs of one measure in turn, so that a change in the machine's load meets every engine.

    jobs (Iterable[Job]): Those of one measure side by side.
    YIELDS (tuple[Job, Numbers | None]): A job and its numbers, None if it failed.
    """
    for _, group in groupby(jobs, key=lambda job: job.measure):
        measured = list(group)
        for turn in range(plan.repeats):
            for job in measured:
                if turn == 0 or job.short:
                    yield job, run(job, plan)


def run(job: Job, plan: Plan) -> Numbers | None:
    """Run one job in a fresh process, whose messages go to standard error; None if it failed."""
    command = [sys.executable, "-m", job.module, job.work, "--task", job.task]
    command += ["--data", str(plan.data), "--models", str(plan.models)]
    if plan.iterations is not None:
        command += ["--iterations", str(plan.iterations)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0 or not done.stdout.strip():
        return None
    result: Numbers = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> int:
    """Run the benchmark from the command line.

    RETURNS (int): exit status: 1 if a job failed, 0 otherwise, also where there is no data to measure on.
    """
    options = _read_options()
    chosen = select(JOBS, options.only)
    if not chosen:
        names = ", ".join(job.name for job in JOBS)
        _say(f"No job is called {' or '.join(options.only)}. There are: {names}.")
        return 1
    jobs = [job for job in chosen if (options.data / TASKS[job.task].folder).is_dir()]
    for folder in sorted({TASKS[job.task].folder for job in chosen if job not in jobs}):
        _say(f"Skipped: the data folder has no {folder}. Name one that has by --data or SPACY_CRF_DATA.")
    if not jobs:
        return 0
    document = _measure(jobs, options)
    write_json(options.out, document)
    _say(publish(document))
    return 1 if failures(document["results"]) else 0


def _read_options() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument("--only", action="append", default=[], help="a job or part of its name; repeatable")
    parser.add_argument("--repeats", type=_positive, default=3, help="runs of each short job")
    parser.add_argument("--quick", action="store_true", help="a few iterations, to try the benchmark out")
    options = parser.parse_args()
    if not options.out.resolve().parent.is_dir():
        parser.error(f"--out: there is no folder {options.out.parent}; make it first.")
    return options


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _measure(jobs: list[Job], options: argparse.Namespace) -> Document:
    machine = describe()
    outcomes = []
    with tempfile.TemporaryDirectory() as models:
        iterations = QUICK_ITERATIONS if options.quick else None
        plan = Plan(options.data.resolve(), Path(models), options.repeats, iterations)
        for job, numbers in run_all(jobs, plan):
            _say(f"{job.name}: {'failed' if numbers is None else json.dumps(numbers)}")
            outcomes.append(Outcome(job.task, job.work, job.engine, numbers))
    results = gather(outcomes)
    return {
        "machine": machine,
        "quick": options.quick,
        "complete": len(jobs) == len(JOBS) and not options.quick and not failures(results),
        "repeats": options.repeats,
        "results": results,
    }


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
