"""Formatting: styles of the whole unit, indentation, and where they differ from the neighbours."""

from .view import UnitView, Values


def styles(view: UnitView) -> Values:
    """All styles of the unit as one value."""
    return Values.of_strings(["+".join(sorted(unit.styles)) for unit in view.units])


def is_emphasised(view: UnitView) -> Values:
    """Any style at all."""
    return Values.of_strings(["1" if unit.styles else "" for unit in view.units])


def heading(view: UnitView) -> Values:
    """The mark-up calls it a heading or a title."""
    found = (next((s for s in sorted(unit.styles) if s.startswith(("heading", "title"))), "") for unit in view.units)
    return Values.of_strings(list(found))


def indent(view: UnitView) -> Values:
    """Indentation, in ranges of white-space characters."""
    return Values.of_strings(["" if unit.indent <= 0 else str(min(unit.indent, 8) // 2) for unit in view.units])


def styles_before(view: UnitView) -> Values:
    """Styles of the text before."""
    return styles(view).take(view.before(view.is_text))


def styles_after(view: UnitView) -> Values:
    """Styles of the next text."""
    return styles(view).take(view.after(view.is_text))
