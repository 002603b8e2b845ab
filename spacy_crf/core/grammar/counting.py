"""Rule weights from trees by relative counts: what makes a grammar a PCFG."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import Doubles
from ..errors import CoreErrors, CRFError
from .grammar import Grammar
from .rules import Rule
from .trees import Tree


def treebank_grammar(trees: Iterable[Tree], smoothing: float = 0.0) -> Grammar:
    """The grammar of all rules in some trees, weighted by relative counts.

    trees (iterable of Tree): with one label at the root.
    RETURNS (Grammar): start symbol, terminals and rules in the order in which they were met.
    RAISES (ValueError): without trees, for different roots, or for a label that is a terminal here and none there.
    """
    trees = list(trees)
    roots = list(dict.fromkeys(tree.nodes[0].label for tree in trees))
    if len(roots) != 1:
        expected = "at least one tree, all with one label at the root"
        raise CRFError(CoreErrors.CRF950.format(setting="roots of the trees", value=roots, expected=expected))
    rules = tuple(Rule(key[0], key[1:]) for key in dict.fromkeys(key for tree in trees for _, key in tree.rules()))
    terminals = tuple(dict.fromkeys(leaf for tree in trees for leaf in tree.leaves))
    return relative_counts(Grammar(roots[0], terminals, rules), trees, smoothing)


def relative_counts(grammar: Grammar, trees: Sequence[Tree], smoothing: float = 1.0) -> Grammar:
    """The grammar with the weights (count + smoothing) / (count of the left side + smoothing times its rules).

    grammar (Grammar): whose weights are not looked at. trees (sequence of Tree): made of its rules.
    smoothing (float): at least 0. Rules that were not seen are left out with 0, and else have a weight.
    RETURNS (Grammar): whose weights sum to 1 for each left side.
    RAISES (ValueError): for a tree with a rule or a root that the grammar does not have, for a negative smoothing, or
        where nothing is left.
    """
    if not 0 <= smoothing < np.inf:
        raise CRFError(
            CoreErrors.CRF950.format(setting="smoothing", value=smoothing, expected="at least 0, and finite")
        )
    counts = np.sum([count_rules(grammar, tree, name) for name, tree in enumerate(trees)], axis=0) + smoothing
    if not np.any(counts):
        raise CRFError(CoreErrors.CRF950.format(setting="trees", value="empty", expected="at least one, or smoothed"))
    totals: dict[str, float] = defaultdict(float)
    for rule, count in zip(grammar.rules, np.broadcast_to(counts, len(grammar.rules))):
        totals[rule.parent] += float(count)
    weighted = [
        Rule(rule.parent, rule.children, float(np.log(count / totals[rule.parent])), rule.place)
        for rule, count in zip(grammar.rules, np.broadcast_to(counts, len(grammar.rules)))
        if count
    ]
    return Grammar(grammar.start, grammar.terminals, tuple(weighted))


def count_rules(grammar: Grammar, tree: Tree, name: object) -> Doubles:
    """((R,)): how often a tree has each rule of the grammar.

    name (object): of the tree, for messages.
    RAISES (ValueError): for a rule or a root that the grammar does not have.
    """
    if tree.nodes[0].label != grammar.start:
        problem = f"its root is {tree.nodes[0].label!r}, the start symbol {grammar.start!r}"
        raise CRFError(CoreErrors.CRF949.format(name=name, problem=problem))
    counts = np.zeros(len(grammar.rules))
    for key, count in Counter(key for _, key in tree.rules()).items():
        if key not in grammar.numbers:
            problem = f"the grammar has no rule {Rule(key[0], key[1:])}"
            raise CRFError(CoreErrors.CRF949.format(name=name, problem=problem))
        counts[grammar.numbers[key]] = count
    return counts
