"""Options that would do nothing are refused, whatever else is given."""

from pathlib import Path

import pytest
import spacy
from helpers.commands import run
from helpers.paths import ROOT
from spacy.training import Example

CONFIG = ROOT / "configs" / "set_valued_tagger.cfg"
SPACE = '[settings]\n"components.set_valued_tagger.trainer.c2" = [0.1, 1.0]\n'


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nlp = spacy.blank("en")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER"]}
    nlp.add_pipe("crf_tagger", config={"features": features, "target": "ent"})
    examples = [Example.from_dict(nlp.make_doc("Ada left"), {"entities": [(0, 3, "PER")]})]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    path = tmp_path_factory.mktemp("entities")
    nlp.to_disk(path)
    return path


def refused(option: str, *arguments: object) -> None:
    output = run(*arguments, code=1)
    assert f"[CRF639] {option} goes with" in " ".join(output.split()), output


@pytest.mark.parametrize(
    "option, arguments",
    [
        ("--folds", ("--kind", "curve", "--folds", 3)),
        ("--folds", ("--kind", "curve", "--folds", 10)),  # what it is without, but it was asked for
        ("--test-share", ("--test-share", 0.3)),
        ("--test-share", ("--kind", "cross-domain", "--test-share", 0.3)),
        ("--least-tokens", ("--least-tokens", 100)),
        ("--fractions", ("--fractions", "0.5,1")),
        ("--distance", ("--kind", "curve", "--distance", "characters")),
        ("--by", ("--kind", "shuffling", "--by", "sentence")),
    ],
)
def test_options_of_other_experiments(option: str, arguments: tuple[object, ...]) -> None:
    refused(option, "experiment", CONFIG, *arguments)


def test_options_of_other_searches(tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text(SPACE, encoding="utf8")
    refused("--warmup", "search", CONFIG, tmp_path / "space.toml", "--no-prune", "--warmup", 2)
    refused("--component", "search", CONFIG, tmp_path / "space.toml", "--component", "set_valued_tagger")


def test_options_of_other_targets_and_formats(model: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text("Ada\tB-PER\nleft\tO\n", encoding="utf8")
    columns = ("--columns", "word,ner")
    refused("--top", "explain", model, "Ada left", "--json", "--top", 3)
    (tmp_path / "raw.txt").write_text("Ada left\n", encoding="utf8")
    (tmp_path / "page.md").write_text("# Ada\n", encoding="utf8")
    refused("--unicode", "cite", model, tmp_path / "raw.txt", "--to", "csl", "--unicode")
    refused("--per-token", "review", model, tmp_path / "raw.txt", "--order", "gain", "--per-token")
    refused("--paragraphs", "sections", tmp_path / "page.md", "--paragraphs")
    for options in (columns, ("--input", "tag")):
        arguments = ("review", model, tmp_path / "raw.txt", "--format", "text", *options)
        assert "[CRF510]" in run(*arguments, code=1)
