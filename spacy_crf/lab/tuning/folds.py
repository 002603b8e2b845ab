"""A training corpus that is encoded once, and its folds.

Features are numbered over the whole corpus, but which of them a fold may use, and for which labels they have weights,
depends on the part that it trains on alone: nothing of what is held out shows in its model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from spacy.training import Example

from ...core.arrays import Bools, Indices, Segments
from ...core.chain.observations import EdgeObservations
from ...core.errors import CRFError
from ...core.gold import UNKNOWN
from ...core.learn.blocks import Corpus
from ...core.sparse import SparseRows
from ...core.weights import Layout
from ...features.features import Features
from ...learning.encoder import ChainLearner
from ...learning.model import LinearChain, get_layout, start_layout
from ...tagging.component import CRFTagger
from ..errors import LabErrors

Unit = Literal["auto", "doc", "sequence"]


@dataclass(frozen=True)
class Fold:
    """What one part of the corpus is judged by.

    layout (Layout): the weights that the other parts give rise to. train (Corpus): these. held_out (Corpus): the part.
    """

    layout: Layout
    train: Corpus
    held_out: Corpus


@dataclass(frozen=True)
class Encoded:
    """A corpus as a component sees it, which is left as it is.

    pipe (CRFTagger): the component. features (Features): all that the corpus has.
    corpus (Corpus): all sequences. documents ((B,)): the number of the document of each.
    """

    pipe: CRFTagger
    features: Features
    corpus: Corpus
    documents: Indices

    def folds(self, count: int, unit: Unit, seed: int) -> Iterator[Fold]:
        """Folds of about the same number of documents, or of sequences, drawn at random.

        Those without any gold can judge nothing, and are always trained on.

        count (int): how many. unit (str): "doc", "sequence", or "auto" for documents where there are enough of them.
        RAISES (ValueError): where there are fewer documents or sequences than folds.
        """
        judging, sequences = self._judging(), np.arange(len(self.documents))
        documents = np.unique(self.documents[judging])
        by_document = unit == "doc" or (unit == "auto" and len(documents) >= count)
        groups, drawn = (self.documents, documents) if by_document else (sequences, sequences[judging])
        if not 2 <= count <= len(drawn):
            kind = "documents" if by_document else "sequences"
            raise CRFError(LabErrors.CRF603.format(folds=count, found=len(drawn), kind=kind))
        drawn = np.random.default_rng(seed).permutation(drawn)
        return (self.fold(np.isin(groups, drawn[number::count])) for number in range(count))

    def fold(self, is_held_out: Bools) -> Fold:
        """A fold.

        is_held_out ((B,)): sequences that are not trained on.
        """
        config = self.features.config
        train = self.corpus.take(np.flatnonzero(~is_held_out))
        train = _without_rare(train, config.min_count, config.min_edge_count)
        learner = self._learner()
        learner.add_weights(train)
        layout = get_layout(learner.model)
        is_seen = np.bincount(train.features.indices, minlength=layout.n_features) > 0
        layout = replace(layout, state_cells=layout.state_cells[is_seen[layout.state_cells // layout.n_labels]])
        return Fold(layout, train, self.corpus.take(np.flatnonzero(is_held_out)))

    def _judging(self) -> Bools:
        """((B,)): sequences with a unit whose gold is known."""
        known = self.corpus.gold.labels != UNKNOWN
        return np.bincount(self.corpus.segments.owners[known], minlength=len(self.documents)) > 0

    def _learner(self) -> ChainLearner:
        """With a model of the component's kind that has no weights yet."""
        pipe, layout = self.pipe, get_layout(self.pipe.model)
        kinds = {name: pipe.model.attrs[name] for name in ("all_states", "all_transitions")}
        model = LinearChain(layout.boundary, **kinds)
        start_layout(model, pipe.tags, (layout.allowed, layout.allowed_start, layout.allowed_end))
        return ChainLearner(pipe.name, pipe.labels, pipe.tags, self.features, model, pipe.vocab)


def encode(pipe: CRFTagger, examples: Sequence[Example]) -> Encoded:
    """Encode a corpus once for all folds.

    pipe (CRFTagger): has its labels. examples (Sequence[Example]): the training corpus.
    """
    pipe._require_labels()
    sample = pipe._sample(examples)
    features = Features(pipe.feature_config, pipe.sequence, pipe._features.resources)
    learner = ChainLearner(pipe.name, pipe.labels, pipe.tags, features, pipe.model, pipe.vocab)
    learner.grow([sample])
    corpus = learner.encode(sample)
    return Encoded(pipe, features, corpus, corpus.segments.within(Segments(sample.columns.doc_lengths)).owners)


def _without_rare(corpus: Corpus, min_count: int, min_edge_count: int) -> Corpus:
    """Without the features that a component would not have numbered, had it seen no more than this."""
    features, edges = corpus.features, corpus.edges
    if min_count > 1:
        features = _keep(features, np.ones(features.n_rows, dtype=np.intp), min_count)
    if edges is not None and min_edge_count > 1:
        uses = np.bincount(edges.groups, minlength=edges.features.n_rows)
        edges = EdgeObservations(_keep(edges.features, uses, min_edge_count), edges.groups)
    return replace(corpus, features=features, edges=edges)


def _keep(rows: SparseRows, uses: Indices, min_count: int) -> SparseRows:
    """Rows with the columns that occur often enough.

    uses ((N,)): how often each row is used.
    """
    counts = np.bincount(rows.indices, weights=uses[rows.row_numbers()], minlength=rows.n_columns)
    kept = np.flatnonzero(counts[rows.indices] >= min_count)
    return rows.select(kept, rows.indices[kept], rows.n_columns)
