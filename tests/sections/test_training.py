"""`spacy train` with the project's config."""

from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke
from helpers.paths import ROOT
from helpers.resuming import check_resume
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from spacy_crf.sections.grammar import read_grammar
from spacy_crf.sections.reader import SectionCorpus

CONFIG = ROOT / "configs" / "section_parser.cfg"


@pytest.mark.slow
def test_the_config_trains(folder: Path, tmp_path: Path) -> None:
    overrides = {"paths.train": str(folder), "paths.dev": str(folder), "training.max_steps": 1}
    train(CONFIG, tmp_path, overrides=overrides)
    nlp = spacy.load(tmp_path / "model-best")
    performance = nlp.meta["performance"]
    assert performance["elements_acc"] == performance["parseval_f"] == 1.0
    assert set(performance["elements_f_per_type"]) == {"NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE"}
    (example, *_) = SectionCorpus(folder)(nlp)
    doc = nlp(example.predicted.copy())
    assert [span.label_ for span in doc.spans["elements"]] == [
        span.label_ for span in example.reference.spans["elements"]
    ]


@pytest.mark.slow
def test_training_that_was_interrupted_goes_on(folder: Path, tmp_path: Path) -> None:
    def make() -> Language:
        nlp = spacy.blank("en")
        trainer = {"@misc": "spacy_crf.LBFGS.v1", "iterations_per_step": 2, "resumable": True}
        nlp.add_pipe("section_parser", config={"trainer": trainer})
        return nlp

    check_resume(make, lambda nlp: list(SectionCorpus(folder)(nlp)), tmp_path, 2)


def test_weights_of_trees_stay_where_new_texts_have_no_trees(folder: Path, trained: Language, tmp_path: Path) -> None:
    learned = trained.get_pipe("section_parser")
    learned.to_disk(tmp_path / "parser")
    for trees in (False, True):
        nlp = spacy.blank("en")
        pipe = nlp.add_pipe("section_parser")
        examples = list(SectionCorpus(folder, trees=trees)(nlp))[: 4 - trees]
        pipe.initialize(lambda own=examples: own, start=str(tmp_path / "parser"))
        nlp.update(examples)
        assert (pipe.write_files() == learned.write_files()) is not trees


def test_rules_need_no_gold_beside_a_component_that_learns(folder: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("section_parser", config={"labeller": "rules"})
    tagger = nlp.add_pipe("crf_tagger")
    docs = [Doc(nlp.vocab, words=["1", "Sails"], tags=["CD", "NNS"]) for _ in range(2)]
    examples = [Example(Doc(nlp.vocab, words=["1", "Sails"]), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    nlp.update(examples, sgd=optimizer)
    nlp.to_disk(tmp_path / "both")
    doc = spacy.load(tmp_path / "both")("1 Sails")
    assert [token.tag_ for token in doc] == ["CD", "NNS"] and tagger.labels == ("CD", "NNS")
    assert doc.spans["elements"] and not parser.labels
    blank = spacy.blank("en")
    blank.add_pipe("section_parser", config={"labeller": "rules"})
    blank.initialize()  # as `spacy assemble` does
    blank.initialize(lambda: list(SectionCorpus(folder)(blank)))
    assert blank.get_pipe("section_parser").labels  # with gold, it learns


def test_the_loop_of_notebooks_trains_the_component_as_it_is(folder: Path, nlp: Language) -> None:
    examples = list(SectionCorpus(folder)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(8):
        for batch in minibatch(examples, size=2):
            nlp.update(batch, sgd=optimizer)
    assert nlp.evaluate(examples)["elements_acc"] > 0.95


def test_a_grammar_is_trained_and_used_on_the_command_line(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.grammar"
    own.write_text(read_grammar("thesis").to_text())
    overrides = {
        **{"paths.train": str(folder), "paths.dev": str(folder), "training.max_steps": 1},
        **{"components.section_parser.parser": "grammar", "components.section_parser.grammar": str(own)},
        "components.section_parser.features.templates": ["UNIT(kind)", "UNIT(rule)", "UNIT(words)"],
    }
    train(CONFIG, tmp_path, overrides=overrides)
    own.unlink()
    nlp = spacy.load(tmp_path / "model-best")
    assert nlp.meta["performance"]["parseval_f"] == 1.0
    assert nlp.get_pipe("section_parser").cfg["parser"] == "grammar"
    path = tmp_path / "lease.txt"
    path.write_text("LEASE\n\n1. Delivery\n1.1 The boat is handed over.\n1.2 It floats.\n2. Term\nA year.\n")
    result = invoke("sections", path, "--model", tmp_path / "model-best", "--to", "md")
    assert result.exit_code == 0, result.output
    assert "# 1. Delivery\n" in result.stdout and "\n# 2. Term\n\nA year.\n" in result.stdout
