"""What is wrong with a grammar: found before anything is parsed, with the line at fault."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from ..errors import CoreErrors, CRFError
from .rules import Rule


def check(start: str, terminals: Sequence[str], rules: Sequence[Rule]) -> None:
    """Look for faults. O(size of the grammar).

    RAISES (ValueError): for an empty right side; a weight that is no finite positive number; a terminal on a left side
        or given twice; a rule given twice; an unknown symbol; a start symbol without rules; a symbol that no tree
        reaches from the start symbol, or that leads to no terminals.
    """
    _check_terminals(terminals)
    seen: dict[tuple[str, ...], Rule] = {}
    for rule in rules:
        _check_rule(rule, terminals)
        key = (rule.parent, *rule.children)
        if key in seen:
            problem = f"is there twice, first in {seen[key].where}; keep one, with the sum of the weights"
            raise CRFError(CoreErrors.CRF946.format(where=rule.where, rule=rule, problem=problem))
        seen[key] = rule
    parents = dict.fromkeys(rule.parent for rule in rules)
    if start not in parents:
        raise CRFError(CoreErrors.CRF944.format(start=start))
    _check_symbols(rules, {*parents, *terminals})
    reached, productive = _reached(start, rules), _productive(terminals, rules)
    for rule in rules:
        if rule.parent not in productive:
            _refuse(rule, "its rules never end in terminals only")
        if rule.parent not in reached:
            _refuse(rule, f"no rule leads to it from {start!r}")


def _check_terminals(terminals: Sequence[str]) -> None:
    for terminal in terminals:
        if list(terminals).count(terminal) > 1:
            raise CRFError(CoreErrors.CRF941.format(where="terminals", problem=f"{terminal!r} is given twice"))


def _check_rule(rule: Rule, terminals: Sequence[str]) -> None:
    if not rule.children:
        problem = f"the right side of {rule.parent!r} is empty"
        raise CRFError(CoreErrors.CRF941.format(where=rule.where, problem=problem))
    if not math.isfinite(rule.log_weight):
        weight = "zero" if rule.log_weight == -math.inf else f"exp({rule.log_weight})"
        expected = "a finite number above 0"
        raise CRFError(CoreErrors.CRF943.format(where=rule.where, rule=rule, weight=weight, expected=expected))
    if rule.parent in terminals:
        problem = f"has the terminal {rule.parent!r} on its left side; rename one of them"
        raise CRFError(CoreErrors.CRF946.format(where=rule.where, rule=rule, problem=problem))


def _check_symbols(rules: Iterable[Rule], known: set[str]) -> None:
    for rule in rules:
        for child in rule.children:
            if child not in known:
                near = ", ".join(get_close_matches(child, known, 3, 0.0))
                raise CRFError(CoreErrors.CRF942.format(where=rule.where, symbol=child, near=near))


def _refuse(rule: Rule, reason: str) -> None:
    raise CRFError(CoreErrors.CRF945.format(where=rule.where, symbol=rule.parent, reason=reason))


def _reached(start: str, rules: Iterable[Rule]) -> set[str]:
    """Symbols that trees of the start symbol may hold."""
    children: dict[str, set[str]] = defaultdict(set)
    for rule in rules:
        children[rule.parent].update(rule.children)
    reached, waiting = {start}, [start]
    while waiting:
        for child in children[waiting.pop()] - reached:
            reached.add(child)
            waiting.append(child)
    return reached


def _productive(terminals: Iterable[str], rules: Sequence[Rule]) -> set[str]:
    """Symbols that some finite tree has at its root."""
    users: dict[str, list[int]] = defaultdict(list)
    missing = [len(set(rule.children)) for rule in rules]
    for number, rule in enumerate(rules):
        for child in set(rule.children):
            users[child].append(number)
    productive, waiting = set(terminals), list(terminals)
    while waiting:
        for number in users[waiting.pop()]:
            missing[number] -= 1
            parent = rules[number].parent
            if not missing[number] and parent not in productive:
                productive.add(parent)
                waiting.append(parent)
    return productive
