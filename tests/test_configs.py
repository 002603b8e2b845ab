"""The configs that come with the project are complete, valid and made for the corpus beside them."""

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
import spacy
from helpers.paths import ROOT
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, registry
from spacy.vocab import Vocab

from spacy_crf.features.lexemes import WordForms, lexical_strings
from spacy_crf.learning.block import OnlineSettings, PerceptronSettings, StochasticGradientSettings
from spacy_crf.learning.model import get_layout

CONFIGS = sorted((ROOT / "configs").glob("*.cfg"))


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline that tags, as configs/crf_tagger.cfg makes one."""
    nlp = spacy.blank("en")
    nlp.add_pipe("crf_tagger", config={"trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.01}})
    words = ["the", "boats", "went", "home", "seas", "rose", "and", "winds", "fell"]
    tags = ["NNS" if word.endswith("s") else "VBD" if word[-2:] in ("nt", "se", "ll") else "NN" for word in words]
    examples = [Example(Doc(nlp.vocab, words), Doc(nlp.vocab, words, tags=tags))]
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    path = tmp_path_factory.mktemp("tagger")
    nlp.to_disk(path)
    return path


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_config_resolves(path: Path, monkeypatch: pytest.MonkeyPatch, tagger: Path) -> None:
    monkeypatch.chdir(ROOT)
    config = load_config(path)
    if "tagger" in config["paths"]:
        config["paths"]["tagger"] = str(tagger)
    if "Torch" in path.read_text(encoding="utf8"):
        pytest.importorskip("torch", reason="the encoder is PyTorch's, an extra")
    nlp = load_model_from_config(config, auto_fill=True, validate=True)
    assert nlp.pipe_names == config["nlp"]["pipeline"]
    interpolated = nlp.config.interpolate()
    registry.resolve(interpolated["training"], schema=ConfigSchemaTraining)
    for name in ("train", "dev"):
        assert Path(interpolated["paths"][name]).exists()


@pytest.mark.parametrize("ending, words", [("speech", 100_000), ("speech_tags", 1_000_000), ("tok2vec", 1_000_000)])
def test_the_configs_of_running_speech_score_more_than_the_first_update(ending: str, words: int) -> None:
    """Of the texts that they are for: the model of the first update was kept of fewer than 2.7 million words."""
    config = load_config(ROOT / "configs" / f"punctuation_restorer_{ending}.cfg").interpolate()
    training = config["training"]
    updates = training["max_epochs"] * words / config["corpora"]["train"]["window"] / training["batcher"]["size"]
    assert training["eval_frequency"] < updates


@pytest.mark.parametrize("trainer", [PerceptronSettings(averaging=False), StochasticGradientSettings(0.001, False)])
def test_the_configs_of_the_2014_paper_have_its_weights(
    trainer: OnlineSettings, monkeypatch: pytest.MonkeyPatch, tagger: Path
) -> None:
    monkeypatch.chdir(ROOT)
    name = "perceptron" if isinstance(trainer, PerceptronSettings) else "sgd"
    config = load_config(ROOT / "configs" / f"punctuation_restorer_paper_{name}.cfg")
    config["paths"]["tagger"] = str(tagger)
    nlp = load_model_from_config(config, auto_fill=True)
    corpora = registry.resolve(nlp.config.interpolate()["corpora"])
    examples = [*islice(corpora["train"](nlp), 300)]
    for doc in (example.predicted for example in examples):
        nlp.get_pipe("crf_tagger")(doc)
    with nlp.select_pipes(enable="punctuation_restorer"):
        nlp.initialize(lambda: examples)
        nlp.update(examples)
    pipe = nlp.get_pipe("punctuation_restorer")
    assert pipe.settings.trainer == trainer
    tags = {token.tag_ for example in examples for token in example.predicted[1:]}
    first = {example.predicted[0].tag_ for example in examples}
    marks = len(pipe.labels)
    assert len(tags) > 1 and marks == 6
    # from mark to mark into each part of speech, from START into those of first words, and from each mark to STOP
    assert get_layout(pipe.model).size == len(tags) * marks**2 + len(first) * marks + marks


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_a_config_bears_the_name_of_a_factory_and_sums_its_weights_to_one(path: Path) -> None:
    config = load_config(path)
    name = config["nlp"]["pipeline"][-1]
    factory = config["components"][name]["factory"]
    assert spacy.blank("en").has_factory(factory) and factory == name and path.stem.startswith(factory)
    if config["components"][name].get("source") is None:
        assert config["initialize"]["components"][name] == {"start": None}
    assert sum(weight or 0 for weight in config["training"]["score_weights"].values()) == 1


def test_the_baseline_of_the_thesis_goes_by_the_tags_of_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    nlp = load_model_from_config(load_config(ROOT / "configs" / "set_valued_tagger_heid_baseline.cfg"), auto_fill=True)
    corpora = registry.resolve(nlp.config.interpolate()["corpora"])
    examples = list(corpora["train"](nlp))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    seen = [(token.text, token._.gold_tags or {token.tag_: 1.0}) for eg in examples for token in eg.reference]
    of_words: dict[str, Counter[str]] = {}
    for word, row in seen:
        for tag, weight in row.items():
            of_words.setdefault(word, Counter())[tag] += weight / sum(row.values())
    everything = sum(of_words.values(), Counter())
    word, unknown = max(of_words, key=lambda word: len(of_words[word])), "qqq"
    doc = nlp(Doc(nlp.vocab, words=[unknown, word, unknown]))
    for token, counts in zip(doc, (everything, of_words[word], everything)):
        assert token.tag_ == max(counts, key=counts.__getitem__) == token._.tag_set[0]
        for tag, probability in token._.tag_probs.items():
            assert probability == pytest.approx(counts[tag] / sum(counts.values()), abs=1e-5)


@pytest.mark.parametrize("name, above, very", [("final", 4, 234), ("intermediate", 2, 250), ("left3words", 2, 250)])
def test_thresholds_of_the_thesis_are_exceeded(name: str, above: int, very: int) -> None:
    config = load_config(ROOT / "configs" / f"set_valued_tagger_heid_{name}.cfg")
    features = registry.resolve(config["components"]["set_valued_tagger"])["features"]
    docs = [Doc(Vocab(), words=["a"] * (above + 1) + ["b"] * above + ["c"] * (very + 1) + ["d"] * very)]
    lexicon = features.make_resources(str.split, lambda: docs).lexicon
    found = {}
    for template in features.parsed:
        if str(template).startswith("ORTH[0]|COMMON"):
            attribute = template.atoms[1].attribute
            forms = WordForms([docs[0].vocab[word] for word in "abcd"], lexicon)
            found[str(attribute)] = lexical_strings(attribute, forms)
    assert list(found.values()) == [["1", "", "1", "1"], ["", "", "1", ""]]


@pytest.mark.parametrize(
    "key, value", [("sequense", "auto"), ("sequence", "paragraph"), ("scheme", "IOBES"), ("threshold", "high")]
)
def test_misspelt_settings_are_refused(key: str, value: str) -> None:
    with pytest.raises(ValueError, match=key):
        spacy.blank("en").add_pipe("crf_tagger", config={key: value})
