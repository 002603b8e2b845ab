"""spaCy's commands that look for faults work on every shipped config as it is."""

from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke_spacy
from helpers.paths import ROOT
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config

CONFIGS = sorted((ROOT / "configs").glob("*.cfg"))
QUICK = {"constrained_ner", "crf_tagger", "punctuation_restorer", "section_parser", "set_valued_tagger"}
SHOWN = ("-P0", "-P1", "-P2", "-P3", "-DIM", "-PAR", "-GRAD", "-ATTR")


@pytest.fixture(params=[path if path.stem in QUICK else pytest.param(path, marks=pytest.mark.slow) for path in CONFIGS])
def config(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(ROOT)
    if "Torch" in request.param.read_text(encoding="utf8"):
        pytest.importorskip("torch", reason="the encoder is PyTorch's, an extra")
    return request.param


@pytest.fixture
def overrides(config: Path, tmp_path: Path) -> list[str]:
    """A tagger for configs that begin with a trained one."""
    if "tagger" not in load_config(config)["paths"]:
        return []
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger")
    examples = [Example(Doc(nlp.vocab, ["the", "sea"]), Doc(nlp.vocab, ["the", "sea"], tags=["DT", "NN"]))]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    nlp.to_disk(tmp_path)
    return ["--paths.tagger", str(tmp_path)]


@pytest.mark.filterwarnings("ignore")
def test_debug_model(config: Path, overrides: list[str]) -> None:
    for name in load_config(config)["components"]:
        result = invoke_spacy("debug", "model", config, name, *SHOWN, *overrides)
        assert result.exit_code == 0 and "model looks good" in result.output


@pytest.mark.filterwarnings("ignore")
def test_debug_config_and_data(config: Path, overrides: list[str]) -> None:
    result = invoke_spacy("debug", "config", config, *overrides)
    assert result.exit_code == 0 and "Config is valid" in result.output
    # this command may end with an error, as the corpora are small
    assert "Pipeline can be initialized" in invoke_spacy("debug", "data", config, *overrides).output
