"""`python -m spacy crf calibrate`: fits the probabilities of a trained component to dev data."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import spacy
import typer
from spacy.training import Example
from wasabi import msg, table

from ..core.errors import CRFError
from ..pipe.probabilities import LabelsTokens
from ..punctuation.cli import fit_marks
from ..punctuation.component import PunctuationRestorer
from ..tagging.component import CRFTagger
from ..tagging.component import calibrate as fit_temperature
from .data import Data, DataOptions
from .errors import CommandErrors
from .options import Loaded, Pipe, annotated, bin_rows, command

CALIBRATED = Pipe("crf_tagger or punctuation_restorer", ((LabelsTokens, PunctuationRestorer),))


@command("calibrate", "Nothing was calibrated")
def calibrate(
    loaded: Annotated[Loaded, CALIBRATED],
    data: Annotated[Data, DataOptions("FILE", "Dev data: .spacy, CoNLL-U or CoNLL columns; punctuated text")],
    output: Annotated[Path | None, typer.Option(help="Folder for the calibrated pipeline")] = None,
    sequences: Annotated[
        bool, typer.Option("--sequences", help="Make whole gold sequences most probable, not the gold tags of tokens")
    ] = False,
    bins: Annotated[int, typer.Option(min=1, help="Bins of the table")] = 10,
    precision: Annotated[
        float | None, typer.Option(min=0.01, max=1.0, help="Set thresholds of marks that reach this precision")
    ] = None,
    best_f: Annotated[bool, typer.Option("--best-f", help="Set thresholds of marks with the best F")] = False,
) -> None:
    """Make the probabilities of a tagger, or of a punctuation restorer, as sure as they are right.

    FILE has to be data that the pipeline was not trained on. For a tagger, one number is fitted; tags stay as they
    are, unless `decode` is "posterior". For a restorer, a map of the probabilities of marks; marks stay as they are,
    unless thresholds are set.
    """
    component, calibration = loaded.component, None
    is_restorer = isinstance(component, PunctuationRestorer)
    if is_restorer:
        refuse(loaded.name, "punctuation_restorer", sequences=sequences, columns=data.columns, input=data.input)
    else:
        refuse(loaded.name, "crf_tagger", precision=precision, best_f=best_f)
    examples = annotated(loaded.nlp, loaded.name, data.examples(loaded.nlp, loaded.name))
    if is_restorer:
        lines, settings, calibration = fit_marks(component, examples, bins, precision, best_f)
    else:
        lines, settings = fit_tags(component, examples, bins, sequences)
    typer.echo("\n".join(lines))
    if output is not None:
        # loaded anew, since settings have to reach the config that is saved
        nlp: Any = spacy.load(loaded.source, config={"components": {loaded.name: settings}})
        if calibration is not None:
            nlp.get_pipe(loaded.name).calibration = calibration
        nlp.to_disk(output)
        msg.good(f"Wrote {output}")


def refuse(name: str, kind: str, **options: object) -> None:
    """Raise a coded error for options that are set and not for a component. kind (str): Its factory."""
    for option, value in options.items():
        if value:
            raise CRFError(CommandErrors.CRF988.format(option="--" + option.replace("_", "-"), kind=kind, name=name))


def fit_tags(
    tagger: CRFTagger, examples: Iterable[Example], bins: int, sequences: bool
) -> tuple[list[str], dict[str, Any]]:
    """Fit the temperature of a tagger.

    RETURNS (list[str], dict[str, Any]): A report with a row for each bin of probabilities, and settings for the config.
    """
    fitted = fit_temperature(tagger, examples, "sequence" if sequences else "token", bins)
    header = ("probability", "tokens", "mean", "right", "tokens after", "mean", "right")
    rows = bin_rows(fitted.before, fitted.after)
    lines = [
        str(table(rows, header=header, divider=True, aligns=("l", *"rrrrrr"))),
        f"temperature {tagger.cfg['temperature']:.4g} -> {fitted.temperature:.4g}",
        f"expected calibration error {fitted.before.error:.4f} -> {fitted.after.error:.4f}",
    ]
    return lines, {"temperature": fitted.temperature}
