"""What raw text tells of the case of words, and of the marks beside them."""

from functools import partial
from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke
from helpers.punctuated import MARKS, build, make_examples
from spacy.tokens import DocBin, Token

from spacy_crf import PunctuationCorpus

RAW = """Well, the NASA man was in Lisbon. Then the man, who saw Lisbon, left.
In Lisbon, the NASA man saw the iPod. The iPod was old, and the man was old.
Lisbon is old. Was NASA in Lisbon? The iPod was.
"""


casing = partial(invoke, "casing")


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "raw.txt").write_text(RAW, encoding="utf8")
    paths = {name: str(tmp_path / f"{name}.tsv") for name in ("cases", "marks")}
    result = casing(tmp_path / "raw.txt", "--output", paths["cases"], "--marks", paths["marks"], "--min-count", 2)
    assert result.exit_code == 0, result.output
    return paths


def read(path: str) -> dict[str, str]:
    return dict(line.split("\t") for line in Path(path).read_text(encoding="utf8").splitlines())


def test_words_at_the_start_of_sentences_tell_no_case(lists: dict[str, str]) -> None:
    cases, marks = read(lists["cases"]), read(lists["marks"])
    assert cases["lisbon"] == "Title9" and cases["nasa"] == "UPPER9" and cases["the"] == "lower9"
    assert cases["ipod"] == "mixed9" and "well" not in cases and "then" not in cases
    assert marks["lisbon"][0] == "4"
    assert marks["the"][0] == "0" and marks["the"][1] == "4" and marks["old"][0] == "4"


def test_stored_docs_are_read_where_no_attribute_is_registered(lists: dict[str, str], tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    DocBin(docs=list(nlp.pipe(RAW.splitlines()))).to_disk(tmp_path / "raw.spacy")
    for name in filter(Token.has_extension, ("pause", "confidence")):
        Token.remove_extension(name)
    result = casing(tmp_path / "raw.spacy", "--output", tmp_path / "stored.tsv", "--min-count", 2)
    assert result.exit_code == 0, result.exception
    assert read(str(tmp_path / "stored.tsv")) == read(lists["cases"])


def test_a_lexicon_cases_words_that_training_has_not_seen(lists: dict[str, str], tmp_path: Path) -> None:
    def cased(*more: str, **features: object) -> str:
        block = {"@misc": "spacy_crf.Features.v1", "templates": ["BIAS", "BOS", *more], **features}
        nlp = build(marks={**MARKS, "case": True}, features=block)
        examples = make_examples(nlp, tmp_path)
        nlp.initialize(lambda: examples)
        nlp.update(examples)
        return nlp("she went to lisbon and")[3]._.case

    names = ("ada", "thorpe", "port", "wick", "lisbon")
    (tmp_path / "own.tsv").write_text("".join(f"{word}\tTitle9\n" for word in names), encoding="utf8")
    assert cased("LIST(cases)", lists={"cases": str(tmp_path / "own.tsv")}) == "Title"
    assert cased() != "Title"


def test_presets_ask_for_the_lists(lists: dict[str, str], tmp_path: Path) -> None:
    templates = {"@misc": "spacy_crf.Features.v1", "templates": ["@punctuation", "@listed_cases", "@listed_marks"]}
    nlp = build(features={**templates, "lists": lists})
    examples = make_examples(nlp, tmp_path)
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    assert nlp.evaluate(examples)["punct_f"] == 1.0


def test_raw_text_without_marks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_text("so it is " * 100, encoding="utf8")
    result = casing(tmp_path / "raw.txt", "--output", tmp_path / "cases.tsv")
    assert result.exit_code == 1 and "CRF981" in result.output and "No lexicon was made" in result.output


def test_passages_are_those_of_the_examples(tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_text(RAW, encoding="utf8")
    nlp = build()
    corpus = PunctuationCorpus(tmp_path / "raw.txt", window=5)
    passages = [passage.words for passage in corpus.passages(nlp.vocab)]
    assert passages == [[token.text for token in example.reference] for example in corpus(nlp)]
