"""Entries as a table."""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from .entry import Date, Entry, Name, Names

COLUMNS = tuple(field.name for field in fields(Entry))


def write_table(entries: Iterable[Entry]) -> str:
    """TSV with a header: a row for each entry, a column for each field; names are joined by "; ", dates as in ISO."""
    rows = [COLUMNS, *(tuple(_cells(entry)) for entry in entries)]
    return "".join("\t".join(row) + "\n" for row in rows)


def _cells(entry: Entry) -> Iterator[str]:
    for name in COLUMNS:
        value = getattr(entry, name)
        if isinstance(value, Names):
            yield "; ".join([*map(_print_name, value.names), *(["et al."] if value.others else [])])
        elif isinstance(value, Date):
            yield value.iso + value.letter
        else:
            yield str(value or "")


def _print_name(name: Name) -> str:
    last = f"{name.particle} {name.family}".strip()
    return ", ".join(part for part in (last, name.suffix, name.given) if part)
