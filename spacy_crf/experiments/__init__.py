"""Experiments: pipelines of configs, trained and tested on many splits of a corpus, and compared."""

from .comparison import Difference, compare, compare_all
from .results import DocumentScores, Experiment, SystemResult, TestResult
from .run import RunSettings, run_experiment
from .splits import SplitSettings, make_splits

__all__ = [
    "Difference",
    "DocumentScores",
    "Experiment",
    "RunSettings",
    "SplitSettings",
    "SystemResult",
    "TestResult",
    "compare",
    "compare_all",
    "make_splits",
    "run_experiment",
]
