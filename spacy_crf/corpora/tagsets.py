"""Gold with several tags per token: its notation in files.

One cell of a file is one of

    A              one tag
    A|B            the annotators left it open: n tags of weight 1/n
    A:1|B:1        all of them are correct: each has weight 1
    A:0.66|B:0.33  more and less likely: weights that sum to at most 1, and are made to sum to 1
    _ or nothing   no gold

after section 4.3 of Heid, Set-Valued Prediction for Part-of-Speech Tagging (2020). What is behind the last colon of a
tag is its weight, so a tag with a colon needs one: N:pl:1. A colon alone is a tag.

`annotation.gold` says where a Doc keeps them.
"""

import math
from collections.abc import Mapping, Sequence

from spacy.tokens import Doc

from ..annotation.extensions import stored_values
from ..annotation.gold import GOLD_POS, GOLD_TAGS, TagWeights, best_tag, register_gold_tags, write_gold_tags
from ..core.errors import CRFError
from .errors import CorpusErrors
from .sentence import EXTENSION_PREFIX, Sentence

NO_GOLD = "_"
BETWEEN = "|"
BEFORE_WEIGHT = ":"
# Weights sum to more than 1 only where all tags are correct; decimals such as 0.333333 may be off by as much as this.
TOLERANCE = 1e-6
DIGITS = 9
# The sum of weights that were written with so many digits, for up to 20 of them, is 1.
ROUNDING = 1e-8
GOLD_COLUMN = f"{EXTENSION_PREFIX}{GOLD_TAGS}"
GOLD_POS_COLUMN = f"{EXTENSION_PREFIX}{GOLD_POS}"
GOLD_KINDS = ("tag", GOLD_COLUMN)  # of the tags of a token
CHECKED, YES = "checked", "yes"  # custom token attribute, and its value for a token that a person has seen
CHECKED_COLUMN = f"{EXTENSION_PREFIX}{CHECKED}"


def parse_tags(cell: str, where: str = "Tags") -> TagWeights:
    """Read one cell: weights of the tags of one token, which sum to 1, or are all 1. Empty for no gold.

    where (str): Begin of the message: the file, line and token.
    """
    text = cell.strip()
    if text in ("", NO_GOLD):
        return {}
    if BETWEEN not in text and BEFORE_WEIGHT not in text:
        # Nearly all cells are this simple.
        return {text: 1.0}
    parts = [_split_weight(part.strip()) for part in text.split(BETWEEN)]
    fault = _find_fault(parts)
    if fault:
        raise CRFError(CorpusErrors.CRF530.format(where=where, cell=cell, fault=fault))
    # `_find_fault` has seen to it that all weights are numbers, or that there is none.
    weights = {tag: float(weight) if weight else 1 / len(parts) for tag, weight in parts}
    total = math.fsum(weights.values())
    if total > 1 + TOLERANCE or abs(total - 1) <= ROUNDING:
        return weights
    return {tag: weight / total for tag, weight in weights.items()}


def is_noted(tag: str) -> bool:
    """Whether a tag, written as it is, would be read as something else, such as several tags."""
    has_sign = BETWEEN in tag or BEFORE_WEIGHT in tag != BEFORE_WEIGHT  # a colon alone is a tag
    return tag == NO_GOLD or has_sign or tag != tag.strip()


def _split_weight(part: str) -> tuple[str, str | None]:
    """A tag and its weight as a text; None if it has none."""
    tag, colon, weight = part.rpartition(BEFORE_WEIGHT)
    return (tag.strip(), weight) if colon and part != BEFORE_WEIGHT else (part, None)


def _find_fault(parts: Sequence[tuple[str, str | None]]) -> str | None:
    tags = [tag for tag, _ in parts]
    texts = [weight for _, weight in parts if weight is not None]
    if "" in tags:
        return "a tag is empty"
    if len(set(tags)) < len(tags):
        return "a tag comes twice"
    if not texts:
        return None
    if len(texts) < len(parts):
        return "some tags have a weight, others have none"
    weights = []
    for text in texts:
        try:
            weights.append(float(text))
        except ValueError:
            weights.append(math.nan)  # which no comparison is true for
        if not 0 < weights[-1] <= 1:
            return f"the weight {text!r} is not a number above 0 and up to 1"
    if math.fsum(weights) > 1 + TOLERANCE and set(weights) != {1.0}:
        return f"the weights sum to {math.fsum(weights):g}"
    return None


def format_tags(weights: Mapping[str, float]) -> str:
    """Write the shortest cell that `parse_tags` reads as these weights, to nine digits; "_" for no tag."""
    for tag in weights:
        if not tag or tag != tag.strip() or any(character in tag for character in "|\t\n\r"):
            raise CRFError(CorpusErrors.CRF531.format(tag=tag))
    if not weights:
        return NO_GOLD
    is_open = all(abs(weight - 1 / len(weights)) <= ROUNDING / len(weights) for weight in weights.values())
    is_no_gold = [*weights] == [NO_GOLD]  # as a tag, this one needs its weight, and so does one with a colon
    if is_open and not is_no_gold and not any(BEFORE_WEIGHT in tag != BEFORE_WEIGHT for tag in weights):
        return BETWEEN.join(weights)
    return BETWEEN.join(f"{tag}{BEFORE_WEIGHT}{weight:.{DIGITS}g}" for tag, weight in weights.items())


def resolve_gold_tags(doc: Doc, name: str = GOLD_TAGS) -> None:
    """Replace the cells that a reader has put into `token._.NAME` by dicts; see `read_cells`."""
    write_gold_tags(doc, read_cells(doc, name), name)


def read_cells(doc: Doc, name: str = GOLD_TAGS) -> list[TagWeights]:
    """The gold tags of the tokens; a text is a cell: the column `ext:gold_tags` gives such."""
    values = stored_values(doc, name)
    try:
        return [parse_tags(value) if isinstance(value, str) else dict(value or {}) for value in values]
    except ValueError:  # only now a message is worth its price
        for index, value in enumerate(values):
            if isinstance(value, str):
                parse_tags(value, f"Token {index} ({doc[index].text!r}) of document {doc[:6].text!r}")
        raise


def make_sentence(
    words: list[str],
    tags: list[TagWeights],
    spaces: list[bool] | None,
    is_first: bool,
    checked: Sequence[bool] | None = None,
    document: str = "",
) -> Sentence:
    """A sentence with the best gold tags, and all of them as cells in `ext:gold_tags`, for `resolve_gold_tags`.

    checked (Sequence[bool] | None): which tokens a person has seen, in `ext:checked`; None if the file does not say.
    """
    register_gold_tags()
    cells = [format_tags(weights) if weights else "" for weights in tags]
    columns = {"tag": [best_tag(weights) for weights in tags], GOLD_COLUMN: cells}
    if checked is not None:
        columns[CHECKED_COLUMN] = [YES if seen else "" for seen in checked]
    return Sentence(words, columns, spaces, starts_document=is_first, document=document)
