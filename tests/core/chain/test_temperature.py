"""Temperature: what scaling does to the distribution, and the fit on held-out data."""

import math

import numpy as np
import pytest
from helpers.oracle import Chain
from helpers.strategies import chain_batches, unpacked
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.calibration import reliability
from spacy_crf.core.chain.distribution import ChainDistribution
from spacy_crf.core.chain.evidence import ImpossibleEvidenceError
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.paths import sample
from spacy_crf.core.chain.potentials import ChainPotentials
from spacy_crf.core.chain.temperature import HeldOut, fit_temperature, sequence_loss, token_loss
from spacy_crf.core.chain.viterbi import viterbi


@given(chain_batches(), st.sampled_from([0.3, 1.0, 2.5]))
def test_marginals_are_those_of_the_scaled_distribution(case, temperature):
    potentials, chains = case
    scaled = potentials.tempered(temperature)
    marginals = node_marginals(forward_backward(scaled))
    np.testing.assert_allclose(marginals.sum(axis=1), 1)
    for ours, chain in zip(unpacked(potentials, marginals), chains):
        with np.errstate(invalid="ignore"):
            matrices = [matrix / temperature for matrix in chain.matrices]
        expected = Chain(chain.emissions / temperature, matrices, chain.start / temperature, chain.end / temperature)
        np.testing.assert_allclose(ours, expected.node_marginals(), atol=1e-9)
    np.testing.assert_allclose(viterbi(scaled).scores, viterbi(potentials).scores / temperature, atol=1e-9)


def held_out(potentials, packed_labels):
    """A batch with gold given in packed order."""
    return HeldOut(ChainDistribution(potentials), packed_labels[potentials.batch.rows])


@given(chain_batches(), st.integers(0, 1000))
def test_losses_equal_enumeration(case, seed):
    potentials, chains = case
    rng = np.random.default_rng(seed)
    labels = sample(potentials, 1, rng)[0]
    labels[rng.random(len(labels)) < 0.3] = -1
    batch = held_out(potentials, labels)
    by_token = by_sequence = 0.0
    for chain, gold in zip(chains, unpacked(potentials, labels)):
        marginals = chain.node_marginals()
        by_token -= sum(math.log(marginals[t, label]) for t, label in enumerate(gold) if label >= 0)
        by_sequence -= math.log(
            chain.probability(lambda path, gold=gold: all(g in (-1, y) for g, y in zip(gold, path)))
        )
    assert token_loss(batch, 1.0) == pytest.approx(by_token, rel=1e-7, abs=1e-7)
    assert sequence_loss(batch, 1.0) == pytest.approx(by_sequence, rel=1e-7, abs=1e-7)


def overconfident(factor: float, seed: int = 0, n: int = 4) -> HeldOut:
    """Labels drawn from a chain whose scores are then multiplied, as those of an overfitted model are."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, 300)
    transitions = rng.normal(0, 1, (n, n))
    transitions[0, 1] = -np.inf
    truth = ChainPotentials(pack(lengths), rng.normal(0, 1.5, (lengths.sum(), n)), transitions, *np.zeros((2, n)))
    return held_out(truth.tempered(1 / factor), sample(truth, 1, rng)[0])


@pytest.mark.parametrize("unit", ["token", "sequence"])
@pytest.mark.parametrize("factor", [0.4, 1.0, 3.0])
def test_the_fit_finds_what_the_scores_were_multiplied_by(unit, factor):
    batches = [overconfident(factor, 1), overconfident(factor, 2)]
    assert fit_temperature(batches, unit) == pytest.approx(factor, rel=0.08)


def test_the_fit_lowers_the_loss_and_the_calibration_error():
    batch = overconfident(3.0)
    errors, losses = [], []
    for temperature in (1.0, fit_temperature([batch])):
        marginals = batch.distribution.at(temperature).marginals
        errors.append(reliability(marginals.max(axis=1), marginals.argmax(axis=1) == batch.labels).error)
        losses.append(token_loss(batch, temperature))
    assert errors[1] < 0.03 < 0.1 < errors[0]
    assert losses[1] < losses[0]


def test_unknown_labels_count_for_nothing():
    batch = overconfident(2.0)
    labels = np.where(np.arange(len(batch.labels)) % 2, batch.labels, -1)
    wrong = HeldOut(batch.distribution, np.full_like(labels, -1))
    assert fit_temperature([HeldOut(batch.distribution, labels), wrong]) == pytest.approx(2.0, rel=0.15)


def test_gold_that_the_masks_forbid():
    """Under marginals it costs the same at any temperature; as a sequence it is an error."""
    batch = overconfident(2.0)
    chains = batch.distribution.chains
    emissions = chains.emissions.copy()
    emissions[chains.batch.rows[0], batch.labels[0]] = -np.inf
    closed = ChainPotentials(chains.batch, emissions, np.zeros((4, 4)), *np.zeros((2, 4)))
    forbidden = HeldOut(ChainDistribution(closed), batch.labels)
    assert 0.5 < fit_temperature([forbidden]) < 5
    with pytest.raises(ImpossibleEvidenceError) as caught:
        fit_temperature([forbidden], "sequence")
    assert caught.value.sequences == [0]


def test_what_cannot_be_fitted_is_told():
    distribution, labels, *_ = overconfident(2.0)
    with pytest.raises(ValueError, match="CRF111"):
        fit_temperature([HeldOut(distribution, np.full_like(labels, -1))])
    with pytest.warns(UserWarning, match="CRFW101"):
        assert fit_temperature([HeldOut(distribution, distribution.best())]) == 1


def test_another_unit_is_refused():
    with pytest.raises(ValueError, match="CRF549.*unit.*'word'.*'token' or 'sequence'"):
        fit_temperature([], "word")
