"""Grammars with conditional log-linear weights: p(tree | document) in proportion to exp(features times weights).

The conditional PCFG that Trompper wished for (2016, "Discussion"): a CRF whose labellings are trees (Finkel, Kleeman &
Manning, "Efficient, feature-based, conditional random field parsing", ACL 2008). Each rule is a feature, and labelled
spans of a document may have more. The right trees need not be known to the last bracket: where several agree with
what is known, their sum is made probable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Doubles, Ints, cached_property
from ..errors import CoreErrors, CRFError, require
from ..learn.lbfgs import LBFGS
from .chart import ParseScores
from .grammar import Grammar

ABSENT = -1


@dataclass(frozen=True)
class Observation:
    """A document of N units to learn from.

    scores (ParseScores): those that features add to. gold (ParseScores): the same, with terminals and spans forbidden
        that the right trees do not have.
    columns (mapping of str to (N, N, f)): for some nonterminals the features of the spans with that label, as
        [first, last unit, ..]: columns, and -1 for none. What is below the diagonal is not looked at.
    """

    scores: ParseScores
    gold: ParseScores
    columns: Mapping[str, Ints] = field(default_factory=dict)


@dataclass(frozen=True)
class ConditionalGrammar:
    """A grammar whose rules and spans are scored by features.

    grammar (Grammar): of R rules; their log weights are added to what the features say.
    weights ((R + n,)): of the rules, then of the features of spans, whose columns begin at R.
    """

    grammar: Grammar
    weights: Doubles

    @classmethod
    def start(cls, grammar: Grammar, n_span_features: int = 0) -> "ConditionalGrammar":
        """A grammar whose features weigh nothing yet."""
        return cls(grammar, np.zeros(len(grammar.rules) + n_span_features))

    @cached_property
    def weighted(self) -> Grammar:
        """The grammar with rules as the features weigh them, for parsing."""
        return self.grammar.with_log_weights(self.grammar.log_weights + self.weights[: len(self.grammar.rules)])

    def scores(self, scores: ParseScores, columns: Mapping[str, Ints]) -> ParseScores:
        """The scores of a document with those of its features, for parsing with `weighted`."""
        spans = dict(scores.spans)
        for label, own in columns.items():
            if own.size and not (own.min() >= ABSENT and own.max() < len(self.weights)):
                setting, value = f"columns[{label!r}] of {scores.name}", f"from {own.min()} to {own.max()}"
                expected = f"columns from -1 to {len(self.weights) - 1}"
                raise CRFError(CoreErrors.CRF950.format(setting=setting, value=value, expected=expected))
            # -1 is the 0 behind the last weight
            spans[label] = spans.get(label, 0.0) + np.append(self.weights, 0.0)[own].sum(axis=-1)
        return replace(scores, spans=spans)

    def expect(self, scores: ParseScores, columns: Mapping[str, Ints]) -> tuple[float, Doubles]:
        """log Z of a document, and ((R + n,)): how often each feature is expected. One inside and outside pass."""
        found = self.weighted.marginals(self.scores(scores, columns))
        counts = np.append(found.rules, np.zeros(len(self.weights) - len(found.rules) + 1))
        for label, own in columns.items():
            spread = np.broadcast_to(found.counts(label)[..., None], own.shape)
            places = np.where(own == ABSENT, len(self.weights), own)
            counts += np.bincount(places.reshape(-1), spread.reshape(-1), minlength=len(counts))
        return found.log_z, counts[:-1]


class ConditionalLoss:
    """-sum of log p(right trees | document) + c2 |w|^2 as a function of the weights; those of `start` do not matter."""

    def __init__(self, start: ConditionalGrammar, documents: Sequence[Observation], c2: float):
        require(CoreErrors.CRF950, "c2", c2, 0 <= c2 < np.inf, "at least 0, and finite")
        self._start, self._documents, self._c2 = start, documents, c2

    def __call__(self, weights: Doubles) -> tuple[float, Doubles]:
        """Value and gradient ((R + n,)): expected minus observed counts. RAISES: as `fill`, or without a right tree."""
        model = replace(self._start, weights=weights)
        value, gradient = self._c2 * float(weights @ weights), 2 * self._c2 * weights
        for document in self._documents:
            for sign, scores in ((1, document.scores), (-1, document.gold)):
                log_z, counts = model.expect(scores, document.columns)
                value += sign * log_z
                gradient += sign * counts
        return value, gradient


def fit(
    start: ConditionalGrammar, documents: Sequence[Observation], c2: float = 0.1, iterations: int = 100
) -> ConditionalGrammar:
    """Find the weights by L-BFGS, from those of `start` on, in so many iterations at most."""
    optimiser = LBFGS(ConditionalLoss(start, documents, c2), start.weights.copy())
    optimiser.run(iterations)
    return replace(start, weights=optimiser.x)
