"""The tag dictionary against the thesis's algorithm in sets, and against counts of the other occurrences by loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import UNKNOWN, Gold, TagSet
from spacy_crf.pipe.dictionary.block import DictionarySettings
from spacy_crf.pipe.dictionary.counts import CountTable, known_shares
from spacy_crf.pipe.dictionary.tag_dictionary import TagDictionary, count_words, expand, make_dictionary

WORDS = ["wen", "Wen", "he", "he", "wen", "se", "mot"]
GOLD = Gold.known(np.array([0, 1, 2, 2, 0, 2, UNKNOWN]), 4)


def members(row: np.ndarray) -> set[int]:
    return set(np.flatnonzero(row).tolist())


def as_rows(sets: list[set[int]], n_labels: int) -> np.ndarray:
    return np.array([[label in found for label in range(n_labels)] for found in sets], dtype=bool).reshape(-1, n_labels)


def make(
    table: CountTable, open_labels: np.ndarray | None = None, rules: np.ndarray | None = None, **settings: object
) -> TagDictionary:
    """A dictionary whose tags are the numbers of the labels."""
    tags = TagSet(tuple(map(str, range(table.n_labels))), "none")
    open_tags = None if open_labels is None else [tags.tags[label] for label in members(open_labels)]
    named = None if rules is None else [[tags.tags[label] for label in members(rule)] for rule in rules]
    settings = {"fold": "none", "open_tags": open_tags, "rules": named, **settings}
    return make_dictionary(table, DictionarySettings(**settings), tags, "test")


def dictionary(words: list[str] = WORDS, gold: Gold = GOLD, fold: str = "none", **settings: object) -> TagDictionary:
    return make(count_words(words, gold, fold), fold=fold, **settings)


@pytest.mark.parametrize(
    "valid, rules, expanded",
    [
        ({0}, [], {0}),
        ({0}, [{0, 1}], {0, 1}),
        ({2}, [{0, 1}], {2}),
        ({0, 2}, [{0, 1}, {2, 3}], {0, 1, 2, 3}),
        # a rule is held against the set as it was, so that 1 does not bring in 2
        ({0}, [{0, 1}, {1, 2}], {0, 1}),
        ({0}, [{1, 2}, {0, 1}], {0, 1}),
        ({1}, [{0, 1}, {1, 2}], {0, 1, 2}),
        ({0}, [{0, 1, 3}], {0, 1, 3}),
        ({3}, [set()], {3}),
    ],
)
def test_expansion_by_hand(valid, rules, expanded):
    (row,) = expand(as_rows([valid], 4), as_rows(rules, 4))
    assert members(row) == expanded


label_sets = st.sets(st.integers(0, 5))


@given(st.lists(label_sets, min_size=1, max_size=4), st.lists(label_sets, max_size=4))
def test_expansion_is_algorithm_4(valid, rules):
    def plain(tags):
        out = set(tags)
        for rule in rules:
            if tags & rule:
                out |= rule
        return out

    found = expand(as_rows(valid, 6), as_rows(rules, 6))
    assert [members(row) for row in found] == [plain(tags) for tags in valid]
    assert (found >= as_rows(valid, 6)).all()
    np.testing.assert_array_equal(found, expand(as_rows(valid, 6), as_rows(rules[::-1], 6)))
    apart = [rule - set().union(*rules[:number]) for number, rule in enumerate(rules)]
    once = expand(as_rows(valid, 6), as_rows(apart, 6))
    np.testing.assert_array_equal(expand(once, as_rows(apart, 6)), once)


def test_expanding_twice_may_add_more():
    rules = as_rows([{0, 1}, {1, 2}], 3)
    once = expand(as_rows([{0}], 3), rules)
    assert members(once[0]) == {0, 1} and members(expand(once, rules)[0]) == {0, 1, 2}


def test_known_rare_and_unknown_words():
    found = dictionary(min_count=2, open_labels=np.array([False, True, False, True]))
    sets = found.valid(["wen", "he", "Wen", "se", "mot", "nie"]).sets
    assert [members(row) for row in sets] == [{0}, {2}, {1, 3}, {1, 2, 3}, {1, 3}, {1, 3}]


def test_words_in_lower_case_are_one():
    found = dictionary(fold="lower", min_count=3, open_types=9)
    assert [members(row) for row in found.valid(["WEN", "He"]).sets] == [{0, 1}, {0, 1, 2, 3}]


def test_open_tags_are_those_of_many_words():
    words = ["a", "b", "c", "a", "a", "b"]
    gold = Gold.known(np.array([0, 0, 0, 1, 1, 1]), 3)
    for least, opened in ((1, {0, 1}), (2, {0, 1}), (3, {0}), (4, {0, 1, 2})):
        assert members(dictionary(words, gold, open_types=least).open_labels) == opened


def test_shares_below_the_least_are_mistakes_but_never_all():
    words, labels = ["a"] * 10 + ["b"] * 3, [0] * 9 + [1] + [0, 1, 2]
    found = dictionary(words, Gold.known(np.array(labels), 3), min_count=1, min_share=0.4)
    assert [members(row) for row in found.valid(["a", "b"]).sets] == [{0}, {0, 1, 2}]


def test_sets_and_distributions_count_by_their_shares():
    weights = np.array([[1, 1, 0], [0.9, 0, 0.1], [1, 1, 1]])
    table = count_words(["a", "a", "a"], Gold.weighted(weights))
    np.testing.assert_allclose(table.dense(np.array([0])), [[1.4, 0.5, 0.1]])
    found = make(table, min_count=2, min_share=0.2, open_labels=np.array([False, False, True]))
    assert members(found.valid(["a"]).sets[0]) == {0, 1}


def test_labels_that_somebody_entered_are_valid_whatever_the_settings():
    counts = np.array([np.inf, 3.0])
    table = CountTable.build(["a", "a"], np.array([1, 0]), counts, 3)
    assert members(make(table, min_count=100, open_types=9).valid(["a"]).sets[0]) == {0, 1}
    strict = make(table, min_count=100, min_share=0.5, similarity=0.1)
    assert members(strict.valid(["a"]).sets[0]) == {0, 1} and not len(strict.rules)
    elsewhere = strict.valid_elsewhere(["a"], known_shares(Gold.known(np.array([1]), 3)))
    assert members(elsewhere.sets[0]) == {0, 1}


def test_shares_are_those_of_the_occurrences_beside_labels_that_somebody_entered():
    counts = np.array([50.0, 40.0, 1.0, np.inf])
    found = make(CountTable.build(["a"] * 4, np.arange(4), counts, 4), min_count=1, min_share=0.1)
    assert members(found.valid(["a"]).sets[0]) == {0, 1, 3}


def test_similar_tags_make_rules_beside_those_given():
    words = ["a", "a", "b", "b", "c", "d"]
    gold = Gold.known(np.array([0, 1, 0, 1, 2, 3]), 4)
    found = dictionary(words, gold, rules=as_rows([{2, 3}], 4), similarity=0.5, min_count=1)
    assert [members(rule) for rule in found.rules] == [{2, 3}, {0, 1}]
    assert [members(row) for row in found.valid(["c", "a"]).sets] == [{2, 3}, {0, 1}]


KEPT = {"min_count": 2, "open_labels": np.array([False, True, True])}


@pytest.mark.parametrize(
    "settings", [{}, KEPT, {**KEPT, "min_share": 0.3}, {**KEPT, "rules": as_rows([{0, 1}], 3)}], ids=str
)
@given(seed=st.integers(0, 10_000))
def test_other_occurrences_by_loops(make_tagged, settings, seed):
    tagged = make_tagged(seed, lengths=(6, 1, 7, 0, 5))
    words = [word for sequence in tagged.sequences for word in sequence]
    whole = dictionary(words, tagged.gold, **settings)
    found = whole.valid_elsewhere(words, known_shares(tagged.gold))
    for unit in range(len(words)):
        others = np.flatnonzero(np.arange(len(words)) != unit)
        rest = count_words([words[k] for k in others], tagged.gold.take(others))
        kept = {**settings, "open_labels": whole.open_labels}
        expected = make(rest, **kept).valid([words[unit]]).sets[0]
        np.testing.assert_array_equal(found.sets[unit], expected)


def test_a_word_seen_once_looks_unknown_and_gold_that_was_not_counted_takes_nothing():
    found = dictionary(min_count=1, open_labels=np.array([False, False, False, True]))
    sets = found.valid_elsewhere(WORDS, known_shares(GOLD)).sets
    unknown = found.valid(["nie"]).sets[0]
    for unit in (1, 5, 6):  # Wen and se come once, mot has no gold
        np.testing.assert_array_equal(sets[unit], unknown)
    assert members(sets[0]) == {0} and members(sets[2]) == {2}
    nothing = Gold.known(np.array([UNKNOWN, UNKNOWN]), 4)
    assert [members(row) for row in found.valid_elsewhere(["wen", "nie"], known_shares(nothing)).sets] == [{0}, {3}]
    beyond = found.valid_elsewhere(["se", "he"], known_shares(Gold.known(np.array([3, 3]), 4)))
    assert [members(row) for row in beyond.sets] == [{2}, {2}]
    younger = found.valid_elsewhere(["se", "he"], known_shares(Gold.known(np.array([4, 4]), 5)))
    assert [members(row) for row in younger.sets] == [members(row) for row in found.valid(["se", "he"]).sets]


@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([0.0, 0.4]), st.integers(1, 3))
def test_sets_are_never_empty_and_grow_with_the_settings(make_tagged, seed, min_count, min_share, open_types):
    tagged = make_tagged(seed)
    words = [word for sequence in tagged.sequences for word in sequence]
    settings = {"min_count": min_count, "min_share": min_share, "open_types": open_types}
    plain = dictionary(words, tagged.gold, **settings)
    asked = [*words, "", "nie"]
    sets = plain.valid(asked).sets
    assert sets.any(axis=1).all() and plain.valid_elsewhere(words, known_shares(tagged.gold)).members.any(axis=1).all()
    assert (dictionary(words, tagged.gold, **settings, similarity=0.1).valid(asked).sets >= sets).all()
    assert (dictionary(words, tagged.gold, **{**settings, "min_count": min_count + 1}).valid(asked).sets >= sets).all()
    if not min_share:
        seen = tagged.gold.seen_pairs()
        assert sets[seen].all()


def test_no_words(stored):
    nothing = count_words([], Gold.known(np.zeros(0, dtype=np.int32), 2))
    found = TagDictionary.from_data(stored(make(nothing).to_data()))
    assert found.valid([]).sets.shape == (0, 2) and found.valid(["a"]).sets.all()
    assert found.valid_elsewhere([], known_shares(Gold.known(np.zeros(0, dtype=np.int32), 2))).sets.shape == (0, 2)


def test_many_words_in_several_chunks(monkeypatch, make_tagged):
    tagged = make_tagged(5, lengths=(40, 30))
    words = [word for sequence in tagged.sequences for word in sequence]
    whole = dictionary(words, tagged.gold, min_count=2)
    expected = whole.valid(words).sets, whole.valid_elsewhere(words, known_shares(tagged.gold)).sets
    monkeypatch.setattr("spacy_crf.pipe.dictionary.tag_dictionary._CHUNK", 7)
    again = dictionary(words, tagged.gold, min_count=2)
    for sets, found in zip(expected, (again.valid(words), again.valid_elsewhere(words, known_shares(tagged.gold)))):
        np.testing.assert_array_equal(found.sets, sets)


def test_a_stored_dictionary_is_the_same(stored):
    found = dictionary(fold="lower", min_count=2, min_share=0.2, rules=as_rows([{0, 3}], 4), open_types=2)
    again = TagDictionary.from_data(stored(found.to_data()))
    words = [*WORDS, "nie"]
    np.testing.assert_array_equal(again.valid(words).sets, found.valid(words).sets)
    elsewhere = again.valid_elsewhere(WORDS, known_shares(GOLD)).sets
    np.testing.assert_array_equal(elsewhere, found.valid_elsewhere(WORDS, known_shares(GOLD)).sets)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"min_count": 0}, "min_count.*is 0; it must be at least 1"),
        ({"min_share": 1.5}, "min_share"),
        ({"open_types": 0}, "open_types"),
        ({"open_labels": np.zeros(4, dtype=bool)}, "open_tags"),
        ({"similarity": 0.0}, "similarity"),
        ({"fold": "upper"}, "fold.*none, lower"),
    ],
)
def test_settings_out_of_their_range(settings, message):
    table = count_words(WORDS, GOLD)
    with pytest.raises(ValueError, match=f"CRF840.*{message}"):
        make(table, **settings)


def test_gold_of_other_words():
    with pytest.raises(ValueError, match="CRF832.*2 words.*7 units"):
        count_words(WORDS[:2], GOLD)
