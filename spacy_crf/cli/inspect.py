"""`python -m spacy crf inspect`: the weights, transitions and size of a trained component."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import spacy
import typer
from wasabi import msg, table

from ..pipe.component import ChainPipe
from ..pipe.inspect import Inspection, Transition, Weight, inspect_pipe
from .app import app
from .tag import find_tagger

Row = tuple[str, ...]
Aligns = tuple[Literal["l", "r"], ...]
EDGE = "(edge)"  # what stands before a sequence and behind it


@app.command("inspect")
def inspect_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    component: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many weights of each kind to show")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON instead of tables")] = False,
) -> None:
    """Show what a tagger has learned: its greatest weights by label, its transitions, its templates and its size."""
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        pipe = nlp.get_pipe(find_tagger(nlp, component))
        assert isinstance(pipe, ChainPipe)
        found = inspect_pipe(pipe, top)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was inspected", str(error), exits=1)
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    for text in _tables(found):
        typer.echo(text)


def _tables(found: Inspection) -> Iterator[str]:
    sizes = [
        ("labels", len(found.labels)),
        ("features", found.n_features),
        ("edge features", found.n_edge_features),
        ("weights", found.n_weights),
        ("weights that are not 0", found.n_active),
        ("weights of vectors", found.n_vector_weights),
        (f"bytes, weights as {found.precision}", found.n_bytes),
    ]
    rows: list[Row] = [(name, f"{count:,}") for name, count in sizes]
    yield _table(found.component, rows, aligns=("l", "r"))
    rows = [
        (t.template, f"{t.features:,}", f"{t.weights:,}", f"{t.active:,}", f"{t.greatest:.3f}") for t in found.templates
    ]
    header = ("template", "features", "weights", "not 0", "greatest")
    yield _table("Templates", rows, header, ("l", "r", "r", "r", "r"))
    yield _table("Likely transitions", [_transition(part) for part in found.likely], aligns=("l", "r"))
    yield _table("Unlikely transitions", [_transition(part) for part in found.unlikely], aligns=("l", "r"))
    if found.edges:
        yield _table("Edge features", [_weight(part) for part in found.edges], aligns=("l", "l", "r"))
    for label in found.labels:
        rows = [(part.feature, f"{part.weight:+.3f}") for part in (*found.highest[label], *found.lowest[label][::-1])]
        yield _table(label, rows, aligns=("l", "r"))


def _table(title: str, rows: list[Row], header: Row | None = None, aligns: Aligns = ()) -> str:
    body = str(table(rows, header=header, divider=header is not None, aligns=aligns)) if rows else "\n(none)\n"
    return f"\n{title}{body}"


def _transition(part: Transition) -> Row:
    return f"{part.before or EDGE} > {part.after or EDGE}", f"{part.weight:+.3f}"


def _weight(part: Weight) -> Row:
    return part.feature, f"{part.before} > {part.label}", f"{part.weight:+.3f}"
