"""`python -m spacy crf spelling`: fits a table of normal forms to a corpus, to be read and corrected."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from spacy.vocab import Vocab
from wasabi import msg, table

from ..core.errors import CRFError
from ..corpora.reader import Corpus
from ..features.block import FIT, SpellingSettings
from ..features.normalise import LENGTHS, RATIO, SpellingTable
from ..features.resources import word_counter
from .app import app
from .errors import CommandErrors
from .score import _names

DEFAULT_LENGTHS = ",".join(map(str, LENGTHS))
SHOWN = 15  # the largest groups


@app.command("spelling")
def spelling_cli(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Documents: a file or a folder")],
    output: Annotated[Path | None, typer.Option(help="File for the table, to correct and to name in a config")] = None,
    rules: Annotated[str | None, typer.Option(help="Rewrite rules: a file, or a name: free_spelling")] = None,
    lengths: Annotated[str, typer.Option(help="Letters from which one, two ... edits are allowed")] = DEFAULT_LENGTHS,
    ratio: Annotated[float, typer.Option(help="How many times as frequent a normal form is as its variants")] = RATIO,
    format: Annotated[str | None, typer.Option(help="Format of DATA; otherwise picked by file")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
) -> None:
    """Join spellings of one word: rewrite rules first, then rare forms that are near a frequent one.

    The table has a line `form<TAB>normal form` for each form that the rules leave. Corrected, it is the `table` of a
    `spacy_crf.Spelling.v1` block.
    """
    try:
        layout = {"format": format, "columns": _names(columns) or None}
        count = word_counter(lambda: Corpus(data, **layout).read_docs(Vocab()))  # type: ignore[arg-type]
        speller = SpellingSettings(rules, FIT, parse_lengths(lengths), ratio).make(count)
        if output is not None:
            output.parent.mkdir(parents=True, exist_ok=True)
            speller.spelling.write(output)
    except (ValueError, OSError) as error:
        msg.fail("No table was fitted", str(error), exits=1)
    typer.echo(format_groups(speller.spelling))
    if output is not None:
        msg.good(f"Wrote {output}")


def parse_lengths(text: str) -> list[int]:
    """Whole numbers that are separated by commas.

    RAISES (ValueError): for anything else.
    """
    try:
        return [int(number) for number in text.split(",")]
    except ValueError as error:
        raise CRFError(CommandErrors.CRF607.format(name="lengths", value=text)) from error


def format_groups(spelling: SpellingTable) -> str:
    """How many forms there are, and the normal forms with the most variants.

    spelling (SpellingTable): a fitted table.
    """
    variants = Counter(normal for form, normal in spelling.table.items() if form != normal)
    members: dict[str, list[str]] = {normal: [] for normal, _ in variants.most_common(SHOWN)}
    for form, normal in spelling.table.items():
        if form != normal and normal in members:
            members[normal].append(form)
    n_normal = len(spelling.table) - variants.total()
    told = f"{len(spelling.table):,} forms, {n_normal:,} normal forms, {variants.total():,} variants"
    rows = [(normal, f"{len(forms)}", " ".join(forms[:8])) for normal, forms in members.items()]
    return f"{told}\n{table(rows, header=('normal form', 'variants', ''), divider=True, aligns=('l', 'r', 'l'))}"
