import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_crf.core.errors import CRFError
from spacy_crf.core.labels import Gold, TagSet
from spacy_crf.core.sparse import from_columns
from spacy_crf.features.block import FeatureSettings
from spacy_crf.features.features import Features
from spacy_crf.learning.block import LinearChain
from spacy_crf.learning.encoder import ChainLearner, Sample, count_labels, group_edges
from spacy_crf.learning.model import get_layout, resize_labels, start_weights

LABELS = ("X", "Y", "Z")
VOCAB = spacy.blank("xx").vocab
TEXTS = ["ORTH", "LOWER[-1]", "B:ORTH[0]", "B:LOWER[-1]|LOWER[0]"]


TAGS = TagSet(LABELS, "none")


def make_learner(tags=TAGS, **settings):
    model = LinearChain(**settings)
    start_weights(model, len(tags), tags.legal())
    return ChainLearner("chain", LABELS, tags, Features(FeatureSettings(TEXTS), "auto"), model)


# a sentence: words, each with the set of labels that gold allows (all: unknown)
sentences = st.lists(
    st.tuples(st.sampled_from("abAB"), st.sets(st.sampled_from(range(3)), min_size=1)), min_size=0, max_size=6
)


def learn(learner, batch):
    docs = [Doc(VOCAB, words=[word for word, _ in sentence]) for sentence in batch]
    weights = np.zeros((sum(map(len, batch)), 3), dtype=np.float32)
    for row, (_, labels) in enumerate(unit for sentence in batch for unit in sentence):
        weights[row, list(labels)] = 1
    take_in(learner, docs, Gold.weighted(weights))


def take_in(learner, docs, gold):
    extractor = learner.features.extractor
    sample = Sample(extractor.read(docs, VOCAB), gold, extractor)
    learner.grow(sample)
    learner.add_weights(learner.encode(sample))


def named_cells(learner):
    """The weights of a model by the names of what they belong to; each exists once."""
    layout, n = get_layout(learner.model), len(learner.tags)
    state, edge = learner.features.state.names(), learner.features.edge.names()
    found = [
        [(state[cell // n], cell % n) for cell in layout.state_cells.tolist()],
        [divmod(cell, n) for cell in layout.transition_cells.tolist()],
        [(edge[cell // (n * n)], *divmod(cell % (n * n), n)) for cell in layout.edge_cells.tolist()],
    ]
    assert all(len(cells) == len(set(cells)) for cells in found)
    sizes = [len(learner.model.get_param(name)) for name in ("state", "transitions", "edges")]
    assert sizes == [len(cells) for cells in found]
    assert (layout.n_features, layout.n_edge_features) == (len(state), len(edge))
    return [set(cells) for cells in found]


def expected_cells(batches):
    state, transitions, edges = set(), set(), set()
    for sentence in (sentence for batch in batches for sentence in batch):
        for i, (word, labels) in enumerate(sentence):
            labels = labels if len(labels) < 3 else set()
            lower = word.lower()
            before = sentence[i - 1][0].lower() if i else "BOS-1"
            state |= {(name, label) for name in (f"ORTH[0]={word}", f"LOWER[-1]={before}") for label in labels}
            if not i or len(sentence[i - 1][1]) == 3:
                continue
            pairs = {(first, second) for first in sentence[i - 1][1] for second in labels}
            transitions |= pairs
            names = f"B:ORTH[0]={word}", f"B:LOWER[-1]|LOWER[0]={before}|{lower}"
            edges |= {(name, *pair) for name in names for pair in pairs}
    return [state, transitions, edges]


@given(st.lists(st.lists(sentences, max_size=3), max_size=4))
def test_weights_are_those_of_the_pairs_seen(batches):
    parts, whole = make_learner(), make_learner()
    for number, batch in enumerate(batches, 1):
        learn(parts, batch)
        assert named_cells(parts) == expected_cells(batches[:number])
    learn(whole, [sentence for batch in batches for sentence in batch])
    assert named_cells(whole) == named_cells(parts)


@given(st.lists(st.lists(sentences, max_size=3), max_size=3))
def test_all_weights_on_request(batches):
    tags = TagSet.of_spans(("P",), "BIO")
    learner = make_learner(tags, all_states=True, all_transitions=True, all_edges=True)
    for batch in batches:
        learn(learner, batch)
        state, transitions, edges = named_cells(learner)
        allowed = set(zip(*np.nonzero(tags.legal()[0])))
        assert state == {(name, label) for name in learner.features.state.names() for label in range(3)}
        assert transitions == allowed
        assert edges == {(name, *pair) for name in learner.features.edge.names() for pair in allowed}


def test_transitions_may_be_left_to_edge_templates():
    learner = make_learner(all_edges=True, transitions=False)
    learn(learner, [[("a", {0}), ("b", {1}), ("a", {1})]])
    state, transitions, edges = named_cells(learner)
    assert not transitions and len(edges) == 9 * len(learner.features.edge) and state
    with pytest.raises(CRFError, match="CRF205"):
        make_learner(all_transitions=True, transitions=False)


def test_the_features_of_agrawal_and_shah_have_628_weights_on_dialogues_of_33_parts_of_speech(vocab):
    """As many as their tagger has on the utterances of movie_punct: 33 parts of speech, 24 of them of first words."""
    settings = FeatureSettings(["B:ORTH", "ORTH|BOS", "EOS"])
    tags, extractor = TagSet(("COMMA", "O", "PERIOD", "QUESTION"), "none"), Features(settings, "auto")
    for kept, size in (({}, 33 + 25), ({"all_states": True, "all_edges": True, "transitions": False}, 628)):
        model = LinearChain(boundary=False, **kept)
        start_weights(model, 4, tags.legal())
        learner = ChainLearner("chain", tags.tags, tags, Features(settings, "auto"), model)
        docs = [Doc(vocab, words=[f"P{n}", f"P{(n + 9) % 33}", f"P{n}"]) for n in range(24)]
        sample = Sample(
            extractor.extractor.read(docs, vocab), Gold.known(np.ones(72, np.int32), 4), extractor.extractor
        )
        learner.grow(sample)
        learner.add_weights(learner.encode(sample))
        layout = get_layout(model)
        assert (len(learner.features.state), len(learner.features.edge)) == (25, 33)
        assert len(layout.state_cells) + len(layout.edge_cells) == size
        assert len(layout.transition_cells) == (0 if kept else 1)


def test_all_weights_of_a_label_that_is_added_later():
    learner = make_learner(all_states=True, all_edges=True)
    learn(learner, [[("a", {0}), ("b", {1})]])
    resize_labels(learner.model, 4)
    tags = TagSet((*LABELS, "W"), "none")
    learner = ChainLearner("chain", tags.tags, tags, learner.features, learner.model)
    take_in(learner, [Doc(VOCAB, words=["a", "c"])], Gold.known(np.array([3, 0]), 4))
    state, _, edges = named_cells(learner)
    assert state == {(name, label) for name in learner.features.state.names() for label in range(4)}
    pairs = [(first, second) for first in range(4) for second in range(4)]
    assert edges == {(name, *pair) for name in learner.features.edge.names() for pair in pairs}


def test_weights_that_are_there_keep_their_values():
    learner = make_learner()
    learn(learner, [[("a", {0}), ("b", {1})]])
    names = named_cells(learner)[0]
    size = len(learner.model.get_param("state"))
    learner.model.set_param("state", np.arange(1, size + 1, dtype=np.float32))
    learn(learner, [[("B", {2}), ("a", {1}), ("b", {1})]])
    assert learner.model.get_param("state")[:size].tolist() == list(range(1, size + 1))
    assert not learner.model.get_param("state")[size:].any()
    assert names < named_cells(learner)[0]


@given(st.integers(0, 12), st.integers(0, 4), st.integers(0, 2**32 - 1), st.booleans())
def test_units_with_the_same_edge_features_share_a_row(n_units, width, seed, valued):
    columns = np.random.default_rng(seed).integers(-1, 3, (n_units, width)).astype(np.int32)
    values = (np.arange(columns.size).reshape(columns.shape) % 3).astype(np.float32) if valued else None
    rows = from_columns(columns, 4, values)

    def row(rows, n):
        pairs = slice(rows.indptr[n], rows.indptr[n + 1])
        return tuple(rows.indices[pairs]), None if rows.values is None else tuple(rows.values[pairs])

    grouped = group_edges(rows)
    assert [row(grouped.features, group) for group in grouped.groups] == [row(rows, n) for n in range(n_units)]
    assert grouped.features.n_rows == len({row(rows, n) for n in range(n_units)})


def test_labels_are_counted_where_gold_says_something():
    weights = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1], [0.2, 0.3, 0.5]], dtype=np.float32)
    assert count_labels(Gold.weighted(weights), 3).tolist() == [3, 2, 2]
    assert count_labels(Gold.known(np.array([2, -1]), 3), 3).tolist() == [0, 0, 1]


@pytest.mark.parametrize("settings", [{}, {"all_states": True, "all_transitions": True, "all_edges": True}])
def test_nothing_to_learn_from(settings):
    learner = make_learner(**settings)
    learn(learner, [[], []])
    assert [len(cells) for cells in named_cells(learner)] == [0, 9 if settings else 0, 0]
