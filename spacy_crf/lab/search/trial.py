"""Trains a config in memory through spaCy's own loop, quietly, and tells of each evaluation."""

import io
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry
from thinc.api import Config

LogStep = Callable[[dict[str, Any] | None], None]


class Evaluation(NamedTuple):
    """What the training loop found on the dev corpus.

    step (int): of the training loop. score (float): by the `score_weights` of the config.
    scores (dict[str, Any]): all others.
    """

    step: int
    score: float
    scores: dict[str, Any]

    def get(self, name: str | None) -> Any:
        """One of the scores; None for the weighted one."""
        return self.score if name is None else self.scores.get(name)


class Listener(io.StringIO):
    """Takes what the training loop prints, and from `spacy_crf.trial_logger.v1` its evaluations.

    on_evaluation (Callable): told of each of them; what it raises ends the training.
    """

    def __init__(self, on_evaluation: Callable[[Evaluation], None]):
        super().__init__()
        self.on_evaluation = on_evaluation


@registry.loggers("spacy_crf.trial_logger.v1")
def make_trial_logger() -> Callable[..., tuple[LogStep, Callable[[], None]]]:
    """A logger that hands each evaluation to the `Listener` that a program has given to spaCy's `train` as stdout.

    RETURNS (Callable): the logger. With any other stdout it says nothing.
    """
    return _setup_logger


def _setup_logger(nlp: Language, stdout: IO[str], stderr: IO[str]) -> tuple[LogStep, Callable[[], None]]:
    def log_step(info: dict[str, Any] | None) -> None:
        if info is not None and isinstance(stdout, Listener):
            stdout.on_evaluation(Evaluation(info["step"], info["score"], info["other_scores"]))

    return log_step, lambda: None


def run_trial(config: Config, on_evaluation: Callable[[Evaluation], None]) -> Evaluation:
    """Train from the beginning; nothing is written.

    config (Config): as for `spacy train`, whose logger does not count.
    on_evaluation (Callable): told of each evaluation; what it raises ends the training.
    RETURNS (Evaluation): of the model that `spacy train` would keep as the best one.
    """
    quiet, found = config.copy(), list[Evaluation]()
    quiet["training"]["logger"] = {"@loggers": "spacy_crf.trial_logger.v1"}

    def tell(evaluation: Evaluation) -> None:
        found.append(evaluation)
        on_evaluation(evaluation)

    listener = Listener(tell)
    train(init_nlp(quiet), stdout=listener, stderr=listener)
    return kept(found)


def kept(evaluations: list[Evaluation]) -> Evaluation:
    """The one whose model `spacy train` keeps: of the greatest score, the last of equal ones."""
    return max(evaluations, key=lambda evaluation: (evaluation.score, evaluation.step))
