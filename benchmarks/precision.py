"""Labels that differ between single and double precision, for the weights of a trained pipeline.

    python -m benchmarks.precision MODEL [CORPUS ...]

MODEL is the folder of a pipeline, CORPUS a path for the dev reader of its config, whose own path is the default. The
weights are the same; all sums are made in either precision.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc
from spacy.util import minibatch, registry

from spacy_crf.learning.scores import Emissions
from spacy_crf.pipe.component import ChainPipe


def labels_that_differ(pipe: Any, docs: Sequence[Doc]) -> tuple[int, int]:
    """Return how many units get another label in double precision, and how many there are."""
    single, double = (
        Emissions(pipe.features, pipe.scores.weights.astype(dtype), pipe.name) for dtype in (np.float32, np.float64)
    )
    different = total = 0
    for batch in minibatch(docs, 256):
        columns = pipe.read(batch)
        best = [scores.distribution(columns, scores.look_up(columns)).best() for scores in (single, double)]
        different += int((best[0] != best[1]).sum())
        total += len(best[0])
    return different, total


def main(model: str, *corpora: str) -> None:
    nlp = spacy.load(model)
    reader = nlp.config.interpolate()["corpora"]["dev"]
    for path in corpora or [reader["path"]]:
        read = registry.resolve({"corpus": {**reader, "path": path}})["corpus"]
        docs = [example.predicted for example in read(nlp)]
        for name, pipe in nlp.pipeline:
            if isinstance(pipe, ChainPipe):
                different, total = labels_that_differ(pipe, docs)
                print(f"{path}, {name}: {different} of {total:,} labels differ", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
