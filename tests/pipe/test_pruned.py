"""Weights of 0 and features without others are not stored; nothing else changes."""

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from helpers.tagged import TRAINER_CONFIGS, build, clean_docs, make_examples, tagger, tagger_files
from helpers.weights import dense_weights, flat_weights, set_flat_weights
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.potentials import potentials
from spacy_crf.learning.model import PARAMS, get_layout
from spacy_crf.learning.scores import encode
from spacy_crf.tagging.component import CRFTagger

FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging", "B:LOWER[0]", "B:SUFFIX2[0]"]}
SPARSE = {**TRAINER_CONFIGS["LBFGS"], "c1": 0.3, "c2": 0.01}
MODELS = {
    "seen": {"trainer": SPARSE},
    "unseen": {"trainer": {**SPARSE, "unseen": 0.001}},
    "all": {
        "trainer": SPARSE,
        "model": {"@architectures": "spacy_crf.LinearChain.v1", "all_states": True, "all_transitions": True},
    },
}


@pytest.fixture(params=MODELS)
def nlp(request: pytest.FixtureRequest) -> Iterator[Language]:
    """Trained under L1, its examples still there."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={**MODELS[request.param], "features": FEATURES})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    yield nlp


def used_names(pipe: CRFTagger) -> tuple[list[str], list[str]]:
    """Features with a weight that is not 0, computed from the dense weights."""
    dense = dense_weights(pipe.model)
    return tuple(  # type: ignore[return-value]
        [index.names()[number] for number in np.flatnonzero(table.any(axis=1))]
        for index, table in ((pipe.features.state, dense.state), (pipe.features.edge, dense.edges))
    )


def scores(nlp: Language) -> tuple[np.ndarray, np.ndarray]:
    """Emissions and marginals of the corpus and of a text with unknown words."""
    pipe = tagger(nlp)
    docs = [*clean_docs(nlp), Doc(nlp.vocab, words=["Old", "Quilla", "sails", "to", "Delft"])]
    observations = encode(pipe.features.extractor.read(docs, nlp.vocab), pipe.features)
    chains = potentials(observations, dense_weights(pipe.model), get_layout(pipe.model))
    return chains.emissions, node_marginals(forward_backward(chains))


def whole_size(pipe: CRFTagger) -> int:
    return len(srsly.msgpack_dumps(pipe.features.to_data())) + len(pipe.model.to_bytes())


def test_the_folder_shrinks_and_scores_stay_the_same_to_the_last_bit(nlp: Language, tmp_path: Path) -> None:
    pipe = tagger(nlp)
    nlp.to_disk(tmp_path / "first")
    files = tagger_files(tmp_path / "first")
    assert sum(len(zlib.decompress(files[part])) for part in ("features", "model")) < 0.5 * whole_size(pipe)
    loaded = spacy.load(tmp_path / "first")
    for ours, theirs in zip(scores(loaded), scores(nlp)):
        np.testing.assert_array_equal(ours, theirs)
    tags = [[[token.tag_ for token in doc] for doc in each.pipe(clean_docs(each))] for each in (nlp, loaded)]
    assert tags[0] == tags[1]
    loaded.to_disk(tmp_path / "second")
    assert tagger_files(tmp_path / "second") == files
    assert tagger(loaded).to_bytes() == pipe.to_bytes()


def test_features_left_are_those_with_weights(nlp: Language) -> None:
    pipe, fresh = tagger(nlp), tagger(build(features=FEATURES))
    fresh.from_bytes(pipe.to_bytes())
    assert (fresh.features.state.names(), fresh.features.edge.names()) == used_names(pipe)
    layout, flat = get_layout(fresh.model), flat_weights(fresh.model)
    assert layout.n_features == len(fresh.features.state) < len(pipe.features.state)
    assert layout.n_edge_features == len(fresh.features.edge) < len(pipe.features.edge)
    assert np.count_nonzero(flat) == np.count_nonzero(flat_weights(pipe.model))
    assert all((fresh.model.get_param(name) != 0).all() for name in ("state", "transitions", "edges"))
    used = {value for name in fresh.features.state.names() for value in name.split("=", 1)[1].split("|")}
    assert used == set(fresh.features.state._strings)


def test_storing_leaves_the_component_as_it_is(nlp: Language) -> None:
    pipe = tagger(nlp)
    params, layout, n = (
        [pipe.model.get_param(name) for name in PARAMS],
        get_layout(pipe.model),
        len(pipe.features.state),
    )
    pipe.to_bytes()
    assert all(now is before for now, before in zip([pipe.model.get_param(name) for name in PARAMS], params))
    assert get_layout(pipe.model) is layout and len(pipe.features.state) == n


def test_training_goes_on_from_what_was_stored(nlp: Language, tmp_path: Path) -> None:
    pipe = tagger(nlp)
    nlp.to_disk(tmp_path / "first")
    loaded = spacy.load(tmp_path / "first")
    examples = make_examples(loaded)
    for _ in range(3):
        loaded.update(examples)
    optimizer, before = tagger(loaded).trainer.optimizer, pipe.trainer.optimizer
    assert optimizer.value <= before.value * 1.001
    assert len(tagger(loaded).features.state) >= len(used_names(pipe)[0])
    gold = [[token.tag_ for token in eg.reference] for eg in examples]
    assert [[token.tag_ for token in doc] for doc in loaded.pipe(clean_docs(loaded))] == gold


def test_without_zeros_nothing_is_left_out() -> None:
    nlp = build(features=FEATURES)
    pipe, examples = tagger(nlp), make_examples(nlp)
    assert pipe.to_bytes()
    nlp.initialize(lambda: examples)
    assert pipe.to_bytes()
    nlp.update(examples)
    set_flat_weights(pipe.model, np.where(flat_weights(pipe.model) == 0, 1e-3, flat_weights(pipe.model)))
    files = srsly.msgpack_loads(pipe.to_bytes())
    assert zlib.decompress(files["model"]) == pipe.model.to_bytes()
    assert zlib.decompress(files["features"]) == srsly.msgpack_dumps(pipe.features.to_data())


def test_a_part_that_is_stored_alone_is_whole(nlp: Language) -> None:
    pipe = tagger(nlp)
    model = srsly.msgpack_loads(pipe.to_bytes(exclude=["features"]))["model"]
    assert zlib.decompress(model) == pipe.model.to_bytes()
    data = srsly.msgpack_loads(pipe.to_bytes(exclude=["model"]))["features"]
    assert zlib.decompress(data) == srsly.msgpack_dumps(pipe.features.to_data())
