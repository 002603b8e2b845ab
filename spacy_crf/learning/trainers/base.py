"""What a component asks of its trainer.

`accumulate` is called by `update` of the component, `apply` by `finish_update`; accumulated sub-batches are one step.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from spacy.training import Example
from thinc.api import Optimizer

from ..encoder import ChainLearner, Sample

MakeSample = Callable[[Sequence[Example]], Sample]


class Trainer(Protocol):
    """Turns examples into weights.

    learns_vectors (bool): whether it can train a model with a tok2vec layer, which wants gradients batch by batch.
    learns_trigrams (bool): whether it can train a model of order 2.
    """

    @property
    def learns_vectors(self) -> bool: ...

    @property
    def learns_trigrams(self) -> bool: ...

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        """Take in a batch.

        RETURNS (float): its loss at the present weights.
        """
        ...

    def apply(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        """Take one step with everything taken in since the last one."""
        ...

    def reset(self) -> None:
        """Forget everything that belongs to a run."""
        ...
