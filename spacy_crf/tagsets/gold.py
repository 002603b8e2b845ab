"""Gold of tokens with several tags, as what a chain learns from."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..annotation.gold import aligned_tokens, same_tokens, single_tokens
from ..annotation.gold_tags import read_gold_tags, write_gold_tags
from ..annotation.targets import AttributeTarget
from ..core.arrays import Floats
from ..core.errors import CRFError, excerpt
from ..core.gold import UNKNOWN, Gold
from ..core.labels import TagSet
from ..pipe.errors import PipeErrors
from .rules import LearnFrom

Weights = Mapping[str, float]


def gold_weights(example: Example, target: str, extension: str) -> list[Weights]:
    """For each predicted token its gold tags with their weights, nothing where there are none.

    Tokens whose gold is not in the extension have that of the target. Where tokens differ, gold with several tags is
    taken only by tokens that are one on both sides.

    target (str): "tag" or "pos". extension (str): custom attribute of the reference's tokens.
    """
    single = [{} if tag is None else {tag: 1.0} for tag in AttributeTarget(target).names(example)]
    rows = read_gold_tags(example.reference, extension)
    if not any(rows):
        return list(single)
    if same_tokens(example):
        return [row or one for row, one in zip(rows, single)]
    found: list[Weights] = []
    for alone, own, one in zip(single_tokens(example), aligned_tokens(example), single):
        several = any(len(rows[y]) > 1 for y in own)  # of which the tag shows only the best one
        found.append((rows[alone] or one) if alone is not None else {} if several else one)
    return found


def collect_weighted_labels(docs: Iterable[Doc], target: str, extension: str) -> list[str]:
    """Tags that occur in the gold of Docs, weighted or not, sorted.

    target (str): "tag" or "pos". extension (str): custom attribute of weighted gold.
    """
    docs = list(docs)
    weighted = {tag for doc in docs for row in read_gold_tags(doc, extension) for tag in row}
    return sorted({*AttributeTarget(target).labels(docs), *weighted})


def describe_weighted_gold(target: str, extension: str) -> str:
    """How messages name what `gold_weights` reads."""
    return f"{AttributeTarget(target).description} or token._.{extension}"


def weighted_gold(
    name: str, examples: Sequence[Example], target: str, extension: str, tags: TagSet, learn_from: LearnFrom = "soft"
) -> Gold:
    """Gold of the predicted tokens of examples, one Doc after the other; see `gold_weights` and `to_gold`.

    name (str): of the component, for messages.
    RAISES (ValueError): for a tag that the tag set lacks.
    """
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
    """What is learned from weighted gold.

    learn_from (str): "soft": the weights, as a distribution; "marginal": that one of the tags is right, whichever;
        "best": the tag with the greatest weight, the first of equal ones. For "augmented", see `copies`.
    RETURNS (Gold): of the tokens; those without gold are open.
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

    Algorithm 3 of Heid, Set-Valued Prediction for Part-of-Speech Tagging (2020), with min(j, n) for max(1, n - j),
    which would never show the second of two tags.

    RETURNS (list[Doc]): the copies, single tags in `token.tag` or `token.pos`; the Doc itself where no token has two.
    """
    rows = read_gold_tags(reference, extension)
    ranked = [sorted(row, key=row.__getitem__, reverse=True) for row in rows]
    most = max(map(len, ranked), default=0)
    if most < 2:
        return [reference]
    found = []
    for rank in range(most):
        doc = reference.copy()
        chosen = [{row[min(rank, len(row) - 1)]: 1.0} if row else {} for row in ranked]
        write_gold_tags(doc, chosen, extension)
        found.append(doc)
    return found
