"""`python -m spacy crf dictionary`, `spelling`: tables of a corpus, to be corrected and named in a config."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import spacy
import typer
from wasabi import table

from ..annotation.gold import GOLD_TAGS
from ..core.errors import CRFError
from ..features.block import FIT, SpellingSettings
from ..features.normalise import LENGTHS, RATIO, SpellingTable
from ..features.resources import word_counter
from ..pipe.dictionary.block import DictionarySettings, Fold
from ..pipe.dictionary.counts import similar_pairs
from ..pipe.dictionary.tag_dictionary import TagDictionary, make_dictionary, write_table
from ..pipe.errors import PipeErrors
from ..tagsets.report import DictionaryCoverage, TaggedWords, dictionary_coverage
from .data import Data, DataOptions
from .errors import CommandErrors
from .options import command, percent, tell_written

NAME = "crf dictionary"  # in messages
COUNTS = (1, 2, 5, 10, 20, 50)  # thresholds that are compared
TOLD = "Format of the documents; otherwise picked by file"
GOLD = DataOptions("TRAIN", "Gold documents: a file or a folder", told=TOLD, has_input=False)
GROUPS = 15  # the largest groups of spellings, which are shown


@command("dictionary", "No dictionary was made")
def dictionary(
    train: Annotated[Data, GOLD],
    output: Annotated[Path | None, typer.Option(help="File for the table of words, tags and counts")] = None,
    held_out: Annotated[
        Path | None, typer.Option(help="Other gold documents: shows how often what is right is valid")
    ] = None,
    top: Annotated[int, typer.Option(help="How many of the most similar pairs of tags to list")] = 15,
    similarity: Annotated[float | None, typer.Option(help="Makes a rule of each pair at least as similar")] = None,
    open_types: Annotated[int, typer.Option(help="Tags seen with so many distinct words are open")] = 10,
    fold: Annotated[Fold, typer.Option(help="lower: look words up in lower case")] = "lower",
    target: Annotated[
        Literal["tag", "pos"], typer.Option(help="Where documents without weighted gold have their tags")
    ] = "tag",
    gold_tags: Annotated[str, typer.Option(help="Custom token attribute with weighted gold")] = GOLD_TAGS,
) -> None:
    """Count which tags words have, and propose expansion rules: tags that the same words have."""
    nlp = spacy.blank("xx")
    words = TaggedWords.of(train.docs(nlp), target, gold_tags)
    tags = words.tags
    if not len(tags):
        raise CRFError(PipeErrors.CRF831)
    config = DictionarySettings(open_types=open_types, similarity=similarity, fold=fold)
    counts = words.count(tags, fold)
    made = make_dictionary(counts, config, tags, NAME)
    typer.echo(format_dictionary(made, tags.tags))
    typer.echo(format_proposals(made, tags.tags, top))
    if held_out is not None:
        other = TaggedWords.of(train.at(held_out).docs(nlp), target, gold_tags)
        stricter = [make_dictionary(counts, replace(config, min_count=n), tags, NAME) for n in COUNTS]
        typer.echo(format_coverages([(one.min_count, dictionary_coverage(one, other, tags)) for one in stricter]))
    if output is not None:
        write_table(made, tags.tags, output)
    tell_written(output)


def format_dictionary(dictionary: TagDictionary, tags: tuple[str, ...]) -> str:
    """The size of a dictionary, and its open tags."""
    opened = [tag for tag, is_open in zip(tags, dictionary.open_labels) if is_open]
    rows = [
        ("words", f"{len(dictionary.words.keys):,}"),
        ("occurrences with gold", f"{dictionary.words.totals().sum():,.0f}"),
        ("tags", f"{len(tags)}"),
        ("open", f"{len(opened)}: {' '.join(opened)}"),
    ]
    return str(table(rows))


def format_proposals(dictionary: TagDictionary, tags: tuple[str, ...], top: int) -> str:
    """The most similar pairs of tags; a star for those that are rules."""
    rules = {tuple(rule.nonzero()[0].tolist()) for rule in dictionary.rules}
    rows = [
        (f"{pair.similarity:.3f}", tags[pair.first], tags[pair.second], "*" * ((pair.first, pair.second) in rules))
        for pair in similar_pairs(dictionary.words)[:top]
    ]
    return str(table(rows, header=("similarity", "tag", "tag", "rule"), divider=True))


def format_coverages(rows: list[tuple[float, DictionaryCoverage]]) -> str:
    """How often gold is valid, by the least count of a known word."""
    heads = ("min_count", "known", "gold valid", "of known", "of others", "tags", "of known")
    cells = []
    for count, found in rows:
        shares = map(percent, (found.known, found.valid, found.valid_known, found.valid_others))
        means = ("" if size is None else f"{size:.1f}" for size in (found.size, found.size_known))
        cells.append((f"{count:g}", *shares, *means))
    return str(table(cells, header=heads, divider=True, aligns="r"))


@command("spelling", "No table was fitted")
def spelling(
    data: Annotated[Data, DataOptions("DATA", "Documents: a file or a folder", has_input=False)],
    output: Annotated[Path | None, typer.Option(help="File for the table, to correct and to name in a config")] = None,
    rules: Annotated[str | None, typer.Option(help="Rewrite rules: a file, or a name: free_spelling")] = None,
    lengths: Annotated[str, typer.Option(help="Letters from which one, two ... edits are allowed")] = ",".join(
        map(str, LENGTHS)
    ),
    ratio: Annotated[float, typer.Option(help="How many times as frequent a normal form is as its variants")] = RATIO,
) -> None:
    """Join spellings of one word: rewrite rules first, then rare forms that are near a frequent one.

    The table has a line `form<TAB>normal form` for each form that the rules leave. Corrected, it is the `table` of a
    `spacy_crf.Spelling.v1` block.
    """
    count = word_counter(lambda: data.docs(spacy.blank("xx")))
    found = SpellingSettings(rules, FIT, parse_lengths(lengths), ratio).make(count).spelling
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        found.write(output)
    typer.echo(format_groups(found))
    tell_written(output)


def parse_lengths(text: str) -> list[int]:
    """Whole numbers that are separated by commas."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError as error:
        raise CRFError(CommandErrors.CRF607.format(name="lengths", value=text)) from error


def format_groups(spelling: SpellingTable) -> str:
    """How many forms there are, and the normal forms with the most variants."""
    variants = Counter(normal for form, normal in spelling.table.items() if form != normal)
    members: dict[str, list[str]] = {normal: [] for normal, _ in variants.most_common(GROUPS)}
    for form, normal in spelling.table.items():
        if form != normal and normal in members:
            members[normal].append(form)
    n_normal = len(spelling.table) - variants.total()
    told = f"{len(spelling.table):,} forms, {n_normal:,} normal forms, {variants.total():,} variants"
    rows = [(normal, f"{len(forms)}", " ".join(forms[:8])) for normal, forms in members.items()]
    return f"{told}\n{table(rows, header=('normal form', 'variants', ''), divider=True, aligns=('l', 'r', 'l'))}"
