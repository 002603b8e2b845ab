"""How sure a component is of the fields that it has labelled, and of all of a reference."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..core.arrays import Bools, Ints, Segments
from ..core.labels import UNKNOWN


@dataclass(frozen=True)
class Confidence:
    """Probabilities, from 0 to 1: that all tokens of a reference have their labels, and those of each of its runs of
    one label, in order, with the label."""

    reference: float
    fields: tuple[tuple[str, float], ...]

    def below(self, least: float) -> list[tuple[str, float]]:
        """Return the fields of which it is less sure."""
        return [found for found in self.fields if found[1] < least]


CERTAIN = Confidence(1.0, ())


def find_confidences(tagger: Any, docs: Sequence[Doc]) -> list[Confidence]:
    """Return the confidence of each labelled Doc.

    tagger (Any): the component that has labelled them. Evidence is not asked, constraints only where its setting
        `probabilities` says so: these are its probabilities, at the temperature of its settings.
    """
    filled = [doc for doc in docs if len(doc)]
    found = iter(_find(tagger, filled) if filled else [])
    return [next(found) if len(doc) else Confidence(0.0, ()) for doc in docs]


def _find(tagger: Any, docs: Sequence[Doc]) -> list[Confidence]:
    columns, chain = tagger.distribution(docs, given=False)
    labels = [tagger.annotation.gold(Example(doc, doc), tagger.tags) for doc in docs]
    runs = [_runs(own) for own in labels]
    owners = Segments(np.array([len(doc) for doc in docs])).owners[np.cumsum(columns.lengths) - 1]

    def probabilities(chosen: Sequence[tuple[int, int]]) -> list[float]:
        """Of the labels from one token to another, for each Doc."""
        allowed = np.concatenate([_allow(own, *bounds, len(tagger.tags)) for own, bounds in zip(labels, chosen)])
        logs = np.bincount(owners, chain.log_probability(allowed), len(docs))
        return list(map(float, np.exp(np.minimum(logs, 0))))

    whole = probabilities([(0, len(doc)) for doc in docs])
    steps = max(map(len, runs))
    by_run = [probabilities([own[step] if step < len(own) else (0, 0) for own in runs]) for step in range(steps)]
    return [
        Confidence(
            whole[at],
            tuple((_name(tagger, labels[at][start]), by_run[step][at]) for step, (start, _) in enumerate(runs[at])),
        )
        for at in range(len(docs))
    ]


def _runs(labels: Ints) -> list[tuple[int, int]]:
    """Return the bounds of runs of one label; tokens without one make none."""
    places = [(label, list(run)) for label, run in groupby(range(len(labels)), lambda place: int(labels[place]))]
    return [(run[0], run[-1] + 1) for label, run in places if label != UNKNOWN]


def _allow(labels: Ints, start: int, end: int, n_labels: int) -> Bools:
    """((n, L)): which labels tokens may have, if those from `start` to `end` have their own."""
    allowed = np.ones((len(labels), n_labels), dtype=bool)
    places = np.arange(start, end)
    places = places[labels[start:end] != UNKNOWN]
    allowed[places] = False
    allowed[places, labels[places]] = True
    return allowed


def _name(tagger: Any, label: int) -> str:
    return str(tagger.tags.tags[label])
