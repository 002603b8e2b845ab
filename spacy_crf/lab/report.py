"""All of an experiment as data that JSON can hold, and its curves, drawn by matplotlib where they are asked for."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from ..core.errors import required
from . import results
from .errors import LabErrors
from .results import Experiment, PartResult, Spread, SystemResult
from .splits import SplitSettings
from .statistics import Names, nest

INCHES = (6.0, 4.0)
DOTS_PER_INCH = 150
DIGITS = 6
LIBRARIES = ("spacy-crf", "spacy", "numpy", "scipy")
Points = list[tuple[float, Spread]]


class Curve(NamedTuple):
    """Lines of systems in one picture: the name of its file, of its axes, and the points of each line by its name."""

    name: str
    x: str
    y: str
    lines: dict[str, Points]


def to_data(experiment: Experiment) -> dict[str, Any]:
    """Return settings, results of all test parts, their summaries, and comparisons of systems."""
    return {
        "settings": {**asdict(experiment.settings), "by": experiment.settings.unit},
        "documents": list(experiment.documents),
        "systems": [_system_data(system, experiment.settings) for system in experiment.systems],
        "differences": [difference.to_data() for difference in results.compare_all(experiment)],
    }


def _system_data(system: SystemResult, settings: SplitSettings) -> dict[str, Any]:
    groups = [
        {"series": series, "fraction": fraction, **_group_data(tests, settings)}
        for (series, fraction), tests in system.groups.items()
    ]
    tests = [test.to_data() for test in system.tests]
    return {"name": system.name, "component": system.component, "groups": groups, "tests": tests}


def _group_data(tests: list[PartResult], settings: SplitSettings) -> dict[str, Any]:
    rows = results.tag_rows(results.sum_confusions(tests))
    pooled, curves = results.pooled_by_draw(tests), results.average_curves(tests)
    spreads = results.summarise(tests, settings.seed, settings.kind)
    return {
        "scores": {name: asdict(found) for name, found in spreads.items()},
        "tags": [asdict(row) for row in rows],
        "pooled": {tag: {name: asdict(found) for name, found in own.items()} for tag, own in pooled.items()},
        "frequency_correlation": results.frequency_correlation(tests),
        "curves": {name: [{"x": x, **asdict(y)} for x, y in points.items()] for name, points in curves.items()},
    }


def summary_data(experiment: Experiment) -> dict[str, Any]:
    """Return the figures of an experiment under the keys of `evaluation.Figures.to_data`: those of the first system.

    Figures are means over test parts, with standard deviations, and 95 % intervals: over test parts, corrected as
    these share training data, or over documents where they do not. Labels are pooled over test parts. Of several
    groups, such as fractions of the training data, the last one stands first; all are in "groups". Others than the
    first system are in "against", and how they differ from it in "differences".
    """
    first, *others = (_summarise_system(system, experiment.settings) for system in experiment.systems)
    splits = {**asdict(experiment.settings), "by": experiment.settings.unit}
    against = {"against": others, "differences": to_data(experiment)["differences"]} if others else {}
    return dict(round_numbers({"splits": splits, **first, **against}))


def _summarise_system(system: SystemResult, settings: SplitSettings) -> dict[str, Any]:
    groups = [
        {"series": series, "fraction": fraction, **_summarise_group(tests, settings)}
        for (series, fraction), tests in system.groups.items()
    ]
    named = {"name": system.name, "component": system.component, **groups[-1]}
    return {**named, "groups": groups} if len(groups) > 1 else named


def _summarise_group(tests: list[PartResult], settings: SplitSettings) -> dict[str, Any]:
    spreads, by_label = results.summarise(tests, settings.seed, settings.kind), results.average_labels(tests)
    figures: dict[Names, Spread] = {(name,): found for name, found in spreads.items()}
    for name, labels in by_label.items():
        figures |= {(name, label, kind): found for label, own in labels.items() for kind, found in own.items()}
    corrected = {path: list(found.corrected) for path, found in figures.items() if found.corrected}
    documents = {path: [one.interval.low, one.interval.high] for path, one in figures.items() if one.interval}
    pooled = results.pooled_by_draw(tests) if len({test.draw for test in tests}) > 1 else {}
    confusions = results.sum_confusions(tests)
    return {
        "counts": {
            "test_parts": len(tests),
            "documents": len({document.name for test in tests for document in test.documents}),
            "tokens": fmean(test.test_tokens for test in tests),
            "labels": max(test.labels for test in tests),
            "tokens_trained_on": fmean(test.train_tokens for test in tests),
        },
        "unknown_words": mean_unknown(tests),
        "scores": nest({path: found.mean for path, found in figures.items()}),
        "deviations": nest({path: found.deviation for path, found in figures.items()}),
        "intervals": nest(corrected or documents),
        "intervals_over": "test parts" if corrected else "documents" if documents else None,
        "labels": results.label_data(confusions),
        "labels_deviations": {tag: {name: one.deviation for name, one in own.items()} for tag, own in pooled.items()},
        "curves": {
            name: {f"{x:g}": y.mean for x, y in points.items()}
            for name, points in results.average_curves(tests).items()
        },
        "confusions": nest(dict(sorted(confusions.items()))),
        "speed": {"training_seconds": fmean(test.seconds for test in tests)},
    }


def mean_unknown(tests: Iterable[PartResult]) -> float:
    """Return the mean share of unknown words, over the test parts that have gold."""
    return fmean([test.unknown_words for test in tests if test.unknown_words is not None] or [0.0])


def round_numbers(data: Any) -> Any:
    """Round the numbers in data for JSON to six digits, so that files can be compared; None is left out of mappings."""
    if isinstance(data, Mapping):
        return {str(key): round_numbers(value) for key, value in data.items() if value is not None}
    if isinstance(data, list | tuple):
        return [round_numbers(value) for value in data]
    return round(data, DIGITS) if isinstance(data, float) else data


def describe_libraries() -> dict[str, str]:
    """Tell the versions of the libraries that figures depend on."""
    return {name: version(name) for name in LIBRARIES}


def find_curves(experiment: Experiment) -> list[Curve]:
    """Return curves of measures by a setting, and of scores by the fractions of the training data that were taken."""
    found: dict[str, Curve] = {}
    for system in experiment.systems:
        several = len({test.fraction for test in system.tests}) > 1
        for (series, fraction), tests in system.groups.items():
            line = ", ".join(filter(None, [system.name, series]))
            if not several or fraction == 1:
                for name, points in results.average_curves(tests).items():
                    y, _, x = name.partition(" by ")
                    curve = found.setdefault(name, Curve(name.replace(" ", "_"), x, y, {}))
                    curve.lines[line] = sorted(points.items())
            for name, point in results.summarise(tests, experiment.settings.seed).items() if several else ():
                x = "share of the training data"
                curve = found.setdefault(f"{name} by {x}", Curve(f"{name}_by_fraction", x, name, {}))
                curve.lines.setdefault(line, []).append((fraction, point))
    return list(found.values())


def check_plotting() -> None:
    """Raise a coded error unless curves can be drawn: before the work begins, not behind it."""
    with required(LabErrors.CRF627):
        import matplotlib  # noqa: F401


def draw_curve(path: Path, curve: Curve) -> None:
    """Draw lines with a band of one standard deviation to a PNG file; betas have a logarithmic axis."""
    check_plotting()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES, layout="constrained")
    FigureCanvasAgg(figure)  # needs no display
    axes = figure.add_subplot()
    for name, points in curve.lines.items():
        xs = [x for x, _ in points]
        axes.plot(xs, [y.mean for _, y in points], marker="o", markersize=4, label=name)
        below, above = ([y.mean + sign * (y.deviation or 0.0) for _, y in points] for sign in (-1, 1))
        axes.fill_between(xs, below, above, alpha=0.15)
    if curve.x == "beta":
        axes.set_xscale("log")
        ticks = sorted({x for points in curve.lines.values() for x, _ in points})
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
        axes.minorticks_off()
    axes.set_xlabel(curve.x)
    axes.set_ylabel(curve.y)
    axes.grid(alpha=0.3)
    if len(curve.lines) > 1:
        axes.legend()
    figure.savefig(path, dpi=DOTS_PER_INCH)
