"""Contradictions and implications between constraints, against enumeration."""

import itertools
from dataclasses import replace

import pytest
from helpers.constrained_chains import constraints
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.constraints.family import FAMILIES
from spacy_crf.core.constraints.labelling import Fields, Labelling, UnitPredicates
from spacy_crf.core.constraints.language import parse, parse_all
from spacy_crf.core.constraints.reasons import contradiction, implies, require_consistent
from spacy_crf.core.labels import TagSet

TAGS = TagSet(("A", "B", "C"), "none")
FREE = tuple(kind for kind in FAMILIES if kind not in ("state_change", "boundary", "same_surface", "fixed"))


def labellings(fields, longest=5):
    for length in range(1, longest + 1):
        for path in itertools.product(range(len(fields.tags)), repeat=length):
            yield Labelling(list(path), fields, UnitPredicates(length))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("starts_with(A)\nstarts_with(B)", [0, 1]),
        ("at_least(A, 3)\nat_most(B, 4)\nat_most(A, 2)\nends_with(C)", [0, 2]),
        ("order(A, B, C)\nat_least(B)\nstarts_with(C)", [0, 1, 2]),
        ("rule(-> has A)\nexcludes(A, B)\nrequires(A, B)", [0, 1, 2]),
        ("starts_with(A)\nends_with(B)\nbegin_end(A, B)", []),
        ("starts_with(A)\nstarts_with(B) cost=3", []),
    ],
)
def test_smallest_contradictions(text, expected):
    assert contradiction(parse_all(text), Fields(TAGS)) == expected


def test_contradictions_are_named():
    with pytest.raises(ValueError, match=r"CRF909.*starts_with\(A\); starts_with\(B\)"):
        require_consistent(parse_all("at_most(A)\nstarts_with(A)\nstarts_with(B)"), TAGS)
    require_consistent(parse_all("at_most(A)\nstarts_with(A)"), TAGS)


def test_a_search_that_is_stopped_finds_nothing():
    assert contradiction(parse_all("starts_with(A)\nstarts_with(B)"), Fields(TAGS), max_states=0) == []


@settings(max_examples=60)
@given(st.lists(constraints(TAGS.tags, FREE, costs=False), min_size=1, max_size=3))
def test_contradictions_have_no_labelling_and_others_have_one(given_constraints):
    fields = Fields(TAGS)
    found = contradiction(given_constraints, fields)
    kept = [given_constraints[index] for index in found] or given_constraints
    satisfied = any(not any(one.broken(labelling) for one in kept) for labelling in labellings(fields))
    if found:
        assert not satisfied
    elif not satisfied:  # only a longer labelling can do it: with at least three segments or units of several labels
        assert any(one.kind in ("at_least", "exactly") for one in given_constraints)


@pytest.mark.parametrize(
    ("premises", "conclusion", "expected"),
    [
        ("at_least(B)", "requires(A, B)", True),
        ("at_most(A, 1)", "at_most(A, 2)", True),
        ("at_most(A, 2)", "at_most(A, 1)", False),
        ("adjacency(A, B)", "adjacency(A, B|C)", True),
        ("adjacency(A, B)", "precedence(A, B)", True),
        ("starts_with(A)\nat_most(A, 1)", "presence_precedence(A, B)", True),
        ("starts_with(A)", "presence_precedence(A, B)", False),
        ("excludes(A, B)", "excludes(B, A)", True),
        ("order(A, B, C)", "presence_precedence(A, C)", True),
        ("rule(has A -> has B)", "requires(A, B)", True),
    ],
)
@pytest.mark.parametrize("tags", [TAGS, TagSet.of_spans(("A", "B", "C"), "BIO")])
def test_what_follows_from_what(premises, conclusion, expected, tags):
    assert implies(parse_all(premises), parse(conclusion), Fields(tags)) == expected


@settings(max_examples=100)
@given(constraints(TAGS.tags, FREE, costs=False), constraints(TAGS.tags, FREE, costs=False))
def test_no_labelling_speaks_against_an_implication(premise, conclusion):
    fields = Fields(TAGS)
    premise, conclusion = (replace(one, count="once") for one in (premise, conclusion))
    if implies([premise], conclusion, fields):
        for labelling in labellings(fields, 4):
            assert premise.broken(labelling) or not conclusion.broken(labelling)
