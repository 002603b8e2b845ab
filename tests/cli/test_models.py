"""`crf inspect` and `crf explain` on a pipeline trained in the test."""

import json
import shutil
from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke, run
from spacy.training import Example

SENTENCES = ["the/DT can/NN leaks/VBZ", "they/PRP can/MD swim/VB", "the/DT swim/NN", "they/PRP can/MD leak/VB"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[-1..1]", "B:LOWER[0]"]}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.05, "iterations_per_step": 50}
    nlp.add_pipe("crf_tagger", name="tags", config={"features": features, "trainer": trainer})
    examples = []
    for sentence in SENTENCES:
        words, tags = map(list, zip(*(token.split("/") for token in sentence.split())))
        reference = spacy.tokens.Doc(nlp.vocab, words=words, tags=tags)
        examples.append(Example(spacy.tokens.Doc(nlp.vocab, words=words), reference))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return path


def test_inspect_shows_tables(model):
    output = run("inspect", model, "--top", 2)
    for text in ("tags", "LOWER[0]=the", "B:LOWER[0]", "PRP > MD", "(edge) > MD", "weights that are not 0"):
        assert text in output


def test_inspect_writes_json(model):
    data = json.loads(invoke("inspect", model, "--json", "--top", 3, "--component", "tags").output)
    assert data["component"] == "tags" and data["highest"]["DT"][0]["feature"] == "LOWER[0]=the"
    assert all(len(weights) <= 3 for weights in data["highest"].values()) and len(data["likely"]) == 3


def test_explain_shows_a_table_for_each_token(model):
    output = run("explain", model, "they can swim", "--top", 3)
    assert "1 'can': MD 0." in output and ", not NN 0." in output
    assert output.count("sum") == 3 and " more " in output
    block = output.split("1 'can'")[1].split("2 'swim'")[0].splitlines()
    shown = [
        float(line.split()[-1])
        for line in block
        if line.split()[-1:] and line.split()[-1][0] in "+-" and "---" not in line
    ]
    assert sum(shown[:-1]) == pytest.approx(shown[-1], abs=0.01)


def test_explain_writes_json(model):
    (data,) = json.loads(invoke("explain", model, "they can swim", "--token", 1, "--json").output)
    assert (data["text"], data["label"], data["runner_up"]) == ("can", "MD", "NN")
    assert sum(part["difference"] for part in data["contributions"]) == pytest.approx(data["difference"])


def test_earlier_components_run_first(model, tmp_path):
    nlp = spacy.load(model)
    ruler = nlp.add_pipe("attribute_ruler", before="tags")
    ruler.add([[{"LOWER": "they"}]], {"TAG": "XX"})
    nlp.to_disk(tmp_path)
    (data,) = json.loads(invoke("explain", tmp_path, "they can swim", "--token", 0, "--json").output)
    assert data["label"] == "PRP"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["inspect", "--component", "tagger"], "CRF602"),
        (["explain", "a", "--component", "tagger"], "CRF602"),
        (["explain", "a", "--token", "1"], "CRF741"),
    ],
)
def test_what_is_wrong_is_named(model, arguments, code):
    command, *rest = arguments
    assert code in run(command, model, *rest, code=1)


def test_the_folder_of_a_training_is_told_from_its_pipelines(model, tmp_path):
    shutil.copytree(model, tmp_path / "model-best")
    output = "".join(invoke("inspect", tmp_path).output.split())
    assert "CRF608" in output and f"{tmp_path / 'model-best'}isthebest" in output


def test_a_setting_that_there_is_not_is_named_with_its_neighbours(model, tmp_path):
    shutil.copytree(model, tmp_path / "model")
    config = (tmp_path / "model" / "config.cfg").read_text(encoding="utf8")
    (tmp_path / "model" / "config.cfg").write_text(config.replace("n_best_key =", "n_best_kye ="), encoding="utf8")
    output = " ".join(invoke("inspect", tmp_path / "model").output.split())
    assert "has no setting 'n_best_kye'. Nearest: n_best_key" in output and "spacy.lang" not in output


@pytest.mark.parametrize("file", ["config.cfg", "meta.json", "tokenizer", "vocab/strings.json", "tags/cfg"])
def test_a_pipeline_that_is_half_written_is_named(model, file, tmp_path):
    for damage in (lambda path: path.write_bytes(path.read_bytes()[:20]), Path.unlink):
        copy = tmp_path / f"{file.replace('/', '_')}"
        shutil.copytree(model, copy)
        damage(copy / file)
        result = invoke("inspect", copy)
        output = " ".join(result.output.split())
        assert result.exit_code == 1 and "model-best beside model-last" in output
        assert any(code in output for code in ("CRF608", "CRF426", "CRF404"))
        shutil.rmtree(copy)
