"""`python -m spacy crf tag`, `review`: tags with their probabilities, and what a tagger is least certain of."""

from enum import StrEnum
from itertools import tee
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from spacy.tokens import Doc
from wasabi import msg, table

from ..cli.data import Data, DataOptions
from ..cli.options import Loaded, Pipe, command, run_before, write_result
from .component import CRFTagger
from .review.rank import least_certain
from .review.write import target_kind, write_json, write_rows

EXTENSION = "crf_marginals"
LEAST = 0.005  # a less probable second tag is not shown


@command("tag", "Nothing was tagged")
def tag(
    loaded: Annotated[Loaded, Pipe("crf_tagger", (CRFTagger,))],
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts; standard input without")
    ] = None,
) -> None:
    """Tag texts and show how sure the tagger is of each token.

    Each line of standard input is a text of its own where no texts are given.
    """
    if not Doc.has_extension(EXTENSION):
        Doc.set_extension(EXTENSION, default=None)
    loaded.component.cfg["marginals"] = EXTENSION
    lines = texts or (line for line in typer.get_text_stream("stdin") if line.strip())
    for doc in loaded.nlp.pipe(lines):
        typer.echo(format_tags(doc))


def format_tags(doc: Doc) -> str:
    """Tokens of a Doc with marginals: their best and second best tags."""
    stored, rows = doc._.get(EXTENSION), []
    for token, values in zip(doc, np.asarray(stored["values"])):
        first, second = np.argsort(-values, kind="stable")[[0, min(1, len(values) - 1)]].tolist()
        runner_up = f"{stored['tags'][second]} {values[second]:.2f}" if values[second] >= LEAST else ""
        rows.append((token.text, stored["tags"][first], f"{values[first]:.2f}", runner_up))
    return str(table(rows, header=("token", "tag", "prob.", "or"), divider=True, aligns=("l", "l", "r", "l")))


class Measure(StrEnum):
    """Choices of `--order`."""

    LEAST_CONFIDENCE = "least-confidence"
    MARGIN = "margin"
    ENTROPY = "entropy"
    TOKEN_ENTROPY = "token-entropy"


class Layout(StrEnum):
    """Choices of `--format`."""

    TSV = "tsv"
    JSONL = "jsonl"


RAW_TEXT = "Raw text, a text on each line, or any format that training reads"
SOURCE = "Format of FILE: text, or one of training; otherwise picked by file"


@command("review", "Nothing was listed")
def review(
    loaded: Annotated[Loaded, Pipe("crf_tagger", (CRFTagger,), "component")],
    data: Annotated[Data, DataOptions("FILE", RAW_TEXT, "source", SOURCE)],
    limit: Annotated[int | None, typer.Option(min=1, help="How many sequences to list; all without")] = None,
    n_best: Annotated[int, typer.Option("--n-best", min=1, help="How many labellings of each sequence to list")] = 3,
    order: Annotated[Measure, typer.Option(help="Measure of certainty")] = Measure.LEAST_CONFIDENCE,
    per_token: Annotated[
        bool, typer.Option("--per-token", help="Take the length of sequences out of the measure")
    ] = False,
    format: Annotated[Layout, typer.Option(help="Layout of the list")] = Layout.TSV,
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
    found = least_certain(loaded.component, zip(docs, places), order.value, per_token, limit, n_best)
    kind = target_kind(loaded.component)
    inputs = [name for name in data.input if name != kind]
    write = write_rows if format is Layout.TSV else write_json
    write_result("".join(f"{line}\n" for line in write(found, kind, order.value, inputs, prefill)), output)
    if output is not None:
        msg.good(f"Wrote {len(found)} sequences to {output}")
