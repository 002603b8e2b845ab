"""Maximum-entropy Markov models against local distributions written out, and what label bias means."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.chain.forward import log_partition
from spacy_crf.core.chain.paths import nbest
from spacy_crf.core.labels import UNKNOWN, Gold
from spacy_crf.core.sparse import SparseRows, from_columns
from spacy_crf.lab.baselines.memm import MEMM, fit_memm, log_normalizers
from spacy_crf.lab.baselines.regression import SoftmaxObjective, local_problem

LENGTHS = np.array([3, 0, 1, 4])
N_FEATURES, N_LABELS = 6, 3


def random_features(rng, n_units) -> SparseRows:
    return from_columns(rng.integers(-1, N_FEATURES, (n_units, 3)).astype(np.int32), N_FEATURES)


def random_model(seed: int, scale: float = 1.0) -> tuple[MEMM, SparseRows]:
    """A model with some of the possible state weights, and features of a batch."""
    rng = np.random.default_rng(seed)
    cells = np.flatnonzero(rng.random(N_FEATURES * N_LABELS) < 0.7)
    weights = rng.normal(0, scale, (N_LABELS + 1, N_LABELS))
    model = MEMM(N_FEATURES, cells, rng.normal(0, scale, len(cells)), weights[:-1], weights[-1])
    return model, random_features(rng, int(LENGTHS.sum()))


def local(model: MEMM, features: SparseRows) -> np.ndarray:
    """((N, L + 1, L)): p(label | label before, unit), written out; the last context is none."""
    weights = np.zeros(N_FEATURES * N_LABELS)
    weights[model.cells] = model.state
    dense = np.zeros((features.n_rows, N_FEATURES))
    features.times(np.eye(N_FEATURES), dense)
    scores = (dense @ weights.reshape(N_FEATURES, N_LABELS))[:, None, :] + np.vstack([model.transitions, model.start])
    factors = np.exp(scores - scores.max(axis=2, keepdims=True))
    return factors / factors.sum(axis=2, keepdims=True)


def pieces(values: np.ndarray) -> list[np.ndarray]:
    return np.split(values, np.cumsum(LENGTHS)[:-1])


@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 10.0]))
def test_paths_have_the_product_of_their_local_probabilities(seed, scale):
    model, features = random_model(seed, scale)
    potentials = model.potentials(LENGTHS, features)
    np.testing.assert_allclose(log_partition(potentials), 0, atol=1e-9)
    found = nbest(potentials, N_LABELS**4)
    for sequence, factors in enumerate(pieces(local(model, features))):
        count, rows = found.counts[sequence], potentials.batch.row_sequences == sequence
        assert count == N_LABELS ** len(factors)
        for labels, score in zip(found.labels[:count, rows], found.scores[sequence]):
            expected = 1.0
            for before, label, factor in zip([N_LABELS, *labels], labels, factors):
                expected *= factor[before, label]
            assert np.exp(score) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@given(st.integers(0, 10_000))
def test_marginals_are_those_of_the_forward_recursion(seed):
    model, features = random_model(seed)
    marginals = pieces(model.marginals(LENGTHS, features))
    for found, factors in zip(marginals, pieces(local(model, features))):
        belief = np.array([0.0, 0.0, 0.0, 1.0])
        for row, factor in zip(found, factors):
            after = belief @ factor
            np.testing.assert_allclose(row, after, rtol=1e-9)
            assert row.sum() == pytest.approx(1)
            belief = np.append(after, 0.0)


@given(st.integers(0, 10_000))
def test_the_best_sequence_is_the_most_probable_one(seed):
    model, features = random_model(seed)
    for found, factors in zip(pieces(model.decode(LENGTHS, features)), pieces(local(model, features))):
        probabilities = {
            path: np.prod([f[b, t] for f, b, t in zip(factors, (N_LABELS, *path), path)])
            for path in itertools.product(range(N_LABELS), repeat=len(factors))
        }
        assert probabilities[tuple(found.tolist())] == pytest.approx(max(probabilities.values()))


def test_label_bias_what_comes_later_changes_nothing_before():
    model, features = random_model(1)
    changed = SparseRows(features.indptr, features.indices.copy(), None, N_FEATURES)
    last = slice(features.indptr[-2], None)
    assert len(changed.indices[last])
    changed.indices[last] = (changed.indices[last] + 1) % N_FEATURES
    before, after = model.marginals(LENGTHS, features), model.marginals(LENGTHS, changed)
    np.testing.assert_allclose(after[:-1], before[:-1], rtol=1e-9)
    assert np.abs(after[-1] - before[-1]).max() > 0.01


@given(st.integers(0, 10_000), st.sampled_from([1.0, 300.0, 1e4]))
def test_normalizers_are_exact_for_scores_of_any_size(seed, scale):
    rng = np.random.default_rng(seed)
    scores, transitions = rng.uniform(-scale, scale, (5, 3)), rng.uniform(-scale, scale, (4, 3))
    exact = np.logaddexp.reduce(scores[:, None, :] + transitions, axis=2)
    np.testing.assert_allclose(log_normalizers(scores, transitions), exact, rtol=1e-12, atol=1e-9)


@given(st.integers(0, 200))
def test_training_maximises_the_probability_of_gold(make_tagged, seed):
    """The objective is the sum of local log-probabilities, and its gradient vanishes where training ends."""
    tagged = make_tagged(seed, kinds=("known",))
    features = random_features(np.random.default_rng(seed), len(tagged.weights))
    model = fit_memm(tagged.lengths, features, tagged.gold, c2=0.5, dtype=np.float64)
    problem = local_problem(tagged.lengths, features, tagged.gold)
    objective = SoftmaxObjective(problem.rows, problem.targets, problem.cells, 0.5, np.float64)
    flat = np.concatenate([model.state, model.transitions.ravel(), model.start])
    value, gradient = objective(flat)
    assert np.abs(gradient).max() < 0.05
    labels, factors = tagged.weights.argmax(axis=1), local(model, features)
    firsts = np.cumsum(tagged.lengths) - tagged.lengths
    before = np.where(np.isin(np.arange(len(labels)), firsts), N_LABELS, np.roll(labels, 1))
    likelihood = np.log(factors[range(len(labels)), before, labels]).sum()
    assert value == pytest.approx(-likelihood + 0.5 * float(flat @ flat), rel=1e-9)


def test_what_can_be_learnt_is_learnt():
    """A label is told by the feature and the label before together: 1 follows 0, and 0 follows 1."""
    labels = np.array([0, 1, 0, 1, 1, 0, 1, 2] * 5)
    columns = np.where(labels == 2, 1, 0).reshape(-1, 1)
    columns[::4] = 2 + labels[::4].reshape(-1, 1)  # first units have a feature of their own
    features = from_columns(columns.astype(np.int32), N_FEATURES)
    lengths = np.full(10, 4)
    model = fit_memm(lengths, features, Gold.known(labels, 3), c2=0.01)
    assert model.state.dtype == np.float32
    assert model.decode(lengths, features).tolist() == labels.tolist()


def test_a_start_is_taken_up_and_forgotten_at_the_optimum(make_tagged):
    """Weights of known pairs are those of the start; features and pairs that it lacks begin at 0."""
    tagged = make_tagged(5, kinds=("known",))
    features = random_features(np.random.default_rng(5), len(tagged.weights))
    fewer = SparseRows(features.indptr, np.minimum(features.indices, N_FEATURES - 2), None, N_FEATURES - 1)
    start = fit_memm(tagged.lengths, fewer, tagged.gold, c2=0.5, dtype=np.float64)
    problem = local_problem(tagged.lengths, features, tagged.gold)
    begun = MEMM.of_weights(problem, start.weights_of(problem))
    expected = np.zeros((N_FEATURES, N_LABELS))
    expected.reshape(-1)[start.cells] = start.state
    np.testing.assert_array_equal(begun.state, expected.reshape(-1)[begun.cells])
    np.testing.assert_array_equal(begun.transitions, start.transitions)
    np.testing.assert_array_equal(begun.start, start.start)
    assert begun.state[begun.cells >= (N_FEATURES - 1) * N_LABELS].size and begun.state.any()
    settings = {"c2": 0.5, "dtype": np.float64}
    cold = fit_memm(tagged.lengths, features, tagged.gold, **settings)
    warm = fit_memm(tagged.lengths, features, tagged.gold, start=start, **settings)
    np.testing.assert_allclose(warm.state, cold.state, atol=0.02)
    again = fit_memm(tagged.lengths, features, tagged.gold, start=cold, max_iterations=1, **settings)
    np.testing.assert_allclose(again.state, cold.state, atol=0.02)


def test_weighted_gold_is_a_target(make_tagged):
    """One unit again and again, a third of it label 0: the model says so."""
    weights = np.tile([1 / 3, 2 / 3, 0], (30, 1))
    features = from_columns(np.zeros((30, 1), dtype=np.int32), 1)
    model = fit_memm(np.ones(30, dtype=int), features, Gold.weighted(weights), c2=1e-4, dtype=np.float64)
    np.testing.assert_allclose(model.marginals(np.array([1]), features.slice(0, 1)), [[1 / 3, 2 / 3, 0]], atol=0.01)


def test_a_stored_model_is_the_same(make_tagged, stored):
    model, features = random_model(3)
    again = MEMM(**stored(model.to_data()))
    np.testing.assert_array_equal(again.marginals(LENGTHS, features), model.marginals(LENGTHS, features))
    assert again.n_features == N_FEATURES


def test_nothing_to_tag():
    model, features = random_model(3)
    for lengths in (np.zeros(0, dtype=int), np.array([0, 0])):
        assert model.marginals(lengths, features.slice(0, 0)).shape == (0, N_LABELS)
        assert model.decode(lengths, features.slice(0, 0)).shape == (0,)


def test_errors_name_what_is_wrong():
    model, features = random_model(3)
    with pytest.raises(ValueError, match="CRF835.*4 columns.*trained on 6"):
        model.marginals(np.array([2]), from_columns(np.zeros((2, 1), dtype=np.int32), 4))
    with pytest.raises(ValueError, match="CRF836.*sum to 9.*8 rows of features"):
        model.marginals(np.array([9]), features)
    gold = Gold.known(np.zeros(8, dtype=int), 3)
    with pytest.raises(ValueError, match="CRF833.*c2 is -1"):
        fit_memm(LENGTHS, features, gold, c2=-1)
    with pytest.raises(ValueError, match="CRF108.*max_iterations"):
        fit_memm(LENGTHS, features, gold, max_iterations=0)
    with pytest.raises(ValueError, match="CRF831"):
        fit_memm(LENGTHS, features, Gold.known(np.full(8, UNKNOWN), 3))
