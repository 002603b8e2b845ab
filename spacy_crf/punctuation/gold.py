"""Gold labels of the words of predicted Docs, from the marks of their references."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from spacy.training import Alignment, Example

from ..core.arrays import Ints
from ..core.errors import CRFError, excerpt
from ..core.gold import UNKNOWN
from .case import case_of
from .doc_words import WordView
from .errors import PunctuationErrors
from .labels import Label, LabelScheme


def gold_labels(example: Example, scheme: LabelScheme) -> list[Label | None]:
    """The label of each word of the predicted Doc; None where the reference is split into words otherwise.

    RAISES (ValueError): where the reference has other letters.
    """
    words, reference = WordView.of(example.predicted, scheme), WordView.of(example.reference, scheme)
    labels = reference.labels(scheme)
    ours, theirs = (view.bare_forms for view in (words, reference))
    if ours == theirs:
        return list(labels)
    found: list[Label | None] = [None] * len(ours)
    if "".join(ours) != "".join(theirs):
        raise CRFError(PunctuationErrors.CRF975.format(document=excerpt(example.reference.text)))
    alignment = Alignment.from_strings(ours, theirs)
    sizes, back = alignment.x2y.lengths, alignment.y2x.lengths
    targets = alignment.x2y.data
    first = 0
    for word, size in enumerate(sizes.tolist()):
        if size == 1 and back[targets[first]] == 1:
            found[word] = labels[targets[first]]
        first += size
    return found


def label_numbers(labels: Iterable[Label | None], numbers: Mapping[Label, int]) -> Ints:
    """((n,)): indices of labels; UNKNOWN for None, and for labels that were never seen in training."""
    return np.array([UNKNOWN if label is None else numbers.get(label, UNKNOWN) for label in labels], dtype=np.int32)


def mixed_forms(forms: Iterable[str]) -> dict[str, str]:
    """The most frequent form of each word that is most often spelt in mixed case, by its lower-cased one.

    forms (iterable of str): of a corpus. Of forms that are equally frequent, the first one in the alphabet is taken.
    """
    counts = Counter(form for form in forms if case_of(form) == "mixed")
    best: dict[str, str] = {}
    for form, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        best.setdefault(form.lower(), form)
    return dict(sorted(best.items()))
