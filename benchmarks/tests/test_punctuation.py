"""The punctuation benchmark, on a few made-up words."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks import punctuation

WORDS = ["so", "it", "is", "did", "she", "go", "home", "yes", "then", "we", "saw", "it"]
MARKS = ["COMMA", "O", "PERIOD", "O", "O", "O", "QUESTION", "COMMA", "O", "O", "O", "PERIOD"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / punctuation.FOLDER
    folder.mkdir()
    text = "".join(f"{word}\t{mark}\n" for word, mark in zip(WORDS * 30, MARKS * 30))
    for name in ("ted_train.tsv.gz", "dev2012.tsv.gz"):
        (folder / name).write_bytes(gzip.compress(text.encode("utf8")))
    return tmp_path


def test_a_row_tells_what_was_learned(data: Path) -> None:
    changes = {"features": {"templates": punctuation.WORDS_ONLY, "classes": None}, "marks": {"kinds": []}}
    row = punctuation.run("words", changes, data, 0, 0, None)
    assert row["words"] == 360 and row["dev"]["punct_f"] > 0.9 and 0.2 <= row["threshold"] <= 0.6
    assert row["dev"]["word_acc_none"] == pytest.approx(7 / 12)
    assert sum(part["words"] for part in row["reliability"]["COMMA"]) == 360
    json.dumps(row)


def test_every_idea_is_a_config(data: Path) -> None:
    for changes in punctuation.IDEAS.values():
        example = punctuation.read(data / punctuation.FOLDER / "dev2012.tsv.gz", punctuation.Language())
        nlp = punctuation.build(changes, example, punctuation.Vocab())
        assert nlp.pipe_names == [punctuation.NAME]
