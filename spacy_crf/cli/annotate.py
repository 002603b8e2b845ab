"""`python -m spacy crf annotate`: tagged documents as files for annotators, or to read."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import spacy
import typer
from spacy.tokens import Doc
from wasabi import msg

from ..corpora.tagsets import write_predicted_tsv
from ..corpora.webanno import write_webanno
from ..pipe.probabilities import GivesSets
from ..tagsets.view import render_page
from .app import app
from .review import read_source
from .score import _names
from .tag import find_tagger


class Layout(StrEnum):
    """What is written."""

    TSV = "tsv"
    WEBANNO = "webanno"
    HTML = "html"


@app.command("annotate")
def annotate_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    data: Annotated[
        Path, typer.Argument(metavar="FILE", help="Raw text, a text on each line, or any format that training reads")
    ],
    output: Annotated[Path, typer.Option(help="Folder for the files, one for each document")],
    layout: Annotated[
        Layout, typer.Option(help="tsv: form and tags; webanno: WebAnno TSV 3, for INCEpTION; html: to read")
    ] = Layout.TSV,
    source: Annotated[
        str | None, typer.Option(help="Format of FILE: text, or one of training; otherwise picked by file")
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first set_valued_tagger without")] = None,
) -> None:
    """Tag documents and write them with their tag sets.

    Files of the first two layouts can be corrected and read again as training data, with format "tagsets" or "webanno".
    """
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        tagger = cast(GivesSets, nlp.get_pipe(find_tagger(nlp, pipe, GivesSets)))
        writers: dict[Layout, Callable[[Doc], Iterator[str]]] = {
            Layout.TSV: lambda doc: write_predicted_tsv(doc, tagger.cfg["tag_set"], tagger.tag_probs),
            Layout.WEBANNO: lambda doc: write_webanno(
                doc, tag_set=tagger.cfg["tag_set"], tag_probs=tagger.tag_probs, target=tagger.target
            ),
            Layout.HTML: lambda doc: render_page(doc, tagger.cfg["tag_set"], tagger.tag_probs),
        }
        output.mkdir(parents=True, exist_ok=True)
        suffix, count = "html" if layout is Layout.HTML else "tsv", 0
        docs = read_source(nlp, data, source, _names(columns), [])
        for doc, place in nlp.pipe(docs, as_tuples=True):
            lines = "".join(f"{line}\n" for line in writers[layout](doc))
            path = output / f"{data.stem}-{place.number:04d}.{suffix}"
            path.write_text(lines, encoding="utf8", newline="\n")
            count += 1
    except (ValueError, OSError) as error:
        msg.fail("Nothing more was written", str(error), exits=1)
    msg.good(f"Wrote {count} documents to {output}")
