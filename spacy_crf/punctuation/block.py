"""The `marks` block of the punctuation restorer, and the check of its settings."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from spacy import registry

NONE = "O"  # the label of a word without a mark
Existing = Literal["keep", "override"]


@registry.misc("spacy_crf.Marks.v1")
@dataclass(frozen=True)
class LabelScheme:
    """The marks to restore, and what labels of words tell beside them.

    marks (list[str]): of COMMA, PERIOD, QUESTION, EXCLAMATION, SEMICOLON, COLON, DASH and ELLIPSIS.
    collapse (dict[str, str] | None): other marks that are learned as one of these, such as EXCLAMATION as PERIOD; what
        is in neither is left out.
    case (bool): restore the case of words as well, in one chain with the marks.
    pairs (bool): restore quotation marks and brackets as well.
    kinds (list[str] | None): end marks whose sentences labels tell apart, such as QUESTION: what opens a question then
        bears on how it ends.
    ends (list[str] | None): marks behind which a sentence begins; those of PERIOD, QUESTION, EXCLAMATION and ELLIPSIS
        without.
    abbreviations (list[str] | None): lower-case words whose period is a part of them; English ones without.
    """

    marks: list[str]
    collapse: dict[str, str] | None = None
    case: bool = False
    pairs: bool = False
    kinds: list[str] | None = None
    ends: list[str] | None = None
    abbreviations: list[str] | None = None

    def __post_init__(self) -> None:
        """Check the settings.

        RAISES (ValueError): for names that are not known, or a mark that collapses to one that is not told apart.
        """
        from ..core.errors import CRFError
        from .errors import PunctuationErrors
        from .words import SIGNS

        for name in (*self.marks, *(self.collapse or ()), *self.end_marks):
            if name not in SIGNS:
                raise CRFError(PunctuationErrors.CRF971.format(name=name, known=", ".join(SIGNS)))
        if not self.marks:
            raise CRFError(PunctuationErrors.CRF972)
        for name, target in (self.collapse or {}).items():
            if target not in self.marks or name in self.marks:
                raise CRFError(PunctuationErrors.CRF973.format(name=name, target=target, marks=", ".join(self.marks)))
        for kind in self.kinds or ():
            if kind not in self.marks or not self.is_end(kind):
                ends = ", ".join(filter(self.is_end, self.marks))
                raise CRFError(PunctuationErrors.CRF979.format(kind=kind, ends=ends))

    @cached_property
    def end_marks(self) -> tuple[str, ...]:
        """Marks behind which a sentence begins."""
        from .words import ENDS

        return ENDS if self.ends is None else tuple(self.ends)

    @cached_property
    def abbreviated(self) -> frozenset[str]:
        """Lower-case words whose period is a part of them."""
        from .words import ABBREVIATIONS

        return frozenset(ABBREVIATIONS if self.abbreviations is None else self.abbreviations)

    @cached_property
    def _labels(self) -> dict[str, str]:
        return {**{mark: mark for mark in self.marks}, **(self.collapse or {})}

    def label(self, mark: str) -> str:
        """Return the label of a mark as it stands in a text: one of `marks`, or NONE. mark (str): "" for none."""
        return self._labels.get(mark, NONE)

    def is_end(self, label: str) -> bool:
        """Tell whether a sentence begins behind a mark."""
        return label in self.end_marks


def check_restoration(name: str, settings: Mapping[str, Any], scheme: LabelScheme) -> None:
    """Raise a coded error for a run-time setting that has no meaning. name (str): of the component."""
    from ..core.errors import CRFError
    from ..pipe.errors import PipeErrors

    thresholds, marks = settings["thresholds"], scheme.marks
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
