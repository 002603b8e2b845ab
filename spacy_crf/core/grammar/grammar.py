"""Weighted context-free grammars: rules whose right sides are any sequences of symbols, but not empty.

A grammar here need not be normalised: weights are any positive numbers, and a tree weighs the product of the weights of
its rules. That is a PCFG where the weights of each left side sum to 1. Trompper's grammars (Automatic Assignment of
Section Structure to Texts of Dutch Court Judgments, 2016, "Inferring a Section Hierarchy") are of the general kind.

Why there is no probabilistic Earley parser, which the thesis thinks of: what it has over CYK are predictions from the
left, which save work where a grammar has many rules or few of its symbols can begin at a place, and rules that need
not be binarised. Here grammars are small, nearly everything can begin everywhere, and binarisation is undone in the
trees. It takes its steps one item at a time: an agenda in Python, where CYK makes one numpy call for all spans of a
length. Sums over left-recursive and unary loops need matrix inverses there too (Stolcke, "An efficient probabilistic
context-free parsing algorithm", Computational Linguistics 21, 1995), and scores of spans would reorder its agenda. Long
documents are for the stack parser, which is linear; CYK is the general parser, and its oracle.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Doubles
from .rules import Rule
from .validation import check


@dataclass(frozen=True)
class Grammar:
    """A weighted context-free grammar that was found to be sound.

    start (str): the symbol of whole documents.
    terminals (tuple of str): symbols of units, in the order of their columns.
    rules (tuple of Rule): in the order in which they are numbered.
    RAISES (ValueError): for what `validation.check` finds.
    """

    start: str
    terminals: tuple[str, ...]
    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        check(self.start, self.terminals, self.rules)

    @classmethod
    def build(cls, start: str, terminals: Iterable[str], rules: Mapping[tuple[str, ...], float]) -> "Grammar":
        """A grammar from weights by rule.

        rules (mapping): from (parent, child, ..) to the weight, which is not a logarithm.
        RAISES (ValueError): as the class does.
        """
        made = (Rule(key[0], tuple(key[1:]), _log(weight)) for key, weight in rules.items())
        return cls(start, tuple(terminals), tuple(made))

    @cached_property
    def nonterminals(self) -> tuple[str, ...]:
        """Left sides, in the order of their first rules."""
        return tuple(dict.fromkeys(rule.parent for rule in self.rules))

    @cached_property
    def numbers(self) -> dict[tuple[str, ...], int]:
        """The number of each rule by (parent, child, ..)."""
        return {(rule.parent, *rule.children): number for number, rule in enumerate(self.rules)}

    @cached_property
    def log_weights(self) -> Doubles:
        """((R,)): of the rules."""
        return np.array([rule.log_weight for rule in self.rules])

    def with_log_weights(self, log_weights: Doubles) -> "Grammar":
        """The same rules with other weights.

        log_weights ((R,)): finite.
        """
        rules = (Rule(rule.parent, rule.children, float(w), rule.place) for rule, w in zip(self.rules, log_weights))
        return Grammar(self.start, self.terminals, tuple(rules))


def _log(weight: float) -> float:
    """The logarithm; -inf and NaN, which are refused later, for weights that have none."""
    return math.log(weight) if weight > 0 else -math.inf if weight == 0 else math.nan
