"""What the chain of a component says, before temperature and evidence."""

from collections.abc import Sequence

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from helpers.oracle import Chain
from helpers.tagged import train
from helpers.weights import flat_weights, set_flat_weights
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


def softened(**config: object) -> Language:
    """A trained tagger whose probabilities are not all near 0 and 1."""
    nlp = train(**config)
    pipe = nlp.get_pipe("crf_tagger")
    set_flat_weights(pipe.model, flat_weights(pipe.model) * 0.15)
    return nlp


def chain_of(nlp: Language, words: list[str]) -> Chain:
    """The chain of a tagger over one sequence, for the oracle."""
    pipe = nlp.get_pipe("crf_tagger")
    chains = distribution_of(pipe, pipe.read_columns([Doc(nlp.vocab, words=words)])).chains.astype(np.float64)
    return Chain(chains.emissions, [chains.transitions] * len(words), chains.start, chains.end)
