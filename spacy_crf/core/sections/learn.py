"""Weights of the section parser, learned from trees: a conditional log-linear model over stacks.

The probability of a tree given its document is exp(score) over the sum of all trees (Trompper, 2016, wished for this: a
conditional grammar). The gradient of its negative logarithm is expected minus observed counts of features, by
forward-backward over the lattice of all trees and over that of the gold tree, whose readings of ambiguous numbers are
not given. The lattices are built under the weights at hand, with a cap on states that never drops the gold tree, and
then held while L-BFGS moves the weights; that is done over a few rounds.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Doubles, Indices
from ..errors import CoreErrors, CRFError
from ..learn.lbfgs import LBFGS
from .build import Allowed, StackSearch, build
from .features import DEFAULT_WEIGHTS, LEARNED_FROM
from .headings import ParserInput, find_headings
from .lattice import Moves, StackLattice, forward_backward, join, moves_of, own_scores
from .parse import ParserSettings
from .scores import Scorer, Variant
from .titles import find_kinds, kinds_in, names_of

# a tree that is left out of the sum cannot be learned to be bad
LEARNING = ParserSettings(max_states=48, beam=12.0)


@dataclass(frozen=True, slots=True)
class GoldSection:
    """A section of a gold tree. Sections come in document order, parents before children.

    level (int): 1 for the outermost. heading (tuple of int): its units, number and titles; () for an implied section,
        which must hold a section with a heading as its first one. loose (bool): level is the least that it may have: it
        stands somewhere below the sections around, which trees that leave out lists do not say.
    """

    level: int
    heading: tuple[int, ...]
    loose: bool = False


@dataclass(frozen=True)
class TreeExample:
    """A document with its gold tree. labels ((N,) | None): the gold labels, where they are known."""

    document: ParserInput
    sections: Sequence[GoldSection]
    labels: Indices | None = None


@dataclass(frozen=True)
class LearnSettings:
    """The settings of learning.

    c2 (float): of c2 |w - w0|^2, where w0 are the weights that learning starts from: rare features keep theirs.
    rounds (int): how often lattices are built. iterations (int): of L-BFGS, in each round.
    """

    c2: float = 0.05
    rounds: int = 3
    iterations: int = 25


@dataclass(frozen=True, slots=True)
class GoldHeading:
    """A heading that opens: its units without those after it, open sections around it (or more, if it is loose), and
    sections that it implies.
    """

    start: int
    end: int
    around: int
    implied: int
    loose: bool = False


def learn_weights(
    examples: Sequence[TreeExample],
    settings: LearnSettings | None = None,
    parser: ParserSettings | None = None,
) -> dict[str, float]:
    """Weights under which the gold trees are probable, learned from those set by hand, and near them.

    Kinds of titles that the trees show are told apart, with weights that begin at 0. Those that stay 0 are left out.
    The defaults of the parser hold four times as many stacks as those of parsing.
    RAISES (ValueError): for a gold tree that the parser cannot make.
    """
    settings, parser = settings or LearnSettings(), parser or LEARNING
    kinds = find_kinds(map(_titles, examples)) if examples else []
    current = {**dict.fromkeys(names_of(kinds), 0.0), **LEARNED_FROM}
    prior = np.array(list(current.values()))
    gold = [gold_headings(example) for example in examples]
    for _ in range(settings.rounds if examples else 0):
        pairs = [gold_lattices(example, own, current, parser) for example, own in zip(examples, gold)]
        stepper = LBFGS(TreeLoss(pairs, prior, settings.c2), np.array(list(current.values())))
        stepper.run(settings.iterations)
        current = dict(zip(current, stepper.x.tolist()))
    return {name: weight for name, weight in current.items() if weight or name in LEARNED_FROM}


def _titles(example: TreeExample) -> list[str]:
    """The words of the titles without numbers that open sections of a gold tree."""
    document, first = example.document, [section.heading[0] for section in example.sections if section.heading]
    words = document.words or [""] * len(document)
    return [words[unit] for unit in first if not document.readings[unit]]


def check_learnable(example: TreeExample) -> None:
    """RAISES (ValueError): for a gold tree that the parser cannot make."""
    gold_lattice(example, gold_headings(example), DEFAULT_WEIGHTS, LEARNING)


def gold_headings(example: TreeExample) -> list[GoldHeading]:
    """The headings of a gold tree. RAISES (ValueError): for left out levels, or empty implied sections."""
    found: list[GoldHeading] = []
    implied = depth = 0
    for section in example.sections:
        if not 1 <= section.level <= depth + 1 or (implied and section.level != depth + 1):
            raise _impossible(example, f"a section has level {section.level} in {depth}")
        if not section.loose:
            depth = section.level
        if not section.heading:
            implied += 1
            continue
        extent = section.heading[0], section.heading[-1] + 1
        if section.loose:
            found.append(GoldHeading(*extent, section.level - 1, 0, loose=True))
        else:
            found.append(GoldHeading(*extent, depth - 1 - implied, implied))
            implied = 0
    if implied:
        raise _impossible(example, "an implied section has no section in it")
    return found


def _impossible(example: TreeExample, problem: str) -> CRFError:
    return CRFError(CoreErrors.CRF964.format(name=example.document.name, problem=problem))


def only_gold(gold: Sequence[GoldHeading]) -> Allowed:
    """Which variants may open: those of the gold tree. Readings are not given: all of them may be right."""
    known = {(heading.start, heading.end): heading for heading in gold}

    def allowed(variant: Variant) -> range:
        heading = known.get((variant.heading.start, variant.heading.end))
        if heading is None or heading.implied != len(variant.openings) - 1:
            return range(0)
        return range(heading.around, sys.maxsize if heading.loose else heading.around + 1)

    return allowed


def gold_lattices(
    example: TreeExample, gold: Sequence[GoldHeading], weights: Mapping[str, float], parser: ParserSettings
) -> tuple[StackLattice, StackLattice]:
    """The lattice of all trees of a document, and that of its gold tree. RAISES (ValueError): if there is none."""
    right = gold_lattice(example, gold, weights, parser)
    kept = [set(stacks) for stacks in right.stacks]
    deepest = max((section.level for section in example.sections), default=0)
    search = replace(parser.search(with_arcs=True), kept=kept, max_depth=max(parser.max_depth, deepest))
    search = replace(search, allowed=only_gold(gold))
    return build(right.scorer.headings, right.scorer, search), right


def gold_lattice(
    example: TreeExample, gold: Sequence[GoldHeading], weights: Mapping[str, float], parser: ParserSettings
) -> StackLattice:
    """The lattice of the gold tree of a document. RAISES (ValueError): if there is none."""
    headings = find_headings(example.document, parser.margin, kinds_in(weights))
    for heading in gold:
        if not any(possible.end == heading.end for possible in headings.at(heading.start)):
            problem = f"its labels allow no heading of the units {heading.start} to {heading.end - 1}"
            raise _impossible(example, problem)
    scorer = Scorer(weights, headings)
    forced = frozenset(heading.start for heading in gold)
    cap, beam = (parser.max_states, parser.beam) if any(heading.loose for heading in gold) else (None, np.inf)
    search = StackSearch(cap, beam, len(example.sections) + 1, True, True, only_gold(gold), forced)
    right = build(headings, scorer, search)
    if not right.last:
        raise _impossible(example, "it has no section for a unit that is labelled as a heading")
    return right


class TreeLoss:
    """Negative log probability of gold trees plus c2 |w - w0|^2, and its gradient, over lattices that are held.

    lattices (sequence of pairs): for each document that of all trees, and that of the gold tree. prior ((F,)): w0.
    """

    def __init__(self, lattices: Sequence[tuple[StackLattice, StackLattice]], prior: Doubles, c2: float) -> None:
        self.prior, self.c2 = prior, c2
        self.every, self.gold = map(_LatticeBatch, zip(*lattices))

    def __call__(self, weights: Doubles) -> tuple[float, Doubles]:
        """Value and gradient ((F,)) at weights ((F,)). O(moves)."""
        total, expected = self.every.counts(weights)
        reached, observed = self.gold.counts(weights)
        away = weights - self.prior
        return total - reached + self.c2 * float(away @ away), expected - observed + 2 * self.c2 * away


class _LatticeBatch:
    """Lattices as one batch of moves, with the features of each move."""

    def __init__(self, lattices: Sequence[StackLattice]) -> None:
        from scipy import sparse

        documents = [moves_of(lattice) for lattice in lattices]
        self.moves, places = join(documents)
        columns = [_features(lattice, moves) for lattice, moves in zip(lattices, documents)]
        self.fixed = np.concatenate([fixed for fixed, _ in columns])[places]
        self.features = sparse.vstack([features for _, features in columns], format="csr")[places]

    def counts(self, weights: Doubles) -> tuple[float, Doubles]:
        """The sum of log_z over documents, and expected counts of features ((F,))."""
        scores = self.fixed + self.features @ weights
        sums = forward_backward(self.moves, scores)
        return float(sums.log_z.sum()), np.asarray(self.features.T @ sums.probabilities(self.moves, scores))


def _features(lattice: StackLattice, moves: Moves) -> tuple[Doubles, Any]:
    """Scores of moves by their labels ((A,)), and counts of their features ((A, F), sparse)."""
    from scipy import sparse

    scorer, none = lattice.scorer, len(lattice.scorer.features)
    variants = list(scorer.variants)
    bags: Indices = np.array([variant.features for variant in variants] + [none], dtype=np.intp)
    labels = np.array([variant.heading.score for variant in variants])
    rows, columns = scorer.counts()
    counts = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(none + 1, len(scorer.columns)))
    met = np.where(moves.bag < 0, none, moves.bag)
    return own_scores(lattice, moves, labels), counts[bags[moves.variant]] + counts[met]
