"""Experiments: pipelines of configs, trained and tested on many splits of a corpus, and compared."""

from .comparison import Difference, compare, compare_all
from .results import DocumentScores, Experiment, PartResult, SystemResult
from .run import RunSettings, run_experiment
from .splits import SplitSettings, make_splits

__all__ = [
    "Difference",
    "DocumentScores",
    "Experiment",
    "PartResult",
    "RunSettings",
    "SplitSettings",
    "SystemResult",
    "compare",
    "compare_all",
    "make_splits",
    "run_experiment",
]
