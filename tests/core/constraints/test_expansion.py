"""Chains under constraints are what enumeration says of them: Z, marginals, best labellings."""

import numpy as np
import pytest
from helpers.constrained_chains import by_sequence, objectives, problems
from hypothesis import given, settings

from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.lattice import best_path
from spacy_crf.core.constraints.expansion import expand
from spacy_crf.core.constraints.joint import JointAutomaton
from spacy_crf.core.constraints.labelling import Fields


def read(automaton, potentials, predicates):
    """Symbols of the units of a batch, in packed order."""
    out = np.zeros(potentials.batch.n_units, dtype=np.int32)
    for rows in potentials.batch.segments.split(potentials.batch.rows):
        out[rows] = automaton.read(predicates.at(rows))
    return out


def expanded(case, **settings):
    potentials, _, constraints, tags, predicates = case
    automaton = JointAutomaton(constraints, Fields(tags))
    symbols = read(automaton, potentials, predicates)
    return expand(forward_backward(potentials.astype(np.float64)), automaton, symbols, **settings)


def enumerated(case):
    """For each sequence its labellings and their objectives."""
    potentials, chains, constraints, tags, predicates = case
    for chain, own in zip(chains, by_sequence(potentials, predicates)):
        yield objectives(chain, constraints, Fields(tags), own) if chain.length else {(): 0.0}


@settings(max_examples=300, deadline=None)
@given(problems())
def test_z_and_marginals_are_those_of_all_labellings(case):
    potentials, chains = case[:2]
    found, batch = expanded(case, tolerance=0), potentials.batch
    nodes = found.node_marginals(potentials.n_labels)[batch.rows]
    log_z = forward_backward(potentials.astype(np.float64)).log_z
    for number, (values, own) in enumerate(zip(enumerated(case), batch.segments.slices())):
        paths, scores = list(values), np.array(list(values.values()))
        weights = np.exp(scores - log_z[number])
        assert found.shares[number] == pytest.approx(weights.sum(), rel=1e-9, abs=1e-300)
        if weights.sum() > 0:
            expected = np.zeros((own.stop - own.start, potentials.n_labels))
            for path, weight in zip(paths, weights / weights.sum()):
                expected[np.arange(len(path)), list(path)] += weight
            assert nodes[own] == pytest.approx(expected, abs=1e-9)
