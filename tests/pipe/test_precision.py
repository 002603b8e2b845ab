"""Weights in half precision: what is stored, and what comes back."""

from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from helpers.networks import CNN
from helpers.tagged import TARGETS, clean_docs, read_target, tagger, tagger_files, train
from helpers.weights import flat_weights, set_flat_weights, vector_weights

from spacy_crf.learning.model import PARAMS, VECTORS, get_layout
from spacy_crf.pipe.inspect import inspect

ARCHITECTURE = {"@architectures": "spacy_crf.LinearChain.v1"}
HALF = {**ARCHITECTURE, "precision": "float16"}


@pytest.mark.parametrize("target", TARGETS)
def test_half_precision_comes_back_as_nearly_the_same_weights(target: str, tmp_path: Path) -> None:
    nlp = train(target=target, model=HALF)
    before = tagger(nlp).model.get_param("state").copy()
    nlp.to_disk(tmp_path / "first")
    loaded = spacy.load(tmp_path / "first")
    after = tagger(loaded).model.get_param("state")
    np.testing.assert_array_equal(tagger(nlp).model.get_param("state"), before)
    assert all(tagger(loaded).model.get_param(name).dtype == np.float32 for name in PARAMS)
    assert (after != before).any() and np.allclose(after, before, rtol=1e-3)
    tags = [[read_target(doc, target) for doc in each.pipe(clean_docs(each))] for each in (nlp, loaded)]
    assert tags[0] == tags[1]
    loaded.to_disk(tmp_path / "second")
    assert tagger_files(tmp_path / "second") == tagger_files(tmp_path / "first")


def test_half_precision_is_smaller_in_bytes_and_on_its_own() -> None:
    whole, half = (tagger(train(model=model)) for model in (ARCHITECTURE, HALF))
    sizes = [len(srsly.msgpack_loads(pipe.to_bytes())["model"]) for pipe in (whole, half)]
    assert sizes[1] < 0.8 * sizes[0]
    alone = srsly.msgpack_loads(half.to_bytes(exclude=["features"]))["model"]
    assert len(alone) < 0.8 * sizes[0]


def test_the_config_decides_and_not_the_file(tmp_path: Path) -> None:
    train(model=HALF).to_disk(tmp_path)
    whole = {"components": {"crf_tagger": {"model": {"precision": "float32"}}}}
    half, single = spacy.load(tmp_path), spacy.load(tmp_path, config=whole)
    assert flat_weights(tagger(half).model).tobytes() == flat_weights(tagger(single).model).tobytes()
    assert len(single.get_pipe("crf_tagger").to_bytes()) > len(half.get_pipe("crf_tagger").to_bytes())
    assert [inspect(tagger(nlp)).precision for nlp in (half, single)] == ["float16", "float32"]


def test_weights_that_become_zero_are_left_out() -> None:
    pipe = tagger(train(model=HALF))
    flat = flat_weights(pipe.model)
    n_tiny = len(get_layout(pipe.model).state_cells) // 2
    flat[:n_tiny] = 1e-9
    set_flat_weights(pipe.model, flat)
    other = tagger(train(model=HALF)).from_bytes(pipe.to_bytes())
    assert get_layout(other.model).size == np.count_nonzero(flat.astype(np.float16))
    assert other.to_bytes() == pipe.to_bytes()


def test_a_weight_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    pipe = tagger(train(model=HALF))
    flat = flat_weights(pipe.model)
    flat[0] = -70_000
    set_flat_weights(pipe.model, flat)
    with pytest.raises(ValueError, match=r'CRF414.*crf_tagger.*70000.*precision = "float32"'):
        pipe.to_bytes()
    with pytest.raises(ValueError, match="CRF414"):
        pipe.to_disk(tmp_path / "model")
    assert not (tmp_path / "model").exists()
    pipe.model.attrs["precision"] = "float32"
    pipe.from_bytes(pipe.to_bytes())
    assert flat_weights(pipe.model).min() == -70_000


def test_scores_of_vectors_are_rounded_and_their_layer_is_not() -> None:
    nlp = train("Minibatch", model={**HALF, "tok2vec": CNN})
    pipe = tagger(nlp)
    scores, layer = vector_weights(pipe.model), pipe.model.get_ref("tok2vec").to_bytes()
    assert scores is not None
    other = tagger(train("Minibatch", model={**HALF, "tok2vec": CNN})).from_bytes(pipe.to_bytes())
    assert other.model.get_param(VECTORS).dtype == np.float32
    np.testing.assert_array_equal(other.model.get_param(VECTORS), scores.astype(np.float16))
    assert other.model.get_ref("tok2vec").to_bytes() == layer


def test_other_precisions_are_refused() -> None:
    nlp = spacy.blank("xx")
    with pytest.raises(ValueError, match="precision"):
        nlp.add_pipe("crf_tagger", config={"model": {**ARCHITECTURE, "precision": "int8"}})
