"""The protocol of INCEpTION's external recommenders: suggestions with scores and explanations, and training.

A layer that is anchored at single tokens gets tags, each set of tags as several suggestions for its token; another one
gets spans. The tokens and sentences of a request are taken as they are.
"""

import logging
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from cassis import Cas, TypeSystem, load_cas_from_xmi, load_typesystem
from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel
from spacy.language import Language
from spacy.tokens import Doc
from starlette.concurrency import run_in_threadpool

from ..annotation.documents import write_doc_name
from ..annotation.gold import TagWeights
from ..core.errors import CRFError
from ..corpora.cas import SENTENCE, TOKEN
from ..corpora.tagsets import format_tags, parse_tags
from ..corpora.webanno import DEFAULT_LAYER
from .answers import TELLERS, Answer, as_coded, read_docs
from .errors import Refusal, ServiceErrors
from .models import Limits, Models, ServedModel
from .retraining import CheckedDoc, Learner

log = logging.getLogger("spacy_crf.service")
PREDICTED = "inception_internal_predicted"
BOOLEAN, DOUBLE, STRING = "uima.cas.Boolean", "uima.cas.Double", "uima.cas.String"
SINGLE_TOKENS = "singleToken"
SOFA = re.compile(r"""\bsofaString\s*=\s*("[^"]*|'[^']*)""")
NOT_UTF8 = re.compile(r"""<\?xml[^>]*encoding\s*=\s*["'](?!utf-?8["'])""", re.IGNORECASE)


class Metadata(BaseModel):
    """What is to be recommended: annotations of a layer, with a value of their feature."""

    layer: str
    feature: str
    projectId: int | str = 0
    anchoringMode: str = "tokens"
    crossSentence: bool = False


class CasDocument(BaseModel):
    """A document with its annotations."""

    xmi: str
    documentId: int | str = ""
    userId: str = ""


class PredictRequest(BaseModel):
    """A document that is to be annotated."""

    metadata: Metadata
    document: CasDocument
    typeSystem: str


class TrainRequest(BaseModel):
    """Documents that a person has annotated."""

    metadata: Metadata
    documents: list[CasDocument]
    typeSystem: str


class Suggestion(NamedTuple):
    """A value for the characters from `start` to `end`. score (float | None), why (str): of it."""

    start: int
    end: int
    value: str
    score: float | None
    why: str


def add_inception(router: APIRouter, models: Models, limits: Limits, learner: Learner) -> None:
    """Add the endpoints below /inception/NAME, which is the address to give to INCEpTION."""

    @router.post("/inception/{name}/predict")
    async def predict(name: str, request: PredictRequest) -> dict[str, str]:
        """The document with suggestions."""
        model = models[name]

        def work(nlp: Language) -> str:
            return suggest(model, nlp, request, limits)

        return {"document": await model.run(work, _texts(request.document))}

    @router.post("/inception/{name}/train", status_code=204)
    async def train(name: str, request: TrainRequest) -> Response:
        """Keep what a person has annotated, and learn from it beside; 429 while the last such training goes on.

        INCEpTION sends all documents: one that cannot be read, or is beyond the limits, is left out, with a line in
        the log. It is refused where there is no other one.
        """
        model = models[name]
        learner.folder_of(model)
        learner.require_rest(model)

        def work(nlp: Language) -> None:
            kind, system = kind_of(model, request.metadata), read_typesystem(request.typeSystem)
            layer_of(system, request.metadata)
            refusals = list[CRFError]()
            for document in request.documents:
                key = f"inception {request.metadata.projectId} {document.userId} {document.documentId}"
                own = f"{key} {request.metadata.layer} {request.metadata.feature}"
                learner.forget(model, key)  # as older versions called it
                try:
                    marked = gold_of(Page.read(nlp, document, system, limits), request.metadata, kind)
                except CRFError as refusal:
                    learner.forget(model, own)  # what it said before, it does not say any more
                    log.warning("Document %s of INCEpTION is not learned from: %s", document.documentId, refusal)
                    refusals.append(refusal)
                    continue
                learner.keep(model, kind, marked, own)
            if refusals and len(refusals) == len(request.documents):
                raise refusals[0]

        await model.run(work, _texts(*request.documents))
        await run_in_threadpool(learner.start, model)
        return Response(status_code=204)


def _texts(*documents: CasDocument) -> list[str]:
    """The texts of documents, as far as they are seen before XML is read: they say how long the work may take."""
    return [found for document in documents for found in SOFA.findall(document.xmi)]


@dataclass(frozen=True)
class Page:
    """A document of INCEpTION. doc (Doc): its tokens. bounds (list): the characters of each, in the text of the CAS.
    starts (list): their first characters in the Doc, as they were before a pipeline could merge or split tokens."""

    cas: Cas
    doc: Doc
    bounds: list[tuple[int, int]]
    starts: list[int]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the CAS that some of the Doc are."""
        first, last = bisect_right(self.starts, start) - 1, bisect_left(self.starts, end) - 1
        return self.bounds[first][0] + start - self.starts[first], self.bounds[last][0] + end - self.starts[last]

    @classmethod
    def read(cls, nlp: Language, document: CasDocument, system: TypeSystem, limits: Limits) -> "Page":
        """Read a document; one without tokens is tokenized."""
        with refused_faults("The CAS"):
            cas = load_cas_from_xmi(plain_xml(document.xmi), system, lenient=True)
            text = cas.sofa_string or ""
            tokens = [(one.begin, one.end) for one in _select(cas, TOKEN) if text[one.begin : one.end].strip()]
            starts = [one.begin for one in _select(cas, SENTENCE)]
        limits.check_texts([text])
        if not tokens:
            tokens = [(token.idx, token.idx + len(token)) for token in nlp.make_doc(text) if not token.is_space]
        words = [text[start:end] for start, end in tokens]
        behind = [start for start, _ in tokens[1:]] + [len(text)]
        spaces = [end < after for (_, end), after in zip(tokens, behind)]
        sentences: list[bool | int | None] | None = None
        if starts:
            firsts = {0, *(bisect_left(tokens, (start, 0)) for start in starts)}  # white space may stand before them
            sentences = [place in firsts for place in range(len(tokens))]
        doc = Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=sentences)
        return cls(cas, write_doc_name(doc, str(document.documentId)), tokens, [token.idx for token in doc])


def _select(cas: Cas, name: str) -> list[Any]:
    """Annotations of a type in their order; none where the type system does not have it."""
    if not cas.typesystem.contains_type(name):
        return []
    text = cas.sofa_string or ""
    found = [one for one in cas.select(name) if 0 <= one.begin <= one.end <= len(text)]
    return sorted(found, key=lambda one: (one.begin, one.end))


@contextmanager
def refused_faults(what: str) -> Iterator[None]:
    """Refuse what cassis cannot read, which raises whatever its parts do. what (str): is read."""
    try:
        yield
    except Refusal:
        raise
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"[:200]
        raise Refusal(ServiceErrors.CRF735.format(what=what, problem=problem)) from error


def plain_xml(text: str) -> str:
    """Return XML that declares no document type, which could have other files read, and no odd encoding."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text or NOT_UTF8.search(text[:200]):
        raise Refusal(ServiceErrors.CRF735.format(what="XML with a document type or not in UTF-8", problem="refused"))
    return text


def read_typesystem(text: str) -> TypeSystem:
    """Read the type system of a request."""
    with refused_faults("The type system"):
        return load_typesystem(plain_xml(text))


def kind_of(model: ServedModel, metadata: Metadata) -> str:
    """What the layer is filled with: "tag", "sets" or "entities"; a coded error where the model has nothing for it."""
    wanted = ("sets", "tag") if metadata.anchoringMode == SINGLE_TOKENS else ("entities", "sets", "tag")
    for kind in wanted:
        if kind in model.kinds:
            return kind
    problem = f"{model.name} labels no {'tokens' if metadata.anchoringMode == SINGLE_TOKENS else 'spans'}"
    raise Refusal(ServiceErrors.CRF740.format(layer=metadata.layer, feature=metadata.feature, problem=problem))


# -- suggestions -------------------------------------------------------------------------------------------------


def suggest(model: ServedModel, nlp: Language, request: PredictRequest, limits: Limits) -> str:
    """Return the document of a request as XMI, with suggestions."""
    metadata, system = request.metadata, read_typesystem(request.typeSystem)
    kind, layer = kind_of(model, metadata), layer_of(system, metadata)
    page = Page.read(nlp, request.document, system, limits)
    (doc,) = read_docs(nlp, [page.doc])
    if isinstance(doc, Exception):
        raise as_coded(doc)
    told = TELLERS[kind](model.component(kind), doc)
    found = token_suggestions(page, told) if kind != "entities" else span_suggestions(page, told)
    score = f"{metadata.feature}_score"
    for one in found:
        value = format_tags({one.value: 1.0}) if is_own(metadata) else one.value
        values = {PREDICTED: True, metadata.feature: value, f"{score}_explanation": one.why}
        if one.score is not None:
            values[score] = one.score
        page.cas.add(layer(begin=one.start, end=one.end, **values))
    return str(page.cas.to_xmi())


def layer_of(system: TypeSystem, metadata: Metadata) -> Any:
    """The type of a layer, with the features of suggestions; a coded error where there is none."""
    layer, feature = metadata.layer, metadata.feature
    if not system.contains_type(layer) or system.get_type(layer).get_feature(feature) is None:
        problem = "the type system has no such layer and feature"
        raise Refusal(ServiceErrors.CRF740.format(layer=layer, feature=feature, problem=problem))
    found = system.get_type(layer)
    if found.get_feature(feature).rangeType.name != STRING:
        raise Refusal(ServiceErrors.CRF740.format(layer=layer, feature=feature, problem="its values are no strings"))
    for name, kind in ((PREDICTED, BOOLEAN), (f"{feature}_score", DOUBLE), (f"{feature}_score_explanation", STRING)):
        if found.get_feature(name) is None:
            system.create_feature(found, name, kind)
    return found


def token_suggestions(page: Page, told: Answer) -> Iterator[Suggestion]:
    """The tag of each token, or all tags of its set."""
    for token in told["tokens"]:
        chances = token.get("probabilities", {})
        values = token.get("set") or ([token["tag"]] if token["tag"] else [])
        for value in values:
            others = ", ".join(f"{tag} {share:.2f}" for tag, share in chances.items() if tag != value)
            score = token.get("probability") if value == token["tag"] else chances.get(value)
            place = page.place(token["start"], token["end"])
            yield Suggestion(*place, value, score, f"Other tags: {others or 'none that is likely'}")


def span_suggestions(page: Page, told: Answer) -> Iterator[Suggestion]:
    """Spans, with what constraints changed in them."""
    for one in told["entities"]:
        place = page.place(one["start"], one["end"])
        yield Suggestion(*place, one["label"], one["probability"], _why(one, told.get("changes", ())))


def _why(entity: Answer, changes: Sequence[Answer]) -> str:
    own = [one for one in changes if one["start"] < entity["end"] and entity["start"] < one["end"]]
    told = [f"{one['from']} without {' and '.join(one['because'][0])}" for one in own if one["because"]]
    return "; ".join(told) or "As the chain has it"


# -- what a person has annotated ---------------------------------------------------------------------------------


def gold_of(page: Page, metadata: Metadata, kind: str) -> CheckedDoc:
    """What is known of the tokens of a document.

    Tags are known where a person has given them. Spans are known in the sentences that have one: who has annotated a
    sentence has looked at all of it. Annotations without a value, and those that begin or end inside of tokens, say
    nothing of their tokens; nor do those that `crf annotate` has made and nobody has checked.
    """
    spans, unclear = list[tuple[int, int, str]](), list[range]()
    tags: list[list[TagWeights]] = [[] for _ in page.doc]
    has_notation = is_own(metadata)
    for one in _select(page.cas, metadata.layer):
        tokens, value = _tokens(page, one.begin, one.end), getattr(one, metadata.feature, None)
        if getattr(one, PREDICTED, False) or not tokens:
            continue
        is_whole = (one.begin, one.end) == (page.bounds[tokens[0]][0], page.bounds[tokens[-1]][1])
        if value and is_whole and not (has_notation and _is_unchecked(one)):
            values = (
                parse_tags(str(value), page.cas.sofa_string[one.begin : one.end]) if has_notation else {str(value): 1.0}
            )
            spans += [(tokens.start, tokens.stop, label) for label in values]
            tags[tokens.start] += [values] if len(tokens) == 1 else []
        else:
            unclear.append(tokens)
    if kind != "entities":
        return CheckedDoc(page.doc, tags=[_joined(own, has_notation) for own in tags])
    checked = [False] * len(page.doc)
    sentences = [(sent.start, sent.end) for sent in page.doc.sents] if page.doc.has_annotation("SENT_START") else []
    for start, end in sentences or [(0, len(page.doc))]:
        if any(start < behind and first < end for first, behind, _ in spans):
            checked[start:end] = [True] * (end - start)
    for tokens in unclear:
        checked[tokens.start : tokens.stop] = [False] * len(tokens)
    return CheckedDoc(page.doc, spans=spans, checked=checked)


def _joined(several: Sequence[TagWeights], are_open: bool) -> TagWeights:
    """The tags of the annotations of a token. are_open (bool): different ones are A|B, as in files, not all right."""
    every = {tag: weight for own in several for tag, weight in own.items()}
    is_one = all(own == several[0] for own in several)
    return every if is_one or not are_open else dict.fromkeys(every, 1 / len(every))


def is_own(metadata: Metadata) -> bool:
    """Whether values are in the notation of `tagsets`: those of the layer of `crf annotate`."""
    return (metadata.layer, metadata.feature) == (DEFAULT_LAYER.name, DEFAULT_LAYER.tag)


def _is_unchecked(annotation: Any) -> bool:
    """Whether an annotation in the layer of `crf annotate` is as that has written it, with sets and no check mark."""
    is_made = any(getattr(annotation, name, None) for name in (DEFAULT_LAYER.tags, DEFAULT_LAYER.probabilities))
    return is_made and getattr(annotation, DEFAULT_LAYER.checked, True) not in (True, "true")


def _tokens(page: Page, start: int, end: int) -> range:
    """The tokens that share characters with a stretch of the text."""
    return range(bisect_right(page.bounds, start, key=itemgetter(1)), bisect_left(page.bounds, end, key=itemgetter(0)))
