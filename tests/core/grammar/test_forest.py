"""The K best trees against an enumeration of all trees."""

import math

import numpy as np
import pytest
from helpers.grammars import MAX_CIRCLES, Enumeration, problems, random_ring
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.grammar.chart import NoParseError, ParseScores
from spacy_crf.core.grammar.grammar import Grammar


@given(problems(), st.sampled_from([1, 3, 20, 200]))
@settings(max_examples=150)
def test_trees_are_those_of_the_enumeration(problem, k: int) -> None:
    check(*problem, k)


@given(problems(circles=True, max_units=3), st.sampled_from([1, 5, 12]))
@settings(max_examples=100)
def test_trees_that_go_in_circles_come_in_their_order(problem, k: int) -> None:
    check(*problem, k, reach=6.0)  # the enumeration follows nine rules only


@pytest.mark.parametrize("seed", range(6))
def test_circles_through_several_symbols(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # seven rules below each other hold at least four in circles, of a weight of 0.2 at most
    check(random_ring(rng), ParseScores(rng.normal(0, 1, (1, 2))), 25, reach=6.0, most=6)


def check(grammar, scores: ParseScores, k: int, reach: float = math.inf, most: int = MAX_CIRCLES) -> None:
    """reach (float): by how much a tree may be behind the best one for the enumeration to have it for sure."""
    ranked = Enumeration(grammar, scores, most).ranked
    if not ranked:
        with pytest.raises(NoParseError):
            grammar.best(scores, k)
        return
    found = grammar.best(scores, k)
    texts = [str(parsed.tree) for parsed in found]
    assert len(set(texts)) == len(texts)
    found = [parsed for parsed in found if parsed.score > ranked[0].score - reach]
    ranked = [listed for listed in ranked if listed.score > ranked[0].score - reach]
    assert [parsed.score for parsed in found] == pytest.approx([listed.score for listed in ranked[:k]])
    by_text = {str(listed): listed.score for listed in ranked}
    assert [parsed.score for parsed in found] == pytest.approx([by_text[text] for text in texts[: len(found)]])


@given(problems(max_units=5))
def test_fewer_trees_are_the_beginning_of_more(problem) -> None:
    grammar, scores = problem
    try:
        many = grammar.best(scores, 30)
    except NoParseError:
        return
    assert many[0] == grammar.parse(scores)
    for k in (1, 2, 7):
        assert grammar.best(scores, k) == many[:k]


def test_all_trees_are_found_and_no_more() -> None:
    grammar = Grammar.from_text("%start T\n%terminals a\nT -> T T [0.5] | a [0.5]")
    found = grammar.best(grammar.scores_of(["a"] * 6), 1000)
    assert len(found) == 42  # the fifth Catalan number
    assert np.ptp([parsed.score for parsed in found]) < 1e-9


def test_a_loop_of_weight_one_gives_as_many_trees_as_are_asked_for() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a\nA -> B | a\nB -> A")
    found = grammar.best(grammar.scores_of(["a"]), 4)
    assert [str(parsed.tree) for parsed in found][:2] == ["(A a)", "(A (B (A a)))"]
    assert len({parsed.tree for parsed in found}) == 4
    assert {parsed.score for parsed in found} == {0.0}


def test_long_documents_do_not_recurse() -> None:
    grammar = Grammar.from_text("%start T\n%terminals a\nT -> a T | a | U\nU -> a [0.5]")
    found = grammar.best(grammar.scores_of(["a"] * 300), 3)
    assert [round(parsed.score, 6) for parsed in found] == [0.0, -0.693147]


def test_at_least_one_tree_is_asked_for() -> None:
    grammar = Grammar.from_text("%start T\n%terminals a\nT -> a")
    with pytest.raises(ValueError, match="CRF108.*k"):
        grammar.best(grammar.scores_of(["a"]), 0)
