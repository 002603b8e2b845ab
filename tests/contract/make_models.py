"""Trains the small pipelines and stores them as zips, which the tests load.

They are there so that later releases read what earlier ones wrote: make them anew only when one is added, as

    PYTHONPATH=tests python tests/contract/make_models.py NAME ...
    python -m pytest tests/contract --rewrite-snapshots
"""

import os
import sys
import tempfile
import zipfile
from pathlib import Path

from contract.models import MODELS, ROOT, Model
from contract.snapshots import DATA
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config
from thinc.api import Config

EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same files


def make_config(model: Model) -> Config:
    """The shipped config with the settings of a small model: whole blocks are replaced."""
    config = load_config(ROOT / "configs" / f"{model.config}.cfg")
    path = f"corpus/{model.train}"
    for name, value in {**model.overrides, "paths.train": path, "paths.dev": path}.items():
        block = config
        *sections, setting = name.split(".")
        for section in sections:
            block = block[section]
        block[setting] = value
    config["corpora"]["dev"]["limit"] = 2
    return config.interpolate()


def store(folder: Path, path: Path) -> None:
    """Write the files of a folder to a zip."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            info = zipfile.ZipInfo(file.relative_to(folder).as_posix(), EPOCH)
            archive.writestr(info, file.read_bytes(), zipfile.ZIP_DEFLATED, 9)


def make_model(name: str) -> None:
    """Train a pipeline and store it as it is after the last step."""
    config = make_config(MODELS[name])
    nlp = init_nlp(config)
    train(nlp, None)
    with tempfile.TemporaryDirectory() as folder:
        nlp.to_disk(folder)
        store(Path(folder), DATA / "models" / f"{name}.zip")


if __name__ == "__main__":
    os.chdir(ROOT)
    (DATA / "models").mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or MODELS:
        make_model(name)
        print(name, (DATA / "models" / f"{name}.zip").stat().st_size)
