"""Subtitles and lines of JSON that would fail without a code, or take the square of their length."""

import time

import pytest
from helpers.fixtures import Write
from spacy.language import Language

from spacy_crf import CRFError, PunctuationCorpus
from spacy_crf.punctuation.subtitles import respell, spoken_words

TIMES = "00:01.000 --> 00:02.000\n"


def seconds(line: str) -> float:
    start = time.process_time()
    for word in spoken_words([TIMES, line]):
        respell(word.raw, word.heard.text)
    return time.process_time() - start


PIECES = [
    "[",
    "(",
    "{\\",
    "<v ",
    "</c",
    "♪",
    "♪ a",
    "# a",
    "# a#b ",
    "&#",
    "&amp",
    "A.",
    "A: ",
    ">> ",
    "[(",
    "<{\\[(",
    "&#39;",
    "<b>",
]


@pytest.mark.parametrize("piece", PIECES)
def test_lines_take_linear_time(piece: str) -> None:
    small, large = (seconds(piece * size) for size in (4_000, 64_000))
    assert large < 100 * small + 0.5  # the square would be 256 times as much


@pytest.mark.parametrize(
    "line, expected",
    [
        ("well [door] so (sighs) it", "well so it"),
        ("well [door so", "well [door so"),
        ("well ) so (x)", "well ) so"),
        ("w<b>el</b>l&#39;s d&eacute;j&agrave; R&D", "well's déjà R&D"),
        ("a [b] c [d", "a c [d"),
        ("<i>well</i> {\\an8}so <v", "well so <v"),
        ("a < b [x]", "a < b"),
        ("♪ la la ♪ well", "well"),
        ("&amp; &#" + "9" * 5000 + "; x", "& &#" + "9" * 5000 + "; x"),
        ("&#0;&#xD800;&#65;", "\ufffd\ufffdA"),
    ],
)
def test_what_is_spoken(line: str, expected: str) -> None:
    assert " ".join(word.heard.text for word in spoken_words([TIMES, line]) if word.raw) == expected


def test_times_with_many_digits_are_none() -> None:
    assert not any(word.raw for word in spoken_words(["9" * 5000 + ":00.000 --> 00:02.000\n", "well"]))


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"text": "\\ud800"}', "CRF573.*line 1"),
        ('{"text": ' + "[" * 100_000, "CRF574.*line 1"),
        ('{"text": ' + "9" * 5000 + "}", "CRF574.*line 1"),
        ('{"text": ["a"]}', "CRF983.*line 1"),
        ('{"text": "a", "x": 1e999}', "CRF574.*line 1"),
    ],
)
def test_lines_of_json(nlp: Language, write: Write, line: str, message: str) -> None:
    with pytest.raises(CRFError, match=message):
        list(PunctuationCorpus(write("a.jsonl", line))(nlp))
