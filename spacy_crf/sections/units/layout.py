"""A text with its formatting, as a file has it or a Doc carries it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from spacy.attrs import LENGTH, SPACY
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.errors import CRFError
from ..errors import SectionErrors
from .segment import segment
from .tokens import cut_tokens
from .unit import Kind, Run, Unit

LAYOUT = "spacy_crf.layout"  # key of `Doc.user_data`: a list of [start, end, style]
NAME = "spacy_crf.layout.name"  # key of `Doc.user_data`: the document's name


@dataclass(frozen=True)
class Layout:
    """A document as a reader of files gives it.

    text (str): all of its text. runs (tuple[Run, ...]): start, end and style of formatted stretches, or the kind of
    unit that a stretch is (see `segment`). name (str): of the document. language (str): its code, such as "nl"; "" if
    it is unknown.
    """

    text: str
    runs: tuple[Run, ...] = ()
    name: str = ""
    language: str = ""

    @cached_property
    def units(self) -> list[Unit]:
        """Units of the text, see `segment`."""
        return segment(self.text, self.runs)


def to_doc(vocab: Vocab, layout: Layout) -> Doc:
    """Make a Doc whose tokens end where units end; the limit `nlp.max_length` does not hold for it.

    Words are letters, digits and the signs between them; any other character, and each line end, is a token.

    vocab (Vocab): of the pipeline. layout (Layout): the document.
    RETURNS (Doc): `doc.text` is the text, `doc.user_data` has the formatting. Linear in the text.
    """
    words, spaces = cut_tokens(layout.text, layout.units)
    doc = Doc(vocab, words=words, spaces=spaces)
    attach_layout(doc, layout.runs)
    doc.user_data[NAME] = layout.name
    return doc


def attach_layout(doc: Doc, runs: Iterable[Run]) -> None:
    """Give a Doc formatting; it stays with the Doc in bytes, files and other processes.

    doc (Doc): any Doc. runs (Iterable[tuple[int, int, str]]): start and end in `doc.text`, and style.
    """
    doc.user_data[LAYOUT] = [[start, end, style] for start, end, style in runs]


def units_of(doc: Doc) -> list[Unit]:
    """Units of a Doc, from its text and the formatting that it carries.

    Where the start of an element would be split within a token, it is not split there. A blank line is a unit of one
    character even where a token has several line ends.

    doc (Doc): any Doc. RETURNS (list[Unit]): as `segment` gives them.
    RAISES (ValueError): if the formatting is not a list of start, end and style.
    """
    units = segment(doc.text, runs_of(doc))
    begins = _begin_tokens(doc, units)
    return units if all(begins) else _align(units, begins)


def runs_of(doc: Doc) -> list[Run]:
    """The formatting that a Doc carries; empty if none was attached.

    doc (Doc): any Doc. RAISES (ValueError): if it is not a list of start, end and style.
    """
    return [_check_run(doc, run) for run in doc.user_data.get(LAYOUT, ())]


def _check_run(doc: Doc, run: Any) -> Run:
    match run:
        case [int(start), int(end), str(style)] if 0 <= start <= end:
            return start, end, style
    name = doc.user_data.get(NAME) or doc.text[:40]
    raise CRFError(SectionErrors.CRF951.format(name=name, run=run, key=LAYOUT))


def _begin_tokens(doc: Doc, units: Sequence[Unit]) -> list[bool]:
    """Whether each unit begins where a token does; a blank line may do as it likes."""
    lengths = doc.to_array([LENGTH, SPACY]).sum(axis=1).astype(np.intp)
    starts = np.append(np.cumsum(lengths) - lengths, -1)
    places = np.array([unit.start for unit in units], dtype=np.intp)
    found = starts[np.searchsorted(starts[:-1], places)] == places
    return [begins or unit.kind is Kind.NEWLINE for begins, unit in zip(found.tolist(), units)]


def _align(units: Sequence[Unit], begins: Sequence[bool]) -> list[Unit]:
    """Units joined with those before them where a token would be split."""
    found: list[Unit] = []
    for unit, is_begin in zip(units, begins):
        if found and not is_begin and found[-1].kind is not Kind.NEWLINE:
            before = found.pop()
            unit = Unit(before.start, unit.end, unit.kind, before.styles & unit.styles, before.indent)
        found.append(unit)
    return found
