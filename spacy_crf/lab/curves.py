"""Curves as pictures, drawn by matplotlib, which is imported only where one is asked for."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..core.errors import CRFError
from .errors import LabErrors

INCHES = (6.0, 4.0)
DOTS_PER_INCH = 150


def check_plotting() -> None:
    """Raise a coded error unless curves can be drawn: before the work begins, not behind it."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise CRFError(LabErrors.CRF627) from error


def draw_curves(
    path: Path, x_name: str, y_name: str, lines: Mapping[str, Sequence[tuple[float, float, float]]], log_x: bool = False
) -> None:
    """Draw lines with a band of one standard deviation.

    path (Path): of the PNG file. x (str), y (str): what the axes are called.
    lines (Mapping): by name for the legend: x, y and standard deviation of each point, by ascending x.
    log_x (bool): a logarithmic axis of x.
    """
    check_plotting()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES, layout="constrained")
    FigureCanvasAgg(figure)  # needs no display
    axes = figure.add_subplot()
    for name, points in lines.items():
        xs, ys, deviations = zip(*points)
        axes.plot(xs, ys, marker="o", markersize=4, label=name)
        below, above = ([y + sign * by for y, by in zip(ys, deviations)] for sign in (-1, 1))
        axes.fill_between(xs, below, above, alpha=0.15)
    if log_x:
        axes.set_xscale("log")
        ticks = sorted({point[0] for points in lines.values() for point in points})
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
        axes.minorticks_off()
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    axes.grid(alpha=0.3)
    if len(lines) > 1:
        axes.legend()
    figure.savefig(path, dpi=DOTS_PER_INCH)
