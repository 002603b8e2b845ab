"""Labels that differ between single and double precision, for the weights of a trained pipeline.

    python -m benchmarks.precision MODEL CORPUS [COMPONENT]

MODEL is the folder of a pipeline, CORPUS what `spacy_crf.Corpus.v1` reads. The weights are the same; all sums are made
in either precision.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc
from spacy.util import minibatch

from spacy_crf import Corpus
from spacy_crf.learning.scores import Emissions


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


def main(model: str, corpus: str, component: str = "crf_tagger") -> None:
    nlp = spacy.load(model)
    docs = [example.predicted for example in Corpus(corpus)(nlp)]
    different, total = labels_that_differ(nlp.get_pipe(component), docs)
    print(f"{different} of {total:,} labels differ")


if __name__ == "__main__":
    main(*sys.argv[1:])
