"""Documents on their way to people who check tags, and back: what is told of each token, and which ones were checked.

Each format of a tool writes `ExchangeDocument`s, and reads the same: the best tag, the set of tags with probabilities,
and whether a person has seen the token. Only checked tokens are gold; see the setting `unchecked` of the corpus.
"""

import math
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..annotation.documents import read_doc_name
from ..annotation.extensions import read_values, register_stored, stored_values, write_known
from ..annotation.gold import (
    GOLD_POS,
    GOLD_TAGS,
    TagWeights,
    best_tag,
    register_gold_tags,
    same_tokens,
    single_tokens,
)
from ..core.errors import CRFError, CRFWarning
from .errors import CorpusErrors, CorpusWarnings
from .sentence import Sentence
from .tagsets import CHECKED, CHECKED_COLUMN, GOLD_KINDS, YES, format_tags, make_sentence, read_cells

Unchecked = Literal["unknown", "soft"]
DECIMALS = 4  # of the weights of predicted tags
STEPS, ROUNDING = 10**DECIMALS, 1e-6
CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
SEEN, NOT_SEEN = (YES, "x", "y", "1", "true", "+", "✓", "✔"), ("", "_", "no", "n", "0", "false", "-")


@dataclass(frozen=True)
class Place:
    """Where a Doc is from: number of its "line" or "document", from 1.

    file (str): name of its file, as documents are named. path (Path | None): the file.
    reference (Doc | None): what the file says of it, with the gold that it has.
    """

    unit: str
    number: int
    file: str = ""
    path: Path | None = None
    reference: Doc | None = field(default=None, compare=False)


class PredictedTags(NamedTuple):
    """Where a tagger has written what it predicts: custom token attributes with the set, a list, and with
    probabilities, a dict that may hold all tags; and the best tag, "tag" or "pos"."""

    tag_set: str = "tag_set"
    tag_probs: str = "tag_probs"
    target: str = "tag"


@dataclass(frozen=True)
class ExchangeToken:
    """One token of a document; those of white space are left out.

    start, end (int): in the text of the document. tag (str): the best one, by a person or else by the tagger.
    predicted (dict[str, float]): the set of the tagger with its probabilities, 0 where they are not known.
    gold (TagWeights | None): what a person has left it with, empty for no tag; None if nobody has checked it.
    """

    word: str
    start: int
    end: int
    tag: str = ""
    predicted: Mapping[str, float] = field(default_factory=dict)
    gold: TagWeights | None = None

    @property
    def is_checked(self) -> bool:
        return self.gold is not None

    @property
    def weights(self) -> TagWeights:
        """The gold, or else what was predicted."""
        return as_weights(self.predicted) if self.gold is None else self.gold

    @property
    def cell(self) -> str:
        """The tags in the notation of `tagsets`, "_" for none; a set of one tag has no weight."""
        return format_tags(self.weights if len(self.weights) > 1 else dict.fromkeys(self.weights, 1.0))

    @property
    def doubt(self) -> float:
        """How probable it is that the most probable tag is wrong; 0 for a checked token."""
        return 0.0 if self.is_checked else 1 - max(self.predicted.values(), default=1.0)


def as_weights(probabilities: Mapping[str, float]) -> TagWeights:
    """Probabilities of tags as weights with few decimals that sum to 1 at most, as `parse_tags` asks."""
    weights = {tag: max(math.floor(STEPS * value + ROUNDING), 1) / STEPS for tag, value in probabilities.items()}
    if weights:
        first = max(weights, key=weights.__getitem__)
        weights[first] = round(weights[first] - max(0.0, sum(weights.values()) - 1), DECIMALS)
    return weights


@dataclass(frozen=True)
class ExchangeDocument:
    """A text, its sentences as lists of tokens, and the name of the document."""

    name: str
    text: str
    sentences: list[list[ExchangeToken]]

    @classmethod
    def of(cls, docs: Sequence[Doc], predictions: PredictedTags) -> "ExchangeDocument":
        """The document that Docs are in parts: what is checked is told as gold, all else as it is predicted."""
        text, sentences = "", []
        for doc in docs:
            if text and not text[-1].isspace():
                text += "\n"
            tokens = _read_tokens(doc, predictions, len(text))
            sentences += [[tokens[i] for i in words] for words in map(_words, find_segments(doc))]
            text += doc.text
        return cls(next(map(read_doc_name, docs), ""), text, sentences)

    def to_sentences(self) -> Iterator[Sentence]:
        """The same, as readers of a corpus give it."""
        sentences = [sentence for sentence in self.sentences if sentence]
        for number, (sentence, following) in enumerate(zip(sentences, [*sentences[1:], []])):
            spaces = spaces_behind(sentence, following)
            weights, checked = [token.weights for token in sentence], [token.is_checked for token in sentence]
            words = [token.word for token in sentence]
            yield make_sentence(words, weights, spaces, number == 0, checked, self.name)


def spaces_behind(sentence: Sequence[Any], following: Sequence[Any]) -> list[bool]:
    """Whether white space follows each word of a sentence, by where they start and end; it does behind the last one."""
    starts = [word.start for word in (*sentence[1:], *following[:1])]
    return [start > word.end for word, start in zip(sentence, starts)] + [True] * (len(sentence) - len(starts))


def _read_tokens(doc: Doc, predictions: PredictedTags, offset: int) -> list[ExchangeToken]:
    sets, probabilities = read_values(doc, predictions.tag_set), read_values(doc, predictions.tag_probs)
    gold = read_cells(doc) if any(checked := stored_values(doc, CHECKED)) else [{}] * len(doc)
    found = []
    for token, tags, own, weights, is_checked in zip(doc, sets, probabilities, gold, checked):
        best, start = token.tag_ if predictions.target == "tag" else token.pos_, offset + token.idx
        predicted = {tag: float((own or {}).get(tag, 0.0)) for tag in tags or ([best] if best else [])}
        shown = ExchangeToken(token.text, start, start + len(token), best, predicted)
        found.append(replace(shown, tag=best_tag(weights), gold=weights) if is_checked else shown)
    return found


def find_segments(doc: Doc) -> list[Span]:
    """The sentences of a Doc that have a word; the whole Doc if it has no sentence starts."""
    spans = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    return [span for span in spans if _words(span)]


def _words(span: Span) -> list[int]:
    return [token.i for token in span if not token.is_space]


def check_line(word: str, start: int, document: str) -> str:
    """A word that goes into one cell of a table; one that would break a line or a column is an error."""
    if any(character in word for character in "\t\n\r"):
        raise CRFError(CorpusErrors.CRF541.format(start=start, text=word, document=document))
    return word


def name_line(name: str) -> str:
    """The name of a document on one line, without control characters."""
    return CONTROL.sub(" ", name).strip()


# -- check marks -------------------------------------------------------------------------------------------------


def read_mark(value: object, where: str) -> bool:
    """Whether a mark says that a person has seen a token. where (str): Begin of the message: the file and line."""
    mark = str("" if value is None else value).strip().lower()
    if mark in SEEN or mark in NOT_SEEN:
        return mark in SEEN
    raise CRFError(CorpusErrors.CRF567.format(where=where, value=value, seen=", ".join(SEEN[:-1])))


def forget_unchecked(sentences: Iterable[Sentence], unchecked: Unchecked) -> Iterator[Sentence]:
    """Take the tags of tokens that nobody has checked for unknown, in sentences that say which ones were checked.

    unchecked (str): "soft" leaves what was predicted in the place of gold.
    """
    for sentence in sentences:
        checked = sentence.columns.get(CHECKED_COLUMN)
        if checked is None or unchecked == "soft":
            yield sentence
        else:
            kinds = [kind for kind in sentence.predicted or GOLD_KINDS if kind in sentence.columns]
            known = {kind: [v if ok else "" for v, ok in zip(sentence.columns[kind], checked)] for kind in kinds}
            yield replace(sentence, columns={**sentence.columns, **known})


def copy_checked(reference: Doc, predicted: Doc, target: str) -> None:
    """Give a Doc what a person has checked in another one of the same text, so that it can go out again. Where tokens
    differ, as the pipeline makes its own, what was checked of them is left out with a warning.

    target (str): "tag" or "pos", where gold is that has one tag. Nothing is copied where the other one was checked.
    """
    checked = stored_values(reference, CHECKED)
    if not any(checked):
        return
    own, other = (GOLD_POS, GOLD_TAGS) if target == "pos" else (GOLD_TAGS, GOLD_POS)
    cells, others = read_cells(reference, own), read_cells(reference, other)
    if target == "pos" and any(others) and PARTS_OF_SPEECH.keys() >= {tag for row in others for tag in row}:
        cells, others = others, []  # formats but CoNLL-U have one place for tags of any kind
    if any(others):
        return
    register_gold_tags()
    register_stored(CHECKED)
    best = (token.tag_ if target == "tag" else token.pos_ for token in reference)
    rows = [row or ({tag: 1.0} if tag else {}) for row, tag in zip(cells, best)]
    example = Example(predicted, reference)
    places = [*range(len(reference))] if same_tokens(example) else single_tokens(example)
    known = [(rows[place], checked[place]) if place is not None and checked[place] else ({}, "") for place in places]
    write_known(predicted, GOLD_TAGS, [row for row, _ in known])
    write_known(predicted, CHECKED, [seen for _, seen in known])
    if lost := sum(map(bool, checked)) - sum(seen != "" for _, seen in known):
        told = CorpusWarnings.CRFW496.format(
            document=read_doc_name(reference), count=lost, words=sum(map(bool, checked))
        )
        warnings.warn(told, CRFWarning, stacklevel=2)


# -- annotations by offsets --------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """What a file of annotations beside the text says of a stretch of it: tags, and whether a person has seen them."""

    start: int
    end: int
    weights: TagWeights
    is_checked: bool


def place_tokens(text: str, offsets: Sequence[Sequence[Sequence[int]]]) -> list[list[ExchangeToken]]:
    """The tokens of sentences by their offsets, [start, end]. RAISES (ValueError): For some that are not in order."""
    last, sentences = 0, []
    for own in offsets:
        tokens = []
        for start, end in own:
            if not (type(start) is type(end) is int and last <= start < end <= len(text)):
                raise ValueError(f"the offsets {start!r} to {end!r} of a token are not in the text, or not in order")
            tokens.append(ExchangeToken(text[start:end], start, end))
            last = end
        if tokens:
            sentences.append(tokens)
    return sentences


def mark_tokens(sentences: Sequence[Sequence[ExchangeToken]], marks: Iterable[Mark]) -> list[list[ExchangeToken]]:
    """Give tokens the tags of the stretches that they are in, even in part; several count as A|B.

    Where a person has seen one of several, the others do not count. An empty stretch says nothing.
    """
    tokens = [token for sentence in sentences for token in sentence]
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    found: dict[int, list[Mark]] = {}
    for mark in (mark for mark in marks if mark.start < mark.end):
        for k in range(bisect_right(ends, mark.start), bisect_left(starts, mark.end)):
            found.setdefault(k, []).append(mark)
    marked = iter([_mark(token, found.get(k, [])) for k, token in enumerate(tokens)])
    return [list(islice(marked, len(sentence))) for sentence in sentences]


def _mark(token: ExchangeToken, marks: Sequence[Mark]) -> ExchangeToken:
    if not marks:
        return token
    own = [mark for mark in marks if mark.is_checked] or marks
    tags = list(dict.fromkeys(tag for mark in own for tag in mark.weights))
    is_one = all(mark.weights == own[0].weights for mark in own)
    weights = own[0].weights if is_one else {tag: 1 / len(tags) for tag in tags}
    return replace(token, gold=weights) if own[0].is_checked else replace(token, predicted=weights)
