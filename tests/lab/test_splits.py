"""Splits: what is trained on and what is tested on, for corpora of any shape."""

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.lab.sampling import CorpusLayout, draw_folds, draw_test
from spacy_crf.lab.splits import WHOLE, WITHIN, Kind, SplitSettings, make_splits

UNITS = ["document", "sentence", "chunk"]


def make_layout(lengths: list[list[int]]) -> CorpusLayout:
    """Lengths of the sentences of each document."""
    documents = np.repeat(np.arange(len(lengths)), [len(own) for own in lengths])
    names = tuple(f"d{number}" for number in range(len(lengths)))
    return CorpusLayout(names, documents.astype(np.intp), np.concatenate(lengths).astype(np.intp))


sentences = st.lists(st.integers(1, 40), min_size=2, max_size=12)
layouts = st.lists(sentences, min_size=3, max_size=8).map(make_layout)
SIMPLE = make_layout([[5] * 10, [5] * 20, [5] * 30, [5] * 40])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def distances(layout: CorpusLayout) -> Any:
    numbers = np.arange(len(layout.names), dtype=np.float64)
    return np.abs(numbers[:, None] - numbers)


@given(layouts, st.sampled_from(get_args(Kind)), st.sampled_from(UNITS), st.integers(0, 5))
def test_nothing_is_tested_that_is_trained_on(layout: CorpusLayout, kind: Any, by: Any, seed: int) -> None:
    if (kind in WITHIN and by == "document") or (kind in WHOLE and by != "document"):
        with pytest.raises(ValueError, match="CRF613"):
            make_splits(layout, SplitSettings(kind, by), distances(layout))
        return
    least = int(np.sort(layout.sizes)[-1]) if kind == "size" else 0
    settings = SplitSettings(kind, by, folds=2, test_share=0.3, least_tokens=least, seed=seed)
    splits = make_splits(layout, settings, distances(layout))
    everything = set(range(len(layout.lengths)))
    for split in splits:
        train = split.train.tolist()
        assert train == sorted(set(train)) and set(train) <= everything
        for part in split.tests:
            assert len(part.sentences) and not set(part.sentences.tolist()) & set(train)
            if by == "document":
                tested = set(layout.documents[part.sentences].tolist())
                assert not tested & set(layout.documents[split.train].tolist())
    again = make_splits(layout, settings, distances(layout))
    assert [split.train.tolist() for split in splits] == [split.train.tolist() for split in again]


@given(layouts, st.sampled_from(UNITS), st.integers(0, 5))
def test_folds_test_everything_once(layout: CorpusLayout, by: Any, seed: int) -> None:
    splits = make_splits(layout, SplitSettings("kfold", by, folds=2, repeats=2, seed=seed))
    assert len(splits) == 4
    for repeat in (splits[:2], splits[2:]):
        tested = np.concatenate([split.tests[0].sentences for split in repeat])
        assert sorted(tested.tolist()) == list(range(len(layout.lengths)))
        for split in repeat:
            union = np.concatenate([split.train, split.tests[0].sentences])
            assert sorted(union.tolist()) == list(range(len(layout.lengths)))


@given(layouts, st.integers(0, 5))
def test_chunks_are_contiguous(layout: CorpusLayout, seed: int) -> None:
    for numbers in (draw_folds(layout, "chunk", 2, rng(seed)), draw_test(layout, "chunk", 0.4, rng(seed))):
        for document in range(len(layout.names)):
            own = numbers[layout.documents == document].astype(int)
            if numbers.dtype == bool:
                assert np.abs(np.diff([0, *own, 0])).sum() == 2 and not own.all()
            else:
                assert np.count_nonzero(np.diff(own)) <= 1


def test_chunks_of_equal_size_and_a_draw_for_each_document() -> None:
    numbers = draw_folds(SIMPLE, "chunk", 5, rng())
    orders = set()
    for document in range(4):
        own = numbers[SIMPLE.documents == document]
        assert np.bincount(own).tolist() == [len(own) // 5] * 5
        orders.add(tuple(own[:: len(own) // 5].tolist()))
    assert len(orders) > 1
    shuffled = draw_folds(SIMPLE, "sentence", 5, rng())
    assert all(np.bincount(shuffled[SIMPLE.documents == d]).tolist() == [2 * (d + 1)] * 5 for d in range(4))
    assert np.count_nonzero(np.diff(shuffled[SIMPLE.documents == 3])) > 10


@pytest.mark.parametrize(("by", "expected"), [("sentence", [2, 4, 6, 8]), ("chunk", [2, 4, 6, 8])])
def test_the_share_of_a_test_part(by: Any, expected: list[int]) -> None:
    drawn = draw_test(SIMPLE, by, 0.2, rng(3))
    assert [int(drawn[SIMPLE.documents == d].sum()) for d in range(4)] == expected
    documents = draw_test(SIMPLE, "document", 0.5, rng(3))
    assert len(set(SIMPLE.documents[documents].tolist())) == 2


def test_places_of_chunks_differ_with_the_seed() -> None:
    places = {int(draw_test(SIMPLE, "chunk", 0.1, rng(seed))[SIMPLE.documents == 3].argmax()) for seed in range(40)}
    assert len(places) > 10 and min(places) < 5 and max(places) > 30


@pytest.mark.parametrize("by", ["sentence", "chunk"])
def test_test_parts_are_the_same_in_all_experiments_of_the_thesis(by: Any) -> None:
    settings = SplitSettings("across", by, seed=7)
    (across,) = make_splits(SIMPLE, settings)
    test = across.tests[0].sentences
    (robust,) = make_splits(SIMPLE, replace(settings, kind="robustness"))
    assert np.array_equal(robust.train, across.train) and [part.name for part in robust.tests] == list(SIMPLE.names)
    assert np.array_equal(np.concatenate([part.sentences for part in robust.tests]), test)
    within = make_splits(SIMPLE, replace(settings, kind="in-domain"))
    crossed = make_splits(SIMPLE, replace(settings, kind="cross-domain"))
    for document, (one, other, part) in enumerate(zip(within, crossed, robust.tests, strict=True)):
        assert np.array_equal(one.tests[0].sentences, part.sentences)
        assert np.array_equal(other.tests[0].sentences, part.sentences)
        own = SIMPLE.documents[across.train] == document
        assert np.array_equal(one.train, across.train[own]) and np.array_equal(other.train, across.train[~own])


def test_leave_one_document_out() -> None:
    splits = make_splits(SIMPLE, SplitSettings("cross-domain", least_tokens=100))
    assert [split.name for split in splits] == ["d1", "d2", "d3"]
    for document, split in enumerate(splits, 1):
        assert np.array_equal(split.tests[0].sentences, np.flatnonzero(SIMPLE.documents == document))
        assert len(split.train) == 100 - len(split.tests[0].sentences)


def test_large_documents_are_tested_on_small_ones() -> None:
    (split,) = make_splits(SIMPLE, SplitSettings("size", least_tokens=150))
    assert [part.name for part in split.tests] == ["d2", "d3"]
    assert set(SIMPLE.documents[split.train].tolist()) == {0, 1}


@pytest.mark.parametrize("by", UNITS)
def test_a_learning_curve_is_nested(by: Any) -> None:
    settings = SplitSettings("curve", by, repeats=2, test_share=0.25, fractions=(1.0, 0.1, 0.5))
    splits = make_splits(SIMPLE, settings)
    assert [split.fraction for split in splits] == [0.1, 0.5, 1.0] * 2
    for small, middle, full in (splits[:3], splits[3:]):
        assert set(small.train.tolist()) < set(middle.train.tolist()) < set(full.train.tolist())
        assert len(full.train) + len(full.tests[0].sentences) == 100
        assert {tuple(s.tests[0].sentences.tolist()) for s in (small, middle, full)} == {
            tuple(full.tests[0].sentences.tolist())
        }
        if by != "document":
            assert SIMPLE.tokens(middle.train) == pytest.approx(SIMPLE.tokens(full.train) / 2, rel=0.1)


def test_pruning_keeps_the_nearest() -> None:
    settings = SplitSettings("pruning", fractions=(0.3, 0.6, 1.0), least_tokens=200)
    splits = make_splits(SIMPLE, settings, distances(SIMPLE))
    kept = [sorted(set(SIMPLE.documents[split.train].tolist())) for split in splits]
    assert [split.tests[0].name for split in splits] == ["d3"] * 3 and kept == [[2], [1, 2], [0, 1, 2]]


def test_a_tenth_of_thirty_documents_is_three() -> None:
    layout = make_layout([[5, 5]] * 31)
    split = make_splits(layout, SplitSettings("pruning", fractions=(0.1,)), distances(layout))[0]
    assert len(set(layout.documents[split.train].tolist())) == 3


def test_shuffled_and_contiguous_parts_side_by_side() -> None:
    splits = make_splits(SIMPLE, SplitSettings("shuffling", repeats=3))
    assert [split.series for split in splits] == ["chunk", "sentence"] * 3
    assert len({split.name for split in splits}) == 6


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (SplitSettings("kfold", folds=5), "CRF610"),
        (SplitSettings("kfold", folds=1), "CRF610"),
        (SplitSettings("kfold", "chunk", folds=50), "CRF610"),
        (SplitSettings("monte-carlo", test_share=1.0), "CRF611"),
        (SplitSettings("curve", fractions=(0.0,)), "CRF611"),
        (SplitSettings("size", "chunk"), "CRF613"),
        (SplitSettings("across", "document"), "CRF613"),
        (SplitSettings("cross-domain", least_tokens=1000), "CRF614"),
        (SplitSettings("cross-domain", repeats=2), "CRF615"),
        (SplitSettings("kfold", repeats=0), "CRF108"),
    ],
)
def test_what_cannot_be_split(settings: SplitSettings, code: str) -> None:
    with pytest.raises(ValueError, match=code):
        make_splits(SIMPLE, settings)


@pytest.mark.parametrize("by", UNITS)
def test_what_has_no_parts_cannot_be_divided(by: Any) -> None:
    with pytest.raises(ValueError, match="CRF612"):
        make_splits(make_layout([[5]]), SplitSettings("monte-carlo", by))
