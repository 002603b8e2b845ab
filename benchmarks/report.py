"""Renders the results of a run as one Markdown table; also alone: python -m benchmarks.report FILE.json."""

import argparse
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypedDict

from benchmarks.machine import Machine
from benchmarks.summary import OURS, PEER, EngineResult, Measured, Results, Spread

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- {}:begin -->", "<!-- {}:end -->"
HEADINGS = {OURS: "spacy_crf", PEER: "python-crfsuite"}
MISSING = "-"


class Document(TypedDict):
    """What a run of the engine benchmark writes as JSON.

    `quick` runs cut training short, `complete` ones ran every job without failure.
    """

    machine: Machine
    quick: bool
    complete: bool
    repeats: int
    results: Results


# -- rows: which number is shown, under which label, in which form -------------------------------------------------


TITLES = {
    "chunking": "CoNLL-2000 chunking: 19 templates, c2 = 1.0, trained to convergence",
    "xpos": "UD English EWT, XPOS: the peer with c2 = 0.5 and 100 iterations, ours with configs/crf_tagger.cfg",
    "upos": "UD English EWT, UPOS: the same, ours with `target = pos`",
    "historical": "Middle Low German (ReN), 71 tags: 17 templates, c2 = 1.0, 120 iterations",
}


SECONDS, PERCENT, SPEED, MEBIBYTES = "{:,.1f} s", "{:.2f} %", "{:,.0f} tokens/s", "{:,.0f} MiB"


class Row(NamedTuple):
    """One line of the table: a number of a job, what the reader sees beside it, and its form after scaling.

    Numbers in PERCENT are compared by their difference in points, others by their ratio.
    """

    task: str
    work: str
    key: str
    label: str
    form: str = "{:,.0f}"
    scale: float = 1.0


def tagging(task: str) -> tuple[Row, ...]:
    """Rows of a task in which whole pipelines are compared."""
    return (
        Row(task, "train", "test_accuracy", "accuracy, test", PERCENT),
        Row(task, "train", "dev_accuracy", "accuracy, dev", PERCENT),
        Row(task, "train", "iterations", "L-BFGS iterations"),
        Row(task, "train", "features_wall", "feature extraction", SECONDS),
        Row(task, "train", "append_wall", "handing the features over", SECONDS),
        Row(task, "train", "train_wall", "training alone", SECONDS),
        Row(task, "train", "total_wall", "features and training (ours: all of `spacy train`)", SECONDS),
        Row(task, "train", "peak_mebibytes", "peak memory of the command", MEBIBYTES),
        Row(task, "train", "model_bytes", "model size", "{:.1f} MiB", scale=2**-20),
        Row(task, "end_to_end", "tokens_per_second", "words to labels", SPEED),
        Row(task, "end_to_end", "cold_tokens_per_second", "words to labels, first Docs after loading", SPEED),
    )


ROWS: tuple[Row, ...] = (
    Row("chunking", "train", "objective", "objective at the end", "{:,.1f}"),
    Row("chunking", "train", "iterations", "L-BFGS iterations"),
    Row("chunking", "train", "features", "features (weights)"),
    Row("chunking", "train", "test_accuracy", "accuracy, test", PERCENT),
    Row("chunking", "train", "test_f1", "chunk F1, test", PERCENT),
    Row("chunking", "train", "features_wall", "feature extraction", SECONDS),
    Row("chunking", "train", "append_wall", "handing the features over", SECONDS),
    Row("chunking", "train", "train_wall", "training alone, wall", SECONDS),
    Row("chunking", "train", "train_cpu", "training alone, CPU", SECONDS),
    Row("chunking", "fit", "fit_wall", "`estimator.CRF.fit`, encoding included; `Trainer.train`", SECONDS),
    Row("chunking", "fit", "objective", "its objective", "{:,.2f}"),
    Row("chunking", "train", "model_bytes", "model size", "{:.1f} MiB", scale=2**-20),
    Row("chunking", "train", "load_wall", "load time", "{:.1f} ms", scale=1000.0),
    Row("chunking", "memory", "peak_mebibytes", "peak memory of learning", MEBIBYTES),
    Row("chunking", "decode", "tokens_per_second", "decoding, prepared features", SPEED),
    Row("chunking", "decode", "from_lists_tokens_per_second", "decoding, lists of strings", SPEED),
    Row("chunking", "marginals", "tokens_per_second", "all-label marginals, prepared features", SPEED),
    Row("chunking", "marginals", "from_docs_tokens_per_second", "all-label marginals, from Docs", SPEED),
    Row("chunking", "end_to_end", "tokens_per_second", "words to labels", SPEED),
    Row("chunking", "end_to_end", "cold_tokens_per_second", "words to labels, first Docs after loading", SPEED),
    *tagging("xpos"),
    *tagging("upos"),
)


# -- the table ----------------------------------------------------------------------------------------------------


def render(document: Document) -> str:
    """Return a line on machine and date, then the table, in Markdown."""
    results = document["results"]
    engines = [name for name in HEADINGS if any(name in measured["engines"] for measured in _all(results))]
    headings = ["", *(HEADINGS[name] for name in engines)]
    if len(engines) == len(HEADINGS):
        headings.append("ours : peer")
    lines = [_machine_line(document), "", _line(headings), _line(["---", *["---:"] * (len(headings) - 1)])]
    for task, rows in groupby(ROWS, key=lambda row: row.task):
        cells = [cell for row in rows if (cell := _cells(row, results, engines))]
        if cells:
            lines.append(_line([f"**{TITLES[task]}**", *[""] * (len(headings) - 1)]))
            lines.extend(map(_line, cells))
    return "\n".join(lines)


def publish(document: Document, readme: Path = README) -> str:
    """Keep the table of a run in the README if the run measured everything at once and in full.

    RETURNS (str): What to tell the user: the table, and where it went.
    """
    table = render(document)
    if not document["complete"]:
        return f"{table}\n\nNot a complete run: the table in {readme.name} stays as it is."
    update(readme, table)
    return f"{table}\n\nThe table is now in {readme.name}."


def show(table: str, name: str) -> None:
    """Print a table and keep it in the README. name (str): its place there; "" where it is only printed."""
    print(table)
    if name:
        update(README, table, name)


def update(readme: Path, table: str, name: str = "engine") -> None:
    """Replace what stands between the markers of a table in a Markdown file."""
    first, last = BEGIN.format(name), END.format(name)
    text = readme.read_text(encoding="utf8")
    head, begin, rest = text.partition(first)
    _, end, tail = rest.partition(last)
    if not (begin and end):
        raise ValueError(f"{readme.name} has no place for the table: add the lines {first} and {last}.")
    readme.write_text(f"{head}{first}\n{table}\n{last}{tail}", encoding="utf8")


def _all(results: Results) -> Iterator[Measured]:
    for works in results.values():
        yield from works.values()


def _machine_line(document: Document) -> str:
    machine = document["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    quick = "**Quick run, training cut short: not a measurement.** " if document["quick"] else ""
    return (
        f"{quick}{machine['date']}; {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gib']:g} GiB, {machine['system']}, "
        f"load {machine['load_at_start']:g} at the start; "
        f"{versions}. Repeated measurements ({document['repeats']} runs): median (smallest to largest)."
    )


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, results: Results, engines: list[str]) -> list[str]:
    """Label, one cell per engine and the comparison; nothing where no engine has the number."""
    measured = results.get(row.task, {}).get(row.work)
    if measured is None:
        return []
    cells = [_cell(row, measured["engines"].get(name)) for name in engines]
    if all(cell == MISSING for cell in cells):
        return []
    return [row.label, *cells, *([_comparison(row, measured)] if len(engines) == len(HEADINGS) else [])]


def _cell(row: Row, engine: EngineResult | None) -> str:
    if engine is None:
        return MISSING
    if engine["failed"]:
        return "failed"
    spread = engine["summary"].get(row.key)
    return _number(row, spread, len(engine["runs"])) if spread else MISSING


def _number(row: Row, spread: Spread, runs: int) -> str:
    middle, low, high = (row.form.format(row.scale * spread[key]) for key in ("median", "min", "max"))
    return middle if runs == 1 else f"{middle} ({low.split()[0]} to {high.split()[0]})"


def _comparison(row: Row, measured: Measured) -> str:
    if row.key not in measured.get("ratios", {}):
        return ""
    if row.form == PERCENT:
        ours, peer = (measured["engines"][name]["summary"][row.key]["median"] for name in (OURS, PEER))
        return f"{ours - peer:+.2f}"
    return f"{measured['ratios'][row.key]:.4g}"


def main() -> None:
    """Render a finished run from its JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="JSON of a run")
    document: Document = json.loads(parser.parse_args().file.read_text(encoding="utf8"))
    print(publish(document))


if __name__ == "__main__":
    main()
