"""A tiny corpus, and a config for it."""

from pathlib import Path

import pytest
from helpers.paths import ROOT
from spacy.util import load_config

CONFIG = ROOT / "configs" / "crf_tagger.cfg"
SENTENCES = ["the/DT can/NN leaks/VBZ", "they/PRP can/MD swim/VB", "the/DT swim/NN", "they/PRP can/MD leak/VB"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "tiny.tsv"
    blocks = ["\n".join(token.replace("/", "\t") for token in line.split()) for line in SENTENCES * 3]
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf8")
    return path


@pytest.fixture
def config(tmp_path: Path, corpus: Path) -> Path:
    """The project's config with another reader."""
    changed = load_config(CONFIG)
    changed["paths"].update(train=None, dev=str(corpus))
    for split in ("train", "dev"):
        changed["corpora"][split]["columns"] = ["word", "tag"]
    changed.to_disk(tmp_path / "config.cfg")
    return tmp_path / "config.cfg"
