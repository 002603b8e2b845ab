"""Rule weights by relative counts."""

import numpy as np
import pytest
from helpers.grammars import tree_of

from spacy_crf.core.grammar.grammar import Grammar

TREES = [tree_of(text) for text in ("(S (A a) (S b))", "(S (A a a) b)", "(S b)")]


def weights(grammar) -> dict[str, float]:
    return {str(rule): float(np.exp(rule.log_weight)) for rule in grammar.rules}


def test_a_grammar_is_read_off_trees() -> None:
    grammar = Grammar.of_trees(TREES)
    assert (grammar.start, grammar.terminals) == ("S", ("a", "b"))
    assert weights(grammar) == pytest.approx(
        {"S -> A S": 1 / 4, "A -> a": 1 / 2, "S -> b": 2 / 4, "A -> a a": 1 / 2, "S -> A b": 1 / 4}
    )


@pytest.mark.parametrize("smoothing", [0.5, 3.0])
def test_smoothing_gives_all_rules_a_weight(smoothing: float) -> None:
    grammar = Grammar.from_text("%start S\n%terminals a b\nS -> A S | A b | b | S S\nA -> a | a a")
    found = weights(grammar.with_counts(TREES, smoothing))
    assert found["S -> S S"] == pytest.approx(smoothing / (4 + 4 * smoothing))
    assert found["S -> b"] == pytest.approx((2 + smoothing) / (4 + 4 * smoothing))
    assert sum(weight for rule, weight in found.items() if rule.startswith("S ->")) == pytest.approx(1)


def test_without_smoothing_unseen_rules_are_left_out() -> None:
    grammar = Grammar.from_text("%start S\n%terminals a b\nS -> A S | A b | b | S C\nA -> a | a a\nC -> a")
    found = grammar.with_counts(TREES, 0.0)
    assert sorted(weights(found)) == ["A -> a", "A -> a a", "S -> A S", "S -> A b", "S -> b"]


def test_without_trees_smoothed_weights_are_even() -> None:
    grammar = Grammar.from_text("%start S\n%terminals a b\nS -> a [5] | b")
    assert weights(grammar.with_counts([], 1.0)) == pytest.approx({"S -> a": 0.5, "S -> b": 0.5})


@pytest.mark.parametrize(
    ("trees", "smoothing", "message"),
    [
        (["(S c)"], 1.0, "CRF949.*tree 0.*no rule S -> c"),
        (["(S b)", "(A a)"], 1.0, "CRF949.*tree 1.*its root is 'A'"),
        (["(S b)"], -1.0, "CRF950.*smoothing is -1.0"),
        (["(S b)"], np.nan, "CRF950.*smoothing is nan"),
        ([], 0.0, "CRF950.*trees is empty"),
    ],
)
def test_trees_and_grammar_must_agree(trees: list[str], smoothing: float, message: str) -> None:
    grammar = Grammar.from_text("%start S\n%terminals a b\nS -> A S | b\nA -> a")
    with pytest.raises(ValueError, match=message):
        grammar.with_counts([tree_of(text) for text in trees], smoothing)


@pytest.mark.parametrize("texts", [[], ["(S a)", "(A a)"]])
def test_trees_need_one_root(texts: list[str]) -> None:
    with pytest.raises(ValueError, match="CRF950.*roots"):
        Grammar.of_trees(tree_of(text) for text in texts)
