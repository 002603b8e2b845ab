"""Folders that are damaged, foreign, or made for other settings."""

import pickle
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
import srsly
from helpers.folders import accept_edits
from helpers.tagged import build, clean_docs, make_examples, train
from spacy.language import Language
from spacy.training import Example


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stored pipeline."""
    train(target="ent").to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite(path: Path) -> None:
    path.write_bytes(b"\x93\x01\x02\x03")


@pytest.mark.parametrize("part", ["cfg", "features", "model"])
@pytest.mark.parametrize("damage", [truncate, overwrite, Path.unlink])
def test_a_damaged_folder_is_named(folder: Path, part: str, damage: Callable[[Path], None]) -> None:
    damage(folder / "crf_tagger" / part)
    with pytest.raises(ValueError, match=r"CRF4(04|26).*'crf_tagger'"):
        spacy.load(folder)


def test_a_foreign_folder_is_named(tmp_path: Path) -> None:
    other = spacy.blank("xx")
    other.add_pipe("tagger").add_label("X")
    other.initialize()
    other.get_pipe("tagger").to_disk(tmp_path / "tagger")
    with pytest.raises(ValueError, match=r"CRF404.*tagger"):
        build().get_pipe("crf_tagger").from_disk(tmp_path / "tagger")
    with pytest.raises(ValueError, match=r"CRF404.*bytes"):
        build().get_pipe("crf_tagger").from_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"CRF404.*cfg"):
        build().get_pipe("crf_tagger").from_bytes(srsly.msgpack_dumps({"tagger": 1}))


def test_another_format_is_named_with_both_versions(folder: Path) -> None:
    cfg = srsly.read_json(folder / "crf_tagger" / "cfg")
    srsly.write_json(folder / "crf_tagger" / "cfg", {**cfg, "format": 99})
    accept_edits(folder / "crf_tagger")
    with pytest.raises(ValueError, match=r"CRF405.*99.*reads 3"):
        spacy.load(folder)


@pytest.mark.parametrize(
    "changed, code",
    [
        ({"features": {"templates": ["LOWER"]}}, "CRF406"),
        ({"scheme": "BILUO"}, "CRF412"),
        ({"target": "tag"}, "CRF412"),
    ],
)
def test_settings_that_do_not_fit_what_was_trained_are_named(folder: Path, changed: dict, code: str) -> None:
    with pytest.raises(ValueError, match=code):
        spacy.load(folder, config={"components": {"crf_tagger": changed}})


@pytest.mark.parametrize(
    "changed, setting",
    [
        ({"min_count": 9}, "min_count"),
        ({"spelling": {"@misc": "spacy_crf.Spelling.v1", "ratio": 3}}, r"spelling\.ratio"),
        ({"classes": {"@misc": "spacy_crf.InducedClasses.v1"}}, r"classes\.rounds"),
    ],
)
def test_settings_of_features_without_an_effect_after_training_are_told(
    folder: Path, tmp_path: Path, changed: dict, setting: str, recwarn: pytest.WarningsRecorder
) -> None:
    spacy.load(folder)
    assert not [told for told in recwarn if "CRFW479" in str(told.message)]
    with pytest.warns(UserWarning, match=f"CRFW479.*trained with {setting} = "):
        nlp = spacy.load(folder, config={"components": {"crf_tagger": {"features": changed}}})
    nlp.to_disk(tmp_path)
    with pytest.warns(UserWarning, match=f"CRFW479.*trained with {setting} = "):
        spacy.load(tmp_path)


@pytest.mark.parametrize("moved", [r"C:\words\names.tsv", "/words/names.tsv"])
def test_a_word_list_in_another_folder_or_system_is_the_same(
    tmp_path: Path, moved: str, recwarn: pytest.WarningsRecorder
) -> None:
    (tmp_path / "names.tsv").write_text("Ada\tNAME\n", encoding="utf8")
    settings = {"templates": ["LOWER", "LIST(names)"], "lists": {"names": str(tmp_path / "names.tsv")}}
    train(features=settings).to_disk(tmp_path / "pipeline")
    changed = {"features": {"lists": {"names": moved}}}
    spacy.load(tmp_path / "pipeline", config={"components": {"crf_tagger": changed}})
    assert not [told for told in recwarn if "CRFW479" in str(told.message)]


def test_settings_of_what_training_begins_with_are_told(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    def settings(rounds: int, min_count: int = 1) -> dict:
        classes = {"@misc": "spacy_crf.InducedClasses.v1", "rounds": rounds, "min_count": 1}
        return {"templates": ["LOWER", "CLASS4"], "classes": classes, "min_count": min_count}

    train(features=settings(8)).get_pipe("crf_tagger").to_disk(tmp_path / "first")
    nlp = build(features=settings(8, min_count=2))
    nlp.get_pipe("crf_tagger").initialize(lambda: make_examples(nlp), start=str(tmp_path / "first"))
    assert not [told for told in recwarn if "CRFW479" in str(told.message)]
    nlp = build(features=settings(3))
    with pytest.warns(UserWarning, match=r"CRFW479.*trained with classes\.rounds = 8"):
        nlp.get_pipe("crf_tagger").initialize(lambda: make_examples(nlp), start=str(tmp_path / "first"))
    nlp.to_disk(tmp_path / "second")
    with pytest.warns(UserWarning, match=r"CRFW479.*trained with classes\.rounds = 8"):
        spacy.load(tmp_path / "second")


def test_parts_can_be_excluded(tmp_path: Path) -> None:
    nlp = train()
    pipe = nlp.get_pipe("crf_tagger")
    pipe.to_disk(tmp_path / "parts", exclude=["features", "vocab"])
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["cfg", "checksums.json", "model"]
    pipe.from_disk(tmp_path / "parts", exclude=["features"])
    assert nlp(clean_docs(nlp)[0])[0].tag_ == "NNP"
    assert pipe.from_bytes(pipe.to_bytes(exclude=["cfg"]), exclude=["cfg"]).labels == pipe.labels


def test_parts_of_different_models_are_told_apart(folder: Path) -> None:
    other = train(
        "Minibatch", target="ent", scheme="BIO", features={"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}
    )
    (folder / "crf_tagger" / "model").write_bytes(zlib.compress(other.get_pipe("crf_tagger").model.to_bytes()))
    accept_edits(folder / "crf_tagger")
    with pytest.raises(ValueError, match=r"CRF404.*do not belong together"):
        spacy.load(folder)


def test_a_bad_model_leaves_the_name_of_the_file_problem_readable(folder: Path) -> None:
    (folder / "crf_tagger" / "model").unlink()
    with pytest.raises(ValueError, match="incomplete") as caught:
        Language.from_disk(build(target="ent"), folder)
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_settings_with_a_dollar_outlive_storing(tmp_path):
    nlp = spacy.blank("de")
    nlp.add_pipe("crf_tagger", config={"forbidden": [["$,", "$."]]})
    gold = [Example.from_dict(nlp.make_doc("ja , ."), {"tags": ["ITJ", "$,", "ITJ"]})]
    gold.append(Example.from_dict(nlp.make_doc("ja ."), {"tags": ["ITJ", "$."]}))
    nlp.initialize(lambda: gold)
    nlp.update(gold)
    for name in ("first", "second", "third"):
        nlp.to_disk(tmp_path / name)
        nlp = spacy.load(tmp_path / name)
        assert nlp.get_pipe("crf_tagger").settings.forbidden == [["$,", "$."]]


def test_settings_that_were_assigned_outlive_storing(tmp_path: Path) -> None:
    nlp = train()
    decoder = {"source": "crf_tagger", "constraints": []}
    nlp.add_pipe("set_valued_tagger", name="sets", config={"source": "crf_tagger"})
    nlp.add_pipe("constraint_decoder", name="decoder", config={**decoder, "target": "tag"})
    nlp.get_pipe("crf_tagger").cfg["temperature"] = 3.0
    nlp.get_pipe("sets").cfg.update({"method": "size", "size": 2})
    nlp.get_pipe("decoder").cfg["overwrite"] = True
    nlp.to_disk(tmp_path)
    for loaded in (spacy.load(tmp_path), type(nlp).from_config(nlp.config).from_bytes(nlp.to_bytes())):
        assert loaded.get_pipe("crf_tagger").cfg["temperature"] == 3
        assert (loaded.get_pipe("sets").cfg["method"], loaded.get_pipe("sets").cfg["size"]) == ("size", 2)
        assert loaded.get_pipe("decoder").cfg["overwrite"] is True
        assert [token._.tag_set for token in loaded("the old man")] == [token._.tag_set for token in nlp("the old man")]
    other = spacy.load(tmp_path, config={"components": {"crf_tagger": {"temperature": 2.0}}})
    assert other.get_pipe("crf_tagger").cfg["temperature"] == 2
    spacy.load(tmp_path).to_disk(tmp_path / "again")
    assert spacy.load(tmp_path / "again").get_pipe("crf_tagger").cfg["temperature"] == 3
    assert pickle.loads(pickle.dumps(nlp.get_pipe("sets").cfg)) == nlp.get_pipe("sets").cfg


def test_components_over_a_source_of_older_versions_had_no_settings(tmp_path: Path) -> None:
    nlp = train()
    nlp.add_pipe("set_valued_tagger", name="sets", config={"source": "crf_tagger"})
    nlp.to_disk(tmp_path)
    shutil.rmtree(tmp_path / "sets")
    assert spacy.load(tmp_path).get_pipe("sets").cfg["method"] == "utility"
