"""Transcripts of recognisers: only their texts change, in all ways in which they are written."""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from helpers.punctuated import build, trained
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

from spacy_crf import CRFError, PunctuationCorpus
from spacy_crf.punctuation.cli import restore_transcript
from spacy_crf.punctuation.stream import RestorationStream
from spacy_crf.punctuation.subtitles import Heard
from spacy_crf.punctuation.transcripts import looks_like, read_transcript, spread

BARE = ["well", "what", "did", "she", "say", "she", "said", "that", "the", "mill", "was", "sold"]


@pytest.fixture(scope="module")
def nlp(folder: Path) -> Language:
    return trained(folder)


def restored(nlp: Language, source: str, format: Any = "whisper") -> str:
    stream = RestorationStream(nlp.get_pipe("punctuation_restorer"), lag=20, block=50)
    assert looks_like(source, "it") == format
    return "".join(restore_transcript(nlp, stream, [source], format, "it"))


def timed(words: list[str], sure: str, first: str = " ") -> list[dict[str, Any]]:
    return [{"word": first + word, "start": n / 3, "end": n / 3 + 0.25, sure: 0.5} for n, word in enumerate(words)]


def segment(number: int, spoken: list[str], **more: Any) -> dict[str, Any]:
    return {"id": number, "start": number * 2.0, "end": number + 1.50, "text": " " + " ".join(spoken), **more}


WHISPER = {
    "text": " " + " ".join(BARE),
    "segments": [
        segment(0, BARE[:3], tokens=[50364, 11], avg_logprob=-0.1, words=timed(BARE[:3], "probability")),
        segment(1, BARE[3:], tokens=[], no_speech_prob=1e-08, words=timed(BARE[3:], "probability")),
    ],
    "language": "en",
}
WHISPERX = {
    "segments": [
        {"start": 0.031, "end": 4.0, "text": " ".join(BARE), "words": timed(BARE, "score", ""), "speaker": "A"}
    ],
    "word_segments": timed(BARE, "score", ""),
}
WHISPER_CPP = {
    "systeminfo": "AVX = 1",
    "result": {"language": "en"},
    "transcription": [
        {
            "timestamps": {"from": "00:00:00,000", "to": "00:00:02,000"},
            "offsets": {"from": 0, "to": 2000},
            "text": " " + " ".join(words),
            "tokens": [{"text": " well", "id": 880, "p": 0.9}],
        }
        for words in (BARE[:5], BARE[5:])
    ],
}
VERBOSE = {
    "task": "transcribe",
    "duration": 8.470000267028809,
    "text": " ".join(BARE),
    "words": timed(BARE, "none", ""),
    "segments": [segment(0, BARE)],
}
TRANSFORMERS = {"text": " ".join(BARE), "chunks": [{"text": f" {w}", "timestamp": [0.5, 1.0]} for w in BARE]}
VOSK = {"result": timed(BARE, "conf", ""), "text": " ".join(BARE)}
SHAPES = [WHISPER, WHISPERX, WHISPER_CPP, VERBOSE, TRANSFORMERS, WHISPER["segments"]]
TEXTS = ("text", "word")


def without_texts(value: Any) -> Any:
    """A value with the marks and the case of its texts removed."""
    if isinstance(value, dict):
        own = {key: without_texts(part) for key, part in value.items()}
        return {key: part.strip(".,?").lower() if key == "word" else part for key, part in own.items()}
    if isinstance(value, list):
        return [without_texts(part) for part in value]
    return value.translate(str.maketrans("", "", ".,?")).lower() if isinstance(value, str) and " " in value else value


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_of_recognisers(nlp: Language, shape: Any, indent: int | None) -> None:
    source = json.dumps(shape, indent=indent) + "\n"
    found = restored(nlp, source)
    value = json.loads(found)
    assert without_texts(value) == without_texts(shape)
    segments = (
        value
        if isinstance(value, list)
        else next(value[key] for key in ("segments", "transcription", "chunks") if key in value)
    )
    words = " ".join(one["text"].strip() for one in segments)
    assert words == "Well, what did she say? She said that the mill was sold."
    ways = [value["text"].strip()] if "text" in value else []
    ways += [" ".join(w["word"].strip() for w in value[key]) for key in ("words", "word_segments") if key in value]
    ways += [" ".join(w["word"].strip() for one in segments for w in one["words"])] if "words" in segments[0] else []
    assert set(ways) <= {words}
    assert found.count("\n") == source.count("\n")


numbers = st.sampled_from(["0", "-0.10", "1e-08", "3.1400", "12E+2", "true", "null"])


@given(
    st.lists(st.lists(st.sampled_from([*BARE, "caf\\u00e9", "\\ud83d\\ude00", "x\\n"]), max_size=5), max_size=5),
    numbers,
    st.booleans(),
)
def test_every_byte_but_texts_stays(nlp: Language, segments: list[list[str]], number: str, has_words: bool) -> None:
    def spell(words: list[str]) -> str:
        own = ", ".join(f'{{"word" : " {word}","start":{number}, "x":"text"}}' for word in words)
        return f'{{"a\\"b":[{number}],"text":" {" ".join(words)}"' + (f', "words": [{own}]}}' if has_words else "}")

    source = f'{{ "segments":[{" ,".join(map(spell, segments))}], "text" : 5, "language":"en"}}'
    found = restored(nlp, source)
    assert found.lower().translate(str.maketrans("", "", ",.?")) == source.lower().translate(
        str.maketrans("", "", ",.?")
    )


def test_a_text_with_other_words_is_restored_by_itself(nlp: Language) -> None:
    shape = deepcopy(WHISPER)
    shape["text"] = "where did they go they went to the mill"
    value = json.loads(restored(nlp, json.dumps(shape)))
    assert (
        value["text"] == "Where did they go? They went to the mill."
        and value["segments"][0]["text"] == " Well, what did"
    )


@pytest.mark.parametrize("space", ["\u00a0", "\u202f"])
def test_no_break_spaces_stay(nlp: Language, space: str) -> None:
    """As French has them before its marks: they became plain spaces."""
    found = restored(nlp, json.dumps({"text": f" well what did she{space}say{space}? she said"}, ensure_ascii=False))
    assert json.loads(found)["text"] == f" Well, what did she{space}say{space}? She said."


@pytest.mark.parametrize("gap", ["", "“", "- "])
def test_signs_stay_beside_their_words(gap: str) -> None:
    assert spread(f"So. {gap}It is", ["so", f" {gap}it is"]) == ["So.", f" {gap}It is"]
    assert spread("我很好。你呢？", ["我很好", "你呢"]) == ["我很好。", "你呢？"]
    assert spread("So – it is", [" so", " it", " is"]) == [" So –", " it", " is"]
    assert spread("So? -It. --is", [" so\n-it --is"]) == [" So?\n-It. --is"]


def test_marks_that_are_texts_of_their_own(nlp: Language) -> None:
    """As whisper.cpp writes them word by word: they were left there, beside those of the words before them."""
    tokens = ["", " Well", ".", " what", " did", " she", ",", " say", "?", " She", " said", ".", ""]
    value = json.loads(restored(nlp, json.dumps({"transcription": [{"text": token} for token in tokens]})))
    found = [one["text"] for one in value["transcription"]]
    assert found == ["", " Well", ",", " what", " did", " she", "", " say", "?", " She", " said", ".", ""]
    assert spread('"So it," he', ['"', "so", " it", '"', " he"]) == ["", '"So', " it", ',"', " he"]
    assert spread('she said "So. But', ["she ", "said", ' "', "so", " - ", "but"]) == [
        *("she ", "said", " ", '"So', ". ", "But")
    ]
    assert spread(" so – but it", [" so ", "- ", "but", " ;", " it"]) == [" so ", "– ", "but", "", " it"]
    assert spread(" so it?", [" so", " it", " ;"]) == [" so", " it", "?"]
    found = restored(nlp, "a 1 0 0.3 what\na 1 0.3 0.1 ,\na 1 0.5 0.3 did\n", "ctm").split("\n")
    assert found[1] == "a 1 0.3 0.1 <eps>"


def test_utterances_of_speakers(nlp: Language) -> None:
    """AssemblyAI's were left bare beside the restored text."""
    parts = [
        {"speaker": "A", "text": " ".join(words), "words": timed(words, "confidence", "")}
        for words in (BARE[:5], BARE[5:])
    ]
    value = json.loads(restored(nlp, json.dumps({"text": " ".join(BARE), "utterances": parts})))
    assert value["text"] == "Well, what did she say? She said that the mill was sold."
    assert " ".join(one["text"] for one in value["utterances"]) == value["text"]
    assert " ".join(word["word"] for one in value["utterances"] for word in one["words"]) == value["text"]


CTM = """;; comment
b 1 0.00 0.40 well 0.9
b 1 0.50 0.20 <eps>
b 1  0.50 0.20 what 0.90
b 1 0.7 .2 did
a 2 1.6 0.2 did
b 1 1.0 0.2 she na
b 1 1.2 0.2 say

a 2 1.8 0.2 you 1
b 1 1.8 0.2 she
"""


def test_ctm(nlp: Language) -> None:
    """Channels are texts of their own; noises, numbers and comments stay."""
    found = restored(nlp, CTM, "ctm")
    assert found.translate(str.maketrans("", "", ",?")).replace("she.", "she").replace("you.", "you").lower() == CTM
    for part in ("0.40 Well, 0.9\n", "1.6 0.2 Did\n", "b 1  0.50 0.20 what 0.90"):
        assert part in found
    with pytest.raises(CRFError, match="CRF996.*line 12"):
        read_transcript(CTM + "and so on", "ctm", "it")


def test_recordings_of_the_same_words_have_their_own_pauses() -> None:
    one, other = (f"{name} 0.0 0.3 so\n{name} {pause} 0.3 it\n" for name, pause in (("a 1", "0.3"), ("b 1", "5.3")))
    assert read_transcript(one + other, "ctm", "it").texts() == [
        *read_transcript(one, "ctm", "it").texts(),
        *read_transcript(other, "ctm", "it").texts(),
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from(["a 1", "b  A"]), st.sampled_from(BARE), st.sampled_from(["", " 0.5", " NA"])),
        min_size=1,
    )
)
def test_every_field_but_words_stays(nlp: Language, rows: list[tuple[str, str, str]]) -> None:
    source = "".join(f"{channel} {n}.50 0.10 {word}{sure}\n" for n, (channel, word, sure) in enumerate(rows))
    found = restored(nlp, source, "ctm")
    for line, was in zip(found.splitlines(), source.splitlines(), strict=True):
        before, behind = re.split(rf"(?<= ){was.split()[4]}", was)
        word = line.removeprefix(before).removesuffix(behind)
        assert line == before + word + behind and word.strip(".,?").lower() == was.split()[4]


def test_what_is_no_transcript(nlp: Language) -> None:
    for text in ("well, so it is", '[1] "a" {b}', "{so} it is", "[door] well", "a b c d e", "at 1 3.5 or", ""):
        assert looks_like(text, "it") == "text"
    for text, name in (
        ("[Script Info]\n", "SubStation"),
        ('<?xml version="1.0"?>\n<tt xmlns="x">', "TTML"),
        ("[ti:x]\n[00:12.00]so", "LRC"),
        ("{1}{20}so", "MicroDVD"),
        ('<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT AUTHOR="">', "XML"),
        ('File type = "ooTextFile"\nObject class = "TextGrid"\n', "Praat"),
        ("@UTF8\n@Begin\n*MOT:\tso .\n", "CHAT"),
        (";; note\na 1 ann 0.00 1.5 <o,f0> so\n", "STM"),
        ("start\tend\ttext\n0\t2400\tso\n", "TSV"),
        ("0.0\t2.4\tso\n", "TSV"),
    ):
        with pytest.raises(CRFError, match=f"CRF994.*{name}"):
            looks_like(text, "it")
    with pytest.raises(CRFError, match="CRF995"):
        restored(nlp, '{"a": 1}')
    with pytest.raises(CRFError, match="CRF574.*it"):
        restored(nlp, '{"a": 1')


@pytest.mark.parametrize(
    "value",
    [
        {"segments": [{"speaker": "Ann", "body": "well so"}]},
        [{"transcript": "well so"}],
        [[0, 0, 0.5, 1.25, " well so", [50364], 0.0]],
        ["well", "so"],
    ],
)
def test_json_whose_texts_have_other_names_is_refused(nlp: Language, value: Any) -> None:
    """Podcasts call texts "body"; faster-whisper's segments are tuples, which JSON makes lists of."""
    source = json.dumps(value)
    assert looks_like(source, "it") == "whisper"
    with pytest.raises(CRFError, match="CRF995"):
        restored(nlp, source)
    assert restored(nlp, '{"text": "", "segments": []}') == '{"text": "", "segments": []}'


def test_times_and_confidences_of_words(nlp: Language) -> None:
    (words,) = read_transcript(json.dumps(WHISPER), "whisper", "it").texts()
    assert [word.text for word in words] == BARE and words[1] == Heard("what", (1 / 3, 1 / 3 + 0.25), 0.5)


def test_words_of_vosk(nlp: Language) -> None:
    """Alone, and as the list that its command writes."""
    (words,) = read_transcript(json.dumps(VOSK), "whisper", "it").texts()
    assert [word.text for word in words] == BARE and words[1] == Heard("what", (1 / 3, 1 / 3 + 0.25), 0.5)
    for found in (json.loads(restored(nlp, json.dumps(VOSK))), *json.loads(restored(nlp, json.dumps([VOSK])))):
        assert found["text"] == "Well, what did she say? She said that the mill was sold."
        assert " ".join(word["word"] for word in found["result"]) == found["text"]


def test_times_of_words_in_milliseconds(nlp: Language) -> None:
    words = [{"text": word, "start": 300 * n, "end": 300 * n + 250} for n, word in enumerate(BARE)]
    (heard,) = read_transcript(json.dumps({"text": " ".join(BARE), "words": words}), "whisper", "it").texts()
    assert [word.times for word in heard] == [pytest.approx((0.3 * n, 0.3 * n + 0.25)) for n in range(len(BARE))]


def test_a_long_word_in_seconds_stays_long(nlp: Language) -> None:
    """As Whisper gives one to a silence."""
    found = {"text": "well", "words": [{"word": "well", "start": 0.0, "end": 29.98}]}
    ((word,),) = read_transcript(json.dumps(found), "whisper", "it").texts()
    assert word.times == (0.0, 29.98)


def test_confidences_are_features(nlp: Language, tmp_path: Path) -> None:
    """A mark stands behind each word of which a recogniser is unsure."""
    rows = [f"a 1 {n} 0.5 {word}{',' * (n % 3 == 0)} {0.1 if n % 3 == 0 else 0.9}\n" for n, word in enumerate(BARE * 9)]
    (tmp_path / "a.ctm").write_text("".join(rows), encoding="utf8")
    own = build(features={"@misc": "spacy_crf.Features.v1", "templates": ["BIAS", "_.confidence", "_.pause"]})
    examples = list(PunctuationCorpus(tmp_path / "a.ctm", least_marks=0)(own))
    (tokens,) = [example.predicted for example in examples]
    assert tokens[0]._.confidence == 0.1 and tokens[0]._.pause == 0.5
    own.initialize(lambda: examples)
    own.update(examples)
    assert own.evaluate(examples)["punct_f"] == 1.0
    source = "".join(rows[:5]).replace(",", "")
    assert restored(own, source, "ctm").count(",") == 2


def test_training_texts_of_json(nlp: Language, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(restored(nlp, json.dumps(WHISPER)), encoding="utf8")
    (example,) = PunctuationCorpus(tmp_path / "a.json")(nlp)
    assert [token.text for token in example.predicted] == BARE
    assert [token._.punct_after for token in example.reference if token._.punct_after] == [
        "COMMA",
        "QUESTION",
        "PERIOD",
    ]
    assert example.predicted[0]._.pause == pytest.approx(1 / 3 - 0.25) and example.predicted[0]._.confidence == 0.5


@pytest.mark.parametrize("words", [{"words": []}, {}])
def test_a_segment_without_words_is_restored_with_the_others(nlp: Language, words: dict[str, Any]) -> None:
    """WhisperX gives a segment that it cannot align no words, and leaves them out of the list of all words."""
    aligned = timed(BARE[:3], "score", ""), timed(BARE[5:], "score", "")
    source = {
        "segments": [
            segment(0, BARE[:3], words=aligned[0]),
            segment(1, BARE[3:5], **words),
            segment(2, BARE[5:], words=aligned[1]),
        ],
        "word_segments": [*aligned[0], *aligned[1]],
    }
    found = json.loads(restored(nlp, json.dumps(source)))
    spoken = " ".join(one["text"].strip() for one in found["segments"])
    assert spoken == "Well, what did she say? She said that the mill was sold."
    by_word = [[one["word"] for one in part.get("words", [])] for part in found["segments"]]
    assert [*by_word[0], *found["segments"][1]["text"].split(), *by_word[2]] == spoken.split()
    assert [one["word"] for one in found["word_segments"]] == by_word[0] + by_word[2]


def test_sounds_in_brackets_are_no_words_and_stay(nlp: Language) -> None:
    spoken = [["(upbeat", "music)"], [*BARE[:3], "[BLANK_AUDIO]"], ["[noise]", *BARE[3:]]]
    source = {
        "text": " " + " ".join(word for words in spoken for word in words),
        "segments": [segment(n, words, words=timed(words, "probability")) for n, words in enumerate(spoken)],
    }
    bare = {**source, "segments": [segment(0, BARE, words=timed(BARE, "probability"))], "text": " " + " ".join(BARE)}
    found, expected = (json.loads(restored(nlp, json.dumps(one))) for one in (source, bare))
    words = [one["word"].strip() for part in found["segments"] for one in part["words"]]
    assert words == " ".join(part["text"] for part in found["segments"]).split() == found["text"].split()
    assert [word for word in words if word[0] not in "[(" and word[-1] != ")"] == expected["text"].split()
    assert [word for word in words if word[0] in "[(" or word[-1] == ")"] == [
        *("(upbeat", "music)", "[BLANK_AUDIO]", "[noise]")
    ]


def test_sounds_alone_stay(nlp: Language) -> None:
    source = json.dumps({"segments": [{"start": 0, "end": 30, "text": " [BLANK_AUDIO]"}]})
    assert restored(nlp, source) == source


@pytest.mark.parametrize(
    "texts, sounds",
    [
        ([" [SPEAKER_00]: " + " ".join(BARE)], "[SPEAKER_00]: "),
        ([f" {BARE[0]} (laughs). " + " ".join(BARE[1:])], " (laughs) "),
    ],
)
def test_marks_behind_sounds_take_no_space_with_them(nlp: Language, texts: list[str], sounds: str) -> None:
    source = {"segments": [{"start": n, "end": n + 1, "text": text} for n, text in enumerate(texts)]}
    (segment,) = json.loads(restored(nlp, json.dumps(source)))["segments"]
    assert sounds in segment["text"]


def test_sounds_between_words_of_scripts_without_spaces_are_the_same_in_texts_and_segments(nlp: Language) -> None:
    segments = [{"start": n, "end": n + 1, "text": text} for n, text in enumerate(["こんにちは", "[音楽]", "はい"])]
    transcript = read_transcript(
        json.dumps({"text": "こんにちは[音楽]はい", "segments": segments}), "whisper", "a.json"
    )
    assert len(transcript.texts()) == 1
    assert "音楽" not in "".join(word.text for word in transcript.texts()[0])
