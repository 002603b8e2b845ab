"""The L2 penalty that a trainer chooses for its corpus; see `core.learn.penalty`."""

import warnings
from collections.abc import Sequence

import numpy as np
from spacy.util import logger

from ..annotation.documents import number_documents
from ..core.arrays import Indices, Segments
from ..core.errors import CRFWarning
from ..core.learn.blocks import EncodedCorpus
from ..core.learn.penalty import FOLDS, LEAST, USUAL, fold_numbers, penalty_losses
from ..core.weights import Layout
from .block import LBFGSSettings
from .encoder import ChainLearner, Sample
from .errors import LearningWarnings
from .model import empty_copy, get_layout

CHOSEN = "c2 = %g, of %s by the loss of each document under weights of others: %s."


def choose_c2(
    learner: ChainLearner,
    corpus: EncodedCorpus,
    samples: Sequence[Sample],
    names: Sequence[str],
    settings: LBFGSSettings,
) -> float:
    """Choose the penalty under which documents predict others best; the default, with a warning, for too few data.

    corpus (EncodedCorpus): the samples, one after the other, all features of which are known. names (Sequence[str]):
        of the documents that their Docs are parts of, "" for one of its own.
    """
    n_units = int(corpus.gold.is_known.sum())
    if n_units < LEAST or len(corpus.lengths) < FOLDS:
        found = {"found": n_units, "sequences": len(corpus.lengths), "few": LEAST, "folds": FOLDS}
        message = LearningWarnings.CRFW410.format(name=learner.name, c2=USUAL, **found)
        warnings.warn(message, CRFWarning, stacklevel=2)
        return USUAL

    def start(part: EncodedCorpus) -> Layout:
        apart = ChainLearner(learner.name, learner.labels, learner.tags, learner.features, empty_copy(learner.model))
        apart.add_weights(part)
        return get_layout(apart.model)

    folds = fold_numbers(documents_of(samples, names))
    losses = penalty_losses(corpus, folds, start, c1=settings.c1, n_threads=settings.n_threads)
    chosen = min(losses, key=losses.__getitem__)
    logger.info(CHOSEN, chosen, ", ".join(f"{c2:g}" for c2 in losses), ", ".join(f"{v:.1f}" for v in losses.values()))
    return chosen


def documents_of(samples: Sequence[Sample], names: Sequence[str]) -> Indices:
    """((B,)): number of the document of each sequence."""
    lengths, doc_lengths = (
        np.concatenate([getattr(sample.columns, name) for sample in samples]) for name in ("lengths", "doc_lengths")
    )
    return number_documents(names)[Segments(lengths).within(Segments(doc_lengths)).owners]
