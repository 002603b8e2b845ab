"""Uncertain sequences as text: a table to fill in, or JSON lines. `corpora.review` reads both back."""

import json
from collections.abc import Iterable, Iterator, Sequence

from ...corpora.docs import read_kind
from ...corpora.review import COLUMNS, FORMAT, MARK, escape
from ...corpora.sentence import ENTITIES, EXTENSION_PREFIX, SPANS_PREFIX
from ..component import CRFTagger
from .rank import Uncertain

HELP = (
    "Fill in the column 'gold' where you know the tag; leave it empty where you do not.",
    'A corrected file is a training corpus like others: --paths.train \'["train.spacy", "this.tsv"]\'',
)
NOTHING = "_"


def target_kind(tagger: CRFTagger) -> str:
    """What a tagger writes, as corpora call it: "tag", "pos", "ner", "spans:KEY" or "ext:NAME".

    tagger (CRFTagger): the component.
    """
    kinds = {"tag": "tag", "pos": "pos", "ent": ENTITIES, "spans": f"{SPANS_PREFIX}{tagger.cfg['spans_key']}"}
    return kinds.get(tagger.target, f"{EXTENSION_PREFIX}{tagger.target}")


def write_rows(
    found: Iterable[Uncertain], kind: str, order: str, inputs: Sequence[str] = (), prefill: bool = False
) -> Iterator[str]:
    """A table with one row for each token.

    found (Iterable[Uncertain]): the sequences. kind (str): of the gold. order (str): name of the measure.
    inputs (list[str]): kinds of annotation that the tagger got to see, and is to see in training.
    prefill (bool): put the decoded tags into the column of the gold.
    YIELDS (str): lines.
    """
    yield MARK
    yield from (f"# {line}" for line in HELP)
    yield f"# target = {kind}"
    if inputs:
        yield f"# input = {', '.join(inputs)}"
    yield f"# columns = {', '.join((*COLUMNS, *inputs))}"
    for item in found:
        yield ""
        where = f"{item.place.unit} {item.place.number}, tokens {item.span.start} to {item.span.end - 1}"
        yield f"# id = {_id(item)}, {where}, {order} {item.certainty:.4g}"
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
    yield from (escape(str(token)), escape(gold), escape(tag), f"{probability:.4f}")
    yield " ".join(f"{escape(name)} {value:.2f}" for name, value in others) or NOTHING
    yield from (escape(value) or NOTHING for value in inputs)


def write_json(
    found: Iterable[Uncertain], kind: str, order: str, inputs: Sequence[str] = (), prefill: bool = False
) -> Iterator[str]:
    """One JSON object for each sequence; arguments and result as for `write_rows`."""
    for item in found:
        data = {
            "format": FORMAT,
            "target": kind,
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
        "gold": item.tags[number] if prefill else "",
        "best": item.tags[number],
        "probability": item.probabilities[number],
        "alternatives": dict(item.alternatives[number]),
    }


def _id(item: Uncertain) -> str:
    return f"{item.place.number}.{item.number}"
