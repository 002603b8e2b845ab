"""Weights of the section parser, learned from trees: a conditional log-linear model over stacks.

The probability of a tree given its document is exp(score) over the sum of all trees (Trompper, 2016, wished for this: a
conditional grammar). The gradient of its negative logarithm is expected minus observed counts of features, by
forward-backward over the lattice of all trees and over that of the gold tree, whose readings of ambiguous numbers are
not given. The lattices are built under the weights at hand, with a cap on states that never drops the gold tree, and
then held while L-BFGS moves the weights; that is done over a few rounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Doubles, Indices
from ..errors import CoreErrors, CRFError
from ..learn.lbfgs import LBFGS
from .build import Search, build
from .elements import Elements
from .features import NAMES
from .gold import GoldHeading, GoldSection, check_possible, gold_headings, only_gold, stacks_of
from .headings import find_headings
from .lattice import Lattice
from .marginals import Moves, forward_backward, join, moves_of
from .parse import ParserSettings
from .scoring import Scorer, weight_vector

# a tree that is left out of the sum cannot be learned to be bad
LEARNING = ParserSettings(max_states=48, beam=12.0)


@dataclass(frozen=True)
class TreeExample:
    """A document with its gold tree. name (str): for messages."""

    elements: Elements
    sections: Sequence[GoldSection]
    name: str = ""


@dataclass(frozen=True)
class LearnSettings:
    """How weights are learned.

    c2 (float): of c2 |w - w0|^2, where w0 are the weights that learning starts from: rare features keep theirs.
    rounds (int): how often lattices are built. iterations (int): of L-BFGS, in each round.
    """

    c2: float = 0.05
    rounds: int = 3
    iterations: int = 25


def learn_weights(
    examples: Sequence[TreeExample],
    weights: Doubles | None = None,
    settings: LearnSettings | None = None,
    parser: ParserSettings | None = None,
) -> Doubles:
    """Weights under which the gold trees are probable.

    examples (sequence of TreeExample): documents with trees. weights ((F,) | None): where to start, and what to stay
        near; None for the weights set by hand. settings (LearnSettings | None), parser (ParserSettings | None): None
        for the defaults, which hold four times as many stacks as those of parsing.
    RETURNS ((F,)): the weights. RAISES (ValueError): for a gold tree that the parser cannot make.
    """
    settings, parser = settings or LearnSettings(), parser or LEARNING
    start = weight_vector() if weights is None else weights
    gold = [gold_headings(example.sections, example.name) for example in examples]
    current = start
    for _ in range(settings.rounds if examples else 0):
        pairs = [_lattices(example, own, current, parser) for example, own in zip(examples, gold)]
        objective = TreeObjective(pairs, start, settings.c2)
        stepper = LBFGS(objective, current.copy())
        stepper.run(settings.iterations)
        current = stepper.x
    return current


def _lattices(
    example: TreeExample, gold: list[GoldHeading], weights: Doubles, parser: ParserSettings
) -> tuple[Lattice, Lattice]:
    """The lattice of all trees of a document, and that of its gold tree."""
    headings = find_headings(example.elements, parser.margin)
    check_possible(gold, headings, example.name)
    scorer = Scorer(weights)
    forced = frozenset(heading.start for heading in gold)
    cap, beam = (parser.max_states, parser.beam) if any(heading.loose for heading in gold) else (None, np.inf)
    right = build(headings, scorer, Search(cap, beam, len(example.sections) + 1, True, only_gold(gold), forced))
    if not right.layers[-1]:
        problem = "it has no section for a unit that is labelled as a heading"
        raise CRFError(CoreErrors.CRF964.format(name=example.name, problem=problem))
    search = parser.search(with_arcs=True)
    deepest = max((section.level for section in example.sections), default=0)
    search = replace(search, kept=stacks_of(right), max_depth=max(search.max_depth, deepest))
    return build(headings, scorer, search), right


class TreeObjective:
    """Negative log probability of gold trees plus c2 |w - w0|^2, and its gradient, over lattices that are held.

    lattices (sequence of pairs): for each document that of all trees, and that of the gold tree. prior ((F,)): w0.
    """

    def __init__(self, lattices: Sequence[tuple[Lattice, Lattice]], prior: Doubles, c2: float) -> None:
        self.prior, self.c2 = prior, c2
        self.every = _Batch([free for free, _ in lattices])
        self.gold = _Batch([right for _, right in lattices])

    def __call__(self, weights: Doubles) -> tuple[float, Doubles]:
        """Value and gradient ((F,)) at weights ((F,)). O(moves)."""
        total, expected = self.every.counts(weights)
        reached, observed = self.gold.counts(weights)
        away = weights - self.prior
        return total - reached + self.c2 * float(away @ away), expected - observed + 2 * self.c2 * away


class _Batch:
    """Lattices as one batch of moves, with the features of each move."""

    def __init__(self, lattices: Sequence[Lattice]) -> None:
        documents = [moves_of(lattice) for lattice in lattices]
        self.moves, places = join(documents)
        columns = [_features(lattice, moves) for lattice, moves in zip(lattices, documents)]
        self.fixed = np.concatenate([fixed for fixed, _ in columns])[places]
        self.features = _stack([features for _, features in columns])[places]

    def counts(self, weights: Doubles) -> tuple[float, Doubles]:
        """The sum of log_z over documents, and expected counts of features ((F,))."""
        sums = forward_backward(self.moves, self.fixed + self.features @ weights)
        return float(sums.log_z.sum()), np.asarray(self.features.T @ sums.probabilities)


def _stack(matrices: Sequence[Any]) -> Any:
    from scipy import sparse

    return sparse.vstack(matrices, format="csr")


def _features(lattice: Lattice, moves: Moves) -> tuple[Doubles, Any]:
    """Scores of moves by their labels ((A,)), and counts of their features ((A, F), sparse)."""
    from scipy import sparse

    scorer = lattice.scorer
    bags = np.array([variant.features for variant in lattice.variants] + [len(scorer.features)], dtype=np.intp)
    labels = np.array([variant.heading.score for variant in lattice.variants] + [0.0])
    rows, columns = scorer.counts()
    shape = (len(scorer.features) + 1, len(NAMES))
    counts = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    own, met = bags[moves.variant], _or_none(moves.bag, len(scorer.features))
    return moves.fixed + labels[moves.variant], counts[own] + counts[met]


def _or_none(bags: Indices, none: int) -> Indices:
    return np.where(bags < 0, none, bags)
