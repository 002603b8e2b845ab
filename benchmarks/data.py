"""Reading and scoring of the evaluation corpora: one implementation for every engine."""

import csv
import gzip
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

CONLL2000 = "conll2000"
EWT = "ud_english_ewt"
REN = "ren_mlg"


class Sentence(NamedTuple):
    """Columns of one sentence: `upos` is empty where the corpus has none, `chunks` likewise."""

    words: list[str]
    xpos: list[str]
    upos: list[str]
    chunks: list[str]


class ChunkScore(NamedTuple):
    """Precision, recall and F1 of exact chunks, in percent."""

    precision: float
    recall: float
    f1: float


def read_conll2000(data: Path, split: str) -> Iterator[Sentence]:
    """Read the CoNLL-2000 chunking data (word, part of speech, chunk) sentence by sentence."""
    for rows in _blocks(data / CONLL2000 / f"{split}.txt"):
        words, xpos, chunks = zip(*(row.split() for row in rows))
        yield Sentence(list(words), list(xpos), [], list(chunks))


def read_ewt(data: Path, split: str) -> Iterator[Sentence]:
    """Read UD English EWT, gzipped or not, sentence by sentence."""
    path = data / EWT / f"en_ewt-ud-{split}.conllu"
    for rows in _blocks(path if path.exists() else path.with_name(f"{path.name}.gz")):
        columns = [row.split("\t") for row in rows if not row.startswith("#")]
        tokens = [row for row in columns if row[0].isdecimal()]
        yield Sentence([row[1] for row in tokens], [row[4] for row in tokens], [row[3] for row in tokens], [])


def read_ren(data: Path, split: str) -> Iterator[Sentence]:
    """Read the Middle Low German corpus segment by segment; of several gold tags the first one."""
    with (data / REN / "documents.tsv").open(encoding="utf8") as lines:
        names = [row["file"] for row in csv.DictReader(lines, delimiter="\t") if row["split"] == split]
    for name in names:
        for rows in _blocks(data / REN / "pos" / f"{name}.tsv"):
            words, tags = zip(*(row.split("\t") for row in rows))
            yield Sentence(list(words), [tag.split("|")[0] for tag in tags], [], [])


def accuracy(gold: Iterable[list[str]], predicted: Iterable[list[str]]) -> float:
    """Return the percentage of tokens with the right label."""
    pairs = list(zip(chain.from_iterable(gold), chain.from_iterable(predicted), strict=True))
    return 100.0 * sum(left == right for left, right in pairs) / len(pairs)


def score_chunks(gold: Iterable[list[str]], predicted: Iterable[list[str]]) -> ChunkScore:
    """Score exact chunks of BIO labels as the CoNLL-2000 evaluation does."""
    correct = found = wanted = 0
    for gold_labels, predicted_labels in zip(gold, predicted, strict=True):
        gold_chunks, predicted_chunks = read_chunks(gold_labels), read_chunks(predicted_labels)
        correct += len(gold_chunks & predicted_chunks)
        found += len(predicted_chunks)
        wanted += len(gold_chunks)
    return ChunkScore(
        precision=100.0 * correct / max(found, 1),
        recall=100.0 * correct / max(wanted, 1),
        f1=200.0 * correct / max(found + wanted, 1),
    )


def read_chunks(labels: list[str]) -> set[tuple[int, int, str]]:
    """Find the chunks of one sentence; an I- that continues nothing starts a chunk, as in CoNLL's evaluation.

    RETURNS (set[tuple[int, int, str]]): Start, end (exclusive) and type of each chunk.
    """
    chunks = set()
    start, kind = 0, ""
    for position, label in enumerate([*labels, "O"]):
        prefix, _, new_kind = label.partition("-")
        if prefix == "I" and new_kind == kind:
            continue
        if kind:
            chunks.add((start, position, kind))
        start, kind = position, new_kind
    return chunks


def _blocks(path: Path) -> Iterator[list[str]]:
    """Lines between blank lines, read lazily so that a job's memory is its own."""
    opener = gzip.open if path.suffix == ".gz" else open
    rows: list[str] = []
    with opener(path, "rt", encoding="utf8") as lines:
        for line in lines:
            if row := line.rstrip("\r\n"):
                rows.append(row)
            elif rows:
                yield rows
                rows = []
    if rows:
        yield rows
