"""Probabilities of tokens and spans, and what a component must offer so that others can build on these."""

from abc import ABC
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch

from ..annotation.span_targets import target_of
from ..annotation.target import SpanScores
from ..annotation.white_space import Places, leave_out
from ..core.arrays import Bools, Floats, Ints, Segments
from ..core.errors import CRFError, excerpt
from ..core.labels import OUTSIDE, UNKNOWN, TagSet
from ..features.columns import Columns
from ..learning.model import get_tok2vec
from .component import ChainPipe
from .decoding import Batch, score_spans
from .errors import PipeErrors

BATCH_SIZE = 256
TOLERANCE = 1e-3  # rows that sum to 1 up to this are probabilities, others are logits


class LabelsTokens(ABC):  # noqa: B024
    """A `ChainPipe` whose labels, by its setting `target`, are those of tokens or spans; classes are registered."""


@runtime_checkable
class GivesProbabilities(Protocol):
    """A component with probabilities (n, L) of its L labels for the tokens of each Doc, in single precision. Docs stay
    as they are, and what they are annotated with is no evidence."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    def token_probabilities(self, docs: Sequence[Doc]) -> list[Floats]: ...


@runtime_checkable
class GivesSets(GivesProbabilities, Protocol):
    """A component that gives each token a set of its labels, by their probabilities.

    cfg (dict): run-time settings, those that say how sets are chosen among them, and the names "tag_set" and
    "gold_tags" of custom attributes. target (str): "tag" or "pos". `word_examples` leaves out tokens that are no words,
    `read_columns` gives the others, which promises are told from, and `unlabelled` says which of these get no set.
    """

    name: str
    cfg: dict[str, Any]
    target: str

    @property
    def tag_probs(self) -> str: ...
    def word_examples(self, examples: Sequence[Example]) -> Sequence[Example]: ...
    def read_columns(self, docs: Sequence[Doc]) -> Columns: ...
    def unlabelled(self, docs: Sequence[Doc], columns: Columns) -> Bools | None: ...


def token_probabilities(source: Any, docs: Sequence[Doc]) -> list[Floats]:
    """Probabilities (n, L) that any component gives to the tokens of each Doc.

    source (Any): one that `GivesProbabilities`, or a trainable component whose model gives scores of its labels for
        each token, as spaCy's tagger, morphologizer and senter do.
    """
    if isinstance(source, GivesProbabilities):
        return source.token_probabilities(docs)
    filled = [doc for doc in docs if len(doc)]
    found = iter(source.model.predict(filled) if filled else [])
    none = np.zeros((0, len(source.labels)), dtype=np.float32)
    return [_normalised(np.asarray(next(found))) if len(doc) else none for doc in docs]


def _normalised(scores: Floats) -> Floats:
    """((n, L)): scores of one Doc as they are if they are probabilities, else their softmax."""
    if (scores >= 0).all() and np.allclose(scores.sum(axis=1), 1.0, atol=TOLERANCE):
        return scores
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class WordTags(NamedTuple):
    """What a component says of the words of a text.

    labels ((n,)): numbers of their tags, UNKNOWN for none. probabilities ((n, L)): of all tags, in single precision.
    """

    labels: Ints
    probabilities: Floats


def sees_words_alone(pipe: ChainPipe) -> bool:
    """Whether what a component says follows from words and white space, not from annotation or vectors of others."""
    return not pipe.features.extractor.reads_annotation and get_tok2vec(pipe.model) is None


def tag_words(pipe: ChainPipe, texts: Sequence[Sequence[str]]) -> list[WordTags]:
    """Tag texts that are split into words, without Docs: as the component tags Docs of these words that have a space
    behind each and no annotation. New words are added to the strings of the vocabulary.

    RAISES (ValueError): where the component reads more of a text than its words, or a text is no list of words.
    """
    own, strings, found, texts = pipe.preparation, pipe.vocab.strings, list[WordTags](), list(texts)
    if not sees_words_alone(pipe):
        raise CRFError(PipeErrors.CRF592.format(name=pipe.name))
    for number, text in enumerate(texts):
        if not _is_words(text):
            told = {"number": number, "found": excerpt(repr(text))}
            raise CRFError(PipeErrors.CRF474.format(name=pipe.name, **told))
    if pipe.skips_white_space and any(word.isspace() for text in texts for word in text):
        places = [Places.beside(np.array([word.isspace() for word in text], dtype=bool)) for text in texts]
        tagged = tag_words(pipe, [[word for word in text if not word.isspace()] for text in texts])
        return [
            WordTags(at.spread(own.labels, UNKNOWN), at.spread(own.probabilities, 0)) for at, own in zip(places, tagged)
        ]
    for batch in minibatch(texts, BATCH_SIZE):
        columns = pipe.features.extractor.read_words(batch, pipe.vocab)
        if not len(columns.orths):
            found += [WordTags(np.zeros(0, np.int32), np.zeros((0, len(pipe.tags)), np.float32)) for _ in batch]
            continue
        columns = pipe.valid_tags.fill(columns) if pipe.has_dictionary else columns
        chains = pipe.scores.distribution(columns, pipe.scores.look_up(columns))
        chains = chains.given(pipe.known_tags((), columns, given=False)).at(pipe.temperature)
        unlabelled = own.marks(columns.orths, strings) if own is not None and own.punctuation != "gold" else None
        whole = Batch((), columns, chains, pipe.tags, unlabelled)
        decoder = pipe.decoder()
        decoded = decoder.decoded(whole, decoder.labels(whole))
        labels = (pipe.annotation.chosen(one, pipe.tags) for one in decoded)
        found += map(WordTags, labels, whole.by_doc.split(whole.marginals))
    return found


def _is_words(text: Sequence[str]) -> bool:
    """Whether a text is split into words that can be encoded, as lone surrogates cannot."""
    try:
        "".join(text).encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return not isinstance(text, str)


def span_probabilities(pipe: ChainPipe, doc: Doc, spans: Sequence[Span]) -> SpanScores:
    """Exact probabilities of any spans; their labels must be among the component's.

    The settings `temperature` and `given` hold for them too. White space at the ends of a span that is no word to the
    component makes no difference.

    RETURNS (SpanScores): label, boundaries and covered, one value for each span.
    RAISES (ValueError): for a span whose label is unknown, before training, and for a model of order 2.
    """
    if not pipe.labels:
        raise CRFError(PipeErrors.CRF401.format(name=pipe.name))
    pipe.scores.weights.require_first_order(pipe.name, "probabilities of spans")
    for span in spans:
        if span.label_ not in pipe.labels or (pipe.has_plain_spans and span.label_ == OUTSIDE):
            told = {"span": excerpt(span.text), "document": excerpt(doc.text), "name": pipe.name}
            raise CRFError(PipeErrors.CRF459.format(label=span.label_, known=", ".join(pipe.labels), **told))
    bounds = [(span.start, span.end) for span in spans]
    if pipe.skips_white_space:
        places = Places.of(doc)
        doc, bounds = leave_out(doc, places), [places.words_of(*own) for own in bounds]
    columns, distribution = pipe.distribution([doc])
    sequence = Segments(columns.lengths).owners
    # a span that is empty or runs across sequences is impossible
    inside = [k for k, (start, end) in enumerate(bounds) if start < end and sequence[start] == sequence[end - 1]]
    found = SpanScores(*np.zeros((3, len(spans))))
    if inside:
        starts, ends = np.array([bounds[k] for k in inside], dtype=np.intp).T
        scores = score_spans(distribution, pipe.tags, starts, ends, [spans[k].label_ for k in inside])
        found.label[inside], found.boundaries[inside] = scores.label, scores.boundaries
        found.covered[inside] = scores.covered
    return found


def labels_of(example: Example, component: Any, tags: TagSet) -> list[int]:
    """Numbers of the gold tags of tokens, UNKNOWN for none; those of spans as a chain has them."""
    target = component.annotation if isinstance(component, ChainPipe) else target_of(component.target)
    found: list[int] = target.gold(example, tags, strict=False).tolist()
    return found
