"""The three ways to say what a constraint means agree: counting, the automaton, and rows of inequalities."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.constrained_chains import labellings
from hypothesis import given, settings

from spacy_crf.core.constraints.family import FAMILIES, Constraint
from spacy_crf.core.constraints.labelling import NOTHING, Fields, Indicators, Inequalities, Labelling, UnitPredicates
from spacy_crf.core.constraints.language import parse
from spacy_crf.core.labels import TagSet

PLAIN = TagSet(("A", "B", "C"), "none")
ENTITIES = TagSet(("O", "B-P", "I-P", "B-L", "I-L"), "BIO")


def label(text: str, tags: TagSet = PLAIN, **given) -> Labelling:
    path = [tags.number[tag] for tag in text.split()]
    arrays = {name: np.array(values) for name, values in given.items() if name != "predicates"}
    predicates = {name: np.array(values, dtype=bool) for name, values in given.get("predicates", {}).items()}
    return Labelling(path, Fields(tags), UnitPredicates(len(path), predicates, **arrays))


def run(constraint, labelling) -> int:
    """Violations that the automaton reports."""
    automaton = constraint.watch(labelling.fields, labelling.predicates)
    state, before, total = automaton.start, NOTHING, 0
    for unit, tag in enumerate(labelling.tags):
        symbol = None if automaton.symbols is None else automaton.symbols[unit]
        state, times = automaton.step(state, symbol, before, tag)
        before, total = tag, total + times
    return total + automaton.finish(state, before)


def rows_of(constraint: Constraint, labelling: Labelling) -> list[Inequalities]:
    return constraint.rows(Indicators(labelling.fields, constraint.level, labelling.predicates))


def broken_by_rows(blocks: list[Inequalities], path: np.ndarray) -> int:
    """Violations of a constraint according to its rows: the greatest value of each group, summed."""
    greatest: dict[int, int] = {}
    for block in blocks:
        for group, value in zip(block.groups.tolist(), block.values(path).tolist()):
            greatest[group] = max(value, greatest.get(group, 0))
    return sum(greatest.values())


CASES = [
    ("adjacency(A, B)", "A A B C A", (1, 0)),
    ("adjacency(A, B)", "A C A B A C", (3, 2)),
    ("adjacency(A, B|C)", "A C A B A C", (3, 0)),
    ("adjacency(A, B) unit", "A A B", (2, 1)),
    ("precedence(A, B)", "A C B C A C A", (2, 1)),
    ("precedence(A, B)", "A A A", (0, 0)),
    ("precedence(A, B) unit", "A A A", (2, 2)),
    ("begin_end(A, C)", "A B C", (1, 0)),
    ("begin_end(A, C)", "A B", (1, 1)),
    ("begin_end(A, C)", "B B", (0, 0)),
    ("presence_precedence(A, B)", "A B C A A C A", (3, 2)),
    ("presence_precedence(A, B)", "B C", (0, 0)),
    ("at_most(A, 1)", "A A B A B A", (1, 2)),
    ("at_most(A, 1) unit", "A A B A", (1, 2)),
    ("at_most(A, 1)", "B B", (0, 0)),
    ("at_least(A, 2)", "A A B", (1, 1)),
    ("exactly(A, 2)", "A B A B A", (1, 1)),
    ("exactly(A, 2)", "B", (1, 2)),
    ("requires(A, B)", "A C A", (2, 2)),
    ("requires(A, B)", "A C A B", (2, 0)),
    ("excludes(A, B)", "A C A", (2, 0)),
    ("excludes(A, B)", "A C A B", (2, 2)),
    ("order(A, B, C)", "B A C B A", (5, 3)),
    ("starts_with(A)", "B A", (1, 1)),
    ("ends_with(A|C)", "B A", (1, 0)),
    ("rule(has A -> has B & last C | has C & not first A)", "A C", (1, 1)),
    ("rule(has A -> has B & last C | has C & not first A)", "B A C", (1, 0)),
    ("rule(has A -> has B)", "C", (0, 0)),
]


@pytest.mark.parametrize(("text", "labels", "expected"), CASES)
def test_what_each_family_says(text, labels, expected):
    constraint = parse(text)
    assert constraint.occurrences(label(labels)) == expected


def test_spans_of_the_same_label_may_touch_and_outside_is_a_label():
    touching = label("B-P B-P I-P O B-P", ENTITIES)
    assert parse("at_most(P, 1)").occurrences(touching).broken == 2
    assert parse("at_most(P, 1) unit").occurrences(touching).broken == 3
    assert parse("adjacency(P, O)").occurrences(touching) == (2, 1)
    assert parse("at_most(O, 0)").occurrences(touching).broken == 1


@pytest.mark.parametrize(
    ("options", "labels", "expected"),
    [
        *(("", "A C B", (1, 0)), ("", "A C C", (1, 1)), ("", "C C B", (1, 1)), ("implied", "C C C", (0, 0))),
        *(("gap", "A B C", (1, 0)), ("gap", "B B C", (1, 1)), ("gap implied", "B C C", (0, 0))),
    ],
)
def test_state_change_looks_around_marks(options, labels, expected):
    labelling = label(labels, predicates={"mark": [0, 1, 0]})
    assert parse(f"state_change(mark, A, B) {options}").occurrences(labelling) == expected


def test_a_mark_at_either_end_changes_nothing():
    labelling = label("C C", predicates={"mark": [1, 1]})
    assert parse("state_change(mark, A, B)").occurrences(labelling) == (0, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("boundary(comma)", (3, 2)), ("boundary(comma) opening", (3, 2)), ("boundary(comma, C)", (2, 1))],
)
def test_boundaries_beside_predicates(text, expected):
    labelling = label("A A B C A", predicates={"comma": [0, 0, 1, 0, 0]})
    assert parse(text).occurrences(labelling) == expected


def test_equal_surfaces_are_compared_with_the_one_before():
    labelling = label("A B A A", surfaces=[7, 7, -1, 7])
    assert parse("same_surface()").occurrences(labelling) == (2, 2)
    assert parse("same_surface()").occurrences(label("A B", surfaces=[-1, -1])) == (0, 0)


def test_fixed_tags():
    labelling = label("A B A", fixed=[0, 0, -1])
    assert parse("fixed()").occurrences(labelling) == (2, 1)


@settings(max_examples=300)
@given(labellings())
def test_automata_and_rows_agree_with_counting(case):
    constraint, labelling = case
    each = replace(constraint, cost=1.0, count="each")
    expected = constraint.occurrences(labelling).broken
    assert run(each, labelling) == each.broken(labelling) == expected
    path = np.array(labelling.tags)
    assert broken_by_rows(rows_of(each, labelling), path) == expected
    # paid once, or hard: whether it is broken at all
    assert run(constraint, labelling) == (
        expected if constraint.count == "each" and not constraint.hard else expected > 0
    )
    by_rows = broken_by_rows(rows_of(constraint, labelling), path)
    assert (by_rows > 0) == (expected > 0)


@given(labellings())
def test_no_row_is_greater_than_it_says(case):
    constraint, labelling = case
    for block in rows_of(constraint, labelling):
        assert block.values(np.array(labelling.tags)).max(initial=0) <= block.largest


def test_every_family_is_tried():
    assert {parse(text).kind for text, _, _ in CASES} | {"state_change", "boundary", "same_surface", "fixed"} == set(
        FAMILIES
    )
