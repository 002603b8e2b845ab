"""Gold with several tags for a token, in a custom attribute: a dict from tag to weight.

Weights are those of section 4.3 of Heid, Set-Valued Prediction for Part-of-Speech Tagging (2020): fractions that sum to
1, or ones for tags that are all correct. spaCy stores the attribute with `DocBin(store_user_data=True)`; it is found
whether or not anybody has registered it. The best tag is in `token.tag` as well.
"""

from collections.abc import Mapping, Sequence

from spacy.tokens import Doc

from ..core.errors import CRFError
from .errors import AnnotationErrors
from .extensions import register_stored, stored_values, write_known

GOLD_TAGS = "gold_tags"
TagWeights = dict[str, float]


def best_tag(weights: Mapping[str, float]) -> str:
    """The tag with the greatest weight, the first of equal ones; "" if there is none."""
    return max(weights, key=weights.__getitem__, default="")


def register_gold_tags(name: str = GOLD_TAGS) -> None:
    """Make `token._.NAME` available, which is None where there is no gold; what is there already is kept.

    RAISES (ValueError): where an attribute of that name computes its value.
    """
    register_stored(name, default=None, allow_setter=False)


def write_gold_tags(doc: Doc, rows: Sequence[Mapping[str, float]], name: str = GOLD_TAGS) -> None:
    """Give the tokens of a Doc their gold tags, and the best one as `token.tag`. Others are left as they are.

    rows (Sequence[Mapping[str, float]]): weights by tag for each token; empty for no gold.
    RAISES (ValueError): for another number of rows than tokens.
    """
    if len(rows) != len(doc):
        raise CRFError(AnnotationErrors.CRF532.format(found=len(rows), expected=len(doc)))
    register_gold_tags(name)
    write_known(doc, name, [dict(weights) for weights in rows])
    for token, weights in zip(doc, rows):
        if weights:
            token.tag_ = best_tag(weights)


def read_gold_tags(doc: Doc, name: str = GOLD_TAGS) -> list[TagWeights]:
    """The gold tags of the tokens.

    RETURNS (list[dict[str, float]]): weights by tag for each token; empty for no gold. A text is one tag.
    """
    values = stored_values(doc, name)
    return [{value: 1.0} if isinstance(value, str) and value else dict(value or {}) for value in values]
