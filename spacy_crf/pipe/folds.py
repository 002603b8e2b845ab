"""Models that are trained on parts of the training data, to see what the others look like to them."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from spacy.language import Language
from spacy.training import Example

from ..learning.block import LBFGSSettings, LinearChain, TrainerSettings
from .component import ChainPipe

P = TypeVar("P", bound=ChainPipe)


def trained_on(pipe: P, examples: Sequence[Example], iterations: int, nlp: Language | None = None, **changed: Any) -> P:
    """Train a component with the settings and labels of another one, but without its tok2vec layer.

    pipe (ChainPipe): the other one, which stays as it is. examples (Sequence[Example]): all that it learns from.
    iterations (int): of L-BFGS. changed (Any): settings with other values.
    """
    settings = replace(
        pipe.settings, model=LinearChain(), trainer=_fold_trainer(pipe.settings.trainer, iterations), **changed
    )
    fold = type(pipe)(pipe.vocab, settings, pipe.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that are missing in a fold
        fold.initialize(lambda: examples, nlp=nlp, labels=list(pipe.labels))
        for _ in range(2):
            fold.update(examples)
            fold.finish_update(None)
    return fold


def _fold_trainer(trainer: TrainerSettings, iterations: int) -> LBFGSSettings:
    """L-BFGS in two steps: with the settings of a component's trainer if it is L-BFGS."""
    own = trainer if isinstance(trainer, LBFGSSettings) else LBFGSSettings()
    return replace(own, iterations_per_step=max(1, (iterations + 1) // 2))
