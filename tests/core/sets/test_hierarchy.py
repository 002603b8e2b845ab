"""Best nodes of tag trees against scoring each node by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.sets.hierarchy import best_nodes, tree_from_parents, tree_from_separator
from spacy_crf.core.sets.predict import TIE, make_utility, utility_optimal_sets

LABELS = ["NN", "NE", "VVFIN", "VAFIN", "ADV"]
PARENTS = {"NN": "NOUN", "NE": "NOUN", "VVFIN": "VERB", "VAFIN": "VERB", "ADV": "ADV"} | dict.fromkeys(
    ("NOUN", "VERB"), "ANY"
)


def below(tree) -> dict[str, list[str]]:
    """Coarse tags and the labels below them."""
    n_labels = tree.leaves.shape[1]
    rows = zip(tree.names[n_labels:], tree.leaves[n_labels:])
    return {name: [tree.names[leaf] for leaf in np.flatnonzero(row)] for name, row in rows}


def test_tree_from_parents():
    tree = tree_from_parents(LABELS, PARENTS)
    assert tree.names[:5] == tuple(LABELS) and tree.leaves[:5].tolist() == np.eye(5, dtype=bool).tolist()
    assert below(tree) == {
        "ADV": ["ADV"],  # a coarse tag with the name of a label
        "NOUN": ["NN", "NE"],
        "VERB": ["VVFIN", "VAFIN"],
        "ANY": ["NN", "NE", "VVFIN", "VAFIN"],
    }
    assert (np.diff(tree.leaves.sum(axis=1)) >= 0).all()


def test_tags_that_the_model_does_not_know_are_left_out():
    more = PARENTS | {"VMFIN": "VERB", "XY": "X", "X": "REST"}
    assert below(tree_from_parents(LABELS, more)) == below(tree_from_parents(LABELS, PARENTS))


@st.composite
def trees(draw):
    """Labels under up to three levels of coarse tags, some with several roots."""
    n_labels = draw(st.integers(1, 7))
    labels = [f"l{i}" for i in range(n_labels)]
    parents = {label: f"a{draw(st.integers(0, 3))}" for label in labels}
    for i in range(4):
        if draw(st.booleans()):
            parents[f"a{i}"] = f"b{draw(st.integers(0, 1))}"
    if draw(st.booleans()):
        parents |= {"b0": "c", "b1": "c"}
    return labels, parents


@given(trees(), st.sampled_from(["g", "precision", "recall", "f", "u65", "u80", "reject"]), st.integers(0, 10_000))
def test_best_nodes_equal_scoring_all_by_hand(case, name, seed):
    labels, parents = case
    tree = tree_from_parents(labels, parents)
    g = make_utility(name, 0.4).values(len(labels))
    marginals = np.random.default_rng(seed).dirichlet(np.full(len(labels), 0.6), 8).astype(np.float32)
    nodes, sets = best_nodes(marginals, tree, g)
    leaves = {label: {label} for label in labels}
    for label in labels:
        tag = parents.get(label)
        while tag is not None:
            leaves.setdefault(tag, set()).add(label)
            tag = parents.get(tag)
    assert set(leaves) == set(tree.names)
    for row, node, members, size, value, mass in zip(
        marginals.astype(float), nodes, sets.members, sets.sizes, sets.utilities, sets.masses
    ):
        scores = {
            tag: sum(row[labels.index(label)] for label in found) * g[len(found) - 1] for tag, found in leaves.items()
        }
        best = max(scores.values())
        assert value == pytest.approx(scores[tree.names[node]]) and value >= best - TIE
        assert size == min(len(leaves[tag]) for tag in scores if scores[tag] >= best - TIE)
        assert {labels[i] for i in np.flatnonzero(members)} == leaves[tree.names[node]]
        assert mass == pytest.approx(row[members].sum())
    assert (sets.utilities <= utility_optimal_sets(marginals, g).utilities + 2 * TIE).all()


def test_a_coarse_tag_is_taken_where_its_fine_tags_cannot_be_told_apart():
    tree = tree_from_parents(LABELS, PARENTS)
    marginals = np.array([[0.49, 0.49, 0.01, 0.01, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0], [0.26, 0.26, 0.24, 0.24, 0.0]])
    nodes, sets = best_nodes(marginals, tree, make_utility("u80").values(5))
    assert [tree.names[node] for node in nodes] == ["NOUN", "ADV", "ANY"]
    assert sets.sizes.tolist() == [2, 1, 4] and nodes[1] == 4  # the label, not the coarse tag with the same leaf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tree_from_parents([*LABELS, "KON"], PARENTS), r"CRF808.*\['KON'\]"),
        (lambda: tree_from_parents(["a"], {"a": "b", "b": "c", "c": "b"}), r"CRF809.*'b'.*b < c < b"),
        (
            lambda: best_nodes(np.ones((1, 1)), tree_from_parents(LABELS, PARENTS), np.ones(1)),
            r"CRF101.*\(1, 5\), got \(1, 1\)",
        ),
        (lambda: best_nodes(np.full((1, 5), 0.2), tree_from_parents(LABELS, PARENTS), np.ones(4)), "CRF803"),
        (lambda: best_nodes(np.ones((1, 5)), tree_from_parents(LABELS, PARENTS), np.ones(5)), "CRF805.*Unit 0"),
    ],
)
def test_bad_trees_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# -- trees from the names of labels, and names of nodes ------------------------------------------------------------


def test_tree_from_separator():
    tree = tree_from_separator(["NA", "NA.Dat", "NA.Dat.Sg", "NA.Akk", "PTK", ".x", "NB."], ".")
    assert below(tree) == {
        "NA.Dat.*": ["NA.Dat", "NA.Dat.Sg"],
        "NA.*": ["NA", "NA.Dat", "NA.Dat.Sg", "NA.Akk"],
        "NB.*": ["NB."],
        "*": ["NA", "NA.Dat", "NA.Dat.Sg", "NA.Akk", "PTK", ".x", "NB."],
    }


@given(st.lists(st.text("ab-", min_size=1, max_size=6), min_size=1, max_size=7, unique=True))
def test_a_coarse_tag_has_the_labels_that_begin_with_it(labels):
    found = below(tree_from_separator(labels, "-"))
    assert found.pop("*") == labels
    for name, members in found.items():
        head = name.removesuffix("-*")
        assert members == [label for label in labels if label == head or label.startswith(f"{head}-")]
    heads = {label[:k] for label in labels for k in range(1, len(label)) if label[k] == "-"}
    assert set(found) == {f"{head}-*" for head in heads}


@given(trees(), st.data())
def test_names_of_sets_are_those_of_their_nodes(case, data):
    tree = tree_from_parents(*case)
    nodes = data.draw(st.lists(st.integers(0, len(tree.names) - 1), max_size=9))
    members = tree.leaves[np.array(nodes, dtype=np.intp)]
    for name, row in zip(tree.names_of(members), members):
        first = next(node for node in range(len(tree.names)) if (tree.leaves[node] == row).all())
        assert name == tree.names[first]


def test_a_set_that_is_no_node_has_no_name():
    with pytest.raises(KeyError):
        tree_from_parents(LABELS, PARENTS).names_of(np.array([[True, False, True, False, False]]))
