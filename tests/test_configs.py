"""The configs that come with the project are complete, valid and made for the corpus beside them."""

from pathlib import Path

import pytest
import spacy
from helpers.paths import ROOT
from spacy.schemas import ConfigSchemaTraining
from spacy.util import load_config, load_model_from_config, registry

CONFIGS = sorted((ROOT / "configs").glob("*.cfg"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_config_resolves(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    config = load_config(path)
    if "Torch" in path.read_text(encoding="utf8"):
        pytest.importorskip("torch", reason="the encoder is PyTorch's, an extra")
    nlp = load_model_from_config(config, auto_fill=True, validate=True)
    assert nlp.pipe_names == config["nlp"]["pipeline"]
    interpolated = nlp.config.interpolate()
    registry.resolve(interpolated["training"], schema=ConfigSchemaTraining)
    for name in ("train", "dev"):
        assert Path(interpolated["paths"][name]).exists()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_config_bears_the_name_of_a_factory_and_sums_its_weights_to_one(path: Path) -> None:
    config = load_config(path)
    name = config["nlp"]["pipeline"][-1]
    factory = config["components"][name]["factory"]
    assert spacy.blank("en").has_factory(factory) and factory == name and path.stem.startswith(factory)
    assert config["initialize"]["components"][name] == {"start": None}
    assert sum(weight or 0 for weight in config["training"]["score_weights"].values()) == 1


@pytest.mark.parametrize(
    "key, value", [("sequense", "auto"), ("sequence", "paragraph"), ("scheme", "IOBES"), ("threshold", "high")]
)
def test_misspelt_settings_are_refused(key: str, value: str) -> None:
    with pytest.raises(ValueError, match=key):
        spacy.blank("en").add_pipe("crf_tagger", config={key: value})
