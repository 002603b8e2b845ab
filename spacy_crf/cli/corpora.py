"""`python -m spacy crf convert`, `dictionary`, `spelling`, `classes`: corpora as .spacy files, and tables."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from ..annotation.gold import GOLD_TAGS
from ..core.arrays import Floats
from ..core.errors import CRFError
from ..corpora.files import refuse_own
from ..features.block import FIT, SpellingSettings
from ..features.class_paths import text_paths, vector_paths
from ..features.resources import count_forms
from ..features.spelling import LENGTHS, RATIO, SpellingTable
from ..lab.errors import LabErrors
from ..pipe.dictionary.block import DictionarySettings, Fold
from ..pipe.dictionary.counts import similar_pairs
from ..pipe.dictionary.tag_dictionary import TagDictionary, make_dictionary, write_table
from ..pipe.errors import PipeErrors
from ..reading.files import read_lines, write_whole
from ..reading.records import finite_number
from ..tagsets.report import DictionaryCoverage, TaggedWords, dictionary_coverage, percent
from .data import FORMATS, SECTIONS, Data, DataOptions
from .options import command, make_folders, parse_numbers, refuse_idle, split_names, table, tell_written, watched
from .surface import is_quiet

NAME = "crf dictionary"  # in messages
COUNTS = (1, 2, 5, 10, 20, 50)  # thresholds that are compared
GOLD = DataOptions(
    "TRAIN", "Gold documents: a file or a folder", "Format of the documents; otherwise picked by file", has_input=False
)
LEAST_WIDTH = 8  # numbers behind a word that make a line one of vectors
SHOWN_CLASSES, SHOWN_GROUPS, SHOWN_WORDS, SHOWN_LABELS = 10, 15, 8, 10  # groups of spellings
SOURCE = DataOptions(
    "SOURCE",
    "Raw text, a text on each line, or any corpus; or vectors: a pipeline, or a file of word2vec or GloVe",
    told="Format of a corpus: text, or one of training; otherwise picked by file",
    has_input=False,
)


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
    settings: dict[str, int | str] = {"group": int(group) if group.isdecimal() else group} if group != "auto" else {}
    if separator:
        settings["separator"] = separator.replace("\\t", "\t")
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
        if counts := Counter(filter(None, labels)):
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
    if data.format in (None, "spacy", SECTIONS):
        refuse_own(data.path, path)
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
    make_folders(output)
    nlp = spacy.blank("xx")
    words = TaggedWords.of(train.docs(nlp), target, gold_tags)
    if not len(tags := words.tags):
        raise CRFError(PipeErrors.CRF831)
    config = DictionarySettings(open_types=open_types, similarity=similarity, fold=fold)
    counts = words.count(tags, fold)
    made = make_dictionary(counts, config, tags, NAME)
    told = [format_dictionary(made, tags.tags), format_proposals(made, tags.tags, top)]
    if held_out is not None:
        other = TaggedWords.of(train.at(held_out).docs(nlp), target, gold_tags)
        stricter = [make_dictionary(counts, replace(config, min_count=n), tags, NAME) for n in COUNTS]
        told.append(format_coverages([(one.min_count, dictionary_coverage(one, other, tags)) for one in stricter]))
    if output is not None:
        write_table(made, tags.tags, output)
    typer.echo("\n".join(told))
    tell_written(output)


def format_dictionary(dictionary: TagDictionary, tags: tuple[str, ...]) -> str:
    """The size of a dictionary, and its open tags."""
    opened = [tag for tag, is_open in zip(tags, dictionary.open_labels) if is_open]
    words, occurrences = len(dictionary.words.keys), dictionary.words.totals().sum()
    counts = [("words", f"{words:,}"), ("occurrences with gold", f"{occurrences:,.0f}"), ("tags", f"{len(tags)}")]
    return table([*counts, ("open", f"{len(opened)}: {' '.join(opened)}")])


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
    make_folders(output)
    settings = SpellingSettings(rules, FIT, parse_numbers("lengths", lengths, int), ratio)
    found = settings.make(lambda: count_forms(data.docs(spacy.blank("xx")))).spelling
    if output is not None:
        found.write(output)
    typer.echo(format_groups(found))
    tell_written(output)


def format_groups(spelling: SpellingTable) -> str:
    """How many forms there are, and the normal forms with the most variants."""
    variants = Counter(normal for form, normal in spelling.table.items() if form != normal)
    members: dict[str, list[str]] = {normal: [] for normal, _ in variants.most_common(SHOWN_GROUPS)}
    for form, normal in spelling.table.items():
        if form != normal and normal in members:
            members[normal].append(form)
    n_forms, n_variants = len(spelling.table), variants.total()
    told = f"{n_forms:,} forms, {n_forms - n_variants:,} normal forms, {n_variants:,} variants"
    rows = [(normal, f"{len(forms)}", " ".join(forms[:SHOWN_WORDS])) for normal, forms in members.items()]
    return f"{told}\n{table(rows, ('normal form', 'variants', ''), 'lrl')}"


# -- classes ------------------------------------------------------------------------------------------------------


class Vectors(NamedTuple):
    """Vectors ((W, D)) of W words, in lower case, the most frequent first where the source has them so."""

    words: list[str]
    places: Floats


@command("classes", "No classes were made", "raw.txt.gz --classes 1000 --output classes.tsv")
def classes(
    source: Annotated[Data, SOURCE],
    output: Annotated[Path, typer.Option(help="File for the word list, for `lists` of a config's features")],
    n_classes: Annotated[int, typer.Option("--classes", min=2, help="How many")] = 1000,
    lang: Annotated[str, typer.Option(help="Language whose tokenizer is used for text")] = "en",
    min_count: Annotated[int, typer.Option(min=2, help="Rarer words of text are put where they fit best")] = 10,
    max_words: Annotated[int, typer.Option(min=2, help="Words that are not put so; of vectors, words at all")] = 50_000,
    rounds: Annotated[int, typer.Option(min=1, help="Passes over the words of text, at most")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of the classes of vectors")] = 0,
    given: Sequence[str] = (),
) -> None:
    """Make classes of words: of those that stand in the same surroundings in raw text, or have similar vectors.

    The word list has a line `word<TAB>path` for each word. Paths are strings of 0 and 1; classes that are alike begin
    alike. The templates @listed_clusters ask for a list of the name "clusters":
    --components.crf_tagger.features.lists '{"clusters": "FILE"}'.
    """
    vectors = find_vectors(source.path, max_words)
    refuse_idle(
        given,
        *((name, vectors is None, "text") for name in ("format", "columns", "lang", "min_count", "rounds")),
        ("seed", vectors is not None, "vectors"),
    )
    make_folders(output)
    if vectors is None:
        nlp = spacy.blank(lang)
        texts = lambda: ([token.text for token in doc] for doc, _ in watched(source.raw(nlp), "Reading"))  # noqa: E731
        paths = text_paths(texts, n_classes, min_count, max_words, rounds)
    else:
        paths = vector_paths(*vectors, n_classes, seed)
    if len(set(paths.values())) < 2:
        raise CRFError(LabErrors.CRF656.format(path=source.path))
    write_list(paths, output)
    typer.echo(format_classes(paths))
    tell_written(output, then="""train with --components.crf_tagger.features.lists '{{"clusters": "{}"}}'""")


def find_vectors(source: Path, max_words: int) -> Vectors | None:
    """Return the vectors of a pipeline or of a file; None where the source is no such thing."""
    if source.is_file():
        return read_vectors(source, max_words) if has_vectors(source) else None
    if source.is_dir() and not (source / "config.cfg").exists():
        return None
    return pipeline_vectors(spacy.load(source if source.is_dir() else str(source)), max_words)


def has_vectors(path: Path) -> bool:
    """Whether the second line of a file is a word and its vector; the first one may be that of word2vec's sizes."""
    try:
        lines = list(islice(read_lines(path), 2))
    except ValueError:
        return False
    fields = lines[-1].split() if lines else []
    return len(fields) > LEAST_WIDTH and all(finite_number(field) is not None for field in fields[1:])


def read_vectors(path: Path, max_words: int) -> Vectors:
    """Read the first lines of a file of vectors in text. Of words that differ in case alone, the first one counts."""
    rows: dict[str, Floats] = {}
    width = 0
    for number, line in enumerate(read_lines(path), 1):
        word, *fields = line.rstrip().split(" ")
        if number == 1 and len(fields) == 1:
            continue  # how many words and dimensions there are
        width = width or len(line.split()) - 1
        values = np.array([finite_number(field) for field in fields], dtype=float)
        if len(fields) != width or np.isnan(values).any():
            raise CRFError(LabErrors.CRF657.format(path=path, line=number, width=width))
        rows.setdefault(word.lower(), values.astype(np.float32))
        if len(rows) == max_words:
            break
    return Vectors(list(rows), np.array(list(rows.values())))


def pipeline_vectors(nlp: Language, max_words: int) -> Vectors:
    """Return the vectors of the words of a pipeline. Of words that differ in case alone, the lower one counts."""
    vectors, strings = nlp.vocab.vectors, nlp.vocab.strings
    rows: dict[str, int] = {}
    known = ((strings[key], row) for key, row in vectors.key2row.items() if key in strings)
    for word, row in sorted(known, key=lambda one: one[1]):
        if word.islower() or word.lower() not in rows:
            rows[word.lower()] = int(row)
    if not rows:
        raise CRFError(LabErrors.CRF658.format(name=nlp.meta["name"]))
    kept = dict(islice(rows.items(), max_words))
    return Vectors(list(kept), np.asarray(vectors.data[list(kept.values())]))


def write_list(paths: Mapping[str, str], output: Path) -> None:
    """Write a word list. Words that such a list cannot hold are left out: it has one on each line, up to a tab."""
    held = (word for word in paths if word and word == word.strip() and {*"\t\n\r"}.isdisjoint(word))
    write_whole(output, "".join(f"{word}\t{paths[word]}\n" for word in held))


def format_classes(paths: Mapping[str, str]) -> str:
    """How many there are, and the words that come first in the largest of them."""
    members: dict[str, list[str]] = defaultdict(list)
    for word, path in paths.items():
        members[path].append(word)
    largest = sorted(members.items(), key=lambda one: -len(one[1]))[:SHOWN_CLASSES]
    rows = [(path, f"{len(words):,}", " ".join(words[:SHOWN_WORDS])) for path, words in largest]
    return f"{len(paths):,} words, {len(members):,} classes\n{table(rows, ('path', 'words', ''), 'lrl', 60)}"
