"""What constraints ask of the tokens of Docs: predicates, equal surfaces, and labels that are there already.

Built-in predicates depend on the word form alone and are computed once for each distinct one of a batch. `UNMARKED` is
about the gap before a token: neither it nor the token before is a mark.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..annotation.documents import distinct_words
from ..annotation.extensions import attribute_tokens
from ..annotation.target import Target
from ..core.arrays import Bools, Hashes, Indices, Ints, Segments
from ..core.constraints.family import Constraint
from ..core.constraints.labelling import NOTHING, UnitPredicates
from ..core.errors import CRFError, excerpt
from ..core.labels import TagSet
from ..features.columns import Columns
from ..pipe.errors import PipeErrors
from .errors import ConstraintErrors

EXTENSION = "_."
UNMARKED, PUNCTUATION = "unmarked", "punctuation"
CENTURIES = ("15", "16", "17", "18", "19", "20")


def _is_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and text.startswith(CENTURIES)


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
    "dash": _OneOf("-–—‐−"),
    "quote": _OneOf("\"'`«»“”‘’„"),
    "opening": _OneOf("([{<«“‘„"),
    "closing": _OneOf(")]}>»”’"),
    "word": _is_word,
    "number": str.isdecimal,
    "year": _is_year,
    "capitalised": _is_capitalised,
}


class TokenPredicates:
    """The predicates of tokens that constraints may name.

    own (mapping): predicates beside the built-in ones: a list of words, compared in lower case, or "_.NAME", a custom
        token attribute that is true or false, such as marks that are no tokens. RAISES (ValueError): for others.
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

    def read(self, docs: Sequence[Doc], orths: Hashes, vocab: Vocab, wanted: Sequence[str]) -> dict[str, Bools]:
        """Whether predicates hold, (N,) for each. orths ((N,)): word forms of the tokens, one Doc after the other."""
        by_form = [name for name in wanted if name in self._by_form]
        texts, where = distinct_words(orths, vocab.strings) if by_form else ([], orths[:0])
        found = {name: np.array(list(map(self._by_form[name], texts)), dtype=bool)[where] for name in by_form}
        for name in wanted:
            if name in self._extensions:
                found[name] = self._extension(docs, self._extensions[name])
            elif name == UNMARKED and name not in found:
                marks = self.read(docs, orths, vocab, [PUNCTUATION])[PUNCTUATION]
                before = np.concatenate([[False], marks[:-1]])[: len(marks)]
                before[Segments.of(docs).openings] = False  # nothing stands before a Doc
                found[name] = ~marks & ~before
        return found

    @property
    def names(self) -> list[str]:
        """All predicates that are known."""
        return [*self._by_form, UNMARKED, *self._extensions]

    def require(self, wanted: Sequence[str], name: str) -> None:
        """Raise a coded error for a predicate that is not known."""
        for predicate in wanted:
            if predicate not in self.names:
                problem = {
                    "setting": "marks or gaps of mine",
                    "value": predicate,
                    "expected": f"one of {', '.join(self.names)}",
                }
                raise CRFError(PipeErrors.CRF408.format(name=name, **problem))

    def _extension(self, docs: Sequence[Doc], extension: str) -> Bools:
        if not Token.has_extension(extension):
            raise CRFError(ConstraintErrors.CRF445.format(extension=extension))
        tokens = (token for doc in docs for token in attribute_tokens(doc))
        return np.array([bool(token._.get(extension)) for token in tokens], dtype=bool)


def surfaces(orths: Hashes, vocab: Vocab) -> Indices:
    """((N,)): a number for each word form in lower case, NOTHING for what has neither letters nor digits."""
    texts, where = distinct_words(orths, vocab.strings)
    words = dict.fromkeys(text.lower() for text in texts if _is_word(text))
    numbers = {word: number for number, word in enumerate(words)}
    return np.array([numbers.get(text.lower(), NOTHING) for text in texts], dtype=np.intp)[where]


class SequencePredicates(NamedTuple):
    """What is known of sequences beside their words: of their units, one after the other, and their names."""

    units: UnitPredicates
    names: list[str]


def fixed_tags(docs: Sequence[Doc], lengths: Indices, target: Target, tags: TagSet) -> Ints:
    """((N,)): the tag that the annotation of each token asks for, NOTHING where that is open."""
    allowed = target.evidence(docs, lengths, tags)
    one = (allowed.sum(axis=1) == 1) & (len(tags) > 1)
    return np.where(one, allowed.argmax(axis=1), NOTHING).astype(np.int32)


def sequence_predicates(
    docs: Sequence[Doc],
    columns: Columns,
    constraints: Sequence[Constraint],
    known: TokenPredicates,
    target: Target | None,
    tags: TagSet,
    more: Sequence[str] = (),
) -> SequencePredicates:
    """What constraints (and more predicates) ask of the sequences of Docs, whose names these bear.

    target (Target | None): tells labels that are there already.
    """
    orths, vocab, lengths = columns.orths, columns.vocab, columns.lengths
    asked = {one.asks for one in constraints}
    wanted = dict.fromkeys([*(one.predicate for one in constraints if one.predicate is not None), *more])
    named = known.read(docs, orths, vocab, list(wanted))
    equal = surfaces(orths, vocab) if "surfaces" in asked else None
    fixed = fixed_tags(docs, lengths, target, tags) if target is not None and "fixed" in asked else None
    names = [excerpt(doc.text) for doc in docs]
    owners = Segments(lengths).within(Segments.of(docs)).owners
    return SequencePredicates(UnitPredicates(len(orths), named, equal, fixed), [names[doc] for doc in owners.tolist()])
