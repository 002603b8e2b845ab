"""Word classes as paths in a tree, of vectors and of raw text."""

import numpy as np
import pytest

from spacy_crf.features.class_paths import text_paths, tree_paths, vector_paths

NOUNS, VERBS = ["cat", "dog", "emu", "owl"], ["ran", "sat", "fled", "hid"]


def prefix(*paths: str) -> int:
    return next((at for at, bits in enumerate(zip(*paths)) if len(set(bits)) > 1), min(map(len, paths)))


def test_places_that_are_near_share_the_beginning_of_their_paths():
    paths = tree_paths(np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.1, 9.0], [9.0, 8.0]]))
    assert len(set(paths)) == 5
    assert prefix(paths[0], paths[1]) > prefix(paths[0], paths[2])
    assert prefix(paths[2], paths[3]) > prefix(paths[2], paths[4]) > prefix(paths[2], paths[0])
    # no path is the beginning of another one: a class is no group of classes
    assert not any(a != b and b.startswith(a) for a in paths for b in paths)
    assert tree_paths(np.zeros((1, 2))) == ["0"] and tree_paths(np.zeros((0, 2))) == []


def test_words_in_the_same_surroundings_share_a_class_and_rare_ones_go_where_they_fit():
    rng = np.random.default_rng(0)
    sentences = [["the", str(rng.choice(NOUNS)), str(rng.choice(VERBS)), "."] for _ in range(200)]
    sentences += [["the", "gnu", "sat", "."], ["the", "owl", "spat", "."]] * 2
    texts = [[word for sentence in sentences for word in sentence], ["once"]]
    paths = text_paths(lambda: texts, n_classes=4, min_count=10)
    assert len({paths[noun] for noun in [*NOUNS, "gnu"]}) == 1
    assert len({paths[verb] for verb in [*VERBS, "spat"]}) == 1
    assert len({paths[word] for word in ("the", ".", "cat", "ran")}) == 4
    assert "once" not in paths


def test_the_ending_places_a_rare_word_whose_neighbours_say_nothing():
    rng = np.random.default_rng(1)
    nouns, verbs = ["nation", "station", "motion", "lotion"], ["jumping", "going", "saying", "eating"]
    texts = [["a", str(rng.choice(nouns)), "is", str(rng.choice(verbs))] for _ in range(200)]
    texts += [["notion"], ["notion"], ["paying"], ["paying"]]
    paths = text_paths(lambda: texts, n_classes=4, min_count=10)
    assert paths["notion"] == paths["nation"] != paths["going"] == paths["paying"]


def test_numbers_share_a_class_and_are_listed_as_they_stand_in_texts():
    texts = [["in", year, "he", "came"] for year in ("1998", "1999", "2004") for _ in range(4)] + [["in", "2011"]]
    paths = text_paths(lambda: texts, n_classes=4, min_count=3)
    assert paths["1998"] == paths["1999"] == paths["2004"] != paths["in"]
    assert not {"0000", "2011"} & paths.keys()  # the one never occurs, the other but once


@pytest.mark.parametrize("texts", [[], [["one"]], [["a", "a"]]])
def test_texts_without_enough_words(texts):
    assert len(set(text_paths(lambda: texts, 5, min_count=2).values())) <= 1


def test_vectors_of_the_same_direction_share_a_class():
    pytest.importorskip("sklearn")
    directions = np.array([[1, 0, 0], [3, 0.1, 0], [0, 1, 0.1], [0, 5, 0], [0, 0, 1], [0, 0.1, 2]], dtype=np.float32)
    paths = vector_paths(["a", "b", "c", "d", "e", "f"], directions, 3)
    assert paths["a"] == paths["b"] and paths["c"] == paths["d"] and paths["e"] == paths["f"]
    assert len(set(paths.values())) == 3
