"""Training from an encoded corpus on disk: the same weights, found again, and never half written."""

import io
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers import citations
from helpers.tagged import ONLINE, TRAINER_CONFIGS, make_examples
from helpers.weights import flat_weights
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry

from spacy_crf.core.errors import CRFError
from spacy_crf.core.learn import blocks, stochastic
from spacy_crf.features.features import FeatureIndex
from spacy_crf.learning import cache, encoder
from spacy_crf.learning.model import get_layout

TEMPLATES = ["BIAS", "LOWER[0]", "LOWER[-1]", "SUFFIX3", "IS_TITLE", "B:SUFFIX2"]


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several samples, several windows."""
    monkeypatch.setattr(encoder, "TOKENS_PER_SAMPLE", 30)
    monkeypatch.setattr(cache, "UNITS_PER_WINDOW", 50)
    monkeypatch.setattr(blocks, "UNITS_PER_WINDOW", 50)


def make(trainer: str, settings: dict[str, Any], **config: Any) -> tuple[Language, list[Example]]:
    """A tagger that is ready to learn, and its examples."""
    features = {"@misc": "spacy_crf.Features.v1", "templates": TEMPLATES, **config.pop("features", {})}
    nlp = spacy.blank("xx")
    block = {**TRAINER_CONFIGS[trainer], **settings}
    nlp.add_pipe("crf_tagger", config={"trainer": block, "features": features, **config})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    return nlp, examples


def learn(steps: int, cache: Path | None, trainer: str = "LBFGS", **config: Any) -> Language:
    """A tagger after some steps."""
    settings = {} if cache is None else {"cache": str(cache)}
    nlp, examples = make(trainer, settings | config.pop("settings", {}), **config)
    for _ in range(steps):
        nlp.update(examples)
    return nlp


def weights(nlp: Language) -> np.ndarray:
    return flat_weights(nlp.get_pipe("crf_tagger").model)


CASES: list[dict[str, Any]] = [
    {},
    {"features": {"min_count": 2, "min_edge_count": 2}},
    {"features": {"max_features": 64}},
    {"settings": {"unseen": 0.05, "iterations_per_step": 2}},
    {"settings": {"c1": 0.1}},
    {"model": {"@architectures": "spacy_crf.LinearChain.v1", "all_states": True, "all_edges": True}},
    {"target": "ent"},
]


def test_the_loss_is_that_of_the_whole_corpus(tmp_path: Path) -> None:
    told = []
    for settings, shown in (({}, None), ({"cache": str(tmp_path)}, 1), ({"cache": str(tmp_path)}, None)):
        nlp, examples = make("LBFGS", settings)
        nlp.update(examples[:shown])
        told.append(nlp.update(examples[:shown], losses={})["crf_tagger"])
    assert told == pytest.approx([told[0]] * 3)


@pytest.mark.parametrize("folder", [None, "cache"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_model_has_each_weight_once_however_many_windows(
    case: dict[str, Any], folder: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = learn(3, folder and tmp_path / folder, **dict(case))
    spacy.util.get_lang_class("xx").from_config(nlp.config).from_bytes(nlp.to_bytes())  # refuses one that occurs twice
    monkeypatch.setattr(blocks, "UNITS_PER_WINDOW", 1_000_000)
    whole = learn(3, None, **dict(case))
    found, expected = (get_layout(pipeline.get_pipe("crf_tagger").model) for pipeline in (nlp, whole))
    for name in ("state_cells", "transition_cells", "edge_cells"):
        np.testing.assert_array_equal(np.sort(getattr(found, name)), np.sort(getattr(expected, name)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_weights_are_those_of_training_in_memory(case: dict[str, Any], tmp_path: Path) -> None:
    inside, on_disk, again = (weights(learn(3, folder, **dict(case))) for folder in (None, tmp_path, tmp_path))
    assert inside.any()
    np.testing.assert_array_equal(on_disk, inside)
    np.testing.assert_array_equal(again, inside)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("trainer", ONLINE)
def test_online_learners_take_an_epoch_a_step(trainer: str, tmp_path: Path) -> None:
    nlp = learn(12, tmp_path, trainer)
    gold = [[token.tag_ for token in example.reference] for example in make_examples(nlp)]
    found = [[token.tag_ for token in doc] for doc in nlp.pipe(eg.predicted for eg in make_examples(nlp))]
    assert np.mean(np.concatenate(gold) == np.concatenate(found)) > 0.95
    np.testing.assert_array_equal(weights(learn(12, tmp_path, trainer)), weights(nlp))  # from the file that is there


@pytest.mark.parametrize("trainer", ONLINE)
@pytest.mark.parametrize("shown", [1, None])
def test_online_learners_tell_the_loss_of_the_epoch(
    trainer: str, shown: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder, "TOKENS_PER_SAMPLE", 1_000_000)
    monkeypatch.setattr(cache, "UNITS_PER_WINDOW", 1_000_000)
    told, learned = [], []
    for settings, count in (({}, None), ({"cache": str(tmp_path)}, shown)):
        nlp, examples = make(trainer, settings)
        told.append([nlp.update(examples[:count], losses={})["crf_tagger"] for _ in range(4)])
        learned.append(weights(nlp))
    assert told[1] == pytest.approx(told[0])
    np.testing.assert_array_equal(*learned)


@pytest.mark.parametrize("trainer", ["LBFGS", "AdaGrad"])
def test_a_component_that_was_loaded_has_no_corpus_to_read(trainer: str, tmp_path: Path) -> None:
    learn(1, tmp_path / "cache", trainer).to_disk(tmp_path / "model")
    nlp = spacy.load(tmp_path / "model")
    with pytest.raises(CRFError, match="CRF251.*start"):
        nlp.update(make_examples(nlp), sgd=nlp.resume_training())
    nlp = spacy.load(tmp_path / "model", config={"components.crf_tagger.trainer.cache": None})
    nlp.update(make_examples(nlp), sgd=nlp.resume_training())


def test_neither_features_that_are_too_rare_nor_batches_are_kept(tmp_path: Path) -> None:
    features = {"min_count": 2, "min_edge_count": 2}
    nlp, examples = make("AdaGrad", {"cache": str(tmp_path)}, features=features)
    kept: list[weakref.ref[Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        cut = stochastic.cut_batches
        patch.setattr(stochastic, "cut_batches", lambda *args: [kept.append(weakref.ref(b)) or b for b in cut(*args)])
        nlp.update(examples)
    assert kept and sum(batch() is not None for batch in kept) <= len(kept) / 2
    assert not any(len(rare["keys"]) for rare in nlp.get_pipe("crf_tagger").features.indices_to_data()["rare"].values())


def test_partial_gold_is_kept(tmp_path: Path) -> None:
    def run(settings: dict[str, Any]) -> np.ndarray:
        nlp, examples = make("LBFGS", settings)
        for example in examples[:4]:
            example.reference[-1].tag_ = ""
        nlp.update(examples)
        return weights(nlp)

    np.testing.assert_array_equal(run({"cache": str(tmp_path)}), run({}))


def test_a_file_is_read_again_only_for_the_same_data_settings_and_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[int] = []
    encode = FeatureIndex.encode
    monkeypatch.setattr(FeatureIndex, "encode", lambda self, keys: (encoded.append(1), encode(self, keys))[1])

    def is_encoded(**config: Any) -> bool:
        encoded.clear()
        learn(1, tmp_path, **config)
        return bool(encoded)

    assert is_encoded() and not is_encoded()
    assert is_encoded(features={"templates": TEMPLATES[:-1]}) and is_encoded(features={"min_count": 2})
    assert is_encoded(target="pos") and is_encoded(features={"padding": False})
    assert not is_encoded(settings={"c2": 3.0})
    monkeypatch.setattr(cache, "_code", lambda: b"other")
    assert is_encoded()


def test_other_examples_are_other_data(tmp_path: Path) -> None:
    learn(1, tmp_path)
    nlp, examples = make("LBFGS", {"cache": str(tmp_path)})
    examples[0].reference[0].tag_ = "VB"
    nlp.update(examples)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_run_that_breaks_off_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, features: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache._WindowWriter, "finish", full)
    with pytest.raises(CRFError, match="CRF676.*crf_tagger.*No space left.*cache"):
        learn(1, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("change", ["cut", "index", "window"])
def test_a_damaged_file_is_told(change: str, tmp_path: Path) -> None:
    learn(1, tmp_path)
    (path,) = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    if change == "cut":
        del data[-5:]
    else:
        data[-60 if change == "index" else 5] ^= 255
    path.write_bytes(bytes(data))
    with pytest.raises(CRFError, match=f"CRF675.*{path.name}.*Delete it"):
        learn(1, tmp_path)


@pytest.mark.parametrize(
    ("trainer", "settings", "config", "code"),
    [
        ("LBFGS", {"resumable": True}, {}, "CRF678.*resumable"),
        ("LBFGS", {"warmup": 2}, {}, "CRF678.*warmup = 2"),
        ("LBFGS", {"c2": "auto"}, {}, "CRF678.*c2 = 'auto'"),
        ("AROW", {"resumable": True}, {}, "CRF678.*resumable"),
        ("LBFGS", {}, {"model": {"@architectures": "spacy_crf.LinearChain.v1", "order": 2}}, "CRF674.*order = 2"),
    ],
)
def test_what_wants_the_examples_is_refused(
    trainer: str, settings: dict[str, Any], config: dict[str, Any], code: str, tmp_path: Path
) -> None:
    with pytest.raises(CRFError, match=code):
        learn(1, tmp_path, trainer, settings=settings, **config)


def config_of(folder: Path, trainer: str, cached: bool = True) -> Any:
    """A config of `spacy train` on a stream, whose first hundred examples have but some of the labels."""
    blank = spacy.blank("xx")
    references = [example.reference for example in make_examples(blank)]
    known = [doc for doc in references if not any(token.tag_ in ("MD", "CD") for token in doc)]
    DocBin(docs=[*known * 8, *references], store_user_data=True).to_disk(folder / "train.spacy")
    nlp = spacy.blank("xx")
    settings = {**TRAINER_CONFIGS[trainer], **({"cache": str(folder / "cache")} if cached else {})}
    nlp.add_pipe("crf_tagger", config={"trainer": settings})
    config = nlp.config.copy()
    config["paths"] |= {"train": str(folder / "train.spacy"), "dev": str(folder / "train.spacy")}
    for name in ("train", "dev"):
        config["corpora"][name] = {"@readers": "spacy_crf.Corpus.v1", "path": f"${{paths.{name}}}"}
    config["training"] |= {"max_epochs": -1, "max_steps": 3, "eval_frequency": 1}
    config["training"]["batcher"] = {"@batchers": "spacy_crf.full_batch.v1", "cached": True}
    config["training"]["score_weights"] = {"crf_score": 1.0}
    return config


@pytest.mark.parametrize("trainer", ["LBFGS", "AdaGrad"])
def test_spacy_train_reads_a_stream_as_a_whole(trainer: str, tmp_path: Path) -> None:
    nlp = init_nlp(config_of(tmp_path, trainer))
    (tmp_path / "model").mkdir()
    nlp, _ = train(nlp, tmp_path / "model", stdout=io.StringIO(), stderr=io.StringIO())
    assert {"MD", "CD"} <= set(nlp.get_pipe("crf_tagger").labels)
    assert nlp.evaluate(make_examples(nlp))["tag_acc"] > 0.9
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_the_batcher_for_caches_wants_one(tmp_path: Path) -> None:
    with pytest.raises(CRFError, match="CRF677.*crf_tagger.*cached"):
        init_nlp(config_of(tmp_path, "LBFGS", cached=False))


def test_constraints_are_mined_from_folds_that_their_models_did_not_see(tmp_path: Path) -> None:
    examples = citations.make_examples(spacy.blank("xx"))
    DocBin(docs=[example.reference for example in examples]).to_disk(tmp_path / "train.spacy")
    found = []
    for is_cached in (False, True):
        trainer = {"@misc": "spacy_crf.LBFGS.v1", **({"cache": str(tmp_path / "cache")} if is_cached else {})}
        config = citations.build(trainer=trainer, mine=citations.MINE).config.copy()
        reader = {"@readers": "spacy_crf.Corpus.v1", "path": str(tmp_path / "train.spacy")}
        config["corpora"] = {"train": reader, "dev": reader}
        config["training"]["max_epochs"] = -1 if is_cached else 0
        config["training"]["batcher"] = {"@batchers": "spacy_crf.full_batch.v1", "cached": is_cached}
        nlp = init_nlp(config)
        shown = list(registry.resolve({"train": reader})["train"](nlp))
        nlp.update(shown[: 1 if is_cached else None], sgd=nlp.create_optimizer())
        found.append([str(constraint) for constraint in citations.pipe_of(nlp).constraints])
    assert found[0] == found[1] != []
    assert len(list((tmp_path / "cache").iterdir())) == 1
