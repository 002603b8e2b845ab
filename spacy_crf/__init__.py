"""Structured prediction for spaCy.

The names in `__all__` are the public API; anything else may move without notice. Each is imported when it is first
asked for, so that `from spacy_crf import CRF` imports no spaCy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bibliography.assemble import cite
    from .bibliography.entry import Entry
    from .constraints.component import ConstrainedNER, ConstraintDecoder
    from .core.errors import CRFError, CRFWarning
    from .core.grammar.grammar import Grammar
    from .corpora.annotated import annotate_partitions
    from .corpora.reader import Corpus
    from .estimator import CRF, NotFittedError, metrics
    from .estimator.crfsuite import read_crfsuite
    from .estimator.pipe import read_crfpp_templates, to_pipe
    from .pipe.calibration import calibrate
    from .pipe.explain import explain
    from .pipe.inspect import inspect
    from .pipe.pool import pool
    from .punctuation.calibration import calibrate_marks
    from .punctuation.component import PunctuationRestorer
    from .punctuation.reader import PunctuationCorpus
    from .sections.component import SectionParser
    from .sections.layout import to_doc
    from .sections.reader import SectionCorpus, read_layout
    from .sections.tree import SectionTree
    from .service.rendering import render
    from .tagging.component import CRFTagger
    from .tagging.review import review
    from .tagsets.component import SetValuedTagger
    from .tagsets.guarantee import conformal_sets, held_out_tokens, risk_control

__version__ = "0.2.0"

_HOMES = {
    "bibliography.assemble": ["cite"],
    "bibliography.entry": ["Entry"],
    "constraints.component": ["ConstrainedNER", "ConstraintDecoder"],
    "core.errors": ["CRFError", "CRFWarning"],
    "core.grammar.grammar": ["Grammar"],
    "corpora.annotated": ["annotate_partitions"],
    "corpora.reader": ["Corpus"],
    "estimator": ["CRF", "NotFittedError", "metrics"],
    "estimator.crfsuite": ["read_crfsuite"],
    "estimator.pipe": ["read_crfpp_templates", "to_pipe"],
    "pipe.calibration": ["calibrate"],
    "pipe.explain": ["explain"],
    "pipe.inspect": ["inspect"],
    "pipe.pool": ["pool"],
    "punctuation.calibration": ["calibrate_marks"],
    "punctuation.component": ["PunctuationRestorer"],
    "punctuation.reader": ["PunctuationCorpus"],
    "sections.component": ["SectionParser"],
    "sections.layout": ["to_doc"],
    "sections.reader": ["SectionCorpus", "read_layout"],
    "sections.tree": ["SectionTree"],
    "service.rendering": ["render"],
    "tagging.component": ["CRFTagger"],
    "tagging.review": ["review"],
    "tagsets.component": ["SetValuedTagger"],
    "tagsets.guarantee": ["conformal_sets", "held_out_tokens", "risk_control"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
