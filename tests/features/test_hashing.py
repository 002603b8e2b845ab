import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.sparse import HashTable
from spacy_crf.features.hashing import mix

# full range, small numbers, and keys that share their low bits and so contend for the same slots
hashes = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 40), st.integers(0, 60).map(lambda high: (high << 40) | 5))


class Reference:
    """Numbers keys with a dict."""

    def __init__(self):
        self.numbers = {}

    def add(self, keys):
        firsts = []
        for position, key in enumerate(keys):
            if key and key not in self.numbers:
                self.numbers[key] = len(self.numbers)
                firsts.append(position)
        return firsts

    def find(self, keys):
        return [self.numbers.get(key, -1) for key in keys]


def as_keys(values):
    return np.array(values, dtype=np.uint64)


@given(st.lists(st.lists(hashes, max_size=80), max_size=5), st.lists(hashes, max_size=20))
def test_table_numbers_keys_as_a_dict_does(batches, others):
    table, reference = HashTable(), Reference()
    for batch in batches:
        assert table.add(as_keys(batch)).tolist() == reference.add(batch)
        assert table.find(as_keys(batch)).tolist() == reference.find(batch)
    assert len(table) == len(reference.numbers)
    assert table.keys.tolist() == list(reference.numbers)
    assert table.find(as_keys(others)).tolist() == reference.find(others)


@given(st.lists(hashes, max_size=80))
def test_table_restored_from_its_keys_is_the_same(keys):
    table = HashTable()
    table.add(as_keys(keys))
    restored = HashTable(table.keys)
    assert restored.find(as_keys(keys)).tolist() == table.find(as_keys(keys)).tolist()


def test_table_grows_far_beyond_its_first_size():
    rng = np.random.default_rng(1)
    pool = rng.integers(0, 2**64, 30_000, dtype=np.uint64)
    table, reference = HashTable(), Reference()
    for size in (10, 3_000, 50, 400_000):  # the last batch is more than one chunk
        batch = rng.choice(pool, size)
        assert table.add(batch).tolist() == reference.add(batch.tolist())
    assert table.find(pool).tolist() == reference.find(pool.tolist())


def test_keys_with_the_same_low_bits_are_told_apart():
    keys = np.arange(1, 300, dtype=np.uint64) << np.uint64(40)
    table = HashTable(keys)
    assert table.find(keys).tolist() == list(range(299))


def test_find_keeps_the_shape():
    table = HashTable(as_keys([7, 8]))
    assert table.find(as_keys([[8, 0], [7, 9]])).tolist() == [[1, -1], [0, -1]]


def test_absent_key_is_never_numbered():
    table = HashTable()
    assert table.add(as_keys([0, 0, 3, 0])).tolist() == [2]
    assert len(table) == 1


def n_distinct(values):
    return len(np.unique(values))


def test_mix_has_no_collisions_among_random_pairs():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2**64, (2, 1_000_000), dtype=np.uint64)
    assert n_distinct(mix(first, second)) == 1_000_000


def test_mix_has_no_collisions_among_small_numbers():
    """Symbols of spaCy have small ids, and flags have one value."""
    numbers = np.arange(1_000, dtype=np.uint64)
    first, second = np.repeat(numbers, 1_000), np.tile(numbers, 1_000)
    mixed = mix(first, second)
    assert n_distinct(mixed) == 1_000_000
    assert n_distinct(mixed & np.uint64(2**32 - 1)) > 999_000  # the low bits, which choose slots, spread too


@given(st.integers(1, 2**64 - 1), st.integers(1, 2**64 - 1))
def test_mix_depends_on_the_order(first, second):
    one, other = as_keys([first]), as_keys([second])
    assert (first == second) == (mix(one, other)[0] == mix(other, one)[0])
    assert mix(one, one)[0] != 0


@given(st.lists(st.integers(0, 20), max_size=30))
def test_a_table_of_distinct_keys_is_the_same_and_leaves_out_what_is_none(values):
    keys = np.array(values, dtype=np.uint64)
    table, plain = HashTable.of_distinct(keys), HashTable(keys)
    np.testing.assert_array_equal(table.keys, plain.keys)
    np.testing.assert_array_equal(
        table.find(np.arange(25, dtype=np.uint64)), plain.find(np.arange(25, dtype=np.uint64))
    )
