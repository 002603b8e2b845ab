"""`python -m spacy crf tag`, `review`: tags with their probabilities, and what a tagger is least certain of."""

from itertools import tee
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from spacy.tokens import Doc

from ..cli.data import TO_ANNOTATE, Data
from ..cli.options import Loaded, Pipe, command, run_before, table, tell_written, write_result
from ..pipe.probabilities import LabelsTokens
from .review import Order, review, target_kind, write_json, write_rows

EXTENSION = "crf_marginals"
LEAST = 0.005  # a less probable second tag is not shown


@command("tag", "Nothing was tagged")
def tag(
    loaded: Annotated[Loaded, Pipe("crf_tagger", (LabelsTokens,))],
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts; standard input without")
    ] = None,
) -> None:
    """Tag texts and show how sure the tagger is of each token.

    Each line of standard input is a text of its own where no texts are given.
    """
    if not Doc.has_extension(EXTENSION):
        Doc.set_extension(EXTENSION, default=None)
    cfg = loaded.component.cfg
    cfg["marginals" if "marginals" in cfg else "tag_probs"] = EXTENSION
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
    return table(rows, ("token", "tag", "prob.", "or"), "llrl")


@command("review", "Nothing was listed")
def review_texts(
    loaded: Annotated[Loaded, Pipe("crf_tagger", (LabelsTokens,), "component")],
    data: Annotated[Data, TO_ANNOTATE],
    limit: Annotated[int | None, typer.Option(min=1, help="How many sequences to list; all without")] = None,
    n_best: Annotated[int, typer.Option("--n-best", min=1, help="How many labellings of each sequence to list")] = 3,
    order: Annotated[Order, typer.Option(help="Measure of certainty")] = "least-confidence",
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
    found = review(loaded.component, docs, order, per_token, limit, n_best, places)
    kind = target_kind(loaded.component)
    inputs = [name for name in data.input if name != kind]
    write = write_rows if format == "tsv" else write_json
    write_result("".join(f"{line}\n" for line in write(found, kind, order, inputs, prefill)), output)
    tell_written(output, f"{len(found)} sequences")
