"""Numbers and bullets of lists, as browsers show them."""

from collections.abc import Mapping

from ...core.grammar.numerals import numeral

BULLET = "- "
INDENT = "  "
DEEPEST = 20  # lists in lists that are indented
KINDS = {"1": "1", "a": "a", "A": "A", "i": "i", "I": "I"}


class ListCounter:
    """Counts the items of lists in lists."""

    def __init__(self) -> None:
        self.open: list[tuple[str, int]] = []  # kind of numeral, "" for bullets, and the number of the next item

    def begin(self, name: str, attributes: Mapping[str, str]) -> None:
        """A list begins. name (str): "ol" or "ul". attributes (Mapping[str, str]): `type` and `start` count."""
        kind = KINDS.get(attributes.get("type", "1"), "1") if name == "ol" else ""
        self.open.append((kind, _whole(attributes.get("start", ""), 1)))

    def marker(self, attributes: Mapping[str, str]) -> str:
        """What stands before the next item: indentation, number or bullet. attributes (Mapping): `value` counts."""
        if not self.open:
            return BULLET
        kind, number = self.open[-1]
        number = _whole(attributes.get("value", ""), number)
        self.open[-1] = kind, number + 1
        return INDENT * min(len(self.open) - 1, DEEPEST) + (f"{_spell(kind, number)}. " if kind else BULLET)

    def end(self) -> None:
        """A list ends."""
        if self.open:
            self.open.pop()


def _whole(text: str, otherwise: int) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else otherwise


def _spell(kind: str, number: int) -> str:
    limits = {"a": 26, "A": 26, "i": 3999, "I": 3999}
    return numeral(kind, number) if 0 < number <= limits.get(kind, 9999) else str(number)
