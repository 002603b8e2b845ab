"""`python -m spacy crf apply`: annotates many files in parts, on several processes, and goes on where it was stopped.

A part is written under another name and renamed when it is whole; then it gets a line in the manifest, which its writer
alone appends to. So what the manifest tells is done, whatever broke off behind it, and all else is made once more.
"""

import json
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from ..annotation.documents import read_doc_name
from ..core.errors import CRFError, excerpt
from ..corpora.annotated import WRITERS, Annotator, To
from ..corpora.errors import CorpusErrors
from ..corpora.files import OnError
from ..corpora.pieces import FilePiece, InputFault, cut_file, find_inputs, read_piece
from ..lab.errors import LabErrors
from ..reading.files import checksum_of_files, spell_path, write_whole
from ..reading.records import parse_json
from .data import CORPUS, FORMATS, Data, trained_settings
from .options import command, echo_data, load_pipeline, locate, tell_written
from .surface import is_quiet, tell_next, tell_warning

MANIFEST = "manifest.jsonl"
VERSION = 1
SHOWN_FAULTS = 10
KIB = 1 << 10


@dataclass(frozen=True)
class OutputPart:
    """What becomes one file of output.

    number (int): from 0. pieces (list): its input. model (str), checksum (str): the pipeline and that of its files. to
        (str): its format.
    """

    number: int
    pieces: list[FilePiece]
    model: str
    checksum: str
    to: To

    @property
    def file(self) -> str:
        return f"part-{self.number:05d}.{self.to}"

    def digest(self) -> str:
        """Checksum of the input."""
        return blake2b(b"".join(piece.digest() for piece in self.pieces), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Done:
    """What is told of a part that is done. input (str): checksum. faults (list): of what gave no document."""

    part: int
    file: str
    input: str
    documents: int
    tokens: int
    faults: list[dict[str, Any]]


@command("apply", "Not everything was annotated", "training/model-best letters annotated --to parquet --processes 2")
def apply(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT...", help="Files and folders, gzip or plain")],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the parts and their manifest")],
    to: Annotated[To, typer.Option("--to", help="Format of the parts")] = "jsonl",
    format: Annotated[
        str | None, typer.Option(help=f"Format of INPUT, one of {', '.join(FORMATS)}; otherwise told by file")
    ] = None,
    processes: Annotated[int, typer.Option(min=1, max=1024, help="Processes of this machine that annotate")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, whose workers annotate instead")
    ] = None,
    part_size: Annotated[
        int, typer.Option("--part-size", min=1, help="KiB of input that make a part, 256 of a file at least")
    ] = 1024,
    on_error: Annotated[
        OnError, typer.Option("--on-error", help="Leave out what fails and list it, or end there with an error")
    ] = "skip",
    as_json: Annotated[bool, typer.Option("--json", help="Tell what was done as JSON")] = False,
) -> None:
    """Annotate files of any number and length, in parts.

    Text has a document on each line; JSON lines have "text" or "words", or both where the words are the tokens of the
    text, and perhaps "name"; all else is read as in training, without its gold. Names are kept. The same command goes
    on where one was stopped, by whatever, and gives the same files. Documents that cannot be read or annotated are left
    out, and listed at the end and in the manifest.
    """
    source = locate(model)
    nlp = load_pipeline(source)
    WRITERS[to]()  # tells what is not installed
    checksum = checksum_of_files(nlp.path)
    settings = {"version": VERSION, "model": checksum, "to": to, "format": format, "part_size": part_size}
    if format not in (None, *FORMATS):
        raise CRFError(CorpusErrors.CRF523.format(format=format, known=", ".join(FORMATS)))
    if isinstance(source, Path):
        model = str(source.absolute())  # workers of a cluster may run in another folder
    files = [
        (file if scheduler is None else file.absolute(), name) for file, name in find_inputs(inputs, format, output)
    ]
    manifest = Manifest.open(output, {**settings, "inputs": list(map(spell_path, inputs))})
    output_of_all = model, checksum, to
    parts = manifest.unfinished(make_parts(files, format, part_size * KIB, output_of_all, reads_sentences(nlp)))
    with tqdm(unit=" tokens", unit_scale=True, disable=is_quiet() or None) as progress:
        for done, content in annotate_parts(parts, processes, scheduler):
            if done.faults and on_error == "raise":
                raise CRFError(LabErrors.CRF686.format(**done.faults[0]))
            manifest.add(done, content)
            progress.update(done.tokens)
    report(manifest, as_json)


def report(manifest: "Manifest", as_json: bool) -> None:
    """Tell what was done, what was left out, and what to do about it."""
    faults = [fault for done in manifest.done for fault in done.faults]
    counts = {name: sum(getattr(done, name) for done in manifest.done) for name in ("documents", "tokens")}
    if as_json:
        echo_data({"output": str(manifest.folder), "parts": len(manifest.done), **counts, "faults": faults})
        return
    told = f"{counts['documents']:,} documents, {counts['tokens']:,} tokens in {len(manifest.done):,} parts"
    tell_written(manifest.folder, told)
    if faults:
        tell_warning(f"{len(faults):,} inputs were left out; {manifest.path} lists all of them")
        for fault in faults[:SHOWN_FAULTS]:
            where = "" if fault["path"] in fault["problem"] else f"{fault['path']}: "
            typer.echo(f"{where}{fault['problem']}", err=True)
        tell_next("correct them, and apply the pipeline to these files with another OUTPUT.")


# -- parts -------------------------------------------------------------------------------------------------------


def reads_sentences(nlp: Language) -> bool:
    """Whether sentences of a file without documents are read apart, as in training, whatever the others have."""
    own = trained_settings(nlp, CORPUS)
    is_joined = own.get("text") is not None and own["text"].join_segments
    return own.get("group", "auto") in ("auto", "sentence") and not is_joined and "ner" not in (own.get("input") or ())


def make_parts(
    files: Iterable[tuple[Path, str]],
    format: str | None,
    size: int,
    output: tuple[str, str, To],
    by_sentence: bool,
) -> Iterator[OutputPart]:
    """Put the pieces of files together to parts of so many bytes; the same ones each time.

    output (tuple): the fields `model`, `checksum` and `to` of all parts. by_sentence (bool): see `cut_file`.
    """
    pieces, n_bytes, numbers, names = list[FilePiece](), 0, count(), set[bytes]()
    for path, name in files:
        for piece in cut_file(path, name, format, names, by_sentence):
            pieces.append(piece)
            n_bytes += piece.size
            if n_bytes >= size:
                yield OutputPart(next(numbers), pieces, *output)
                pieces, n_bytes = [], 0
    if pieces:
        yield OutputPart(next(numbers), pieces, *output)


@lru_cache(maxsize=1)
def load_annotator(model: str, checksum: str) -> Annotator:
    """Load a pipeline once for each process, which may live longer than the files of the pipeline.

    RAISES (ValueError): if these have another checksum, so that parts would be the work of two pipelines.
    """
    nlp = spacy.load(model)
    if checksum_of_files(nlp.path) != checksum:
        raise CRFError(LabErrors.CRF699.format(path=model))
    return Annotator(nlp)


def annotate_part(part: OutputPart) -> tuple[Done, bytes]:
    """Annotate a part, and return the content of its file."""
    annotator, writer = load_annotator(part.model, part.checksum), WRITERS[part.to]()
    nlp, docs, faults, places, n_tokens = annotator.nlp, list[Doc](), list[InputFault](), dict[int, str](), 0

    def read(path: Path, format: str | None) -> Iterator[Doc]:
        return (doc for doc, _ in Data(path, format).raw(nlp))

    with nlp.memory_zone():
        for piece in part.pieces:
            for found in read_piece(piece, nlp, read):
                if isinstance(found, InputFault):
                    faults.append(found)
                else:
                    docs.append(found)
                    places[id(found)] = spell_path(piece.path)
        annotated, failed = annotator.annotate(docs)
        for doc in annotated:
            try:
                writer.add(doc)
                n_tokens += len(doc)
            except (ValueError, TypeError) as error:
                failed.append((doc, str(error)))
        for doc, problem in failed:
            named = f"{read_doc_name(doc)}: {excerpt(doc.text)}: {problem}"
            faults.append(InputFault(places.get(id(doc), ""), 0, named))
        content = writer.to_bytes()
    told = sorted(map(asdict, faults), key=str)
    return Done(part.number, part.file, part.digest(), writer.n_docs, n_tokens, told), content


# -- processes ---------------------------------------------------------------------------------------------------


def annotate_parts(parts: Iterable[OutputPart], processes: int, scheduler: str | None) -> Iterator[tuple[Done, bytes]]:
    """Yield what becomes of parts, in their order; no more of them are read than workers need."""
    if scheduler is not None:
        from ..learning.distributed import connect

        with connect(scheduler) as client:
            from distributed import KilledWorker

            n_workers = max(1, sum(client.nthreads().values()))
            try:
                yield from _in_order(parts, lambda part: client.submit(annotate_part, part, pure=False), 2 * n_workers)
            except KilledWorker as error:
                raise CRFError(LabErrors.CRF687) from error
    elif processes == 1:
        yield from map(annotate_part, parts)
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, context, _follow_parent) as pool:
            try:
                yield from _in_order(parts, lambda part: pool.submit(annotate_part, part), 2 * processes)
            except BrokenProcessPool as error:
                raise CRFError(LabErrors.CRF687) from error
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def _in_order(
    parts: Iterable[OutputPart], submit: Callable[[OutputPart], Any], most: int
) -> Iterator[tuple[Done, bytes]]:
    waiting: deque[Any] = deque()
    for part in parts:
        waiting.append(submit(part))
        if len(waiting) >= most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _follow_parent() -> None:
    """Leave interrupts of the terminal to the parent, and end where it is killed."""
    if hasattr(os, "setsid"):
        os.setsid()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


# -- the manifest ------------------------------------------------------------------------------------------------


@dataclass
class Manifest:
    """What is done of an output: a line of settings, and one for each part, in their order."""

    folder: Path
    done: list[Done]

    @property
    def path(self) -> Path:
        return self.folder / MANIFEST

    @classmethod
    def open(cls, folder: Path, settings: dict[str, Any]) -> "Manifest":
        """Go on with the output in a folder, or begin. RAISES (ValueError): for an output with other settings."""
        folder.mkdir(parents=True, exist_ok=True)
        manifest = cls(folder, [])
        lines = manifest.path.read_bytes().split(b"\n")[:-1] if manifest.path.exists() else []
        known = parse_json(lines[0], str(manifest.path)) if lines else settings
        if other := sorted(
            name for name in settings if not isinstance(known, dict) or known.get(name) != settings[name]
        ):
            raise CRFError(LabErrors.CRF684.format(folder=folder, other=", ".join(other)))
        for line in lines[1:]:  # what comes behind the last newline was broken off
            done = Done(**parse_json(line, str(manifest.path)))
            if done.part != len(manifest.done):
                continue  # by another run at the same time, which makes the same parts
            if not (folder / done.file).exists():
                break
            manifest.done.append(done)
        kept = [settings, *map(asdict, manifest.done)]
        write_whole(manifest.path, b"".join(_line(entry) for entry in kept))
        return manifest

    def unfinished(self, parts: Iterable[OutputPart]) -> Iterator[OutputPart]:
        """The parts that are to do. RAISES (ValueError): where the input of others has changed since."""
        known, n_parts = list(self.done), 0
        for part in parts:
            if part.number >= len(known):
                yield part
            elif part.digest() != known[part.number].input:
                raise CRFError(LabErrors.CRF685.format(file=part.file, folder=self.folder))
            n_parts = part.number + 1
        if n_parts < len(known):
            raise CRFError(LabErrors.CRF685.format(file=known[n_parts].file, folder=self.folder))

    def add(self, done: Done, content: bytes) -> None:
        """Write a part, and then that it is done."""
        write_whole(self.folder / done.file, content)
        with self.path.open("ab") as file:
            file.write(_line(asdict(done)))
        self.done.append(done)


def _line(entry: Any) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode("utf8") + b"\n"
