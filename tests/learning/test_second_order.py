"""`spacy train` of a model of order 2."""

from pathlib import Path

import pytest
import spacy
import srsly
from helpers.commands import spacy_train
from helpers.paths import ROOT
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config

from spacy_crf.corpora.reader import Corpus
from spacy_crf.learning.model import get_weights

NAME = "set_valued_tagger"


def train(folder: Path) -> Path:
    """The project's config and corpus: one step for the chain of order 1, and one for trigrams."""
    config = load_config(ROOT / "configs" / f"{NAME}.cfg")
    config["training"]["max_steps"] = 2
    config["components"][NAME]["model"]["order"] = 2
    config["components"][NAME]["trainer"]["first_order_steps"] = 1
    spacy_train(config, folder)
    return folder / "model-last"


def test_training_saving_loading_and_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    first, second = (train(tmp_path / name) for name in ("first", "second"))
    for file in sorted((first / NAME).iterdir()):
        assert file.read_bytes() == (second / NAME / file.name).read_bytes()
    nlp, scores = spacy.load(first), srsly.read_json(first / "meta.json")["performance"]
    assert len(get_weights(nlp.get_pipe(NAME).model).trigrams.values) > 100
    again = nlp.evaluate(list(Corpus(ROOT / "corpus" / NAME / "dev", format="tagsets")(nlp)))
    assert again["ml_util"] == pytest.approx(scores["ml_util"]) and again["ml_acc"] == pytest.approx(scores["ml_acc"])
    assert scores["ml_acc"] > 0.88 and scores["ml_util"] > 0.94


@pytest.mark.parametrize("steps", [3, 5])
def test_gold_that_changes_is_learned_by_all_weights(steps: int) -> None:
    """Corrected in the texts of a run before its first step for trigrams, and behind some."""
    nlp = spacy.blank("en")
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "first_order_steps": 3, "iterations_per_step": 2, "c2": 0.01}
    model = {"@architectures": "spacy_crf.LinearChain.v1", "order": 2}
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER[0]"]}
    nlp.add_pipe("crf_tagger", config={"trainer": trainer, "model": model, "features": features})
    texts = [("ba be bi", "ABA"), ("ba bo bi", "ABA"), ("bo be", "BB"), ("bi ba", "AA"), ("bo", "B")]
    docs = [Doc(nlp.vocab, words=words.split(), tags=list(tags)) for words, tags in texts]
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    nlp.initialize(lambda: examples)
    for _ in range(steps):
        nlp.update(examples)
    for token in (token for doc in docs for token in doc):
        token.tag_ = "B" if token.tag_ == "A" else "A"
    for _ in range(20):
        nlp.update(examples)
    assert nlp.evaluate(examples)["tag_acc"] == 1
