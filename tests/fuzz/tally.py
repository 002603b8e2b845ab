"""What was run so far, in a small file that grows over many runs."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

HEAD = "| target | inputs | refused | a second | slowest | findings |\n| --- | ---: | ---: | ---: | ---: | ---: |"


@dataclass
class Tally:
    """What a target did with its inputs, in some pieces of work.

    seconds (float): of the processor, with those that make the inputs. slowest (float): of one input.
    """

    pieces: int = 0
    inputs: int = 0
    refused: int = 0
    findings: int = 0
    seconds: float = 0.0
    slowest: float = 0.0

    def add(self, other: "Tally") -> None:
        self.pieces += other.pieces
        self.inputs += other.inputs
        self.refused += other.refused
        self.findings += other.findings
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)

    def row(self, name: str) -> str:
        """The row of the table."""
        pace = self.inputs / self.seconds if self.seconds else 0
        counts = [f"{count:,.0f}" for count in (self.inputs, self.refused, pace)]
        return "| " + " | ".join([name, *counts, f"{self.slowest:.2f} s", str(self.findings)]) + " |"


def read_tallies(path: Path | None) -> dict[str, Tally]:
    """Return what a file says by target; nothing if there is none."""
    if path is None or not path.exists():
        return {}
    return {name: Tally(**counts) for name, counts in json.loads(path.read_text("utf8")).items()}


def write_tallies(path: Path, tallies: dict[str, Tally]) -> None:
    """Write the file, whole or not at all."""
    beside = path.with_name(path.name + ".new")
    rows = [f"{json.dumps(name)}: {json.dumps(asdict(tally))}" for name, tally in sorted(tallies.items())]
    beside.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf8")
    beside.replace(path)


def table(tallies: dict[str, Tally], names: Iterable[str]) -> str:
    """Return the table of the targets that were run, in the order of names."""
    return "\n".join([HEAD, *(tallies[name].row(name) for name in names if name in tallies)])
