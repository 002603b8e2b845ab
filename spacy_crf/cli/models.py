"""`python -m spacy crf inspect`, `explain`, `pool`: trained models looked into, and several as one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import spacy
import typer
from wasabi import msg, table

from ..core.errors import CRFError
from ..pipe.component import ChainPipe
from ..pipe.explain import Explanation, explain
from ..pipe.inspect import Inspection, Transition, inspect_pipe
from ..pipe.pool import pool_pipelines
from ..pipe.probabilities import LabelsTokens
from .errors import CommandErrors
from .options import Loaded, Pipe, command, find_component, locate, run_before

Row = tuple[str, ...]
Aligns = tuple[Literal["l", "r"], ...]
EDGE = "(edge)"  # what stands before a sequence and behind it
TAGGER = Pipe("crf_tagger", (LabelsTokens,), "component")


@command("inspect", "Nothing was inspected")
def inspect(
    loaded: Annotated[Loaded, TAGGER],
    top: Annotated[int, typer.Option(min=1, help="How many weights of each kind to show")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON instead of tables")] = False,
) -> None:
    """Show what a tagger has learned: its greatest weights by label, its transitions, its templates and its size."""
    found = inspect_pipe(loaded.component, top)
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    for text in inspection_tables(found):
        typer.echo(text)


def inspection_tables(found: Inspection) -> Iterator[str]:
    """Tables, each below its title."""
    counts = [
        ("labels", len(found.labels)),
        ("features", found.n_features),
        ("edge features", found.n_edge_features),
        ("weights", found.n_weights),
        ("weights that are not 0", found.n_active),
        ("weights of vectors", found.n_vector_weights),
        (f"bytes, weights as {found.precision}", found.n_bytes),
    ]
    yield titled(found.component, [(name, f"{count:,}") for name, count in counts], aligns=("l", "r"))
    rows: list[Row] = [
        (t.template, f"{t.features:,}", f"{t.weights:,}", f"{t.active:,}", f"{t.greatest:.3f}") for t in found.templates
    ]
    header = ("template", "features", "weights", "not 0", "greatest")
    yield titled("Templates", rows, header, ("l", "r", "r", "r", "r"))
    yield titled("Likely transitions", transition_rows(found.likely), aligns=("l", "r"))
    yield titled("Unlikely transitions", transition_rows(found.unlikely), aligns=("l", "r"))
    if found.edges:
        rows = [(part.feature, f"{part.before} > {part.label}", f"{part.weight:+.3f}") for part in found.edges]
        yield titled("Edge features", rows, aligns=("l", "l", "r"))
    for label in found.labels:
        rows = [(part.feature, f"{part.weight:+.3f}") for part in (*found.highest[label], *found.lowest[label][::-1])]
        yield titled(label, rows, aligns=("l", "r"))


def titled(title: str, rows: Sequence[Row], header: Row | None = None, aligns: Aligns = ()) -> str:
    """A table below its title."""
    body = str(table(rows, header=header, divider=header is not None, aligns=aligns)) if rows else "\n(none)\n"
    return f"\n{title}{body}"


def transition_rows(parts: Sequence[Transition]) -> list[Row]:
    """Labels before and after, and their weight."""
    return [(f"{part.before or EDGE} > {part.after or EDGE}", f"{part.weight:+.3f}") for part in parts]


@command("explain", "Nothing was explained")
def explain_labels(
    loaded: Annotated[Loaded, TAGGER],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A text")],
    token: Annotated[int | None, typer.Option(help="Number of the token, from 0; all without")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many contributions to show for each token")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, with all contributions")] = False,
) -> None:
    """Show what each feature and transition adds to a token's label, and to the most probable other one.

    The contributions of a token sum up to the difference of the scores of both labellings of its sentence.
    """
    (doc,) = run_before(loaded.nlp, loaded.name, [loaded.nlp.make_doc(text)])
    found = explain(loaded.component, doc, None if token is None else [token])
    if as_json:
        data = [asdict(one) for one in found]
        for plain, one in zip(data, found):
            plain["contributions"] = [{**asdict(part), "difference": part.difference} for part in one.contributions]
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    for explanation in found:
        typer.echo(format_explanation(explanation, top))


def format_explanation(explanation: Explanation, top: int) -> str:
    """One token as a line and a table of its greatest contributions."""
    title = f"{explanation.token} {explanation.text!r}: {explanation.label} {explanation.probability:.3f}"
    if explanation.runner_up is None:
        return f"\n{title}, no other label is possible\n"
    title += f", not {explanation.runner_up} {explanation.runner_up_probability:.3f}"
    parts, rows = explanation.contributions, []
    for part in parts[:top]:
        weights = f"{part.weight:+.3f} {part.other_weight:+.3f}"
        where = str(part.token), part.name, part.labels, part.other_labels
        rows.append((*where, weights, f"{part.difference:+.3f}"))
    if parts[top:]:
        rest = sum(part.difference for part in parts[top:])
        rows.append((f"{len(parts) - top} more", "", "", "", "", f"{rest:+.3f}"))
    rows.append(("sum", "", "", "", "", f"{explanation.difference:+.3f}"))
    header = ("token", "feature", "scores", "or", "weights", "difference")
    return f"\n{title}{table(rows, header=header, divider=True, aligns=('l', 'l', 'l', 'l', 'r', 'r'))}"


@command("pool", "Nothing was pooled")
def pool(
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the pipeline")],
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Folders or packages of trained pipelines")],
    exponent: Annotated[
        list[float] | None, typer.Option(help="How much each counts, in their order; equal shares without")
    ] = None,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first over a chain without")] = None,
) -> None:
    """Make one component of several trained ones: their chains are multiplied, each to the power of its exponent.

    The product of linear chains is a linear chain again, so that decoding and probabilities stay exact. Models that
    err in different ways gain by it: features and a network, or other orders of the training texts.
    """
    exponents = exponent or [1 / len(models)] * len(models)
    if len(exponents) != len(models):
        raise CRFError(CommandErrors.CRF647.format(exponents=len(exponents), models=len(models)))
    pipelines = [spacy.load(locate(model)) for model in models]
    names = [find_component(nlp, pipe, "crf_tagger", ChainPipe) for nlp in pipelines]
    pool_pipelines(pipelines, names, exponents).to_disk(output)
    msg.good(f"Wrote {output}")
