"""`python -m spacy crf constraints`: the constraints of a pipeline, their costs and what the data say of them."""

import json
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.language import Language
from wasabi import msg, table

from ..constraints.component import ConstrainedNER
from ..constraints.decoder import ConstraintDecoder
from ..constraints.table import ConstraintEntry, table_rows, to_bytes
from ..core.errors import CRFError
from .app import app
from .errors import CommandErrors

HEADER = ("cost", "support", "rate", "origin", "constraint")


@app.command("constraints")
def constraints_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a pipeline")],
    component: Annotated[
        str | None, typer.Option(help="Name of the component; the first that has some without")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, as in constraints.json")] = False,
) -> None:
    """Show the constraints of a component: text, cost, in how many sequences it applies, how often it is broken."""
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        entries = _entries(nlp, model, component)
    except (ValueError, OSError) as error:
        msg.fail("No constraints were shown", str(error), exits=1)
    if as_json:
        typer.echo(json.dumps(json.loads(to_bytes(entries)), indent=2, ensure_ascii=False))
        return
    typer.echo(str(table(table_rows(entries), header=HEADER, divider=True, aligns=("r", "r", "r", "l", "l"))))


def _entries(nlp: Language, path: str, component: str | None) -> list[ConstraintEntry]:
    known = {name: pipe for name, pipe in nlp.components if isinstance(pipe, ConstrainedNER | ConstraintDecoder)}
    chosen = component or next(iter(known), None)
    if chosen not in known:
        raise CRFError(CommandErrors.CRF446.format(name=component, path=path, known=", ".join(known) or "none"))
    return known[chosen].constraint_entries
