"""The same data and seed give the same files."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from contract.snapshots import DATA
from spacy.util import registry

TAGS = {"@readers": "spacy_crf.Corpus.v1", "path": str(DATA / "gold" / "tagger.conllu")}
SECTIONS = {"@readers": "spacy_crf.SectionCorpus.v1", "path": str(DATA / "gold" / "sections"), "limit": 1}
TEXT = {"@readers": "spacy_crf.PunctuationCorpus.v1", "path": str(DATA / "gold" / "punctuation.txt"), "window": 40}
ONLINE = {"@misc": "spacy_crf.AdaGrad.v1", "seed": 3}


def train(name: str, config: dict[str, Any], reader: dict[str, Any], folder: Path) -> dict[str, bytes]:
    """Files of a pipeline after two steps."""
    nlp = spacy.blank("en")
    nlp.add_pipe(name, config=config)
    examples = list(registry.resolve({"reader": reader})["reader"](nlp))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(2):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(folder)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name, config, reader",
    [
        ("crf_tagger", {}, TAGS),
        ("crf_tagger", {"trainer": ONLINE}, TAGS),
        ("section_parser", {"max_states": 4}, SECTIONS),
        ("punctuation_restorer", {"trainer": ONLINE}, TEXT),
    ],
    ids=["L-BFGS", "AdaGrad", "sections", "punctuation"],
)
def test_the_same_files(name: str, config: dict[str, Any], reader: dict[str, Any], tmp_path: Path) -> None:
    first, second = (train(name, config, reader, tmp_path / run) for run in ("first", "second"))
    assert first == second and f"{name}/model" in first
