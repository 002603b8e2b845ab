"""Grammars made ready for charts: right sides of at most two symbols, as arrays.

A rule A -> B C D becomes A -> B M and M -> C D with a marker M for the rest of the right side; rules that end alike
share markers, which are taken out of trees again. Terminals may stand anywhere in a right side. This 2NF keeps the size
of the grammar linear, where Chomsky's form does not (Lange & Leiss, "To CNF or not to CNF?", Informatica Didactica 8,
2008-2010).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..arrays import Doubles, Indices
from .rules import GrammarRule

MARKER = -1


@dataclass(frozen=True)
class RuleTable:
    """Rules with right sides of one length, sorted by parent.

    parents ((r,)), sources ((r,)): parent, and number of the rule in the grammar; -1 for rules of markers.
    children ((r, 1) or (r, 2)): symbols. log_weights ((r,)): their weights.
    """

    parents: Indices
    children: Indices
    sources: Indices
    log_weights: Doubles

    def at(self, chosen: Indices) -> "RuleTable":
        """Some of the rules, in the order of their parents."""
        return RuleTable(self.parents[chosen], self.children[chosen], self.sources[chosen], self.log_weights[chosen])

    @cached_property
    def firsts(self) -> Indices:
        """Index of the first rule of each parent that has rules."""
        return np.flatnonzero(np.diff(self.parents, prepend=-1))

    @cached_property
    def of_parent(self) -> dict[int, slice]:
        """The rules of each parent that has some."""
        bounds = [*self.firsts.tolist(), len(self.parents)]
        return {int(self.parents[low]): slice(low, high) for low, high in pairwise(bounds)}

    def upwards(self, values: Doubles, own: Doubles | None) -> Doubles:
        """((r, n)): what unary rules make of the values ((S, n)) of their children; own ((S, n)): scores of nodes."""
        made = values[self.children[:, 0]] + self.log_weights[:, None]
        return made if own is None else made + own[self.parents]

    def downwards(self, values: Doubles, own: Doubles | None) -> Doubles:
        """((r, n)): what is around nodes, values ((S, n)) by parent, with the rule and the score of the node itself."""
        made = values[self.parents] + self.log_weights[:, None]
        return made if own is None else made + own[self.parents]

    def with_log_weights(self, log_weights: Doubles) -> "RuleTable":
        """The same rules with the weights ((R,)) of a grammar; markers keep theirs."""
        return replace(self, log_weights=np.where(self.sources == MARKER, 0.0, log_weights[self.sources]))


@dataclass(frozen=True)
class UnaryBlock:
    """Symbols whose values over a span can be made final at once.

    symbols ((s,)): a strongly connected component of the unary rules, or symbols on no cycle.
    entering (RuleTable): rules from symbols of blocks before it. inner (RuleTable): rules within a cyclic block.
    """

    symbols: Indices
    entering: RuleTable
    inner: RuleTable

    @property
    def is_cyclic(self) -> bool:
        return len(self.inner.parents) > 0


@dataclass(frozen=True)
class BinaryGrammar:
    """A grammar as charts need it.

    symbols (tuple of str): terminals, then nonterminals, then markers: S of them. start (int): the start symbol.
    n_terminals (int), first_marker (int), n_rules (int): V, the number of the first marker or S, and R.
    binary (RuleTable), unary (RuleTable): its rules.
    pairs ((Q, 2)): right sides of binary rules, each once. pair_of ((r,)): that of each binary rule.
    """

    symbols: tuple[str, ...]
    start: int
    n_terminals: int
    first_marker: int
    n_rules: int
    binary: RuleTable
    unary: RuleTable
    pairs: Indices
    pair_of: Indices

    @property
    def n_symbols(self) -> int:
        return len(self.symbols)

    @cached_property
    def blocks(self) -> tuple[UnaryBlock, ...]:
        """Symbols in an order in which unary rules lead from later ones to earlier ones."""
        return order_unary(self.n_symbols, self.unary)

    def with_log_weights(self, log_weights: Doubles) -> "BinaryGrammar":
        """The same rules with other weights ((R,)), without being binarised anew."""
        binary, unary = (rules.with_log_weights(log_weights) for rules in (self.binary, self.unary))
        return replace(self, binary=binary, unary=unary)


def binarise(
    start: str, terminals: Sequence[str], nonterminals: Sequence[str], rules: Sequence[GrammarRule]
) -> BinaryGrammar:
    """Cut the right sides of a grammar into pieces of two. O(size of the grammar).

    RETURNS (BinaryGrammar): with the same trees, once markers are taken out, of the same weights.
    """
    numbers = {symbol: number for number, symbol in enumerate([*terminals, *nonterminals])}
    markers: dict[tuple[str, ...], int] = {}
    rows: list[tuple[int, tuple[int, ...], int, float]] = []
    for source, rule in enumerate(rules):
        parent, weight = numbers[rule.parent], rule.log_weight
        for place in range(max(1, len(rule.children) - 1)):
            first, rest = rule.children[place], rule.children[place + 1 :]
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
    sizes = len(terminals), len(numbers), len(rules)
    return BinaryGrammar(symbols, numbers[start], *sizes, binary, unary, pairs, pair_of.reshape(-1))


def _table(rows: list[tuple[int, tuple[int, ...], int, float]], size: int) -> RuleTable:
    rows = sorted(rows, key=lambda row: row[0])
    parents, children, sources = ([row[part] for row in rows] for part in range(3))
    weights = np.array([row[3] for row in rows], dtype=float)
    shaped = np.array(children, dtype=np.intp).reshape(-1, size)
    return RuleTable(np.array(parents, dtype=np.intp), shaped, np.array(sources, dtype=np.intp), weights)


def order_unary(n_symbols: int, unary: RuleTable) -> tuple[UnaryBlock, ...]:
    """Put each symbol that has a unary rule into a block, after the blocks of its children. O(S^3 / word size)."""
    parents, children = unary.parents, unary.children[:, 0]
    reach = np.zeros((n_symbols, n_symbols), dtype=np.bool_)
    reach[parents, children] = True
    for middle in np.unique(parents):
        reach |= reach[:, [middle]] & reach[[middle]]
    mutual = reach & reach.T
    # what leads to another component leads to more symbols beyond its own than that one does
    level = np.count_nonzero(reach & ~mutual, axis=1)
    component = np.where(mutual.any(axis=1), mutual.argmax(axis=1), n_symbols)  # S for all that are on no cycle
    keys = np.stack([level, component], axis=1)[parents]
    blocks = []
    for key in np.unique(keys, axis=0):
        own = np.flatnonzero((keys == key).all(axis=1))
        inside = mutual[parents[own], children[own]]
        blocks.append(UnaryBlock(np.unique(parents[own]), unary.at(own[~inside]), unary.at(own[inside])))
    return tuple(blocks)
