"""Token TSV: a form and its tags on each line, a blank line between segments; reader and writer."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import Doc, Span

from ..annotation.gold_tags import GOLD_TAGS, best_tag, register_gold_tags
from ..core.errors import CRFError
from .errors import CorpusErrors
from .files import read_blocks
from .kinds import EXTENSION_PREFIX
from .sentence import Sentence
from .tagsets import format_tags, parse_tags, read_cells

COLUMNS = ("form", "tags")
STEPS = 10_000  # weights of predicted tags have four decimals


def read_tokens_tsv(path: Path, *, name: str = GOLD_TAGS) -> Iterator[Sentence]:
    """Yield the segments of a file of `form<TAB>tags` lines; the first one begins a document.

    Everything before the tab is the form, so "|", "#" and "_" are words like others; a line with "#" at its beginning
    and no tab is a comment. See `tagsets` for the tags.

    path (Path): The file.
    name (str): The custom token attribute of the gold tags.
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
    """Put words and their gold tags together, the same way for all formats that have several tags per token.

    words (list[str]): The tokens. tags (list[dict[str, float]]): Weights by tag for each; empty for no gold.
    name (str): The custom token attribute of the gold, which is registered.
    spaces (list[bool] | None): Whether white space follows each word; None if unknown.
    starts_document (bool): Whether a document begins.
    RETURNS (Sentence): With the columns "tag" and "ext:NAME".
    """
    register_gold_tags(name)
    cells = [format_tags(weights) if weights else "" for weights in tags]
    columns = {"tag": [best_tag(weights) for weights in tags], f"{EXTENSION_PREFIX}{name}": cells}
    return Sentence(words, columns, spaces, starts_document=starts_document)


def write_tokens_tsv(docs: Iterable[Doc], *, name: str = GOLD_TAGS) -> Iterator[str]:
    """Write the gold tags of documents; tokens without are written with "_". Tokens of white space are left out.

    docs (Iterable[Doc]): The documents. A sentence is a segment; so is a Doc without sentence starts.
    name (str): The custom token attribute of the gold tags.
    YIELDS (str): Lines without line ends; an empty one behind each segment.
    RAISES (ValueError): For a word with a tab or a line end, or a tag that the notation cannot hold.
    """
    for doc in docs:
        gold = read_cells(doc, name)
        for segment in find_segments(doc):
            for token in segment:
                if not token.is_space:
                    yield f"{check_word(doc, token.i)}\t{format_tags(gold[token.i])}"
            yield ""


def write_predicted_tsv(doc: Doc, tag_set: str = "tag_set", tag_probs: str = "tag_probs") -> Iterator[str]:
    """Write the predicted tag sets of a document, with the probabilities of their tags as weights that sum to 1.

    doc (Doc): The document. tag_set (str), tag_probs (str): The custom token attributes with sets and probabilities.
    YIELDS (str): Lines without line ends; an empty one behind each segment.
    RAISES (ValueError): For a word with a tab or a line end, or a tag that the notation cannot hold.
    """
    for segment in find_segments(doc):
        for token in segment:
            if not token.is_space:
                tags, probabilities = token._.get(tag_set) or [], token._.get(tag_probs) or {}
                cell = format_tags(_as_weights({tag: probabilities.get(tag, 0.0) for tag in tags}))
                yield f"{check_word(doc, token.i)}\t{cell}"
        yield ""


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
    """The sentences of a Doc that have a word; the whole Doc if it has no sentence starts.

    doc (Doc): The document.
    RETURNS (list[Span]): The segments in order.
    """
    spans = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    return [span for span in spans if not all(token.is_space for token in span)]


def check_word(doc: Doc, index: int) -> str:
    """The text of a token, unless it would break a line or a column.

    doc (Doc): The document. index (int): Of the token.
    RETURNS (str): The text.
    """
    text = doc[index].text
    if any(character in text for character in "\t\n\r"):
        raise CRFError(CorpusErrors.CRF541.format(token=index, text=text, document=doc[:6].text))
    return text
