import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, Token

from spacy_crf.corpora.reader import Corpus

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def stored(nlp: Language) -> Doc:
    """Two sentences, with every kind of annotation."""
    doc = Doc(
        nlp.vocab,
        words=["Ada", "Byron", "sang", "Bo", "left"],
        spaces=[True, True, False, True, False],
        tags=["NNP", "NNP", "VBD", "NNP", "VBD"],
        heads=[2, 0, 2, 4, 4],
        deps=["nsubj", "flat", "ROOT", "nsubj", "ROOT"],
        ents=["B-PER", "I-PER", "O", "B-PER", "O"],
    )
    doc.spans["sc"] = [Span(doc, 0, 2, "X"), Span(doc, 2, 4, "Y"), Span(doc, 4, 5, "Z")]
    return doc


def pack(*docs: Doc) -> bytes:
    return DocBin(store_user_data=True, docs=docs).to_bytes()


def test_stored_documents_are_kept(nlp: Language, write: Write, stored: Doc) -> None:
    path = write("a.spacy", pack(stored, Doc(nlp.vocab)))
    (doc,) = Corpus(path).read_docs(nlp.vocab)
    assert doc.to_json() == stored.to_json()


@pytest.mark.parametrize("group", ["sentence", 1])
def test_split_by_sentences(nlp: Language, write: Write, stored: Doc, extension: str, group: str | int) -> None:
    Token.set_extension(extension, default="")
    stored[0]._.set(extension, "first")
    stored[4]._.set(extension, "last")
    path = write("a.spacy", pack(stored))
    first, second = Corpus(path, group=group).read_docs(nlp.vocab)  # type: ignore[arg-type]
    assert (first.text, second.text) == ("Ada Byron sang", "Bo left")
    assert [token.tag_ for token in second] == ["NNP", "VBD"]
    assert [token.head.i for token in second] == [1, 1]
    assert [(ent.text, ent.label_) for ent in first.ents] == [("Ada Byron", "PER")]
    assert [(ent.text, ent.label_) for ent in second.ents] == [("Bo", "PER")]
    assert [(span.text, span.label_) for span in first.spans["sc"]] == [("Ada Byron", "X")]
    assert [(span.text, span.label_) for span in second.spans["sc"]] == [("left", "Z")]
    assert [token._.get(extension) for token in first] == ["first", "", ""]
    assert [token._.get(extension) for token in second] == ["", "last"]
    assert [token.is_sent_start for token in second] == [True, False]


def test_split_cuts_entities(nlp: Language, write: Write) -> None:
    doc = Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, True], ents=["B-X", "I-X"])
    first, second = Corpus(write("a.spacy", pack(doc)), group="sentence").read_docs(nlp.vocab)
    assert [ent.text for ent in (*first.ents, *second.ents)] == ["a", "b"]
    assert first.has_unknown_spaces


def test_groups_of_sentences(nlp: Language, write: Write) -> None:
    doc = Doc(nlp.vocab, words=list("abcde"), sent_starts=[True, False, True, True, True])
    docs = Corpus(write("a.spacy", pack(doc, doc)), group=2).read_docs(nlp.vocab)
    assert ["".join(token.text for token in part) for part in docs] == ["abc", "de"] * 2


def test_splitting_needs_sentence_starts(nlp: Language, write: Write) -> None:
    doc = Doc(nlp.vocab, words=["a", "b"])
    known = Doc(nlp.vocab, words=["a", "b"], sent_starts=[True, False])
    with pytest.raises(ValueError, match=r"CRF521.*a\.spacy, document 2.*'sentence'"):
        list(Corpus(write("a.spacy", pack(known, doc)), group="sentence").read_docs(nlp.vocab))


def test_stored_attributes_can_be_read(nlp: Language, write: Write, stored: Doc, extension: str) -> None:
    stored.user_data["._.", extension, stored[1].idx, None] = "value"  # type: ignore[index]
    stored.user_data["note"] = "kept"
    (doc,) = Corpus(write("a.spacy", pack(stored))).read_docs(nlp.vocab)
    assert [token._.get(extension) for token in doc] == ["", "value", "", "", ""]
    assert doc.user_data["note"] == "kept"


@pytest.mark.parametrize("damage", ["cut", "text", "other", "empty"])
def test_bad_file_is_named(nlp: Language, write: Write, stored: Doc, damage: str) -> None:
    content = {
        "cut": pack(stored)[:-20],
        "text": b"Ada B-PER\n",
        "other": zlib.compress(srsly.msgpack_dumps({"attrs": []})),
        "empty": b"",
    }[damage]
    with pytest.raises(ValueError, match=r"CRF517.*a\.spacy"):
        list(Corpus(write("a.spacy", content)).read_docs(nlp.vocab))
