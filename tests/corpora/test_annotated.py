"""Annotated documents as files, read again, and as rows."""

import io
import json
import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest
import spacy
from helpers.paths import ROOT
from spacy.tokens import Doc, DocBin, Span, Token

from spacy_crf import Corpus, CRFError, CRFWarning, annotate_partitions
from spacy_crf.annotation.documents import read_doc_name, write_doc_name
from spacy_crf.annotation.extensions import write_result
from spacy_crf.corpora.annotated import COLUMNS, WRITERS, To, token_rows

NLP = spacy.blank("en")
Token.set_extension("annotated_note", default=None, force=True)
Doc.set_extension("annotated_notes", default=None, force=True)


def make(name: str = "letters/1") -> Doc:
    words = ["Bob", "Ray", " ", "runs", ".", "He", "stops"]
    starts: list[bool | int | None] = [True, False, False, False, False, True, False]
    tags = ["NNP", "NNP", "_SP", "VBZ", ".", "PRP", "VBZ"]
    heads, deps = [3, 0, 3, 3, 3, 6, 6], ["nsubj", "flat", "dep", "ROOT", "punct", "nsubj", "ROOT"]
    spaces = [True, True, False, False, True, True, False]
    doc = Doc(NLP.vocab, words=words, spaces=spaces, tags=tags, heads=heads, deps=deps, sent_starts=starts)
    doc.ents = [Span(doc, 0, 2, "PER")]
    doc.spans["chunks"] = [Span(doc, 0, 2, "NP"), Span(doc, 3, 4, "VP")]
    doc[3]._.annotated_note = {"sure": 0.5}
    doc._.annotated_notes = ["x"]
    return write_doc_name(doc, name)


def written(to: To, *docs: Doc) -> bytes:
    writer = WRITERS[to]()
    for doc in docs:
        writer.add(doc)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\[CRFW486\]")  # which has a test of its own
        return writer.to_bytes()


def test_rows_leave_out_white_space_and_count_by_sentence() -> None:
    rows = token_rows(make(), 7)
    assert tuple(rows) == COLUMNS
    assert rows["word"] == ["Bob", "Ray", "runs", ".", "He", "stops"]
    assert rows["sentence"] == [1, 1, 1, 1, 2, 2] and rows["token"] == [1, 2, 3, 4, 1, 2]
    assert rows["head"] == [3, 1, 0, 3, 2, 0] and set(rows["unit"]) == {7} and set(rows["doc"]) == {"letters/1"}
    assert rows["entity"] == ["B-PER", "I-PER", "O", "O", "O", "O"]
    assert rows["spans"] == ["chunks:B-NP", "chunks:I-NP", "chunks:B-VP", None, None, None]
    assert [make().text[start:end] for start, end in zip(rows["start"], rows["end"])] == rows["word"]
    assert json.loads(rows["values"][2]) == {"annotated_note": {"sure": 0.5}} and rows["values"][0] is None
    assert json.loads(rows["document"][0]) == {"annotated_notes": ["x"]} and set(rows["document"][1:]) == {None}


def test_results_that_speak_of_other_tokens_are_refused() -> None:
    doc = make()
    write_result(doc, "annotated_notes", list("abcdefg"))
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    with pytest.raises(CRFError, match="CRF528.*_.annotated_notes"):
        token_rows(doc, 0)


def test_spans_that_begin_in_white_space_do_not_go_on_with_those_before(tmp_path: Path) -> None:
    doc = Doc(NLP.vocab, words=["Bob", "\n", "Ray", "runs"])
    doc.ents = [Span(doc, 0, 1, "PER"), Span(doc, 1, 3, "PER")]
    doc.spans["chunks"] = [Span(doc, 0, 1, "NP"), Span(doc, 1, 3, "NP")]
    rows = token_rows(doc, 1)
    assert rows["entity"] == ["B-PER", "B-PER", "O"] and rows["spans"] == ["chunks:B-NP", "chunks:B-NP", None]
    (tmp_path / "a.conllu").write_bytes(written("conllu", doc))
    (again,) = Corpus(tmp_path / "a.conllu")(NLP)
    assert [span.text for span in again.reference.ents] == ["Bob", "Ray"]


def test_conllu_is_read_again_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_bytes(written("conllu", make("a"), make("a"), make("b")))
    first, second = Corpus(tmp_path / "x.conllu").read_docs(NLP.vocab)
    assert len(first) == 12 and len(second) == 6
    assert [token.tag_ for token in second] == ["NNP", "NNP", "VBZ", ".", "PRP", "VBZ"]
    assert [(ent.text, ent.label_) for ent in second.ents] == [("Bob Ray", "PER")]
    assert [token.head.i for token in second] == [2, 0, 2, 2, 5, 5]
    assert second.text.strip() == "Bob Ray runs. He stops"


def test_conllu_names_custom_attributes_that_it_leaves_out(recwarn: pytest.WarningsRecorder) -> None:
    writer, plain = WRITERS["conllu"](), WRITERS["conllu"]()
    for doc in (write_doc_name(NLP("A b."), "plain"), make(), make("b")):
        writer.add(doc)
    with pytest.warns(CRFWarning, match="CRFW486.*left out: annotated_note, annotated_notes"):
        writer.to_bytes()
    plain.add(write_doc_name(NLP("A b."), "plain"))
    plain.to_bytes()
    assert not recwarn.list


def test_json_lines_and_docbin_hold_everything() -> None:
    line = json.loads(written("jsonl", make()))
    read = Doc(NLP.vocab).from_json(line, validate=True)
    (stored,) = DocBin().from_bytes(written("spacy", make())).get_docs(NLP.vocab)
    for doc in (read, stored):
        assert doc.text == make().text and [token.tag_ for token in doc] == [token.tag_ for token in make()]
        assert [(ent.text, ent.label_) for ent in doc.ents] == [("Bob Ray", "PER")]
        assert read_doc_name(doc) == "letters/1" and list(doc._.annotated_notes) == ["x"]
        assert doc[3]._.annotated_note == {"sure": 0.5}


def test_parquet_has_the_rows() -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")
    table = parquet.read_table(io.BytesIO(written("parquet", make("a"), make("b")))).to_pydict()
    assert list(table) == list(COLUMNS)
    assert table == {name: token_rows(make("a"), 1)[name] + token_rows(make("b"), 2)[name] for name in COLUMNS}


@pytest.mark.parametrize("to", WRITERS)
def test_documents_without_tokens_and_files_without_documents(to: To) -> None:
    if to == "parquet":
        pytest.importorskip("pyarrow", reason="needs the extra parquet")
    assert isinstance(written(to), bytes)
    empty, space = write_doc_name(NLP(""), "a"), write_doc_name(NLP("  \n"), "a")
    assert isinstance(written(to, empty, space, make()), bytes)


def test_what_a_format_cannot_hold_is_an_error_and_leaves_the_others(tmp_path: Path) -> None:
    writer = WRITERS["conllu"]()
    bad = write_doc_name(Doc(NLP.vocab, words=["a\tb"]), "bad")
    writer.add(make())
    with pytest.raises(ValueError, match="CRF541"):
        writer.add(bad)
    with pytest.warns(CRFWarning, match="CRFW486"):
        assert writer.to_bytes() == written("conllu", make()) and writer.n_docs == 1


def test_partitions_are_annotated_as_data_frames(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="needs the extra spark")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model")
    annotate = annotate_partitions(str(tmp_path / "model"))
    frames = [pandas.DataFrame({"doc": ["a", "b"], "text": ["It ran. He sat.", ""]}), pandas.DataFrame({"text": ["x"]})]
    first, second = annotate(frames)
    assert first["word"].tolist() == ["It", "ran", ".", "He", "sat", "."] and set(first["doc"]) == {"a"}
    assert first["sentence"].tolist() == [1, 1, 1, 2, 2, 2] and second["word"].tolist() == ["x"]
    spacy.blank("en").to_disk(tmp_path / "model")  # the pipeline is another one now
    assert next(annotate(frames))["sentence"].tolist() == [1] * 6


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_spark_annotates_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="needs the extra spark")
    if shutil.which("java") is None:
        pytest.skip("needs Java")
    from pyspark.sql import SparkSession

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    options = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "2"}
    builder = SparkSession.builder.master("local[2]")
    for key, value in options.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        texts = spark.createDataFrame([(f"d{k}", f"It ran {k} times. He sat.") for k in range(20)], ["doc", "text"])
        annotate = annotate_partitions(str(tmp_path / "model"))
        rows = texts.repartition(3).mapInPandas(annotate, annotate.schema).collect()
    finally:
        spark.stop()
    assert len(rows) == 20 * 8 and {row["doc"] for row in rows} == {f"d{k}" for k in range(20)}
    own = [(row["sentence"], row["token"], row["word"]) for row in rows if row["doc"] == "d7"]
    assert own[:3] == [(1, 1, "It"), (1, 2, "ran"), (1, 3, "7")] and own[-1] == (2, 3, ".")


def test_a_document_that_docbin_cannot_hold_leaves_the_others_whole() -> None:
    first, bad, last = make("a"), make("b"), make("c")
    bad.user_data["of another component"] = {1, 2}
    writer = WRITERS["spacy"]()
    for doc in (first, bad, last):
        if doc is bad:
            with pytest.raises(TypeError):
                writer.add(doc)
        else:
            writer.add(doc)
    read = list(DocBin().from_bytes(writer.to_bytes()).get_docs(NLP.vocab))
    assert [read_doc_name(doc) for doc in read] == ["a", "c"] and writer.n_docs == 2


def test_spans_that_overlap_are_all_in_the_rows() -> None:
    doc = NLP("New York City Hall opens")
    doc.spans["sets"] = [Span(doc, 0, 2, "A"), Span(doc, 0, 4, "B"), Span(doc, 0, 4, "C"), Span(doc, 4, 4, "D")]
    spans = token_rows(doc, 1)["spans"]
    assert spans == [
        "sets:B-B|sets:B-C|sets:B-A",
        "sets:I-B|sets:I-C|sets:I-A",
        "sets:I-B|sets:I-C",
        "sets:I-B|sets:I-C",
        None,
    ]


def test_keys_and_labels_of_spans_can_be_told_apart() -> None:
    doc = NLP("New York")
    doc.spans["a|b"], doc.spans["c"] = [Span(doc, 0, 1, "A|B-C")], [Span(doc, 0, 1, "D")]
    assert token_rows(doc, 1)["spans"] == [r"a\|b:B-A\|B-C|c:B-D", None]


@pytest.mark.parametrize("key, label", [("sc", "A|B"), ("sc", "A,B"), ("sc", "A\tB"), ("sc", "A\nB"), ("s|c", "A")])
def test_spans_that_misc_cannot_hold_are_an_error(key: str, label: str) -> None:
    doc = make("a")
    doc.spans[key] = [Span(doc, 0, 2, label)]
    with pytest.raises(CRFError, match="CRF682.*spans"):
        written("conllu", doc)


@pytest.mark.parametrize("what", ["tag", "lemma", "dep"])
def test_what_conllu_would_read_as_nothing_is_an_error(what: str) -> None:
    doc = make("a")
    setattr(doc[0], f"{what}_", "_")
    with pytest.raises(CRFError, match=f"CRF490.*'a'.*the {what} of 'Bob' is '_'"):
        written("conllu", doc)
    underscore = Doc(NLP.vocab, words=["_"], lemmas=["_"])
    assert b"1\t_\t_\t_" in written("conllu", underscore)


@pytest.mark.parametrize("what", ["name", "lemma", "entity"])
def test_what_would_end_a_cell_or_a_line_of_conllu_is_an_error(what: str) -> None:
    doc = make("a\nb" if what == "name" else "a")
    if what == "lemma":
        doc[0].lemma_ = "Bo\tb"
    elif what == "entity":
        doc.ents = [Span(doc, 0, 2, "A|B")]
    with pytest.raises(CRFError, match=f"CRF682.*{what}"):
        written("conllu", doc)
