"""JSON and TOML are read as their libraries read them, and what only makes trouble later is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf import CRFError
from spacy_crf.reading.records import DEEPEST, parse_json, parse_toml

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@pytest.mark.promise
@given(VALUES, st.booleans())
def test_round_trip(value: Any, ascii: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=ascii), "here") == value


@pytest.mark.parametrize(
    "text, reason",
    [
        ("{", "line 1"),
        ("[" * 100_000, "nested more than 200 deep"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nested more than 200 deep"),
        ('{"a": ' * 500 + "1" + "}" * 500, "nested more than 200 deep"),
        ("9" * 5000, "the number 9999"),
        ("1" + "0" * 18, "the number 1000"),
        ("1e999", "the number 1e999"),
        ("NaN", "the number NaN"),
        ("-Infinity", "the number -Infinity"),
        ('{"a": 1, "b": 2, "a": 3}', "the key 'a' is given twice"),
        ('"\\ud800"', "CRF573"),
        ('{"\\udfff": 1}', "CRF573"),
        ("\ud800", "here"),
        (b"\xff", "utf-8"),
        (b'\xef\xbb\xbf"a"', "BOM"),
    ],
)
def test_json_that_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(CRFError, match=reason) as caught:
        parse_json(text, "here")
    assert "here: " in str(caught.value)
    assert len(str(caught.value)) < 300


def test_whole_pairs_of_surrogates_are_characters() -> None:
    assert parse_json('"\\ud83d\\ude00"', "here") == "\U0001f600"
    assert parse_json('"\\\\ud83d"', "here") == "\\ud83d"


def test_nesting_up_to_the_limit() -> None:
    assert parse_json("[" * DEEPEST + "]" * DEEPEST, "here")
    assert len(parse_json("[" + ", ".join(["[]"] * 1000) + "]", "here")) == 1000


@pytest.mark.parametrize(
    "text, reason",
    [
        ("a =", "Invalid value"),
        ("a" + ".a" * 100_000 + " = 1", "parts"),
        ("[" + "a." * 100_000 + "a]", "parts"),
        ("b = { a" + ".a" * 100_000 + " = 1 }", "parts"),
        ("a = " + "[" * 100_000, "deep"),
        ("a = " + "{a = " * 100_000, "deep"),
        ("a = " + "9" * 5000, "limit|digits|number"),
        ("a = inf", "the number inf"),
        ("a = nan", "the number nan"),
        ("a = 1e999", "the number 1e999"),
        ("a = 0x" + "f" * 5000, "number"),
        ("a = 1\na = 2", "overwrite"),
    ],
)
def test_toml_that_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CRFError, match=reason) as caught:
        parse_toml(text, "space.toml")
    assert str(caught.value).startswith("[CRF575] space.toml: ")
    assert len(str(caught.value)) < 300


def test_toml() -> None:
    text = 'a.b = [0.1, 0.2, 1_000, -3]\n[c]\nd = {e = "x..y", f = 1_0.5}\n'
    assert parse_toml(text, "here") == {"a": {"b": [0.1, 0.2, 1000, -3]}, "c": {"d": {"e": "x..y", "f": 10.5}}}
