"""Charts of a page, without scripts and in its colours: lines, reliability diagrams, and matrices of confusions."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Any

from ..annotation.parts import element
from ..core.calibration import Reliability

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 12, 40  # room for numbers and names of axes
TICKS = 4  # steps of an axis, at most
ROUND = (1, 2, 2.5, 5, 10)  # numbers that steps are, times a power of ten
COLOURS = ("var(--accent)", "rgb(var(--doubt))", "#3d8c5f", "#8a5fb0", "#b0485f")
LINES = tuple((colour, opacity) for opacity in (1.0, 0.6, 0.3) for colour in COLOURS)
Points = Sequence[tuple[float, float]]


class Axis:
    """Where values lie between two places of a picture."""

    def __init__(self, values: Sequence[float], low: float, high: float):
        self.least, self.greatest = min(values), max(values)
        if self.least == self.greatest:
            self.least, self.greatest = self.least - 0.5, self.greatest + 0.5
        self.low, self.high = low, high

    def __call__(self, value: float) -> float:
        share = (value - self.least) / (self.greatest - self.least)
        return round(self.low + share * (self.high - self.low), 2)

    @property
    def ticks(self) -> list[float]:
        """Round values at equal distances."""
        least_step = (self.greatest - self.least) / TICKS
        power = 10.0 ** math.floor(math.log10(least_step))
        step = next(number * power for number in ROUND if number * power >= least_step * 0.999)
        first, last = math.ceil(self.least / step - 1e-9), math.floor(self.greatest / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def line_chart(lines: Mapping[str, Points], x: str, y: str) -> str:
    """Lines by name, with a dot for each point. x, y (str): names of the axes. O(points)."""
    points = [point for own in lines.values() for point in own]
    across = Axis([one for one, _ in points], LEFT, WIDTH - RIGHT)
    up = Axis([one for _, one in points], HEIGHT - BOTTOM, TOP)
    drawn = [_frame(across, up, x, y)]
    for (name, own), (colour, opacity) in zip(lines.items(), cycle(LINES)):
        places = [(across(a), up(b)) for a, b in own]
        told = "; ".join(f"{a:g}: {b:.4g}" for a, b in own)
        path = " ".join(f"{a},{b}" for a, b in places)
        dots = "".join(element("circle", cx=a, cy=b, r=3, fill=colour) for a, b in places)
        line = element("polyline", points=path, fill="none", stroke=colour, stroke_width=2)
        drawn.append(element("g", element("title", escape(f"{name}: {told}")) + line + dots, opacity=opacity))
    return _figure("".join(drawn), f"{y} by {x}", list(lines) if len(lines) > 1 else [])


def reliability_diagram(found: Reliability, title: str = "") -> str:
    """How often predictions were right by how sure they were, in bins; bars below the diagonal were too sure."""
    unit = Axis([0.0, 1.0], LEFT, WIDTH - RIGHT)
    up = Axis([0.0, 1.0], HEIGHT - BOTTOM, TOP)
    drawn = [_frame(unit, up, "probability", "share that is right")]
    rows = zip(found.lower, found.upper, found.counts, found.confidences, found.accuracies)
    for low, high, count, confidence, accuracy in rows:
        if not count:
            continue
        told = f"{low:.2f} to {high:.2f}: {count:,}, mean {confidence:.3f}, right {accuracy:.3f}"
        place: dict[str, Any] = {
            "x": unit(low) + 1,
            "y": up(accuracy),
            "width": unit(high) - unit(low) - 2,
            "height": up(0.0) - up(accuracy),
        }
        bar = element("rect", fill="var(--accent)", opacity=0.75, **place)
        mean = element("circle", cx=unit(confidence), cy=up(accuracy), r=3, fill="rgb(var(--doubt))")
        drawn.append(element("g", element("title", escape(told)) + bar + mean))
    diagonal = element("line", x1=unit(0), y1=up(0), x2=unit(1), y2=up(1), stroke="var(--soft)", stroke_dasharray="4 4")
    caption = f"{title}: error {found.error:.4f}" if title else f"expected calibration error {found.error:.4f}"
    return _figure("".join([*drawn, diagonal]), caption, [])


def _frame(across: Axis, up: Axis, x: str, y: str) -> str:
    """Axes with numbers and names."""
    drawn = []
    for value in up.ticks:
        place = up(value)
        drawn.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=place, y2=place, stroke="var(--line)"))
        drawn.append(_text(f"{value:.4g}", LEFT - 6, place + 4, text_anchor="end"))
    drawn += [_text(f"{value:.4g}", across(value), HEIGHT - BOTTOM + 16) for value in across.ticks]
    middle = (HEIGHT - BOTTOM) / 2
    names = _text(x, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6) + _text(
        y, 12, middle, transform=f"rotate(-90 12 {middle})"
    )
    return "".join(drawn) + names


def _text(text: str, x: float, y: float, **attributes: str) -> str:
    given = {"text_anchor": "middle", "fill": "var(--quiet)", "font_size": "11", **attributes}
    return element("text", escape(text), x=x, y=y, **given)


def _figure(drawn: str, caption: str, names: Sequence[str]) -> str:
    """A picture with its caption, and the colours of its lines."""
    picture = element("svg", drawn, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=caption)
    keys = "".join(
        element("span", element("i", style=f"background:{colour};opacity:{opacity}") + escape(name), class_="line")
        for name, (colour, opacity) in zip(names, cycle(LINES))
    )
    return element("figure", picture + element("figcaption", escape(caption) + keys))


def confusion_matrix(counts: Mapping[tuple[str, str], int], labels: Sequence[str]) -> str:
    """How often each of some gold labels (a row) has each predicted one (a column), shaded by the share of the row."""
    names = [escape(label or "–") for label in labels]
    heads = "".join(element("th", element("span", name), scope="col") for name in names)
    rows = [element("tr", element("td") + heads)]
    for gold, name in zip(labels, names):
        total = sum(count for (own, _), count in counts.items() if own == gold)
        cells = "".join(_cell(gold, found, counts.get((gold, found), 0), total) for found in labels)
        rows.append(element("tr", element("th", name, scope="row") + cells))
    return element("div", element("table", "".join(rows), class_="matrix"), class_="wide")


def _cell(gold: str, found: str, count: int, total: int) -> str:
    if not count:
        return element("td")
    told = {"title": f"{gold or 'none'} as {found or 'none'}: {count:,}", "style": f"--share:{count / total:.3f}"}
    return element("td", f"{count}", class_="right" if gold == found else "wrong", **told)
