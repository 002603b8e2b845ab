"""`python -m spacy crf calibrate`: fits the temperature of a trained tagger on dev data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, cast

import spacy
import typer
from spacy.language import Language
from spacy.training import Example
from wasabi import msg, table

from ..components.calibrate import Calibration, calibrate
from ..components.tagger import CRFTagger
from ..corpora.reader import Corpus
from .app import app
from .score import _names
from .tag import find_tagger


@app.command("calibrate")
def calibrate_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    data: Annotated[Path, typer.Argument(metavar="FILE", help="Dev data: .spacy, CoNLL-U or CoNLL columns")],
    output: Annotated[Path | None, typer.Option(help="Folder for the pipeline with its temperature set")] = None,
    sequences: Annotated[
        bool, typer.Option("--sequences", help="Make whole gold sequences most probable, not the gold tags of tokens")
    ] = False,
    bins: Annotated[int, typer.Option(min=1, help="Bins of the table")] = 10,
    format: Annotated[str | None, typer.Option(help="Format of FILE; otherwise picked by file")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
    input: Annotated[str | None, typer.Option(help="Columns that are input, not gold, e.g. tag")] = None,
    pipe: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
) -> None:
    """Fit one number that makes the probabilities of a tagger as sure as they are right.

    FILE has to be data that the pipeline was not trained on. Tags stay as they are, unless `decode` is "posterior".
    """
    try:
        source = Path(model) if Path(model).exists() else model
        nlp = spacy.load(source)
        name = find_tagger(nlp, pipe)
        layout = {"format": format, "columns": _names(columns) or None, "input": _names(input)}
        examples = annotated(nlp, name, list(Corpus(data, **layout)(nlp)))  # type: ignore[arg-type]
        tagger = cast(CRFTagger, nlp.get_pipe(name))
        fitted = calibrate(tagger, examples, "sequence" if sequences else "token", bins)
        typer.echo(format_table(fitted))
        if output is not None:
            # loaded anew, since the setting has to reach the config that is saved
            changed = {"components": {name: {"temperature": fitted.temperature}}}
            spacy.load(source, config=changed).to_disk(output)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was calibrated", str(error), exits=1)
    typer.echo(f"temperature {tagger.cfg['temperature']:.4g} -> {fitted.temperature:.4g}")
    typer.echo(f"expected calibration error {fitted.before.error:.4f} -> {fitted.after.error:.4f}")
    if output is not None:
        msg.good(f"Wrote {output}")


def annotated(nlp: Language, name: str, examples: list[Example]) -> Iterator[Example]:
    """Examples whose predicted side has gone through the components before one.

    nlp (Language): the pipeline. name (str): of the component. examples (list[Example]): from a corpus.
    YIELDS (Example): with the same gold.
    """
    before = nlp.pipe_names[: nlp.pipe_names.index(name)]
    with nlp.select_pipes(enable=before):
        docs = nlp.pipe(example.predicted for example in examples)
        for doc, example in zip(docs, examples):
            yield Example(doc, example.reference)


def format_table(fitted: Calibration) -> str:
    """How sure the tagger was of its tags, and how often they were right, before and after.

    fitted (Calibration): the result of a fit.
    RETURNS (str): a table, one row for each bin of probabilities.
    """
    before, after = fitted.before, fitted.after
    rows = []
    for number, (low, high) in enumerate(zip(before.lower.tolist(), before.upper.tolist())):
        cells = [f"{low:.2f} - {high:.2f}"]
        for side in (before, after):
            count = int(side.counts[number])
            values = (side.confidences[number], side.accuracies[number])
            cells += [f"{count:,}", *(f"{value:.3f}" if count else "" for value in values)]
        rows.append(cells)
    header = ("probability", "tokens", "mean", "right", "tokens after", "mean", "right")
    return str(table(rows, header=header, divider=True, aligns=("l", *"rrrrrr")))
