"""What trainers that go on where a run was interrupted need of it: its examples, random numbers and optimizer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from thinc.api import Optimizer

from ..core.arrays import Doubles, Floats, Hashes, Indices
from ..core.errors import CRFError
from ..core.learn.blocks import EncodedCorpus
from ..core.learn.lbfgs import LBFGS
from ..core.stored import FINITE, stored_floats, stored_integers, stored_size
from .errors import LearningErrors
from .model import PARAMS

MEMORY = ("mom1", "mom2", "averages")  # of an optimizer, by parameter
WORD = 1 << 64
LONGEST = 200  # characters of what an error says of damaged data


@contextmanager
def usable(name: str) -> Iterator[None]:
    """Tell a stored state that is none by one coded error. name (str): of the component."""
    try:
        yield
    except CRFError:
        raise
    except Exception as error:  # whatever stumbled over it
        raise CRFError(LearningErrors.CRF208.format(name=name, error=repr(error)[:LONGEST])) from error


def sequence_checksums(corpus: EncodedCorpus) -> Hashes:
    """((B,)): a number for each sequence, which changes with its features and its gold."""
    sequences = (corpus.slice(own.start, own.stop) for own in corpus.segments.slices())
    return np.fromiter(map(_checksum, sequences), dtype=np.uint64, count=len(corpus.lengths))


def _checksum(sequence: EncodedCorpus) -> int:
    rows = [sequence.features]
    if sequence.edges is not None:
        rows.append(sequence.edges.features.take(sequence.edges.groups))
    arrays = [array for found in rows for array in (np.diff(found.indptr), found.indices, found.values)]
    arrays += [sequence.gold.labels, sequence.gold.weights, sequence.scores]
    content = b"".join(array.tobytes() for array in arrays if array is not None)
    return int.from_bytes(blake2b(content, digest_size=8).digest())


def order_of(wanted: Hashes, present: Hashes, name: str) -> Indices:
    """((B,)): where each sequence of a former run is among the present ones; a coded error where they are others."""
    stored_integers("checksums of sequences", wanted, (None,), WORD)
    if not np.array_equal(np.sort(wanted), np.sort(present)):
        raise CRFError(LearningErrors.CRF207.format(name=name, n_present=len(present), n_wanted=len(wanted)))
    order = np.empty(len(wanted), dtype=np.intp)
    order[np.argsort(wanted, kind="stable")] = np.argsort(present, kind="stable")
    return order


def generator_numbers(rng: np.random.Generator) -> Hashes:
    """((6,)): the state of a generator of numpy's default kind."""
    state = rng.bit_generator.state
    pairs = [divmod(state["state"][name], WORD) for name in ("state", "inc")]
    return np.array([*pairs[0], *pairs[1], state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def generator_of(numbers: Hashes) -> np.random.Generator:
    """Make a generator with a state. RAISES (ValueError): for numbers that are none."""
    stored_integers("state of the random numbers", numbers, (6,), WORD)
    high, low, inc_high, inc_low, has_more, more = numbers.tolist()
    rng = np.random.default_rng(0)
    state = {"state": high * WORD + low, "inc": inc_high * WORD + inc_low}
    kind = rng.bit_generator.state["bit_generator"]
    rng.bit_generator.state = {"bit_generator": kind, "state": state, "has_uint32": has_more, "uinteger": more}
    return rng


def stored_texts(hashes: Any) -> list[int]:
    """Check hashes of texts. RAISES (ValueError): for anything else."""
    found: list[int] = stored_integers("texts that were counted", hashes, (None,), WORD).tolist()
    return found


def moments_of(sgd: Optimizer, model: int) -> dict[str, dict[str, Any]]:
    """Return what an optimizer remembers of each weight, by sections of the weights. model (int): its id."""
    found = {}
    for name in PARAMS:
        if (key := (model, name)) in sgd.nr_update:
            stores = {store: getattr(sgd, store) or {} for store in MEMORY}
            held = {store: np.asarray(by_key[key]) for store, by_key in stores.items() if key in by_key}
            found[name] = {**held, "nr_update": int(sgd.nr_update[key])}
    return found


def stored_moments(data: dict[str, Any], sizes: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Check what `moments_of` gave for sections of some sizes. RAISES (ValueError): for anything else."""
    found = {}
    for name, size in zip(PARAMS, sizes):
        if (own := data.get(name)) is not None:
            arrays = {
                store: stored_floats(store, own[store], (size,), -FINITE, FINITE) for store in MEMORY if store in own
            }
            found[name] = {**arrays, "nr_update": stored_size("nr_update", own["nr_update"])}
    return found


def give_moments(sgd: Optimizer, model: int, moments: dict[str, dict[str, Any]]) -> None:
    """Let an optimizer remember what another one did."""
    for name, own in moments.items():
        for store in MEMORY:
            if store in own and getattr(sgd, store) is not None:
                getattr(sgd, store)[model, name] = own[store].astype(np.float32)
        sgd.nr_update[model, name] = own["nr_update"]


# -- of L-BFGS ---------------------------------------------------------------------------------------------------


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
