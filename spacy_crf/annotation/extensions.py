"""Custom attributes of Docs, spans and tokens: the one way to register them, and to read and write what they hold.

spaCy keeps their values in `doc.user_data`, under ("._.", name, first character, last character). Read and written
there, they need no registration, and a small part of the time that `token._` takes. What components write is plain:
numbers, strings, lists and dicts, so that `doc.to_json(underscore=[..])` and DocBin can hold it.
"""

import warnings
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import getitem
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from spacy.attrs import IDX
from spacy.tokens import Doc, Span, Token

from ..core.arrays import Floats, Hashes, Ints
from ..core.errors import CoreErrors, CoreWarnings, CRFError, CRFWarning, excerpt

UNSET = ("", None)  # values that stand for no annotation
SHARED_STARTS = 1 << 12  # characters of a document; longer ones are rarer, and have keys of their own
_PREFIX = "._."
_TOKENS = (_PREFIX, "spacy_crf.tokens", None, None)  # by the name of a result, where its tokens begin
_WHOLE = "spacy_crf.whole"  # of a Doc that was made of some tokens of another one: that one, and their numbers there
_VALUES = "spacy_crf.values"  # of a Doc that was made of words of another one: values of attributes there, by name

Owner: TypeAlias = type[Doc] | type[Span] | type[Token]
Key: TypeAlias = tuple[str, str, int | None, None]


def register(owner: Owner, name: str | None, *, default: Any = None, getter: Any = None, setter: Any = None) -> None:
    """Make a custom attribute available; what anybody has registered before stays, with a warning where it cannot show
    what is told. name (str | None): None for none."""
    if name is None:
        return
    if not owner.has_extension(name):
        shown = {"getter": getter, "setter": setter or ReadOnly(owner.__name__.lower(), name)}
        owner.set_extension(name, **(shown if getter else {"default": default}))
        return
    method, known_getter, known_setter = _known(owner, name)
    if getter is None:  # it holds values: one that computes its own holds none
        is_hidden = known_getter is not None and known_setter is None
    elif known_getter is None:  # it shows what is stored elsewhere: one that holds a value of its own does not
        is_hidden = setter is None
    else:
        is_hidden = (setter is None or known_setter is None) and not _is_ours(known_getter)
    if method is not None or is_hidden:
        where = {"owner": owner.__name__.lower(), "name": name}
        warnings.warn(CoreWarnings.CRFW529.format(**where), CRFWarning, stacklevel=2)


@dataclass(frozen=True)
class ReadOnly:
    """Setter of an attribute that shows what is stored elsewhere. Without one, spaCy keeps a value that nobody sees."""

    owner: str
    name: str

    def __call__(self, _: Any, value: Any) -> None:
        raise CRFError(CoreErrors.CRF556.format(owner=self.owner, name=self.name))


def _known(owner: Owner, name: str) -> tuple[Any, Any, Any]:
    """Method, getter and setter of a registered attribute; no setter where it cannot be assigned."""
    _, method, getter, setter = owner.get_extension(name)
    return method, getter, None if isinstance(setter, ReadOnly) else setter


def _is_ours(getter: Any) -> bool:
    return str(getattr(getter, "__module__", "")).partition(".")[0] == __package__.partition(".")[0]


def register_stored(name: str, default: Any = "", allow_setter: bool = True) -> None:
    """Make a token attribute available that values are written to; one that computes its value is an error.

    allow_setter (bool): whether one that somebody computes will do, if it has a setter.
    """
    if not Token.has_extension(name):
        register(Token, name, default=default)
    method, getter, setter = _known(Token, name)
    if method is not None or (getter is not None and not (allow_setter and setter is not None)):
        raise CRFError(CoreErrors.CRF522.format(name=name))


@dataclass(frozen=True)
class Result:
    """Getter and setter of what a component says of the tokens of a Doc by their places.

    It knows which tokens these are: where others took their places, by merging or splitting, it is refused. A class,
    so that it pickles.
    """

    name: str

    def get(self, doc: Doc) -> Any:
        return read_result(doc, self.name)

    def set(self, doc: Doc, value: Any) -> None:
        write_result(doc, self.name, value)


@dataclass(frozen=True)
class TokenView:
    """Getter of the part that a token has of a result; after merging or splitting, unchanged tokens have theirs."""

    name: str
    part: Callable[[Any, int], Any]

    def __call__(self, token: Token) -> Any:
        stored = read_value(token.doc, self.name)
        return None if stored is None else self.part(stored, place_of(token, self.name))


def register_result(name: str | None) -> None:
    """Make an attribute of Docs available whose value speaks of tokens by their places. name (str | None): or none."""
    if name is not None:
        register(Doc, name, getter=Result(name).get, setter=Result(name).set)


def register_by_token(name: str, part: Callable[[Any, int], Any] = getitem) -> None:
    """Make a result available whose tokens show their part of it: of a list, the value at their place."""
    register_result(name)
    register(Token, name, getter=TokenView(name, part))


def register_marginals(name: str | None) -> None:
    """Make probabilities available, as `write_marginals` writes them; tokens show theirs by tag."""
    if name is not None:
        register_by_token(name, _token_marginals)


def _token_marginals(stored: dict[str, Any], token: int) -> dict[str, float]:
    return dict(zip(stored["tags"], map(float, stored["values"][token])))  # Docs of old versions hold arrays


def read_result(doc: Doc, name: str) -> Any:
    """The result that a Doc has stored, whether or not anybody has registered the attribute; None for none.

    RAISES (ValueError): if the Doc has other tokens than those that it speaks of.
    """
    value, starts = read_value(doc, name), _known_tokens(doc, name)
    if starts is not None and not np.array_equal(starts, doc.to_array(IDX).view(np.int64)):
        raise CRFError(CoreErrors.CRF528.format(name=name, document=excerpt(doc.text), what="its tokens"))
    return value


def write_result(doc: Doc, name: str, value: Any) -> None:
    """Store a value of a Doc, and which tokens it speaks of."""
    write_value(doc, name, value)
    user_data(doc).setdefault(_TOKENS, {})[name] = doc.to_array(IDX).astype(np.int32)


def result_names(doc: Doc) -> set[str]:
    """Names of the results that a Doc has stored, which speak of its tokens by their places."""
    return set(user_data(doc).get(_TOKENS, ()))


def place_of(token: Token, name: str) -> int:
    """The place that a token has in a result. O(1), or O(log n) after tokens were merged or split.

    RAISES (ValueError): for a token that was not there.
    """
    doc, place = token.doc, token.i
    starts = _known_tokens(doc, name)
    if starts is None:
        return place
    if place >= len(starts) or starts[place] != token.idx:
        place = int(np.searchsorted(starts, token.idx))
    end = doc[token.i + 1].idx if token.i + 1 < len(doc) else None  # where the next token begins
    known_end = starts[place + 1] if place + 1 < len(starts) else None
    if place == len(starts) or starts[place] != token.idx or end != known_end:
        raise CRFError(CoreErrors.CRF528.format(name=name, document=excerpt(doc.text), what=f"{token.text!r}"))
    return place


def _known_tokens(doc: Doc, name: str) -> Ints | None:
    """((n,)): the first characters of the tokens that a result speaks of; None where that was not noted."""
    starts = user_data(doc).get(_TOKENS, {}).get(name)
    return None if starts is None else np.asarray(starts)


def user_data(doc: Doc) -> dict[Any, Any]:
    """The data behind `doc._`, `span._` and `token._`, not a copy."""
    return cast(dict[Any, Any], doc.user_data)


def read_value(doc: Doc, name: str) -> Any:
    """The value that a Doc has stored, whether or not anybody has registered the attribute; None for none."""
    return user_data(doc).get((_PREFIX, name, None, None))


def write_value(doc: Doc, name: str, value: Any) -> None:
    """Store a value of a Doc."""
    user_data(doc)[_PREFIX, name, None, None] = value


def write_marginals(doc: Doc, name: str, labels: Iterable[str], values: Floats) -> None:
    """Give a Doc the probabilities of its tokens' labels. values ((n, L)): of L labels; they are kept as lists."""
    doc._.set(name, {"tags": list(labels), "values": values.tolist()})


def note_whole(doc: Doc, whole: Doc, tokens: Iterable[int]) -> None:
    """Have what computes custom attributes look at the Doc that another one was made of, for as long as both are in
    memory, and of its copies. tokens (Iterable[int]): the numbers there of the tokens that it has."""
    origin, numbers = user_data(whole).get(_WHOLE, (whole, range(len(whole))))  # it may be a part of another one
    user_data(doc)[_WHOLE] = _Origin(origin, tuple(numbers[token] for token in tokens))


class _Origin(NamedTuple):
    """The Doc that another one was made of, and the numbers there of its tokens; copies of that one share it."""

    doc: Doc
    tokens: tuple[int, ...]

    def __deepcopy__(self, memo: Any) -> "_Origin":
        return self


def attribute_tokens(doc: Doc) -> Iterable[Token]:
    """The tokens that computed custom attributes of a Doc's tokens are asked of: its own, or those of the Doc that it
    was made of, as these may look at results, at what the Doc has stored by places, or at tokens beside."""
    whole, tokens = user_data(doc).get(_WHOLE, (doc, None))
    return cast(Doc, whole) if tokens is None else [whole[token] for token in tokens]


def keep_values(doc: Doc, name: str, values: Sequence[Any]) -> None:
    """Have an attribute of a Doc's tokens read as these values: those of the Doc that it was made of, where something
    else may be computed."""
    user_data(doc).setdefault(_VALUES, {})[name] = values


def shown_values(doc: Doc, name: str) -> list[Any]:
    """The values of the tokens as `token._` shows them, of a Doc that was made of another one those there."""
    kept = user_data(doc).get(_VALUES, {})
    return list(kept[name]) if name in kept else [token._.get(name) for token in attribute_tokens(doc)]


def read_values(doc: Doc, name: str, defaults: bool = True) -> list[Any]:
    """The values of the tokens as `token._` shows them; of an attribute that nobody has registered, what is stored.

    defaults (bool): whether tokens without a value have the default that somebody has registered.
    """
    if not Token.has_extension(name):
        return stored_values(doc, name)
    default, method, getter, _ = Token.get_extension(name)
    if getter is not None or method is not None:
        return shown_values(doc, name)
    if not defaults:
        return stored_values(doc, name)
    stored = user_data(doc)
    return [stored.get(key, default) for key in _keys(doc, name)] if stored else [default] * len(doc)


def stored_values(doc: Doc, name: str) -> list[Any]:
    """The values that are stored for the tokens, whether or not anybody has registered the attribute; None for none."""
    stored = user_data(doc)
    return [stored.get(key) for key in _keys(doc, name)] if stored else [None] * len(doc)


def write_values(
    doc: Doc, name: str, values: Iterable[Any], *, starts: Hashes | None = None, overwrite: bool = True
) -> None:
    """Set an attribute of all tokens, whose IDX may be known as `starts`; unless `overwrite`, what is there stays."""
    _, _, getter, setter = Token.get_extension(name)
    if getter is not None or setter is not None:
        for token, value in zip(doc, values):
            if overwrite or token._.get(name) in UNSET:
                token._.set(name, value)
        return
    keys, stored = _keys(doc, name, starts), user_data(doc)
    if overwrite or not stored:
        stored.update(zip(keys, values))
    else:
        stored.update((key, value) for key, value in zip(keys, values) if stored.get(key) in UNSET)


def write_known(doc: Doc, name: str, values: Sequence[Any]) -> None:
    """Set an attribute of the tokens whose value is not empty; the others are left as they are."""
    _, _, getter, _ = Token.get_extension(name)
    if getter is not None:
        for token, value in zip(doc, values):
            if value:
                token._.set(name, value)
    else:
        user_data(doc).update((key, value) for key, value in zip(_keys(doc, name), values) if value)


def stored_names(doc: Doc) -> set[str]:
    """Names of the custom attributes that a token of a Doc has a value of."""
    keys = filter(_is_custom, user_data(doc))
    return {name for _, name, start, end in keys if start is not None and end is None}


def custom_names(doc: Doc) -> list[str]:
    """Names of the custom attributes that a Doc, a span or a token of it has a value of, sorted."""
    keys = filter(_is_custom, user_data(doc))
    return sorted({key[1] for key in keys} - {_TOKENS[1]})


def copy_values(doc: Doc, other: Doc, names: Iterable[str], tokens: Sequence[int] | None = None) -> None:
    """Store what tokens of a Doc, or some of them by their numbers, have stored, for those of another one."""
    old, new = user_data(doc), user_data(other)
    for name in names:
        keys = _keys(doc, name)
        chosen = keys if tokens is None else [keys[token] for token in tokens]
        new.update((after, old[before]) for before, after in zip(chosen, _keys(other, name)) if before in old)


def copy_document_values(doc: Doc, other: Doc) -> None:
    """Store what a Doc has stored of itself, and nothing of its tokens or spans, in another one."""
    stored = user_data(doc)
    results = stored.get(_TOKENS, {})
    user_data(other).update((key, value) for key, value in stored.items() if _is_of_document(key, results))


def _is_custom(key: Any) -> bool:
    """Whether a value is that of a custom attribute."""
    return isinstance(key, tuple) and len(key) == 4 and key[0] == _PREFIX


def _is_of_document(key: Any, results: Container[str]) -> bool:
    """Whether a value is told of a Doc as a whole: results speak of its tokens by their places."""
    return not _is_custom(key) or (key[2] is None and key != _TOKENS and key[1] not in results)


def _keys(doc: Doc, name: str, starts: Hashes | None = None) -> list[Key]:
    """Where the values of the tokens are stored."""
    first_characters = (doc.to_array(IDX) if starts is None else starts).view(np.intp)
    if len(first_characters) and first_characters[-1] < SHARED_STARTS:
        return cast(list[Key], _shared_keys(name).take(first_characters).tolist())
    return [(_PREFIX, name, start, None) for start in first_characters.tolist()]


@cache
def _shared_keys(name: str) -> np.ndarray[Any, np.dtype[np.object_]]:
    """The keys of tokens, by their first character.

    Documents share them: a new tuple for each token costs ten times as much, most of it in the garbage collector.
    """
    return np.fromiter(((_PREFIX, name, start, None) for start in range(SHARED_STARTS)), dtype=object)
