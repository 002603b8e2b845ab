"""Runs the properties that are marked `promise` for long, in pieces that add up in a file.

    python -m tests.promises --out promises.json                    # 100,000 examples of each
    python -m tests.promises --out promises.json tests/a/test_b.py::test_c --jobs 2  # some of them, in this order
    python -m tests.promises --out promises.json --table            # the table of all that was run

Each piece is a process of pytest with a seed of its own, because hypothesis remembers all examples of a run and grows
slow. A piece that fails is not counted; its seed and what pytest says are printed.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAD = "| promise | examples | seconds | result |\n| --- | ---: | ---: | --- |"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
PASSING = re.compile(r"- (\d+) passing")
EXHAUSTED = "Stopped because nothing left to do"


@dataclass
class Outcome:
    """What is known of a property. seconds (float): in all. whole (bool): there are no other examples."""

    pieces: int = 0
    examples: int = 0
    seconds: float = 0.0
    failures: int = 0
    whole: bool = False

    def row(self, name: str) -> str:
        """The row of the table."""
        result = f"{self.failures} failed" if self.failures else "all there are" if self.whole else "holds"
        return f"| {name} | {self.examples:,} | {self.seconds:,.0f} | {result} |"


def main() -> int:
    """Run each property piece by piece, or print the table."""
    arguments = read_arguments()
    outcomes = {name: Outcome(**one) for name, one in _read(arguments.out).items()}
    if not arguments.table:
        with ThreadPoolExecutor(arguments.jobs) as threads:
            names = arguments.names or find_promises()
            list(threads.map(lambda name: run_promise(name, outcomes, arguments), names))
    print("\n".join([HEAD, *(one.row(name.removeprefix("tests/")) for name, one in sorted(outcomes.items()))]))
    return int(any(one.failures for one in outcomes.values()))


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.promises", description="Run promises for long.")
    parser.add_argument("names", nargs="*", help="Which, as pytest names them; all of them without")
    parser.add_argument("--out", type=Path, required=True, help="File that adds up what was run")
    parser.add_argument("--examples", type=int, default=100_000, help="Of each property")
    parser.add_argument("--piece", type=int, default=25_000, help="Examples of one process")
    parser.add_argument("--jobs", type=int, default=1, help="Properties at the same time")
    parser.add_argument("--table", action="store_true", help="Print the table of the file and run nothing")
    return parser.parse_args()


def find_promises() -> list[str]:
    """Return the names of the properties, as pytest knows them."""
    files = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.promise" in path.read_text("utf8")]
    command = [*PYTEST, "--collect-only", "-m", "promise", *map(str, files)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return [line for line in listed.stdout.splitlines() if "::" in line]


def run_promise(name: str, outcomes: dict[str, Outcome], arguments: argparse.Namespace) -> None:
    """Run a property until it has had its examples, or fails; write down each piece."""
    outcome = outcomes.setdefault(name, Outcome())
    while outcome.examples < arguments.examples and not outcome.whole:
        command = [*PYTEST, name, "--hypothesis-show-statistics"]
        command += [f"--examples={arguments.piece}", f"--hypothesis-seed={outcome.pieces}"]
        start = time.perf_counter()
        ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
        outcome.pieces += 1
        outcome.seconds += time.perf_counter() - start
        if ended.returncode:
            outcome.failures += 1
            print(f"{name}, --hypothesis-seed={outcome.pieces - 1}:\n{ended.stdout}", file=sys.stderr, flush=True)
        else:
            outcome.examples += sum(map(int, PASSING.findall(ended.stdout)))
            outcome.whole = EXHAUSTED in ended.stdout
        _write(arguments.out, outcomes)
        if ended.returncode:
            break


def _read(path: Path) -> dict[str, dict[str, float]]:
    return json.loads(path.read_text("utf8")) if path.exists() else {}


def _write(path: Path, outcomes: dict[str, Outcome]) -> None:
    beside = path.with_name(path.name + ".new")
    rows = [f"{json.dumps(name)}: {json.dumps(asdict(one))}" for name, one in sorted(outcomes.items())]
    beside.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf8")
    beside.replace(path)


if __name__ == "__main__":
    sys.exit(main())
