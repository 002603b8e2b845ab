"""Decoding under constraints, as components need it: whole batches in one call, timed, and explained on request."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.arrays import Indices, Segments
from ..core.chain.potentials import ChainPotentials
from ..core.constraints.decode import Change, decode, explain
from ..core.constraints.family import Constraint
from ..core.constraints.labelling import UnitPredicates
from ..core.constraints.strategy import Decision, MethodSettings
from ..core.labels import TagSet


@dataclass(frozen=True)
class SequenceFacts:
    """What is known of sequences beside their words.

    units (UnitPredicates): about their units, one sequence after the other. names (list of str): of the sequences.
    """

    units: UnitPredicates
    names: list[str]

    def part(self, units: slice, sequences: slice) -> "SequenceFacts":
        """The facts about some adjacent sequences.

        units (slice): those of the sequences.
        """
        return SequenceFacts(self.units.at(np.arange(units.start, units.stop)), self.names[sequences])


@dataclass(frozen=True)
class Decided:
    """How one sequence was labelled.

    first (int): its first unit within its Doc. decision (Decision): the labels, and what is known of them.
    changes (list of Change | None): what constraints changed; None if it was not asked for.
    milliseconds (float): its share, by units, of the time that decoding it with others took, explanations apart.
    """

    first: int
    decision: Decision
    changes: list[Change] | None
    milliseconds: float


@dataclass(frozen=True)
class ConstrainedDecoder:
    """Chooses labels under constraints.

    constraints (list of Constraint): hard and soft. settings (MethodSettings): how. explained (bool): tell the reasons.
    """

    constraints: list[Constraint]
    settings: MethodSettings
    explained: bool = False

    def __call__(self, chains: ChainPotentials, tags: TagSet, known: SequenceFacts | None) -> list[Decided]:
        """Label a batch of sequences that are not empty, in one call and in double precision.

        chains (ChainPotentials): their scores. tags (TagSet): of the chain. known (SequenceFacts | None): about them.
        RETURNS (list of Decided): in the order given; `first` counts from the beginning of the batch.
        """
        started, chains = time.perf_counter(), chains.astype(np.float64)
        facts = None if known is None else known.units.at(chains.batch.units)
        names = None if known is None else known.names
        decisions = decode(chains, self.constraints, tags, facts, self.settings, names)
        each = 1000 * (time.perf_counter() - started) / max(chains.batch.n_units, 1)
        lengths = chains.batch.lengths.tolist()
        firsts = chains.batch.segments.firsts.tolist()
        out = []
        for number, (decision, first, length) in enumerate(zip(decisions, firsts, lengths)):
            changes = None
            if self.explained:
                changes = explain(chains, number, decision, self.constraints, tags, facts, self.settings)
            out.append(Decided(first, decision, changes, each * length))
        return out


def by_doc(decided: Sequence[Decided], lengths: Indices, doc_lengths: Indices) -> list[list[Decided]]:
    """The sequences of each Doc, with `first` counted from its beginning.

    lengths ((B,)): of the sequences. doc_lengths ((D,)): tokens of the Docs.
    """
    docs = Segments(doc_lengths)
    groups = Segments(lengths).within(docs).slices()
    return [
        [replace(one, first=one.first - first) for one in decided[own]]
        for first, own in zip(docs.firsts.tolist(), groups)
    ]
