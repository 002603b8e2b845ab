"""Memory of training on a stream in which new words never cease: as much after many sentences as after some."""

import pytest

from benchmarks.streaming import measure, run, sentences


def test_new_words_keep_coming() -> None:
    seen: list[set[str]] = []
    for count in (500, 1000, 2000):
        seen.append({word for words, _ in sentences(count, seed=0) for word in words})
    assert len(seen[1]) > 1.5 * len(seen[0]) and len(seen[2]) > 1.5 * len(seen[1])


def test_memory_zones_take_new_words_out_of_the_vocabulary() -> None:
    kept, freed = (measure(400, "Perceptron", 512, keeps_words) for keeps_words in (True, False))
    assert kept["strings"] > freed["strings"] + 500
    assert freed["accuracy"] == kept["accuracy"] > 0.9
    assert kept["features"] == freed["features"] == 512


@pytest.mark.slow
def test_memory_does_not_grow_with_the_stream() -> None:
    lengths = (60_000, 120_000)  # caches are full at 50,000
    few, many = (run(count, "Perceptron", 1 << 15, keeps_words=False) for count in lengths)
    assert many["accuracy"] > 0.9
    assert many["peak_mebibytes"] < 1.1 * few["peak_mebibytes"]
