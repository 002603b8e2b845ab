"""`python -m spacy crf cite`: a pasted bibliography in, BibTeX or CSL-JSON out."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import spacy
import typer
from spacy.language import Language
from wasabi import Printer, msg

from ..bibliography.assemble import Segment, make_entries, read_segments
from ..bibliography.bibtex import write_bibtex
from ..bibliography.csl import write_csl
from ..bibliography.entry import Entry
from ..bibliography.split import Reference, split_references
from ..bibliography.table import write_table
from ..core.errors import CRFError
from ..tagging.component import CRFTagger
from .app import app
from .errors import CommandErrors
from .output import write_result
from .tag import find_tagger

SILENT = Printer(no_print=True)  # standard output is for the result
BYTE_ORDER_MARK = "\ufeff"


class Layout(StrEnum):
    """Choices of `--to`."""

    BIBTEX = "bibtex"
    CSL = "csl"
    TSV = "tsv"


@app.command("cite")
def cite_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a pipeline for references")],
    data: Annotated[Path, typer.Argument(metavar="FILE|-", help="Bibliography as text; - for standard input")],
    to: Annotated[Layout, typer.Option(help="Format of the result")] = Layout.BIBTEX,
    output: Annotated[Path | None, typer.Option(help="File for the result; standard output without")] = None,
    component: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
    unicode: Annotated[bool, typer.Option("--unicode", help="Leave accents in BibTeX as they are")] = False,
) -> None:
    """Turn a pasted bibliography into BibTeX, CSL-JSON or a table.

    References are told apart by their numbers, indentation or blank lines. What has no field of its own goes to the
    note; a reference in which the model finds no field is named on standard error and left out.
    """
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        name = find_tagger(nlp, component)
        references = split_references(read_text(data))
        if not references:
            raise CRFError(CommandErrors.CRF641.format(path=data))
        entries = make_entries(label(nlp, name, references))
        known = [entry for entry in entries if entry is not None]
        if not known:
            labels = ", ".join(cast(CRFTagger, nlp.get_pipe(name)).labels)
            raise CRFError(CommandErrors.CRF646.format(count=len(entries), model=model, labels=labels))
        _report_missing(references, entries)
        write_result(WRITERS[to](known, unicode), output)
    except (ValueError, OSError) as error:
        typer.echo(SILENT.fail("Nothing was written", str(error)), err=True)
        raise typer.Exit(1) from error
    if output is not None:
        msg.good(f"Wrote {len(known)} references to {output}")


WRITERS: dict[Layout, Callable[[Sequence[Entry], bool], str]] = {
    Layout.BIBTEX: write_bibtex,
    Layout.CSL: lambda entries, _: write_csl(entries),
    Layout.TSV: lambda entries, _: write_table(entries),
}


def read_text(path: Path) -> str:
    """Text of a file in UTF-8, or of standard input for "-".

    RAISES (ValueError): with the position of the first byte that is not UTF-8.
    """
    data = typer.get_binary_stream("stdin").read() if str(path) == "-" else path.read_bytes()
    try:
        return data.decode("utf8").removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        message = CommandErrors.CRF640.format(path=path, value=data[error.start], position=error.start)
        raise CRFError(message) from error


def label(nlp: Language, name: str, references: Sequence[Reference]) -> list[list[Segment]]:
    """Fields of references, as a component finds them.

    nlp (Language): the pipeline. name (str): of its crf_tagger. references (list[Reference]): of a bibliography.
    RETURNS (list[list[tuple[str, str]]]): labels and texts for each.
    """
    tagger = cast(CRFTagger, nlp.get_pipe(name))
    docs = nlp.pipe(reference.text for reference in references)
    return [read_segments(doc, tagger.target, tagger.cfg["spans_key"]) for doc in docs]


def _report_missing(references: Sequence[Reference], entries: Sequence[Entry | None]) -> None:
    for number, (reference, entry) in enumerate(zip(references, entries), 1):
        if entry is None:
            first, last = reference.first_line, reference.last_line
            lines = f"line {first}" if first == last else f"lines {first} to {last}"
            text = CommandErrors.CRF645.format(number=number, lines=lines, text=reference.text[:60])
            typer.echo(SILENT.warn(text), err=True)
