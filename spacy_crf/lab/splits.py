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
from ..core.errors import CoreErrors, CRFError
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
]
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
    by (str | None): what is drawn: "document", or "sentence" or "chunk" of each document; None for documents where the
        kind allows it, and chunks otherwise.
    folds (int): of kfold. repeats (int): draws, each with other splits.
    test_share (float): of test parts. fractions (tuple[float, ...]): of pruning and curve.
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
    """What is tested on at once.

    name (str): for tables. sentences: their numbers, ascending.
    """

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
    """Train on all sentences but those tested on. is_test ((S,)): the latter."""
    return Split(name, np.flatnonzero(~is_test), (Part(name, np.flatnonzero(is_test)),), series)


def make_splits(layout: CorpusLayout, settings: SplitSettings, distances: Doubles | None = None) -> list[Split]:
    """Return the splits of an experiment.

    distances ((D, D)): of documents, for "pruning"; see `documents.jensen_shannon`.
    RETURNS (list[Split]): none of them tests on what it trains on.
    RAISES (ValueError): for settings without a meaning, and corpora that cannot be split so.
    """
    unit, kind = settings.unit, settings.kind
    if (kind in WITHIN and unit == "document") or (kind in WHOLE and unit != "document"):
        raise CRFError(LabErrors.CRF613.format(kind=kind, by=unit))
    if settings.repeats < 1:
        raise CRFError(CoreErrors.CRF108.format(name="repeats", least=1, value=settings.repeats))
    if settings.repeats > 1 and (kind in WHOLE or (kind == "cross-domain" and unit == "document")):
        raise CRFError(LabErrors.CRF615.format(kind=kind))
    for fraction in settings.fractions:
        if not 0 < fraction <= 1:
            raise CRFError(LabErrors.CRF611.format(name="fraction", value=fraction))
    if kind == "pruning":
        assert distances is not None
        return list(_prune(layout, settings, distances))
    draws = range(settings.repeats)
    return [replace(split, draw=draw) for draw in draws for split in KINDS[kind](layout, settings, draw)]


def _rng(settings: SplitSettings, repeat: int) -> Rng:
    return np.random.default_rng([settings.seed, repeat])


def _test_part(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Bools:
    return draw_test(layout, settings.unit, settings.test_share, _rng(settings, repeat))


def _name(settings: SplitSettings, repeat: int, name: str = "") -> str:
    """With the number of the repeat, if there are several."""
    return ", ".join(filter(None, [f"draw {repeat + 1}" if settings.repeats > 1 or not name else "", name]))


def _kfold(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Iterator[Split]:
    numbers = draw_folds(layout, settings.unit, settings.folds, _rng(settings, repeat))
    for fold in range(settings.folds):
        yield split_by(_name(settings, repeat, f"fold {fold + 1}"), numbers == fold)


def _monte_carlo(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Iterator[Split]:
    yield split_by(_name(settings, repeat), _test_part(layout, settings, repeat))


def _shuffling(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Iterator[Split]:
    units: tuple[By, By] = ("chunk", "sentence")
    for unit in units:
        is_test = draw_test(layout, unit, settings.test_share, _rng(settings, repeat))
        yield split_by(_name(settings, repeat, unit), is_test, unit)


def _tested_alone(layout: CorpusLayout, settings: SplitSettings, is_test: Bools) -> Iterator[tuple[int, Part]]:
    """The documents that are large enough, with what of them is tested."""
    large = np.flatnonzero(layout.sizes >= settings.least_tokens)
    parts = [(d, Part(layout.names[d], np.flatnonzero(is_test & (layout.documents == d)))) for d in large.tolist()]
    found = [(document, part) for document, part in parts if len(part.sentences)]
    if not found:
        raise CRFError(LabErrors.CRF614.format(least=settings.least_tokens, largest=layout.sizes.max()))
    yield from found


def _in_domain(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Iterator[Split]:
    is_test = _test_part(layout, settings, repeat)
    for document, part in _tested_alone(layout, settings, is_test):
        train = np.flatnonzero(~is_test & (layout.documents == document))
        yield Split(_name(settings, repeat, part.name), train, (part,))


def _cross_domain(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Iterator[Split]:
    """Without a draw if documents are tested as a whole."""
    whole = settings.unit == "document"
    is_test = np.ones(len(layout.lengths), dtype=bool) if whole else _test_part(layout, settings, repeat)
    for document, part in _tested_alone(layout, settings, is_test):
        is_train = (layout.documents != document) & (whole | ~is_test)
        yield Split(_name(settings, repeat, part.name), np.flatnonzero(is_train), (part,))


def _robustness(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Iterator[Split]:
    is_test = _test_part(layout, settings, repeat)
    tests = tuple(part for _, part in _tested_alone(layout, settings, is_test))
    yield Split(_name(settings, repeat), np.flatnonzero(~is_test), tests)


def _size(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Iterator[Split]:
    is_large = (layout.sizes >= settings.least_tokens)[layout.documents]
    tests = tuple(part for _, part in _tested_alone(layout, settings, np.ones(len(is_large), dtype=bool)))
    yield Split(f"below {settings.least_tokens} tokens", np.flatnonzero(~is_large), tests)


def _curve(layout: CorpusLayout, settings: SplitSettings, repeat: int) -> Iterator[Split]:
    """Training parts are nested: the smaller ones are contained in the greater ones."""
    rng = _rng(settings, repeat)
    is_test = draw_test(layout, settings.unit, settings.test_share, rng)
    train, test = np.flatnonzero(~is_test), Part(_name(settings, repeat), np.flatnonzero(is_test))
    ranks = _ranks(layout, settings.unit, train, rng)
    for fraction in sorted(set(settings.fractions)):
        name = _name(settings, repeat, f"{100 * fraction:g} % of the training data")
        yield Split(name, train[ranks < fraction], (test,), fraction=fraction)


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


def _prune(layout: CorpusLayout, settings: SplitSettings, distances: Doubles) -> Iterator[Split]:
    everything = np.ones(len(layout.lengths), dtype=bool)
    for document, part in _tested_alone(layout, settings, everything):
        nearest = np.argsort(distances[document], kind="stable")
        nearest = nearest[nearest != document]
        for fraction in sorted(set(settings.fractions)):
            kept = nearest[: ceil(fraction * len(nearest) - ROUNDING)]
            train = np.flatnonzero(np.isin(layout.documents, kept))
            yield Split(f"{part.name}, nearest {100 * fraction:g} %", train, (part,), fraction=fraction)


KINDS: dict[str, Callable[[CorpusLayout, SplitSettings, int], Iterator[Split]]] = {
    "kfold": _kfold,
    "monte-carlo": _monte_carlo,
    "in-domain": _in_domain,
    "cross-domain": _cross_domain,
    "robustness": _robustness,
    "across": _monte_carlo,
    "shuffling": _shuffling,
    "size": _size,
    "curve": _curve,
}
