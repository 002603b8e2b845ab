"""Text and formatting, written in the order of a document."""

from .layout import Layout
from .unit import Run


class LayoutBuilder:
    """Collects a text and its runs. length (int): characters so far. ink (int): those pieces that were not white."""

    def __init__(self) -> None:
        self.length = 0
        self.ink = 0
        self.runs: list[Run] = []
        self._pieces: list[str] = []
        self._last = "\n"

    def write(self, text: str) -> None:
        """Add text as it is."""
        if text:
            self._pieces.append(text)
            self.length += len(text)
            self._last = text[-1]
            self.ink += not text.isspace()

    def flow(self, text: str) -> None:
        """Add text whose line ends are but white space; none is added at the start of a line."""
        text = join_lines(text)
        self.write(text.lstrip() if self._last == "\n" else text)

    def collapse(self, text: str) -> None:
        """Add text; a space at its start is left out behind white space."""
        self.write(text.removeprefix(" ") if self._last.isspace() else text)

    def gap(self) -> None:
        """Add a space unless white space is there."""
        if not self._last.isspace():
            self.write(" ")

    def end_line(self) -> None:
        """Begin a new line unless nothing is on this one."""
        if self._last != "\n":
            self.write("\n")

    def blank_line(self) -> None:
        """Add a blank line, below this one if something is on it."""
        self.end_line()
        self.write("\n")

    def style(self, start: int, style: str) -> None:
        """Give all from a place on a style. start (int): the place. style (str): or the name of a kind of unit."""
        if start < self.length:
            self.runs.append((start, self.length, style))

    def build(self, name: str = "", language: str = "") -> Layout:
        """The document so far. name (str), language (str): see `Layout`."""
        return Layout("".join(self._pieces), tuple(self.runs), name, language)


def join_lines(text: str) -> str:
    """Text with one space for each stretch of white space that has a line end. text (str): any text. O(n)."""
    if "\n" not in text:
        return text
    first, *middle, last = text.split("\n")
    inner = [line for line in map(str.strip, middle) if line]
    return " ".join([first.rstrip(), *inner, last.lstrip()])
