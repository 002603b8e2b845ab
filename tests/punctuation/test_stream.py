"""Streams: what goes in comes out, and with a long lag as from the whole text."""

import re
from functools import cache
from pathlib import Path

import pytest
from helpers.punctuated import TEXTS, strip, train, trained
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf.punctuation.block import LabelScheme
from spacy_crf.punctuation.stream import HISTORY, RestorationStream, chunks_of, stream_words

WORDS = [word.lower() for word in strip(TEXTS, LabelScheme(["COMMA"])).words]
known = cache(trained)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_a_long_lag_gives_what_the_whole_text_gives(folder: Path, block: int) -> None:
    nlp = known(folder, has_case=True)
    restorer = nlp.get_pipe("punctuation_restorer")
    whole = nlp(" ".join(WORDS))
    streamed = list(restorer.stream(iter(WORDS), lag=len(WORDS), block=block))
    assert "".join(word.restored for word in streamed) == whole._.restored
    marks = [token._.punct_after for token in restorer.bare(whole)]
    assert len(marks) == len(streamed) == len(WORDS)
    assert [word.mark for word in streamed] == [
        whole._.punctuation["marks"][k] for k in restorer.view(whole).last_tokens
    ]


@pytest.mark.parametrize("lag, block", [(0, 1), (3, 1), (12, 5)])
def test_words_go_out_in_order_when_enough_have_come(folder: Path, lag: int, block: int) -> None:
    restorer = known(folder).get_pipe("punctuation_restorer")
    stream, out = RestorationStream(restorer, lag, block), []
    for taken, word in enumerate(WORDS, 1):
        out += stream.push([word + " "])
        assert taken - len(out) <= lag + block - 1 and (not out or taken - len(out) >= lag)
    assert len(stream._chunks) <= HISTORY + lag + block
    out += stream.close()
    assert [word.text for word in out] == [word + " " for word in WORDS]
    assert all(0 <= word.probability <= 1.001 for word in out)


def test_a_lag_of_some_words_hardly_differs(folder: Path) -> None:
    restorer = known(folder).get_pipe("punctuation_restorer")
    whole = [word.mark for word in stream_words(restorer, WORDS, lag=len(WORDS))]
    lagged = [word.mark for word in stream_words(restorer, WORDS, lag=8)]
    assert sum(a != b for a, b in zip(whole, lagged)) <= 2


pieces = st.lists(st.text(alphabet="ab \n\t.,—é'\udcff🙂", max_size=8), max_size=12)


@pytest.mark.promise
@given(pieces)
def test_chunks_are_the_text(parts: list[str]) -> None:
    chunks = list(chunks_of(parts))
    assert "".join(chunks) == "".join(parts)
    assert [chunk.strip() for chunk in chunks if chunk.strip()] == "".join(parts).split()


@pytest.mark.promise
@given(pieces, st.integers(0, 4), st.integers(1, 3))
def test_streams_change_no_word(folder: Path, parts: list[str], lag: int, block: int) -> None:
    stream = RestorationStream(known(folder, has_case=True).get_pipe("punctuation_restorer"), lag, block)
    out = [*stream.push(chunks_of(parts)), *stream.close()]
    text = "".join(parts)
    assert "".join(word.text for word in out) == text
    after = "".join(word.restored for word in out)
    assert [c for c in after.casefold() if c.isalnum() or c in "\udcff🙂"] == [
        c for c in text.casefold() if c.isalnum() or c in "\udcff🙂"
    ]


@pytest.mark.parametrize("lag", [0, 2, 100])
@pytest.mark.parametrize(
    "words", [["well", "", "what", "did", "she"], ["", "", "well", "what"], ["well ", " what\n", "did", ""], [" ", ""]]
)
def test_empty_words_and_words_with_white_space(folder: Path, words: list[str], lag: int) -> None:
    restorer = known(folder, has_case=True).get_pipe("punctuation_restorer")
    out = list(restorer.stream(words, lag=lag))
    assert "".join(word.text for word in out) == " ".join(words) and len(out) == len(words)
    plain = "".join(c for word in out for c in word.restored if c not in ".,?")
    assert plain.lower() == " ".join(words)
    if lag == 100:
        assert out[0].restored == words[0].replace("well", "Well,") and not any(
            out[k].mark for k in (-1,) if not words[k]
        )


@pytest.mark.parametrize("has_case", [False, True])
@pytest.mark.parametrize("settings", [{"threshold": 0.2}, {"thresholds": {"QUESTION": 0.1}}, {"existing": "keep"}])
def test_a_long_lag_under_thresholds(folder: Path, settings: dict[str, object], has_case: bool) -> None:
    nlp = trained(folder, has_case, **settings)
    text = " ".join(WORDS[:40]) + ", " + " ".join(WORDS[40:])
    whole = nlp(text)
    streamed = nlp.get_pipe("punctuation_restorer").stream(text.split(), lag=len(WORDS), block=3)
    assert "".join(word.restored for word in streamed) == whole._.restored


def test_a_stream_can_be_used_again(folder: Path) -> None:
    restorer = known(folder).get_pipe("punctuation_restorer")
    stream = RestorationStream(restorer, 3)
    first = [*stream.push(["where", " is", " it"]), *stream.close()]
    assert [*stream.push(["where", " is", " it"]), *stream.close()] == first and list(stream.close()) == []


@pytest.mark.parametrize("lag, block", [(-1, 1), (3, 0)])
def test_settings_without_meaning(folder: Path, lag: int, block: int) -> None:
    with pytest.raises(ValueError, match="CRF985"):
        RestorationStream(known(folder).get_pipe("punctuation_restorer"), lag, block)


TAG_CONFIG = {"@misc": "spacy_crf.Features.v1", "templates": ["@punctuation", "TAG[0..1]"]}


def test_a_pipeline_annotates_what_features_read(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="CRFW404.*reads TAG"):
        nlp = train(tmp_path, features=TAG_CONFIG)
    restorer, seen = nlp.get_pipe("punctuation_restorer"), []
    with pytest.raises(ValueError, match="CRF992"):
        restorer.stream(WORDS)

    @Language.component("tests_first_letters")
    def tag(doc: Doc) -> Doc:
        for token in doc:
            token.tag_ = token.text[0].upper()
        seen.append(doc)
        return doc

    nlp.add_pipe("tests_first_letters", before="punctuation_restorer")
    ours = list(restorer.stream(WORDS, lag=5, nlp=nlp))
    assert ours == list(restorer.stream(WORDS, lag=5, prepare=tag)) and len(ours) == len(WORDS)
    assert all(token.tag_ for doc in seen for token in doc)


def test_components_before_see_the_words(folder: Path) -> None:
    seen = []

    def prepare(doc):
        seen.append([token.text for token in doc])
        return doc

    restorer = known(folder).get_pipe("punctuation_restorer")
    stream = RestorationStream(restorer, 0, 3, prepare)
    assert [word.text for word in stream.push(["so", " it", "\n\n is"])] == ["so", " it", "\n\n is"]
    assert [word.text for word in stream.push([" a", " b", " c"] * 20)] == [" a", " b", " c"] * 20
    assert seen[0] == ["so", "it", "\n\n ", "is"] and not any(" " in words for words in seen)


@pytest.mark.parametrize("settings", [{}, {"threshold": 0.3}, {"existing": "keep"}])
@pytest.mark.parametrize("lag, block", [(0, 1), (1, 1), (1, 3), (3, 1)])
def test_what_goes_out_agrees_with_itself(folder: Path, settings: dict[str, object], lag: int, block: int) -> None:
    """A capital stands behind an end mark that has gone out, and nowhere else."""
    restorer = trained(folder, **settings).get_pipe("punctuation_restorer")
    out = list(restorer.stream(WORDS, lag=lag, block=block))
    assert len(out) == len(WORDS) and out[0].restored[0].isupper()
    for before, after in zip(out, out[1:]):
        is_end = before.mark in ("PERIOD", "QUESTION")
        assert after.restored.strip()[0].isupper() == is_end
        sign = {"PERIOD": ".", "QUESTION": "?", "COMMA": ","}.get(before.mark, "")
        assert before.restored.lower() == before.text + sign


def test_text_without_white_space_goes_out_character_by_character() -> None:
    text = "我是学生。你好吗abc（我）don't go"
    for size in (1, 3, 100):
        parts = [text[low : low + size] for low in range(0, len(text), size)]
        chunks = list(chunks_of(parts))
        assert "".join(chunks) == text
        assert [chunk for chunk in chunks if chunk.strip()][:4] == ["我", "是", "学", "生。"]
        assert len(chunks) == 11


@pytest.mark.parametrize("sign", [",", "--", '?"'])
@pytest.mark.parametrize("lag, block", [(0, 1), (0, 2), (1, 1)])
def test_no_mark_stands_twice(folder: Path, lag: int, block: int, sign: str) -> None:
    """A sign that comes when its word has gone out with a mark is too late."""
    restorer = trained(folder, threshold=0.02).get_pipe("punctuation_restorer")
    words = [part for word in WORDS for part in (word, sign)]
    out = list(restorer.stream(words, lag=lag, block=block))
    assert [word.text.strip() for word in out] == words
    text = "".join(word.restored for word in out)
    assert not re.search(r"[.,?]\s*[.,?]", text) and re.search(r"[.,?]", text)
