"""Trees as lists of nodes, and as brackets."""

from helpers.grammars import tree_of
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.grammar.rules import Node

NESTED = st.recursive(
    st.sampled_from("ab"), lambda inner: st.tuples(st.sampled_from("ST"), st.lists(inner, min_size=1, max_size=3))
)


def written(nested) -> str:
    return nested if isinstance(nested, str) else f"({nested[0]} {' '.join(map(written, nested[1]))})"


def leaves(nested) -> list[str]:
    return [nested] if isinstance(nested, str) else [leaf for inner in nested[1] for leaf in leaves(inner)]


@given(NESTED)
def test_brackets_come_back(nested) -> None:
    tree = tree_of(written(nested))
    assert str(tree) == written(nested)
    assert list(tree.leaves) == leaves(nested)
    for index, node in enumerate(tree.nodes):
        below = tree.children[index]
        assert node.end - node.start == (sum(tree.nodes[c].end - tree.nodes[c].start for c in below) or 1)


def test_nodes_are_in_preorder_with_what_they_cover() -> None:
    tree = tree_of("(S (A a b) c)")
    assert tree.nodes == (
        Node("S", 0, 3, -1),
        Node("A", 0, 2, 0),
        Node("a", 0, 1, 1),
        Node("b", 1, 2, 1),
        Node("c", 2, 3, 0),
    )
    assert list(tree.rules()) == [(0, ("S", "A", "c")), (1, ("A", "a", "b"))]
