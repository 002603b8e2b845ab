"""Saved pipelines: unpacked, and changed on purpose."""

import json
import zipfile
from pathlib import Path

from .paths import ROOT

SAVED_MODELS = ROOT / "tests" / "contract" / "data" / "models"
CHECKSUMS = "checksums.json"
# what `make demo` trains, small: the folder of each pipeline, and its name among the saved models
DEMO = {
    "crf_tagger": "tagger",
    "set_valued_tagger": "sets",
    "constrained_ner": "references",
    "punctuation_restorer": "punctuation",
}


def unpack_model(name: str, folder: Path) -> Path:
    """Unpack a saved pipeline of the contract into a folder, and give the folder."""
    with zipfile.ZipFile(SAVED_MODELS / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder


def unpack_demo(folder: Path) -> None:
    """Make the pipelines that `make demo` trains."""
    for component, name in DEMO.items():
        unpack_model(name, folder / component / "model-best")


def accept_edits(folder: Path) -> None:
    """Accept whatever the files of a component say, as users do who edit one."""
    path = folder / CHECKSUMS
    path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text(encoding="utf8")))), encoding="utf8")
