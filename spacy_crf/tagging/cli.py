"""`python -m spacy crf tag`, `review`: tags with their probabilities, and what a tagger is least certain of."""

from itertools import tee
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from spacy.tokens import Doc
from spacy.training import Example

from ..annotation.span_targets import target_of
from ..cli.data import TO_ANNOTATE, Data
from ..cli.options import Loaded, Pipe, command, table, tell_written, write_result
from ..core.arrays import Floats
from ..core.labels import UNKNOWN, TagSet
from ..corpora.docs import make_doc
from ..pipe.calibration import run_before
from ..pipe.component import ChainPipe
from ..pipe.probabilities import GivesSets, LabelsTokens
from ..pipe.span_sets import PromisesSpans, read_span_set
from .ranking import Order
from .review import By, review, target_kind, write_json, write_rows

EXTENSION = "crf_marginals"
LEAST = 0.005  # a less probable second tag is not shown


@command("tag", "Nothing was tagged")
def tag(
    loaded: Annotated[Loaded, Pipe("crf_tagger", (LabelsTokens, GivesSets))],
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts; standard input without")
    ] = None,
) -> None:
    """Tag texts and show how sure the tagger is of each token.

    Tags are those that the pipeline sets: under its constraints, and with its entities or chunks as BIO tags. Each line
    of standard input is a text of its own where no texts are given. Spans that a promise takes stand below.
    """
    component = loaded.component
    if not isinstance(component, GivesSets):
        component.cfg["marginals"] = EXTENSION
    piped = (line.removeprefix("\ufeff").rstrip("\r\n") for line in typer.get_text_stream("stdin"))
    lines = texts or filter(str.strip, piped)
    for doc in loaded.nlp.pipe(make_doc(loaded.nlp, line) for line in lines):
        typer.echo(format_tags(doc, component))
        if isinstance(component, PromisesSpans) and component.settings.guarantee is not None:
            typer.echo(format_span_set(doc, component.settings.sets_key))


def format_tags(doc: Doc, component: Any) -> str:
    """Tokens of a Doc with the tags that they have, how probable these are, and the sets of the tokens or, without
    sets, the most probable other tags."""
    has_sets = isinstance(component, GivesSets)
    stored = doc._.get(component.tag_probs if has_sets else EXTENSION)
    target = component.annotation if isinstance(component, ChainPipe) else target_of(component.target)
    tags = component.tags if isinstance(component, ChainPipe) else TagSet(tuple(stored["tags"]), "none")
    labels = target.gold(Example(doc, doc), tags, strict=False).tolist()
    rows = []
    for token, label, values in zip(doc, labels, np.asarray(stored["values"])):
        if label == UNKNOWN:
            rows.append((token.text, "", "", ""))
            continue
        more = " ".join(doc._.get(component.cfg["tag_set"])[token.i]) if has_sets else _other(values, label, tags)
        rows.append((token.text, tags.tags[label], f"{values[label]:.2f}", more))
    return table(rows, ("token", "tag", "prob.", "set" if has_sets else "or"), "llrl")


def format_span_set(doc: Doc, key: str) -> str:
    """The spans of the set that keeps a promise, with their probabilities."""
    rows = [(doc[one.start : one.end].text, one.label, f"{one.probability:.2f}") for one in read_span_set(doc, key)]
    return table(rows, ("spans in the set", "label", "prob."), "llr", width=60)


def _other(values: Floats, label: int, tags: TagSet) -> str:
    """The most probable tag but one, if it is worth showing. values ((L,)): probabilities of all."""
    others = np.where(np.arange(len(values)) == label, -1.0, values)
    best = int(others.argmax())
    return f"{tags.tags[best]} {others[best]:.2f}" if others[best] >= LEAST else ""


@command("review", "Nothing was listed")
def review_texts(
    loaded: Annotated[Loaded, Pipe("crf_tagger", (LabelsTokens,), "component")],
    data: Annotated[Data, TO_ANNOTATE],
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many sentences or documents to list; all without")
    ] = None,
    n_best: Annotated[int, typer.Option("--n-best", min=1, help="How many labellings of each sequence to list")] = 3,
    order: Annotated[
        Order, typer.Option(help="Measure of certainty; utility: of sets; gain: of uncertain words that are frequent")
    ] = "least-confidence",
    by: Annotated[By, typer.Option(help="What is listed together")] = "sentence",
    per_token: Annotated[
        bool, typer.Option("--per-token", help="Take the length of sequences out of the measure")
    ] = False,
    format: Annotated[Literal["tsv", "jsonl"], typer.Option(help="Layout of the list")] = "tsv",
    output: Annotated[Path | None, typer.Option(help="File for the list; standard output without")] = None,
    prefill: Annotated[bool, typer.Option("--prefill", help="Put the tagger's own tags into the gold column")] = False,
) -> None:
    """List the sequences that a tagger is least certain of, with its best labellings and their probabilities.

    Whoever knows better fills in the column "gold", in full or in part. The file is then read like any other corpus: a
    token with a gold tag is trained on, one without is unknown and summed over.
    """
    ours, others = tee(data.raw(loaded.nlp))
    docs = run_before(loaded.nlp, loaded.name, (doc for doc, _ in ours))
    places = (place for _, place in others)
    found = review(loaded.component, docs, order, per_token, limit, n_best, places, by)
    kind = target_kind(loaded.component)
    inputs = [name for name in data.inputs(loaded.nlp) if name != kind]
    write = write_rows if format == "tsv" else write_json
    write_result("".join(f"{line}\n" for line in write(found, kind, order, inputs, prefill)), output)
    tell_written(output, f"{len(found)} sequences")
