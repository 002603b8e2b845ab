"""What inspection lists is what the weights say."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from helpers.tagged import build, train
from helpers.weights import dense_weights, flat_weights

from spacy_crf.learning.model import get_layout
from spacy_crf.pipe.inspect import inspect

TEMPLATES = ["LOWER[-1..0]", "SUFFIX2", "IS_TITLE", "B:IS_TITLE[0]"]


@pytest.fixture
def pipe(extension):
    features = {"@misc": "spacy_crf.Features.v1", "templates": TEMPLATES}
    return train(target="ent", features=features).get_pipe("crf_tagger")


@pytest.fixture
def found(pipe):
    return inspect(pipe, top=5)


def test_weights_by_label(pipe, found):
    state, names = dense_weights(pipe.model).state, pipe.features.state.names()
    assert list(found.highest) == list(found.lowest) == found.labels == list(pipe.tags.tags)
    for number, label in enumerate(found.labels):
        order = np.argsort(-state[:, number], kind="stable")
        best = [(names[f], state[f, number]) for f in order[:5] if state[f, number] > 0]
        worst = [(names[f], state[f, number]) for f in order[::-1][:5] if state[f, number] < 0]
        assert [part.weight for part in found.highest[label]] == [weight for _, weight in best]
        assert [part.weight for part in found.lowest[label]] == [weight for _, weight in worst]
        for part in (*found.highest[label], *found.lowest[label]):
            assert part.label == label and state[names.index(part.feature), number] == part.weight
    assert "LOWER[0]=bo" in [part.feature for part in found.highest["B-PER"]]


def test_transitions_that_the_scheme_forbids_are_left_out(pipe):
    found = inspect(pipe, top=1000)
    pairs = [(part.before, part.after) for part in found.likely]
    assert pairs == [(part.before, part.after) for part in found.unlikely][::-1]
    assert ("B-PER", "I-PER") in pairs and (None, "B-PER") in pairs and ("O", None) in pairs
    assert ("O", "I-PER") not in pairs and (None, "I-PER") not in pairs
    weights = [part.weight for part in found.likely]
    assert weights == sorted(weights, reverse=True)
    dense, number = dense_weights(pipe.model), pipe.tags.number
    for part in found.likely:
        if part.before is None:
            assert part.weight == dense.start[number[part.after]]
        elif part.after is None:
            assert part.weight == dense.end[number[part.before]]
        else:
            assert part.weight == dense.transitions[number[part.before], number[part.after]]


def test_edge_features(pipe, found):
    dense, n = dense_weights(pipe.model), len(pipe.tags)
    assert [abs(part.weight) for part in found.edges] == sorted(np.abs(dense.edges[dense.edges != 0]), reverse=True)[:5]
    for part in found.edges:
        assert part.feature == "B:IS_TITLE[0]=1"
        assert dense.edges[0, pipe.tags.number[part.before] * n + pipe.tags.number[part.label]] == part.weight


def test_sizes(pipe, found):
    layout, flat = get_layout(pipe.model), flat_weights(pipe.model)
    templates = {part.template: part for part in found.templates}
    assert list(templates) == ["LOWER[-1]", "LOWER[0]", "SUFFIX2[0]", "IS_TITLE[0]", "B:IS_TITLE[0]"]
    assert sum(part.features for part in found.templates) == found.n_features + found.n_edge_features
    assert sum(part.weights for part in found.templates) == len(layout.state_cells) + len(layout.edge_cells)
    assert templates["B:IS_TITLE[0]"].features == found.n_edge_features == 1
    assert (found.n_weights, found.n_active) == (layout.size, np.count_nonzero(flat))
    assert found.n_bytes == len(pipe.to_bytes())
    assert max(part.greatest for part in found.templates) <= np.abs(flat).max()


def test_plain_data(found):
    assert json.loads(json.dumps(asdict(found)))["component"] == "crf_tagger"


def test_an_untrained_component():
    with pytest.raises(ValueError, match="CRF401"):
        inspect(build().get_pipe("crf_tagger"))
