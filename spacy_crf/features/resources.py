"""What templates consult beside the text: word lists, and what is known of word forms."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from spacy.attrs import ORTH
from spacy.tokens import Doc

from .lexicon import NOTHING, Lexicon
from .lists import WordList


@dataclass(frozen=True)
class Resources:
    """Resources of one component, read or fitted when it is initialized, and stored with it.

    lists (dict[str, WordList]): word lists by name. lexicon (Lexicon): what is known of words.
    """

    lists: dict[str, WordList] = field(default_factory=dict)
    lexicon: Lexicon = NOTHING

    def to_data(self) -> dict[str, Any]:
        """As lists."""
        lists = {name: [[list(words), value] for words, value in each.entries] for name, each in self.lists.items()}
        return {"lists": lists, **self.lexicon.to_data()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_data`."""
        lists = {
            name: WordList(name, [(tuple(words), value) for words, value in entries])
            for name, entries in data["lists"].items()
        }
        return cls(lists, Lexicon.from_data(data))


def word_counter(docs: Callable[[], Iterable[Doc]]) -> Callable[[], Counter[str]]:
    """A function that counts the word forms of Docs, for resources that are fitted to them.

    docs (Callable): gives the Docs, each time it is called.
    """

    def count() -> Counter[str]:
        counts: Counter[str] = Counter()
        for doc in docs():
            strings = doc.vocab.strings
            for orth, number in doc.count_by(ORTH).items():
                counts[strings[orth]] += number
        return counts

    return count


def word_lists(docs: Callable[[], Iterable[Doc]]) -> Callable[[], Iterator[list[str]]]:
    """A function that lists the words of each Doc, for resources that are fitted to running text.

    docs (Callable): gives the Docs, each time it is called.
    """

    def read() -> Iterator[list[str]]:
        for doc in docs():
            yield [token.text for token in doc]

    return read
