"""`crf classes`: word lists of classes from text and vectors, and training with them."""

import gzip
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.commands import run
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vectors import Vectors

from spacy_crf.features.resources import WordList

NOUNS, VERBS = ("cat", "dog", "emu"), ("ran", "sat", "hid")
PLACES = {"cat": 0, "dog": 0, "emu": 0, "ran": 1, "sat": 1, "hid": 1, "the": 2, "a": 2}


classes = partial(run, "classes")


def read_list(path: Path) -> dict[str, str]:
    return {words[0]: value for words, value in WordList.read("classes", path).entries}


def vectors() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {word: np.eye(9)[place] + rng.normal(scale=0.01, size=9) for word, place in PLACES.items()}


def has_right_classes(paths: dict[str, str]) -> bool:
    return len({paths[noun] for noun in NOUNS}) == len({paths[verb] for verb in VERBS}) == 1 != len(set(paths.values()))


def test_classes_of_text(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    text = "".join(f"The {rng.choice(NOUNS)} {rng.choice(VERBS)}. #{number}\n" for number in range(300))
    (tmp_path / "raw.txt.gz").write_bytes(gzip.compress(text.encode()))
    told = classes(tmp_path / "raw.txt.gz", "--classes", 6, "--output", tmp_path / "out" / "classes.tsv")
    paths = read_list(tmp_path / "out" / "classes.tsv")
    assert has_right_classes(paths) and paths["the"] != paths["cat"]
    # the sixth is that of the numbers, none of which occurs twice
    assert "5 classes" in told and paths["cat"] in told
    again = tmp_path / "again.tsv"
    classes(tmp_path / "raw.txt.gz", "--classes", 6, "--output", again)
    assert again.read_bytes() == (tmp_path / "out" / "classes.tsv").read_bytes()


def test_words_with_spaces_within_have_classes(tmp_path: Path) -> None:
    rows = [("phố cổ", "ở", "10 000"), ("Hà Nội", "là", "#nhà")] * 5
    blocks = ("".join(f"{n}\t{w}" + "\t_" * 8 + "\n" for n, w in enumerate(words, 1)) for words in rows)
    (tmp_path / "raw.conllu").write_text("\n".join(blocks) + "\n", encoding="utf8")
    classes(tmp_path / "raw.conllu", "--classes", 3, "--min-count", 2, "--output", tmp_path / "classes.tsv")
    lists = {"clusters": str(tmp_path / "classes.tsv")}
    nlp, words = spacy.blank("xx"), [word for row in rows[:2] for word in row]
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LIST(clusters)"], "lists": lists}
    tagger = nlp.add_pipe("crf_tagger", config={"features": features})
    gold = Example.from_dict(Doc(nlp.vocab, words), {"tags": ["A"] * len(words)})
    nlp.initialize(lambda: [gold])
    (column,) = tagger.read_columns([gold.predicted]).by_attribute.values()
    assert column.hashes.all()


@pytest.mark.parametrize("header", ["", "8 9\n"])
def test_classes_of_a_file_of_vectors(tmp_path: Path, header: str) -> None:
    lines = "".join(f"{word} {' '.join(f'{value:.6f}' for value in row)}\n" for word, row in vectors().items())
    (tmp_path / "vectors.txt").write_text(header + lines)
    classes(tmp_path / "vectors.txt", "--classes", 3, "--output", tmp_path / "classes.tsv")
    assert has_right_classes(read_list(tmp_path / "classes.tsv"))


def test_classes_of_a_pipeline_with_vectors(tmp_path: Path) -> None:
    nlp, rows = spacy.blank("en"), vectors()
    for word in rows:
        nlp.vocab.strings.add(word)
    nlp.vocab.vectors = Vectors(data=np.array(list(rows.values()), dtype=np.float32), keys=list(rows))
    nlp.to_disk(tmp_path / "model")
    classes(tmp_path / "model", "--classes", 3, "--output", tmp_path / "classes.tsv")
    assert has_right_classes(read_list(tmp_path / "classes.tsv"))


@pytest.mark.parametrize(
    "content, options, code",
    [
        ("a b\n", [], "CRF656"),
        ("a b\n" * 9, [], "CRF656"),
        ("a 1 2 3 4 5 6 7 8 9\n" * 2 + "b 1 2\n", [], "CRF657"),
        ("a\t1\t2\t3\t4\t5\t6\t7\t8\t9\n" * 2, [], "CRF657"),
        ("a 1 2 3 4 5 6 7 8 9\n" * 2, ["--rounds", "2"], "CRF639"),
        ("a b\n", ["--seed", "2"], "CRF639"),
    ],
)
def test_bad_sources(tmp_path: Path, content: str, options: list[str], code: str) -> None:
    (tmp_path / "source.txt").write_text(content)
    assert code in classes(tmp_path / "source.txt", "--output", tmp_path / "classes.tsv", *options, code=1)


def test_a_pipeline_without_vectors(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "model")
    assert "CRF658" in classes(tmp_path / "model", "--output", tmp_path / "classes.tsv", code=1)
