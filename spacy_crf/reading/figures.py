"""Figures that are set higher or lower, as 10⁶ and H₂O have them, told from the others."""

import re

from ..core.grammar.numerals import RAISED

HIGHER, LOWER = 1, -1  # how text is set
BEHIND_DIGIT = {HIGHER: re.compile(r"[\d⁰¹²³⁴-⁹₀-₉][^\w\s]?\Z"), LOWER: re.compile(r"[\d⁰¹²³⁴-⁹₀-₉]\Z")}
FIGURES = "0123456789+-\u2212"
SET = {HIGHER: str.maketrans(FIGURES, RAISED + "⁺⁻⁻"), LOWER: str.maketrans(FIGURES, "₀₁₂₃₄₅₆₇₈₉₊₋₋")}
SIGNS = {HIGHER: "^", LOWER: "_"}  # before what has no characters of its own there
SHIFTED = re.compile(  # in HTML and LaTeX
    r"<(?P<tag>su[bp])>(?P<shown>[^<>]*)</(?P=tag)>|\\text(?P<kind>su[bp])(?:er)?script\s?\{(?P<argument>[^{}\\]*)\}"
)
LONGEST_BEFORE = 40  # characters of mark-up before figures that are looked at


def shifted(text: str, shift: int, before: str, behind: str = "") -> str:
    """Text that is set higher or lower. Figures beside a digit are written so, and raised ones behind a sign that is
    behind a digit: 10⁶ is not 106, 1^1/2 not 11/2, ²1999 not 21999, and the mark of a note in "1999.³" is no decimal.

    shift (int): `HIGHER`, `LOWER`, or 0, which changes nothing; before (str): at least two characters, if there are.
    """
    figures = text.strip()
    if not shift or not figures or figures[0] not in FIGURES:
        return text
    if BEHIND_DIGIT[shift].search(before[-2:]) is not None:
        return text.translate(SET[shift]) if set(FIGURES).issuperset(figures) else SIGNS[shift] + text
    return text.translate(SET[shift]) if text[-1].isdecimal() and behind[:1].isdecimal() else text


def shift_figures(text: str) -> str:
    """A text in which figures that its mark-up sets higher or lower are written so, see `shifted`."""

    def write(found: re.Match[str]) -> str:
        figures, shift = _shown(found), HIGHER if "sup" in (found["tag"], found["kind"]) else LOWER
        before = SHIFTED.sub(_shown, text[max(found.start() - LONGEST_BEFORE, 0) : found.start()])
        own = shifted(figures, shift, before, text[found.end() : found.end() + 1])
        return found[0] if own == figures else own

    return SHIFTED.sub(write, text)


def _shown(found: re.Match[str]) -> str:
    return found["shown"] or found["argument"] or ""
