"""`crf calibrate` of a punctuation restorer."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.commands import invoke
from helpers.punctuated import TEXTS, trained

NAME = "punctuation_restorer"


run = partial(invoke, "calibrate")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    trained(tmp_path_factory.mktemp("texts")).to_disk(path)
    return path


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sentences in other orders, some with other marks than the model has learned."""
    rng, sentences = np.random.default_rng(0), re.split(r"(?<=[.?!])\s", TEXTS.strip())
    chosen = rng.choice(sentences, 500).tolist()
    changed = [one.replace("?", ".").replace(",", "") if rng.random() < 0.3 else one for one in chosen]
    path = tmp_path_factory.mktemp("dev") / "dev.txt"
    path.write_text("\n".join(changed), encoding="utf8")
    return path


def test_probabilities_are_calibrated_and_thresholds_set(model: Path, dev: Path, tmp_path: Path) -> None:
    result = run(model, dev, "--output", tmp_path / "out", "--bins", 5, "--best-f")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines() if line.strip()]
    bins = [line for line in lines if line[0] == "COMMA" and line[2] == "-"]
    assert [row[3] for row in bins][:1] == ["0.20"] and [row[3] for row in bins][-1] == "1.00"
    assert all(row[4] != "0" or row[7] != "0" for row in bins)
    thresholds = [line for line in lines if line[0] == "QUESTION" and len(line) == 6 and line[2] != "-"]
    assert [row[1] for row in thresholds] == [f"0.{k}" for k in range(1, len(thresholds) + 1)]
    assert all(abs(float(row[2]) - float(row[3])) < 0.2 for row in thresholds)
    before, after = next((float(line[3]), float(line[5])) for line in lines if line[:2] == ["expected", "calibration"])
    chosen = {line[2]: float(line[3]) for line in lines if line[:2] == ["threshold", "of"]}
    assert set(chosen) == {"COMMA", "PERIOD", "QUESTION"} and len(set(chosen.values())) == 1
    saved = spacy.load(tmp_path / "out")
    pipe = saved.get_pipe(NAME)
    assert pipe.cfg["thresholds"] == pytest.approx(chosen, rel=1e-3) and pipe.calibration is not None
    again = run(tmp_path / "out", dev)
    assert float(re.search(r"calibration error ([\d.]+)", again.output)[1]) <= after < before


def test_thresholds_of_a_precision(model: Path, dev: Path, tmp_path: Path) -> None:
    result = run(model, dev, "--precision", 0.4, "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    thresholds = spacy.load(tmp_path / "out").get_pipe(NAME).cfg["thresholds"]
    assert len(thresholds) == 3 and all(0 < value < 0.4 for value in thresholds.values())
    plain = run(model, dev, "--output", tmp_path / "plain")
    assert plain.exit_code == 0 and spacy.load(tmp_path / "plain").get_pipe(NAME).cfg["thresholds"] == {}


@pytest.mark.parametrize(
    "options, problem",
    [
        (["--sequences"], "CRF988.*--sequences"),
        (["--columns", "word,tag"], "CRF988.*--columns"),
        (["--best-f", "--precision", "0.5"], "CRF989"),
        (["--format", "conllu"], "CRF549"),
    ],
)
def test_options_without_meaning(model: Path, dev: Path, options: list[str], problem: str) -> None:
    result = run(model, dev, *options)
    assert result.exit_code == 1
    assert re.search(problem, " ".join(result.output.split()))


def test_thresholds_are_not_for_taggers(tmp_path: Path, dev: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger")
    nlp.to_disk(tmp_path)
    result = run(tmp_path, dev, "--best-f")
    assert result.exit_code == 1 and "CRF988" in result.output and "--best-f" in result.output
