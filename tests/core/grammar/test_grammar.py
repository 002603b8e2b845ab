"""Grammars as text: what is read is what was written, and faults are named with their lines."""

import math

import numpy as np
import pytest
from helpers.grammars import random_grammar
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.core.grammar.rules import GrammarRule

HEAD = "%start A\n%terminals a b\n"


@given(st.integers(0, 2**32 - 1))
def test_a_grammar_comes_back_from_its_text(seed: int) -> None:
    grammar = random_grammar(np.random.default_rng(seed))
    assert Grammar.from_text(grammar.to_text("log")) == grammar
    again = Grammar.from_text(grammar.to_text())
    assert again.log_weights == pytest.approx(grammar.log_weights)
    assert list(again.numbers) == list(grammar.numbers)


NAMES = st.text(min_size=1, max_size=4).filter(lambda name: name.isprintable())


@given(NAMES, NAMES, st.floats(-1e6, 1e6))
def test_any_names_come_back(parent: str, terminal: str, weight: float) -> None:
    if parent != terminal:
        grammar = Grammar(
            parent, (terminal,), (GrammarRule(parent, (terminal, parent), weight), GrammarRule(parent, (terminal,)))
        )
        assert Grammar.from_text(grammar.to_text("log")) == grammar


def test_all_that_may_be_written() -> None:
    text = '# two\n%weights plain\n\n%terminals a "b c" # and a comment\n%start A\nA -> a A [.5] | "b c"[2e-1]|a#x\n'
    grammar = Grammar.from_text(text)
    assert grammar.terminals == ("a", "b c")
    assert [str(rule) for rule in grammar.rules] == ["A -> a A", "A -> b c", "A -> a"]
    assert grammar.log_weights == pytest.approx(np.log([0.5, 0.2, 1.0]))
    assert [rule.place for rule in grammar.rules] == ["line 6"] * 3


def test_weights_may_be_logarithms_and_above_one() -> None:
    assert Grammar.from_text(f"{HEAD}%weights log\nA -> a [-1.5] | b").log_weights.tolist() == [-1.5, 0.0]
    assert Grammar.from_text(f"{HEAD}A -> a [20] | b").log_weights.tolist() == [math.log(20), 0.0]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("A -> a\nA", r"CRF941.*line 4: a rule begins with"),
        ("A = a", r"CRF941.*line 3: a rule begins with"),
        ("A ->", r"CRF941.*line 3: the right side of 'A' is empty"),
        ("A -> a | | b", r"CRF941.*line 3: the right side of 'A' is empty"),
        ("A -> [0.5]", r"CRF941.*line 3: the right side of 'A' is empty"),
        ("A -> a [0.5] b", r"CRF941.*line 3: the weight \[0.5\] does not stand behind"),
        ("A -> a [half]", r"CRF941.*line 3: the weight \[half\] is no number"),
        ("A -> a -> b", r"CRF941.*line 3: '->' stands where a symbol"),
        ("A -> a ]", r"CRF941.*line 3: nothing can be made of '\]'"),
        ('A -> "a', r"CRF941.*line 3: nothing can be made of"),
        (r'A -> "a\x"', r"CRF941.*line 3: .* is not quoted as in JSON"),
        ("%begin A", r"CRF941.*line 3: there is no directive '%begin'"),
        ("%start B", r"CRF941.*line 3: %start is given a second time"),
        ("%weights", r"CRF941.*line 3: %weights needs one value"),
        ("%weights percent", r"CRF941.*line 3: weights are plain or log, not 'percent'"),
        ("A -> a\nA -> a Beta", r"CRF942.*line 4: the symbol 'Beta'.*Nearest"),
        ("A -> a [0]", r"CRF943.*line 3.*0.0.*above 0"),
        ("A -> a [-0.5]", r"CRF943.*line 3.*-0.5"),
        ("A -> a [inf]", r"CRF943.*line 3.*inf"),
        ("%weights log\nA -> a [-inf]", r"CRF943.*line 4.*-inf.*finite logarithm"),
        ("A -> a [nan]", r"CRF943.*line 3.*nan"),
        ("B -> a", r"CRF944.*'A'"),
        ("A -> a\nB -> b", r"CRF945.*line 4: the symbol 'B'.*no rule leads to it from 'A'"),
        ("A -> a | B\nB -> B b", r"CRF945.*line 4: the symbol 'B'.*never end"),
        ("A -> A A", r"CRF945.*line 3: the symbol 'A'.*never end"),
        ("A -> a\nA -> b | a [0.5]", r"CRF946.*line 4: A -> a is there twice, first in line 3"),
        ("A -> b\nb -> a", r"CRF946.*line 4: b -> a has the terminal 'b' on its left"),
    ],
)
def test_faults_are_named_with_their_line(rules: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Grammar.from_text(HEAD + rules)


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "CRF944"), ("A -> a\n%terminals a", "CRF944"), ("%terminals a a", "CRF941.*'a' is given twice")],
)
def test_what_stands_above_the_rules_is_needed(text: str, code: str) -> None:
    with pytest.raises(ValueError, match=code):
        Grammar.from_text(text)


def test_a_file_is_named_with_the_line() -> None:
    with pytest.raises(ValueError, match=r"CRF941.*Grammar, my\.grammar, line 2: "):
        Grammar.from_text("%start A\nA =", "my.grammar")


def test_rules_without_lines_are_named_themselves() -> None:
    with pytest.raises(ValueError, match=r"CRF941.*rule A -> .*empty"):
        Grammar("A", ("a",), (GrammarRule("A", ()),))
    with pytest.raises(ValueError, match=r"CRF943.*rule A -> a.*zero"):
        Grammar.build("A", "a", {("A", "a"): 0.0})
    with pytest.raises(ValueError, match=r"CRF943.*rule A -> a"):
        Grammar.build("A", "a", {("A", "a"): -1.0})


def test_the_scale_is_one_of_two() -> None:
    with pytest.raises(ValueError, match=r"CRF950.*'percent'.*plain or log"):
        Grammar.from_text(f"{HEAD}A -> a b").to_text("percent")
