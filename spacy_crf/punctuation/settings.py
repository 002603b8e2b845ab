"""The blocks and run-time settings of the punctuation restorer."""

import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

from spacy.util import registry

from ..core.errors import CRFError
from ..pipe.errors import PipeErrors
from .errors import PunctuationErrors
from .labels import LabelScheme
from .marks import ABBREVIATIONS, ENDS, MarkSet

Existing = Literal["keep", "override"]


@registry.misc("spacy_crf.Marks.v1")
def make_marks(
    marks: list[str],
    collapse: dict[str, str] | None = None,
    case: bool = False,
    pairs: bool = False,
    kinds: list[str] | None = None,
    ends: list[str] | None = None,
    abbreviations: list[str] | None = None,
) -> LabelScheme:
    """What is restored.

    marks (list[str]): of COMMA, PERIOD, QUESTION, EXCLAMATION, SEMICOLON, COLON, DASH and ELLIPSIS.
    collapse (dict[str, str] | None): other marks that are learned as one of these, such as EXCLAMATION as PERIOD.
    case (bool): restore the case of words as well, in one chain with the marks.
    pairs (bool): restore quotation marks and brackets as well.
    kinds (list[str] | None): end marks whose sentences labels tell apart, such as QUESTION: what opens a question then
        bears on how it ends.
    ends (list[str] | None): marks behind which a sentence begins; those of PERIOD, QUESTION, EXCLAMATION and ELLIPSIS
        without.
    abbreviations (list[str] | None): lower-case words whose period is a part of them; English ones without.
    RETURNS (LabelScheme): the scheme of the labels.
    """
    known = frozenset(ABBREVIATIONS if abbreviations is None else abbreviations)
    told = MarkSet(tuple(marks), dict(collapse or {}), tuple(ENDS if ends is None else ends), known)
    for kind in kinds or ():
        if kind not in told.marks or not told.is_end(kind):
            raise CRFError(PunctuationErrors.CRF979.format(kind=kind, ends=", ".join(filter(told.is_end, told.marks))))
    return LabelScheme(told, case, pairs, tuple(kinds or ()))


def check_restoration(name: str, settings: Mapping[str, Any], scheme: LabelScheme) -> None:
    """Raise a coded error for a run-time setting that has no meaning. name (str): of the component."""
    thresholds, marks = settings["thresholds"], scheme.marks.marks
    checks = [
        ("temperature", not (0 < settings["temperature"] < math.inf), "a positive number"),
        ("threshold", not 0 <= settings["threshold"] <= 1, "from 0 to 1"),
        ("thresholds", not all(mark in marks for mark in thresholds), f"numbers for some of {', '.join(marks)}"),
        ("thresholds", not all(0 < value <= 1 for value in thresholds.values()), "above 0, up to 1"),
        ("n_best", settings["n_best"] < 0, "0, or the number of texts to list"),
        ("existing", settings["existing"] not in get_args(Existing), "'keep' or 'override'"),
    ]
    for setting, is_wrong, expected in checks:
        if is_wrong:
            raise CRFError(
                PipeErrors.CRF408.format(name=name, setting=setting, value=settings[setting], expected=expected)
            )
