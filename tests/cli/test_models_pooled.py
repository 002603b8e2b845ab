"""`crf pool`: models in, one model out."""

from pathlib import Path

import pytest
import spacy
from helpers.commands import run
from helpers.tagged import extension, train
from spacy.util import load_config

__all__ = ["extension"]


@pytest.fixture
def models(tmp_path: Path) -> list[str]:
    for name, template in (("words", "LOWER"), ("affixes", "SUFFIX2")):
        train(features={"@misc": "spacy_crf.Features.v1", "templates": [template, "BIAS"]}).to_disk(tmp_path / name)
    return [str(tmp_path / "words"), str(tmp_path / "affixes")]


def test_models_are_pooled(models: list[str], tmp_path: Path) -> None:
    run("pool", tmp_path / "out", *models, "--exponent", "0.7", "--exponent", "0.6")
    nlp = spacy.load(tmp_path / "out")
    assert nlp.get_pipe_config("crf_tagger")["features"]["templates"] == ["LOWER[0]", "BIAS[0]", "SUFFIX2[0]"]
    assert [token.tag_ for token in nlp("Ada sold the mill.")][:2] == ["NNP", "VBD"]


def test_configs_with_variables_are_pooled(models: list[str], tmp_path: Path) -> None:
    path = Path(models[0]) / "config.cfg"
    config = load_config(path, interpolate=False)
    config["components"]["crf_tagger"]["trainer"]["seed"] = "${system.seed}"
    config.to_disk(path)
    run("pool", tmp_path / "out", *models)
    assert len(spacy.load(tmp_path / "out")("Ada sold the mill.")) == 5


def test_exponents_must_fit(models: list[str], tmp_path: Path) -> None:
    output = run("pool", tmp_path / "out", *models, "--exponent", "1", code=1)
    assert "CRF647" in output
