"""What is misaligned, missing or impossible is unknown: it adds no loss and teaches nothing wrong."""

import itertools
import warnings
from itertools import pairwise

import numpy as np
import pytest
import spacy
from helpers.tagged import EXTENSION, TARGETS, TRAINERS, build, fit, make_examples
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.annotation.gold import find_violation, forget_crossing, same_tokens
from spacy_crf.annotation.span_targets import target_of, without_overlaps
from spacy_crf.core.labels import UNKNOWN, Gold, TagSet
from spacy_crf.learning.block import LinearChain
from spacy_crf.learning.model import get_layout, start_weights

BIO = TagSet.of_spans(("LOC", "PER"), "BIO")
BILUO = TagSet.of_spans(("LOC", "PER"), "BILUO")


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("xx")


def names(example: Example, target: str, tags: TagSet) -> list[str | None]:
    return [None if tag == UNKNOWN else tags.tags[tag] for tag in target_of(target).gold(example, tags)]


def annotated(nlp: Language) -> Doc:
    """Port Ada | sells | well."""
    doc = Doc(nlp.vocab, words=["Port", "Ada", "sells", "well"], tags=["A", "B", "C", "D"])
    doc.set_ents([Span(doc, 0, 2, label="LOC")])
    doc.spans["sc"] = list(doc.ents)
    for token, value in zip(doc, "abcd"):
        token._.set(EXTENSION, value)
    return doc


@pytest.mark.parametrize("target", ["ent", "spans"])
@pytest.mark.parametrize("tags, expected", [(BIO, ["B-LOC", "I-LOC", "O", "O"]), (BILUO, ["B-LOC", "L-LOC", "O", "O"])])
def test_spans_become_tags(nlp: Language, target: str, tags: TagSet, expected: list[str]) -> None:
    reference = annotated(nlp)
    example = Example(Doc(nlp.vocab, words=[token.text for token in reference]), reference)
    assert names(example, target, tags) == expected


@pytest.mark.parametrize("target", ["tag", EXTENSION])
def test_split_tokens_share_a_label_and_merged_ones_have_none(nlp: Language, target: str) -> None:
    tags = TagSet(tuple("ABCDabcd"), "none")
    reference = annotated(nlp)
    split = Example(Doc(nlp.vocab, words=["Port", "Ada", "se", "lls", "well"], spaces=[1, 1, 0, 1, 0]), reference)
    merged = Example(Doc(nlp.vocab, words=["Port", "Ada sells", "well"]), reference)
    first, *rest = "ABCD" if target == "tag" else "abcd"
    assert names(split, target, tags) == [first, rest[0], rest[1], rest[1], rest[2]]
    assert names(merged, target, tags) == [first, None, rest[2]]


@pytest.mark.parametrize("target", ["ent", "spans"])
def test_a_span_that_no_tokens_match_is_unknown(nlp: Language, target: str) -> None:
    example = Example(Doc(nlp.vocab, words=["Port", "Ada sells", "well"]), annotated(nlp))
    found = names(example, target, BIO)
    assert found[:2] == [None, None] and found[2] == "O"


def test_missing_annotation_is_unknown(nlp: Language) -> None:
    reference = Doc(nlp.vocab, words=["a", "b"])
    example = Example(reference.copy(), reference)
    for target, tags in (
        ("tag", TagSet(("X",), "none")),
        ("ent", BIO),
        ("spans", BIO),
        (EXTENSION, TagSet(("x",), "none")),
    ):
        assert names(example, target, tags) == [None, None]


def test_spans_that_overlap_are_left_out(nlp: Language) -> None:
    doc = Doc(nlp.vocab, words=list("abcdefgh"))
    places = [(0, 2), (1, 3), (3, 4), (4, 8), (5, 6)]
    spans = [Span(doc, start, end, label="LOC") for start, end in places]
    assert [(span.start, span.end) for span in without_overlaps(spans)] == [(3, 4)]
    doc.spans["sc"] = spans
    example = Example(Doc(nlp.vocab, words=list("abcdefgh")), doc)
    assert names(example, "spans", BIO) == [None, None, None, "B-LOC", None, None, None, None]


def test_empty_spans_are_nothing_to_a_chain(nlp: Language) -> None:
    reference = annotated(nlp)
    reference.spans["sc"] = [*reference.spans["sc"], Span(reference, 1, 1, label="DATE"), Span(reference, 4, 4)]
    same = Doc(nlp.vocab, words=[token.text for token in reference])
    other = Doc(nlp.vocab, words=["Port", "Ada", "se", "lls", "well"], spaces=[1, 1, 0, 1, 0])
    for predicted in (same, other):
        expected = ["B-LOC", "I-LOC", *["O"] * (len(predicted) - 2)]
        assert names(Example(predicted, reference), "spans", BIO) == expected
    assert target_of("spans").labels([reference]) == ["LOC"]


def test_overlapping_spans_give_a_warning_that_names_the_document() -> None:
    nlp = build(target="spans")
    examples = make_examples(nlp)[:3]
    doc = examples[0].reference
    doc.spans["sc"] = [doc[0:2], doc[1:3]]
    for span in doc.spans["sc"]:
        span.label_ = "PER"
    nlp.initialize(lambda: examples)
    with pytest.warns(UserWarning, match=r"CRFW402.*Ada met Bo"):
        nlp.update(examples)


@pytest.mark.parametrize("target", ["ent", "spans"])
@pytest.mark.parametrize("scheme", ["none", "BIO"])
def test_spans_that_touch_are_told_of_where_tags_make_one_of_them(target: str, scheme: str) -> None:
    nlp = build(target=target, scheme=scheme)
    examples = make_examples(nlp)[:3]
    doc = examples[0].reference
    touching = [Span(doc, 0, 1, label="PER"), Span(doc, 1, 2, label="PER")]
    doc.set_ents(touching, default="outside")
    doc.spans["sc"] = touching
    nlp.initialize(lambda: examples)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        nlp.update(examples)
    found = [str(one.message) for one in told if "CRFW440" in str(one.message)]
    assert len(found) == (scheme == "none") and all("Ada met Bo" in one for one in found)


def test_a_span_across_sequences_is_unknown_in_both() -> None:
    numbers = [BIO.number[tag] for tag in ("O", "B-LOC", "I-LOC", "I-LOC", "O", "B-PER", "I-PER")]
    labels = np.array(numbers, dtype=np.int32)
    assert forget_crossing(labels, np.array([3, 0, 4]), BIO).tolist() == [3]
    assert labels.tolist() == [numbers[0], -1, -1, -1, *numbers[4:]]


def across_sentences(nlp: Language) -> Example:
    """An example with an entity that goes on in the second sentence."""
    words, starts = ["Bo", "met", "Port", "Ada", "sells"], [True, False, False, True, False]
    reference = Doc(nlp.vocab, words=words, sent_starts=starts, ents=["B-PER", "O", "B-LOC", "I-LOC", "O"])
    return Example(Doc(nlp.vocab, words=words, sent_starts=starts), reference)


def test_training_survives_an_entity_across_sentences() -> None:
    nlp = build(target="ent")
    examples = [across_sentences(nlp)]
    nlp.initialize(lambda: examples)
    with pytest.warns(UserWarning, match=r"CRFW420"), pytest.warns(UserWarning, match=r"CRFW401.*LOC"):
        nlp.update(examples)
    assert "Bo" in [ent.text for ent in nlp(examples[0].predicted.copy()).ents]


@pytest.mark.parametrize("sequence", ["auto", "doc"])
def test_spans_across_sentences_are_told_of_where_they_cannot_be_learned(sequence: str) -> None:
    nlp = build(target="ent", sequence=sequence)
    examples = [*make_examples(nlp)[:3], across_sentences(nlp)]
    nlp.initialize(lambda: examples)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        nlp.update(examples)
    found = [str(one.message) for one in told if "CRFW420" in str(one.message)]
    assert len(found) == (sequence == "auto") and all("Bo met Port Ada" in one for one in found)


def test_violations_are_found_where_they_are() -> None:
    model = LinearChain()
    start_weights(model, len(BILUO), BILUO.legal())
    lengths = np.array([3, 2])

    def violation(*tags: str | None) -> object:
        labels = np.array([-1 if tag is None else BILUO.number[tag] for tag in tags], dtype=np.int32)
        return find_violation(Gold.known(labels, len(BILUO)), lengths, get_layout(model))

    number = BILUO.number
    assert violation("B-LOC", "L-LOC", "O", "U-PER", "O") is None
    assert violation("B-LOC", None, "O", None, None) is None
    assert violation("O", "L-LOC", "O", "O", "O") == (1, [number["O"]], [number["L-LOC"]])
    assert violation("O", "O", "O", "I-PER", "L-PER") == (3, [], [number["I-PER"]])
    assert violation("O", "O", "B-PER", "L-PER", "O") == (3, [], [number["L-PER"]])
    assert violation("O", "O", "O", "O", "B-PER") == (4, [number["B-PER"]], [])


@given(seed=st.integers(0, 100_000))
def test_open_gold_is_a_violation_where_it_has_no_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_labels, lengths = int(rng.integers(2, 4)), np.array([2, 3])
    masks = rng.random((n_labels, n_labels)) < 0.6, rng.random(n_labels) < 0.8, rng.random(n_labels) < 0.8
    weights = (rng.random((5, n_labels)) < 0.4).astype(np.float32)
    weights[np.arange(5), rng.integers(0, n_labels, 5)] = 1
    shares = np.where(rng.random((5, 1)) < 0.5, weights / weights.sum(axis=1, keepdims=True), weights)
    model = LinearChain()
    start_weights(model, n_labels, masks)
    transitions, starts, ends = masks

    def has_path(units: range) -> bool:
        paths = itertools.product(*(np.flatnonzero(weights[unit]).tolist() for unit in units))
        return any(starts[p[0]] and ends[p[-1]] and all(transitions[pair] for pair in pairwise(p)) for p in paths)

    found = find_violation(Gold.weighted(shares.astype(np.float32)), lengths, get_layout(model))
    possible = [has_path(range(2)), has_path(range(2, 5))]
    assert (found is None) == all(possible)
    if found is not None:
        assert not possible[found.unit >= 2]
        assert found.before or found.unit in (0, 2) or not found.after
        assert not any(transitions[before, after] for before in found.before for after in found.after)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_unknown_gold_adds_no_loss_and_no_weight(trainer: str) -> None:
    nlp = build(trainer)
    examples = make_examples(nlp)
    blank = Doc(nlp.vocab, words=["zyx", "wvu"])
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("crf_tagger")
    nlp.update([*examples, Example(blank.copy(), blank)])
    empty = [Example(blank.copy(), blank)]
    assert pipe.get_loss(empty, pipe.predict([blank])) == pytest.approx(0.0, abs=1e-4)
    names = pipe.features.state.names()
    feature = next(number for number, name in enumerate(names) if name == "ORTH[0]=zyx")
    assert feature not in pipe.model.attrs["layout"].state_cells // len(pipe.labels)


def test_a_partly_annotated_document_teaches_what_it_has() -> None:
    nlp = build()
    examples = make_examples(nlp)
    for example in examples:
        example.reference[1].tag_ = ""
    fit(nlp, examples)
    doc = nlp(examples[3].predicted.copy())
    assert [token.tag_ for token in doc][2:5] == ["DT", "NN", "TO"]


def test_same_tokens(nlp: Language) -> None:
    reference = annotated(nlp)
    assert same_tokens(Example(reference.copy(), reference))
    assert not same_tokens(Example(Doc(nlp.vocab, words=["Port", "Ada", "sells", "badly"]), reference))
    assert set(TARGETS) >= {"tag", "ent"}
