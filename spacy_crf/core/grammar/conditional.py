"""Grammars with conditional log-linear weights: p(tree | document) in proportion to exp(features times weights).

The conditional PCFG that Trompper wished for (2016, "Discussion"): a CRF whose labellings are trees (Finkel, Kleeman &
Manning, "Efficient, feature-based, conditional random field parsing", ACL 2008). Features are of rules, and of labelled
spans of a document. They come as integer columns, and what they mean is known to others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..arrays import Doubles, Ints
from ..errors import CoreErrors, CRFError
from .binary import BinaryGrammar, binarise
from .counting import count_rules
from .grammar import Grammar
from .marginals import marginals
from .scores import ParseScores
from .trees import Tree

ABSENT = -1


@dataclass(frozen=True)
class Document:
    """A document of N units with its features.

    terminals ((N, V)): log scores of terminals, see `ParseScores`.
    columns (mapping of str to (N, N, f)): for some nonterminals the features of the spans with that label, as
        [first, last unit, ..]: columns, and -1 for none. What is below the diagonal is not looked at.
    tree (Tree | None): the right one, where it is known. name (str): for messages.
    """

    terminals: Doubles
    columns: Mapping[str, Ints] = field(default_factory=dict)
    tree: Tree | None = None
    name: str = "The document"


@dataclass(frozen=True)
class ConditionalGrammar:
    """A grammar whose rules and spans are scored by features.

    grammar (BinaryGrammar): its log weights are added to what the features say; those of a PCFG are a good beginning.
    rule_columns ((R, f)): features of each rule, -1 for none. Rules may share features, and so may rules and spans.
    weights ((n,)): of the features.
    RAISES (ValueError): for columns that have no weight.
    """

    grammar: BinaryGrammar
    rule_columns: Ints
    weights: Doubles

    def __post_init__(self) -> None:
        n_rules = len(self.grammar.grammar.rules)
        if self.rule_columns.ndim != 2 or len(self.rule_columns) != n_rules:
            raise CRFError(
                CoreErrors.CRF101.format(name="rule_columns", expected=(n_rules, "f"), actual=self.rule_columns.shape)
            )
        self._check(self.rule_columns, "rule_columns")

    @classmethod
    def plain(cls, grammar: Grammar, n_span_features: int = 0) -> "ConditionalGrammar":
        """A grammar with one feature for each rule and features of spans behind them, whose weights are all 0.

        n_span_features (int): how many; their columns begin at R.
        """
        n_rules = len(grammar.rules)
        columns = np.arange(n_rules, dtype=np.int32)[:, None]
        return cls(binarise(grammar), columns, np.zeros(n_rules + n_span_features))

    def with_weights(self, weights: Doubles) -> "ConditionalGrammar":
        """The same features with other weights ((n,))."""
        return ConditionalGrammar(self.grammar, self.rule_columns, weights)

    @property
    def weighted(self) -> BinaryGrammar:
        """The grammar with rules as the features weigh them, for parsing."""
        return self.grammar.with_log_weights(self.grammar.grammar.log_weights + self._sums(self.rule_columns))

    def scores(self, document: Document) -> ParseScores:
        """The scores of a document, for parsing with `weighted`.

        RAISES (ValueError): for columns that have no weight, or another shape.
        """
        for label, columns in document.columns.items():
            self._check(columns, f"columns[{label!r}] of {document.name}")
        spans = {label: self._sums(columns) for label, columns in document.columns.items()}
        return ParseScores(document.terminals, spans, document.name)

    def _sums(self, columns: Ints) -> Doubles:
        """Weights of features summed over the last axis."""
        return np.asarray(np.append(self.weights, 0.0)[columns].sum(axis=-1))  # -1 is the 0 behind the last weight

    def _check(self, columns: Ints, name: str) -> None:
        if columns.size and not (columns.min() >= ABSENT and columns.max() < len(self.weights)):
            expected = f"columns from -1 to {len(self.weights) - 1}"
            value = f"from {columns.min()} to {columns.max()}"
            raise CRFError(CoreErrors.CRF950.format(setting=name, value=value, expected=expected))


class Objective:
    """-sum of log p(tree | document) + c2 |w|^2 as a function of the weights.

    start (ConditionalGrammar): features; its weights are not looked at. documents (sequence of Document): with trees.
    c2 (float): at least 0.
    RAISES (ValueError): for a document without a tree, or with one that the grammar does not have.
    """

    def __init__(self, start: ConditionalGrammar, documents: Sequence[Document], c2: float):
        if not 0 <= c2 < np.inf:
            raise CRFError(CoreErrors.CRF950.format(setting="c2", value=c2, expected="at least 0, and finite"))
        self._start, self._documents, self._c2 = start, documents, c2
        self._gold = [_observed(start, document) for document in documents]

    def __call__(self, weights: Doubles) -> tuple[float, Doubles]:
        """Value and gradient ((n,)): expected minus observed counts. One inside and outside pass for each document.

        RAISES (NoParseError): for a document that has no tree, which is so if its terminals forbid the right one.
        RAISES (DivergedLoopError): where the weights of unary rules that lead in a circle have grown too great.
        """
        model = self._start.with_weights(weights)
        grammar, value, gradient = model.weighted, self._c2 * float(weights @ weights), 2 * self._c2 * weights
        for document, gold in zip(self._documents, self._gold):
            scores = model.scores(document)
            found = marginals(grammar, scores)
            value += found.log_z - gold.score(grammar.grammar, scores)
            surplus = {label: found.nodes[grammar.symbols.index(label)] - own for label, own in gold.nodes.items()}
            gradient += _by_feature(model, document, found.rules - gold.rules, surplus)
        return value, gradient


def fit(
    start: ConditionalGrammar, documents: Sequence[Document], c2: float = 0.1, iterations: int = 100
) -> ConditionalGrammar:
    """Find the weights by L-BFGS. Each evaluation is an inside and outside pass over every document.

    start (ConditionalGrammar): features, and weights to begin with. documents (sequence of Document): with trees.
    c2 (float): of the penalty. iterations (int): at most.
    RETURNS (ConditionalGrammar): with the weights found.
    RAISES: as `Objective`.
    """
    from ..learn.lbfgs import LBFGS

    optimiser = LBFGS(Objective(start, documents, c2), start.weights.copy())
    optimiser.run(iterations)
    return start.with_weights(optimiser.x)


class _Gold(NamedTuple):
    """The right tree of a document. rules ((R,)): its rules. nodes (dict of str to (N, N)): of labels with features."""

    tree: Tree
    rules: Doubles
    nodes: dict[str, Doubles]

    def score(self, grammar: Grammar, scores: ParseScores) -> float:
        """The log score of the tree."""
        columns = {terminal: column for column, terminal in enumerate(grammar.terminals)}
        units = [columns[leaf] for leaf in self.tree.leaves]
        total = self.rules @ grammar.log_weights + scores.terminals[np.arange(len(units)), units].sum()
        for label, counts in self.nodes.items():
            total += scores.spans[label][counts > 0] @ counts[counts > 0]
        return float(total)


def _observed(model: ConditionalGrammar, document: Document) -> _Gold:
    if document.tree is None:
        raise CRFError(
            CoreErrors.CRF949.format(name=f"of {document.name}", problem="a document to learn from needs a tree")
        )
    n = len(document.terminals)
    if document.tree.nodes[0].end != n:
        problem = f"it has {document.tree.nodes[0].end} leaves, and the document {n} units"
        raise CRFError(CoreErrors.CRF949.format(name=f"of {document.name}", problem=problem))
    nodes = {label: np.zeros((n, n)) for label in document.columns}
    for node in document.tree.nodes:
        if node.label in nodes:
            nodes[node.label][node.start, node.end - 1] += 1
    rules = count_rules(model.grammar.grammar, document.tree, f"of {document.name}")
    return _Gold(document.tree, rules, nodes)


def _by_feature(model: ConditionalGrammar, document: Document, rules: Doubles, nodes: Mapping[str, Doubles]) -> Doubles:
    """((n,)): counts of rules ((R,)) and of nodes ((N, N)) brought to their features."""
    size = len(model.weights)
    total = np.zeros(size + 1)
    pairs = [(model.rule_columns, rules), *((document.columns[label], counts) for label, counts in nodes.items())]
    for columns, counts in pairs:
        spread = np.broadcast_to(counts[..., None], columns.shape)
        places = np.where(columns == ABSENT, size, columns)
        total += np.bincount(places.reshape(-1), spread.reshape(-1), minlength=size + 1)
    return total[:size]
