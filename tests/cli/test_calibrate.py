"""`crf calibrate`, and the fit of a temperature to a component."""

import errno
import os
import shutil

import pytest
import spacy
from helpers.commands import invoke, run
from helpers.noisy import make_examples, sentences, write_columns
from helpers.weights import flat_weights, set_flat_weights

from spacy_crf.pipe.calibration import calibrate
from spacy_crf.pipe.seen import annotated


def make_tagger():
    """Trained on noisy tags, then made three times as sure as it should be."""
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]"]}
    nlp.add_pipe("crf_tagger", config={"features": features, "trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.1}})
    train = make_examples(nlp, sentences(0, 300))
    optimizer = nlp.initialize(lambda: train)
    for _ in range(5):
        nlp.update(train, sgd=optimizer)
    pipe = nlp.get_pipe("crf_tagger")
    set_flat_weights(pipe.model, flat_weights(pipe.model) * 3)
    return nlp


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    make_tagger().to_disk(path)
    return path


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    return write_columns(tmp_path_factory.mktemp("dev") / "dev.tsv", sentences(1, 200))


@pytest.mark.parametrize("unit", ["token", "sequence"])
def test_the_temperature_undoes_overconfidence(model, unit):
    nlp = spacy.load(model)
    pipe = nlp.get_pipe("crf_tagger")
    fitted = calibrate(pipe, make_examples(nlp, sentences(1, 200)), unit)
    assert fitted.temperature == pytest.approx(3, rel=0.25)
    assert fitted.after.error < 0.05 < 0.15 < fitted.before.error
    assert fitted.before.counts.sum() == fitted.after.counts.sum() == sum(len(w) for w, _ in sentences(1, 200))
    assert pipe.cfg["temperature"] == 1


def test_a_label_that_the_component_does_not_know_is_a_mistake_and_no_label_counts_for_nothing(model):
    nlp = spacy.load(model)
    data = [*sentences(1, 200), (["w1", "w2"], ["NEW", ""])]
    fitted = calibrate(nlp.get_pipe("crf_tagger"), make_examples(nlp, data))
    without = calibrate(nlp.get_pipe("crf_tagger"), make_examples(nlp, data[:-1]))
    assert fitted.temperature == pytest.approx(without.temperature)
    assert fitted.after.counts.sum() == sum(len(words) for words, _ in data) - 1


def test_the_command_prints_the_table_and_saves_the_temperature(model, dev, tmp_path):
    output = run("calibrate", model, dev, "--columns", "word,tag", "--output", tmp_path / "out", "--bins", 5)
    lines = [line.split() for line in output.splitlines() if line.strip()]
    rows = [line for line in lines if len(line) > 3 and line[1] == "-"]
    assert [row[2] for row in rows] == ["0.20", "0.40", "0.60", "0.80", "1.00"]
    (temperature,) = (float(line[3]) for line in lines if line[0] == "temperature")
    before, after = next((float(line[3]), float(line[5])) for line in lines if line[:2] == ["expected", "calibration"])
    assert temperature == pytest.approx(3, rel=0.25) and after < 0.05 < 0.15 < before
    saved = spacy.load(tmp_path / "out")
    assert saved.get_pipe("crf_tagger").cfg["temperature"] == pytest.approx(temperature, rel=1e-3)
    assert f"-> {temperature:.4g}" not in run("calibrate", model, dev, "--columns", "word,tag", "--sequences")
    again = invoke("calibrate", tmp_path / "out", dev, "--columns", "word,tag")
    assert f"temperature {temperature:.4g} -> {temperature:.4g}" in again.output


def test_the_components_before_it_are_run(model):
    nlp = spacy.load(model)
    nlp.add_pipe("sentencizer", first=True)
    given = make_examples(nlp, sentences(2, 3))
    for example in annotated(nlp, "crf_tagger", given):
        assert example.predicted.has_annotation("SENT_START") and not example.predicted.has_annotation("TAG")
        assert example.reference.has_annotation("TAG")


def test_what_is_wrong_is_named(model, dev, tmp_path):
    assert "[CRF5" in run("calibrate", model, tmp_path / "nothing.conllu", code=1)
    blank = tmp_path / "blank.tsv"
    blank.write_text("w1\tNEW\n", encoding="utf8")
    assert "[CRF111]" in run("calibrate", model, blank, "--columns", "word,tag", code=1)


def test_a_pipeline_that_is_calibrated_in_its_place_stays_whole_where_the_disk_is_full(
    model, dev, tmp_path, monkeypatch
):
    """The config had the new temperature, while it was told that nothing was calibrated."""

    def fail(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    shutil.copytree(model, tmp_path / "own")
    before = {path: path.read_bytes() for path in (tmp_path / "own").rglob("*") if path.is_file()}
    monkeypatch.setattr(os, "fsync", fail)
    found = invoke("calibrate", tmp_path / "own", dev, "--columns", "word,tag", "--output", tmp_path / "own")
    assert found.exit_code == 1 and "CRF427" in found.output
    assert {path: path.read_bytes() for path in (tmp_path / "own").rglob("*") if path.is_file()} == before


def test_what_a_saving_left_that_was_broken_off_does_not_take_the_place_of_a_later_one(model, tmp_path):
    """All its files stand beside those that they were to replace."""
    path = shutil.copytree(model, tmp_path / "model")
    for file in [*(path / "crf_tagger").iterdir()]:
        shutil.copy(file, file.with_name(f"{file.name}.partial"))
    blunt = spacy.load(model)
    pipe = blunt.get_pipe("crf_tagger")
    set_flat_weights(pipe.model, flat_weights(pipe.model) / 3)
    blunt.to_disk(tmp_path / "blunt")
    run("pool", path, path, tmp_path / "blunt")
    expected, found = (flat_weights(nlp.get_pipe("crf_tagger").model) for nlp in (spacy.load(model), spacy.load(path)))
    assert found == pytest.approx(expected * 2 / 3, rel=1e-5)


def test_a_pipeline_that_is_calibrated_in_its_place_keeps_its_rights_and_nothing_else(model, dev, tmp_path):
    """Files that a group may write, or that nobody else may read, had the rights of new ones; what a command that was
    killed had left stayed, and went to packages."""
    path = shutil.copytree(model, tmp_path / "own")
    files = [file for file in path.rglob("*") if file.is_file()]
    for file in files:
        file.chmod(0o660)
    if files[0].stat().st_mode & 0o777 != 0o660:
        pytest.skip("there are no such rights")
    (path / ".partial-killed" / "vocab").mkdir(parents=True)
    run("calibrate", path, dev, "--columns", "word,tag", "--output", path)
    assert sorted(file for file in path.rglob("*") if file.is_file()) == sorted(files)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o660}
    assert not list(path.glob(".*"))
