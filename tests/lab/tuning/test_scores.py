"""Scores of held-out sequences against the component's own scorer."""

import numpy as np
import pytest
from helpers.tagged import TARGETS, build, make_examples
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf.lab.tuning.folds import Encoded, encode
from spacy_crf.lab.tuning.scores import HeldOutScorer
from spacy_crf.lab.tuning.validate import SCORES
from spacy_crf.learning.model import get_weights
from spacy_crf.tagging.component import CRFTagger

FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["SUFFIX2"]}


def make(target: str, **config: object) -> tuple[CRFTagger, list[Example], Encoded]:
    """A component that was trained on half of the corpus, and the other half, encoded with its features."""
    nlp = build(target=target, features=FEATURES, **config)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    nlp.update(examples[::2])
    pipe = nlp.get_pipe("crf_tagger")
    assert isinstance(pipe, CRFTagger)
    whole = encode(pipe, examples[1::2])
    rows = pipe._features.state.encode(pipe._sample(examples[1::2]).state)
    corpus = type(whole.corpus)(whole.corpus.lengths, rows, whole.corpus.gold)
    return pipe, examples[1::2], Encoded(pipe, pipe._features, corpus, whole.documents)


def evaluated(pipe: CRFTagger, examples: list[Example]) -> float:
    """What the component's scorer says."""
    predicted = [Example(pipe(example.predicted.copy()), example.reference) for example in examples]
    name = SCORES.get(pipe.target, f"{pipe.target}_acc").format(spans_key=pipe.cfg["spans_key"])
    return float(pipe.score(predicted)[name])


@pytest.mark.parametrize("decode", ["viterbi", "posterior"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_score_is_that_of_the_component(target: str, decode: str) -> None:
    pipe, examples, whole = make(target, decode=decode)
    found = HeldOutScorer(pipe, whole.corpus)(get_weights(pipe.model))
    assert found.score == pytest.approx(evaluated(pipe, examples))
    assert 0.1 < found.score < 1
    loss = pipe.get_loss(examples, pipe.predict([example.predicted for example in examples]))
    assert found.loss == pytest.approx(loss / sum(len(example.predicted) for example in examples), rel=1e-4)


@pytest.mark.parametrize("target, scheme", [("ent", "BIO"), ("ent", "BILUO"), ("tag", "none")])
def test_unknown_gold_counts_for_nothing(target: str, scheme: str) -> None:
    pipe, *_ = make(target, scheme=scheme)
    vocab = pipe.vocab
    words = ["Delft", "met", "Mia", "in", "Delft"]
    gold = {"ent": {"ents": ["B-LOC", "O", "", "O", "O"]}, "tag": {"tags": ["NNP", "VBD", "", "IN", "JJ"]}}
    reference = Doc(vocab, words=words, **gold[target])
    partial = [Example(Doc(vocab, words=words), reference)]
    whole = encode(pipe, partial)
    rows = pipe._features.state.encode(pipe._sample(partial).state)
    corpus = type(whole.corpus)(whole.corpus.lengths, rows, whole.corpus.gold)
    found = HeldOutScorer(pipe, corpus)(get_weights(pipe.model))
    assert (corpus.gold.labels == -1).sum() == 1
    assert found.score == pytest.approx(evaluated(pipe, partial))
    assert found.loss * 4 == pytest.approx(pipe.get_loss(partial, pipe.predict([partial[0].predicted])), rel=1e-4)


def test_where_there_are_no_spans_there_is_no_score() -> None:
    pipe, _, whole = make("ent")
    corpus = whole.corpus.take(np.flatnonzero(whole.corpus.lengths < 0))
    empty = HeldOutScorer(pipe, corpus)
    assert empty._span_f(np.zeros(0, dtype=np.int32)) == 0.0
