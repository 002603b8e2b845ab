"""Scores held-out sequences: what the component's scorer would say, and how probable gold is."""

from typing import NamedTuple

import numpy as np

from ...core.arrays import Bools, Floats, Indices, Ints
from ...core.calibration.temperature import HeldOut, sequence_loss
from ...core.chain.observations import potentials
from ...core.chain.posterior import posterior_decode
from ...core.chain.potentials import ChainPotentials
from ...core.chain.viterbi import viterbi
from ...core.gold import UNKNOWN
from ...core.labels import OUTSIDE, TagSet
from ...core.learn.blocks import Corpus, cut
from ...core.weights import DenseWeights, Layout, scatter
from ...pipe.reading import probabilistic
from ...pipe.settings import SPAN_TARGETS
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
        self._tags, self._lengths, self._gold = pipe.tags, corpus.lengths, corpus.gold.labels
        self._is_spans = pipe.target in SPAN_TARGETS
        self._is_posterior, self._temperature = pipe.cfg["decode"] == "posterior", pipe.cfg["temperature"]
        self._blocks = cut(corpus)

    def __call__(self, layout: Layout, flat: Floats) -> HeldOutScore:
        """Score.

        layout (Layout), flat ((layout.size,)): weights.
        """
        weights = DenseWeights.zeros(layout)
        scatter(layout, flat, weights)
        labels, loss = np.empty_like(self._gold), 0.0
        for block in self._blocks:
            chains = potentials(block.observations, weights, layout)
            labels[block.units] = self._decode(chains)
            loss += sequence_loss(HeldOut(chains.astype(np.float64), block.gold.labels), 1.0)
        known = self._gold != UNKNOWN
        score = self._span_f(labels) if self._is_spans else float((labels == self._gold)[known].mean())
        return HeldOutScore(score, loss / int(known.sum()))

    def _decode(self, chains: ChainPotentials) -> Ints:
        if self._is_posterior:
            return posterior_decode(probabilistic(chains, self._temperature)).labels
        return viterbi(chains).labels

    def _span_f(self, labels: Ints) -> float:
        known = self._gold != UNKNOWN
        gold = np.where(known, self._gold, self._tags.number[OUTSIDE])
        theirs, ours = (_known_spans(self._tags, each, self._lengths, known) for each in (gold, labels))
        return 2 * len(theirs & ours) / max(1, len(theirs) + len(ours))


def _known_spans(tags: TagSet, labels: Ints, lengths: Indices, known: Bools) -> Spans:
    """Spans, all units of which have known gold."""
    starts, ends, first_tags = tags.spans(labels, lengths)
    unknown = np.concatenate([[0], np.cumsum(~known)])
    kept = unknown[ends] == unknown[starts]
    return set(zip(starts[kept].tolist(), ends[kept].tolist(), first_tags[kept].tolist()))
