"""`python -m spacy crf classes`: word classes for word lists, from vectors or from raw text."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import spacy
import typer
from spacy.language import Language

from ..core.arrays import Floats
from ..core.errors import CRFError
from ..features.class_paths import text_paths, vector_paths
from ..lab.errors import LabErrors
from ..reading.files import read_lines
from ..reading.records import finite_number
from .data import Data, DataOptions
from .options import command, make_folders, refuse_idle, table, tell_written, watched

SOURCE = DataOptions(
    "SOURCE",
    "Raw text, a text on each line, or any corpus; or vectors: a pipeline, or a file of word2vec or GloVe",
    told="Format of a corpus: text, or one of training; otherwise picked by file",
    has_input=False,
)
LEAST_WIDTH = 8  # numbers behind a word that make a line one of vectors
SHOWN_CLASSES, SHOWN_WORDS = 10, 8


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
    seed: Annotated[int, typer.Option(help="Of the classes of vectors")] = 0,
    given: Sequence[str] = (),
) -> None:
    """Make classes of words: of those that stand in the same surroundings in raw text, or have similar vectors.

    The word list has a line `word<TAB>path` for each word. Paths are strings of 0 and 1; classes that are alike begin
    alike. The templates @listed_clusters ask for a list of the name "clusters":
    --components.crf_tagger.features.lists '{"clusters": "FILE"}'.
    """
    vectors = find_vectors(source.path, max_words)
    of_text, of_vectors = "text", "vectors"
    refuse_idle(
        given,
        *((name, vectors is None, of_text) for name in ("format", "columns", "lang", "min_count", "rounds")),
        ("seed", vectors is not None, of_vectors),
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
        width = width or len(fields)
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
    words = list(islice(rows, max_words))
    return Vectors(words, np.asarray(vectors.data[[rows[word] for word in words]]))


def write_list(paths: Mapping[str, str], output: Path) -> None:
    """Write a word list. Words that such a list cannot hold are left out: it has one word on each line."""
    held = (word for word in paths if len(word.split()) == 1 and not word.startswith("#"))
    output.write_text("".join(f"{word}\t{paths[word]}\n" for word in held), encoding="utf8", newline="\n")


def format_classes(paths: Mapping[str, str]) -> str:
    """How many there are, and the words that come first in the largest of them."""
    members: dict[str, list[str]] = defaultdict(list)
    for word, path in paths.items():
        members[path].append(word)
    largest = sorted(members.values(), key=len, reverse=True)[:SHOWN_CLASSES]
    rows = [(paths[words[0]], f"{len(words):,}", " ".join(words[:SHOWN_WORDS])) for words in largest]
    return f"{len(paths):,} words, {len(members):,} classes\n{table(rows, ('path', 'words', ''), 'lrl', 60)}"
