"""The runner of experiments and searches: spaCy's own training loop, quiet, told of by its evaluations."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Config

LOGGER = "spacy_crf.trial_logger.v1"
LogStep = Callable[[dict[str, Any] | None], None]


class Evaluation(NamedTuple):
    """What the training loop found on the dev corpus.

    step (int): of the training loop. score (float): by the `score_weights` of the config. scores (dict): all others.
    """

    step: int
    score: float
    scores: dict[str, Any]

    def get(self, name: str | None) -> Any:
        """Return one of the scores; None names the weighted one."""
        return self.score if name is None else self.scores.get(name)

    def numbers(self) -> dict[str, float]:
        """Return the scores that are single numbers; speed is none."""
        found = self.scores.items()
        return {name: float(value) for name, value in found if isinstance(value, int | float) and name != "speed"}


class Listener(io.StringIO):
    """Takes what the training loop prints, and from the logger its evaluations.

    on_evaluation (Callable): told of each of them; what it raises ends the training.
    """

    def __init__(self, on_evaluation: Callable[[Evaluation], None]):
        super().__init__()
        self.on_evaluation = on_evaluation


def setup_logger(nlp: Language, stdout: IO[str], stderr: IO[str]) -> tuple[LogStep, Callable[[], None]]:
    """Return a logger that hands each evaluation to the `Listener` that spaCy's `train` has as stdout, if any."""

    def log_step(info: dict[str, Any] | None) -> None:
        if info is not None and isinstance(stdout, Listener):
            stdout.on_evaluation(Evaluation(info["step"], info["score"], info["other_scores"]))

    return log_step, lambda: None


def train_config(
    config: Config, on_evaluation: Callable[[Evaluation], None] | None = None, output: Path | None = None
) -> Evaluation:
    """Train from the beginning.

    config (Config): as for `spacy train`, whose logger does not count.
    on_evaluation (Callable | None): told of each evaluation; what it raises ends the training.
    output (Path | None): folder for what `spacy train` writes.
    RETURNS (Evaluation): of the model that `spacy train` keeps as the best one.
    """
    quiet, found = config.copy(), list[Evaluation]()
    quiet["training"]["logger"] = {"@loggers": LOGGER}

    def tell(evaluation: Evaluation) -> None:
        found.append(evaluation)
        if on_evaluation is not None:
            on_evaluation(evaluation)

    listener = Listener(tell)
    train(init_nlp(quiet), output, stdout=listener, stderr=listener)
    return kept(found)


def kept(evaluations: list[Evaluation]) -> Evaluation:
    """Return the one whose model `spacy train` keeps: of the greatest score, the last of equal ones."""
    return max(evaluations, key=lambda evaluation: (evaluation.score, evaluation.step))
