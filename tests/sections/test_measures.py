from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.sections.measures import (
    BracketCounts,
    LevelCounts,
    TreeNode,
    count_nodes,
    crossing,
    level_accuracy,
    parseval,
    similarity,
    tree_edit_distance,
    without,
)
from spacy_crf.sections.scorer import JudgedTree, tree_scores


def test_parseval_counts_constituents_as_a_multiset() -> None:
    gold = [("S", 0, 4), ("S", 0, 4), ("S", 4, 9)]
    counts = parseval([("S", 0, 4), ("S", 0, 4), ("S", 0, 4), ("T", 4, 9)], gold)
    assert counts == BracketCounts(right=2, predicted=4, gold=3)
    assert counts.precision == 0.5 and counts.recall == pytest.approx(2 / 3) and counts.f == pytest.approx(4 / 7)


def test_empty_trees() -> None:
    nothing = parseval([], [])
    assert (nothing.precision, nothing.recall, nothing.f) == (1.0, 1.0, 1.0)
    missed, invented = parseval([], [("S", 0, 1)]), parseval([("S", 0, 1)], [])
    assert (missed.precision, missed.recall, missed.f) == (0.0, 0.0, 0.0)
    assert (invented.precision, invented.recall, invented.f) == (0.0, 0.0, 0.0)


def test_pooled_counts_and_the_mean_over_documents_differ() -> None:
    documents = [BracketCounts(9, 9, 9), BracketCounts(0, 1, 1)]
    assert sum(documents, BracketCounts()).f == pytest.approx(0.9)
    judged = [JudgedTree(counts, counts, 0, LevelCounts(0, 0), None) for counts in documents]
    scores = tree_scores(sum((Counter(one.counts) for one in judged), Counter()))
    assert scores["parseval_f"] == pytest.approx(0.9) and scores["parseval_mean_f"] == pytest.approx(0.5)
    assert scores["headings_f"] == pytest.approx(0.9)
    assert "sections_steds" not in scores and tree_scores({}) == {}


def test_units_that_do_not_matter_are_not_counted() -> None:
    blank = np.array([False, True, False, True, True])
    assert without([("S", 0, 2), ("S", 0, 1), ("S", 2, 5), ("S", 3, 5)], blank) == [
        ("S", 0, 1),
        ("S", 0, 1),
        ("S", 1, 2),
    ]


@given(*[st.lists(st.tuples(st.just("S"), st.integers(0, 6), st.integers(1, 4)), max_size=5)] * 2)
def test_crossing_brackets(first: list[tuple[str, int, int]], second: list[tuple[str, int, int]]) -> None:
    predicted, gold = ([(label, start, start + size) for label, start, size in part] for part in (first, second))
    expected = 0
    for _, start, end in predicted:
        own = set(range(start, end))
        others = [set(range(low, high)) for _, low, high in gold]
        expected += any(own & other and own - other and other - own for other in others)
    assert crossing(predicted, gold) == expected


def test_levels_of_headings_that_both_have() -> None:
    counts = level_accuracy({0: 1, 3: 2, 5: 3, 9: 1}, {0: 1, 3: 3, 5: 1, 7: 1})
    assert (counts.same, counts.total) == (1, 3)
    assert counts.accuracy == pytest.approx(1 / 3)
    assert level_accuracy({}, {}).accuracy == 1.0
    assert (counts + counts).total == 6


def forests(trees: tuple[TreeNode, ...], others: tuple[TreeNode, ...]) -> int:
    """The edit distance of two forests, by its definition."""
    if not trees:
        return sum(count_nodes(tree) for tree in others)
    if not others:
        return sum(count_nodes(tree) for tree in trees)
    (*before, left), (*before_other, right) = trees, others
    return min(
        forests((*before, *left.children), others) + 1,
        forests(trees, (*before_other, *right.children)) + 1,
        forests(tuple(left.children), tuple(right.children))
        + forests(tuple(before), tuple(before_other))
        + (left.label != right.label),
    )


def document_tree(labels: Sequence[Hashable], parents: Sequence[int]) -> TreeNode:
    """A tree from nodes in document order. parents: index of each node's parent, -1 for the document itself."""
    root = TreeNode("document")
    nodes = [TreeNode(label) for label in labels]
    for node, parent in zip(nodes, parents):
        (root if parent < 0 else nodes[parent]).children.append(node)
    return root


@st.composite
def small_trees(draw: st.DrawFn) -> TreeNode:
    size = draw(st.integers(0, 5))
    parents = [draw(st.integers(-1, place - 1)) for place in range(size)]
    # in document order a parent must still be open
    path: list[int] = []
    for place, parent in enumerate(parents):
        while path and parent not in path:
            parent = path[-1] if parent < path[-1] and parent >= 0 else -1
            if parent == -1:
                break
        parents[place] = parent
        path = [*path[: path.index(parent) + 1 if parent in path else 0], place]
    return document_tree([draw(st.sampled_from("ab")) for _ in range(size)], parents)


@given(small_trees(), small_trees())
def test_tree_edit_distance_is_the_one_of_its_definition(first: TreeNode, second: TreeNode) -> None:
    distance = tree_edit_distance(first, second)
    assert distance == forests((first,), (second,))
    assert distance == tree_edit_distance(second, first)
    assert tree_edit_distance(first, first) == 0
    assert 0 <= similarity(first, second) <= 1


def test_a_long_chain_and_a_wide_tree() -> None:
    chain = document_tree(["a"] * 2000, range(-1, 1999))
    wide = document_tree(["a"] * 2000, [-1] * 2000)
    assert count_nodes(chain) == count_nodes(wide) == 2001
    assert similarity(chain, chain) == 1.0
