"""Sequences that a tagger is least certain of, as text for somebody to correct: a table to fill in, or JSON lines.

`corpora.review` reads both back.
"""

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, groupby
from typing import Any, Literal

import numpy as np
from spacy.tokens import Doc, Span
from spacy.util import minibatch

from ..annotation.documents import read_doc_name
from ..annotation.gold import GOLD_TAGS, as_bio
from ..annotation.white_space import Places
from ..core.arrays import Floats, Ints, Segments
from ..core.chain.distribution import BestPaths
from ..core.chain.marginals import token_entropies
from ..core.errors import CRFError
from ..core.labels import OUTSIDE, UNKNOWN
from ..core.sets.predict import make_utility
from ..corpora.docs import read_kind
from ..corpora.exchange import Place
from ..corpora.review import COLUMNS, FORMAT, MARK, escape, write_label
from ..corpora.sentence import ENTITIES, EXTENSION_PREFIX, SPANS_PREFIX
from ..corpora.tagsets import GOLD_COLUMN, is_noted
from ..pipe.decoding import Batch
from ..pipe.errors import PipeErrors
from .component import CRFTagger
from .ranking import GROWS_WITH_CERTAINTY, Order, doubts, measure, rank_by_gain

By = Literal["sentence", "document"]
BATCH_SIZE = 256
UTILITY: dict[str, Any] = {"utility": "g", "alpha": 1.0, "beta": 1.0}  # of taggers without sets of their own
LEAST = 0.005  # less probable tags of a token are not worth reading
HELP = (
    "Fill in the column 'gold' where you know the tag, or write 'yes' into 'checked' where the best tag is right.",
    'A corrected file is a training corpus like others: --paths.train \'["train.spacy", "this.tsv"]\'',
)
NOTHING = "_"


@dataclass(frozen=True)
class Uncertain:
    """A sequence, what a tagger makes of it, and how certain it is of that.

    place (Place): of its Doc. number (int): in the Doc, from 1. span (Span): its tokens.
    tags (list[str]): what the component chooses, with its threshold and constraints, also where annotation that is
        there stays in the Doc; BIO tags for spans, "" for tokens that get none.
    probabilities (list[float]): of these. Where the labels of spans have no scheme, B and I count as one.
    alternatives (list[list[tuple[str, float]]]): for each token its other tags, most probable first.
    n_best (list[tuple[list[str], float]]): the best labellings of the sequence, with their probabilities. Like all
        probabilities, they are those of the chain alone, which knows no constraints.
    certainty (float): the measure asked for.
    """

    place: Place
    number: int
    span: Span
    tags: list[str]
    probabilities: list[float]
    alternatives: list[list[tuple[str, float]]]
    n_best: list[tuple[list[str], float]]
    certainty: float


def review(
    tagger: CRFTagger,
    docs: Iterable[Doc],
    order: Order = "least-confidence",
    per_token: bool = False,
    limit: int | None = None,
    n_best: int = 3,
    places: Iterable[Place] | None = None,
    by: By = "sentence",
) -> list[Uncertain]:
    """Return the sequences of Docs, the least certain ones first; among equals in the order of the Docs.

    tagger (CRFTagger): a trained component. docs (Iterable[Doc]): as it gets to see them; those of the result are kept.
    order (str): "least-confidence" (probability of the best labelling), "margin" (by how much it is ahead of the
        second), "entropy" (of all labellings), "token-entropy" (sum over the tokens), "utility" (what
        the sets of greatest expected utility lack of 1, summed over the tokens), or "gain": what checking a
        sequence is expected to tell of the words of all Docs, for each token that is to be checked.
    per_token (bool): divide entropies by the length of the sequence, and take geometric means of probabilities.
    limit (int | None): how many sequences to return at most, or how many documents.
    n_best (int): how many labellings of each sequence, and tags of each token, to tell.
    places (Iterable[Place] | None): of the Docs; documents are counted without.
    by (str): "sentence" for single sequences, "document" for all sequences of a document together, by their mean over
        the tokens. Docs that follow each other and have one name are one document.
    RETURNS (list[Uncertain]): the sequences.
    RAISES (ValueError): for "entropy" and a model of order 2 with tokens that get no label, and for a component that
        labels other units than tokens.

    >>> import spacy
    >>> from spacy_crf import review
    >>> nlp = spacy.load("output/crf_tagger/model-best")  # `make demo` trains it
    >>> docs = nlp.pipe(["The boats were back by noon.", "Can you mail the can opener back?"])
    >>> [(one.place.number, one.span.text) for one in review(nlp.get_pipe("crf_tagger"), docs, limit=1)]
    [(2, 'Can you mail the can opener back?')]
    """
    if not tagger.labels_tokens:
        raise CRFError(PipeErrors.CRF742.format(name=tagger.name))
    known = (Place("document", number) for number in count(1)) if places is None else places
    found = _measured(tagger, zip(docs, known), order, per_token, max(2, n_best))
    groups = ([item] for item in found) if by == "sentence" else (list(own) for _, own in groupby(found, _document))
    if order == "gain":
        pending = list(groups)
        ranked = rank_by_gain([[word for item in own for word in item.uncertain_words()] for own in pending], limit)
        chosen = [[replace(item, certainty=gain) for item in pending[number]] for number, gain in ranked]
    else:
        sign = 1 if order in GROWS_WITH_CERTAINTY else -1
        least = sorted if limit is None else partial(heapq.nsmallest, limit)
        chosen = least(groups, key=lambda group: sign * _mean_certainty(group))
    return [item.describe(tagger, n_best) for group in chosen for item in group]


def _document(item: "_Measured") -> tuple[str, str | int]:
    return item.place.file, read_doc_name(item.span.doc) or item.place.number


def _mean_certainty(group: Sequence["_Measured"]) -> float:
    if len(group) == 1:
        return group[0].certainty
    return float(np.average([item.certainty for item in group], weights=[len(item.labels) for item in group]))


@dataclass(frozen=True)
class _Measured:
    """A sequence, with its labels ((n,)), UNKNOWN for none, and best paths, before it is known whether anybody will
    read of it."""

    place: Place
    number: int
    span: Span
    labels: Ints
    marginals: Floats
    paths: BestPaths
    certainty: float

    def uncertain_words(self) -> list[tuple[str, float]]:
        """Words that get a label, in lower case, with the entropy of each."""
        entropies, own = token_entropies(self.marginals), self.labels != UNKNOWN
        return [(t.lower_, float(e)) for t, e, has_label in zip(self.span, entropies, own) if has_label]

    def describe(self, tagger: CRFTagger, n_best: int) -> Uncertain:
        has_label, names = self.labels != UNKNOWN, _names(tagger, self.labels)
        tags = _read_names(names, self.labels)
        by_token = [_by_name(*row) if own else [("", 1.0)] for *row, own in zip(self.marginals, names, has_label)]
        best = zip(self.paths.labels[:n_best], self.paths.probabilities.tolist())
        return Uncertain(
            self.place,
            self.number,
            self.span,
            tags,
            [dict(row)[tag] for row, tag in zip(by_token, tags)],
            [_others(row, tag)[: max(1, n_best - 1)] for row, tag in zip(by_token, tags)],
            [(_read_names(_names(tagger, path), path), probability) for path, probability in best],
            self.certainty,
        )


def _names(tagger: CRFTagger, labels: Ints) -> list[list[str]]:
    """The texts for each label at each unit of a labelled sequence: for spans, its BIO tag behind the unit before."""
    tags = tagger.tags.tags
    if not tagger.has_plain_spans:
        return [list(map(as_bio, tags)) if tagger.annotation.is_spans else list(tags)] * len(labels)
    rows = [[tag if tag == OUTSIDE else f"B-{tag}" for tag in tags] for _ in labels]
    for row, before in zip(rows[1:], labels.tolist()):
        if before != UNKNOWN and tags[before] != OUTSIDE:
            row[before] = f"I-{tags[before]}"
    return rows


def _read_names(names: list[list[str]], labels: Ints) -> list[str]:
    return [row[label] if label != UNKNOWN else "" for row, label in zip(names, labels.tolist())]


def _by_name(marginals: Floats, names: list[str]) -> list[tuple[str, float]]:
    """Probabilities of the tags of one token, greatest first; tags of the same name count as one."""
    distinct, numbers = np.unique(names, return_inverse=True)
    sums = np.bincount(numbers, marginals)
    return [(str(distinct[k]), float(sums[k])) for k in np.argsort(-sums, kind="stable").tolist()]


def _others(row: list[tuple[str, float]], tag: str) -> list[tuple[str, float]]:
    return [(name, probability) for name, probability in row if name != tag and probability >= LEAST]


def _measured(
    tagger: CRFTagger, docs: Iterable[tuple[Doc, Place]], order: Order, per_token: bool, k: int
) -> Iterator[_Measured]:
    decoder, cfg = replace(tagger.decoder(), outputs=()), tagger.cfg
    utility = make_utility(*(cfg.get(name, usual) for name, usual in UTILITY.items()))
    for batch in minibatch(((doc, place) for doc, place in docs if len(doc)), BATCH_SIZE):
        read = tagger.words([doc for doc, _ in batch])
        columns, found = tagger.distribution(read)
        unlabelled = tagger.unlabelled(read, columns)
        decoded = Batch(read, columns, found, tagger.tags, unlabelled)
        predictions = decoder(decoded)
        chosen = [tagger.annotation.chosen(one.decoded, tagger.tags) for one in predictions]
        labels, marginals = np.concatenate(chosen), found.marginals
        is_labelled = np.ones(len(marginals), dtype=bool) if unlabelled is None else ~unlabelled
        by_token, labellings = doubts(marginals, order, utility), decoded.labellings
        paths = labellings.n_best(k)
        entropies = labellings.entropies if order == "entropy" else np.zeros(len(paths))
        sequences, by_doc = Segments(columns.lengths), Segments(columns.doc_lengths)
        units, firsts = sequences.slices(), by_doc.firsts.tolist()
        for (doc, place), words, first, own in zip(batch, read, firsts, sequences.within(by_doc).slices()):
            places = Places.of(doc) if len(words) < len(doc) else None
            for number, sequence in enumerate(range(own.start, own.stop), 1):
                tokens, best = units[sequence], paths[sequence]
                entropy, rows = float(entropies[sequence]), marginals[tokens].astype(np.float32)
                certainty = measure(
                    best.probabilities, entropy, by_token[tokens][is_labelled[tokens]], order, per_token
                )
                own_tokens = slice(tokens.start - first, tokens.stop - first)
                told = labels[tokens], rows, best
                if places is not None:
                    own_tokens, inside = places.sequence(own_tokens.start, own_tokens.stop)
                    told = _spread(inside, *told)
                yield _Measured(place, number, doc[own_tokens.start : own_tokens.stop], *told, certainty)


def _spread(places: Places, labels: Ints, marginals: Floats, paths: BestPaths) -> tuple[Ints, Floats, BestPaths]:
    """What is told of the words of a sequence as told of its tokens: white space has no label."""
    spread = places.spread(paths.labels.T, UNKNOWN).T
    return places.spread(labels, UNKNOWN), places.spread(marginals, 0), paths._replace(labels=spread)


def target_kind(tagger: CRFTagger) -> str:
    """What a tagger writes, as corpora call it: "tag", "pos", "ner", "spans:KEY" or "ext:NAME".

    Gold of a tagger with sets may be several tags, as elsewhere, unless its tags look like that themselves.
    """
    if tagger.target == "tag" and tagger.cfg.get("gold_tags") == GOLD_TAGS and not any(map(is_noted, tagger.labels)):
        return GOLD_COLUMN
    if tagger.target == "spans":
        return f"{SPANS_PREFIX}{tagger.cfg['spans_key']}"
    kinds = {"tag": "tag", "pos": "pos", "ent": ENTITIES}
    return kinds.get(tagger.target, f"{EXTENSION_PREFIX}{tagger.target}")


def write_rows(
    found: Iterable[Uncertain], kind: str, order: str, inputs: Sequence[str] = (), prefill: bool = False
) -> Iterator[str]:
    """Yield the lines of a table with one row for each token, decoded tags in the column of the gold if it is
    prefilled. inputs (list[str]): kinds of annotation that the tagger got to see, and is to see in training."""
    yield MARK
    yield from (f"# {line}" for line in HELP)
    yield f"# target = {kind}"
    if prefill:
        yield "# prefilled = yes"
    if inputs:
        yield f"# input = {', '.join(inputs)}"
    yield f"# columns = {', '.join((*COLUMNS, *inputs))}"
    for item in found:
        yield ""
        where = f"{item.place.unit} {item.place.number}, tokens {item.span.start} to {item.span.end - 1}"
        yield f"# id = {_id(item)}, {where}, {order} {item.certainty:.4g}"
        if document := read_doc_name(item.span.doc):
            yield f"# document = {escape(document)}"
        if not item.span.doc.has_unknown_spaces:
            yield f"# text = {escape(item.span.text)}"
        for tags, probability in item.n_best:
            yield f"# {probability:.4g}: {' '.join(map(escape, tags))}"
        columns = [read_kind(item.span, name) for name in inputs]
        gold = item.tags if prefill else [""] * len(item.tags)
        for cells in zip(item.span, gold, item.tags, item.probabilities, item.alternatives, *columns):
            yield "\t".join(_row(*cells))


def _row(
    token: object, gold: str, tag: str, probability: float, others: list[tuple[str, float]], *inputs: str
) -> Iterator[str]:
    yield from (escape(str(token)), escape(write_label(gold)), "", escape(tag), f"{probability:.4f}")
    yield " ".join(f"{escape(name)} {value:.2f}" for name, value in others) or NOTHING
    yield from (escape(write_label(value)) or NOTHING for value in inputs)


def write_json(
    found: Iterable[Uncertain], kind: str, order: str, inputs: Sequence[str] = (), prefill: bool = False
) -> Iterator[str]:
    """One JSON object for each sequence; arguments and result as for `write_rows`."""
    for item in found:
        data = {
            "format": FORMAT,
            "target": kind,
            **({"prefilled": True} if prefill else {}),
            "document_name": read_doc_name(item.span.doc),
            "id": _id(item),
            item.place.unit: item.place.number,
            "start": item.span.start,
            "end": item.span.end,
            order: item.certainty,
            "text": None if item.span.doc.has_unknown_spaces else item.span.text,
            "tokens": [_token(item, number, prefill) for number in range(len(item.tags))],
            "n_best": [{"tags": tags, "probability": probability} for tags, probability in item.n_best],
            "input": {name: read_kind(item.span, name) for name in inputs},
        }
        yield json.dumps(data, ensure_ascii=False)


def _token(item: Uncertain, number: int, prefill: bool) -> dict[str, object]:
    token = item.span[number]
    return {
        "text": token.text,
        "start": token.idx,
        "end": token.idx + len(token),
        "gold": write_label(item.tags[number]) if prefill else "",
        "checked": False,
        "best": item.tags[number],
        "probability": item.probabilities[number],
        "alternatives": dict(item.alternatives[number]),
    }


def _id(item: Uncertain) -> str:
    return f"{item.place.number}.{item.number}"
