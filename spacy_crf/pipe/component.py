"""The spaCy component over a linear chain: settings, features, weights, a trainer, a target and a decoder."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, NoReturn

import numpy as np
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Optimizer, set_dropout_rate

from ..annotation.gold import Violation, find_violation, forget_crossing
from ..annotation.span_targets import GroupTarget, SpanTarget
from ..annotation.target import Target
from ..core.arrays import Bools, Floats, Indices, Ints, Segments
from ..core.calibration.temperature import HeldOut
from ..core.errors import CRFError, CRFWarning
from ..core.gold import Gold
from ..core.labels import OUTSIDE, Scheme, TagSet
from ..features.columns import Columns, describe
from .block import ChainSettings, LiveSettings
from .decoding import Batch, Decoder, Prediction
from .errors import PipeErrors, PipeWarnings
from .isolation import IsolatesFailures
from .storage import StoresChain

SAMPLE = 10  # examples that show a tok2vec layer its shapes


class ChainPipe(IsolatesFailures, StoresChain, TrainablePipe):
    """Base of the components: a subclass names its target and its decoder.

    vocab (Vocab): of the pipeline. settings (ChainSettings): its block. name (str): in the pipeline.
    scheme (str): how spans become tags: "BIO", "BILUO" or "none". learned (dict): what comes from data and is kept in
        `cfg` beside labels, at its first value.
    """

    prepares: ClassVar[bool] = False  # whether `before_training` has something to do

    def __init__(self, vocab: Vocab, settings: ChainSettings, name: str, scheme: Scheme = "none", **learned: Any):
        settings.check(name)
        self.vocab, self.settings, self.name, self.scheme = vocab, settings, name, scheme
        self.model, self.trainer, self.scorer = settings.model, settings.trainer, settings.scorer
        self._cfg = LiveSettings(name, settings, {**learned, "labels": []})
        self._first_step: Callable[[], None] | None = None
        self._start_over()
        self.decoder().register()

    # -- what a subclass defines -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def annotation(self) -> Target:
        """What is learned and written, under the present settings."""
        raise NotImplementedError

    @abstractmethod
    def decoder(self) -> Decoder:
        """What chooses labels, and what is told beside, under the present settings."""
        raise NotImplementedError

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        """Labels that each unit may have under the present settings, one Doc after the other; None for all.

        lengths ((B,)): of the sequences that the Docs consist of.
        """
        return None

    def before_training(self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None) -> None:
        """Learn what trained models of parts of the examples show, before the first step. See `prepares`."""

