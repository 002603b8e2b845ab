"""What chains say of a batch, be they of order 1 or 2; each part is computed when it is asked for, and once."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from ..core.arrays import Bools, Doubles, Floats, Ints
from ..core.calibration.temperature import tempered
from ..core.chain.entropy import path_entropies, sequence_entropies
from ..core.chain.evidence import condition
from ..core.chain.forward import ForwardBackward, forward_backward
from ..core.chain.lattice import Lattice, LatticeMarginals, best_path
from ..core.chain.marginals import node_marginals
from ..core.chain.posterior import posterior_decode, posterior_path
from ..core.chain.potentials import ChainPotentials
from ..core.chain.second_order import PairStates, SecondOrder, checked_marginals
from ..core.chain.viterbi import viterbi


@dataclass(frozen=True)
class FirstOrderReading:
    """Labels and probabilities, in packed order.

    chains (ChainPotentials): scores. temperature (float): what they are divided by before they become probabilities.
    """

    chains: ChainPotentials
    temperature: float

    @cached_property
    def messages(self) -> ForwardBackward:
        """For everything that only chains of order 1 can tell."""
        return probabilistic(self.chains, self.temperature)

    @cached_property
    def marginals(self) -> Floats:
        """((N, L)): probability of each label of each unit."""
        return node_marginals(self.messages)

    @property
    def entropies(self) -> Doubles:
        """((B,)): of the labellings of each sequence."""
        return sequence_entropies(self.messages)

    def labels(self, posterior: bool) -> Ints:
        """((N,)): the best sequences, or those with the greatest expected number of right labels."""
        return posterior_decode(self.messages).labels if posterior else viterbi(self.chains).labels


@dataclass(frozen=True)
class SecondOrderReading:
    """The same under a chain of order 2.

    second_order (SecondOrder): weights of trigrams, and how candidates are chosen.
    """

    chains: ChainPotentials
    temperature: float
    second_order: SecondOrder
    messages: ClassVar[None] = None

    @cached_property
    def _states(self) -> PairStates:
        return self.second_order.states(self.chains)

    @cached_property
    def _lattice(self) -> Lattice:
        return self.second_order.lattice(self._states, self.chains)

    @cached_property
    def _tempered(self) -> Lattice:
        return self._lattice.tempered(self.temperature)

    @cached_property
    def _found(self) -> LatticeMarginals:
        return checked_marginals(self._tempered)

    @cached_property
    def marginals(self) -> Floats:
        """((N, L)): probability of each label of each unit; 0 for those that are no candidates."""
        return self._states.node_marginals(self._found.states)

    @property
    def entropies(self) -> Doubles:
        return path_entropies(self._tempered, self._found)

    def labels(self, posterior: bool) -> Ints:
        return posterior_path(self.chains, self.marginals).labels if posterior else best_path(self._lattice)[0]


Reading: TypeAlias = FirstOrderReading | SecondOrderReading


def read(chains: ChainPotentials, temperature: float, second_order: SecondOrder | None) -> Reading:
    """The reading of a batch.

    second_order (SecondOrder | None): for models that have weights of trigrams.
    """
    if second_order is None:
        return FirstOrderReading(chains, temperature)
    return SecondOrderReading(chains, temperature, second_order)


def given(chains: ChainPotentials, evidence: Bools | None) -> ChainPotentials:
    """Potentials under evidence.

    evidence ((N, L) | None): labels that each unit may have, one sequence after the other.
    """
    return chains if evidence is None else condition(chains, evidence[chains.batch.units])


def probabilistic(chains: ChainPotentials, temperature: float) -> ForwardBackward:
    """Messages at a temperature, in double precision: their probabilities are read by people."""
    return forward_backward(tempered(chains.astype(np.float64), temperature))
