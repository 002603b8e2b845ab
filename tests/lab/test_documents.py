"""Documents of corpora, and parts of them that are whole in every respect."""

from collections.abc import Iterator

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from spacy_crf.annotation.documents import write_doc_name
from spacy_crf.annotation.extensions import read_values
from spacy_crf.annotation.gold import read_gold_tags, write_gold_tags
from spacy_crf.lab.documents import Pool, by_document, read_pool

NLP = spacy.blank("xx")
LENGTHS = [3, 1, 4, 2]


def make_example(name: str, lengths: list[int] = LENGTHS) -> Example:
    """Each word says where it comes from."""
    words = [f"{name}-{i}" for i in range(sum(lengths))]
    starts = np.zeros(len(words), dtype=bool)
    starts[np.cumsum([0, *lengths[:-1]])] = True
    reference = Doc(NLP.vocab, words=words, tags=[f"T{i}" for i in range(len(words))], sent_starts=starts.tolist())
    write_gold_tags(reference, [{f"T{i}": 0.5, "X": 0.5} for i in range(len(words))])
    if len(words) > 3:
        reference.spans["sc"] = [Span(reference, 0, 2, label="S"), Span(reference, 3, 4, label="T")]
    if name:
        write_doc_name(reference, name)
    return Example(Doc(NLP.vocab, words=words, sent_starts=starts.tolist()), reference)


def pool_of(*examples: Example) -> Pool:
    return read_pool(NLP, [lambda nlp: iter(examples)])


@given(st.lists(st.integers(0, 7), unique=True).map(sorted))
def test_parts_are_what_was_asked_for(sentences: list[int]) -> None:
    pool = pool_of(make_example("a"), make_example("b"))
    pieces = pool.take(np.array(sentences, dtype=np.intp))
    expected: list[str] = []
    for sentence in sentences:
        name, first = "ab"[sentence // 4], sum(LENGTHS[: sentence % 4])
        expected += [f"{name}-{i}" for i in range(first, first + LENGTHS[sentence % 4])]
    for side in ("predicted", "reference"):
        assert [token.text for _, example in pieces for token in getattr(example, side)] == expected
    assert sum(len(list(example.reference.sents)) for _, example in pieces) == len(sentences)
    for number, example in pieces:
        assert all(token.text.startswith("ab"[number]) for token in example.reference)
        for token, row in zip(example.reference, read_gold_tags(example.reference)):
            assert token.tag_ == f"T{token.text[2:]}" and row == {token.tag_: 0.5, "X": 0.5}
        assert all(span.text.split()[0][2:] in "03" for span in example.reference.spans.get("sc", []))
    runs = sum(sentence - 1 not in sentences or sentence == 4 for sentence in sentences)
    assert len(pieces) == runs


@pytest.mark.parametrize(
    "pipeline, is_whole", [(["tagger"], True), (["tok2vec", "ner"], True), (["tagger", "ner"], False)]
)
def test_what_computes_attributes_of_a_part_sees_the_document_unless_another_component_writes_to_the_part(
    pipeline: list[str], is_whole: bool
) -> None:
    nlp = spacy.blank("xx")
    for name in pipeline:
        nlp.add_pipe(name)
    Token.set_extension("crf_test_number", getter=lambda token: token.i, force=True)
    ((_, part),) = read_pool(nlp, [lambda nlp: iter([make_example("a")])]).take(np.array([2, 3]))
    found = read_values(part.predicted.copy(), "crf_test_number")
    Token.remove_extension("crf_test_number")
    assert found == [token + 4 * is_whole for token in range(6)]


def test_docs_of_one_name_are_one_document() -> None:
    pool = pool_of(make_example("a"), make_example("b", [5]), make_example("a", [1, 1]), make_example(""))
    layout = pool.layout
    assert layout.names == ("a", "b", "document 3")
    assert layout.documents.tolist() == [0] * 6 + [1] + [2] * 4 and layout.sizes.tolist() == [12, 5, 10]
    pieces = pool.take(np.arange(len(layout.lengths)))
    assert [number for number, _ in pieces] == [0, 0, 1, 2]
    assert {number: len(own) for number, own in by_document(pieces).items()} == {0: 2, 1: 1, 2: 1}


def test_corpora_have_documents_of_their_own() -> None:
    def read(nlp: Language) -> Iterator[Example]:
        yield make_example("a")

    pool = read_pool(NLP, [read, read])
    assert pool.layout.names == ("a (corpus 1)", "a (corpus 2)") and pool.owners == (0, 1)


def test_docs_without_boundaries_are_one_sentence() -> None:
    reference = Doc(NLP.vocab, words=["a", "b"])
    pool = pool_of(Example(Doc(NLP.vocab, words=["a", "b"]), reference), Example(Doc(NLP.vocab), Doc(NLP.vocab)))
    assert pool.layout.lengths.tolist() == [2]


def test_what_cannot_be_read_or_divided() -> None:
    with pytest.raises(ValueError, match="CRF617"):
        pool_of()
    example = make_example("a")
    example = Example(Doc(NLP.vocab, words=["other"]), example.reference)
    pool = pool_of(example)
    assert pool.take(np.arange(4))[0][1] is example
    with pytest.raises(ValueError, match=r"CRF616.*'a'"):
        pool.take(np.arange(3))
