"""`python -m spacy crf cite` and `synthesise`: references to entries, and entries to references that train a model."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from wasabi import Printer

from ..cli.options import Loaded, Pipe, command, split_names, tell_written, write_result
from ..core.errors import CRFError
from ..pipe.probabilities import LabelsTokens
from ..reading.files import read_bytes
from .assemble import label_references, read_entries
from .bibtex import read_bibtex, write_bibtex
from .confidence import Confidence, find_confidences
from .csl import read_csl, to_item, write_csl
from .entry import Date, Entry, Name, Names
from .errors import BibliographyErrors
from .split import Reference, split_references
from .synthesis.gazetteer import list_known
from .synthesis.generator import Generator, write_xml

Writer = Callable[[Iterable[Entry]], str]
REFERENCES, KNOWN = "references.xml", "known.tsv"  # files of synthesise
COLUMNS = tuple(field.name for field in fields(Entry))  # of tables


MODEL = Pipe(
    "crf_tagger",
    (LabelsTokens,),
    "component",
    first="the last one that labels tokens",
    model="a pipeline for references",
    last=True,
)


@command("cite", "Nothing was written", to_stderr=True)
def cite_file(
    loaded: Annotated[Loaded, MODEL],
    data: Annotated[
        Path, typer.Argument(metavar="FILE|-", help="Bibliography as text, gzip or plain; - for standard input")
    ],
    to: Annotated[Literal["bibtex", "csl", "tsv"], typer.Option(help="Format of the result")] = "bibtex",
    output: Annotated[Path | None, typer.Option(help="File for the result; standard output without")] = None,
    unicode: Annotated[bool, typer.Option("--unicode", help="Leave accents in BibTeX as they are")] = False,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Name references of which the model is less sure, and set them apart")
    ] = 0,
) -> None:
    """Turn a pasted bibliography into BibTeX, CSL-JSON or a table.

    References are told apart by their numbers, indentation or blank lines. What has no field of its own goes to the
    note; a reference in which the model finds no field is named on standard error and left out.

    With --min-confidence, a reference counts as sure if all its labels together have at least that probability. Others
    are named on standard error, with their doubtful fields, and go to a file of their own beside --output: x.check.bib
    for x.bib.
    """
    references = split_references(read_text(data))
    if not references:
        raise CRFError(BibliographyErrors.CRF641.format(path=data))
    tagger = loaded.component
    docs = label_references(loaded.nlp, references)
    entries = read_entries(docs, tagger)
    known = [entry for entry in entries if entry is not None]
    if not known:
        labels = ", ".join(tagger.labels)
        raise CRFError(BibliographyErrors.CRF646.format(count=len(entries), model=loaded.source, labels=labels))
    for number, (reference, entry) in enumerate(zip(references, entries), 1):
        if entry is None:
            tell_missing(number, reference)
    in_bibtex = partial(write_bibtex, unicode=unicode)
    writers: dict[str, Writer] = {"bibtex": in_bibtex, "csl": write_csl, "tsv": write_table}
    doubtful = list(
        tell_doubtful(references, entries, find_confidences(tagger, docs), min_confidence) if min_confidence else ()
    )
    if output is not None and doubtful:
        apart = output.with_suffix(f".check{output.suffix}")
        write_result(writers[to](doubtful), apart)
        tell_written(apart, f"{len(doubtful)} references to check")
        known = [entry for entry in known if entry not in doubtful]
    write_result(writers[to](known), output)
    tell_written(output, f"{len(known)} references")


def read_text(path: Path) -> str:
    """Text of a file in UTF-8, gzipped or not, or of standard input for "-"."""
    data = typer.get_binary_stream("stdin").read() if str(path) == "-" else read_bytes(path)
    try:
        return data.decode("utf8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        message = BibliographyErrors.CRF640.format(path=path, value=data[error.start], position=error.start)
        raise CRFError(message) from error


def tell_missing(number: int, reference: Reference) -> None:
    """Name a reference that was left out on standard error."""
    first, last = reference.first_line, reference.last_line
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    text = BibliographyErrors.CRF645.format(number=number, lines=lines, text=reference.text[:60])
    typer.echo(Printer(no_print=True).warn(text), err=True)


def tell_doubtful(
    references: Sequence[Reference], entries: Sequence[Entry | None], found: Sequence[Confidence], least: float
) -> Iterator[Entry]:
    """Yield the entries of which the model is less sure, and name them and their doubtful fields on standard error."""
    for number, (reference, entry, confidence) in enumerate(zip(references, entries, found), 1):
        if entry is not None and confidence.reference < least:
            fields = ", ".join(f"{label} {share:.2f}" for label, share in confidence.below(least)) or "none alone"
            text = BibliographyErrors.CRF665.format(
                number=number, share=confidence.reference, fields=fields, text=reference.text[:60]
            )
            typer.echo(Printer(no_print=True).warn(text), err=True)
            yield entry


def write_table(entries: Iterable[Entry]) -> str:
    """TSV with a header: a row for each entry, a column for each field; names are joined by "; ", dates as in ISO."""
    rows = [COLUMNS, *([_cell(getattr(entry, name)) for name in COLUMNS] for entry in entries)]
    return "".join("\t".join(row) + "\n" for row in rows)


def _cell(value: object) -> str:
    if isinstance(value, Names):
        return "; ".join([*map(_print_name, value.names), *(["et al."] if value.others else [])])
    return value.iso + value.letter if isinstance(value, Date) else str(value or "")


def _print_name(name: Name) -> str:
    last = f"{name.particle} {name.family}".strip()
    return ", ".join(part for part in (last, name.suffix, name.given) if part)


@command("synthesise", "Nothing was synthesised")
def synthesise(
    kind: Annotated[Literal["references"], typer.Argument(metavar="references", help="What to make")],
    library: Annotated[
        Path | None,
        typer.Argument(metavar="[LIBRARY]", help="BibTeX (.bib) or CSL-JSON (.json); else invented entries"),
    ] = None,
    output: Annotated[Path, typer.Option(help=f"Folder for {REFERENCES} and {KNOWN}")] = Path("synthetic"),
    styles: Annotated[
        str | None, typer.Option(help="CSL styles to draw from, e.g. apa,ieee, or .csl files; else all there are")
    ] = None,
    locales: Annotated[
        str | None, typer.Option(help="Locales to draw from, e.g. en-GB,de-DE; else those of styles")
    ] = None,
    invent: Annotated[int, typer.Option(min=0, help="Invented entries")] = 0,
    copies: Annotated[int, typer.Option(min=1, help="Times that each entry of LIBRARY is printed")] = 1,
    noise: Annotated[
        float, typer.Option(min=0, max=1, help="How much is spoilt as in real lists, 0 for nothing")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="The same one makes the same references")] = 0,
) -> None:
    """Print entries as references whose fields are tagged, in CSL styles: data that train a model of references.

    Without --styles a style is drawn for each few entries, a common one for half of them. What is printed is spoilt as
    lists are: numbers, dashes, et al., broken lines, ligatures, OCR and lost spaces. Each entry of LIBRARY is printed,
    and so many invented ones as --invent says. Beside them is a word list of names, places, publishers and journals,
    for templates such as LIST(known). It asks for the extra spacy_crf[synthesise].
    """
    if library is None and not invent:
        raise CRFError(BibliographyErrors.CRF663)
    generator = Generator(split_names(styles), split_names(locales), noise, seed)
    items = [] if library is None else read_items(library)
    references = [*generator.print_library(items, copies), *generator.print_invented(invent)]
    if not references:
        raise CRFError(BibliographyErrors.CRF664.format(path=library))
    write_result("".join(write_xml(references)), output / REFERENCES)
    write_result("".join(list_known()), output / KNOWN)
    tell_written(output / REFERENCES, f"{len(references)} references")


def read_items(path: Path) -> Sequence[Mapping[str, Any]]:
    """Return the entries of a library as items of CSL-JSON, with all variables that they have."""
    text = read_text(path)
    if path.suffix.lower() == ".bib":
        return [to_item(entry) for entry in read_bibtex(text)]
    read_csl(text)  # which says what is wrong
    return list(json.loads(text))
