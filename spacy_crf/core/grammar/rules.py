"""Weighted rules of context-free grammars, what can be wrong with a set of them, and trees that are made of them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple, NoReturn

from ..errors import CoreErrors, CRFError

ROOT = -1


@dataclass(frozen=True)
class GrammarRule:
    """A rule of a grammar.

    parent (str): its left side. children (tuple of str): its right side, at least one symbol.
    log_weight (float): natural logarithm of its weight; weights above 1 are allowed.
    place (str | None): where it stands, such as `line 3`, for messages.
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
    """A node of a tree.

    label (str): a symbol. start (int), end (int): its units, end exclusive. parent (int): index of the node above it.
    """

    label: str
    start: int
    end: int
    parent: int


@dataclass(frozen=True)
class ParseTree:
    """A tree over units, as a flat list: a long run of units makes trees deeper than Python lets functions recurse.

    nodes (tuple of Node): in preorder: parents before their children, these from left to right. Leaves are terminals.
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
    """Find faults before anything is parsed. O(size of the grammar, times the depth of its symbols).

    RAISES (ValueError): for an empty right side; a weight that is no finite positive number; a terminal on a left side
        or given twice; a rule given twice; an unknown symbol; a start symbol without rules; a symbol that no tree
        reaches from the start symbol, or that leads to no terminals.
    """
    for terminal in terminals:
        if list(terminals).count(terminal) > 1:
            raise CRFError(CoreErrors.CRF941.format(where="terminals", problem=f"{terminal!r} is given twice"))
    seen: dict[tuple[str, ...], GrammarRule] = {}
    for rule in rules:
        _check_rule(rule, terminals)
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
        for symbols, reason in (
            (productive, "its rules never end in terminals only"),
            (reached, f"no rule leads to it from {start!r}"),
        ):
            if rule.parent not in symbols:
                raise CRFError(CoreErrors.CRF945.format(where=rule.where, symbol=rule.parent, reason=reason))


def _check_rule(rule: GrammarRule, terminals: Sequence[str]) -> None:
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


def _reached(start: str, rules: Sequence[GrammarRule]) -> set[str]:
    """Symbols that trees of the start symbol may hold."""
    reached = {start}
    while more := {child for rule in rules if rule.parent in reached for child in rule.children} - reached:
        reached |= more
    return reached


def _productive(terminals: Iterable[str], rules: Sequence[GrammarRule]) -> set[str]:
    """Symbols that some finite tree has at its root."""
    productive = set(terminals)
    while more := {rule.parent for rule in rules if productive.issuperset(rule.children)} - productive:
        productive |= more
    return productive
