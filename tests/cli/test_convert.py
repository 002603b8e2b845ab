import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke, invoke_spacy
from helpers.fixtures import TREE
from spacy.tokens import Doc, Token

from spacy_crf.cli.corpora import convert
from spacy_crf.cli.data import Data
from spacy_crf.core.errors import CRFWarning
from spacy_crf.corpora.reader import Corpus

CHUNKED = "The DT B-NP\nferry NN I-NP\nleft VBD B-VP\n\nIt PRP B-NP\nsank _ B-VP\n"


def run(*arguments: str | Path) -> tuple[int, str]:
    result = invoke_spacy("crf", *arguments)
    return result.exit_code, result.output


def data(path: Path, format: str | None = None, columns: tuple[str, ...] = (), **settings: object) -> Data:
    return Data(path, format, list(columns), settings=settings)


def describe(docs: list[Doc], extensions: list[str]) -> list[dict[str, object]]:
    attributes = ["ORTH", "SPACY", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START", "ENT_IOB"]
    return [
        {
            "json": doc.to_json(extensions),
            "array": doc.to_array(attributes).tolist(),
            "extensions": [[token._.get(name) for name in extensions] for token in doc],
            "unknown spaces": doc.has_unknown_spaces,
        }
        for doc in docs
    ]


@pytest.mark.parametrize(
    "name, content, settings",
    [
        ("a.txt", CHUNKED, {"format": "conll2000"}),
        ("a.txt", CHUNKED, {"columns": ["word", "ext:convert_test", "chunk"], "group": 2}),
        ("a.iob", "a B-X\nb _\n\nc O\n", {"group": "document"}),
        ("a.iob", "a O\n", {}),
        ("a.txt", "a O\n", {"columns": ["word", "chunk"]}),
        ("a.conllu", TREE, {}),
    ],
)
def test_what_is_read_back_is_what_the_reader_gives(
    tmp_path: Path, name: str, content: str, settings: dict[str, object]
) -> None:
    source, target = tmp_path / name, tmp_path / "new" / "out.spacy"
    source.write_text(content, encoding="utf-8")
    summary = convert(data(source, **settings), target)  # type: ignore[arg-type]
    vocab = spacy.blank("en").vocab
    direct = list(Corpus(source, **settings).read_docs(vocab))  # type: ignore[arg-type]
    stored = list(Corpus(target).read_docs(vocab))
    extensions = ["convert_test"] if Token.has_extension("convert_test") else []
    assert describe(stored, extensions) == describe(direct, extensions)
    assert [list(doc.spans) for doc in stored] == [list(doc.spans) for doc in direct]
    assert (summary.docs, summary.tokens) == (len(direct), sum(map(len, direct)))
    assert [file.name for file in target.parent.iterdir()] == ["out.spacy"]
    if extensions:
        Token.remove_extension("convert_test")


def test_summary_counts_labels(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CHUNKED)
    summary = convert(data(tmp_path / "a.txt", "conll2000", group="document"), tmp_path / "a.spacy")
    assert (summary.docs, summary.sentences, summary.tokens) == (1, 2, 5)
    assert summary.labels["spans:chunks"] == {"NP": 2, "VP": 2}
    assert summary.labels["tag"].total() == 4


def test_command_line(tmp_path: Path) -> None:
    source, target = tmp_path / "a.txt", tmp_path / "a.spacy"
    source.write_text(CHUNKED.replace(" ", "|"))
    code, output = run(
        "convert", source, target, "--columns", "word, _,ner", "--group", "2", "--separator", "|", "--lang", "xx"
    )
    assert code == 0
    assert "1 documents, 2 sentences, 5 tokens" in output
    assert "ner: 4 with 2 labels: NP 2, VP 2" in output
    (doc,) = Corpus(target).read_docs(spacy.blank("xx").vocab)
    assert [ent.text for ent in doc.ents] == ["The ferry", "left", "It", "sank"]


def test_tab_can_be_written_as_an_escape(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("New York\tB-LOC\n")
    code, output = run("convert", tmp_path / "a.txt", tmp_path / "a.spacy", "--separator", "\\t")
    assert code == 0 and "1 tokens" in output


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["a.txt", "out.spacy", "--format", "conll2003"], "CRF506"),
        (["b.txt", "out.spacy", "--format", "conll2000"], "CRF507"),
        (["missing.txt", "out.spacy"], "CRF502"),
        (["a.txt", "out.json"], "CRF601"),
        (["a.txt", "out.spacy", "--format", "nonsense"], "CRF523"),
        (["a.txt", "out.spacy", "--group", "0"], "CRF518"),
        (["a.txt", "out.spacy", "--lang", "qq", "--format", "conll2000"], "E048"),
    ],
)
def test_errors_leave_the_output_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(CHUNKED)
    Path("b.txt").write_text(CHUNKED + "ragged DT\n")
    Path("out.spacy").write_text("from before")
    code, output = run("convert", *arguments)
    assert code == 1
    assert message in output and "Traceback" not in output
    assert Path("out.spacy").read_text() == "from before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt", "out.spacy"]


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Path, target: Path) -> None:
        raise OSError("no space left")

    (tmp_path / "a.iob").write_text("a O\n")
    monkeypatch.setattr(Path, "replace", fail)
    code, output = run("convert", tmp_path / "a.iob", tmp_path / "a.spacy")
    assert code == 1 and "no space left" in output
    assert [path.name for path in tmp_path.iterdir()] == ["a.iob"]


def test_what_was_converted_before_is_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(TREE, encoding="utf8")
    out = tmp_path / "all.spacy"
    assert run("convert", tmp_path, out)[0] == 0
    code, output = run("convert", tmp_path, out)
    assert code and "CRF495" in output
    with pytest.warns(CRFWarning, match=r"CRFW473.*: all\.spacy\."):
        assert run("convert", tmp_path, out, "--format", "conllu")[0] == 0
    assert len(list(Corpus(out).read_docs(spacy.blank("en").vocab))) == 1


def test_help() -> None:
    code, output = run("--help")
    assert code == 0 and "convert" in output
    code, output = run("convert", "--help")
    assert code == 0
    for option in ("--format", "--columns", "--group", "--separator", "--lang", "--gold-preproc"):
        assert option in output


def test_commands_need_their_name_on_their_own_app() -> None:
    assert invoke("convert", "--help").exit_code == 0


@pytest.mark.slow
def test_spacy_finds_the_commands() -> None:
    command = [sys.executable, "-m", "spacy", "crf", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert result.returncode == 0 and "convert" in result.stdout


def test_fields_of_references_become_entities_too(tmp_path: Path) -> None:
    source, target = tmp_path / "refs.txt", tmp_path / "refs.spacy"
    source.write_text("<author> A. Lee. </author> <title> On ropes. </title> <date> 1984. </date>\n", encoding="utf8")
    for format in (None, "references"):
        summary = convert(data(source, format), target)
        assert summary.labels["ner"] == {"AUTHOR": 1, "TITLE": 1, "DATE": 1} and set(summary.labels) == {"tag", "ner"}
        (example,) = Corpus(target)(spacy.blank("en"))
        assert [ent.label_ for ent in example.reference.ents] == ["AUTHOR", "TITLE", "DATE"]
