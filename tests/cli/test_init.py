"""`crf init`: configs that come with the library, filled, are trained as they are written."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.commands import invoke
from helpers.paths import ROOT
from spacy.cli.train import train
from spacy.util import load_config

NAMES = sorted(path.stem for path in (ROOT / "configs").glob("*.cfg"))
IN_SECONDS = ["constrained_ner_ent", "crf_tagger", "crf_tagger_chunk", "crf_tagger_ent"]
IN_SECONDS += ["punctuation_restorer", "set_valued_tagger"]
TRAINED = [name if name in IN_SECONDS else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]


def init(*arguments: Any, succeeds: bool = True) -> str:
    """What the command tells."""
    result = invoke("init", *arguments)
    assert (result.exit_code == 0) is succeeds, result.output
    return str(result.output)


def train_step(config: Path, output: Path, name: str = "crf_tagger", **overrides: Any) -> dict[str, Any]:
    """Train one step on some documents of the corpus of a shipped config, and return what the pipeline scores."""
    own = load_config(ROOT / "configs" / f"{name}.cfg")["paths"]
    few = {f"corpora.{split}.limit": 4 for split in ("train", "dev")}
    steps = {"training.max_steps": 1, "training.eval_frequency": 1}
    paths = {f"paths.{split}": str(ROOT / own[split]) for split in ("train", "dev")}
    train(config, output, overrides={**paths, **few, **steps, **overrides})
    return dict(spacy.load(output / "model-best").meta["performance"])


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Name of a config whose encoder, if it has one, can be made."""
    if "Torch" in (ROOT / "configs" / f"{request.param}.cfg").read_text(encoding="utf8"):
        pytest.importorskip("torch", reason="the encoder is PyTorch's, an extra")
    return str(request.param)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that tags, for configs that build upon one."""
    folder = tmp_path_factory.mktemp("tagger")
    init("crf_tagger", folder / "config.cfg")
    train_step(folder / "config.cfg", folder)
    return folder / "model-best"


@pytest.mark.parametrize("name", TRAINED, indirect=True)
def test_what_is_written_can_be_trained(name: str, tmp_path: Path, tagger: Path) -> None:
    config = tmp_path / "new" / "config.cfg"
    told = init(name, config)
    written = load_config(config)
    assert written["paths"]["train"] is written["paths"]["dev"] is None
    assert "--paths.train PATH --paths.dev PATH" in " ".join(told.split())
    others = {"paths.tagger": str(tagger)} if "tagger" in written["paths"] else {}
    assert train_step(config, tmp_path / "out", name, **others)


def test_what_is_written_is_complete(name: str, tmp_path: Path) -> None:
    init(name, tmp_path / "config.cfg", "--lang", "de")
    shipped, written = load_config(ROOT / "configs" / f"{name}.cfg"), load_config(tmp_path / "config.cfg")
    assert written["nlp"]["lang"] == "de" and written["nlp"]["pipeline"] == shipped["nlp"]["pipeline"]
    for component, block in shipped["components"].items():
        found = written["components"][component]
        assert {key: found[key] for key in block if not isinstance(block[key], dict)} == {
            key: block[key] for key in block if not isinstance(block[key], dict)
        }
        assert "factory" not in found or len(found) > len(block)


def test_a_target_has_its_own_config_where_there_is_one(tmp_path: Path) -> None:
    for target, templates in (("ent", ["@entities"]), ("pos", ["@tagging"])):
        init("crf_tagger", tmp_path / f"{target}.cfg", "--target", target)
        block = load_config(tmp_path / f"{target}.cfg")["components"]["crf_tagger"]
        assert block["target"] == target and block["features"]["templates"] == templates


def test_entities_that_keep_rules_have_a_config(tmp_path: Path) -> None:
    init("constrained_ner", tmp_path / "config.cfg", "--target", "ent")
    init("constrained_ner_ent", tmp_path / "same.cfg")
    assert load_config(tmp_path / "config.cfg") == load_config(tmp_path / "same.cfg")
    data = tmp_path / "names.conll"
    data.write_text("Ada\tB-PER\nmet\tO\nBo\tB-PER\n\nBo\tB-PER\nleft\tO\nDelft\tB-LOC\n\n" * 5, encoding="utf8")
    rules = {"components.constrained_ner.constraints": ["at_most(PER, 1)"]}
    overrides = {"paths.train": str(data), "paths.dev": str(data), "training.max_steps": 2, **rules}
    train(tmp_path / "config.cfg", tmp_path / "out", overrides=overrides)
    nlp = spacy.load(tmp_path / "out" / "model-best")
    assert [ent.label_ for ent in nlp("Ada met Bo").ents].count("PER") == 1
    assert [ent.label_ for ent in nlp("Bo left Delft").ents] == ["PER", "LOC"]


def test_the_rules_of_the_guide_fit_the_corpus_of_the_config(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guides" / "constrained_ner.md").read_text(encoding="utf8")
    (rules,) = re.findall(r"--components\.constrained_ner\.constraints '(.*)'", guide)
    assert rules in (ROOT / "configs" / "constrained_ner_ent.cfg").read_text(encoding="utf8")
    init("constrained_ner", tmp_path / "config.cfg", "--target", "ent")
    limits = {"corpora.train.limit": 0, "components.constrained_ner.constraints": json.loads(rules)}
    train_step(tmp_path / "config.cfg", tmp_path / "out", "constrained_ner_ent", **limits)
    table = spacy.load(tmp_path / "out" / "model-best").get_pipe("constrained_ner").constraints
    assert len(table) == len(json.loads(rules))


def test_chunks_have_a_config_that_reads_their_columns(tmp_path: Path) -> None:
    init("crf_tagger", tmp_path / "chunk.cfg", "--target", "chunk")
    init("crf_tagger_chunk", tmp_path / "same.cfg", "--target", "chunk")
    config = load_config(tmp_path / "chunk.cfg")
    assert config == load_config(tmp_path / "same.cfg")
    block = config["components"]["crf_tagger"]
    assert (block["target"], block["spans_key"], block["features"]["templates"]) == ("spans", "chunks", ["@chunking"])
    assert train_step(tmp_path / "chunk.cfg", tmp_path / "out", "crf_tagger_chunk")["spans_chunks_f"] > 0.5


def test_entities_of_column_files_are_learned(tmp_path: Path) -> None:
    data = tmp_path / "names.conll"
    data.write_text("Ada\tB-PER\nmet\tO\nBo\tB-PER\n\nBo\tB-PER\nleft\tO\nDelft\tB-LOC\n\n" * 5, encoding="utf8")
    init("crf_tagger", tmp_path / "config.cfg", "--target", "ent")
    overrides = {"paths.train": str(data), "paths.dev": str(data), "training.max_steps": 2}
    train(tmp_path / "config.cfg", tmp_path / "out", overrides=overrides)
    assert spacy.load(tmp_path / "out" / "model-best").meta["performance"]["ents_f"] == 1.0


def test_a_chain_of_order_2_has_steps_for_its_trigrams(tmp_path: Path) -> None:
    init("crf_tagger", tmp_path / "config.cfg", "--order", 2)
    train_step(tmp_path / "config.cfg", tmp_path / "out", **{"training.max_steps": 7})
    assert spacy.load(tmp_path / "out" / "model-last").get_pipe("crf_tagger").scores.weights.order == 2


def test_a_file_that_is_there_stays_unless_it_is_forced(tmp_path: Path) -> None:
    path = tmp_path / "config.cfg"
    path.write_text("mine", encoding="utf8")
    assert "CRF652" in init("crf_tagger", path, succeeds=False)
    assert path.read_text(encoding="utf8") == "mine"
    init("crf_tagger", path, "--force")
    assert "crf_tagger" in path.read_text(encoding="utf8")


def test_a_process_of_its_own_knows_the_targets_of_components(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spacy", "crf", "init", "crf_tagger", "--target", "pos", str(tmp_path / "own.cfg")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and (tmp_path / "own.cfg").exists(), done.stdout


def test_a_language_brings_the_tokenizer_that_parts_its_words(tmp_path: Path) -> None:
    for name, tokenizer in (
        ("crf_tagger", "spacy.zh.ChineseTokenizer"),
        ("constrained_ner", "spacy_crf.ReferenceTokenizer.v1"),
    ):
        init(name, tmp_path / "config.cfg", "--lang", "zh", "--force")
        assert load_config(tmp_path / "config.cfg")["nlp"]["tokenizer"]["@tokenizers"] == tokenizer
    init("crf_tagger", tmp_path / "config.cfg", "--lang", "zh", "--force")
    nlp = spacy.util.load_model_from_config(load_config(tmp_path / "config.cfg"))
    assert len(nlp.make_doc("我爱北京天安门。")) == len(spacy.blank("zh")("我爱北京天安门。")) == 8


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["crf_taggr"], ["CRF653", "names first: crf_tagger,", "section_parser"]),
        (["section_parser", "--target", "ent"], ["CRF988", "--target"]),
        (["set_valued_tagger", "--target", "ent"], ["CRF987", "'ent'"]),
        (["crf_tagger_perceptron", "--target", "chunk"], ["CRF987", "'chunk'"]),
        (["set_valued_tagger_heid_baseline", "--order", "2"], ["CRF988", "--order"]),
        (["crf_tagger_perceptron", "--order", "2"], ["CRF435", "order 2"]),
        (["crf_tagger", "--lang", "qq"], ["qq"]),
    ],
)
def test_what_cannot_be_is_told(arguments: list[str], told: list[str], tmp_path: Path) -> None:
    found = " ".join(init(arguments[0], tmp_path / "config.cfg", *arguments[1:], succeeds=False).split())
    assert all(part in found for part in told), found
    assert not (tmp_path / "config.cfg").exists()


def test_an_example_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "configs" / "crf_tagger.cfg").mkdir(parents=True)
    told = " ".join(invoke("examples", tmp_path, "--force").output.split())
    assert "[CRF498]" in told and "configs/crf_tagger.cfg: Is a directory" in told


def test_examples_are_written_once(tmp_path: Path) -> None:
    folder = tmp_path / "practice"

    def examples(*options: str, code: int) -> str:
        result = invoke("examples", folder, *options)
        assert result.exit_code == code, result.output
        return str(result.output)

    assert "Next: cd" in examples(code=0)
    config = load_config(folder / "configs" / "crf_tagger.cfg")
    assert all((folder / config["paths"][split]).is_file() for split in ("train", "dev"))
    mine = folder / "corpus" / "mine.txt"
    mine.write_text("Mine.", encoding="utf8")
    assert "CRF652" in examples(code=1)
    examples("--force", code=0)
    assert mine.is_file()


def test_what_comes_next_can_be_copied(tmp_path: Path) -> None:
    config = tmp_path / "my letters" / "tagger.cfg"
    line = next(line for line in init("crf_tagger", config).splitlines() if line.startswith("Next: "))
    assert shlex.split(line)[5] == str(config)
