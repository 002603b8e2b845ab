"""What is measured beside the scores of a component's own scorer: each kind of component may add to it.

A module beside this one adds measures with `@measure.register(ComponentClass)`; neither the runner nor the tables know
of components.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch

from spacy.pipeline import Pipe
from spacy.tokens import Doc
from spacy.training import Example


@dataclass(frozen=True)
class Scored:
    """What a component has annotated.

    examples (Sequence[Example]): annotation in `predicted`, gold in `reference`.
    trained (Sequence[Doc]): gold Docs that it was trained on. words (frozenset[str]): their forms.
    """

    examples: Sequence[Example]
    trained: Sequence[Doc]
    words: frozenset[str]


@dataclass(frozen=True)
class Findings:
    """Measures of one test part.

    scores (dict[str, float]): by name; means over test parts are shown.
    curves (dict[str, dict[float, float]]): y by x for each name; likewise.
    confusions (Counter): tokens by gold tag and predicted tag; sums are shown.
    frequencies (Counter): tokens by tag in the training part.
    """

    scores: dict[str, float] = field(default_factory=dict)
    curves: dict[str, dict[float, float]] = field(default_factory=dict)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    frequencies: Counter[str] = field(default_factory=Counter)

    def joined(self, other: "Findings") -> "Findings":
        """The measures of both, which have different names."""
        return Findings(
            self.scores | other.scores,
            self.curves | other.curves,
            self.confusions + other.confusions,
            self.frequencies + other.frequencies,
        )


@singledispatch
def measure(pipe: Pipe, tested: Scored) -> Findings:
    """Measures that a kind of component adds; none unless it has registered some.

    pipe (Pipe): the component. tested (Scored): what it has annotated.
    """
    return Findings()
