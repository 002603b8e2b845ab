"""What the chain of a component says, before temperature and evidence."""

from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc

from spacy_crf.core.chain.distribution import ChainDistribution
from spacy_crf.features.columns import Columns
from spacy_crf.pipe.component import ChainPipe
from spacy_crf.pipe.decoding import Decoder, MarginalsOutput


def distribution_of(pipe: ChainPipe, columns: Columns) -> ChainDistribution:
    return pipe.scores.distribution(columns, pipe.scores.look_up(columns))


def labels_and_marginals(pipe: ChainPipe, docs: Sequence[Doc]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The best labels of Docs, and the probabilities of all, under the present settings."""
    decoder = Decoder(None, (MarginalsOutput("unused", pipe.tags.tags),))
    return [(found.tags, found.told[0]) for found in pipe.decode(docs, decoder)]
