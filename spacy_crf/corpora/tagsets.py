"""Gold with several tags per token: its notation in files, and token TSV, `form<TAB>tags`.

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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from spacy.tokens import Doc, Span

from ..annotation.extensions import read_values, stored_values
from ..annotation.gold import GOLD_TAGS, TagWeights, best_tag, register_gold_tags, write_gold_tags
from ..core.errors import CRFError
from .errors import CorpusErrors
from .files import read_blocks
from .kinds import EXTENSION_PREFIX
from .sentence import Sentence

NO_GOLD = "_"
BETWEEN = "|"
BEFORE_WEIGHT = ":"
# Weights sum to more than 1 only where all tags are correct; decimals such as 0.333333 may be off by as much as this.
TOLERANCE = 1e-6
DIGITS = 9
# The sum of weights that were written with so many digits, for up to 20 of them, is 1.
ROUNDING = 1e-8
COLUMNS = ("form", "tags")
STEPS = 10_000  # weights of predicted tags have four decimals


def parse_tags(cell: str, where: str = "Tags") -> TagWeights:
    """Read one cell, the tags of one token.

    where (str): Begin of the message: the file, line and token.
    RETURNS (dict[str, float]): Weights by tag, in their order; they sum to 1, or are all 1. Empty for no gold.
    RAISES (ValueError): For an empty tag, a tag that comes twice, or weights of another kind.
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
    weights = [_parse_number(text) for text in texts]
    for text, weight in zip(texts, weights):
        if not 0 < weight <= 1:
            return f"the weight {text!r} is not a number above 0 and up to 1"
    if math.fsum(weights) > 1 + TOLERANCE and set(weights) != {1.0}:
        return f"the weights sum to {math.fsum(weights):g}"
    return None


def _parse_number(text: str) -> float:
    """The number, or NaN, which no comparison is true for."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def format_tags(weights: Mapping[str, float]) -> str:
    """Write the shortest cell that `parse_tags` reads as these weights, to nine digits; "_" for no tag.

    RAISES (ValueError): For a tag that the notation cannot hold.
    """
    for tag in weights:
        if not tag or tag != tag.strip() or any(character in tag for character in "|\t\n\r"):
            raise CRFError(CorpusErrors.CRF531.format(tag=tag))
    if not weights:
        return NO_GOLD
    is_open = all(abs(weight - 1 / len(weights)) <= ROUNDING / len(weights) for weight in weights.values())
    if is_open and not any(_needs_weight(tag, len(weights)) for tag in weights):
        return BETWEEN.join(weights)
    return BETWEEN.join(f"{tag}{BEFORE_WEIGHT}{weight:.{DIGITS}g}" for tag, weight in weights.items())


def _needs_weight(tag: str, count: int) -> bool:
    is_no_gold = tag == NO_GOLD and count == 1
    return is_no_gold or (BEFORE_WEIGHT in tag and tag != BEFORE_WEIGHT)


def resolve_gold_tags(doc: Doc, name: str = GOLD_TAGS) -> None:
    """Replace the cells that a reader has put into `token._.NAME` by dicts.

    RAISES (ValueError): For a text that is not a set of tags, naming the token.
    """
    write_gold_tags(doc, read_cells(doc, name), name)


def read_cells(doc: Doc, name: str = GOLD_TAGS) -> list[TagWeights]:
    """The gold tags of the tokens (list[dict[str, float]]); a text is a cell: the column `ext:gold_tags` gives such.

    RAISES (ValueError): For a text that is not a set of tags, naming the token.
    """
    values = stored_values(doc, name)
    try:
        return [parse_tags(value) if isinstance(value, str) else dict(value or {}) for value in values]
    except ValueError:  # only now a message is worth its price
        for index, value in enumerate(values):
            if isinstance(value, str):
                parse_tags(value, f"Token {index} ({doc[index].text!r}) of document {doc[:6].text!r}")
        raise


# -- token TSV: a form and its tags on each line, a blank line between segments -------------------------------


def read_tokens_tsv(path: Path, *, name: str = GOLD_TAGS) -> Iterator[Sentence]:
    """Yield the segments of a file of `form<TAB>tags` lines; the first one begins a document.

    Everything before the tab is the form, so "|", "#" and "_" are words like others; a line with "#" at its beginning
    and no tab is a comment.

    YIELDS (Sentence): One segment: the best tags, and the gold as cells in `ext:NAME`, for `resolve_gold_tags`.
    RAISES (ValueError): For a line without two columns, an empty form, or malformed tags.
    """
    is_first = True
    for first, lines in read_blocks(path):
        numbered = [(line, text) for line, text in enumerate(lines, first) if not is_comment(text)]
        rows = [(line, *_split(path, line, text)) for line, text in numbered]
        tags = [parse_tags(cell, f"{path}, line {line}, token {form!r}") for line, form, cell in rows]
        if rows:
            yield make_sentence([form for _, form, _ in rows], tags, name=name, starts_document=is_first)
            is_first = False


def is_comment(text: str) -> bool:
    """Whether a line says something about the text, such as its source or a translation."""
    return text.startswith("#") and "\t" not in text


def _split(path: Path, line: int, text: str) -> tuple[str, str]:
    fields = text.split("\t")
    if len(fields) != len(COLUMNS):
        expected = f"{len(COLUMNS)} ({', '.join(COLUMNS)})"
        raise CRFError(CorpusErrors.CRF507.format(path=path, line=line, found=len(fields), expected=expected))
    if not fields[0]:
        raise CRFError(CorpusErrors.CRF511.format(path=path, line=line))
    return fields[0], fields[1]


def make_sentence(
    words: list[str],
    tags: list[dict[str, float]],
    *,
    name: str = GOLD_TAGS,
    spaces: list[bool] | None = None,
    starts_document: bool = False,
) -> Sentence:
    """A sentence of words and their gold tags, with the columns "tag" and "ext:NAME"; NAME is registered.

    tags (list[dict[str, float]]): Weights by tag for each word; empty for no gold.
    """
    register_gold_tags(name)
    cells = [format_tags(weights) if weights else "" for weights in tags]
    columns = {"tag": [best_tag(weights) for weights in tags], f"{EXTENSION_PREFIX}{name}": cells}
    return Sentence(words, columns, spaces, starts_document=starts_document)


def write_tokens_tsv(doc: Doc, rows: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Write a document with the tags of its tokens (lines), "_" for none; an empty line is behind each segment.

    A sentence is a segment; so is a Doc without sentence starts. Tokens of white space are left out.

    rows (Sequence[Mapping[str, float]]): Weights by tag for each token.
    RAISES (ValueError): For a word with a tab or a line end, or a tag that the notation cannot hold.
    """
    for segment in find_segments(doc):
        for token in segment:
            if not token.is_space:
                yield f"{check_word(doc, token.i)}\t{format_tags(rows[token.i])}"
        yield ""


def write_predicted_tsv(doc: Doc, tag_set: str = "tag_set", tag_probs: str = "tag_probs") -> Iterator[str]:
    """Write the predicted tag sets of a document, with probabilities as weights that sum to 1; see `write_tokens_tsv`.

    tag_set (str), tag_probs (str): The custom token attributes with sets and probabilities.
    """
    rows = [dict.fromkeys(tags or (), 0.0) for tags in read_values(doc, tag_set)]
    for row, probabilities in zip(rows, read_values(doc, tag_probs)):
        row.update((tag, value) for tag, value in (probabilities or {}).items() if tag in row)
    yield from write_tokens_tsv(doc, [_as_weights(row) for row in rows])


def _as_weights(probabilities: dict[str, float]) -> dict[str, float]:
    """Probabilities of a set as weights with few decimals that sum to 1 at most, as `parse_tags` asks."""
    if len(probabilities) < 2:
        return dict.fromkeys(probabilities, 1.0)
    total = sum(probabilities.values()) or 1.0
    weights = {tag: max(math.floor(STEPS * value / total), 1) / STEPS for tag, value in probabilities.items()}
    first = max(weights, key=weights.__getitem__)
    weights[first] = round(weights[first] - max(0.0, sum(weights.values()) - 1), 6)
    return weights


def find_segments(doc: Doc) -> list[Span]:
    """The sentences of a Doc that have a word (list[Span]); the whole Doc if it has no sentence starts."""
    spans = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    return [span for span in spans if not all(token.is_space for token in span)]


def check_word(doc: Doc, index: int) -> str:
    """The text of a token (str). RAISES (ValueError): For one that would break a line or a column."""
    text = doc[index].text
    if any(character in text for character in "\t\n\r"):
        raise CRFError(CorpusErrors.CRF541.format(token=index, text=text, document=doc[:6].text))
    return text
