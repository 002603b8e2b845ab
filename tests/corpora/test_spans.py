import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.corpora.sentence import LabelledSpan, decode_spans, split_tag

SCHEMES = {
    "IOB2": "O B-NP I-NP B-NP O B-VP I-VP I-VP",
    "IOB1": "O I-NP I-NP B-NP O I-VP I-VP I-VP",
    "BILUO": "O B-NP L-NP U-NP O B-VP I-VP L-VP",
    "BIOES": "O B-NP E-NP S-NP O B-VP I-VP E-VP",
    "BMES": "O B-NP E-NP S-NP O B-VP M-VP E-VP",
    "label first": "O NP-B NP-I NP-B O VP-B VP-I VP-I",
    "underscore": "O B_NP I_NP B_NP O B_VP I_VP I_VP",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_gives_the_same_spans(scheme: str) -> None:
    assert decode_spans(SCHEMES[scheme].split()) == [(1, 3, "NP"), (3, 4, "NP"), (5, 8, "VP")]


@pytest.mark.parametrize(
    "tags, expected",
    [
        ("I-A I-B I-B", [(0, 1, "A"), (1, 3, "B")]),
        ("L-A", [(0, 1, "A")]),
        ("B-A L-B", [(0, 1, "A"), (1, 2, "B")]),
        ("B-A L-A I-A", [(0, 2, "A"), (2, 3, "A")]),
        ("U-A I-A", [(0, 1, "A"), (1, 2, "A")]),
        ("B-A O I-A", [(0, 1, "A"), (2, 3, "A")]),
        ("B I O B", [(0, 2, "X"), (3, 4, "X")]),
    ],
)
def test_broken_sequences_lose_no_token(tags: str, expected: list[tuple[int, int, str]]) -> None:
    assert decode_spans(tags.split(), untyped="X") == expected


def test_an_unknown_tag_ends_a_span() -> None:
    assert decode_spans(["B-A", "", "I-A"]) == [(0, 1, "A"), (2, 3, "A")]


@pytest.mark.parametrize(
    "tag, expected",
    [
        ("B-I", ("B", "I")),
        ("B-x-y", ("B", "x-y")),
        ("x-y-I", ("I", "x-y")),
        ("B_X-I", ("I", "B_X")),
        ("NN", None),
        ("B-", None),
        ("X_B", None),
        ("o", None),
    ],
)
def test_split_tag(tag: str, expected: tuple[str, str] | None) -> None:
    assert split_tag(tag) == expected


@st.composite
def spans_and_length(draw: st.DrawFn) -> tuple[list[LabelledSpan], int]:
    spans, end = [], 0
    for _ in range(draw(st.integers(0, 5))):
        start = end + draw(st.integers(0, 2))
        end = start + draw(st.integers(1, 3))
        spans.append(LabelledSpan(start, end, draw(st.sampled_from("AB"))))
    return spans, end + draw(st.integers(0, 2))


@pytest.mark.promise
@given(spans_and_length(), st.sampled_from(["BIIB", "BILU", "BIES", "IOB1"]))
def test_encoded_spans_are_decoded(case: tuple[list[LabelledSpan], int], scheme: str) -> None:
    spans, length = case
    tags = ["O"] * length
    first, inside, last, single = "BIIB" if scheme == "IOB1" else scheme
    for start, end, label in spans:
        letters = [single] if end == start + 1 else [first, *inside * (end - start - 2), last]
        if scheme == "IOB1" and (start == 0 or not tags[start - 1].endswith(label)):
            letters[0] = "I"
        tags[start:end] = [f"{letter}-{label}" for letter in letters]
    assert decode_spans(tags) == spans
