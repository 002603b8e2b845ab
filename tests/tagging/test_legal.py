"""The corpus of citations of law, and a tagger that learns from it."""

import pytest
import spacy
from helpers.paths import ROOT
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

LEGAL = ROOT / "corpus" / "crf_tagger" / "legal"
OVERRIDES = {
    "paths.train": str(LEGAL / "train.conllu"),
    "paths.dev": str(LEGAL / "dev.conllu"),
    "nlp.tokenizer": {"@tokenizers": "spacy_crf.ReferenceTokenizer.v1"},
}


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Language:
    folder = tmp_path_factory.mktemp("legal")
    config = load_config(ROOT / "configs" / "crf_tagger_ent.cfg", overrides=OVERRIDES)
    train(init_nlp(config), folder)
    return spacy.load(folder / "model-best")


def test_scores(tagger: Language) -> None:
    """F of 94 when it was written."""
    reader = spacy.registry.readers.get("spacy_crf.Corpus.v1")(path=str(LEGAL / "dev.conllu"))
    assert tagger.evaluate(list(reader(tagger)))["ents_f"] > 0.85


def test_a_sentence_of_each_language(tagger: Language) -> None:
    text = "Zie HR 4 mei 2012, ECLI:NL:HR:2012:BW9999, r.o. 3.2, en artikel 6:74 BW."
    assert [(span.text, span.label_) for span in tagger(text).ents] == [
        *(("HR 4 mei 2012", "DECISION"), ("ECLI:NL:HR:2012:BW9999", "ECLI"), ("r.o. 3.2", "PARAGRAPH")),
        ("artikel 6:74 BW", "STATUTE"),
    ]


@pytest.mark.parametrize("part", ["train", "dev"])
def test_rows(part: str) -> None:
    """Each sentence is its text, token for token as the tokenizer of the pipeline has them."""
    nlp = spacy.blank("xx", config={"nlp": {"tokenizer": OVERRIDES["nlp.tokenizer"]}})
    blocks = (LEGAL / f"{part}.conllu").read_text(encoding="utf8").strip().split("\n\n")
    for block in blocks:
        (text,) = (line.removeprefix("# text = ") for line in block.splitlines() if line.startswith("# text"))
        assert [token.text for token in nlp(text)] == [
            row.split("\t")[1] for row in block.splitlines() if row[0] != "#"
        ]
