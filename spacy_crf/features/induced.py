"""Word classes that are induced from the training text, without any annotation: the exchange algorithm.

Templates ask for them by their number: CLASS50 is the class of a word among fifty, CLASS200 among two hundred. Words
are in lower case, with a 0 for each digit; those that are rare in training, or unknown, have a class of their own.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from spacy import registry

from ..core.errors import CRFError
from .errors import FeatureErrors
from .exchange import Bigrams, exchange_classes

RARE = "rare"
_DIGIT = re.compile(r"\d")
Texts = Callable[[], Iterable[Sequence[str]]]


def fold_form(form: str) -> str:
    """A word as classes know it."""
    return _DIGIT.sub("0", form.lower())


@dataclass(frozen=True)
class WordClasses:
    """Classes of words.

    words (list[str]): W folded forms. classes (Mapping[int, list[int]]): by the number of classes, that of each word.
    """

    words: Sequence[str]
    classes: Mapping[int, Sequence[int]]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def classify(self, forms: Iterable[str], size: int) -> list[str]:
        """The classes of words among so many."""
        classes = self.classes[size]
        numbers = (self._numbers.get(fold_form(form)) for form in forms)
        return [RARE if number is None else str(classes[number]) for number in numbers]

    def to_data(self) -> dict[str, Any]:
        """As lists."""
        return {"words": list(self.words), "sizes": {str(size): list(found) for size, found in self.classes.items()}}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_data`."""
        return cls(list(data["words"]), {int(size): list(found) for size, found in data["sizes"].items()})


@dataclass(frozen=True)
class ClassConfig:
    """The `classes` block of the features. See `make_induced_classes`."""

    min_count: int = 4
    max_words: int = 20_000
    rounds: int = 8

    def make(self, texts: Texts, sizes: Iterable[int]) -> WordClasses:
        """Induce classes.

        texts (Callable): the words of each text of the training corpus. sizes (iterable of int): numbers of classes.
        """
        wanted = sorted(set(sizes))
        words, bigrams = count_bigrams(texts(), self.min_count, self.max_words)
        return WordClasses(words, {size: exchange_classes(bigrams, size, self.rounds).tolist() for size in wanted})


@registry.misc("spacy_crf.InducedClasses.v1")
def make_induced_classes(min_count: int = 4, max_words: int = 20_000, rounds: int = 8) -> ClassConfig:
    """Word classes from the training text, for templates such as CLASS50; stored with the model.

    min_count (int): words seen less often share the class "rare". max_words (int): the most frequent ones at most.
    rounds (int): of the exchange algorithm over all words, at most.
    RETURNS (ClassConfig): the block.
    """
    for name, value in (("min_count", min_count), ("max_words", max_words), ("rounds", rounds)):
        if value < 1:
            raise CRFError(FeatureErrors.CRF977.format(name=name, value=value))
    return ClassConfig(min_count, max_words, rounds)


def count_bigrams(texts: Iterable[Sequence[str]], min_count: int, max_words: int) -> tuple[list[str], Bigrams]:
    """Frequent words, the most frequent first, and how often they stand beside each other.

    texts (iterable): words of each text. min_count (int), max_words (int): which words are frequent.
    RETURNS (tuple): W folded forms, and their pairs; rare words part what stands beside them.
    """
    folded: dict[str, str] = {}
    held = [[folded.get(form) or folded.setdefault(form, fold_form(form)) for form in text] for text in texts]
    counts = Counter(word for text in held for word in text)
    ranked = sorted((word for word, number in counts.items() if number >= min_count), key=lambda w: (-counts[w], w))
    words = ranked[:max_words]
    number = {word: k for k, word in enumerate(words)}
    keys = [np.zeros(0, dtype=np.intp)]
    for text in held:
        found = np.fromiter((number.get(word, -1) for word in text), dtype=np.intp, count=len(text))
        pairs = (found[:-1] >= 0) & (found[1:] >= 0)
        keys.append(found[:-1][pairs] * len(words) + found[1:][pairs])
    distinct, times = np.unique(np.concatenate(keys), return_counts=True)
    first, second = np.divmod(distinct, max(1, len(words)))
    return words, Bigrams(len(words), first, second, times.astype(np.float64))
