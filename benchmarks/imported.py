"""A model that CRFsuite trained on CoNLL-2000, read by our own reader: the same labels and probabilities?

    python benchmarks/imported.py --data DIR --out FILE.json [--iterations 500]

Every label of every test sentence is compared, and every marginal: by the estimator in double precision, and by the
core in single precision.
"""

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pycrfsuite

from benchmarks.measure import new_parser
from benchmarks.tasks import TASKS
from spacy_crf.core.arrays import Floats
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.potentials import observe, potentials
from spacy_crf.estimator import CRF
from spacy_crf.estimator.items import encode_items

Sequences = list[list[list[str]]]


def train_peer(items: Sequences, labels: list[list[str]], path: str, iterations: int) -> pycrfsuite.Tagger:
    """A model file of CRFsuite, and its tagger."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 1.0, "max_iterations": iterations})
    for sequence, tags in zip(items, labels):
        trainer.append(sequence, tags)
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return tagger


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
    task = TASKS["chunking"]
    train, test = (list(task.read(options.data, split)) for split in ("train", "test"))
    items = [task.features(sentence) for sentence in test]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        features, labels = (
            [task.features(sentence) for sentence in train],
            [task.labels(sentence) for sentence in train],
        )
        tagger = train_peer(features, labels, path, options.iterations)
        estimator = CRF.from_crfsuite(path)
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
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf8")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
