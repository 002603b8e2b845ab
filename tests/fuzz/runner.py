"""Runs inputs through a parser, and keeps those that do what they must not."""

import hashlib
import random
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from spacy_crf import CRFError

from .mutate import mutate
from .targets import Target

MOST_SECONDS = 10
MOST_BYTES = 2 << 30
IN_MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None  # most of the time goes to files


class TooSlow(Exception):
    """An input takes longer than it may."""


@dataclass
class Report:
    """What a parser did with its inputs. findings (dict[str, tuple[str, bytes]]): message and input, by the place."""

    name: str
    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    findings: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def row(self) -> str:
        """The row of the table."""
        cells = (self.name, f"{self.inputs:,}", f"{self.refused:,}", f"{self.seconds:.0f}", f"{self.slowest:.2f}")
        return "| " + " | ".join((*cells, str(len(self.findings)))) + " |"

    def save(self, folder: Path) -> None:
        """Write each finding to a file, and beside it what happened."""
        for place, (message, data) in self.findings.items():
            path = folder / self.name / hashlib.sha256(data).hexdigest()[:12]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.with_suffix(".why").write_text(f"{place}: {message}", encoding="utf8")


class Runner:
    """Runs one parser. folder (Path): for its files."""

    def __init__(self, name: str, target: Target, folder: Path) -> None:
        self.target, self.folder, self.report = target, folder, Report(name)

    def run(self, data: bytes) -> None:
        """Run one input; whatever it does that it must not is a finding."""
        report, start = self.report, time.perf_counter()
        report.inputs += 1
        try:
            with _limited_time(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.target.read(data, self.folder)
        except Exception as error:  # whatever it is, it must have a code
            if isinstance(error, CRFError) and error.code:
                report.refused += 1
            else:
                report.findings.setdefault(_place(error), (str(error)[:200], data))
        spent = time.perf_counter() - start
        report.seconds, report.slowest = report.seconds + spent, max(report.slowest, spent)


def _place(error: BaseException) -> str:
    """Tell the kind of an error, and where in the library it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if "spacy_crf" in frame.filename][-1:] or frames[-1:]
    return f"{type(error).__name__} at {Path(last[0].filename).name}:{last[0].lineno} in {last[0].name}"


@contextmanager
def _limited_time() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before: Any = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def limit_memory() -> None:
    """Let this process have so much more memory than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def random_inputs(seeds: list[bytes], seed: int) -> Iterator[bytes]:
    """Yield the seeds, then changed ones without end, the same for the same seed."""
    chance = random.Random(seed)
    yield from seeds
    pool = list(seeds)
    while True:
        data = mutate(chance.choice(pool), seeds, chance)
        if chance.random() < 0.02 and len(pool) < 200:  # changes add up
            pool.append(data)
        yield data


def fuzz(name: str, target: Target, inputs: Iterable[bytes], runs: int, seconds: float = float("inf")) -> Report:
    """Run so many inputs, or for so many seconds, and tell what they did."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        runner = Runner(name, target, Path(folder))
        for data in inputs:
            runner.run(data)
            if runner.report.inputs >= runs or runner.report.seconds > seconds:
                break
    return runner.report
