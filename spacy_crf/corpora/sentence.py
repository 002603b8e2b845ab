"""Sentences, into which text formats are parsed: their columns, their grouping into documents, their white space."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

Group = Literal["auto", "document", "sentence"] | int


@dataclass(slots=True)
class Sentence:
    """One sentence as it is in the file.

    words (list[str]): The tokens. columns (dict[str, list[str]]): Annotation by kind ("tag", "ner", "spans:KEY" ...),
        one value per word, spans as the tags of the file; "" is unknown.
    spaces (list[bool] | None): Whether white space follows each word; None if the format does not say.
    heads (list[int] | None), deps (list[str] | None): Index of each word's head in the sentence, its own for the root,
        and the relation to it; None unless the sentence has a complete tree.
    starts_document (bool): Whether the file marks the beginning of a document here.
    """

    words: list[str]
    columns: dict[str, list[str]] = field(default_factory=dict)
    spaces: list[bool] | None = None
    heads: list[int] | None = None
    deps: list[str] | None = None
    starts_document: bool = False


def group_sentences(sentences: Iterable[Sentence], group: Group) -> Iterator[list[Sentence]]:
    """Put the sentences of one file together into those of one Doc each (list[Sentence]).

    No group reaches across the beginning of a document that the file marks.

    group (Group): "document" for one group per document (the whole file if none is marked), "sentence" for one per
        sentence, a number for that many sentences per group, "auto" for one per document from the first mark on, and
        one per sentence before it.
    """
    pending: list[Sentence] = []
    marked = False
    for sentence in sentences:
        if pending and (sentence.starts_document or _is_full(pending, group, marked)):
            yield pending
            pending = []
        marked = marked or sentence.starts_document
        pending.append(sentence)
    if pending:
        yield pending


def _is_full(pending: list[Sentence], group: Group, marked: bool) -> bool:
    if isinstance(group, int):
        return len(pending) >= group
    return group == "sentence" or (group == "auto" and not marked)


def find_spaces(text: str, words: Sequence[str]) -> list[bool]:
    """Whether white space follows each word of a text (list[bool]), True for the last; all True without a match."""
    spaces: list[bool] = []
    position = 0
    for word in words:
        if not text.startswith(word, position):
            return [True] * len(words)
        end = position + len(word)
        position = end
        while position < len(text) and text[position].isspace():
            position += 1
        spaces.append(position > end)
    if position < len(text):
        return [True] * len(words)
    return [*spaces[:-1], True]


def find_exact_spaces(text: str, words: Sequence[str]) -> list[bool] | None:
    """Whether a space follows each word, as in spaCy's Docs: one blank at most, all else is in words of its own.

    RETURNS (list[bool] | None): True for the last; None if the words, white space included, do not make up the text.
    """
    spaces: list[bool] = []
    position = 0
    for word in words:
        if not text.startswith(word, position):
            return None
        position += len(word)
        spaces.append(text.startswith(" ", position))
        position += spaces[-1]
    return [*spaces[:-1], True] if position == len(text) else None
