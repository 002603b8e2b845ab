"""Decoding under constraints in one call: ever stronger methods, and an answer that says which one gave it.

Viterbi is the answer where it breaks nothing. Lagrangian relaxation often proves its own; dynamic programming over the
automata of the constraints is exact where they are small enough; an integer programme is the last resort. Hard
constraints that cannot hold together are relaxed, those with the least sum of priorities.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..arrays import Ints
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..labels import TagSet
from .arcs import arcs_of
from .check import Labelling, violations
from .decision import Decision, Settings
from .families import Constraint
from .ilp import require_solver
from .predicates import Fields, UnitFacts
from .problem import Problem
from .strategy import Strategy

CELLS = 1 << 22  # arcs that are relaxed side by side


def decode(
    potentials: ChainPotentials,
    constraints: Sequence[Constraint],
    tags: TagSet,
    facts: UnitFacts | None = None,
    settings: Settings | None = None,
    names: Sequence[str] | None = None,
) -> list[Decision]:
    """The labelling of each sequence with the greatest score minus costs that breaks no hard constraint.

    potentials (ChainPotentials): of a batch; float64 where certificates are to be exact.
    constraints (sequence of Constraint): for all of its sequences.
    tags (TagSet): of the chain. facts (UnitFacts | None): about the units, in packed order.
    settings (Settings | None): None for the defaults. names (sequence of str): of the sequences, for warnings.
    RETURNS (list of Decision): in the order the sequences were given. Uncertified answers, relaxed constraints and
        solvers that fail give a warning that names the sequence.
    RAISES (ValueError): for constraints with unknown labels or without the facts that they ask for, and if the method
        "ilp" has no solver.
    RAISES (NonFiniteError, NoPathError): as `viterbi`.
    """
    settings = settings or Settings()
    fields = Fields(tags)
    facts = facts or UnitFacts(potentials.batch.n_units)
    check_constraints(constraints, fields, facts)
    if settings.method == "ilp":
        require_solver(settings.solver)
    found = viterbi(potentials)
    bounds = np.concatenate([[0], np.cumsum(potentials.batch.lengths)]).tolist()
    rows = [potentials.batch.rows[low:high] for low, high in pairwise(bounds)]
    decisions: list[Decision | None] = []
    for own, score in zip(rows, found.scores.tolist()):
        decisions.append(_viterbi_decision(found.labels[own], score, constraints, fields, facts.at(own)))
    open_ones = [index for index, decision in enumerate(decisions) if decision is None]
    strategy = Strategy(settings, names)
    for part in _parts(open_ones, potentials):
        problems = [
            Problem(arcs_of(potentials, rows[index]), constraints, fields, facts.at(rows[index])) for index in part
        ]
        viterbi_paths = [found.labels[rows[index]] for index in part]
        for index, decision in zip(part, strategy.run(part, problems, viterbi_paths)):
            decisions[index] = decision
    return [decision for decision in decisions if decision is not None]


def check_constraints(constraints: Sequence[Constraint], fields: Fields, facts: UnitFacts) -> None:
    """Raise a coded error for constraints with unknown labels, or without the facts that they ask for."""
    for constraint in constraints:
        fields.check(constraint)
        facts.check(constraint)


def _viterbi_decision(
    path: Ints, score: float, constraints: Sequence[Constraint], fields: Fields, facts: UnitFacts
) -> Decision | None:
    """The best labelling without constraints, if it breaks none that matters."""
    broken = violations(constraints, Labelling(path.tolist(), fields, facts))
    if any(constraints[index].cost for index in broken):
        return None
    return Decision(path, score, score, score, score, "viterbi", 0, broken, viterbi_violated=broken)


def _parts(sequences: list[int], potentials: ChainPotentials) -> list[list[int]]:
    """Runs of sequences whose arcs fit into memory together."""
    parts: list[list[int]] = []
    filled = CELLS
    for sequence in sequences:
        size = int(potentials.batch.lengths[sequence]) * potentials.n_labels**2
        if filled + size > CELLS:
            parts.append([])
            filled = 0
        parts[-1].append(sequence)
        filled += size
    return parts
