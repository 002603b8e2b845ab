"""The predicted side of a training example: what the pipeline gets to see."""

from collections.abc import Sequence
from typing import Any, cast

from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE, LEMMA, MORPH, ORTH, POS, SENT_START, SPACY, TAG
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans
from thinc.types import Ints2d

from ..annotation.extensions import copy_values
from ..core.labels import OUTSIDE
from .kinds import ENTITIES, MISSING, TOKEN_KINDS, extension_name, spans_key

ATTRIBUTES = {
    "lemma": (LEMMA,),
    "pos": (POS,),
    "tag": (TAG,),
    "morph": (MORPH,),
    ENTITIES: (ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID),
}


def copy_tokens(reference: Doc, kinds: Sequence[str]) -> Doc:
    """The predicted Doc: the file's own tokens and sentence starts. kinds (Sequence[str]): Annotation to copy too."""
    # Arrays, as a Token object for each word takes most of the time.
    words, spaces = reference.to_array(ORTH).tolist(), reference.to_array(SPACY).astype(bool).tolist()
    doc = Doc(reference.vocab, words=words, spaces=None if reference.has_unknown_spaces else spaces)
    attributes = [SENT_START, *(attribute for kind in kinds for attribute in ATTRIBUTES.get(kind, ()))]
    doc.from_array(attributes, cast(Ints2d, reference.to_array(attributes)))
    for kind in kinds:
        key = spans_key(kind)
        if key and key in reference.spans:
            doc.spans[key] = reference.spans[key].copy(doc=doc)
    copy_values(reference, doc, filter(None, map(extension_name, kinds)))
    return doc


def align_annotation(example: Example, kinds: Sequence[str]) -> None:
    """Copy kinds of annotation to the predicted Doc of an example, which has other tokens, as far as these agree."""
    for kind in kinds:
        key = spans_key(kind)
        name = extension_name(kind)
        if kind in TOKEN_KINDS:
            _align_tokens(example, kind)
        elif kind == ENTITIES:
            _align_entities(example)
        elif key and key in example.reference.spans:
            spans = example.get_aligned_spans_y2x(example.reference.spans[key], allow_overlap=True)
            example.predicted.spans[key] = spans
        elif name:
            _align_extension(example, name)


def _align_tokens(example: Example, kind: str) -> None:
    values = example.get_aligned(kind.upper(), as_string=True)
    for token, value in zip(example.predicted, values):
        if value and kind == "morph":
            # Missing from spaCy's type stubs.
            cast(Any, token).set_morph(value)
        elif value:
            setattr(token, f"{kind}_", value)


def _align_entities(example: Example) -> None:
    doc = example.predicted
    entities, tags = example.get_aligned_ents_and_ner()
    doc.set_ents(entities, missing=[doc[i : i + 1] for i, tag in enumerate(tags) if tag is None])


def _align_extension(example: Example, name: str) -> None:
    for token, indices in zip(example.predicted, example.alignment.x2y):
        values = {example.reference[int(i)]._.get(name) for i in indices}
        if len(values) == 1:
            token._.set(name, values.pop())


def read_kind(span: Span, kind: str) -> list[str]:
    """One kind of annotation of a part of a Doc, as text formats spell it.

    kind (str): E.g. "tag" or "spans:sc".
    RETURNS (list[str]): One value per token; spans as BIO tags, as far as they lie in the part; "" is unknown.
    """
    key, name = spans_key(kind), extension_name(kind)
    if name:
        return ["" if token._.get(name) is None else str(token._.get(name)) for token in span]
    if kind in TOKEN_KINDS:
        return [str(token.morph) if kind == "morph" else getattr(token, f"{kind}_") for token in span]
    found = span.doc.ents if kind == ENTITIES else span.doc.spans.get(key or "", ())
    tags = [MISSING if kind == ENTITIES and not token.ent_iob else OUTSIDE for token in span]
    inside = [other for other in found if span.start <= other.start and other.end <= span.end]
    for other in filter_spans(inside):
        own = slice(other.start - span.start, other.end - span.start)
        tags[own] = [f"B-{other.label_}", *[f"I-{other.label_}"] * (len(other) - 1)]
    return tags
