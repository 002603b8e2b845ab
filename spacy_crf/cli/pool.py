"""`python -m spacy crf pool`: several trained models as one."""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from wasabi import msg

from ..core.errors import CRFError
from ..pipe.component import ChainPipe
from ..pipe.pool import pool_pipelines
from .app import app
from .errors import CommandErrors
from .tag import find_tagger


@app.command("pool")
def pool_cli(
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
    try:
        exponents = exponent or [1 / len(models)] * len(models)
        if len(exponents) != len(models):
            raise CRFError(CommandErrors.CRF647.format(exponents=len(exponents), models=len(models)))
        pipelines = [spacy.load(Path(model) if Path(model).exists() else model) for model in models]
        names = [find_tagger(nlp, pipe, ChainPipe) for nlp in pipelines]
        pool_pipelines(pipelines, names, exponents).to_disk(output)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was pooled", str(error), exits=1)
    msg.good(f"Wrote {output}")
