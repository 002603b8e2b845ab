"""Templates are recognised from the spelling of attributes, and never wrongly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.estimator.items import Numbering, encode_items
from spacy_crf.estimator.preparation import MOST_SLOTS, find_slots


def slots_of(X):
    names = Numbering()
    features = encode_items(X, names).features(len(names))
    return dict(zip(names, [] if (slots := find_slots(list(names), features)) is None else slots.tolist())), features


def test_prefixes_are_templates():
    slots, _ = slots_of([[["w=a", "w|p=a|b", "bias"], ["w=b", "w|p=b|=", "bias"]]])
    assert slots["w=a"] == slots["w=b"] and slots["w|p=a|b"] == slots["w|p=b|="]
    assert len(set(slots.values())) == 3


def test_affixes_of_several_lengths_and_keys_with_two_separators():
    slots, _ = slots_of([[["p=a", "p=ab", "-1:w:x", "-1:t:y"], ["p=c", "p=cd", "-1:w:y", "-1:t:x"]]])
    assert slots["p=a"] == slots["p=c"] != slots["p=ab"] == slots["p=cd"]
    assert slots["-1:w:x"] == slots["-1:w:y"] != slots["-1:t:y"] == slots["-1:t:x"]


@pytest.mark.parametrize(
    "X",
    [
        [[["w=a", "w=b"], ["w=c"]]],  # a bag of words
        [[["w=a", "w=a"]]],
        [[[f"flag{n}" for n in range(MOST_SLOTS + 1)]]],
        [[[("w=a", 0.5)]]],
    ],
)
def test_none_where_the_spelling_does_not_tell(X):
    assert slots_of(X)[0] == {}


@given(st.lists(st.lists(st.lists(st.text("ab:=", min_size=1, max_size=5), max_size=4), max_size=3), max_size=3))
def test_an_item_has_at_most_one_attribute_of_a_slot(X):
    slots, features = slots_of(X)
    if slots:
        numbers = np.array(list(slots.values()))
        for low, high in zip(features.indptr, features.indptr[1:]):
            row = numbers[features.indices[low:high]]
            assert len(set(row.tolist())) == len(row)
