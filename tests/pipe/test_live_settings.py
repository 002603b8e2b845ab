"""What is assigned through `cfg` holds until something else is said, wherever the component goes."""

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from helpers.folders import accept_edits
from helpers.tagged import build, make_examples, train
from spacy.language import Language

from spacy_crf import CRFWarning

NAME = "crf_tagger"


def get_pipe(nlp: Language) -> Any:
    return nlp.get_pipe(NAME)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CRFWarning)
        yield


def with_config(**settings: Any) -> dict[str, Any]:
    return {"components": {NAME: settings}}


def test_an_assigned_setting_is_in_the_config(tmp_path: Path) -> None:
    nlp = train()
    get_pipe(nlp).cfg["decode"] = "posterior"
    assert nlp.config["components"][NAME]["decode"] == "posterior"
    nlp.rename_pipe(NAME, "other")
    nlp.get_pipe("other").cfg["temperature"] = 2.0
    nlp.to_disk(tmp_path)
    for config in (nlp.config, spacy.load(tmp_path).config):
        block = config["components"]["other"]
        assert (block["decode"], block["temperature"]) == ("posterior", 2)
    assert spacy.load(tmp_path).get_pipe("other").cfg == nlp.get_pipe("other").cfg


@pytest.mark.parametrize("decode", ["viterbi", "posterior"])
def test_what_is_said_at_loading_holds(tmp_path: Path, decode: str) -> None:
    nlp = train()
    get_pipe(nlp).cfg["decode"] = "posterior"
    get_pipe(nlp).cfg["temperature"] = 2.0
    nlp.to_disk(tmp_path / "first")
    loaded = spacy.load(tmp_path / "first", config=with_config(decode=decode, temperature=1.0))
    assert (get_pipe(loaded).cfg["decode"], get_pipe(loaded).cfg["temperature"]) == (decode, 1)
    loaded.to_disk(tmp_path / "second")
    assert get_pipe(spacy.load(tmp_path / "second")).cfg == get_pipe(loaded).cfg


def test_bytes_of_a_pipeline_go_with_its_config() -> None:
    nlp = train()
    get_pipe(nlp).cfg["temperature"] = 2.0
    assert get_pipe(spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())).cfg["temperature"] == 2
    assert get_pipe(build(temperature=3.0).from_bytes(nlp.to_bytes())).cfg["temperature"] == 3


def sourced(name: str) -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe(NAME, name=name, source=train(temperature=2.0))
    return nlp


@pytest.mark.parametrize(
    "make",
    [lambda: sourced(NAME), lambda: sourced("other"), lambda: copy.deepcopy(train(temperature=2.0))],
    ids=["sourced", "renamed", "copied"],
)
def test_a_pipeline_that_has_not_made_the_component_keeps_what_is_assigned(
    tmp_path: Path, make: Callable[[], Language]
) -> None:
    nlp = make()
    (name,) = nlp.pipe_names
    nlp.get_pipe(name).cfg.update({"decode": "posterior", "temperature": 3.0})
    nlp.to_disk(tmp_path / "first")
    loaded = spacy.load(tmp_path / "first")
    assert loaded.get_pipe(name).cfg == nlp.get_pipe(name).cfg
    assert loaded.config["components"][name]["temperature"] == 3
    nlp.get_pipe(name).cfg["temperature"] = 2.0
    nlp.to_disk(tmp_path / "second")
    assert spacy.load(tmp_path / "second").get_pipe(name).cfg["temperature"] == 2
    changed = spacy.load(tmp_path / "second", config={"components": {name: {"temperature": 3.0}}})
    assert changed.get_pipe(name).cfg["temperature"] == 3


def test_changes_within_a_value_are_kept(tmp_path: Path) -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("punctuation_restorer")
    pipe.cfg["thresholds"]["COMMA"] = 0.7
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe("punctuation_restorer").cfg["thresholds"] == {"COMMA": 0.7}


@pytest.mark.parametrize("stored", ["folder", "bytes"])
def test_a_component_alone_brings_its_settings(tmp_path: Path, stored: str) -> None:
    pipe = get_pipe(train(temperature=2.0))
    pipe.cfg["decode"] = "posterior"
    pipe.to_disk(tmp_path)
    for settings in ({}, {"temperature": 3.0, "decode": "posterior"}):
        nlp = build(**settings)
        with (
            pytest.warns(CRFWarning, match=r"CRFW411.*: temperature = 2\.0 \(was 3\.0\)\.")
            if settings
            else nullcontext()
        ):
            get_pipe(nlp).from_disk(tmp_path) if stored == "folder" else get_pipe(nlp).from_bytes(pipe.to_bytes())
        assert get_pipe(nlp).cfg == pipe.cfg
        assert nlp.config["components"][NAME]["temperature"] == 2


def test_folders_of_older_versions_have_settings_that_the_config_was_not_told_of(tmp_path: Path) -> None:
    nlp = train()
    nlp.to_disk(tmp_path)
    cfg = srsly.read_json(tmp_path / NAME / "cfg")
    srsly.write_json(tmp_path / NAME / "cfg", {**cfg, "temperature": 2.0, "changed": {"temperature": 1.0}})
    accept_edits(tmp_path / NAME)
    with pytest.warns(CRFWarning, match=r"CRFW411.*temperature = 2\.0 \(was 1\.0\)"):
        loaded = spacy.load(tmp_path)
    assert get_pipe(loaded).cfg["temperature"] == 2
    assert get_pipe(spacy.load(tmp_path, config=with_config(temperature=3.0))).cfg["temperature"] == 3
    loaded.to_disk(tmp_path)
    assert get_pipe(spacy.load(tmp_path)).cfg["temperature"] == 2
    assert get_pipe(spacy.load(tmp_path, config=with_config(temperature=1.0))).cfg["temperature"] == 1


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    nlp = train()
    get_pipe(nlp).cfg.update({"temperature": np.float32(2), "n_best": np.int64(3)})
    nlp.to_disk(tmp_path)
    assert get_pipe(spacy.load(tmp_path)).cfg == get_pipe(nlp).cfg


def test_a_copy_of_settings_is_the_same() -> None:
    cfg = get_pipe(train()).cfg
    cfg["temperature"] = 2.0
    assert pickle.loads(pickle.dumps(cfg)) == cfg


@pytest.mark.parametrize("key, value", [("labels", ["A"]), ("preparation", {"punctuation": "context"})])
def test_what_is_learned_is_no_setting(key: str, value: Any) -> None:
    nlp = train()
    before = get_pipe(nlp).cfg[key]
    with pytest.raises(ValueError, match=f"CRF408.*{key}.*as it was learned"):
        get_pipe(nlp).cfg[key] = value
    get_pipe(nlp).cfg = dict(get_pipe(nlp).cfg)  # as `spacy find-threshold` does
    assert get_pipe(nlp).cfg[key] == before


def test_a_temperature_that_stays_in_further_training_is_told() -> None:
    nlp = build(temperature=2.0)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples)  # it was asked for
    get_pipe(nlp).cfg["temperature"] = 3.0
    with pytest.warns(CRFWarning, match="CRFW417.*temperature stays 3"):
        nlp.update(examples)
