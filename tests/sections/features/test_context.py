"""Links between numberings, against a search of all pairs."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.grammar.numbering import readings
from spacy_crf.sections.features.batch import NumberSequences, UnitBatch
from spacy_crf.sections.layout import DocumentLayout

NUMBERS = st.lists(
    st.sampled_from(["1.", "2.", "3.", "a.", "b.", "i.", "ii.", "2.1", "2.2", "(a)", "c.", "4"]), max_size=9
)


def sequences_of(numbers: list[str]) -> NumberSequences:
    text = "\n".join(f"{number} Some words" for number in numbers)
    return NumberSequences(UnitBatch([(text, DocumentLayout(text).units)]))


def follows(before: str, after: str) -> bool:
    pairs = [(a, b) for a in readings(before) for b in readings(after)]
    return any(
        a.family == b.family and a.values[:-1] == b.values[:-1] and a.values[-1] + 1 == b.values[-1] for a, b in pairs
    )


@given(NUMBERS)
def test_a_number_has_a_predecessor_if_any_reading_of_one_before_it_leads_to_it(numbers: list[str]) -> None:
    found = sequences_of(numbers)
    assert len(found.units) == len(numbers)
    for k, number in enumerate(numbers):
        assert (found.before.steps[k] >= 0) == any(follows(other, number) for other in numbers[:k])
        assert (found.behind.steps[k] >= 0) == any(follows(number, other) for other in numbers[k + 1 :])
        if found.before.steps[k] >= 0:
            assert follows(numbers[k - 1 - found.before.steps[k]], number)


@pytest.mark.parametrize(
    "numbers, before, behind",
    [
        (["1.", "2.", "3."], [1, 2, 3], [3, 2, 1]),
        (["1.", "1.1", "1.2", "2."], [1, 1, 2, 2], [2, 2, 1, 1]),
        (["g.", "h.", "i.", "j."], [1, 2, 3, 4], [4, 3, 2, 1]),
        (["1.", "3.", "5."], [1, 1, 1], [1, 1, 1]),
    ],
)
def test_lengths_of_sequences(numbers: list[str], before: list[int], behind: list[int]) -> None:
    found = sequences_of(numbers)
    assert found.before.lengths.tolist() == before
    assert found.behind.lengths.tolist() == behind


def test_signs_around_numbers_tell_sequences_apart() -> None:
    found = sequences_of(["1.", "(2)", "2."])
    assert found.before_alike.steps.tolist() == [-1, -1, 1]
    assert found.before.steps.tolist() == [-1, 0, 1]


def test_links_do_not_cross_documents() -> None:
    texts = ["1. One", "2. Two"]
    found = NumberSequences(UnitBatch([(text, DocumentLayout(text).units) for text in texts]))
    assert not found.plausible.any()


def test_a_part_below_its_number_is_plausible() -> None:
    assert sequences_of(["3.", "3.1"]).plausible.tolist() == [False, True]


def test_rows_of_candidates(make_batch: Callable[..., UnitBatch]) -> None:
    found = NumberSequences(make_batch("1. (a) First\n2. Second"))
    assert found.row_lengths.tolist() == [2, 2, 1]
    assert found.row_places.tolist() == [0, 1, 0]
    assert np.array_equal(found.row_tainted, [True, True, False])
