"""Looked-up scores are those of the features, whatever was seen before."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_crf.core.chain.edges import EdgeColumns, EdgePotentials
from spacy_crf.core.chain.potentials import potentials
from spacy_crf.core.weights import ChainWeights, Layout
from spacy_crf.features.block import FeatureSettings
from spacy_crf.features.features import Features
from spacy_crf.learning import scores as module
from spacy_crf.learning.scores import Emissions, encode

LABELS = 3
TEMPLATES = [
    ["LOWER[-2..2]", "SUFFIX2[-1]", "SUFFIX2", "LOWER[-1]|LOWER[0]"],
    ["BIAS", "BOS", "EOS[1]", "SHAPE[0]", "POSITION2[-1..0]"],
    ["TAG[-1..1]", "TAG[0]|LOWER[1]", "B:TAG[0]", "POS[2]"],
    ["_.crf_test_score", "LOWER[-1]"],
    ["LOWER[0]|TAG[0]"],
]
texts = st.lists(st.lists(st.sampled_from(["a", "b", "aa", "Ab", "x1", "."]), max_size=5), min_size=1, max_size=4)


@pytest.fixture(scope="module", autouse=True)
def extension():
    spacy.tokens.Token.set_extension("crf_test_score", default=None, force=True)
    yield
    spacy.tokens.Token.remove_extension("crf_test_score")


@pytest.fixture(scope="module")
def vocab():
    return spacy.blank("xx").vocab


def make_docs(vocab, sentences):
    docs = []
    for words in sentences:
        doc = Doc(vocab, words=words, tags=[{"a": "X", "b": "Y"}.get(word, "") for word in words])
        for token in doc:
            token._.crf_test_score = len(token) / 2 if token.is_alpha else "mark"
        docs.append(doc)
    return docs


def make_emissions(templates, padding, docs, vocab, seed=0):
    """With random weights for the features of some Docs."""
    features = Features(FeatureSettings(templates, padding=padding), "auto")
    extractor = features.extractor
    columns = extractor.read(docs, vocab)
    features.state.grow(extractor.keys(columns, extractor.state_templates), columns, padding)
    features.edge.grow(extractor.keys(columns, extractor.edge_templates), columns, padding)
    n_state, n_edge = len(features.state), len(features.edge)
    cells = [np.arange(size) for size in (n_state * LABELS, LABELS**2, n_edge * LABELS**2)]
    empty = ChainWeights.zeros(Layout.empty(LABELS, boundary=True)).extended(n_state, n_edge, *cells)
    flat = np.random.default_rng(seed).normal(size=empty.layout.size)
    return Emissions(features, replace(empty, flat=flat.astype(np.float32)))


def check(found, columns):
    looked_up = found.potentials(columns, found.look_up(columns))
    compact = Emissions(found.features, found.weights, is_compact=True)
    np.testing.assert_array_equal(compact.potentials(columns, compact.look_up(columns)).emissions, looked_up.emissions)
    summed = potentials(encode(columns, found.features), found.weights.dense, found.weights.layout)
    np.testing.assert_allclose(looked_up.emissions, summed.emissions, atol=1e-5)
    np.testing.assert_array_equal(looked_up.batch.order, summed.batch.order)
    if summed.edges is not None:
        matrices = [chains.edges.matrices[chains.edges.groups] for chains in (looked_up, summed)]
        np.testing.assert_allclose(*matrices, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TEMPLATES), st.booleans(), texts, st.lists(texts, min_size=1, max_size=3))
def test_looked_up_scores_are_those_of_the_features(vocab, templates, padding, known, batches):
    found = make_emissions(templates, padding, make_docs(vocab, known), vocab)
    for sentences in batches:
        check(found, found.features.extractor.read(make_docs(vocab, sentences), vocab))


@pytest.mark.parametrize("padding", [False, True])
def test_a_table_starts_over_when_it_is_full(vocab, monkeypatch, padding):
    words = [[f"w{number % 700}" for number in range(low, low + 60)] for low in range(0, 1400, 60)]
    found = make_emissions(["LOWER[-1..1]", "SUFFIX1"], padding, make_docs(vocab, words[:5]), vocab)
    monkeypatch.setattr(module, "MAX_BYTES", 20_000)
    sizes = []
    for sentence in words:
        columns = found.features.extractor.read(make_docs(vocab, [sentence]), vocab)
        check(found, columns)
        sizes.append(found.look_up(columns)[0].scores.nbytes)
    assert max(sizes) < 3 * 20_000 and sizes != sorted(sizes)


def test_rows_found_before_outlive_those_found_later(vocab):
    """Another thread may make a table grow, or start over, while this one still works on its batch."""
    found = make_emissions(["LOWER[-1..1]"], True, make_docs(vocab, [["a", "b"]]), vocab)
    columns = found.features.extractor.read(make_docs(vocab, [["a", "b", "c"]]), vocab)
    before = found.look_up(columns)
    many = found.features.extractor.read(make_docs(vocab, [[f"new{n}" for n in range(5000)]]), vocab)
    found.look_up(many)
    expected = potentials(encode(columns, found.features), found.weights.dense, found.weights.layout)
    np.testing.assert_allclose(found.potentials(columns, before).emissions, expected.emissions, atol=1e-5)


def test_a_copy_for_another_process_works(vocab):
    found = make_emissions(["LOWER[-1..1]"], True, make_docs(vocab, [["a", "b"]]), vocab)
    columns = found.features.extractor.read(make_docs(vocab, [["b", "a"]]), vocab)
    found.look_up(columns)
    check(pickle.loads(pickle.dumps(found)), columns)


@pytest.mark.parametrize("few", [True, False])
def test_transitions_are_those_of_the_edge_features(vocab, few):
    """Whether they are kept as columns, or made as matrices because too many weights are not 0."""
    docs = make_docs(vocab, [["a", "b", "aa", "x1", "."], ["b", "a"], ["Ab"]])
    made = make_emissions(["LOWER", "B:LOWER[0]", "B:LOWER[1]", "B:TAG[0]"], True, docs, vocab)
    if few:
        made.weights.dense.edges[:, 1:] = 0
        made.weights.dense.edges[::2] = 0
    found = Emissions(made.features, made.weights)
    columns = found.features.extractor.read([*docs, *make_docs(vocab, [["b", "zz", "a", "a"]])], vocab)
    assert isinstance(found.potentials(columns, found.look_up(columns)).edges, EdgeColumns if few else EdgePotentials)
    check(found, columns)


def test_no_tokens(vocab):
    found = make_emissions(["LOWER[-1..1]", "TAG"], True, make_docs(vocab, [["a"]]), vocab)
    check(found, found.features.extractor.read(make_docs(vocab, [[], []]), vocab))
