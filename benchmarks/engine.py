"""Measures spacy_crf side by side with python-crfsuite: same data, same features, same run.

python benchmarks/engine.py --data DIR --out FILE.json
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.machine import describe
from benchmarks.report import Document, publish
from benchmarks.runner import ROOT, Job, Plan, run_all, select
from benchmarks.summary import OURS, PEER, Outcome, failures, gather
from benchmarks.tasks import TASKS

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
QUICK_ITERATIONS = 5


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
    options.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf8")
    _say(publish(document))
    return 1 if failures(document["results"]) else 0


def _read_options() -> argparse.Namespace:
    default_data = Path(os.environ.get("SPACY_CRF_DATA", ROOT.parent / "shared" / "data"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=default_data, help="folder of the corpora")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
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
