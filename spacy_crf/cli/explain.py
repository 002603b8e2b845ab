"""`python -m spacy crf explain`: why each token of a text got its label."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg, table

from ..pipe.component import ChainPipe
from ..pipe.explain import Contribution, Explanation, explain
from .app import app
from .tag import find_tagger


@app.command("explain")
def explain_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A text")],
    component: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
    token: Annotated[int | None, typer.Option(help="Number of the token, from 0; all without")] = None,
    top: Annotated[int, typer.Option(min=1, help="How many contributions to show for each token")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, with all contributions")] = False,
) -> None:
    """Show what each feature and transition adds to a token's label, and to the most probable other one.

    The contributions of a token sum up to the difference of the scores of both labellings of its sentence.
    """
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        name = find_tagger(nlp, component)
        pipe = nlp.get_pipe(name)
        assert isinstance(pipe, ChainPipe)
        found = explain(pipe, doc_before(nlp, name, text), None if token is None else [token])
    except (ValueError, OSError) as error:
        msg.fail("Nothing was explained", str(error), exits=1)
    if as_json:
        typer.echo(json.dumps([_data(explanation) for explanation in found], indent=2, ensure_ascii=False))
        return
    for explanation in found:
        typer.echo(format_explanation(explanation, top))


def doc_before(nlp: Language, name: str, text: str) -> Doc:
    """A text as a component of the pipeline sees it."""
    doc = nlp.make_doc(text)
    for other, pipe in nlp.pipeline:
        if other == name:
            break
        doc = pipe(doc)
    return doc


def format_explanation(explanation: Explanation, top: int) -> str:
    """One token as a line and a table.

    top (int): how many contributions to show.
    """
    title = f"{explanation.token} {explanation.text!r}: {explanation.label} {explanation.probability:.3f}"
    if explanation.runner_up is None:
        return f"\n{title}, no other label is possible\n"
    title += f", not {explanation.runner_up} {explanation.runner_up_probability:.3f}"
    parts = explanation.contributions
    rows = [_row(part) for part in parts[:top]]
    if parts[top:]:
        rest = sum(part.difference for part in parts[top:])
        rows.append((f"{len(parts) - top} more", "", "", "", "", f"{rest:+.3f}"))
    rows.append(("sum", "", "", "", "", f"{explanation.difference:+.3f}"))
    header = ("token", "feature", "scores", "or", "weights", "difference")
    return f"\n{title}{table(rows, header=header, divider=True, aligns=('l', 'l', 'l', 'l', 'r', 'r'))}"


def _row(part: Contribution) -> tuple[str, ...]:
    weights = f"{part.weight:+.3f} {part.other_weight:+.3f}"
    return str(part.token), part.name, part.labels, part.other_labels, weights, f"{part.difference:+.3f}"


def _data(explanation: Explanation) -> dict[str, object]:
    """As plain data, with the difference of each contribution."""
    parts = [{**asdict(part), "difference": part.difference} for part in explanation.contributions]
    return {**asdict(explanation), "contributions": parts}
