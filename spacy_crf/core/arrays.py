"""The dimension legend and the array aliases of the whole library.

B  sequences of a batch          T  length of a sequence        N  units of a packed batch (sum of lengths)
L  labels                        F  features (attributes)       P  state weights (attribute-label pairs)
G  distinct edge matrices of a batch                            E  edge features
K  n-best                        R  constraints; rules          S  symbols of a grammar, with its markers
V  terminals of a grammar        Q  right sides of binary rules

`emissions (N, L)`, `transitions (L, L) [from, to]`, `start (L,)`, `end (L,)` are unnormalised log potentials;
`log_z (B,)`, `node_marginals (N, L)`, `edge_marginals (L, L)`. What is forbidden is a true -inf.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Doubles: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int32]
Indices: TypeAlias = npt.NDArray[np.intp]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Bools: TypeAlias = npt.NDArray[np.bool_]
