"""What constraints ask of the tokens of Docs: predicates, equal surfaces, and labels that are there already.

Built-in predicates depend on the word form alone and are computed once for each distinct one of a batch. `UNMARKED` is
about the gap before a token: neither it nor the token before is a mark.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..annotation.target import Target
from ..core.arrays import Bools, Hashes, Indices, Ints
from ..core.constraints.family import Constraint
from ..core.constraints.labelling import NOTHING, UnitPredicates
from ..core.errors import CRFError, excerpt
from ..core.labels import TagSet
from ..pipe.constrained import SequenceFacts
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

    def read(self, docs: Sequence[Doc], orths: Hashes, vocab: Vocab, wanted: Sequence[str]) -> dict[str, Bools]:
        """Whether predicates hold, (N,) for each.

        docs (sequence of Doc): whose tokens they are. orths ((N,)): word forms, one Doc after the other.
        wanted (sequence of str): names of predicates.
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
                marks = self.read(docs, orths, vocab, [PUNCTUATION])[PUNCTUATION]
                # the first token of a sequence is not asked
                found[name] = ~marks & ~np.concatenate([[False], marks[:-1]])[: len(marks)]
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
                problem = {"setting": "marks", "value": predicate, "expected": f"one of {', '.join(self.names)}"}
                raise CRFError(PipeErrors.CRF408.format(name=name, **problem))

    def _extension(self, docs: Sequence[Doc], extension: str) -> Bools:
        if not Token.has_extension(extension):
            raise CRFError(ConstraintErrors.CRF445.format(extension=extension))
        return np.array([bool(token._.get(extension)) for doc in docs for token in doc], dtype=bool)


def surfaces(orths: Hashes, vocab: Vocab) -> Indices:
    """((N,)): a number for each word in lower case, NOTHING for what has neither letters nor digits.

    orths ((N,)): word forms.
    """
    distinct, where = np.unique(orths, return_inverse=True)
    texts = [vocab.strings[orth].lower() for orth in distinct.tolist()]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(text for text in texts if _is_word(text)))}
    found = np.array([numbers.get(text, NOTHING) for text in texts], dtype=np.intp)
    return found[where].reshape(-1)


@dataclass(frozen=True)
class Annotation:
    """Where labels are that are there already. target (Target): what is annotated. tags (TagSet): of the chain."""

    target: Target
    tags: TagSet

    def fixed(self, docs: Sequence[Doc], lengths: Indices) -> Ints:
        """((N,)): the tag that each token has to have, NOTHING where it is open.

        lengths ((B,)): of the sequences that the Docs consist of.
        """
        allowed = self.target.evidence(docs, lengths, self.tags)
        one = (allowed.sum(axis=1) == 1) & (len(self.tags) > 1)
        return np.where(one, allowed.argmax(axis=1), NOTHING).astype(np.int32)


def sequence_predicates(
    docs: Sequence[Doc],
    orths: Hashes,
    lengths: Indices,
    vocab: Vocab,
    constraints: Sequence[Constraint],
    known: TokenPredicates,
    annotation: Annotation,
    more: Sequence[str] = (),
) -> SequenceFacts:
    """What constraints ask of sequences, which bear the names of their Docs.

    orths ((N,)): word forms of the tokens, one Doc after the other. lengths ((B,)): of the sequences of the Docs.
    annotation (Annotation): holds labels that are there already. more (sequence of str): predicates beside those of the
        constraints.
    """
    wanted = dict.fromkeys([*(one.predicate for one in constraints if one.predicate is not None), *more])
    asked = {one.asks for one in constraints}
    units = UnitPredicates(
        len(orths),
        known.read(docs, orths, vocab, list(wanted)),
        surfaces(orths, vocab) if "surfaces" in asked else None,
        annotation.fixed(docs, lengths) if "fixed" in asked else None,
    )
    ends = np.cumsum([len(doc) for doc in docs])
    owners = np.searchsorted(ends, np.cumsum(lengths)).tolist()
    names = [excerpt(doc.text) for doc in docs]
    return SequenceFacts(units, [names[owner] for owner in owners])
