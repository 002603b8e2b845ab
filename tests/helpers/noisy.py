"""Words whose tags nobody can be sure of, so that it matters how sure a tagger is."""

from pathlib import Path

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

TAGS = ("A", "B", "C")
Sentence = tuple[list[str], list[str]]


def sentences(seed: int, n: int) -> list[Sentence]:
    """Words of which each has its usual tag three times out of four, and another one else."""
    rng = np.random.default_rng(seed)
    found = []
    for length in rng.integers(2, 9, n).tolist():
        numbers = rng.integers(0, 9, length)
        others = (numbers + rng.integers(1, 3, length)) % 3
        chosen = np.where(rng.random(length) < 0.75, numbers % 3, others)
        found.append(([f"w{number}" for number in numbers], [TAGS[tag] for tag in chosen]))
    return found


def make_examples(nlp: Language, data: list[Sentence]) -> list[Example]:
    """Sentences as examples of a pipeline, each a document."""
    return [Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words, tags=tags)) for words, tags in data]


def write_columns(path: Path, data: list[Sentence]) -> str:
    """Write sentences as columns of words and tags, and return the path."""
    blocks = ["\n".join(f"{word}\t{tag}" for word, tag in zip(*sentence)) for sentence in data]
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf8")
    return str(path)
