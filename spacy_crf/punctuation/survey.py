"""What training texts show of words before any is labelled: labels, forms in mixed case, and how marks are spelt."""

import warnings
from collections import Counter
from collections.abc import Iterable

from ..core.errors import CRFWarning
from .block import NONE, LabelScheme
from .docs import WordView
from .errors import PunctuationWarnings
from .labels import parse_label
from .words import case_of, common_signs

LONG_WORD = 40  # letters; where more words than the next share are longer, no white space parts words
MOST_LONG_WORDS = 0.05


class Survey:
    """What the words of texts have shown.

    labels (set[str]): of words, in a scheme. mixed (dict[str, str]): forms in mixed case by their lower-cased ones.
    signs (dict[str, str]): marks that are mostly spelt in another way than the usual one.
    """

    def __init__(self, scheme: LabelScheme, views: Iterable[WordView]):
        self.labels: set[str] = set()
        self._n_words = self._n_long = 0
        mixed: list[str] = []
        signs: Counter[tuple[str, str]] = Counter()
        for view in views:
            self.labels.update(map(str, view.labels(scheme)))
            marked = view.marked()
            signs.update(zip(marked.marks, marked.signs))
            self._n_words += len(view.forms)
            self._n_long += sum(len(form) > LONG_WORD for form in view.forms)
            if scheme.case:
                mixed += [form for form in view.forms if case_of(form) == "mixed"]
        self.mixed, self.signs = mixed_forms(mixed), common_signs(signs)

    def warn(self, name: str, marks: Iterable[str]) -> None:
        """Warn of texts from which nothing can be learned: without marks, or without white space between words.

        name (str): of the component. marks (Iterable[str]): that it restores.
        """
        if self._n_words and all(parse_label(label).mark == NONE for label in self.labels):
            warnings.warn(
                PunctuationWarnings.CRFW975.format(name=name, marks=", ".join(marks)), CRFWarning, stacklevel=3
            )
        if self._n_long > MOST_LONG_WORDS * self._n_words:
            told = {"name": name, "long": self._n_long, "words": self._n_words, "most": LONG_WORD}
            warnings.warn(PunctuationWarnings.CRFW976.format(**told), CRFWarning, stacklevel=3)


def mixed_forms(forms: Iterable[str]) -> dict[str, str]:
    """Find the most frequent form in mixed case of each word, by its lower-cased one; of equal ones the first."""
    counts = Counter(form for form in forms if case_of(form) == "mixed")
    best: dict[str, str] = {}
    for form, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        best.setdefault(form.lower(), form)
    return dict(sorted(best.items()))
