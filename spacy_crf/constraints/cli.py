"""`python -m spacy crf constraints`: the constraints of a pipeline, their costs and what the data say of them."""

import json
from typing import Annotated, Any

import spacy
import typer
from wasabi import table

from ..cli.options import command, locate
from ..core.errors import CRFError
from .component import KeepsConstraints
from .errors import ConstraintErrors
from .table import table_rows, to_bytes

HEADER = ("cost", "support", "rate", "origin", "constraint")


@command("constraints", "No constraints were shown")
def constraints(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a pipeline")],
    component: Annotated[
        str | None, typer.Option(help="Name of the component; the first that has some without")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, as in constraints.json")] = False,
) -> None:
    """Show the constraints of a component: text, cost, in how many sequences it applies, how often it is broken."""
    pipes: list[tuple[str, Any]] = spacy.load(locate(model)).components
    known = {name: pipe for name, pipe in pipes if isinstance(pipe, KeepsConstraints)}
    chosen = component or next(iter(known), None)
    if chosen not in known:
        names = ", ".join(known) or "none"
        raise CRFError(ConstraintErrors.CRF446.format(name=component, path=model, known=names))
    entries = known[chosen].constraint_entries
    if as_json:
        typer.echo(json.dumps(json.loads(to_bytes(entries)), indent=2, ensure_ascii=False))
    else:
        typer.echo(str(table(table_rows(entries), header=HEADER, divider=True, aligns=("r", "r", "r", "l", "l"))))
