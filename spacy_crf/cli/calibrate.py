"""`python -m spacy crf calibrate`: fits the probabilities of a trained component to dev data."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import spacy
import typer
from spacy.language import Language
from spacy.training import Example
from wasabi import msg

from ..core.errors import CRFError
from ..corpora.reader import Corpus
from ..punctuation.calibration import MarkCalibration, best_thresholds, calibrate_marks, precise_thresholds
from ..punctuation.component import PunctuationRestorer
from ..punctuation.reader import PunctuationCorpus, PunctuationFormat
from ..tagging.calibrate import calibrate
from ..tagging.component import CRFTagger
from .app import app
from .calibration_tables import format_marks, format_tags, format_thresholds
from .errors import CommandErrors
from .score import _names
from .tag import Calibrated, find_tagger


@app.command("calibrate")
def calibrate_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a trained pipeline")],
    data: Annotated[
        Path, typer.Argument(metavar="FILE", help="Dev data: .spacy, CoNLL-U or CoNLL columns; punctuated text")
    ],
    output: Annotated[Path | None, typer.Option(help="Folder for the calibrated pipeline")] = None,
    sequences: Annotated[
        bool, typer.Option("--sequences", help="Make whole gold sequences most probable, not the gold tags of tokens")
    ] = False,
    bins: Annotated[int, typer.Option(min=1, help="Bins of the table")] = 10,
    format: Annotated[str | None, typer.Option(help="Format of FILE; otherwise picked by file")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
    input: Annotated[str | None, typer.Option(help="Columns that are input, not gold, e.g. tag")] = None,
    precision: Annotated[
        float | None, typer.Option(min=0.01, max=1.0, help="Set thresholds of marks that reach this precision")
    ] = None,
    best_f: Annotated[bool, typer.Option("--best-f", help="Set thresholds of marks with the best F")] = False,
    pipe: Annotated[
        str | None, typer.Option(help="Name of the component; the first crf_tagger or punctuation_restorer without")
    ] = None,
) -> None:
    """Make the probabilities of a tagger, or of a punctuation restorer, as sure as they are right.

    FILE has to be data that the pipeline was not trained on. For a tagger, one number is fitted; tags stay as they
    are, unless `decode` is "posterior". For a restorer, a map of the probabilities of marks; marks stay as they are,
    unless thresholds are set.
    """
    chosen = Choices(sequences, bins, format, columns, input, precision, best_f)
    try:
        source = Path(model) if Path(model).exists() else model
        nlp = spacy.load(source)
        name = find_tagger(nlp, pipe, Calibrated)
        fitted = fit(nlp, name, data, chosen)
        typer.echo(fitted.report)
        if output is not None:
            save(source, name, fitted, output)
    except (ValueError, OSError) as error:
        msg.fail("Nothing was calibrated", str(error), exits=1)
    for line in fitted.summary:
        typer.echo(line)
    if output is not None:
        msg.good(f"Wrote {output}")


class Choices(NamedTuple):
    """Options of the command."""

    sequences: bool
    bins: int
    format: str | None
    columns: str | None
    input: str | None
    precision: float | None
    best_f: bool

    def refuse(self, options: Sequence[str], kind: str, name: str) -> None:
        """Raise a coded error for one of the options, by their fields, where it is set.

        kind (str): factory of the component that they are not for. name (str): of the component.
        """
        for option in options:
            if getattr(self, option):
                raise CRFError(
                    CommandErrors.CRF988.format(option="--" + option.replace("_", "-"), kind=kind, name=name)
                )


class Fitted(NamedTuple):
    """What a component is to be changed to.

    report (str): tables. summary (list[str]): lines below them. settings (dict): for its config.
    calibration (MarkCalibration | None): for what it has learned.
    """

    report: str
    summary: list[str]
    settings: dict[str, Any]
    calibration: MarkCalibration | None = None


def fit(nlp: Language, name: str, data: Path, chosen: Choices) -> Fitted:
    """Fit a component of a pipeline to a file, without changing it.

    RAISES (ValueError): for options that are not for this kind of component, and data without gold for it.
    """
    component = nlp.get_pipe(name)
    if isinstance(component, PunctuationRestorer):
        chosen.refuse(["sequences", "columns", "input"], "punctuation_restorer", name)
        corpus = PunctuationCorpus(data, format=cast(PunctuationFormat, chosen.format))
        return fit_marks(component, annotated(nlp, name, list(corpus(nlp))), chosen)
    chosen.refuse(["precision", "best_f"], "crf_tagger", name)
    layout = {"format": chosen.format, "columns": _names(chosen.columns) or None, "input": _names(chosen.input)}
    examples = list(Corpus(data, **layout)(nlp))  # type: ignore[arg-type]
    return fit_tags(cast(CRFTagger, component), annotated(nlp, name, examples), chosen)


def fit_tags(tagger: CRFTagger, examples: Iterable[Example], chosen: Choices) -> Fitted:
    """Fit the temperature of a tagger."""
    fitted = calibrate(tagger, examples, "sequence" if chosen.sequences else "token", chosen.bins)
    summary = [
        f"temperature {tagger.cfg['temperature']:.4g} -> {fitted.temperature:.4g}",
        f"expected calibration error {fitted.before.error:.4f} -> {fitted.after.error:.4f}",
    ]
    return Fitted(format_tags(fitted), summary, {"temperature": fitted.temperature})


def fit_marks(restorer: PunctuationRestorer, examples: Iterable[Example], chosen: Choices) -> Fitted:
    """Fit the map of the probabilities of marks, and thresholds on request."""
    if chosen.precision and chosen.best_f:
        raise CRFError(CommandErrors.CRF989.format(options="--precision and --best-f"))
    fitted = calibrate_marks(restorer, examples)
    thresholds: dict[str, float] = {}
    if chosen.best_f:
        thresholds = best_thresholds(fitted.after)
    elif chosen.precision:
        thresholds = precise_thresholds(fitted.after, chosen.precision)
    summary = [f"threshold of {mark} {value:.4g}" for mark, value in thresholds.items()]
    summary.append(f"expected calibration error {fitted.before.error:.4f} -> {fitted.after.error:.4f}")
    report = f"{format_marks(fitted, chosen.bins)}\n{format_thresholds(fitted.after)}"
    return Fitted(report, summary, {"thresholds": thresholds} if thresholds else {}, fitted.calibration)


def save(source: Path | str, name: str, fitted: Fitted, output: Path) -> None:
    """Write a pipeline with one of its components changed.

    source (Path | str): it is loaded anew, since settings have to reach the config that is saved.
    """
    nlp = spacy.load(source, config={"components": {name: fitted.settings}})
    if fitted.calibration is not None:
        cast(PunctuationRestorer, nlp.get_pipe(name)).calibration = fitted.calibration
    nlp.to_disk(output)


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
