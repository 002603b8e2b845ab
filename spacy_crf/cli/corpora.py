"""`python -m spacy crf convert`, `dictionary`, `spelling`: corpora as .spacy files, and tables made of them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import spacy
import typer
from spacy.tokens import Doc, DocBin

from ..annotation.gold import GOLD_TAGS
from ..core.errors import CRFError
from ..features.block import FIT, SpellingSettings
from ..features.resources import count_forms
from ..features.spelling import LENGTHS, RATIO, SpellingTable
from ..lab.errors import LabErrors
from ..pipe.dictionary.block import DictionarySettings, Fold
from ..pipe.dictionary.counts import similar_pairs
from ..pipe.dictionary.tag_dictionary import TagDictionary, make_dictionary, write_table
from ..pipe.errors import PipeErrors
from ..reading.files import write_whole
from ..tagsets.report import DictionaryCoverage, TaggedWords, dictionary_coverage, percent
from .data import FORMATS, Data, DataOptions
from .options import command, make_folders, parse_numbers, split_names, table, tell_written
from .surface import is_quiet

SHOWN_LABELS = 10
NAME = "crf dictionary"  # in messages
COUNTS = (1, 2, 5, 10, 20, 50)  # thresholds that are compared
TOLD = "Format of the documents; otherwise picked by file"
GOLD = DataOptions("TRAIN", "Gold documents: a file or a folder", told=TOLD, has_input=False)
GROUPS = 15  # the largest groups of spellings, which are shown


@command("convert", "Nothing was converted", "train.conllu train.spacy")
def convert_files(
    input_path: Annotated[Path, typer.Argument(metavar="IN", help="File or folder to read, gzip or plain")],
    output_path: Annotated[Path, typer.Argument(metavar="OUT", help="File to write, ending in .spacy")],
    format: Annotated[str | None, typer.Option(help=f"One of: {', '.join(FORMATS)}; otherwise picked by file")] = None,
    columns: Annotated[
        str | None, typer.Option(help="Names of the columns of column files, e.g. word,tag,chunk")
    ] = None,
    group: Annotated[
        str, typer.Option(help="What becomes a document: auto, document, sentence or a number of sentences")
    ] = "auto",
    separator: Annotated[
        str | None, typer.Option(help="What separates columns, \\t for a tab; otherwise picked by file")
    ] = None,
    lang: Annotated[str, typer.Option(help="Language code of the documents")] = "en",
) -> None:
    """Convert a corpus to a .spacy file, with its gold.

    The readers of the components also read the formats themselves. spaCy's own reader and "spacy evaluate" read .spacy
    files only, and tokenize the text anew unless they are given --gold-preproc. Of punctuated text and subtitles, words
    and marks are written, with white space made even.
    """
    settings = {
        **({} if group == "auto" else {"group": int(group) if group.isdecimal() else group}),
        **({"separator": separator.replace("\\t", "\t")} if separator else {}),
    }
    summary = convert(Data(input_path, format, split_names(columns), settings=settings), output_path, lang)
    tell_written(output_path)
    if not is_quiet():
        typer.echo("\n".join(summary.lines()))


@dataclass
class Summary:
    """Counts of what was converted. labels (dict[str, Counter[str]]): By kind ("tag", "ner", "spans:KEY" ...)."""

    docs: int = 0
    sentences: int = 0
    tokens: int = 0
    labels: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, doc: Doc) -> None:
        """Count in one document."""
        self.docs += 1
        self.sentences += int((doc.to_array("SENT_START") == 1).sum())
        self.tokens += len(doc)
        self._count("tag", (token.tag_ for token in doc))
        self._count("pos", (token.pos_ for token in doc))
        self._count("ner", (entity.label_ for entity in doc.ents))
        for key, group in doc.spans.items():
            self._count(f"spans:{key}", (span.label_ for span in group))

    def _count(self, kind: str, labels: Iterable[str]) -> None:
        counts = Counter(label for label in labels if label)
        if counts:
            self.labels.setdefault(kind, Counter()).update(counts)

    def lines(self) -> Iterator[str]:
        """The counts in words."""
        yield f"{self.docs:,} documents, {self.sentences:,} sentences, {self.tokens:,} tokens"
        for kind, counts in self.labels.items():
            shown = ", ".join(f"{label} {count:,}" for label, count in counts.most_common(SHOWN_LABELS))
            more = f" and {len(counts) - SHOWN_LABELS} more" if len(counts) > SHOWN_LABELS else ""
            yield f"{kind}: {counts.total():,} with {len(counts)} labels: {shown}{more}"


def convert(data: Data, path: Path, lang: str = "en") -> Summary:
    """Write a corpus to one `.spacy` file. If anything goes wrong, the file is left as it was."""
    if path.suffix != ".spacy":
        raise CRFError(LabErrors.CRF601.format(path=path))
    summary, doc_bin = Summary(), DocBin(store_user_data=True)
    for doc in data.docs(spacy.blank(lang)):
        doc_bin.add(doc)
        summary.add(doc)
    make_folders(path)
    write_whole(path, doc_bin.to_bytes())
    return summary


# -- dictionary --------------------------------------------------------------------------------------------------


@command("dictionary", "No dictionary was made", "train.tsv --held-out dev.tsv --output dictionary.tsv")
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
    return table(rows)


def format_proposals(dictionary: TagDictionary, tags: tuple[str, ...], top: int) -> str:
    """The most similar pairs of tags; a star for those that are rules."""
    rules = {tuple(rule.nonzero()[0].tolist()) for rule in dictionary.rules}
    rows = [
        (f"{pair.similarity:.3f}", tags[pair.first], tags[pair.second], "*" * ((pair.first, pair.second) in rules))
        for pair in similar_pairs(dictionary.words)[:top]
    ]
    return table(rows, ("similarity", "tag", "tag", "rule"))


def format_coverages(rows: list[tuple[float, DictionaryCoverage]]) -> str:
    """How often gold is valid, by the least count of a known word."""
    heads = ("min_count", "known", "gold valid", "of known", "of others", "tags", "of known")
    cells = []
    for count, found in rows:
        shares = map(percent, (found.known, found.valid, found.valid_known, found.valid_others))
        means = ("" if size is None else f"{size:.1f}" for size in (found.size, found.size_known))
        cells.append((f"{count:g}", *shares, *means))
    return table(cells, heads, "r")


# -- spelling ----------------------------------------------------------------------------------------------------


@command("spelling", "No table was fitted", "texts --rules free_spelling --output spelling.tsv")
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
    settings = SpellingSettings(rules, FIT, parse_numbers("lengths", lengths, int), ratio)
    found = settings.make(lambda: count_forms(data.docs(spacy.blank("xx")))).spelling
    if output is not None:
        make_folders(output)
        found.write(output)
    typer.echo(format_groups(found))
    tell_written(output)


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
    return f"{told}\n{table(rows, ('normal form', 'variants', ''), 'lrl')}"
