"""Names of documents, in all formats."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_crf.annotation.documents import read_doc_name, write_doc_name
from spacy_crf.corpora.annotated import WRITERS
from spacy_crf.corpora.pieces import cut_file, read_piece
from spacy_crf.corpora.reader import Corpus

SETS = "he\tP\n\nkumt\tV\n"
MARKED = (
    "# newdoc\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n# newdoc\n1\tc\t_\t_\t_\t_\t_\t_\t_\t_\n"
)


def names(*paths: Path, **settings: object) -> list[str]:
    corpus = Corpus(list(paths), **settings)  # type: ignore[arg-type]
    docs = list(corpus.read_docs(spacy.blank("xx").vocab))
    assert [doc._.doc_name for doc in docs] == [read_doc_name(doc) for doc in docs]
    return [read_doc_name(doc) for doc in docs]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf8")
    return path


def test_files_of_folders(tmp_path: Path) -> None:
    for name in ("one/a.tsv", "one/b.x.tsv", "one/sub/a.tsv", "two/a.tsv"):
        write(tmp_path / name, SETS)
    assert names(tmp_path / "one", format="tagsets") == ["a", "b.x", "sub/a"]
    both = names(tmp_path / "one", tmp_path / "two", format="tagsets")
    assert both == ["one/a", "one/b.x", "one/sub/a", "two/a"]
    assert names(tmp_path / "two" / "a.tsv", format="tagsets", group="sentence") == ["a", "a"]


def test_documents_and_sentences_of_one_file(tmp_path: Path) -> None:
    marked = write(tmp_path / "m.conllu", MARKED)
    assert names(marked) == ["m", "m 2"]
    assert names(marked, group="sentence") == ["m", "m", "m 2"]
    plain = write(tmp_path / "p.tsv", "a\tX\n\nb\tX\n")
    assert names(plain, columns=["word", "tag"]) == ["p", "p"]


def test_documents_of_conllu_have_their_own_names(tmp_path: Path) -> None:
    word = "1\ta" + "\t_" * 8 + "\n\n"
    marks = ["# newdoc id = b c ", "", "# newdoc id=d", "# newdoc", "# newdoc id =", "# newdoc id = b c", ""]
    path = write(tmp_path / "m.conllu", "".join(f"{mark}\n{word}" if mark else word for mark in marks))
    assert names(path) == ["b c", "d", "m 3", "m 4", "m 5"]  # a second one of a name is another document
    assert names(path, group="sentence") == ["b c", "b c", "d", "m 3", "m 4", "m 5", "m 5"]
    nlp = spacy.blank("xx")
    read = lambda path, format: Corpus(path, format=format).read_docs(nlp.vocab)  # noqa: E731
    pieces = list(cut_file(path, "m", None))
    assert [read_doc_name(doc) for piece in pieces for doc in read_piece(piece, nlp, read)] == names(path)
    other = write(tmp_path / "n.conllu", f"# newdoc id = d\n{word}")
    assert names(path, other) == [*names(path), "n"]
    seen: set[bytes] = set()
    pieces = [piece for file in (path, other) for piece in cut_file(file, file.stem, None, seen)]
    assert [read_doc_name(doc) for piece in pieces for doc in read_piece(piece, nlp, read)] == names(path, other)
    writer = WRITERS["conllu"]()
    for doc in Corpus(path).read_docs(nlp.vocab):
        writer.add(doc)
    assert names(write(tmp_path / "o.conllu", writer.to_bytes().decode())) == names(path)


@pytest.mark.parametrize(
    "files, paths, expected",
    [
        (["x/a.tsv", "y/a.tsv"], ["x/a.tsv", "y/a.tsv"], ["x/a", "y/a"]),
        (["x/tr/a.tsv", "y/tr/a.tsv", "y/tr/b.tsv"], ["x/tr", "y/tr"], ["x/tr/a", "y/tr/a", "tr/b"]),
        (["z/k.TSV", "z/k.tsv"], ["z"], ["k.TSV", "k.tsv"]),
        (["z/k.tsv", "z/k 2.tsv"], ["z"], ["k 2.tsv", "k"]),
        (["x/a.tsv", "x/tr/b.tsv"], ["x", "x/tr"], ["x/a", "x/tr/b"]),
        (["x/a.tsv"], ["x/a.tsv", "x", "x/../x/a.tsv"], ["a"]),
    ],
)
def test_every_file_is_read_once_and_has_its_own_name(
    tmp_path: Path, files: list[str], paths: list[str], expected: list[str]
) -> None:
    for name in files:
        write(tmp_path / name, SETS)
    assert names(*(tmp_path / path for path in paths), format="tagsets", group="document") == expected


@pytest.mark.parametrize("group", ["auto", "sentence"])
def test_stored_documents_keep_their_name(tmp_path: Path, group: str) -> None:
    vocab = spacy.blank("xx").vocab
    docs = [Doc(vocab, words=["a", "b"], sent_starts=[True, True]) for _ in range(3)]
    write_doc_name(docs[1], "mine")
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "s.spacy")
    times = 2 if group == "sentence" else 1
    assert names(tmp_path / "s.spacy", group=group) == ["s"] * times + ["mine"] * times + ["s 3"] * times
