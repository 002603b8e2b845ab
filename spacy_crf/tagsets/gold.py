"""Gold of tokens with several tags: as what a chain learns from, in copies of documents, and as arrays for measures."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..annotation.documents import read_doc_name, write_doc_name
from ..annotation.gold import (
    GOLD_POS,
    GOLD_TAGS,
    aligned_tokens,
    annotation_checksum,
    read_gold_tags,
    same_tokens,
    single_tokens,
    write_gold_tags,
)
from ..annotation.target import AttributeTarget
from ..annotation.white_space import is_white_space
from ..core.arrays import Bools, Doubles, Floats, Indices, dense_rows
from ..core.errors import CRFError, excerpt
from ..core.labels import UNKNOWN, Gold, TagSet
from ..core.sets.measures import normalise
from ..features.hashing import string_hash
from ..pipe.errors import PipeErrors
from ..pipe.probabilities import GivesSets
from .block import LearnFrom

Weights = Mapping[str, float]


def gold_weights(example: Example, target: str, extension: str) -> list[Weights]:
    """For each predicted token its gold tags with their weights, from the extension or else the target, or nothing.
    Where tokens differ, gold with several tags is taken only by tokens that are one on both sides."""
    single = [{} if tag is None else {tag: 1.0} for tag in AttributeTarget(target).names(example)]
    rows = read_weights(example.reference, target, extension)
    if not any(rows):
        return list(single)
    if same_tokens(example):
        return [row or one for row, one in zip(rows, single)]
    found: list[Weights] = []
    for alone, own, one in zip(single_tokens(example), aligned_tokens(example), single):
        several = any(len(rows[y]) > 1 for y in own)  # of which the tag shows only the best one
        found.append((rows[alone] or one) if alone is not None else {} if several else one)
    return found


def read_weights(doc: Doc, target: str, extension: str) -> list[dict[str, float]]:
    """The gold tags of tokens with their weights."""
    return read_gold_tags(doc, gold_extension(doc, target, extension))


def gold_extension(doc: Doc, target: str, extension: str) -> str:
    """Where the gold tags of a Doc are: in the extension, or for parts of speech without any there in their own."""
    return GOLD_POS if target == "pos" and not any(read_gold_tags(doc, extension)) else extension


@dataclass(frozen=True)
class WeightedTags(AttributeTarget):
    """`token.tag` or `token.pos`, whose gold may be several tags with their weights, in a custom attribute."""

    extension: str = GOLD_TAGS

    @property
    def description(self) -> str:
        return f"{super().description} or token._.{self.extension}"

    def labels_of(self, doc: Doc) -> set[str]:
        return super().labels_of(doc).union(*read_weights(doc, self.name, self.extension))


def weighted_gold(
    name: str, examples: Sequence[Example], target: str, extension: str, tags: TagSet, learn_from: LearnFrom = "soft"
) -> Gold:
    """Gold of the predicted tokens of examples, one Doc after the other; see `gold_weights` and `to_gold`."""
    rows: list[Weights] = []
    documents: list[Example] = []
    for example in examples:
        rows += gold_weights(example, target, extension)
        documents += [example] * len(example.predicted)
    try:
        return to_gold(rows, tags, learn_from)
    except KeyError as error:
        token, tag = error.args
        document = excerpt(documents[token].reference.text)
        raise CRFError(PipeErrors.CRF403.format(label=tag, name=name, document=document)) from error


def to_gold(rows: Sequence[Weights], tags: TagSet, learn_from: LearnFrom) -> Gold:
    """What is learned from weighted gold; tokens without gold are open.

    learn_from (str): "soft": the weights, as a distribution; "marginal": that one of the tags is right, whichever;
        "best": the tag with the greatest weight, the first of equal ones. For "augmented", see `copies`.
    RAISES (KeyError): for a tag that the tag set lacks; its arguments are the token's number and the tag.
    """
    labels = np.full(len(rows), UNKNOWN, dtype=np.int32)
    open_rows: list[int] = []
    weights: list[Floats] = []
    for token, row in enumerate(rows):
        for tag in row:
            if tag not in tags.number:
                raise KeyError(token, tag)
        if len(row) == 1 or (row and learn_from == "best"):
            labels[token] = tags.number[max(row, key=row.__getitem__)]
        else:
            open_rows.append(token)
            weights.append(_open(row, tags, learn_from))
    stacked = np.stack(weights) if weights else np.zeros((0, len(tags)), dtype=np.float32)
    return Gold(labels, np.array(open_rows, dtype=np.intp), stacked)


def _open(row: Weights, tags: TagSet, learn_from: LearnFrom) -> Floats:
    if not row:
        return np.ones(len(tags), dtype=np.float32)
    found = np.zeros(len(tags), dtype=np.float32)
    total = sum(row.values())
    for tag, weight in row.items():
        found[tags.number[tag]] = weight / total if learn_from == "soft" else 1.0
    return found


def copies(reference: Doc, target: str, extension: str) -> list[Doc]:
    """A Doc once for each rank of tags: in the j-th copy a token has its j-th tag, or its last one if it has fewer.

    Algorithm 3 of Heid (2020), with min(j, n) for max(1, n - j), which would never show the second of two tags. The Doc
    itself where no token has two. Copies are parts of one document, so that none is held out from the others.
    """
    extension = gold_extension(reference, target, extension)
    rows = read_gold_tags(reference, extension)
    ranked = [sorted(row, key=row.__getitem__, reverse=True) for row in rows]
    most = max(map(len, ranked), default=0)
    if most < 2:
        return [reference]
    found, name = [], read_doc_name(reference) or f"copies of {string_hash(reference.text)}"
    for rank in range(most):
        doc = write_doc_name(reference.copy(), name)
        chosen = [{row[min(rank, len(row) - 1)]: 1.0} if row else {} for row in ranked]
        write_gold_tags(doc, chosen, extension)
        found.append(doc)
    return found


class Augmenter:
    """Gives the same copies of an example whenever it comes again, as long as the document is kept in the process, and
    as it is."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Doc, tuple[int, list[Doc]]] = WeakKeyDictionary()

    def __len__(self) -> int:
        return len(self._known)

    def __reduce__(self) -> tuple[type["Augmenter"], tuple[()]]:
        return Augmenter, ()

    def copies(self, example: Example, target: str, extension: str) -> list[Example]:
        """The example once for each rank of tags, see `copies`; itself where no token has two tags."""
        reference, checksum = example.reference, annotation_checksum(example.reference)
        if reference not in self._known or self._known[reference][0] != checksum:
            self._known.pop(reference, None)  # also where there are none now: L-BFGS would wait for them
            found = copies(reference, target, extension)
            if found == [reference]:
                return [example]
            self._known[reference] = checksum, found
        found = self._known[reference][1]
        return [Example(example.predicted.copy(), copy) for copy in found]


class SetTable(NamedTuple):
    """Gold weights ((N, L')), sets ((N, L')) and best tags ((N,)) of the tokens of documents; known tags come first."""

    weights: Doubles
    members: Bools
    best: Indices

    @classmethod
    def of(cls, pipe: GivesSets, examples: Iterable[Example]) -> "SetTable":
        """Read documents that a component has annotated, by its tags and the names in its settings."""
        return set_table(examples, pipe.labels, pipe.target, pipe.cfg["tag_set"], pipe.cfg["gold_tags"])


def set_table(examples: Iterable[Example], known: Sequence[str], target: str, tag_set: str, gold_tags: str) -> SetTable:
    """Read annotated documents, by the tags of the tagger; a Doc without sets has the tags of its tokens as such. White
    space that was left out, without a tag, has no gold here, as it has none for promises."""
    gold: list[Weights] = []
    best: list[str] = []
    sets: list[list[str]] = []
    docs: list[tuple[str, int]] = []
    for example in examples:
        doc = example.predicted
        docs.append(for_messages(example))
        tags = [token.tag_ if target == "tag" else token.pos_ for token in doc]
        rows = zip(gold_weights(example, target, gold_tags), tags, is_white_space(doc).tolist())
        gold += [{} if is_space and not tag else row for row, tag, is_space in rows]
        best += tags
        sets += doc._.get(tag_set) or [[tag] for tag in tags]
    number = {tag: k for k, tag in enumerate(dict.fromkeys(chain(known, best, *gold, *sets)))}
    members = np.zeros((len(gold), len(number)), dtype=bool)
    for token, chosen in enumerate(sets):
        members[token, [number[tag] for tag in chosen]] = True
    return SetTable(weight_rows(gold, number, docs), members, np.array([number[tag] for tag in best], dtype=np.intp))


def known_tokens(examples: Iterable[Example], words: Collection[str]) -> Bools:
    """((N,)): whether the form of a predicted token is one of some words."""
    return np.array([token.text in words for example in examples for token in example.predicted], dtype=bool)


def weight_rows(gold: Sequence[Weights], number: Mapping[str, int], docs: Sequence[tuple[str, int]]) -> Doubles:
    """((N, L)): gold weights of the tokens of Docs, see `normalise`.

    number (Mapping[str, int]): columns of tags. docs (Sequence): see `for_messages`.
    """

    def name_token(token: int) -> str:
        owners = (f"Token {place} of document {name!r}" for name, length in docs for place in range(length))
        return next(islice(owners, token, None))

    return normalise(dense_rows(gold, number), name_token)


def for_messages(example: Example) -> tuple[str, int]:
    """What messages call the document of an example, and how many tokens it has."""
    return read_doc_name(example.reference) or excerpt(example.reference.text), len(example.predicted)
