"""`python -m spacy crf cite` and `synthesise`: references to entries, and entries to references that train a model."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..cli.options import Loaded, Pipe, annotating, command, refuse_idle, split_names, tell_written, write_result
from ..cli.surface import refuse_overwriting, tell_warning
from ..core.errors import CRFError
from ..corpora.files import data_suffix
from ..pipe.probabilities import LabelsTokens
from ..reading.files import read_bytes
from ..sections.reader import READERS
from .assemble import label_references, read_entries
from .bibtex import read_bibtex, write_bibtex
from .comparison import Discrepancy, compare
from .csl import read_csl, read_items, to_item, write_csl
from .entry import Entry, print_value
from .errors import BibliographyErrors
from .lists import find_list, print_list
from .segments import CERTAIN, Confidence, find_confidences
from .split import Reference, split_references
from .synthesis.generator import Generator, list_known, write_xml

Writer = Callable[[Iterable[Entry]], str]
REFERENCES, KNOWN = "references.xml", "known.tsv"  # files of synthesise
DOCUMENTS = frozenset({*READERS, ".xml"})  # suffixes of files that are more than a list of references
COLUMNS = tuple(field.name for field in fields(Entry))  # of tables


MODEL = Pipe(
    "crf_tagger",
    (LabelsTokens,),
    first="the last one that labels tokens",
    model="a pipeline for references",
    last=True,
)


@command("cite", "Nothing was written", "training/model-best report.pdf --output library.bib", to_stderr=True)
def cite_file(
    loaded: Annotated[Loaded, MODEL],
    data: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|-",
            help="Bibliography as text, gzip or plain, - for standard input; or a document: PDF, DOCX, HTML, Markdown, "
            "LaTeX, XML or DoclingDocument JSON",
        ),
    ],
    to: Annotated[
        Literal["bibtex", "csl", "tsv", "json"] | None,
        typer.Option(help="Format of the result: bibtex, or tsv with --against, if none is given"),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="File for the result; standard output without")] = None,
    unicode: Annotated[bool, typer.Option("--unicode", help="Leave accents in BibTeX as they are")] = False,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Name references of which the model is less sure, and set them apart")
    ] = 0,
    against: Annotated[
        Path | None,
        typer.Option(help="BibTeX (.bib) or CSL-JSON (.json): write how references differ from its entries"),
    ] = None,
    given: Collection[str] = (),
) -> None:
    """Turn a pasted bibliography, or the references of a document, into BibTeX, CSL-JSON or a table.

    Of a document, the sections are read that are headed as references are. References are told apart by their numbers,
    indentation or blank lines. What has no field of its own goes to the note; a reference in which the model finds no
    field is named on standard error and left out. Identifiers that cannot be right (check digits of ISBN and ISSN,
    forms of DOI and arXiv) are named there, too; they stay as they are, and the field `invalid` says what is wrong.

    With --min-confidence, a reference counts as sure if all its labels together have at least that probability. Others
    are named on standard error, with their doubtful fields, and go to a file of their own beside --output: x.check.bib
    for x.bib, which is not written over. --to json gives the probabilities of all references and fields, beside the
    entry as an item of CSL-JSON.

    With --against, the result is a table (or JSON) of differences: a row for each field in which a reference and the
    entry of the same work differ, and for each work that is not in the library or not cited.
    """
    refuse_idle(given, ("unicode", against is None and to in (None, "bibtex"), "BibTeX"))
    if against is not None and to in ("bibtex", "csl"):
        raise CRFError(BibliographyErrors.CRF667.format(to=to))
    apart = None if output is None or not min_confidence else output.with_suffix(f".check{output.suffix}")
    refuse_overwriting({"data": data, "against": against, "output": apart})
    cited = read_cited(loaded, data, with_confidence=min_confidence > 0 or (to == "json" and against is None))
    for one in cited:
        one.warn(min_confidence)
    if against is not None:
        differences = compare({one.number: one.entry for one in cited}, read_library(against))
        write_result(write_differences(differences, to or "tsv"), output)
        tell_written(output, f"how {len(cited)} references differ from {against}")
        return
    doubtful = [one for one in cited if one.confidence.reference < min_confidence] if output is not None else []
    if apart is not None:
        write_to_check(write_cited(doubtful, to or "bibtex", unicode), apart, len(doubtful))
    kept = [one for one in cited if one not in doubtful]
    write_result(write_cited(kept, to or "bibtex", unicode), output)
    tell_written(output, f"{len(kept)} references")


def write_to_check(text: str, path: Path, n_references: int) -> None:
    """Write references that a person is to correct.

    RAISES (CRFError): if the file is there with other text, as somebody may have corrected it.
    """
    is_there = path.is_file()
    if is_there and read_bytes(path) != text.encode("utf8"):
        raise CRFError(BibliographyErrors.CRF691.format(path=path))
    if n_references and not is_there:
        write_result(text, path)
        tell_written(path, f"{n_references} references to check")


@dataclass(frozen=True)
class Cited:
    """A reference of a list, its number from 1, and what a model has read in it."""

    number: int
    reference: Reference
    entry: Entry
    confidence: Confidence

    def warn(self, least: float) -> None:
        """Tell on standard error what a person should look at: what is doubtful, and what is not right."""
        text = self.reference.text[:60]
        if self.confidence.reference < least:
            doubts = ", ".join(f"{label} {share:.2f}" for label, share in self.confidence.below(least)) or "none alone"
            share = self.confidence.reference
            tell_warning(BibliographyErrors.CRF665.format(number=self.number, share=share, fields=doubts, text=text))
        if self.entry.invalid:
            tell_warning(BibliographyErrors.CRF666.format(number=self.number, faults=self.entry.invalid, text=text))

    def as_record(self) -> dict[str, Any]:
        """Return it for JSON: where it is, how sure the model is of all and of each field, and the entry."""
        return {
            "number": self.number,
            "lines": [self.reference.first_line, self.reference.last_line],
            "text": self.reference.text,
            "confidence": round(self.confidence.reference, 4),
            "fields": [{"label": label, "confidence": round(share, 4)} for label, share in self.confidence.fields],
            "invalid": self.entry.invalid,
            "entry": to_item(self.entry),
        }


def read_cited(loaded: Loaded, data: Path, with_confidence: bool) -> list[Cited]:
    """Read the references of a file; those without a field are named on standard error and left out."""
    references = split_references(find_list(data) if is_document(data) else print_list(read_text(data)))
    if not references:
        raise CRFError(BibliographyErrors.CRF641.format(path=data))
    tagger = loaded.component
    docs = label_references(loaded.nlp, annotating(references))
    entries = read_entries(docs, tagger)
    if not any(entries):
        labels = ", ".join(tagger.labels)
        raise CRFError(BibliographyErrors.CRF646.format(count=len(entries), model=loaded.source, labels=labels))
    sure = find_confidences(tagger, docs) if with_confidence else [CERTAIN] * len(docs)
    cited = []
    for number, (reference, entry, confidence) in enumerate(zip(references, entries, sure), 1):
        if entry is None:
            tell_missing(number, reference)
        else:
            cited.append(Cited(number, reference, entry, confidence))
    return cited


def tell_missing(number: int, reference: Reference) -> None:
    """Name a reference that was left out on standard error."""
    first, last = reference.first_line, reference.last_line
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    tell_warning(BibliographyErrors.CRF645.format(number=number, lines=lines, text=reference.text[:60]))


def write_cited(cited: Sequence[Cited], to: str, unicode: bool) -> str:
    """The text of a file of references."""
    if to == "json":
        return json.dumps([one.as_record() for one in cited], ensure_ascii=False, indent=2) + "\n"
    writers: dict[str, Writer] = {
        "bibtex": partial(write_bibtex, unicode=unicode),
        "csl": write_csl,
        "tsv": write_table,
    }
    return writers[to](one.entry for one in cited)


def is_document(path: Path) -> bool:
    """Whether a file is of a format that says what is a heading, so that it may hold more than references."""
    return data_suffix(path) in DOCUMENTS


def read_text(path: Path) -> str:
    """Text of a file in UTF-8, gzipped or not, or of standard input for "-"."""
    data = typer.get_binary_stream("stdin").read() if str(path) == "-" else read_bytes(path)
    try:
        return data.decode("utf8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        message = BibliographyErrors.CRF640.format(path=path, value=data[error.start], position=error.start)
        raise CRFError(message) from error


def write_table(entries: Iterable[Entry]) -> str:
    """TSV with a header: a row for each entry, a column for each field; names are joined by "; ", dates as in ISO."""
    return _write_rows([COLUMNS, *([print_value(getattr(entry, name)) for name in COLUMNS] for entry in entries)])


def write_differences(differences: Sequence[Discrepancy], to: str) -> str:
    """TSV with a header, or JSON: a row for each difference."""
    if to == "json":
        return json.dumps([asdict(one) for one in differences], ensure_ascii=False, indent=2) + "\n"
    rows = ([" ".join(str(value or "").split()) for value in astuple(one)] for one in differences)
    return _write_rows([[field.name for field in fields(Discrepancy)], *rows])


def _write_rows(rows: Iterable[Iterable[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


@command(
    "synthesise", "Nothing was synthesised", "references library.bib --styles apa,ieee --invent 500 --output synthetic"
)
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
    and so many invented ones as --invent says; those that their style cannot print are counted. Beside them is a word
    list of names, places, publishers and journals, for templates such as LIST(known). It asks for the extra
    spacy_crf[synthesise].
    """
    if library is None and not invent:
        raise CRFError(BibliographyErrors.CRF663)
    generator = Generator(split_names(styles), split_names(locales), noise, seed)
    items = [] if library is None else library_items(library)
    references = [*generator.print_library(items, copies), *generator.print_invented(invent)]
    if not references:
        raise CRFError(BibliographyErrors.CRF664.format(path=library or "what was invented"))
    wanted = len(items) * copies + invent
    if lacking := wanted - len(references):
        tell_warning(BibliographyErrors.CRF476.format(lacking=lacking, wanted=wanted))
    write_result("".join(write_xml(references)), output / REFERENCES)
    write_result("".join(list_known()), output / KNOWN)
    then = "python -m spacy crf init constrained_ner references.cfg, and train with --paths.train {}"
    tell_written(output / REFERENCES, f"{len(references)} references", then)


def read_library(path: Path, with_others: bool = True) -> list[Entry]:
    """Return the entries of a library; of BibTeX with fields that only notes have a place for, or without.

    RAISES (ValueError): for what is not in its format.
    """
    text = read_text(path)
    if not is_bibtex(path):
        return read_csl(text)
    entries = read_bibtex(text, with_others)
    if text.strip() and not entries:  # to BibTeX all text between entries is a comment
        raise CRFError(BibliographyErrors.CRF643.format(error=f"{path} has no entries"))
    return entries


def is_bibtex(path: Path) -> bool:
    """Whether a library, gzipped or not, is BibTeX, by its name."""
    return data_suffix(path) == ".bib"


def library_items(path: Path) -> Sequence[Mapping[str, Any]]:
    """Return the entries of a library as items of CSL-JSON, with all variables that they have."""
    if is_bibtex(path):  # `invalid` is no variable that styles print
        return [to_item(replace(entry, invalid="")) for entry in read_library(path, with_others=False)]
    return read_items(read_text(path))
