"""Tag sets on Middle Low German (ReN): what `configs/set_valued_tagger.cfg` reaches, and what several gold tags teach.

    python benchmarks/tagsets.py --data DIR --out FILE.json [--test]

`DIR` holds `ren_mlg/documents.tsv` (a table with the columns `file` and `split`) and
`ren_mlg/{pos,poscase}/FILE.tsv`. Each row is a whole `spacy train` with the project's config. Figures are those of dev;
with --test the first row is scored on test too.
"""

import csv
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import spacy
from spacy.training import Example
from spacy.vocab import Vocab

from benchmarks.machine import describe
from benchmarks.measure import new_parser
from benchmarks.report import README, update
from benchmarks.runner import ROOT
from spacy_crf.components.set_report import report_sets
from spacy_crf.corpora.reader import Corpus

NAME = "set_valued_tagger"
C2, STEPS = "0.5", "11"  # chosen on dev among 0.1, 0.2, 0.3, 0.5 and 0.8; 120 iterations
CONFIG = ROOT / "configs" / f"{NAME}.cfg"
VARIANTS = (
    ("pos", "soft"),
    ("poscase", "soft"),
    ("poscase", "marginal"),
    ("poscase", "best"),
    ("poscase", "augmented"),
)


def paths(data: Path, kind: str, split: str) -> list[str]:
    """Files of a split.

    data (Path): folder of the corpora. kind (str): "pos" or "poscase". split (str): "train", "dev" or "test".
    """
    with (data / "documents.tsv").open(encoding="utf8") as lines:
        names = [row["file"] for row in csv.DictReader(lines, delimiter="\t") if row["split"] == split]
    return [str(data / kind / f"{name}.tsv") for name in names]


def train(data: Path, kind: str, learn_from: str, folder: Path) -> float:
    """Run `spacy train`.

    RETURNS (float): wall seconds of the command.
    """
    command = [sys.executable, "-m", "spacy", "train", str(CONFIG), "--output", str(folder)]
    command += ["--paths.train", json.dumps(paths(data, kind, "train"))]
    command += ["--paths.dev", json.dumps(paths(data, kind, "dev"))]
    command += [f"--components.{NAME}.learn_from", learn_from, f"--components.{NAME}.trainer.c2", C2]
    command += ["--training.max_steps", STEPS]
    started = time.perf_counter()
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def measure(folder: Path, data: Path, kind: str, split: str) -> dict[str, Any]:
    """Scores of a trained pipeline on a split, and its speed.

    RETURNS (dict): the fields of `SetReport`, and tokens per second of a second pass of `nlp.pipe`.
    """
    nlp = spacy.load(folder / "model-best")
    words = {
        token.text for doc in Corpus(paths(data, kind, "train"), format="tagsets").read_docs(Vocab()) for token in doc
    }
    for _ in range(2):
        examples = list(Corpus(paths(data, kind, split), format="tagsets")(nlp))
        started = time.perf_counter()
        done = list(nlp.pipe(example.predicted for example in examples))
        seconds = time.perf_counter() - started
    found = report_sets(
        nlp.get_pipe(NAME), [Example(doc, eg.reference) for doc, eg in zip(done, examples, strict=True)], words
    )
    numbers = {name: value for name, value in asdict(found).items() if name != "by_size"}
    return {**numbers, "tokens_per_second": sum(map(len, done)) / seconds}


def render(rows: list[dict[str, Any]], machine: str) -> str:
    """The table.

    rows (list[dict]): one for each variant and split.
    RETURNS (str): Markdown.
    """
    heads = ("gold, learned from", "split", "K", "unknown", "ml-acc", "of unknown words", "ml-util", "size", "coverage")
    heads += ("one tag", "ml-acc of these", "training", "tokens/s")
    lines = [machine, "", f"| {' | '.join(heads)} |", f"|{' --- |' * 2}{' ---: |' * (len(heads) - 2)}"]
    for row in rows:
        percent = {name: f"{100 * value:.2f}" for name, value in row.items() if isinstance(value, float)}
        cells = (
            f"{row['kind']}, {row['learn_from']}",
            row["split"],
            row["labels"],
            f"{100 * row['unknown_words']:.1f} %",
            *(percent[name] for name in ("ml_acc", "ml_acc_unknown", "ml_util")),
            f"{row['size']:.2f}",
            *(percent[name] for name in ("coverage", "singletons", "singletons_right")),
            f"{row['seconds']:.0f} s",
            f"{row['tokens_per_second']:,.0f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> None:
    """Train and score every variant, write the JSON, and put the table into the README."""
    parser = new_parser(__doc__)
    parser.add_argument("--test", action="store_true", help="score the first variant on test, once")
    options = parser.parse_args()
    data, rows = options.data / "ren_mlg", []
    machine = describe()
    for kind, learn_from in VARIANTS:
        with tempfile.TemporaryDirectory() as folder:
            seconds = train(data, kind, learn_from, Path(folder))
            for split in ("dev", "test") if options.test and not rows else ("dev",):
                found = measure(Path(folder), data, kind, split)
                rows.append({"kind": kind, "learn_from": learn_from, "split": split, "seconds": seconds, **found})
                print(json.dumps(rows[-1]), flush=True)
    options.out.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n", encoding="utf8")
    table = render(
        rows, f"{machine['date']}; {machine['cpu']}, {machine['cores']} cores, load {machine['load_at_start']}."
    )
    print(table)
    update(README, table, "tagsets")


if __name__ == "__main__":
    main()
