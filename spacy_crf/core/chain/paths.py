"""Several label sequences of each chain: the K best ones, also of a lattice, and exact samples.

All pass forward once and then walk back with K suffixes of each sequence side by side.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, Ints, PackedBatch, Segments, chunks
from ..errors import require_count
from ..labels import UNKNOWN
from .forward import forward_backward
from .lattice import Lattice, is_long, max_arrivals
from .potentials import ChainPotentials, require_paths
from .viterbi import CHUNK, max_forward

ABSENT = -1
LARGEST = np.finfo(np.float64).max


# -- the K best -------------------------------------------------------------------------------------------------------
#
# The forward pass tells for each suffix the score of the best path that ends in it. A suffix behind K others can
# therefore be on none of the K best paths, and K of them are enough at each step: A* search with exact estimates, in
# step over all sequences.


@dataclass(frozen=True)
class NBest:
    """The best label sequences of each chain, distinct, best first.

    labels ((K, N)): in packed order; ABSENT where a sequence has fewer paths.
    scores ((B, K)): unnormalised log scores, in the order the sequences were given; -inf where there is no path.
    counts ((B,)): how many paths each sequence has here; 1 for empty ones.
    """

    labels: Ints
    scores: Doubles
    counts: Indices


def nbest(potentials: ChainPotentials, k: int) -> NBest:
    """The k highest-scoring label sequences of each chain, or all. O(N L^2 + N k L log(k L)) time, O(N (L + k)) memory.

    The first path is that of `viterbi`, and fewer paths are always the beginning of more. Equal scores have a fixed
    order: counted from the end, the path that stays longer with a better one comes first, then the smaller label.

    RAISES (NonFiniteError, NoPathError): as `viterbi`.
    """
    require_count(k=k)
    potentials.check()
    batch = potentials.batch
    if is_long(batch):
        potentials = potentials.astype(np.float64)
    best, suffixes = _walk_back(potentials, k)
    return _as_labels(batch, best, suffixes, suffixes.states)


def lattice_nbest(lattice: Lattice, k: int) -> NBest:
    """The same for the paths of a lattice. O(S + A) time, and sorting the arcs into the states on them.

    RAISES (NoPathError): for sequences without a path.
    """
    require_count(k=k)
    best, suffixes = _walk_back_lattice(lattice, k)
    return _as_labels(lattice.batch, best, suffixes, lattice.labels[suffixes.states])


def _as_labels(batch: PackedBatch, best: Doubles, suffixes: "_Suffixes", labels: Ints | Indices) -> NBest:
    """Read the best paths of the sequences from their suffixes, whose first labels are given ((N, K))."""
    k = labels.shape[1]
    scores = np.full((batch.n_sequences, k), -np.inf)
    scores[:, 0] = 0.0
    scores[batch.order[: len(best)]] = best[:, None] - suffixes.losses[: len(best)]
    require_paths(scores[:, 0])
    counts = np.isfinite(scores).sum(axis=1)
    read = _read_forward(batch, labels, suffixes.followers)
    read[np.arange(k)[:, None] >= counts[batch.row_sequences]] = ABSENT
    return NBest(read, scores, counts)


def distinct_paths(labels: Ints, hidden: Bools) -> Ints:
    """((K', T)): labellings ((K, T)) that differ in units that are not hidden, UNKNOWN in these, in their order."""
    shown = np.where(hidden, np.int32(UNKNOWN), labels).astype(np.int32)
    _, firsts = np.unique(shown, axis=0, return_index=True)
    return shown[np.sort(firsts)]


class _Suffixes(NamedTuple):
    """For each unit the best K suffixes that start there, best first.

    states ((N, K)): at the unit: labels, or states of a lattice.
    followers ((N, K)): rank of the suffix at the next unit that each one prolongs.
    losses ((N, K)): by how much the best path that ends in it is behind the best path of all; inf where there is
        no such suffix. Losses are added up instead of scores, as that leaves the best path's at exactly 0.
    """

    states: Indices
    followers: Indices
    losses: Doubles

    @classmethod
    def none(cls, n_units: int, k: int) -> Self:
        """No suffix anywhere yet."""
        shape = (n_units, k)
        return cls(np.zeros(shape, np.intp), np.zeros(shape, np.intp), np.full(shape, np.inf))

    def keep(self, rows: Indices, losses: Floats, states: Indices, followers: Indices) -> None:
        """Take the best K of some suffixes ((n,)) of each row, the first of equals. rows ((n,)): ascending."""
        k = self.states.shape[1]
        order = np.lexsort((losses, rows))  # stable
        firsts = np.flatnonzero(np.diff(rows, prepend=-1))
        ranks = Segments(np.diff(firsts, append=len(rows))).positions
        kept = order[ranks < k]
        place = (rows[kept], ranks[ranks < k])
        self.states[place], self.followers[place], self.losses[place] = states[kept], followers[kept], losses[kept]


def _walk_back(potentials: ChainPotentials, k: int) -> tuple[Doubles, _Suffixes]:
    """Scores of the best paths of the sequences that are not empty, in packed order, and the suffixes."""
    batch = potentials.batch
    suffixes, best = _Suffixes.none(batch.n_units, k), np.zeros(len(batch.first_rows))
    for step, before in zip(batch.steps_back(), reversed(max_forward(potentials))):
        first, shift = step.going.start, step.following.start - step.going.start
        ending = slice(step.ending.start - first, step.ending.stop - first)
        finals = (before[:, ending] + potentials.end[:, None]).T
        best[ending] = finals.max(axis=1)
        _prolong(finals[:, None, :], np.zeros((len(finals), 1)), suffixes, step.ending)
        for rows in chunks(step.going, k * potentials.n_labels, CHUNK):
            after = slice(rows.start + shift, rows.stop + shift)
            scores = potentials.into_labels(after, suffixes.states[after].astype(np.int32))
            scores += before.T[rows.start - first : rows.stop - first, None, :]
            _prolong(scores, suffixes.losses[after], suffixes, rows)
    return best, suffixes


def _prolong(scores: Floats, losses: Doubles, suffixes: _Suffixes, rows: slice) -> None:
    """Write the best suffixes of some units.

    scores ((n, K', L)): of the best path through each label and on into each suffix at the next unit, up to there.
    losses ((n, K')): of these suffixes. rows (slice): of the units.
    """
    k, n_labels = suffixes.states.shape[1], scores.shape[2]
    with np.errstate(invalid="ignore"):
        total = losses[:, :, None] + (scores.max(axis=2, keepdims=True) - scores)
    total = total.reshape(len(losses), losses.shape[1] * n_labels)
    # K suffixes can be prolonged without a further loss, so that nothing behind the last of them is needed
    bound = np.minimum(losses[:, -1], LARGEST) if losses.shape[1] == k else np.full(len(losses), LARGEST)
    near = total <= bound[:, None]  # false for NaN, where there is no suffix
    units, cells = np.nonzero(near)
    followers, labels = np.divmod(cells, n_labels)  # among equals the better suffix is first, then the smaller label
    suffixes.keep(rows.start + units, total[near], labels, followers)


def _walk_back_lattice(lattice: Lattice, k: int) -> tuple[Doubles, _Suffixes]:
    """As `_walk_back`, for the states of a lattice."""
    batch, arcs_into = lattice.batch, Segments(lattice.n_arcs)
    reached, arrivals, peaks = max_arrivals(lattice)
    suffixes, best = _Suffixes.none(batch.n_units, k), np.zeros(len(batch.first_rows))
    with np.errstate(invalid="ignore"):  # a state that cannot be reached is behind by NaN
        behind = np.repeat(peaks, lattice.n_arcs) - arrivals
    for step in batch.steps_back():
        rows = np.arange(step.ending.start, step.ending.stop)
        states, owners = lattice.states_of(rows)
        if len(rows):
            finals = np.maximum.reduceat(reached[states], Segments(np.bincount(owners)).firsts)
            best[rows - step.going.start] = finals
            possible = np.isfinite(reached[states])
            losses = finals[owners] - reached[states]
            states = states[possible]
            suffixes.keep(rows[owners[possible]], losses[possible], states, np.zeros_like(states))
        following, ranks = np.nonzero(np.isfinite(suffixes.losses[step.following]))
        heads = suffixes.states[step.following][following, ranks]
        arcs = arcs_into.units(heads)
        owners = Segments(lattice.n_arcs[heads]).owners
        losses = suffixes.losses[step.following][following, ranks][owners] + behind[arcs]
        possible = losses < np.inf
        arcs, owners = arcs[possible], owners[possible]
        rows = following[owners] + step.going.start
        suffixes.keep(rows, losses[possible], lattice.origins[arcs], ranks[owners])
    return best, suffixes


def _read_forward(batch: PackedBatch, first: Ints | Indices, followers: Indices) -> Ints:
    """((K, N)): labels of the paths, whose first labels ((N, K)) are followed from their rank at the first unit."""
    k = first.shape[1]
    labels = np.empty((k, batch.n_units), dtype=np.int32)
    ranks = np.tile(np.arange(k), (len(batch.first_rows), 1))
    for low, n in zip(batch.starts, batch.alive):
        rows = slice(low, low + n)
        labels[:, rows] = np.take_along_axis(first[rows], ranks[:n], axis=1).T
        ranks = np.take_along_axis(followers[rows], ranks[:n], axis=1)
    return labels


# -- samples: filtering forward, sampling backward (Carter and Kohn 1994) ---------------------------------------------


def sample(potentials: ChainPotentials, n: int, rng: np.random.Generator) -> Ints:
    """((n, N)): labels of n independent samples from p(y | x). O(N L^2 + n N L) time, O(N L + n N) memory.

    Computed in float64. The same state of `rng` and the same batch give the same samples.

    RAISES (NonFiniteError, NoPathError): as `forward_backward`.
    """
    require_count(n=n)
    potentials = potentials.astype(np.float64)
    messages = forward_backward(potentials)
    with np.errstate(divide="ignore"):
        log_alpha = np.log(messages.alpha)  # p(y_t | x_1..t), up to a constant in each row
    if messages.redone is not None:
        log_alpha[messages.redone.rows] = messages.redone.log_alpha
    labels = np.zeros((potentials.batch.n_units, n), dtype=np.int32)
    points = rng.random(labels.shape)
    for going, following, ending in potentials.batch.steps_back():
        finals = log_alpha[ending, None, :] + potentials.end
        labels[ending] = _draw(_cumulative(finals), points[ending])
        shift = following.start - going.start
        for rows in chunks(going, max(n, potentials.n_labels) * potentials.n_labels, CHUNK):
            after = slice(rows.start + shift, rows.stop + shift)
            sums = _cumulative_before(potentials, log_alpha[rows], after, labels[after])
            labels[rows] = _draw(sums, points[rows])
    return np.ascontiguousarray(labels.T)


def _cumulative_before(potentials: ChainPotentials, log_alpha: Floats, rows: slice, following: Ints) -> Doubles:
    """((n, S, L)): cumulative weights of the labels before those ((n, S)) that were drawn for the units at `rows`."""
    n_labels = potentials.n_labels
    if following.shape[1] <= n_labels:
        return _cumulative(potentials.into_labels(rows, following) + log_alpha[:, None, :])
    every = np.broadcast_to(np.arange(n_labels, dtype=np.int32), (len(following), n_labels))
    sums = _cumulative(potentials.into_labels(rows, every) + log_alpha[:, None, :])
    return sums[np.arange(len(sums))[:, None], following]


def _cumulative(scores: Floats) -> Doubles:
    """Sums of exp(scores) along the last axis, up to a factor."""
    greatest = scores.max(axis=2, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(greatest), greatest, 0))
    return np.asarray(np.cumsum(weights, axis=2, out=weights))


def _draw(sums: Doubles, points: Doubles) -> Ints:
    """((n, S)): labels drawn by cumulative weights ((n, S or 1, L)) and points ((n, S)), uniform in [0, 1)."""
    # a label without weight has the sum of the one before it, so that no point falls to it
    return np.asarray((sums > points[:, :, None] * sums[:, :, -1:]).argmax(axis=2), dtype=np.int32)
