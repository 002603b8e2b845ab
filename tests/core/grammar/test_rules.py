"""Trees as lists of nodes, and as brackets; rules cut into pieces of two, and the order of unary ones."""

import numpy as np
import pytest
from helpers.grammars import random_grammar, tree_of
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.grammar.grammar import Grammar
from spacy_crf.core.grammar.rules import MARKER, Node

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


def test_right_sides_that_end_alike_share_markers() -> None:
    grammar = Grammar.from_text("%start A\n%terminals a b c\nA -> a b c | c a b c | A b c | A b | a").binary
    assert grammar.symbols == ("a", "b", "c", "A", "..b c", "..a b c")
    names = [
        (grammar.symbols[parent], *(grammar.symbols[child] for child in children), source)
        for parent, children, source in zip(grammar.binary.parents, grammar.binary.children, grammar.binary.sources)
    ]
    assert sorted(names) == [
        ("..a b c", "a", "..b c", MARKER),
        ("..b c", "b", "c", MARKER),
        ("A", "A", "..b c", 2),
        ("A", "A", "b", 3),
        ("A", "a", "..b c", 0),
        ("A", "c", "..a b c", 1),
    ]
    assert grammar.unary.sources.tolist() == [4]


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_each_rule_has_its_weight_once(seed: int, circles: bool) -> None:
    grammar = random_grammar(np.random.default_rng(seed), circles)
    made = grammar.binary
    sources = np.concatenate([made.binary.sources, made.unary.sources])
    weights = np.concatenate([made.binary.log_weights, made.unary.log_weights])
    whole = sources != MARKER
    assert sorted(sources[whole]) == list(range(len(grammar.rules)))
    assert np.array_equal(weights[whole], grammar.log_weights[sources[whole]])
    assert not weights[~whole].any()
    others = np.random.default_rng(seed).normal(size=len(grammar.rules))
    changed = made.with_log_weights(others)
    assert np.array_equal(changed.unary.log_weights, others[changed.unary.sources])
    anew = Grammar(grammar.start, grammar.terminals, grammar.with_log_weights(others).rules).binary
    assert np.array_equal(changed.binary.log_weights, anew.binary.log_weights)
    assert np.array_equal(grammar.with_log_weights(others).binary.unary.log_weights, anew.unary.log_weights)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_blocks_come_after_the_blocks_of_their_children(seed: int, circles: bool) -> None:
    made = random_grammar(np.random.default_rng(seed), circles).binary
    place = {symbol: number for number, block in enumerate(made.blocks) for symbol in block.symbols.tolist()}
    assert sum(len(block.symbols) for block in made.blocks) == len(place)
    applied = []
    for number, block in enumerate(made.blocks):
        entering, inner = block.entering, block.inner
        assert all(place.get(child, -1) < number for child in entering.children[:, 0].tolist())
        assert all(place[symbol] == number for symbol in inner.children[:, 0].tolist())
        applied += [*entering.sources.tolist(), *inner.sources.tolist()]
        assert all(place[parent] == number for parent in [*entering.parents.tolist(), *inner.parents.tolist()])
    assert sorted(applied) == sorted(made.unary.sources.tolist())


def test_a_circle_is_a_block_of_its_own() -> None:
    made = Grammar.from_text("%start A\n%terminals a\nA -> B\nB -> C | a\nC -> B | D\nD -> a").binary
    names = [[made.symbols[symbol] for symbol in block.symbols] for block in made.blocks]
    assert names == [["D"], ["B", "C"], ["A"]]
    assert [block.is_cyclic for block in made.blocks] == [False, True, False]


def test_large_grammars_are_read_in_linear_time_and_refused_for_long_documents() -> None:
    n = 5_000
    chain = "".join(f"S{k} -> S{k + 1}\n" for k in range(n))
    grammar = Grammar.from_text(f"%start S0\n%terminals a\n{chain}S{n} -> a\n")
    assert len(grammar.binary.blocks) == n + 1
    assert len(grammar.parse(grammar.scores_of(["a"])).tree.nodes) == n + 2
    wide = "".join(f"S -> X{k} b\nX{k} -> a\n" for k in range(n))
    grammar = Grammar.from_text(f"%start S\n%terminals a b\n{wide}")
    assert grammar.parse(grammar.scores_of(["a", "b"])).score == 0.0
    with pytest.raises(ValueError, match="CRF940.*400 units.*10000 rules"):
        grammar.parse(grammar.scores_of(["a", "b"] * 200))
