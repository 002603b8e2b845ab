"""Test Docs whose feature keys are made: what decoding and marginals start from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.measure import Settings
from benchmarks.ours import NAME, load, make_docs, read
from spacy_crf.core.chain.potentials import ChainPotentials, observe, potentials
from spacy_crf.core.threads import available_threads
from spacy_crf.features.extract import Keys
from spacy_crf.tagging.component import CRFTagger


@dataclass(frozen=True)
class Prepared:
    """Work for the threads: each part looks its keys up and gives its potentials.

    parts (list[Callable]): about equal shares of the test sentences.
    n_tokens (int): in all parts.
    """

    parts: list[Callable[[], ChainPotentials]]
    n_tokens: int


def prepare(settings: Settings) -> Prepared:
    """Make the feature keys of the test sentences.

    settings (Settings): settings of the job.
    RETURNS (Prepared): keys, not yet looked up: the peer's prepared items are strings, too.
    """
    nlp = load(settings)
    pipe = nlp.get_pipe(NAME)
    assert isinstance(pipe, CRFTagger)
    extractor = pipe.features.extractor
    columns = extractor.read(make_docs(nlp, read(settings, "test")), nlp.vocab)
    parts = columns.split(available_threads())
    keys = [extractor.keys(part, extractor.state_templates) for part in parts]
    _ = pipe.scores  # made at the first use: part of loading
    jobs = [partial(_potentials, pipe, part.lengths, own) for part, own in zip(parts, keys)]
    return Prepared(jobs, len(columns.orths))


def _potentials(pipe: CRFTagger, lengths: object, keys: Keys) -> ChainPotentials:
    observations = observe(lengths, pipe.features.state.encode(keys))  # type: ignore[arg-type]
    weights = pipe.scores.weights
    return potentials(observations, weights.dense, weights.layout)
