"""What a component knows of word forms beyond their letters: normal forms, frequencies in training, induced classes.

Templates ask for frequencies as flags: COMMON4 for words that occurred at least four times, RARE6 for those that
occurred less than six times. In conjunctions they confine a template: SUFFIX3|RARE6 is a feature of rare words alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from .induced import WordClasses
from .spelling import Speller


@dataclass(frozen=True)
class WordCounts:
    """Occurrences of word forms in the training corpus, of those that thresholds tell apart.

    counts (Mapping[str, int]): by form, none above the highest threshold; other forms are below the lowest one.
    """

    counts: Mapping[str, int]

    @classmethod
    def of(cls, counts: Mapping[str, int], thresholds: list[int]) -> Self:
        """Keep what the thresholds need.

        counts (Mapping[str, int]): of all forms. thresholds (list[int]): at least one.
        """
        low, high = min(thresholds), max(thresholds)
        return cls({form: min(number, high) for form, number in sorted(counts.items()) if number >= low})

    def at_least(self, form: str, threshold: int) -> bool:
        """Whether a form occurred so often."""
        return self.counts.get(form, 0) >= threshold


@dataclass(frozen=True)
class Lexicon:
    """Known of word forms.

    speller (Speller | None): gives them normal forms. counts (WordCounts | None): how often they occurred.
    classes (WordClasses | None): classes that were induced from training text.
    """

    speller: Speller | None = None
    counts: WordCounts | None = None
    classes: WordClasses | None = None

    def to_data(self) -> dict[str, Any]:
        """As lists and dicts; nothing of what there is not."""
        data: dict[str, Any] = {} if self.speller is None else {"spelling": self.speller.to_data()}
        if self.counts is not None:
            data["word_counts"] = dict(self.counts.counts)
        if self.classes is not None:
            data["word_classes"] = self.classes.to_data()
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_data`; other keys are left alone."""
        speller = Speller.from_data(data["spelling"]) if "spelling" in data else None
        counts = WordCounts(data["word_counts"]) if "word_counts" in data else None
        classes = WordClasses.from_data(data["word_classes"]) if "word_classes" in data else None
        return cls(speller, counts, classes)


NOTHING = Lexicon()
