"""Numbers are what Python makes of them, as long as they are small enough to be meant."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.reading.records import finite_number, whole_number


@pytest.mark.promise
@given(st.integers(-(10**18) + 1, 10**18 - 1))
def test_whole_numbers(number: int) -> None:
    assert whole_number(str(number)) == number


@pytest.mark.parametrize("text", ["", "-", "+1", "1.0", " 1", "1_0", "１", "١", "²", "1e3", "9" * 19, "9" * 5000])
def test_what_is_no_whole_number(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize(("text", "value"), [(str(2**64 - 1), 2**64 - 1), (str(2**64), None), ("9" * 21, None)])
def test_whole_numbers_up_to_a_limit_of_their_own(text: str, value: int | None) -> None:
    assert whole_number(text, greatest=2**64 - 1) == value


@pytest.mark.promise
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_finite_numbers(number: float) -> None:
    assert finite_number(repr(number)) == number


@pytest.mark.parametrize("text", ["", "inf", "-Infinity", "nan", "1e999", "1_0", "one", "9" * 5000])
def test_what_is_no_finite_number(text: str) -> None:
    assert finite_number(text) is None


@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    assert isinstance(whole_number(text), int | None)
    value = finite_number(text)
    assert value is None or math.isfinite(value)
