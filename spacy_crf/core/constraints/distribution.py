"""What chains say under constraints: p(y | x) in proportion to exp(score - costs of what y violates), and learning so.

Training that maximises the likelihood within the constrained set is regular-constrained learning (Papay, Klinger &
Padó, "Constraining linear-chain CRFs to regular languages", ICLR 2022), here with soft constraints as well: their
costs are log-potentials of the product. Its optimum is never worse, in likelihood under the constraints, than that of
training without them. Costs are given; the weights of the chain are learned.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Self

import numpy as np

from ..arrays import Bools, Doubles, Indices, Ints, Segments, cached_property
from ..chain.distribution import ChainDistribution
from ..chain.forward import ForwardBackward
from ..chain.lattice import Lattice, best_path
from ..chain.marginals import Counts, path_entropies
from ..chain.paths import NBest, lattice_nbest
from ..chain.spans import SpanQuery, lattice_span_probabilities
from ..chain.viterbi import Decoded
from ..errors import CoreErrors, CRFError
from ..labels import UNKNOWN, TagSet
from .expansion import Expansion, expand
from .family import Constraint
from .joint import JointAutomaton
from .labelling import Fields, Labelling, UnitPredicates
from .problem import penalty, violations

TOLERANCE = 1e-4  # share of all labellings, by their weight, that probabilities may lack
WIDTH = 1024  # states of a unit, in training


@dataclass(frozen=True)
class ConstrainedDistribution(ChainDistribution):
    """The same under constraints: temperatures divide scores and costs, so that the best labelling is that of decoding.

    A sequence of which no labelling keeps the hard constraints has the probabilities of the chain alone.

    constraints (sequence of Constraint): in force. tags (TagSet): of the chains.
    predicates (UnitPredicates): of the units, one sequence after the other.
    max_states (int): of the product of chain and automata, for a sequence; beyond it the least probable are left out.
    RAISES (ValueError): for samples, and units that are summed out.
    """

    constraints: Sequence[Constraint] = field(kw_only=True)
    tags: TagSet = field(kw_only=True)
    predicates: UnitPredicates = field(kw_only=True)
    max_states: int = field(kw_only=True, default=400_000)

    @property
    def log_z(self) -> Doubles:
        return self.messages.log_z + self._expansion.log_shares

    @property
    def entropies(self) -> Doubles:
        return path_entropies(self._lattice, self._expansion.marginals)

    @property
    def missing(self) -> Doubles:
        """((B,)): at most this share of all labellings, by weight, is left out; 1 where hard constraints leave none."""
        found = self._expansion
        return np.divide(found.lost, found.shares, out=np.ones_like(found.lost), where=found.shares > 0)

    def spans(self, *queries: SpanQuery) -> list[Doubles]:
        return lattice_span_probabilities(self._lattice, self._expansion.marginals, *queries)

    def select(self, sequences: Indices) -> Self:
        units = self.chains.batch.segments.units(sequences)
        return replace(self, chains=self.chains.select(sequences)[0], predicates=self.predicates.at(units))

    def sample(self, n: int, rng: np.random.Generator) -> NoReturn:
        refuse("samples")

    def without(self, hidden: Bools) -> NoReturn:
        refuse("labellings of some of the tokens")

    def log_probability(self, allowed: Bools) -> Doubles:
        given = self.given(allowed)
        ruled_out = given._expansion.impossible & ~self._expansion.impossible
        return np.where(ruled_out, -np.inf, np.minimum(given.log_z - self.log_z, 0.0))

    @cached_property
    def _expansion(self) -> Expansion:
        batch = self.chains.batch
        tempered = [replace(one, cost=one.cost / self.temperature) for one in self.constraints]
        joint = JointAutomaton(tempered, Fields(self.tags))
        symbols = joint.read_all(batch.segments, self.predicates)[batch.units]
        width = max(1, self.max_states // max(1, len(batch.starts)))
        return expand(self.messages, joint, symbols, tolerance=TOLERANCE, width=width)

    @property
    def _lattice(self) -> Lattice:
        return self._expansion.lattice

    @property
    def _decoded(self) -> Decoded:
        labels, scores = best_path(self._lattice)
        return Decoded(labels, (scores + self.messages.log_z) * self.temperature)

    @cached_property
    def _marginals(self) -> Doubles:
        return np.asarray(self._expansion.counts.nodes, dtype=np.float64)

    def _n_best(self, k: int) -> NBest:
        found = lattice_nbest(self._lattice, k)
        return replace(found, scores=found.scores + self.messages.log_z[:, None])


def refuse(what: str) -> NoReturn:
    """Raise a coded error for what only a chain without constraints can tell."""
    raise CRFError(CoreErrors.CRF162.format(what=what))


@dataclass(frozen=True)
class ConstrainedPaths:
    """Constrained training: what labellings of some sequences weigh beside their scores.

    Sequences whose gold breaks a hard constraint, or is known in part, are learned without constraints: no labelling of
    theirs that keeps them is right, or it is not known which; left out, what they do show would be lost.

    joint (JointAutomaton): of the constraints. lengths ((B,)): of the sequences. labels ((N,)): gold, UNKNOWN for none.
    predicates (UnitPredicates): of the units, one sequence after the other.
    tolerance (float): what is learned from may lack about this share of all labellings, by their weight.
    """

    joint: JointAutomaton
    lengths: Indices
    labels: Ints
    predicates: UnitPredicates
    tolerance: float = 0.01

    def joined(self, others: Sequence["ConstrainedPaths"]) -> "ConstrainedPaths":
        """With other sequences under the same constraints behind them."""
        parts = (self, *others)
        lengths, labels = (np.concatenate([getattr(part, name) for part in parts]) for name in ("lengths", "labels"))
        predicates = UnitPredicates.join([part.predicates for part in parts])
        return replace(self, lengths=lengths, labels=labels, predicates=predicates)

    def take(self, sequences: Indices) -> "ConstrainedPaths":
        """The given sequences in the given order."""
        units = self.segments.units(sequences)
        return replace(
            self, lengths=self.lengths[sequences], labels=self.labels[units], predicates=self.predicates.at(units)
        )

    def expect(self, messages: ForwardBackward) -> tuple[Counts, float]:
        """Expected counts under constraints, and by how much they change the loss, log Z - score of gold."""
        symbols = self._symbols[messages.potentials.batch.units]
        limits: dict[str, Any] = {"tolerance": self.tolerance, "width": WIDTH, "patient": False}
        found = expand(messages, self.joint, symbols, free=self.is_free, **limits)
        counts = Counts(*(part.astype(messages.alpha.dtype) for part in found.counts))
        return counts, float(found.log_shares.sum()) + float(self._penalties[~self.is_free].sum())

    @cached_property
    def segments(self) -> Segments:
        return Segments(self.lengths)

    @property
    def is_free(self) -> Bools:
        """((B,)): sequences that are learned without constraints."""
        return ~np.isfinite(self._penalties)

    @property
    def breaks_hard(self) -> Bools:
        """((B,)): sequences whose gold, known throughout, breaks a hard constraint."""
        return np.isposinf(self._penalties)

    @cached_property
    def _symbols(self) -> Ints:
        return self.joint.read_all(self.segments, self.predicates)

    @cached_property
    def _penalties(self) -> Doubles:
        """((B,)): costs of what gold violates; NaN where it is known in part."""
        return np.array([self._penalty(own) for own in self.segments.slices()], dtype=np.float64)

    def _penalty(self, own: slice) -> float:
        labels = self.labels[own]
        if (labels == UNKNOWN).any():
            return float("nan")
        predicates = self.predicates.at(np.arange(own.start, own.stop))
        constraints = self.joint.constraints
        return penalty(constraints, violations(constraints, Labelling(labels.tolist(), self.joint.fields, predicates)))
