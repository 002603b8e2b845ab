"""`python -m spacy crf search`, `tune`: the best settings of a config, in a space of them or among penalties."""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from hashlib import blake2b
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import dot_to_object, resolve_dot_names
from thinc.api import Config

from ..core.errors import CRFError
from ..lab.errors import LabErrors
from ..lab.search import ConfigSearch, SearchResult, SearchSettings, TrialResult
from ..lab.space import Candidates, Value, read_space
from ..lab.training import check_source, digest_data, scored_texts, without_dev
from ..lab.tuning import CrossValidation, FoldResult, Rule, Unit, cross_validate, trainer_block
from ..pipe.probabilities import LabelsTokens
from ..pipe.seen import annotated
from ..reading.files import write_whole
from .options import (
    ConfigOptions,
    TrainingConfig,
    command,
    echo_data,
    find_component,
    make_folders,
    parse_numbers,
    refuse_idle,
    table,
    tell_written,
    write_data,
)
from .surface import NewName, before_value, tell_progress

RENAMED: dict[str, NewName] = {"--write": "--output", "--json": before_value("--results")}
THEN = "python -m spacy train {} --output FOLDER, with the paths of this command"


@command("search", "The search failed", "tagger.cfg space.toml --trials 30 --output best.cfg", renamed=RENAMED)
def search(
    source: Annotated[TrainingConfig, ConfigOptions()],
    space_path: Annotated[Path, typer.Argument(metavar="SPACE", help="TOML file: what is tried", exists=True)],
    score: Annotated[str | None, typer.Option(help="Score to search by; the weighted one without")] = None,
    minimise: Annotated[bool, typer.Option("--minimise", help="Look for the least score")] = False,
    trials: Annotated[int, typer.Option(help="Trials in all, those of an earlier run counted")] = 30,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which no trial begins")] = None,
    folds: Annotated[int, typer.Option(help="Cross-validate on the documents of the training corpus; 0: dev")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw of values, and of folds")] = 0,
    prune: Annotated[bool, typer.Option("--prune/--no-prune", help="Give up trials below the median")] = True,
    warmup: Annotated[int, typer.Option(help="Steps (folds) before a trial may be given up")] = 0,
    component: Annotated[str | None, typer.Option(help="Owner of the templates; the first that has some")] = None,
    storage: Annotated[Path | None, typer.Option(help="SQLite file: a search that is broken off goes on")] = None,
    top: Annotated[int, typer.Option(min=1, help="Trials in the table")] = 10,
    results: Annotated[Path | None, typer.Option(help="JSON file for all trials")] = None,
    output: Annotated[Path | None, typer.Option(help="File for the config with the best values set")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write all trials as JSON instead of tables")] = False,
    given: Collection[str] = (),
) -> None:
    """Train one config after the other and keep the best, with Optuna.

    A trial counts what the model scores that spacy train would keep, before it fits a threshold or temperature that is
    "auto". Settings of the config are overridden as in spacy train, e.g. --paths.train FILE. With --folds, the dev
    corpus is not used.
    """
    make_folders(results, output, storage)
    space, settings = read_space(space_path), SearchSettings(score, minimise, folds, seed, prune, warmup)
    refuse_idle(
        given,
        ("warmup", prune, "--prune"),
        ("component", space.has_templates, "a space with templates"),
    )
    config = source.load()
    candidates = Candidates(config, space, component)
    candidates.check(folds)
    identity = {"config": config, "space": space, "component": candidates.component}
    if storage is not None:
        code = None if source.code is None else blake2b(source.code.read_bytes()).hexdigest()
        identity |= {"data": digest_data(config.interpolate(), storage), "code": code}
    with held(storage):
        found = ConfigSearch(candidates, space, settings, storage, identity).run(trials, timeout, tell_trial)
    try:
        write_data(found.to_data(), results)
        write_config(candidates.make(found.best.values), output)
    finally:  # what took hours is shown where it cannot be written
        echo_data(found.to_data(), as_json, format_search(found, top))
    tell_written(results)
    tell_written(output, then=THEN)


@contextmanager
def held(storage: Path | None) -> Iterator[None]:
    """Keep other searches from a storage: what one tries, another would take for broken off. The lock is SQLite's, so
    that a process that is killed holds none."""
    if storage is None:
        yield
        return
    path = storage.with_name(f"{storage.name}-lock")
    with ExitStack() as opened:
        try:
            lock = opened.enter_context(closing(sqlite3.connect(path, timeout=0, isolation_level=None)))
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            problem = "another search uses it now" if "locked" in str(error) else f"{path}: {error}"
            raise CRFError(LabErrors.CRF634.format(path=storage, problem=problem)) from error
        yield
    path.unlink(missing_ok=True)


def write_config(config: Config, path: Path | None) -> None:
    """Write a config with its variables, if it was asked for."""
    if path is not None:
        write_whole(path, config.to_str(interpolate=False))


def format_search(found: SearchResult, top: int) -> Iterator[str]:
    """Yield the best trials, how many there were of each kind, and how much each parameter sets good ones apart."""
    names = list(found.best.values)
    are_shares = all(0 <= (trial.score or 0.0) <= 1 for trial in found.ranked)  # a mean size of sets is none
    rows = [
        (
            f"{trial.number}",
            f"{100 * (trial.score or 0.0):.2f}" if are_shares else f"{trial.score:.4g}",
            f"{trial.steps}",
            f"{trial.seconds:.1f}",
            *(_shown(trial.values[name]) for name in names),
        )
        for trial in found.ranked[:top]
    ]
    header = ("trial", found.score or "score", "steps", "seconds", *short_names(names))
    states = [trial.state for trial in found.trials]
    counts = ", ".join(f"{states.count(state)} {state}" for state in ("complete", "pruned", "failed"))
    yield f"{table(rows, header, 'r')}{len(states)} trials: {counts}"
    if found.importances:
        short = dict(zip(names, short_names(names)))
        shares = [(short[name], f"{100 * value:.1f} %") for name, value in found.importances.items()]
        yield table(shares, ("parameter", "importance"), "lr")


def short_names(names: list[str]) -> list[str]:
    """Return as many of the last parts of dotted names as tell them apart."""
    found = []
    for name in names:
        parts, length = name.split("."), 1
        others = [other for other in names if other != name]
        while any(f".{other}".endswith("." + ".".join(parts[-length:])) for other in others) and length < len(parts):
            length += 1
        found.append(".".join(parts[-length:]))
    return found


def _shown(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def tell_trial(trial: TrialResult) -> None:
    """Tell a trial on standard error."""
    values = ", ".join(
        f"{name} = {_shown(value)}" for name, value in zip(short_names(list(trial.values)), trial.values.values())
    )
    outcome = trial.error or (trial.state if trial.score is None else f"{trial.score:.4f}")
    tell_progress(f"Trial {trial.number}: {outcome}, {trial.seconds:.1f} s; {values}")


# -- penalties ---------------------------------------------------------------------------------------------------


@command(
    "tune", "Nothing was tuned", "tagger.cfg --paths.train train --c2 0.1,1,10 --output tuned.cfg", renamed=RENAMED
)
def tune(
    source: Annotated[TrainingConfig, ConfigOptions()],
    component: Annotated[str | None, typer.Option(help="Name of the component; the first crf_tagger without")] = None,
    c1: Annotated[str, typer.Option(help="L1 penalties to try, e.g. 0,0.1,1")] = "0",
    c2: Annotated[str, typer.Option(help="L2 penalties to try, e.g. 0.01,0.1,1")] = "0.01,0.1,1",
    folds: Annotated[int, typer.Option(help="Parts, each of which is held out once")] = 5,
    unit: Annotated[Unit, typer.Option(help="What is never divided; auto: documents if enough")] = "auto",
    seed: Annotated[int, typer.Option(min=0, help="Of the draw of the folds")] = 0,
    iterations: Annotated[int, typer.Option(help="Iterations of L-BFGS for each fit, at most")] = 100,
    rule: Annotated[Rule, typer.Option(help="The best, or the most regularised within a standard error")] = "best",
    results: Annotated[Path | None, typer.Option(help="JSON file for all results")] = None,
    output: Annotated[Path | None, typer.Option(help="File for the config with the choice set")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write all results as JSON instead of a table")] = False,
) -> None:
    """Choose c1 and c2 by cross-validation: each pair is trained on all folds but one and scored on that one.

    Settings of the config are overridden as in spacy train, e.g. --paths.train FILE. The dev corpus is not used, so
    that a threshold or temperature that is "auto" is not fitted.
    """

    def tell(result: FoldResult) -> None:
        penalties = f"c1 = {result.c1:g}, c2 = {result.c2:g}"
        score = "no score" if isnan(result.score) else f"{100 * result.score:.2f}"
        tell_progress(f"Fold {result.fold + 1} of {folds}, {penalties}: {score}, {result.seconds:.1f} s")

    penalties = parse_numbers("c1", c1), parse_numbers("c2", c2)
    make_folders(results, output)
    config = source.load()
    nlp = init_nlp(without_dev(config))
    name = find_component(nlp, component, "crf_tagger", LabelsTokens)
    check_source(config, f"components.{name}.trainer")
    settings: dict[str, Any] = {"folds": folds, "unit": unit, "seed": seed, "iterations": iterations, "rule": rule}
    examples = training_examples(nlp, name)
    texts = scored_texts(nlp.config.interpolate())
    scored = training_examples(nlp, name, texts) if texts else None
    found = cross_validate(nlp, name, examples, *penalties, **settings, scored=scored, on_result=tell)
    changed, trainer = config.copy(), trainer_block(config.interpolate()["components"][name])
    changed["components"][name]["trainer"] = {**trainer, "c1": found.chosen.c1, "c2": found.chosen.c2}
    try:
        write_data(found.to_data(), results)
        write_config(changed, output)
    finally:
        chosen = f"c1 = {found.chosen.c1:g}, c2 = {found.chosen.c2:g}"
        echo_data(found.to_data(), as_json, (format_settings(found), chosen))
    tell_written(results)
    tell_written(output, then=THEN)


def training_examples(nlp: Language, name: str, changes: Mapping[str, Any] | None = None) -> list[Example]:
    """Read the training corpus of an initialised pipeline, as one of its components sees it. changes (Mapping | None):
    settings of the corpus to be read with instead.

    RAISES (ValueError): where a component that annotates in training is trained itself.
    """
    config = nlp.config.interpolate()
    training = config["training"]
    dot_to_object(config, training["train_corpus"]).update(changes or {})
    (corpus,) = resolve_dot_names(config, [training["train_corpus"]])
    annotating = [other for other in training["annotating_components"] if other != name]
    for other in annotating:
        if isinstance(nlp.get_pipe(other), TrainablePipe) and other not in training["frozen_components"]:
            raise CRFError(LabErrors.CRF606.format(name=name, annotating=other))
    with nlp.select_pipes(enable=[*annotating, name]):
        return list(annotated(nlp, name, list(corpus(nlp))))


def format_settings(found: CrossValidation) -> str:
    """Show all settings with means over folds; the chosen one has a star."""
    rows = [
        (
            "*" if setting == found.chosen else "",
            f"{setting.c1:g}",
            f"{setting.c2:g}",
            f"{100 * setting.mean:.2f}",
            f"{100 * setting.deviation:.2f}",
            f"{setting.mean_of('loss'):.4f}",
            f"{setting.mean_of('n_active'):,.0f}",
            f"{setting.mean_of('iterations'):.0f}",
            f"{setting.seconds:.1f}",
        )
        for setting in found.settings
    ]
    header = ("", "c1", "c2", found.score, "std", "loss", "weights", "iterations", "seconds")
    return table(rows, header, "lr")
