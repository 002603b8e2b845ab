"""The objective of a whole corpus: blocks, threads and merged singletons change nothing."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers.objectives import differences, plain_loss

from spacy_crf.core.chain.potentials import NoPathError
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn import basis, blocks, full_batch
from spacy_crf.core.learn.blocks import EncodedCorpus, cut
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.learn.lbfgs import LBFGS
from spacy_crf.core.sparse import from_columns
from spacy_crf.core.weights import Layout

C2 = 0.3
KINDS = [("known",), ("unknown",), ("set",), ("distribution",), ("known", "unknown", "set", "distribution"), ("open",)]


@pytest.fixture(autouse=True, params=["dense rows", "rare by cell", "all by cell"])
def small_blocks(monkeypatch, request):
    """Small corpora in several blocks, and each way to score the weights of a feature."""
    monkeypatch.setattr(full_batch, "cut", lambda corpus: cut(corpus, 6))
    shares = {"dense rows": 0.0, "rare by cell": 0.4, "all by cell": 1.0}
    monkeypatch.setattr(basis, "FEW_LABELS", shares[request.param])


def objective_of(problem, **settings):
    return FullBatchObjective(problem.corpus, problem.layout, C2, **{"dtype": np.float64, "n_threads": 1, **settings})


def plain(problem, flat):
    """Value and gradient over the layout's own flat vector, in one batch."""
    loss, gradient = plain_loss(problem.corpus, problem.layout, flat)
    return loss + C2 * flat @ flat, gradient + 2 * C2 * flat


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("edges,masks,values", list(itertools.product([False, True], repeat=3)))
def test_value_and_gradient_equal_the_plain_objective(make_problem, kinds, edges, masks, values):
    lengths = (3, 1, 0, 4, 2, 3, 5, 2, 0, 7)
    problem = make_problem(1, kinds, edges, masks=masks, values=values, lengths=lengths, density=0.4, own=4)
    objective = objective_of(problem)
    x = objective.basis.start(problem.flat)
    flat = objective.basis.finish(x)
    assert len(objective.pieces) > 2 and len(x) == objective.basis.size < len(flat)
    value, gradient = objective(x)
    expected, flat_gradient = plain(problem, flat)
    assert value == pytest.approx(expected, rel=1e-7)
    # x is a rotation of the flat weights, and a gradient turns with its vector
    np.testing.assert_allclose(gradient, objective.basis.start(flat_gradient), atol=1e-6)
    np.testing.assert_allclose(objective.basis.finish(gradient), flat_gradient, atol=1e-6)


@pytest.mark.parametrize("edges", [False, True])
def test_gradient_equals_central_differences(make_problem, edges):
    problem = make_problem(2, edges=edges, masks=True, n_features=8, density=0.4, own=3)
    objective = objective_of(problem)
    x = np.random.default_rng(0).normal(size=objective.basis.size)
    np.testing.assert_allclose(objective(x)[1], differences(lambda x: objective(x)[0], x), atol=1e-6)


def test_start_and_finish_are_a_round_trip_and_a_projection(make_problem):
    problem = make_problem(3, edges=True, density=0.4, own=4)
    objective = objective_of(problem)
    assert objective.basis.size < problem.layout.size
    x = np.random.default_rng(0).normal(size=objective.basis.size)
    np.testing.assert_allclose(objective.basis.start(objective.basis.finish(x)), x, rtol=1e-12)
    assert x @ x == pytest.approx(objective.basis.finish(x) @ objective.basis.finish(x))
    projected = objective.basis.finish(objective.basis.start(problem.flat))
    np.testing.assert_allclose(objective.basis.finish(objective.basis.start(projected)), projected, rtol=1e-12)
    away = problem.flat - projected
    assert away @ away > 0.1
    assert away @ projected == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_changes_no_bit(make_problem, dtype):
    rng = np.random.default_rng(4)
    problem = make_problem(4, edges=True, lengths=tuple(rng.integers(0, 9, 60)), density=0.4, own=3)
    x = rng.normal(size=objective_of(problem).basis.size)
    value, gradient = objective_of(problem, dtype=dtype)(x)
    for n_threads in (2, 3):
        objective = objective_of(problem, dtype=dtype, n_threads=n_threads)
        for _ in range(3):  # accumulators are used again
            again, same = objective(x)
            assert again == value
            np.testing.assert_array_equal(same, gradient)


def test_a_single_precision_gradient_is_close(make_problem):
    problem = make_problem(5, edges=True)
    objective = objective_of(problem)
    x = objective.basis.start(problem.flat)
    value, gradient = objective(x)
    close, single = objective_of(problem, dtype=np.float32)(x)
    assert close == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(single, gradient, atol=1e-4)


def test_few_lanes_give_the_same_result(make_problem, monkeypatch):
    problem = make_problem(6)
    objective = objective_of(problem)
    x = objective.basis.start(problem.flat)
    monkeypatch.setattr(full_batch, "LANE_BYTES", 0)
    value, gradient = objective_of(problem)(x)
    assert value == pytest.approx(objective(x)[0], rel=1e-12)
    np.testing.assert_allclose(gradient, objective(x)[1], atol=1e-12)


@pytest.mark.parametrize("lengths", [(), (0, 0)])
def test_an_empty_corpus_leaves_the_penalty(make_problem, lengths):
    problem = make_problem(7, lengths=lengths, edges=True)
    value, gradient = objective_of(problem)(objective_of(problem).basis.start(problem.flat))
    assert value == pytest.approx(C2 * problem.flat @ problem.flat)
    assert len(gradient) == problem.layout.size


def forbidden_objective(make_problem, labels):
    """Known and unknown gold for four sequences; the masks forbid 2 at the start, 1 at the end and 2 after 1."""
    problem = make_problem(8, masks=True, lengths=(1, 2, 5, 3))
    corpus = EncodedCorpus(problem.corpus.lengths, problem.corpus.features, Gold.known(np.array(labels), 3))
    return FullBatchObjective(corpus, problem.layout, C2, n_threads=1)


def test_known_gold_that_the_masks_forbid_names_the_sequence_of_the_corpus(make_problem):
    with pytest.raises(NoPathError) as caught:
        forbidden_objective(make_problem, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2])
    assert caught.value.sequences == [3]


def test_partial_gold_that_the_masks_forbid_names_the_sequence_of_the_corpus(make_problem):
    objective = forbidden_objective(make_problem, [0, 0, 0, -1, 1, 2, 0, 0, 0, -1, 0])
    with pytest.raises(NoPathError) as caught:
        objective(np.zeros(objective.basis.size))
    assert caught.value.sequences == [2]


def test_blocks_hold_every_unit_once_and_only_their_own_edge_rows(make_problem):
    problem = make_problem(9, edges=True, lengths=(3, 1, 0, 4, 2, 3, 5, 2))
    parts = list(blocks.cut(problem.corpus, 6))
    assert sorted(np.concatenate([part.units for part in parts])) == list(range(20))
    for part in parts:
        latent = problem.gold[part.units].sum(axis=1) > 1 + 1e-4
        assert part.is_open == latent.any()
        np.testing.assert_allclose(part.gold.dense(), problem.gold[part.units], rtol=1e-6)
        edges = part.observations.edges
        assert set(edges.groups.tolist()) == set(range(edges.features.n_rows))
        for row, unit in enumerate(part.units):
            table = np.zeros(60)
            features = part.observations.features
            np.add.at(table, features.indices[features.indptr[row] : features.indptr[row + 1]], 1)
            np.testing.assert_array_equal(table[:30], problem.table[unit])


@pytest.mark.parametrize("softened", ["none", "one", "all"])
def test_rounding_of_what_gold_uses_often_is_no_noise(monkeypatch, softened):
    """Steps far below the precision of a weight must not shift the value by its rounding error times its count."""
    monkeypatch.setattr(full_batch, "cut", cut)
    monkeypatch.setattr(basis, "FEW_LABELS", 0.0)
    rng, n_units, n = np.random.default_rng(0), 20_000, 2
    # feature 0 is everywhere, feature 1 or 2 implies 0, the many others come as they like
    columns = np.stack([np.zeros(n_units), rng.integers(1, 3, n_units), rng.integers(3, 3000, n_units)], axis=1)
    features, everything = from_columns(columns.astype(np.int32), 3000), np.ones((n, n), dtype=bool)
    nowhere = np.zeros(0, dtype=np.intp)
    layout = Layout(
        3000, n, 0, np.arange(3000 * n), np.arange(n * n), nowhere, False, everything, everything[0], everything[0]
    )
    labels = (rng.random(n_units) < 0.1).astype(np.int32)
    slots = np.array([0, 1, 1, *[2] * 2997], dtype=np.int32)
    weights = np.eye(n)[labels]
    if softened != "none":
        weights[[5, -5] if softened == "one" else slice(None)] = [0.7, 0.3]
    corpus = EncodedCorpus(np.full(100, n_units // 100), features, Gold.weighted(weights), slots=slots)
    objective = FullBatchObjective(corpus, layout, C2, n_threads=1)
    assert objective._implied is not None
    optimizer = LBFGS(objective, rng.normal(size=objective.basis.size))
    optimizer.run(40)
    values = [objective(optimizer.x + 1e-7 * rng.normal(size=objective.basis.size))[0] for _ in range(10)]
    assert np.std(values) < 4e-5


def test_weights_that_were_added_later_come_in_any_order(make_problem):
    """`add_state_weights` puts new cells behind the present ones."""
    problem = make_problem(10, density=0.4, own=3)
    order = np.random.default_rng(0).permutation(len(problem.layout.state_cells))
    layout = replace(problem.layout, state_cells=problem.layout.state_cells[order])
    flat = np.concatenate([problem.flat[: len(order)][order], problem.flat[len(order) :]])
    shuffled = FullBatchObjective(problem.corpus, layout, C2, 1, np.float64)
    objective = objective_of(problem)
    value, gradient = objective(objective.basis.start(problem.flat))
    again, turned = shuffled(shuffled.basis.start(flat))
    assert again == pytest.approx(value, rel=1e-12)
    state = objective.basis.finish(gradient)[: len(order)][order]
    np.testing.assert_allclose(shuffled.basis.finish(turned)[: len(order)], state, atol=1e-9)
