"""`python -m spacy crf sections`: a document in, its section tree out."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.language import Language
from wasabi import Printer, msg

from ..sections.component import SectionParser
from ..sections.formats import read_layout
from ..sections.formats.annotated import write_annotated
from ..sections.formats.docling import write_docling
from ..sections.formats.markdown import write_markdown
from ..sections.formats.outline import write_brackets
from ..sections.formats.page import write_page
from ..sections.formats.rechtspraak import write_rechtspraak
from ..sections.layout import DocumentLayout, to_doc
from ..sections.tree import SectionTree, dumps
from .app import app
from .output import write_result
from .tag import find_tagger

SILENT = Printer(no_print=True)  # standard output is for the result
PIPE = "section_parser"
LANGUAGE = "xx"  # of the pipeline without a model: words do not count for it


class Format(StrEnum):
    """Choices of `--to`."""

    JSON = "json"
    HTML = "html"
    MD = "md"
    XML = "xml"
    BRACKETS = "brackets"
    DOCLING = "docling"
    RECHTSPRAAK = "rechtspraak"


WRITERS: dict[Format, Callable[[DocumentLayout, SectionTree], str]] = {
    Format.JSON: lambda _, tree: dumps(tree),
    Format.HTML: write_page,
    Format.MD: write_markdown,
    Format.XML: write_annotated,
    Format.BRACKETS: write_brackets,
    Format.DOCLING: write_docling,
    Format.RECHTSPRAAK: write_rechtspraak,
}


@app.command("sections")
def sections_cli(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Text, Markdown, HTML, XML or DoclingDocument JSON")],
    model: Annotated[str | None, typer.Option(help="Folder or package of a pipeline; rules without")] = None,
    to: Annotated[Format, typer.Option(help="Format of the result")] = Format.BRACKETS,
    output: Annotated[Path | None, typer.Option(help="File for the result; standard output without")] = None,
    component: Annotated[
        str | None, typer.Option(help="Name of the component; the first section_parser without")
    ] = None,
    paragraphs: Annotated[bool, typer.Option("--paragraphs", help="Plain text has hard line breaks")] = False,
) -> None:
    """Find the sections of a document, and write it with them.

    The format of the file is told by its suffix, that of XML by its root. A file that `--to xml` has written can be
    corrected and trained on.
    """
    try:
        layout = read_layout(path, paragraphs)
        tree = parse(load(model), component, layout)
        write_result(WRITERS[to](layout, tree), output)
    except (ValueError, OSError) as error:
        typer.echo(SILENT.fail("Nothing was written", str(error)), err=True)
        raise typer.Exit(1) from error
    if output is not None:
        implied = sum(node.virtual for node in tree.walk())
        count = sum(1 for _ in tree.walk()) - implied
        msg.good(f"Wrote {count} sections to {output}" + (f", and {implied} that are implied" if implied else ""))


def load(model: str | None) -> Language:
    """A pipeline with a section parser.

    model (str | None): folder or package; without one, the parser labels by its rules, which need no training.
    """
    if model is not None:
        return spacy.load(Path(model) if Path(model).exists() else model)
    nlp = spacy.blank(LANGUAGE)
    nlp.add_pipe(PIPE)
    return nlp


def parse(nlp: Language, component: str | None, layout: DocumentLayout) -> SectionTree:
    """The section tree of a document.

    nlp (Language): the pipeline. component (str | None): name of its section parser; the first one without.
    layout (DocumentLayout): the document, of any length.
    RAISES (ValueError): if the pipeline has no such component.
    """
    find_tagger(nlp, component, SectionParser)
    tree: SectionTree = nlp(to_doc(nlp.vocab, layout))._.section_tree
    return tree
