"""Runs inputs through a parser, and keeps those that do what they must not."""

import hashlib
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import FrameType

from spacy_crf import CRFError

from .mutate import Inputs
from .targets import Target

MOST_SECONDS = 10  # of the processor
MOST_WAITING = 60  # seconds, whatever they are spent for
MOST_BYTES = 2 << 30
IN_MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None


class TooSlow(BaseException):
    """An input takes longer than it may. No handler of errors may take it for one of a document."""


@dataclass
class Report:
    """What a parser did with its inputs. findings (dict[str, tuple[str, bytes]]): message and input, by the place."""

    name: str
    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    findings: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write each finding to a file, and beside it what happened."""
        for place, (message, data) in self.findings.items():
            path = folder / self.name / hashlib.sha256(data).hexdigest()[:12]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.with_suffix(".why").write_text(f"{place}: {message}", encoding="utf8")


class Watch:
    """Stops what takes too long. One clock ticks for all inputs, because setting one for each costs more than most."""

    def __init__(self) -> None:
        self._end, self._last_end = 0.0, 0.0  # by the processor, and by the clock

    def begin(self) -> None:
        self._end, self._last_end = time.process_time() + MOST_SECONDS, time.monotonic() + MOST_WAITING

    def end(self) -> None:
        self._end = 0.0

    def _tick(self, number: int, frame: FrameType | None) -> None:
        if self._end and (time.process_time() > self._end or time.monotonic() > self._last_end):
            self._end = 0.0
            raise TooSlow

    @contextmanager
    def ticking(self) -> Iterator[None]:
        """Let the clock tick in this block."""
        before = signal.signal(signal.SIGALRM, self._tick)
        signal.setitimer(signal.ITIMER_REAL, 1, 1)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


class Runner:
    """Runs one parser, in a block of `watching`. folder (Path): for its files."""

    def __init__(self, name: str, target: Target, folder: Path) -> None:
        self.target, self.folder, self.report = target, folder, Report(name)
        self._watch = Watch()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the time in this block, and be silent about warnings."""
        with self._watch.ticking(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield

    def run(self, data: bytes) -> bool:
        """Run one input, and tell if it was taken; whatever it does that it must not is a finding."""
        return self.run_all([data]) == [data]

    def run_all(self, inputs: Sequence[bytes]) -> list[bytes]:
        """Run inputs, together where the target can; return those that were taken."""
        error, spent = self._try(inputs)
        if error is not None and len(inputs) > 1:
            taken = [data for data in inputs if self.run(data)]
            if len(taken) == len(inputs) and not isinstance(error, TooSlow):  # each is right, all of them are not
                self._add_finding(error, b"\0".join(inputs))
            return taken
        self._count(inputs, spent)
        if error is None:
            return list(inputs)
        if isinstance(error, CRFError) and error.code:
            self.report.refused += 1
        else:
            self._add_finding(error, inputs[0])
        return []

    def _try(self, inputs: Sequence[bytes]) -> tuple[BaseException | None, float]:
        """Read inputs. Return what was raised and the seconds that were spent."""
        start, raised = time.process_time(), None
        self._watch.begin()
        try:
            if len(inputs) == 1:
                self.target.read(inputs[0], self.folder)
            else:
                self.target.read_all(inputs)
        except (Exception, TooSlow) as error:  # whatever it is, it must have a code
            raised = error
        finally:
            self._watch.end()
        return raised, time.process_time() - start

    def _count(self, inputs: Sequence[bytes], spent: float) -> None:
        self.report.inputs += len(inputs)
        self.report.seconds += spent
        self.report.slowest = max(self.report.slowest, spent / len(inputs))

    def _add_finding(self, error: BaseException, data: bytes) -> None:
        self.report.findings.setdefault(_place(error), (str(error)[:200], data))


def _place(error: BaseException) -> str:
    """Tell the kind of an error, and where in the library it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if "spacy_crf" in frame.filename][-1:] or frames[-1:]
    return f"{type(error).__name__} at {Path(last[0].filename).name}:{last[0].lineno} in {last[0].name}"


def limit_memory() -> None:
    """Let this process have so much more memory than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def fuzz(name: str, target: Target, inputs: Inputs, runs: int, seconds: float = float("inf")) -> Report:
    """Run so many inputs, or for so many seconds, and tell what they did."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        runner = Runner(name, target, Path(folder))
        with runner.watching():
            while (left := runs - runner.report.inputs) > 0 and time.monotonic() < end:
                for taken in runner.run_all(list(islice(inputs, min(target.together, left)))):
                    inputs.keep(taken)
    return runner.report
