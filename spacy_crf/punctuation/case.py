"""How a word is cased, and how a lower-cased word is given a case back. A word never changes but for its case."""

from collections.abc import Mapping
from typing import Literal, get_args

Case = Literal["lower", "Title", "UPPER", "mixed"]
CASES: tuple[Case, ...] = get_args(Case)
_NO_FORMS: Mapping[str, str] = {}


def case_of(word: str) -> Case:
    """The case of a word: "lower" for one without capitals, "mixed" for one that no rule gives (iPhone, McAdam)."""
    lower = word.lower()
    if word == lower:
        return "lower"
    if word == _titled(lower):
        return "Title"
    return "UPPER" if word == lower.upper() else "mixed"


def apply_case(word: str, case: str, mixed: Mapping[str, str] = _NO_FORMS) -> str:
    """A word in another case; letters whose capitals are other letters (ß) stay as they are.

    word (str): in any case. case (str): one of `CASES`; anything else leaves the word alone.
    mixed (Mapping[str, str]): mixed forms by their lower-cased ones; a word without one is titled.
    RETURNS (str): a word of the same length that is the same in lower case.
    """
    lower = word.lower()
    if case == "lower":
        wanted = lower
    elif case == "Title":
        wanted = _titled(lower)
    elif case == "UPPER":
        wanted = lower.upper()
    elif case == "mixed":
        wanted = mixed.get(lower, _titled(lower))
    else:
        return word
    return wanted if len(wanted) == len(word) and wanted.lower() == lower else word


def _titled(lower: str) -> str:
    """A lower-cased word with its first letter, behind an apostrophe or a digit too, as a capital."""
    for place, character in enumerate(lower):
        if character.isalpha():
            capital = character.upper()
            return lower[:place] + capital + lower[place + 1 :] if len(capital) == 1 else lower
    return lower
