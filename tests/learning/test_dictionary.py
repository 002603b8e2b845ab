"""`spacy train` with a tag dictionary, on the corpus that comes with the project."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from helpers.chains import labels_and_marginals
from helpers.paths import ROOT
from spacy.cli.train import train
from spacy.util import load_config

from spacy_crf.corpora.reader import Corpus

DEV = ROOT / "corpus" / "set_valued_tagger" / "dev"
NAME = "set_valued_tagger"


@pytest.mark.parametrize(
    "dictionary, templates",
    [
        ({"use": "mask", "min_count": 5, "similarity": 0.2}, []),
        ({"use": "mask", "min_count": 5, "mask_training": True, "doubt": 0}, []),
        ({"use": "mask", "min_count": 5, "mask_training": True}, []),
        ({"use": "feature", "min_count": 1, "leave_out": "document"}, ["VALID_TAGS[-1..1]"]),
        ({"use": "both", "fold": "none"}, ["VALID_TAGS"]),
    ],
    ids=lambda value: " ".join(map(str, value.values() if isinstance(value, dict) else value)),
)
def test_train_and_load(
    dictionary: dict[str, Any], templates: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    config = load_config(ROOT / "configs" / f"{NAME}.cfg")
    config["training"]["max_steps"] = 1
    config["components"][NAME]["features"]["templates"] = ["@free_spelling", *templates]
    config["components"][NAME]["dictionary"] = {"@misc": "spacy_crf.TagDictionary.v1", **dictionary}
    config.to_disk(tmp_path / "config.cfg")
    train(tmp_path / "config.cfg", tmp_path)
    scores = srsly.read_json(tmp_path / "model-best" / "meta.json")["performance"]
    assert scores["ml_acc"] > 0.88 and scores["ml_util"] > 0.93
    nlp = spacy.load(tmp_path / "model-best")
    examples = list(Corpus(DEV, format="tagsets")(nlp))
    assert nlp.evaluate(examples)["ml_util"] == pytest.approx(scores["ml_util"])
    nlp.to_disk(tmp_path / "again")
    for file in sorted((tmp_path / "again" / NAME).iterdir()):
        assert file.read_bytes() == (tmp_path / "model-best" / NAME / file.name).read_bytes()
    if dictionary["use"] != "feature":
        pipe = nlp.get_pipe(NAME)
        for example in examples:
            known = pipe.valid_tags.dictionary.valid([token.text for token in example.predicted]).sets
            ((tags, marginals),) = labels_and_marginals(pipe, [example.predicted])
            is_hard = dictionary.get("doubt") == 0
            assert bool(marginals[~known].any()) != is_hard and (
                known[np.arange(len(known)), tags].all() or not is_hard
            )
