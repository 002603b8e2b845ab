"""Sequences that a tagger is least certain of.

The measures are those of Settles and Craven (2008), https://aclanthology.org/D08-1112/.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from spacy.tokens import Doc, Span
from spacy.util import minibatch

from ...annotation.gold import as_bio
from ...core.arrays import Doubles, Floats, Ints, Segments
from ...core.chain.distribution import BestPaths
from ...core.chain.marginals import token_entropies
from ...pipe.block import SPAN_TARGETS
from ..component import CRFTagger

Order = Literal["least-confidence", "margin", "entropy", "token-entropy"]
BATCH_SIZE = 256
GROWS_WITH_CERTAINTY = ("least-confidence", "margin")
LEAST = 0.005  # less probable tags of a token are not worth reading


@dataclass(frozen=True)
class Place:
    """Where a Doc is from.

    unit (str): "line" or "document". number (int): counted from 1.
    """

    unit: str
    number: int


@dataclass(frozen=True)
class Uncertain:
    """A sequence, what a tagger makes of it, and how certain it is of that.

    place (Place): of its Doc. number (int): in the Doc, from 1. span (Span): its tokens.
    tags (list[str]): what was decoded; BIO tags for spans. probabilities (list[float]): of these.
    alternatives (list[list[tuple[str, float]]]): for each token its other tags, most probable first.
    n_best (list[tuple[list[str], float]]): the best labellings of the sequence, with their probabilities.
    certainty (float): the measure asked for.
    """

    place: Place
    number: int
    span: Span
    tags: list[str]
    probabilities: list[float]
    alternatives: list[list[tuple[str, float]]]
    n_best: list[tuple[list[str], float]]
    certainty: float


def least_certain(
    tagger: CRFTagger,
    docs: Iterable[tuple[Doc, Place]],
    order: Order = "least-confidence",
    per_token: bool = False,
    limit: int | None = None,
    n_best: int = 3,
) -> list[Uncertain]:
    """Sequences of Docs, the least certain ones first; among equals in the order of the Docs.

    tagger (CRFTagger): a trained component.
    docs (Iterable[tuple[Doc, Place]]): as the component gets to see them. Only the Docs of the result are kept.
    order (str): "least-confidence" (probability of the best labelling), "margin" (by how much it is ahead of the
        second), "entropy" (of all labellings) or "token-entropy" (sum over the tokens).
    per_token (bool): divide entropies by the length of the sequence, and take geometric means of probabilities.
    limit (int | None): how many to return at most.
    n_best (int): how many labellings of each sequence, and tags of each token, to tell.
    RETURNS (list[Uncertain]): the sequences.
    """
    found = _measured(tagger, docs, order, per_token, max(2, n_best))
    sign = 1 if order in GROWS_WITH_CERTAINTY else -1
    if limit is None:
        chosen = sorted(found, key=lambda item: sign * item.certainty)
    else:
        chosen = heapq.nsmallest(limit, found, key=lambda item: sign * item.certainty)
    return [item.describe(tagger, n_best) for item in chosen]


def measure(
    probabilities: Doubles, entropy: float, token_entropies: Doubles, order: Order, per_token: bool = False
) -> float:
    """How certain, or for entropies uncertain, a labelling is.

    probabilities ((K,)): of the best labellings, best first. entropy (float): of all labellings.
    token_entropies ((n,)): of the labels of the tokens.
    """
    length = len(token_entropies) if per_token else 1
    if order == "entropy":
        return entropy / length
    if order == "token-entropy":
        return float(token_entropies.sum()) / length
    best = probabilities ** (1 / length)
    return float(best[0] - (best[1] if order == "margin" and len(best) > 1 else 0.0))


@dataclass(frozen=True)
class _Measured:
    """A sequence before it is known whether anybody will read of it.

    index (int): of the sequence in its Doc. start (int), end (int): its tokens. labels ((n,)), marginals ((n, L)):
    of these. paths (BestPaths): its best labellings.
    """

    doc: Doc
    place: Place
    index: int
    start: int
    end: int
    labels: Ints
    marginals: Floats
    paths: BestPaths
    certainty: float

    def describe(self, tagger: CRFTagger, n_best: int) -> Uncertain:
        names = list(tagger.tags.tags)
        if tagger.target in SPAN_TARGETS:
            names = [as_bio(name) for name in names]
        tags = [names[tag] for tag in self.labels.tolist()]
        by_token = [_by_name(row, names) for row in self.marginals]
        return Uncertain(
            self.place,
            self.index + 1,
            self.doc[self.start : self.end],
            tags,
            [dict(row)[tag] for row, tag in zip(by_token, tags)],
            [_others(row, tag)[: max(1, n_best - 1)] for row, tag in zip(by_token, tags)],
            [
                ([names[tag] for tag in path], probability)
                for path, probability in zip(self.paths.labels[:n_best].tolist(), self.paths.probabilities.tolist())
            ],
            self.certainty,
        )


def _by_name(marginals: Floats, names: list[str]) -> list[tuple[str, float]]:
    """Probabilities of the tags of one token, greatest first; tags of the same name count as one."""
    distinct, numbers = np.unique(names, return_inverse=True)
    sums = np.bincount(numbers, marginals)
    return [(str(distinct[k]), float(sums[k])) for k in np.argsort(-sums, kind="stable").tolist()]


def _others(row: list[tuple[str, float]], tag: str) -> list[tuple[str, float]]:
    return [(name, probability) for name, probability in row if name != tag and probability >= LEAST]


def _measured(
    tagger: CRFTagger, docs: Iterable[tuple[Doc, Place]], order: Order, per_token: bool, k: int
) -> Iterator[_Measured]:
    posterior = getattr(tagger.settings, "decode", "viterbi") == "posterior"
    for batch in minibatch(((doc, place) for doc, place in docs if len(doc)), BATCH_SIZE):
        columns, found = tagger.distribution([doc for doc, _ in batch])
        labels, marginals = found.posterior_best() if posterior else found.best(), found.marginals
        by_token, entropies, paths = token_entropies(marginals), found.entropies, found.n_best(k)
        sequences, by_doc = Segments(columns.lengths), Segments(columns.doc_lengths)
        units, firsts = sequences.slices(), by_doc.firsts.tolist()
        for (doc, place), first, own in zip(batch, firsts, sequences.within(by_doc).slices()):
            for index, number in enumerate(range(own.start, own.stop)):
                tokens, best = units[number], paths[number]
                entropy = float(entropies[number])
                certainty = measure(best.probabilities, entropy, by_token[tokens], order, per_token)
                where = index, tokens.start - first, tokens.stop - first
                rows = marginals[tokens].astype(np.float32)
                yield _Measured(doc, place, *where, labels[tokens], rows, best, certainty)
