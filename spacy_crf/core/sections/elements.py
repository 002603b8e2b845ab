"""What the section parser reads: plain arrays over the units of a document."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Indices
from ..errors import CoreErrors, CRFError
from ..grammar.numbering import Reading


@dataclass(frozen=True)
class Roles:
    """Which labels open sections; all others leave the open sections as they are.

    number (int): the label of numberings. title (int): the label of section titles.
    """

    number: int = 0
    title: int = 1


@dataclass(frozen=True)
class Elements:
    """The N units of a document.

    label_scores ((N, L)): log probabilities of labels, or 0 and -inf for labels that are given.
    readings (sequence of N tuples): readings of each unit as a numbering; () for what is none.
    typography ((N,)): class of each unit's typography; a greater one is more prominent (see `typography`).
    top_titles ((N,)): units that are titles of the first level by their words (see `titles`).
    newlines ((N,)): units that are blank lines.
    roles (Roles): the labels that open sections.
    RAISES (ValueError): when the arrays do not fit together, or a unit has no possible label.
    """

    label_scores: Doubles
    readings: Sequence[tuple[Reading, ...]]
    typography: Indices
    top_titles: Bools
    newlines: Bools
    roles: Roles = Roles()

    def __post_init__(self) -> None:
        sizes = {
            "label_scores": len(self.label_scores),
            "readings": len(self.readings),
            "typography": len(self.typography),
            "top_titles": len(self.top_titles),
            "newlines": len(self.newlines),
        }
        if len(set(sizes.values())) > 1:
            raise CRFError(CoreErrors.CRF961.format(sizes=sizes))
        labels = self.label_scores.shape[1] if self.label_scores.ndim == 2 else 0
        if max(self.roles.number, self.roles.title) >= labels or labels < 2:
            raise CRFError(CoreErrors.CRF962.format(shape=self.label_scores.shape, roles=self.roles))
        if len(self) and not np.isfinite(self.label_scores.max(axis=1)).all():
            unit = int(np.flatnonzero(~np.isfinite(self.label_scores.max(axis=1)))[0])
            raise CRFError(CoreErrors.CRF963.format(unit=unit))

    def __len__(self) -> int:
        return len(self.label_scores)
