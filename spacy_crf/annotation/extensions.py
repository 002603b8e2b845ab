"""Custom token attributes that hold a column of a file."""

from collections.abc import Sequence
from typing import Any, cast

from spacy.tokens import Doc, Token

from ..core.errors import CRFError
from .errors import AnnotationErrors

KEY_PREFIX = "._."


def register_extension(name: str) -> None:
    """Make `token._.NAME` available, as a string that is empty by default; what is there already is kept.

    name (str): The name of the attribute.
    """
    if not Token.has_extension(name):
        Token.set_extension(name, default="")
        return
    _, method, getter, setter = Token.get_extension(name)
    if method is not None or (getter is not None and setter is None):
        raise CRFError(AnnotationErrors.CRF522.format(name=name))


def set_extension_values(doc: Doc, name: str, values: Sequence[str]) -> None:
    """Write a custom attribute that is registered to all tokens.

    doc (Doc): The document.
    name (str): The name of the attribute.
    values (Sequence[str]): One value per token; "" leaves the token at the default.
    """
    for token, value in zip(doc, values):
        if value:
            token._.set(name, value)


def register_stored_extensions(doc: Doc) -> None:
    """Make the custom token attributes available that a stored document has values for.

    doc (Doc): A document read from disk.
    """
    stored = {key[1] for key in get_user_data(doc) if is_token_key(key)}
    for name in stored:
        if not Token.has_extension(name):
            Token.set_extension(name, default="")


def get_user_data(doc: Doc) -> dict[Any, Any]:
    """The data behind `doc._`, `span._` and `token._`, whose keys are tuples.

    doc (Doc): The document.
    RETURNS (dict[Any, Any]): The data itself, not a copy.
    """
    return cast(dict[Any, Any], doc.user_data)


def is_token_key(key: object) -> bool:
    """Whether a key of `doc.user_data` holds the value of a custom attribute of one token.

    key (object): The key.
    RETURNS (bool): False for attributes of spans and documents, and for other data.
    """
    if not isinstance(key, tuple) or len(key) != 4:
        return False
    prefix, _, start, end = key
    return prefix == KEY_PREFIX and start is not None and end is None
