"""What an experiment found, as plain data."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .measures import Findings
from .splits import SplitSettings


@dataclass(frozen=True)
class DocumentScores:
    """One document of a test part, of which so many tokens were tested, and the scores of the component's scorer."""

    name: str
    tokens: int
    scores: dict[str, float]


@dataclass(frozen=True)
class PartResult:
    """One test part of one split.

    split (str), test (str), series (str), fraction (float), draw (int): see `splits.Split`.
    labels (int): K, that the component knows.
    unknown_words (float): share of the tested tokens whose form is not in the training part.
    scores (dict[str, float]): of the component's scorer, of the whole part at once.
    documents (list[DocumentScores]): the same for each document. found (Findings): further measures.
    seconds (float): that training took, shared by all test parts of a split.
    """

    split: str
    test: str
    series: str
    fraction: float
    train_tokens: int
    test_tokens: int
    labels: int
    unknown_words: float
    scores: dict[str, float]
    documents: list[DocumentScores]
    found: Findings
    seconds: float = field(compare=False)
    draw: int = 0

    def to_data(self) -> dict[str, Any]:
        """Return data that JSON can hold."""
        confusions = [[gold, found, count] for (gold, found), count in self.found.confusions.most_common()]
        curves = {name: [list(point) for point in points.items()] for name, points in self.found.curves.items()}
        plain = {name: value for name, value in vars(self).items() if name not in ("documents", "found")}
        scores = {**self.scores, **self.found.scores}
        documents = [asdict(document) for document in self.documents]
        return {**plain, "scores": scores, "documents": documents, "curves": curves, "confusions": confusions}


@dataclass(frozen=True)
class SystemResult:
    """All test parts of one system, in the order of splits, and the component that was scored."""

    name: str
    component: str
    tests: list[PartResult]

    @property
    def groups(self) -> dict[tuple[str, float], list[PartResult]]:
        """Test parts that may be averaged: those of the same series and fraction."""
        found: dict[tuple[str, float], list[PartResult]] = {}
        for test in self.tests:
            found.setdefault((test.series, test.fraction), []).append(test)
        return dict(sorted(found.items()))


@dataclass(frozen=True)
class Experiment:
    """The outcome: how the corpus was split, the names of its documents, and one or more systems on these splits."""

    settings: SplitSettings
    documents: Sequence[str]
    systems: Sequence[SystemResult]
