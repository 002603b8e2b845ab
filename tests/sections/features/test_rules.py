"""The rule tagger: what it decides, and that it says why."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.sections.features.batch import UnitBatch
from spacy_crf.sections.features.rules import LONGEST_QUOTATION, ROLES, apply_rules
from spacy_crf.sections.features.text import Phrases
from spacy_crf.sections.layout import DocumentLayout


def decide(text: str, phrases: Phrases, *runs: tuple[int, int, str]) -> list[tuple[str, str, str]]:
    """Role, rule and state of each unit."""
    found = apply_rules(UnitBatch([(text, DocumentLayout(text, runs).units)], phrases))
    return [
        (ROLES[role], found.trace.names[rule], found.states.names[state])
        for role, rule, state in zip(found.roles, found.trace.codes, found.states.codes)
    ]


@pytest.mark.parametrize(
    "text, role, rule",
    [
        ("Decision", "title", "known title"),
        ("Judgment of 3 May 2020", "text", "head matter"),
        (f"All of it {'and more of it ' * 4}was read.", "text", "running text"),
        ("Signed", "text", "closing formula"),
        ("• apples", "text", "list mark or other element"),
        ("7 apples", "text", "number by itself"),
    ],
)
def test_the_first_unit_and_the_rule_that_decided_it(text: str, role: str, rule: str, phrases: Phrases) -> None:
    assert decide(text, phrases)[0][:2] == (role, rule)


def test_numbers_need_a_sequence(phrases: Phrases) -> None:
    found = decide("1. Definitions\n2. Notices\n9. apples", phrases)
    assert [role for role, _, _ in found] == ["number", "title", "number", "title", "text", "text"]


def test_a_quotation_ends_at_its_mark(phrases: Phrases) -> None:
    found = decide('1. Facts\nHe wrote:\n"1. We pay\n2. We leave"\n2. Decision', phrases)
    states = [state for _, _, state in found]
    assert states == ["head", "body", "body", "body", *["quotation"] * 4, "body", "body"]
    assert [role for role, _, _ in found][4:8] == ["text"] * 4
    assert found[-2][:2] == ("number", "number of a sequence")


def test_a_quotation_that_nothing_closes_ends_at_a_blank_line(phrases: Phrases) -> None:
    lines = ["He wrote:", '"We pay', *["and we pay"] * (LONGEST_QUOTATION // 2)]
    short = decide("\n".join([*lines, "", "2. Decision"]), phrases)
    assert short[-1][2] == "quotation"
    found = decide("\n".join([*lines, *["and we pay"] * LONGEST_QUOTATION, "", "1. Facts", "2. Decision"]), phrases)
    blank = next(place for place, (role, _, _) in enumerate(found) if role == "newline")
    assert {state for _, _, state in found[4:blank]} == {"quotation"}
    assert [(role, state) for role, _, state in found[blank + 1 :]] == [("number", "body"), ("title", "body")] * 2


def test_only_candidates_are_numbers(phrases: Phrases) -> None:
    text = "1. Facts\nArticle nine\nOne\n2. Decision\n• 3"
    batch = UnitBatch([(text, DocumentLayout(text).units)], phrases)
    probabilities = apply_rules(batch).probabilities(batch)
    assert not probabilities[~batch.is_number, ROLES.index("number")].any()


def test_mark_up_outweighs_words(phrases: Phrases) -> None:
    text = "Of mice and men\nIt was a long day."
    assert decide(text, phrases, (0, 15, "heading1"))[0][:2] == ("title", "heading of the mark-up")


@given(st.text('ab1."\n- A(', max_size=40))
def test_every_unit_is_decided_by_a_rule_of_its_role(text: str) -> None:
    batch = UnitBatch([(text, DocumentLayout(text).units)], Phrases([]))
    found = apply_rules(batch)
    assert len(found.roles) == len(found.confidences) == len(found.trace.codes) == len(batch)
    assert ((found.confidences > 0) & (found.confidences <= 1)).all()
    assert np.allclose(found.probabilities(batch).sum(axis=1), 1)
    assert (found.probabilities(batch).argmax(axis=1) == found.roles).all()
    assert (batch.is_blank == (found.roles == ROLES.index("newline"))).all()


@given(st.lists(st.sampled_from(("5. Law", "1. Facts", "Law", "", "He came.", "(a) one", "Annex", "- x")), max_size=12))
def test_only_candidates_can_be_numbers(lines: list[str]) -> None:
    text = "\n".join(lines)
    bold = [(place, place + 3, "bold") for place in range(len(text)) if text.startswith("Law", place)]
    batch = UnitBatch([(text, DocumentLayout(text, tuple(bold)).units)])
    chances = apply_rules(batch).probabilities(batch)
    assert not chances[~batch.is_number, ROLES.index("number")].any()
