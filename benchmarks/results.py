"""Files of results that grow row by row."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.machine import describe


def append_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Add rows to a file as they come, and print them, so that a run that is cut off loses only its last one.

    path (Path): JSON with the machine of the last run and all rows. rows (iterable of dict): new ones.
    """
    machine = describe()
    known = json.loads(path.read_text(encoding="utf8"))["rows"] if path.exists() else []
    for row in rows:
        known.append(row)
        print(json.dumps(row), flush=True)
        path.write_text(json.dumps({"machine": machine, "rows": known}, indent=1) + "\n", encoding="utf8")
