"""All messages of the library, each with a code that can be searched for.

Codes are grouped by layer, a module for each: 1xx core, 2xx learning, 3xx features, 4xx components, 5xx corpora and
files, 6xx command line, 7xx estimator and importers, 8xx tag sets, 9xx constraints (94x grammars, 95x layout elements,
96x sections, 97x punctuation). Use
`raise ValueError(Errors.CRF101.format(...))` and `warnings.warn(Warnings.CRFW401)`.
"""

from .commands import CommandErrors
from .components import ComponentErrors
from .constraints import ConstraintErrors
from .core import CoreErrors
from .corpora import CorpusErrors
from .estimator import EstimatorErrors
from .features import FeatureErrors
from .grammar import GrammarErrors
from .learning import LearningErrors
from .punctuation import PunctuationErrors
from .section_parser import SectionParserErrors
from .sections import SectionErrors
from .sets import SetErrors
from .units import UnitErrors
from .warnings import WarningMessages


class _Coded(type):
    """Prefixes every message with its code."""

    def __getattribute__(cls, name: str) -> str:
        value: str = type.__getattribute__(cls, name)
        return value if name.startswith("_") else f"[{name}] {value}"


class Errors(
    CoreErrors,
    LearningErrors,
    FeatureErrors,
    ComponentErrors,
    CorpusErrors,
    CommandErrors,
    EstimatorErrors,
    SetErrors,
    ConstraintErrors,
    GrammarErrors,
    SectionErrors,
    SectionParserErrors,
    UnitErrors,
    PunctuationErrors,
    metaclass=_Coded,
):
    """Messages of exceptions."""


class Warnings(WarningMessages, metaclass=_Coded):
    """Messages of warnings."""
