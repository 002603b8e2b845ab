"""Where a Doc keeps gold with several tags for a token: a custom attribute, a dict from tag to weight.

Weights are those of section 4.3 of Heid, Set-Valued Prediction for Part-of-Speech Tagging (2020): fractions that sum to
1, or ones for tags that are all correct. spaCy stores the attribute with `DocBin(store_user_data=True)`; it is found
whether or not anybody has registered it. The best tag is in `token.tag` as well.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from spacy.attrs import IDX
from spacy.tokens import Doc, Token

from ..core.errors import CRFError
from .errors import AnnotationErrors

GOLD_TAGS = "gold_tags"
TagWeights = dict[str, float]


def best_tag(weights: Mapping[str, float]) -> str:
    """The tag with the greatest weight, the first of equal ones; "" if there is none."""
    return max(weights, key=weights.__getitem__, default="")


def register_gold_tags(name: str = GOLD_TAGS) -> None:
    """Make `token._.NAME` available, which is None where there is no gold; what is there already is kept.

    RAISES (ValueError): where an attribute of that name computes its value.
    """
    if not Token.has_extension(name):
        Token.set_extension(name, default=None)
        return
    _, method, getter, _ = Token.get_extension(name)
    if method is not None or getter is not None:
        raise CRFError(AnnotationErrors.CRF522.format(name=name))


def write_gold_tags(doc: Doc, rows: Sequence[Mapping[str, float]], name: str = GOLD_TAGS) -> None:
    """Give the tokens of a Doc their gold tags, and the best one as `token.tag`. Others are left as they are.

    rows (Sequence[Mapping[str, float]]): weights by tag for each token; empty for no gold.
    RAISES (ValueError): for another number of rows than tokens.
    """
    if len(rows) != len(doc):
        raise CRFError(AnnotationErrors.CRF532.format(found=len(rows), expected=len(doc)))
    register_gold_tags(name)
    stored = _user_data(doc)
    for token, weights in zip(doc, rows):
        if weights:
            stored[_key(name, token.idx)] = dict(weights)
            token.tag_ = best_tag(weights)


def read_gold_tags(doc: Doc, name: str = GOLD_TAGS) -> list[TagWeights]:
    """The gold tags of the tokens.

    RETURNS (list[dict[str, float]]): weights by tag for each token; empty for no gold. A text is one tag.
    """
    values = stored_gold_tags(doc, name)
    return [{value: 1.0} if isinstance(value, str) and value else dict(value or {}) for value in values]


def stored_gold_tags(doc: Doc, name: str = GOLD_TAGS) -> list[TagWeights | str | None]:
    """What the attribute holds for each token: weights by tag, or what somebody else has put there."""
    stored = _user_data(doc)
    if not stored:
        return [None] * len(doc)
    return [stored.get(_key(name, start)) for start in doc.to_array(IDX).tolist()]


def _user_data(doc: Doc) -> dict[Any, Any]:
    return cast(dict[Any, Any], doc.user_data)


def _key(name: str, start: int) -> tuple[str, str, int, None]:
    """Where a custom attribute of the token that begins at a character is kept."""
    return "._.", name, start, None
