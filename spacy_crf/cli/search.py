"""`python -m spacy crf search`: looks for the best settings and templates of a config in a space of them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from spacy.cli._util import import_code, parse_config_overrides, show_validation_error
from spacy.util import load_config
from wasabi import msg, table

from . import app

if TYPE_CHECKING:
    from ..lab.search import SearchResult, TrialResult
    from ..lab.space import Value


@app.command("search", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def search_cli(
    context: typer.Context,
    config_path: Annotated[Path, typer.Argument(metavar="CONFIG", help="Config, as for spacy train", exists=True)],
    space_path: Annotated[Path, typer.Argument(metavar="SPACE", help="TOML file: what is tried", exists=True)],
    score: Annotated[str | None, typer.Option(help="Score to search by; the weighted one without")] = None,
    minimise: Annotated[bool, typer.Option("--minimise", help="Look for the least score")] = False,
    trials: Annotated[int, typer.Option(help="Trials in all, those of an earlier run counted")] = 30,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which no trial begins")] = None,
    folds: Annotated[int, typer.Option(help="Cross-validate on the documents of the training corpus; 0: dev")] = 0,
    seed: Annotated[int, typer.Option(help="Of the draw of values, and of folds")] = 0,
    prune: Annotated[bool, typer.Option("--prune/--no-prune", help="Give up trials below the median")] = True,
    warmup: Annotated[int, typer.Option(help="Steps (folds) before a trial may be given up")] = 0,
    component: Annotated[str | None, typer.Option(help="Owner of the templates; the first that has some")] = None,
    storage: Annotated[Path | None, typer.Option(help="SQLite file: a search that is broken off goes on")] = None,
    top: Annotated[int, typer.Option(min=1, help="Trials in the table")] = 10,
    json_path: Annotated[Path | None, typer.Option("--json", help="File for all trials")] = None,
    write: Annotated[Path | None, typer.Option(help="File for the config with the best values set")] = None,
    code: Annotated[Path | None, typer.Option("--code", help="Python file to import first, as for spacy train")] = None,
) -> None:
    """Train one config after the other and keep the best, with Optuna.

    A trial counts what the model scores that spacy train would keep. Settings of the config are overridden as in spacy
    train, e.g. --paths.train FILE. With --folds, the dev corpus is not used.
    """
    from ..lab.candidates import Candidates
    from ..lab.search import ConfigSearch, SearchSettings
    from ..lab.space import read_space

    overrides = parse_config_overrides(context.args)
    import_code(code)
    settings = SearchSettings(score, minimise, folds, seed, prune, warmup)
    try:
        for path in filter(None, (json_path, write, storage)):  # now, not after hours
            path.parent.mkdir(parents=True, exist_ok=True)
        space = read_space(space_path)
        with show_validation_error(config_path):
            config = load_config(config_path, overrides=overrides, interpolate=False)
            candidates = Candidates(config, space, component)
            candidates.check(folds)
        identity = {"config": config, "space": space, "component": candidates.component}
        found = ConfigSearch(candidates, space, settings, storage, identity).run(trials, timeout, _show)
    except (ValueError, OSError) as error:
        msg.fail("The search failed", str(error), exits=1)
    typer.echo(format_table(found, top))
    if found.importances:
        typer.echo(format_importances(found))
    if json_path is not None:
        json_path.write_text(json.dumps(found.to_data(), indent=2) + "\n", encoding="utf8")
        msg.good(f"Wrote {json_path}")
    if write is not None:
        candidates.make(found.best.values).to_disk(write, interpolate=False)
        msg.good(f"Wrote {write}")


def format_table(found: "SearchResult", top: int) -> str:
    """Show the best trials, and how many there were of each kind. top (int): how many trials to show."""
    names = list(found.best.values)
    rows = [
        (
            f"{trial.number}",
            f"{100 * (trial.score or 0.0):.2f}" if _is_share(found) else f"{trial.score:.4g}",
            f"{trial.steps}",
            f"{trial.seconds:.1f}",
            *(_shown(trial.values[name]) for name in names),
        )
        for trial in found.ranked[:top]
    ]
    header = ("trial", found.score or "score", "steps", "seconds", *_short(names))
    states = [trial.state for trial in found.trials]
    counts = ", ".join(f"{states.count(state)} {state}" for state in ("complete", "pruned", "failed"))
    shown = table(rows, header=header, divider=True, aligns=("r", "r", "r", "r", *"r" * len(names)))
    return f"{shown}{len(states)} trials: {counts}"


def format_importances(found: "SearchResult") -> str:
    """Show how much each parameter sets good trials apart."""
    short = dict(zip(found.best.values, _short(list(found.best.values))))
    rows = [(short[name], f"{100 * value:.1f} %") for name, value in found.importances.items()]
    return str(table(rows, header=("parameter", "importance"), divider=True, aligns=("l", "r")))


def _is_share(found: "SearchResult") -> bool:
    """Tell whether scores are shares of 1, which are shown as percentages; a mean size of sets is not."""
    return all(0 <= (trial.score or 0.0) <= 1 for trial in found.ranked)


def _short(names: list[str]) -> list[str]:
    """Return as many of the last parts of dotted names as tell them apart."""
    found = []
    for name in names:
        parts, length = name.split("."), 1
        others = [other for other in names if other != name]
        while any(f".{other}".endswith("." + ".".join(parts[-length:])) for other in others) and length < len(parts):
            length += 1
        found.append(".".join(parts[-length:]))
    return found


def _shown(value: "Value") -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _show(trial: "TrialResult") -> None:
    """Tell a trial on standard error."""
    values = ", ".join(
        f"{name} = {_shown(value)}" for name, value in zip(_short(list(trial.values)), trial.values.values())
    )
    outcome = trial.error or (trial.state if trial.score is None else f"{trial.score:.4f}")
    typer.echo(f"Trial {trial.number}: {outcome}, {trial.seconds:.1f} s; {values}", err=True)
