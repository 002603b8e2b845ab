"""Scores held-out sequences: what the component's scorer would say, and how probable gold is."""

from typing import NamedTuple

import numpy as np

from ...core.arrays import Bools, Indices, Ints
from ...core.calibration.temperature import HeldOut, sequence_loss
from ...core.chain.distribution import ChainDistribution
from ...core.chain.observations import potentials
from ...core.gold import UNKNOWN
from ...core.labels import OUTSIDE, TagSet
from ...core.learn.blocks import Corpus, cut
from ...core.weights import ChainWeights
from ...pipe.block import SPAN_TARGETS
from ...tagging.component import CRFTagger

Spans = set[tuple[int, int, int]]


class HeldOutScore(NamedTuple):
    """score (float): of the decoded tags. loss (float): -log p(gold) per token whose gold is known, in nats."""

    score: float
    loss: float


class HeldOutScorer:
    """Scores weights on a corpus. Units whose gold is unknown count for nothing, as in the component's own scorer.

    pipe (CRFTagger): whose target and way of decoding hold. corpus (Corpus): with gold.
    """

    def __init__(self, pipe: CRFTagger, corpus: Corpus):
        self._tags, self._sequences, self._gold = pipe.tags, corpus.segments, corpus.gold.labels
        self._is_spans = pipe.target in SPAN_TARGETS
        self._is_posterior, self._temperature = pipe.cfg["decode"] == "posterior", pipe.cfg["temperature"]
        self._blocks = cut(corpus)

    def __call__(self, weights: ChainWeights) -> HeldOutScore:
        """Score weights, in single precision."""
        weights, labels, loss = weights.astype(np.float32), np.empty_like(self._gold), 0.0
        for block in self._blocks:
            chains = potentials(block.observations, weights.dense, weights.layout)
            found, units = ChainDistribution(chains, self._temperature), self._sequences.units(block.sequences)
            labels[units] = found.posterior_best() if self._is_posterior else found.best()
            loss += sequence_loss(HeldOut(found, self._gold[units]), 1.0)
        known = self._gold != UNKNOWN
        score = self._span_f(labels) if self._is_spans else float((labels == self._gold)[known].mean())
        return HeldOutScore(score, loss / int(known.sum()))

    def _span_f(self, labels: Ints) -> float:
        known = self._gold != UNKNOWN
        gold = np.where(known, self._gold, self._tags.number[OUTSIDE])
        theirs, ours = (_known_spans(self._tags, each, self._sequences.lengths, known) for each in (gold, labels))
        return 2 * len(theirs & ours) / max(1, len(theirs) + len(ours))


def _known_spans(tags: TagSet, labels: Ints, lengths: Indices, known: Bools) -> Spans:
    """Spans, all units of which have known gold."""
    starts, ends, first_tags = tags.spans(labels, lengths)
    unknown = np.concatenate([[0], np.cumsum(~known)])
    kept = unknown[ends] == unknown[starts]
    return set(zip(starts[kept].tolist(), ends[kept].tolist(), first_tags[kept].tolist()))
