"""Similarity of tags against the formula over multisets."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.pipe.dictionary.counts import CountTable, ruzicka, similar_pairs

pairs = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3), st.sampled_from([0.5, 1.0, 3.0])), max_size=20)


def table(entries: list[tuple[str, int, float]]) -> CountTable:
    words, labels, counts = zip(*entries) if entries else ((), (), ())
    return CountTable.build(words, np.array(labels, dtype=np.intp), np.array(counts), 4)


@given(pairs)
def test_similarity_is_that_of_multisets(entries):
    bags = [Counter() for _ in range(4)]
    for word, label, count in entries:
        bags[label][word] += count
    found = ruzicka(table(entries))
    for first, one in enumerate(bags):
        for second, other in enumerate(bags):
            either = sum((one | other).values())
            expected = sum((one & other).values()) / either if either else 0.0
            np.testing.assert_allclose(found[first, second], expected)
    ranked = similar_pairs(table(entries), 0.2)
    assert [pair.similarity for pair in ranked] == sorted((pair.similarity for pair in ranked), reverse=True)
    above = {(i, j) for i in range(4) for j in range(i + 1, 4) if found[i, j] >= 0.2}
    assert {(pair.first, pair.second) for pair in ranked} == above


def test_tags_that_share_nothing_are_no_proposal():
    assert similar_pairs(table([("a", 0, 1.0), ("b", 1, 1.0)])) == []


def test_entered_words_are_left_out():
    found = ruzicka(table([("a", 0, np.inf), ("a", 1, 2.0), ("b", 0, 1.0), ("b", 1, 1.0)]))
    np.testing.assert_allclose(found[0, 1], 1.0)
