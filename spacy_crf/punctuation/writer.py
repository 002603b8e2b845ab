"""Writes what was restored to Docs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc
from thinc.types import Ints2d

from ..core.arrays import Floats, Ints
from ..pipe.inference import Prediction
from .annotation import (
    CASE,
    CLOSINGS,
    COLUMNS,
    MARKS,
    OPENINGS,
    PROBABILITIES,
    RESTORATION,
    RESTORATIONS,
    RESTORED,
    write_punctuation,
)
from .doc_words import WordView
from .labels import Label, LabelScheme, LabelTable
from .marks import NONE
from .restore import Edit, Editor, apply_edits


class Restoration(NamedTuple):
    """What a text is restored to.

    view (WordView): its words. labels (list[Label]): one for each. edits (list[Edit]): of the text.
    probabilities (list): of the mark of each word; None where they were not asked for.
    """

    view: WordView
    labels: list[Label]
    edits: list[Edit]
    probabilities: Sequence[float | None]


class RestorationWriter:
    """Writes predictions under settings that do not change meanwhile.

    scheme (LabelScheme), labels (sequence of str): of the chain. settings (Mapping): existing, capitalise,
    probabilities and sentences, as in the factory of punctuation_restorer. mixed (Mapping[str, str]): mixed forms.
    """

    def __init__(
        self, scheme: LabelScheme, labels: Sequence[str], settings: Mapping[str, Any], mixed: Mapping[str, str]
    ):
        self._scheme, self._settings = scheme, settings
        self._table = LabelTable(labels)
        told = {MARKS: [_shown(label.mark) for label in self._table.parsed]}
        if scheme.case:
            told[CASE] = [label.case for label in self._table.parsed]
        if scheme.pairs:
            told[CLOSINGS] = [label.closing for label in self._table.parsed]
            told[OPENINGS] = [label.opening for label in self._table.parsed]
        self._is_end = np.array([scheme.marks.is_end(label.mark) for label in self._table.parsed], dtype=bool)
        self._told = {name: np.array(by_tag, dtype=object) for name, by_tag in told.items()}
        self._editor = Editor(scheme, mixed, settings["existing"] == "keep", settings["capitalise"])

    def restoration(self, view: WordView, prediction: Prediction) -> Restoration:
        """Labels, edits and probabilities, without writing them."""
        labels = self._labels(prediction.tags)
        chances: Sequence[float | None] = [None] * len(labels)
        if prediction.marginals is not None:
            sums = self._table.mark_probabilities(prediction.marginals)
            chances = sums[np.arange(len(labels)), self._table.mark_of[prediction.tags]].tolist()
        return Restoration(view, labels, self._editor.edits(view.text, view.words, labels), chances)

    def __call__(self, doc: Doc, view: WordView, prediction: Prediction) -> None:
        """Write marks, cases, probabilities, text, edits and sentence starts of one Doc."""
        labels = self._labels(prediction.tags)
        values = self._token_values(doc, view, prediction.tags)
        if self._settings["probabilities"] and prediction.marginals is not None:
            values |= self._probabilities(doc, view, prediction.marginals)
        write_punctuation(doc, values)
        edits = self._editor.edits(view.text, view.words, labels)
        doc._.set(RESTORATION, [list(edit) for edit in edits])
        doc._.set(RESTORED, apply_edits(view.text, edits))
        if prediction.n_best is not None and self._settings["n_best"]:
            doc._.set(RESTORATIONS, self._alternatives(view, prediction))
        if self._settings["sentences"]:
            self._start_sentences(doc, view, prediction.tags)

    def _labels(self, tags: Any) -> list[Label]:
        return [self._table.parsed[tag] for tag in tags.tolist()]

    def _token_values(self, doc: Doc, view: WordView, tags: Ints) -> dict[str, Any]:
        """Values by token, each at the last token of its word."""
        last = view.last_tokens.tolist()
        values: dict[str, Any] = {}
        for name, by_tag in self._told.items():
            values[name] = [""] * len(doc)
            for place, value in zip(last, by_tag[tags].tolist()):
                values[name][place] = value
        return values

    def _probabilities(self, doc: Doc, view: WordView, marginals: Floats) -> dict[str, Any]:
        """Probabilities of the marks by token; a token inside of a word has no mark for certain."""
        sums = self._table.mark_probabilities(marginals)
        table = np.zeros((len(doc), len(self._table.marks)), dtype=np.float32)
        if NONE in self._table.marks:
            table[:, self._table.marks.index(NONE)] = 1
        table[view.last_tokens] = sums
        return {PROBABILITIES: table, COLUMNS: [_shown(mark) for mark in self._table.marks]}

    def _alternatives(self, view: WordView, prediction: Prediction) -> list[dict[str, Any]]:
        """The best texts with their probabilities; a Doc is one sequence. Labellings of one text are taken together."""
        text, found = view.text, dict[str, float]()
        for listed in prediction.n_best or ():
            for tags, probability in zip(listed.tags, listed.probabilities.tolist()):
                restored = apply_edits(text, self._editor.edits(text, view.words, self._labels(tags)))
                found[restored] = found.get(restored, 0.0) + probability
        return [{"text": restored, "probability": probability} for restored, probability in found.items()]

    def _start_sentences(self, doc: Doc, view: WordView, tags: Ints) -> None:
        """A sentence begins at the first token, and with the word behind an end mark or what opens before that word."""
        starts = np.full(len(doc), -1)
        starts[:1] = 1
        behind = np.flatnonzero(self._is_end[tags[:-1]]) + 1
        starts[view.opening_tokens(behind)] = 1
        doc.from_array(SENT_START, cast(Ints2d, starts.view(np.uint64)))


def _shown(mark: str) -> str:
    """A mark as tokens show it."""
    return "" if mark == NONE else mark
