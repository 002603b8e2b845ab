"""`python -m spacy crf tune`: chooses c1 and c2 of a config by cross-validation on its training corpus."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from spacy.cli._util import import_code, parse_config_overrides, show_validation_error
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config, resolve_dot_names
from thinc.api import Config
from wasabi import Printer, msg, table

from ..core.errors import CRFError
from . import app
from .errors import CommandErrors
from .options import annotated, find_component, parse_numbers

if TYPE_CHECKING:
    from ..lab.tuning import CrossValidation, FoldResult, Setting

TRAINER = {"@misc": "spacy_crf.LBFGS.v1"}


class Units(StrEnum):
    auto = "auto"
    doc = "doc"
    sequence = "sequence"


class Rules(StrEnum):
    best = "best"
    one_se = "one-se"


@app.command("tune", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def tune_cli(
    context: typer.Context,
    config_path: Annotated[Path, typer.Argument(metavar="CONFIG", help="Config, as for spacy train", exists=True)],
    component: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
    c1: Annotated[str, typer.Option(help="L1 penalties to try, e.g. 0,0.1,1")] = "0",
    c2: Annotated[str, typer.Option(help="L2 penalties to try, e.g. 0.01,0.1,1")] = "0.01,0.1,1",
    folds: Annotated[int, typer.Option(help="Parts, each of which is held out once")] = 5,
    unit: Annotated[Units, typer.Option(help="What is never divided; auto: documents if enough")] = Units.auto,
    seed: Annotated[int, typer.Option(help="Of the draw of the folds")] = 0,
    iterations: Annotated[int, typer.Option(help="Iterations of L-BFGS for each fit, at most")] = 100,
    rule: Annotated[Rules, typer.Option(help="The best, or the most regularised within a standard error")] = Rules.best,
    json_path: Annotated[Path | None, typer.Option("--json", help="File for all results")] = None,
    write: Annotated[Path | None, typer.Option(help="File for the config with the choice set")] = None,
    code: Annotated[Path | None, typer.Option("--code", help="Python file to import first, as for spacy train")] = None,
) -> None:
    """Choose c1 and c2 by cross-validation: each pair is trained on all folds but one and scored on that one.

    Settings of the config are overridden as in spacy train, e.g. --paths.train FILE. The dev corpus is not used.
    """
    from ..lab.tuning import cross_validate
    from ..tagging.component import CRFTagger

    overrides = parse_config_overrides(context.args)
    import_code(code)
    try:
        penalties = parse_numbers("c1", c1), parse_numbers("c2", c2)
        for path in filter(None, (json_path, write)):  # now, not after hours
            path.parent.mkdir(parents=True, exist_ok=True)
        with show_validation_error(config_path):
            config = load_config(config_path, overrides=overrides, interpolate=False)
            nlp = init_nlp(config)
        name = find_component(nlp, component, "crf_tagger", CRFTagger)
        examples = training_examples(nlp, name)
        settings: dict[str, Any] = {"folds": folds, "seed": seed, "iterations": iterations}
        settings |= {"unit": unit.value, "rule": rule.value}
        found = cross_validate(nlp, name, examples, *penalties, **settings, on_result=lambda one: _show(one, folds))
    except (ValueError, OSError) as error:
        msg.fail("Nothing was tuned", str(error), exits=1)
    typer.echo(format_table(found))
    typer.echo(f"c1 = {found.chosen.c1:g}, c2 = {found.chosen.c2:g}")
    if json_path is not None:
        json_path.write_text(json.dumps(found.to_data(), indent=2) + "\n", encoding="utf8")
        msg.good(f"Wrote {json_path}")
    if write is not None:
        with_penalties(config, name, found.chosen).to_disk(write, interpolate=False)
        msg.good(f"Wrote {write}")


def training_examples(nlp: Language, name: str) -> list[Example]:
    """Read the training corpus of an initialised pipeline, as one of its components sees it.

    RAISES (ValueError): where a component that annotates in training is trained itself.
    """
    config = nlp.config.interpolate()
    training = config["training"]
    (corpus,) = resolve_dot_names(config, [training["train_corpus"]])
    annotating = [other for other in training["annotating_components"] if other != name]
    for other in annotating:
        if isinstance(nlp.get_pipe(other), TrainablePipe) and other not in training["frozen_components"]:
            raise CRFError(CommandErrors.CRF606.format(name=name, annotating=other))
    with nlp.select_pipes(enable=[*annotating, name]):
        return list(annotated(nlp, name, list(corpus(nlp))))


def with_penalties(config: Config, name: str, chosen: "Setting") -> Config:
    """Return a config, with variables as they are, with the penalties of a component set."""
    changed = config.copy()
    trainer = changed["components"][name].setdefault("trainer", dict(TRAINER))
    trainer.update(c1=chosen.c1, c2=chosen.c2)
    return changed


def format_table(found: "CrossValidation") -> str:
    """Show all settings with means over folds; the chosen one has a star."""
    rows = [
        (
            "*" if setting == found.chosen else "",
            f"{setting.c1:g}",
            f"{setting.c2:g}",
            f"{100 * setting.mean:.2f}",
            f"{100 * setting.deviation:.2f}",
            f"{setting.loss:.4f}",
            f"{setting.n_active:,.0f}",
            f"{setting.iterations:.0f}",
            f"{setting.seconds:.1f}",
        )
        for setting in found.settings
    ]
    header = ("", "c1", "c2", found.score, "std", "loss", "weights", "iterations", "seconds")
    return str(table(rows, header=header, divider=True, aligns=("l", *"rrrrrrrr")))


def _show(result: "FoldResult", folds: int) -> None:
    """Tell a fit on standard error."""
    penalties = f"c1 = {result.c1:g}, c2 = {result.c2:g}"
    text = f"Fold {result.fold + 1} of {folds}, {penalties}: {100 * result.score:.2f}, {result.seconds:.1f} s"
    typer.echo(Printer(no_print=True).info(text), err=True)
