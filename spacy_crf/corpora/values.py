"""Checks on the values of a file, so that a bad one is reported with its line."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH

from ..core.errors import CRFError
from .errors import CorpusErrors
from .kinds import ENTITIES, spans_key
from .spans import split_tag

FEATURES = re.compile(r"[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*")


class ValueChecker:
    """Checks every distinct value of a file once."""

    def __init__(self, path: Path) -> None:
        """Start with no value known.

        path (Path): The file, for the messages.
        """
        self.path = path
        self.known: defaultdict[str, set[str]] = defaultdict(set)

    def check(self, kind: str, values: Sequence[str], lines: Iterable[int]) -> None:
        """Raise an error if a value cannot be what its column says it is.

        kind (str): The kind of the column.
        values (Sequence[str]): One value per word; "" is always fine.
        lines (Iterable[int]): The line each value is from.
        """
        known = self.known[kind]
        if known.issuperset(values):
            return
        for value, line in zip(values, lines):
            if value and value not in known:
                message = _find_fault(kind, value)
                if message:
                    raise CRFError(message.format(path=self.path, line=line, column=kind, value=value))
        known.update(values)


def _find_fault(kind: str, value: str) -> str | None:
    if kind == "pos":
        return None if value in PARTS_OF_SPEECH else CorpusErrors.CRF513
    if kind == "morph":
        return None if FEATURES.fullmatch(value) else CorpusErrors.CRF514
    if kind == ENTITIES or spans_key(kind):
        return None if split_tag(value) else CorpusErrors.CRF512
    return None
