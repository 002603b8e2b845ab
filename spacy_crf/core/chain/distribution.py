"""What chains say of the labels of a batch: computed when it is asked for, and once.

Everything is told of the units one sequence after the other, in the order in which these were given.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, NoReturn, Protocol, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Doubles, Indices, Ints, Scalar, cached_property
from ..labels import UNKNOWN
from ..trigrams import TrigramWeights, refuse_second_order
from ..weights import ChainWeights
from .evidence import Known, allowed_labels, condition, log_evidence
from .forward import ForwardBackward, forward_backward, log_partition
from .lattice import Lattice, LatticeMarginals, best_path
from .logspace import sum_out
from .marginals import node_marginals, path_entropies, sequence_entropies
from .paths import NBest, distinct_paths, lattice_nbest, nbest, sample
from .potentials import ChainPotentials, numbered, require_paths
from .second_order import PairStates, candidates, checked_marginals, pair_log_evidence, pair_states
from .spans import SpanQuery, span_probabilities
from .viterbi import Decoded, posterior_decode, viterbi

CELLS = 1 << 22  # of transition matrices that are made at a time
MOST_PATHS = 1024  # whole labellings of a sequence that are looked at for those of some of its units


class BestPaths(NamedTuple):
    """The best labellings of one sequence, distinct, best first.

    labels ((K, T)): theirs. probabilities ((K,)): of each as a whole.
    """

    labels: Ints
    probabilities: Doubles


class Labellings(Protocol):
    """The labellings of some sequences, which can be listed by their probability."""

    @property
    def n_sequences(self) -> int: ...
    @property
    def entropies(self) -> Doubles: ...
    def best(self) -> Ints: ...
    def posterior_best(self) -> Ints: ...
    def n_best(self, k: int) -> list[BestPaths]: ...
    def select(self, sequences: Indices) -> "Labellings": ...


@dataclass(frozen=True)
class ChainDistribution:
    """p(y | x) of each of B sequences under a chain of order 1. Probabilities are exact, and in double precision.

    chains (ChainPotentials): scores. temperature (float): what they are divided by before they become probabilities;
        the best labellings do not depend on it.
    RAISES (NonFiniteError, NoPathError): with the first result, for scores without a meaning, or a sequence without any
        labelling.
    """

    chains: ChainPotentials
    temperature: float = 1.0

    # -- labellings ------------------------------------------------------------------------------------------

    @property
    def n_sequences(self) -> int:
        return self.chains.batch.n_sequences

    def best(self) -> Ints:
        """((N,)): labels of the most probable labelling of each sequence."""
        return self._by_unit(self._decoded.labels)

    @property
    def best_scores(self) -> Doubles:
        """((B,)): unnormalised log scores of these, at temperature 1."""
        return self._decoded.scores

    def posterior_best(self) -> Ints:
        """((N,)): labels of the allowed labelling with the greatest expected number of right ones."""
        return self.decode(self._marginals)

    def decode(self, gains: Doubles) -> Ints:
        """((N,)): labels of the allowed labelling with the greatest sum of gains ((N, L), in packed order)."""
        return self._by_unit(posterior_decode(self.chains, gains).labels)

    def n_best(self, k: int) -> list[BestPaths]:
        """Find the k best labellings of each sequence, or all where there are fewer. See `nbest`."""
        found = self._n_best(k)
        labels, probabilities = found.labels[:, self.chains.batch.rows], np.exp(found.scores - self.log_z[:, None])
        units, counts = self.chains.batch.segments.slices(), found.counts.tolist()
        return [BestPaths(labels[:n, own], row[:n]) for own, row, n in zip(units, probabilities, counts)]

    def sample(self, n: int, rng: np.random.Generator) -> Ints:
        """((n, N)): labels of n labellings of each sequence, drawn independently. See `sample`."""
        return sample(self.tempered, n, rng)[:, self.chains.batch.rows]

    # -- probabilities ---------------------------------------------------------------------------------------

    @property
    def marginals(self) -> Doubles:
        """((N, L)): probability of each label of each unit."""
        return self._by_unit(self._marginals)

    @property
    def entropies(self) -> Doubles:
        """((B,)): of the labelling of each sequence, in nats."""
        return sequence_entropies(self.messages)

    @cached_property
    def log_z(self) -> Doubles:
        """((B,)): log partition functions at the temperature."""
        return self.messages.log_z if "messages" in self.__dict__ else log_partition(self.tempered)

    def spans(self, *queries: SpanQuery) -> list[Doubles]:
        """Return the probability of each of some events about spans. See `span_probabilities`."""
        return span_probabilities(self.messages, *queries)

    def log_probability(self, allowed: Bools) -> Doubles:
        """((B,)): log probability that all labels of a sequence are among some ((N, L)). See `log_evidence`."""
        return log_evidence(self.tempered, allowed[self.chains.batch.units])

    # -- other distributions ---------------------------------------------------------------------------------

    def select(self, sequences: Indices) -> Self:
        """Return those of some sequences ((B',))."""
        return replace(self, chains=self.chains.select(sequences)[0])

    def without(self, hidden: Bools) -> "ChainDistribution":
        """Sum some units ((N,)) out: labellings that differ in these alone become one. See `sum_out`."""
        return ChainDistribution(sum_out(self.tempered, hidden))

    def given(self, known: Known | None) -> Self:
        """Condition on what is known ((N, L)) of the labels of each unit, nothing for None. See `condition`."""
        if known is None:
            return self
        return replace(self, chains=condition(self.chains, known[self.chains.batch.units]))

    def at(self, temperature: float) -> Self:
        """Return the same scores at another temperature."""
        return replace(self, temperature=temperature)

    # -- parts, in packed order ------------------------------------------------------------------------------

    @cached_property
    def tempered(self) -> ChainPotentials:
        """Scores at the temperature, in double precision."""
        return self.chains.astype(np.float64).tempered(self.temperature)

    @cached_property
    def messages(self) -> ForwardBackward:
        """Forward and backward messages."""
        return forward_backward(self.tempered)

    def _n_best(self, k: int) -> NBest:
        return nbest(self.tempered, k)

    @cached_property
    def _decoded(self) -> Decoded:
        return viterbi(self.chains)

    @cached_property
    def _marginals(self) -> Doubles:
        return np.asarray(node_marginals(self.messages), dtype=np.float64)

    def _by_unit(self, values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        return values[self.chains.batch.rows]


@dataclass(frozen=True)
class PartialDistribution:
    """What chains say of the labels of those units that are not hidden; labellings that differ in hidden ones alone are
    one, which has UNKNOWN there. Exact: hidden units are summed out.

    whole (ChainDistribution): of all units. hidden ((N,)): which units are hidden.
    RAISES (ValueError): under a chain of order 2, for entropies: a pair of labels beside a hidden unit goes on behind
        it, so that what is left is no chain.
    """

    whole: ChainDistribution
    hidden: Bools

    @property
    def n_sequences(self) -> int:
        return self.whole.n_sequences

    def select(self, sequences: Indices) -> Self:
        """Return those of some sequences ((B',))."""
        units = self.whole.chains.batch.segments.units(sequences)
        return type(self)(self.whole.select(sequences), self.hidden[units])

    def best(self) -> Ints:
        """((N,)): labels of the most probable labelling of each sequence; of all units, under a chain of order 2."""
        if isinstance(self.whole, SecondOrderDistribution):
            return np.where(self.hidden, UNKNOWN, self.whole.best())
        labels = np.full(len(self.hidden), UNKNOWN, dtype=np.int32)
        labels[~self.hidden] = np.concatenate([labels[:0], *(part.best() for part in self._reduced())])
        return labels

    def posterior_best(self) -> Ints:
        """((N,)): labels of the allowed labelling with the greatest expected number of right ones."""
        packed = self.hidden[self.whole.chains.batch.units]
        gains = np.where(packed[:, None], 0.0, self.whole.marginals[self.whole.chains.batch.units])
        return np.where(self.hidden, UNKNOWN, self.whole.decode(gains))

    @property
    def entropies(self) -> Doubles:
        """((B,)): of the labelling of each sequence, in nats."""
        return np.concatenate([np.zeros(0), *(part.entropies for part in self._reduced())])

    def n_best(self, k: int) -> list[BestPaths]:
        """Find the k best labellings of each sequence, or all where there are fewer.

        Under a chain of order 2 probabilities are exact, and those are listed that are best with their hidden units.
        """
        if isinstance(self.whole, SecondOrderDistribution):
            return self._listed(self.whole, k)
        best = chain.from_iterable(part.n_best(k) for part in self._reduced())
        return [
            self._with_hidden(own, paths)
            for own, paths in zip(self.whole.chains.batch.segments.split(self.hidden), best)
        ]

    def _listed(self, whole: "SecondOrderDistribution", k: int) -> list[BestPaths]:
        """The k best labellings of each sequence among its best whole labellings, with their exact probabilities."""
        own, asked = self.whole.chains.batch.segments.split(self.hidden), k
        while True:
            found = whole.n_best(asked)
            distinct = [distinct_paths(paths.labels, hidden)[:k] for paths, hidden in zip(found, own)]
            if all(len(one) == k or len(paths.labels) < asked for one, paths in zip(distinct, found)):
                break
            if asked >= MOST_PATHS:
                refuse_second_order(whole.name, "a list of so many labellings without the tokens that have no label")
            asked = min(4 * asked, MOST_PATHS)
        ranks = range(max(map(len, distinct), default=0))
        logs = [whole.log_probability(self._allowed([one[min(r, len(one) - 1)] for one in distinct])) for r in ranks]
        probabilities = np.exp(np.stack(logs, axis=1)) if logs else np.zeros((0, 0))
        orders = [np.argsort(-row[: len(one)], kind="stable") for row, one in zip(probabilities, distinct)]
        return [BestPaths(one[i], row[i]) for one, row, i in zip(distinct, probabilities, orders)]

    def _allowed(self, paths: Sequence[Ints]) -> Bools:
        """((N, L)): labels of the units on a path of each sequence; all of those that are hidden."""
        return allowed_labels(np.concatenate([*paths, np.zeros(0, np.int32)]), self.whole.chains.n_labels)

    @staticmethod
    def _with_hidden(hidden: Bools, paths: BestPaths) -> BestPaths:
        """The labellings of one sequence with its hidden units ((T,))."""
        labels = np.full((len(paths.labels), len(hidden)), UNKNOWN, dtype=np.int32)
        labels[:, ~hidden] = paths.labels
        return BestPaths(labels, paths.probabilities)

    def _reduced(self) -> Iterator[ChainDistribution]:
        """Yield the chains of the units that are not hidden, some sequences at a time."""
        for numbers in self._parts():
            part = self.select(numbers)
            with numbered(numbers):
                found = part.whole.without(part.hidden)
                require_paths(found.log_z)
            yield found

    def _parts(self) -> list[Indices]:
        """The sequences in runs whose units take matrices of about so many cells."""
        chains = self.whole.chains
        takes_own = self.hidden if chains.edges is None else np.ones_like(self.hidden)
        counts = np.bincount(chains.batch.segments.owners, takes_own, self.n_sequences)
        parts = np.cumsum(counts) * chains.n_labels**2 // CELLS
        return [run for run in np.split(np.arange(self.n_sequences), np.flatnonzero(np.diff(parts)) + 1) if len(run)]


@dataclass(frozen=True)
class SecondOrderDistribution(ChainDistribution):
    """The same under a chain of order 2, exact over candidates; other labels keep what the one of order 1 gives them.

    trigrams (TrigramWeights): of the chain. name (str): whose it is, for messages.
    RAISES (ValueError): for probabilities of spans, samples, and units that are summed out.
    """

    trigrams: TrigramWeights = field(kw_only=True)
    name: str = field(kw_only=True)

    @property
    def entropies(self) -> Doubles:
        return path_entropies(self._cooled, self._found)

    @property
    def log_z(self) -> Doubles:
        return self._found.log_z

    @property
    def tempered(self) -> NoReturn:
        refuse_second_order(self.name, "labellings of some of the tokens, without those that have no label,")

    @property
    def messages(self) -> NoReturn:
        refuse_second_order(self.name, "a probability of spans")

    @cached_property
    def _states(self) -> PairStates:
        known = self.trigrams
        return pair_states(self.chains.batch, candidates(self.chains, known.pruning), known.trigrams)

    @cached_property
    def _lattice(self) -> Lattice:
        return self._states.weighted(self._states.lattice(self.chains), self.trigrams.values)

    @cached_property
    def _cooled(self) -> Lattice:
        return self._lattice.tempered(self.temperature)

    @cached_property
    def _found(self) -> LatticeMarginals:
        return checked_marginals(self._cooled)

    def log_probability(self, allowed: Bools) -> Doubles:
        """((B,)): the same; labels that are the only ones allowed for a unit are candidates too."""
        return pair_log_evidence(self.chains, self.trigrams, allowed[self.chains.batch.units], self.temperature)

    def _n_best(self, k: int) -> NBest:
        return lattice_nbest(self._cooled, k)

    @cached_property
    def _decoded(self) -> Decoded:
        return Decoded(*best_path(self._lattice))

    @cached_property
    def _marginals(self) -> Doubles:
        states = self._states
        first_order = ChainDistribution(self.chains, self.temperature)._marginals
        others = np.where(states.candidates, 0.0, first_order)
        own: Doubles = states.node_marginals(self._found.states) * (1 - others.sum(axis=1, keepdims=True))
        return own + others


def distribution(
    chains: ChainPotentials, weights: ChainWeights, temperature: float = 1.0, name: str = "chain"
) -> ChainDistribution:
    """Return what chains say under all weights: those of trigrams are no part of the potentials."""
    known = weights.trigrams
    if known is None or not len(known.trigrams):
        return ChainDistribution(chains, temperature)
    return SecondOrderDistribution(chains, temperature, trigrams=known, name=name)
