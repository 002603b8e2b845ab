"""Units as arrays: neighbours, and functions of texts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import Bools
from spacy_crf.sections.features.batch import FeatureValues, UnitBatch
from spacy_crf.sections.layout import DocumentLayout

DOCUMENTS = st.lists(st.text("ab1.\n (", max_size=12), max_size=4)


def batch_of(texts: list[str]) -> UnitBatch:
    return UnitBatch([(text, DocumentLayout(text).units) for text in texts])


def slow_neighbour(batch: UnitBatch, chosen: Bools, step: int) -> list[int]:
    found = []
    for unit in range(len(batch)):
        other = unit + step
        while 0 <= other < len(batch) and batch.document[other] == batch.document[unit] and not chosen[other]:
            other += step
        inside = 0 <= other < len(batch) and batch.document[other] == batch.document[unit]
        found.append(other if inside else -1)
    return found


@given(DOCUMENTS)
def test_neighbours_are_the_nearest_chosen_units_of_the_document(texts: list[str]) -> None:
    batch = batch_of(texts)
    for chosen in (batch.is_text, batch.is_blank, ~batch.is_blank):
        assert batch.before(chosen).tolist() == slow_neighbour(batch, chosen, -1)
        assert batch.after(chosen).tolist() == slow_neighbour(batch, chosen, 1)


@given(DOCUMENTS)
def test_every_unit_has_its_text_and_its_document(texts: list[str]) -> None:
    batch = batch_of(texts)
    own = [
        (k, text[unit.start : unit.end].strip()) for k, text in enumerate(texts) for unit in DocumentLayout(text).units
    ]
    assert list(zip(batch.document.tolist(), [batch.distinct[number] for number in batch.text_numbers])) == own


def test_a_function_of_the_text_is_called_once_for_each_distinct_text() -> None:
    batch, seen = batch_of(["same\nother\nsame", "same"]), []

    def count(text: str) -> int:
        seen.append(text)
        return len(text)

    assert batch.count_by_text(count).tolist() == [4, 5, 4, 4]
    assert batch.count_by_text(count).tolist() == [4, 5, 4, 4]
    assert seen == ["same", "other"]


def test_ranges_and_values_of_other_units() -> None:
    values = FeatureValues.bins(np.array([0, 1, 2, 9]), (1, 5), np.array([True, True, True, False]))
    assert [values.names[code] for code in values.codes] == ["<", "1", "1", ""]
    taken = values.take(np.array([3, -1, 1, 0]))
    assert [taken.names[code] for code in taken.codes] == ["", "", "1", "<"]
