"""A run of L-BFGS that was interrupted, and goes on as if it had not been."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Doubles, Floats
from ..stored import FINITE, stored_floats, stored_size
from .lbfgs import LBFGS


@dataclass(frozen=True)
class StoppedSearch:
    """Where an optimiser of n variables was, and what it remembers of its last m steps.

    x ((n,)): the point. steps ((m, n)), changes ((m, n)), curvatures ((m,)): its `history`. values ((p,)), scale
        ((1,)): as there.
    iterations (int), evaluations (int): so far. reason (str): why it has nothing left to do; empty where it has.
    """

    x: Doubles
    steps: Floats
    changes: Floats
    curvatures: Doubles
    values: Doubles
    scale: Doubles
    iterations: int
    evaluations: int
    reason: str

    @classmethod
    def of(cls, optimizer: LBFGS) -> "StoppedSearch":
        """Take note of an optimiser."""
        none = np.zeros((0, len(optimizer.x)), dtype=np.float32)
        return cls(
            optimizer.x,
            np.concatenate([none, *(step[None] for step, _, _ in optimizer.history)]),
            np.concatenate([none, *(change[None] for _, change, _ in optimizer.history)]),
            np.array([curvature for *_, curvature in optimizer.history], dtype=np.float64),
            np.array(optimizer.values, dtype=np.float64),
            np.array([optimizer.scale]),
            optimizer.iterations,
            optimizer.evaluations,
            optimizer.reason or "",
        )

    @classmethod
    def from_data(cls, data: dict[str, Any], size: int) -> "StoppedSearch":
        """Read what `vars` of one gives. RAISES (ValueError): for what is none of so many variables."""
        shapes: dict[str, tuple[tuple[int | None, ...], type[np.floating[Any]]]] = {
            "x": ((size,), np.float64),
            "steps": ((n_steps := len(data["steps"]), size), np.float32),
            "changes": ((n_steps, size), np.float32),
            "curvatures": ((n_steps,), np.float64),
            "values": ((None,), np.float64),
            "scale": ((1,), np.float64),
        }
        arrays: dict[str, Any] = {
            name: stored_floats(name, data[name], shape, -FINITE, FINITE).astype(dtype)
            for name, (shape, dtype) in shapes.items()
        }
        counts: dict[str, Any] = {name: stored_size(name, data[name]) for name in ("iterations", "evaluations")}
        return cls(**arrays, **counts, reason=str(data["reason"]))

    def resume(self, optimizer: LBFGS) -> None:
        """Bring an optimiser of the same function to where the other one was. It evaluates the function once."""
        optimizer.go_to(self.x)
        optimizer.history.clear()
        optimizer.history.extend(zip(self.steps, self.changes, self.curvatures.tolist()))
        optimizer.values.clear()
        optimizer.values.extend(self.values.tolist())
        optimizer.scale, optimizer.reason = float(self.scale[0]), self.reason or None
        optimizer.iterations, optimizer.evaluations = self.iterations, self.evaluations
