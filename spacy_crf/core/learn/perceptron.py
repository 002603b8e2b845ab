"""The averaged structured perceptron (Collins 2002)."""

import numpy as np

from ..types import Floats
from .difference import Difference
from .mistakes import MistakeDriven


class Perceptron(MistakeDriven):
    """Adds the features of the gold path and takes away those of the predicted one; predicts with the mean.

    batch_size (int): see `MistakeDriven`.
    """

    def __init__(self, batch_size: int = 1, dtype: type[np.floating] = np.float32):
        super().__init__(True, batch_size, dtype)

    def step(self, found: Difference) -> tuple[Floats, float]:
        """A step of length 1; the loss is the number of wrong labels."""
        return found.amounts, float(found.n_wrong)
