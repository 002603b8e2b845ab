"""The ways in which every job of the peer uses python-crfsuite."""

from collections.abc import Iterable
from pathlib import Path

import pycrfsuite

from benchmarks.data import Sentence
from benchmarks.measure import Settings

ENGINE = "peer"


def new_trainer(settings: Settings) -> pycrfsuite.Trainer:
    """Make a trainer: L-BFGS with the L2 penalty of the task, everything else at CRFsuite's defaults.

    settings (Settings): settings of the job.
    RETURNS (pycrfsuite.Trainer): a trainer without data.
    """
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": settings.task.c2, "max_iterations": settings.iterations})
    return trainer


def open_tagger(path: Path) -> pycrfsuite.Tagger:
    """Load a model.

    path (Path): file of the model.
    RETURNS (pycrfsuite.Tagger): a tagger ready for use.
    """
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def read_test(settings: Settings) -> list[Sentence]:
    """Read the test sentences of the task.

    settings (Settings): settings of the job.
    RETURNS (list[Sentence]): the sentences.
    """
    return list(settings.task.read(settings.data, "test"))


def count_tokens(sentences: Iterable[Sentence]) -> int:
    """Count tokens.

    sentences (Iterable[Sentence]): sentences.
    RETURNS (int): number of tokens.
    """
    return sum(len(sentence.words) for sentence in sentences)
