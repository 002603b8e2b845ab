import zlib
from itertools import chain, pairwise
from pathlib import Path

import pytest
import spacy
import srsly
from helpers.fixtures import Write
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.vocab import Vocab

from spacy_crf.annotation.documents import Preparation, write_text_settings
from spacy_crf.annotation.extensions import register_stored, write_known
from spacy_crf.annotation.gold import partial_tags
from spacy_crf.corpora.docbin import cut_doc
from spacy_crf.corpora.reader import Corpus


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


def test_nothing_is_known_of_entities_that_are_split(nlp: Language, write: Write) -> None:
    doc = Doc(nlp.vocab, words=list("abcd"), sent_starts=[True, False, True, False], ents=["O", "B-X", "I-X", "B-Y"])
    first, second = Corpus(write("a.spacy", pack(doc)), group="sentence").read_docs(nlp.vocab)
    assert [token.ent_iob_ for token in (*first, *second)] == ["O", "", "", "B"]
    assert [ent.text for ent in (*first.ents, *second.ents)] == ["d"]
    assert first.has_unknown_spaces


def test_nothing_is_known_of_spans_that_are_split(nlp: Language, write: Write) -> None:
    doc = Doc(nlp.vocab, words=list("abcdefg"), sent_starts=[True, False, False, True, False, False, True])
    doc.spans["k"] = [Span(doc, 0, 1, "A"), Span(doc, 2, 4, "B"), Span(doc, 5, 7, "C")]
    doc.spans["whole"] = [Span(doc, 1, 3, "D")]
    parts = list(Corpus(write("a.spacy", pack(doc)), group="sentence").read_docs(nlp.vocab))
    assert [partial_tags(part, "spans", "k") for part in parts] == [["B-A", "O", ""], ["", "O", ""], None]
    assert ["k" in part.spans for part in parts] == [True, True, False]
    assert [[span.text for span in part.spans["whole"]] for part in parts] == [["b c"], [], []]
    assert all(partial_tags(part, "spans", "whole") is None for part in parts)


@st.composite
def cut_tags(draw: st.DrawFn) -> tuple[list[str], list[int]]:
    """Partial BIO tags, and where they are cut."""
    tags = draw(st.lists(st.sampled_from(["", "O", "B-A", "I-A", "B-B"]), min_size=1, max_size=9))
    cuts = draw(st.sets(st.integers(1, len(tags)))) - {len(tags)}
    return [tag if tag != "I-A" or before in ("", "B-A") else "B-A" for before, tag in pairwise(["O", *tags])], [
        0,
        *sorted(cuts),
    ]


@given(cut_tags())
def test_what_is_known_of_parts_is_true_of_the_whole(case: tuple[list[str], list[int]]) -> None:
    tags, starts = case
    doc = Doc(Vocab(), words=["w"] * len(tags))
    register_stored("crf_partial_ent")
    write_known(doc, "crf_partial_ent", tags)
    parts = list(cut_doc(doc, starts))
    found = [partial_tags(part, "ent", "") or [""] * len(part) for part in parts]
    joined = list(chain(*found))
    assert all(own in ("", tag) for own, tag in zip(joined, tags))
    assert not any(own[0].startswith("I-") for own in found)
    # a tag is forgotten only if its span lies, or may lie, in two parts
    for number, (own, tag) in enumerate(zip(joined, tags)):
        if tag and not own:
            low = high = number
            while tags[low].startswith("I") and low > 0 and tags[low - 1]:
                low -= 1
            while high + 1 < len(tags) and tags[high + 1].startswith("I"):
                high += 1
            assert any(low < cut <= high + (tags[high + 1 : high + 2] == [""]) for cut in starts) or tags[low][0] == "I"


def test_parts_keep_how_their_text_was_prepared(nlp: Language, write: Write) -> None:
    doc = Doc(nlp.vocab, words=list("abc"), sent_starts=[True, True, True])
    write_text_settings(doc, {"punctuation": "context", "cut_at_punctuation": True, "punctuation_tags": None})
    doc.user_data["spacy_crf.open"] = [True, True]
    path = write("a.spacy", pack(doc))
    examples = list(Corpus(path, group="sentence")(nlp))
    assert all(Preparation.of([example.reference]) == Preparation("context", True) for example in examples)
    cut = [[True, False], [False, False], [False, True]]
    assert [example.reference.user_data["spacy_crf.open"] for example in examples] == cut
    # the pipeline sees as well that the text goes on
    assert [example.predicted.user_data["spacy_crf.open"] for example in examples] == cut
    (example,) = Corpus(path, retokenize=True)(nlp)
    assert example.predicted.user_data["spacy_crf.open"] == [True, True]


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


@pytest.mark.parametrize("format", ["tagsets", "conllu"])
def test_a_docbin_that_is_called_a_text_is_named(tmp_path: Path, format: str) -> None:
    path = tmp_path / "a.spacy"
    DocBin(docs=[Doc(spacy.blank("xx").vocab, words=["a"])]).to_disk(path)
    with pytest.raises(ValueError, match=f"CRF491.*a.spacy.*`format` is '{format}'"):
        list(Corpus(path, format=format)(spacy.blank("xx")))  # type: ignore[arg-type]
