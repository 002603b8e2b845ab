"""Reads XML as events, without document types: there entities are declared, and without them none are expanded."""

from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from ..core.errors import CRFError
from .errors import CorpusErrors
from .text import read_chunks


class XmlReader:
    """Base of readers of one file. A subclass sets the handlers of `expat` that it needs. path (Path): the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.expat = expat.ParserCreate()
        self.expat.StartDoctypeDeclHandler = self._refuse

    def read(self) -> None:
        """Read the file to its end.

        RAISES (ValueError): for XML that is not well-formed or has a document type, with the line.
        """
        try:
            for chunk in read_chunks(self.path):
                self.expat.Parse(chunk)
            self.expat.Parse(b"", True)
        except LookupError as err:
            raise CRFError(CorpusErrors.CRF533.format(path=self.path, line=1, reason=err)) from err
        except expat.ExpatError as err:
            reason = expat.ErrorString(err.code)
            raise CRFError(CorpusErrors.CRF533.format(path=self.path, line=err.lineno, reason=reason)) from err

    def _refuse(self, *_: Any) -> NoReturn:
        raise CRFError(CorpusErrors.CRF534.format(path=self.path, line=self.expat.CurrentLineNumber))
