"""`python -m spacy crf sections`: a document in, its section tree out."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Literal

import spacy
import typer

from ..cli.data import SECTION_CORPUS, trained_settings
from ..cli.options import command, find_component, load_pipeline, locate, refuse_idle, write_result
from ..cli.surface import tell_done
from ..pipe.seen import run_before
from .component import SectionParser
from .cross_references import write_json
from .formats.annotated import write_annotated
from .formats.docling import write_docling
from .formats.markdown import write_markdown
from .formats.outline import write_brackets, write_outline
from .formats.page import write_page
from .formats.rechtspraak import write_rechtspraak
from .layout import DocumentLayout, to_doc
from .reader import is_plain, read_layout
from .tree import SectionTree

PIPE = "section_parser"
LANGUAGE = "xx"  # of the pipeline without a model: words do not count for it
Format = Literal["outline", "json", "html", "md", "xml", "brackets", "docling", "rechtspraak"]
WRITERS: dict[Format, Callable[[DocumentLayout, SectionTree], str]] = {
    "outline": write_outline,
    "json": write_json,
    "html": write_page,
    "md": write_markdown,
    "xml": write_annotated,
    "brackets": write_brackets,
    "docling": write_docling,
    "rechtspraak": write_rechtspraak,
}


@command("sections", "Nothing was written", "report.pdf --to html --output report.html", to_stderr=True)
def sections(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="Text, Markdown, HTML, DOCX, LaTeX, PDF, XML or DoclingDocument JSON")
    ],
    model: Annotated[str | None, typer.Option(help="Folder or package of a pipeline; rules without")] = None,
    to: Annotated[Format, typer.Option(help="Format of the result")] = "outline",
    output: Annotated[Path | None, typer.Option(help="File for the result; standard output without")] = None,
    component: Annotated[
        str | None, typer.Option(help="Name of the component; the first section_parser without")
    ] = None,
    paragraphs: Annotated[bool, typer.Option("--paragraphs", help="Plain text has hard line breaks")] = False,
    given: Collection[str] = (),
) -> None:
    """Find the sections of a document, and write it with them.

    The format of the file is told by its suffix, that of XML by its root. Mark-up that was hidden in training is hidden
    here. A file that `--to xml` has written can be corrected and trained on.
    """
    refuse_idle(given, ("paragraphs", is_plain(path), "plain text"))
    nlp = spacy.blank(LANGUAGE) if model is None else load_pipeline(locate(model))
    if model is None:
        nlp.add_pipe(PIPE)
    layout = read_layout(path, paragraphs, trained_settings(nlp, SECTION_CORPUS).get("hidden", False))
    name = find_component(nlp, component, PIPE, SectionParser)
    (doc,) = run_before(nlp, name, [to_doc(nlp.vocab, layout)])
    tree: SectionTree = nlp.get_pipe(name)(doc)._.section_tree
    write_result(WRITERS[to](layout, tree), output)
    if output is not None:
        implied = [node.virtual for node in tree.walk()]
        more = f", and {sum(implied)} that are implied" if any(implied) else ""
        tell_done(f"Wrote {implied.count(False)} sections to {output}{more}")
