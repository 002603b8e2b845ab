"""Which of the component's labels stand for what: the rest of the parser knows roles, not names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.arrays import Doubles, Indices
from ..core.errors import CRFError
from .errors import SectionErrors
from .features.rules import ROLES

DEFAULT_ROLES = dict(zip(ROLES, ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")))


@dataclass(frozen=True)
class Roles:
    """Labels by role.

    names (dict[str, str]): a label for each of "number", "title", "text" and "newline". Labels of the training data
        beyond these count as text.
    """

    names: Mapping[str, str]

    @classmethod
    def parse(cls, name: str, given: Mapping[str, str]) -> "Roles":
        """Roles of a config, the usual ones where it has none. name (str): of the component.

        RAISES (ValueError): for an unknown role, or one label in two roles.
        """
        merged = {**DEFAULT_ROLES, **given}
        if set(merged) != set(ROLES) or len(set(merged.values())) < len(ROLES):
            raise CRFError(SectionErrors.CRF969.format(name=name, value=dict(given), roles=", ".join(ROLES)))
        return cls(merged)

    @property
    def labels(self) -> list[str]:
        """Labels in the order of the roles."""
        return [self.names[role] for role in ROLES]

    @property
    def newline(self) -> str:
        """The label of blank lines."""
        return self.names["newline"]

    def order(self, found: Iterable[str]) -> list[str]:
        """Labels as a component keeps them: those with roles first, then the others by name."""
        return [*self.labels, *sorted(set(found) - set(self.labels))]

    def of_labels(self, labels: Sequence[str]) -> Indices:
        """((L,)): the role of each label."""
        number = {label: role for role, label in enumerate(self.labels)}
        return np.array([number.get(label, ROLES.index("text")) for label in labels], dtype=np.intp)

    def sum(self, probabilities: Doubles, labels: Sequence[str]) -> Doubles:
        """((N, 4)): probabilities of the roles. probabilities ((N, L)): of the labels."""
        summed: Doubles = np.zeros((len(probabilities), len(ROLES)))
        np.add.at(summed.T, self.of_labels(labels), probabilities.T)
        return summed
