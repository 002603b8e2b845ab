"""From labelled units to trees, whatever the labels are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.sections.features.rules import ROLES
from spacy_crf.sections.parsing import LabelRoles, StackParser, parse_units
from spacy_crf.sections.segment import segment
from spacy_crf.sections.tree import from_json

LINES = ["1. Piers", "2.1 Tides", "All of them", "", "  ", "Ferries."]


@pytest.mark.parametrize("label_weight", [None, 1.0])
@given(st.lists(st.sampled_from(LINES), max_size=12).map("\n".join), st.integers(0, 2**32 - 1))
def test_any_labels_give_a_tree_that_can_be_read_again(label_weight, text, seed):
    units = segment(text)
    roles = LabelRoles.parse("sections", {})
    # a weak model takes blank lines for headings too
    probabilities = np.random.default_rng(seed).dirichlet(np.ones(len(ROLES)), size=len(units))
    tags = probabilities.argmax(axis=1).astype(np.int32)
    labels, tree = parse_units(text, units, tags, probabilities, roles.labels, roles, StackParser(64), label_weight)
    assert len(labels) == len(units)
    assert from_json(tree.to_json()) == tree
