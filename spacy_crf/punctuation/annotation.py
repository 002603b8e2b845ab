"""Where a Doc keeps punctuation: one custom attribute of the Doc, which tokens show theirs from.

`doc._.punctuation` is a dict of lists, one value for each token: "marks" (names, "" for none), "case", "openings" and
"closings" where they are told, and "probabilities" ((n, M) array) with the names of its columns under "columns". A
token that is not the last one of its word has no mark. Gold of a window has the mark that ends its last sentence under
"following", where that lies behind the window.

`token._.pause`, the seconds of silence behind a token, is for features: whoever knows the times of words sets it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc, Token

from ..annotation.extensions import read_value, register, user_data, write_value
from ..features.open_sides import OPEN_SIDES

PUNCTUATION = "punctuation"
RESTORED, RESTORATION, RESTORATIONS = "restored", "restoration", "restorations"
MARKS, CASE, OPENINGS, CLOSINGS = "marks", "case", "openings", "closings"
PROBABILITIES, COLUMNS, FOLLOWING = "probabilities", "columns", "following"
PAUSE = "pause"


def register_punctuation() -> None:
    """Make the custom attributes available where nobody else has."""
    for name in (PUNCTUATION, RESTORED, RESTORATION, RESTORATIONS):
        register(Doc, name)
    for name, part in (("punct_after", MARKS), ("case", CASE)):
        register(Token, name, getter=_Value(part), setter=_Setter(part))
    register(Token, PAUSE)
    register(Token, "punct_probs", getter=_probabilities)


def read_punctuation(doc: Doc) -> dict[str, Any] | None:
    """What a Doc has of punctuation; None for nothing, whether or not anybody has registered the attribute."""
    stored: dict[str, Any] | None = read_value(doc, PUNCTUATION)
    return stored


def write_punctuation(doc: Doc, values: dict[str, Any]) -> None:
    """Give a Doc its punctuation; what it had is replaced."""
    write_value(doc, PUNCTUATION, values)


def write_gold(
    doc: Doc, marks: Sequence[str], openings: Sequence[str] = (), closings: Sequence[str] = (), following: str = ""
) -> None:
    """Give a Doc whose tokens are words the marks that were behind them. Empty columns are left out.

    following (str): the first mark behind the Doc that ends a sentence, if its text goes on.
    """
    columns = ((OPENINGS, openings), (CLOSINGS, closings))
    values: dict[str, Any] = {MARKS: list(marks), **{name: list(found) for name, found in columns if any(found)}}
    write_punctuation(doc, {**values, FOLLOWING: following} if following else values)


def write_open(doc: Doc, sides: tuple[bool, bool]) -> None:
    """Note that the text goes on before or behind a Doc, so that its first or last word is no true start or end."""
    if any(sides):
        user_data(doc)[OPEN_SIDES] = list(sides)


def goes_on(doc: Doc) -> bool:
    """Whether the text goes on behind a Doc; see `write_open`."""
    return bool(user_data(doc).get(OPEN_SIDES, (False, False))[1])


def write_pauses(doc: Doc, pauses: Sequence[float | None]) -> None:
    """Set `token._.pause` where it is known.

    pauses (sequence of float | None): seconds behind each token; shorter than the Doc where the rest is not known.
    """
    for token, pause in zip(doc, pauses):
        if pause is not None:
            token._.set(PAUSE, pause)


class _Value:
    """Getter of a token's value; "" where there is none. A class, so that it pickles."""

    def __init__(self, part: str):
        self.part = part

    def __call__(self, token: Token) -> str:
        stored = read_punctuation(token.doc) or {}
        return str(stored[self.part][token.i]) if self.part in stored else ""


class _Setter:
    """Setter of a token's value. A class, so that it pickles."""

    def __init__(self, part: str):
        self.part = part

    def __call__(self, token: Token, value: Any) -> None:
        stored = read_punctuation(token.doc) or {}
        values = stored.get(self.part) or [""] * len(token.doc)
        values[token.i] = value
        write_punctuation(token.doc, {**stored, self.part: values})


def _probabilities(token: Token) -> dict[str, float] | None:
    """Getter of the probabilities of the marks behind a token, by their names; None where there are none."""
    stored = read_punctuation(token.doc) or {}
    if PROBABILITIES not in stored:
        return None
    return dict(zip(stored[COLUMNS], np.asarray(stored[PROBABILITIES])[token.i].tolist()))
