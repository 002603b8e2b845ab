"""`spacy train` with the project's config."""

from pathlib import Path

import pytest
import spacy
from helpers.paths import ROOT
from spacy.cli.train import train

from spacy_crf.sections.reader import SectionCorpus

CONFIG = ROOT / "configs" / "section_parser.cfg"


@pytest.mark.slow
def test_the_config_trains(folder: Path, tmp_path: Path) -> None:
    overrides = {"paths.train": str(folder), "paths.dev": str(folder), "training.max_steps": 1}
    train(CONFIG, tmp_path, overrides=overrides)
    nlp = spacy.load(tmp_path / "model-best")
    performance = nlp.meta["performance"]
    assert performance["elements_acc"] == performance["parseval_f"] == 1.0
    assert set(performance["elements_f_per_type"]) == {"NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE"}
    (example, *_) = SectionCorpus(folder)(nlp)
    doc = nlp(example.predicted.copy())
    assert [span.label_ for span in doc.spans["elements"]] == [
        span.label_ for span in example.reference.spans["elements"]
    ]
