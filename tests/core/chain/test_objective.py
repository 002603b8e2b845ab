"""The objective against enumeration, its gradient against central differences."""

import itertools

import numpy as np
import pytest
from helpers.objectives import differences, plain_loss

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.objective import loss_and_gradient
from spacy_crf.core.chain.open_gold import OpenGold
from spacy_crf.core.chain.potentials import NonFiniteError, NoPathError, observe
from spacy_crf.core.labels import Gold
from spacy_crf.core.weights import DenseWeights, gather, scatter

SETTINGS = list(itertools.product([False, True], repeat=3))
KINDS = [("known",), ("unknown",), ("set",), ("distribution",), ("known", "unknown", "set", "distribution"), ("open",)]


def evaluate(problem, flat, gold=None):
    """Loss and flat gradient in float64."""
    return plain_loss(problem.corpus, problem.layout, flat, gold)


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("edges,boundary,masks", SETTINGS)
def test_value_equals_enumeration(make_problem, kinds, edges, boundary, masks):
    problem = make_problem(1, kinds, edges, boundary, masks, values=edges)
    assert evaluate(problem, problem.flat)[0] == pytest.approx(problem.loss(), rel=1e-6)


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("edges,boundary,masks", SETTINGS)
def test_gradient_equals_central_differences(make_problem, kinds, edges, boundary, masks):
    problem = make_problem(2, kinds, edges, boundary, masks, values=masks, n_features=8)
    _, gradient = evaluate(problem, problem.flat)
    expected = differences(lambda flat: evaluate(problem, flat)[0], problem.flat)
    np.testing.assert_allclose(gradient, expected, atol=2e-7)
    assert abs(gradient).max() > 0.1


def test_the_gradient_is_added_to_the_accumulator(make_problem):
    problem = make_problem(3)
    layout, observations = problem.layout, observe(problem.corpus.lengths, problem.corpus.features)
    gold = problem.corpus.gold.take(observations.batch.units)
    weights, out = DenseWeights.zeros(layout, np.float64), DenseWeights.zeros(layout, np.float64)
    loss_and_gradient(observations, gold, weights, layout, out)
    once = [section.copy() for section in out.sections()]
    loss_and_gradient(observations, gold, weights, layout, out)
    for section, single in zip(out.sections(), once):
        np.testing.assert_allclose(section, 2 * single, atol=1e-12)


def test_single_precision_is_close(make_problem):
    problem = make_problem(4)
    layout, observations = problem.layout, observe(problem.corpus.lengths, problem.corpus.features)
    gold = problem.corpus.gold.take(observations.batch.units)
    weights, out = DenseWeights.zeros(layout), DenseWeights.zeros(layout)
    scatter(layout, problem.flat, weights)
    loss = loss_and_gradient(observations, gold, weights, layout, out)
    flat = np.zeros(layout.size, np.float32)
    gather(layout, out, flat)
    expected, gradient = evaluate(problem, problem.flat)
    assert loss == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(flat, gradient, atol=1e-5)


def test_distributions_are_conditioned_on_what_the_masks_allow(make_problem):
    """Independent distributions give some mass to the forbidden step from 1 to 2; a finite loss needs it taken away."""
    problem = make_problem(5, ("distribution",), masks=True, lengths=(3,), density=1.0)
    problem.gold[:] = [[0.4, 0.6, 0.0], [0.1, 0.2, 0.7], [0.5, 0.0, 0.5]]
    gold = Gold.weighted(problem.gold)
    loss, gradient = evaluate(problem, problem.flat, gold)
    assert loss == pytest.approx(problem.loss(), rel=1e-6)
    np.testing.assert_allclose(
        gradient, differences(lambda flat: evaluate(problem, flat, gold)[0], problem.flat), atol=2e-7
    )


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("wrong", [[1, 2], [2, 0], [0, 1]], ids=["step", "start", "end"])
def test_gold_that_masks_forbid_names_the_sequence(make_problem, wrong, edges):
    problem = make_problem(6, masks=True, edges=edges, lengths=(3, 1, 2, 4))
    labels = np.array([0, 0, 0, 0, *wrong, 0, 0, 0, 0])
    with pytest.raises(NoPathError, match="CRF103") as caught:
        evaluate(problem, problem.flat, Gold.known(labels, 3))
    assert caught.value.sequences == [2]


def test_errors_in_a_mixed_batch_number_the_whole_batch(make_problem):
    problem = make_problem(7, masks=True, lengths=(1, 2, 3))
    gold = np.ones((6, 3))
    gold[0] = gold[5] = [1, 0, 0]
    gold[4], gold[3] = [0, 0, 1], [0, 1, 0]
    with pytest.raises(NoPathError) as caught:
        evaluate(problem, problem.flat, Gold.weighted(gold))
    assert caught.value.sequences == [2]
    corpus = problem.corpus
    broken = corpus.features.values if corpus.features.values is not None else np.ones(len(corpus.features.indices))
    broken = broken.astype(np.float32)
    broken[corpus.features.row_numbers() == 5] = np.nan
    object.__setattr__(corpus.features, "values", broken)
    with pytest.raises(NonFiniteError) as non_finite:
        evaluate(problem, problem.flat, Gold.known(np.array([0, -1, 0, 0, 0, 0]), 3))
    assert non_finite.value.sequences == [2]


@pytest.mark.parametrize("lengths", [(), (0, 0)])
def test_nothing_to_learn_from(make_problem, lengths):
    problem = make_problem(8, lengths=lengths, edges=True)
    loss, gradient = evaluate(problem, problem.flat)
    assert loss == 0 and not gradient.any()


def test_one_label_is_certain(make_problem):
    problem = make_problem(9, ("known", "unknown"), n_labels=1)
    loss, gradient = evaluate(problem, problem.flat)
    assert loss == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


def test_no_features_at_all(make_problem):
    problem = make_problem(10, n_features=1)
    problem.corpus.features.indptr[:] = 0
    object.__setattr__(problem.corpus.features, "indices", np.zeros(0, np.int32))
    problem.table[:] = 0
    assert evaluate(problem, problem.flat)[0] == pytest.approx(problem.loss(), rel=1e-6)


@pytest.mark.parametrize("edges", [False, True])
def test_distributions_over_many_labels_beside_one_that_is_open_cost_no_more_chains_than_labels(make_problem, edges):
    problem = make_problem(11, ("distribution",), lengths=(6, 3), n_labels=4, edges=edges)
    weights = problem.gold.copy()
    weights[2], weights[7] = 1, [1, 0, 0, 0]
    problem.gold[:] = weights
    gold, batch = Gold.weighted(weights), pack(problem.corpus.lengths)
    assert evaluate(problem, problem.flat, gold)[0] == pytest.approx(problem.loss(), rel=1e-6)
    found = OpenGold.of(gold.take(batch.units), batch, problem.layout)
    # the stretch around the open unit for each pair of labels, the first and the last units for each label
    assert sorted(found.batch.lengths.tolist()) == [1] * 16 + [3] * 16
