"""Saved components, damaged and changed on purpose."""

import json
from pathlib import Path

CHECKSUMS = "checksums.json"


def accept_edits(folder: Path) -> None:
    """Accept whatever the files of a component say, as users do who edit one."""
    path = folder / CHECKSUMS
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text(encoding="utf8")))), encoding="utf8")
