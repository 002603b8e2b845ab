"""Decoding under constraints: whole batches in one call, timed, and explained on request.

Annotation that will be kept is given. What is told of a sequence is about the labels that are written.
"""

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..annotation.extensions import register, register_result
from ..annotation.white_space import Places
from ..core.arrays import Bools, Ints, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.edges import EdgePotentials
from ..core.chain.evidence import ImpossibleEvidenceError, condition
from ..core.chain.potentials import ChainPotentials
from ..core.constraints.decision import MethodSettings
from ..core.constraints.distribution import TOLERANCE, ConstrainedDistribution, ConstrainedPaths
from ..core.constraints.family import Constraint
from ..core.constraints.joint import JointAutomaton
from ..core.constraints.labelling import Fields, Labelling
from ..core.constraints.problem import violations
from ..core.constraints.reasons import explain
from ..core.constraints.strategy import decode
from ..core.errors import CRFError, CRFWarning
from ..core.labels import UNKNOWN, TagSet
from ..features.columns import Columns
from ..pipe.decoding import Batch, Decoder, Prediction
from ..pipe.source import SourcedDistribution, scheme_chains
from .block import DecodingSettings
from .errors import ConstraintErrors, ConstraintWarnings
from .table import Decided, constraint_changes, decode_info
from .token_predicates import SequencePredicates, TokenPredicates, sequence_predicates

NO_TAG = ""  # of tokens that are written without a tag of the chain, to constraints one more label


@dataclass(frozen=True)
class ConstrainedDecoder(Decoder):
    """Chooses labels under constraints, by some method, and tells how.

    name (str): of the component. constrained (bool): tell probabilities under constraints.
    known (TokenPredicates): that constraints may name. info (str), changes (str | None): attributes of Docs, as in
    `DecodingSettings`.
    """

    name: str = field(kw_only=True)
    constrained: bool = field(kw_only=True)
    constraints: Sequence[Constraint] = field(kw_only=True)
    method: MethodSettings = field(kw_only=True)
    known: TokenPredicates = field(kw_only=True)
    info: str = field(kw_only=True)
    changes: str | None = field(kw_only=True)

    def __call__(self, batch: Batch) -> list[Prediction]:
        decided = self._decide(batch)
        labels = np.concatenate([one.decision.labels for one in decided])
        sequences = Segments(batch.columns.lengths).within(batch.by_doc).slices()
        asked = batch
        if self.constrained and (self.scored or self.outputs):
            where = batch.docs, batch.columns, batch.distribution, batch.tags, batch.unlabelled
            asked = replace(batch, distribution=self.distribution(*where))
        found = self.told(asked, self.decoded(asked, labels))
        decided = self._as_written(batch, decided, labels, found)
        tags = with_no_tag(batch.tags, len(batch.tags))
        for prediction, own, first in zip(found, sequences, batch.by_doc.firsts.tolist()):
            placed = [replace(one, first=one.first - first) for one in decided[own]]
            prediction.told = (*prediction.told, *self._told_of(placed, tags))
        return found

    def distribution(
        self, docs: Sequence[Doc], columns: Columns, chains: ChainDistribution, tags: TagSet, unlabelled: Bools | None
    ) -> ConstrainedDistribution:
        """What chains say under constraints; a warning where that is less than all.

        unlabelled ((N,) | None): units without a label; a coded error for any, as constraints would count theirs.
        """
        if unlabelled is not None and unlabelled.any():
            raise CRFError(ConstraintErrors.CRF596.format(name=self.name))
        units, names = self._predicates(docs, columns, tags)
        where: dict[str, Any] = {"constraints": self.constraints, "tags": tags, "predicates": units}
        found = ConstrainedDistribution(chains.chains, chains.temperature, **where, max_states=self.method.max_states)
        for number in np.flatnonzero(found.missing > TOLERANCE).tolist():
            known = {"name": self.name, "document": names[number], "missing": found.missing[number]}
            template = ConstraintWarnings.CRFW456 if known["missing"] == 1 else ConstraintWarnings.CRFW455
            warnings.warn(template.format(**known), CRFWarning, stacklevel=2)
        return found

    def paths(self, docs: Sequence[Doc], columns: Columns, gold: Ints, tags: TagSet) -> ConstrainedPaths:
        """What constraints say of labellings of Docs with gold tags ((N,)); a warning where gold breaks hard ones."""
        units, names = self._predicates(docs, columns, tags)
        found = ConstrainedPaths(JointAutomaton(self.constraints, Fields(tags)), columns.lengths, gold, units)
        if broken := [names[number] for number in np.flatnonzero(found.breaks_hard).tolist()]:
            known = {"name": self.name, "count": len(broken), "examples": ", ".join(map(repr, broken[:3]))}
            warnings.warn(ConstraintWarnings.CRFW457.format(**known), CRFWarning, stacklevel=2)
        return found

    def empty(self, tags: TagSet) -> Prediction:
        found = super().empty(tags)
        found.told = (*found.told, *self._told_of([], tags))
        return found

    def spread(self, found: Prediction, doc: Doc, places: Places) -> Prediction:
        *_, info, changes = found.told
        spread = super().spread(found, doc, places)
        if changes is not None:
            changes = [{**change, "token": int(places.words[change["token"]])} for change in changes]
        spread.told = (*spread.told, info, changes)
        return spread

    def _told_of(self, decided: list[Decided], tags: TagSet) -> tuple[Any, Any]:
        """How a Doc was decoded, and what constraints changed if that is asked for."""
        changes = None if self.changes is None else constraint_changes(decided, self.constraints, tags)
        return decode_info(decided, self.constraints), changes

    def _decide(self, batch: Batch) -> list[Decided]:
        """Label the sequences of a batch, in one call and in double precision; `first` counts from its beginning."""
        started, (chains, tags) = time.perf_counter(), self._chains(batch)
        units, names = self._predicates(batch.docs, batch.columns, batch.tags)
        predicates = units.at(chains.batch.units)
        decisions = decode(chains, self.constraints, tags, predicates, self.method, names)
        each = 1000 * (time.perf_counter() - started) / max(chains.batch.n_units, 1)
        segments, out = chains.batch.segments, []
        for number, (decision, first) in enumerate(zip(decisions, segments.firsts.tolist())):
            changes = None
            if self.changes is not None:
                changes = explain(chains, number, decision, self.constraints, tags, predicates, self.method)
            out.append(Decided(first, decision, changes, each * int(segments.lengths[number])))
        return out

    def _predicates(self, docs: Sequence[Doc], columns: Columns, tags: TagSet) -> SequencePredicates:
        return sequence_predicates(docs, columns, self.constraints, self.known, self.target, tags)

    def _chains(self, batch: Batch) -> tuple[ChainPotentials, TagSet]:
        """The chains in double precision, given the annotation that will be kept, with their tags; units that get no
        label have none that constraints could count."""
        allowed = None
        if self.target is not None and not self.target.overwrite:
            allowed = self.target.evidence(batch.docs, batch.columns.lengths, batch.tags)
        compares = self.method.objective == "violations"  # probabilities, which are those at the temperature
        chains = batch.distribution.tempered if compares else batch.distribution.chains.astype(np.float64)
        chains, hidden = _given(chains, allowed), batch.unlabelled
        if hidden is not None and allowed is not None:
            hidden = hidden & allowed.all(axis=1)
        if hidden is None or not hidden.any():
            return chains, batch.tags
        hide = _leave_out if isinstance(batch.distribution, SourcedDistribution) else _hide
        return hide(chains, hidden[chains.batch.units], batch.tags)

    def _as_written(
        self, batch: Batch, decided: list[Decided], labels: Ints, found: Sequence[Prediction]
    ) -> list[Decided]:
        """What was decided, with violations of the labels that are written where these are not those decided ((N,)).
        They are not certified; changes that were not written are left out."""
        target = self.target
        if target is None or (target.overwrite and not self.threshold):
            return decided
        written = [target.written(doc, one.decoded, batch.tags) for doc, one in zip(batch.docs, found)]
        own = np.concatenate(written)
        differs = own != labels
        if batch.unlabelled is not None:
            differs &= ~batch.unlabelled
        if not differs.any():
            return decided
        predicates, out = self._predicates(batch.docs, batch.columns, batch.tags).units, list(decided)
        fields = Fields(with_no_tag(batch.tags))
        own = np.where(own == UNKNOWN, len(batch.tags), own)
        sequences = Segments(batch.columns.lengths)
        for number in np.unique(sequences.owners[differs]).tolist():
            rows, one = np.arange(sequences.firsts[number], sequences.ends[number]), decided[number]
            decision = one.decision
            broken = violations(self.constraints, Labelling(own[rows].tolist(), fields, predicates.at(rows)))
            violated = {index: times for index, times in broken.items() if index not in decision.relaxed}
            changes = one.changes and [change for change in one.changes if not differs[rows[change.unit]]]
            decision = replace(decision, certified=False, violated=violated)
            out[number] = replace(one, decision=decision, changes=changes)
        return out

    def register(self) -> None:
        super().register()
        register(Doc, self.info)
        register_result(self.changes)

    def write(self, docs: Iterable[Doc], predictions: Iterable[Prediction], tags: TagSet) -> None:
        docs, predictions = list(docs), list(predictions)
        super().write(docs, predictions, tags)
        for doc, prediction in zip(docs, predictions):
            *_, info, changes = prediction.told
            doc._.set(self.info, info)
            if self.changes is not None:
                doc._.set(self.changes, changes)


def with_no_tag(tags: TagSet, number: int = 1) -> TagSet:
    """The tags, with so many of tokens without a tag behind them."""
    return TagSet((*tags.tags, *[NO_TAG] * number), tags.scheme)


def _given(chains: ChainPotentials, allowed: Bools | None) -> ChainPotentials:
    """Chains, given the tags ((N, L) | None) that units may have; but for sequences that cannot have them."""
    if allowed is None or allowed.all():
        return chains
    try:
        return condition(chains, allowed[chains.batch.units])
    except ImpossibleEvidenceError as error:
        impossible = np.isin(chains.batch.segments.owners, error.sequences)[:, None]
        return condition(chains, (allowed | impossible)[chains.batch.units])


def _hide(chains: ChainPotentials, hidden: Bools, tags: TagSet) -> tuple[ChainPotentials, TagSet]:
    """Chains in which the labels of some units ((N,), in packed order) count as before, and are called no tag."""
    emissions = np.tile(chains.emissions, 2)
    emissions[np.repeat(np.column_stack([hidden, ~hidden]), len(tags), axis=1)] = -np.inf
    edges = chains.edges and EdgePotentials(np.tile(chains.edges.matrices, (1, 2, 2)), chains.edges.groups)
    transitions, start, end = np.tile(chains.transitions, (2, 2)), np.tile(chains.start, 2), np.tile(chains.end, 2)
    return ChainPotentials(chains.batch, emissions, transitions, start, end, edges), with_no_tag(tags, len(tags))


def _leave_out(chains: ChainPotentials, hidden: Bools, tags: TagSet) -> tuple[ChainPotentials, TagSet]:
    """Chains of a source, in which some units ((N,), in packed order) have no tag, and no span goes on behind them."""
    tags = with_no_tag(tags)
    emissions = np.where(hidden[:, None], -np.inf, chains.emissions)
    emissions = np.column_stack([emissions, np.where(hidden, 0.0, -np.inf)])
    return scheme_chains(chains.batch, emissions, tags), tags


def method_settings(settings: DecodingSettings) -> MethodSettings:
    """Settings of decoding, as the core knows them. RAISES (ValueError): for one that makes no sense."""
    shared = ("max_iterations", "step_rule", "max_states", "budget", "solver", "time_limit", "objective", "tau")
    return MethodSettings(settings.decoder, **{name: getattr(settings, name) for name in shared})
