"""A tiny corpus of several documents, and configs that learn it in one step."""

from pathlib import Path
from typing import Any

from spacy.util import load_config
from thinc.api import Config

from helpers.paths import ROOT

CONFIG = ROOT / "configs" / "set_valued_tagger.cfg"
SENTENCES = ["he/P wen/KON se/P", "se/P kumt/V", "dat/A hus/N", "se/P wen/KON|KOUS he/P", "dat/A kint/N kumt/V"]


def write_documents(folder: Path, count: int = 4) -> Path:
    """Files of `form<TAB>tags`, each with its own word, which is unknown to the others."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        lines = [*SENTENCES * (1 + number % 2), f"dat/A wort{number}/{'NE' if number % 2 else 'N'} kumt/V"]
        blocks = ["\n".join(token.replace("/", "\t") for token in line.split()) for line in lines]
        (folder / f"text{number}.tsv").write_text("\n\n".join(blocks) + "\n", encoding="utf8")
    return folder


def make_config(folder: Path, **component: Any) -> Config:
    """The project's config with fewer features, in one step; there is too little to fit a temperature to."""
    config = load_config(CONFIG, interpolate=False)
    config["paths"] = {"train": str(write_documents(folder / "train")), "dev": str(write_documents(folder / "dev", 1))}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "LSUFFIX2"]}
    config["components"]["set_valued_tagger"].update(features=features, dictionary=None, temperature=1.0)
    config["components"]["set_valued_tagger"]["trainer"] = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.1}
    config["components"]["set_valued_tagger"].update(component)
    config["training"]["max_steps"] = 1
    return config
