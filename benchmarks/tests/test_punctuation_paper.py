"""The benchmark of the paper's trainers, on a few made-up words."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc

from benchmarks import paper_tables, paper_trainers, punctuation, punctuation_paper
from spacy_crf.core.weights import ChainWeights
from spacy_crf.learning.model import set_weights

WORDS = ["so", "it", "is", "did", "she", "go", "home", "yes", "then", "we", "saw", "it"]
MARKS = ["COMMA", "O", "PERIOD", "O", "O", "O", "QUESTION", "COMMA", "O", "O", "O", "PERIOD"]
TAGS = {"so": "UH", "yes": "UH", "did": "VBD", "go": "VB", "home": "RB", "is": "VBZ"}


@Language.component("crf_test_word_tagger")
def tag_words(doc: Doc) -> Doc:
    for token in doc:
        token.tag_ = TAGS.get(token.text, "NN")
    return doc


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = "".join(f"{word}\t{mark}\n" for word, mark in zip(WORDS, MARKS))
    for folder, name, text in (
        (punctuation.FOLDER, "ted_train.tsv.gz", lines * 30),
        (punctuation.FOLDER, "dev2012.tsv.gz", lines * 10),
        (punctuation.FOLDER, "test2011.tsv", lines * 5),
        ("movie_punct", "train.tsv", (lines + "\n") * 40),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        content = text.encode("utf8")
        (tmp_path / folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    tagger = Language(paper_trainers.VOCAB)
    tagger.add_pipe("crf_test_word_tagger")
    monkeypatch.setattr(punctuation_paper, "train_tagger", lambda data: (tagger, 1.0))
    return tmp_path


def run(data: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[dict]:
    out = data / "results.json"
    monkeypatch.setattr(sys, "argv", ["punctuation_paper.py", "--data", str(data), "--out", str(out), *arguments])
    punctuation_paper.main()
    return json.loads(out.read_text(encoding="utf8"))["rows"]


def test_a_weight_for_each_tag_and_pair_of_marks_and_the_measures_of_the_component(data: Path) -> None:
    tagger, _ = punctuation_paper.train_tagger(data)
    examples = punctuation_paper.read(data / punctuation.FOLDER / "ted_train.tsv.gz", tagger)
    restorer = paper_trainers.Restorer(examples)
    n, layout = len(restorer.marks), restorer.layout
    assert layout.edge_cells.size == layout.n_edge_features * n * n and not layout.transition_cells.size
    sentences = restorer.encode(examples)
    values = []
    for seed in range(4):
        flat = np.random.default_rng(seed).normal(size=layout.size).astype(np.float32)
        found = sentences.score(sentences.decode(flat))
        set_weights(restorer.pipe.model, ChainWeights(layout, flat))
        restorer.pipe.finish_update(None)
        assert found == pytest.approx(punctuation_paper.score(restorer.nlp, examples))
        values.append(found["punct_f"])
    assert max(values) > 0 and len(set(values)) > 1


def test_the_best_epoch_is_the_one_that_is_scored(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run(
        data, monkeypatch, "talks", "--sentences", "20", "0", "--trainers", "perceptron", "gradient_0.1", "lbfgs"
    )
    assert {row["part"] for row in rows if "baselines" in row} == {"dev", "test"}
    scored = [row for row in rows if "curve_dev" in row]
    assert [row["sentences"] for row in scored] == [20] * 5 + [90] * 5
    for row in scored:
        assert row["dev"]["word_acc"] == row["curve_dev"][row["epoch"] - 1] == max(row["curve_dev"])
        assert row["epoch"] == len(row["curve_dev"]) or len(row["curve_dev"]) <= row["epoch"] + 3
        assert len(row["norm_steps"]) == len(row["curve_train"]) == len(row["curve_dev"])
    assert scored[-1]["test"]["punct_f_inner"] > 0.9  # a word's tag tells its mark
    assert rows[0]["baselines"]["period at the end"]["punct_f_inner"] == 0.0
    assert paper_tables.talks(rows).count("\n") == 13 and paper_tables.curves(rows).count("\n") == 21


def test_rates_run_through_all_epochs_and_folds_share_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run(data, monkeypatch, "rates", "--trainers", "gradient_0.001")
    assert [len(row["norm_steps"]) for row in rows] == [paper_trainers.EPOCHS] * 2
    assert "0.001" in paper_tables.rates(rows)
    parts = list(punctuation_paper.folds(43))
    assert sorted(number for *_, test in parts for number in test) == list(range(43))
    assert all(sorted(train + dev + test) == list(range(43)) for train, dev, test in parts)


def test_dialogues_are_cross_validated(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = run(data, monkeypatch, "movie", "--trainers", "perceptron")
    assert [row.get("name") for row in rows] == [None, paper_trainers.LAST, paper_trainers.MEAN]
    assert all(len(row["epochs"]) == punctuation_paper.FOLDS for row in rows[1:])
    assert rows[2]["test"]["punct_f_inner"] > 0.9 and "±" in paper_tables.movie(rows)


def test_our_features_are_scored_at_their_best_epoch(data: Path) -> None:
    tagger, _ = punctuation_paper.train_tagger(data)
    examples = punctuation_paper.read(data / "movie_punct" / "train.tsv", tagger, unit="document")
    row = punctuation_paper.fit_ours({}, examples[:30], examples[30:35], examples[35:])
    assert row["test"]["punct_f"] > 0.9 and row["epoch"] >= 1
