"""The same features and penalty give the optimum, the weights and the decisions of CRFsuite."""

import re

import numpy as np
import pytest

from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.potentials import observe, potentials
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.learn.lbfgs import LBFGS, OWLQN
from spacy_crf.core.sparse import from_columns
from spacy_crf.core.weights import DenseWeights, Layout, cells, scatter

pycrfsuite = pytest.importorskip("pycrfsuite")

N_LABELS, N_ATTRIBUTES, N_RARE, C2 = 5, 30, 40, 1.0
PENALTIES = [(1.0, 0.0), (1.0, 0.1), (0.1, 1.0), (5.0, 0.01)]


@pytest.fixture(scope="module")
def sample():
    """Lengths, table of attributes and labels of 200 sequences; an attribute hints at a label, neighbours agree.

    Some units have two attributes of their own, which occur nowhere else.
    """
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
    rare = np.full((len(labels), 2), -1)
    rare[rng.choice(len(labels), N_RARE, replace=False)] = N_ATTRIBUTES + np.arange(2 * N_RARE).reshape(N_RARE, 2)
    return lengths, np.hstack([hinted, rare]).astype(np.int32), labels


def train_theirs(sample, path, c1, c2):
    """(trainer, tagger, sequences of attribute names) of CRFsuite."""
    lengths, table, labels = sample
    ends = np.cumsum(lengths)[:-1]
    sequences = [[[f"a{a}" for a in row if a >= 0] for row in part] for part in np.split(table, ends)]
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": c1, "c2": c2, "epsilon": 1e-9, "delta": 1e-12, "period": 50, "max_iterations": 2000})
    for items, gold in zip(sequences, np.split(labels, ends)):
        trainer.append(items, [f"l{label}" for label in gold])
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return trainer, tagger, sequences


def train_ours(sample, c1, c2):
    """(value at the optimum, dense weights, layout, observations) of this library."""
    lengths, table, labels = sample
    features = from_columns(table, N_ATTRIBUTES + 2 * N_RARE)
    inner = np.setdiff1d(np.arange(len(labels)), np.cumsum(lengths) - lengths)
    layout = Layout(
        features.n_columns,
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
    corpus = EncodedCorpus(lengths, features, Gold.known(labels, N_LABELS))
    objective = FullBatchObjective(corpus, layout, c2, n_threads=1, dtype=np.float64)
    start = objective.basis.start(np.zeros(layout.size))
    stops = {"epsilon": 1e-8, "period": 0}
    if c1:
        optimizer = OWLQN(objective, start, c1=c1 * objective.basis.l1_scales, **stops)
    else:
        optimizer = LBFGS(objective, start, **stops)
    optimizer.run(2000)
    weights = DenseWeights.zeros(layout, np.float64)
    scatter(layout, objective.basis.finish(optimizer.x), weights)
    return optimizer.value, weights, layout, observe(lengths, features)


@pytest.fixture(scope="module")
def theirs(sample, tmp_path_factory):
    return train_theirs(sample, tmp_path_factory.mktemp("crfsuite") / "model", 0.0, C2)


@pytest.fixture(scope="module")
def ours(sample):
    return train_ours(sample, 0.0, C2)


def weights_of(tagger, like):
    """State and transition weights of a CRFsuite model as dense arrays, and how many it stores."""
    info = tagger.info()
    labels = {name: int(re.sub(r"\D", "", name)) for name in info.labels}
    state, transitions = np.zeros_like(like.state), np.zeros_like(like.transitions)
    for (attribute, label), weight in info.state_features.items():
        state[int(attribute[1:]), labels[label]] = weight
    for (before, after), weight in info.transitions.items():
        transitions[labels[before], labels[after]] = weight
    return state, transitions, len(info.state_features)


def test_the_objective_at_the_optimum(ours, theirs):
    assert ours[0] == pytest.approx(theirs[0].logparser.last_iteration["loss"], rel=1e-4)


def test_weights(ours, theirs):
    _, weights, layout, _ = ours
    state, transitions, stored = weights_of(theirs[1], weights)
    np.testing.assert_allclose(weights.state, state, atol=1e-2)
    np.testing.assert_allclose(weights.transitions, transitions, atol=1e-2)
    assert stored == len(layout.state_cells)
    assert abs(transitions).max() > 0.5


@pytest.mark.parametrize("c1, c2", PENALTIES)
def test_the_same_optimum_and_the_same_zeros_under_l1(sample, tmp_path, c1, c2):
    value, weights, layout, _ = train_ours(sample, c1, c2)
    trainer, tagger, _ = train_theirs(sample, tmp_path / "model", c1, c2)
    assert value == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-4)
    state, transitions, stored = weights_of(tagger, weights)
    np.testing.assert_allclose(weights.state, state, atol=1e-2)
    np.testing.assert_allclose(weights.transitions, transitions, atol=1e-2)
    assert np.count_nonzero(weights.state) == pytest.approx(stored, abs=2)
    assert np.count_nonzero(weights.state) < (0.99 if c1 < 1 else 0.7) * len(layout.state_cells)


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
