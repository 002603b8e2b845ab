"""`spacy train` over constrained_ner, with the references that come with the project."""

import re
from pathlib import Path

import pytest
import spacy
import srsly
from helpers.commands import run_spacy, spacy_train
from helpers.paths import ROOT
from spacy.tokens import Doc, DocBin, Span
from spacy.util import load_config

from spacy_crf.constraints.component import ConstrainedNER

CORPUS = ROOT / "corpus" / "constrained_ner"
FIELD = re.compile(r"<(\w+)> (.*?) </\1>")
TOKEN = re.compile(r"[^\W_]+|\S")


def references(folder: Path, every: int = 1) -> list[Doc]:
    """Tagged references as Docs, a token for each run of letters and digits and each other character."""
    vocab, docs = spacy.blank("xx").vocab, []
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf8").splitlines()[::every]:
            fields = [(label.upper(), TOKEN.findall(text)) for label, text in FIELD.findall(line)]
            doc, spans, start = Doc(vocab, words=[word for _, words in fields for word in words]), [], 0
            for label, words in fields:
                spans.append(Span(doc, start, start + len(words), label=label))
                start += len(words)
            doc.set_ents(spans)
            docs.append(doc)
    return docs


def train(folder: Path, every: int = 1, **mine: object) -> Path:
    for part in ("train", "dev"):
        DocBin(docs=references(CORPUS / part, every if part == "train" else 1)).to_disk(folder / f"{part}.spacy")
    config = load_config(ROOT / "configs" / "constrained_ner.cfg")
    for part in ("train", "dev"):
        config["paths"][part] = str(folder / f"{part}.spacy")
        del config["corpora"][part]["format"], config["corpora"][part]["references"]
    config["training"]["max_steps"] = 2
    config["components"]["constrained_ner"]["mine"].update(mine)
    assert {"TOK_ACC", "WHOLE_DOC_ACC", "MACRO_F", "CERTIFIED"} <= set(spacy_train(config, folder).split())
    return folder / "model-best"


@pytest.mark.filterwarnings("ignore:.*CRFW404")  # columns tell no white space
@pytest.mark.parametrize("every, least", [(6, 0.5), pytest.param(1, 0.75, marks=pytest.mark.slow)])
def test_training_mines_and_loading_decodes_the_same(every: int, least: float, tmp_path: Path) -> None:
    model = train(tmp_path, every, folds=2, iterations=10, epochs=1, min_support=10)
    scores = srsly.read_json(model / "meta.json")["performance"]
    assert scores["tok_acc"] > least and 0 < scores["macro_f"] < 1 and scores["certified"] > 0.9
    assert scores["violations"] <= scores["violations_before"]
    assert {"whole_doc_acc", "ents_f", "ents_per_type"} <= set(scores)
    nlp = spacy.load(model)
    pipe = nlp.get_pipe("constrained_ner")
    assert isinstance(pipe, ConstrainedNER) and pipe.constraints
    assert "O" not in pipe.labels and "AUTHOR" in pipe.labels
    docs = references(CORPUS / "dev")
    found = list(nlp.pipe(Doc(nlp.vocab, words=[t.text for t in doc]) for doc in docs))
    right = sum(a.ent_type_ == b.ent_type_ for doc, gold in zip(found, docs) for a, b in zip(doc, gold))
    assert right / sum(map(len, docs)) == pytest.approx(scores["tok_acc"], abs=1e-9)
    nlp.to_disk(tmp_path / "again")
    for file in sorted((model / "constrained_ner").iterdir()):
        assert file.read_bytes() == (tmp_path / "again" / "constrained_ner" / file.name).read_bytes()


def test_labels_can_be_listed_without_training(tmp_path: Path) -> None:
    DocBin(docs=references(CORPUS / "dev")).to_disk(tmp_path / "dev.spacy")
    config = load_config(ROOT / "configs" / "constrained_ner.cfg")
    for part in ("train", "dev"):
        config["paths"][part] = str(tmp_path / "dev.spacy")
        del config["corpora"][part]["format"], config["corpora"][part]["references"]
    config.to_disk(tmp_path / "config.cfg")
    run_spacy("init", "labels", tmp_path / "config.cfg", tmp_path / "labels")
    assert len(srsly.read_json(tmp_path / "labels" / "constrained_ner.json")) == 13
