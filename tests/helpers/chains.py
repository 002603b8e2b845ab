"""What the chain of a component says, before temperature and evidence."""

from spacy_crf.core.chain.distribution import ChainDistribution
from spacy_crf.features.columns import Columns
from spacy_crf.pipe.component import ChainPipe


def distribution_of(pipe: ChainPipe, columns: Columns) -> ChainDistribution:
    return pipe.scores.distribution(columns, pipe.scores.look_up(columns))
