"""Saved pipelines: unpacked, and changed on purpose."""

import json
import zipfile
from pathlib import Path

from .paths import ROOT

SAVED_MODELS = ROOT / "tests" / "contract" / "data" / "models"
CHECKSUMS = "checksums.json"


def unpack_model(name: str, folder: Path) -> Path:
    """Unpack a saved pipeline of the contract into a folder, and give the folder."""
    with zipfile.ZipFile(SAVED_MODELS / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder


def accept_edits(folder: Path) -> None:
    """Accept whatever the files of a component say, as users do who edit one."""
    path = folder / CHECKSUMS
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text(encoding="utf8")))), encoding="utf8")
