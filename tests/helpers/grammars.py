"""Random small grammars, and all trees that they have for a document, enumerated from the definition."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from helpers.oracle import log_sum_exp
from spacy_crf.core.grammar.chart import ParseScores
from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.core.grammar.rules import ROOT, Node, ParseTree

SYMBOLS = ("S", "A", "B", "C")
TERMINALS = ("a", "b")
MAX_CIRCLES = 9  # of unary rules, one below the other, that an enumeration follows


@dataclass(frozen=True)
class Listed:
    """A tree as (label, start, end, children), with its log weight."""

    tree: tuple
    score: float

    def nodes(self) -> list[tuple[str, int, int]]:
        found, waiting = [], [self.tree]
        while waiting:
            label, start, end, children = waiting.pop()
            found.append((label, start, end))
            waiting += children
        return found

    def rules(self) -> list[tuple[str, ...]]:
        found, waiting = [], [self.tree]
        while waiting:
            label, _, _, children = waiting.pop()
            if children:
                found.append((label, *(child[0] for child in children)))
            waiting += children
        return found

    def __str__(self) -> str:
        return written(self.tree)


def written(tree: tuple) -> str:
    label, _, _, children = tree
    return f"({label} {' '.join(map(written, children))})" if children else label


class Enumeration:
    """All trees of a document, best first; where unary rules lead in a circle, only so many below each other."""

    def __init__(self, grammar: Grammar, scores: ParseScores, most: int = MAX_CIRCLES):
        self.grammar, self.scores, self.most = grammar, scores, most
        self._known: dict[tuple, list[Listed]] = {}
        found = self.trees(grammar.start, 0, scores.n_units, most) if scores.n_units else []
        self.ranked = sorted(found, key=lambda listed: -listed.score)

    def trees(self, label: str, start: int, end: int, left: int) -> list[Listed]:
        key = (label, start, end, left)
        if key not in self._known:
            self._known[key] = [listed for listed in self._all(*key) if listed.score > -math.inf]
        return self._known[key]

    def _all(self, label: str, start: int, end: int, left: int) -> Iterator[Listed]:
        if label in self.grammar.terminals:
            if end - start == 1:
                column = self.grammar.terminals.index(label)
                yield Listed((label, start, end, ()), float(self.scores.terminals[start, column]))
            return
        own = float(self.scores.spans[label][start, end - 1]) if label in self.scores.spans else 0.0
        for rule in self.grammar.rules:
            if rule.parent != label or (len(rule.children) == 1 and not left):
                continue
            below = left - 1 if len(rule.children) == 1 else self.most
            for inner in itertools.combinations(range(start + 1, end), len(rule.children) - 1):
                bounds = list(itertools.pairwise((start, *inner, end)))
                choices = [self.trees(child, *span, below) for child, span in zip(rule.children, bounds)]
                for parts in itertools.product(*choices):
                    score = rule.log_weight + own + sum(part.score for part in parts)
                    yield Listed((label, start, end, tuple(part.tree for part in parts)), score)

    def log_z(self) -> float:
        return log_sum_exp([listed.score for listed in self.ranked])

    def probability(self, holds) -> float:
        log_z = self.log_z()
        return math.fsum(math.exp(listed.score - log_z) for listed in self.ranked if holds(listed))

    def expected(self, count) -> float:
        log_z = self.log_z()
        return math.fsum(math.exp(listed.score - log_z) * count(listed) for listed in self.ranked)


def tree_of(text: str) -> ParseTree:
    """A tree from brackets as `str` writes them."""
    labels: list[str] = []
    parents: list[int] = []
    bounds: list[list[int]] = []
    path, units = [ROOT], 0
    for token in text.replace("(", " ( ").replace(")", " ) ").replace(" ( ", " (").split():
        if token == ")":
            bounds[path.pop()][1] = units
            continue
        labels.append(token.removeprefix("("))
        parents.append(path[-1])
        bounds.append([units, units + 1])
        if token.startswith("("):
            path.append(len(labels) - 1)
        else:
            units += 1
    return ParseTree(tuple(Node(label, *bound, parent) for label, bound, parent in zip(labels, bounds, parents)))


@st.composite
def problems(draw, circles: bool = False, max_units: int = 4, spans: bool = True, min_units: int = 0):
    """(Grammar, ParseScores) with right sides of one to four symbols; few of the documents have no tree.

    circles (bool): whether unary rules may lead from a symbol to itself; they weigh little then, and elsewhere up to 3.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    grammar = random_grammar(rng, circles)
    n_units = draw(st.integers(min_units, max_units))
    terminals = rng.normal(0, 1, (n_units, len(TERMINALS)))
    if draw(st.booleans()):
        terminals[np.arange(n_units), rng.integers(0, len(TERMINALS), n_units)] = -np.inf
    scored = [label for label in grammar.nonterminals if spans and rng.random() < 0.4]
    tables = {label: rng.normal(-0.5 * circles, 0.3 if circles else 1, (n_units, n_units)) for label in scored}
    for table in tables.values():
        table[rng.random(table.shape) < 0.15] = -np.inf
    return grammar, ParseScores(terminals, tables, "document 7")


def random_grammar(rng: np.random.Generator, circles: bool = False) -> Grammar:
    """A grammar of rules drawn at random, without those that lead nowhere."""
    rules: dict[tuple[str, ...], float] = {("S", "a"): 0.5, ("S", "b"): 0.4, ("S", "S", "A"): 0.3, ("A", "b"): 0.7}
    everything = (*SYMBOLS, *TERMINALS)
    for _ in range(rng.integers(3, 9)):
        parent = int(rng.integers(0, len(SYMBOLS)))
        size = int(rng.choice([1, 1, 2, 2, 3, 4]))
        if size == 1:
            first = 0 if circles else parent + 1
            child = everything[int(rng.integers(first, len(everything)))]
            weight = float(rng.uniform(0.02, 0.2) if circles else rng.uniform(0.1, 3))
            rules[SYMBOLS[parent], child] = weight
        else:
            rules[(SYMBOLS[parent], *rng.choice(everything, size).tolist())] = float(rng.uniform(0.1, 3))
    return Grammar.build("S", TERMINALS, useful(rules))


def random_ring(rng: np.random.Generator) -> Grammar:
    """A grammar in which unary rules lead from every symbol to most others, with sums that are finite."""
    rules = {("S", "A", "S"): 0.5, **dict.fromkeys(zip("SABC", "aabb"), 0.5)}
    for parent in SYMBOLS:
        for child in SYMBOLS:
            if rng.random() < 0.6 or child == SYMBOLS[SYMBOLS.index(parent) - 1]:
                rules[parent, child] = float(rng.uniform(0.01, 0.2))
    return Grammar.build("S", TERMINALS, rules)


def useful(rules: dict[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
    """Rules that some tree of S has."""
    good = set(TERMINALS)
    while more := {key[0] for key in rules if set(key[1:]) <= good} - good:
        good |= more
    rules = {key: weight for key, weight in rules.items() if set(key) <= good}
    reached = {"S"}
    while more := {child for key in rules if key[0] in reached for child in key[1:]} - reached:
        reached |= more
    return {key: weight for key, weight in rules.items() if key[0] in reached}
