"""Documents of layout elements, written as lines of text."""

from collections.abc import Callable

import pytest

from spacy_crf.sections.features.catalogue import Catalogue
from spacy_crf.sections.features.phrases import Phrases, built_in
from spacy_crf.sections.features.view import UnitView
from spacy_crf.sections.units.layout import Layout

MakeView = Callable[..., UnitView]


def view_of(*texts: str, runs: tuple[tuple[int, int, str], ...] = ()) -> UnitView:
    layouts = [Layout(text, runs) for text in texts]
    return UnitView([(layout.text, layout.units) for layout in layouts])


@pytest.fixture
def make_view() -> MakeView:
    """Makes a view of documents from their texts."""
    return view_of


@pytest.fixture(scope="session")
def phrases() -> Phrases:
    """The built-in word lists."""
    return Phrases([*built_in("en"), *built_in("nl")])


@pytest.fixture
def feature(phrases: Phrases) -> Callable[..., list[str]]:
    """Values of a feature of a document."""

    def values(name: str, *texts: str, runs: tuple[tuple[int, int, str], ...] = ()) -> list[str]:
        found = Catalogue(view_of(*texts, runs=runs), phrases).values(name)
        return [found.names[code] for code in found.codes.tolist()]

    return values
