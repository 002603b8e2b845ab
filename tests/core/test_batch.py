import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack


@given(st.lists(st.integers(0, 6), max_size=8))
def test_rows_place_every_unit_once_at_its_step(lengths):
    batch = pack(np.array(lengths, dtype=int))
    assert sorted(batch.rows) == list(range(sum(lengths)))
    np.testing.assert_array_equal(batch.units[batch.rows], np.arange(sum(lengths)))
    steps = np.searchsorted(batch.offsets, batch.rows, side="right") - 1
    assert steps.tolist() == [t for n in lengths for t in range(n)]
    sequences = [b for b, n in enumerate(lengths) for _ in range(n)]
    assert batch.row_sequences[batch.rows].tolist() == sequences


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_previous_and_last_rows(lengths):
    batch = pack(np.array(lengths))
    rows = np.split(batch.rows, np.cumsum(lengths)[:-1])
    for sequence in rows:
        assert batch.before[sequence[1:]].tolist() == sequence[:-1].tolist()
    assert sorted(batch.last_rows) == sorted(sequence[-1] for sequence in rows)


def test_equal_lengths_keep_their_order():
    assert pack(np.array([2, 3, 2, 3])).order.tolist() == [1, 3, 0, 2]


def test_nothing_at_all():
    batch = pack(np.array([], dtype=int))
    assert (batch.n_sequences, batch.n_units, batch.alive) == (0, 0, [])
    assert len(batch.last_rows) == len(batch.rows) == 0
