"""All of an experiment as data that JSON can hold, and its curves, drawn by matplotlib where they are asked for."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from ..core.errors import CRFError
from . import results
from .errors import LabErrors
from .results import Experiment, PartResult, Spread, SystemResult

INCHES = (6.0, 4.0)
DOTS_PER_INCH = 150
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
        "systems": [_system_data(system, experiment.settings.seed) for system in experiment.systems],
        "differences": [difference.to_data() for difference in results.compare_all(experiment)],
    }


def _system_data(system: SystemResult, seed: int) -> dict[str, Any]:
    groups = [
        {"series": series, "fraction": fraction, **_group_data(tests, seed)}
        for (series, fraction), tests in system.groups.items()
    ]
    tests = [test.to_data() for test in system.tests]
    return {"name": system.name, "component": system.component, "groups": groups, "tests": tests}


def _group_data(tests: list[PartResult], seed: int) -> dict[str, Any]:
    rows = results.tag_rows(results.sum_confusions(tests))
    pooled, curves = results.pooled_by_draw(tests), results.average_curves(tests)
    return {
        "scores": {name: asdict(found) for name, found in results.summarise(tests, seed).items()},
        "tags": [{**asdict(row), **{name: getattr(row, name) for name in results.POOLED}} for row in rows],
        "pooled": {tag: {name: asdict(found) for name, found in own.items()} for tag, own in pooled.items()},
        "frequency_correlation": results.frequency_correlation(tests),
        "curves": {name: [{"x": x, **asdict(y)} for x, y in points.items()] for name, points in curves.items()},
    }


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
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise CRFError(LabErrors.CRF627) from error


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
