"""Small random training problems, with the objective computed a second time by enumeration."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.oracle import Chain

from spacy_crf.core.chain.potentials import EdgeObservations
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.sparse import from_columns
from spacy_crf.core.weights import ChainWeights, Layout

GOLD = ("known", "unknown", "set", "distribution")


@dataclass
class Problem:
    """A corpus with a layout and weights; `table` and `edge_table` are its features as dense matrices."""

    corpus: EncodedCorpus
    layout: Layout
    flat: np.ndarray
    gold: np.ndarray
    table: np.ndarray
    edge_table: np.ndarray

    @property
    def weights(self) -> ChainWeights:
        return ChainWeights(self.layout, self.flat)

    def chains(self) -> list[tuple[Chain, np.ndarray]]:
        """Each sequence as a chain for the oracle, with the gold weights of its units."""
        layout, n = self.layout, self.layout.n_labels
        sizes = [len(layout.state_cells), len(layout.transition_cells), len(layout.edge_cells)]
        boundary = n if layout.boundary else 0
        pieces = np.split(self.flat, np.cumsum([*sizes, boundary]))
        state, transitions, edges = np.zeros((layout.n_features, n)), np.zeros((n, n)), np.zeros((2, n, n))
        state.flat[layout.state_cells] = pieces[0]
        transitions.flat[layout.transition_cells] = pieces[1]
        edges.flat[layout.edge_cells] = pieces[2]
        start, end = pieces[3:] if layout.boundary else np.zeros((2, n))
        scores = self.table @ state
        matrices = transitions + np.einsum("ge,eij->gij", self.edge_table, edges)
        matrices = np.where(layout.allowed, matrices, -np.inf)
        start, end = np.where(layout.allowed_start, start, -np.inf), np.where(layout.allowed_end, end, -np.inf)
        bounds = np.concatenate([[0], np.cumsum(self.corpus.lengths)])
        return [
            (Chain(scores[low:high], list(matrices[low:high]), start, end), self.gold[low:high])
            for low, high in itertools.pairwise(bounds)
        ]

    def loss(self, dress: Callable[[Chain], Chain] = lambda chain: chain) -> float:
        """The negative log-likelihood by enumeration, of the chains as `dress` makes them."""
        return sum(enumerated_loss(dress(chain), gold) for chain, gold in self.chains() if chain.length)


def enumerated_loss(chain: Chain, gold: np.ndarray) -> float:
    """The mean over labels drawn from distributions of log Z - log Z(paths that they and the sets allow).

    Draws that leave no path do not count.
    """
    soft = [unit for unit, row in enumerate(gold) if (row > 0).sum() > 1 and np.isclose(row.sum(), 1)]
    found = []
    for labels in itertools.product(*(np.flatnonzero(gold[unit]) for unit in soft)):
        allowed = gold > 0
        allowed[soft] = np.eye(chain.n_labels, dtype=bool)[list(labels)]
        share = np.prod(gold[soft, list(labels)])
        found.append((share, chain.log_z(lambda path, allowed=allowed: allowed[range(len(path)), path].all())))
    alive = np.array([one for one in found if one[1] > -np.inf])
    return chain.log_z() - float(alive[:, 0] @ alive[:, 1] / alive[:, 0].sum())


def random_problem(
    seed: int = 0,
    kinds: tuple[str, ...] = GOLD,
    edges: bool = False,
    boundary: bool = True,
    masks: bool = False,
    values: bool = False,
    lengths: tuple[int, ...] = (3, 1, 0, 4, 2, 3),
    n_labels: int = 3,
    n_features: int = 30,
    density: float = 0.7,
    own: int = 0,
) -> Problem:
    """A problem whose sequences have gold of the given kinds in turn.

    Features differ in frequency; each unit has `own` more that no other unit has. `density` is the share of the
    possible weights that exist.
    """
    rng = np.random.default_rng(seed)
    n_units = sum(lengths)
    columns = np.minimum(rng.zipf(1.4, (n_units, 4)) - 1, n_features - 1)
    columns[rng.random(columns.shape) < 0.2] = -1
    columns = np.hstack([columns, n_features + np.arange(n_units * own).reshape(n_units, own)])
    n_features += n_units * own
    strengths = rng.choice([0.5, 1.0, 1.0, 1.0, 2.0], columns.shape) if values else None
    features = from_columns(columns.astype(np.int32), n_features, strengths)
    layout = _layout(rng, n_features, n_labels, edges, boundary, masks, density)
    gold = [row for b, length in enumerate(lengths) for row in _gold(rng, kinds[b % len(kinds)], length, layout)]
    gold = np.array(gold, dtype=np.float32).reshape(-1, n_labels)
    groups = rng.integers(0, 3, n_units)
    edge_features = from_columns(np.array([[0, -1], [1, -1], [0, 1]], dtype=np.int32), 2)
    corpus = EncodedCorpus(
        np.array(lengths, dtype=np.intp),
        features,
        Gold.weighted(gold),
        EdgeObservations(edge_features, groups) if edges else None,
    )
    table = np.zeros((n_units, n_features))
    present = columns >= 0
    np.add.at(table, (np.nonzero(present)[0], columns[present]), 1.0 if strengths is None else strengths[present])
    edge_table = np.array([[1, 0], [0, 1], [1, 1]])[groups] * float(edges)
    return Problem(corpus, layout, rng.normal(0, 1, layout.size), gold.astype(float), table, edge_table)


def _layout(rng, n_features, n, edges, boundary, masks, density) -> Layout:
    def chosen(size: int) -> np.ndarray:
        return np.flatnonzero(rng.random(size) < density)

    allowed, allowed_start, allowed_end = np.ones((n, n), bool), np.ones(n, bool), np.ones(n, bool)
    if masks:
        allowed[1, n - 1] = allowed_start[n - 1] = allowed_end[1] = False
    return Layout(
        n_features,
        n,
        2 if edges else 0,
        chosen(n_features * n),
        chosen(n * n),
        chosen(2 * n * n) if edges else np.zeros(0, np.intp),
        boundary,
        allowed,
        allowed_start,
        allowed_end,
    )


def _gold(rng, kind: str, length: int, layout: Layout) -> np.ndarray:
    """Rows of gold weights around an allowed path."""
    n = layout.n_labels
    path: list[int] = []
    for t in range(length):
        open_to = layout.allowed[path[-1]] if path else layout.allowed_start
        if t == length - 1:
            open_to = open_to & layout.allowed_end
        path.append(int(rng.choice(np.flatnonzero(open_to))))
    gold = np.eye(n)[path]
    if kind == "unknown" and length:
        gold[rng.integers(length)] = 1
    elif kind == "set":
        gold = np.maximum(gold, rng.random(gold.shape) < 0.4)
    elif kind == "distribution":
        gold = gold + rng.random(gold.shape)
        gold /= gold.sum(axis=1, keepdims=True)
    elif kind == "open":  # every kind of row beside the others
        for t in range(length):
            choice = rng.integers(4)
            if choice == 0:
                gold[t] = 1
            elif choice == 1:
                gold[t] = np.maximum(gold[t], rng.random(n) < 0.4)
            elif choice == 2:
                gold[t] = (gold[t] + rng.random(n) * (rng.random(n) < 0.6)) + 1e-3
                gold[t] /= gold[t].sum()
    return gold


@pytest.fixture(scope="session")
def make_problem() -> Callable[..., Problem]:
    return random_problem
