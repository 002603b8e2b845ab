"""`python -m spacy crf evaluate`: all figures of a trained pipeline on gold documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ..constraints.component import ConstraintDecoder
from ..core.errors import CRFError
from ..lab.baselines.component import ComparisonTagger
from ..lab.errors import LabErrors
from ..lab.evaluation import Figures, describe_data, describe_model, evaluate, read_labels
from ..lab.report import describe_libraries, round_numbers
from ..pipe.component import ChainPipe
from ..pipe.probabilities import GivesSets, LabelsTokens
from .data import Data, DataOptions
from .options import (
    Loaded,
    Pipe,
    annotating,
    command,
    confusion_table,
    echo_data,
    make_folders,
    table,
    tell_written,
    write_data,
)

OURS = (LabelsTokens, ChainPipe | GivesSets | ConstraintDecoder | ComparisonTagger)
EVALUATED = Pipe("crf_tagger", OURS, first="the first crf_tagger, or else the first of ours,")
TOLD = "Format of DATA and of --train; otherwise picked by file"
GOLD = DataOptions("DATA", "Gold documents, in any format that a component reads", told=TOLD)
MOST_LABELS = 15  # of a table


def evaluate_pipeline(
    loaded: Annotated[Loaded, EVALUATED],
    data: Annotated[Data, GOLD],
    train: Annotated[
        Path | None, typer.Option(help="Training data: tells known words from unknown ones, and a baseline")
    ] = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="95 % intervals: documents are drawn anew, 1,000 times")
    ] = False,
    labels: Annotated[
        Path | None, typer.Option(help="Lines `label<TAB>other label`: what labels of model and gold count as")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="JSON file for all figures and what they were made of")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write them as JSON instead of tables")] = False,
) -> None:
    """Measure a pipeline on gold documents, with their own tokens and sentences, in all figures of its component.

    With --train, the accuracy of known and unknown words stands beside that of the most frequent tag of each word.
    With --labels, a model of many labels is measured on gold that has fewer. Spans that count as O are left out.
    Intervals are those of the figures themselves over documents; over Docs where all are parts of one document.
    """
    make_folders(output)
    nlp = loaded.nlp
    trained = None if train is None else data.at(train).trained_on(nlp, loaded.name)
    examples = data.examples(nlp, loaded.name)
    coarser = None if labels is None else read_labels(labels)
    found = evaluate(nlp, loaded.name, examples, trained, data.with_punctuation(nlp), intervals, coarser, annotating)
    if not found.found.scores:
        raise CRFError(LabErrors.CRF623.format(name=loaded.name, test=describe_data(data.path)))
    files = {"data": describe_data(data.path), **({} if train is None else {"train": describe_data(train)})}
    files |= {} if labels is None else {"labels": describe_data(labels)}
    made_of = {"model": describe_model(nlp, loaded.name), "libraries": describe_libraries(), **files}
    speed = {"seconds": found.seconds, "tokens_per_second": round(found.counts["tokens"] / found.seconds)}
    figures = {"made_of": made_of, **found.to_data(), "speed": round_numbers(speed)}
    write_data(figures, output)
    echo_data(figures, as_json, format_evaluation(found, intervals))
    tell_written(output)


EXAMPLE = "training/model-best test.tsv --train train.tsv --intervals"
command("evaluate", "Nothing was evaluated", EXAMPLE)(evaluate_pipeline)
# its name before there was more than scores
command("score", "Nothing was scored", EXAMPLE, hidden=True)(evaluate_pipeline)


def format_evaluation(found: Figures, with_intervals: bool) -> Iterator[str]:
    """Yield tables: of all figures, of those of each label, and of confusions where labels are few; and why there are
    no intervals if some were asked for."""
    rows = [row if found.intervals else row[:2] for row in found.score_rows()]
    yield table(rows, ("", "", f"95 %, {found.drawn} drawn") if found.intervals else (), "lr")
    for name, header, cells in found.tables_by_label():
        yield f"\n{name}{table(cells, header, 'lr')}"
    labels, confusions = found.label_rows(), found.found.confusions
    if labels:
        yield f"\nThe {min(MOST_LABELS, len(labels))} most frequent of {len(labels)} labels"
        yield table(labels[:MOST_LABELS], ("", "tokens", "p", "r", "f", "f05"), "lr")
    if confusions and len({label for pair in confusions for label in pair}) <= MOST_LABELS:
        yield f"\nGold label by row, predicted label by column\n{confusion_table(confusions)}"
    if with_intervals and not found.intervals:
        yield "There are no intervals: the data are one document in one Doc."
