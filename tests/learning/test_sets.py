"""`spacy train` and spaCy's tools over set_valued_tagger, with the corpus that comes with the project."""

from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from helpers.commands import run, run_spacy
from helpers.paths import ROOT
from spacy.util import load_config

from spacy_crf.corpora.reader import Corpus

PLAIN = {"@misc": "spacy_crf.Features.v1", "templates": ["@historical"]}
DEV = ROOT / "corpus" / "set_valued_tagger" / "dev"


def train(folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> Path:
    monkeypatch.chdir(ROOT)
    config = load_config(ROOT / "configs" / "set_valued_tagger.cfg")
    config["training"]["max_steps"] = 1
    config["components"]["set_valued_tagger"].update(changes)
    config.to_disk(folder / "config.cfg")
    run_spacy("train", folder / "config.cfg", "--output", folder)
    return folder


@pytest.mark.parametrize("learn_from", ["soft", "marginal", "best", "augmented"])
def test_each_way_to_learn(learn_from: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # copies of a document would tell its gold through the dictionary
    changes = {"dictionary": None, "features": PLAIN} if learn_from == "augmented" else {}
    folder = train(tmp_path, monkeypatch, learn_from=learn_from, **changes)
    scores = srsly.read_json(folder / "model-best" / "meta.json")["performance"]
    assert scores["ml_acc"] > 0.88 and scores["ml_util"] > 0.94 and 1.2 < scores["set_size"] < 2.5
    nlp = spacy.load(folder / "model-best")
    again = nlp.evaluate(list(Corpus(DEV, format="tagsets")(nlp)))
    assert again["ml_util"] == pytest.approx(scores["ml_util"])
    nlp.to_disk(tmp_path / "again")
    saved = tmp_path / "again" / "set_valued_tagger"
    for file in sorted(saved.iterdir()):
        assert file.read_bytes() == (folder / "model-best" / "set_valued_tagger" / file.name).read_bytes()


def test_a_threshold_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = train(tmp_path, monkeypatch, method="mass")
    run("convert", DEV, tmp_path / "dev.spacy", "--format", "tagsets")
    arguments = ("set_valued_tagger", "coverage", "ml_util", "--n_trials", 3, "--gold-preproc")
    assert "Best threshold" in run_spacy("find-threshold", folder / "model-best", tmp_path / "dev.spacy", *arguments)


def test_labels_are_kept_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run_spacy("init", "labels", ROOT / "configs" / "set_valued_tagger.cfg", tmp_path)
    labels = srsly.read_json(tmp_path / "set_valued_tagger.json")
    assert labels == sorted(labels) and {"ART", "PDEM", "PTKVZ"} <= set(labels)
