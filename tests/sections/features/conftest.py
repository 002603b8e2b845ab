"""Documents of layout elements, written as lines of text."""

from collections.abc import Callable

import pytest

from spacy_crf.sections.features.batch import UnitBatch
from spacy_crf.sections.features.reader import values_of
from spacy_crf.sections.features.text import Phrases, built_in
from spacy_crf.sections.layout import DocumentLayout

MakeBatch = Callable[..., UnitBatch]


def batch_of(*texts: str, runs: tuple[tuple[int, int, str], ...] = (), phrases: Phrases | None = None) -> UnitBatch:
    layouts = [DocumentLayout(text, runs) for text in texts]
    return UnitBatch([(layout.text, layout.units) for layout in layouts], phrases)


@pytest.fixture
def make_batch() -> MakeBatch:
    """Makes a batch of documents from their texts."""
    return batch_of


@pytest.fixture(scope="session")
def phrases() -> Phrases:
    """The built-in word lists."""
    return Phrases([*built_in("en"), *built_in("nl")])


@pytest.fixture
def feature(phrases: Phrases) -> Callable[..., list[str]]:
    """Values of a feature of a document."""

    def values(name: str, *texts: str, runs: tuple[tuple[int, int, str], ...] = ()) -> list[str]:
        found = values_of(batch_of(*texts, runs=runs, phrases=phrases), name)
        return [found.names[code] for code in found.codes.tolist()]

    return values
