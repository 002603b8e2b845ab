"""Runs jobs as fresh processes, the engines in turn, and gathers what they print."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from benchmarks.summary import Numbers

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Job:
    """One piece of work of one engine: the module benchmarks.jobs.{engine}_{work}, run on a task.

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


def select(jobs: Iterable[Job], wanted: list[str]) -> list[Job]:
    """Choose jobs by name or by any dotted part of it, with the train jobs whose models they need.

    jobs (Iterable[Job]): all jobs.
    wanted (list[str]): names such as "decode", "peer" or "chunking.train"; none means all.
    RETURNS (list[Job]): the jobs to run, in their order.
    """
    jobs = list(jobs)
    parts = [set(name.split(".")) for name in wanted]
    chosen = [job for job in jobs if not parts or any(some <= set(job.name.split(".")) for some in parts)]
    needed = {job.model_job for job in chosen if job.needs_model}
    return [job for job in jobs if job in chosen or job.name in needed]


def run_all(jobs: Iterable[Job], plan: Plan) -> Iterator[tuple[Job, Numbers | None]]:
    """Run jobs of one measure in turn, so that a change in the machine's load meets every engine.

    jobs (Iterable[Job]): jobs, those of one measure side by side.
    plan (Plan): how to run them.
    YIELDS (tuple[Job, Numbers | None]): a job and its result, None if it failed.
    """
    for _, group in groupby(jobs, key=lambda job: job.measure):
        measured = list(group)
        for turn in range(plan.repeats):
            for job in measured:
                if turn == 0 or job.short:
                    yield job, run(job, plan)


def run(job: Job, plan: Plan) -> Numbers | None:
    """Run one job in a fresh process; its messages go to this process's standard error.

    job (Job): the job.
    plan (Plan): how to run it.
    RETURNS (Numbers | None): its numbers, None if it failed.
    """
    module = f"benchmarks.jobs.{job.engine}_{job.work}"
    command = [sys.executable, "-m", module, "--task", job.task]
    command += ["--data", str(plan.data), "--models", str(plan.models)]
    if plan.iterations is not None:
        command += ["--iterations", str(plan.iterations)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0 or not done.stdout.strip():
        return None
    result: Numbers = json.loads(done.stdout.splitlines()[-1])
    return result
