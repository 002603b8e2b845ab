"""Constraints from labelled sequences."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from spacy_crf.constraints.block import MiningSettings
from spacy_crf.constraints.mining import mine
from spacy_crf.constraints.table import ConstraintEntry
from spacy_crf.core.constraints.family import minable_kinds
from spacy_crf.core.constraints.labelling import Fields, Labelling, UnitPredicates
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.labels import TagSet

TAGS = TagSet(("AUTHOR", "TITLE", "JOURNAL", "VOLUME", "BOOK", "DATE"), "none")


def references(n=120, noise=0.0, seed=0):
    """Sequences author, title, then journal and volume or a book, then perhaps a date."""
    rng = np.random.default_rng(seed)
    paths = []
    for number in range(n):
        fields = ["AUTHOR", "TITLE", *(["JOURNAL", "VOLUME"] if number % 2 else ["BOOK"])]
        fields += ["DATE"] if number % 5 else []
        if rng.random() < noise:
            rng.shuffle(fields)
        paths.append(np.repeat([TAGS.number[name] for name in fields], rng.integers(1, 4, len(fields))))
    return paths


def text(one):
    """What a constraint says, whatever is paid for breaking it."""
    return str(replace(one.constraint, cost=math.inf, count="once"))


def texts(mined):
    return {text(one) for one in mined}


def test_the_rules_of_clean_data_are_found_and_hold():
    mined = mine(references(), TAGS)
    assert {one.constraint.kind for one in mined} <= set(minable_kinds())
    fields = Fields(TAGS)
    for one in mined:
        assert one.broken == 0 and one.precision == 1.0 and one.rate == pytest.approx(0.5 / (one.support + 1))
        assert one.constraint.cost == pytest.approx(-math.log(one.rate))
        for path in references():
            assert not one.constraint.broken(Labelling(path.tolist(), fields, UnitPredicates(len(path))))
    assert {"starts_with(AUTHOR)", "at_most(TITLE, 1)", "adjacency(JOURNAL, VOLUME)"} <= texts(mined)
    costs = [one.constraint.cost for one in mined]
    assert costs == sorted(costs, reverse=True)


def test_what_others_imply_is_left_out():
    mined = mine(references(), TAGS, settings=MiningSettings(kinds=["at_least", "requires", "adjacency", "precedence"]))
    assert "at_least(AUTHOR, 1)" in texts(mined)
    assert not texts(mined) & {"requires(TITLE, AUTHOR)", "requires(DATE, AUTHOR)"}
    assert "adjacency(JOURNAL, VOLUME)" in texts(mined) and "precedence(JOURNAL, VOLUME)" not in texts(mined)


def test_rules_tell_sequences_with_a_label_from_others():
    mined = mine(references(), TAGS, settings=MiningSettings(kinds=["rule"]))
    assert "rule(has JOURNAL -> has VOLUME)" in texts(mined)
    assert not any("has JOURNAL -> has AUTHOR" in text for text in texts(mined))


def test_noise_lowers_costs_and_drops_what_does_not_hold():
    clean, noisy = mine(references(), TAGS), mine(references(noise=0.05), TAGS)
    costs = {text(one): one for one in noisy}
    start = costs["starts_with(AUTHOR)"]
    assert 0 < start.broken < 12
    assert start.rate == pytest.approx((start.broken + 0.5) / (start.support + 1))
    assert start.constraint.cost < max(one.constraint.cost for one in clean)
    everything = mine(references(noise=0.9), TAGS, settings=MiningSettings(kinds=["adjacency", "starts_with"]))
    assert "adjacency(AUTHOR, TITLE)" not in texts(everything)


def test_marks_suggest_state_changes():
    paths, predicates = [], []
    for _ in range(30):
        paths.append(np.array([0, 0, 1, 1]))
        predicates.append(UnitPredicates(4, {"dot": np.array([False, True, False, True])}))
    mined = mine(paths, TAGS, predicates, MiningSettings(kinds=["state_change"]))
    assert texts(mined) == {"state_change(dot, AUTHOR, TITLE) implied"}


@pytest.mark.parametrize("scale", [0.0, 0.5, math.inf])
def test_scale_and_count(scale):
    mined = mine(references(), TAGS, settings=MiningSettings(scale=scale, count="each"))
    assert all(one.constraint.count == "each" for one in mined)
    for one in mined:
        assert one.constraint.cost == (0 if scale == 0 else pytest.approx(-math.log(one.rate) * scale))


def test_the_table_can_be_edited_and_read_back():
    mined = mine(references(), TAGS)
    records = json.loads(json.dumps([ConstraintEntry.of_mined(one).record() for one in mined]))
    assert parse_all(records) == [one.constraint for one in mined]
    assert records[0]["about"]["support"] == mined[0].support


def test_the_same_data_give_the_same_constraints_and_held_out_may_be_none():
    assert mine(references(), TAGS) == mine(references(), TAGS)
    assert all(one.precision is None for one in mine(references(), TAGS, settings=MiningSettings(held_out=0.0)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kinds": ["fixed"]}, "kinds"),
        ({"max_terms": 0}, "max_terms"),
        ({"min_support": 0}, "min_support"),
        ({"max_rate": 0.0}, "max_rate"),
        ({"held_out": 1.0}, "held_out"),
        ({"min_precision": 2.0}, "min_precision"),
        ({"scale": -1.0}, "scale"),
        ({"count": "twice"}, "count"),
        *(({name: 0}, name) for name in ("strength", "paths", "epochs", "step", "folds", "iterations")),
        ({"strength": math.inf}, "strength"),
        ({"step": math.inf}, "step"),
        ({"paths": 1}, "paths"),
        ({"costs": "none"}, "costs"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=f"CRF932.*{message}"):
        MiningSettings(**settings)


def test_nothing_to_mine_from():
    with pytest.raises(ValueError, match="CRF931"):
        mine([np.zeros(0, dtype=int)], TAGS)
