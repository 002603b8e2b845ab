"""What the section parser finds in one Doc."""

from dataclasses import dataclass

from ..core.arrays import Floats, Ints
from .units.tree import SectionTree
from .units.unit import Unit


@dataclass(slots=True)
class SectionPrediction:
    """Units with their labels, and the tree.

    units (list[Unit]): N of them. tags ((N,)): numbers of labels. probabilities ((N, L)): of all labels.
    trace (list[str] | None): the rule that decided each unit, where rules did. tree (SectionTree): of sections.
    """

    units: list[Unit]
    tags: Ints
    probabilities: Floats
    trace: list[str] | None
    tree: SectionTree
