"""All of an experiment as data that JSON can hold, and the curves that can be drawn of it."""

from dataclasses import asdict
from typing import Any, NamedTuple

from .comparison import compare_all
from .results import Experiment, PartResult, SystemResult
from .summary import (
    POOLED,
    Spread,
    average_curves,
    frequency_correlation,
    pooled_by_draw,
    sum_confusions,
    summarise,
    tag_rows,
)

Points = list[tuple[float, Spread]]


class Curve(NamedTuple):
    """Lines of systems in one picture.

    name (str): of the file. x (str), y (str): of the axes. lines (dict): points of each line, by its name.
    """

    name: str
    x: str
    y: str
    lines: dict[str, Points]


def to_data(experiment: Experiment) -> dict[str, Any]:
    """Settings, results of all test parts, their summaries, and comparisons of systems."""
    return {
        "settings": {**asdict(experiment.settings), "by": experiment.settings.unit},
        "documents": list(experiment.documents),
        "systems": [_system_data(system, experiment.settings.seed) for system in experiment.systems],
        "differences": [difference.to_data() for difference in compare_all(experiment)],
    }


def _system_data(system: SystemResult, seed: int) -> dict[str, Any]:
    groups = [
        {"series": series, "fraction": fraction, **_group_data(tests, seed)}
        for (series, fraction), tests in system.groups.items()
    ]
    tests = [test.to_data() for test in system.tests]
    return {"name": system.name, "component": system.component, "groups": groups, "tests": tests}


def _group_data(tests: list[PartResult], seed: int) -> dict[str, Any]:
    tags = [{**asdict(row), **{name: getattr(row, name) for name in POOLED}} for row in tag_rows(sum_confusions(tests))]
    curves = {
        name: [{"x": x, **asdict(point)} for x, point in points.items()]
        for name, points in average_curves(tests).items()
    }
    return {
        "scores": {name: asdict(found) for name, found in summarise(tests, seed).items()},
        "tags": tags,
        "pooled": {
            tag: {name: asdict(found) for name, found in measures.items()}
            for tag, measures in pooled_by_draw(tests).items()
        },
        "frequency_correlation": frequency_correlation(tests),
        "curves": curves,
    }


def find_curves(experiment: Experiment) -> list[Curve]:
    """Curves of measures by a setting, and, where fractions of the training data were taken, of all scores by these.

    RETURNS (list[Curve]): each with a line for each system, and for each series if there are several.
    """
    found: dict[str, Curve] = {}
    for system in experiment.systems:
        several = len({test.fraction for test in system.tests}) > 1
        for (series, fraction), tests in system.groups.items():
            line = ", ".join(filter(None, [system.name, series]))
            if not several or fraction == 1:
                for name, points in average_curves(tests).items():
                    y, _, x = name.partition(" by ")
                    curve = found.setdefault(name, Curve(name.replace(" ", "_"), x, y, {}))
                    curve.lines[line] = sorted(points.items())
            for name, point in summarise(tests, experiment.settings.seed).items() if several else ():
                x = "share of the training data"
                curve = found.setdefault(f"{name} by {x}", Curve(f"{name}_by_fraction", x, name, {}))
                curve.lines.setdefault(line, []).append((fraction, point))
    return list(found.values())
