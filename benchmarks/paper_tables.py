"""The results of `punctuation_paper.py` as Markdown tables.

python benchmarks/paper_tables.py FILE.json
"""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
PARTS = ("train", "dev", "test")
HEAD = {"word_acc": "accuracy", "punct_f": "F", "punct_f_inner": "F inside"}


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table with numbers to the right of its first column."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def percent(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f}"


def measures(scores: dict[str, float]) -> list[str]:
    """Word accuracy, F, and F without the last words of sentences."""
    return [percent(scores[name], 2 if name == "word_acc" else 1) for name in HEAD]


def talks(rows: list[Row]) -> str:
    """Accuracy and F of each trainer by the number of sentences, with its best epoch."""
    own = sorted((row for row in rows if row["data"] == "talks"), key=lambda row: row.get("sentences", 0))
    head = [
        "trainer",
        "sentences",
        "epoch",
        "CPU s / epoch",
        *(f"{part} {name}" for part in PARTS for name in HEAD.values()),
    ]
    blank = ["-"] * len(HEAD)
    scored = {row["part"]: row["baselines"] for row in own if "baselines" in row}
    lines = [
        [name, "-", "-", "-", *blank, *measures(scored["dev"][name]), *measures(scored["test"][name])]
        for name in scored.get("dev", {})
    ]
    for row in own:
        if "name" in row:
            numbers = [f"{row['sentences']:,}", str(row["epoch"]), f"{row['cpu_seconds_per_epoch']:.1f}"]
            lines.append([row["name"], *numbers, *(cell for part in PARTS for cell in measures(row[part]))])
    return table(head, lines)


def curves(rows: list[Row]) -> str:
    """Word accuracy on train and on dev after each epoch."""
    own = [row for row in rows if "curve_dev" in row]
    width = max((len(row["curve_dev"]) for row in own), default=0)
    lines = []
    for row in own:
        for part in ("train", "dev"):
            cells = [percent(value) for value in row[f"curve_{part}"]]
            lines.append(
                [f"{row['data']}: {row['name']}, {row['sentences']:,}, {part}", *cells, *[""] * (width - len(cells))]
            )
    return table(["word accuracy after epoch", *map(str, range(1, width + 1))], lines)


def rates(rows: list[Row]) -> str:
    """The change of the norm of the weights in each epoch, by the learning rate."""
    own = [row for row in rows if row["data"] == "rates"]
    width = max((len(row["norm_steps"]) for row in own), default=0)
    head = ["", "best epoch", "dev accuracy", "dev F", "converged", *map(str, range(1, width + 1))]
    lines = [
        [
            *(row["name"], str(row["epoch"]), percent(row["dev"]["word_acc"]), percent(row["dev"]["punct_f"], 1)),
            *(str(row["converged"] or "no"), *(f"{step:.3f}" for step in row["norm_steps"])),
        ]
        for row in own
    ]
    return table(head, lines)


def movie(rows: list[Row]) -> str:
    """Means over folds, and their standard deviations."""
    own = [row for row in rows if row["data"] == "movie"]
    lines = [[name, "-", "-", *measures(scores)] for row in own for name, scores in row.get("baselines", {}).items()]
    for row in own:
        if "name" in row:
            pairs = zip(measures(row["test"]), measures(row["deviation"]))
            epochs = ", ".join(map(str, row["epochs"]))
            lines.append(
                [row["name"], epochs, f"{row['cpu_seconds_per_epoch']:.2f}", *(f"{m} ± {d}" for m, d in pairs)]
            )
    return table(["trainer", "epochs", "CPU s / epoch", *HEAD.values()], lines)


def main() -> None:
    """Print all tables."""
    rows = json.loads(Path(sys.argv[1]).read_text(encoding="utf8"))["rows"]
    print("\n\n".join(render(rows) for render in (talks, curves, rates, movie)))


if __name__ == "__main__":
    main()
