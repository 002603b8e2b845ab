"""Annotation that is there as evidence, against enumeration of the sequences that agree with it."""

import numpy as np
import pytest
from helpers.chains import chain_of, softened
from helpers.tagged import EXTENSION, read_target, train
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from spacy_crf.annotation.span_targets import target_of
from spacy_crf.core.labels import TagSet
from spacy_crf.pipe import component

WORDS = ["Bo", "Stone", "sold", "Delft"]
BIO = TagSet.of_spans(("LOC", "PER"), "BIO")
BILUO = TagSet.of_spans(("LOC", "PER"), "BILUO")


def open_tags(nlp: Language, doc: Doc, tags: TagSet, target: str, lengths: list[int] | None = None) -> list[str]:
    """For each token the tags that evidence leaves, joined; "*" for all."""
    allowed = target_of(target).evidence([doc], np.array(lengths or [len(doc)]), tags)
    return ["*" if row.all() else " ".join(tags.tags[tag] for tag in np.flatnonzero(row)) for row in allowed]


@pytest.mark.parametrize("target", ["tag", EXTENSION])
def test_tags_that_are_there_condition_the_others(target: str) -> None:
    nlp = softened(given=True, target=target, marginals="crf_test_given")
    pipe = nlp.get_pipe("crf_tagger")
    names = pipe.tags.tags
    free = nlp(Doc(nlp.vocab, words=WORDS))
    wrong = next(name for name in names if name != read_target(free, target)[1])
    doc = Doc(nlp.vocab, words=WORDS)
    if target == "tag":
        doc[1].tag_ = wrong
    else:
        doc[1]._.set(target, wrong)
    allowed = np.ones((4, len(names)), dtype=bool)
    allowed[1] = [name == wrong for name in names]
    chain = chain_of(nlp, WORDS).clamped(allowed)
    done = nlp(doc)
    assert read_target(done, target) == [names[tag] for tag in chain.ranked()[0][0]]
    np.testing.assert_allclose(done._.crf_test_given["values"], chain.node_marginals(), atol=1e-5)
    assert done[1]._.crf_test_given[wrong] == 1
    Doc.remove_extension("crf_test_given")


@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
def test_entities_condition_the_others_and_their_probabilities(scheme: str) -> None:
    nlp = softened(given=True, target="ent", scheme=scheme)
    pipe = nlp.get_pipe("crf_tagger")
    doc = Doc(nlp.vocab, words=WORDS)
    doc.ents = [Span(doc, 1, 2, label="LOC")]
    allowed = np.ones((4, len(pipe.tags)), dtype=bool)
    single = "B-LOC" if scheme == "BIO" else "U-LOC"
    allowed[1] = np.arange(len(pipe.tags)) == pipe.tags.number[single]
    allowed[2] = ~pipe.tags.continues()
    chain = chain_of(nlp, WORDS).clamped(allowed)
    asked = pipe.span_probabilities(doc, [Span(doc, 0, 1, label="PER"), Span(doc, 1, 2, label="LOC")])
    first = {pipe.tags.number["B-PER" if scheme == "BIO" else "U-PER"]}
    assert asked.label.tolist() == pytest.approx([chain.probability(lambda path: path[0] in first), 1.0], abs=1e-5)
    (prediction,) = pipe.predict([doc])
    assert tuple(prediction.tags.tolist()) == chain.ranked()[0][0]
    assert (1, 2, "LOC") in read_target(nlp(doc), "ent")


@pytest.mark.parametrize("tags", [BIO, BILUO], ids=["BIO", "BILUO"])
def test_what_entities_leave_open(tags: TagSet) -> None:
    nlp = Language()
    doc = Doc(nlp.vocab, words=["a", "b", "c", "d", "e", "f"])
    doc.set_ents(
        [Span(doc, 0, 2, label="PER"), Span(doc, 3, 4, label="DATE")], blocked=[Span(doc, 5, 6)], default="outside"
    )
    after = " ".join(tag for tag in tags.tags if tag[0] in "OBU")
    last = "I-PER" if tags is BIO else "L-PER"
    assert open_tags(nlp, doc, tags, "ent") == ["B-PER", last, after, "O", after, "O"]


def test_spans_across_sequences_or_over_each_other_say_nothing() -> None:
    nlp = Language()
    doc = Doc(nlp.vocab, words=["a", "b", "c", "d", "e"])
    spans = [(0, 2, "PER"), (1, 3, "LOC"), (3, 5, "PER")]
    doc.spans["sc"] = [Span(doc, start, end, label=label) for start, end, label in spans]
    assert open_tags(nlp, doc, BIO, "spans") == ["*", "*", "*", "B-PER", "I-PER"]
    assert open_tags(nlp, doc, BIO, "spans", [4, 1]) == ["*"] * 5
    assert open_tags(nlp, Doc(nlp.vocab, words=["a"]), BIO, "spans") == ["*"]


def test_adjacent_spans_and_ends_of_sequences() -> None:
    nlp = Language()
    doc = Doc(nlp.vocab, words=["a", "b", "c", "d"])
    doc.spans["sc"] = [Span(doc, 0, 1, label="PER"), Span(doc, 1, 2, label="LOC")]
    assert open_tags(nlp, doc, BIO, "spans") == ["B-PER", "B-LOC", "O B-LOC B-PER", "*"]
    assert open_tags(nlp, doc, BIO, "spans", [2, 2]) == ["B-PER", "B-LOC", "*", "*"]


@pytest.mark.parametrize("given", [False, True])
def test_a_default_of_an_attribute_is_no_evidence(given: bool) -> None:
    nlp = train(given=given, target=EXTENSION)
    docs = [Doc(nlp.vocab, words=["Ada", "met", "Bo"]) for _ in range(2)]
    expected = read_target(nlp(docs[0]), EXTENSION)
    Token.set_extension(EXTENSION, default=expected[1], force=True)
    assert read_target(nlp(docs[1]), EXTENSION) == expected and len(set(expected)) > 1
    left = open_tags(nlp, Doc(nlp.vocab, words=["Ada"]), nlp.get_pipe("crf_tagger").tags, EXTENSION)
    assert left == ["*"]


def test_empty_spans_say_nothing_and_stay() -> None:
    nlp = train(target="spans", given=True)
    doc = Doc(nlp.vocab, words=["Ada", "met"])
    doc.spans["sc"] = [Span(doc, 2, 2, label="PER"), Span(doc, 1, 1, label="LOC")]
    assert read_target(nlp(doc), "spans") == [(2, 2, "PER"), (1, 1, "LOC"), (0, 1, "PER")]


@pytest.mark.parametrize("decode", ["viterbi", "posterior"])
@pytest.mark.parametrize("target", ["tag", "pos", "ent", "spans", EXTENSION])
def test_all_that_is_computed_agrees_with_what_is_given(target: str, decode: str) -> None:
    nlp = softened(
        given=True, target=target, decode=decode, marginals="crf_test_given", n_best=4, n_best_key="crf_test_best"
    )
    doc, example = Doc(nlp.vocab, words=WORDS), nlp.get_pipe("crf_tagger").tags.tags[-1]
    if target in ("ent", "spans"):
        doc.spans["sc"] = [Span(doc, 1, 3, label="LOC"), Span(doc, 0, 2, label="PER"), Span(doc, 3, 4, label="PER")]
        doc.ents = [Span(doc, 3, 4, label="PER")]
        example = "B-PER"
    elif target == EXTENSION:
        doc[3]._.set(EXTENSION, example)
    else:
        setattr(doc[3], f"{target}_", example)
    (done,) = nlp.pipe([doc])
    assert done[3]._.crf_test_given[example] == 1
    assert all(path[3] == example for path in done._.crf_test_best[0]["labels"])
    assert len(done._.crf_test_best[0]["labels"]) == 4
    for name in ("crf_test_given", "crf_test_best"):
        Doc.remove_extension(name)


def test_a_group_is_extended_and_keeps_its_spans() -> None:
    nlp = train(target="spans", given=True)
    doc = Doc(nlp.vocab, words=["Ada", "met", "Bo", "in", "New", "Delft", "."])
    doc.spans["sc"] = [Span(doc, 3, 4, label="PER"), Span(doc, 1, 2, label="DATE")]
    doc.spans["sc"].attrs["author"] = "Ada"
    done = nlp(doc)
    assert done.spans["sc"].attrs["author"] == "Ada"
    assert read_target(done, "spans")[:2] == [(3, 4, "PER"), (1, 2, "DATE")]
    assert {(0, 1, "PER"), (2, 3, "PER"), (4, 6, "LOC")} <= set(read_target(done, "spans"))
    scores = done.spans["sc"].attrs["scores"]
    assert scores[0] == pytest.approx(1) and np.isnan(scores[1]) and len(scores) == len(done.spans["sc"])
    without = train(target="spans")
    same = Doc(without.vocab, words=["Ada", "met"])
    same.spans["sc"] = [Span(same, 1, 2, label="PER")]
    assert read_target(without(same), "spans") == [(1, 2, "PER")]


def test_unknown_tags_say_nothing_and_stay() -> None:
    nlp = train(target="tag", given=True)
    doc = Doc(nlp.vocab, words=WORDS, tags=["", "FOREIGN", "", ""])
    expected = read_target(nlp(Doc(nlp.vocab, words=WORDS)), "tag")
    assert read_target(nlp(doc), "tag") == [expected[0], "FOREIGN", *expected[2:]]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_batches_of_documents_keep_their_own_evidence(n_threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(component, "UNITS_PER_THREAD", 1)
    monkeypatch.setattr(component, "available_threads", lambda: n_threads)
    nlp = softened(given=True, target="tag", marginals="crf_test_given")
    pipe = nlp.get_pipe("crf_tagger")
    tags = pipe.tags.tags
    docs = [Doc(nlp.vocab, words=WORDS, tags=[tags[k], "", "", tags[-k]]) for k in range(1, 8)]
    docs.insert(3, Doc(nlp.vocab))
    for together, doc in zip(pipe.predict(docs), docs):
        (alone,) = pipe.predict([doc])
        np.testing.assert_allclose(together.told[0], alone.told[0], atol=1e-6)
        assert together.tags.tolist() == alone.tags.tolist()
    Doc.remove_extension("crf_test_given")


def test_impossible_evidence_names_the_document() -> None:
    nlp = train(target="tag", given=True, forbidden=[["VBD", "VBD"]])
    doc = Doc(nlp.vocab, words=WORDS, tags=["", "VBD", "VBD", ""])
    with pytest.raises(ValueError, match=r"CRF407.*Bo Stone sold.*CRF109"):
        nlp.get_pipe("crf_tagger")(doc)


def test_without_the_setting_annotation_is_no_evidence() -> None:
    nlp = train(target="tag", marginals="crf_test_given")
    tagged = nlp(Doc(nlp.vocab, words=WORDS, tags=["", "VBZ", "", ""]))
    plain = nlp(Doc(nlp.vocab, words=WORDS))
    np.testing.assert_array_equal(tagged._.crf_test_given["values"], plain._.crf_test_given["values"])
    Doc.remove_extension("crf_test_given")
