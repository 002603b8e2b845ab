"""The Spanish corpus that comes with the project: it is well-formed, and a model learns from it."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.paths import ROOT
from helpers.punctuated import build
from spacy.language import Language

from spacy_crf import PunctuationCorpus
from spacy_crf.punctuation.words import INVERTED

CORPUS = ROOT / "corpus" / "punctuation_restorer_es"
FILES = sorted(CORPUS.rglob("*.txt"))
MARKS = ["COMMA", "PERIOD", "QUESTION", "EXCLAMATION"]
TEMPLATES = ["BIAS", "BOS", "EOS", "LOWER[-1..2]", "LSUFFIX2[0..1]", "LSUFFIX3[0..1]", "LPREFIX3[1]", "LENGTH[0..1]"]
SIGNS = re.compile("[¿?¡!.,:;«»]")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_texts_are_well_formed(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf8").split("\n") if line]
    assert all(line == line.strip() and line[-1] in ".?!" and "  " not in line for line in lines)
    assert all(line.lstrip("¿¡«")[0].isupper() for line in lines)
    for line in lines:
        opened = [sign for sign in line if sign in "¿?¡!«»"]
        assert all(pair in (("¿", "?"), ("¡", "!"), ("«", "»")) for pair in list(pairwise(opened))[::2])
        assert len(opened) % 2 == 0


def test_no_sentence_is_in_both_parts() -> None:
    train, dev = (
        {line for path in (CORPUS / part).iterdir() for line in path.read_text("utf8").split("\n")}
        for part in ("train", "dev")
    )
    assert train & dev <= {""} and len(train) + len(dev) > 150


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A restorer of Spanish."""
    nlp = build(
        language="es",
        marks={"@misc": "spacy_crf.Marks.v1", "marks": MARKS, "case": True, "kinds": ["QUESTION"], "language": "es"},
        features={"@misc": "spacy_crf.Features.v1", "templates": TEMPLATES},
        trainer={"@misc": "spacy_crf.LBFGS.v1", "c2": 1.0, "iterations_per_step": 60},
        threshold=0.3,
    )
    examples = list(PunctuationCorpus(CORPUS / "train", language="es", window=60)(nlp))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    return nlp


def test_marks_of_other_texts(nlp: Language) -> None:
    scores = nlp.evaluate(list(PunctuationCorpus(CORPUS / "dev", language="es")(nlp)))
    assert scores["punct_f"] > 0.25 and scores["case_acc"] > 0.8  # of twelve hundred words, that is what is learned


def test_texts_of_training_come_back_with_the_marks_that_open(nlp: Language) -> None:
    wanted = found = 0
    for path in (CORPUS / "train").iterdir():
        text = " ".join(path.read_text(encoding="utf8").split())
        restored = nlp(SIGNS.sub("", text).lower())._.restored
        ours, theirs = (
            [word for word in own.split() if word[0] in INVERTED or word[-1] in "?!"] for own in (restored, text)
        )
        wanted += len(theirs)
        found += len(set(ours) & set(theirs))
    assert found > 0.5 * wanted


def test_closed_classes_and_questions_inside_of_sentences(nlp: Language) -> None:
    doc = nlp("hola, ¿Qué tal en españa? Volvió el Lunes.")
    nlp.get_pipe("punctuation_restorer").cfg["existing"] = "keep"
    kept = nlp("hola, qué tal en españa? volvió el lunes.")._.restored
    assert kept == "Hola, ¿qué tal en España? Volvió el lunes." and "España" in doc._.restored
    nlp.get_pipe("punctuation_restorer").cfg["existing"] = "override"
