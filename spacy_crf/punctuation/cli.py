"""`python -m spacy crf punctuate`: bare text in, text with punctuation out; and the marks' part of `crf calibrate`."""

import codecs
import gc
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain, product
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import typer
from spacy.language import Language
from spacy.training import Example
from spacy.util import minibatch
from tqdm import tqdm

from ..cli.options import Loaded, Pipe, bin_rows, command, table, told_errors
from ..core.errors import CRFError
from ..reading.files import open_binary
from .calibration import FittedMarks, MarkCalibration, Marked, best_thresholds, calibrate_marks, precise_thresholds
from .component import PunctuationRestorer
from .errors import PunctuationErrors
from .passages import is_subtitles, spoken_words
from .stream import RestorationStream, chunks_of, components_before

PIECE = 1 << 16  # bytes that are read at a time
OPENING_LINES = 3  # of subtitles, which have the number of a cue and its times before any word
BLOCK = 2000  # words that are decoded at a time
LONG_FILE = 1 << 22  # bytes of a file from which on progress is shown
MARK = "\ufeff"  # byte order mark
ESCAPE = "surrogateescape"  # bytes that are no UTF-8 go out as they came in
THRESHOLDS = tuple(tenth / 10 for tenth in range(1, 10))
RESTORER = Pipe("punctuation_restorer", (PunctuationRestorer,), first="the first of its kind")


@command("punctuate", "Nothing was punctuated", to_stderr=True)
def punctuate(
    loaded: Annotated[Loaded, RESTORER],
    data: Annotated[Path, typer.Argument(metavar="FILE|-", help="Text, gzipped or not; - for standard input")],
    unit: Annotated[
        Literal["document", "line"], typer.Option(help="What is one text: the whole input, or each line")
    ] = "document",
    lag: Annotated[int, typer.Option(help="Words that are looked ahead, at least")] = 30,
    keep: Annotated[bool, typer.Option("--keep", help="Leave marks and capitals that are there")] = False,
) -> None:
    """Restore punctuation, and case if the model does, in a text of any length.

    White space and words stay as they are, bytes that are no UTF-8 too. Memory does not grow with the text. Of
    subtitles (SRT, WebVTT), what is spoken is one text; times, mark-up and sounds stay.
    """
    gc.freeze()  # the model is there to stay: looking through it for garbage takes a third of the time
    stream = RestorationStream(loaded.component, lag, BLOCK, components_before(loaded.nlp, loaded.name))
    is_piped = str(data) == "-"
    source = typer.get_binary_stream("stdin") if is_piped else open_binary(data)
    loaded.component.cfg["probabilities"] = False
    if keep:
        loaded.component.cfg["existing"] = "keep"
    out, size = typer.get_binary_stream("stdout"), 0 if is_piped else data.stat().st_size
    with (
        told_errors("The text was not punctuated to its end", to_stderr=True),
        nullcontext(source) if is_piped else source,
    ):
        pieces = read_pieces(source, size)
        opening = read_opening(pieces)
        if opening.startswith(MARK):  # no part of the first word
            out.write(MARK.encode())
            opening = opening.removeprefix(MARK)
        are_spoken = is_subtitles(opening)
        if are_spoken and unit == "line":
            raise CRFError(PunctuationErrors.CRF993)
        restore = restore_subtitles if are_spoken else restore_lines if unit == "line" else restore_text
        for text in restore(loaded.nlp, stream, chain([opening], pieces)):
            out.write(text.encode("utf8", ESCAPE))
            out.flush()


def read_pieces(source: BinaryIO, size: int) -> Iterator[str]:
    """Text of a file piece by piece. Bytes that are no UTF-8 become surrogates, which are written as these bytes again.

    size (int): Bytes of the file, 0 if that is not known; progress is shown for a long one.
    """
    decoder = codecs.getincrementaldecoder("utf8")(ESCAPE)
    with tqdm(total=size, unit="B", unit_scale=True, disable=None if size >= LONG_FILE else True) as progress:
        while piece := source.read1(PIECE) if hasattr(source, "read1") else source.read(PIECE):
            progress.update(min(len(piece), progress.total - progress.n) if size else 0)
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)


def read_opening(pieces: Iterator[str]) -> str:
    """The first pieces, up to where it shows whether they are subtitles: a pipe may hand over a line at a time."""
    opening = next(pieces)
    while opening.lstrip().count("\n") < OPENING_LINES and (piece := next(pieces, None)) is not None:
        opening += piece
        if len(opening) > PIECE:
            break
    return opening


def restore_text(nlp: Language, stream: RestorationStream, pieces: Iterable[str]) -> Iterator[str]:
    """One text, restored in pieces. What the vocabulary learns from a piece is forgotten with it."""
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
    for line in lines_of(pieces):
        text = line.removesuffix("\n")
        yield "".join([*restore_text(nlp, stream, [text]), line[len(text) :]])


def restore_subtitles(nlp: Language, stream: RestorationStream, pieces: Iterable[str]) -> Iterator[str]:
    """What is spoken in subtitles as one text, restored between all else that is in them. See `restore_text`."""
    before: deque[str] = deque()
    for words in minibatch(spoken_words(lines_of(pieces)), BLOCK):
        before.extend(held for held, _ in words)
        with nlp.memory_zone():
            restored = [word.restored for word in stream.push(f" {word}" for _, word in words if word)]
        yield "".join(before.popleft() + word.removeprefix(" ") for word in restored)
    with nlp.memory_zone():
        restored = [word.restored for word in stream.close()]
    yield "".join([*(before.popleft() + word.removeprefix(" ") for word in restored), *before])


def lines_of(pieces: Iterable[str]) -> Iterator[str]:
    """Lines of a text in pieces of any length, with their ends."""
    held: list[str] = []
    for piece in pieces:
        *lines, rest = piece.split("\n")
        for line in lines:
            yield "".join([*held, line, "\n"])
            held = []
        held.append(rest)
    if any(held):
        yield "".join(held)


# -- calibration -------------------------------------------------------------------------------------------------


def fit_marks(
    restorer: PunctuationRestorer, examples: Iterable[Example], bins: int, precision: float | None, best_f: bool
) -> tuple[list[str], dict[str, Any], MarkCalibration]:
    """Fit the map of the probabilities of marks, and on request thresholds with a precision or the best F.

    RETURNS (list[str], dict[str, Any], MarkCalibration): A report, settings for the config, and the map.
    """
    if precision and best_f:
        raise CRFError(PunctuationErrors.CRF989.format(options="--precision and --best-f"))
    fitted = calibrate_marks(restorer, examples)
    thresholds = best_thresholds(fitted.after) if best_f else {}
    if precision:
        thresholds = precise_thresholds(fitted.after, precision)
    lines = [
        f"{format_marks(fitted, bins)}\n{format_thresholds(fitted.after)}",
        *(f"threshold of {mark} {value:.4g}" for mark, value in thresholds.items()),
        f"expected calibration error {fitted.before.error:.4f} -> {fitted.after.error:.4f}",
    ]
    return lines, {"thresholds": thresholds} if thresholds else {}, fitted.calibration


def format_marks(fitted: FittedMarks, n_bins: int) -> str:
    """How probable marks were held to be, and how often they were there, before and after: a table of bins."""
    header = ("mark", "probability", "words", "mean", "there", "words after", "mean", "there")
    rows = []
    for mark in fitted.before.told:
        before, after = (side.reliability(mark, n_bins) for side in (fitted.before, fitted.after))
        filled = (before.counts + after.counts) > 0
        rows += [[mark, *cells] for cells, is_filled in zip(bin_rows(before, after), filled) if is_filled]
    return table(rows, header, "llr")


def format_thresholds(words: Marked) -> str:
    """Precision and recall of marks by their thresholds: what the probabilities promise, and what gold says."""
    header = ("mark", "threshold", "precision", "found", "recall", "found")
    rows = []
    for mark, threshold in product(words.told, THRESHOLDS):
        expected, found = words.scores(mark, threshold)
        values = (expected.precision, found.precision, expected.recall, found.recall)
        if expected.recall:
            rows.append([mark, f"{threshold:.1f}", *(f"{value:.3f}" for value in values)])
    return table(rows, header, "lr")
