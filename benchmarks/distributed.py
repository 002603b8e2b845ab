"""What an iteration of distributed training costs: seconds of workers and of the driver, and bytes between them.

    python -m benchmarks.distributed --out FILE.json [--tokens 25000 ...] [--workers 1 2] [--dask]

Sentences of CoNLL-2000 with CRFsuite's templates for chunking, 22 labels; beyond its 211,727 tokens they are repeated.
Without --dask each shard is evaluated in this process, one after the other, in CPU seconds, which other work on the
machine hardly disturbs: `worker` is the longest of them, as workers wait for each other. With it, `iteration` is what
the clock says on a cluster of this machine.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import read_conll2000
from benchmarks.measure import Clock, new_parser, peak_mebibytes, write_json
from benchmarks.ours import encode
from spacy_crf.core.threads import single_threaded_blas
from spacy_crf.learning.block import DistributedSettings, LBFGSSettings
from spacy_crf.learning.distributed import (
    DistributedObjective,
    Shards,
    cut_shards,
    evaluate_shard,
    kept_objective,
    narrow,
    write_shard,
)
from spacy_crf.learning.model import get_weights

REPEATS = 3


def encoded(data: Path, tokens: int) -> tuple[Any, Any, float]:
    """So many tokens as an encoded corpus, the layout of its weights, and CPU seconds of encoding a token."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp, examples, count = spacy.blank("en"), [], 0
    config = {"features": {"@misc": "spacy_crf.Features.v1", "templates": ["@chunking"]}, "target": "spans"}
    pipe: Any = nlp.add_pipe("crf_tagger", config={**config, "spans_key": "chunks"})
    for sentence in read_conll2000(data, "train"):
        if count >= tokens:
            break
        reference = Doc(nlp.vocab, words=sentence.words, tags=sentence.xpos)
        predicted = Doc(nlp.vocab, words=sentence.words, tags=sentence.xpos)
        reference.spans["chunks"] = list(chunk_spans(reference, sentence.chunks))
        examples.append(Example(predicted, reference))
        count += len(sentence.words)
    pipe.initialize(lambda: examples, nlp=nlp)
    with Clock() as clock:
        corpus: Any = encode(pipe, examples)
    present = len(corpus.gold.labels)
    if tokens > present:
        sequences = np.resize(np.arange(len(corpus.lengths)), len(corpus.lengths) * tokens // present)
        corpus = corpus.take(sequences)
    return corpus, get_weights(pipe.model).layout, clock.cpu / present


def chunk_spans(doc: Any, tags: list[str]) -> Any:
    """The chunks of BIO tags."""
    from spacy.tokens import Span

    start = 0
    for place in range(1, len(tags) + 1):
        if place == len(tags) or not tags[place].startswith("I-"):
            if tags[start] != "O":
                yield Span(doc, start, place, label=tags[start][2:])
            start = place


def measure(corpus: Any, layout: Any, workers: int) -> dict[str, Any]:
    """CPU seconds of an iteration, and its bytes, in this process."""
    weights, seconds, places = np.zeros(layout.size), [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, shard in enumerate(cut_shards(corpus, workers)):
            path = str(Path(folder, f"{number}.npz"))
            own, narrowed, place = narrow(shard, layout)
            write_shard(Path(path), own, narrowed)
            evaluate_shard(path, weights[place])
            runs = []
            for _ in range(REPEATS):
                with Clock() as clock:
                    evaluate_shard(path, weights[place])
                runs.append(clock.cpu)
            seconds.append(min(runs))
            places.append(place)
            kept_objective.cache_clear()
    with single_threaded_blas(), Clock() as clock:
        gradient = 2.0 * weights
        for place in places:
            gradient[place] += weights[place]
        for _ in range(4 * LBFGSSettings().memory):
            float(weights @ gradient)
    return {
        "tokens": len(corpus.gold.labels),
        "pairs": len(corpus.features.indices),
        "weights": layout.size,
        "workers": workers,
        "worker": max(seconds),
        "driver": clock.cpu,
        "bytes": sum(16 * len(place) for place in places),
        "peak_mib": peak_mebibytes(),
    }


def timed(corpus: Any, layout: Any, workers: int) -> dict[str, Any]:
    """Seconds of an iteration on a cluster of this machine."""
    shards = Shards(corpus, layout, DistributedSettings(LBFGSSettings(), workers))
    objective, x = DistributedObjective(shards, 1.0), np.zeros(layout.size)
    objective(x)
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        objective(x)
        seconds.append(time.perf_counter() - started)
    shards.close()
    return {"iteration": min(seconds)}


def main() -> None:
    """Measure all sizes with all numbers of workers; one line of JSON each, and all of them in a file."""
    parser: argparse.ArgumentParser = new_parser(__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=[25_000, 50_000, 100_000, 200_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--dask", action="store_true", help="time a cluster of processes as well")
    asked = parser.parse_args()
    rows = []
    for tokens in asked.tokens:
        corpus, layout, encoding = encoded(asked.data, tokens)
        for workers in asked.workers:
            row = {**measure(corpus, layout, workers), "encoding_per_token": encoding}
            rows.append(row | (timed(corpus, layout, workers) if asked.dask else {}))
            print(json.dumps(rows[-1]), flush=True)
    write_json(asked.out, rows)


if __name__ == "__main__":
    main()
