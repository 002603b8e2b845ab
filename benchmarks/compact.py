"""The L1 penalty against F1 and size on CoNLL-2000: what a small model costs.

    python -m benchmarks.compact --data DIR --out FILE.json

Each row trains the chunker of the engine benchmark with c1 and c2 = 0.05 by OWL-QN (c1 = 0: with the benchmark's c2 = 1
by L-BFGS), saves the pipeline, loads it again, and scores what was loaded.
"""

import json
import tempfile
import time
from pathlib import Path
from typing import TypedDict

import spacy

from benchmarks.data import score_chunks
from benchmarks.machine import describe
from benchmarks.measure import Settings, new_parser, read, size_of, write_json
from benchmarks.ours import NAME, encode, make_examples, new_chunker, predicted_labels
from benchmarks.report import show
from benchmarks.tasks import TASKS
from spacy_crf.core.learn.full_batch import FullBatchObjective, new_optimizer
from spacy_crf.learning.model import get_weights, set_weights

PENALTIES = ((0.0, 1.0), (0.1, 0.05), (0.25, 0.05), (0.5, 0.05), (1.0, 0.05), (2.0, 0.05), (4.0, 0.05))


class Row(TypedDict):
    """One model."""

    c1: float
    c2: float
    precision: str
    iterations: int
    seconds: float
    weights: int
    f1: float
    bytes: int
    strings_bytes: int
    load_seconds: float


def train(settings: Settings) -> list[Row]:
    """Train with each pair of penalties on features encoded once; single and half precision of each."""
    nlp = new_chunker(settings)
    pipe = nlp.get_pipe(NAME)
    examples, sentences = make_examples(nlp, read(settings, "train")), read(settings, "test")
    nlp.initialize(lambda: examples)
    corpus = encode(pipe, examples)
    zero = get_weights(pipe.model)
    rows: list[Row] = []
    for c1, c2 in PENALTIES:
        started = time.perf_counter()
        objective = FullBatchObjective(corpus, zero.layout, c2)
        optimizer = new_optimizer(objective, zero.flat, c1)
        optimizer.run(500)
        weights, seconds = objective.weights(optimizer.x), time.perf_counter() - started
        set_weights(pipe.model, weights)
        for precision in ("float32", "float16"):
            pipe.model.attrs["precision"] = precision
            trained = {"c1": c1, "c2": c2, "precision": precision, "iterations": optimizer.iterations}
            trained |= {"seconds": seconds, "weights": weights.n_active}
            with tempfile.TemporaryDirectory() as folder:
                nlp.to_disk(folder)
                rows.append(Row(**trained, **_loaded(settings, Path(folder), sentences)))
            print(json.dumps(rows[-1]), flush=True)
    return rows


def _loaded(settings: Settings, folder: Path, sentences: list) -> dict[str, float]:
    """F1 and sizes of what was saved."""
    started = time.perf_counter()
    nlp = spacy.load(folder)
    seconds = time.perf_counter() - started
    predicted = predicted_labels(nlp, settings, sentences)
    f1 = score_chunks([settings.task.labels(sentence) for sentence in sentences], predicted).f1
    sizes = {"bytes": size_of(folder / NAME), "strings_bytes": (folder / "vocab" / "strings.json").stat().st_size}
    return {"f1": f1, "load_seconds": seconds, **sizes}


def render(rows: list[Row], machine: str) -> str:
    """Return the table in Markdown."""
    lines = [machine, "", "| c1 | c2 | precision | weights | F1, test | component's folder | load | training |"]
    lines.append("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        lines.append(
            f"| {row['c1']:g} | {row['c2']:g} | {row['precision']} | {row['weights']:,} | {row['f1']:.2f} | "
            f"{row['bytes'] / 1e3:,.0f} kB | {row['load_seconds']:.2f} s | {row['seconds']:.1f} s |"
        )
    return "\n".join(lines)


def main() -> None:
    """Train, write the JSON, and put the table into the README."""
    options = new_parser(__doc__).parse_args()
    machine = describe()
    with tempfile.TemporaryDirectory() as models:
        rows = train(Settings(TASKS["chunking"], options.data, Path(models), 500))
    write_json(options.out, {"machine": machine, "rows": rows})
    show(render(rows, f"{machine['date']}; {machine['cpu']}, {machine['cores']} cores."), "compact")


if __name__ == "__main__":
    main()
