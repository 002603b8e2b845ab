"""The batcher for full-batch trainers."""

from collections.abc import Callable, Iterable, Iterator

from spacy.training import Example
from spacy.util import registry


@registry.batchers("spacy_crf.full_batch.v1")
def make_full_batch() -> Callable[[Iterable[Example]], Iterator[list[Example]]]:
    """Batches of the whole corpus: one step of the training loop sees every example.

    RETURNS (Callable): the batcher.
    """
    return full_batch


def full_batch(examples: Iterable[Example]) -> Iterator[list[Example]]:
    """All examples as one batch."""
    batch = list(examples)
    if batch:
        yield batch
