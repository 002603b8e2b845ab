"""The experiments of Heid, *Set-Valued Prediction for Part-of-Speech Tagging*, chapter 6, as splits of a corpus.

All draws depend on the seed alone, so that systems are compared on the same splits. Test parts of the same seed and
`by` are the same in "in-domain", "cross-domain", "robustness" and "across", whose scores may so be set side by side.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

import numpy as np

from ..core.arrays import Bools, Doubles, Indices
from ..core.errors import CRFError, require_count
from ..tagging.ranking import Order
from .errors import LabErrors
from .sampling import By, CorpusLayout, Rng, draw_folds, draw_test

Kind = Literal[
    "kfold",
    "monte-carlo",
    "in-domain",
    "cross-domain",
    "robustness",
    "across",
    "shuffling",
    "size",
    "pruning",
    "curve",
    "active",
]
# Orders in which sentences may be checked, and what each is to `review`
CHECKING: dict[str, Order | None] = {"random": None, "uncertain": "token-entropy", "gain": "gain"}
WITHIN = ("in-domain", "robustness", "across", "shuffling")  # kinds that divide documents
WHOLE = ("size", "pruning")  # kinds that keep them whole
FRACTIONS = (0.1, 0.2, 0.4, 0.7, 1.0)
ROUNDING = 1e-9  # a tenth of 30 documents is 3


@dataclass(frozen=True)
class SplitSettings:
    """How a corpus is split.

    kind (str): kfold        each document, sentence or chunk is tested once
                monte-carlo  a random part is tested, again and again
                in-domain    train and test within each single document (section 6.4)
                cross-domain leave one document out (6.5); within documents, training and test parts of the others stay
                             apart as in the thesis
                robustness   train on the training parts of all documents, test on the test part of each (6.6)
                across       train on the training parts of all documents, test on all the rest (6.7)
                shuffling    random sentences against contiguous chunks as test parts (6.9.1)
                size         train on the small documents, test on each large one
                pruning      leave one document out, train on the nearest of the others (6.9.2)
                curve        train on fractions of the training data (6.8.3)
                active       the same; what comes next is drawn, what the model is least certain of, or what is
                             expected to tell it most
    by (str | None): what is drawn: "document", or "sentence" or "chunk" of each document; None for documents where the
        kind allows it, and chunks otherwise.
    folds (int): of kfold. repeats (int): draws, each with other splits.
    test_share (float): of test parts. fractions (tuple[float, ...]): of pruning, curve and active.
    least_tokens (int): of a document that is tested by itself; what counts as large for "size".
    seed (int): of all draws.
    """

    kind: Kind = "kfold"
    by: By | None = None
    folds: int = 10
    repeats: int = 1
    test_share: float = 0.2
    fractions: tuple[float, ...] = FRACTIONS
    least_tokens: int = 0
    seed: int = 0

    @property
    def unit(self) -> By:
        """What is drawn."""
        return self.by or ("chunk" if self.kind in WITHIN else "document")


@dataclass(frozen=True)
class Part:
    """What is tested on at once: its name for tables, and the numbers of its sentences, ascending."""

    name: str
    sentences: Indices


@dataclass(frozen=True)
class Split:
    """One training part, and what the model is tested on.

    name (str): for tables and messages. train: numbers of sentences, ascending. tests (tuple[Part, ...]): one or more.
    series (str): what belongs together where an experiment compares ways to split; "" otherwise.
    fraction (float): share of the training data that is used. draw (int): number of the draw that it belongs to.
    """

    name: str
    train: Indices
    tests: tuple[Part, ...]
    series: str = ""
    fraction: float = 1.0
    draw: int = 0


def split_by(name: str, is_test: Bools, series: str = "") -> Split:
    """Train on all sentences but those tested on ((S,))."""
    return Split(name, np.flatnonzero(~is_test), (Part(name, np.flatnonzero(is_test)),), series)


def make_splits(layout: CorpusLayout, settings: SplitSettings, distances: Doubles | None = None) -> list[Split]:
    """Return the splits of an experiment, none of which tests on what it trains on.

    distances ((D, D)): of documents, for "pruning"; see `documents.jensen_shannon`.
    """
    unit, kind = settings.unit, settings.kind
    if (kind in WITHIN and unit == "document") or (kind in WHOLE and unit != "document"):
        raise CRFError(LabErrors.CRF613.format(kind=kind, by=unit))
    require_count(repeats=settings.repeats)
    if settings.repeats > 1 and (kind in WHOLE or (kind == "cross-domain" and unit == "document")):
        raise CRFError(LabErrors.CRF615.format(kind=kind))
    for fraction in settings.fractions:
        if not 0 < fraction <= 1:
            raise CRFError(LabErrors.CRF611.format(name="fraction", value=fraction))
    draws = (_Draw(layout, settings, number, distances) for number in range(settings.repeats))
    return [replace(split, draw=draw.number) for draw in draws for split in KINDS[kind](draw)]


@dataclass(frozen=True)
class _Draw:
    """One draw of an experiment, which makes its splits; see `make_splits` for the distances."""

    layout: CorpusLayout
    settings: SplitSettings
    number: int
    distances: Doubles | None = None

    @property
    def rng(self) -> Rng:
        """A generator at its beginning."""
        return np.random.default_rng([self.settings.seed, self.number])

    def is_test(self, unit: By | None = None, rng: Rng | None = None) -> Bools:
        """Draw the test part ((S,))."""
        return draw_test(self.layout, unit or self.settings.unit, self.settings.test_share, rng or self.rng)

    def name(self, name: str = "") -> str:
        """With the number of the draw, if there are several."""
        number = f"draw {self.number + 1}" if self.settings.repeats > 1 or not name else ""
        return ", ".join(filter(None, [number, name]))

    def tested_alone(self, is_test: Bools | bool = True) -> list[tuple[int, Part]]:
        """The documents that are large enough, with what of them is tested."""
        layout, least = self.layout, self.settings.least_tokens
        large = np.flatnonzero(layout.sizes >= least).tolist()
        parts = [(d, Part(layout.names[d], np.flatnonzero(is_test & (layout.documents == d)))) for d in large]
        found = [(document, part) for document, part in parts if len(part.sentences)]
        if not found:
            raise CRFError(LabErrors.CRF614.format(least=least, largest=layout.sizes.max()))
        return found

    def kfold(self) -> Iterator[Split]:
        numbers = draw_folds(self.layout, self.settings.unit, self.settings.folds, self.rng)
        for fold in range(self.settings.folds):
            yield split_by(self.name(f"fold {fold + 1}"), numbers == fold)

    def monte_carlo(self) -> Iterator[Split]:
        yield split_by(self.name(), self.is_test())

    def shuffling(self) -> Iterator[Split]:
        units: tuple[By, By] = ("chunk", "sentence")
        for unit in units:
            yield split_by(self.name(unit), self.is_test(unit), unit)

    def in_domain(self) -> Iterator[Split]:
        is_test = self.is_test()
        for document, part in self.tested_alone(is_test):
            train = np.flatnonzero(~is_test & (self.layout.documents == document))
            yield Split(self.name(part.name), train, (part,))

    def cross_domain(self) -> Iterator[Split]:
        """Without a draw if documents are tested as a whole."""
        whole = self.settings.unit == "document"
        is_test = np.ones(len(self.layout.lengths), dtype=bool) if whole else self.is_test()
        for document, part in self.tested_alone(is_test):
            is_train = (self.layout.documents != document) & (whole | ~is_test)
            yield Split(self.name(part.name), np.flatnonzero(is_train), (part,))

    def robustness(self) -> Iterator[Split]:
        is_test = self.is_test()
        tests = tuple(part for _, part in self.tested_alone(is_test))
        yield Split(self.name(), np.flatnonzero(~is_test), tests)

    def size(self) -> Iterator[Split]:
        least = self.settings.least_tokens
        is_small = (self.layout.sizes < least)[self.layout.documents]
        tests = tuple(part for _, part in self.tested_alone())
        yield Split(f"below {least} tokens", np.flatnonzero(is_small), tests)

    def curve(self) -> Iterator[Split]:
        """Training parts are nested: the smaller ones are contained in the greater ones."""
        rng = self.rng
        is_test = self.is_test(rng=rng)
        train, test = np.flatnonzero(~is_test), Part(self.name(), np.flatnonzero(is_test))
        ranks = _ranks(self.layout, self.settings.unit, train, rng)
        for fraction in sorted(set(self.settings.fractions)):
            name = self.name(f"{100 * fraction:g} % of the training data")
            yield Split(name, train[ranks < fraction], (test,), fraction=fraction)

    def active(self) -> Iterator[Split]:
        """The whole training part for each order in which it may be checked; fractions are taken while that goes on."""
        is_test = self.is_test()
        train, test = np.flatnonzero(~is_test), Part(self.name(), np.flatnonzero(is_test))
        for order in CHECKING:
            yield Split(self.name(order), train, (test,), order)

    def pruning(self) -> Iterator[Split]:
        assert self.distances is not None
        for document, part in self.tested_alone():
            nearest = np.argsort(self.distances[document], kind="stable")
            nearest = nearest[nearest != document]
            for fraction in sorted(set(self.settings.fractions)):
                kept = nearest[: ceil(fraction * len(nearest) - ROUNDING)]
                train = np.flatnonzero(np.isin(self.layout.documents, kept))
                yield Split(f"{part.name}, nearest {100 * fraction:g} %", train, (part,), fraction=fraction)


KINDS: dict[str, Callable[[_Draw], Iterator[Split]]] = {
    "kfold": _Draw.kfold,
    "monte-carlo": _Draw.monte_carlo,
    "in-domain": _Draw.in_domain,
    "cross-domain": _Draw.cross_domain,
    "robustness": _Draw.robustness,
    "across": _Draw.monte_carlo,
    "shuffling": _Draw.shuffling,
    "size": _Draw.size,
    "pruning": _Draw.pruning,
    "curve": _Draw.curve,
    "active": _Draw.active,
}


def _ranks(layout: CorpusLayout, unit: By, train: Indices, rng: Rng) -> Doubles:
    """((n,)): from which fraction on each training sentence is used; the first unit, or that of each document, is 0."""
    owners = layout.documents[train]
    if unit == "document":
        present = np.unique(owners)
        places = np.argsort(rng.permutation(len(present)))
        return np.asarray((places / len(present))[np.searchsorted(present, owners)])
    if unit == "sentence":
        return np.asarray(np.argsort(rng.permutation(len(train))) / len(train))
    before = np.cumsum(layout.lengths[train]) - layout.lengths[train]
    first = np.searchsorted(owners, owners)
    sizes = np.bincount(owners, weights=layout.lengths[train])
    return np.asarray((before - before[first]) / sizes[owners])
