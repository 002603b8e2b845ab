"""Round the loop, for each format: raw text, tagged by a poor model, corrected and checked in part, a better model."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.commands import run
from spacy.language import Language

from spacy_crf import Corpus
from spacy_crf.core.errors import CRFWarning
from spacy_crf.corpora.tagsets import format_tags, read_cells

TAGS = {word: tag for tag in ("N", "V", "ADV") for word in (f"{first}a{tag.lower()}" for first in "bdfgklmnprst")}
CHECKED = 12  # sentences of the raw text that somebody corrects and checks


def sentences(count: int, seed: int) -> list[list[str]]:
    """Sentences whose words say nothing of their tags but by being known."""
    rng, words = random.Random(seed), list(TAGS)
    return [rng.sample(words, 4) for _ in range(count)]


def table(count: int, seed: int) -> str:
    return "\n\n".join("\n".join(f"{word}\t{TAGS[word]}" for word in own) for own in sentences(count, seed)) + "\n"


def train(*paths: Path) -> Language:
    nlp = spacy.blank("xx")
    features = {"@misc": "spacy_crf.Features.v1", "templates": ["LOWER", "LOWER[-1]"]}
    trainer = {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.1}
    nlp.add_pipe("set_valued_tagger", config={"features": features, "trainer": trainer, "method": "mass"})
    examples = list(Corpus(list(paths))(nlp))
    nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples)
    return nlp


def correct_rows(path: Path, parts: Callable[[list[str]], tuple[int, int, int]], yes: str) -> None:
    """Correct the rows of a table. parts: where the rows with tokens have word, tag and mark."""
    lines, number = path.read_text(encoding="utf8").split("\n"), 0
    for k, line in enumerate(lines):
        cells = line.split("\t")
        if len(cells) > 2 and not line.startswith("#"):
            word, tag, mark = parts(cells)
            if number < 4 * CHECKED:
                cells[tag], cells[mark] = TAGS[cells[word]], yes
            lines[k], number = "\t".join(cells), number + 1
    path.write_text("\n".join(lines), encoding="utf8")


def correct_conllu(path: Path) -> None:
    correct_rows(path, lambda cells: (1, 4, 9), "Checked=Yes")


def correct_cas(path: Path) -> None:
    import cassis

    is_xmi = path.suffix == ".xmi"
    types = cassis.load_typesystem(path.parent / "TypeSystem.xml") if is_xmi else None
    cas = cassis.load_cas_from_xmi(path, types) if is_xmi else cassis.load_cas_from_json(path.read_text("utf8"))
    for one in cas.select("webanno.custom.TagSet")[: 4 * CHECKED]:
        one.tag, one.checked = TAGS[one.get_covered_text()], True
    (cas.to_xmi if is_xmi else cas.to_json)(path)


def correct_label_studio(path: Path) -> None:
    """As it exports predictions: spans that were changed say so, others that were checked have a tick."""
    tasks = json.loads(path.read_text(encoding="utf8"))
    done, ticks = 0, []
    for task in tasks:
        results = [{**one, "origin": "prediction"} for one in task["predictions"][0]["result"]]
        for one in results[: 4 * CHECKED - done]:
            right = [TAGS[one["value"]["text"]]]
            if one["value"]["labels"] == right:
                ticks.append({"id": one["id"], "type": "choices", "value": {"choices": ["checked"]}})
            else:
                one["value"]["labels"], one["origin"] = right, "prediction-changed"
        done += len(results)
        task["annotations"] = [{"result": [*results, *ticks]}]
    path.write_text(json.dumps(tasks), encoding="utf8")


def correct_doccano(path: Path) -> None:
    (line,) = path.read_text(encoding="utf8").splitlines()
    data = json.loads(line)
    for span in data["label"][: 4 * CHECKED]:
        span[2] = TAGS[data["text"][span[0] : span[1]]]
    data["label"].append([0, data["label"][4 * CHECKED - 1][1], "checked"])
    path.write_text(json.dumps(data), encoding="utf8")


def correct_xlsx(path: Path) -> None:
    import openpyxl

    book = openpyxl.load_workbook(path)
    rows = [row for row in book.active.iter_rows(min_row=2) if row[0].value and row[1].value]
    for word, tags, mark, *_ in rows[: 4 * CHECKED]:
        tags.value, mark.value = TAGS[word.value], "x"
    book.save(path)


CORRECT: dict[str, Callable[[Path], None]] = {
    "tsv": lambda path: correct_rows(path, lambda cells: (0, 1, 2), "yes"),
    "conllu": correct_conllu,
    "webanno": lambda path: correct_rows(path, lambda cells: (2, 3, 6), "true"),
    "xmi": correct_cas,
    "cas-json": correct_cas,
    "label-studio": correct_label_studio,
    "doccano": correct_doccano,
    "xlsx": correct_xlsx,
}
PACKAGES = {"xmi": "cassis", "cas-json": "cassis", "xlsx": "openpyxl"}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with little gold, a model of it, raw text and a dev corpus."""
    folder = tmp_path_factory.mktemp("start")
    (folder / "seed.tsv").write_text(table(3, seed=1), encoding="utf8")
    (folder / "dev.tsv").write_text(table(20, seed=2), encoding="utf8")
    (folder / "Berl_Uk.txt").write_text("".join(f"{' '.join(own)}\n" for own in sentences(20, seed=3)), encoding="utf8")
    train(folder / "seed.tsv").to_disk(folder / "model")
    return folder


def accuracy(nlp: Language, path: Path) -> float:
    return nlp.evaluate(list(Corpus(path)(nlp)))["ml_acc"]


@pytest.mark.parametrize("layout", CORRECT)
def test_round_the_loop(layout: str, start: Path, tmp_path: Path) -> None:
    if layout in PACKAGES:
        pytest.importorskip(PACKAGES[layout])
    out = tmp_path / "out"
    arguments = ["annotate", start / "model", start / "Berl_Uk.txt", "--to", layout, "--output", out]
    run(*arguments)
    (path,) = (file for file in out.iterdir() if file.name != "TypeSystem.xml")
    assert path.stem == "Berl_Uk"
    with pytest.warns(CRFWarning, match="CRFW288"):
        untouched = train(start / "seed.tsv", path)
    CORRECT[layout](path)
    corrected = train(start / "seed.tsv", path)
    assert accuracy(corrected, start / "dev.tsv") > accuracy(spacy.load(start / "model"), start / "dev.tsv") + 0.2

    docs = list(Corpus(path, group="document").read_docs(corrected.vocab))
    assert [doc._.doc_name for doc in docs] == ["Berl_Uk"]
    assert [token.tag_ for token in docs[0]] == [
        TAGS[token.text] if k < 4 * CHECKED else "" for k, token in enumerate(docs[0])
    ]
    assert same_weights(corrected, train(start / "seed.tsv", without_labels(docs, tmp_path / "removed.tsv")))
    bare = without_labels([doc.copy() for doc in docs], tmp_path / "bare.tsv", all_of_them=True)
    assert same_weights(untouched, train(start / "seed.tsv", bare))


def without_labels(docs: list[Any], path: Path, all_of_them: bool = False) -> Path:
    """A plain table of Docs, in which tokens that nobody has checked have no tag."""
    sentences = [
        [f"{token.text}\t{format_tags({} if all_of_them else cells[token.i])}\n" for token in sentence]
        for doc in docs
        for cells in [read_cells(doc)]
        for sentence in doc.sents
    ]
    path.write_text("\n".join(map("".join, sentences)), encoding="utf8")
    return path


def same_weights(nlp: Language, other: Language) -> bool:
    one, two = (each.get_pipe("set_valued_tagger").model for each in (nlp, other))
    return one.to_bytes() == two.to_bytes()


def test_what_was_checked_goes_out_again(start: Path, tmp_path: Path) -> None:
    """A second round keeps the marks of the first one, whatever the model now thinks, and in any other format."""
    (tmp_path / "one").mkdir()
    path = tmp_path / "one" / "Berl_Uk.tsv"
    path.write_text("# columns = form, tags, checked\nban\tV|ADV\tyes\nbav\tN\t_\n", encoding="utf8")
    for layout, folder in (("label-studio", "two"), ("doccano", "three"), ("tsv", "four")):
        arguments = ["annotate", start / "model", path, "--to", layout, "--output", tmp_path / folder]
        run(*arguments)
        (path,) = (tmp_path / folder).iterdir()
    rows = [line.split("\t") for line in path.read_text(encoding="utf8").splitlines()]
    assert path.name == "Berl_Uk.tsv" and rows[2] == ["ban", "V|ADV", "yes"] and rows[3][0::2] == ["bav", "_"]
    assert "CRF579" in run("annotate", start / "model", path, "--output", path.parent, code=1)


def test_a_folder_of_texts_becomes_one_of_files_with_the_same_names(start: Path, tmp_path: Path) -> None:
    for name in ("Berl_Uk.txt", "letters/1425.txt"):
        (tmp_path / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / name).write_text("ban bav\nban\n", encoding="utf8")
    for layout in ("tsv", "webanno"):
        arguments = ["annotate", start / "model", tmp_path / "texts", "--to", layout, "--output", tmp_path / layout]
        run(*arguments)
        files = sorted(path.relative_to(tmp_path / layout).as_posix() for path in (tmp_path / layout).rglob("*.tsv"))
        assert files == ["Berl_Uk.tsv", "letters/1425.tsv"]
        docs = Corpus(tmp_path / layout, group="document").read_docs(spacy.blank("xx").vocab)
        assert sorted(doc._.doc_name for doc in docs) == ["Berl_Uk", "letters/1425"]


def test_texts_beside_files_of_a_format_are_named(start: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.conllu").write_text("1\tban" + "\t_" * 8 + "\n", encoding="utf8")
    (tmp_path / "in" / "letter.txt").write_text("ban bav\n", encoding="utf8")
    arguments = ["annotate", str(start / "model"), str(tmp_path / "in"), "--output", str(tmp_path / "out")]
    with pytest.warns(CRFWarning, match=r"CRFW473.*letter\.txt"):
        run(*arguments)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.tsv"]


@pytest.mark.parametrize("command", ["annotate", "review"])
@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("words.txt", "ban\ndav\n\nfan\n", None),
        ("words.tsv", "ban\ndav\n\nfan\n", None),
        ("a.txt", "ban\ndav. fan", "prose"),
    ],
)
def test_words_and_running_text_are_read_as_sentences(
    command: str, name: str, text: str, format: str | None, tmp_path: Path
) -> None:
    (tmp_path / "gold.tsv").write_text(table(20, seed=0), encoding="utf8")
    train(tmp_path / "gold.tsv").to_disk(tmp_path / "model")
    (tmp_path / name).write_text(text, encoding="utf8")
    output = tmp_path / ("rows" if command == "annotate" else "rows.tsv")
    options = ["--output", str(output), *(["--format", format] if format else [])]
    run(command, tmp_path / "model", tmp_path / name, *options)
    path = output if output.is_file() else next(output.iterdir())
    lines = path.read_text(encoding="utf8").replace("\t.", "").splitlines()
    blocks = "\n".join(line.split("\t")[0] for line in lines if not line.startswith("#")).split("\n\n")
    found = [tuple(word for word in block.split() if word != ".") for block in blocks]
    assert sorted(filter(None, found)) == [("ban", "dav"), ("fan",)]
