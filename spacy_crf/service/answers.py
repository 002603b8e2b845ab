"""Texts to answers in JSON, for each kind of component. A text that fails has its error in the place of its answer."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..annotation.extensions import read_result
from ..bibliography.assemble import label_references, read_entries
from ..bibliography.bibtex import write_bibtex
from ..bibliography.csl import to_item
from ..bibliography.entry import Entry
from ..bibliography.errors import BibliographyErrors
from ..bibliography.lists import print_list
from ..bibliography.segments import find_confidences, label_runs
from ..bibliography.split import Reference, split_references
from ..core.arrays import Floats
from ..core.errors import CRFError, excerpt
from ..core.labels import UNKNOWN, TagSet
from ..pipe.component import ChainPipe
from ..pipe.probabilities import labels_of, sees_words_alone
from ..punctuation.docs import CASE, COLUMNS, MARKS, PROBABILITIES, RESTORATION, RESTORED, read_punctuation
from ..punctuation.restore import SPACES
from ..punctuation.words import BY_SIGN, PAIRS
from ..sections.cross_references import list_mentions
from ..sections.tree import SectionTree
from ..tagging.component import CRFTagger
from .errors import ServiceErrors

Answer = dict[str, Any]
Teller = Callable[[Any, Doc], Answer]
LEAST, MOST_TAGS = 0.005, 5  # less probable tags, and more of them, are not told
DECIMALS = 7  # of probabilities that sets are chosen from anew; less than what makes a tie
BEFORE_MARKS = SPACES + "".join(closing for _, closing in PAIRS.values())


def tell_error(error: Exception) -> Answer:
    """What takes the place of an answer."""
    found = as_coded(error)
    return {"error": {"code": found.code, "message": str(found)}}


def as_coded(error: Exception) -> CRFError:
    """The error itself, or one with a code in its place."""
    if isinstance(error, CRFError):
        return error
    return CRFError(ServiceErrors.CRF739.format(error=excerpt(str(error).strip() or type(error).__name__)))


def read_docs(nlp: Language, texts: Sequence[str | Doc]) -> list[Doc | Exception]:
    """Process texts; where one fails, each is processed alone, and those that fail are their errors."""
    try:
        return list(nlp.pipe(texts))
    except Exception as error:  # components of others may raise anything
        if len(texts) == 1:
            return [error]
    return [found for text in texts for found in read_docs(nlp, [text])]


def answer(
    kind: str, nlp: Language, component: Any, texts: Sequence[str], tellers: Mapping[str, Teller] | None = None
) -> list[Answer]:
    """Answer a request.

    kind (str): see `KINDS`. tellers (Mapping[str, Callable] | None): what makes an answer of a component and a Doc, by
        the kind, in the place of `TELLERS`.
    RETURNS (list[dict]): an answer for each text.
    """
    if kind == "cite":
        return [_guarded(partial(tell_references, nlp, component), text) for text in texts]
    if kind == "tag" and tellers is None and is_tagged_by_words(nlp, component):
        with suppress(Exception):  # a text that fails has its error below
            return answer_by_words(nlp, component, texts)
    tell = partial((tellers or TELLERS)[kind], component)
    docs = read_docs(nlp, texts)
    return [tell_error(doc) if isinstance(doc, Exception) else _guarded(tell, doc) for doc in docs]


def _guarded(tell: Callable[[Any], Answer], asked: str | Doc) -> Answer:
    try:
        return tell(asked)
    except Exception as error:
        return tell_error(error)


# -- tags and sets -----------------------------------------------------------------------------------------------


def tell_tags(component: Any, doc: Doc, whole: bool = False) -> Answer:
    """Tokens with their tags, how probable the likely ones are, and sets where the component gives them.

    whole (bool): with the probabilities of all tags, the names of these, and the setting `alpha` of a utility.
    """
    tags, values = probabilities_of(doc, component)
    sets = read_result(doc, component.cfg["tag_set"]) if gives_sets(component) else None
    tokens = _told_tokens(doc, tags, labels_of(Example(doc, doc), component, tags), values, sets, whole)
    if not whole:
        return {"tokens": tokens}
    return {
        "tokens": tokens,
        "labels": list(tags.tags),
        "target": component.target,
        "alpha": component.cfg.get("alpha"),
    }


def gives_sets(component: Any) -> bool:
    """Whether a component gives each token a set of tags; asking whether it is a `GivesSets` takes as long as tagging a
    word."""
    return "tag_set" in component.cfg


def is_tagged_by_words(nlp: Language, component: Any) -> bool:
    """Whether a tagger is all that a pipeline has, and sees the words alone, so that its tags need no Doc."""
    is_alone = isinstance(component, CRFTagger) and [pipe for _, pipe in nlp.pipeline] == [component]
    if not is_alone or component.annotation.is_spans:
        return False
    return sees_words_alone(component) and not component.features.extractor.reads_spaces


def answer_by_words(nlp: Language, tagger: CRFTagger, texts: Sequence[str]) -> list[Answer]:
    """Answer what is asked of tags, for a pipeline that `is_tagged_by_words`."""
    docs = [nlp.make_doc(text) for text in texts]
    found = tagger.tag_words([[token.text for token in doc] for doc in docs])
    are_probable = tagger.has_probabilities
    return [
        {
            "tokens": _told_tokens(
                doc, tagger.tags, own.labels.tolist(), own.probabilities if are_probable else None, None
            )
        }
        for doc, own in zip(docs, found)
    ]


def _told_tokens(
    doc: Doc,
    tags: TagSet,
    labels: Sequence[int],
    values: Floats | None,
    sets: Sequence[Sequence[str]] | None,
    whole: bool = False,
) -> list[Answer]:
    """Tokens with their tags by number. values ((n, L)): how probable all are, of which the likely ones are told.
    sets (Sequence): of tags. whole (bool): tell the probabilities of all."""
    tokens: list[Answer] = []
    probable = [] if values is None else _all(tags, values) if whole else _likely(tags, values)
    for token, label in zip(doc, labels):
        text, start, k = token.text, token.idx, token.i
        told: Answer = {"text": text, "start": start, "end": start + len(text), "tag": None}
        if label != UNKNOWN:
            told["tag"] = tags.tags[label]
            told["probability"] = None if values is None else float(values[k, label])
            if probable:
                told["probabilities"] = probable[k]
        if sets is not None:
            told["set"] = sets[k]
            if probable and values is not None and not whole:  # sets may have more tags than are told of others
                own = {tag: round(float(values[k, tags.number[tag]]), 4) for tag in sets[k] if tag in tags.number}
                probable[k].update((tag, value) for tag, value in own.items() if tag not in probable[k])
        tokens.append(told)
    return tokens


def _likely(tags: TagSet, values: Floats) -> list[dict[str, float]]:
    """Of each token, the most probable tags."""
    best = np.argsort(-values, axis=1)[:, :MOST_TAGS]
    found = zip(best.tolist(), np.take_along_axis(values, best, axis=1).tolist())
    return [{tags.tags[k]: round(value, 4) for k, value in zip(*row) if value >= LEAST} for row in found]


def _all(tags: TagSet, values: Floats) -> list[dict[str, float]]:
    """Of each token, all tags that are possible."""
    rounded = np.round(values.astype(np.float64), DECIMALS).tolist()
    return [{tag: value for tag, value in zip(tags.tags, row) if value} for row in rounded]


def probabilities_of(doc: Doc, component: Any) -> tuple[TagSet, Floats | None]:
    """Tags of a component, and their probabilities (n, L) in a Doc; None where its scores are none."""
    where = component.tag_probs if gives_sets(component) else component.cfg.get("marginals")
    stored = read_result(doc, where) if where is not None and doc.has_extension(where) else None
    tags = component.tags if isinstance(component, ChainPipe) else TagSet(tuple((stored or {}).get("tags", ())), "none")
    is_told = stored is not None and getattr(component, "has_probabilities", True)
    shape = len(doc), len(tags)  # lists do not tell that of no tokens
    return tags, np.asarray(stored["values"]).reshape(shape) if is_told and stored is not None else None


def place_of(doc: Doc, start: int, end: int) -> Answer:
    """The text of some tokens, and its characters."""
    span = doc[start:end]
    return {"text": span.text, "start": span.start_char, "end": span.end_char}


# -- entities ----------------------------------------------------------------------------------------------------


def tell_entities(component: Any, doc: Doc) -> Answer:
    """Spans with their exact probabilities, what constraints changed and why, and how sure the decoding is."""
    spans = spans_of(doc, component)
    entities = [
        {**place_of(doc, span.start, span.end), "label": span.label_, "probability": score}
        for span, score in zip(spans, scores_of(doc, component, spans))
    ]
    told: Answer = {"entities": entities}
    if "changes" in component.cfg:
        told["changes"] = tell_changes(doc, component.cfg["changes"])
        info = doc._.get(component.cfg["info"]) or {}
        told["decoding"] = {key: info.get(key) for key in ("method", "certified", "violated", "relaxed", "limits")}
    return told


def spans_of(doc: Doc, component: Any) -> list[Span]:
    """The spans that a component labels, in the order of the text."""
    if component.settings.target == "ent":
        return list(doc.ents)
    return sorted(doc.spans.get(component.settings.spans_key, ()))


def scores_of(doc: Doc, component: Any, spans: Sequence[Span]) -> list[float | None]:
    """Exact probabilities of spans, as they were when the component wrote them: by now they may be its own evidence.
    None for spans of others, and where the component has none."""
    target = component.settings.target
    if not getattr(component, "has_probabilities", True):
        return [None] * len(spans)
    if target == "ent":
        where = component.cfg.get("scores")
        stored = [where and span._.get(where) for span in spans]
        return [one["label"] if one else None for one in stored]
    group = doc.spans.get(component.settings.spans_key, ())
    known = zip(group, group.attrs.get("scores", ())) if group else ()
    by_place = {(one.start, one.end, one.label): score for one, score in known if not math.isnan(score)}
    return [by_place.get((span.start, span.end, span.label)) for span in spans]


def tell_changes(doc: Doc, where: str) -> list[Answer]:
    """Runs of tokens whose labels constraints changed in the same way, and sets of constraints that account for it."""
    changes = read_result(doc, where) or []
    runs = groupby(enumerate(changes), lambda one: (one[1]["token"] - one[0], one[1]["from"], one[1]["to"]))
    told = []
    for (_, before, after), run in runs:
        own = [change for _, change in run]
        because = [list(reason) for reason in dict.fromkeys(tuple(why) for one in own for why in one["because"])]
        place = place_of(doc, own[0]["token"], own[-1]["token"] + 1)
        told.append({**place, "from": before, "to": after, "because": because})
    return told


# -- references, sections, punctuation ---------------------------------------------------------------------------


def tell_references(nlp: Language, tagger: Any, text: str) -> Answer:
    """The references of a bibliography as BibTeX and CSL, with the confidence in each field and in all of them."""
    entries: list[Entry] = []
    told: list[Answer] = []
    for reference, entry, facts in read_references(nlp, tagger, split_references(print_list(text))):
        if entry is None:
            where = f"lines {reference.first_line} to {reference.last_line}"
            number = len(told) + 1
            facts = tell_error(
                CRFError(BibliographyErrors.CRF645.format(number=number, lines=where, text=reference.text[:60]))
            )
        else:
            entries.append(entry)
            facts = {**facts, "bibtex": write_bibtex([entry]), "csl": to_item(entry)}
        told.append({"text": reference.text, "marker": reference.marker, **facts})
    return {"references": told, "bibtex": write_bibtex(entries)}


def read_references(
    nlp: Language, tagger: Any, references: Sequence[Reference]
) -> list[tuple[Reference, Entry | None, Answer]]:
    """Read references. RETURNS (list): each with its entry, None if it has no field, and its `probability` and
    `fields`, those of its runs of one label."""
    docs = label_references(nlp, references)
    found = zip(references, docs, read_entries(docs, tagger), find_confidences(tagger, docs))
    told = []
    for reference, doc, entry, confidence in found:
        runs = label_runs(labels_of(Example(doc, doc), tagger, tagger.tags))
        fields = [
            {**place_of(doc, *bounds), "label": label, "probability": probability}
            for bounds, (label, probability) in zip(runs, confidence.fields)
        ]
        told.append((reference, entry, {"probability": confidence.reference, "fields": fields}))
    return told


def tell_sections(component: Any, doc: Doc) -> Answer:
    """The section tree, see `SectionTree.to_json`, and the sections that the text mentions."""
    tree: SectionTree = doc._.section_tree
    return {"tree": tree.to_json(), "cross_references": list_mentions(doc.text, tree)}


def tell_restored(component: Any, doc: Doc) -> Answer:
    """The text with its marks, the edits that make it, and each mark with its place in the new text."""
    punctuation = read_punctuation(doc) or {MARKS: []}
    edits = doc._.get(RESTORATION) or []
    columns, rows = punctuation.get(COLUMNS, ()), punctuation.get(PROBABILITIES)
    marks = []
    for token, mark in zip(doc, punctuation[MARKS]):
        if mark:
            end = token.idx + len(token)
            at = end + sum(len(new) - (behind - start) for start, behind, new in edits if start < end)
            place = _place_of_mark(doc._.get(RESTORED), at)
            told: Answer = {"word": token.text, "start": token.idx, "end": end, "mark": mark, "at": place}
            if rows is not None:
                row = rows[token.i]
                told["probability"] = row[columns.index(mark)]
                told["probabilities"] = likely(columns, row)
            marks.append(told)
    has_case = {"has_case": CASE in punctuation}
    return {"restored": doc._.get(RESTORED), "edits": edits, "marks": marks, **has_case}


def likely(names: Sequence[str], row: Sequence[float]) -> dict[str, float]:
    """Probabilities by name, without those that are hardly any."""
    return {name: round(value, 4) for name, value in zip(names, row) if value >= LEAST}


def _place_of_mark(restored: str, end: int) -> int:
    """The place of the mark of a word that ends at `end`: brackets that close and white space may stand before it; the
    period of an abbreviation is a part of the word."""
    behind = restored[end:]
    place = end + len(behind) - len(behind.lstrip(BEFORE_MARKS))
    return place if restored[place : place + 1] in BY_SIGN else end - (restored[end - 1] in BY_SIGN)


TELLERS: dict[str, Teller] = {
    "tag": tell_tags,
    "sets": tell_tags,
    "entities": tell_entities,
    "sections": tell_sections,
    "punctuate": tell_restored,
}
