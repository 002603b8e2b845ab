"""Names of punctuation marks, the signs they are written with, and which of them a model tells apart."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..core.errors import CRFError
from .errors import PunctuationErrors

NONE = "O"  # the label of a word without a mark
# The signs of each mark, the first of which is written. Of several marks that stand together, the upper one counts.
SIGNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "QUESTION": ("?", "？", "؟", "⁇", "⸮"),
        "EXCLAMATION": ("!", "！"),
        "ELLIPSIS": ("…",),
        "PERIOD": (".", "。", "।", "۔", "．"),
        "SEMICOLON": (";", "；", "؛"),
        "COLON": (":", "："),
        "DASH": ("–", "—", "―"),
        "COMMA": (",", "，", "、", "،"),
    }
)
ENDS = ("PERIOD", "QUESTION", "EXCLAMATION", "ELLIPSIS")
BY_SIGN = {sign: name for name, signs in SIGNS.items() for sign in signs}
_RANK = {name: rank for rank, name in enumerate(SIGNS)}
# What stands around words, by kind: what opens, what closes; the first of each is written
PAIRS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"QUOTE": ('“"„«‹‟', '”"“»›'), "BRACKET": ("([{（【", ")]}）】")},
)
INVERTED = "¿¡"  # they open a question or exclamation, and go with its mark
ABBREVIATIONS = ("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "messrs", "mme", "rev", "hon", "capt")


def strongest(names: Iterable[str]) -> str:
    """The mark that counts where several stand together, such as the question mark of "?!"; "" for none."""
    return min(names, key=_RANK.__getitem__, default="")


@dataclass(frozen=True)
class MarkSet:
    """The marks that a model tells apart.

    marks (tuple[str, ...]): names of `SIGNS`.
    collapse (Mapping[str, str]): for other marks, the one that they are taken for; what is in neither is left out.
    ends (tuple[str, ...]): marks behind which a sentence begins.
    abbreviations (frozenset[str]): lower-case words whose period is a part of them.
    RAISES (ValueError): for names that are not known, or a mark that collapses to one that is not told apart.
    """

    marks: tuple[str, ...]
    collapse: Mapping[str, str] = field(default_factory=dict)
    ends: tuple[str, ...] = ENDS
    abbreviations: frozenset[str] = frozenset(ABBREVIATIONS)

    def __post_init__(self) -> None:
        for name in (*self.marks, *self.collapse, *self.ends):
            if name not in SIGNS:
                raise CRFError(PunctuationErrors.CRF971.format(name=name, known=", ".join(SIGNS)))
        if not self.marks:
            raise CRFError(PunctuationErrors.CRF972)
        for name, target in self.collapse.items():
            if target not in self.marks or name in self.marks:
                raise CRFError(PunctuationErrors.CRF973.format(name=name, target=target, marks=", ".join(self.marks)))

    def label(self, mark: str) -> str:
        """The label of a mark as it stands in a text: one of `marks`, or NONE.

        mark (str): its name; "" for none.
        """
        return mark if mark in self.marks else self.collapse.get(mark, NONE)

    def is_end(self, label: str) -> bool:
        """Whether a sentence begins behind a mark."""
        return label in self.ends
