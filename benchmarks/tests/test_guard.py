import numpy as np
import pytest

from benchmarks.guard import PATHS, Compared, ratio_interval


@pytest.mark.parametrize(("slowdown", "is_found"), [(1.0, False), (0.95, False), (1.05, True), (1.2, True)])
def test_five_per_cent_are_found_among_disturbances(slowdown: float, is_found: bool) -> None:
    rng = np.random.default_rng(0)
    noise = 1 + rng.exponential(0.1, (200, 2))  # what other work adds
    pairs = [(before, slowdown * after) for before, after in noise.tolist()]
    low, high = ratio_interval(pairs)
    ratio = (low + high) / 2
    assert low < slowdown < high
    assert Compared("tag", 1.0, slowdown, ratio, low, high).is_slower is is_found


def test_there_are_ten_paths() -> None:
    assert len(PATHS) == 10


def test_three_counts_of_instructions_are_enough() -> None:
    pairs = [(136.05, 143.26), (136.10, 143.31), (136.02, 143.20)]
    assert Compared("tag", 136.05, 143.26, 143.26 / 136.05, *ratio_interval(pairs)).is_slower
