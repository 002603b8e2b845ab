"""`python -m spacy crf dictionary`: the tag dictionary of a corpus, rules that would widen it, and what it costs."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import spacy
import typer
from wasabi import msg, table

from ..annotation.gold_tags import GOLD_TAGS
from ..core.errors import CRFError
from ..corpora.reader import Corpus
from ..pipe.dictionary.block import DictionarySettings, Fold
from ..pipe.dictionary.counts import similar_pairs
from ..pipe.dictionary.tag_dictionary import TagDictionary, make_dictionary, write_table
from ..pipe.errors import PipeErrors
from ..tagsets.dictionary_report import Coverage, TaggedWords, coverage
from .app import app
from .score import Target, _names
from .sets import _percent

NAME = "crf dictionary"  # in messages
COUNTS = (1, 2, 5, 10, 20, 50)  # thresholds that are compared


@app.command("dictionary")
def dictionary_cli(
    train: Annotated[Path, typer.Argument(metavar="TRAIN", help="Gold documents: a file or a folder")],
    output: Annotated[Path | None, typer.Option(help="File for the table of words, tags and counts")] = None,
    held_out: Annotated[
        Path | None, typer.Option(help="Other gold documents: shows how often what is right is valid")
    ] = None,
    top: Annotated[int, typer.Option(help="How many of the most similar pairs of tags to list")] = 15,
    similarity: Annotated[float | None, typer.Option(help="Makes a rule of each pair at least as similar")] = None,
    open_types: Annotated[int, typer.Option(help="Tags seen with so many distinct words are open")] = 10,
    fold: Annotated[Fold, typer.Option(help="lower: look words up in lower case")] = "lower",
    target: Annotated[Target, typer.Option(help="Where documents without weighted gold have their tags")] = "tag",
    gold_tags: Annotated[str, typer.Option(help="Custom token attribute with weighted gold")] = GOLD_TAGS,
    format: Annotated[str | None, typer.Option(help="Format of the documents; otherwise picked by file")] = None,
    columns: Annotated[str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag")] = None,
) -> None:
    """Count which tags words have, and propose expansion rules: tags that the same words have."""
    try:
        layout = {"format": format, "columns": _names(columns) or None}
        nlp = spacy.blank("xx")
        words = TaggedWords.of(Corpus(train, **layout).read_docs(nlp.vocab), target, gold_tags)  # type: ignore[arg-type]
        tags = words.tags
        if not len(tags):
            raise CRFError(PipeErrors.CRF831)
        config = DictionarySettings(open_types=open_types, similarity=similarity, fold=fold)
        counts = words.count(tags, fold)
        dictionary = make_dictionary(counts, config, tags, NAME)
        typer.echo(_summary(dictionary, tags.tags))
        typer.echo(_proposals(dictionary, tags.tags, top))
        if held_out is not None:
            other = TaggedWords.of(Corpus(held_out, **layout).read_docs(nlp.vocab), target, gold_tags)  # type: ignore[arg-type]
            made = [make_dictionary(counts, replace(config, min_count=n), tags, NAME) for n in COUNTS]
            typer.echo(_coverages([(one.min_count, coverage(one, other, tags)) for one in made]))
        if output is not None:
            write_table(dictionary, tags.tags, output)
    except (ValueError, OSError) as error:
        msg.fail("No dictionary was made", str(error), exits=1)
    if output is not None:
        msg.good(f"Wrote {output}")


def _summary(dictionary: TagDictionary, tags: tuple[str, ...]) -> str:
    opened = [tag for tag, is_open in zip(tags, dictionary.open_labels) if is_open]
    rows = [
        ("words", f"{len(dictionary.words.keys):,}"),
        ("occurrences with gold", f"{dictionary.words.totals().sum():,.0f}"),
        ("tags", f"{len(tags)}"),
        ("open", f"{len(opened)}: {' '.join(opened)}"),
    ]
    return str(table(rows))


def _proposals(dictionary: TagDictionary, tags: tuple[str, ...], top: int) -> str:
    """The most similar pairs of tags; a star for those that are rules."""
    rules = {tuple(rule.nonzero()[0].tolist()) for rule in dictionary.rules}
    rows = [
        (f"{pair.similarity:.3f}", tags[pair.first], tags[pair.second], "*" * ((pair.first, pair.second) in rules))
        for pair in similar_pairs(dictionary.words)[:top]
    ]
    return str(table(rows, header=("similarity", "tag", "tag", "rule"), divider=True))


def _coverages(rows: list[tuple[float, Coverage]]) -> str:
    heads = ("min_count", "known", "gold valid", "of known", "of others", "tags", "of known")
    cells = [
        (
            f"{count:g}",
            *map(_percent, (found.known, found.valid, found.valid_known, found.valid_others)),
            *map(_mean, (found.size, found.size_known)),
        )
        for count, found in rows
    ]
    return str(table(cells, header=heads, divider=True, aligns="r"))


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
