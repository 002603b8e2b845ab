"""Decoding under constraints in one call: ever stronger methods in turn, and an answer that says which one gave it."""

from collections.abc import Sequence

from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..labels import TagSet
from . import ilp
from .decision import Decision, MethodSettings
from .family import Constraint
from .labelling import Fields, Labelling, UnitPredicates
from .problem import Problem, Trellis, violations
from .strategy import Case, Strategy

CELLS = 1 << 22  # edges that are relaxed side by side


def decode(
    potentials: ChainPotentials,
    constraints: Sequence[Constraint],
    tags: TagSet,
    predicates: UnitPredicates | None = None,
    settings: MethodSettings | None = None,
    names: Sequence[str] | None = None,
) -> list[Decision]:
    """The labelling of each sequence with the greatest score minus costs that breaks no hard constraint.

    Hard constraints that cannot hold together are relaxed: those with the least sum of priorities, and among equal sums
    those that leave the greatest score minus costs.

    potentials (ChainPotentials): of a batch; float64 where certificates are to be exact.
    predicates (UnitPredicates | None): of the units, in packed order. names (sequence of str): of the sequences.
    RETURNS (list of Decision): in the order the sequences were given. Uncertified answers, relaxed constraints and
        solvers that fail give a warning that names the sequence.
    RAISES (ValueError): for constraints with unknown labels or without the predicates that they ask for, and if the
        settings need a solver and there is none.
    RAISES (NonFiniteError, NoPathError): as `viterbi`.
    """
    settings = settings or MethodSettings()
    fields, predicates = Fields(tags), predicates or UnitPredicates(potentials.batch.n_units)
    for constraint in constraints:
        constraint.check(fields, predicates)
    if settings.needs_solver:
        ilp.require_solver(settings.solver)
    found = viterbi(potentials)
    rows = potentials.batch.segments.split(potentials.batch.rows)
    decisions: dict[int, Decision] = {}
    for index, (own, score) in enumerate(zip(rows, found.scores.tolist())):
        path = found.labels[own]
        broken = violations(constraints, Labelling(path.tolist(), fields, predicates.at(own)))
        if not any(constraints[one].cost for one in broken):
            best = score if settings.objective == "score" else 0.0
            found_so = path, score, best, best, True, score, "viterbi", 0, broken
            decisions[index] = Decision(*found_so, viterbi_violated=broken)
    strategy = Strategy(settings, names)
    for part in _parts([index for index in range(len(rows)) if index not in decisions], potentials):
        cases = []
        for index, own in ((index, rows[index]) for index in part):
            problem = Problem(Trellis.of(potentials, own), constraints, fields, predicates.at(own))
            cases.append(Case(index, problem, found.labels[own], settings.seconds))
        decisions |= zip(part, strategy.decide(cases))
    return [decisions[index] for index in range(len(rows))]


def _parts(sequences: list[int], potentials: ChainPotentials) -> list[list[int]]:
    """Runs of sequences whose edges fit into memory together."""
    parts: list[list[int]] = []
    filled = CELLS
    for sequence in sequences:
        filled += (size := int(potentials.batch.lengths[sequence]) * potentials.n_labels**2)
        if filled > CELLS:
            parts.append([])
            filled = size
        parts[-1].append(sequence)
    return parts
