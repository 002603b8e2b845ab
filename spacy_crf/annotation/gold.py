"""Gold labels of examples, one for each token of the predicted Doc; what is misaligned or missing is unknown."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, IOB_STRINGS, ORTH, POS, TAG
from spacy.parts_of_speech import NAMES as POS_NAMES
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..core.arrays import Ints
from ..core.gold import UNKNOWN, Gold
from ..core.labels import OUTSIDE, TagSet
from .partial import as_bio, partial_tags, possible_tags

TOKEN_TARGETS = ("tag", "pos")
ANNOTATION = {
    "tag": "token.tag",
    "pos": "token.pos",
    "ent": "doc.ents",
    "spans": "doc.spans[{spans_key!r}]",
}
UNLABELLED = ("", None)


def describe_annotation(target: str, spans_key: str) -> str:
    """How messages name what a target is read from."""
    return ANNOTATION.get(target, f"token._.{target}").format(spans_key=spans_key)


def collect_labels(docs: Iterable[Doc], target: str, spans_key: str) -> list[str]:
    """Labels that occur, sorted: types of spans for "ent" and "spans", values of tokens otherwise."""
    labels: set[str] = set()
    for doc in docs:
        if target == "ent":
            labels.update(ent.label_ for ent in doc.ents)
        elif target == "spans":
            labels.update(span.label_ for span in spans_with_tokens(doc, spans_key))
        elif target == "tag":
            labels.update(doc.vocab.strings[tag] for tag in set(doc.to_array(TAG).tolist()) if tag)
        elif target == "pos":
            labels.update(POS_NAMES[pos] for pos in set(doc.to_array(POS).tolist()) if pos)
        else:
            labels.update(str(value) for value in _extension_values(doc, target))
        labels.update(tag[2:] for tag in partial_tags(doc, target, spans_key) or ())
    return sorted(labels - {""})


def has_outside(doc: Doc, target: str, spans_key: str) -> bool:
    """Whether a token of a Doc is known to lie outside of all spans.

    target (str): "ent" or "spans".
    """
    partial = partial_tags(doc, target, spans_key)
    if partial is not None:
        return OUTSIDE in partial
    if target == "ent":
        return bool((doc.to_array(ENT_IOB) == IOB_STRINGS.index(OUTSIDE)).any())
    covered = {token for span in spans_with_tokens(doc, spans_key) for token in range(span.start, span.end)}
    return spans_key in doc.spans and len(covered) < len(doc)


def has_touching(doc: Doc, target: str, spans_key: str) -> bool:
    """Whether a span of a Doc ends where one with the same label begins.

    target (str): "ent" or "spans".
    """
    spans = doc.ents if target == "ent" else spans_with_tokens(doc, spans_key)
    ends = {(span.end, span.label) for span in spans}
    return any((span.start, span.label) in ends for span in spans)


def _extension_values(doc: Doc, name: str) -> list[object]:
    return [value for value in (token._.get(name) for token in doc) if value not in UNLABELLED]


def gold_tags(example: Example, target: str, spans_key: str, tags: TagSet, strict: bool = True) -> Ints:
    """((n,)): index of the gold tag of each predicted token, UNKNOWN where there is none.

    strict (bool): whether labels that the tag set lacks are an error; else they are UNKNOWN.
    RAISES (KeyError): for a label that the tag set lacks; its argument is the tag.
    """
    partial = partial_gold(example, target, spans_key)
    if partial is not None:
        names: Sequence[str | None] = [_only(found, tags) for found in possible_tags(partial, tags)]
    elif target == "ent":
        names = _entity_tags(example, tags)
    else:
        names = _by_token(example, target, spans_key, tags)
    distinct = dict.fromkeys(names)
    lacking = [name for name in distinct if name is not None and name not in tags.number]
    if strict and lacking:
        raise KeyError(lacking[0])
    numbers = {name: UNKNOWN if name is None else tags.number.get(name, UNKNOWN) for name in distinct}
    return np.array([numbers[name] for name in names], dtype=np.int32)


def partial_gold(example: Example, target: str, spans_key: str) -> list[str] | None:
    """BIO tags of the predicted tokens, "" where unknown or misaligned; None if gold is not partial. See `partial`."""
    found = partial_tags(example.reference, target, spans_key)
    if found is None or same_tokens(example):
        return found
    x2y, y2x = example.alignment.x2y, example.alignment.y2x
    pairs = [x2y[x].tolist() for x in range(len(example.predicted))]
    return [found[own[0]] if len(own) == 1 and len(y2x[own[0]]) == 1 else "" for own in pairs]


def _only(found: tuple[str, ...], tags: TagSet) -> str | None:
    """The one tag that is possible; one that the tag set lacks in any case, to be told of."""
    return found[0] if len(found) == 1 or (found and found[0] not in tags.number) else None


def narrow(gold: Gold, examples: Sequence[Example], target: str, spans_key: str, tags: TagSet) -> Gold:
    """Gold with sets of tags for tokens whose span goes on or ends, which partial gold of BILUO tags cannot tell.

    gold (Gold): of the predicted tokens, where these are unknown.
    """
    weights, first = gold.weights.copy(), 0
    for example in examples:
        partial = partial_gold(example, target, spans_key)
        for unit, found in enumerate(possible_tags(partial or (), tags), first):
            if len(found) > 1:
                row = np.searchsorted(gold.rows, unit)
                weights[row] = 0
                weights[row, [tags.number[tag] for tag in found if tag in tags.number]] = 1
        first += len(example.predicted)
    return Gold(gold.labels, gold.rows, weights)


def _by_token(example: Example, target: str, spans_key: str, tags: TagSet) -> Sequence[str | None]:
    return _span_tags(example, spans_key, tags) if target == "spans" else gold_names(example, target)


def gold_names(example: Example, target: str) -> Sequence[str | None]:
    """The gold tag of each predicted token, whether known to anybody or not; None where there is none.

    target (str): one of tokens: "tag", "pos", or a custom attribute.
    """
    if target in TOKEN_TARGETS:
        return _attribute_tags(example, target)
    values = [None if v in UNLABELLED else str(v) for v in (t._.get(target) for t in example.reference)]
    if same_tokens(example):
        return values
    aligned = example.alignment.x2y
    chosen = [{values[y] for y in aligned[x].tolist()} for x in range(len(example.predicted))]
    return [next(iter(found)) if len(found) == 1 else None for found in chosen]


def _attribute_tags(example: Example, target: str) -> Sequence[str | None]:
    if not same_tokens(example):
        return [name or None for name in example.get_aligned(target.upper(), as_string=True)]
    ids = example.reference.to_array(TAG if target == "tag" else POS).tolist()
    strings = example.reference.vocab.strings
    names = {i: (strings[i] if target == "tag" else POS_NAMES[i]) or None for i in set(ids)}
    return [names[i] for i in ids]


def _entity_tags(example: Example, tags: TagSet) -> Sequence[str | None]:
    if not same_tokens(example):
        biluo = example.get_aligned_ner()
        return [None if tag in (None, "", "-") else _from_biluo(tag, tags) for tag in biluo]
    reference = example.reference
    iob = reference.to_array([ENT_IOB, ENT_TYPE])[:, 0]
    names: list[str | None] = [None if code == 0 else "O" for code in iob.tolist()]
    for ent in reference.ents:
        names[ent.start : ent.end] = tags.tag_span(ent.start, ent.end, ent.label_)
    return names


def _from_biluo(tag: str, tags: TagSet) -> str:
    """A BILUO tag as a tag of the scheme at hand."""
    if tags.scheme == "BILUO" or tag == "O":
        return tag
    return tag[2:] if tags.scheme == "none" else as_bio(tag)


def _span_tags(example: Example, spans_key: str, tags: TagSet) -> Sequence[str | None]:
    n = len(example.predicted)
    if spans_key not in example.reference.spans:
        return [None] * n
    spans = spans_with_tokens(example.reference, spans_key)
    names: list[str | None] = ["O"] * n
    alone = without_overlaps(spans)
    if same_tokens(example):
        for span in spans:
            names[span.start : span.end] = [None] * len(span)
        aligned = alone
    else:
        aligned = example.get_aligned_spans_y2x(alone, allow_overlap=False)
        if len(aligned) < len(spans):
            _forget(example, spans, names)
    for span in aligned:
        names[span.start : span.end] = tags.tag_span(span.start, span.end, span.label_)
    return names


def spans_with_tokens(doc: Doc, spans_key: str) -> list[Span]:
    """The spans of a group, apart from empty ones: no tag can stand for these."""
    return [span for span in doc.spans.get(spans_key, ()) if len(span)]


def without_overlaps(spans: Sequence[Span]) -> list[Span]:
    """The spans that share no token with another one. O(S log S)."""
    in_order = sorted(spans, key=_place)
    ends = [0, *itertools.accumulate((span.end for span in in_order), max)]
    nexts = [*(span.start for span in in_order[1:]), None]
    return [
        span
        for span, end_before, start_after in zip(in_order, ends, nexts)
        if end_before <= span.start and (start_after is None or span.end <= start_after)
    ]


def _place(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _forget(example: Example, spans: Sequence[Span], names: list[str | None]) -> None:
    """Tokens that touch one of the spans are unknown."""
    y2x = example.alignment.y2x
    for span in spans:
        for token in range(span.start, span.end):
            for x in y2x[token].tolist():
                names[x] = None


def same_tokens(example: Example) -> bool:
    """Whether both sides have the same tokens, so that no alignment is needed."""
    predicted, reference = example.predicted, example.reference
    if len(predicted) != len(reference):
        return False
    return bool(np.array_equal(predicted.to_array([ORTH]), reference.to_array([ORTH])))
