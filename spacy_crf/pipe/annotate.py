"""Writes predictions to Docs. Annotation that is there stays, unless it is to be overwritten."""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, IDX, POS, TAG
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.strings import StringStore
from spacy.tokens import Doc, Span, SpanGroup, Token
from thinc.types import Ints2d

from ..core.arrays import Floats, Hashes
from .inference import Prediction

ATTRIBUTES = {"tag": TAG, "pos": POS}
UNSET = ("", None)
SHARED_STARTS = 1 << 12  # characters of a document; longer ones are rarer, and have keys of their own
BLOCKED = 3  # ENT_IOB of a token that begins an entity; without a type, of one barred from entities


def label_ids(strings: StringStore, target: str, labels: Iterable[str]) -> Hashes:
    """((L,)): ids of tags in the arrays of a Doc.

    strings (StringStore): of the vocabulary. target (str): "tag" or "pos".
    """
    ids = [POS_IDS[label] if target == "pos" else strings.add(label) for label in labels]
    return np.array(ids, dtype=np.uint64)


def write_attribute(doc: Doc, attribute: int, ids: Hashes, present: Hashes | None) -> None:
    """Set TAG or POS of all tokens.

    ids ((n,)): their values as in `Doc.to_array`. present ((n,) | None): those that stay where they are not 0.
    """
    if present is not None and present.any():
        ids = np.where(present != 0, present, ids)
    doc.from_array([attribute], cast(Ints2d, ids))


def write_marginals(doc: Doc, name: str, labels: Iterable[str], values: Floats) -> None:
    """Give a Doc the probabilities of its tokens' labels; tokens show theirs by label. See `register_extensions`.

    name (str): of the custom attribute. labels (Iterable[str]): L of them. values ((n, L)): the probabilities.
    """
    doc._.set(name, {"tags": list(labels), "values": values})


@cache
def _extension_keys(name: str) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Keys of `Doc.user_data` under which a plain token attribute lives, by the token's first character.

    Documents share them: a new tuple for each token costs ten times as much, most of it in the garbage collector.
    """
    return np.fromiter((("._.", name, start, None) for start in range(SHARED_STARTS)), dtype=object)


def write_extension(doc: Doc, name: str, values: Iterable[str], starts: Hashes | None, overwrite: bool) -> None:
    """Set a custom attribute of all tokens.

    starts ((n,) | None): IDX of the tokens, where it is known already.
    """
    _, _, getter, setter = Token.get_extension(name)
    if getter is not None or setter is not None:
        for token, value in zip(doc, values):
            if overwrite or token._.get(name) in UNSET:
                token._.set(name, value)
        return
    # a plain value lives in user_data: `token._` would build four objects for each token
    first_characters = (doc.to_array(IDX) if starts is None else starts).view(np.intp)
    if len(first_characters) and first_characters[-1] < SHARED_STARTS:
        keys = _extension_keys(name).take(first_characters).tolist()
    else:
        keys = [("._.", name, start, None) for start in first_characters.tolist()]
    stored: dict[Any, Any] = doc.user_data
    if overwrite or not stored:
        stored.update(zip(keys, values))
        return
    for key, value in zip(keys, values):
        if stored.get(key) in UNSET:
            stored[key] = value


def write_entities(doc: Doc, prediction: Prediction, overwrite: bool, scores: str | None) -> None:
    """Set doc.ents; tokens outside of entities become so explicitly.

    scores (str | None): Span extension for the probabilities.
    """
    spans = [Span(doc, start, end, label=label) for start, end, label in prediction.spans]
    free: Sequence[int] = range(len(spans))
    kept: Sequence[Span] = ()
    blocked: list[Span] = []
    if not overwrite:
        kept, blocked = doc.ents, blocked_spans(doc)
        taken = {token for span in (*kept, *blocked) for token in range(span.start, span.end)}
        free = [k for k, span in enumerate(spans) if taken.isdisjoint(range(span.start, span.end))]
    doc.set_ents([*kept, *(spans[k] for k in free)], blocked=blocked, default="outside")
    if scores is not None and prediction.scores is not None:
        found = prediction.scores
        for k in free:
            values = {"label": found.label[k], "boundaries": found.boundaries[k], "covered": found.covered[k]}
            spans[k]._.set(scores, {name: float(value) for name, value in values.items()})


def write_group(doc: Doc, prediction: Prediction, overwrite: bool, key: str, extend: bool) -> None:
    """Set doc.spans[key], the probabilities in the attrs of the group.

    extend (bool): whether a group that is there gets the spans that fit between its own; its other attrs stay.
    """
    present = None if overwrite else doc.spans.get(key)
    kept: list[Span] = list(present or ())
    if kept and not extend:
        return
    taken = {token for span in kept for token in range(span.start, span.end)}
    found = [Span(doc, start, end, label=label) for start, end, label in prediction.spans]
    spans = [*kept, *(span for span in found if taken.isdisjoint(range(span.start, span.end)))]
    attrs = {**(present.attrs if present is not None else {}), **_group_scores(spans, prediction)}
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


def _group_scores(spans: Sequence[Span], prediction: Prediction) -> dict[str, Any]:
    """Probabilities of the spans of a group; NaN for those that were not decoded."""
    if prediction.scores is None:
        return {}
    number = {place: k for k, place in enumerate(prediction.spans)}
    chosen = [number.get((span.start, span.end, span.label_)) for span in spans]
    scores = prediction.scores
    columns = {"scores": scores.label, "scores_boundaries": scores.boundaries, "scores_covered": scores.covered}
    return {name: [math.nan if k is None else float(values[k]) for k in chosen] for name, values in columns.items()}


def register_extensions(
    target: str | None, scores: str | None, marginals: str | None, values: Iterable[str | None] = ()
) -> None:
    """Register what the settings name, where nobody else has.

    target (str | None): of tokens. scores (str | None): of spans. marginals (str | None): of Docs and tokens.
    values (Iterable[str | None]): of Docs.
    """
    for name in values:
        if name is not None and not Doc.has_extension(name):
            Doc.set_extension(name, default=None)
    if target is not None and not Token.has_extension(target):
        Token.set_extension(target, default=None)
    if scores is not None and not Span.has_extension(scores):
        Span.set_extension(scores, default=None)
    if marginals is not None and not Doc.has_extension(marginals):
        Doc.set_extension(marginals, default=None)
    if marginals is not None and not Token.has_extension(marginals):
        Token.set_extension(marginals, getter=_TokenMarginals(marginals))


def blocked_spans(doc: Doc) -> list[Span]:
    """Tokens that somebody has barred from entities."""
    iob, types = doc.to_array([ENT_IOB, ENT_TYPE]).reshape(-1, 2).T
    barred = np.flatnonzero((iob == BLOCKED) & (types == 0))
    return [Span(doc, token, token + 1) for token in barred.tolist()]


class _TokenMarginals:
    """Getter of a token's probabilities, by tag, from those of its Doc. A class, so that it pickles."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, token: Token) -> dict[str, float] | None:
        stored = token.doc._.get(self.name)
        if stored is None:
            return None
        return dict(zip(stored["tags"], np.asarray(stored["values"])[token.i].tolist()))
