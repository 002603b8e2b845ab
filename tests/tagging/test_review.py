"""What is least certain comes first, by each measure, as enumeration of all labellings has it."""

import math

import numpy as np
import pytest
from helpers.chains import chain_of, softened
from helpers.oracle import Chain
from helpers.tagged import EXTENSION, TARGETS, clean_docs, extension
from spacy.tokens import Doc

from spacy_crf.tagging.review import measure, review

__all__ = ["extension"]
ORDERS = ["least-confidence", "margin", "entropy", "token-entropy"]


def expected(chain: Chain, order: str, n: int) -> float:
    """The measure by enumeration; n is 1 where lengths count."""
    first, second = (math.exp(score - chain.log_z()) ** (1 / n) for _, score in chain.ranked()[:2])
    tokens = -sum(p * math.log(p) for row in chain.node_marginals() for p in row if p > 0)
    values = {"least-confidence": first, "margin": first - second, "entropy": chain.entropy() / n}
    return values.get(order, tokens / n)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("per_token", [False, True])
def test_measures_equal_enumeration_and_order(order: str, per_token: bool) -> None:
    nlp = softened(target="ent")
    texts = [["Bo", "sold"], ["She", "met", "Ada", "Stone"], ["Go"], ["Delft", "is", "new"]]
    docs = [Doc(nlp.vocab), *(Doc(nlp.vocab, words=words) for words in texts)]
    found = review(nlp.get_pipe("crf_tagger"), docs, order, per_token)
    assert sorted(item.place.number for item in found) == [2, 3, 4, 5]
    for item in found:
        words = [token.text for token in item.span]
        value = expected(chain_of(nlp, words), order, len(words) if per_token else 1)
        assert item.certainty == pytest.approx(value, rel=1e-4)
    values = [item.certainty for item in found]
    assert values == sorted(values, reverse="entropy" in order)
    few = review(nlp.get_pipe("crf_tagger"), docs, order, per_token, limit=2)
    assert [item.place for item in few] == [item.place for item in found[:2]]


def test_a_single_labelling_is_certain() -> None:
    for order in ORDERS:
        value = measure(np.array([1.0]), 0.0, np.zeros(3), order, True)
        assert value == (0.0 if "entropy" in order else 1.0)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("scheme", ["BIO", "BILUO"])
@pytest.mark.parametrize("decode", ["viterbi", "posterior"])
def test_tags_and_probabilities_of_every_target(target: str, scheme: str, decode: str) -> None:
    is_span = target in ("ent", "spans")
    nlp = softened(target=target, decode=decode, **({"scheme": scheme} if is_span else {}))
    pipe = nlp.get_pipe("crf_tagger")
    docs = clean_docs(nlp)[:4]
    for item in review(pipe, docs, n_best=4):
        (prediction,) = pipe.predict([item.span.doc])
        names = [pipe.tags.tags[tag] for tag in prediction.tags.tolist()]
        assert len(item.tags) == len(item.probabilities) == len(item.alternatives) == len(item.span)
        if is_span:
            assert {tag[0] for tag in item.tags} <= set("BIO")
            names = [{"U": "B", "L": "I"}.get(name[0], name[0]) + name[1:] for name in names]
        assert item.tags == names
        assert decode == "posterior" or item.n_best[0][0] == item.tags
        assert len(item.n_best) == 4 and len({tuple(tags) for tags, _ in item.n_best}) == 4
        assert [p for _, p in item.n_best] == sorted((p for _, p in item.n_best), reverse=True)
        for tag, probability, others in zip(item.tags, item.probabilities, item.alternatives):
            assert tag not in dict(others) and len(others) <= 3
            assert probability + sum(dict(others).values()) <= 1 + 1e-5
    assert EXTENSION in TARGETS


def test_sequences_of_a_document_are_listed_one_by_one() -> None:
    nlp = softened(target="tag")
    doc = Doc(nlp.vocab, words=["Bo", "sold", "She", "walks", "."], sent_starts=[True, False, True, False, False])
    found = review(nlp.get_pipe("crf_tagger"), [doc])
    assert sorted((item.number, item.span.start, item.span.end) for item in found) == [(1, 0, 2), (2, 2, 5)]
