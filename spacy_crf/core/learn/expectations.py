"""What the chains of a block expect: one pass of the recursions, two where gold leaves labels open."""

from typing import NamedTuple

from ..chain.forward import ForwardBackward, forward_backward
from ..chain.objective import Counts, model_counts
from ..chain.potentials import ChainPotentials, numbered
from .blocks import Block


class Expectations(NamedTuple):
    """What a block's chains expect.

    counts (Counts): of the model, less those of gold that has no fixed target in each unit.
    messages (ForwardBackward): of the model. log_gold (float): log Z of the paths that such gold allows, else 0.
    """

    counts: Counts
    messages: ForwardBackward
    log_gold: float

    @property
    def loss(self) -> float:
        """Of gold that has no fixed target."""
        return float(self.messages.log_z.sum()) - self.log_gold


def expectations(block: Block, chains: ChainPotentials) -> Expectations:
    """Run the recursions of a block; constant counts of gold are left to the caller."""
    with numbered(block.sequences):
        messages = forward_backward(chains)
        counts = model_counts(messages)
        if block.log_gold is None:
            return Expectations(counts, messages, 0.0)
        clamped = forward_backward(chains.clamped(block.log_gold))
    return Expectations(counts.minus(model_counts(clamped)), messages, float(clamped.log_z.sum()))
