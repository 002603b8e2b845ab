"""`python -m spacy crf experiment`: trains and tests configs on many splits of their training corpus."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import import_code, parse_config_overrides, show_validation_error
from spacy.util import load_config
from thinc.api import Config
from wasabi import Printer, msg

from ..lab.splits import FRACTIONS, SplitSettings
from . import app
from .options import parse_numbers

if TYPE_CHECKING:
    from ..lab.results import Experiment, PartResult


class Kinds(StrEnum):
    kfold = "kfold"
    monte_carlo = "monte-carlo"
    in_domain = "in-domain"
    cross_domain = "cross-domain"
    robustness = "robustness"
    across = "across"
    shuffling = "shuffling"
    size = "size"
    pruning = "pruning"
    curve = "curve"


class Bys(StrEnum):
    document = "document"
    sentence = "sentence"
    chunk = "chunk"


class GramKinds(StrEnum):
    characters = "characters"
    words = "words"


@app.command("experiment", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def experiment_cli(
    context: typer.Context,
    config_path: Annotated[Path, typer.Argument(metavar="CONFIG", help="Config, as for spacy train", exists=True)],
    against: Annotated[list[Path] | None, typer.Option(help="Another config, on the same splits", exists=True)] = None,
    kind: Annotated[Kinds, typer.Option(help="What is trained and tested on")] = Kinds.kfold,
    by: Annotated[Bys | None, typer.Option(help="What is drawn; without: documents, or chunks of each")] = None,
    folds: Annotated[int, typer.Option(help="Parts of kfold")] = 10,
    repeats: Annotated[int, typer.Option(help="Draws, each with other splits")] = 1,
    test_share: Annotated[float, typer.Option(help="Of what is drawn, for all kinds but kfold")] = 0.2,
    least_tokens: Annotated[int, typer.Option(help="Of a document that is tested by itself")] = 0,
    fractions: Annotated[str, typer.Option(help="Of the training data, for curve and pruning")] = ",".join(
        map(str, FRACTIONS)
    ),
    distance: Annotated[GramKinds, typer.Option(help="What pruning compares documents by")] = GramKinds.characters,
    seed: Annotated[int, typer.Option(help="Of all draws")] = 0,
    with_dev: Annotated[bool, typer.Option("--with-dev", help="Split the dev corpus as well")] = False,
    dev_share: Annotated[
        float | None, typer.Option(help="Share of each training part that takes the place of the dev corpus")
    ] = None,
    component: Annotated[str | None, typer.Option(help="Whose scores count; the last one with a scorer")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes")] = 1,
    json_path: Annotated[Path | None, typer.Option("--json", help="File for all results")] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for curves as PNG; needs matplotlib")] = None,
    code: Annotated[Path | None, typer.Option("--code", help="Python file to import first, as for spacy train")] = None,
) -> None:
    """Train and test a pipeline, or several, on splits of the training corpus, each split in the way of spacy train.

    Kinds: kfold; monte-carlo (a random part, again and again); in-domain (within each document); cross-domain (leave
    one document out); robustness (train on parts of all, test on the rest of each); across (test on all the rest);
    shuffling (random sentences against contiguous chunks); size (test on the large documents); pruning (train on
    the documents nearest to the one tested); curve (fractions of the training data).

    Settings of all configs are overridden as in spacy train, e.g. --paths.train DIR.
    """
    from ..lab.experiment import RunSettings, run_experiment
    from ..lab.report import check_plotting, to_data
    from .experiment_tables import format_experiment

    import_code(code)
    try:
        for folder in filter(None, (plots, json_path.parent if json_path else None)):  # now, not after hours
            folder.mkdir(parents=True, exist_ok=True)
        if plots is not None:
            check_plotting()
        splitting = SplitSettings(
            kind=kind.value,
            by=by.value if by else None,
            folds=folds,
            repeats=repeats,
            test_share=test_share,
            fractions=tuple(parse_numbers("fractions", fractions)),
            least_tokens=least_tokens,
            seed=seed,
        )
        running = RunSettings(component, with_dev, dev_share, distance.value, jobs, code)
        configs = _load_configs([config_path, *(against or [])], context.args)
        found = run_experiment(configs, splitting, running, _show)
    except (ValueError, OSError) as error:
        msg.fail("The experiment failed", str(error), exits=1)
    for line in format_experiment(found):
        typer.echo(line)
    if json_path is not None:
        json_path.write_text(json.dumps(to_data(found), indent=2) + "\n", encoding="utf8")
        msg.good(f"Wrote {json_path}")
    if plots is not None:
        write_plots(found, plots)


def write_plots(found: "Experiment", folder: Path) -> None:
    """Write a PNG file for each curve to a folder that exists."""
    from ..lab.report import draw_curves, find_curves

    for curve in find_curves(found):
        lines = {
            name: [(x, point.mean, point.deviation or 0.0) for x, point in points]
            for name, points in curve.lines.items()
        }
        path = folder / f"{curve.name}.png"
        draw_curves(path, curve.x, curve.y, lines, log_x=curve.x == "beta")
        msg.good(f"Wrote {path}")


def _load_configs(paths: list[Path], arguments: list[str]) -> dict[str, Config]:
    """Load configs by a name for tables: that of the file, or its path where two have the same."""
    overrides = parse_config_overrides(arguments)
    stems = [path.stem for path in paths]
    configs = {}
    for path in paths:
        with show_validation_error(path):
            config = load_config(path, overrides=overrides, interpolate=False)
        configs[path.stem if stems.count(path.stem) == 1 else str(path)] = config
    return configs


def _show(name: str, number: int, count: int, results: list["PartResult"]) -> None:
    """Tell a split on standard error."""
    first = results[0]
    scores = ", ".join(f"{score} {value:.4g}" for score, value in list(first.scores.items())[:2])
    text = f"{number} of {count}, {name}, {first.split}: {scores}, {first.seconds:.1f} s"
    typer.echo(Printer(no_print=True).info(text), err=True)
