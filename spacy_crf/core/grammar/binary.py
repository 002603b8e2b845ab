"""Grammars made ready for charts: right sides of at most two symbols, as arrays.

A rule A -> B C D becomes A -> B M and M -> C D with a marker M for the rest of the right side; rules that end alike
share markers. Markers are taken out of trees again. Terminals are symbols like all others, which only units have, so
that they may stand anywhere in a right side. This 2NF keeps the size of the grammar linear, where Chomsky's form does
not (Lange & Leiss, "To CNF or not to CNF?", Informatica Didactica 8, 2008-2010).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..arrays import Doubles, Indices
from .blocks import Block, find_blocks
from .grammar import Grammar
from .rules import Rule

MARKER = -1


@dataclass(frozen=True)
class Rules:
    """Rules with right sides of one length, sorted by parent.

    parents ((r,)), sources ((r,)): parent, and number of the rule in the grammar; -1 for rules of markers.
    children ((r, 1) or (r, 2)): symbols. log_weights ((r,)): their weights.
    """

    parents: Indices
    children: Indices
    sources: Indices
    log_weights: Doubles

    def at(self, chosen: Indices) -> "Rules":
        """Some of the rules, in the order of their parents."""
        return Rules(self.parents[chosen], self.children[chosen], self.sources[chosen], self.log_weights[chosen])

    @cached_property
    def firsts(self) -> Indices:
        """Index of the first rule of each parent that has rules."""
        return np.flatnonzero(np.diff(self.parents, prepend=-1))

    @cached_property
    def of_parent(self) -> dict[int, slice]:
        """The rules of each parent that has some."""
        bounds = [*self.firsts.tolist(), len(self.parents)]
        return {int(self.parents[low]): slice(low, high) for low, high in pairwise(bounds)}

    def with_log_weights(self, log_weights: Doubles) -> "Rules":
        """The same rules with the weights of a grammar; markers keep theirs. log_weights ((R,)): by source."""
        return replace(self, log_weights=np.where(self.sources == MARKER, 0.0, log_weights[self.sources]))


@dataclass(frozen=True)
class BinaryGrammar:
    """A grammar as charts need it.

    grammar (Grammar): as it was. symbols (tuple of str): terminals, then nonterminals, then markers: S of them.
    binary (Rules), unary (Rules): its rules.
    pairs ((Q, 2)): right sides of binary rules, each once. pair_of ((r,)): that of each binary rule.
    blocks (tuple of Block): symbols in an order in which unary rules lead from later ones to earlier ones.
    """

    grammar: Grammar
    symbols: tuple[str, ...]
    binary: Rules
    unary: Rules
    pairs: Indices
    pair_of: Indices
    blocks: tuple[Block, ...]

    @cached_property
    def block_rules(self) -> tuple[tuple[Rules, Rules], ...]:
        """The entering and the inner unary rules of each block."""
        return tuple((self.unary.at(block.entering), self.unary.at(block.inner)) for block in self.blocks)

    @property
    def n_terminals(self) -> int:
        return len(self.grammar.terminals)

    @property
    def n_symbols(self) -> int:
        return len(self.symbols)

    @cached_property
    def start(self) -> int:
        """The start symbol."""
        return self.symbols.index(self.grammar.start)

    @cached_property
    def first_marker(self) -> int:
        """The number of the first marker, or of symbols if there is none."""
        return self.n_terminals + len(self.grammar.nonterminals)

    def with_log_weights(self, log_weights: Doubles) -> "BinaryGrammar":
        """The same rules with other weights, without being binarised anew: for learners.

        log_weights ((R,)): of the rules of the grammar, finite.
        """
        binary, unary = (rules.with_log_weights(log_weights) for rules in (self.binary, self.unary))
        return replace(self, grammar=self.grammar.with_log_weights(log_weights), binary=binary, unary=unary)


def binarise(grammar: Grammar) -> BinaryGrammar:
    """Cut the right sides of a grammar into pieces of two. O(size of the grammar).

    grammar (Grammar): any.
    RETURNS (BinaryGrammar): with the same trees, once markers are taken out, of the same weights.
    """
    numbers = {symbol: number for number, symbol in enumerate([*grammar.terminals, *grammar.nonterminals])}
    markers: dict[tuple[str, ...], int] = {}
    rows: list[tuple[int, tuple[int, ...], int, float]] = []
    for source, rule in enumerate(grammar.rules):
        parent, weight = numbers[rule.parent], rule.log_weight
        for first, rest in _pieces(rule):
            known = len(rest) < 2 or rest in markers
            if len(rest) > 1:
                markers.setdefault(rest, len(numbers) + len(markers))
            right = () if not rest else (numbers[rest[0]] if len(rest) == 1 else markers[rest],)
            rows.append((parent, (numbers[first], *right), source, weight))
            if known:
                break
            parent, source, weight = markers[rest], MARKER, 0.0
    symbols = (*numbers, *(f"..{' '.join(rest)}" for rest in markers))
    binary, unary = (_table([row for row in rows if len(row[1]) == size], size) for size in (2, 1))
    pairs, pair_of = np.unique(binary.children, axis=0, return_inverse=True)
    blocks = find_blocks(len(symbols), unary.parents, unary.children[:, 0])
    return BinaryGrammar(grammar, symbols, binary, unary, pairs, pair_of.reshape(-1), blocks)


def _pieces(rule: Rule) -> list[tuple[str, tuple[str, ...]]]:
    """Each symbol of a right side that needs a rule of its own, and what is behind it; the last rule holds two."""
    children = rule.children
    return [(children[place], children[place + 1 :]) for place in range(max(1, len(children) - 1))]


def _table(rows: list[tuple[int, tuple[int, ...], int, float]], size: int) -> Rules:
    rows = sorted(rows, key=lambda row: row[0])
    parents, children, sources = ([row[part] for row in rows] for part in range(3))
    weights = np.array([row[3] for row in rows], dtype=float)
    shaped = np.array(children, dtype=np.intp).reshape(-1, size)
    return Rules(np.array(parents, dtype=np.intp), shaped, np.array(sources, dtype=np.intp), weights)
