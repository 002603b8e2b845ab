"""What templates consult beside the text: word lists, and normal forms of words."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from spacy.attrs import ORTH
from spacy.tokens import Doc

from .lists import WordList
from .spelling import Speller


@dataclass(frozen=True)
class Resources:
    """Resources of one component, read or fitted when it is initialized, and stored with it.

    lists (dict[str, WordList]): word lists by name. speller (Speller | None): gives words their normal forms.
    """

    lists: dict[str, WordList] = field(default_factory=dict)
    speller: Speller | None = None

    def to_data(self) -> dict[str, Any]:
        """As lists."""
        lists = {name: [[list(words), value] for words, value in each.entries] for name, each in self.lists.items()}
        return {"lists": lists} if self.speller is None else {"lists": lists, "spelling": self.speller.to_data()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_data`."""
        lists = {
            name: WordList(name, [(tuple(words), value) for words, value in entries])
            for name, entries in data["lists"].items()
        }
        return cls(lists, Speller.from_data(data["spelling"]) if "spelling" in data else None)


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
