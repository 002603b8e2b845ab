"""A tag dictionary as a table that people can edit: `word<TAB>tag<TAB>count` lines, sorted."""

import math
from collections.abc import Sequence
from pathlib import Path

from ...core.errors import CRFError
from ..errors import PipeErrors
from .closure import TagDictionary

Entry = tuple[str, str, float]
HEAD = "# word\ttag\tcount; without a count, the tag is valid whatever the settings"
DIGITS = 9


def write_table(dictionary: TagDictionary, tags: Sequence[str], path: Path) -> None:
    """Write the counts of a dictionary; its settings belong into the config.

    tags (Sequence[str]): names of its labels.
    RAISES (ValueError): for a word or tag that a table cannot hold.
    """
    words = dictionary.words
    lines = [HEAD]
    for word, low, high in zip(words.keys, words.ends[:-1].tolist(), words.ends[1:].tolist()):
        for label, count in zip(words.labels[low:high].tolist(), words.counts[low:high].tolist()):
            if any(character in text for text in (word, tags[label]) for character in "\t\n\r"):
                raise CRFError(PipeErrors.CRF843.format(word=word, tag=tags[label]))
            fields = [word, tags[label], *([f"{count:.{DIGITS}g}"] if math.isfinite(count) else [])]
            lines.append("\t".join(fields))
    path.write_text("\n".join(lines) + "\n", encoding="utf8")


def read_table(path: Path) -> list[Entry]:
    """Read a table. Empty lines, and lines without a tag that begin with #, are skipped.

    RETURNS (list[tuple[str, str, float]]): word, tag and count, infinite where there is none.
    RAISES (ValueError): for a file that cannot be read, or a line that is no entry (with its number).
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise CRFError(PipeErrors.CRF842.format(path=path, error=error)) from error
    entries = []
    for number, line in enumerate(lines, 1):
        fields = line.split("\t")
        if not line.strip() or line == HEAD or (len(fields) == 1 and line.startswith("#")):
            continue
        count = _count(fields[2]) if len(fields) == 3 and fields[2] else math.inf
        if len(fields) not in (2, 3) or not fields[0] or not fields[1] or not count > 0:
            raise CRFError(PipeErrors.CRF841.format(path=path, line=number, text=line))
        entries.append((fields[0], fields[1], count))
    return entries


def _count(text: str) -> float:
    """The number, or NaN, which is not above 0."""
    try:
        return float(text)
    except ValueError:
        return math.nan
