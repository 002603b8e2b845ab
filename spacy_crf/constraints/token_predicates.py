"""Facts about tokens that constraints ask for: which predicates hold, and which tokens have the same surface.

Built-in predicates depend on the word form alone and are computed once for each distinct one of a batch. `UNMARKED` is
about the gap before a token: neither it nor the token before is a mark.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..core.arrays import Bools, Hashes, Indices
from ..core.errors import CRFError
from ..pipe.errors import PipeErrors
from .errors import ConstraintErrors

OPENING, CLOSING = "([{<«“‘„", ")]}>»”’"
QUOTES = "\"'`«»“”‘’„"
DASHES = "-–—‐−"
EXTENSION = "_."
UNMARKED, PUNCTUATION = "unmarked", "punctuation"


def _is_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _is_number(text: str) -> bool:
    return text.isdecimal()


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and text[:2] in ("15", "16", "17", "18", "19", "20")


def _is_punctuation(text: str) -> bool:
    return bool(text.strip()) and not _is_word(text)


def _is_capitalised(text: str) -> bool:
    return text[:1].isupper()


class _OneOf:
    """Whether a word is one of some, in lower case. A class, so that it pickles."""

    def __init__(self, words: Sequence[str]):
        self.words = frozenset(word.lower() for word in words)

    def __call__(self, text: str) -> bool:
        return text.lower() in self.words


BUILT_IN: dict[str, Callable[[str], bool]] = {
    PUNCTUATION: _is_punctuation,
    "comma": _OneOf(","),
    "period": _OneOf("."),
    "colon": _OneOf(":"),
    "semicolon": _OneOf(";"),
    "dash": _OneOf(DASHES),
    "quote": _OneOf(QUOTES),
    "opening": _OneOf(OPENING),
    "closing": _OneOf(CLOSING),
    "word": _is_word,
    "number": _is_number,
    "year": _is_year,
    "capitalised": _is_capitalised,
}


def _unmarked(marks: Bools) -> Bools:
    """((N,)): whether no mark is at either side of the gap before each token. The first of a sequence is not asked."""
    before = np.zeros_like(marks)
    before[1:] = marks[:-1]
    return ~marks & ~before


class FactReader:
    """Reads predicates and surfaces of tokens.

    own (mapping): predicates beside the built-in ones: a list of words, compared in lower case, or "_.NAME", a custom
        token attribute that is true or false, such as marks that are no tokens.
    name (str): of the component, for messages.
    RAISES (ValueError): for a predicate that is neither.
    """

    def __init__(self, own: Mapping[str, str | Sequence[str]], name: str):
        self._by_form = dict(BUILT_IN)
        self._extensions: dict[str, str] = {}
        for predicate, what in own.items():
            if isinstance(what, str) and what.startswith(EXTENSION) and len(what) > len(EXTENSION):
                self._extensions[predicate] = what[len(EXTENSION) :]
            elif isinstance(what, list | tuple) and what and all(isinstance(word, str) for word in what):
                self._by_form[predicate] = _OneOf(what)
            else:
                raise CRFError(ConstraintErrors.CRF444.format(name=name, predicate=predicate, value=what))

    def predicates(self, docs: Sequence[Doc], orths: Hashes, vocab: Vocab, wanted: Sequence[str]) -> dict[str, Bools]:
        """Whether predicates hold.

        docs (sequence of Doc): whose tokens they are. orths ((N,)): word forms, one Doc after the other.
        wanted (sequence of str): names of predicates.
        RETURNS (dict): (N,) for each.
        RAISES (ValueError): for a custom attribute that is not registered.
        """
        by_form = [name for name in wanted if name in self._by_form]
        distinct, where = np.unique(orths, return_inverse=True) if by_form else (orths[:0], orths[:0])
        texts = [vocab.strings[orth] for orth in distinct.tolist()]
        found = {
            name: np.array([self._by_form[name](text) for text in texts], dtype=bool)[where].reshape(-1)
            for name in by_form
        }
        for name in wanted:
            if name in self._extensions:
                found[name] = self._extension(docs, self._extensions[name])
            elif name == UNMARKED and name not in found:
                found[name] = _unmarked(self.predicates(docs, orths, vocab, [PUNCTUATION])[PUNCTUATION])
        return found

    @property
    def names(self) -> list[str]:
        """All predicates that are known."""
        return [*self._by_form, UNMARKED, *self._extensions]

    def require(self, wanted: Sequence[str], name: str) -> None:
        """Raise a coded error for a predicate that is not known.

        name (str): of the component, for messages.
        """
        for predicate in wanted:
            if predicate not in self.names:
                known = ", ".join(self.names)
                raise CRFError(
                    PipeErrors.CRF408.format(name=name, setting="marks", value=predicate, expected=f"one of {known}")
                )

    def _extension(self, docs: Sequence[Doc], extension: str) -> Bools:
        if not Token.has_extension(extension):
            raise CRFError(ConstraintErrors.CRF445.format(extension=extension))
        return np.array([bool(token._.get(extension)) for doc in docs for token in doc], dtype=bool)


def surfaces(orths: Hashes, vocab: Vocab) -> Indices:
    """((N,)): a number for each word in lower case, -1 for what has neither letters nor digits.

    orths ((N,)): word forms.
    """
    distinct, where = np.unique(orths, return_inverse=True)
    texts = [vocab.strings[orth].lower() for orth in distinct.tolist()]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(text for text in texts if _is_word(text)))}
    found = np.array([numbers.get(text, -1) for text in texts], dtype=np.intp)
    return found[where].reshape(-1)
