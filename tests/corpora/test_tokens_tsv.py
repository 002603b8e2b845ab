from pathlib import Path

import pytest
from helpers.fixtures import Write
from spacy.language import Language
from spacy.tokens import Doc

from spacy_crf import Corpus
from spacy_crf.annotation.documents import read_doc_name
from spacy_crf.corpora.docs import DocMaker
from spacy_crf.corpora.sentence import group_sentences
from spacy_crf.corpora.tables import holds_columns, read_tokens_tsv
from spacy_crf.corpora.tagsets import read_cells, resolve_gold_tags

TEXT = """\
dat\tKOUS|DDS
is\tVAFIN
||\t$;

|\t$;
#ok\tAVD:0.66|PTKG:0.33
_\tDDS:1|DRELS:1
new york\t_
-DOC-\t
"""


def read(nlp: Language, path: Path) -> list[Doc]:
    docs = [DocMaker(nlp.vocab)(group) for group in group_sentences(read_tokens_tsv(path), "auto")]
    for doc in docs:
        resolve_gold_tags(doc)
    return docs


def test_a_file_is_one_document(nlp: Language, write: Write) -> None:
    (doc,) = read(nlp, write("a.tsv", TEXT))
    assert [token.text for token in doc] == ["dat", "is", "||", "|", "#ok", "_", "new york", "-DOC-"]
    assert [token.tag_ for token in doc] == ["KOUS", "VAFIN", "$;", "$;", "AVD", "DDS", "", ""]
    assert [token.is_sent_start for token in doc] == [True, False, False, True, False, False, False, False]
    assert read_cells(doc)[:2] == [{"KOUS": 0.5, "DDS": 0.5}, {"VAFIN": 1}]
    assert doc[4]._.gold_tags == pytest.approx({"AVD": 2 / 3, "PTKG": 1 / 3})
    assert [doc[i]._.gold_tags for i in (5, 6, 7)] == [{"DDS": 1, "DRELS": 1}, None, None]
    assert doc.has_unknown_spaces


@pytest.mark.parametrize(
    "content, message",
    [
        ("a\tA\n\nb\tB\nc\n", r"CRF507.*a\.tsv, line 4: found 1 columns instead of 2 \(form, tags\)"),
        ("a\tA\tB\n", r"CRF567.*line 1, token 'a': 'B' is no check mark"),
        ("a\tA\tyes\nb\tB\n", r"CRF507.*line 2: found 2 columns instead of 3 \(form, tags, checked\)"),
        ("a\tA\tyes\t\n", r"CRF507.*line 1: found 4"),
        ("a\tA\n\tB\n", r"CRF511.*line 2"),
        ("a\tA\n\nb\tA:0.7|B:0.7\n", r"CRF530.*a\.tsv, line 3, token 'b': 'A:0\.7\|B:0\.7'"),
    ],
)
def test_errors_name_file_and_line(write: Write, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(read_tokens_tsv(write("a.tsv", content)))


def test_a_comment_at_the_head_of_a_file_is_no_document(write):
    path = write("a.tsv", "# of the archive\n\na\tA\nb\tB\n\nc\tC|D\n")
    assert [sentence.starts_document for sentence in read_tokens_tsv(path)] == [True, False]


@pytest.mark.parametrize("mark", ["-DOCSTART-\t-X-", "-DOCSTART-\tO", "-DOCSTART-", "-DOCSTART- -X-"])
@pytest.mark.parametrize("after", ["\n\n", "\n"])
def test_document_marks_of_columns_are_no_words(nlp: Language, write: Write, mark: str, after: str) -> None:
    """They were words with the tag -X-, and all documents of a file were one."""
    path = write("a.tsv", f"{mark}{after}dat\tKOUS\nis\tVAFIN\n\n{mark}{after}wol\tAVD\n\njo\tAVD\n")
    docs = list(Corpus(path).read_docs(nlp.vocab))
    assert [[(token.text, token.tag_) for token in doc] for doc in docs] == [
        [("dat", "KOUS"), ("is", "VAFIN")],
        [("wol", "AVD"), ("jo", "AVD")],
    ]
    assert [read_doc_name(doc) for doc in docs] == ["a", "a 2"]
    assert [token.is_sent_start for token in docs[1]] == [True, True]
    assert holds_columns(path)


def test_document_marks_keep_names_and_words(nlp: Language, write: Write) -> None:
    text = "# newdoc id = x\n-DOCSTART-\t-X-\n\na\tA\n\n-DOCSTART- (2)\n# newdoc id = y\nb\tB\n"
    docs = list(Corpus(write("a.tsv", text), format="tagsets").read_docs(nlp.vocab))
    assert [(read_doc_name(doc), doc.text) for doc in docs] == [("x", "a "), ("y", "b ")]
    (doc,) = read(nlp, write("a.tsv", "The\tDT\n-DOCSTART-\tNN\n-DOCSTART-s\tNN\nmark\tNN\n"))
    assert [token.text for token in doc] == ["The", "-DOCSTART-", "-DOCSTART-s", "mark"]


def test_with_the_header_of_tables_all_forms_are_words(nlp: Language, write: Write) -> None:
    (doc,) = read(nlp, write("a.tsv", "# columns = form, tags, checked\n-DOCSTART-\tNE\tyes\n"))
    assert [token.text for token in doc] == ["-DOCSTART-"]
