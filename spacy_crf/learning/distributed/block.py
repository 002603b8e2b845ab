"""The block of a trainer that divides its work among processes or machines."""

from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.util import registry
from thinc.api import Model

from ..block import AdaGradSettings, LBFGSSettings, TrainerSettings

ALONE = ("resumable", "unseen", "warmup", "cache")  # settings of trainers on one machine


@registry.misc("spacy_crf.Distributed.v1")
@dataclass(frozen=True)
class DistributedSettings(TrainerSettings):
    """Training on several processes or machines, which Dask tells what to do; needs the extra dask.

    It wants every reference in every step: use the batcher spacy_crf.full_batch.v1. The optimum is that of one machine.

    trainer (TrainerSettings): spacy_crf.LBFGS.v1 without `unseen` and `warmup`, or spacy_crf.AdaGrad.v1: an epoch over
        each part of the corpus in each step, whose weights are averaged. Not resumable.
    workers (int): processes of this machine, where there is no scheduler.
    scheduler (str | None): address of a Dask scheduler, whose workers are taken.
    folder (str | None): for parts of the corpus, which all workers can read; null for temporary files of this machine.
    """

    trainer: TrainerSettings
    workers: int = 2
    scheduler: str | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        from ...core.errors import CoreErrors, CRFError

        wrong: list[tuple[str, Any, str]] = [("workers", self.workers, "at least 1")] if self.workers < 1 else []
        if not isinstance(self.trainer, LBFGSSettings | AdaGradSettings):
            wrong.append(("trainer", type(self.trainer).__name__, "spacy_crf.LBFGS.v1 or spacy_crf.AdaGrad.v1"))
        wrong += [(name, vars(self.trainer)[name], "left out") for name in ALONE if vars(self.trainer).get(name)]
        for name, value, expected in wrong:
            raise CRFError(CoreErrors.CRF204.format(name=name, value=value, expected=expected))

    def make(self, model: Model[Any, Any], nlp: Language | None = None) -> Any:
        from .trainer import DistributedTrainer

        return DistributedTrainer(self, nlp)
