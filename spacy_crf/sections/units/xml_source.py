"""XML files as calls to the methods of a reader."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ...core.errors import CRFError
from ...corpora.errors import CorpusErrors
from ...corpora.files import XmlReader

BUFFER = 1 << 20  # bytes of text between tags that come in one piece


class Events(Protocol):
    """What a reader of mark-up does with the parts of a file. Names are without prefixes of namespaces."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """Text between tags."""

    def instruction(self, name: str) -> None:
        """A processing instruction."""


class XmlSource(XmlReader):
    """Tells a reader what is in a file. path (Path): the file. reader (Events): the reader."""

    def __init__(self, path: Path, reader: Events) -> None:
        super().__init__(path)
        self.expat.buffer_text = True
        self.expat.buffer_size = BUFFER
        self.expat.StartElementHandler = lambda name, attributes: reader.start(local(name), _locals(attributes))
        self.expat.EndElementHandler = lambda name: reader.end(local(name))
        self.expat.CharacterDataHandler = reader.data
        self.expat.ProcessingInstructionHandler = lambda name, _: reader.instruction(name)


class _Found(Exception):
    """The root was seen; the rest of the file is of no interest."""


class _Root:
    name = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.name = name
        raise _Found

    def end(self, name: str) -> None: ...

    def data(self, text: str) -> None: ...

    def instruction(self, name: str) -> None: ...


def root_of(path: Path) -> str:
    """Name of the outermost element of a file. path (Path): XML. RAISES (ValueError): if it is not, with the line."""
    reader = _Root()
    try:
        XmlSource(path, reader).read()
    except _Found:
        return reader.name
    raise CRFError(CorpusErrors.CRF533.format(path=path, line=1, reason="no element found"))


def local(name: str) -> str:
    """A name without the prefix of its namespace. name (str): such as "rs:para"."""
    return name.rpartition(":")[2]


def _locals(attributes: Mapping[str, str]) -> dict[str, str]:
    return {local(name): value for name, value in attributes.items()}
