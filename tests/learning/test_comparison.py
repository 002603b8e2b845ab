"""`spacy train` with the comparison taggers, as sources of tag sets, in one batch and in many."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from helpers.commands import spacy_train
from helpers.paths import ROOT
from spacy.util import load_config

from spacy_crf.corpora.reader import Corpus

DEV = ROOT / "corpus" / "set_valued_tagger" / "dev"
FULL = {"@batchers": "spacy_crf.full_batch.v1"}
SMALL = {"@batchers": "spacy.batch_by_words.v1", "size": 500, "tolerance": 0.2, "discard_oversize": False}
MEMM = {"c2": 0.3, "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@historical"]}}


def train(folder: Path, factory: str, config: dict[str, Any], batcher: dict[str, Any], max_steps: int) -> Path:
    """Train a tagger and a set_valued_tagger on top of it."""
    made = load_config(ROOT / "configs" / "set_valued_tagger.cfg")
    made["nlp"]["pipeline"] = [factory, "set_valued_tagger"]
    sets = {"factory": "set_valued_tagger", "source": factory}
    made["components"] = {factory: {"factory": factory, **config}, "set_valued_tagger": sets}
    made["initialize"]["components"] = {}
    made["training"].update(batcher=batcher, max_steps=max_steps, eval_frequency=max_steps, patience=0)
    spacy_train(made, folder)
    return folder / "model-last"


@pytest.mark.parametrize(
    "factory, config, least",
    [
        ("frequency_tagger", {"theta": 1.0}, 0.82),
        ("hmm_tagger", {"theta": 1.0}, 0.86),
        ("hmm_tagger", {"theta": 1.0, "order": 3}, 0.86),
        ("memm_tagger", MEMM, 0.86),
    ],
    ids=["frequency", "hmm-2", "hmm-3", "memm"],
)
def test_one_batch_and_many_learn_the_same(
    factory: str, config: dict[str, Any], least: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    (tmp_path / "many").mkdir()
    one = train(tmp_path, factory, config, FULL, 1)
    scores = srsly.read_json(one / "meta.json")["performance"]
    assert scores["ml_acc"] > least and scores["ml_util"] > scores["ml_acc"] and 1 < scores["set_size"] < 4
    nlp = spacy.load(one)
    again = nlp.evaluate(list(Corpus(DEV, format="tagsets")(nlp)))
    assert again["ml_util"] == pytest.approx(scores["ml_util"])
    # as many steps as show every document
    many = spacy.load(train(tmp_path / "many", factory, config, SMALL, 40))
    docs = [example.predicted for example in Corpus(DEV, format="tagsets")(nlp)]
    rows = [pipeline.get_pipe(factory).token_probabilities(docs) for pipeline in (nlp, many)]
    for row, twin in zip(*rows):
        np.testing.assert_allclose(row, twin, atol=0.05 if factory == "memm_tagger" else 1e-5)
