"""Tokens of long texts, found in arrays of characters."""

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...core.arrays import Bools, Indices
from .unit import Unit

SIGN, WORD, SPACE, LINE_END = range(4)
INNER = ".'’-"  # signs that are part of a word between its letters or digits
MOST = 0x110000  # code points


def cut_tokens(text: str, units: Sequence[Unit]) -> tuple[list[str], list[bool]]:
    """Cut a text into words, signs and white space, and where units begin and end.

    text (str): any text. units (list[Unit]): of it.
    RETURNS (list[str], list[bool]): tokens, and whether a space is behind each: one space behind a word or sign is no
        token of its own, other white space is. Together they are the text. O(n) for n characters.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    classes = _classes(codes)
    cuts = _cuts(classes)
    for place in (*(unit.start for unit in units), *(unit.end for unit in units)):
        cuts[place] = True
    places = np.flatnonzero(cuts)
    starts, ends = places[:-1], places[1:]
    lone = _lone_spaces(codes, classes, starts, ends)
    kept = np.flatnonzero(~lone)
    spaces = np.append(lone, False)[kept + 1]
    return [text[start:end] for start, end in zip(starts[kept].tolist(), ends[kept].tolist())], spaces.tolist()


def _classes(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """What each character is."""
    table = np.full(MOST, SIGN, dtype=np.uint8)
    for code in np.flatnonzero(np.bincount(codes, minlength=1)).tolist():
        table[code] = _class(chr(code))
    classes = table[codes]
    inner = np.isin(codes, [ord(sign) for sign in INNER])
    inner[:1] = inner[-1:] = False
    inner[1:-1] &= (classes[:-2] == WORD) & (classes[2:] == WORD)
    classes[inner] = WORD
    return classes


def _class(character: str) -> int:
    if character.isspace():
        return LINE_END if character == "\n" else SPACE
    is_word = character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
    return WORD if is_word else SIGN


def _cuts(classes: npt.NDArray[np.uint8]) -> Bools:
    """Whether a token begins at each place, or the text ends there."""
    cuts = np.ones(len(classes) + 1, dtype=np.bool_)
    here = classes[1:]
    cuts[1:-1] = (here != classes[:-1]) | (here == SIGN) | (here == LINE_END)
    return cuts


def _lone_spaces(
    codes: npt.NDArray[np.uint32], classes: npt.NDArray[np.uint8], starts: Indices, ends: Indices
) -> Bools:
    """Which pieces are one space behind a word or sign: spaCy keeps them with it."""
    lone: Bools = (ends - starts == 1) & (codes[starts] == ord(" "))
    lone[1:] &= classes[starts[:-1]] < SPACE
    lone[:1] = False
    return lone
