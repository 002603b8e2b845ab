"""`python -m spacy crf experiment`: trains and tests configs on many splits of their training corpus."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from spacy.cli._util import parse_config_overrides
from thinc.api import Config

from ..core.errors import CRFError
from ..lab import results
from ..lab.documents import Grams
from ..lab.errors import LabErrors
from ..lab.evaluation import show_figure
from ..lab.experiment import RunSettings, run_experiment
from ..lab.report import (
    check_plotting,
    describe_libraries,
    draw_curve,
    find_curves,
    mean_unknown,
    summary_data,
    to_data,
)
from ..lab.results import Experiment, PartResult, Spread, SystemDifference, SystemResult
from ..lab.sampling import By
from ..lab.splits import FRACTIONS, WHOLE, Kind, SplitSettings
from .options import (
    ConfigOptions,
    TrainingConfig,
    command,
    confusion_table,
    echo_data,
    make_folders,
    parse_numbers,
    refuse_idle,
    table,
    tell_written,
    write_data,
)
from .surface import before_value, tell_progress

BY_DOCUMENT = ("in-domain", "cross-domain", "robustness", "size", "pruning")  # kinds that test documents one by one
POOLED_NAMES = ("precision", "recall", "F", "F0.5")
MOST_ROWS = 15  # of tags and confusions
WIDTH = 100  # of names, at most


@command(
    "experiment",
    "The experiment failed",
    "tagger.cfg --paths.train train --paths.dev dev --kind kfold --folds 5 --output figures.json",
    renamed={"--json": before_value("--results")},
)
def experiment(
    config: Annotated[TrainingConfig, ConfigOptions()],
    against: Annotated[list[Path] | None, typer.Option(help="Another config, on the same splits", exists=True)] = None,
    vary: Annotated[
        list[str] | None, typer.Option(help="The same config with another setting, KEY=VALUE, on the same splits")
    ] = None,
    kind: Annotated[Kind, typer.Option(help="What is trained and tested on")] = "kfold",
    by: Annotated[By | None, typer.Option(help="What is drawn; without: documents, or chunks of each")] = None,
    folds: Annotated[int, typer.Option(help="Parts of kfold")] = 10,
    repeats: Annotated[int, typer.Option(help="Draws, each with other splits")] = 1,
    test_share: Annotated[float, typer.Option(help="Of what is drawn, for all kinds but kfold")] = 0.2,
    least_tokens: Annotated[int, typer.Option(help="Of a document that is tested by itself")] = 0,
    fractions: Annotated[str, typer.Option(help="Of the training data, for curve, pruning and active")] = ",".join(
        map(str, FRACTIONS)
    ),
    distance: Annotated[Grams, typer.Option(help="What pruning compares documents by")] = "characters",
    seed: Annotated[int, typer.Option(min=0, help="Of all draws")] = 0,
    with_dev: Annotated[bool, typer.Option("--with-dev", help="Split the dev corpus as well")] = False,
    dev_share: Annotated[
        float | None, typer.Option(help="Share of each training part that takes the place of the dev corpus")
    ] = None,
    component: Annotated[str | None, typer.Option(help="Whose scores count; the last one with a scorer")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=1024, help="Processes")] = 1,
    output: Annotated[
        Path | None, typer.Option(help="JSON file for the figures and what they were made of, as of crf evaluate")
    ] = None,
    results_path: Annotated[
        Path | None, typer.Option("--results", help="JSON file for the results of all documents too")
    ] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for curves as PNG; needs matplotlib")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write the figures as JSON instead of tables")] = False,
    given: Collection[str] = (),
) -> None:
    """Train and test a pipeline, or several, on splits of the training corpus, each split in the way of spacy train.

    Kinds: kfold; monte-carlo (a random part, again and again); in-domain (within each document); cross-domain (leave
    one document out); robustness (train on parts of all, test on the rest of each); across (test on all the rest);
    shuffling (random sentences against contiguous chunks); size (test on the large documents); pruning (train on
    the documents nearest to the one tested); curve (fractions of the training data); active (the same, as if they
    were checked one after the other: in random order, the least certain first, or what is expected to tell most).

    Settings of all configs are overridden as in spacy train, e.g. --paths.train DIR.
    """
    refuse_options_of_other_kinds(given, kind, by)
    make_folders(output, results_path, plots and plots / "curve.png")
    if plots is not None:
        check_plotting()
    shares = tuple(parse_numbers("fractions", fractions))
    splitting = SplitSettings(kind, by, folds, repeats, test_share, shares, least_tokens, seed)
    running = RunSettings(component, with_dev, dev_share, distance, jobs, config.code)
    paths = [config.path, *(against or [])]
    found = run_experiment(load_configs(config, paths, vary or []), splitting, running, tell_split)
    told = {"configs": [path.name for path in paths], "overrides": without_folders(config.overrides)}
    figures = {"made_of": {**told, "libraries": describe_libraries()}, **summary_data(found)}
    curves = {} if plots is None else {plots / f"{curve.name}.png": curve for curve in find_curves(found)}
    try:
        write_data(figures, output)
        write_data(to_data(found), results_path)
        for path, curve in curves.items():
            draw_curve(path, curve)
    finally:  # what took hours is shown where it cannot be written
        echo_data(figures, as_json, format_experiment(found))
    for written in (output, results_path, *curves):
        tell_written(written)


def refuse_options_of_other_kinds(given: Collection[str], kind: Kind, by: By | None) -> None:
    """Raise a coded error for an option that says nothing for a kind of splits."""
    is_whole = kind in WHOLE or (kind == "cross-domain" and by in (None, "document"))
    refuse_idle(
        given,
        ("by", kind != "shuffling", "kinds other than shuffling, which draws both sentences and chunks,"),
        ("folds", kind == "kfold", "--kind kfold"),
        ("test_share", kind != "kfold" and not is_whole, "kinds that draw a test part"),
        ("least_tokens", kind in BY_DOCUMENT, f"--kind {', '.join(BY_DOCUMENT)}"),
        ("fractions", kind in ("curve", "pruning", "active"), "--kind curve, pruning or active"),
        ("distance", kind == "pruning", "--kind pruning"),
    )


def load_configs(config: TrainingConfig, paths: Sequence[Path], vary: Sequence[str]) -> dict[str, Config]:
    """Load the configs that are compared, by the names of their files, or by their paths where two have one name; those
    with another setting by this. What is given twice is numbered."""
    stems = [path.stem for path in paths]
    sources = [
        (stem if stems.count(stem) == 1 else str(path), replace(config, path=path)) for path, stem in zip(paths, stems)
    ]
    sources += [(text, replace(config, overrides=config.overrides | read_setting(text))) for text in vary]
    names = [name for name, _ in sources]
    return {
        name if names.count(name) == 1 else f"{name} ({names[:place].count(name) + 1})": source.load()
        for place, (name, source) in enumerate(sources)
    }


def read_setting(text: str) -> dict[str, Any]:
    """Read a setting and its value, KEY=VALUE, as spacy train reads them."""
    key, sign, value = text.partition("=")
    if not (sign and "." in key):
        raise CRFError(LabErrors.CRF655.format(value=text))
    return dict(parse_config_overrides([f"--{key}={value}"]))


def without_folders(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings that were given; of files and folders, their names alone."""

    def shorten(value: Any) -> Any:
        if isinstance(value, list):
            return [shorten(one) for one in value]
        return Path(value).name if isinstance(value, str) and Path(value).exists() else value

    return {name: shorten(value) for name, value in sorted(overrides.items())}


def tell_split(name: str, number: int, count: int, found: list[PartResult]) -> None:
    """Tell a split on standard error."""
    first = found[0]
    scores = ", ".join(f"{score} {value:.4g}" for score, value in list(first.scores.items())[:2])
    text = f"{number} of {count}, {name}, {first.split}: {scores or 'no score'}, {first.seconds:.1f} s"
    tell_progress(text)


# -- tables ------------------------------------------------------------------------------------------------------


def format_experiment(experiment: Experiment) -> Iterator[str]:
    """Yield the lines of all tables, each below a line that says what it is of."""
    for system in experiment.systems:
        for (series, fraction), tests in system.groups.items():
            yield _headline(system, series, fraction, tests)
            settings = experiment.settings
            yield format_spreads(results.summarise(tests, settings.seed, settings.kind))
        yield from _single_tests(system)
        (series, _), last = list(system.groups.items())[-1]
        yield from _tags(", ".join(filter(None, [system.name, series])), last)
    yield from _curves(experiment)
    if len(experiment.systems) > 1:
        yield from _differences(results.compare_all(experiment), _context(experiment.systems[0].tests))


def _headline(system: SystemResult, series: str, fraction: float, tests: Sequence[PartResult]) -> str:
    parts = [
        f"{system.name}, {system.component}",
        series,
        f"{100 * fraction:g} % of the training data" if fraction < 1 else "",
        f"{len(tests)} test part{'s' if len(tests) > 1 else ''}",
        f"{fmean(test.train_tokens for test in tests):,.0f} tokens trained on",
        f"{fmean(test.test_tokens for test in tests):,.0f} tested",
        _context(tests),
    ]
    return "\n" + ", ".join(filter(None, parts))


def _context(tests: Sequence[PartResult]) -> str:
    """Tell what every table needs: sets compare only for equal K, taggers only for equal unknown words."""
    labels = sorted({test.labels for test in tests})
    k = f"{labels[0]}" if len(labels) == 1 else f"{labels[0]} to {labels[-1]}"
    return f"K = {k} labels, {100 * mean_unknown(tests):.1f} % unknown words"


def format_spreads(spreads: dict[str, Spread]) -> str:
    """Show measures by name with their spread over test parts, and intervals over documents and over test parts.

    The latter are corrected for the training data that test parts share.
    """
    rows = []
    for name, found in spreads.items():
        interval = found.interval
        bounds = show_figure(name, interval.low, interval.high) if interval else ""
        deviation = "" if found.deviation is None else show_figure(name, found.deviation)
        least, greatest = show_figure(name, found.least), show_figure(name, found.greatest)
        corrected = show_figure(name, *(found.corrected or ()))
        rows.append((name, show_figure(name, found.mean), deviation, least, greatest, bounds, corrected))
    header = ("", "mean", "std", "min", "max", "95 % over documents", "95 % over test parts")
    return table(rows, header, "lr")


def _single_tests(system: SystemResult) -> Iterator[str]:
    """Show a row for each test part, if there are several."""
    if len(system.tests) < 2:
        return
    names = list(dict.fromkeys(name for test in system.tests for name in test.scores))
    n_splits = len({test.split for test in system.tests})
    rows = [
        (
            _row_name(test, n_splits),
            f"{test.train_tokens:,}",
            f"{test.test_tokens:,}",
            "" if test.unknown_words is None else f"{100 * test.unknown_words:.1f}",
            f"{test.labels}",
            *(show_figure(name, test.scores[name]) if name in test.scores else "" for name in names),
        )
        for test in system.tests
    ]
    yield f"\n{system.name}: test parts"
    header = ("", "trained", "tested", "unknown %", "K", *names)
    yield table(rows, header, "lr", WIDTH)


def _row_name(test: PartResult, n_splits: int) -> str:
    """Name the split, which says more if it names the test part, or both if several splits have several."""
    if test.test in test.split:
        return test.split
    return test.test if n_splits == 1 else f"{test.test}, {test.split}"


def _tags(name: str, tests: Sequence[PartResult]) -> Iterator[str]:
    """Show the most frequent tags and confusions, over the test parts of a group together."""
    confusions = results.sum_confusions(tests)
    if not confusions:
        return
    rows = [
        (row.tag, f"{row.gold:,}", *(f"{100 * getattr(row, name):.2f}" for name in results.POOLED))
        for row in results.tag_rows(confusions)
    ]
    yield f"\n{name}: the {min(MOST_ROWS, len(rows))} most frequent of {len(rows)} tags, {_context(tests)}"
    header = ("tag", "tokens", *POOLED_NAMES)
    yield table(rows[:MOST_ROWS], header, "lr")
    yield from _pooled(name, tests)
    wrong = [(gold, found, f"{count:,}") for (gold, found), count in confusions.most_common() if gold != found]
    if wrong and len(rows) <= MOST_ROWS:
        yield f"\n{name}: tokens by gold tag (rows) and predicted tag, {_context(tests)}"
        yield confusion_table(confusions)
    if wrong:
        yield f"\n{name}: most frequent confusions, {_context(tests)}"
        yield table(wrong[:MOST_ROWS], ("gold", "tagged", "tokens"), "llr")
    correlation = results.frequency_correlation(tests)
    if correlation is not None:
        yield f"Correlation of the frequency of a tag in training and its accuracy: {correlation:.2f}"


def _pooled(name: str, tests: Sequence[PartResult]) -> Iterator[str]:
    """Show tags pooled over the test parts of each draw, where there are several draws."""
    if len({test.draw for test in tests}) < 2:
        return
    rows = [
        (tag, *(f"{100 * own[name].mean:.2f} ± {100 * (own[name].deviation or 0):.2f}" for name in results.POOLED))
        for tag, own in results.pooled_by_draw(tests).items()
    ]
    yield f"\n{name}: the same, pooled over the test parts of each draw, mean and deviation over draws"
    header = ("tag", *POOLED_NAMES)
    yield table(rows[:MOST_ROWS], header, "lr")


def _curves(experiment: Experiment) -> Iterator[str]:
    """Show a row for each line, a column for each x."""
    context = _context(experiment.systems[0].tests)
    for curve in find_curves(experiment):
        xs = sorted({x for points in curve.lines.values() for x, _ in points})
        rows = []
        for name, points in curve.lines.items():
            values = dict(points)
            rows.append((name, *(show_figure(curve.y, values[x].mean) if x in values else "" for x in xs)))
        yield f"\n{curve.y} by {curve.x}, {context}"
        yield table(rows, ("", *(f"{x:g}" for x in xs)), "lr", WIDTH)


def _differences(differences: Sequence[SystemDifference], context: str) -> Iterator[str]:
    rows = []
    for found in differences:
        of = ", ".join(filter(None, [found.series, f"{found.fraction:g}" if found.fraction < 1 else ""]))
        interval, resampled = found.interval, found.resampled
        rows.append(
            (
                f"{found.first} - {found.second}",
                of,
                found.score,
                *(show_figure(found.score, value) for value in (found.first_mean, found.second_mean, found.mean)),
                show_figure(found.score, interval.low, interval.high) if interval else "",
                f"{found.ranks.p:.4f}",
                show_figure(found.score, resampled.low, resampled.high) if resampled else "",
                f"{resampled.p:.4f}" if resampled else "",
            )
        )
    yield f"\nDifferences on the same test parts, {context}"
    header = ("systems", "of", "score", "first", "second", "difference", "95 % over documents", "p Wilcoxon")
    yield table(rows, (*header, "95 % t", "p t"), "lllr", WIDTH)
    yield (
        "95 % t and p t: corrected resampled t-test, for splits that share training data. p Wilcoxon: signed ranks, "
        "two-sided; it takes differences as independent, which those of such splits are not."
    )
