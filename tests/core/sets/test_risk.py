"""Risk control: the chosen mass against a search by brute force, the promise over random halves, examples by hand."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.sets.conformal import calibrate, least_count, ranked
from spacy_crf.core.sets.risk import RiskControl, control_risk, loss_steps

LOSSES = ["share", "any", "ml-acc"]


def random_gold(rng, n: int, n_labels: int) -> np.ndarray:
    """One right label, two right labels, an open choice of two, or none."""
    weights = np.zeros((n, n_labels))
    for row, kind in zip(weights, rng.integers(0, 6, n)):
        first, second = rng.choice(n_labels, 2, replace=False)
        row[first] = {3: 1.0, 4: 0.66, 5: 0.0}.get(kind, 1.0)
        row[second] = {3: 1.0, 4: 0.34}.get(kind, 0.0)
    return weights


def enumerated_losses(marginals, weights, units, mass: float, loss: str) -> np.ndarray:
    """Losses of units by ascending number, token by token."""
    tokens: dict[int, list[float]] = {}
    for p, gold, unit in zip(marginals, weights, units):
        if not gold.any():
            continue
        chosen, before = set(), 0.0
        for label in sorted(range(len(p)), key=lambda label: (-p[label], label)):
            if before <= mass:
                chosen.add(label)
            before += p[label]
        if loss == "ml-acc":
            share = sum(gold[label] for label in chosen) / gold.sum()
            lost = 1 - (share**2 if gold.sum() > 1.01 else share)
        else:
            lost = float(not any(gold[label] == gold.max() for label in chosen))
        tokens.setdefault(int(unit), []).append(lost)
    combine = max if loss == "any" else np.mean
    return np.array([combine(tokens[unit]) for unit in sorted(tokens)])


class Grouped:
    """Documents of unequal length; in hard ones, the model is wrong more often, and as sure of itself as elsewhere."""

    def __init__(self, n_documents: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        hard = rng.random(n_documents) < 0.3
        lengths = np.where(hard, 5, 40)  # the short ones are the hard ones, and tokens hide them
        self.units = np.repeat(np.arange(n_documents), lengths)
        n = len(self.units)
        self.marginals = rng.dirichlet(np.ones(5), n)
        truth = np.where(hard[self.units, None], 0.2, self.marginals)
        labels = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=4)
        self.weights = np.eye(5)[labels]


# --- steps


def test_ranked_by_hand():
    before, ranks = ranked(np.array([[0.2, 0.5, 0.3], [0.25, 0.5, 0.25]]))
    assert before.tolist() == [[pytest.approx(0.8), 0.0, 0.5], [0.5, 0.0, 0.75]]
    assert ranks.tolist() == [[3, 1, 2], [2, 1, 3]]


def test_ml_acc_by_hand():
    """The paper's examples: one of two right labels in the set, half of an open choice, the larger share of another."""
    marginals = np.tile([0.75, 0.25], (4, 1))
    weights = np.array([[1.0, 1.0], [0.5, 0.5], [0.66, 0.34], [1.0, 0.0]])
    steps = loss_steps(marginals, weights, np.arange(4), "ml-acc")
    assert 1 - steps.at(0.0) == pytest.approx([0.25, 0.5, 0.66, 1.0])
    assert steps.at(0.75).tolist() == [0, 0, 0, 0]
    together = loss_steps(marginals, weights, np.full(4, 9), "ml-acc")
    assert together.at(0.5) == pytest.approx([1 - (0.25 + 0.5 + 0.66 + 1.0) / 4])


@given(st.integers(0, 2**32 - 1), st.sampled_from(LOSSES), st.floats(0, 1))
def test_losses_agree_with_counting_token_by_token(seed, loss, mass):
    rng = np.random.default_rng(seed)
    n, n_labels = 12, 4
    marginals = rng.multinomial(8, np.full(n_labels, 0.25), n) / 8  # exact sums, with ties and zeros
    weights, units = random_gold(rng, n, n_labels), rng.integers(-2, 3, n)
    steps = loss_steps(marginals, weights, units, loss)
    for value in (mass, 0.0, 0.5, 0.75, 1.0):
        expected = enumerated_losses(marginals, weights, units, value, loss)
        assert steps.n_units == len(expected)
        np.testing.assert_allclose(steps.at(value), expected, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.sampled_from(LOSSES))
def test_losses_fall_from_at_most_one_to_zero(seed, loss):
    rng = np.random.default_rng(seed)
    marginals, weights = rng.dirichlet(np.full(4, 0.3), 20), random_gold(rng, 20, 4)
    steps = loss_steps(marginals, weights, rng.integers(0, 6, 20), loss)
    losses = [steps.at(mass) for mass in (-1.0, *steps.masses)]
    np.testing.assert_array_equal(losses[0], 1.0)
    assert all((after <= before + 1e-12).all() for before, after in zip(losses, losses[1:]))
    np.testing.assert_allclose(losses[-1], 0.0, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_taking_units_is_computing_their_steps(loss):
    data = Grouped(12, 0)
    steps = loss_steps(data.marginals, data.weights, data.units, loss)
    chosen = np.array([2, 5, 11])
    rows = np.isin(data.units, chosen)
    alone = loss_steps(data.marginals[rows], data.weights[rows], data.units[rows], loss)
    taken = steps.take(chosen)
    for name in ("masses", "drops", "owners", "n_units"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(alone, name))
    np.testing.assert_array_equal(steps.take(chosen[::-1]).at(0.4), alone.at(0.4)[::-1])


# --- the mass


def test_mass_by_hand():
    """Nine sentences of one token, whose gold comes second behind .5 to .9: level .3 leaves two of them out."""
    sure = np.array([0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9])
    marginals, weights = np.stack([sure, 1 - sure], axis=1), np.tile([0.0, 1.0], (9, 1))
    found = control_risk(marginals, weights, 0.3, "sentence", np.arange(9))
    assert (found.mass, found.n, found.risk) == (0.8, 9, pytest.approx(2 / 9))
    assert control_risk(marginals, weights, 0.1, "sentence", np.arange(9)).mass == 0.9
    sets = found.predict(np.array([[0.8, 0.2], [0.81, 0.19]]))
    assert sets.tolist() == [[True, True], [True, False]]


@given(st.integers(0, 2**32 - 1), st.sampled_from(LOSSES), st.integers(10, 90))
def test_mass_is_the_smallest_that_meets_the_bound(seed, loss, hundredths):
    """Against every mass at which a set of some token changes."""
    rng = np.random.default_rng(seed)
    n, level = 30, hundredths / 100
    marginals = rng.multinomial(16, np.full(4, 0.25), n) / 16
    weights, units = random_gold(rng, n, 4), np.arange(n) // 2
    found = control_risk(marginals, weights, level, "document", units, loss)
    assert found.n == loss_steps(marginals, weights, units, loss).n_units
    losses = {
        mass: enumerated_losses(marginals, weights, units, mass, loss) for mass in np.unique(ranked(marginals)[0])
    }
    fitting = [mass for mass, values in losses.items() if (values.sum() + 1) / (found.n + 1) <= level + 1e-9]
    assert found.mass == min(fitting)
    assert found.risk == pytest.approx(losses[found.mass].mean())


def test_thirds_add_up():
    """Nine sentences of three tokens reach level .1 only if all their losses are exactly 0."""
    rng = np.random.default_rng(1)
    marginals, weights = rng.dirichlet(np.ones(3), 27), np.eye(3)[rng.integers(0, 3, 27)]
    found = control_risk(marginals, weights, 0.1, "sentence", np.arange(27) // 3)
    assert found.risk == pytest.approx(0)
    assert (found.predict(marginals) & (weights > 0)).any(axis=1).all()


@pytest.mark.parametrize("loss", ["share", "any"])
def test_with_tokens_as_units_it_is_conformal_prediction(loss):
    """Of the score that is the probability before a label: the same quantile."""
    data = Grouped(8, 2)
    before, _ = ranked(data.marginals)
    scores = np.sort((before * data.weights).sum(axis=1))
    found = control_risk(data.marginals, data.weights, 0.13, "token", loss=loss)
    n = len(scores)
    assert found.n == n and found.mass == scores[int(np.ceil((n + 1) * 0.87)) - 1]


@given(st.integers(0, 2**32 - 1), st.sampled_from(LOSSES))
def test_sets_are_nested_in_the_level(seed, loss):
    data = Grouped(20, seed)
    new = np.random.default_rng(seed).dirichlet(np.ones(5), 20)
    sets = [
        control_risk(data.marginals, data.weights, level, "document", data.units, loss).predict(new)
        for level in (0.05, 0.1, 0.3, 0.6, 0.95)
    ]
    assert all((narrow <= wide).all() for wide, narrow in zip(sets, sets[1:]))
    assert sets[-1].any(axis=1).all()


# --- the promise


@pytest.mark.parametrize("loss, level", [("share", 0.15), ("any", 0.3), ("ml-acc", 0.15)])
def test_risk_is_at_most_the_level_over_random_halves(loss, level):
    """Over 1,000 halves of documents; a half of 60 leaves the bound with little to spare, and it should be used."""
    data = Grouped(120, 3)
    steps = loss_steps(data.marginals, data.weights, data.units, loss)
    rng = np.random.default_rng(4)
    risks = []
    for _ in range(1000):
        order = rng.permutation(120)
        mass = steps.take(order[:60]).smallest_mass(level)
        risks.append(steps.at(mass)[order[60:]].mean())
    error = np.std(risks) / np.sqrt(1000)
    assert level - 0.04 < np.mean(risks) < level + 3 * error


def test_conformal_prediction_of_tokens_breaks_its_promise_for_documents():
    """The same data and level, calibrated on the tokens of random halves."""
    data, level = Grouped(120, 3), 0.15
    rng = np.random.default_rng(5)
    by_token, by_document, controlled = [], [], []
    for _ in range(100):
        order = rng.permutation(120)
        old = np.isin(data.units, order[:60])
        naive = calibrate(data.marginals[old], data.weights[old]).at(level)
        control = control_risk(data.marginals[old], data.weights[old], level, "document", data.units[old])
        _, units = np.unique(data.units[~old], return_inverse=True)
        for sets, found in ((naive, by_document), (control, controlled)):
            missed = ~(sets.predict(data.marginals[~old]) & (data.weights[~old] > 0)).any(axis=1)
            found.append((np.bincount(units, missed) / np.bincount(units)).mean())
            if sets is naive:
                by_token.append(missed.mean())
    assert np.mean(by_token) == pytest.approx(level, abs=0.02)
    assert np.mean(by_document) > level + 0.04
    assert np.mean(controlled) < level + 0.01


# --- too few units


@pytest.mark.parametrize("level, least", [(0.1, 9), (0.05, 19), (0.3, 3), (0.5, 1), (0.9, 1), (0.01, 99), (1 / 3, 3)])
def test_least_count(level, least):
    """1 / 3 as a float is a little less than a third, so that 2 units are too few."""
    assert least_count(level) == least


def test_too_few_units_for_a_level():
    marginals, weights, units = np.full((40, 2), 0.5), np.tile([1.0, 0.0], (40, 1)), np.arange(40) // 5
    with pytest.raises(ValueError, match=r"CRF818.*8 calibration documents.*level 0\.1.*needs 9.*0\.1111"):
        control_risk(marginals, weights, 0.1, "document", units)
    assert control_risk(marginals, weights, 1 / 8, "document", units).n == 8
    weights[units > 2] = 0  # units without gold do not count
    with pytest.raises(ValueError, match=r"CRF818.*3 calibration documents"):
        control_risk(marginals, weights, 0.2, "document", units)
    with pytest.raises(ValueError, match=r"CRF817"):
        control_risk(marginals, np.zeros_like(weights), 0.2, "document", units)


# --- what is told and stored


def test_promises_name_the_unit():
    control = RiskControl(0.1, "sentence", "share", 0.9, 50, 0.08)
    assert control.promise == (
        "The expected share of a sentence's tokens whose gold label is not in their set is at most 10 % (conformal "
        "risk control at level 0.1, n = 50 calibration sentences), if sentences are exchangeable with these."
    )
    assert "that a document has a token" in RiskControl(0.1, "document", "any", 0.9, 50, 0.08).promise
    assert "averaged over the tokens of a document" in RiskControl(0.1, "document", "ml-acc", 1, 9, 0).promise
    assert "that a token's gold label is not" in RiskControl(0.1, "token", "share", 0.9, 50, 0.08).promise


def test_json_round_trip():
    data = Grouped(30, 6)
    found = control_risk(data.marginals, data.weights, 0.1, "document", data.units, "any")
    read = RiskControl.from_data(json.loads(json.dumps(found.to_data(), allow_nan=False)))
    assert read == found
    np.testing.assert_array_equal(read.predict(data.marginals), found.predict(data.marginals))


def test_labels_without_probability_can_be_reached():
    """Gold that the model excludes: only sets of every label hold it."""
    marginals, weights = np.tile([1.0, 0.0, 0.0], (9, 1)), np.tile([0.0, 0.0, 1.0], (9, 1))
    found = control_risk(marginals, weights, 0.2, "sentence", np.arange(9))
    assert found.predict(marginals).all()


# --- wrong input


def test_wrong_input():
    marginals, weights, units = np.full((20, 2), 0.5), np.tile([1.0, 0.0], (20, 1)), np.arange(20)
    for level in (0, 1, -0.5, float("nan")):
        with pytest.raises(ValueError, match="CRF816"):
            control_risk(marginals, weights, level, "token")
    with pytest.raises(ValueError, match="CRF819.*unit.*'paragraph'"):
        control_risk(marginals, weights, 0.1, "paragraph", units)
    with pytest.raises(ValueError, match="CRF819.*loss.*'0/1'"):
        control_risk(marginals, weights, 0.1, "sentence", units, "0/1")
    with pytest.raises(ValueError, match="CRF823.*'sentence' wants"):
        control_risk(marginals, weights, 0.1, "sentence")
    with pytest.raises(ValueError, match="CRF823.*'token' takes no"):
        control_risk(marginals, weights, 0.1, "token", units)
    with pytest.raises(ValueError, match="CRF101.*units"):
        control_risk(marginals, weights, 0.1, "sentence", units[:4])
    with pytest.raises(ValueError, match="CRF101.*weights"):
        control_risk(marginals, weights[:, :1], 0.1, "token")
    with pytest.raises(ValueError, match="CRF102.*marginals"):
        control_risk(np.full((20, 2), np.nan), weights, 0.1, "token")


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from(LOSSES), st.sampled_from([0.3, 0.5, 0.7]))
def test_gold_that_the_model_does_not_have_is_lost_in_any_set(seed, n_more, loss, level):
    rng = np.random.default_rng(seed)
    marginals, units = rng.dirichlet(np.ones(3), 60), rng.integers(0, 12, 60)
    weights = random_gold(rng, 60, 3 + n_more)
    weights[rng.random(60) < 0.5, 3:] = 0
    weights[(weights.sum(axis=1) > 0) & (weights.sum(axis=1) < 1)] = 0
    if not weights.any():
        return
    steps = loss_steps(marginals, weights, units, loss)
    without = np.pad(marginals, ((0, 0), (0, n_more)))  # never in a set of less than all of the mass
    for mass in (0.0, 0.5, 0.9):
        expected = enumerated_losses(without, weights, units, mass, loss)
        np.testing.assert_allclose(steps.at(mass), expected, atol=1e-9)
    least = steps.at(1.0)
    try:
        found = control_risk(marginals, weights, level, "document", units, loss)
    except ValueError as error:
        n = len(least)
        assert "CRF824" in str(error) if n >= least_count(level) else "CRF818" in str(error)
        assert (least.sum() + 1) / (n + 1) > level
    else:
        assert (least.sum() + 1) / (len(least) + 1) <= level and found.mass <= 1
        assert found.risk == pytest.approx(float(steps.at(found.mass).mean()))
