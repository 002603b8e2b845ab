"""`crf review`: listed, corrected, trained on again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.commands import invoke, run, spacy_train
from helpers.paths import ROOT
from spacy.tokens import DocBin, Token
from spacy.util import load_config

from spacy_crf.corpora.reader import Corpus

CONFIG = ROOT / "configs" / "crf_tagger.cfg"
EXTENSION = "crf_test_review"
# column, target, and how a token says its tag
KINDS = {
    "tag": ("tag", lambda tag: tag),
    "pos": ("pos", lambda tag: {"D": "DET", "N": "NOUN", "V": "VERB"}[tag]),
    f"ext:{EXTENSION}": (EXTENSION, lambda tag: tag.lower()),
    "ner": ("ent", lambda tag: {"D": "O", "N": "B-NP", "V": "B-VP"}[tag]),
    "spans:sc": ("spans", lambda tag: {"D": "O", "N": "B-NP", "V": "B-VP"}[tag]),
}
DETERMINERS, NOUNS, VERBS = (["the", "a"], [f"n{k}" for k in range(12)], [f"v{k}" for k in range(12)])

Sentence = list[tuple[str, str]]


@pytest.fixture(autouse=True)
def extensions():
    yield
    for name in (EXTENSION, "crf_partial_ent", "crf_partial_spans_sc"):
        if Token.has_extension(name):
            Token.remove_extension(name)


def sentences(seed: int, count: int, spread: int) -> list[Sentence]:
    """Words in any order, so that only the words themselves tell their tags; `spread` is how many of a kind."""
    rng = np.random.default_rng(seed)
    found = []
    for length in rng.integers(2, 6, count).tolist():
        pattern = rng.choice(list("DNV"), length).tolist()
        words = {"D": DETERMINERS, "N": NOUNS[:spread], "V": VERBS[:spread]}
        found.append([(str(rng.choice(words[tag])), tag) for tag in pattern])
    return found


def as_columns(data: list[Sentence], spell: Callable[[str], str]) -> str:
    return "\n\n".join("\n".join(f"{word}\t{spell(tag)}" for word, tag in sentence) for sentence in data) + "\n"


def train(folder: Path, kind: str, paths: list[Path], dev: Path) -> Path:
    """`spacy train` on some files."""
    config = load_config(CONFIG)
    config["paths"].update(train=[str(path) for path in paths], dev=str(dev))
    tagger = config["components"]["crf_tagger"]
    tagger["target"] = KINDS[kind][0]
    tagger["features"]["templates"] = ["LOWER[0]", "BIAS"]
    for name in ("train", "dev"):
        config["corpora"][name]["columns"] = ["word", kind]
    config["training"]["max_steps"] = 2
    spacy_train(config, folder)
    return folder / "model-last"


def score(model: Path, dev: Path, kind: str) -> float:
    nlp = spacy.load(model)
    return float(nlp.evaluate(list(Corpus(dev, columns=["word", kind])(nlp)))["crf_score"])


@pytest.fixture
def files(tmp_path: Path) -> Callable[[str], dict[str, Path]]:
    """Little to train on, much to look at, and something to score with."""

    def write(kind: str) -> dict[str, Path]:
        spell = KINDS[kind][1]
        raw = sentences(1, 60, 12)
        texts = {
            "train.tsv": as_columns(sentences(0, 8, 2), spell),
            "dev.tsv": as_columns(sentences(2, 60, 12), spell),
            "raw.txt": "\n".join(" ".join(word for word, _ in sentence) for sentence in raw) + "\n",
        }
        for name, text in texts.items():
            (tmp_path / name).write_text(text, encoding="utf8")
        return {name.split(".")[0]: tmp_path / name for name in texts}

    return write


def correct(text: str, format: str, spell: Callable[[str], str], chosen: Callable[[], bool]) -> tuple[str, int]:
    """What somebody who knows makes of the list, and how many tags were filled in."""
    truth = {**dict.fromkeys(DETERMINERS, "D"), **dict.fromkeys(NOUNS, "N"), **dict.fromkeys(VERBS, "V")}
    lines, count = [], 0
    for line in text.splitlines():
        if format == "jsonl":
            data = json.loads(line)
            for token in data["tokens"]:
                token["gold"] = spell(truth[token["text"]]) if chosen() else ""
                count += bool(token["gold"])
            line = json.dumps(data)
        elif "\t" in line and chosen():
            word, _, *rest = line.split("\t")
            line, count = "\t".join([word, spell(truth[word]), *rest]), count + 1
        lines.append(line)
    return "\n".join(lines) + "\n", count


@pytest.mark.filterwarnings("ignore:.*CRFW401")
@pytest.mark.parametrize("kind, share", [("tag", 1.0), *((kind, 0.5) for kind in KINDS)])
def test_review_correct_train(tmp_path: Path, files: Any, kind: str, share: float) -> None:
    paths, format = files(kind), "jsonl" if kind in ("pos", "ner") else "tsv"
    first = train(tmp_path / "first", kind, [paths["train"]], paths["dev"])
    listed, rng = tmp_path / f"list.{format}", np.random.default_rng(0)
    run("review", first, paths["raw"], "--limit", 20, "--format", format, "--output", listed)
    text, filled = correct(
        listed.read_text(encoding="utf8"), format, KINDS[kind][1], lambda: bool(rng.random() < share)
    )
    listed.write_text(text, encoding="utf8")
    second = train(tmp_path / "second", kind, [paths["train"], listed], paths["dev"])
    before, after = score(first, paths["dev"], kind), score(second, paths["dev"], kind)
    assert after > before + 0.1

    nlp = spacy.load(second)
    examples = list(Corpus(listed)(nlp))
    pipe = nlp.get_pipe("crf_tagger")
    lengths = np.array([len(example.predicted) for example in examples])
    known = (pipe.gold(examples, lengths).labels >= 0).sum()
    assert known == filled and (share == 1) == (known == lengths.sum())


@pytest.fixture
def model(tmp_path: Path, files: Any) -> tuple[Path, dict[str, Path]]:
    paths = files("tag")
    return train(tmp_path / "model", "tag", [paths["train"]], paths["dev"]), paths


def blocks(output: str) -> list[list[str]]:
    return [block.splitlines() for block in output.strip().split("\n\n")]


def test_the_list(model: Any, tmp_path: Path) -> None:
    folder, paths = model
    head, *found = blocks(run("review", folder, paths["raw"], "--n-best", 2, "--order", "entropy"))
    assert "# target = tag" in head
    raw = paths["raw"].read_text(encoding="utf8").splitlines()
    assert len(found) == len(raw)
    values = []
    for title, document, text, best, second, *rows in found:
        assert document == "# document = raw"
        id, where, value = parse(title)
        values.append(float(value))
        words = raw[int(where.removeprefix("line ")) - 1].split()
        assert id == f"{where.removeprefix('line ')}.1" and text == f"# text = {' '.join(words)}"
        assert [row.split("\t")[0] for row in rows] == words and all(row.split("\t")[1] == "" for row in rows)
        assert float(best[2:].split(":")[0]) >= float(second[2:].split(":")[0])
        assert best.split(": ")[1].split() == [row.split("\t")[3] for row in rows]
    assert values == sorted(values, reverse=True)


def parse(title: str) -> tuple[str, str, str]:
    """Id, place and value of the comment before a sequence."""
    id, where, _, value = title.removeprefix("# id = ").split(", ")
    return id, where, value.removeprefix("entropy ")


def test_corpora_input_and_prefilled_tags(model: Any, tmp_path: Path) -> None:
    folder, paths = model
    data = tmp_path / "two.conll"
    data.write_text("the\tD\tx\nn1\tN\ty\n\nv5\tV\tz\n", encoding="utf8")
    options = ["--columns", f"word,tag,ext:{EXTENSION}", "--input", f"ext:{EXTENSION}", "--prefill"]
    head, *found = blocks(run("review", folder, data, *options))
    assert f"# input = ext:{EXTENSION}" in head
    rows = {row.split("\t")[0]: row.split("\t") for block in found for row in block if "\t" in row}
    assert {word: row[6] for word, row in rows.items()} == {"the": "x", "n1": "y", "v5": "z"}
    assert all(row[1] == row[3] and row[2] == "" for row in rows.values())
    assert any("document 2, tokens 0 to 0" in line for line in found[0] + found[1])
    nlp = spacy.blank("en")
    docs = Corpus(paths["dev"], columns=["word", "tag"]).read_docs(nlp.vocab)
    DocBin(docs=docs).to_disk(tmp_path / "two.spacy")
    (line, *_) = run("review", folder, tmp_path / "two.spacy", "--to", "jsonl", "--limit", 3).splitlines()
    assert {"document", "least-confidence", "tokens", "n_best"} <= json.loads(line).keys()


@pytest.mark.parametrize("format", ["tsv", "jsonl"])
def test_input_of_training_is_in_the_list(model: Any, tmp_path: Path, format: str) -> None:
    nlp = spacy.load(model[0])
    nlp.config["corpora"]["dev"]["columns"] = ["word", "tag", f"ext:{EXTENSION}"]
    nlp.config["corpora"]["dev"]["input"] = [f"ext:{EXTENSION}"]
    nlp.to_disk(tmp_path / "model")
    data, listed = tmp_path / "two.conll", tmp_path / f"list.{format}"
    data.write_text("the\tD\tx\nn1\tN\ty\n\nv5\tV\tz\n", encoding="utf8")
    run("review", tmp_path / "model", data, "--prefill", "--format", format, "--output", listed)
    text = listed.read_text(encoding="utf8").replace('"checked": false', '"checked": true')
    rows = [line.split("\t") for line in text.splitlines()]
    text = "\n".join("\t".join([*row[:2], "x", *row[3:]] if len(row) > 2 else row) for row in rows)
    listed.write_text(text + "\n", encoding="utf8")
    docs = [example.predicted for example in Corpus(listed, input=[f"ext:{EXTENSION}"])(nlp)]
    assert {token.text: token._.get(EXTENSION) for doc in docs for token in doc} == {"the": "x", "n1": "y", "v5": "z"}
    run("evaluate", tmp_path / "model", listed)


def test_components_before_the_tagger_are_run(model: Any, tmp_path: Path) -> None:
    folder, _ = model
    nlp = spacy.load(folder)
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(tmp_path / "two")
    (tmp_path / "raw.txt").write_text("the n1 . the n2\n\na n3\n", encoding="utf8")
    lines = run("review", tmp_path / "two", tmp_path / "raw.txt", "--to", "jsonl").splitlines()
    found = sorted((data["id"], data["start"], data["end"]) for data in map(json.loads, lines))
    assert found == [("1.1", 0, 3), ("1.2", 3, 5), ("3.1", 0, 2)]


def test_what_is_wrong_is_named(model: Any, tmp_path: Path) -> None:
    folder, paths = model
    for arguments, code in (
        ((tmp_path / "nothing.txt",), "CRF502"),
        ((paths["raw"], "--component", "other"), "CRF602"),
        ((paths["raw"], "--format", "text", "--order", "size"), "least-confidence"),
        ((paths["dev"], "--format", "tables"), "CRF523"),
    ):
        result = invoke("review", folder, *arguments)
        assert result.exit_code != 0 and code in result.output
