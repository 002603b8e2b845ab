"""Texts of EWT, cases by rule, and scores of cases."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from benchmarks.punctuation_case import case_scores, cased_by_rule, read_texts, usual_cases, with_marks
from spacy_crf.punctuation.block import LabelScheme
from spacy_crf.punctuation.docs import register_punctuation, write_gold

SCHEME = LabelScheme(["COMMA", "PERIOD"], case=True)
WORDS = ["The", "mill", "The", "Ada", "ada", "saw", "Ada"]
GOLD = ["", "PERIOD", "", "", "", "", "PERIOD"]


def example() -> Example:
    register_punctuation()
    vocab = spacy.blank("en").vocab
    reference = Doc(vocab, words=WORDS)
    write_gold(reference, GOLD)
    return Example(Doc(vocab, words=[word.lower() for word in WORDS]), reference)


def test_documents_are_their_sentences(tmp_path: Path) -> None:
    folder = tmp_path / "ud_english_ewt"
    folder.mkdir()
    rows = ["# newdoc id = a", "# text = It is.", "1\tIt", "", "# text = So?", "", "# newdoc id = b", "# text = No."]
    (folder / "en_ewt-ud-dev.conllu").write_text("\n".join(rows) + "\n", encoding="utf8")
    assert list(read_texts(tmp_path, "dev")) == ["It is.\nSo?\n", "No.\n"]


def test_usual_cases_leave_out_what_begins_sentences() -> None:
    usual = usual_cases([example()], SCHEME)
    assert usual == {"mill": "lower", "ada": "Title", "saw": "lower"}
    marked = with_marks(example().predicted, GOLD)
    assert cased_by_rule([marked], usual, SCHEME) == [
        ["Title", "lower", "Title", "Title", "Title", "lower", "Title"],
    ]


def test_scores_of_cases() -> None:
    own = ["Title", "lower", "lower", "Title", "Title", "lower", "Title"]
    scores = case_scores([example()], [own])
    assert scores["case_acc"] == pytest.approx(5 / 7)
    assert scores["Title"] == {"p": pytest.approx(3 / 4), "r": pytest.approx(3 / 4), "f": pytest.approx(3 / 4)}
    assert scores["lower"]["r"] == pytest.approx(2 / 3) and scores["UPPER"]["f"] == 0
