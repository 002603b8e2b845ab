"""From the numbers of single runs to medians, spreads and ratios."""

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple, NotRequired, TypedDict

OURS = "ours"
PEER = "peer"

Numbers = dict[str, float]


class Spread(TypedDict):
    """A number over the repeats of a job."""

    median: float
    min: float
    max: float


class EngineResult(TypedDict):
    """What one engine measured; a failed job has no summary."""

    failed: bool
    runs: list[Numbers]
    summary: dict[str, Spread]


class Measured(TypedDict):
    """What all engines measured in one kind of work; ratios are ours divided by the peer's."""

    engines: dict[str, EngineResult]
    ratios: NotRequired[Numbers]


Results = dict[str, dict[str, Measured]]


class Outcome(NamedTuple):
    """The numbers of one run of one job, None if it failed."""

    task: str
    work: str
    engine: str
    numbers: Numbers | None


def gather(outcomes: Iterable[Outcome]) -> Results:
    """Bring the outcomes of all runs together.

    outcomes (Iterable[Outcome]): one per run, repeats included.
    RETURNS (Results): summaries and ratios by task and kind of work.
    """
    results: Results = {}
    for outcome in outcomes:
        measured = results.setdefault(outcome.task, {}).setdefault(outcome.work, {"engines": {}})
        engine = measured["engines"].setdefault(outcome.engine, {"failed": False, "runs": [], "summary": {}})
        if outcome.numbers is None:
            engine["failed"] = True
        else:
            engine["runs"].append(outcome.numbers)
    for works in results.values():
        for measured in works.values():
            _finish(measured)
    return results


def failures(results: Results) -> list[str]:
    """List the jobs that failed.

    results (Results): gathered results.
    RETURNS (list[str]): names of the jobs.
    """
    return [
        f"{task}.{work}.{name}"
        for task, works in results.items()
        for work, measured in works.items()
        for name, engine in measured["engines"].items()
        if engine["failed"]
    ]


def _finish(measured: Measured) -> None:
    engines = measured["engines"]
    for engine in engines.values():
        if not engine["failed"]:
            engine["summary"] = _summarise(engine["runs"])
    if OURS in engines and PEER in engines:
        measured["ratios"] = _divide(engines[OURS]["summary"], engines[PEER]["summary"])


def _summarise(runs: list[Numbers]) -> dict[str, Spread]:
    columns = {name: [run[name] for run in runs] for name in runs[0]}
    return {
        name: {"median": median(values), "min": min(values), "max": max(values)} for name, values in columns.items()
    }


def _divide(ours: dict[str, Spread], peer: dict[str, Spread]) -> Numbers:
    shared = [name for name in ours if name in peer and peer[name]["median"]]
    return {name: ours[name]["median"] / peer[name]["median"] for name in shared}
