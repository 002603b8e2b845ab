"""Explanations against decoding again."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.constrained_chains import problems, random_chain
from hypothesis import given, settings

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.potentials import ChainPotentials
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.constraints.decision import MethodSettings
from spacy_crf.core.constraints.language import parse_all
from spacy_crf.core.constraints.reasons import explain
from spacy_crf.core.constraints.strategy import decode
from spacy_crf.core.labels import TagSet

TAGS = TagSet(("A", "B"), "none")


def by_emissions(rows):
    n_labels = len(rows[0])
    return ChainPotentials(
        pack(np.array([len(rows)])),
        np.array(rows, dtype=float),
        np.zeros((n_labels, n_labels)),
        *np.zeros((2, n_labels)),
    )


def test_a_single_reason():
    potentials = by_emissions([[1, 0], [0, 1], [1, 0]])
    constraints = parse_all("at_most(B, 5)\nat_most(A, 1)\nat_least(A)")
    (decision,) = decode(potentials, constraints, TAGS)
    (change,) = explain(potentials, 0, decision, constraints, TAGS)
    assert (change.before, change.after) != (change.after, change.before)
    assert change.because == ((1,),)


def test_several_reasons_together():
    potentials = by_emissions([[1, 0], [0, 5]])
    constraints = parse_all("starts_with(B)\nat_most(A, 0)\nat_most(B, 3)")
    (decision,) = decode(potentials, constraints, TAGS)
    (change,) = explain(potentials, 0, decision, constraints, TAGS)
    assert (change.unit, change.before, change.after) == (0, 0, 1)
    assert change.because == ((0, 1),)


def test_each_of_several_reasons():
    # both are needed for the change to be worth its while
    potentials = by_emissions([[1.5, 0], [0, 5]])
    constraints = parse_all("starts_with(B) cost=1\nat_most(A, 0) cost=1")
    (decision,) = decode(potentials, constraints, TAGS)
    (change,) = explain(potentials, 0, decision, constraints, TAGS)
    assert change.because == ((0,), (1,))


def test_nothing_changed_nothing_to_explain():
    potentials = by_emissions([[1, 0], [0, 1]])
    (decision,) = decode(potentials, parse_all("at_most(A)"), TAGS)
    assert explain(potentials, 0, decision, parse_all("at_most(A)"), TAGS) == []


@pytest.mark.filterwarnings("ignore:.*CRFW90")
@settings(max_examples=40)
@given(problems(max_length=5, max_labels=3))
def test_decoding_without_the_reasons_restores_the_labels(case):
    potentials, _, constraints, tags, predicates = case
    plain = viterbi(potentials).labels
    decisions = decode(potentials, constraints, tags, predicates)
    for sequence, decision in enumerate(decisions):
        own, rows = potentials.select(np.array([sequence]))
        changes = explain(potentials, sequence, decision, constraints, tags, predicates)
        assert [change.unit for change in changes] == np.flatnonzero(plain[rows] != decision.labels).tolist()

        def labels_without(left_out, own=own, rows=rows, relaxed=decision.relaxed):
            kept = [one for index, one in enumerate(constraints) if index not in {*left_out, *relaxed}]
            return decode(own, kept, tags, predicates.at(rows))[0].labels

        for change in changes:
            assert change.before == plain[rows][change.unit] and change.after == decision.labels[change.unit]
            assert change.because
            for reasons in change.because:
                assert labels_without(reasons)[change.unit] == change.before
                for index in reasons if len(reasons) > 1 else ():
                    assert labels_without(set(reasons) - {index})[change.unit] != change.before


def test_reasons_among_many_constraints_are_those_of_trying_them_all():
    """Only constraints that the proof rests on are tried; the others must not be reasons."""
    rng = np.random.default_rng(8)
    potentials = random_chain(rng, [9] * 6, 3, span=1.0)
    tags = TagSet(("A", "B", "C"), "none")
    constraints = parse_all(
        "at_most(A) cost=1\nat_most(B) cost=2\nrequires(A, C) cost=1\nadjacency(B, C) cost=0.7\nat_least(C, 2) cost=1\n"
        "presence_precedence(A, C) cost=1.5\nexcludes(A, B) cost=0.5\nends_with(A) cost=0.4"
    )
    n_changes = 0
    for sequence, decision in enumerate(decode(potentials, constraints, tags)):
        assert decision.certified
        found = explain(potentials, sequence, decision, constraints, tags)
        everything = replace(decision, grounds=tuple(range(len(constraints))))
        assert found == explain(potentials, sequence, everything, constraints, tags)
        n_changes += len(found)
    assert n_changes > 5


@pytest.mark.filterwarnings("ignore:.*CRFW90")
def test_reasons_are_proved_whatever_method_found_the_labels():
    tags, potentials = TagSet(("A", "B", "C"), "none"), random_chain(np.random.default_rng(15), [8], 3, span=1.0)
    constraints = parse_all(
        "at_most(A) cost=1\nat_most(B) cost=2\nrequires(A, C) cost=1\nadjacency(B, C) cost=0.7\nat_least(C, 2) cost=1\n"
        "excludes(A, B) cost=0.5\nends_with(A) cost=0.4"
    )
    hasty = MethodSettings("lagrangian", max_iterations=3)
    (decision,) = decode(potentials, constraints, tags, settings=hasty)
    assert not decision.certified
    changes = explain(potentials, 0, decision, constraints, tags, settings=hasty)
    assert changes
    for change in changes:
        for because in change.because:
            fewer = [one for index, one in enumerate(constraints) if index not in because]
            assert decode(potentials, fewer, tags)[0].labels[change.unit] == change.before


@pytest.mark.filterwarnings("ignore:.*CRFW90")
def test_what_is_not_proved_within_the_limits_is_no_reason():
    tags, rng = TagSet(("A", "B", "C"), "none"), np.random.default_rng(3)
    potentials = random_chain(rng, [9] * 20, 3, span=1.0)
    constraints = parse_all(
        "at_most(A) cost=1\nat_most(B) cost=2\nrequires(A, C) cost=1\nadjacency(B, C) cost=0.7\nat_least(C, 2) cost=1\n"
        "presence_precedence(A, C) cost=1.5\nexcludes(A, B) cost=0.5\nends_with(A) cost=0.4"
    )
    hasty = MethodSettings(max_iterations=1, max_states=1, max_arcs=1)
    n_reasons = 0
    for sequence, decision in enumerate(decode(potentials, constraints, tags)):
        own, _ = potentials.select(np.array([sequence]))
        for change in explain(potentials, sequence, decision, constraints, tags, settings=hasty):
            for because in change.because:
                fewer = [one for index, one in enumerate(constraints) if index not in because]
                assert decode(own, fewer, tags)[0].labels[change.unit] == change.before
                n_reasons += 1
    assert n_reasons
