"""Peak memory of the core learning from encoded features, in a process without spaCy and Docs.

python -m benchmarks.ours_memory memory --task TASK --data DIR --models DIR
"""

import sys
from dataclasses import replace

import numpy as np

from benchmarks.measure import Settings, enough_iterations, peak_mebibytes, run_job
from benchmarks.summary import Numbers
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.learn.lbfgs import LBFGS
from spacy_crf.core.sparse import SparseRows
from spacy_crf.core.weights import Layout


def memory(settings: Settings) -> Numbers:
    """Train for a few iterations on what the job "train" has left.

    RETURNS (Numbers): MiB before the data, with all data loaded, and at the peak.
    """
    before = peak_mebibytes()
    with np.load(settings.models / f"{settings.task.name}.encoded.npz") as data:
        n_features, n_labels = data["sizes"].tolist()
        features = SparseRows(data["indptr"], data["indices"], None, n_features)
        corpus = EncodedCorpus(data["lengths"], features, Gold.known(data["labels"], n_labels), slots=data["slots"])
        empty = Layout.empty(n_labels, boundary=False, n_features=n_features)
        layout = replace(empty, state_cells=data["state_cells"], transition_cells=data["transition_cells"])
    fed = peak_mebibytes()
    objective = FullBatchObjective(corpus, layout, settings.task.c2)
    optimizer = LBFGS(objective, objective.basis.start(np.zeros(layout.size, dtype=np.float32)))
    optimizer.run(enough_iterations(settings))
    assert "spacy" not in sys.modules, "the core must not know spaCy"
    return {
        "before_mebibytes": before,
        "fed_mebibytes": fed,
        "peak_mebibytes": peak_mebibytes(),
        "iterations": optimizer.iterations,
    }


if __name__ == "__main__":
    run_job(memory)
