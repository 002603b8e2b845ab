"""`python -m spacy crf punctuate`: bare text in, text with punctuation and case out."""

import codecs
import gc
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import spacy
import typer
from spacy.language import Language
from spacy.util import minibatch
from tqdm import tqdm
from wasabi import Printer

from ..corpora.files import open_binary, unpacking
from ..punctuation.component import PunctuationRestorer
from ..punctuation.stream import RestorationStream, chunks_of, components_before
from .app import app
from .tag import find_tagger

PIECE = 1 << 16  # bytes that are read at a time
BLOCK = 2000  # words that are decoded at a time
LONG_FILE = 1 << 22  # bytes of a file from which on progress is shown
ESCAPE = "surrogateescape"  # bytes that are no UTF-8 go out as they came in


class Unit(StrEnum):
    """Choices of `--unit`."""

    DOCUMENT = "document"
    LINE = "line"


@app.command("punctuate")
def punctuate_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    data: Annotated[Path, typer.Argument(metavar="FILE|-", help="Text, gzipped or not; - for standard input")],
    unit: Annotated[Unit, typer.Option(help="What is one text: the whole input, or each line")] = Unit.DOCUMENT,
    lag: Annotated[int, typer.Option(help="Words that are looked ahead, at least")] = 30,
    keep: Annotated[bool, typer.Option("--keep", help="Leave marks and capitals that are there")] = False,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first of its kind without")] = None,
) -> None:
    """Restore punctuation, and case if the model does, in a text of any length.

    White space and words stay as they are, bytes that are no UTF-8 too. Memory does not grow with the text.
    """
    try:
        nlp = spacy.load(Path(model) if Path(model).exists() else model)
        gc.freeze()  # the model is there to stay: looking through it for garbage takes a third of the time
        name = find_tagger(nlp, pipe, PunctuationRestorer)
        restorer = cast(PunctuationRestorer, nlp.get_pipe(name))
        stream = RestorationStream(restorer, lag, BLOCK, components_before(nlp, name))
        source = typer.get_binary_stream("stdin") if str(data) == "-" else open_binary(data)
    except (ValueError, OSError) as error:
        raise _failure("Nothing was punctuated", error) from error
    restorer.cfg["probabilities"] = False
    if keep:
        restorer.cfg["existing"] = "keep"
    restore = restore_lines if unit is Unit.LINE else restore_text
    out = typer.get_binary_stream("stdout")
    try:
        with nullcontext(source) if str(data) == "-" else source, unpacking(data):
            for text in restore(nlp, stream, read_pieces(source, 0 if str(data) == "-" else data.stat().st_size)):
                out.write(text.encode("utf8", ESCAPE))
                out.flush()
    except ValueError as error:
        raise _failure("The text was not punctuated to its end", error) from error


def _failure(title: str, error: Exception) -> typer.Exit:
    """What ends the command, once the error stream, where no text goes, has been told of an error."""
    typer.echo(Printer(no_print=True).fail(title, str(error)), err=True)
    return typer.Exit(1)


def read_pieces(source: BinaryIO, size: int) -> Iterator[str]:
    """Text of a file piece by piece. Bytes that are no UTF-8 become surrogates, which are written as these bytes again.

    source (BinaryIO): the bytes. size (int): of the file, 0 if that is not known; progress is shown for a long one.
    """
    decoder = codecs.getincrementaldecoder("utf8")(ESCAPE)
    with tqdm(total=size, unit="B", unit_scale=True, disable=None if size >= LONG_FILE else True) as progress:
        while piece := source.read1(PIECE) if hasattr(source, "read1") else source.read(PIECE):
            progress.update(min(len(piece), progress.total - progress.n) if size else 0)
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)


def restore_text(nlp: Language, stream: RestorationStream, pieces: Iterable[str]) -> Iterator[str]:
    """One text, restored in pieces. What the vocabulary learns from a piece is forgotten with it.

    nlp (Language): the pipeline. stream (RestorationStream): of its component. pieces (iterable of str): of the text.
    """
    end = ""
    for chunks in minibatch(chunks_of(pieces), BLOCK):
        if chunks[-1].isspace():
            end = chunks.pop()
        with nlp.memory_zone():
            restored = [word.restored for word in stream.push(chunks)]
        yield "".join(restored)
    with nlp.memory_zone():
        restored = [word.restored for word in stream.close()]
    yield "".join([*restored, end])


def restore_lines(nlp: Language, stream: RestorationStream, pieces: Iterable[str]) -> Iterator[str]:
    """Texts, each of them a line. See `restore_text`."""
    held: list[str] = []
    for piece in pieces:
        *lines, rest = piece.split("\n")
        for line in lines:
            yield "".join(restore_text(nlp, stream, ["".join([*held, line])])) + "\n"
            held = []
        held.append(rest)
    if any(held):
        yield from restore_text(nlp, stream, ["".join(held)])
