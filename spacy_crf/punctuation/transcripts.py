"""Transcripts of speech recognition, as Whisper's JSON and NIST's CTM: their texts are restored, all else stays.

JSON may have the same words several times: in its segments, word by word, and as one text. They are restored once, with
the times of the words, and each other way to write them takes the marks and the case; a text with other words is
restored by itself.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain, islice
from statistics import median
from typing import Any, Literal, NamedTuple, get_args

from ..core.errors import CRFError, excerpt
from ..reading.records import as_number, parse_json, string_paths
from .errors import PunctuationErrors
from .subtitles import OPENING_LINES, Heard, behind_sound, is_subtitles, parted_by_sounds
from .words import OPENERS, Edit, apply_edits, is_sign_around, is_unspaced, space_before

Item = tuple[tuple[Any, ...], Mapping[str, Any]]  # an object of JSON with its path
TranscriptFormat = Literal["text", "subtitles", "whisper", "ctm"]
FORMATS: tuple[TranscriptFormat, ...] = get_args(TranscriptFormat)
# How JSON calls its segments, the words of these or of all, and the texts and the confidence of either. Whisper and
# WhisperX have segments (and word_segments), whisper.cpp has a transcription, pipelines of transformers have chunks,
# AssemblyAI has utterances of speakers, Vosk the words of a text, or of each of many, as its result
SEGMENTS = ("segments", "transcription", "chunks", "utterances")
WORDS, TEXTS = ("words", "word_segments", "result"), ("word", "text")
CONFIDENCES = ("probability", "score", "confidence", "conf")
LONGEST_WORD = 20  # seconds
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*(?:\{|\[\s*[-\d"\[{]|"(?:[^"\\\n]|\\.)*+"\s*[],]))')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
_NUMBER = r"\d{1,15}(?:\.\d{0,15})?|\.\d{1,15}"
_CTM = re.compile(
    rf"(\S+\s+\w{{1,8}})\s+({_NUMBER})\s+({_NUMBER})\s+(\S+)(?:\s+({_NUMBER}|NA|na|-))?(?:\s+\S+){{0,3}}\s*$"
)
_CTM_CHOICE = re.compile(r"\S+\s+\w{1,8}\s+\*\s+\*\s+<\S+>")
_NO_WORD = re.compile(r"<.*>|\[.*\]|\(.*\)|\{.*\}|[%@].*")  # in CTM, such as <eps>, [noise] and %hesitation
_LAST_RUN = re.compile(r"\S*$")
_WORD = re.compile(r"\S+(?:[\u00a0\u202f]+\S+)*+")  # with what no break parts from it, such as a French mark
# Files that are not read, by how they open: cues, transcripts, documents. Bytes that are no UTF-8 are surrogates
OTHERS = {
    "Advanced SubStation Alpha": re.compile(r"\[Script Info\]|\[V4\+? Styles\]|Dialogue:\s*\d"),
    "TTML": re.compile(r"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:\w+:)?tt[\s>]", re.DOTALL),
    "LRC": re.compile(r"(?:\[[a-z]+:[^\]\n]*\]\s*)*\[\d{1,3}:\d\d[.:]\d+\]"),
    "MicroDVD": re.compile(r"\{\d+\}\{\d*\}"),
    "XML": re.compile(r"<\?xml\s"),  # ELAN, EXMARaLDA, YouTube
    "TextGrid (Praat)": re.compile(r'File type = "ooTextFile|"ooTextFile"'),
    "CHAT": re.compile(r"@(?:UTF8|Begin)\s"),
    "STM": re.compile(rf"(?:;;.*\n)*\S+[ \t]+\w{{1,8}}[ \t]+\S+[ \t]+(?:{_NUMBER})[ \t]+(?:{_NUMBER})[ \t]+<[^\s>]+>"),
    # Whisper and Audacity write such tables
    "TSV": re.compile(rf"(?:start\tend\ttext\r?\n)?(?:{_NUMBER})\t(?:{_NUMBER})\t"),
    "Word, OpenDocument or ZIP": re.compile("PK\\x03\\x04|\\udcd0\\udccf\\x11\\u0871"),
    "PDF": re.compile("%PDF-"),
    "RTF": re.compile(r"\{\\rtf"),
    "HTML": re.compile(r"(?:<!--.*?-->\s*)*+<(?:!doctype\s+)?html[\s>]", re.DOTALL | re.IGNORECASE),
    "binary": re.compile(r"[^\0]*+\0"),
}


class TimedText(NamedTuple):
    """A text in a file.

    start (int), end (int): its characters there. heard (Heard): the text, when it was spoken, and the confidence.
    pieces (tuple): what it is written as, of which each second one is a sound, which stays.
    """

    start: int
    end: int
    heard: Heard
    pieces: tuple[str, ...] = ()


class Transcript(NamedTuple):
    """A file with texts.

    source (str): all of it.
    ways (list[list[list[TimedText]]]): of each text the ways in which it is written, in their order, the first of
        which has its marks.
    spell (Callable[[str, str], str]): writes a new text as the source does.
    """

    source: str
    ways: list[list[list[TimedText]]]
    spell: Callable[[str, str], str]

    def texts(self) -> list[list[Heard]]:
        """Return the words of each text once, with the finest times that are told of them."""
        return [_heard_words(ways) for ways in self.ways]

    def restored(self, restore: Callable[[Iterable[Heard]], str]) -> str:
        """Return the file with restored texts. restore (Callable): restores the words of one text."""
        edits: list[tuple[TimedText, str]] = []
        for ways in self.ways:
            text = restore(_heard_words(ways))
            for way in ways:
                edits += zip(way, _spread_beside_sounds(text, way))
        new = {  # a segment without words is in two ways
            one.start: Edit(one.start, one.end, self.spell(self.source, text))
            for one, text in reversed(edits)
            if text != ("".join(one.pieces) or one.heard.text)
        }
        return apply_edits(self.source, sorted(new.values()))


def looks_like(opening: str, where: str) -> TranscriptFormat:
    """Tell the format of a file by its first lines.

    RAISES (ValueError): for a format that is not read, which would be taken for running text.
    """
    text = opening.removeprefix("\ufeff").lstrip()
    for name, pattern in OTHERS.items():
        if pattern.match(text):
            raise CRFError(PunctuationErrors.CRF994.format(where=where, format=name))
    if is_subtitles(opening):
        return "subtitles"
    if _JSON.match(text):
        return "whisper"
    lines = [line for line in text.split("\n")[:OPENING_LINES] if line.strip() and not line.startswith(";;")]
    is_ctm = any(map(_CTM.match, lines)) and all(_CTM.match(line) or _CTM_CHOICE.match(line) for line in lines)
    return "ctm" if is_ctm else "text"


def read_transcript(source: str, format: TranscriptFormat, where: str) -> Transcript:
    """Read a file. format (str): "whisper" or "ctm". where (str): its name in messages."""
    return _read_ctm(source, where) if format == "ctm" else _read_json(source, where)


def _by_words(ways: Iterable[list[TimedText]]) -> list[list[list[TimedText]]]:
    """Return those that have the same words together."""
    found: dict[str, list[list[TimedText]]] = {}
    for way in ways:
        letters, _ = _take_apart("".join(one.heard.text for one in way))
        found.setdefault("".join(letters).lower(), []).append(way)
    return list(found.values())


def _heard_words(ways: Sequence[Sequence[TimedText]]) -> list[Heard]:
    """Return what stands between white space in the first way to write words, with the times of the finest way."""
    timed = max(ways, key=lambda way: sum(one.heard.times is not None for one in way))
    bounds = list(accumulate((len(_take_apart(one.heard.text)[0]) for one in timed), initial=0))
    words, at = [], 0
    for found in _WORD.finditer("".join(_spaced(ways[0]))):
        end = at + len(_take_apart(found[0])[0])
        owners = timed[bisect_right(bounds, at) - 1 : bisect_right(bounds, end - 1)] if end > at else ()
        times = [own.heard.times for own in owners if own.heard.times]
        known = [own.heard.confidence for own in owners if own.heard.confidence is not None]
        words.append(Heard(found[0], (times[0][0], times[-1][1]) if times else None, min(known, default=None)))
        at = end
    return words


def _spaced(way: Sequence[TimedText]) -> list[str]:
    """Return texts with white space between them, unless they have their own or need none."""
    texts = [one.heard.text for one in way]
    if any(text[:1].isspace() or text[-1:].isspace() for text in texts):
        return texts
    parted = [bool(before and after) and not is_unspaced(before[-1]) for before, after in zip(["", *texts], texts)]
    return [f" {text}" if is_parted else text for is_parted, text in zip(parted, texts)]


def spread(restored: str, texts: Sequence[str]) -> list[str]:
    """Return texts with the marks and the case of a restored text, which has their words.

    Marks that close stay with the word before them, those that open with the word behind. A text of marks alone, such
    as whisper.cpp writes word by word, has those that close in its place.

    >>> spread("So, it is. Well", [" so", " it is", " well"])
    [' So,', ' it is.', ' Well']
    >>> spread("So it is. Well", [" so", ",", " it is", ";", " well"])
    [' So', '', ' it is', '.', ' Well']
    """
    letters, gaps = _take_apart(restored)
    own = [_take_apart(text) for text in texts]
    found, at, before = list(texts), 0, gaps[0].lstrip()
    filled = [number for number, (signs, _) in enumerate(own) if signs]
    found[: min(filled, default=0)] = map(space_before, texts[: min(filled, default=0)])
    for number, following in zip(filled, [*filled[1:], len(own)]):
        signs, spaces = own[number]
        end = at + len(signs)
        inner = [_inner(gap, space) for gap, space in zip(gaps[at + 1 : end], spaces[1:-1])]
        body = "".join(letter + gap for letter, gap in zip(letters[at:end], [*inner, ""]))
        after = own[following][1][0] if following < len(own) else " "  # the end needs nothing to part it
        behind, opening = _sides(gaps[end], after.lstrip()) if following < len(own) else (gaps[end].rstrip(), "")
        space, between = _trailing(spaces[-1]), texts[number + 1 : following]
        if any(map(str.strip, between)):
            found[number + 1 : following] = _marks_alone(between, behind, bool(space), after[:1].isspace())
            behind = ""
        found[number] = space_before(spaces[0]) + before + body + behind + space
        at, before = end, opening
    return found


def _spread_beside_sounds(restored: str, way: Sequence[TimedText]) -> list[str]:
    """Return texts with the marks and the case of a restored text, and with the sounds that they have."""
    pieces = [one.pieces or (one.heard.text,) for one in way]
    spoken = iter(spread(restored, [piece for parts in pieces for piece in parts[::2]]))
    return ["".join(one if n % 2 else behind_sound(one, next(spoken)) for n, one in enumerate(own)) for own in pieces]


def _without_sounds(way: Sequence[TimedText]) -> list[TimedText]:
    """Return texts without the sounds in them, and without those that are nothing else."""
    found = zip(way, parted_by_sounds([one.heard.text for one in way]))
    kept = [
        (one, parts, " ".join(parts[::2])) for one, parts in found if len(parts) == 1 or "".join(parts[::2]).strip()
    ]
    return [one._replace(heard=one.heard._replace(text=text), pieces=parts) for one, parts, text in kept]


def _marks_alone(texts: Sequence[str], marks: str, is_parted: bool, parts: bool) -> list[str]:
    """Return texts of marks alone between two words with the marks that are there now, in the first of them.

    is_parted (bool), parts (bool): whether the word before ends, and the word behind begins, with white space.
    """
    first = next(number for number, text in enumerate(texts) if text.strip())
    space = next(filter(str.isspace, "".join(texts)), "")
    found = ["" if text.strip() else text for text in texts]
    found[first] = (marks.lstrip() if is_parted else marks) + ("" if parts or (is_parted and not marks) else space)
    return found


def _take_apart(text: str) -> tuple[list[str], list[str]]:
    """Return the letters of a text, that is all that is no mark, and what stands before each and behind the last."""
    letters, gaps = list[str](), [""]
    for sign in text:
        if sign.isspace() or sign == "-" or is_sign_around(sign):
            gaps[-1] += sign
        else:
            letters.append(sign)
            gaps.append("")
    return letters, gaps


def _sides(gap: str, opening: str = "") -> tuple[str, str]:
    """Split the signs between two words: those with the word before, and those with the word behind.

    opening (str): signs before the word behind as they were, such as the dash of a new speaker.
    """
    if opening and gap.endswith(opening):
        return gap.removesuffix(opening).rstrip(), opening
    if not any(map(str.isspace, gap)):
        behind = gap.rstrip(OPENERS)
        return behind, gap[len(behind) :]
    behind = re.split(r"\s", gap)[-1]
    return gap.removesuffix(behind).rstrip(), behind


def _inner(gap: str, own: str) -> str:
    """Return the signs between two words with the white space that a text has there itself."""
    if any(map(str.isspace, gap)) != any(map(str.isspace, own)):
        return own
    if gap == own or not any(map(str.isspace, gap)):
        return gap
    before, behind = _sides(gap)
    return before + _trailing(_LAST_RUN.sub("", own, count=1)) + behind


def _trailing(space: str) -> str:
    return space[len(space.rstrip()) :]


def _read_json(source: str, where: str) -> Transcript:
    text = source.removeprefix("\ufeff")
    first = len(source) - len(text)
    value = parse_json(text, where)
    spans = {path: found.span() for path, found in zip(string_paths(value), _STRING.finditer(text), strict=True)}

    def timed(items: Iterable[Item]) -> list[TimedText]:
        found = []
        for path, item in items:
            key = next((key for key in TEXTS if isinstance(item.get(key), str)), None)
            if key is not None:
                start, end = spans[(*path, key)]
                found.append(TimedText(first + start, first + end, _heard(item, item[key])))
        return found

    whole = [((), value)] if isinstance(value, dict) else []
    segments = _items((), value) if isinstance(value, list) else _lists(whole, SEGMENTS)
    parts = [(timed(_lists([one], WORDS)), timed([one])) for one in segments]
    by_word = [[word for words, _ in parts for word in words], *(timed(_lists(whole, [name])) for name in WORDS)]
    by_word = [_with_wordless(_in_seconds(way), parts) for way in by_word]
    written = [way for way in (timed(segments), timed(whole), *by_word) if way]
    ways = [way for way in map(_without_sounds, written) if way]
    if not written and (segments or not any(name in value for name in SEGMENTS)):  # silence has an empty list
        raise CRFError(PunctuationErrors.CRF995.format(where=where, names=", ".join(SEGMENTS)))
    return Transcript(source, _by_words(ways), lambda source, text: json.dumps(text, ensure_ascii=source.isascii()))


def _with_wordless(way: list[TimedText], parts: Sequence[tuple[list[TimedText], list[TimedText]]]) -> list[TimedText]:
    """Return words with the texts of segments that have none, as in WhisperX. parts: words and text of each segment."""
    own = iter(way)
    if not way or [one.heard.text for one in way] != [word.heard.text for words, _ in parts for word in words]:
        return way
    return [one for words, whole in parts for one in (islice(own, len(words)) if words else whole)]


def _items(path: tuple[Any, ...], value: Any) -> list[Item]:
    """Return the objects of a list with their paths."""
    parts = enumerate(value) if isinstance(value, list) else ()
    return [((*path, number), part) for number, part in parts if isinstance(part, dict)]


def _lists(owners: Iterable[Item], names: Iterable[str]) -> list[Item]:
    """Return the objects of the lists with some names that objects have."""
    return [item for path, owner in owners for name in names for item in _items((*path, name), owner.get(name))]


def _heard(item: Mapping[str, Any], text: str) -> Heard:
    """Return a text of JSON with its times, in seconds or, as offsets, in milliseconds, and its confidence."""
    pair, unit = [item.get("start"), item.get("end")], 1.0
    if isinstance(item.get("timestamp"), list):
        pair = item["timestamp"]
    elif isinstance(item.get("offsets"), dict):
        pair, unit = [item["offsets"].get("from"), item["offsets"].get("to")], 0.001
    times = [unit * number for number in map(as_number, pair) if number is not None]
    confidences = (as_number(item.get(name)) for name in CONFIDENCES)
    sure = next((number for number in confidences if number is not None), None)
    return Heard(text, (times[0], times[1]) if len(times) == 2 else None, sure)


def _in_seconds(words: list[TimedText]) -> list[TimedText]:
    """Return words with times in seconds. AssemblyAI's are whole milliseconds: read as seconds, words last minutes."""
    times = [word.heard.times for word in words if word.heard.times]
    if not all(time.is_integer() for time in chain(*times)):
        return words
    if not times or median(end - start for start, end in times) < LONGEST_WORD:
        return words
    seconds = (word.heard.times and (word.heard.times[0] / 1000, word.heard.times[1] / 1000) for word in words)
    return [word._replace(heard=word.heard._replace(times=own)) for word, own in zip(words, seconds)]


def _read_ctm(source: str, where: str) -> Transcript:
    """The words of each channel of a file are a text; noises and comments are none."""
    texts: dict[str, list[TimedText]] = {}
    at = 0
    for number, line in enumerate(source.split("\n"), 1):
        found = _CTM.match(line)
        if found and not _NO_WORD.fullmatch(found[4]):
            begin, sure = float(found[2]), found[5]
            confidence = float(sure) if sure and sure[-1].isdigit() else None
            heard = Heard(found[4], (begin, begin + float(found[3])), confidence)
            words = texts.setdefault(" ".join(found[1].split()), [])
            words.append(TimedText(at + found.start(4), at + found.end(4), heard))
        elif not (found or not line.strip() or line.startswith(";;") or _CTM_CHOICE.match(line)):
            raise CRFError(PunctuationErrors.CRF996.format(where=where, line=number, text=excerpt(line)))
        at += len(line) + 1
    # a field has no white space, and is not empty
    ways = [[words] for words in texts.values()]
    return Transcript(source, ways, lambda source, text: "".join(text.split()) or "<eps>")
