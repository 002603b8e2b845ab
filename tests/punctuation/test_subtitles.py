"""Subtitles come back with each byte that is not spoken; marks and case go over the borders of cues."""

import re
from pathlib import Path

import pytest
from helpers.punctuated import trained
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language

from spacy_crf import CRFError, PunctuationCorpus
from spacy_crf.punctuation.cli import restore_subtitles
from spacy_crf.punctuation.stream import RestorationStream
from spacy_crf.punctuation.subtitles import Heard, blank_unspoken, is_subtitles, lines_of, pause_between, spoken_words
from spacy_crf.punctuation.words import is_sign_around

WORDS = ["well", "what", "did", "she", "say", "that", "the", "mill", "iboat", "10", "d&eacute;j&agrave;", "don&#39;t"]
TAGS = ["<i>", "</i>", "<c.yellow>", "</c>", "<v Ann>", "<00:00:01.500>", "{\\an8}", "<ruby>", '<font color="#fff">']
SOUNDS = ["[door]", "(sighs)", "♪ la la ♪", "&nbsp;", "- ", ">> ", "ANN: "]
SETTINGS = ["", " align:start position:0%", " line:0", " region:fred"]
FRAMES = {
    "vtt": ("WEBVTT - the mill\nKind: captions\n\n", "NOTE well what did she say\nthat the mill\n\n", "{}.{}"),
    "srt": ("", "", "{},{}"),
}
BLOCKS = ["STYLE\n::cue(b) { color: red }\n\n", "REGION\nid:fred\nwidth:40%\n\n"]


@pytest.fixture(scope="module")
def nlp(folder: Path) -> Language:
    return trained(folder, has_case=True)


def restored(nlp: Language, *pieces: str) -> str:
    stream = RestorationStream(nlp.get_pipe("punctuation_restorer"), lag=5, block=7)
    return "".join(restore_subtitles(nlp, stream, pieces))


@st.composite
def spoken_lines(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.sampled_from([*WORDS, *WORDS, *TAGS, *SOUNDS]), min_size=1, max_size=7))
    between = draw(st.sampled_from([" ", " ", "  ", ""]))
    return between.join(parts) if between else " ".join(parts).replace("> ", ">").replace(" <", "<")


@st.composite
def cue_files(draw: st.DrawFn) -> str:
    """A file of cues, some of them without a blank line behind."""
    kind = draw(st.sampled_from(sorted(FRAMES)))
    header, note, form = FRAMES[kind]
    parts = [header]
    for number in range(draw(st.integers(1, 6))):
        if kind == "vtt" and parts[-1].endswith("\n\n"):
            parts += draw(st.lists(st.sampled_from([note, *BLOCKS]), max_size=1))
        seconds = draw(st.integers(0, 59))
        times = [f"00:{seconds:02}:{second:02}" for second in (number, number + 1)]
        start, end = (form.format(time, draw(st.sampled_from(["000", "040", "999"]))) for time in times)
        name = draw(st.sampled_from([f"{number}\n", "" if kind == "vtt" else f"{number}\n"]))
        setting = draw(st.sampled_from(SETTINGS)) if kind == "vtt" else ""
        lines = draw(st.lists(spoken_lines(), max_size=3))
        parts += [
            f"{name}{start} --> {end}{setting}\n",
            *(f"{line}\n" for line in lines),
            draw(st.sampled_from(["\n"] * 3 + [""])),
        ]
    return "".join(parts).replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))


def bare(text: str) -> str:
    """A text without the signs that may stand around words, in lower case."""
    return "".join(sign for sign in text.lower() if not is_sign_around(sign))


@given(cue_files(), st.integers(1, 300))
def test_files_come_back_with_all_that_is_not_spoken(nlp: Language, text: str, size: int) -> None:
    found = restored(nlp, *(text[at : at + size] for at in range(0, len(text), size)))
    assert is_subtitles(text)
    for line, was in zip(lines_of([found]), lines_of([text]), strict=True):
        assert re.findall(r"<[^>]*>|\{[^}]*\}|&[^;]*;|\[.*?\]|\(.*?\)|♪.*?♪", line) == re.findall(
            r"<[^>]*>|\{[^}]*\}|&[^;]*;|\[.*?\]|\(.*?\)|♪.*?♪", was
        )
        assert bare(line) == bare(was) and len(line) - len(line.lstrip()) == len(was) - len(was.lstrip())
    unspoken = [[word.before for word in spoken_words(lines_of([one]))] for one in (found, text)]
    assert unspoken[0] == unspoken[1]


@given(cue_files())
def test_subtitles_as_a_doc_come_back_too(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text and len(blank_unspoken(text)) == len(text)
    changed = {at for start, end, _ in doc._.restoration for at in range(start, max(end, start + 1))}
    assert bare(doc._.restored) == bare(text)
    assert all(blank_unspoken(text)[at - 1 : at + 1].strip() for at in changed)


def test_a_sentence_over_three_cues(nlp: Language) -> None:
    cues = ["well what", "did", "she say she", "said that the mill was sold"]
    text = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{line}\n\n" for n, line in enumerate(cues, 1))
    lines = [line for line in restored(nlp, text).split("\n") if line[:1].isalpha()]
    assert lines[:3] == ["Well, what", "did", "she say? She"]
    assert restored(nlp, text) == nlp(text)._.restored


@pytest.mark.parametrize("second", ["…well the mill", "...well the mill", "... well the mill"])
def test_a_mark_stands_behind_its_word_where_the_next_cue_begins_with_dots(nlp: Language, second: str) -> None:
    text = f"1\n00:00:01,000 --> 00:00:02,000\nwhat did she say\n\n2\n00:00:02,000 --> 00:00:03,000\n{second}\n"
    lines = restored(nlp, text).split("\n")
    assert (lines[2], lines[6].lstrip()) == ("What did she say?", "Well, the mill.")
    assert restored(nlp, text) == nlp(text)._.restored
    assert nlp(f"what did she say\n{second}")._.restored == f"{lines[2]}\n{lines[6]}"


def test_the_number_of_a_cue_is_no_word_without_a_blank_line_before_it() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nthere are\n10\n2\n00:00:03,000 --> 00:00:04,000\nof them\n"
    assert [word.raw for word in spoken_words(lines_of([text])) if word.raw] == ["there", "are", "10", "of", "them"]


def test_words_are_read_through_mark_up_and_entities(nlp: Language) -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nw<b>el</b>l&#44; what d&#105;d <i>she</i> say she said\n"
    assert restored(nlp, text).endswith("\nW<b>el</b>l&#44; what d&#105;d <i>she</i> say? she said.\n")


def test_files_of_youtube(nlp: Language) -> None:
    text = "0:00:01.000,0:00:02.000\nwell what did she\nsay\n\n0:00:02.000,0:00:03.000\nyes she did\n"
    assert is_subtitles(text) and restored(nlp, text).startswith("0:00:01.000,0:00:02.000\nWell, what did she\nsay?\n")
    assert nlp(text)._.restored == restored(nlp, text)


def test_a_line_of_a_space_is_a_part_of_its_cue(nlp: Language) -> None:
    """What YouTube hears has one where nothing stands in the upper line."""
    first = "WEBVTT\n\n00:01.000 --> 00:02.000\n \nwell<00:01.500><c> what</c>\n \n\n"
    text = f"{first}00:02.000 --> 00:03.000\ndid\n"
    assert [word.raw for word in spoken_words(lines_of([text])) if word.raw] == ["well", "what", "did"]
    assert restored(nlp, text).startswith(first.replace("well", "Well,"))


ROLLING = """WEBVTT
Kind: captions

00:00:00.160 --> 00:00:01.990 align:start position:0%
\x20
{0}<00:00:00.400><c> {1}</c><00:00:00.640><c> did</c>

00:00:01.990 --> 00:00:02.000 align:start position:0%
{0} {1} did
\x20

00:00:02.000 --> 00:00:03.990 align:start position:0%
{0} {1} did
she<00:00:02.400><c> {2}</c><00:00:02.800><c> {3}</c>

00:00:03.990 --> 00:00:04.000 align:start position:0%
she {2} {3}
\x20

00:00:04.000 --> 00:00:06.000 align:start position:0%
she {2} {3}
said<00:00:04.400><c> {4}</c>
"""


def test_captions_that_roll_are_read_once_and_written_the_same_each_time(nlp: Language, tmp_path: Path) -> None:
    """Each cue shows the last line of the one before once more, as in what YouTube hears."""
    bare = ROLLING.format("well", "what", "say", "she", "no")
    words = ["well", "what", "did", "she", "say", "she", "said", "no"]
    assert [word.raw for word in spoken_words(lines_of([bare])) if word.is_spoken] == words
    assert restored(nlp, bare) == ROLLING.format("Well,", "what", "say?", "She", "no.")
    path = tmp_path / "talk.vtt"
    path.write_text(ROLLING.format("Well,", "what", "say?", "She", "no."), encoding="utf8")
    (passage,) = PunctuationCorpus(path).passages(nlp.vocab)
    assert [word.lower() for word in passage.words] == words


@pytest.mark.parametrize(
    "cues",
    [
        ["no", "no", "no", "no", "no"],  # of a recogniser that heard nothing
        ["no no", "no no yes", "but then", "we went", "home", "we went home again"],
        ["well\nno", "no", "what", "what did", "she\nsay", "so"],
    ],
)
def test_what_is_said_twice_is_read_twice(cues: list[str]) -> None:
    text = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n + 1},000\n{cue}\n\n" for n, cue in enumerate(cues))
    assert [word.raw for word in spoken_words(lines_of([text])) if word.is_spoken] == " ".join(cues).split()


ZOOM = """WEBVTT

1
00:00:01.000 --> 00:00:02.000
Ann Lee: {0} what did

2
00:00:02.000 --> 00:00:03.000
Bob (Host): she {1}

3
00:00:03.000 --> 00:00:04.000
anna: {2} said no

4
00:00:04.000 --> 00:00:05.000
Ann Lee: so
"""


def test_names_of_speakers_are_no_words_where_most_cues_have_one(nlp: Language) -> None:
    bare = ZOOM.format("well", "say", "she")
    words = ["well", "what", "did", "she", "say", "she", "said", "no", "so"]
    assert [word.raw for word in spoken_words(lines_of([bare])) if word.raw] == words
    assert restored(nlp, bare).startswith(ZOOM[: ZOOM.index("said no")].format("Well,", "say?", "She"))
    assert nlp(bare)._.restored == restored(nlp, bare)
    few = bare.replace("Bob (Host): ", "").replace("anna: ", "").replace("Ann Lee: so", "yes: so")
    assert [word.raw for word in spoken_words(lines_of([few])) if word.raw] == [
        "Ann",
        "Lee:",
        *words[:-1],
        "yes:",
        "so",
    ]


@pytest.mark.parametrize("first", ["ANNA", "Anna"])
def test_lines_within_cues_begin_with_what_is_spoken(first: str) -> None:
    """Of cues that begin with names, in capitals or not."""
    cues = [f"{first}: well\nhe said: no", f"{first}: yes", "BOB: so\nhe said: never", f"{first}: oh"]
    srt = "\n".join(f"{k}\n00:00:0{k},000 --> 00:00:0{k},900\n{cue}\n" for k, cue in enumerate(cues, 1))
    words = ["well", "he", "said:", "no", "yes", "so", "he", "said:", "never", "oh"]
    assert [word.raw for word in spoken_words(lines_of([srt])) if word.raw] == words


def test_two_speakers_of_a_cue() -> None:
    cues = ["Anna Lee: well\nBob: yes", "Bob: so\nHe said: never", "Anna Lee: oh\n- Cleo: no", "Cleo: he"]
    srt = "\n".join(f"{k}\n00:00:0{k},000 --> 00:00:0{k},900\n{cue}\n" for k, cue in enumerate(cues, 1))
    words = ["well", "yes", "so", "He", "said:", "never", "oh", "no", "he"]
    assert [word.raw for word in spoken_words(lines_of([srt])) if word.raw] == words


def test_names_in_capitals_do_not_tell_that_others_begin_cues() -> None:
    cues = ["ANNA: well", "BOB: yes", "he said: no", "ANNA: so", "he said: never", "and left", "for", "good"]
    srt = "\n".join(f"{k}\n00:00:0{k},000 --> 00:00:0{k},900\n{cue}\n" for k, cue in enumerate(cues, 1))
    words = ["well", "yes", "he", "said:", "no", "so", "he", "said:", "never", "and", "left", "for", "good"]
    assert [word.raw for word in spoken_words(lines_of([srt])) if word.raw] == words


def test_words_behind_an_empty_line_are_of_the_cue_but_not_in_webvtt(nlp: Language) -> None:
    cues = "1\n00:00:01,000 --> 00:00:02,000\n\nwell what\n\ndid she\n\n2\n00:00:03,000 --> 00:00:04,000\nsay\n"
    words = ["well", "what", "did", "she", "say"]
    assert [word.raw for word in spoken_words(lines_of([cues])) if word.raw] == words
    assert restored(nlp, cues) == nlp(cues)._.restored and "\nWell, what\n\ndid she\n" in restored(nlp, cues)
    web = "WEBVTT\n\n00:01.000 --> 00:02.000\nwell\n\nNOTE what\n\n00:03.000 --> 00:04.000\nsay\n"
    assert [word.raw for word in spoken_words(lines_of([web])) if word.raw] == ["well", "say"]


def test_sounds_and_songs_of_two_lines(nlp: Language) -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nwell [a door\nslams] what did\n♪ la la\nla ♪\nANN: she say\n"
    assert [word.raw for word in spoken_words(lines_of([text])) if word.raw] == ["well", "what", "did", "she", "say"]


SPEAKERS = [
    "[SPEAKER_00]: ",
    "SPEAKER_00: ",
    "SPEAKER 1: ",
    "(ANN): ",
    "ANN (laughs): ",
    "- JOSÉ: ",
    "МАША: ",
    "O’NEIL : ",
]


@pytest.mark.parametrize("speaker", [*SPEAKERS, "— ", "—", "―"])
def test_names_and_dashes_of_speakers_stay(nlp: Language, speaker: str) -> None:
    cue = "00:0{0}:01,000 --> 00:0{0}:02,000\n{1}{2}\n\n"
    marked, plain = (
        restored(nlp, cue.format(1, name, "well what did she say") + cue.format(2, name, "she said"))
        for name in (speaker, "")
    )
    assert marked.count(f"\n{speaker}") == 2 and marked.replace(speaker, "") == plain


def test_what_whisper_shows(nlp: Language) -> None:
    text = "[00:00.000 --> 00:02.000]  well what did she\n[00:02.000 --> 00:03.000]  say she said\n"
    expected = text.replace("well what", "Well, what").replace("say", "say?").replace("said", "said.")
    assert restored(nlp, text) == expected


@pytest.mark.parametrize(
    ("line", "times"),
    [
        ("[0.00s -> 2.50s] {}", (0.0, 2.5)),  # as users of faster-whisper print them
        ("[0.0 --> 2.5]  {}", (0.0, 2.5)),
        ("00:00:01 --> 00:00:02\n{}", (1.0, 2.0)),
        ("1:01 --> 1:02\r\n{}", (61.0, 62.0)),
        ("00:00:1,5 --> 00:00:3\n{}", (1.5, 3.0)),
        ("1:00:01,250 -> 1:00:02,000\n{}", (3601.25, 3602.0)),
    ],
)
def test_times_in_other_ways_stay(nlp: Language, line: str, times: tuple[float, float]) -> None:
    text = f"{line.format('well what did she say')}\n"
    expected = text.replace("well what", "Well, what").replace("say", "say.")
    assert is_subtitles(text) and restored(nlp, text) == expected == nlp(text)._.restored
    assert [word.heard.times for word in spoken_words(lines_of([text])) if word.is_spoken] == [times] * 5


@pytest.mark.parametrize("text", ["9:00 --> 10:00 a\n", "1:00 -> 2:00\n", "1:00,2:00\n", "[1 -> 2] a\n", "[3 --> 4]\n"])
def test_arrows_and_figures_are_no_times(text: str) -> None:
    assert not is_subtitles(text)


@pytest.mark.parametrize("line", ["[0.25 -> 0.75] is it", "10:30 --> 11:00", "10:30:12.5 -> 11:00:10.3 is it"])
def test_one_line_with_such_times_makes_no_subtitles(nlp: Language, line: str) -> None:
    """Or all lines before it would stay without marks. They are those of cues near the beginning, or on several."""
    text = f"well what did she say\nshe said that the mill was sold\n{line}\n"
    assert not is_subtitles(text) and nlp(text)._.restored.startswith("Well, what did she say?")
    assert is_subtitles(f"Detected language 'en'\n{line}\n") and is_subtitles(f"{text}well\n{line}\n")


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.weird"])
def test_cues_are_told_whatever_the_suffix(nlp: Language, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\nWell, is it?\n", encoding="utf8")
    (example,) = PunctuationCorpus(path)(nlp)
    assert [token.text for token in example.reference] == ["Well", "is", "it"]
    path.write_text("[Script Info]\nTitle: x\n", encoding="utf8")
    with pytest.raises(CRFError, match=rf"CRF994.*{name}.*Advanced SubStation"):
        list(PunctuationCorpus(path)(nlp))


def test_pauses() -> None:
    first, second, same = Heard("a", (0.0, 1.0)), Heard("b", (1.5, 2.0)), Heard("c", (0.0, 1.0))
    assert pause_between(first, second) == 0.5 and pause_between(second, first) == 0.0
    assert pause_between(first, same) is None and pause_between(first, Heard("d")) is None


def test_a_mark_stands_before_an_entity_that_closes(nlp: Language) -> None:
    cue = "1\n00:00:01,000 --> 00:00:02,000\n"
    text = restored(nlp, f"{cue}well &quot;<i>what did she say&quot;</i> she said &quot;the mill,&quot; was sold\n")
    assert "&quot;<i>what did she say?&quot;</i> She said" in text and text.count("&quot;") == 4
