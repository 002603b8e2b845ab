"""`python -m spacy crf synthesise`: references with tagged fields, out of a bibliography or out of nothing."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ...cli.options import command, split_names, tell_written, write_result
from ...core.errors import CRFError
from ...reading.files import read_text
from ..bibtex import read_bibtex
from ..csl import read_csl, to_item
from ..errors import BibliographyErrors
from .gazetteer import list_known
from .generator import Generator, write_xml

REFERENCES, KNOWN = "references.xml", "known.tsv"


@command("synthesise", "Nothing was synthesised")
def synthesise(
    kind: Annotated[Literal["references"], typer.Argument(metavar="references", help="What to make")],
    library: Annotated[
        Path | None, typer.Argument(metavar="[LIBRARY]", help="BibTeX (.bib) or CSL-JSON (.json); else invented entries")
    ] = None,
    output: Annotated[Path, typer.Option(help=f"Folder for {REFERENCES} and {KNOWN}")] = Path("synthetic"),
    styles: Annotated[
        str | None, typer.Option(help="CSL styles to draw from, e.g. apa,ieee, or .csl files; else all there are")
    ] = None,
    locales: Annotated[str | None, typer.Option(help="Locales to draw from, e.g. en-GB,de-DE; else those of styles")] = None,
    invent: Annotated[int, typer.Option(min=0, help="Invented entries")] = 0,
    copies: Annotated[int, typer.Option(min=1, help="Times that each entry of LIBRARY is printed")] = 1,
    noise: Annotated[float, typer.Option(min=0, max=1, help="How much is spoilt as in real lists, 0 for nothing")] = 1.0,
    seed: Annotated[int, typer.Option(help="The same one makes the same references")] = 0,
) -> None:
    """Print entries as references whose fields are tagged, in CSL styles: data that train a model of references.

    Without --styles a style is drawn for each few entries, a common one for half of them. What is printed is spoilt as
    lists are: numbers, dashes, et al., broken lines, ligatures, OCR and lost spaces. Each entry of LIBRARY is printed,
    and so many invented ones as --invent says. Beside them is a word list of names, places, publishers and journals, for
    templates such as LIST(known). It asks for the extra spacy_crf[synthesise].
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
    return json.loads(text)  # type: ignore[no-any-return]
