"""Hypothesis strategies for batches of small chains."""

import numpy as np
from hypothesis import strategies as st

from helpers.oracle import Chain, TrigramChain
from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.edges import EdgePotentials
from spacy_crf.core.chain.potentials import ChainPotentials
from spacy_crf.core.trigrams import Trigrams


@st.composite
def chain_batches(draw, max_length=5, max_labels=4, span=10.0, masks=True, edges=None, min_length=0):
    """(ChainPotentials in float64, list of Chain): random scores, -inf masks that leave a path open."""
    lengths = draw(st.lists(st.integers(min_length, max_length), min_size=1, max_size=4))
    n_labels = draw(st.integers(1, max_labels))
    seed = draw(st.integers(0, 2**32 - 1))
    scale = draw(st.sampled_from([0.1, 1.0, span]))
    conditioned = draw(st.booleans()) if edges is None else edges
    rng = np.random.default_rng(seed)
    batch = pack(np.array(lengths))
    emissions = rng.uniform(-scale, scale, (sum(lengths), n_labels))
    matrices = rng.uniform(-scale, scale, (3, n_labels, n_labels))
    start, end = rng.uniform(-scale, scale, (2, n_labels))
    if masks and draw(st.booleans()):
        # label 0 stays reachable from label 0, so that a path is always open
        blocked = rng.random((n_labels, n_labels)) < 0.4
        blocked[0, 0] = False
        matrices[:, blocked] = -np.inf
        start[1:][rng.random(n_labels - 1) < 0.3] = -np.inf
        end[1:][rng.random(n_labels - 1) < 0.3] = -np.inf
    groups = rng.integers(0, 3, sum(lengths)) if conditioned else np.zeros(sum(lengths), dtype=int)
    return build(batch, emissions, matrices, groups, start, end, conditioned)


@st.composite
def second_order_batches(draw, **settings):
    """(ChainPotentials, Trigrams, their weights, list of TrigramChain): some trigrams have a weight."""
    potentials, chains = draw(chain_batches(**settings))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = potentials.n_labels + 1
    cells = rng.permutation(np.flatnonzero(rng.random(size**3) < draw(st.sampled_from([0.1, 0.5, 1.0]))))
    trigrams, weights = (
        Trigrams(potentials.n_labels, cells),
        rng.normal(0, draw(st.sampled_from([0.5, 5.0])), len(cells)),
    )
    known = {(int(c) // size**2 - 1, int(c) // size % size - 1, int(c) % size - 1): w for c, w in zip(cells, weights)}
    return potentials, trigrams, weights, [TrigramChain(chain, known) for chain in chains]


def build(batch, emissions, matrices, groups, start, end, conditioned):
    """Potentials and the same chains one by one; emissions and groups in the order of the sequences."""
    packed = np.empty_like(emissions)
    packed[batch.rows] = emissions
    packed_groups = np.empty(len(groups), dtype=np.intp)
    packed_groups[batch.rows] = groups
    potentials = ChainPotentials(
        batch,
        packed,
        matrices[0],
        start,
        end,
        EdgePotentials(matrices, packed_groups) if conditioned else None,
    )
    bounds = np.concatenate([[0], np.cumsum(batch.lengths)])
    chains = [Chain(emissions[a:b], [matrices[g] for g in groups[a:b]], start, end) for a, b in zip(bounds, bounds[1:])]
    return potentials, chains


def unpacked(potentials, values):
    """List of per-sequence arrays from packed rows."""
    rows = potentials.batch.rows
    bounds = np.cumsum(potentials.batch.lengths)[:-1]
    return np.split(np.asarray(values)[rows], bounds)
