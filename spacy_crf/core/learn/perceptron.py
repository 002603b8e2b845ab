"""The structured perceptron (Collins 2002), averaged or not."""

import numpy as np

from ..arrays import Floats
from .difference import Difference
from .mistakes import MistakeDriven


class Perceptron(MistakeDriven):
    """Adds the features of the gold path and takes away those of the predicted one.

    batch_size (int): see `MistakeDriven`. averaging (bool): predict with the mean of the weights over time.
    """

    def __init__(self, batch_size: int = 1, dtype: type[np.floating] = np.float32, averaging: bool = True):
        super().__init__(averaging, batch_size, dtype)

    def step(self, found: Difference) -> tuple[Floats, float]:
        """A step of length 1; the loss is the number of wrong labels."""
        return found.amounts, float(found.n_wrong)
