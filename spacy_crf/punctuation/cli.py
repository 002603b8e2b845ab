"""`python -m spacy crf punctuate`: bare text in, text with punctuation out; and the marks' part of `crf calibrate`."""

import codecs
import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from itertools import chain, islice, product
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import spacy
import typer
from spacy.language import Language
from spacy.training import Example
from spacy.util import minibatch
from tqdm import tqdm

from ..cli.options import Loaded, Pipe, bin_rows, command, make_folders, table, tell_written, told_errors
from ..cli.surface import is_quiet
from ..core.errors import CRFError
from ..reading.errors import ReadingErrors
from ..reading.files import open_binary, open_written, write_whole
from .calibration import FittedMarks, MarkCalibration, Marked, best_thresholds, calibrate_marks, precise_thresholds
from .component import PunctuationRestorer
from .errors import PunctuationErrors
from .passages import Habits
from .reader import PunctuationCorpus, TextUnit
from .stream import RestorationStream, StreamedWord, chunks_of, components_before
from .subtitles import MOST_REPEATED, OPENING_LINES, Heard, Spoken, lines_of, respell, spoken_words
from .transcripts import TranscriptFormat, looks_like, read_transcript

PIECE = 1 << 16  # bytes that are read at a time
BLOCK = 2000  # words that are decoded at a time
LONG_FILE = 1 << 22  # bytes of a file from which on progress is shown
MARK = "\ufeff"  # byte order mark
ESCAPE = "surrogateescape"  # bytes that are no UTF-8 go out as they came in
UTF16 = tuple(mark.decode("utf8", ESCAPE) for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
THRESHOLDS = tuple(tenth / 10 for tenth in range(1, 10))
Restore = Callable[[Language, RestorationStream, Iterable[str]], Iterator[str]]
RESTORER = Pipe("punctuation_restorer", (PunctuationRestorer,), first="the first of its kind")


@command("punctuate", "Nothing was punctuated", "training/model-best talk.vtt --output marked.vtt", to_stderr=True)
def punctuate(
    loaded: Annotated[Loaded, RESTORER],
    data: Annotated[Path, typer.Argument(metavar="FILE|-", help="Text, gzipped or not; - for standard input")],
    unit: Annotated[
        Literal["document", "line"], typer.Option(help="What is one text: the whole input, or each line")
    ] = "document",
    format: Annotated[
        TranscriptFormat | None, typer.Option(help="What the input is, where its first lines must not tell")
    ] = None,
    lag: Annotated[int, typer.Option(help="Words that are looked ahead, at least")] = 30,
    keep: Annotated[bool, typer.Option("--keep", help="Leave marks and capitals that are there")] = False,
    output: Annotated[Path | None, typer.Option(help="File for the text; standard output without")] = None,
) -> None:
    """Restore punctuation, and case if the model does, in a text of any length.

    White space and words stay as they are, bytes that are no UTF-8 too. Memory does not grow with the text. Of
    subtitles (SRT, WebVTT, SBV), what is spoken is one text; times, mark-up and sounds stay. So does all but the texts
    in transcripts (Whisper's JSON and what is like it, CTM), which are read whole.
    """
    gc.freeze()  # the model is there to stay: looking through it for garbage takes a third of the time
    stream = RestorationStream(loaded.component, lag, BLOCK, components_before(loaded.nlp, loaded.name))
    is_piped = str(data) == "-"
    source = typer.get_binary_stream("stdin") if is_piped else open_binary(data)
    loaded.component.cfg["probabilities"] = False
    if keep:
        loaded.component.cfg["existing"] = "keep"
    size = 0 if is_piped else data.stat().st_size
    make_folders(output)
    with (
        told_errors("The text was not punctuated to its end", to_stderr=True),
        nullcontext(source) if is_piped else source,
    ):
        pieces = read_pieces(source, size)
        opening = read_opening(pieces)
        if opening.startswith(UTF16):  # marks of one byte would break it
            raise CRFError(ReadingErrors.CRF504.format(path=data, line=1, reason="UTF-16"))
        found = format or looks_like(opening, str(data))
        if found != "text" and unit == "line":
            raise CRFError(PunctuationErrors.CRF993.format(format=found))
        restore: Restore | None = {"text": restore_text, "subtitles": restore_subtitles}.get(found)
        if unit == "line":
            restore = restore_lines
        elif restore is None:
            restore = partial(restore_transcript, format=found, where=str(data))
        restored = restore(loaded.nlp, stream, chain([opening.removeprefix(MARK)], pieces))
        first = list(islice(restored, 1))  # a file that is refused leaves the output as it is
        # what comes through a pipe may be live, and cannot be read again
        written = nullcontext(typer.get_binary_stream("stdout")) if output is None else open_written(output, is_piped)
        with written as out:
            if opening.startswith(MARK):  # no part of the first word
                out.write(MARK.encode())
            for text in chain(first, restored):
                out.write(text.encode("utf8", ESCAPE))
                out.flush()
    tell_written(output)


def read_pieces(source: BinaryIO, size: int) -> Iterator[str]:
    """Text of a file piece by piece. Bytes that are no UTF-8 become surrogates, which are written as these bytes again.

    size (int): Bytes of the file, 0 if that is not known; progress is shown for a long one.
    """
    decoder = codecs.getincrementaldecoder("utf8")(ESCAPE)
    is_hidden = is_quiet() or size < LONG_FILE or None  # None: shown where it is a terminal
    with tqdm(total=size, unit="B", unit_scale=True, disable=is_hidden) as progress:
        while piece := source.read1(PIECE) if hasattr(source, "read1") else source.read(PIECE):
            progress.update(min(len(piece), progress.total - progress.n) if size else 0)
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)


def read_opening(pieces: Iterator[str]) -> str:
    """The first pieces, up to where it shows what they are: a pipe may hand over a line at a time."""
    opening, size, lines = list[str](), 0, 0
    while lines < OPENING_LINES and size < PIECE and (piece := next(pieces, None)) is not None:
        opening.append(piece)
        size, lines = size + len(piece), lines + piece.count("\n")
    return "".join(opening)


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
        text = line.rstrip("\r\n")
        yield "".join([*restore_text(nlp, stream, [text]), line[len(text) :]])


def restore_subtitles(nlp: Language, stream: RestorationStream, pieces: Iterable[str]) -> Iterator[str]:
    """What is spoken in subtitles as one text, restored between all else that is in them. See `restore_text`."""
    waiting: deque[Spoken] = deque()
    written: deque[str] = deque(maxlen=MOST_REPEATED)

    def write(restored: Iterable[StreamedWord]) -> Iterator[str]:
        """Write words that have gone out, each behind what stands before it, and what is shown once more the same."""
        texts = (word.restored.removeprefix(" ") for word in restored)
        while waiting and (text := written[-waiting[0].again] if waiting[0].again else next(texts, None)) is not None:
            written.append(text)
            spoken = waiting.popleft()
            yield spoken.before + respell(spoken.raw, text)

    for words in minibatch(spoken_words(lines_of(pieces)), BLOCK):
        waiting.extend(words)
        with nlp.memory_zone():
            restored = list(stream.push(spaced_words(word.heard for word in words if word.is_spoken)))
        yield "".join(write(restored))
    with nlp.memory_zone():
        restored = list(stream.close())
    yield "".join([*write(restored), waiting.popleft().before])


def restore_transcript(
    nlp: Language, stream: RestorationStream, pieces: Iterable[str], format: TranscriptFormat, where: str
) -> Iterator[str]:
    """The texts of a transcript, in the file that they stand in."""

    def restore(words: Iterable[Heard]) -> str:
        with nlp.memory_zone():
            restored = [word.restored for word in (*stream.push(spaced_words(words)), *stream.close())]
        return "".join(restored).removeprefix(" ")

    yield read_transcript("".join(pieces), format, where).restored(restore)


def spaced_words(words: Iterable[Heard]) -> Iterator[Heard]:
    """Yield words with a space before each."""
    return (word._replace(text=f" {word.text}") for word in words)


@command("casing", "No lexicon was made", "raw.txt.gz --output cases.tsv --marks marks.tsv")
def casing(
    raw: Annotated[
        Path, typer.Argument(metavar="RAW", help="Punctuated text in any format that is read; a folder of such")
    ],
    output: Annotated[Path, typer.Option(help="File for the usual cases, for `lists` of a config's features")],
    marks: Annotated[
        Path | None, typer.Option(help="File for how often marks stand beside words, for the same")
    ] = None,
    unit: Annotated[TextUnit, typer.Option(help="What is one text, in plain text")] = "line",
    lang: Annotated[str, typer.Option(help="Language, for its abbreviations")] = "en",
    min_count: Annotated[int, typer.Option(min=1, help="Rarer words are left out")] = 3,
) -> None:
    """Learn from raw text how its words are cased and marked: a lexicon for `punctuation_restorer`.

    Each list has a line `word<TAB>value` for each word. The templates @listed_cases ask for a list of the name "cases",
    @listed_marks for "marks": --components.punctuation_restorer.features.lists '{"cases": "FILE"}'.
    """
    make_folders(output, marks)
    corpus = PunctuationCorpus(raw, unit=unit, language=lang)
    habits = Habits(corpus.passages(spacy.blank(lang).vocab))
    for path, found in ((output, habits.cases(min_count)), (marks, habits.marks(min_count))):
        if path is not None:
            held = [word for word in found if not word.startswith("#")]  # which begins a comment
            write_whole(path, "".join(f"{word}\t{found[word]}\n" for word in held))
            typer.echo(f"{len(held):,} words")
            tell_written(path)


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
