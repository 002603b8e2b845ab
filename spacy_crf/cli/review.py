"""`python -m spacy crf review`: what a tagger is least certain of, to be corrected and trained on."""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, cast

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg

from ..corpora.files import data_suffix, read_lines
from ..corpora.formats import pick_format
from ..corpora.reader import Corpus
from ..tagging.component import CRFTagger
from ..tagging.review.rank import Place, least_certain
from ..tagging.review.write import target_kind, write_json, write_rows
from .app import app
from .score import _names
from .tag import find_tagger

TEXT_SUFFIXES = (".txt", ".text", ".md", "")


class Measure(StrEnum):
    """Choices of `--order`."""

    LEAST_CONFIDENCE = "least-confidence"
    MARGIN = "margin"
    ENTROPY = "entropy"
    TOKEN_ENTROPY = "token-entropy"


class Layout(StrEnum):
    """Choices of `--format`."""

    TSV = "tsv"
    JSONL = "jsonl"


WRITERS = {Layout.TSV: write_rows, Layout.JSONL: write_json}


@app.command("review")
def review_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    data: Annotated[
        Path, typer.Argument(metavar="FILE", help="Raw text, a text on each line, or any format that training reads")
    ],
    component: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many sequences to list; all without")] = None,
    n_best: Annotated[int, typer.Option("--n-best", min=1, help="How many labellings of each sequence to list")] = 3,
    order: Annotated[Measure, typer.Option(help="Measure of certainty")] = Measure.LEAST_CONFIDENCE,
    per_token: Annotated[
        bool, typer.Option("--per-token", help="Take the length of sequences out of the measure")
    ] = False,
    format: Annotated[Layout, typer.Option(help="Layout of the list")] = Layout.TSV,
    output: Annotated[Path | None, typer.Option(help="File for the list; standard output without")] = None,
    prefill: Annotated[bool, typer.Option("--prefill", help="Put the tagger's own tags into the gold column")] = False,
    source: Annotated[
        str | None, typer.Option(help="Format of FILE: text, or one of training; otherwise picked by file")
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
    input: Annotated[str | None, typer.Option(help="Columns that are input, not gold, e.g. tag")] = None,
) -> None:
    """List the sequences that a tagger is least certain of, with its best labellings and their probabilities.

    Whoever knows better fills in the column "gold", in full or in part. The file is then read like any other corpus: a
    token with a gold tag is trained on, one without is unknown and summed over.
    """
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        name = find_tagger(nlp, component)
        tagger, inputs = cast(CRFTagger, nlp.get_pipe(name)), _names(input)
        docs = before(nlp, name, read_source(nlp, data, source, _names(columns), inputs))
        found = least_certain(tagger, docs, order.value, per_token, limit, n_best)
        kind = target_kind(tagger)
        inputs = [name for name in inputs if name != kind]
        lines = WRITERS[format](found, kind, order.value, inputs, prefill)
        _write(lines, output)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was listed", str(error), exits=1)
    if output is not None:
        msg.good(f"Wrote {len(found)} sequences to {output}")


def read_source(
    nlp: Language, path: Path, format: str | None, columns: list[str], inputs: list[str]
) -> Iterator[tuple[Doc, Place]]:
    """Docs of a file of raw text or of a corpus, without gold.

    format (str | None): "text", one that `Corpus` knows, or None to have it picked.
    columns (list[str]), inputs (list[str]): settings of `Corpus`.
    YIELDS (tuple[Doc, Place]): a Doc, and where it is from.
    """
    if format == "text" or (format is None and not columns and is_text(path)):
        for number, line in enumerate(read_lines(path), 1):
            if line and not line.isspace():
                yield nlp.make_doc(line), Place("line", number)
        return
    corpus = Corpus(path, format=format, columns=columns or None, input=inputs)  # type: ignore[arg-type]
    for number, example in enumerate(corpus(nlp), 1):
        yield example.predicted, Place("document", number)


def is_text(path: Path) -> bool:
    """Whether a file is raw text, as far as name and first line tell; column files called .txt are taken for it."""
    return path.is_file() and data_suffix(path) in TEXT_SUFFIXES and pick_format(path) == "columns"


def before(nlp: Language, name: str, docs: Iterable[tuple[Doc, Place]]) -> Iterator[tuple[Doc, Place]]:
    """Docs as a component of the pipeline sees them.

    nlp (Language): the pipeline. name (str): of the component. docs (Iterable[tuple[Doc, Place]]): what it starts from.
    """
    with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(name)]):
        yield from nlp.pipe(docs, as_tuples=True)


def _write(lines: Iterable[str], output: Path | None) -> None:
    if output is None:
        for line in lines:
            typer.echo(line)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(f"{line}\n" for line in lines), encoding="utf8", newline="\n")
