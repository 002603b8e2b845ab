"""What other units of the same document look like: a writer sets all headings of a level in one way.

The profile of a text is what a reader sees before reading it: styles, capitals, numbering before it, whether it is
short, stands alone, ends in a full stop. A profile that known titles of the document have, or that few but other short
lines have, tells headings whose words no list knows.
"""

import numpy as np

from ...core.arrays import Bools, Indices
from . import kinds, letters, numbers, sizes, typography
from .view import UnitView, Values

_SHARES = (10, 25, 50, 75)
_COUNTS = (1, 2, 3, 6)
_SHORT = 9  # words of what may be a heading


def profile_numbers(view: UnitView) -> tuple[Indices, Bools]:
    """((N,), (N,)): number of the profile of each unit in its document, equal for equal ones; and short texts."""
    words = view.count_by_text(sizes.count_words)
    short = view.is_text & (words > 0) & (words < _SHORT)
    stop = view.flag_by_text(lambda text: text.endswith((".", ";", ",", ":")))
    upper = letters.are_cased(view, "upper", "spaced", "short upper")
    lower = view.flag_by_text(lambda text: letters.opening(text) == "lower")
    parts = [
        view.document,
        short,
        stop,
        upper,
        lower,
        typography.styles(view).codes,
        _number_before(view),
        kinds.blanks_before(view).codes > 1,
        kinds.blanks_after(view).codes > 1,
    ]
    combined: Indices = np.zeros(len(view), dtype=np.intp)
    for part in (np.asarray(part, dtype=np.intp) for part in parts):
        combined = combined * (int(np.max(part, initial=0)) + 1) + part
        combined = np.unique(combined, return_inverse=True)[1].reshape(-1)
    return combined, short


def _number_before(view: UnitView) -> Indices:
    """Code of the family and signs of the number right before each unit; 0 for none."""
    family, signs = numbers.family(view), numbers.signs(view)
    code = family.codes * (len(signs.names) + 1) + signs.codes
    before = np.arange(len(view)) - 1
    inside = before >= view.firsts
    return np.where(inside, (code + 1)[before] * view.is_number[before], 0)


class Profiles:
    """Profiles of the units of a view.

    known ((N,)): units that are titles by their words.
    """

    def __init__(self, view: UnitView, known: Bools):
        self.view = view
        self._numbers, self._short = profile_numbers(view)
        known = known & self._short
        self._known = np.bincount(self._numbers, weights=known).astype(np.intp)[self._numbers] - known
        self._alike = np.bincount(self._numbers)[self._numbers] - 1

    def known_titles(self) -> Values:
        """How many known titles of the document have the profile of a short text, itself not counted."""
        return Values.bins(self._known, _COUNTS, self._short)

    def share_of_known(self) -> Values:
        """Of the other texts with the profile of a short text, the share of known titles, in percent."""
        return Values.bins(100 * self._known // np.maximum(self._alike, 1), _SHARES, self._short & (self._alike > 0))

    def alike(self) -> Values:
        """How many other texts have the profile of a short text."""
        return Values.bins(self._alike, _COUNTS, self._short)


def repeats(view: UnitView) -> Values:
    """How often the same text comes in its document, beside itself."""
    pair = view.document * (len(view.distinct) + 1) + view.text_numbers
    numbers_, counts = np.unique(pair, return_inverse=True, return_counts=True)[1:]
    return Values.bins(counts[numbers_.reshape(-1)] - 1, (1, 2, 4), ~view.is_blank)
