"""The reader that gives a part of a corpus to spaCy's own training, which asks for its corpora by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry, resolve_dot_names
from thinc.api import Config

from ...core.arrays import Indices
from .documents import Pool, Reader, read_pool

READER = "spacy_crf.Selection.v1"
_SELECTIONS: dict[str, Reader] = {}


@registry.readers(READER)
def make_selection(key: str) -> Reader:
    """The examples that an experiment holds at the moment; of no use outside of one.

    key (str): as `selected` gives it.
    """
    return _SELECTIONS[key]


@contextmanager
def selected(source: "Source", sentences: Indices) -> Iterator[dict[str, str]]:
    """Hold a part of a corpus.

    sentences: their numbers.
    YIELDS (dict): the reader's block of a config.
    """
    key = uuid4().hex
    _SELECTIONS[key] = _Selection(source, sentences)
    try:
        yield {"@readers": READER, "key": key}
    finally:
        del _SELECTIONS[key]


class Source:
    """The corpora of a config, read once for each pipeline that asks: a Doc belongs to the vocabulary of one.

    config (Config): a complete one. with_dev (bool): take the dev corpus as well as the training corpus.
    """

    def __init__(self, config: Config, with_dev: bool = False):
        training = config["training"]
        names = [training["train_corpus"], *([training["dev_corpus"]] if with_dev else [])]
        self._readers: list[Reader] = list(resolve_dot_names(config.interpolate(), names))
        self._read: tuple[Language, Pool] | None = None

    def read(self, nlp: Language) -> Pool:
        """The documents, as a pipeline sees them."""
        if self._read is None or self._read[0] is not nlp:
            self._read = nlp, read_pool(nlp, self._readers)
        return self._read[1]


class _Selection:
    def __init__(self, source: Source, sentences: Indices):
        self._source, self._sentences = source, sentences

    def __call__(self, nlp: Language) -> list[Example]:
        return [example for _, example in self._source.read(nlp).take(self._sentences)]
