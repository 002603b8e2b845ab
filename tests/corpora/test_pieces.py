"""Files that are cut into pieces give the documents of the whole, and what is damaged costs itself."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.util import get_words_and_spaces

from spacy_crf import Corpus
from spacy_crf.annotation.documents import read_doc_name
from spacy_crf.corpora.pieces import FilePiece, InputFault, cut_file, find_inputs, read_piece
from spacy_crf.reading import files

NLP = spacy.blank("en")
WORDS = st.lists(st.sampled_from(["a", "bc", "#", "déf"]), min_size=1, max_size=6)
GAPS = st.sampled_from(["", " ", "  ", "\n", " \n "])
SENTENCES = st.lists(st.tuples(st.booleans(), st.booleans(), WORDS), min_size=1, max_size=12)


def read(path: Path, format: str | None) -> Iterator[Doc]:
    return Corpus(path, format=cast(Any, format)).read_docs(NLP.vocab)


def conllu(sentences: list[tuple[bool, bool, list[str]]]) -> str:
    blocks = []
    for is_marked, has_id, words in sentences:
        comments = ["# sent_id = 1"] * has_id + ["# newdoc id = x"] * is_marked
        rows = [f"{k}\t{word}" + "\t_" * 8 for k, word in enumerate(words, 1)]
        blocks.append("\n".join([*comments, *rows]))
    return "\n\n".join(blocks) + "\n\n"


def found(path: Path) -> list[Doc | InputFault]:
    return [one for piece in cut_file(path, path.stem, None) for one in read_piece(piece, NLP, read)]


def told(docs: list[Doc]) -> list[tuple[str, list[str]]]:
    return [(read_doc_name(doc), [token.text for token in doc]) for doc in docs]


@given(SENTENCES, st.integers(1, 80))
def test_pieces_of_conllu_give_the_documents_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[tuple[bool, bool, list[str]]], size: int
) -> None:
    path = tmp_path_factory.mktemp("pieces") / "x.conllu"
    path.write_text(conllu(sentences), encoding="utf8")
    whole = told(list(read(path, "conllu")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK_SIZE", size)
        pieces = list(cut_file(path, "x", None))
        joined = b"".join(piece.content or b"" for piece in pieces)
        assert joined.replace(b" id = x", b"") == path.read_bytes().replace(b" id = x", b"")  # told once
        assert told([doc for doc in found(path) if isinstance(doc, Doc)]) == whole


def test_a_sentence_that_cannot_be_read_costs_itself_and_its_line_is_told(tmp_path: Path) -> None:
    text = conllu([(False, False, [f"w{k}"]) for k in range(9)]).replace("1\tw6", "7\tw6")
    (tmp_path / "x.conllu").write_text(text, encoding="utf8")
    docs = found(tmp_path / "x.conllu")
    faults = [one for one in docs if isinstance(one, InputFault)]
    assert [doc.text.strip() for doc in docs if isinstance(doc, Doc)] == [f"w{k}" for k in range(9) if k != 6]
    assert len(faults) == 1 and "x.conllu, line 13" in faults[0].problem


def test_a_line_that_cannot_be_read_costs_itself(tmp_path: Path) -> None:
    lines = [b'{"text": "A bc."}', b"{", b'{"text": 1}', b"\xff", b'{"words": ["a", "b"], "spaces": [false]}']
    lines += [b'{"words": ["a", "b"], "spaces": [false, true], "name": "own"}', b""]
    (tmp_path / "x.jsonl").write_bytes(b"\n".join(lines))
    docs = found(tmp_path / "x.jsonl")
    assert told([doc for doc in docs if isinstance(doc, Doc)]) == [("x", ["A", "bc", "."]), ("own", ["a", "b"])]
    assert [fault.line for fault in docs if isinstance(fault, InputFault)] == [2, 3, 4, 5]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_line_of_text_is_a_document(tmp_path: Path, end: str) -> None:
    (tmp_path / "x.txt").write_bytes(f"\ufeffA b{end}{end}c{end}".encode())
    assert told([doc for doc in found(tmp_path / "x.txt") if isinstance(doc, Doc)]) == [("x", ["A", "b"]), ("x", ["c"])]


@pytest.mark.parametrize("coding", ["utf-16-le", "utf-16-be"])
def test_a_file_of_another_coding_is_refused_whole(tmp_path: Path, coding: str) -> None:
    (tmp_path / "x.txt").write_bytes("\ufeffa b\nc\n".encode(coding))
    (fault,) = found(tmp_path / "x.txt")
    assert isinstance(fault, InputFault) and "CRF504" in fault.problem


def test_a_packed_file_that_is_cut_off_gives_what_comes_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_SIZE", 64)
    packed = gzip.compress("".join(f"line {k * k}\n" for k in range(5000)).encode())
    (tmp_path / "x.txt.gz").write_bytes(packed[: len(packed) // 2])
    *docs, fault = found(tmp_path / "x.txt.gz")
    assert len(docs) > 1000 and all(isinstance(doc, Doc) for doc in docs)
    assert isinstance(fault, InputFault) and "CRF505" in fault.problem


def test_inputs_have_the_names_of_a_corpus(tmp_path: Path) -> None:
    for name in ("a/x.txt", "b/x.jsonl", "b/y.conllu", "c.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\ta" + "\t_" * 8 + "\n\n", encoding="utf8")
    assert [name for _, name in find_inputs([tmp_path], None, tmp_path / "out")] == ["a/x", "b/x", "b/y", "c"]
    with pytest.raises(ValueError, match="CRF503"):
        find_inputs([tmp_path / "a"], "jsonl", tmp_path / "out")
    with pytest.raises(ValueError, match="CRF502"):
        find_inputs([tmp_path / "z"], None, tmp_path / "out")


def test_words_of_json_lines_are_the_tokens_of_their_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = ['{"text": "a-b  c.", "words": ["a-b", "c", "."]}', '{"text": "a b", "words": ["a", "b"], "spaces": null}']
    lines += ['{"text": "ab", "words": ["a", "b"], "spaces": [false, false]}']
    lines += ['{"text": "ab", "words": ["a", "c"]}', '{"text": "ab", "words": ["a", "b"], "spaces": [true, false]}']
    lines += ['{"text": 1, "words": ["a"]}', '{"text": "a", "words": "a"}', '{"text": "a", "spaces": [true]}']
    path.write_text("\n".join(lines))
    docs = found(path)
    words = [[token.text for token in doc] for doc in docs if isinstance(doc, Doc)]
    assert words == [["a-b", " ", "c", "."], ["a", "b"], ["a", "b"]]
    assert [doc.text for doc in docs if isinstance(doc, Doc)] == ["a-b  c.", "a b", "ab"]
    codes = [re.search(r"CRF\d+", fault.problem)[0] for fault in docs if isinstance(fault, InputFault)]  # type: ignore[index]
    assert codes == ["CRF489", "CRF489", "CRF683", "CRF683", "CRF683"]
    assert all("a.jsonl, line" in fault.problem for fault in docs if isinstance(fault, InputFault))


@given(st.lists(st.tuples(GAPS, st.text("ab", min_size=1, max_size=3)), min_size=1, max_size=6), GAPS)
def test_words_and_their_text_are_put_together_as_spacy_does(parts: list[tuple[str, str]], end: str) -> None:
    words, text = [word for _, word in parts], "".join(gap + word for gap, word in parts) + end
    line = json.dumps({"text": text, "words": words}).encode()
    (doc,) = read_piece(FilePiece(Path("a.jsonl"), "a", "jsonl", line), NLP, read)
    assert isinstance(doc, Doc)
    expected = get_words_and_spaces(words, text)
    assert ([token.text for token in doc], [bool(token.whitespace_) for token in doc]) == expected


def test_names_of_json_lines_are_strings_or_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "name": 17}\n{"text": "b", "name": null}\n{"text": "c", "name": ["x"]}\n')
    *docs, fault = found(path)
    assert [read_doc_name(doc) for doc in docs if isinstance(doc, Doc)] == ["17", "a"]
    assert isinstance(fault, InputFault) and "CRF683" in fault.problem and fault.line == 3
