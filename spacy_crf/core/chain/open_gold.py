"""Gold that leaves labels open in some units, and what it says of the paths of a batch under any potentials.

A unit may have a distribution q over labels; its label z is then drawn from q, independently of other units. Once all z
are drawn, gold allows a set of paths. The log-likelihood of gold is the mean over z of log Z(allowed paths) - log Z.

A label that is given cuts the chain in two. So the mean is a sum over the stretches between units with distributions,
each of which is run once for each pair of labels at its ends. This is exact. It takes O(k^2 T L^2) time and O(k^2 T L)
memory for stretches of T units left open, where k labels of a distribution are not 0: few, or little beside them left
open. A known label counts as a distribution over one, and neighbours that both have distributions need no chains. Where
masks forbid some pairs of labels, they do, and known labels are part of the stretches.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, PackedBatch, Segments, cached_property, pack
from ..labels import Gold
from ..sparse import SparseRows
from ..weights import Layout, masked
from .forward import forward_backward
from .marginals import Counts, expected_transitions, node_marginals, pair_sums
from .potentials import ChainPotentials, NoPathError, numbered


@dataclass(frozen=True)
class OpenGold:
    """Stretches of a batch of N rows, each once for each pair of labels at its ends: B' chains of n rows.

    soft ((N, L)): distributions of units that have one, else zeros; given that the path is allowed. Where no masks are,
        those of known labels too.
    batch (PackedBatch): layout of the n rows. sequences ((B',)): the sequence that each chain is of.
    shares ((B',)): probability of its labels at the ends.
    rows ((n,)): row in the outer batch. log_weights ((n, L)): 0 for a label that is allowed, else -inf.
    is_given ((n,)): whether the label is one that was drawn, so that its emission is not scored here.
    opens ((m,)), closes ((m',)): rows that begin, or end, a sequence.
    has_pairs (bool): whether neighbours that both have distributions have chains; without masks they need none.
    """

    soft: Floats
    batch: PackedBatch
    sequences: Indices
    shares: Doubles
    rows: Indices
    log_weights: Floats
    is_given: Bools
    opens: Indices
    closes: Indices
    has_pairs: bool

    @classmethod
    def of(cls, gold: Gold, batch: PackedBatch, layout: Layout) -> "OpenGold":
        """Cut the sequences of a batch. O(N L) without distributions.

        gold (Gold): in packed order. layout (Layout): what it forbids, gold does not allow.
        RAISES (NoPathError): where the masks forbid all of gold.
        """
        stretches = _Stretches.of(gold.take(batch.rows), batch.segments, with_pairs=not layout.allows_all)
        made = stretches.chains(batch, np.ones(len(stretches.owners), dtype=bool), stretches.probabilities)
        if layout.allows_all or not len(stretches.soft):
            return made
        dead = made._without_path(layout)
        if not dead.any():
            return made
        return stretches.chains(batch, ~dead, stretches.conditioned(~dead))

    def evaluate(self, chains: ChainPotentials) -> tuple[float, Counts]:
        """The mean of log Z of what gold allows, and its gradient: the expected counts.

        chains (ChainPotentials): of the outer batch.
        RAISES (NoPathError): where the potentials leave gold no path.
        """
        with numbered(self.sequences):
            messages = forward_backward(self._potentials(chains))
        marginals = node_marginals(messages)
        nodes = self.soft.astype(marginals.dtype)
        self._counted.add_transposed(marginals, out=nodes)
        drawn = self.soft > 0
        score = float(self.soft[drawn].astype(np.float64) @ chains.emissions[drawn])
        score += float(self.shares @ messages.log_z)
        transitions = expected_transitions(messages, self.shares)
        if not self.has_pairs:
            pairs, matrices = self._pairs(chains)
            score += float(np.vdot(pairs.astype(np.float64), matrices))
            transitions += pairs
        return score, Counts(nodes, transitions)

    def _pairs(self, chains: ChainPotentials) -> tuple[Floats, Floats]:
        """((L, L) or (G, L, L), the same): how often neighbours with distributions take each transition; its score."""
        if chains.edges is None:
            return pair_sums(chains.batch, self.soft, self.soft), chains.transitions
        matrices = chains.edges.matrices
        return pair_sums(chains.batch, self.soft, self.soft, chains.edges.groups, len(matrices)), matrices

    @cached_property
    def _counted(self) -> SparseRows:
        """How much the marginals of each row count in the outer batch: the share of its chain, unless it was drawn."""
        inner = np.flatnonzero(~self.is_given)
        indptr = np.concatenate([[0], np.cumsum(~self.is_given)]).astype(np.int32)
        amounts = self.shares[self.batch.row_sequences[inner]].astype(np.float32)
        return SparseRows(indptr, self.rows[inner].astype(np.int32), amounts, len(self.soft))

    def _potentials(self, chains: ChainPotentials) -> ChainPotentials:
        emissions = chains.emissions[self.rows]
        emissions[self.is_given] = 0
        emissions += self.log_weights
        emissions[self.opens] += chains.start
        emissions[self.closes] += chains.end
        nothing = np.zeros_like(chains.start)
        edges = chains.edges and chains.edges.take(self.rows)
        return ChainPotentials(self.batch, emissions, chains.transitions, nothing, nothing, edges)

    def _without_path(self, layout: Layout) -> Bools:
        """((B',)): chains whose labels at the ends the masks forbid."""
        zeros = np.zeros((layout.n_labels, layout.n_labels))
        transitions, start = masked(zeros, layout.allowed), masked(zeros[0], layout.allowed_start)
        end, emissions = masked(zeros[0], layout.allowed_end), np.zeros(self.soft.shape)
        dead = np.zeros(len(self.shares), dtype=bool)
        try:
            forward_backward(self._potentials(ChainPotentials(self.batch, emissions, transitions, start, end)))
        except NoPathError as error:
            dead[error.sequences] = True
        return dead


@dataclass(frozen=True)
class _Stretches:
    """Runs of units between those with distributions, these included, of sequences one after the other.

    A stretch has a chain for each pair of labels at its ends; at the bounds of a sequence there is one, with no label.
    Those of two units with distributions are left out unless it has_pairs.

    gold ((N, L)), sequences (Segments): of the units. soft ((s,)): units with distributions.
    firsts ((K,)), lasts ((K,)): units of each stretch. from_soft ((K,)), to_soft ((K,)): whether it is one of those.
    lefts ((C,)), rights ((C,)): of each chain the place of the label at either end among the labels of its unit.
    owners ((C,)): stretch of each chain.
    """

    gold: Floats
    sequences: Segments
    soft: Indices
    firsts: Indices
    lasts: Indices
    from_soft: Bools
    to_soft: Bools
    lefts: Indices
    rights: Indices
    owners: Indices
    has_pairs: bool

    @classmethod
    def of(cls, gold: Gold, sequences: Segments, with_pairs: bool) -> "_Stretches":
        soft, weights = gold.distributions() if with_pairs else gold.fixed(), gold.dense()
        opening, closing = sequences.openings, sequences.ends[sequences.lengths > 0] - 1
        # a unit that opens a sequence and has a distribution ends one stretch before it begins another
        begins, ends = np.concatenate([opening, soft]), np.concatenate([soft, closing])
        by_begin, by_end = np.argsort(begins, kind="stable"), np.argsort(ends, kind="stable")
        firsts, lasts = begins[by_begin], ends[by_end]
        from_soft, to_soft = by_begin >= len(opening), by_end < len(soft)
        if not with_pairs:
            kept = ~(from_soft & to_soft & (lasts == firsts + 1))
            firsts, lasts, from_soft, to_soft = firsts[kept], lasts[kept], from_soft[kept], to_soft[kept]
        sizes = (weights > 0).sum(axis=1)
        n_left, n_right = np.where(from_soft, sizes[firsts], 1), np.where(to_soft, sizes[lasts], 1)
        chains = Segments(n_left * n_right)
        lefts, rights = np.divmod(chains.positions, n_right[chains.owners])
        ends_soft = from_soft, to_soft
        return cls(weights, sequences, soft, firsts, lasts, *ends_soft, lefts, rights, chains.owners, with_pairs)

    def _ends(self) -> tuple[Indices, Indices]:
        """((C,), (C,)): the label at either end of each chain, -1 where there is none."""
        units, labels = np.nonzero(self.gold)
        begins = np.searchsorted(units, np.arange(len(self.gold)))
        left = labels[begins[self.firsts[self.owners]] + np.where(self.from_soft[self.owners], self.lefts, 0)]
        right = labels[begins[self.lasts[self.owners]] + np.where(self.to_soft[self.owners], self.rights, 0)]
        return np.where(self.from_soft[self.owners], left, -1), np.where(self.to_soft[self.owners], right, -1)

    @property
    def probabilities(self) -> Doubles:
        """((C,)): of the labels at the ends of each chain."""
        left, right = self._ends()
        before = np.where(left < 0, 1.0, self.gold[self.firsts[self.owners], left])
        after = np.where(right < 0, 1.0, self.gold[self.lasts[self.owners], right])
        return np.asarray(before * after, dtype=np.float64)

    def conditioned(self, alive: Bools) -> Doubles:
        """((C,)): the same, given that all chains of a sequence have a path: a chain over its stretches.

        RAISES (NoPathError): for sequences that have none.
        """
        found, lost = np.zeros(len(alive)), []
        by_stretch = Segments(np.bincount(self.owners, minlength=len(self.firsts))).slices()
        of_sequence = self.sequences.owners[self.firsts]
        for sequence in np.unique(of_sequence).tolist():
            parts = [by_stretch[k] for k in np.flatnonzero(of_sequence == sequence).tolist()]
            tables = [self._table(part, alive) for part in parts]
            forward = [np.ones(1)]
            for table in tables:
                forward.append(_normalised(forward[-1] @ table))
            if not forward[-1].any():
                lost.append(sequence)
                continue
            backward = np.ones(1)
            for part, table, before in zip(parts[::-1], tables[::-1], forward[-2::-1]):
                found[part] = _normalised(before[:, None] * table * backward).reshape(-1)
                backward = _normalised(table @ backward)
        if lost:
            raise NoPathError(lost)
        return found

    def _table(self, chains: slice, alive: Bools) -> Doubles:
        """Probabilities of the labels at the right end of a stretch, by those at its left end; 0 without a path."""
        last = self.lasts[self.owners[chains.start]]
        n_right = int(self.rights[chains].max()) + 1
        row = self.gold[last][self.gold[last] > 0] if self.to_soft[self.owners[chains.start]] else np.ones(1)
        return np.asarray(alive[chains].reshape(-1, n_right) * row, dtype=np.float64)

    def chains(self, batch: PackedBatch, chosen: Bools, shares: Doubles) -> OpenGold:
        """Lay out some of the chains.

        batch (PackedBatch): of the sequences. chosen ((C,)): which. shares ((C,)): of all of them.
        """
        owners, (left, right) = self.owners[chosen], (ends[chosen] for ends in self._ends())
        runs = Segments((self.lasts - self.firsts + 1)[owners])
        units, part = runs.at(self.firsts[owners]), pack(runs.lengths)
        allowed, is_given = self.gold[units] > 0, np.zeros(len(units), dtype=bool)
        for places, labels in ((runs.firsts, left), (runs.ends - 1, right)):
            given = places[labels >= 0]
            allowed[given], is_given[given] = False, True
            allowed[given, labels[labels >= 0]] = True
        begins, ends = np.zeros((2, len(units)), dtype=bool)
        begins[runs.firsts[left < 0]], ends[(runs.ends - 1)[right < 0]] = True, True
        with np.errstate(divide="ignore"):
            log_weights = np.log(allowed.astype(np.float32))
        order = part.units
        return OpenGold(
            soft=self._soft(batch, chosen, shares),
            batch=part,
            sequences=self.sequences.owners[self.firsts[owners]],
            shares=shares[chosen],
            rows=batch.rows[units[order]],
            log_weights=log_weights[order],
            is_given=is_given[order],
            opens=np.flatnonzero(begins[order]),
            closes=np.flatnonzero(ends[order]),
            has_pairs=self.has_pairs,
        )

    def _soft(self, batch: PackedBatch, chosen: Bools, shares: Doubles) -> Floats:
        """((N, L)): distributions in packed order; with masks, as the shares of chains that begin with them are."""
        if not self.has_pairs:
            fixed = np.zeros(self.gold.shape, dtype=np.float32)
            fixed[self.soft] = self.gold[self.soft]
            return fixed[batch.units]
        left, _ = self._ends()
        begun = chosen & (left >= 0)
        soft = np.zeros(self.gold.shape)
        np.add.at(soft, (self.firsts[self.owners[begun]], left[begun]), shares[begun])
        return soft[batch.units]


def _normalised(values: Doubles) -> Doubles:
    total = values.sum()
    return values / total if total else values
