"""The same features and penalty give the optimum, the weights and the decisions of CRFsuite."""

import re

import numpy as np
import pytest

from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.gold import Gold
from spacy_crf.core.learn.blocks import Corpus
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.learn.lbfgs import LBFGS
from spacy_crf.core.observations import observe, potentials
from spacy_crf.core.params import DenseWeights, Layout, cells, scatter
from spacy_crf.core.sparse import from_columns

pycrfsuite = pytest.importorskip("pycrfsuite")

N_LABELS, N_ATTRIBUTES, C2 = 5, 30, 1.0


@pytest.fixture(scope="module")
def sample():
    """Lengths, table of attributes and labels of 200 sequences; an attribute hints at a label, neighbours agree."""
    rng = np.random.default_rng(11)
    lengths = rng.integers(1, 12, 200)
    labels = rng.integers(0, N_LABELS, lengths.sum())
    stays = rng.random(len(labels)) < 0.5
    for unit in np.flatnonzero(stays)[1:]:
        labels[unit] = labels[unit - 1]
    frequent = 1 / np.arange(1, N_ATTRIBUTES + 1)
    ranks = rng.choice(N_ATTRIBUTES, (len(labels), 4), p=frequent / frequent.sum())
    hinted = np.where(rng.random(ranks.shape) < 0.5, (ranks // N_LABELS * N_LABELS + labels[:, None]), ranks)
    hinted.sort(axis=1)
    hinted[:, 1:][hinted[:, 1:] == hinted[:, :-1]] = -1  # an attribute once per unit
    return lengths, hinted.astype(np.int32), labels


@pytest.fixture(scope="module")
def theirs(sample, tmp_path_factory):
    """(trainer, tagger, sequences of attribute names) of CRFsuite."""
    lengths, table, labels = sample
    ends = np.cumsum(lengths)[:-1]
    sequences = [[[f"a{a}" for a in row if a >= 0] for row in part] for part in np.split(table, ends)]
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": C2, "epsilon": 1e-9, "delta": 1e-12, "period": 50, "max_iterations": 2000})
    for items, gold in zip(sequences, np.split(labels, ends)):
        trainer.append(items, [f"l{label}" for label in gold])
    path = str(tmp_path_factory.mktemp("crfsuite") / "model")
    trainer.train(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return trainer, tagger, sequences


@pytest.fixture(scope="module")
def ours(sample):
    """(value at the optimum, dense weights, layout, observations) of this library."""
    lengths, table, labels = sample
    features = from_columns(table, N_ATTRIBUTES)
    inner = np.setdiff1d(np.arange(len(labels)), np.cumsum(lengths) - lengths)
    layout = Layout(
        N_ATTRIBUTES,
        N_LABELS,
        0,
        cells(features.indices, labels[features.row_numbers()], N_LABELS),
        cells(labels[inner - 1], labels[inner], N_LABELS),
        np.zeros(0, np.intp),
        False,
        np.ones((N_LABELS, N_LABELS), bool),
        np.ones(N_LABELS, bool),
        np.ones(N_LABELS, bool),
    )
    corpus = Corpus(lengths, features, Gold.known(labels, N_LABELS))
    objective = FullBatchObjective(corpus, layout, C2, n_threads=1, dtype=np.float64)
    optimizer = LBFGS(objective, objective.start(np.zeros(layout.size)), epsilon=1e-8, period=0)
    optimizer.run(2000)
    weights = DenseWeights.zeros(layout, np.float64)
    scatter(layout, objective.finish(optimizer.x), weights)
    return optimizer.value, weights, layout, observe(lengths, features)


def test_the_objective_at_the_optimum(ours, theirs):
    assert ours[0] == pytest.approx(theirs[0].logparser.last_iteration["loss"], rel=1e-4)


def test_weights(ours, theirs):
    _, weights, layout, _ = ours
    info = theirs[1].info()
    numbers = {name: int(re.sub(r"\D", "", name)) for names in (info.labels, info.attributes) for name in names}
    state, transitions = np.zeros_like(weights.state), np.zeros_like(weights.transitions)
    for (attribute, label), weight in info.state_features.items():
        state[numbers[attribute], numbers[label]] = weight
    for (before, after), weight in info.transitions.items():
        transitions[numbers[before], numbers[after]] = weight
    np.testing.assert_allclose(weights.state, state, atol=1e-2)
    np.testing.assert_allclose(weights.transitions, transitions, atol=1e-2)
    assert len(info.state_features) == len(layout.state_cells)
    assert abs(transitions).max() > 0.5


def test_marginals_and_labels(ours, theirs):
    _, weights, layout, observations = ours
    _, tagger, sequences = theirs
    chains = potentials(observations, weights, layout)
    rows = observations.batch.rows
    marginals, labels = node_marginals(forward_backward(chains))[rows], viterbi(chains).labels[rows]
    expected, decoded = [], []
    for items in sequences:
        decoded += [int(label[1:]) for label in tagger.tag(items)]
        expected += [[tagger.marginal(f"l{label}", t) for label in range(N_LABELS)] for t in range(len(items))]
    np.testing.assert_allclose(marginals, expected, atol=1e-3)
    assert labels.tolist() == decoded
