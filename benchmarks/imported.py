"""A model that CRFsuite trained on CoNLL-2000, read by our own reader: the same labels and probabilities?

    python -m benchmarks.imported --data DIR --out FILE.json [--iterations 500]

Every label of every test sentence is compared, and every marginal: by the estimator in double precision, and by the
core in single precision.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import pycrfsuite

from benchmarks.measure import Settings, new_parser, read, write_json
from benchmarks.peer import new_trainer, open_tagger
from benchmarks.summary import PEER
from benchmarks.tasks import TASKS
from spacy_crf.core.arrays import Floats
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.potentials import observe, potentials
from spacy_crf.estimator import CRF
from spacy_crf.estimator.items import encode_items

Sequences = list[list[list[str]]]


def peer_marginals(tagger: pycrfsuite.Tagger, items: Sequences, labels: list[str]) -> Floats:
    """((N, L)): one call for each cell, as the interface has it."""
    rows = []
    for sequence in items:
        tagger.set(sequence)
        rows += [[tagger.marginal(label, unit) for label in labels] for unit in range(len(sequence))]
    return np.array(rows)


def single_marginals(estimator: CRF, items: Sequences) -> Floats:
    """((N, L)): by the core, weights and recursions in single precision."""
    chain = estimator._fitted()
    encoded, weights = encode_items(items, chain.attributes), chain.weights.astype(np.float32)
    observations = observe(encoded.lengths, encoded.features(weights.layout.n_features))
    messages = forward_backward(potentials(observations, weights.dense, weights.layout))
    return node_marginals(messages)[observations.batch.rows]


def main() -> None:
    """Compare, and write JSON."""
    parser = new_parser(__doc__)
    parser.add_argument("--iterations", type=int, default=500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(TASKS["chunking"], options.data, Path(folder), options.iterations)
        path = settings.model_path(PEER)
        new_trainer(settings, read(settings, "train")).train(str(path))
        tagger, estimator = open_tagger(path), CRF.from_crfsuite(path)
        items = [settings.task.features(sentence) for sentence in read(settings, "test")]
        theirs = [tagger.tag(sequence) for sequence in items]
        expected = peer_marginals(tagger, items, estimator.classes_)
    ours = estimator.predict(items)
    double = np.array([list(unit.values()) for sequence in estimator.predict_marginals(items) for unit in sequence])
    result = {
        "sentences": len(items),
        "sentences_with_the_same_labels": sum(a == b for a, b in zip(ours, theirs)),
        "greatest_difference_double": float(np.abs(double - expected).max()),
        "greatest_difference_single": float(np.abs(single_marginals(estimator, items) - expected).max()),
    }
    write_json(options.out, result)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
