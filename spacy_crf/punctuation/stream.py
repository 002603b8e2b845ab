"""Restores an endless text piece by piece, looking a fixed number of words ahead.

A word goes out, with its mark, when so many words have come behind it. It is decoded in a block, together with the
words before it, which bear on it less the further away they are, and with those that have come behind it; a side where
the text goes on is open. The marks that have gone out are settled: what goes out later agrees with them, and a mark of
the text that comes too late is left out. With a lag as long as the text, the result is that of the whole text.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate, takewhile
from typing import NamedTuple, Protocol

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..core.errors import CRFError
from .block import NONE
from .docs import write_speech, write_truncated
from .errors import PunctuationErrors
from .restore import Restoration
from .subtitles import Heard, pause_between
from .words import BY_SIGN, TURN, UNSPACED, Edit, apply_edits, space_before

HISTORY = 40  # words before a block that are decoded with it once more
_CUT = re.compile(rf"[\s{UNSPACED}]")
_CHUNK = re.compile(rf"\s*(?:[{UNSPACED}][^\w\s]*|[^\s{UNSPACED}]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")  # bytes that are no UTF-8, as the handler "surrogateescape" decodes them


_LATE = frozenset({*BY_SIGN, "-"})  # marks whose word may have gone out with another one


class Restorer(Protocol):
    """What a stream asks of a component."""

    vocab: Vocab

    def restored(self, doc: Doc, settled: Mapping[int, str]) -> Restoration: ...


class StreamedWord(NamedTuple):
    """What stands between white space, as it has left a stream.

    text (str): as it came, with the white space before it. restored (str): the same with its marks and case.
    mark (str): behind it, "" for none. probability (float | None): of that mark or none, where components give it.
    """

    text: str
    restored: str
    mark: str
    probability: float | None


class _Marks(NamedTuple):
    """Marks of words of a chunk, by the characters at which these end, and whether the last one is written in it."""

    by_end: dict[int, str]
    is_written: bool


class RestorationStream:
    """A restorer at work on a text that comes in pieces.

    lag (int): words that must have come behind a word before it goes out.
    block (int): words that are decoded at a time; more are faster and wait longer.
    prepare (Callable | None): annotates Docs whose annotation the features read; the components before this one.
    """

    def __init__(self, restorer: Restorer, lag: int = 20, block: int = 1, prepare: Callable[[Doc], Doc] | None = None):
        for name, value, least in (("lag", lag, 0), ("block", block, 1)):
            if value < least:
                raise CRFError(PunctuationErrors.CRF985.format(name=name, value=value, least=least))
        self._restorer, self._lag, self._block, self._prepare = restorer, lag, block, prepare
        self._start_over()

    def _start_over(self) -> None:
        self._chunks: list[Heard] = []  # those that may still matter, with the white space before them
        self._done, self._has_begun = 0, False  # how many of them have gone out, and whether others came before
        self._settled: list[_Marks] = []  # the marks of these

    def push(self, chunks: Iterable[str | Heard]) -> Iterator[StreamedWord]:
        """Take words in, each with the white space before it, and yield those that can go out."""
        for chunk in chunks:
            self._chunks.append(Heard(chunk) if isinstance(chunk, str) else chunk)
            if len(self._chunks) - self._done >= self._block + self._lag:
                yield from self._emit(self._block, is_last=False)

    def close(self) -> Iterator[StreamedWord]:
        """End the text, and yield all that are left; another one may begin."""
        if len(self._chunks) > self._done:
            yield from self._emit(len(self._chunks) - self._done, is_last=True)
        self._start_over()

    def _emit(self, count: int, is_last: bool) -> list[StreamedWord]:
        words, marks = self._decode(is_last)
        out, settled = words[self._done :][:count], marks[self._done :][:count]
        self._settled += settled
        self._done += count
        surplus = self._done - HISTORY
        if surplus > 0:
            del self._chunks[:surplus], self._settled[:surplus]
            self._done, self._has_begun = HISTORY, True
        return out

    def _restore(self, shown: Sequence[str], at: int, is_last: bool) -> Restoration:
        """Restore all chunks at hand as one text. at (int): where the first chunk begins, below 0 with white space."""
        doc = _make_doc([shown[0][-at:], *shown[1:]], self._restorer.vocab)
        _tell_speech(doc, self._chunks)
        if self._prepare is not None:
            doc = self._prepare(doc)
        write_truncated(doc, (self._has_begun, not is_last))
        begins = accumulate(map(len, shown), initial=at)
        settled = {begin + end: mark for begin, own in zip(begins, self._settled) for end, mark in own.by_end.items()}
        return self._restorer.restored(doc, settled)

    def _decode(self, is_last: bool) -> tuple[list[StreamedWord], list[_Marks]]:
        """Restore all chunks at hand, and tell the marks of each."""
        texts = [chunk.text for chunk in self._chunks]
        shown = [_SURROGATE.sub("\ufffd", text) for text in texts]
        at = -len(space_before(shown[0]))  # what is before the first word has gone out, or belongs to no word
        view, labels, edits, probabilities = self._restore(shown, at, is_last)
        waiting, words, out = deque(edits), deque(zip(view.words, labels, probabilities)), []
        marks: list[_Marks] = []
        is_marked = False  # whether the word before has gone out with its mark
        for number, (raw, chunk) in enumerate(zip(texts, shown)):
            end, own = at + len(chunk), []
            while waiting and waiting[0].end <= end:
                edit = waiting.popleft()
                own.append(Edit(edit.start - at, edit.end - at, edit.replacement))
            mark, chance, told, is_written = NONE, None, dict[int, str](), False
            while words and words[0][0].end <= end:
                word, label, chance = words.popleft()
                mark = told[word.end - at] = label.mark
                is_written = mark != NONE and not word.mark
            marks.append(_Marks(told, is_written))
            is_out = number < self._done
            has_marks = not told and not _LATE.isdisjoint(chunk) and TURN.search(chunk) is None
            is_late = is_marked and has_marks and not is_out
            if told:
                is_marked = is_out and self._settled[number].is_written
            spelt = [edit for edit in own if not _SURROGATE.search(raw[edit.start : edit.end])]  # such bytes stay
            restored = _without_marks(raw) if is_late else apply_edits(raw, spelt)
            out.append(StreamedWord(raw, restored, "" if mark == NONE else mark, chance))
            at = end
        return out, marks


def _without_marks(raw: str) -> str:
    """Return a chunk of signs without its marks; of marks alone, the white space but for the last space."""
    rest = "".join(sign for sign in raw if sign not in _LATE)
    return rest if rest.strip() else rest.removesuffix(" ")


def _make_doc(chunks: Sequence[str], vocab: Vocab) -> Doc:
    """A Doc with the text of chunks: a token for each, and for white space that is not a single space."""
    words: list[str] = []
    spaces: list[bool] = []
    for chunk in chunks:
        space = space_before(chunk)
        word = chunk[len(space) :]
        if space == " " and words and not spaces[-1]:
            spaces[-1], space = True, ""
        tokens = [token for token in (space, word) if token]
        words += tokens
        spaces += [False] * len(tokens)
    return Doc(vocab, words=words, spaces=spaces)


def _tell_speech(doc: Doc, chunks: Sequence[Heard]) -> None:
    """Give the tokens of chunks, which end where these do, their pauses and confidences, as far as these are known."""
    if all(chunk.times is None and chunk.confidence is None for chunk in chunks):
        return
    pauses = list(map(pause_between, chunks, [*chunks[1:], Heard("")]))
    write_speech([token for token in doc if not token.is_space], pauses, [chunk.confidence for chunk in chunks])


def components_before(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """What the components before one of them do to a Doc; its features may read their annotation."""
    earlier = [pipe for _, pipe in takewhile(lambda named: named[0] != name, nlp.pipeline)]
    return lambda doc: reduce(lambda annotated, pipe: pipe(annotated), earlier, doc)


def stream_words(
    restorer: Restorer,
    words: Iterable[str | Heard],
    lag: int = 20,
    block: int = 1,
    prepare: Callable[[Doc], Doc] | None = None,
) -> Iterator[StreamedWord]:
    """Words of one text as they come; see `RestorationStream`."""
    stream = RestorationStream(restorer, lag, block, prepare)
    yield from stream.push(_spaced(words))
    yield from stream.close()


def _spaced(words: Iterable[str | Heard]) -> Iterator[Heard]:
    """Yield words with a space before each but the first."""
    for number, word in enumerate(words):
        heard = Heard(word) if isinstance(word, str) else word
        yield heard._replace(text=f" {heard.text}") if number else heard


def chunks_of(pieces: Iterable[str]) -> Iterator[str]:
    """Words of a text in pieces of any length, each with the white space before it; that at the end comes alone.

    A character of Chinese or Japanese is one.
    """
    held: list[str] = []
    for piece in pieces:
        if not _CUT.search(piece):  # a long word is joined once, not with each piece
            held.append(piece)
            continue
        text, at = "".join([*held, piece]), 0
        for found in _CHUNK.finditer(text):
            if found.end() < len(text):
                yield found[0]
                at = found.end()
        held = [text[at:]]
    if rest := "".join(held):
        yield rest
