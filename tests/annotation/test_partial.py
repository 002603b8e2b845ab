"""Gold of spans that is known for single tokens: exactly these are gold, in either scheme."""

import itertools
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import spacy
from helpers.chains import distribution_of
from helpers.oracle import Chain
from helpers.tagged import TRAINERS, build, fit, make_examples, train
from helpers.weights import flat_weights, set_flat_weights
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, Token
from spacy.training import Corpus, Example

from spacy_crf.annotation.gold import partial_extension, partial_gold, partial_tags, possible_tags
from spacy_crf.annotation.span_targets import target_of
from spacy_crf.core.errors import CRFWarning
from spacy_crf.core.labels import UNKNOWN, TagSet

BIO = TagSet.of_spans(("LOC", "PER"), "BIO")
BILUO = TagSet.of_spans(("LOC", "PER"), "BILUO")
SPAN_TARGETS = ["ent", "spans"]


@pytest.fixture(autouse=True)
def extensions():
    names = [partial_extension(target, "sc") for target in SPAN_TARGETS]
    for name in names:
        Token.set_extension(name, default="", force=True)
    yield
    for name in names:
        Token.remove_extension(name)


def partly(nlp: Language, target: str, words: list[str], gold: list[str]) -> Doc:
    """A Doc with nothing but partial gold."""
    doc = Doc(nlp.vocab, words=words)
    for token, tag in zip(doc, gold):
        token._.set(partial_extension(target, "sc"), tag)
    return doc


def test_what_a_bio_tag_may_stand_for() -> None:
    bio = ["B-PER", "I-PER", "", "I-LOC", "I-LOC", "O", "B-LOC", "B-LOC", "", "I-PER"]
    assert possible_tags(bio, BIO) == [(tag,) if tag else () for tag in bio]
    joined = ["/".join(found) for found in possible_tags(bio, BILUO)]
    assert joined == ["B-PER", "I-PER/L-PER", "", "I-LOC", "L-LOC", "O", "U-LOC", "B-LOC/U-LOC", "", "L-PER"]


@pytest.mark.parametrize("target", SPAN_TARGETS)
def test_the_tags_that_are_there_are_gold_and_no_others(target: str) -> None:
    nlp = spacy.blank("xx")
    gold = ["", "I-PER", "O", "", "B-LOC", ""]
    reference = partly(nlp, target, list("abcdef"), gold)
    reference.ents = [reference[2:4]]
    reference.spans["sc"] = [reference[2:4]]
    example = Example(Doc(nlp.vocab, words=list("abcdef")), reference)
    found = target_of(target).gold(example, BIO)
    assert ["" if tag == UNKNOWN else BIO.tags[tag] for tag in found] == gold
    with pytest.raises(KeyError, match="I-PER"):
        target_of(target).gold(example, TagSet.of_spans(("LOC",), "BIO"))


def test_tokens_that_do_not_match_are_unknown() -> None:
    nlp = spacy.blank("xx")
    reference = partly(nlp, "ent", ["New", "Delft", "is", "old"], ["B-LOC", "I-LOC", "O", "O"])
    split = Doc(nlp.vocab, words=["New", "Del", "ft", "is", "old"], spaces=[True, False, True, True, True])
    assert partial_gold(Example(split, reference), "ent", "sc") == ["B-LOC", "", "", "O", "O"]
    merged = Doc(nlp.vocab, words=["New Delft", "is", "old"])
    assert partial_gold(Example(merged, reference), "ent", "sc") == ["", "O", "O"]


def agrees(path: tuple[str, ...], gold: list[str]) -> bool:
    """Whether a labelling has the BIO tags that are known."""
    as_bio = [{"U": "B", "L": "I"}.get(tag[0], tag[0]) + tag[1:] for tag in path]
    return all(not known or known == tag for known, tag in zip(gold, as_bio))


@pytest.mark.parametrize("target", SPAN_TARGETS)
@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
def test_the_loss_is_that_of_all_labellings_that_agree(target: str, scheme: str) -> None:
    nlp = train(target=target, scheme=scheme)
    pipe = nlp.get_pipe("crf_tagger")
    set_flat_weights(pipe.model, flat_weights(pipe.model) * 0.1)
    words = ["Bo", "Stone", "sold"]
    chains = distribution_of(pipe, pipe.read_columns([Doc(nlp.vocab, words=words)])).chains.astype(np.float64)
    chain = Chain(chains.emissions, [chains.transitions] * 3, chains.start, chains.end)
    names = pipe.tags.tags
    paths = [(tuple(names[tag] for tag in path), math.exp(score - chain.log_z())) for path, score in chain.ranked()]
    choices = [["", "B-PER"], ["", "I-PER", "O", "B-LOC"], ["", "O", "B-PER", "I-LOC"]]
    checked = 0
    for gold in map(list, itertools.product(*choices)):
        expected = sum(probability for path, probability in paths if agrees(path, gold))
        example = Example(Doc(nlp.vocab, words=words), partly(nlp, target, words, gold))
        if expected > 0 and any(gold):
            loss = pipe.get_loss([example], pipe.predict([example.predicted]))
            assert loss == pytest.approx(-math.log(expected), rel=1e-3, abs=1e-4)
            checked += 1
    assert checked > 15


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
def test_half_of_the_rows_teach_spans(trainer: str, scheme: str) -> None:
    nlp = build(trainer, target="ent", scheme=scheme)
    examples = make_examples(nlp)
    rng = np.random.default_rng(0)
    for number, example in enumerate(examples):
        tags = [token.ent_iob_ + (f"-{token.ent_type_}" if token.ent_type_ else "") for token in example.reference]
        if number >= 8:
            known = [tag if rng.random() < 0.5 else "" for tag in tags]
            words = [token.text for token in example.reference]
            example.reference = partly(nlp, "ent", words, known)
    fit(nlp, examples)
    for example, whole in zip(examples, make_examples(nlp)):
        found = nlp(example.predicted.copy())
        partial = partial_tags(example.reference, "ent", "sc") or []
        tags = [token.ent_iob_ + (f"-{token.ent_type_}" if token.ent_type_ else "") for token in found]
        assert all(not known or known == tag for known, tag in zip(partial, tags)), whole.reference.text


def test_stored_gold_needs_no_registration(tmp_path: Path) -> None:
    nlp = spacy.blank("xx")
    gold = ["", "I-PER", "O"]
    reference = partly(nlp, "spans", ["a", "b", "c"], gold)
    DocBin(docs=[reference], store_user_data=True).to_disk(tmp_path / "a.spacy")
    name = partial_extension("spans", "sc")
    Token.remove_extension(name)
    (example,) = Corpus(tmp_path / "a.spacy", gold_preproc=False)(nlp)
    assert partial_tags(example.reference, "spans", "sc") == gold
    Token.set_extension(name, default="", force=True)


def test_labels_are_found_in_partial_gold() -> None:
    nlp = build(target="spans")
    reference = partly(nlp, "spans", ["a", "b", "c"], ["", "I-NEW", "O"])
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["a", "b", "c"]), reference)])
    assert nlp.get_pipe("crf_tagger").labels == ("NEW",)


@pytest.mark.parametrize("target", SPAN_TARGETS)
@pytest.mark.parametrize("scheme, ruled_out", [("BIO", {"I-LOC", "I-PER"}), ("none", {"PER"}), ("BILUO", set())])
def test_an_open_token_does_not_go_on_with_a_span_whose_end_is_known(target: str, scheme: str, ruled_out: set) -> None:
    """As `doc.ents` beside tokens that nobody has looked at, and groups beside spans that overlap."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"target": target, "scheme": scheme})
    pipe = nlp.get_pipe("crf_tagger")
    doc = Doc(nlp.vocab, words=list("abcde"), sent_starts=[True, False, False, True, False])
    spans = [Span(doc, 0, 2, "PER"), Span(doc, 4, 5, "LOC")]
    if target == "ent":
        doc.set_ents(spans, default="missing")
    else:
        doc.spans["sc"] = [*spans, Span(doc, 2, 4, "PER"), Span(doc, 2, 3, "LOC")]
    predicted = Doc(nlp.vocab, words=list("abcde"), sent_starts=[True, False, False, True, False])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CRFWarning)  # of spans that overlap
        example = Example(predicted, doc)
        nlp.initialize(lambda: [example])
        gold = pipe.gold([example], pipe.read_columns([predicted]).lengths)
    assert gold.rows.tolist() == [2, 3]
    after, before = ({tag for tag, may in zip(pipe.tags.tags, row) if not may} for row in gold.weights)
    assert after == ruled_out and before == ({"LOC"} if scheme == "none" else set())
