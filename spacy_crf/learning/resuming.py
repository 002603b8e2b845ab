"""What trainers have in common that go on where a run was interrupted: its examples, its random numbers, its errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import numpy as np

from ..core.arrays import Hashes, Indices
from ..core.errors import CRFError
from ..core.learn.blocks import EncodedCorpus
from ..core.stored import stored_integers
from .errors import LearningErrors

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
