"""Weighted rules of context-free grammars, what can be wrong with a set of them, and trees that are made of them; and
rules made ready for charts, as arrays of right sides with at most two symbols.

For these A -> B C D becomes A -> B M and M -> C D with a marker M for the rest of the right side; rules that end alike
share markers, which are taken out of trees again. Terminals may stand anywhere in a right side. This 2NF keeps the size
of the grammar linear, where Chomsky's form does not (Lange & Leiss, "To CNF or not to CNF?", Informatica Didactica 8,
2008-2010).
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import NamedTuple, NoReturn

import numpy as np

from ..arrays import Doubles, Indices, cached_property
from ..errors import CoreErrors, CRFError

ROOT = -1  # the parent of the root of a tree
MARKER = -1  # the source of a rule of a marker


@dataclass(frozen=True)
class GrammarRule:
    """A rule of a grammar: left side, right side of at least one symbol, and the natural logarithm of its weight.

    Weights above 1 are allowed. place (str | None): where it stands, such as `line 3`, for messages.
    """

    parent: str
    children: tuple[str, ...]
    log_weight: float = 0.0
    place: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.parent} -> {' '.join(self.children)}"

    @property
    def where(self) -> str:
        """The place of the rule, for messages."""
        return f"rule {self}" if self.place is None else self.place


class Node(NamedTuple):
    """A node of a tree: a symbol, its units, end exclusive, and the index of the node above it."""

    label: str
    start: int
    end: int
    parent: int


@dataclass(frozen=True)
class ParseTree:
    """A tree over units, as a flat list of nodes in preorder, children from left to right; leaves are terminals.

    A long run of units makes trees deeper than Python lets functions recurse.
    """

    nodes: tuple[Node, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the children of each node, from left to right."""
        below: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            if node.parent != ROOT:
                below[node.parent].append(index)
        return tuple(map(tuple, below))

    @property
    def leaves(self) -> tuple[str, ...]:
        """Labels of the units."""
        return tuple(node.label for node, below in zip(self.nodes, self.children) if not below)

    def rules(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The index of each node that is no leaf, and its rule as (parent, child, ..)."""
        for index, below in enumerate(self.children):
            if below:
                yield index, (self.nodes[index].label, *(self.nodes[child].label for child in below))

    def __str__(self) -> str:
        """The tree in brackets, such as `(Text (Text TEXT_BLOCK) (Text NEWLINE))`."""
        parts: list[str] = []
        waiting: list[int | None] = [0] if self.nodes else []
        while waiting:
            index = waiting.pop()
            if index is None:
                parts[-1] += ")"
            elif self.children[index]:
                parts.append(f"({self.nodes[index].label}")
                waiting += [None, *reversed(self.children[index])]
            else:
                parts.append(self.nodes[index].label)
        return " ".join(parts)


def check(start: str, terminals: Sequence[str], rules: Sequence[GrammarRule]) -> None:
    """Raise a coded error for faults of a grammar. O(its size).

    These are an empty right side; a weight that is no finite positive number; a terminal on a left side or given twice;
    a rule given twice; an unknown symbol; a start symbol without rules; a symbol that no tree reaches from the start
    symbol, or that leads to no terminals.
    """
    for terminal, count in Counter(terminals).items():
        if count > 1:
            raise CRFError(CoreErrors.CRF941.format(where="terminals", problem=f"{terminal!r} is given twice"))
    seen: dict[tuple[str, ...], GrammarRule] = {}
    units = frozenset(terminals)
    for rule in rules:
        _check_rule(rule, units)
        first = seen.setdefault((rule.parent, *rule.children), rule)
        if first is not rule:
            _refuse(rule, f"is there twice, first in {first.where}; keep one, with the sum of the weights")
    known = dict.fromkeys([*(rule.parent for rule in rules), *terminals])
    if not any(rule.parent == start for rule in rules):
        raise CRFError(CoreErrors.CRF944.format(start=start))
    for rule in rules:
        for child in rule.children:
            if child not in known:
                near = ", ".join(get_close_matches(child, known, 3, 0.0))
                raise CRFError(CoreErrors.CRF942.format(where=rule.where, symbol=child, near=near))
    reached, productive = _reached(start, rules), _productive(terminals, rules)
    for rule in rules:
        if rule.parent not in reached or rule.parent not in productive:
            unending = rule.parent not in productive
            reason = "its rules never end in terminals only" if unending else f"no rule leads to it from {start!r}"
            raise CRFError(CoreErrors.CRF945.format(where=rule.where, symbol=rule.parent, reason=reason))


def _reached(start: str, rules: Sequence[GrammarRule]) -> set[str]:
    """Symbols that trees from the start symbol may have."""
    below: dict[str, list[str]] = {}
    for rule in rules:
        below.setdefault(rule.parent, []).extend(rule.children)
    reached, waiting = {start}, [start]
    while waiting:
        for child in below.get(waiting.pop(), ()):
            if child not in reached:
                reached.add(child)
                waiting.append(child)
    return reached


def _productive(terminals: Sequence[str], rules: Sequence[GrammarRule]) -> set[str]:
    """Symbols that lead to terminals only."""
    missing = [len(set(rule.children)) for rule in rules]  # children not yet known to do so
    above: dict[str, list[int]] = {}
    for number, rule in enumerate(rules):
        for child in set(rule.children):
            above.setdefault(child, []).append(number)
    productive, waiting = set(terminals), list(terminals)
    while waiting:
        for number in above.get(waiting.pop(), ()):
            missing[number] -= 1
            parent = rules[number].parent
            if not missing[number] and parent not in productive:
                productive.add(parent)
                waiting.append(parent)
    return productive


def _check_rule(rule: GrammarRule, terminals: Set[str]) -> None:
    if not rule.children:
        problem = f"the right side of {rule.parent!r} is empty"
        raise CRFError(CoreErrors.CRF941.format(where=rule.where, problem=problem))
    if not math.isfinite(rule.log_weight):
        weight = "zero" if rule.log_weight == -math.inf else f"exp({rule.log_weight})"
        expected = "a finite number above 0"
        raise CRFError(CoreErrors.CRF943.format(where=rule.where, rule=rule, weight=weight, expected=expected))
    if rule.parent in terminals:
        _refuse(rule, f"has the terminal {rule.parent!r} on its left side; rename one of them")


def _refuse(rule: GrammarRule, problem: str) -> NoReturn:
    raise CRFError(CoreErrors.CRF946.format(where=rule.where, rule=rule, problem=problem))


# -- for charts -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RuleTable:
    """Rules with right sides of one length, children ((r, 1) or (r, 2)), sorted by parent.

    sources ((r,)): number of the rule in the grammar; -1 for rules of markers.
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
        return self._weighted(values[self.children[:, 0]], own)

    def downwards(self, values: Doubles, own: Doubles | None) -> Doubles:
        """((r, n)): what is around nodes, values ((S, n)) by parent, with the rule and the score of the node itself."""
        return self._weighted(values[self.parents], own)

    def _weighted(self, values: Doubles, own: Doubles | None) -> Doubles:
        made = values + self.log_weights[:, None]
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
    """Cut right sides into pieces of two: the same trees, once markers are taken out, of the same weights. O(size)."""
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
    parents, children, sources = (np.array([row[part] for row in rows], dtype=np.intp) for part in range(3))
    return RuleTable(parents, children.reshape(-1, size), sources, np.array([row[3] for row in rows], dtype=float))


def order_unary(n_symbols: int, unary: RuleTable) -> tuple[UnaryBlock, ...]:
    """Put each symbol that has a unary rule into a block, after the blocks of its children. O(S + rules)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    parents, children = unary.parents, unary.children[:, 0]
    graph = csr_array((np.ones(len(parents)), (parents, children)), shape=(n_symbols, n_symbols))
    count, components = connected_components(graph, connection="strong")
    inside = components[parents] == components[children]
    levels = _levels(components[parents[~inside]], components[children[~inside]], count)
    circles = np.zeros(count, dtype=np.bool_)
    circles[components[parents[inside]]] = True
    own = components[parents]
    keys = np.stack([levels[own], np.where(circles[own], own, count)], axis=1)  # what is on no circle goes together
    blocks, numbers = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(numbers.reshape(-1), kind="stable")
    rules = np.split(order, np.searchsorted(numbers.reshape(-1)[order], np.arange(1, len(blocks))))
    parts = ((each, each[~inside[each]], each[inside[each]]) for each in rules if len(each))
    return tuple(UnaryBlock(np.unique(parents[own]), unary.at(enter), unary.at(stay)) for own, enter, stay in parts)


def _levels(above: Indices, below: Indices, count: int) -> Indices:
    """((count,)): the longest way down from each node of a graph without cycles, given by its edges."""
    levels, waits = np.zeros(count, dtype=np.intp), np.bincount(above, minlength=count).tolist()
    over: dict[int, list[int]] = {}
    for upper, lower in zip(above.tolist(), below.tolist()):
        over.setdefault(lower, []).append(upper)
    waiting = [node for node, wait in enumerate(waits) if not wait]
    while waiting:
        node = waiting.pop()
        for upper in over.get(node, ()):
            levels[upper] = max(levels[upper], levels[node] + 1)
            waits[upper] -= 1
            if not waits[upper]:
                waiting.append(upper)
    return levels
