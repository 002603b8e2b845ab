"""What chains say of the labels of a batch: computed when it is asked for, and once.

Everything is told of the units one sequence after the other, in the order in which these were given.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Doubles, Ints, Scalar, cached_property
from ..labels import UNKNOWN
from ..trigrams import TrigramWeights, refuse_second_order
from ..weights import ChainWeights
from .evidence import Known, allowed_labels, condition, log_evidence
from .forward import ForwardBackward, forward_backward, log_partition
from .lattice import Lattice, LatticeMarginals, best_path
from .marginals import node_marginals, path_entropies, sequence_entropies
from .paths import nbest, sample
from .potentials import ChainPotentials
from .second_order import PairStates, candidates, checked_marginals, pair_states
from .spans import SpanQuery, span_probabilities
from .viterbi import Decoded, posterior_decode, viterbi


class BestPaths(NamedTuple):
    """The best labellings of one sequence, distinct, best first.

    labels ((K, T)): theirs. probabilities ((K,)): of each as a whole.
    """

    labels: Ints
    probabilities: Doubles


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

    def best(self) -> Ints:
        """((N,)): labels of the most probable labelling of each sequence."""
        return self._by_unit(self._decoded.labels)

    @property
    def best_scores(self) -> Doubles:
        """((B,)): unnormalised log scores of these, at temperature 1."""
        return self._decoded.scores

    def posterior_best(self) -> Ints:
        """((N,)): labels of the allowed labelling with the greatest expected number of right ones."""
        return self._by_unit(posterior_decode(self.chains, self._marginals).labels)

    def n_best(self, k: int) -> list[BestPaths]:
        """Find the k best labellings of each sequence, or all where there are fewer. See `nbest`."""
        found = nbest(self.tempered, k)
        labels, probabilities = found.labels[:, self.chains.batch.rows], np.exp(found.scores - self.log_z[:, None])
        units, counts = self.chains.batch.segments.slices(), found.counts.tolist()
        return [BestPaths(labels[:n, own], row[:n]) for own, row, n in zip(units, probabilities, counts)]

    def hiding(self, found: Sequence[Ints], hidden: Bools) -> list[BestPaths]:
        """Join labellings ((K, T) of each sequence) that differ in hidden units ((N,)) alone: UNKNOWN there, and with
        the probability that the other units have their labels, whatever the hidden ones have. O(N L^2) for each k."""
        n_labels, units = self.chains.n_labels, self.chains.batch.segments.slices()
        rows = [list(map(tuple, np.where(hidden[own], UNKNOWN, paths).tolist())) for own, paths in zip(units, found)]
        distinct = [list(dict.fromkeys(own)) for own in rows]
        logs: list[list[float]] = [[] for _ in distinct]
        for k in range(max(map(len, distinct), default=0)):
            numbers = np.array([b for b, paths in enumerate(distinct) if k < len(paths)], dtype=np.intp)
            part, _ = self.tempered.select(numbers)
            labels = np.array([label for b in numbers for label in distinct[b][k]], dtype=np.int32)
            told = log_evidence(part, allowed_labels(labels, n_labels)[part.batch.units])
            for b, log in zip(numbers.tolist(), told.tolist()):
                logs[b].append(log)
        joined = [(np.array(paths, dtype=np.int32), np.exp(own)) for paths, own in zip(distinct, logs)]
        orders = [np.argsort(-probabilities, kind="stable") for _, probabilities in joined]
        return [BestPaths(paths[order], values[order]) for (paths, values), order in zip(joined, orders)]

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

    @cached_property
    def _decoded(self) -> Decoded:
        return viterbi(self.chains)

    @cached_property
    def _marginals(self) -> Doubles:
        return np.asarray(node_marginals(self.messages), dtype=np.float64)

    def _by_unit(self, values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        return values[self.chains.batch.rows]


@dataclass(frozen=True)
class SecondOrderDistribution(ChainDistribution):
    """The same under a chain of order 2, exact over candidates; other labels keep what the one of order 1 gives them.

    trigrams (TrigramWeights): of the chain. name (str): whose it is, for messages.
    RAISES (ValueError): by all that takes more than the labels of single units and the best labelling.
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
        refuse_second_order(self.name, "a list of the best sequences")

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
